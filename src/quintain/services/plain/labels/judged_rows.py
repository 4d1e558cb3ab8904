"""Judged texts of a plain table, ready to be divided: no workspace, no account, no server.

A row is an item: `text` and `label`, and where they are known `id`, `share` (what part of the votes the label has),
`writer`, `prompt`, `review`, `condition`, `rating`, and `predicted` (what the model said that is to be at chance).
Without a `label`, a table of judgements `item, worker, label` sets label and share, by more than half of the votes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.label_form import LabelNames
from quintain.data.in_memory import Source
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.services.plain.files.folds import codes_of, length_quintiles
from quintain.services.plain.labels.judgements import JudgementReading, read_judgements
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.human import majority_gold
from quintain.stats.judgements import NONE
from quintain.stats.label_columns import in_names
from quintain.stats.split_pool import BoolArray

MODEL = "predicted"
KNOWN = ("id", "label", "share", "writer", "prompt", "review", "condition", "rating", MODEL)


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """The rows of a table, as items that can be divided."""

    ref: str
    frame: pl.DataFrame
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    label: IntArray
    share: FloatArray
    writers: tuple[str, ...]
    writer: IntArray
    only_fooling: bool = False

    def __len__(self) -> int:
        return self.frame.height

    @property
    def texts(self) -> list[str]:
        """The text of each item."""
        return [text or "" for text in self.frame["text"].to_list()]

    @property
    def shown(self) -> BoolArray:
        """Nothing of a table is known to be open already."""
        return np.zeros(len(self), dtype=bool)

    def models(self) -> list[str]:
        """Name the column with a model's answers, if there is one."""
        return [MODEL] if MODEL in self.frame.columns else []

    def answers_of(self, model: str) -> IntArray:
        """Return what the model answered, as the place of the label; -1 where it is none."""
        codes = {name: code for code, name in enumerate(self.classes)}
        answers = in_names(self.frame[model], self.labels).to_list()
        return np.array([NONE if name is None else codes.get(name, NONE) for name in answers], dtype=np.int64)

    def values(self, attribute: str) -> list[str | None]:
        """Return the value of an attribute for each item; lengths are in fifths."""
        if attribute == "length":
            return length_quintiles(self.texts)
        return self.frame[attribute].to_list() if attribute in self.frame.columns else [None] * len(self)

    def origin(self, kind: str) -> IntArray:
        """Return the code of the prompt, or of the review, that each item is from; -1 where it is from none."""
        return codes_of(self.frame[kind].to_list() if kind in self.frame.columns else [None] * len(self))


def read_judged_rows(
    path: Source,
    *,
    judgements: Source | None = None,
    reading: JudgementReading | None = None,
    classes: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> JudgedRows:
    """Read the items, with the labels of the table or those that *judgements* give them; *classes* are what scores."""
    table = read_table(
        path, required=["text"], optional=KNOWN, columns=columns, types={"share": pl.Float64()}
    ).with_columns(pl.col("text").fill_null(""))
    if "id" not in table.columns:
        table = table.with_columns(pl.Series("id", [str(row_number(path, at)) for at in range(table.height)]))
    _refuse_repeated(table, path)
    blank = [name for name in KNOWN if name not in {"id", "share"} and name in table.columns]
    table = table.with_columns(pl.col(name).str.strip_chars().replace("", None) for name in blank)
    if judgements is not None:
        table = _labelled(table.drop("label", "share", strict=False), judgements, reading)
    if "label" not in table.columns:
        raise BadInput(
            faults=[Fault("there is no column 'label'", file=path.name)],
            remedy="Add the final labels, or give the judgements as a table item,worker,label.",
        )
    return _items(table, path, classes)


def _refuse_repeated(table: pl.DataFrame, path: Source) -> None:
    again = (~table["id"].is_first_distinct()).arg_true().to_list()
    if again:
        faults = [
            Fault("id '{name}' is there a second time", name=table["id"][at], file=path.name, row=row_number(path, at))
            for at in again
        ]
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))


def _labelled(table: pl.DataFrame, judgements: Source, reading: JudgementReading | None) -> pl.DataFrame:
    """Return every item with the label that more than half of its judgements have, and their share."""
    judged = read_judgements(judgements, reading).judgements
    gold = majority_gold(judged)
    counts = judged.counts()
    share = counts[np.arange(len(gold)), np.maximum(gold, 0)] / np.maximum(counts.sum(axis=1), 1)
    majority = pl.DataFrame(
        {
            "id": list(judged.items),
            "label": [judged.classes[code] if code >= 0 else None for code in gold.tolist()],
            "share": np.where(gold >= 0, share, 0.0),
        },
        schema_overrides={"label": pl.String()},
    )
    if not table["id"].is_in(majority["id"].implode()).any():
        raise BadInput(
            "No judgement in {name} is of an item that is here.",
            name=judgements.name,
            remedy="The judgements' `item` is the `id` of the items.",
        )
    return table.join(majority, on="id", how="left", maintain_order="left").with_columns(pl.col("share").fill_null(0.0))


def _items(table: pl.DataFrame, path: Source, classes: Sequence[str]) -> JudgedRows:
    names = LabelNames(classes)
    labels = in_names(table["label"], names).to_list()
    classes = [names.find(name) or name for name in classes]
    present = sorted({name for name in labels if name is not None})
    strange = [name for name in classes if name not in present]
    if strange:
        raise BadInput(
            "No item of {file} has the label '{label}'.",
            file=path.name,
            label=strange[0],
            known=", ".join(present),
            remedy="Labels here: {known}.",
        )
    chosen = tuple(classes) or tuple(present)
    ordered = (*chosen, *(name for name in present if name not in chosen))
    label_codes = {name: code for code, name in enumerate(ordered)}
    writers = tuple(sorted(set(table["writer"].drop_nulls()))) if "writer" in table.columns else ()
    code = {name: at for at, name in enumerate(writers)}
    named = table["writer"].to_list() if writers else [None] * table.height
    share = table["share"].fill_null(0.0).to_numpy() if "share" in table.columns else np.ones(table.height)
    label = np.array([NONE if name is None else label_codes[name] for name in labels], dtype=np.int64)
    return JudgedRows(
        ref=path.name,
        frame=table,
        labels=ordered,
        classes=chosen,
        label=label,
        share=np.where(label == NONE, 0.0, share),
        writers=writers,
        writer=np.array([NONE if name is None else code[name] for name in named], dtype=np.int64),
    )
