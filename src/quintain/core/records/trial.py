"""Trials: what people of an arm are told, and what a forecast says."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quintain.core.records.base import Record
from quintain.core.records.figures import Estimate
from quintain.core.records.pay import CostReport
from quintain.core.rounds import Money


@dataclass(frozen=True, slots=True)
class ChoiceShare(Record):
    """An option of a rubric's question, and its share of somebody's *own* grades and of those of *all* items."""

    say: str
    own: float
    all: float


@dataclass(frozen=True, slots=True)
class LetterFigure(Record):
    """What graders answered to one question of the rubric.

    Of one whose options are a scale from *low* to *high*, *own* and *mean* are what somebody's items, and all items of
    the round, come to on average; its *choices* then stand in the order of the scale.
    """

    ask: str
    choices: list[ChoiceShare]
    own: float | None
    mean: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class LetterItem(Record):
    """An item that a letter quotes, its score, and what graders said of it where that is why."""

    item: str
    score: float
    said: str = ""


@dataclass(frozen=True, slots=True)
class Letter(Record):
    """What somebody's grades said, in the words of the rubric, and what was decided.

    *unclear* are the items that most graders did not find good in what decides whether they can be used. *best* and
    *worst* are those with the highest and the lowest score, of *top* that are possible; neither where all are equal.
    *reason* is why they go on or not.
    """

    person: str
    stage: str
    items: int
    grades: int
    figures: list[LetterFigure]
    unclear: list[LetterItem]
    best: list[LetterItem]
    worst: list[LetterItem]
    top: float
    passed: bool
    reason: str
    promoted: bool
    bonus: int
    currency: str
    next: str


@dataclass(frozen=True, slots=True)
class ArmForecast(Record):
    """What one arm comes to, over simulated trials: people, data, money in minor units, hours.

    *question_cost* counts everything that was paid to the people of the arm, *trained_cost* only what the final round
    paid, and *expert_cost* adds the experts' time. Shares *human* and *model* are of judged items; *gap* is between.
    """

    arm: str
    workers: float
    finalists: float
    items: float
    kept: float
    paid: float
    question_cost: Estimate
    trained_cost: float
    expert_cost: Estimate
    expert_hours: float
    days: float
    human: Estimate
    model: Estimate
    gap: Estimate
    attrition: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Power(Record):
    """How often a trial of so many workers in each arm shows that the gap between people and models differs.

    *difference* is that of the simulated arms, *seen* the share of trials that show it; *gap_seen* is how often a
    difference of *gap* would be shown.
    """

    first: str
    second: str
    workers: int
    difference: Estimate
    seen: Estimate
    gap: float
    gap_seen: float | None


@dataclass(frozen=True, slots=True)
class TrialForecast(Record):
    """What simulated trials came to."""

    workers: int
    trials: int
    seed: int
    currency: str
    arms: list[ArmForecast]
    power: list[Power]
    seconds: float


@dataclass(frozen=True, slots=True)
class GraderStatus(Record):
    """Somebody who grades at a stage: how many *grades* they gave and how many *minutes* that took.

    A promoted grader's *checks* are items that experts graded as well; on these, *off* is how far their score is from
    the experts' on average, and *alpha* how far both agree.
    """

    name: str
    grades: int
    minutes: float
    checks: int = 0
    off: float | None = None
    alpha: float | None = None


@dataclass(frozen=True, slots=True)
class StageStatus(Record):
    """A stage of an arm: how many are there, how many came, and what keeps its owner from closing it, if anything.

    *round* is the number of the round in which people write there; *alpha* is how far graders agree, *checked* how far
    promoted graders agree with experts. Of each person *least* items are graded, if they wrote so many; of *short*
    people fewer have been.
    """

    name: str
    kind: str
    here: int
    came: int
    closed: bool
    hindrances: list[str]
    round: int | None = None
    items: int = 0
    grades_missing: int = 0
    alpha: Estimate | None = None
    checked: Estimate | None = None
    least: int = 0
    short: int = 0
    graders: list[GraderStatus] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ArmStatus(Record):
    """An arm: its protocol and where its people are."""

    name: str
    title: str
    toml: str
    people: int
    over: bool
    stages: list[StageStatus]


@dataclass(frozen=True, slots=True)
class ArmCosts(Record):
    """What the questions of an arm have cost, by stage, and how many hours experts graded.

    In *costs*, everything but the final stage is training.
    """

    arm: str
    costs: CostReport
    expert_hours: float


@dataclass(frozen=True, slots=True)
class JudgingCosts(Record):
    """What the judging of a trial has cost, of all arms together: pages, known items judged right, quizzes."""

    pages: Money
    bonuses: Money
    quizzes: Money
    total: Money


@dataclass(frozen=True, slots=True)
class TrialCosts(Record):
    """What the arms of a trial have cost, and the judging of all of them."""

    arms: list[ArmCosts]
    judging: JudgingCosts


@dataclass(frozen=True, slots=True)
class TrialJudging(Record):
    """How the final items of all arms are judged: *votes* judgements of most, *many* of a seeded *sample* of each arm.

    Of many, *setting* set the label, and the others measure people; where *writer* is true the writer has a vote, too.
    *judgements* and *cost* are what the *items* there are take. *validation* is the pool, once there is one. Taking its
    entry quiz pays *quiz*, once.
    """

    validation: str | None
    votes: int
    many: int
    sample: int
    setting: int
    writer: bool
    items: int
    judgements: int
    cost: Money
    quiz: Money


@dataclass(frozen=True, slots=True)
class ModelRun(Record):
    """How far the run of a model on a trial's items is: `queued`, `running`, `done`, `failed` or `cancelled`."""

    model: str
    run: int
    state: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class TrialModels(Record):
    """Models on the final items of a trial, and *dataset*, the hidden version that they answer, once there is one.

    Of the pool's *items*, *waiting* still want judgements, and *later* came after that version was made.
    """

    dataset: str | None
    items: int
    waiting: int
    later: int
    runs: list[ModelRun]


@dataclass(frozen=True, slots=True)
class CrowdTrial(Record):
    """A trial: `draft`, `open` or `closed`. Its arms are for owners only; whoever takes part never learns of them."""

    task: str
    name: str
    title: str
    state: str
    created_at: datetime
    opened_at: datetime | None
    closed_at: datetime | None
    simulated: bool
    arms: list[ArmStatus] = field(default_factory=list)
    judging: TrialJudging | None = None
    revision: str = ""


@dataclass(frozen=True, slots=True)
class CrowdTrials(Record):
    """Trials, the newest first."""

    trials: list[CrowdTrial]


@dataclass(frozen=True, slots=True)
class ReceivedLetter(Record):
    """A letter of feedback as its reader has it, with what they replied and what the owner answered."""

    stage: str
    text: str
    sent_at: datetime | None
    reply: str
    appeal: bool
    answer: str = ""


@dataclass(frozen=True, slots=True)
class TrialTerms(Record):
    """What a trial pays and how long it takes, before bonuses; over all its arms, so that none shows by it.

    What is done first pays from *first_least* to *first_most* and takes up to *first_minutes*; all that somebody can be
    asked for pays up to *most* and takes up to *minutes*.
    """

    first_least: Money
    first_most: Money
    first_minutes: float
    most: Money
    minutes: float


@dataclass(frozen=True, slots=True)
class TrialPart(Record):
    """Where somebody stands in a trial: *what* is enter, work, wait, end or shut; *round* is where they write now.

    *quiz* says that a quiz of the tutorial comes first, *grading* that items wait for their grades. *reasons* are why
    they cannot enter, or did not go on; *consent* is what they agree to by entering, and *terms* what they are told of
    pay and time before.
    """

    trial: str
    title: str
    what: str
    stage: str
    sessions_left: int
    round: int | None
    quiz: bool
    grading: bool
    reasons: list[str]
    letters: list[ReceivedLetter]
    consent: str = ""
    terms: TrialTerms | None = None


@dataclass(frozen=True, slots=True)
class QuizStep(Record):
    """One step of a tutorial: two candidates side by side. *told* is the step before, where the quiz tells."""

    quiz: str
    step: int
    of: int
    ask: str
    context: str
    first: str
    second: str
    told: str = ""
    right: bool | None = None


@dataclass(frozen=True, slots=True)
class RubricChoice(Record):
    """One answer to a question of a rubric: what graders read, its number, whether it speaks well of the item."""

    name: str
    say: str
    value: float
    good: bool


@dataclass(frozen=True, slots=True)
class GradingQuestion(Record):
    """One question of a rubric: what graders read, what letters use it for, and what its numbers count."""

    name: str
    ask: str
    options: list[RubricChoice]
    part: str
    weight: float


@dataclass(frozen=True, slots=True)
class GradingTask(Record):
    """An item to grade by the rubric; *left* counts those that wait for this grader, it among them, *done* the others.

    It is theirs *until* then. One that they graded before has its *answers*, and counts *back* from their newest.
    """

    stage: str
    item: str
    inputs: dict[str, Any]
    answer: Any
    rubric: list[GradingQuestion]
    left: int
    done: int = 0
    minutes: float = 0.0
    until: datetime | None = None
    answers: dict[str, str] = field(default_factory=dict)
    back: int = 0


@dataclass(frozen=True, slots=True)
class LetterDraft(Record):
    """A letter that an owner can still edit; *sent* says that it has gone out.

    Somebody who was *turned_away* by the stage can be let back in.
    """

    person: str
    stage: str
    text: str
    sent: bool
    reply: str = ""
    appeal: bool = False
    answer: str = ""
    turned_away: bool = False
    revision: str = ""


@dataclass(frozen=True, slots=True)
class LetterDrafts(Record):
    """The letters of a stage."""

    letters: list[LetterDraft]


@dataclass(frozen=True, slots=True)
class NextStep(Record):
    """The next step of a tutorial's quizzes; null where all are done."""

    step: QuizStep | None


@dataclass(frozen=True, slots=True)
class NextGrading(Record):
    """The next item to grade; null where nothing waits."""

    item: GradingTask | None


@dataclass(frozen=True, slots=True)
class PoolAdded(Record):
    """How many items of a trial can be judged now, and how many could already."""

    added: int
    repeats: int


@dataclass(frozen=True, slots=True)
class SimulatedArm(Record):
    """What came of an arm: so many simulated *people* were drawn into it, and *finalists* wrote *items* in the end."""

    arm: str
    people: int
    finalists: int
    items: int


@dataclass(frozen=True, slots=True)
class SimulatedTrial(Record):
    """What came of a trial that simulated people went through; *models* are asked to answer what they wrote."""

    task: str
    name: str
    seed: int
    entered: int
    left: int
    arms: list[SimulatedArm]
    judgements: int
    models: list[str]


@dataclass(frozen=True, slots=True)
class TrialEntries(Record):
    """The addresses that panels send people to, with their own places for ids; *toml* is what they follow from."""

    trial: str
    entry: str | None
    grading: str | None
    batch: int
    toml: str
    revision: str = ""
