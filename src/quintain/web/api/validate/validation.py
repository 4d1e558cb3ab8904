"""Validation, for programs: what judges do, and what owners watch and decide."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from quintain.core.validation import RuleName, ValidationState
from quintain.services.access.permissions import require_owner
from quintain.services.tasks import definitions as tasks
from quintain.services.validate import (
    adjudicate,
    gold,
    gold_quiz,
    handing_in,
    handing_out,
    judges,
    review,
    unqualify,
    vmer,
)
from quintain.services.validate import drafts as judge_drafts
from quintain.services.validate import items as validation_items
from quintain.services.validate import status as validation_status
from quintain.services.validate import trail as validation_trail
from quintain.services.validate import validations as validate
from quintain.services.validate.items import ItemOrder, ItemState
from quintain.services.validate.policy import policy_of
from quintain.web.api.call import Calling
from quintain.web.api.params import Format, Limit, Offset, PersonName, TaskName
from quintain.web.api.shapes import LongText, Shape, Text
from quintain.web.files import download

Name = Annotated[
    str, Path(description="Number of the round, or name of the validation.", pattern=r"^[a-z0-9_-]{1,80}$")
]
PageKey = Annotated[str, Path(description="Key of the page.", pattern=r"^[A-Za-z0-9_-]{1,40}$")]
ItemId = Annotated[int, Path(description="Id of the item.", ge=1, le=2**31 - 1)]
Rate = Annotated[float, Field(ge=0, le=1)]
NO_NUL = r"^[^\x00]*$"
ItemStateParam = Annotated[ItemState | None, Query(description="Only items in this state.")]
ItemLabelParam = Annotated[str, Query(description="Only items with this label.", max_length=80, pattern=NO_NUL)]
ItemOrderParam = Annotated[ItemOrder, Query(description="What the list is sorted by.")]
Down = Annotated[bool, Query(description="The largest first.")]
ItemTextParam = Annotated[
    str, Query(description="Only items whose inputs contain this.", max_length=200, pattern=NO_NUL)
]


class OpenRequest(Shape):
    """The policy as TOML; the default one where it is left out."""

    policy: LongText | None = None
    seed: Annotated[int, Field(ge=0, le=2**62)] = 0


class AnswerRequest(Shape):
    """What a judge says to one item: a label, or a skip with its reason; a flag goes with either."""

    item: Annotated[int, Field(ge=1, le=2**31 - 1)]
    label: Text | None = None
    skip: Text | None = None
    flag: Text | None = None
    seconds: Annotated[float, Field(ge=0, le=1e6)] | None = None


class SubmitRequest(Shape):
    """Answers to a page; with *saved* also those that were saved; with *finish*, what is not answered goes back."""

    answers: Annotated[list[AnswerRequest], Field(max_length=100)] = []  # noqa: RUF012 - pydantic copies defaults
    finish: bool = True
    saved: bool = False


class SaveRequest(Shape):
    """What to save of the answer to one item; all empty takes it back. The higher *number* stays."""

    label: Text | None = None
    skip: Text | None = None
    flag: Text | None = None
    seconds: Annotated[float, Field(ge=0, le=1e6)] | None = None
    number: Annotated[int, Field(ge=1, le=2**53)] | None = None


class UnqualifyRequest(Shape):
    """A rule to try or apply, or judges by name with the reason that they will read."""

    workers: Annotated[list[Text], Field(max_length=1000)] = []  # noqa: RUF012 - pydantic copies defaults
    reason: Text = ""
    rule: RuleName = "disagreement"
    limit: Rate | None = None
    least: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    apply: bool = False


class ReviewRequest(Shape):
    """Whether those whom the rules catch are unqualified; the policy decides where nothing is said."""

    apply: bool | None = None


class RequalifyRequest(Shape):
    """Why a judge may work again, and whether what was set aside counts again."""

    reason: Text = ""
    restore: bool = False


class DecisionRequest(Shape):
    """An expert's label for an item; an empty one takes the decision back."""

    label: Text
    reason: Text = ""


class StateRequest(Shape):
    """Whether people may judge: open, paused or closed."""

    state: ValidationState


class ItemRow(Shape):
    """An item: its inputs, the answer that is judged or aimed at, and what models said, each `model` and `answer`."""

    inputs: dict[str, Any]
    answer: Any = None
    predictions: Annotated[list[dict[str, Any]], Field(max_length=100)] = []  # noqa: RUF012 - pydantic copies defaults


class ItemsRequest(Shape):
    """Items to add that no round wrote."""

    items: Annotated[list[ItemRow], Field(max_length=10_000)]


class NoteRequest(Shape):
    """Why an item's label is sure."""

    note: Text = ""


class QuizRequest(Shape):
    """What the quiz says before its questions."""

    instructions: LongText = ""


class GoldRow(Shape):
    """A gold item: its inputs, its label and why; *answer* where judges judge answers."""

    inputs: dict[str, Any]
    label: Text
    answer: Any = None
    note: Text = ""


class GoldRequest(Shape):
    """Gold items to add."""

    items: Annotated[list[GoldRow], Field(max_length=1000)]


def open_validation(call: Calling, task: TaskName, name: Name, wanted: OpenRequest) -> dict[str, Any]:
    """Begin to validate a round, or open it again."""
    validate.open_validation(call.db, call.actor, f"{task}/{name}", wanted.policy, seed=wanted.seed)
    return validation_status.progress(call.db, call.actor, f"{task}/{name}")


def list_validations(call: Calling, task: TaskName) -> dict[str, Any]:
    """List the validations of a task with progress and forecast (owners)."""
    tasks.get_task(call.db, task)
    require_owner(call.actor, task)
    refs = validate.list_validations(call.db, task)
    return {"validations": [validation_status.progress(call.db, call.actor, ref) for ref in refs]}


def get_validation(call: Calling, task: TaskName, name: Name) -> dict[str, Any]:
    """Say how far a validation is: progress, forecast, agreement, labels, judges, error rates."""
    return validation_status.status(call.db, call.actor, f"{task}/{name}")


def get_validation_progress(call: Calling, task: TaskName, name: Name) -> dict[str, Any]:
    """Give progress and forecast only."""
    return validation_status.progress(call.db, call.actor, f"{task}/{name}")


def set_validation_state(call: Calling, task: TaskName, name: Name, wanted: StateRequest) -> dict[str, Any]:
    """Pause, close or open the judging."""
    validate.set_state(call.db, call.actor, f"{task}/{name}", wanted.state)
    return validation_status.progress(call.db, call.actor, f"{task}/{name}")


def list_items(  # noqa: PLR0917 - what the address may say
    call: Calling,
    task: TaskName,
    name: Name,
    state: ItemStateParam = None,
    label: ItemLabelParam = "",
    text: ItemTextParam = "",
    sort: ItemOrderParam = "item",
    down: Down = False,
    offset: Offset = 0,
    limit: Limit = 50,
) -> dict[str, Any]:
    """List the items with their votes and labels."""
    wanted = validation_items.WantedItems(state or "", label, text, sort, down, offset, limit)
    return validation_items.list_items(call.db, call.actor, f"{task}/{name}", wanted).as_dict()


def add_items(call: Calling, task: TaskName, name: Name, given: ItemsRequest) -> dict[str, Any]:
    """Add items that no round wrote; those that are there already are left alone."""
    rows = [{"inputs": row.inputs, "answer": row.answer, "predictions": row.predictions} for row in given.items]
    taken = validate.add_items(call.db, call.actor, f"{task}/{name}", rows)
    return {"added": taken.added, "repeats": taken.repeats}


def get_error_rates(call: Calling, task: TaskName, name: Name) -> dict[str, Any]:
    """Give vMER and aimed success, by model, writer and label."""
    return vmer.error_rates(call.db, call.actor, f"{task}/{name}")


def list_outcomes(call: Calling, task: TaskName, name: Name) -> dict[str, Any]:
    """Tell the writer what became of what they wrote."""
    return {"attempts": vmer.my_outcomes(call.db, call.actor, f"{task}/{name}")}


def claim_judging_page(call: Calling, task: TaskName, name: Name) -> dict[str, Any]:
    """Claim a page of items to judge, or get the one that is held; null where nothing is left."""
    page = handing_out.claim_page(call.db, call.actor, f"{task}/{name}")
    return {"page": page.as_dict() if page else None}


def get_judging_page(call: Calling, key: PageKey) -> dict[str, Any]:
    """Give a page that the caller holds."""
    return {"page": handing_out.get_page(call.db, call.actor, key).as_dict()}


def submit_judging_page(call: Calling, key: PageKey, given: SubmitRequest) -> dict[str, Any]:
    """Hand in answers to a page; the same answers again change nothing."""
    answers = [handing_in.Answer(one.item, one.label, one.skip, one.flag, one.seconds) for one in given.answers]
    return handing_in.submit_page(call.db, call.actor, key, answers, finish=given.finish, saved=given.saved).as_dict()


def save_judging_answer(call: Calling, key: PageKey, item: ItemId, given: SaveRequest) -> dict[str, Any]:
    """Save an answer on a page that the caller holds; it counts once the page is handed in."""
    answer = handing_in.Answer(item, given.label, given.skip, given.flag, given.seconds)
    return {"number": judge_drafts.save_answer(call.db, call.actor, key, answer, number=given.number)}


def extend_judging_page(call: Calling, key: PageKey) -> dict[str, Any]:
    """Keep a page alive."""
    lease = handing_out.extend_page(call.db, call.actor, key)
    return {"lease_until": lease.until.isoformat(), "held": lease.held}


def return_judging_page(call: Calling, key: PageKey) -> None:
    """Give a page back."""
    handing_out.return_page(call.db, call.actor, key)


def export_judgements(call: Calling, task: TaskName, name: Name, format: Format = "csv") -> Response:  # noqa: A002 - the word in the address
    """Download all judgements, judges under numbers (owners)."""
    ref = f"{task}/{name}"
    require_owner(call.actor, task)
    write = partial(validation_trail.export_judgements, call.db, call.actor, ref)
    return download(f"{task}-{name}-judgements", format, write)


def review_judges(call: Calling, task: TaskName, name: Name, wanted: ReviewRequest | None = None) -> dict[str, Any]:
    """Measure all judges by the policy's rules now."""
    apply = wanted.apply if wanted else None
    found = review.review(call.db, call.actor, f"{task}/{name}", apply=apply)
    return found.as_dict() if found else {}


def unqualify_judges(call: Calling, task: TaskName, name: Name, wanted: UnqualifyRequest) -> dict[str, Any]:
    """Say whom a rule would catch, or unqualify: by the rule with *apply*, or by name."""
    ref = f"{task}/{name}"
    if wanted.workers:
        opened = unqualify.unqualify(call.db, call.actor, ref, wanted.workers, reason=wanted.reason)
        return {"unqualified": wanted.workers, "opened": opened}
    given = {"rule": wanted.rule, "least": wanted.least} | ({} if wanted.limit is None else {"limit": wanted.limit})
    rule = policy_of({"rules": [given]}).rules[0]
    found = unqualify.preview(call.db, call.actor, ref, rule).as_dict()
    if wanted.apply:
        caught, opened = unqualify.apply_rule(call.db, call.actor, ref, rule)
        found |= {"unqualified": caught, "opened": opened}
    return found


def requalify_judge(
    call: Calling, task: TaskName, name: Name, person: PersonName, wanted: RequalifyRequest
) -> dict[str, Any]:
    """Let a judge work again."""
    ref = f"{task}/{name}"
    unqualify.requalify(call.db, call.actor, ref, person, reason=wanted.reason, restore=wanted.restore)
    return judges.judge_history(call.db, call.actor, ref, person)


def get_judge_history(call: Calling, task: TaskName, name: Name, person: PersonName) -> dict[str, Any]:
    """Give everything that happened to one judge."""
    return judges.judge_history(call.db, call.actor, f"{task}/{name}", person)


def list_gold(call: Calling, task: TaskName, name: Name) -> dict[str, Any]:
    """List the gold items with how judges do on them."""
    return {"gold": [item.as_dict() for item in gold.list_gold(call.db, call.actor, f"{task}/{name}")]}


def add_gold(call: Calling, task: TaskName, name: Name, given: GoldRequest) -> dict[str, Any]:
    """Add gold items."""
    rows = [{"inputs": row.inputs, "label": row.label, "answer": row.answer, "note": row.note} for row in given.items]
    return {"added": gold.add_gold(call.db, call.actor, f"{task}/{name}", rows)}


def make_gold(call: Calling, task: TaskName, name: Name, item: ItemId, given: NoteRequest) -> dict[str, Any]:
    """Make a gold item of one that is judged to the end."""
    return {"label": gold.gold_from_item(call.db, call.actor, f"{task}/{name}", item, note=given.note)}


def retire_gold(call: Calling, task: TaskName, name: Name, item: ItemId) -> None:
    """Show a gold item no more."""
    gold.retire_gold(call.db, call.actor, f"{task}/{name}", item)


def restore_gold(call: Calling, task: TaskName, name: Name, item: ItemId) -> None:
    """Show a gold item again."""
    gold.restore_gold(call.db, call.actor, f"{task}/{name}", item)


def make_quiz(call: Calling, task: TaskName, name: Name, given: QuizRequest) -> dict[str, Any]:
    """Make the entry quiz from gold items, and ask for it."""
    return {"quiz": gold_quiz.make_quiz(call.db, call.actor, f"{task}/{name}", instructions=given.instructions)}


def list_contested(call: Calling, task: TaskName, name: Name, limit: Limit = 50) -> dict[str, Any]:
    """List the items on which judges disagree most."""
    found = adjudicate.queue(call.db, call.actor, f"{task}/{name}", limit=limit)
    return {"items": [item.as_dict() for item in found]}


def decide_item(call: Calling, task: TaskName, name: Name, item: ItemId, given: DecisionRequest) -> None:
    """Decide on a contested item as an expert."""
    adjudicate.adjudicate(call.db, call.actor, f"{task}/{name}", item, given.label, reason=given.reason)
