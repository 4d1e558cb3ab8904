"""What every perturbation must say of itself.

A perturbation is one file in `robustness/` or `fairness/` with one class decorated by `@PERTURBATIONS.register(name)`.
It looks at a whole `TextBatch` of texts at once and proposes edits; it never rewrites a text itself. That the edits are
kept apart from the text is what lets gold spans be moved along, edits on an answer be refused, and a flip be shown
as a diff. `PerText` is the easy way in for a perturbation that would rather see one text at a time.

Every draw comes from the seed of a text and the place in that text, so that neither the order nor the company of
the texts matters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from quintain.core.registry import Registry
from quintain.perturbations.batch import TextBatch
from quintain.perturbations.draws import Hashes
from quintain.perturbations.wordbooks import Table, table_of

Family = Literal["robustness", "fairness"]
Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Edits in the offsets of the batch's joined string: replace `joined[start:end]` by *replacement*.

    They are sorted, do not overlap, never cross the border of a text, and each changes something. *keys* tie edits
    of one example together: where one of them is refused, all with the same key are (a name is replaced everywhere
    or nowhere). *groups* say, for fairness, from which group to which an edit goes.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    replacement: list[str]
    keys: list[str] | None = None
    groups: list[tuple[str, str]] | None = None

    def __len__(self) -> int:
        return len(self.replacement)

    def take(self, keep: NDArray[np.int64]) -> Proposal:
        """Keep only the edits at the places *keep*."""
        chosen = keep.tolist()
        return Proposal(
            self.start[keep],
            self.end[keep],
            [self.replacement[i] for i in chosen],
            None if self.keys is None else [self.keys[i] for i in chosen],
            None if self.groups is None else [self.groups[i] for i in chosen],
        )


@dataclass(slots=True)
class EditDraft:
    """A proposal while it is being written, edit by edit, in any order."""

    edits: list[tuple[int, int, str, str, tuple[str, str]]] = field(default_factory=list)

    def add(self, start: int, end: int, text: str, key: str = "", group: tuple[str, str] = ("", "")) -> None:
        """Note one edit."""
        self.edits.append((start, end, text, key, group))

    def proposal(self) -> Proposal:
        """Return the edits in order; one that runs into an earlier one is left out."""
        edits: list[tuple[int, int, str, str, tuple[str, str]]] = []
        for edit in sorted(self.edits):
            if not edits or edit[0] >= edits[-1][1]:
                edits.append(edit)
        return Proposal(
            np.array([edit[0] for edit in edits], dtype=np.int64),
            np.array([edit[1] for edit in edits], dtype=np.int64),
            [edit[2] for edit in edits],
            [edit[3] for edit in edits],
            [edit[4] for edit in edits],
        )


class Perturbation(ABC):
    """One way to change a text that should leave the right answer as it was.

    *rate* is the share of a text's words that it edits at severity 1 (at least one word where any can be edited);
    a *version* goes up whenever the same seed would give another text. *in_paper* marks the members of the
    canonical figure; *coherent* ones change all of an example's fields together. One that has words of a language in it
    names its *languages*, and one that knows the letters of some scripts only its *scripts*, by their Unicode names;
    where nothing is named it is for all. *table* names the table of the other languages' lists that it works from there
    (`wordbooks`): where a language has it, the kind applies, and `propose_from` makes the edits.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    title: ClassVar[str]
    version: ClassVar[int] = 1
    rate: ClassVar[float] = 0.1
    in_paper: ClassVar[bool] = False
    languages: ClassVar[tuple[str, ...]] = ()
    scripts: ClassVar[tuple[str, ...]] = ()
    table: ClassVar[str] = ""

    def proposal(self, batch: TextBatch, rate: float) -> Proposal:
        """Propose edits in the language of *batch*: from the lists of that language where they have the table."""
        table = table_of(batch.language, self.table) if self.table else None
        return self.propose(batch, rate) if table is None else self.propose_from(batch, rate, table)

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Propose edits from the lists of another language than English; by default as in English."""
        return self.propose(batch, rate)

    @abstractmethod
    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Propose edits to the texts of *batch* that touch about the share *rate* of each text's words."""

    def shortcut(self, texts: Sequence[str], seeds: Hashes, rate: float) -> list[str | None] | None:
        """Perturb *texts* without telling the edits, where that is faster and gives the very same; else None."""
        return None


class PerText(Perturbation):
    """A perturbation that sees one text at a time."""

    @abstractmethod
    def edits(self, text: str, seed: int, rate: float) -> Sequence[Edit]:
        """List edits of *text* in its own offsets; all chance comes from *seed*, 64 bits wide."""

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Go through the texts one by one."""
        draft = EditDraft()
        rows = zip(batch.texts, batch.begins.tolist(), batch.seeds.tolist(), strict=True)
        for text, begin, seed in rows:
            for start, end, replacement in self.edits(text, seed, rate):
                if text[start:end] != replacement:
                    draft.add(begin + start, begin + end, replacement)
        return draft.proposal()


PERTURBATIONS: Registry[type[Perturbation]] = Registry(
    "perturbation", package="quintain.perturbations", group="quintain.perturbations"
)


def perturbation(name: str) -> Perturbation:
    """Return the perturbation called *name*; refuse a name that there is not.

    >>> perturbation("typos").family
    'robustness'
    """
    return PERTURBATIONS.get(name)()


def names_of(family: Family, *, in_paper: bool | None = None) -> list[str]:
    """List the perturbations of *family*; with *in_paper*, only those that do or do not make the canonical figure."""
    return [
        name
        for name, member in PERTURBATIONS.items()
        if member.family == family and in_paper in {None, member.in_paper}
    ]


__all__ = [
    "PERTURBATIONS",
    "Edit",
    "EditDraft",
    "Family",
    "PerText",
    "Perturbation",
    "Proposal",
    "Table",
    "TextBatch",
    "names_of",
    "perturbation",
]
