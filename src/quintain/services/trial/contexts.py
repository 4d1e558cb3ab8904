"""Contexts of a trial, from a data set or a file: dealt out among the rounds that need them, if no other has them.

Of a task in which writers add to what is given (a question to a passage, say) a context is the passage alone: nobody
sees what somebody else has asked about it. Of a task of single texts, the text is there to begin from.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.core.texts import Text, joined
from quintain.data.identity import spelling_ids
from quintain.protocols.contexts import deal, share_out
from quintain.services.collect.rounds.prompts import read_contexts
from quintain.services.data.content import scan
from quintain.services.data.datasets import get_version
from quintain.services.tasks.definitions import find_row, get_task
from quintain.store.blobs import Blobs
from quintain.store.queries.collect import prompts as prompt_queries
from quintain.store.queries.collect.rounds import trial_of_round
from quintain.tasks.contract import kind_of

MOST_CONTEXTS = 20_000
DEFAULT_GENRE = "genre"
MOST_USERS = 5  # trials or rounds that a refusal names

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ContextSource:
    """Where the contexts of a task's trial come from: the data set *source*, or a *file*; dealt by *seed*.

    The stratum of a context is what its tags say of *genre*, such as `genre:fiction`, or a column of the file that is
    called so. At most *most* are taken, where that is not 0.
    """

    blobs: Blobs
    task: str
    source: str
    seed: int
    genre: str = DEFAULT_GENRE
    file: Path | None = None
    most: int = 0

    @property
    def is_given(self) -> bool:
        """Whether people are given anything."""
        return bool(self.source) or self.file is not None

    @property
    def name(self) -> str:
        """What the source is called in messages, and as the corpus of its contexts."""
        return self.source or (self.file.name if self.file is not None else "")


def deal_contexts(db: Session, actor: Actor, contexts: ContextSource, needs: Sequence[int]) -> list[list[Row]]:
    """Deal contexts that are not in use out among rounds with these *needs*, in balance by genre.

    What is not needed stays for others. No context is given out in two rounds.
    """
    task = get_task(db, contexts.task)
    if contexts.file is not None:
        table = _from_file(contexts, task)
    else:
        contexts = replace(contexts, source=get_version(db, actor, contexts.source).ref)
        table = _from_data(db, actor, contexts, task)
    fields = [name for name in table.columns if name != "tags"]
    table = table.unique(subset=fields, keep="first", maintain_order=True)
    free = _free(db, contexts.task, table, fields)
    if free.height < len(needs):
        raise BadInput(
            faults=[_too_few(db, contexts, table, fields, free.height, len(needs))],
            remedy="Name another data set, or give a file with more of them.",
        )
    texts: dict[str, Row] = {}
    strata: dict[str, str] = {}
    for row in free.to_dicts():
        genre = genre_of(row.pop("tags", None) or (), contexts.genre)
        name = json.dumps(row, sort_keys=True, default=str)
        texts[name] = {**row, "tags": [f"{contexts.genre}:{genre}"]} if genre else row
        strata[name] = genre
    if contexts.genre != DEFAULT_GENRE and not any(strata.values()):
        raise BadInput(
            faults=[
                Fault(
                    "no text of {ref} has a tag '{genre}:…' that says its genre",
                    ref=contexts.name,
                    genre=contexts.genre,
                    field="genre",
                )
            ]
        )
    available = min(free.height, max(contexts.most, len(needs))) if contexts.most else free.height
    return [[texts[name] for name in hand] for hand in deal(strata, share_out(needs, available), contexts.seed)]


def genre_of(tags: Sequence[str], genre: str) -> str:
    """Return what *tags* say of a *genre*; nothing where they do not.

    >>> genre_of(["source:web", "genre:fiction"], "genre")
    'fiction'
    """
    return next((tag.partition(":")[2] for tag in tags if tag.startswith(f"{genre}:")), "")


def _from_data(db: Session, actor: Actor, contexts: ContextSource, task: Task) -> pl.DataFrame:
    """Read the contexts of a data set's examples; of a task of single texts, the texts themselves."""
    version = get_version(db, actor, contexts.source)
    if version.task != contexts.task or version.hidden:
        raise BadInput(faults=[Fault("{ref} is not a data set to take contexts from", ref=version.ref, field="source")])
    kind = kind_of(task)
    names = kind.context(task) or tuple(field.name for field in kind.fields(task))
    table = scan(db, contexts.blobs, actor, version.ref, answers=False)
    columns = table.collect_schema().names()
    chosen = [name for name in (*names, "tags") if name in columns]
    return table.select(chosen).unique(subset=chosen[: len(names)], maintain_order=True).head(MOST_CONTEXTS).collect()


def _from_file(contexts: ContextSource, task: Task) -> pl.DataFrame:
    """Read the contexts of a file; a column that is called as the genre gives the tag."""
    if contexts.file is None:
        raise ValueError("no file is named")
    names = list(kind_of(task).context(task))
    table = read_contexts(contexts.file, task, also=[contexts.genre]).head(MOST_CONTEXTS)
    tags = [_tags(row, contexts.genre) for row in table.iter_rows(named=True)]
    return table.select(names).with_columns(pl.Series("tags", tags, dtype=pl.List(pl.String())))


def _tags(row: Mapping[str, Any], genre: str) -> list[str]:
    tags = row.get("tags") or []
    tags = [tag.strip() for tag in tags.split(",") if tag.strip()] if isinstance(tags, str) else list(tags)
    own = row.get(genre)
    return [*tags, f"{genre}:{own}"] if own else tags


def _free(db: Session, task: str, table: pl.DataFrame, fields: Sequence[str]) -> pl.DataFrame:
    """Leave the contexts that no round of the task has, whatever their spelling."""
    spellings = spelling_ids(table, list(fields))
    known = list({name for ids in spellings for name in ids.to_list()})
    used = list(prompt_queries.taken_hashes(db, find_row(db, task).id, known))
    return table.filter(~pl.any_horizontal(ids.is_in(used) for ids in spellings))


def _too_few(
    db: Session, contexts: ContextSource, table: pl.DataFrame, fields: Sequence[str], free: int, rounds: int
) -> Fault:
    """Return the fault that so few contexts are free, and whose the others are."""
    spellings = {name for ids in spelling_ids(table, list(fields)) for name in ids.to_list()}
    users = _users(db, find_row(db, contexts.task).id, sorted(spellings))
    figures: dict[str, Any] = {"ref": contexts.name, "rows": table.height, "free": free, "rounds": rounds}
    if not users:
        return Fault(
            "{ref} has {rows} different contexts, and {rounds} rounds need one each", **figures, field="source"
        )
    return Fault(
        "{ref} has {rows} different contexts, of which {free} are free, and {rounds} rounds need one each; the others "
        "are in use: {users}",
        **figures,
        users=joined(users, ", "),
        field="source",
    )


def _users(db: Session, task_id: int, hashes: Sequence[str]) -> list[Text]:
    """Return which trials and rounds have contexts, and how many, those with the most first."""
    trials: Counter[str] = Counter()
    rounds: Counter[int] = Counter()
    for (round_id, number), count in prompt_queries.rounds_with(db, task_id, hashes).items():
        trial = trial_of_round(db, round_id)
        if trial is None:
            rounds[number] += count
        else:
            trials[trial.title or trial.name] += count
    return [
        *(Text("trial “{name}” has {count}", name=name, count=count) for name, count in trials.most_common(MOST_USERS)),
        *(Text("round {number} has {count}", number=number, count=n) for number, n in rounds.most_common(MOST_USERS)),
    ]
