"""Examples as JSON lines in the field names of DynaSent (Potts et al., 2021)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.task import Task
from quintain.data.exporting import whole_or_nothing
from quintain.tasks.contract import kind_of

DYNASENT = "dynasent"
PIECE = 20_000


def write_dynasent(table: pl.LazyFrame, task: Task, about: Mapping[str, Any], path: Path) -> int:
    """Write the examples of *table* to *path*, and count them.

    *about* is what a released version says of itself: the `round`, whose number less one is that of its model, and the
    `model`. Without `answer` in the table, labels and votes are written as null.
    """
    field = _sentence(task)
    number = max(int(about.get("round") or 1) - 1, 0)
    columns = [name for name in ("id", field, "answer", "meta") if name in table.collect_schema()]
    chosen = table.select(columns)
    count = 0
    with whole_or_nothing(path) as part, part.open("w", encoding="utf-8") as stream:
        for rows in _pieces(chosen):
            for row in rows:
                record = _row(row, field, number, task, str(about.get("model") or ""))
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += len(rows)
    return count


def suits_dynasent(task: Task) -> bool:
    """Whether an example of *task* is one sentence with a label."""
    return len(_texts(task)) == 1 and bool(task.label_names)


def _texts(task: Task) -> list[str]:
    return [item.name for item in kind_of(task).fields(task) if item.type in {"text", "long_text"}]


def _sentence(task: Task) -> str:
    if not suits_dynasent(task):
        raise BadInput(
            "An example of task '{name}' is more than one sentence with a label.",
            name=task.name,
            remedy="Export it in another format.",
        )
    return _texts(task)[0]


def _pieces(table: pl.LazyFrame) -> Iterator[Sequence[Mapping[str, Any]]]:
    height = int(table.select(pl.len()).collect().item())
    for start in range(0, height, PIECE):
        yield table.slice(start, PIECE).collect().to_dicts()


def _row(row: Mapping[str, Any], field: str, number: int, task: Task, model: str) -> dict[str, Any]:
    meta = _meta(row.get("meta"))
    withheld = row[field] is None  # and with the sentence what leads to it
    source = {} if withheld else meta.get("source") or {}
    predictions, shares = meta.get("predictions") or {}, meta.get("probabilities") or {}
    model = model if model in predictions else next(iter(predictions), "")
    about: dict[str, Any] = {
        "text_id": meta.get("text_id") or row["id"],
        "hit_ids": meta.get("hits") or [],
        "sentence": row[field],
    }
    if meta.get("writer") is not None:
        about |= {
            "sentence_author": meta["writer"],
            "has_prompt": meta.get("prompt") is not None,
            "prompt_data": None if withheld else _prompt(meta),
        }
    else:
        about |= {
            "review_id": source.get("review"),
            "review_rating": source.get("rating"),
            "indices_into_review_text": _places(source),
        }
    known = "answer" in row
    return {
        **about,
        f"model_{number}_label": predictions.get(model),
        f"model_{number}_probs": shares.get(model),
        "label_distribution": _judges(meta, task) if known else None,
        "gold_label": (meta.get("label") or row["answer"]) if known else None,
    }


def _prompt(meta: Mapping[str, Any]) -> dict[str, Any] | None:
    prompt = meta.get("prompt")
    if prompt is None:
        return None
    source = meta.get("source") or {}
    texts = [value for value in prompt.values() if isinstance(value, str)] if isinstance(prompt, Mapping) else []
    return {
        "indices_into_review_text": _places(source),
        "review_rating": source.get("rating"),
        "prompt_sentence": "\n".join(texts),
        "review_id": source.get("review"),
    }


def _places(source: Mapping[str, Any]) -> list[Any] | None:
    return [source["start"], source["end"]] if "start" in source and "end" in source else None


def _judges(meta: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """Name those who voted for each label; where only their number is known, give that."""
    votes = meta.get("judges") or meta.get("label_distribution") or {}
    return {label: votes.get(label, []) for label in task.judgement_labels}


def _meta(text: str | None) -> Mapping[str, Any]:
    try:
        facts = parse_json(text or "{}")
    except NotJson:
        return {}
    return facts if isinstance(facts, Mapping) else {}
