"""Validation, for programs: what judges do, and what owners watch and decide."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from quintain.core.records.judging import (
    ContestedItems,
    GoldAdded,
    GoldItems,
    GoldLabel,
    GoldState,
    HeldPage,
    JudgeHistory,
    JudgeReview,
    Lease,
    QuizName,
    Receipt,
    RuleEffect,
    SavedNumber,
    Unqualified,
)
from quintain.core.records.validate import (
    ErrorRates,
    ItemsAdded,
    ItemState,
    JudgedItems,
    Outcomes,
    Validation,
    ValidationProgress,
    Validations,
)
from quintain.core.validation import RuleName, UnqualifyRule, ValidationState
from quintain.services.jobs.exports import ExportRequest
from quintain.services.validate.console import export as judged_export
from quintain.services.validate.console import items as validation_items
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console import status as validation_status
from quintain.services.validate.console.items import ItemOrder
from quintain.services.validate.judging import adjudicate as adjudication
from quintain.services.validate.judging import claim_page as claims
from quintain.services.validate.judging import drafts as judge_drafts
from quintain.services.validate.judging import submit_page as submissions
from quintain.services.validate.quality import gold, gold_list, gold_quiz, judges, review, unqualify, vmer
from quintain.services.validate.quality.gold_list import GoldOrder
from quintain.web.api.call import Calling
from quintain.web.api.params import Changing, Format, Limit, Offset, PersonName, TaskName, ValidationRef
from quintain.web.api.shapes import LongText, Shape, Text
from quintain.web.exporting import export_call

PageToken = Annotated[str, Path(description="Key of the page.", pattern=r"^[A-Za-z0-9_-]{1,40}$")]
ItemId = Annotated[int, Path(description="Id of the item.", ge=1, le=2**31 - 1)]
Rate = Annotated[float, Field(ge=0, le=1)]
NO_NUL = r"^[^\x00]*$"
ItemStateParam = Annotated[ItemState | None, Query(description="Only items in this state.")]
ItemLabelParam = Annotated[str, Query(description="Only items with this label.", max_length=80, pattern=NO_NUL)]
ItemOrderParam = Annotated[ItemOrder, Query(description="What the list is sorted by.")]
GoldUseParam = Annotated[GoldState | None, Query(description="Only gold items that are used, or retired ones.")]
GoldOrderParam = Annotated[GoldOrder, Query(description="What the list is sorted by.")]
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
    """Judges by name, with the reason that they will read."""

    workers: Annotated[list[Text], Field(min_length=1, max_length=1000)]
    reason: Text = ""


class RuleRequest(Shape):
    """A rule for judges: what it looks at, its *limit*, and after how many judgements it looks."""

    rule: RuleName = "disagreement"
    limit: Rate | None = None
    least: Annotated[int, Field(ge=1, le=1_000_000)] = 10


class ReviewRequest(Shape):
    """Whether those whom the rules catch are unqualified; the policy decides where nothing is said."""

    apply: bool | None = None


class RequalifyRequest(Shape):
    """Why a judge may work again, and whether what was set aside counts again."""

    reason: Text = ""
    restore: bool = False


class AdjudicationRequest(Shape):
    """An expert's label for an item; an empty one takes the decision back."""

    label: Text
    reason: Text = ""


class StateRequest(Shape):
    """Whether people may judge: open, paused or closed."""

    state: ValidationState


class ItemRow(Shape):
    """An item: its inputs, the answer that is judged or aimed at, and what models said, each `model` and `answer`.

    Of a sentence from a review: its *rating*, its id (*review*), and where in its text the sentence begins and ends.
    *about* is what else is known of it, for the files of a release.
    """

    inputs: dict[str, Any]
    answer: Any = None
    predictions: Annotated[list[dict[str, Any]], Field(max_length=100)] = []  # noqa: RUF012 - pydantic copies defaults
    rating: float | None = None
    review: Text | None = None
    start: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    end: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    about: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies defaults


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


def open_validation(call: Calling, ref: ValidationRef, body: OpenRequest, edit: Changing) -> ValidationProgress:
    """Begin to validate a round, or a table under a name of its own, or open it again (owners)."""
    validate.open_validation(call.db, call.actor, ref, body.policy, seed=body.seed, edit=edit)
    return validation_status.progress(call.db, call.actor, ref)


def list_validations(call: Calling, task: TaskName) -> Validations:
    """List the validations of a task with progress and forecast (owners)."""
    return Validations(validation_status.progresses(call.db, call.actor, task))


def get_validation(call: Calling, ref: ValidationRef) -> Validation:
    """Return how far a validation is: progress, forecast, agreement, labels, judges, error rates (owners)."""
    return validation_status.status(call.db, call.actor, ref)


def get_validation_progress(call: Calling, ref: ValidationRef) -> ValidationProgress:
    """Return progress and forecast only: cheap enough to ask again and again (owners)."""
    return validation_status.progress(call.db, call.actor, ref)


def set_validation_state(call: Calling, ref: ValidationRef, body: StateRequest) -> ValidationProgress:
    """Let people judge or not: open, paused or closed (owners)."""
    validate.set_state(call.db, call.actor, ref, body.state)
    return validation_status.progress(call.db, call.actor, ref)


def list_items(  # noqa: PLR0917 - what the address may say
    call: Calling,
    ref: ValidationRef,
    state: ItemStateParam = None,
    label: ItemLabelParam = "",
    text: ItemTextParam = "",
    sort: ItemOrderParam = "item",
    down: Down = False,
    offset: Offset = 0,
    limit: Limit = 50,
) -> JudgedItems:
    """List the items with their votes and labels, a page at a time (owners)."""
    query = validation_items.ItemQuery(state or "", label, text, sort, down, offset, limit)
    return validation_items.list_items(call.db, call.actor, ref, query)


def add_items(call: Calling, ref: ValidationRef, body: ItemsRequest) -> ItemsAdded:
    """Add items that no round wrote, at most 10,000 at once; those that are there are left alone (owners)."""
    return validate.add_items(call.db, call.actor, ref, [row.model_dump() for row in body.items])


def get_error_rates(call: Calling, ref: ValidationRef) -> ErrorRates:
    """Return the validated model error rate and aimed success, by model, writer and label (owners)."""
    return vmer.error_rates(call.db, call.actor, ref)


def list_outcomes(call: Calling, ref: ValidationRef, limit: Limit = 1000, offset: Offset = 0) -> Outcomes:
    """Tell what became of what one wrote."""
    return vmer.my_outcomes(call.db, call.actor, ref, limit=limit, offset=offset)


def claim_page(call: Calling, ref: ValidationRef) -> HeldPage:
    """Take a page of items to judge, or get the one that is held; none where nothing is left."""
    page = claims.claim_page(call.db, call.actor, ref)
    return HeldPage(claims.page_record(page) if page else None)


def get_judging_page(call: Calling, token: PageToken) -> HeldPage:
    """Return a page that one holds."""
    return HeldPage(claims.page_record(claims.get_page(call.db, call.actor, token)))


def submit_page(call: Calling, token: PageToken, body: SubmitRequest) -> Receipt:
    """Hand in answers to a page; the same answers again change nothing.

    Each has `item` and `label`, or `skip` with its reason; `flag` and `seconds` go with either. With *saved*, what was
    saved before is handed in as well. With *finish* the page ends, and what was not answered goes back.
    """
    answers = [
        submissions.Answer(answer.item, answer.label, answer.skip, answer.flag, answer.seconds)
        for answer in body.answers
    ]
    return submissions.submit_page(call.db, call.actor, token, answers, finish=body.finish, saved=body.saved)


def save_answer(call: Calling, token: PageToken, item: ItemId, body: SaveRequest) -> SavedNumber:
    """Save an answer on the server until the page is handed in; without label, skip and flag, take it back.

    Of two changes to an item the one with the higher *number* stays; without one it is the last that comes. Give the
    number of what is saved.
    """
    answer = submissions.Answer(item, body.label, body.skip, body.flag, body.seconds)
    return SavedNumber(judge_drafts.save_answer(call.db, call.actor, token, answer, number=body.number))


def extend_page(call: Calling, token: PageToken) -> Lease:
    """Keep a page alive, and say until when."""
    return claims.extend_page(call.db, call.actor, token)


def return_page(call: Calling, token: PageToken) -> None:
    """Return a page without an answer: others get its items at once."""
    claims.return_page(call.db, call.actor, token)


def export_judgements(call: Calling, ref: ValidationRef, format: Format = "csv") -> Response:  # noqa: A002 - the word in the address
    """Download all judgements, judges under numbers (owners); a long file is written by a job."""
    return export_call(call, ExportRequest(judged_export.JUDGEMENTS_FILE, ref, format))


def review_judges(call: Calling, ref: ValidationRef, body: ReviewRequest | None = None) -> JudgeReview:
    """Measure all judges by the policy's rules now, and unqualify whom they catch if *apply* says so (owners).

    Where it says nothing, the policy decides. Where there are many judgements, a worker does it: *job* is its number.
    """
    return review.ask_review(call.db, call.actor, ref, apply=body.apply if body else None)


def unqualify_judges(call: Calling, ref: ValidationRef, body: UnqualifyRequest) -> Unqualified:
    """Unqualify judges by name, with the reason that they will read (owners)."""
    return unqualify.unqualify(call.db, call.actor, ref, body.workers, reason=body.reason)


def try_rule(call: Calling, ref: ValidationRef, body: RuleRequest) -> RuleEffect:
    """Return whom a rule would catch among judges with at least *least* judgements; change nothing (owners)."""
    return unqualify.try_rule(call.db, call.actor, ref, _rule(body))


def apply_rule(call: Calling, ref: ValidationRef, body: RuleRequest) -> RuleEffect:
    """Unqualify everybody whom a rule catches, and collect anew what they judged (owners)."""
    return unqualify.apply_rule(call.db, call.actor, ref, _rule(body))


def _rule(body: RuleRequest) -> UnqualifyRule:
    return unqualify.rule_of(body.rule, body.limit, body.least)


def requalify(call: Calling, ref: ValidationRef, name: PersonName, body: RequalifyRequest) -> JudgeHistory:
    """Let a judge work again; with *restore*, what was set aside counts again (owners).

    Give the judge's history; `standings` has every change, with `qualified` and `reason`.
    """
    unqualify.requalify(call.db, call.actor, ref, name, reason=body.reason, restore=body.restore)
    return judges.judge_history(call.db, call.actor, ref, name)


def get_judge_history(call: Calling, ref: ValidationRef, name: PersonName) -> JudgeHistory:
    """Tell everything that happened to one judge (owners)."""
    return judges.judge_history(call.db, call.actor, ref, name)


def list_gold(  # noqa: PLR0917 - what the address may say
    call: Calling,
    ref: ValidationRef,
    use: GoldUseParam = None,
    text: ItemTextParam = "",
    sort: GoldOrderParam = "added",
    down: Down = False,
    offset: Offset = 0,
    limit: Limit = 50,
) -> GoldItems:
    """List the gold items with how judges do on them, a page at a time (owners)."""
    query = gold_list.GoldQuery(use or "", text, sort, down, offset, limit)
    return gold_list.list_gold(call.db, call.actor, ref, query)


def add_gold(call: Calling, ref: ValidationRef, body: GoldRequest) -> GoldAdded:
    """Add gold items, at most 1,000 at once, and give how many are new (owners)."""
    rows = [{"inputs": row.inputs, "label": row.label, "answer": row.answer, "note": row.note} for row in body.items]
    return GoldAdded(gold.add_gold(call.db, call.actor, ref, rows))


def make_gold(call: Calling, ref: ValidationRef, item: ItemId, body: NoteRequest) -> GoldLabel:
    """Make a gold item of one that is judged to the end, and give its label; *note* says why (owners)."""
    return GoldLabel(gold.gold_from_item(call.db, call.actor, ref, item, note=body.note))


def retire_gold(call: Calling, ref: ValidationRef, item: ItemId) -> None:
    """Show a gold item no more (owners)."""
    gold.retire_gold(call.db, call.actor, ref, item)


def restore_gold(call: Calling, ref: ValidationRef, item: ItemId) -> None:
    """Show a gold item again; refused where a quiz has told its label (owners)."""
    gold.restore_gold(call.db, call.actor, ref, item)


def make_entry_quiz(call: Calling, ref: ValidationRef, body: QuizRequest) -> QuizName:
    """Make the entry quiz from gold items and ask for it; give its name (owners)."""
    return QuizName(gold_quiz.make_quiz(call.db, call.actor, ref, instructions=body.instructions))


def list_contested(call: Calling, ref: ValidationRef, limit: Limit = 50) -> ContestedItems:
    """List the items on which judges disagree most (experts, owners)."""
    return ContestedItems(adjudication.adjudication_queue_of(call.db, call.actor, ref, limit=limit))


def adjudicate(call: Calling, ref: ValidationRef, item: ItemId, body: AdjudicationRequest) -> None:
    """Decide on an item as an expert; an empty *label* takes the decision back (experts, owners)."""
    adjudication.adjudicate(call.db, call.actor, ref, item, body.label, reason=body.reason)
