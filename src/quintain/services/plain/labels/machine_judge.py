"""A machine among the judges of a table: how well it agrees with people, and whether it may take the place of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.figures import Estimate
from quintain.core.records.machines import LabelAgreement, LeftOutPerson, MachineAgreement
from quintain.core.texts import Text
from quintain.data.in_memory import Source
from quintain.services.plain.labels.judgements import JudgementFile, JudgementReading, read_judgements
from quintain.stats.alternative_annotator import LEAST_ITEMS, MARGIN, AlternativeTest, alternative_test
from quintain.stats.bootstrap import FloatArray, IntArray, Tally, interval
from quintain.stats.judgements import NONE, Judgements
from quintain.stats.prediction_powered import share_interval
from quintain.stats.workers import wilson_share

REPLACE, PRESORT, NO = "replace", "presort", "no"
WINS = 0.5  # of the people that a machine has to beat, as published
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class JudgeTest:
    """Who is the machine, what a person's work may be worth beyond it (*epsilon*), and what resampling begins with."""

    machine: str
    epsilon: float = MARGIN
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Agreed:
    """What each item adds: how far a label agrees with people, the label's class, and people's shares of classes."""

    agrees: FloatArray
    own: FloatArray
    people: FloatArray


def judge_machine(path: Source, test: JudgeTest, reading: JudgementReading | None = None) -> MachineAgreement:
    """Return how the machine's judgements stand beside people's: agreement, the test of annotators, a verdict.

    Refused: a machine that judged nothing, a table without people, and a margin that is no share.
    """
    if not 0 <= test.epsilon < 1:
        raise BadInput(
            "A margin of {epsilon} is no difference of shares.", epsilon=test.epsilon, remedy="Use 0 to 1, such as 0.1."
        )
    table = read_judgements(path, reading or JudgementReading())
    people, machine, notes = _apart(table, test.machine)
    outcome = alternative_test(people, machine, test.epsilon)
    with_machine, among_people = _agreements(people, machine, test.seed)
    recall = _recall(people, machine)
    admission = _admission(outcome, with_machine, among_people)
    return MachineAgreement(
        test.machine,
        items=int(((machine != NONE) & people.counts().any(axis=1)).sum()),
        people=len(np.unique(people.worker)),
        judgements=len(people),
        agreement=with_machine,
        people_agreement=among_people,
        winning_rate=outcome.winning_rate,
        advantage=outcome.advantage,
        epsilon=test.epsilon,
        admission=admission,
        verdict=_verdict(admission, people, outcome, recall),
        confusion=_confusion(people, machine),
        recall=recall,
        persons=_persons(people, outcome),
        notes=[*table.notes, *notes, *_few(outcome, people)],
    )


def _apart(table: JudgementFile, name: str) -> tuple[Judgements, IntArray, list[str]]:
    """Return people's judgements, the machine's class for each item, and a note on other machines' rows."""
    judgements = table.judgements
    if name not in judgements.workers:
        known = ", ".join(judgements.workers[:8])
        raise BadInput(
            "Nobody in the table is called '{name}'.",
            name=name,
            known=f"{known}, …" if len(judgements.workers) > 8 else known,
            remedy="Name the worker that is the machine; there are: {known}.",
        )
    is_machine = judgements.worker == list(judgements.workers).index(name)
    others = _other_machines(table) & ~is_machine
    if (is_machine | others).all():
        raise BadInput(
            "All judgements are by '{name}'.", name=name, remedy="Bring people's judgements of the same items, too."
        )
    labels = np.full(len(judgements.items), NONE, dtype=np.int64)
    labels[judgements.item[is_machine]] = judgements.label[is_machine]
    count = int(others.sum())
    notes: list[str] = [Text("Judgements of other machines, left out: {n:,}.", n=count)] if count else []
    return judgements.take(~is_machine & ~others), labels, notes


def _other_machines(table: JudgementFile) -> npt.NDArray[np.bool_]:
    """Return which rows a column `machine` marks."""
    if "machine" not in table.rows.columns:
        return np.zeros(len(table.judgements), dtype=bool)
    flags = table.rows["machine"].cast(pl.String()).str.strip_chars().str.to_lowercase()
    return np.asarray(flags.is_in(["true", "1", "yes", "t"]).fill_null(False).to_numpy(), dtype=bool)


def _agreements(people: Judgements, machine: IntArray, seed: int) -> tuple[LabelAgreement, LabelAgreement]:
    """Measure both on the items that the machine and at least two people judged; where there are none, it alone."""
    counts = people.counts().astype(np.float64)
    size = counts.sum(axis=1)
    several = (size >= 2) & (machine != NONE)
    used = several if several.any() else (size >= 1) & (machine != NONE)
    if not used.any():
        raise BadInput("The machine and people judged no item in common.", remedy="Bring judgements of the same items.")
    counts, size, labels = counts[used], size[used], machine[used]
    shares = counts / size[:, None]
    one_hot = np.eye(counts.shape[1])[labels]
    with_machine = _Agreed((shares * one_hot).sum(axis=1), one_hot, shares)
    rng = np.random.default_rng(seed)
    beside = _chance_corrected(with_machine, rng)
    if not several.any():
        nobody = Text("no item was judged by two people")
        return beside, LabelAgreement(None, None, None, Estimate(None, reason=nobody), nobody)
    among = (counts * (counts - 1)).sum(axis=1) / (size * (size - 1))
    return beside, _chance_corrected(_Agreed(among, shares, shares), rng)


def _chance_corrected(agreed: _Agreed, rng: np.random.Generator) -> LabelAgreement:
    """Return the mean agreement and kappa, with intervals over resampled items and never without width."""
    n, width = agreed.own.shape
    sums = Tally.of_rows(np.column_stack([agreed.agrees, agreed.own, agreed.people]))
    samples = sums.resampled(RESAMPLES, rng) / n
    value, chance = float(agreed.agrees.mean()), float(agreed.own.mean(axis=0) @ agreed.people.mean(axis=0))
    low, high = share_interval(value, float(samples[:, 0].std()), n, n, 0.95)
    if chance >= 1 - 1e-12:
        return LabelAgreement(value, low, high, Estimate(None, reason=Text("everybody gave the same label throughout")))
    drawn_chance = (samples[:, 1 : 1 + width] * samples[:, 1 + width :]).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.where(drawn_chance < 1, (samples[:, 0] - drawn_chance) / (1 - drawn_chance), np.nan)
    ends = interval(drawn)
    sides = [(side - chance) / (1 - chance) for side in (low, high)]
    kappa = Estimate(
        (value - chance) / (1 - chance),
        min(sides[0], sides[0] if ends[0] is None else ends[0]),
        min(1.0, max(sides[1], sides[1] if ends[1] is None else ends[1])),
    )
    return LabelAgreement(value, low, high, kappa)


def _recall(people: Judgements, machine: IntArray) -> dict[str, Estimate]:
    """Return, for each label of people, on what share of the judgements that gave it the machine says the same."""
    judged = machine[people.item] != NONE
    size = len(people.classes)
    times = np.bincount(people.label[judged], minlength=size)
    same = np.bincount(people.label[judged & (machine[people.item] == people.label)], minlength=size)
    return {
        name: wilson_share(int(same[code]), int(times[code])) for code, name in enumerate(people.classes) if times[code]
    }


def _confusion(people: Judgements, machine: IntArray) -> dict[str, dict[str, int]]:
    label = machine[people.item]
    judged, size = label != NONE, len(people.classes)
    cells = np.bincount(people.label[judged] * size + label[judged], minlength=size * size).reshape(size, size)
    return {
        name: dict(zip(people.classes, row.tolist(), strict=True))
        for name, row in zip(people.classes, cells, strict=True)
    }


def _admission(outcome: AlternativeTest, beside: LabelAgreement, among: LabelAgreement) -> str:
    if outcome.winning_rate is not None and outcome.winning_rate >= WINS:
        return REPLACE
    sure = beside.kappa.low is not None and beside.kappa.low > 0
    if not sure or among.kappa.value is None or beside.kappa.value is None:
        return NO
    return PRESORT if beside.kappa.value >= among.kappa.value / 2 else NO


def _verdict(admission: str, people: Judgements, outcome: AlternativeTest, recall: dict[str, Estimate]) -> str:
    """Return in words what the machine may do, and where it fails."""
    if admission == REPLACE:
        sizes = people.sizes()
        return Text("may replace one of {n}", n=round(float(np.median(sizes[sizes > 0]))))
    worst = min(recall, key=lambda name: recall[name].value or 0.0)
    if admission == PRESORT:
        if outcome.winning_rate is None:
            return Text("may pre-sort: too few items to compare it with each person")
        return Text("may pre-sort: it is beaten by people, most on '{label}'", label=worst)
    return Text("not yet: misses '{label}'", label=worst)


def _persons(people: Judgements, outcome: AlternativeTest) -> list[LeftOutPerson]:
    return [
        LeftOutPerson(
            people.workers[person.worker], person.items, person.advantage, person.disadvantage, person.p, person.beaten
        )
        for person in outcome.persons
    ]


def _few(outcome: AlternativeTest, people: Judgements) -> list[str]:
    """Return what the test could not look at."""
    several = int((people.sizes() >= 2).sum())
    missing = len(np.unique(people.worker)) - len(outcome.persons)
    if not several:
        return [Text("No item was judged by two people: the machine cannot be compared with each of them.")]
    if not missing:
        return []
    return [
        Text(
            "People who are not tested, with fewer than {least} items that the machine and somebody else judged: {n}.",
            least=LEAST_ITEMS,
            n=missing,
        )
    ]
