"""Models: registering a version, finding one, who may see it, its card.

A reference to a model is `task/name` (its newest version that was not withdrawn), `task/name@2` (version 2), or the
first characters of a version's hash, as they stand or after `task/name@`.

A version's hash covers its adapter, its artefact and the card it was registered with. A card that is edited later is
kept beside the version with its history and does not change the hash: what the model answers stays the same, so its
results stay valid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, revision_of
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.hashing import content_id
from quintain.core.people import Actor, RoleName
from quintain.core.records import tasks as records
from quintain.core.records.tasks import Visibility
from quintain.models import artefact
from quintain.models.card import check_card
from quintain.services.access import audit
from quintain.services.access.permissions import require_role, require_signed_in
from quintain.services.events import ServiceEvent, announce
from quintain.services.models.shown_hash import salted_hash
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.models import models as queries
from quintain.store.queries.models import tried
from quintain.store.queries.models.models import ModelSight
from quintain.store.search_index import Findable, keep_entry
from quintain.store.tables import Model, ModelCard, ModelVersion

VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)
MIN_PREFIX = 6
MOST_CHOICES = 100  # of models that a form offers; of more, others are named
_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,118}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class ModelVersionInfo:
    """One version of a model. *card* is the newest wording of its card."""

    task: str
    model: str
    number: int
    hash: str
    adapter: str
    blob: str | None
    card: str
    meta: Mapping[str, Any]
    visibility: Visibility
    owner: str | None
    created_at: datetime
    withdrawn_at: datetime | None = None
    id: int = 0
    owner_id: int | None = None

    @property
    def ref(self) -> str:
        """The reference that means exactly this version."""
        return f"{self.task}/{self.model}@{self.number}"

    def record(self) -> records.ModelVersion:
        """Return the version as programs see it; its card apart, because it is long."""
        return records.ModelVersion(
            ref=self.ref,
            task=self.task,
            model=self.model,
            number=self.number,
            hash=self.hash,
            adapter=self.adapter,
            visibility=self.visibility,
            owner=self.owner,
            created_at=self.created_at,
            withdrawn_at=self.withdrawn_at,
            meta=self.meta,
            revision=revision_of({"card": self.card}),
        )


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model as the one who asks may see it. *version* is the one that the reference meant."""

    task: str
    name: str
    owner: str | None
    visibility: Visibility
    created_at: datetime
    may_edit: bool
    version: ModelVersionInfo
    versions: tuple[ModelVersionInfo, ...] = field(default=())

    def record(self) -> records.Model:
        """Return the model as programs see it."""
        return records.Model(
            task=self.task,
            name=self.name,
            owner=self.owner,
            visibility=self.visibility,
            created_at=self.created_at,
            version=self.version.record(),
            versions=[version.record() for version in self.versions],
            card=self.version.card,
        )


@dataclass(frozen=True, slots=True)
class CardInfo:
    """One wording of a card: who wrote it, and when."""

    text: str
    author: str | None
    created_at: datetime


def register_version(  # noqa: PLR0913 - what a version is made of, each by its own name
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    name: str,
    *,
    adapter: str,
    folder: Path | None,
    card: str,
    meta: Mapping[str, Any] | None = None,
    visibility: Visibility = "public",
    guard: Callable[[Session], None] | None = None,
) -> ModelVersionInfo:
    """Keep the artefacts in *folder* as a version of the model *name*; the same content is the same version.

    The first version makes the model, with *visibility*; later ones leave its visibility as it is. *guard* is called
    before a new version is added, in the same transaction, and may refuse it.
    """
    require_role(actor, RoleName.BUILDER, RoleName.OWNER, task=task)
    check_model_name(name)
    _check_visibility(visibility)
    faults = check_card(card)
    if faults:
        raise BadInput(
            "The card of model '{name}' is not complete.", name=name, faults=faults, remedy="Fill in each heading."
        )
    blob = _keep(blobs, folder) if folder is not None else None
    full_hash = content_id({"adapter": adapter, "artefact": blob, "card": card})
    with transaction(db):
        model = _model_to_extend(db, actor, task, name, visibility)
        version = queries.version_with_hash(db, model.id, full_hash)
        if version is None:
            if guard is not None:
                guard(db)
            version = ModelVersion(
                model_id=model.id,
                number=queries.next_number(db, model.id),
                hash=full_hash,
                adapter=adapter,
                blob=blob,
                card=card,
                meta=dict(meta or {}),
                created_by=actor.user_id,
            )
            db.add(version)
            db.flush()
            keep_entry(db, Findable.MODEL, model.id, task_id=model.task_id, title=name, text=card)
            audit.record(db, actor, "model.register", f"{task}/{name}@{version.number}", hash=full_hash)
    return get_model(db, actor, f"{task}/{name}@{version.number}").version


def _model_to_extend(db: Session, actor: Actor, task: str, name: str, visibility: Visibility) -> Model:
    """Return the model of that name, made where there is none and locked until the end; somebody else's is refused."""
    task_id = find_row(db, task).id
    lock(db, f"model {task}/{name}")
    model = queries.model(db, task, name)
    if model is None:
        model = Model(task_id=task_id, name=name, owner_id=actor.user_id, visibility=visibility)
        db.add(model)
        db.flush()
    elif not _may_edit(actor, model, task):
        raise Conflict(
            "Task '{task}' already has a model called '{name}', and it is not yours.",
            task=task,
            name=name,
            remedy="Use another name.",
            code="name_taken",
        )
    return model


def list_models(
    db: Session, actor: Actor, task: str | None = None, names: Sequence[str] | None = None
) -> list[ModelInfo]:
    """List the models of *task*, or of all tasks, that *actor* may see; withdrawn ones only to those who may edit.

    With *names*, those of them only.
    """
    if task is not None:
        find_row(db, task)
    rows = [row for row in queries.models(db, task, names) if _may_see(actor, row[0], row[1])]
    infos = _describe(db, actor, rows)
    return [model for model in infos if model.may_edit or model.version.withdrawn_at is None]


def page_of_models(db: Session, actor: Actor, task: str, *, limit: int, offset: int = 0) -> tuple[list[ModelInfo], int]:
    """Return a page of what `list_models` lists, by their names, and how many there are."""
    find_row(db, task)
    sight = model_visibility(actor)
    names = [name for _task, name in queries.names(db, sight, task, limit=limit, offset=offset)]
    infos = {model.name: model for model in list_models(db, actor, task, names)} if names else {}
    return [infos[name] for name in names if name in infos], queries.count_seen(db, sight, task)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model to choose, by its newest version that stands."""

    task: str
    name: str
    number: int
    id: int
    visibility: str

    @property
    def ref(self) -> str:
        """The name that means this version."""
        return f"{self.task}/{self.name}@{self.number}"


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """The models that a form offers, by their names. Where there are *more*, those that came last."""

    models: Sequence[ModelChoice]
    more: bool


def models_to_choose(
    db: Session, actor: Actor, task: str, *, limit: int | None = None, own: bool = False, adapter: str | None = None
) -> ModelChoices:
    """Return the models that a form offers: those that *actor* sees, or their *own*; of many, the *limit* newest."""
    find_row(db, task)
    limit = MOST_CHOICES if limit is None else limit
    newest = queries.newest_versions(db, model_visibility(actor), task, limit=limit + 1, editable=own, adapter=adapter)
    offered = [ModelChoice(task, one.model, one.number, one.id, one.visibility) for one in newest[:limit]]
    return ModelChoices(sorted(offered, key=lambda choice: choice.name), len(newest) > limit)


def list_names(
    db: Session, actor: Actor, task: str | None = None, *, limit: int | None = None
) -> list[tuple[str, str]]:
    """List task and name of the models that `list_models` has, for choices: all, or some of them."""
    if task is not None:
        find_row(db, task)
    return queries.names(db, model_visibility(actor), task, limit=limit)


def model_visibility(actor: Actor) -> ModelSight:
    """Return which models *actor* may see and change, for queries."""
    if actor.has(RoleName.OWNER):
        return ModelSight(actor.user_id, None)
    owned = (grant.task for grant in actor.grants if grant.role is RoleName.OWNER and grant.task)
    return ModelSight(actor.user_id, tuple(sorted(owned)))


def model_lines(db: Session, actor: Actor, task: str) -> list[tuple[str, datetime]]:
    """List the names of what `list_models` describes, and when each changed last: for lists by pages."""
    find_row(db, task)
    return queries.lines(db, model_visibility(actor), task)


def get_model(db: Session, actor: Actor, ref: str) -> ModelInfo:
    """Find the model, and the version of it, that *ref* means; see the module's docstring."""
    task, name, selector = _parse(db, actor, ref)
    rows = [row for row in queries.models(db, task, [name]) if _may_see(actor, row[0], task)]
    if not rows:
        raise _not_found(ref)
    info = _describe(db, actor, rows)[0]
    if selector is None:
        return info
    chosen = [v for v in info.versions if _selects(selector, v)]
    if len(chosen) != 1:
        known = ", ".join(str(version.number) for version in reversed(info.versions))
        raise NotFound(
            "Model '{task}/{name}' has more than one version '{selector}'."
            if chosen
            else "Model '{task}/{name}' has no version '{selector}'.",
            task=task,
            name=name,
            selector=selector,
            known=known,
            remedy="Its versions: {known}.",
        )
    return replace(info, version=chosen[0])


def versions_by_id(db: Session, ids: Sequence[int]) -> dict[int, ModelVersionInfo]:
    """Return versions by their ids, whoever's they are: for services whose caller may know of them."""
    return {row.id: ModelVersionInfo(*row) for row in queries.version_facts(db, ids)}


def may_see(actor: Actor, version: ModelVersionInfo) -> bool:
    """Whether *actor* may know of a version that somebody else has found."""
    mine = actor.user_id is not None and actor.user_id == version.owner_id
    return version.visibility != "private" or mine or actor.has(RoleName.OWNER, version.task)


def hides_builder(actor: Actor, version: ModelVersionInfo) -> bool:
    """Return whether *actor* may see a version and not whose it is."""
    mine = actor.user_id is not None and actor.user_id == version.owner_id
    return version.visibility == "anonymous" and not mine and not actor.has(RoleName.OWNER, version.task)


def set_visibility(db: Session, actor: Actor, ref: str, visibility: Visibility) -> ModelInfo:
    """Make a model public, private or anonymous."""
    _check_visibility(visibility)
    with transaction(db):
        info, model = _editable(db, actor, ref)
        if model.visibility != visibility:
            audit.record(
                db, actor, "model.visibility", f"{info.task}/{info.name}", before=model.visibility, after=visibility
            )
            model.visibility = visibility
    return get_model(db, actor, ref)


def withdraw(db: Session, actor: Actor, ref: str) -> ModelVersionInfo:
    """Withdraw one version: it stays in the records, and nobody can run it any more; runs to come are cancelled."""
    with transaction(db):
        info, _ = _editable(db, actor, ref)
        if info.version.withdrawn_at is None:
            version = db.get_one(ModelVersion, info.version.id)
            version.withdrawn_at = now()
            announce(db, ServiceEvent.MODEL_WITHDRAWN, version.id)
            audit.record(db, actor, "model.withdraw", info.version.ref)
    return get_model(db, actor, info.version.ref).version


def restore(db: Session, actor: Actor, ref: str) -> ModelVersionInfo:
    """Take a version back that was withdrawn: it can be run again, and what it has missed is queued.

    What was refused when it was tried is sent again instead.
    """
    with transaction(db):
        info, _ = _editable(db, actor, ref)
        if info.version.withdrawn_at is not None:
            if tried.is_refused(db, info.version.id):
                raise Conflict(
                    "{ref} was refused when it was tried.", ref=info.version.ref, remedy="Mend it, and send it again."
                )
            version = db.get_one(ModelVersion, info.version.id)
            version.withdrawn_at = None
            db.flush()
            announce(db, ServiceEvent.MODEL_RESTORED, version.id, info.task)
            audit.record(db, actor, "model.restore", info.version.ref)
    return get_model(db, actor, info.version.ref).version


def update_card(db: Session, actor: Actor, ref: str, text: str, *, edit: EditOrigin = ANYHOW) -> ModelVersionInfo:
    """Put a new wording of a version's card in place; the old ones stay in its history, and its hash stays the same.

    *edit* says which wording the new one was made from.
    """
    faults = check_card(text)
    if faults:
        raise BadInput("The card is not complete.", faults=faults, remedy="Fill in each heading.")
    with transaction(db):
        lock(db, f"card of {_editable(db, actor, ref)[0].version.id}")
        info, _ = _editable(db, actor, ref)
        text = str(edit.settled({"card": info.version.card}, {"card": text})["card"])
        if text != info.version.card:
            db.add(ModelCard(version_id=info.version.id, text=text, created_by=actor.user_id))
            if info.version.number == max(version.number for version in info.versions):
                model = db.get_one(ModelVersion, info.version.id).model_id
                task_id = find_row(db, info.task).id
                keep_entry(db, Findable.MODEL, model, task_id=task_id, title=info.name, text=text)
            audit.record(db, actor, "model.card", info.version.ref)
    return get_model(db, actor, info.version.ref).version


def card_history(db: Session, actor: Actor, ref: str) -> list[CardInfo]:
    """List all wordings of a version's card, oldest first."""
    info = get_model(db, actor, ref)
    version = db.get_one(ModelVersion, info.version.id)
    hide = info.visibility == "anonymous" and not info.may_edit
    first = CardInfo(version.card, info.owner, version.created_at)
    later = [CardInfo(card.text, None if hide else who, card.created_at) for card, who in queries.cards(db, version.id)]
    return [first, *later]


def _keep(blobs: Blobs, folder: Path) -> str:
    if not folder.is_dir():
        raise NotFound("There is no folder {folder}.", folder=folder)
    with blobs.scratch(suffix=".tar") as path:
        artefact.pack(folder, path)
        return blobs.put_file(path)


def check_model_name(name: str) -> None:
    """Refuse what cannot be the name of a model."""
    if not _NAME.fullmatch(name):
        raise BadInput(
            "'{name}' cannot be the name of a model.",
            name=name,
            remedy="Use up to 120 lower-case letters, digits, '-', '_' and '.', beginning and ending with a letter "
            "or a digit.",
        )


def _check_visibility(visibility: str) -> None:
    if visibility not in VISIBILITIES:
        raise BadInput(
            "The visibility '{visibility}' is not one of {visibilities}.",
            visibility=visibility,
            visibilities=", ".join(VISIBILITIES),
        )


def _may_edit(actor: Actor, model: Model, task: str) -> bool:
    mine = actor.user_id is not None and actor.user_id == model.owner_id
    return mine or actor.has(RoleName.OWNER, task)


def _may_see(actor: Actor, model: Model, task: str) -> bool:
    return model.visibility != "private" or _may_edit(actor, model, task)


def _named_by_content(actor: Actor, model: Model, task: str) -> bool:
    """Whether *actor* may find a model by the hash of its content: an anonymous one would tell its twins."""
    return _may_edit(actor, model, task) or model.visibility == "public"


def _editable(db: Session, actor: Actor, ref: str) -> tuple[ModelInfo, Model]:
    require_signed_in(actor)
    info = get_model(db, actor, ref)
    model = queries.model(db, info.task, info.name)
    if model is None or not info.may_edit:
        raise Forbidden(
            "Only its owner, the task's owner or an admin may change model '{task}/{name}'.",
            task=info.task,
            name=info.name,
        )
    return info, model


def _parse(db: Session, actor: Actor, ref: str) -> tuple[str, str, str | None]:
    """Split a reference into task, model and what selects the version."""
    path, _, selector = ref.partition("@")
    task, slash, name = path.partition("/")
    if slash:
        return task, name, selector or None
    matches = queries.with_hash(db, ref) if len(ref) >= MIN_PREFIX else []
    visible = [
        (version, task, name)
        for version, task, name in matches
        if _named_by_content(actor, db.get_one(Model, version.model_id), task)
    ]
    if not visible:
        raise _not_found(ref)
    if len(visible) > 1:
        choices = ", ".join(f"{task}/{name}@{version.number}" for version, task, name in visible[:5])
        raise Conflict("'{ref}' may mean any of {choices}.", ref=ref, choices=choices, remedy="Say which.")
    version, task, name = visible[0]
    return task, name, str(version.number)


def _selects(selector: str, version: ModelVersionInfo) -> bool:
    if selector.isdigit() and len(selector) < MIN_PREFIX:
        return version.number == int(selector)
    return len(selector) >= MIN_PREFIX and version.hash.startswith(selector)


def _not_found(ref: str) -> NotFound:
    return NotFound(
        "There is no model '{ref}'.",
        ref=ref,
        remedy="Name it as task/name, task/name@version, or by the first six or more characters of its hash.",
    )


def _describe(db: Session, actor: Actor, rows: list[tuple[Model, str, str | None]]) -> list[ModelInfo]:
    """Describe models as *actor* may see them, with three queries however many there are."""
    versions = queries.versions(db, [model.id for model, _, _ in rows])
    cards = queries.newest_cards(db, [version.id for version in versions])
    by_model: dict[int, list[ModelVersion]] = {}
    for version in versions:
        by_model.setdefault(version.model_id, []).append(version)
    described = []
    for model, task, owner in rows:
        may_edit = _may_edit(actor, model, task)
        shown = None if model.visibility == "anonymous" and not may_edit else owner
        infos = tuple(
            _version_info(
                version,
                model,
                task,
                shown,
                cards.get(version.id, version.card),
                salted_hash(db, version.id, version.hash)
                if model.visibility == "anonymous" and not may_edit
                else version.hash,
            )
            for version in by_model.get(model.id, ())
        )
        if infos:
            newest = next((version for version in infos if version.withdrawn_at is None), infos[0])
            described.append(
                ModelInfo(task, model.name, shown, _visibility(model), model.created_at, may_edit, newest, infos)
            )
    return described


def _version_info(
    version: ModelVersion, model: Model, task: str, owner: str | None, card: str, shown_hash: str
) -> ModelVersionInfo:
    return ModelVersionInfo(
        task=task,
        model=model.name,
        number=version.number,
        hash=shown_hash,
        adapter=version.adapter,
        blob=version.blob,
        card=card,
        meta=version.meta,
        visibility=_visibility(model),
        owner=owner,
        created_at=version.created_at,
        withdrawn_at=version.withdrawn_at,
        id=version.id,
        owner_id=model.owner_id,
    )


def _visibility(model: Model) -> Visibility:
    return next(value for value in VISIBILITIES if value == model.visibility)
