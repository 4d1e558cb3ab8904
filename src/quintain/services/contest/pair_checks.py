"""What may be wrong with a pair: the original is not the starter set's, nothing or too much changed, bad labels.

The same checks stand behind the page and behind an upload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.contests import ContestSpec
from quintain.core.errors import BadInput, Fault
from quintain.core.example import Example
from quintain.core.people import OPERATOR
from quintain.core.task import Task
from quintain.core.text_form import form_id, spelling_ids
from quintain.core.texts import Text
from quintain.services.contest.contests import ContestInfo
from quintain.services.contest.grading import as_cell, grading_of
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
        """Give the pair as it may stand, or everything that is wrong with it; fields tell the sides apart."""
        faults = [*_form_faults(draft), *self._tag_faults(draft)]
        kind = kind_of(self.task)
        for side, inputs in (("original", draft.original), ("modified", draft.modified)):
            faults += [fault.at(field=_place(side, fault.field)) for fault in kind.check(self.task, inputs)]
        if faults:
            return None, faults
        original, modified = Example(draft.original).id, Example(draft.modified).id
        faults += self._side_faults(draft, original, modified)
        words = sum(_words(draft, one.name) for one in kind.fields(self.task))
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
        second, also = self._label("modified", draft.modified, draft.modified_label, None)
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
        for one in kind_of(self.task).fields(self.task):
            if not one.editable and draft.original.get(one.name) != draft.modified.get(one.name):
                yield Fault("'{name}' is fixed and may not be changed", name=one.name, field="modified")

    def _label(self, side: str, inputs: Mapping[str, Any], raw: Any, known: Any) -> tuple[Any, list[Fault]]:
        """Read a label; that of an original is the starter set's where none is typed."""
        place = f"{side}_label"
        if raw is None or raw == "":
            if known is not None:
                return known, []
            return None, [Fault("is missing", field=place)]
        kind = kind_of(self.task)
        several = isinstance(raw, list) and kind.answers.is_text  # of which each is right
        try:
            found = kind.answers.stored(raw if several else kind.parse_answer(self.task, inputs, raw).answer)
        except BadInput as error:
            return None, [Fault(error.message, field=place)]
        return found, [fault.at(field=place) for fault in kind.check(self.task, inputs, found)]

    def _same(self, typed: Any, known: Any) -> bool:
        """Say whether a typed label is right where the starter set's is."""
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


def desk_of(db: Session, blobs: Blobs, info: ContestInfo, originals: Iterable[Mapping[str, Any]]) -> Desk:
    """Look up what pairs are checked against, as far as the starter set has one of *originals*."""
    task = get_task(db, info.task)
    wanted = list({key for inputs in originals for key in spelling_ids(inputs)})
    return Desk(info.spec, task, starter_labels(db, blobs, info, wanted))


def starter_labels(db: Session, blobs: Blobs, info: ContestInfo, ids: list[str]) -> dict[str, Any]:
    """Give the labels of those of *ids* that are in the starter set, None where one has none."""
    if not info.spec.starter:
        return {}
    table = scan_for_scoring(blobs, get_version(db, OPERATOR, info.spec.starter))
    found = table.filter(pl.col("id").is_in(ids)).select("id", "answer").collect()
    return dict(zip(found["id"].to_list(), found["answer"].to_list(), strict=True))


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


def _words(draft: PairDraft, name: str) -> int:
    return edit_size(_text(draft.original.get(name)), _text(draft.modified.get(name))).tokens


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(str(one) for one in value)
    return "" if value is None else str(value)


def _place(side: str, inner: str | None) -> str:
    return f"{side}.{inner}" if inner else side


def too_many(spec: ContestSpec, there: int, more: int) -> Text | None:
    """Say that a team would have too many pairs, if so."""
    if there + more <= spec.pairs:
        return None
    return Text(
        "The team has {there} pairs, and {more} more would be over the {most} of this contest.",
        there=there,
        more=more,
        most=spec.pairs,
    )
