"""A language model in a GGUF file, run by llama.cpp inside the sandbox: our prompt in the file's own chat template.

Where the task has labels, or an example has options, nothing is generated: the answer is the one that the model finds
likeliest as what it would say next. A label counts with the probability of all its tokens; of an example's options,
which are texts of any length, the mean over their tokens is compared. What is likely to be said whatever is asked about
can be taken off (`against`). Elsewhere the model writes, and what it writes is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from quintain.adapters.contract import ADAPTERS, Adapter, ModelStart, Options, TaskSketch
from quintain.adapters.gguf_file import NotGguf, read_header
from quintain.adapters.prompts import PLACEHOLDER, fill_prompt, prompt_faults
from quintain.adapters.shaping import label_names, softmax, text_fields
from quintain.core.errors import Fault
from quintain.core.task import Task
from quintain.core.texts import as_text

if TYPE_CHECKING:
    from quintain.adapters.llama import LlamaModel

ENDING = ".gguf"
CONTEXT = 2048
MOST_TOKENS = 64
TEXTS = ("prompt", "system", "lead")
# Name, least and most, and whether it is a whole number.
NUMBERS = (
    ("max_tokens", 1, 4096, True),
    ("context", 64, 1 << 20, True),
    ("temperature", 0, 2, False),
    ("seed", 0, 2**31 - 1, True),
)
Item = Mapping[str, Any]


@ADAPTERS.register("gguf")
class GgufAdapter(Adapter):
    """A folder with a language model in a GGUF file, run by llama.cpp without a network."""

    name = "gguf"
    title = "Language model (GGUF file)"
    libraries = ("xllamacpp",)
    requires = ("xllamacpp",)
    extra = "local-llm"
    language_model = True
    options: ClassVar[Mapping[str, str]] = {
        "file": "The model; the only .gguf file of the folder by default.",
        "prompt": "What is asked, with {field} for each field of the task; {labels} lists the labels.",
        "system": "The system message; the file's own by default.",
        "lead": "Words that the model's reply begins with, such as 'It was'; the answer follows them.",
        "words": "What the model would say for each label, as a table; the labels themselves by default.",
        "against": "Texts about which the model is asked once; what they make likely of each label is taken off.",
        "max_tokens": f"The most tokens that are written; {MOST_TOKENS} by default.",
        "context": f"The most tokens of a prompt and its answer together; {CONTEXT} by default.",
        "temperature": "Temperature of what is written; 0 by default, which always writes the same.",
        "seed": "What is drawn at a temperature above 0 follows from it; 0 by default.",
        "perturbations": "counted (the default): only those that enter a figure are run; all: the others too.",
    }
    bare: ClassVar[Mapping[str, str]] = {ENDING: f"model{ENDING}"}

    def check(self, folder: Path, task: Task, options: Options) -> list[Fault]:
        """Look at the options and at the beginning of the file; nothing is loaded."""
        from quintain.tasks.contract import kind_of

        kind = kind_of(task)
        faults = [*_file_faults(folder, options), *_option_faults(options)]
        faults += prompt_faults([item.name for item in kind.fields(task)], str(options.get("prompt", "")))
        faults += _word_faults(task, options)
        if _way_of(kind.answer_type) is None:
            known = ", ".join(_answers())
            faults.append(
                Fault(
                    "is run by adapter 'gguf', which answers with one of {known}, not with a {answer}",
                    known=known,
                    answer=kind.answer_type,
                    file="quintain.toml",
                )
            )
        return faults

    def about(self, folder: Path, task: Task, options: Options) -> Mapping[str, str | int]:
        """Return how large the model is, and how its answers come about."""
        from quintain.tasks.contract import kind_of

        header = read_header(_find_file(folder, options))
        way = _way_of(kind_of(task).answer_type)
        return {"parameters": header.parameters, **({"method": way.method} if way else {})}

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return a manifest with a prompt that names every field."""
        return ModelStart(
            options={"prompt": _default_prompt(sketch.fields, labelled=bool(sketch.labels))},
            left=("Put the model beside the manifest, as a file that ends in .gguf.",),
        )


def _file_faults(folder: Path, options: Options) -> list[Fault]:
    try:
        file = _find_file(folder, options)
        header = read_header(file)
    except FileNotFoundError as error:
        return [Fault("is missing; it holds the language model", file=str(error))]
    except NotGguf as error:
        return [Fault("cannot be read as a language model: it {reason}", reason=error.reason, file=file.name)]
    except ValueError:
        return [_fault("file", "is missing, and several files end in {ending}", ending=ENDING)]
    if not header.template:
        return [Fault("has no chat template, so nobody knows how it is talked to", file=file.name)]
    return []


def _find_file(folder: Path, options: Options) -> Path:
    """Return the model's file; FileNotFoundError with its name, or ValueError where it could be one of several."""
    if options.get("file"):
        file = folder / str(options["file"])
        if not file.is_file():
            raise FileNotFoundError(file.name)
        return file
    files = sorted(folder.glob(f"*{ENDING}"))
    if len(files) > 1:
        raise ValueError(f"there are {len(files)} files that end in {ENDING}")
    if not files:
        raise FileNotFoundError(f"model{ENDING}")
    return files[0]


def _option_faults(options: Options) -> list[Fault]:
    faults = [
        _fault(name, "is {value}, which is not a text", value=repr(options[name]))
        for name in TEXTS
        if not isinstance(options.get(name, ""), str)
    ]
    for name, least, most, whole in NUMBERS:
        value = options.get(name, least)
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not number or not least <= value <= most:
            reason = "is {value}; it lies between {least} and {most}"
            faults.append(_fault(name, reason, value=repr(value), least=least, most=most))
    if options.get("perturbations", "counted") not in ("counted", "all"):
        reason = "is {perturbations}; it is 'counted' or 'all'"
        faults.append(_fault("perturbations", reason, perturbations=repr(options["perturbations"])))
    against = options.get("against", [])
    if not isinstance(against, list) or not all(isinstance(text, str) for text in against):
        faults.append(_fault("against", "is not a list of texts"))
    return faults


def _word_faults(task: Task, options: Options) -> list[Fault]:
    """Find a table of words that leaves a label out, or knows one that the task does not."""
    words = options.get("words")
    if words is None:
        return []
    if not isinstance(words, Mapping) or not all(isinstance(word, str) and word.strip() for word in words.values()):
        return [_fault("words", "is not a table of words, one for each label")]
    if set(words) != set(task.label_names):
        labels = ", ".join(task.label_names)
        return [_fault("words", "names {given}; the labels are {labels}", given=", ".join(words), labels=labels)]
    return []


def _fault(name: str, reason: str, /, **values: object) -> Fault:
    return Fault(as_text(reason, values), file="quintain.toml", field=f"options.{name}")


def _default_prompt(fields: Sequence[str], *, labelled: bool) -> str:
    """Return a prompt that names every field, and asks for one of the labels where there are some."""
    asked = "\n".join(f"{name}: {{{name}}}" for name in fields) if len(fields) > 1 else f"{{{fields[0]}}}"
    return f"{asked}\n\nAnswer with one of these words: {{labels}}." if labelled else asked


def open_model(path: str, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
    """Load the file for the kind of answer that the task asks for."""
    from quintain.adapters.llama import LlamaModel

    answer = options.get("task", {}).get("answer", "label")
    way = _way_of(answer)
    if way is None:
        raise ValueError(f"the gguf adapter answers with one of {', '.join(_answers())}, not with a {answer}")
    file = _find_file(Path(path), options)
    longest = read_header(file).context or CONTEXT
    model = LlamaModel(
        file,
        context=min(int(options.get("context", CONTEXT)), longest),
        temperature=float(options.get("temperature", 0)),
        seed=int(options.get("seed", 0)),
    )
    ask = way.begin(Conversation(model, options))
    return lambda batch: [ask(item) for item in batch]


class Conversation:
    """What the model is asked about an example, as its file's template writes it, up to the words that are awaited."""

    def __init__(self, model: LlamaModel, options: Mapping[str, Any]) -> None:
        from quintain.adapters.llama import MARK

        self.model = model
        self.options = options
        self.labels = label_names(options)
        self.lead = str(options.get("lead", ""))
        fields = [item["name"] for item in options.get("task", {}).get("fields", [])]
        self._template = str(options.get("prompt") or _default_prompt(fields, labelled=bool(self.labels)))
        self._before, self._after = model.conversation(MARK, str(options.get("system", "")))
        head = PLACEHOLDER.split(self._template, maxsplit=1)[0]
        model.begin_with(f"{self._before}{head.lstrip()}")

    def prompt(self, item: Item) -> str:
        """Return the whole of it for one example."""
        content = fill_prompt(self._template, item, ", ".join(self.labels)).strip()
        return f"{self._before}{content}{self._after}{self.lead}"

    def tokens(self, words: str) -> list[int]:
        """Cut words that follow the prompt into tokens; after words of the model's own there is a space before them."""
        apart = self.lead and not self.lead[-1].isspace() and not words[:1].isspace()
        return self.model.tokens(f" {words}" if apart else words)


def _by_label(talk: Conversation) -> Callable[[Item], Any]:
    """Answer with the probabilities of the labels: those of their tokens, and of nothing else."""
    words = talk.options.get("words") or {}
    continuations = [talk.tokens(str(words.get(label, label))) for label in talk.labels]

    def scores(item: Item) -> list[float]:
        return talk.model.log_probabilities(talk.prompt(item), continuations)

    fields = text_fields(talk.options)
    anyway = [scores(dict.fromkeys(fields, text)) for text in talk.options.get("against", [])]
    usual = [sum(column) / len(anyway) for column in zip(*anyway, strict=True)] if anyway else [0.0] * len(talk.labels)

    def ask(item: Item) -> dict[str, float]:
        left = [score - always for score, always in zip(scores(item), usual, strict=True)]
        return dict(zip(talk.labels, softmax(left), strict=True))

    return ask


def _by_option(talk: Conversation) -> Callable[[Item], Any]:
    """Answer with the probabilities of an example's own options, by the mean over the tokens of each."""

    def ask(item: Item) -> list[float]:
        continuations = [talk.tokens(str(entry)) for entry in item["options"]]
        scores = talk.model.log_probabilities(talk.prompt(item), continuations)
        return softmax([score / max(len(tokens), 1) for score, tokens in zip(scores, continuations, strict=True)])

    return ask


def _in_words(talk: Conversation) -> Callable[[Item], Any]:
    """Answer with what the model writes."""
    most = int(talk.options.get("max_tokens", MOST_TOKENS))
    return lambda item: talk.model.write(talk.prompt(item), most).strip()


class Way(NamedTuple):
    """How an answer comes about, for which types of answers, and what begins with it."""

    method: str
    answers: tuple[str, ...]
    begin: Callable[[Conversation], Callable[[Item], Any]]


WAYS = (
    Way("log-probability of labels", ("label",), _by_label),
    Way("mean log-probability of options", ("choice",), _by_option),
    Way("generated", ("span", "text"), _in_words),
)


def _way_of(answer: str) -> Way | None:
    return next((way for way in WAYS if answer in way.answers), None)


def _answers() -> list[str]:
    return [answer for way in WAYS for answer in way.answers]
