"""Score a contest from a plain table `breaker,pair_id,side,gold,<system>,…`: no workspace, no account, no server.

A row is one member of a pair. Columns `sentence`, `rationale`, `tags` and `status` are no systems; every other column
is one, and holds its answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from quintain.core.contests import PairStatus
from quintain.core.errors import BadInput, Fault
from quintain.core.label_form import LabelNames
from quintain.core.records.contest import (
    BreakerIntervals,
    BreakerScore,
    ContestFigures,
    ContestIntervals,
    ContestScore,
    SystemIntervals,
    SystemScore,
)
from quintain.core.records.figures import Estimate
from quintain.core.texts import Text, hint
from quintain.data.in_memory import Source
from quintain.data.rows import PlainRow, read_rows, refuse
from quintain.data.tables import read_table
from quintain.metrics.evaluate import evaluate_metrics
from quintain.stats.contest import (
    breaker_score,
    broken,
    broken_systems,
    broken_together,
    by_tag,
    directions,
    rate,
)
from quintain.stats.grading import Grading, written
from quintain.stats.label_hints import label_warnings
from quintain.stats.posterior import mean_estimate
from quintain.stats.text import token_f1

BoolArray = npt.NDArray[np.bool_]
REQUIRED = ("breaker", "pair_id", "side", "gold")
NO_SYSTEMS = ("sentence", "rationale", "tags", "status")
METRICS = ("accuracy", "exact_match", "f1")
_SIDES = {"a": 0, "b": 1, "original": 0, "modified": 1}
_STATES = (PairStatus.WRITTEN, PairStatus.CONTESTED, PairStatus.UNDECIDED, PairStatus.SETTLED)
NO_ACCURACY = "no dev accuracy was given; name them with --dev-accuracy system=0.8,…"


@dataclass(frozen=True, slots=True)
class ContestOptions:
    """How to grade, the systems' accuracy on the development set, columns that are no systems, and their names.

    *uncounted* systems are for reference: breakers' scores leave them out on purpose.
    """

    grading: Grading = field(default_factory=Grading)
    dev_accuracy: Mapping[str, float] = field(default_factory=dict)
    skip: Sequence[str] = ()
    columns: Mapping[str, str] | None = None
    seed: int = 0
    resamples: int = 1000
    uncounted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Pair:
    breaker: str
    rows: tuple[PlainRow, PlainRow]

    @property
    def left_out(self) -> PairStatus | None:
        """Return why a pair is left out of the score; None where it is not."""
        states = (PairStatus.CONTESTED, PairStatus.UNDECIDED)
        return next((state for state in states for row in self.rows if _state(row) == state), None)

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tag for row in self.rows for tag in _tags(row)))


@dataclass(frozen=True, slots=True)
class _Answers:
    """Some pairs with what each system made of them: right (pairs × sides) and broken."""

    pairs: Sequence[_Pair]
    right: Mapping[str, BoolArray]
    options: ContestOptions

    @property
    def breaks(self) -> dict[str, BoolArray]:
        return {name: broken(own) for name, own in self.right.items()}

    def settled(self) -> _Answers:
        """Return those pairs whose labels are not in doubt, as they were graded."""
        left = [place for place, pair in enumerate(self.pairs) if pair.left_out is None]
        right = {name: own[left] for name, own in self.right.items()}
        return _Answers([self.pairs[place] for place in left], right, self.options)


def is_reserved(name: str) -> bool:
    """Whether a column of this *name* is no system.

    >>> is_reserved("gold"), is_reserved("pcnn")
    (True, False)
    """
    return name in (*REQUIRED, *NO_SYSTEMS)


def score_contest_file(path: Source, options: ContestOptions | None = None) -> ContestScore:
    """Score the contest in the table at *path*."""
    options = options or ContestOptions()
    if options.grading.metric not in METRICS:
        raise BadInput(
            "The metric '{metric}' is not for contests.",
            metric=options.grading.metric,
            known=", ".join(METRICS),
            remedy="Use one of {known}.",
        )
    systems = _systems(path, options)
    rows = read_rows(path, required=REQUIRED, optional=(*NO_SYSTEMS, *systems), columns=options.columns)
    return score_rows(rows, systems, options, file=path.name)


def score_rows(
    rows: Sequence[PlainRow], systems: Sequence[str], options: ContestOptions, *, file: str = ""
) -> ContestScore:
    """Score the contest in the *rows* of a table in which *systems* are the columns of answers."""
    pairs = _pairs(file, rows)
    whole = _answers(pairs, systems, options)
    settled = whole.settled()
    doubted = Counter(pair.left_out for pair in pairs)
    contested, undecided = doubted[PairStatus.CONTESTED], doubted[PairStatus.UNDECIDED]
    figures, intervals = _figures(settled, [pair.breaker for pair in pairs])
    drawn = {"seed": options.seed, "resamples": options.resamples}
    return ContestScore(
        systems=figures.systems,
        breakers=figures.breakers,
        by_tag=by_tag(settled.breaks, [pair.tags for pair in settled.pairs], **drawn),
        directions=directions(settled.right),
        together=broken_together(settled.breaks),
        broken_systems=broken_systems(settled.breaks),
        intervals=intervals,
        metric=options.grading.metric,
        threshold=options.grading.threshold if options.grading.metric == "f1" else None,
        contested=contested,
        undecided=undecided,
        with_contested=_figures(whole, [pair.breaker for pair in pairs])[0] if contested + undecided else None,
        notes=tuple(_notes(whole, contested, undecided)),
        warnings=_warnings(whole),
    )


def _systems(path: Source, options: ContestOptions) -> list[str]:
    """List the columns that are systems."""
    table = read_table(path, required=REQUIRED, columns=options.columns)
    strange = [name for name in options.skip if name not in table.columns]
    if strange:
        raise BadInput(
            "There is no column '{name}' to skip; {hint}.", name=strange[0], hint=hint(strange[0], table.columns)
        )
    systems = [name for name in table.columns if name not in (*REQUIRED, *NO_SYSTEMS, *options.skip)]
    if not systems:
        raise BadInput(
            faults=[Fault("there is no column of a system's answers", file=path.name)],
            remedy="Add one column for each system, named after it.",
        )
    for name, value in options.dev_accuracy.items():
        if name not in systems:
            raise BadInput("There is no system '{name}'; {hint}.", name=name, hint=hint(name, systems))
        if not 0 <= value <= 1:
            raise BadInput(
                "The dev accuracy of '{name}' is {value:g}.", name=name, value=value, remedy="It lies between 0 and 1."
            )
    return systems


def _pairs(file: str, rows: Sequence[PlainRow]) -> list[_Pair]:
    """Put the rows together in pairs, or say everything that is wrong with them."""
    faults: list[Fault] = []
    members: dict[tuple[str, str], dict[int, PlainRow]] = {}
    for row in rows:
        faults += [fault.at(file=file) for fault in _row_faults(row)]
        key = (_text(row, "breaker"), _text(row, "pair_id"))
        side = _SIDES.get(_text(row, "side").lower())
        if side is None:
            continue
        sides = members.setdefault(key, {})
        if side in sides:
            faults.append(_again(file, key, row, sides[side]))
        sides.setdefault(side, row)
    for (breaker, name), sides in members.items():
        faults += [fault.at(file=file) for fault in _pair_faults(breaker, name, sides)]
    refuse(
        sorted(faults, key=lambda fault: fault.row or 0),
        Text("Every pair has two rows: side a (the original) and side b."),
    )
    return [_Pair(breaker, (there[0], there[1])) for (breaker, _), there in members.items()]


def _again(file: str, key: tuple[str, str], row: PlainRow, first: PlainRow) -> Fault:
    return Fault(
        "side '{side}' of pair '{name}' of '{breaker}' is in row {first} already",
        side=row.values["side"],
        name=key[1],
        breaker=key[0],
        first=first.number,
        file=file,
        row=row.number,
    )


def _row_faults(row: PlainRow) -> Iterator[Fault]:
    for name in ("breaker", "pair_id", "gold"):
        if _text(row, name) == "":
            yield Fault("is empty", row=row.number, field=name)
    if _text(row, "side").lower() not in _SIDES:
        yield Fault("'{side}' is neither a nor b", side=_text(row, "side"), row=row.number, field="side")
    if _state(row) not in _STATES:
        yield Fault(
            "'{state}' is none of contested, undecided and settled", state=_state(row), row=row.number, field="status"
        )


def _pair_faults(breaker: str, name: str, sides: Mapping[int, PlainRow]) -> Iterator[Fault]:
    first = next(iter(sides.values()))
    if len(sides) < 2:
        yield Fault("pair '{name}' of '{breaker}' has one side only", name=name, breaker=breaker, row=first.number)
    elif len({_state(row) for row in sides.values()}) > 1:
        yield Fault("the sides of pair '{name}' differ in their status", name=name, row=first.number, field="status")


def _answers(pairs: Sequence[_Pair], systems: Sequence[str], options: ContestOptions) -> _Answers:
    called = LabelNames()
    if options.grading.of_labels:
        called = LabelNames(sorted({label for pair in pairs for row in pair.rows for label in _golds(row)}))

    def is_right(row: PlainRow, name: str) -> bool:
        answer = _answer_of(row, name)
        return options.grading(called.find(answer) or answer, row.values["gold"]).right

    right = {
        name: np.array([[is_right(row, name) for row in pair.rows] for pair in pairs], dtype=np.bool_).reshape(-1, 2)
        for name in systems
    }
    return _Answers(pairs, right, options)


def _figures(data: _Answers, breakers: Iterable[str]) -> tuple[ContestFigures, ContestIntervals]:
    drawn = {"seed": data.options.seed, "resamples": data.options.resamples}
    breaks, pairs = data.breaks, len(data.pairs)
    system_intervals = {
        name: SystemIntervals(_average_f1(data, name), rate(own, **drawn)) for name, own in breaks.items()
    }
    systems = {}
    for name, own in system_intervals.items():
        share = own.broken_rate_pairs.value
        count = int(breaks[name].sum())
        systems[name] = SystemScore(own.average_f1.value, count, pairs, share, None if share is None else share / 2)
    names = dict.fromkeys(breakers)
    by_breaker = {name: _breaker(data, breaks, name) for name in names}
    return (
        ContestFigures(systems, {name: one[0] for name, one in by_breaker.items()}),
        ContestIntervals(system_intervals, {name: one[1] for name, one in by_breaker.items()}),
    )


def _breaker(data: _Answers, breaks: Mapping[str, BoolArray], name: str) -> tuple[BreakerScore, BreakerIntervals]:
    drawn = {"seed": data.options.seed, "resamples": data.options.resamples}
    here = np.array([pair.breaker == name for pair in data.pairs], dtype=np.bool_)
    own = {system: found[here] for system, found in breaks.items()}
    rates = {system: rate(found, **drawn) for system, found in own.items()}
    accuracy = data.options.dev_accuracy
    if not here.any():
        score = Estimate(None, reason="the labels of all of its pairs are in doubt")
    elif not accuracy:
        score = Estimate(None, reason=NO_ACCURACY)
    else:
        score = breaker_score(own, accuracy, **drawn)
    value = score.value
    return (
        BreakerScore(
            pairs=int(here.sum()),
            score=value,
            score_per_sentence=None if value is None else value / 2,
            break_rate={system: one.value for system, one in rates.items()},
            reason=score.reason,
        ),
        BreakerIntervals(score, rates),
    )


def _average_f1(data: _Answers, system: str) -> Estimate:
    """Estimate macro F1 over the gold classes, or the mean token F1 of spans; whole pairs are drawn."""
    rows = [row for pair in data.pairs for row in pair.rows]
    groups = np.repeat(np.arange(len(data.pairs)), 2)
    options = data.options
    if not rows:
        return Estimate(None, reason="there are no pairs")
    if not options.grading.of_labels:
        scores = [
            0.0
            if (answer := _answer_of(row, system)) is None
            else token_f1(written(answer), _golds(row), options.grading.language)
            for row in rows
        ]
        return mean_estimate(scores, groups=groups, seed=options.seed, resamples=options.resamples)
    gold = [written(row.values["gold"]) for row in rows]
    answers = [None if (answer := _answer_of(row, system)) is None else written(answer) for row in rows]
    result = evaluate_metrics(
        "label",
        gold,
        answers,
        ["macro_f1"],
        labels=sorted(set(gold)),
        groups=[str(answer) for answer in groups],
        seed=options.seed,
        resamples=options.resamples,
    )
    return result.metrics["macro_f1"].estimate


def _golds(row: PlainRow) -> list[str]:
    gold = row.values["gold"]
    return [written(one) for one in gold] if isinstance(gold, list) else [written(gold)]


def _notes(data: _Answers, contested: int, undecided: int) -> Iterator[str]:
    """Yield what a reader would otherwise have to guess."""
    accuracy = data.options.dev_accuracy
    without = [name for name in data.right if name not in accuracy]
    uncounted = [name for name in without if name in data.options.uncounted]
    unknown = [name for name in without if name not in data.options.uncounted]
    if uncounted:
        yield f"{', '.join(uncounted)}: for reference only, and left out of the breakers' scores."
    if accuracy and unknown:
        yield f"No dev accuracy was given for {', '.join(unknown)}: the breakers' scores leave them out."
    empty = {
        name: sum(_answer_of(row, name) is None for pair in data.pairs for row in pair.rows) for name in data.right
    }
    for name, count in empty.items():
        if count:
            yield f"{name} has no answer to {count} sentences, which counts as wrong."
    if contested:
        yield f"{contested} pairs are contested and left out until they are settled; both scores are given."
    if undecided:
        yield f"{undecided} pairs are still to be judged and are left out until then; both scores are given."


def _warnings(data: _Answers) -> tuple[str, ...] | None:
    """Return of which systems the labels are hardly the gold ones."""
    if not data.options.grading.of_labels:
        return None
    rows = [row for pair in data.pairs for row in pair.rows]
    golds = [label for row in rows for label in _golds(row)]
    return (
        tuple(
            text
            for name in data.right
            for text in label_warnings(
                golds,
                [None if _answer_of(row, name) is None else written(_answer_of(row, name)) for row in rows],
                what=Text("answers of {system}", system=name),
            )
        )
        or None
    )


def _answer_of(row: PlainRow, system: str) -> Any:
    value = row.values.get(system)
    return None if value is None or written(value) == "" else value


def _text(row: PlainRow, name: str) -> str:
    value = row.values.get(name)
    return "" if value is None else written(value)


def _state(row: PlainRow) -> str:
    return _text(row, "status").lower()


def _tags(row: PlainRow) -> list[str]:
    value = row.values.get("tags") or []
    parts = value if isinstance(value, list) else str(value).replace("|", ";").replace(",", ";").split(";")
    return [str(part).strip() for part in parts if str(part).strip()]
