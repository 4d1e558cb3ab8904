"""What may be wrong with a pair: the original is not the starter set's, nothing or too much changed, bad labels.

The same checks stand behind the page and behind an upload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.contests import ContestSpec
from quintain.core.errors import Fault
from quintain.core.example import Example
from quintain.core.people import OPERATOR
from quintain.core.task import Field, Task
from quintain.core.text_form import form_id, spelling_ids
from quintain.core.texts import Text
from quintain.data.images import path_faults
from quintain.services.contest.contests import ContestInfo
from quintain.services.contest.grading import as_cell, grading_of
from quintain.services.contest.pair_labels import read_answer
from quintain.services.data.content import scan_for_scoring
from quintain.services.data.datasets import get_version
from quintain.services.tasks.definitions import get_task
from quintain.stats.diff import edit_size
from quintain.store.blobs import Blobs
from quintain.tasks.contract import kind_of

MAX_RATIONALE = 2_000
MAX_NAME = 80
MOST_TAGS = 20


@dataclass(frozen=True, slots=True)
class PairDraft:
    """A pair as somebody wrote it. Labels are as typed; that of the original may be left to the starter set.

    With *dispute*, another label of the original than the starter set's is no mistake: the starter set's is disputed.
    """

    name: str
    original: Mapping[str, Any]
    modified: Mapping[str, Any]
    original_label: Any = None
    modified_label: Any = None
    rationale: str = ""
    strategy: str = ""
    tags: tuple[str, ...] = ()
    dispute: bool = False


@dataclass(frozen=True, slots=True)
class CheckedPair:
    """A pair that may stand: labels as they are stored, the starter set's example, and how many words it changes.

    *claimed_gold* is the label that the team gives the original instead of the starter set's, where it disputes that.
    """

    draft: PairDraft
    original_id: str | None
    original_hash: str
    modified_hash: str
    original_gold: Any
    modified_gold: Any
    words: int
    claimed_gold: Any = None


@dataclass(frozen=True, slots=True)
class Desk:
    """What pairs are checked against: the contest, its task, and the starter set's labels by the ids of examples."""

    spec: ContestSpec
    task: Task
    starter: Mapping[str, Any] = field(default_factory=dict)

    def check(self, draft: PairDraft) -> tuple[CheckedPair | None, list[Fault]]:
        """Return the pair as it may stand, or everything that is wrong with it; fields tell the sides apart.

        What points at a word of the original points at the same word of the modified side, wherever that stands now.
        """
        faults = [*_form_faults(draft), *self._tag_faults(draft)]
        kind = kind_of(self.task)
        draft, unclear = self.resolved(draft)
        faults += unclear
        asked = {fault.field for fault in unclear}
        inside = Example(draft.original).id in self.starter
        before = {"original": draft.original if inside else None, "modified": draft.original}
        for side, inputs in (("original", draft.original), ("modified", draft.modified)):
            named = kind.check(self.task, inputs) + path_faults(self.task, inputs, before[side])
            wrong = [fault.at(field=_field_path(side, fault.field)) for fault in named]
            faults += [fault for fault in wrong if fault.field not in asked]
        if faults:
            return None, faults
        original, modified = Example(draft.original).id, Example(draft.modified).id
        faults += self._side_faults(draft, original, modified)
        words = sum(_words(draft, field) for field in kind.fields(self.task))
        if self.spec.changed_words is not None and words > self.spec.changed_words:
            faults.append(
                Fault(
                    "changes {n} words, and a minimal pair of this contest changes at most {most}",
                    n=words,
                    most=self.spec.changed_words,
                    field="modified",
                )
            )
        known = self.starter.get(original)
        first, wrong = self._label("original", draft.original, draft.original_label, known)
        second, also = self._label("modified", draft.modified, draft.modified_label, None, draft.original)
        faults += [*wrong, *also]
        claimed = None
        if not faults and known is not None:
            claimed, first = (None if self._same(first, known) else first), known
            if claimed is not None and not draft.dispute:
                faults.append(
                    Fault(
                        "is '{said}', and in the starter set it is '{right}'; say that you dispute it, if you do",
                        said=as_cell(self.task, claimed),
                        right=as_cell(self.task, known),
                        field="original_label",
                    )
                )
        if faults:
            return None, faults
        start = original if original in self.starter else None
        return CheckedPair(draft, start, original, modified, first, second, words, claimed), []

    def resolved(self, draft: PairDraft) -> tuple[PairDraft, list[Fault]]:
        """Turn what points at a word into its number; left out of the modified side, it is the original's."""
        kind = kind_of(self.task)
        original, _, first = kind.resolved(self.task, draft.original, None)
        pointers = {field.name for field in kind.fields(self.task) if field.type == "token"}
        inherited = {name: value for name, value in original.items() if name in pointers}
        modified, _, second = kind.resolved(self.task, {**inherited, **draft.modified}, None, original)
        faults = [fault.at(field=_field_path("original", fault.field)) for fault in first]
        faults += [fault.at(field=_field_path("modified", fault.field)) for fault in second]
        return replace(draft, original=original, modified=modified), faults

    def _side_faults(self, draft: PairDraft, original: str, modified: str) -> Iterator[Fault]:
        """Ask for an original that stands in the starter set as it is, and for another side that was changed."""
        inside, taken = original in self.starter, any(key in self.starter for key in spelling_ids(draft.modified))
        if original == modified or form_id(draft.original) == form_id(draft.modified):
            yield Fault("neither side was changed: both are the same", field="modified")
        elif not inside and taken:
            yield Fault(
                "is not in the starter set, and the other side is: give the unchanged one as the original",
                field="original",
            )
        elif not inside and not self.spec.scratch:
            yield Fault("is not in the starter set; the original stays as it is there", field="original")
        elif inside and taken:
            yield Fault("is a sentence of the starter set, too: exactly one side is to be changed", field="modified")
        for task_field in kind_of(self.task).fields(self.task):
            name = task_field.name
            if not task_field.editable and draft.original.get(name) != draft.modified.get(name):
                yield Fault("'{name}' is fixed and may not be changed", name=name, field="modified")

    def _label(
        self, side: str, inputs: Mapping[str, Any], raw: Any, known: Any, before: Mapping[str, Any] | None = None
    ) -> tuple[Any, list[Fault]]:
        """Read a label; that of an original is the starter set's where none is typed."""
        field = f"{side}_label"
        if raw is None or raw == "":
            if known is not None:
                return known, []
            return None, [Fault("is missing", field=field)]
        answer, faults = read_answer(self.task, inputs, raw, before)
        if not faults and not (known is not None and self._same(answer, known)):
            answer, faults = kind_of(self.task).placed(self.task, inputs, answer)
        return answer, [fault.at(field=field) for fault in faults]

    def _same(self, typed: Any, known: Any) -> bool:
        """Whether a typed label is right where the starter set's is."""
        return grading_of(self.task, self.spec)(as_cell(self.task, typed), as_cell(self.task, known)).right

    def _tag_faults(self, draft: PairDraft) -> Iterator[Fault]:
        if len(draft.tags) > MOST_TAGS:
            yield Fault("there are more than {most} tags", most=MOST_TAGS, field="tags")
        strange = [tag for tag in draft.tags if self.spec.tags and tag not in self.spec.tags]
        if strange:
            known = ", ".join(self.spec.tags)
            yield Fault("'{tag}' is not one of {known}", tag=strange[0], known=known, field="tags")
        if self.spec.rationale and not draft.rationale.strip():
            yield Fault("is missing: say why the pair should break a system", field="rationale")


def desk_of(db: Session, blobs: Blobs, info: ContestInfo, drafts: Iterable[PairDraft]) -> Desk:
    """Look up what pairs are checked against, as far as the starter set has a side of one of *drafts*."""
    desk = Desk(info.spec, get_task(db, info.task))
    resolved = [desk.resolved(draft)[0] for draft in drafts]
    sides = [inputs for draft in resolved for inputs in (draft.original, draft.modified)]
    ids = list({key for inputs in sides for key in spelling_ids(inputs)})
    return replace(desk, starter=starter_labels(db, blobs, info, ids))


def starter_labels(db: Session, blobs: Blobs, info: ContestInfo, ids: list[str]) -> dict[str, Any]:
    """Return the labels of those of *ids* that are in the starter set, None where one has none."""
    if not info.spec.starter:
        return {}
    table = scan_for_scoring(blobs, get_version(db, OPERATOR, info.spec.starter))
    rows = table.filter(pl.col("id").is_in(ids)).select("id", "answer").collect()
    return dict(zip(rows["id"].to_list(), rows["answer"].to_list(), strict=True))


def _form_faults(draft: PairDraft) -> Iterator[Fault]:
    if not draft.name or len(draft.name) > MAX_NAME or not draft.name.isprintable():
        yield Fault("is not a name of 1 to {most} characters", most=MAX_NAME, field="pair_id")
    for name, text, most in (("rationale", draft.rationale, MAX_RATIONALE), ("strategy", draft.strategy, MAX_NAME)):
        if len(text) > most or "\x00" in text:
            yield Fault("is longer than {most} characters", most=most, field=name)
    for tag in draft.tags:
        if len(tag) > MAX_NAME or not tag.isprintable() or any(mark in tag for mark in ",;|"):
            yield Fault(
                "'{tag}' is no tag: use up to {most} characters, none of , ; |", tag=tag, most=MAX_NAME, field="tags"
            )


def _words(draft: PairDraft, field: Field) -> int:
    """Count the words of a field that were changed; a position that moved with its word is no change."""
    if field.type == "token":
        return 0
    return edit_size(_text(draft.original.get(field.name)), _text(draft.modified.get(field.name))).tokens


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(str(one) for one in value)
    return "" if value is None else str(value)


def _field_path(side: str, inner: str | None) -> str:
    return f"{side}.{inner}" if inner else side


def too_many(spec: ContestSpec, existing: int, more: int) -> Text | None:
    """Return the refusal where a team would have too many pairs; None where it would not."""
    if existing + more <= spec.pairs:
        return None
    return Text(
        "The team has {there} pairs, and {more} more would be over the {most} of this contest.",
        there=existing,
        more=more,
        most=spec.pairs,
    )
