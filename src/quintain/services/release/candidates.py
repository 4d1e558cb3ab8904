"""What a release can be made of: the judged items of a validation, one entry of each column for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict
from quintain.core.label_form import label_form
from quintain.core.release import ReleaseSpec
from quintain.core.spec import plain
from quintain.core.texts import Text
from quintain.core.validation import ValidationState
from quintain.services.access.pseudonyms import pseudonyms
from quintain.services.plain.files.folds import codes_of, length_quintiles
from quintain.services.release.already_public import already_public
from quintain.services.validate.labels import shows_answer
from quintain.services.validate.quality.final_labels import FinalLabels, final_labels
from quintain.services.validate.quality.judge_figures import Evidence
from quintain.services.validate.quality.judge_figures import gather as evidence_of_validation
from quintain.services.validate.types import ValidationInfo
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import NONE
from quintain.stats.split_pool import BoolArray
from quintain.store.blobs import Blobs
from quintain.store.queries.release import releases as queries
from quintain.store.queries.release.releases import JudgedRow


@dataclass(frozen=True, slots=True)
class Voted:
    """The votes that are kept, by item: the judges (codes of pseudonyms), what each said, and on which page (or -1)."""

    judges: tuple[str, ...]
    starts: IntArray
    judge: IntArray
    label: IntArray
    page: IntArray

    def by_label(self, at: int, labels: Sequence[str]) -> dict[str, list[str]]:
        """Name the judges of the item at *at* by what they said."""
        judges_by_label: dict[str, list[str]] = {name: [] for name in labels}
        for row in range(self.starts[at], self.starts[at + 1]):
            if self.label[row] >= 0:
                judges_by_label[labels[self.label[row]]].append(self.judges[self.judge[row]])
        return judges_by_label

    def pages(self, at: int) -> list[str]:
        """Name the pages on which the item at *at* was judged."""
        pages = self.page[self.starts[at] : self.starts[at + 1]]
        return [f"y{page}" for page in sorted(set(pages[pages >= 0].tolist()))]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The complete items of a validation.

    *label* is the place of the final label in *labels*, which are the task's labels and then its extra ones, or -1;
    *votes* are those that are kept, by label, and *voted* who gave them on which page. *share* is what part of them the
    label has. *writer* is the code of a pseudonym in *writers*, or -1. *waiting* counts items that still want
    judgements, and are left out. *shown* are those whose label an open data set of the task has already. *asked* is how
    many judgements an item was to get, and *voice* the writer's vote (a place in *labels*, or -1), where it counts.
    *evidence* and *final* are the judgements and labels of all items, as they were read.
    """

    validation: ValidationInfo
    rows: Sequence[JudgedRow]
    labels: tuple[str, ...]
    label: IntArray
    votes: IntArray
    voted: Voted
    writers: tuple[str, ...]
    writer: IntArray
    tags: Sequence[tuple[str, ...]]
    shown: BoolArray
    waiting: int
    asked: IntArray
    voice: IntArray
    evidence: Evidence
    final: FinalLabels

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels that score; they come first among *labels*."""
        return self.validation.task.label_names

    @property
    def ref(self) -> str:
        """What the validation is called."""
        return self.validation.ref

    @property
    def only_fooling(self) -> bool:
        """Whether nothing was judged that the model had right."""
        written = any(row.attempt_id is not None for row in self.rows)
        return written and self.validation.policy.unfooled_share == 0

    @property
    def share(self) -> FloatArray:
        """The share of the kept votes that each item's label has; 0 where it has none."""
        of = self.votes[np.arange(len(self)), np.maximum(self.label, 0)]
        return np.asarray(np.where(self.label == NONE, 0, of) / np.maximum(self.votes.sum(axis=1), 1))

    @property
    def often(self) -> BoolArray:
        """Which items were drawn to be judged more often than others."""
        return np.asarray(self.asked != self.validation.policy.judgements)

    @property
    def texts(self) -> list[str]:
        """The inputs of each item as one text."""
        return ["\n".join(str(value) for value in row.inputs.values()) for row in self.rows]

    def models(self) -> list[str]:
        """Name the models that have answered any item."""
        return sorted({str(prediction.get("model")) for row in self.rows for prediction in row.predictions})

    def answers_of(self, model: str) -> IntArray:
        """Return what *model* answered, as the place of the label; -1 where it is none, or the model was not asked."""
        code_of = {label_form(name): code for code, name in enumerate(self.classes)}
        return np.array([_answer(row.predictions, model, code_of) for row in self.rows], dtype=np.int64)

    def values(self, attribute: str) -> list[str | None]:
        """Return the value of an attribute for each item, or None; lengths are in fifths."""
        if attribute == "writer":
            return [self.writers[code] if code >= 0 else None for code in self.writer.tolist()]
        if attribute == "condition":
            return [row.condition or None for row in self.rows]
        if attribute == "rating":
            return [_text(row.origin.get("rating")) for row in self.rows]
        return length_quintiles(self.texts)

    def origin(self, kind: str) -> IntArray:
        """Return the code of the prompt, or of the review, that each item is from; -1 where it is from none."""
        if kind == "prompt":
            return codes_of([row.prompt_id for row in self.rows])
        return codes_of([_text(row.origin.get("review")) for row in self.rows])


def gather(db: Session, blobs: Blobs, validation: ValidationInfo, spec: ReleaseSpec) -> Candidates:
    """Collect the items of a validation whose judging is over, or say why nothing can be released."""
    task = validation.task
    if shows_answer(task) or not task.label_names:
        raise BadInput(
            "Task {task} has no labels, and classes cannot be balanced without them.",
            task=task.name,
            remedy="Only validations of tasks with labels are released.",
        )
    evidence = evidence_of_validation(db, validation)
    final = final_labels(db, validation, evidence)
    positions = final.by_item()
    judged = queries.judged(db, validation.id)
    rows = [row for row in judged if row.id in positions and final.complete[positions[row.id]]]
    waiting = len(judged) - len(rows)
    if waiting and validation.state != ValidationState.CLOSED:
        raise Conflict(
            Text.plural(
                "{n} item of {ref} still waits for judgements.",
                "{n} items of {ref} still wait for judgements.",
                n=waiting,
                ref=validation.ref,
            ),
            remedy="Let it be judged, or close the validation: what waits is then left out.",
            code="not_judged",
        )
    where = np.array([positions[row.id] for row in rows], dtype=np.int64)
    labels = task.judgement_labels
    column = {name: code for code, name in enumerate(final.classes)}
    votes = np.zeros((len(rows), len(labels)), dtype=np.int64)
    for code, name in enumerate(labels):
        if name in column:
            votes[:, code] = final.votes[where, column[name]]
    names = final.names()
    known = {name: code for code, name in enumerate(labels)}
    label = np.array([known.get(names[at] or "", NONE) for at in where.tolist()], dtype=np.int64)
    aliases = pseudonyms(db, (row.author_id for row in rows), task.name)
    writers = tuple(sorted(set(aliases.values())))
    code_of = {name: code for code, name in enumerate(writers)}
    writer = [-1 if row.author_id is None else code_of[aliases[row.author_id]] for row in rows]
    tags = queries.writers_tags(db, validation.id)
    return Candidates(
        validation=validation,
        rows=rows,
        labels=labels,
        label=label,
        votes=votes,
        voted=_voted(db, validation, evidence, final, where),
        writers=writers,
        writer=np.array(writer, dtype=np.int64),
        tags=[tuple(tags.get(row.attempt_id or 0, ())) for row in rows],
        shown=already_public(db, blobs, validation, rows, plain(spec, whole=True)),
        waiting=waiting,
        asked=final.asked[where],
        voice=np.array([known.get([*final.classes, ""][code], NONE) for code in final.writer[where]], dtype=np.int64),
        evidence=evidence,
        final=final,
    )


def _voted(db: Session, validation: ValidationInfo, evidence: Evidence, final: FinalLabels, where: IntArray) -> Voted:
    """Return who gave the votes that are kept on the items at *where* among those that have any."""
    used = final.judgements
    known = pseudonyms(db, evidence.users.tolist(), validation.task.name)
    codes = {name: code for code, name in enumerate(validation.task.judgement_labels)}
    label_of = np.array([codes.get(name, NONE) for name in used.classes], dtype=np.int64)
    first = np.searchsorted(used.item, np.arange(len(used.items) + 1))  # they are sorted by item
    sizes = (first[1:] - first[:-1])[where]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.repeat(first[where] - starts[:-1], sizes) + np.arange(int(starts[-1]))
    ids = evidence.table.id[evidence.rows[final.kept]][rows]
    judgement_ids, pages = (np.array(page, dtype=np.int64) for page in queries.pages_of(db, validation.id))
    at = np.minimum(np.searchsorted(judgement_ids, ids), max(len(judgement_ids) - 1, 0))
    page = np.where(judgement_ids[at] == ids, pages[at], -1) if len(judgement_ids) else np.full(len(ids), -1)
    return Voted(
        judges=tuple(known[user] for user in evidence.users.tolist()),
        starts=starts,
        judge=used.worker[rows],
        label=label_of[used.label[rows]],
        page=page,
    )


def _answer(predictions: Sequence[Mapping[str, Any]], model: str, codes: Mapping[str, int]) -> int:
    answer = next(
        (prediction.get("answer") for prediction in predictions if str(prediction.get("model")) == model), None
    )
    return codes.get(label_form(answer), -1)


def _text(value: Any) -> str | None:
    return None if value is None else f"{value:g}" if isinstance(value, int | float) else str(value)
