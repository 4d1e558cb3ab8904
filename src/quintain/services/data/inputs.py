"""Who may read the inputs of a data set: everybody, those whom its owners let, or only the owners.

Whoever reads the inputs of a test set can make a table of answers, so the inputs of a version with hidden labels are
closed unless the task's owners open them. Every service that shows an input, or what a model made of one, asks here.
"""

from __future__ import annotations

from typing import get_args

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.records import tasks as records
from quintain.core.records.tasks import InputsPolicy
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.notify import notify, notify_all
from quintain.services.access.permissions import require_owner, require_user
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.access.people import owners
from quintain.store.queries.data import inputs as queries
from quintain.store.tables import Dataset, DatasetVersion

POLICIES: tuple[InputsPolicy, ...] = get_args(InputsPolicy)
LONGEST_WHY = 2000
DECISIONS = {"allow": "granted", "decline": "declined", "revoke": "revoked"}


def policy_of(dataset: Dataset, *, hidden: bool) -> InputsPolicy:
    """Return who may read the inputs of a version: what was chosen, else by whether its labels are hidden."""
    default: InputsPolicy = "never" if hidden else "open"
    return next((value for value in POLICIES if value == dataset.inputs), default)


def may_read_inputs(db: Session, actor: Actor, task: str, version: DatasetVersion) -> bool:
    """Whether *actor* may read the inputs of *version*, which belongs to *task*."""
    if actor.has(RoleName.OWNER, task):
        return True
    policy = policy_of(db.get_one(Dataset, version.dataset_id), hidden=version.hidden)
    if policy != "request" or actor.user_id is None:
        return policy == "open"
    return version.dataset_id in queries.granted(db, actor.user_id)


def may_read_perturbed(actor: Actor, task: str) -> bool:
    """Whether *actor* may read the texts that perturbations made of a data set of *task*: its owners alone.

    The same texts are asked of every model and of every version of it, so that whoever has read them, of an open set,
    too, could prepare the answers that count as robust.
    """
    return actor.has(RoleName.OWNER, task)


def require_inputs(db: Session, actor: Actor, task: str, version: DatasetVersion) -> None:
    """Refuse whoever may not read the inputs of *version*."""
    if not may_read_inputs(db, actor, task, version):
        raise closed(f"{task}/{db.get_one(Dataset, version.dataset_id).name}")


def closed(dataset: str) -> Forbidden:
    """Make the refusal of somebody who may not read the inputs of *dataset*."""
    return Forbidden(
        "The inputs of {dataset} are not open, nor is what shows single ones of them.",
        dataset=dataset,
        remedy="The task's owners open them, or let you read them: `quintain data inputs {dataset}` says which.",
        page="The task's owners decide who reads them; the page of the data set says how.",
        code="inputs_closed",
    )


def open_to_all(dataset: Dataset, version: DatasetVersion) -> bool:
    """Whether everybody may read the inputs of *version*."""
    return policy_of(dataset, hidden=version.hidden) == "open"


def is_open(db: Session, version_id: int) -> bool:
    """Whether everybody may read the inputs of the version with this id."""
    version = db.get_one(DatasetVersion, version_id)
    return open_to_all(db.get_one(Dataset, version.dataset_id), version)


def inputs_of(db: Session, actor: Actor, ref: str) -> records.DatasetInputs:
    """Return who may read the inputs of the data set `task/name`; owners see all that was asked, others their own."""
    task, dataset = _dataset(db, ref)
    owns = actor.has(RoleName.OWNER, task)
    policy = policy_of(dataset, hidden=queries.has_hidden(db, dataset.id))
    asked = []
    if owns or actor.user_id is not None:
        asked = [_record(row) for row in queries.requests(db, dataset.id, None if owns else actor.user_id)]
    granted = any(one.state == "granted" for one in asked) and policy == "request"
    return records.DatasetInputs(
        dataset=f"{task}/{dataset.name}",
        inputs=policy,
        chosen=dataset.inputs is not None,
        traces=dataset.traces,
        readable=owns or policy == "open" or granted,
        requests=asked,
    )


def set_inputs(
    db: Session, actor: Actor, ref: str, inputs: str, *, traces: bool | None = None
) -> records.DatasetInputs:
    """Choose who reads the inputs of a data set, and whether builders learn where in their code it failed (owners)."""
    task, dataset = _dataset(db, ref)
    require_owner(actor, task)
    if inputs not in POLICIES:
        raise BadInput("'{word}' is not one of {known}.", word=inputs, known=", ".join(POLICIES))
    with transaction(db):
        before = {"inputs": dataset.inputs, "traces": dataset.traces}
        dataset.inputs = inputs
        dataset.traces = dataset.traces if traces is None else traces
        after = {"inputs": dataset.inputs, "traces": dataset.traces}
        if before != after:
            audit.record(db, actor, "data.inputs", f"{task}/{dataset.name}", before=before, after=after)
    return inputs_of(db, actor, ref)


def ask_for_inputs(db: Session, actor: Actor, ref: str, why: str = "") -> records.DatasetInputs:
    """Ask the owners to read the inputs of a data set, and say why; once asked, it waits."""
    user_id = require_user(actor)
    task, dataset = _dataset(db, ref)
    name = f"{task}/{dataset.name}"
    if len(why) > LONGEST_WHY:
        raise BadInput("The reason is longer than {most} characters.", most=LONGEST_WHY)
    state = inputs_of(db, actor, ref)
    if state.readable:
        raise Conflict("You may read the inputs of {dataset} already.", dataset=name)
    if state.inputs != "request":
        raise Forbidden("The owners of {dataset} let nobody read its inputs.", dataset=name, code="inputs_closed")
    with transaction(db):
        lock(db, f"inputs of {dataset.id}")
        row = queries.request_of(db, dataset.id, user_id)
        if row is not None and row.state == "waiting":
            return inputs_of(db, actor, ref)
        if row is None:
            row = queries.add_request(db, dataset.id, user_id)
        row.why, row.state, row.asked_at, row.decided_at = why.strip(), "waiting", now(), None
        audit.record(db, actor, "data.inputs.ask", name)
        text = Text("{name} asks to read the inputs of {dataset}.", name=actor.name, dataset=dataset.name)
        notify_all(db, owners(db, task), "data.inputs.request", text, f"/tasks/{task}/data/{dataset.name}#readers")
    return inputs_of(db, actor, ref)


def decide_inputs(db: Session, actor: Actor, ref: str, request: int, decision: str) -> records.DatasetInputs:
    """Allow or decline a request, or revoke what was allowed (owners)."""
    task, dataset = _dataset(db, ref)
    require_owner(actor, task)
    name = f"{task}/{dataset.name}"
    if decision not in DECISIONS:
        raise BadInput("'{word}' is not one of {known}.", word=decision, known=", ".join(DECISIONS))
    with transaction(db):
        lock(db, f"inputs of {dataset.id}")
        row = queries.request_numbered(db, dataset.id, request)
        if row is None:
            raise NotFound(
                "There is no request {number} for {dataset}.",
                number=request,
                dataset=name,
                remedy="`quintain data inputs {dataset}` lists them.",
                page="The page of the data set lists them.",
            )
        if (row.state == "granted") != (decision == "revoke"):
            if row.state == DECISIONS[decision]:
                return inputs_of(db, actor, ref)
            raise Conflict("Request {number} is {state}.", number=request, state=row.state)
        row.state, row.decided_at = DECISIONS[decision], now()
        audit.record(db, actor, f"data.inputs.{decision}", name, user=row.user_id)
        page = f"/tasks/{task}/data/{dataset.name}"
        notify(db, row.user_id, "data.inputs.decided", _notice(row.state, dataset.name), page)
    return inputs_of(db, actor, ref)


def _notice(state: str, dataset: str) -> Text:
    words = {
        "granted": Text("You may read the inputs of {dataset} now.", dataset=dataset),
        "declined": Text("Your request to read the inputs of {dataset} was declined.", dataset=dataset),
        "revoked": Text("You may not read the inputs of {dataset} any more.", dataset=dataset),
    }
    return words[state]


def _dataset(db: Session, ref: str) -> tuple[str, Dataset]:
    task, _, name = ref.partition("@")[0].partition("/")
    dataset = queries.dataset_named(db, task, name)
    if dataset is None:
        raise NotFound(
            "There is no data set '{ref}'.",
            ref=ref,
            remedy="`quintain data list` shows those there are.",
            page="The page of the task's data lists those there are.",
        )
    return task, dataset


def _record(row: queries.RequestRow) -> records.InputRequest:
    asked = row.request
    return records.InputRequest(asked.id, row.name, asked.why, asked.state, asked.asked_at, asked.decided_at)
