"""A batch of a file's rows turned into examples of a task, as a plan says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.data.answers import map_answers
from quintain.data.plan import ImportPlan
from quintain.data.readers.contract import RowBatch, Source
from quintain.data.shaping import shape
from quintain.tasks.contract import RESERVED, TaskKind, kind_of

TAGS = pl.List(pl.String())
EXTRA: Mapping[str, pl.DataType] = {"tags": TAGS, "group": pl.String(), "meta": pl.String()}
# What an answer is often called, tried in this order where the plan does not say.
_ANSWER_NAMES = ("answer", "label", "gold_label", "answers")


@dataclass(slots=True)
class Mapped:
    """Examples with their row numbers; faults with theirs; and how many rows were left out, by reason."""

    file: str
    table: pl.DataFrame
    rows: pl.Series
    own_ids: pl.Series | None = None
    faults: list[Fault] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


class Mapper:
    """Maps the batches of one source. Made once, so that wrong columns are said before anything is read."""

    def __init__(self, task: Task, plan: ImportPlan, source: Source) -> None:
        self.task = task
        self.plan = plan
        self.kind: TaskKind = kind_of(task)
        self.schema = self.kind.schema(task)
        self.inputs = tuple(name for name in self.schema if name != "answer")
        self.source = source
        self.columns = self._choose_columns()

    def requested_columns(self) -> dict[str, bool]:
        """Return the columns to read, each with whether lists and structures are expected in it."""
        requested: dict[str, bool] = {}
        for ours, theirs in self.columns.items():
            nested = isinstance(theirs, str) and (ours == "tags" or self.schema.get(ours, pl.String()).is_nested())
            for name in _names(theirs):
                requested[name] = requested.get(name, False) or nested
        for name in (*(one.column for one in self.plan.active_filters()), *self.plan.tag_columns):
            requested.setdefault(name, False)
        for name in self.plan.keep:
            requested.setdefault(name, True)
        return requested

    def hints(self) -> list[str]:
        """Name columns of the file that are not read and look as if they were meant to be: `tag` for `tags`."""
        read = self.requested_columns()
        free = [
            name for name in (*self.schema, *RESERVED) if name not in self.columns and name not in self.plan.constants
        ]
        sentences = []
        for theirs in self.source.columns:
            close = [] if theirs in read else get_close_matches(theirs.lower(), free, n=1, cutoff=0.75)
            if close:
                sentences.append(
                    f"The column '{theirs}' is not read; if it is '{close[0]}', map it: {close[0]}={theirs}."
                )
        return sentences

    def apply(self, batch: RowBatch) -> Mapped:
        """Make examples of a batch."""
        mapped = Mapped(batch.file, batch.frame, batch.rows, faults=list(batch.faults))
        self._filter(mapped)
        raw = mapped.table
        bad: set[int] = set()
        answers = self._answers(raw, mapped, bad)
        columns = [self._column(name, raw, mapped, bad) for name in self.inputs]
        extra = self._extra(raw, mapped, bad)
        keep = answers.keep
        table = pl.DataFrame([*columns, answers.values.alias("answer"), *extra]) if columns else pl.DataFrame()
        mapped.table = table
        self._check(mapped, bad, keep)
        mask = keep if keep is not None else pl.Series([True]).new_from_index(0, table.height)
        if bad:
            mask = mask & ~pl.int_range(table.height, eager=True).is_in(list(bad))
        own_ids = self._raw("id", raw).cast(pl.String()) if "id" in self.columns else None
        if not mask.all():
            mapped.table, mapped.rows = table.filter(mask), mapped.rows.filter(mask)
            own_ids = own_ids.filter(mask) if own_ids is not None else None
        mapped.own_ids = own_ids
        return mapped

    def _filter(self, mapped: Mapped) -> None:
        for rule in self.plan.active_filters():
            values = mapped.table[rule.column].cast(pl.String())
            mask = values.is_in(rule.keep).fill_null(False) if rule.keep else pl.Series([True] * len(values))
            if rule.leave_out:
                mask = mask & ~values.is_in(rule.leave_out).fill_null(False)
            mapped.dropped["filtered out"] += len(values) - int(mask.sum())
            mapped.table, mapped.rows = mapped.table.filter(mask), mapped.rows.filter(mask)

    def _answers(self, raw: pl.DataFrame, mapped: Mapped, bad: set[int]) -> _Answers:
        dtype = self.schema["answer"]
        values = self._raw("answer", raw)
        result = map_answers(values, self.plan)
        shaped, misfits = shape(result.values, dtype)
        shaped = self.kind.answers.normalise_labels(shaped, self.task.label_names)
        mapped.dropped.update(result.dropped)
        keep = result.keep
        missing: Iterable[int] = ()
        if not self.plan.unlabelled:
            gone = values.is_null() if not isinstance(values.dtype, pl.String) else values.fill_null("") == ""
            missing = gone.arg_true().to_list()
        misfits = [*result.misfits, *misfits, *((at, Text("is missing")) for at in missing)]
        if keep is not None:
            keeps = keep.to_list()
            misfits = [(at, reason) for at, reason in misfits if keeps[at]]
        self._report("answer", misfits, mapped, bad)
        return _Answers(shaped, keep)

    def _column(self, name: str, raw: pl.DataFrame, mapped: Mapped, bad: set[int]) -> pl.Series:
        shaped, misfits = shape(self._raw(name, raw), self.schema[name])
        self._report(name, misfits, mapped, bad)
        return shaped.alias(name)

    def _raw(self, name: str, raw: pl.DataFrame) -> pl.Series:
        theirs = self.columns.get(name)
        if theirs is None:
            return pl.Series(name, [self.plan.constants.get(name)]).new_from_index(0, raw.height)
        if isinstance(theirs, str):
            return raw[theirs].alias(name)
        cells = raw.select(pl.concat_list(pl.col(one).cast(pl.String()) for one in theirs).alias(name))[name]
        return cells.list.drop_nulls()

    def _extra(self, raw: pl.DataFrame, mapped: Mapped, bad: set[int]) -> list[pl.Series]:
        group = self._text_column("group", raw, mapped, bad)
        return [self._tags(raw, mapped, bad), group, self._meta(raw)]

    def _text_column(self, name: str, raw: pl.DataFrame, mapped: Mapped, bad: set[int]) -> pl.Series:
        if name not in self.columns:
            return pl.Series(name, [None], dtype=pl.String()).new_from_index(0, raw.height)
        shaped, misfits = shape(self._raw(name, raw), pl.String())
        self._report(name, misfits, mapped, bad)
        return shaped.set(shaped == "", None).alias(name)

    def _tags(self, raw: pl.DataFrame, mapped: Mapped, bad: set[int]) -> pl.Series:
        plan = self.plan
        if not plan.tags and not plan.tag_columns and "tags" not in self.columns:
            return pl.Series("tags", [[]], dtype=TAGS).new_from_index(0, raw.height)
        parts: list[pl.Expr] = [pl.lit(list(plan.tags), dtype=TAGS)] if plan.tags else []
        for name in plan.tag_columns:
            value = pl.col(name).cast(pl.String()).replace("", None)
            parts.append(pl.concat_list(pl.format(f"{name}:{{}}", value)))
        own = self._raw("tags", raw) if "tags" in self.columns else None
        if own is not None:
            shaped, misfits = shape(own, TAGS)
            self._report("tags", misfits, mapped, bad)
            parts.append(pl.lit(shaped.fill_null([])))
        tags = raw.select(pl.concat_list(parts).list.drop_nulls().list.unique().list.sort().alias("tags"))["tags"]
        return tags.cast(TAGS)

    def _meta(self, raw: pl.DataFrame) -> pl.Series:
        fields = [pl.col(name).alias(name) for name in self.plan.keep]
        if "id" in self.columns:
            fields.insert(0, pl.lit(self._raw("id", raw).cast(pl.String())).alias("id"))
        if fields:
            return raw.select(pl.struct(fields).struct.json_encode().alias("meta"))["meta"]
        if "meta" in self.columns:
            return self._raw("meta", raw).cast(pl.String()).replace("", None).alias("meta")
        return pl.Series("meta", [None], dtype=pl.String()).new_from_index(0, raw.height)

    def _check(self, mapped: Mapped, bad: set[int], keep: pl.Series | None) -> None:
        reported = set(bad)
        faults = self.kind.check_table(self.task, mapped.table)
        keeps = keep.to_list() if faults and keep is not None else None
        for fault in faults:
            # A value that did not fit was said already; its gap is not a second fault.
            if fault.row not in reported and (keeps is None or keeps[fault.row]):
                self._report(fault.field, [(fault.row, fault.reason)], mapped, bad)

    def _report(self, name: str, misfits: Iterable[tuple[int, Text]], mapped: Mapped, bad: set[int]) -> None:
        for at, reason in misfits:
            bad.add(at)
            mapped.faults.append(Fault(reason, file=mapped.file, row=int(mapped.rows[at]), field=self._called(name)))

    def _called(self, name: str) -> str:
        """Name a field as the file does, so that the person finds it."""
        theirs = self.columns.get(name)
        return theirs if isinstance(theirs, str) else name

    def _choose_columns(self) -> dict[str, str | tuple[str, ...]]:
        plan, available = self.plan, self.source.columns
        known = (*self.schema, *RESERVED)
        problems = [
            Text(
                "'{ours}' is not a field of task '{task}'; {hint}",
                ours=ours,
                task=self.task.name,
                hint=_hint(ours, known),
            )
            for ours in (*plan.columns, *plan.constants)
            if ours not in known
        ]
        chosen: dict[str, str | tuple[str, ...]] = {
            ours: theirs for ours, theirs in plan.columns.items() if ours in known
        }
        for name in self.schema:
            usual = None if name in chosen or name in plan.constants else self._usual(name)
            if usual:
                chosen[name] = usual
        chosen.update({name: name for name in EXTRA if name not in chosen and name in available})
        problems += self._missing(chosen)
        if problems:
            raise BadInput(
                faults=[Fault(problem, file=self.source.name) for problem in problems],
                there=", ".join(available),
                remedy="The file has: {there}. Map names with --column NAME=COLUMN.",
                page="The file has: {there}. Write them beside our names, under Columns.",
            )
        return chosen

    def _usual(self, name: str) -> str | None:
        available = self.source.columns
        candidates = [self.source.usual.get(name, name), name, *(_ANSWER_NAMES if name == "answer" else ())]
        return next((candidate for candidate in candidates if candidate in available), None)

    def _missing(self, chosen: Mapping[str, str | tuple[str, ...]]) -> list[Text]:
        available = self.source.columns
        optional = {item.name for item in self.kind.fields(self.task) if not item.required}
        gone = [
            Text("there is no column for '{name}'", name=name)
            for name in self.schema
            if name not in chosen
            and name not in self.plan.constants
            and name not in optional
            and not (name == "answer" and self.plan.unlabelled)
        ]
        used = [name for theirs in chosen.values() for name in _names(theirs)]
        used += [one.column for one in self.plan.active_filters()] + [*self.plan.tag_columns, *self.plan.keep]
        return gone + [
            Text("there is no column '{name}'", name=name) for name in dict.fromkeys(used) if name not in available
        ]


@dataclass(frozen=True, slots=True)
class _Answers:
    values: pl.Series
    keep: pl.Series | None


def _names(theirs: str | Sequence[str]) -> tuple[str, ...]:
    return (theirs,) if isinstance(theirs, str) else tuple(theirs)


def _hint(name: str, known: Sequence[str]) -> Text:
    close = get_close_matches(name, known, n=1)
    return Text("did you mean '{close}'?", close=close[0]) if close else Text("it has {known}", known=", ".join(known))
