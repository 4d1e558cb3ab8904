"""What every way of running a model must say of itself.

An adapter is one file in this package: a class decorated by `@ADAPTERS.register(name)` that describes and checks a
model's folder without ever running anything in it, and

- where *place* is `sandbox`: a function `open_model(path, options)` that gives the model's `predict`. It runs inside
  the sandbox, so at its top the file imports nothing but the standard library, `quintain.core` and what lies beside
  it. *options* are those of the manifest, and under `task` what the model may know of its task (see `task_facts`);
- where *place* is `remote` or `file`: a method `connect(folder, task, options, outside)`, a context that gives a
  `Connection`, which calls a server or looks up what somebody else computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from quintain.core.errors import Conflict, Fault, Unavailable
from quintain.core.registry import Registry
from quintain.core.task import Task

if TYPE_CHECKING:
    from quintain.adapters.ledger import Ledger

Place = Literal["sandbox", "remote", "file"]
Predict = Callable[[list[Mapping[str, Any]]], list[Any]]
Options = Mapping[str, Any]
# Calls its second argument with the place of each input of a batch and its answer, as they come.
Stream = Callable[[list[Mapping[str, Any]], Callable[[int, Any], None]], None]


@dataclass(frozen=True, slots=True)
class EndpointSecret:
    """A key of the operator's, and the one server that it may be shown to.

    *prices* are those of a million tokens sent and received; *budget* is the most that all runs with it may cost.
    *headers* go with every request beside the key, or in its place where it is empty.
    """

    endpoint: str
    key: str = field(repr=False)
    prices: tuple[float, float] | None = None
    budget: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Outside:
    """What a model that does not run here may reach.

    *endpoints* are the origins (`https://host:port`) that the operator allows; *secrets* are keys by name, which a
    submission may name and never see; *cache* is where answers of servers, and what each call of the *run* took, are
    kept; *budget* is what one run may spend, where that is limited. *fresh* asks again what has been kept.
    """

    endpoints: tuple[str, ...] = ()
    secrets: Mapping[str, EndpointSecret] = field(default_factory=dict)
    cache: Path | None = None
    budget: float | None = None
    run: str = ""
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class AskingSize:
    """The most that asking about one example takes: its fields, and what is sent and comes back beside them.

    *around* are bytes; *fields* says how often each field is sent. Of the *reply_tokens*, so many are *likely*. All of
    that is of so many *calls* together.
    """

    around: int
    fields: Mapping[str, int]
    reply_tokens: int
    likely: int
    calls: int = 1


@dataclass(frozen=True, slots=True)
class RemoteExample:
    """How a server of an adapter is asked and answers, so that the contract's checks can play its part.

    *options* are those beside the address; *reply* gives what the server sends back to the body of a request when all
    its answers are one label.
    """

    options: Options
    reply: Callable[[Any, str], Any]


@dataclass(frozen=True, slots=True)
class TaskSketch:
    """What a model to start from has to know of its task.

    *fields* are the inputs, *texts* those of them that are texts; *answer* writes, in Python, some answer to `item`;
    *example* has inputs of one example.
    """

    fields: tuple[str, ...]
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    answer: str
    example: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelStart:
    """What a model to start from consists of, beside its card: *files* by name, the manifest's *options*, what to do.

    *works* says that it answers as it is; *left* is what remains to be done, a sentence each.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    options: Options = field(default_factory=dict)
    works: bool = False
    left: tuple[str, ...] = ()


def _nothing() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Connection:
    """A way to ask a model elsewhere; *facts* gives what asking it has taken so far, such as what it cost.

    *batched* says that all inputs of one call go out together, so that the model's batch size has to be kept to;
    *worded*, that every answer is a `WordedAnswer` with the words that it was read from. *ledger* is where every call
    is entered and reserved: without one, nothing is asked that has a budget. *stream* hands answers over one by one,
    where a batch may be as large as can be.
    """

    predict: Predict
    facts: Callable[[], Mapping[str, Any]] = _nothing
    batched: bool = False
    worded: bool = False
    ledger: Ledger | None = None
    stream: Stream | None = None


class Adapter(ABC):
    """One way of running a model. See the module's docstring."""

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[Place] = "sandbox"
    # Packages of the platform's own environment that the model is given to work with, by import name.
    libraries: ClassVar[tuple[str, ...]] = ()
    # Those of them without which it cannot work at all; they are extras, so a server may lack them.
    requires: ClassVar[tuple[str, ...]] = ()
    # The extra of this package that installs them, where it is called otherwise than the adapter.
    extra: ClassVar[str] = ""
    # Whether its models are language models: pages say so of them.
    language_model: ClassVar[bool] = False
    # Parts of this package that it needs beside `core` and `adapters`. None that holds data, labels or queries.
    modules: ClassVar[tuple[str, ...]] = ()
    # Whether its models are our own code with learned numbers, which may run in this process: see `load`.
    ours: ClassVar[bool] = False
    # An adapter of place `remote` shows what its servers say.
    example: ClassVar[RemoteExample | None] = None
    # The options that a manifest may give it, with what they mean.
    options: ClassVar[Mapping[str, str]] = {}
    # Names of a file that is a whole model by itself: what it is called in a model's folder, by how such files end.
    bare: ClassVar[Mapping[str, str]] = {}
    # Patterns of files by which a folder without a manifest is known for a model of this adapter: all must be there.
    marks: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def check(self, folder: Path, task: Task, options: Options) -> list[Fault]:
        """Find what is wrong with *folder* by looking only: no code of the model runs here."""

    def connect(
        self, folder: Path, task: Task, options: Options, outside: Outside
    ) -> AbstractContextManager[Connection]:
        """Yield the way to ask a model that does not run in the sandbox; refused unless the adapter has one."""
        raise Conflict("A model of adapter '{name}' runs in the sandbox only.", name=self.name)

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return a model of this adapter to start from; by default a manifest that says which files are to come."""
        return ModelStart(left=("Put the model's files beside the manifest, and set the options that it needs.",))

    def about(self, folder: Path, task: Task, options: Options) -> Mapping[str, str | int]:
        """Return what is shown of a model beside its card, by name, once `check` has found nothing wrong with it.

        `parameters` is how many numbers it has learned, `method` how its answers come about. It is looked up: no code
        of the model runs here.
        """
        return {}

    def request(self, folder: Path, task: Task, options: Options) -> Mapping[str, Any]:
        """Return how a model that is asked in words is asked: it is public. By default nothing."""
        return {}

    def load(self, folder: Path) -> Predict:
        """Load a model that is our own code into this process."""
        raise Conflict(
            "A model of adapter '{name}' is not our own code, so it does not run in this process.", name=self.name
        )

    def asking_size(self, task: Task, options: Options) -> AskingSize | None:
        """Return how much asking about one example takes; None where nobody is paid for answers.

        What it costs follows from that and the prices, for every adapter in the same way. An adapter of *place*
        `remote` has a size: its calls draw on the budgets of the manifest and of the operator's key.
        """
        return None

    def permit(self, options: Options, outside: Outside) -> None:
        """Refuse a model that needs what is not here, or what the operator does not allow."""
        for library in self.missing():
            raise Unavailable(
                "Models of adapter '{name}' need {library}, which is not installed on this server.",
                name=self.name,
                library=library,
                extra=self.extra or self.name,
                remedy="Its operator can install it with: pip install 'quintain[{extra}]'.",
                page="Tell the operator.",
            )

    @classmethod
    def missing(cls) -> list[str]:
        """List the packages without which its models cannot work, and which are not installed here."""
        import importlib.util  # not at the top: inside the sandbox every import costs start-up time

        return [library for library in cls.requires if importlib.util.find_spec(library) is None]


def is_ours(adapter: str) -> bool:
    """Whether models of the *adapter* of this name are our own code, which answers in this process."""
    return adapter in ADAPTERS and ADAPTERS.get(adapter).ours


ADAPTERS: Registry[type[Adapter]] = Registry("adapter", package="quintain.adapters", group="quintain.adapters")
