"""What a model makes of a contrast set: figures, and which sets break it.

Both are computed once from the predictions of a finished cell and kept under a hash of what went in; a page reads only
the sets that it shows. On hidden labels, single sets are for the task's owners.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.core.errors import BadInput, NotFound
from quintain.core.example import Example, Role
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.base import decode, to_json
from quintain.core.records.contrast import ContrastIntervals, ContrastPart, ContrastScore
from quintain.core.records.contrasting import Boundary, BoundaryMember, BoundarySet, ModelContrast
from quintain.core.task import Task
from quintain.data.contrast.contract import ROLE_TAGS
from quintain.metrics.aligned import align
from quintain.metrics.consistency import right_answers
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.services.evaluate.cells.recount import cells_of, set_right, title_of
from quintain.services.evaluate.results.dataset_results import few_of, sees_all
from quintain.services.evaluate.results.examples import finished_cells, require_gold
from quintain.services.evaluate.results.stored_predictions import read_predictions
from quintain.services.jobs.checks import Checked
from quintain.services.models.registry import get_model
from quintain.services.tasks.definitions import get_task
from quintain.stats.contrast import Members, consistent_sets, contrast_by, contrast_estimates
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import results as cache
from quintain.store.queries.evaluate.cells import CellRow
from quintain.tasks.contract import kind_of

FORMAT = 3  # goes up when the shape or the meaning of what is kept changes
MAX_PAGE = 100


def model_contrast(db: Session, blobs: Blobs, actor: Actor, model: str, dataset: str) -> ModelContrast:
    """Return what *model* makes of the contrast set *dataset*: overall, by phenomenon and by label transition.

    On hidden labels, parts that rest on few examples are shown to owners only.
    """
    version = get_model(db, actor, model).version
    row = _cell(db, actor, model, dataset)
    figures = _cached_figures(db, blobs, row)
    score = decode(ContrastScore, figures["score"])
    if not sees_all(actor, row.task.name, row.dataset_version.hidden):
        score = _guarded(score)
    return ModelContrast(version.ref, _ref(row), score, int(figures["broken"]))


def boundary(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    model: str,
    dataset: str,
    *,
    show: str = "broken",
    offset: int = 0,
    limit: int = 10,
) -> Boundary:
    """Return a page of sets with what *model* said of each member: those that break it, or all of them."""
    if offset < 0 or not 1 <= limit <= MAX_PAGE:
        raise BadInput("A page begins at 0 or later and has 1 to {most} sets.", most=MAX_PAGE)
    if show not in {"broken", "all"}:
        raise BadInput("'{word}' is not one of {known}.", word=show, known="broken, all")
    row = _cell(db, actor, model, dataset)
    require_gold(db, actor, row)
    figures = _cached_figures(db, blobs, row)
    names = [name for name, whole in figures["sets"] if show == "all" or not whole]
    page = names[offset : offset + limit]
    return Boundary(_read_sets(db, blobs, row, page), len(names), offset)


def _cell(db: Session, actor: Actor, model: str, dataset: str) -> CellRow:
    version = get_model(db, actor, model).version
    row = finished_cells(db, version, dataset)[PLAIN]
    if row.dataset_version.role != Role.CONTRAST:
        raise NotFound("{ref} is no contrast set.", ref=_ref(row), remedy="Its role is contrast.")
    return row


def _ref(row: CellRow) -> str:
    return f"{row.task.name}/{row.dataset.name}@{row.dataset_version.number}"


def _cached_figures(db: Session, blobs: Blobs, row: CellRow) -> dict[str, Any]:
    """Return what was computed of a cell, computing it the first time."""
    key = _key(row)
    known = cache.cached(db, [key])
    if key in known:
        return dict(known[key])
    computed = _compute(get_task(db, row.task.name), _table(db, blobs, row))
    db.rollback()
    with transaction(db):
        cache.keep(db, {key: computed})
    return computed


def check_contrast(db: Session, blobs: Blobs, subject: str) -> Checked:
    """Compare what is kept of a model version on a contrast set with its predictions, and set it right."""
    row = next((cell for cell in cells_of(db, subject) if cell.cell.variant == PLAIN and cell.cell.predictions), None)
    if row is None or _key(row) not in cache.cached(db, [_key(row)]):
        return Checked()
    counted = _compute(get_task(db, row.task.name), _table(db, blobs, row))
    return set_right(db, "figures of contrast sets", title_of(row), {_key(row): counted})


def _key(row: CellRow) -> str:
    return content_id(["contrast", FORMAT, row.dataset_version.hash, str(row.cell.predictions)])


def _table(db: Session, blobs: Blobs, row: CellRow) -> pl.DataFrame:
    columns = ["id", "answer", "tags", "group", *_places(get_task(db, row.task.name))]
    examples = pl.scan_parquet(blobs.path(row.dataset_version.blob), glob=False).select(columns).collect()
    predictions = read_predictions(blobs, row).select("id", "prediction")
    return examples.filter(pl.col("answer").is_not_null()).join(predictions, on="id", how="left", maintain_order="left")


def _places(task: Task) -> list[str]:
    """Name the inputs that say whether two answers are the same: those of kinds whose answers are places in them."""
    kind = kind_of(task)
    return [] if kind.answers.named or kind.answers.is_text else [item.name for item in kind.fields(task)]


def _compute(task: Task, table: pl.DataFrame) -> dict[str, Any]:
    kind = kind_of(task)
    data = align(
        kind.answer_type, table["answer"], table["prediction"], labels=task.label_names or None, language=task.language
    )
    right = right_answers(data)
    right_by = kind.answers.right_by
    scores = right.astype(np.float64)
    if right_by is not None:
        metric = METRICS.get(right_by[0])()
        scores = metric.scores(data) if isinstance(metric, MeanMetric) else scores
    groups = table["group"].fill_null(table["id"]).to_list()
    original = table["tags"].list.contains(ROLE_TAGS[True]).fill_null(False).to_numpy()
    members = Members.of(scores, right, groups, original)
    overall = contrast_estimates(members)
    roles = set(ROLE_TAGS.values())
    tags = [[tag for tag in own or [] if tag not in roles] for own in table["tags"].to_list()]
    # What an original is tagged with is no phenomenon of the edits.
    tags = [[] if first else own for own, first in zip(tags, original, strict=True)]
    by_tag, tag_intervals = contrast_by(members, tags)
    by_move, move_intervals = contrast_by(members, _transitions(task, table, groups, original))
    score = ContrastScore(
        original=overall.original.value or 0.0,
        contrast=overall.contrast.value or 0.0,
        difference=overall.difference.value or 0.0,
        consistency=overall.consistency.value or 0.0,
        sets=len(set(groups)),
        examples=table.height,
        by_tag=by_tag,
        by_transition=by_move,
        intervals=ContrastIntervals(overall, tag_intervals, move_intervals),
        metric=right_by[0] if right_by else "accuracy",
        threshold=right_by[1] if right_by else None,
        unanswered=table["prediction"].null_count(),
    )
    whole = consistent_sets(members)
    names = list(dict.fromkeys(groups))
    sets = [[name, bool(whole[place])] for place, name in enumerate(names)]
    return {"score": json.loads(to_json(score)), "sets": sets, "broken": int((~whole).sum())}


def _transitions(task: Task, table: pl.DataFrame, groups: list[str], original: Any) -> list[list[str]]:
    """Name what the edit of each neighbour did to the answer; an original has no name, nor a set without one."""
    kind, names = kind_of(task), _places(task)
    members = [_example(row, names) for row in table.select("answer", *names).iter_rows(named=True)]
    firsts = {group: member for group, member, first in zip(groups, members, original, strict=True) if first}
    moves: list[list[str]] = []
    for group, member, first in zip(groups, members, original, strict=True):
        if first or group not in firsts:
            moves.append([])
        elif kind.answers.named and isinstance(member.answer, str):
            moves.append([f"{firsts[group].answer} → {member.answer}"])
        else:
            moves.append(["same" if kind.same_answer(task, firsts[group], member) else "changed"])
    return moves


def _example(row: Mapping[str, Any], names: Sequence[str]) -> Example:
    return Example({name: row[name] for name in names if row[name] is not None}, row["answer"])


def _guarded(score: ContrastScore) -> ContrastScore:
    """Leave out what rests on so few examples that it would tell about single ones."""

    def enough(parts: Any) -> dict[str, ContrastPart]:
        return {name: part for name, part in parts.items() if not few_of(part.examples, score.examples)}

    tags, moves = enough(score.by_tag), enough(score.by_transition)
    intervals = ContrastIntervals(
        score.intervals.overall,
        {name: one for name, one in score.intervals.by_tag.items() if name in tags},
        {name: one for name, one in score.intervals.by_transition.items() if name in moves},
    )
    named = {name: getattr(score, name) for name in score.__dataclass_fields__}
    return ContrastScore(**{**named, "by_tag": tags, "by_transition": moves, "intervals": intervals})


def _read_sets(db: Session, blobs: Blobs, row: CellRow, names: list[str]) -> list[BoundarySet]:
    task = get_task(db, row.task.name)
    kind = kind_of(task)
    inputs = [item.name for item in kind.fields(task)]
    source = pl.scan_parquet(blobs.path(row.dataset_version.blob), glob=False)
    in_sets = pl.col("group").fill_null(pl.col("id")).is_in(names) & pl.col("answer").is_not_null()
    examples = source.filter(in_sets).with_columns(pl.col("group").fill_null(pl.col("id"))).collect()
    answers = pl.scan_parquet(blobs.path(str(row.cell.predictions)), glob=False).select("id", "prediction")
    predictions = answers.filter(pl.col("id").is_in(examples["id"].implode())).collect()
    table = examples.join(predictions, on="id", how="left", maintain_order="left")
    if table.is_empty():
        return []
    data = align(
        kind.answer_type, table["answer"], table["prediction"], labels=task.label_names or None, language=task.language
    )
    right = right_answers(data)
    members_by_name: dict[str, list[tuple[dict[str, Any], bool]]] = {name: [] for name in names}
    for index, example in enumerate(table.iter_rows(named=True)):
        members_by_name[example["group"]].append((example, bool(right[index])))
    return [_set(task, name, members, inputs) for name, members in members_by_name.items()]


def _set(task: Task, name: str, rows: list[tuple[dict[str, Any], bool]], inputs: list[str]) -> BoundarySet:
    first = next((_example(one, inputs) for one, _ in rows if ROLE_TAGS[True] in (one["tags"] or ())), Example({}))
    roles = set(ROLE_TAGS.values())
    members = tuple(
        BoundaryMember(
            id=one["id"],
            original=ROLE_TAGS[True] in (one["tags"] or ()),
            inputs={field: one[field] for field in inputs if one[field] is not None},
            gold=one["answer"],
            answer=one["prediction"],
            right=right,
            differs=not kind_of(task).same_answer(task, first, _example(one, inputs)),
            tags=tuple(tag for tag in one["tags"] or () if tag not in roles),
        )
        for one, right in sorted(rows, key=lambda pair: ROLE_TAGS[True] not in (pair[0]["tags"] or ()))
    )
    return BoundarySet(name, members, all(member.right for member in members))
