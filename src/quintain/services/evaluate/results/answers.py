"""Every answer of a model on a data set, to be looked at: a page at a time, by what became of it, and one in full.

Only the rows of a page are read whole; filters read the columns that they need. Who sees what is as in
`services.examples`: right and wrong tell a label, so on hidden data they are for the task's owners, and the words that
a model wrote for those who may read its log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.core.errors import BadInput, NotFound
from quintain.core.people import Actor
from quintain.core.records.evaluate import Answers, AnswerState, GivenAnswer, GivenSample
from quintain.core.task import Task
from quintain.engine.predicting import EXCHANGE, SAMPLES
from quintain.services.data.content import contains_text, has_answer
from quintain.services.evaluate.cells.lifecycle import may_see_logs
from quintain.services.evaluate.results.dataset_results import sees_all
from quintain.services.evaluate.results.examples import example_scores, finished_cells, require_answers, require_gold
from quintain.services.models.registry import get_model
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate.cells import CellRow
from quintain.tasks.contract import kind_of

Show = Literal["all", "right", "wrong", "failed"]
SHOWS: tuple[Show, ...] = get_args(Show)
MAX_PAGE = 500


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Which are wanted: by what became of them, by gold *label*, by what was *said*, by a *text* in the inputs."""

    show: Show = "all"
    label: str = ""
    said: str = ""
    text: str = ""


def read_show(word: str) -> Show:
    """Read which answers are wanted."""
    show = next((known for known in SHOWS if known == word), None)
    if show is None:
        raise BadInput("'{word}' is not one of {known}.", word=word, known=", ".join(SHOWS))
    return show


def list_answers(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    model: str,
    dataset: str,
    sieve: AnswerFilter | None = None,
    *,
    offset: int = 0,
    limit: int = 50,
) -> Answers:
    """Return a page of what *model* answered on *dataset*, in the order of the data."""
    if offset < 0 or not 1 <= limit <= MAX_PAGE:
        raise BadInput("A page begins at 0 or later and has 1 to {most} answers.", most=MAX_PAGE)
    seen = _read_run(db, blobs, actor, model, dataset)
    ids, total = _sifted(db, seen, sieve or AnswerFilter(), actor, offset, limit)
    return Answers(_read(seen, ids), total, offset, seen.gold)


def get_answer(db: Session, blobs: Blobs, actor: Actor, model: str, dataset: str, example: str) -> GivenAnswer:
    """Return what *model* made of one example, with what it was asked and what it wrote."""
    answers = _read(_read_run(db, blobs, actor, model, dataset), [example])
    if not answers:
        raise NotFound(
            "There is no example '{example}' in {dataset}.",
            example=example,
            dataset=dataset,
            remedy="The list of answers has their ids.",
        )
    return answers[0]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The files behind a model's answers, and what of them a reader may see."""

    task: Task
    row: CellRow
    examples: pl.LazyFrame
    said: pl.LazyFrame
    gold: bool
    words: bool


def _read_run(db: Session, blobs: Blobs, actor: Actor, model: str, dataset: str) -> _Seen:
    version = get_model(db, actor, model).version
    row = finished_cells(db, version, dataset)[PLAIN]
    require_answers(db, actor, row)
    predictions = pl.scan_parquet(blobs.path(str(row.cell.predictions)), glob=False)
    if "failure" not in predictions.collect_schema():
        predictions = predictions.with_columns(failure=pl.lit(None, dtype=pl.String))
    return _Seen(
        task=get_task(db, version.task),
        row=row,
        examples=pl.scan_parquet(blobs.path(row.dataset_version.blob), glob=False),
        said=predictions,
        gold=sees_all(actor, row.task.name, row.dataset_version.hidden),
        words=may_see_logs(actor, row),
    )


def _sifted(
    db: Session, seen: _Seen, sieve: AnswerFilter, actor: Actor, offset: int, limit: int
) -> tuple[list[str], int]:
    """Return the ids of a page, and how many there are; reads no more columns than the filters need."""
    if sieve == AnswerFilter():
        total = int(seen.examples.select(pl.len()).collect().item())
        return seen.examples.select("id").slice(offset, limit).collect()["id"].to_list(), total
    if sieve.label or sieve.show in {"right", "wrong"}:
        require_gold(db, actor, seen.row)
    table = seen.examples
    schema = table.collect_schema()
    if sieve.text:
        names = [item.name for item in kind_of(seen.task).fields(seen.task)]
        table = table.filter(contains_text({name: schema[name] for name in names}, sieve.text))
    if sieve.label:
        table = table.filter(has_answer("answer", schema["answer"], sieve.label))
    predictions = seen.said.select("id", "prediction", "failure")
    joined = table.select("id", "answer").join(predictions, on="id", how="left", maintain_order="left")
    if sieve.said:
        joined = joined.filter(has_answer("prediction", predictions.collect_schema()["prediction"], sieve.said))
    if sieve.show == "failed":
        joined = joined.filter(pl.col("prediction").is_null())
    matches = joined.collect()
    if sieve.show in {"right", "wrong"}:
        matches = matches.filter(pl.col("answer").is_not_null())
        right = pl.Series(example_scores(seen.task, matches["answer"], matches["prediction"]) >= 1)
        matches = matches.filter(right if sieve.show == "right" else ~right)
    return matches["id"].slice(offset, limit).to_list(), matches.height


def _read(seen: _Seen, ids: Sequence[str]) -> list[GivenAnswer]:
    names = [item.name for item in kind_of(seen.task).fields(seen.task)]
    on_page = pl.col("id").is_in(list(ids))
    rows = {row["id"]: row for row in seen.examples.filter(on_page).select("id", "answer", *names).collect().to_dicts()}
    predictions = seen.said.filter(on_page).collect()
    by_id = {row["id"]: row for row in predictions.to_dicts()}
    scores = _scores(seen, rows, predictions) if seen.gold else {}
    return [_as_given(seen, names, rows[key], by_id.get(key, {}), scores.get(key)) for key in ids if key in rows]


def _scores(seen: _Seen, rows: Mapping[str, Mapping[str, Any]], predictions: pl.DataFrame) -> dict[str, float]:
    gold = seen.examples.filter(pl.col("id").is_in(list(rows)) & pl.col("answer").is_not_null()).select("id", "answer")
    both = gold.collect().join(predictions.select("id", "prediction"), on="id", how="left")
    scores = example_scores(seen.task, both["answer"], both["prediction"])
    return dict(zip(both["id"].to_list(), scores.tolist(), strict=True))


def _as_given(
    seen: _Seen, names: Sequence[str], row: Mapping[str, Any], prediction: Mapping[str, Any], score: float | None
) -> GivenAnswer:
    state: AnswerState = "answered"
    if prediction.get("prediction") is None:
        state = "failed"
    elif score is not None:
        state = "right" if score >= 1 else "wrong"
    words = {name: prediction.get(name) for name in EXCHANGE if seen.words or name.endswith("_tokens")}
    return GivenAnswer(
        id=row["id"],
        inputs={name: row[name] for name in names},
        state=state,
        answer=prediction.get("prediction"),
        gold=row["answer"] if seen.gold else None,
        score=score,
        probabilities=prediction.get("probabilities"),
        reason=prediction.get("failure") if seen.words else None,
        outcome=prediction.get("outcome"),
        samples=_samples(seen, prediction.get(SAMPLES)),
        **words,
    )


def _samples(seen: _Seen, rows: Sequence[Mapping[str, Any]] | None) -> list[GivenSample] | None:
    """Return the single answers to one example; what is in words is for those who may read the log."""
    if not rows:
        return None
    return [
        GivenSample(
            answer=row["prediction"],
            outcome=row["outcome"],
            reason=row["failure"] if seen.words else None,
            reply=row["reply"] if seen.words else None,
            thoughts=row["thoughts"] if seen.words else None,
            input_tokens=row["input_tokens"],
            output_tokens=row["output_tokens"],
        )
        for row in rows
    ]
