"""Prompts: texts that writers edit, each drawn once. They come from a table, and never from what was shown before.

A prompt without anything to edit is a context: of a passage with a question, say, the passage alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.people import Actor
from quintain.core.records.base import plain
from quintain.core.records.collect import PromptReport
from quintain.core.rounds import RoundState
from quintain.core.task import Field, Task
from quintain.data.further import ORIGIN, PAPERS_TYPES, REVIEWS, further_facts, with_our_names
from quintain.data.identity import example_ids, form_ids, spelling_ids
from quintain.data.images import path_rules
from quintain.data.shaping import shape
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import RoundInfo, get_round
from quintain.services.tasks.definitions import get_task
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import prompts as queries
from quintain.store.tables import Prompt
from quintain.tasks.contract import TaskKind, kind_of
from quintain.tasks.rules import Rule, field_rules, find_faults

ABOUT = ("answer", "tags", "corpus", "part", "row")
FURTHER = ("about", "review")
DRAW_DIGITS = 15  # of the hash, which is as good as random and fits 64 bits


@dataclass(frozen=True, slots=True)
class PromptInfo:
    """A prompt as its owner sees it."""

    id: int
    hash: str
    inputs: Mapping[str, Any]
    tags: tuple[str, ...]
    corpus: str
    part: str
    row: str
    review: str
    about: Mapping[str, Any]
    uses: int
    leased: bool


def import_prompts(
    db: Session,
    actor: Actor,
    ref: str,
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    corpus: str | None = None,
    part: str | None = None,
    tags: Sequence[str] = (),
    in_order: bool = False,
    contexts: bool = False,
) -> PromptReport:
    """Add the rows of a table as prompts of a round.

    The columns are the task's fields (those that writers may not change are needed, one of the others is enough), and
    if they are there `answer`, `tags` (a list, or separated by commas), `corpus`, `part` and `row`, which say where a
    text is from, and `review` (or `review_id`, or `group`), `rating`, `start` and `end`, which say of a sentence which
    review it is from; DynaSent's names of these are read, too. Any further columns are kept with the prompt. *corpus*,
    *part* and *tags* hold for all rows. Rows that the task has shown in another round or harvested, as they are or by
    their part of the corpus or their review, are left out and counted. They are drawn by lot or, *in_order*, as they
    stand.
    Of *contexts* only what writers may not change is taken, such as the passage, and they write the rest from nothing.
    """
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    task = get_task(db, info.task)
    table = read_contexts(path, task, columns or {}) if contexts else _read(path, task, columns or {})
    named = {"corpus": corpus if corpus is not None else path.name, "part": part}
    table = _with_source(table, named, tags)
    with transaction(db):
        lock(db, f"prompts of {info.task}")
        if get_round(db, actor, ref).state is RoundState.CLOSED:
            raise Conflict(
                "Round {ref} is closed.", ref=ref, remedy="Clone it to collect again.", code="round_not_open"
            )
        fresh, report = _fresh(db, info, table)
        rows = _rows(info.id, fresh, task)
        queries.add(db, [{**row, "draw": place} for place, row in enumerate(rows)] if in_order else rows)
        audit.record(db, actor, "round.prompts", ref, file=path.name, **plain(report))
    return report


def list_prompts(db: Session, actor: Actor, ref: str, *, limit: int = 50, offset: int = 0) -> list[PromptInfo]:
    """List prompts of a round in the order in which they were added."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    return _infos(queries.page(db, info.id, limit=limit, offset=offset))


def prompts_by_hash(db: Session, actor: Actor, ref: str, hashes: Sequence[str]) -> list[PromptInfo]:
    """Return the prompts of a round with these contents (owners)."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    return _infos(queries.by_hash(db, info.id, hashes))


def _infos(rows: Sequence[Prompt]) -> list[PromptInfo]:
    moment = now()
    return [
        PromptInfo(
            id=row.id,
            hash=row.hash,
            inputs=row.inputs,
            tags=tuple(row.tags),
            corpus=row.corpus,
            part=row.part,
            row=row.row,
            review=row.review,
            about=row.about,
            uses=row.uses,
            leased=row.lease_until is not None and row.lease_until > moment,
        )
        for row in rows
    ]


def prompt_counts(db: Session, actor: Actor, ref: str) -> dict[str, int]:
    """Count the prompts of a round: all, used, repeated (used more than once), leased now, and unused."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    return queries.tally(db, info.id, now())


def _read(path: Path, task: Task, columns: Mapping[str, str]) -> pl.DataFrame:
    kind = kind_of(task)
    fields = kind.fields(task)
    fixed = [item.name for item in fields if not item.editable and item.required]
    others = [item.name for item in fields if item.name not in fixed]
    known = [*others, *ABOUT, *REVIEWS, *ORIGIN]
    types = {**ORIGIN, **PAPERS_TYPES}
    table = with_our_names(read_table(path, required=fixed, optional=known, columns=columns, types=types))
    present = [item for item in fields if item.name in table.columns]
    if not present:
        names = ", ".join(item.name for item in fields)
        raise BadInput(
            faults=[Fault("there is none of the columns {names}", names=names, file=path.name)],
            remedy="Map names with --column NAME=COLUMN.",
            page="Name the columns in the file as the fields of the task are called.",
        )
    table, faults = _shaped(table, kind, task, present, path)
    faults += [
        Fault(fault.reason, file=path.name, row=row_number(path, fault.row), field=fault.field)
        for fault in find_faults(table, [*_rules(present), *path_rules(task, table.columns)])
    ]
    if faults:
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    return table


def read_contexts(
    path: Path, task: Task, columns: Mapping[str, str] | None = None, also: Sequence[str] = ()
) -> pl.DataFrame:
    """Read the contexts of a table: what writers may not change, with what is said of where it is from.

    Questions and answers that the table may have as well are left out; columns *also* named stay.
    """
    kind = kind_of(task)
    names = list(kind.context(task))
    if not names:
        raise BadInput(
            "Examples of {task} are texts of their own: there is nothing about them that would be a context.",
            task=task.name,
            remedy="Give prompts to edit, or let people start from nothing.",
        )
    others = [name for name in dict.fromkeys([*ABOUT[1:], *also]) if name not in names]
    table = read_table(path, required=names, optional=others, columns=columns or {})
    fields = [item for item in kind.fields(task) if item.name in names]
    contexts, faults = _shaped(table, kind, task, fields, path)
    faults += [
        Fault(fault.reason, file=path.name, row=row_number(path, fault.row), field=fault.field)
        for fault in find_faults(contexts, [*_rules(fields), *path_rules(task, contexts.columns)])
    ]
    if faults:
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    more = [name for name in also if name in table.columns and name not in contexts.columns]
    return contexts.with_columns(table[name] for name in more)


def _rules(fields: Sequence[Field]) -> list[Rule]:
    return [rule for item in fields for rule in field_rules(item)]


def _shaped(
    table: pl.DataFrame, kind: TaskKind, task: Task, present: Sequence[Field], path: Path
) -> tuple[pl.DataFrame, list[Fault]]:
    schema = kind.schema(task)
    faults: list[Fault] = []
    shaped = [item.name for item in present] + (["answer"] if "answer" in table.columns else [])
    for name in shaped:
        values, misfits = shape(table[name], schema[name])
        table = table.with_columns(values.alias(name))
        faults += [Fault(reason, file=path.name, row=row_number(path, at), field=name) for at, reason in misfits]
    chosen = [*shaped, *(name for name in ABOUT[1:] if name in table.columns)]
    # Of contexts, what writers are to write is no fact about them.
    further = further_facts(table, {*chosen, "answer", *(item.name for item in kind.fields(task))}, path)
    about = [
        json.dumps({**facts, **({"review": review} if review else {})}, ensure_ascii=False, default=str)
        for facts, review in zip(further.about, further.reviews, strict=True)
    ]
    written = pl.DataFrame({"about": about, "review": further.reviews}, schema=dict.fromkeys(FURTHER, pl.String()))
    return table.select(*chosen).hstack(written), faults + further.faults


def _with_source(table: pl.DataFrame, named: Mapping[str, str | None], tags: Sequence[str]) -> pl.DataFrame:
    """Fill in what is said of all rows, and give tags as lists."""
    for name in ("corpus", "part", "row"):
        own = pl.col(name).cast(pl.String()).fill_null("") if name in table.columns else pl.lit("")
        value = named.get(name)
        column = own if value is None else pl.when(own == "").then(pl.lit(value)).otherwise(own)
        table = table.with_columns(column.str.slice(0, 120).alias(name))
    table = table.with_columns(
        pl.when(pl.col("row") == "").then(pl.int_range(1, pl.len() + 1).cast(pl.String())).otherwise("row").alias("row")
    )
    if "tags" not in table.columns:
        own_tags = pl.lit([], dtype=pl.List(pl.String()))
    elif table.schema["tags"] == pl.String():
        own_tags = pl.col("tags").fill_null("").str.split(",").list.eval(pl.element().str.strip_chars())
    else:
        own_tags = pl.col("tags").cast(pl.List(pl.String())).fill_null([])
    every = own_tags.list.eval(pl.element().filter(pl.element() != ""))
    return table.with_columns(every.list.concat(pl.lit(list(tags), dtype=pl.List(pl.String()))).alias("tags"))


def _fresh(db: Session, info: RoundInfo, table: pl.DataFrame) -> tuple[pl.DataFrame, PromptReport]:
    """Leave the rows that this task has not shown or harvested yet."""
    inputs = [name for name in table.columns if name not in {*ABOUT, *FURTHER}]
    ids, forms = example_ids(table, inputs), form_ids(table, inputs)
    spellings = [ids_of.alias(f"__spelling{at}") for at, ids_of in enumerate(spelling_ids(table, inputs))]
    table = table.with_columns(ids.alias("__hash"), forms.alias("__form"), *spellings)
    own = _own_forms(db, info.id, table.select(inputs).schema)
    new = table.filter(~pl.col("__form").is_in(own)).unique("__form", keep="first", maintain_order=True)
    stored = [column.name for column in spellings]
    known = list({name for column in stored for name in new[column].to_list()})
    used = list(queries.used_hashes(db, info.task_id, known, but=info.id))
    unused = new.filter(~pl.any_horizontal(pl.col(stored).is_in(used))).drop(stored)
    parts = queries.used_parts(db, info.task_id, but=info.id)
    taken = [f"{corpus}\x1f{part}" for corpus, part in parts]
    corpus_part = pl.concat_str("corpus", "part", separator="\x1f")
    apart = unused.filter(~((pl.col("part") != "") & corpus_part.is_in(taken)))
    reviews = queries.used_reviews(db, info.task_id, apart["review"].unique().to_list(), but=info.id)
    fresh = apart.filter(~pl.col("review").is_in(list(reviews)))
    report = PromptReport(
        rows=table.height,
        added=fresh.height,
        repeated=table.height - new.height,
        used=new.height - unused.height,
        used_parts=unused.height - apart.height,
        used_reviews=apart.height - fresh.height,
    )
    return fresh, report


def _own_forms(db: Session, round_id: int, schema: pl.Schema) -> list[str]:
    """Return the ids by which the round's own prompts are compared."""
    stored = queries.inputs_of(db, round_id)
    if not stored:
        return []
    table = pl.DataFrame([{name: row.get(name) for name in schema} for row in stored], schema=schema)
    return form_ids(table, list(schema)).to_list()


def _rows(round_id: int, table: pl.DataFrame, task: Task) -> list[dict[str, Any]]:
    inputs = [item.name for item in kind_of(task).fields(task) if item.name in table.columns]
    return [
        {
            "round_id": round_id,
            "hash": row["__hash"],
            "inputs": {name: row[name] for name in inputs if row[name] is not None},
            "answer": row.get("answer"),
            "tags": row["tags"],
            "corpus": row["corpus"],
            "part": row["part"],
            "row": row["row"],
            "review": row["review"],
            "about": json.loads(row["about"]),
            "draw": int(row["__hash"][:DRAW_DIGITS], 16),
            "uses": 0,
            "generation": 0,
        }
        for row in table.iter_rows(named=True)
    ]
