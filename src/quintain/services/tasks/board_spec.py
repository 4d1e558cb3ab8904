"""What an owner can set for a board, whether it is stored or read from a snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from quintain.core import spec_kinds as kinds
from quintain.core.editing import revision_of_spec
from quintain.core.errors import Fault
from quintain.core.records.base import decode, plain
from quintain.core.records.board import BoardSettings
from quintain.core.spec import option, specification
from quintain.core.spec_kinds import Kind
from quintain.core.texts import Text
from quintain.services.tasks.machines import is_class_name
from quintain.stats.utility import MEAN, RATES, default_weights

AXES = ("performance", "throughput", "memory", "fairness", "robustness")
CAPPED = ("memory",)


def _is_moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


WEIGHT = kinds.number(0)
NAMES = Kind(
    lambda value: isinstance(value, list | tuple) and all(isinstance(one, str) for one in value),
    Text("a list of names"),
    kept=tuple,
)
MACHINE = Kind(
    lambda value: isinstance(value, str) and is_class_name(value.strip()),
    Text("the name of a class of machines, of 1 to 120 characters"),
    kept=str.strip,
)
WRONG, APART = "wrong", "apart"
REFUSALS = (WRONG, APART)
FREEZE = Kind(_is_moment, Text("a date with its time zone, such as 2026-12-31T12:00+00:00"))


@specification
class BoardSpec:
    """An owner's settings. A data set that is not in *datasets* does not score; empty *models* show all."""

    datasets: Mapping[str, float] = option(
        kinds.each(WEIGHT), default={}, help="which data sets score, and by how much; without it those that did"
    )
    weights: Mapping[str, float] = option(
        kinds.each(WEIGHT, AXES), default={}, help="weights of the axes; half on performance by default"
    )
    caps: Mapping[str, float] = option(
        kinds.each(WEIGHT, CAPPED), default={}, help="what a model may use at most, in GiB"
    )
    metric: str | None = option(
        kinds.text(200), default=None, help="the canonical metric, `vmer` or `ability`; that of the task by default"
    )
    models: tuple[str, ...] = option(NAMES, default=(), help="the models that are shown; all by default")
    hidden_models: tuple[str, ...] = option(NAMES, default=(), help="models that are not shown")
    epsilon: float | None = option(WEIGHT, default=None, help="ε, in units of the metric")
    human: float | None = option(kinds.fraction(), default=None, help="what people reach")
    freeze_until: str | None = option(FREEZE, default=None, help="until then everybody sees what is known now")
    freeze_from: str | None = None
    machine: str | None = option(
        MACHINE, default=None, help="the class of machines whose measurements rank, and on which new ones are made"
    )

    failure_limit: float = option(
        kinds.fraction(),
        default=0.05,
        help="the share of examples that may fail, in a model or on its server, before a run has no figure",
    )

    refusals: str = option(
        kinds.one_of(REFUSALS),
        default=WRONG,
        help="whether what a model refuses to answer is wrong, or left apart: out of the metrics, and in their bounds",
    )

    languages: Mapping[str, float] = option(
        kinds.each(WEIGHT),
        default={},
        help="weights of the languages, each shared among its data sets; one that is not named has 1",
    )

    rate: str = option(
        kinds.one_of(RATES),
        default=MEAN,
        help="what an exchange rate is of those of neighbours: their mean, as in the paper, or their median",
    )

    def check(self) -> Iterator[Fault]:
        """See that something counts."""
        if self.weights and not any(self.weights.values()):
            yield Fault("are all 0; one axis must count", field="weights")
        if self.languages and not any(self.languages.values()):
            yield Fault("are all 0; one language must count", field="languages")

    def record(self) -> BoardSettings:
        """Return the settings as everybody sees them; its JSON is what `set_board` takes."""
        return decode(BoardSettings, {**plain(self), "revision": revision_of_spec(self)})

    def dataset_weight(self, name: str) -> float:
        """Return the weight of a data set: 0, shown without scoring, until the owner lets it score."""
        return float(self.datasets.get(name, 0.0))

    def dataset_weights(self, languages: Sequence[tuple[str, str]]) -> list[float]:
        """Return the weights of data sets, each given by its name and its language.

        Where languages are weighed, each has its weight, however many data sets it has.

        >>> spec = BoardSpec(datasets={"a": 1, "b": 1, "c": 1}, languages={"de": 2})
        >>> spec.dataset_weights([("a", "en"), ("b", "en"), ("c", "de")])
        [0.5, 0.5, 2.0]
        """
        own = [self.dataset_weight(name) for name, _ in languages]
        if not self.languages:
            return own
        totals: dict[str, float] = defaultdict(float)
        for weight, (_, language) in zip(own, languages, strict=True):
            totals[language] += weight
        return [
            float(self.languages.get(language, 1.0)) * weight / (totals[language] or 1.0)
            for weight, (_, language) in zip(own, languages, strict=True)
        ]

    def axis_weights(self, names: Sequence[str]) -> dict[str, float]:
        """Return the weights of the axes; without a setting, half on performance and the rest shared."""
        if self.weights:
            return {name: float(self.weights.get(name, 0.0)) for name in names}
        return default_weights(names, "performance")

    def shows(self, model: str) -> bool:
        """Whether the board shows *model*."""
        return model not in self.hidden_models and (not self.models or model in self.models)
