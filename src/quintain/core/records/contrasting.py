"""Contrast projects: what experts are given, what they wrote, what others say of it, and what models make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quintain.core.records.base import Record
from quintain.core.records.contrast import CAVEAT, ContrastEstimates, ContrastImport, ContrastScore
from quintain.core.records.tasks import DatasetVersion


@dataclass(frozen=True, slots=True)
class ContrastProgress(Record):
    """How far a project is: pivots by what became of them, variants by their state, sets with an accepted variant.

    *seconds* is the mean time that an edit took.
    """

    pivots: int
    free: int
    held: int
    done: int
    skipped: int
    scouted: int
    variants: int
    written: int
    accepted: int
    contested: int
    rejected: int
    sets: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class ContrastProject(Record):
    """A contrast project: what it asks and where it stands. *dataset* is the version whose examples are edited."""

    ref: str
    task: str
    name: str
    title: str
    state: str
    dataset: str
    phenomena: tuple[str, ...]
    created_at: datetime
    closed_at: datetime | None
    toml: str
    progress: ContrastProgress
    revision: str = ""


@dataclass(frozen=True, slots=True)
class ContrastProjects(Record):
    """The contrast projects of a task."""

    projects: list[ContrastProject]


@dataclass(frozen=True, slots=True)
class VariantCheck(Record):
    """What one person said of a variant: their own answer, whether it is the author's, and what they think of it.

    Who *adjudicates* decided on it.
    """

    answer: Any
    agrees: bool
    minimal: bool
    sound: bool
    note: str
    adjudicates: bool = False


@dataclass(frozen=True, slots=True)
class ContrastVariant(Record):
    """An edited copy of a pivot; *author* is named to owners only, *answer* the adjudicator's if there is one.

    *mine* says that who asks wrote it. *checks* are what others said of it, where sets are listed.
    """

    id: int
    pivot: int
    inputs: Mapping[str, Any]
    answer: Any
    tags: tuple[str, ...]
    rationale: str
    reason: str
    keeps_label: bool
    draft: str
    tokens: int
    characters: int
    seconds: float | None
    state: str
    created_at: datetime
    author: str | None = None
    mine: bool = False
    checks: tuple[VariantCheck, ...] = ()


@dataclass(frozen=True, slots=True)
class VariantsAdded(Record):
    """How many variants were added, of how many examples."""

    added: int
    examples: int


@dataclass(frozen=True, slots=True)
class ContrastPivot(Record):
    """A pivot that somebody has taken: its gold answer, what of it is fixed, and what they wrote so far.

    *generation* is to be sent with what is written: it shows that the pivot is still theirs. *left* counts the
    variants that may be added.
    """

    id: int
    project: str
    inputs: Mapping[str, Any]
    answer: Any
    tags: tuple[str, ...]
    generation: int
    lease_until: datetime
    fixed: tuple[str, ...]
    left: int
    variants: tuple[ContrastVariant, ...] = ()


@dataclass(frozen=True, slots=True)
class ContrastSet(Record):
    """A pivot with the variants that were written of it, as far as who asks may see them."""

    id: int
    example: str
    inputs: Mapping[str, Any]
    answer: Any
    state: str
    variants: tuple[ContrastVariant, ...]


@dataclass(frozen=True, slots=True)
class ContrastSetPage(Record):
    """Some of the sets of a project, of *total* that have a variant."""

    sets: list[ContrastSet]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class VariantToCheck(Record):
    """A variant that somebody else wrote, without any answer: whoever checks it gives one first.

    *reason* says why it is larger than what counts as minimal, where it is.
    """

    id: int
    project: str
    original: Mapping[str, Any]
    inputs: Mapping[str, Any]
    tokens: int
    characters: int
    lease_until: datetime
    waiting: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToCheck(Record):
    """The next variant to check; None where there is none for who asks."""

    variant: VariantToCheck | None


@dataclass(frozen=True, slots=True)
class VariantStanding(Record):
    """Where a variant stands now."""

    id: int
    state: str


@dataclass(frozen=True, slots=True)
class Phenomena(Record):
    """The phenomena of a project."""

    phenomena: list[str]


@dataclass(frozen=True, slots=True)
class ContestedVariant(Record):
    """A variant on which people disagree, with its pivot and what they said."""

    variant: ContrastVariant
    original: Mapping[str, Any]
    gold: Any
    checks: tuple[VariantCheck, ...]


@dataclass(frozen=True, slots=True)
class ContestedVariants(Record):
    """Variants that wait for an adjudicator, the oldest first, of *total*."""

    variants: list[ContestedVariant]
    total: int


@dataclass(frozen=True, slots=True)
class ContrastDraft(Record):
    """A draft that a rule, or a search against a model, made of a pivot: nothing that counts by itself."""

    rule: str
    field: str
    text: str
    tokens: int
    characters: int
    model: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class ContrastDrafts(Record):
    """Drafts for one pivot."""

    drafts: list[ContrastDraft]


@dataclass(frozen=True, slots=True)
class ContrastLook(Record):
    """What a model says of an example that was looked at, and is now out of the project."""

    pivot: int
    inputs: Mapping[str, Any]
    gold: Any
    answer: Any
    left: int


@dataclass(frozen=True, slots=True)
class ContrastRelease(Record):
    """The data set version that was made of a project: so many sets, with so many variants."""

    project: str
    version: str
    sets: int
    variants: int
    new: bool


@dataclass(frozen=True, slots=True)
class HumanContrast(Record):
    """How people who did not write them do on pairs of original and variant; *enough* from 100 pairs on."""

    validation: str
    pairs: int
    judged: int
    judges: int
    enough: bool
    figures: ContrastEstimates | None


@dataclass(frozen=True, slots=True)
class ModelContrast(Record):
    """What a model makes of a contrast set: figures, and in how many sets it is wrong somewhere."""

    model: str
    dataset: str
    score: ContrastScore
    broken: int


@dataclass(frozen=True, slots=True)
class BoundaryMember(Record):
    """One member of a contrast set with what a model said: *differs* where its gold answer is not the original's."""

    id: str
    original: bool
    inputs: Mapping[str, Any]
    gold: Any
    answer: Any
    right: bool
    differs: bool
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BoundarySet(Record):
    """A pivot and its neighbours, with what a model said of each."""

    set: str
    members: tuple[BoundaryMember, ...]
    consistent: bool


@dataclass(frozen=True, slots=True)
class Boundary(Record):
    """Some of the sets, of *total* that fit the filter."""

    sets: list[BoundarySet]
    total: int
    offset: int
    caveat: str = field(default=CAVEAT)


@dataclass(frozen=True, slots=True)
class PublishedFormat(Record):
    """A published contrast set that can be brought in: its kind of task, by what it is scored, and what to know."""

    name: str
    task: str
    metric: str
    about: str


@dataclass(frozen=True, slots=True)
class ContrastFormats(Record):
    """The published contrast sets that can be brought in."""

    formats: list[PublishedFormat]


@dataclass(frozen=True, slots=True)
class ContrastImported(Record):
    """The version that was made of a published contrast set, and what was read of its files."""

    version: DatasetVersion
    report: ContrastImport
