"""Starting a round in one go: what it asks, prompts from a data set, and opening it. All of it happens, or nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.rounds import RoundSpec
from quintain.services.collect.rounds.manage import RoundInfo, open_round, put_spec
from quintain.services.collect.rounds.prompts import import_prompts
from quintain.services.data.content import scan
from quintain.services.data.datasets import VersionInfo, get_version, list_versions
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.tasks.contract import kind_of

MOST_PROMPTS = 5000
FROM = (Role.TRAIN, Role.DEV)  # whoever edits a text of a test set would know it


def prompt_sources(db: Session, actor: Actor, task: str) -> list[VersionInfo]:
    """List the data sets, in their newest versions, whose texts writers may be given to edit."""
    newest: dict[str, VersionInfo] = {}
    for version in list_versions(db, actor, task):
        if version.dataset not in newest or version.number > newest[version.dataset].number:
            newest[version.dataset] = version
    return [one for one in newest.values() if _may_give(one)]


def start_round(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    spec: RoundSpec,
    *,
    source: str = "",
    contexts: bool = False,
    open_now: bool = False,
) -> RoundInfo:
    """Add a round, with the texts of the data set *source* as prompts where one is named, and open it if asked to.

    With *contexts*, writers get of each example what they may not change, such as its passage, and nothing else.
    """
    with transaction(db):
        info = put_spec(db, actor, spec)
        if source:
            _take_prompts(db, blobs, actor, info, source, contexts=contexts)
        return open_round(db, actor, info.ref) if open_now else info


def _may_give(version: VersionInfo) -> bool:
    return not version.hidden and version.role in FROM


def _take_prompts(
    db: Session, blobs: Blobs, actor: Actor, info: RoundInfo, source: str, *, contexts: bool = False
) -> None:
    version = get_version(db, actor, source)
    if version.task != info.task or not _may_give(version):
        raise BadInput(faults=[Fault("{ref} is not a data set to take prompts from", ref=version.ref, field="prompts")])
    task = get_task(db, info.task)
    kind = kind_of(task)
    fields = list(kind.context(task)) if contexts else [field.name for field in kind.fields(task)]
    table = scan(db, blobs, actor, version.ref, answers=False)
    known = [name for name in fields if name in table.collect_schema().names()]
    with tempfile.TemporaryDirectory(prefix="quintain-prompts-") as folder:
        path = Path(folder) / "prompts.jsonl"
        rows = table.select(known)
        rows = rows.unique(maintain_order=True) if contexts else rows
        rows.head(MOST_PROMPTS).collect().write_ndjson(path)
        import_prompts(db, actor, info.ref, path, corpus=version.ref, contexts=contexts)
