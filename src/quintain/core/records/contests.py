"""Contests as programs see them: what each asks, its teams, systems and pairs, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quintain.core.contests import TeamRole
from quintain.core.records.base import Record, left_out
from quintain.core.records.contest import ContestScore
from quintain.core.rounds import Money


@dataclass(frozen=True, slots=True)
class Contest(Record):
    """A contest: what it asks (*toml*), the *phase* it is in and when that ends.

    *phase* is coming, build, break, score, review or over; a contest that is coming begins at *phase_ends*.
    """

    ref: str
    task: str
    name: str
    title: str
    phase: str
    phase_ends: datetime | None
    version: int
    created_at: datetime
    toml: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Contests(Record):
    """Contests of a task, the newest first."""

    contests: list[Contest]


@dataclass(frozen=True, slots=True)
class ContestChange(Record):
    """One state of a contest's file."""

    number: int
    at: datetime
    by: str | None
    toml: str


@dataclass(frozen=True, slots=True)
class ContestHistory(Record):
    """Every state of a contest's file, the newest first."""

    versions: list[ContestChange]


@dataclass(frozen=True, slots=True)
class ContestTeam(Record):
    """A team. Who is in it, how many *pairs* it has and the *key* to join it are for the team and the organisers.

    *systems* are those of its systems that whoever asks may know of, by their names.
    """

    name: str
    role: TeamRole
    size: int
    mine: bool
    people: tuple[str, ...] | None = None
    pairs: int | None = None
    key: str | None = None
    systems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContestTeams(Record):
    """The teams of a contest, by their names."""

    teams: list[ContestTeam]


@dataclass(frozen=True, slots=True)
class ContestSystem(Record):
    """A system to be broken, by the *name* that whoever asks may know it by.

    *source* is `model` where the platform runs it and `predictions` where its team does. *dev* and *pairs* say how far
    its answers are: missing, waiting, failed or there. A *reference* system is one of the organisers; *counts* says
    whether it enters the breakers' scores.
    """

    name: str
    team: str | None
    mine: bool
    reference: bool
    counts: bool
    source: str
    model: str | None
    dev: str
    pairs: str
    dev_accuracy: float | None = None


@dataclass(frozen=True, slots=True)
class ContestSystems(Record):
    """The systems of a contest."""

    systems: list[ContestSystem]


@dataclass(frozen=True, slots=True)
class DevAnswer(Record):
    """An example of the blind development set, with what each system answered; its label is nowhere."""

    id: str
    inputs: Mapping[str, Any]
    answers: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DevAnswers(Record):
    """A page of the answers to the development set."""

    items: list[DevAnswer]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class PairRuling(Record):
    """What the organisers decided about a pair, keep, relabel or drop, and why."""

    decision: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PairVote(Record):
    """What one judge said of a pair; nobody is told who. One that came *late* settles nothing."""

    original_label: Any
    modified_label: Any
    minimal: bool | None
    late: bool


@dataclass(frozen=True, slots=True)
class ContestPair(Record):
    """A minimal pair as its author wrote it.

    *words* is how many it changes. Where the team disputes the starter set's label of the original, *claimed_label* is
    what it says instead. *status* is empty, contested, undecided (it has to be judged, and was not yet), settled or
    dropped. *answers* are those of every system to the original and the modified side, *broken* the systems that it
    broke; both are empty until they may be seen. Of one pair alone, *objections* are what was said against it;
    *ruling*, with its reason, is for the teams concerned and the organisers, and *votes* are for the organisers.
    """

    id: int
    team: str
    name: str
    original: Mapping[str, Any]
    modified: Mapping[str, Any]
    original_label: Any
    modified_label: Any
    rationale: str
    strategy: str
    tags: tuple[str, ...]
    words: int
    scratch: bool
    status: str = ""
    why: str = ""
    answers: Mapping[str, tuple[Any, Any]] | None = None
    broken: tuple[str, ...] = ()
    claimed_label: Any = None
    objections: tuple[str, ...] | None = left_out()
    ruling: PairRuling | None = left_out()
    votes: tuple[PairVote, ...] | None = left_out()


@dataclass(frozen=True, slots=True)
class ContestPairs(Record):
    """A page of pairs."""

    pairs: list[ContestPair]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class PairsAdded(Record):
    """How many pairs were added, how many the team has now, and how many of those added dispute a starter label."""

    added: int
    pairs: int
    disputed: int = 0


@dataclass(frozen=True, slots=True)
class ContestSearch(Record):
    """An automatic search for pairs that turn a *model*, by its *number*.

    It looks at the sentences of the starter set that contain *text*, *position* of *total* by now, replaces up to
    *words* words by others from *sources*, and asks the model about at most *budget* texts; *asked* of them by now.
    *waiting* of its *proposals* wait for somebody to confirm or reject them. *done* says that it will not go on.
    """

    number: int
    model: str
    text: str
    words: int
    beam: int
    budget: int
    sources: tuple[str, ...]
    total: int
    position: int
    asked: int
    proposals: int
    waiting: int
    done: bool


@dataclass(frozen=True, slots=True)
class ContestSearches(Record):
    """The searches of a team, the newest first, and how many texts it may still ask models about."""

    searches: list[ContestSearch]
    left: int


@dataclass(frozen=True, slots=True)
class ContestProposal(Record):
    """A change that turned a model from *was* to *says*: a pair once somebody says which label the changed side has.

    *label* is the starter set's of the original. *decision* is empty, kept or rejected; *pair* names what it became.
    """

    id: int
    original: Mapping[str, Any]
    modified: Mapping[str, Any]
    label: Any
    was: str
    says: str
    words: int
    decision: str
    pair: str


@dataclass(frozen=True, slots=True)
class ContestProposals(Record):
    """A page of proposals, those that wait first."""

    proposals: list[ContestProposal]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class ContestResults(Record):
    """What came of a contest, as far as it is known.

    *expired* pairs count as they were written, because nobody settled them in time; *waiting* ones wait for the
    organisers. *dev_accuracy* has the systems that enter the breakers' scores. *own* lists the breakers whose team has
    systems of its own among those that its pairs are counted against. *command* computes the same figures from the
    exported table. Where they are not *fresh*, more was said since *computed_at*, and a worker is at the next ones.
    """

    score: ContestScore
    systems: list[ContestSystem]
    dev_accuracy: Mapping[str, float]
    own: Mapping[str, tuple[str, ...]]
    pairs: int
    dropped: int
    provisional: bool
    command: str
    notes: tuple[str, ...] = ()
    expired: int = 0
    waiting: int = 0
    computed_at: datetime | None = None
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class PairToJudge(Record):
    """A pair whose labels somebody outside the contest is asked for; *left* counts those that wait for them.

    It is theirs until *lease_until*, and judging it earns *pay*.
    """

    id: int
    original: Mapping[str, Any]
    modified: Mapping[str, Any]
    minimality: bool
    left: int
    lease_until: datetime
    pay: Money


@dataclass(frozen=True, slots=True)
class PairJudged(Record):
    """What came of judging a pair: what it *earned*, and how many pairs are *left* for the same person.

    One that was *late* is paid, and settles nothing: others had judged the pair, or the organisers had decided.
    """

    late: bool
    earned: Money
    left: int


@dataclass(frozen=True, slots=True)
class PairDispute(Record):
    """What a team said against a pair, and where the pair stands now.

    *by* is the team that contests it, empty where the organisers do. It is *upheld* where the pair was dropped or
    counts with other labels.
    """

    pair: int
    name: str
    team: str
    by: str
    reason: str
    at: datetime
    status: str
    why: str
    upheld: bool


@dataclass(frozen=True, slots=True)
class PairDisputes(Record):
    """What was contested, the newest first: by one's own team, or by all for the organisers.

    A team may contest *allowed* pairs, of which it has *used* some; those that were upheld are not counted. Both are
    None for the organisers.
    """

    disputes: list[PairDispute]
    used: int | None
    allowed: int | None


@dataclass(frozen=True, slots=True)
class PairOpinions(Record):
    """What was said of one pair, as far as somebody may know it."""

    objections: tuple[str, ...]
    ruling: PairRuling | None
    votes: tuple[PairVote, ...]


@dataclass(frozen=True, slots=True)
class RestDecided(Record):
    """How many pairs the organisers let count as they were written, all at once."""

    pairs: int


@dataclass(frozen=True, slots=True)
class NextToJudge(Record):
    """The next pair to judge; None where no more wait."""

    pair: PairToJudge | None
