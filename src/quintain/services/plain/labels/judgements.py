"""Read tables of judgements (`item, worker, label`) from plain files, and name what is wrong in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.label_form import LabelNames
from quintain.core.texts import Text
from quintain.data.in_memory import InMemoryTable, Source
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import NONE, Judgements
from quintain.stats.label_columns import in_names
from quintain.stats.label_hints import label_warnings
from quintain.tasks.rules import SHOWN

Repeats = Literal["refuse", "first", "last"]
_ROW = "__row__"
_YES = ("true", "1", "yes", "t")
_NO = ("false", "0", "no", "f")
_GOLD_NAMES = ("label", "gold", "truth", "answer", "gold_label")


@dataclass(frozen=True, slots=True)
class JudgementReading:
    """How to read the table: names of columns, the set of labels, what to do where a worker judged an item twice.

    Rows that a column `kept` marks as set aside are left out, unless *everything* is wanted.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[str] = ()
    repeats: Repeats = "refuse"
    everything: bool = False


@dataclass(frozen=True, slots=True)
class JudgementFile:
    """Judgements, the rows of the file beside them in the same order, and what was left out.

    *order* lists the items (codes) as the file does. *set_aside* counts the rows that the column `kept` left out.
    """

    judgements: Judgements
    rows: pl.DataFrame
    order: IntArray
    path: Source
    notes: tuple[str, ...]
    set_aside: int = 0


def read_judgements(path: Source, reading: JudgementReading | None = None) -> JudgementFile:
    """Read the table at *path*.

    A label that is a list, as in SNLI's `annotator_labels`, is one judgement for each of its elements, by workers named
    after their places where the file names none. Rows that repeat another are counted once; where the repeated row
    has another label, it is refused, or the *first* or *last* one counts. Rows without a label are left out, and those
    that the export of a validation marks as not `kept`. Names that differ only in their form of Unicode are the same.
    """
    reading = reading or JudgementReading()
    own = {name: theirs for name, theirs in reading.columns.items() if not name.startswith("gold.")}
    frame = read_table(
        path,
        required=["item", "label"],
        optional=["worker", "seconds", "kept"],
        columns=own,
        types={"seconds": pl.Float64()},
    )
    frame = _exploded(frame.with_row_index(_ROW), path)
    notes: list[str] = []
    frame, set_aside = _without_set_aside(frame, path, notes, everything=reading.everything)
    # One after the other: the texts of each are let go before the next.
    known = LabelNames(reading.labels) if reading.labels else None
    frame = frame.with_columns(_named(frame["label"], known, labels=True))
    for name in ("worker", "item"):
        frame = frame.with_columns(_named(frame[name]))
    frame = _complete(frame, path, notes)
    labels = [known.find(name) or name for name in reading.labels] if known else []
    _check_labels(frame, path, labels)
    ordered, repeated = _ordered(frame)
    if repeated:
        frame = _without_repeats(frame, path, reading.repeats, notes)
        ordered, _ = _ordered(frame)
    appearing = _codes(frame["item"])[0]
    del frame
    item, items = _codes(ordered["item"])
    worker, workers = _codes(ordered["worker"])
    label, classes = _codes(ordered["label"])
    order = _by_appearance(appearing, len(items))
    judgements = Judgements.from_codes(item, worker, label, items, workers, classes)
    table = JudgementFile(judgements, ordered, order, path, tuple(notes), set_aside)
    return _with_classes(table, labels)


def _codes(values: pl.Series) -> tuple[IntArray, list[str]]:
    """Return the values of a column of names as numbers, and the names that occur, in order."""
    codes = values.to_physical().to_numpy()
    names = _names(values)
    used = np.bincount(codes, minlength=len(names)) > 0
    if used.all():
        return codes.astype(np.int64), names.to_list()
    return (np.cumsum(used) - 1)[codes], names.filter(pl.Series(used)).to_list()


def _names(values: pl.Series) -> pl.Series:
    """List the names that a column of `_named` may hold, in order."""
    kind = values.dtype
    if not isinstance(kind, pl.Enum):
        raise TypeError(f"A column of names is {kind}.")
    return kind.categories


def _ordered(frame: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """Put the rows in the order of items and workers, and say whether anybody judged an item twice."""
    item, worker = frame["item"].to_physical(), frame["worker"].to_physical()
    key = item.cast(pl.Int64()) * len(_names(frame["worker"])) + worker
    order = key.arg_sort()
    key = key.gather(order)
    return frame[order], bool((key.slice(1) == key.slice(0, len(key) - 1)).any())


def _by_appearance(item: IntArray, items: int) -> IntArray:
    """List the items in the order in which the rows of the file name them first."""
    first = np.empty(items, dtype=np.int64)
    first[item[::-1]] = np.arange(len(item) - 1, -1, -1)
    return np.argsort(first)


def _exploded(frame: pl.DataFrame, path: Source) -> pl.DataFrame:
    nested = [name for name in ("item", "label", "worker") if name in frame.columns and frame[name].dtype.is_nested()]
    lists = [name for name in nested if isinstance(frame[name].dtype, pl.List | pl.Array)]
    strange = [name for name in nested if name == "item" or name not in lists]
    if strange:
        raise BadInput(faults=[Fault("a list or an object is no name", file=path.name, field=strange[0])])
    if "label" in lists:
        frame = _one_row_per_label(frame, path, lists)
    elif lists:
        raise BadInput(
            faults=[Fault("workers are lists where labels are not", file=path.name, field="worker")],
            remedy="Give one worker per label.",
        )
    if "worker" not in frame.columns:
        raise BadInput(
            faults=[Fault("there is no column 'worker'", file=path.name)],
            columns=", ".join(frame.columns[1:]),
            remedy="The file has: {columns}. Map names with --column NAME=COLUMN.",
        )
    return frame


def _one_row_per_label(frame: pl.DataFrame, path: Source, lists: Sequence[str]) -> pl.DataFrame:
    if "worker" in lists:
        uneven = (frame["label"].list.len() != frame["worker"].list.len()).fill_null(True).arg_true().to_list()
        if uneven:
            faults = [
                Fault("there are not as many workers as labels", file=path.name, row=row_number(path, row))
                for row in uneven
            ]
            raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    elif "worker" not in frame.columns:
        places = pl.int_ranges(1, pl.col("label").list.len().fill_null(0) + 1).cast(pl.List(pl.String()))
        frame = frame.with_columns(worker=places)
        lists = ["label", "worker"]
    else:
        raise BadInput(
            faults=[Fault("labels are lists, but there is one worker", file=path.name, field="worker")],
            remedy="Give a list of workers, or no column 'worker'.",
        )
    flat = frame.explode(*lists)
    if flat["label"].dtype.is_nested():
        raise BadInput(faults=[Fault("a list or an object is no label", file=path.name, field="label")])
    return flat


def _without_set_aside(
    frame: pl.DataFrame, path: Source, notes: list[str], *, everything: bool
) -> tuple[pl.DataFrame, int]:
    """Leave out the rows that were set aside, and count them."""
    if everything or "kept" not in frame.columns:
        return frame, 0
    flags = frame["kept"].cast(pl.String()).str.strip_chars().str.to_lowercase().fill_null("").replace("", "true")
    strange = (~flags.is_in([*_YES, *_NO])).arg_true()
    if len(strange):
        faults = [
            Fault(
                "'{kept}' is neither true nor false",
                kept=_short(str(frame["kept"][row])),
                file=path.name,
                row=row_number(path, int(frame[_ROW][row])),
                field="kept",
            )
            for row in strange.head(FAULT_LIMIT).to_list()
        ]
        raise BadInput(faults=faults, total=len(strange), remedy="Use --all to take no notice of that column.")
    left = frame.filter(flags.is_in(_YES))
    left_out = len(frame) - len(left)
    if left_out and left.is_empty():
        raise BadInput(
            faults=[Fault("every row is set aside", file=path.name, field="kept")], remedy="Use --all to count them."
        )
    if left_out:
        notes.append(f"Rows left out because they were set aside (kept is false): {left_out:,}; --all counts them.")
    return left, left_out


def _complete(frame: pl.DataFrame, path: Source, notes: list[str]) -> pl.DataFrame:
    """Refuse rows without an item or a worker, and leave out rows without a label."""
    labelled = frame.filter(pl.col("label").is_not_null())
    faults = [
        Fault("there is no {name}", name=name, file=path.name, row=row_number(path, row), field=name)
        for name in ("item", "worker")
        for row in labelled.filter(pl.col(name).is_null())[_ROW].to_list()
    ]
    if faults:
        remedy = Text("Name the item and the worker in every row, or leave the row out.")
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults), remedy=remedy)
    if labelled.is_empty():
        remedy = Text("Map the column that holds the labels with --column label=COLUMN.")
        raise BadInput(faults=[Fault("no row has a label", file=path.name, field="label")], remedy=remedy)
    if len(labelled) < len(frame):
        notes.append(f"Rows left out because they have no label: {len(frame) - len(labelled):,}.")
    return labelled


def _named(values: pl.Series, known: LabelNames | None = None, *, labels: bool = False) -> pl.Series:
    """Return names as `clean_names` does, each kept once and the rows as numbers: there are few names and many rows.

    *labels* are compared by their form, and called as those that are *known*.
    """
    coded = values.cast(pl.String()).cast(pl.Categorical(pl.Categories.random()))
    distinct = coded.unique().drop_nulls()
    clean = clean_names(distinct.cast(pl.String()))
    clean = in_names(clean, known) if labels else clean
    order = clean.arg_sort(nulls_last=True).head(len(clean) - clean.null_count())
    names = clean.gather(order)
    is_new = names.ne_missing(names.shift(1))
    places = distinct.to_physical().to_numpy()
    ranks = np.full(places.max(initial=0) + 1, -1, dtype=np.int64)
    ranks[places[order.to_numpy()]] = np.cumsum(is_new.to_numpy()) - 1
    # A name that is empty once it is clean keeps the rank -1, which no unsigned number holds: it becomes null.
    by_code = pl.Series(ranks).cast(pl.UInt32(), strict=False)
    return by_code.gather(coded.to_physical()).cat.to(pl.Enum(names.filter(is_new))).alias(values.name)


def clean_names(values: pl.Series) -> pl.Series:
    """Return names without spaces around them, in one form of Unicode; an empty one is none."""
    return values.cast(pl.String()).str.strip_chars().replace("", None).str.normalize("NFC")


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _check_labels(frame: pl.DataFrame, path: Source, labels: Sequence[str]) -> None:
    if not labels:
        return
    known = ", ".join(labels)
    wrong = frame.filter(~pl.col("label").cast(pl.String()).is_in(list(labels)))
    if len(wrong):
        faults = [
            Fault(
                "label '{label}' is not one of {known}",
                label=_short(label),
                known=known,
                file=path.name,
                row=row_number(path, row),
            )
            for row, label in wrong.head(FAULT_LIMIT).select(_ROW, "label").iter_rows()
        ]
        raise BadInput(faults=faults, total=len(wrong), remedy="Mend these rows, or add the label to --labels.")


def _without_repeats(frame: pl.DataFrame, path: Source, repeats: Repeats, notes: list[str]) -> pl.DataFrame:
    same = frame.unique(["item", "worker", "label"], keep="first", maintain_order=True)
    once = same.unique(["item", "worker"], keep="last" if repeats == "last" else "first", maintain_order=True)
    if len(same) < len(frame):
        notes.append(f"Repeated rows, counted once: {len(frame) - len(same):,}.")
    if len(once) == len(same):
        return once
    if repeats == "refuse":
        again = same.filter(~pl.struct("item", "worker").is_first_distinct())
        faults = [
            Fault(
                "'{worker}' judged '{item}' before, with another label",
                worker=_short(worker),
                item=_short(item),
                file=path.name,
                row=row_number(path, row),
            )
            for row, worker, item in again.head(FAULT_LIMIT).select(_ROW, "worker", "item").iter_rows()
        ]
        raise BadInput(
            faults=faults, total=len(again), remedy="Use --repeats first or --repeats last to keep one of them."
        )
    notes.append(f"Kept the {repeats} of several labels in {len(same) - len(once):,} cases.")
    if repeats == "last":  # a repeated row may come after the label that differs: the last row of all counts
        once = frame.unique(["item", "worker"], keep="last", maintain_order=True)
    return once


def labels_of_items(
    table: JudgementFile, source: str | InMemoryTable, what: str, columns: Mapping[str, str] | None = None
) -> tuple[JudgementFile, IntArray]:
    """Return each item's label from *source*: a column of the table, or a file with `item` and `label`.

    A label that nobody chose is added to the classes, so that the table comes back too. Items without one have -1.
    """
    path: Source
    if isinstance(source, str) and source in table.rows.columns:
        pairs, path, field_name = table.rows.select("item", pl.col(source).alias("label")), table.path, source
    else:
        path, field_name = Path(source) if isinstance(source, str) else source, "label"
        pairs = _read_gold(path, table, what, columns or {})
    if pairs["label"].dtype.is_nested():
        raise BadInput(faults=[Fault("a list or an object is no label", file=path.name, field=field_name)])
    pairs = pairs.unique()
    pairs = pairs.with_columns(clean_names(pairs[name]) for name in pairs.columns).drop_nulls()
    pairs = pairs.with_columns(in_names(pairs["label"], table.judgements.classes)).unique()
    twice = pairs.filter(pl.col("item").is_duplicated()).sort("item", "label")
    if len(twice):
        faults = [
            Fault(
                "item '{item}' has the {what} labels {labels}",
                item=item,
                what=what,
                labels=" and ".join(labels),
                file=path.name,
                field=field_name,
            )
            for item, labels in twice.group_by("item", maintain_order=True).agg("label").iter_rows()
        ]
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    table = _with_classes(table, pairs["label"].unique().to_list())
    judgements = table.judgements
    code_of = {name: code for code, name in enumerate(judgements.classes)}
    known = pl.DataFrame({"item": judgements.items}, schema={"item": pl.String()})
    joined = known.join(pairs, on="item", how="left", maintain_order="left")["label"]
    codes = joined.replace_strict(list(code_of), list(code_of.values()), default=NONE, return_dtype=pl.Int64())
    return table, np.asarray(codes.fill_null(NONE).to_numpy(), dtype=np.int64)


def gold_warnings(table: JudgementFile, gold: IntArray) -> list[Text]:
    """Return where the labels of judgements are hardly those of *gold* (a class for each item)."""
    judgements = table.judgements
    classes = judgements.classes
    of_gold = gold[judgements.item] >= 0
    judged = [classes[code] for code in judgements.label[of_gold].tolist()]
    return label_warnings([classes[code] for code in gold[gold >= 0].tolist()], judged, what=Text("judgements"))


def _read_gold(path: Source, table: JudgementFile, what: str, columns: Mapping[str, str]) -> pl.DataFrame:
    if isinstance(path, Path) and not path.exists():
        existing = [name for name in table.rows.columns if name != _ROW]
        raise BadInput(
            "'{path}' is neither a file nor a column of {name} with the {what} labels.",
            path=path,
            name=table.path.name,
            what=what,
            there=", ".join(existing),
            remedy="The columns are: {there}.",
        )
    own = {name.removeprefix("gold."): theirs for name, theirs in columns.items() if name.startswith("gold.")}
    if "label" in own:
        return read_table(path, required=["item", "label"], columns=own).select("item", "label")
    frame = read_table(path, required=(), optional=["item", "id"], columns=own)
    if "item" not in frame.columns and "id" in frame.columns:
        frame = frame.rename({"id": "item"})
    if "item" not in frame.columns:
        raise BadInput(
            faults=[Fault("there is no column 'item' or 'id'", file=path.name)],
            columns=", ".join(frame.columns),
            remedy="The file has: {columns}. Map one with --column gold.item=COLUMN.",
        )
    column = next((name for name in _GOLD_NAMES if name in frame.columns), None)
    if column is None:
        raise BadInput(
            faults=[Fault("there is no column 'label'", file=path.name)],
            columns=", ".join(frame.columns),
            remedy="The file has: {columns}. Map it with --column gold.label=COLUMN.",
        )
    return frame.select("item", pl.col(column).alias("label"))


def _with_classes(table: JudgementFile, names: Sequence[str]) -> JudgementFile:
    old = table.judgements
    new = [*old.classes, *sorted(set(names) - set(old.classes))]
    if len(new) == len(old.classes):
        return table
    judgements = Judgements.from_codes(old.item, old.worker, old.label, old.items, old.workers, new)
    return JudgementFile(judgements, table.rows, table.order, table.path, table.notes, table.set_aside)
