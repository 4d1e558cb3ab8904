"""Perturb the texts of a plain file: no workspace, no account, no server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import parse_json
from quintain.core.languages import ENGLISH
from quintain.core.task import Task
from quintain.core.words import count_spaced
from quintain.data.identity import example_ids
from quintain.data.in_memory import InMemoryTable, Source
from quintain.data.perturbing_languages import applies_in, languages_of
from quintain.data.shaping import shape
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.perturbations.apply import rate_of
from quintain.perturbations.contract import PERTURBATIONS, Perturbation, perturbation
from quintain.perturbations.rows import RowChange, TextColumn, perturb_rows, words_touched
from quintain.perturbations.tables import edits_of, lineage, perturb_table
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import read_task

# What a column of texts is often called, tried in this order.
USUAL = ("text", "sentence", "review", "comment", "tweet", "question", "premise")
_ADDED = ("parent", "perturbation", "change")
_ROWS = 8_192


@dataclass(frozen=True, slots=True)
class Perturbing:
    """How to perturb a file: by what, how hard, which columns, as examples of which task, in which language."""

    kinds: Sequence[str]
    seed: int = 0
    severity: float = 1.0
    fields: Sequence[str] = ()
    task: Path | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class PerturbTally:
    """What one perturbation did to a file."""

    name: str
    family: str
    version: int
    rows: int
    changed: int
    words: int
    words_edited: int

    @property
    def share(self) -> float | None:
        """The share of the file's words that were edited; None where it has no words."""
        return self.words_edited / self.words if self.words else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "name": self.name,
            "family": self.family,
            "version": self.version,
            "rows": self.rows,
            "changed": self.changed,
            "words": self.words,
            "words_edited": self.words_edited,
            "share_edited": self.share,
        }


@dataclass(frozen=True, slots=True)
class PerturbReport:
    """What was done to a file, by perturbation."""

    file: str
    rows: pl.DataFrame
    seed: int
    severity: float
    fields: tuple[str, ...]
    tallies: tuple[PerturbTally, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "file": self.file,
            "seed": self.seed,
            "severity": self.severity,
            "fields": list(self.fields),
            "changed": sum(tally.changed for tally in self.tallies),
            "perturbations": [tally.as_dict() for tally in self.tallies],
        }


def list_perturbations() -> list[dict[str, Any]]:
    """List every perturbation with what it does."""
    return [
        {
            "name": name,
            "family": member.family,
            "title": member.title,
            "version": member.version,
            "rate": member.rate,
            "in_paper": member.in_paper,
            "languages": languages_of(name),
        }
        for name, member in PERTURBATIONS.items()
    ]


def perturb_source(path: Source, settings: Perturbing) -> PerturbReport:
    """Return the rows of *path* that change, changed: for each perturbation its own, one after the other.

    Beside the file's columns they have `parent` (the row's id, or its number), `perturbation`, and `change` (for
    fairness, from which group to which). As examples of a task, the rows keep their gold spans in place.
    """
    task = read_task(settings.task) if settings.task is not None else None
    language = settings.language or (task.language if task is not None else ENGLISH)
    settings = replace(settings, language=language)
    members = _members(settings.kinds, language)
    for member in members:
        rate_of(member, settings.severity)
    table = read_table(path, required=list(settings.fields), mapped=False)
    clash = [name for name in _ADDED if name in table.columns]
    if clash:
        raise BadInput(
            "{name} has a column '{column}' of its own.",
            name=path.name,
            column=clash[0],
            added=", ".join(_ADDED),
            remedy="Rename it: {added} are added.",
        )
    if task is not None:
        names, parts, tallies = _as_examples(path, table, task, members, settings)
    else:
        names, parts, tallies = _as_texts(path, table, members, settings)
    return PerturbReport(path.name, pl.concat(parts), settings.seed, settings.severity, tuple(names), tuple(tallies))


Parts = tuple[list[str], list[pl.DataFrame], list[PerturbTally]]


def _members(kinds: Sequence[str], language: str) -> list[Perturbation]:
    """Return the perturbations of these names, of a family those for *language*; refuse one that is for others."""
    names = [name.strip() for kind in kinds for name in kind.split(",") if name.strip()]
    if not names:
        raise BadInput("No perturbation is named.", remedy="Give some with --kind, such as --kind typos,ocr.")
    families = {"robustness", "fairness"}
    for name in names:
        if name not in families and not applies_in(language, name):
            raise BadInput(
                "{name} is not for texts in '{language}'.",
                name=perturbation(name).name,
                language=language,
                known=", ".join(languages_of(name)) or ", ".join(perturbation(name).scripts),
                remedy="It is for {known}. Give robustness or fairness for all that apply.",
            )
    chosen = [
        one
        for name in names
        for one in (
            [n for n, m in PERTURBATIONS.items() if m.family == name and applies_in(language, n)]
            if name in families
            else [name]
        )
    ]
    if not chosen:
        raise BadInput(
            "No perturbation of {kinds} is for texts in '{language}'.", kinds=", ".join(names), language=language
        )
    return [perturbation(name) for name in dict.fromkeys(chosen)]


def _as_texts(path: Source, table: pl.DataFrame, members: Sequence[Perturbation], settings: Perturbing) -> Parts:
    names = list(settings.fields) or [_text_column(path, table)]
    nested = [name for name in names if table.schema[name] != pl.String()]
    if nested:
        raise BadInput("{name}: the column '{column}' does not hold texts.", name=path.name, column=nested[0])
    words, parents = _words(table, names), _parents(path, table)
    parts, tallies = [], []
    for member in members:
        changes = _changes(table, names, member, settings)
        rows = [i for i, change in enumerate(changes) if change is not None]
        applied = [change for change in changes if change is not None]
        parts.append(_written_into(table[rows], names, applied, parents[rows], member.name))
        edited = sum(
            words_touched(text, change.edits[name])
            for name in names
            for text, change in zip(table[name][rows].to_list(), applied, strict=True)
            if name in change.edits
        )
        tallies.append(
            PerturbTally(member.name, member.family, member.version, table.height, len(applied), words, edited)
        )
    return names, parts, tallies


def _changes(
    table: pl.DataFrame, names: Sequence[str], member: Perturbation, settings: Perturbing
) -> list[RowChange | None]:
    columns = [TextColumn(name) for name in names]
    changes: list[RowChange | None] = []
    for part in table.iter_slices(_ROWS):
        contents = [json.dumps(row, ensure_ascii=False) for row in part.select(names).iter_rows()]
        changes += perturb_rows(
            part,
            columns,
            member,
            contents=contents,
            seed=settings.seed,
            severity=settings.severity,
            language=settings.language or ENGLISH,
        )
    return changes


def _written_into(
    rows: pl.DataFrame, names: Sequence[str], changes: Sequence[RowChange], parents: pl.Series, kind: str
) -> pl.DataFrame:
    """Write the new values into *rows*, with where they come from."""
    for name in names:
        new = [change.values.get(name, old) for change, old in zip(changes, rows[name].to_list(), strict=True)]
        rows = rows.with_columns(pl.Series(name, new, pl.String()))
    ways = [f"{way['from']} → {way['to']}" if (way := change.group) else None for change in changes]
    return rows.with_columns(
        parents.alias("parent"), pl.lit(kind).alias("perturbation"), pl.Series("change", ways, pl.String())
    )


def _as_examples(
    path: Source, table: pl.DataFrame, task: Task, members: Sequence[Perturbation], settings: Perturbing
) -> Parts:
    kind = kind_of(task)
    shaped = _shaped(path, table, task)
    open_ones = [item.name for item in kind.fields(task) if item.perturbable and item.type != "image"]
    # The seed comes from the content: the file's own ids name the parents, and nothing else.
    plain = shaped.drop("id", strict=False).with_columns(meta=pl.lit("{}"))
    ids = example_ids(plain, [item.name for item in kind.fields(task)]).to_list()
    first = {one: row for row, one in reversed(list(enumerate(ids)))}
    parents = _parents(path, table)
    words = _words(shaped, [name for name in open_ones if shaped.schema[name] == pl.String()])
    parts, tallies = [], []
    for member in members:
        perturbed = perturb_table(
            task, plain, member, seed=settings.seed, severity=settings.severity, language=settings.language
        )
        origins = lineage(perturbed)
        of = [first[parent] for parent in origins["parent"]]
        edited = _edited_words(plain[of], perturbed, open_ones)
        parts.append(
            perturbed.drop("meta").with_columns(
                parents[of].alias("parent"), origins["perturbation"], origins["group"].alias("change")
            )
        )
        tallies.append(
            PerturbTally(member.name, member.family, member.version, table.height, perturbed.height, words, edited)
        )
    return open_ones, parts, tallies


def _edited_words(before: pl.DataFrame, after: pl.DataFrame, names: Sequence[str]) -> int:
    """Count the words of *before* that were edited on the way to *made*, row by row."""
    metas = [parse_json(meta) for meta in after["meta"].to_list()]
    return sum(
        words_touched(text, edits)
        for name in names
        if before.schema[name] == pl.String()
        for text, meta in zip(before[name].to_list(), metas, strict=True)
        if (edits := edits_of(meta, name))
    )


def _shaped(path: Source, table: pl.DataFrame, task: Task) -> pl.DataFrame:
    """Bring the columns into the shapes of the task; a value that does not fit is a fault with its row."""
    kind = kind_of(task)
    faults: list[Fault] = []
    for name, dtype in kind.schema(task).items():
        if name == "answer" and "answer" not in table.columns and "label" in table.columns:
            table = table.rename({"label": "answer"})
        if name not in table.columns:
            if name == "answer":
                continue
            raise BadInput(
                "{name} has no column '{column}'.",
                name=path.name,
                column=name,
                task=task.name,
                columns=", ".join(item.name for item in kind.fields(task)),
                remedy="The task '{task}' needs: {columns}.",
            )
        series, misfits = shape(table[name], dtype)
        faults += [Fault(reason, file=path.name, row=row_number(path, row), field=name) for row, reason in misfits]
        table = table.with_columns(series.alias(name))
    faults += [
        Fault(fault.reason, file=path.name, row=row_number(path, fault.row), field=fault.field)
        for fault in (kind.check_table(task, table) if not faults else [])
    ]
    if faults:
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    return table


def _text_column(path: Source, table: pl.DataFrame) -> str:
    texts = [name for name, dtype in table.schema.items() if dtype == pl.String()]
    column = next((name for name in USUAL if name in texts), texts[0] if len(texts) == 1 else None)
    if column is None:
        raise BadInput(
            "{name} has several columns: {columns}.",
            name=path.name,
            columns=", ".join(table.columns),
            remedy="Name the texts with --field.",
        )
    return column


def _parents(path: Source, table: pl.DataFrame) -> pl.Series:
    """Name each row by its id; else by its place, which frames count from 0 and readers of a file from 1."""
    if "id" in table.columns:
        return table["id"].cast(pl.String())
    first = 0 if isinstance(path, InMemoryTable) else 1
    return pl.Series("parent", range(first, table.height + first)).cast(pl.String())


def _words(table: pl.DataFrame, names: Sequence[str]) -> int:
    return sum(count_spaced(text) for name in names for text in table[name].to_list() if text)
