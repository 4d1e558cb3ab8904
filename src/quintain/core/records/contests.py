"""Contests as programs see them: what each asks, its teams, systems and pairs, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quintain.core.contests import TeamRole
from quintain.core.records.base import Record
from quintain.core.records.contest import ContestScore


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
class ContestPair(Record):
    """A minimal pair as its author wrote it.

    *words* is how many it changes. Where the team disputes the starter set's label of the original, *claimed_label* is
    what it says instead. *status* is empty, contested, settled or dropped. *answers* are those of every
    system to the original and the modified side, *broken* the systems that it broke; both are empty until they may be
    seen.
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

    *dev_accuracy* has the systems that enter the breakers' scores. *own* lists the breakers whose team has systems of
    its own among those that its pairs are counted against. *command* computes the same figures from the exported table.
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


@dataclass(frozen=True, slots=True)
class PairToJudge(Record):
    """A pair whose labels somebody outside the contest is asked for; *left* counts those that wait for them."""

    id: int
    original: Mapping[str, Any]
    modified: Mapping[str, Any]
    minimality: bool
    left: int


@dataclass(frozen=True, slots=True)
class NextToJudge(Record):
    """The next pair to judge; None where no more wait."""

    pair: PairToJudge | None
