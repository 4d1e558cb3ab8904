"""Breaking: choosing a sentence, changing it, uploading a table, and the team's own pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from quintain.core.contests import Phase
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.task import Task
from quintain.data.tables import parse_columns
from quintain.services.contest import pairs
from quintain.services.contest.grading import as_cell
from quintain.services.contest.pair_checks import PairDraft
from quintain.services.contest.teams import require_part
from quintain.tasks.contract import kind_of
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import on_disk
from quintain.web.forms import PREFIX, inputs_of
from quintain.web.listing import Asking, ListQuery, page_of
from quintain.web.pages.collect.write_form import PLACE, SpanPlace, places_of
from quintain.web.pages.contest.common import Room, room_of
from quintain.web.pages.contest.sides import (
    answer_field,
    differences,
    label_name,
    line_of,
    shown_label,
    typed_text,
    typed_texts,
)
from quintain.web.visit import Post, Posting, Visit, Visiting

SIDES = ("original_label", "modified_label")
STARTERS = 8
OWN = 25


@dataclass(frozen=True, slots=True)
class PairForm:
    """The form of a pair: what it starts from, and what was typed."""

    original: Mapping[str, Any]
    typed: Mapping[str, str]
    example: str = ""
    fixed: bool = True
    name: str = ""
    editing: bool = False
    original_label: str = ""
    modified_label: str = ""
    rationale: str = ""
    strategy: str = ""
    tags: tuple[str, ...] = ()
    dispute: bool = False


def break_page(
    visit: Visiting, task: str, name: str, asked: Asking, *, of: str = "", edit: str = "", own: int = 0
) -> Response:
    """Show the sentences to choose from, a form for the chosen one, and the team's pairs."""
    room = room_of(visit, task, name)
    form = None
    if of:
        form = _from_starter(visit, room, of)
    elif edit:
        form = _from_pair(visit, room, edit)
    elif room.info.spec.scratch and asked.show == "scratch":
        form = PairForm({}, {}, fixed=False)
    return _page(visit, room, asked, form, own=own)


def put_pair(post: Posting, task: str, name: str) -> Response:
    """Keep a pair."""
    visit = post.visit
    room = room_of(visit, task, name)
    form = _typed(post, room)
    draft = PairDraft(
        name=form.name,
        original=form.original,
        modified=_completed(room.task, form, _modified(room.task, form)),
        original_label=_meant_label(post, "original_label", form.original_label),
        modified_label=_meant_label(post, "modified_label", form.modified_label),
        rationale=form.rationale,
        strategy=form.strategy,
        tags=form.tags,
        dispute=form.dispute,
    )
    try:
        pairs.put_pair(visit.db, visit.blobs, visit.actor, room.info.ref, draft, new=not form.editing)
    except (BadInput, Conflict, Forbidden) as error:
        return _page(visit, room, ListQuery(), form, trouble_of(error))
    return visit.redirect(f"{room.base}/break", visit.tongue.gettext("The pair is kept."))


def upload(post: Posting, task: str, name: str) -> Response:
    """Take a table of pairs, or list everything that is wrong with it and take nothing."""
    visit = post.visit
    room = room_of(visit, task, name)
    file = post.file("file")
    try:
        if file is None:
            raise BadInput("No file was chosen.")
        columns = parse_columns([line for line in post.text("columns").splitlines() if line.strip()])
        with on_disk(file, visit.workspace.limits_at_once) as path:
            added = pairs.upload_pairs(
                visit.db,
                visit.blobs,
                visit.actor,
                room.info.ref,
                path,
                columns=columns,
                preset=post.text("preset"),
                dispute=post.flag("dispute"),
            )
    except (BadInput, Conflict, Forbidden) as error:
        return _page(visit, room, ListQuery(), None, trouble_of(error))
    toast = visit.tongue.ngettext("%(num)s pair added.", "%(num)s pairs added.", added.added)
    return visit.redirect(f"{room.base}/break", toast)


def remove(post: Posting, task: str, name: str) -> Response:
    """Take a pair out again."""
    visit = post.visit
    room = room_of(visit, task, name)
    try:
        pairs.remove_pair(visit.db, visit.actor, room.info.ref, post.text("pair"))
    except (Conflict, NotFound) as error:
        return _page(visit, room, ListQuery(), None, trouble_of(error))
    return visit.redirect(f"{room.base}/break", visit.tongue.gettext("The pair is removed."))


def _page(
    visit: Visit, room: Room, asked: ListQuery, form: PairForm | None, trouble: Trouble | None = None, *, own: int = 0
) -> Response:
    require_part(visit.db, visit.actor, room.info, "break")
    ref, spec = room.info.ref, room.info.spec
    rows, total = pairs.starter_page(
        visit.db, visit.blobs, visit.actor, ref, text=asked.q.strip(), offset=asked.offset, limit=STARTERS
    )
    starters = page_of(rows, total, asked, path=f"{room.base}/break", sort="", down=False, size=STARTERS)
    first = max(own, 0)
    drafts = pairs.list_drafts(visit.db, visit.actor, ref, room.team, offset=first, limit=OWN)
    fields = kind_of(room.task).form(room.task).inputs
    known = dict.fromkeys([*spec.tags, *(form.tags if form else ())])
    return room.render(
        "break",
        "break",
        trouble=trouble,
        open=room.info.phase is Phase.BREAK,
        starters=starters,
        filters=asked,
        form=form,
        fields=fields,
        answer=answer_field(room.task),
        answer_choices=[
            ("", visit.tongue.gettext("Choose")),
            *((key, key) for key, _ in answer_field(room.task).choices),
        ],
        tag_choices=list(known),
        formats=[
            ("table", visit.tongue.gettext("a table of pairs")),
            ("bibi-2017", visit.tongue.gettext("a file of Build It Break It 2017, as released")),
        ],
        drafts=drafts,
        before_these=max(first - OWN, 0) if first else None,
        after_these=first + OWN if first + OWN < drafts.total else None,
        differences=differences,
        shown_text=lambda inputs: line_of(room.task, inputs),
        label_text=lambda inputs, value: shown_label(room.task, inputs, as_cell(room.task, value)),
        before=lambda field: typed_text(field, form.original) if form else "",
        places=_label_places(room.task, form) if form and trouble else dict.fromkeys(SIDES, ()),
        prefix=PREFIX,
    )


def _from_starter(visit: Visit, room: Room, example: str) -> PairForm:
    row = dict(pairs.starter_example(visit.db, visit.blobs, room.info.ref, example))
    key, gold = row.pop("id"), row.pop("answer")
    inputs = {name: value for name, value in row.items() if value is not None}
    label = ""
    if gold is not None:
        label = label_name(room.task, inputs, as_cell(room.task, gold))
    return PairForm(inputs, typed_texts(room.task, inputs), key, True, original_label=label)


def _from_pair(visit: Visit, room: Room, name: str) -> PairForm:
    draft = pairs.get_draft(visit.db, visit.actor, room.info.ref, name)
    return PairForm(
        draft.original,
        typed_texts(room.task, draft.modified),
        "" if draft.scratch else "kept",
        not draft.scratch,
        draft.name,
        True,
        label_name(
            room.task, draft.original, draft.original_label if draft.claimed_label is None else draft.claimed_label
        ),
        label_name(room.task, draft.modified, draft.modified_label),
        draft.rationale,
        draft.strategy,
        draft.tags,
        draft.claimed_label is not None,
    )


def _typed(post: Post, room: Room) -> PairForm:
    """Read the form: of a sentence of the starter set only what was changed comes from it."""
    visit, fields = post.visit, kind_of(room.task).form(room.task).inputs
    example, editing = post.text("example"), post.flag("editing")
    if example == "kept":
        original = _from_pair(visit, room, post.text("name")).original
    elif example:
        original = _from_starter(visit, room, example).original
    else:
        original = inputs_of(room.task, {field.name: post.text(f"first-{field.name}") for field in fields})
    more = [tag.strip() for tag in post.text("more_tags").split(",") if tag.strip()]
    return PairForm(
        original,
        {field.name: post.text(PREFIX + field.name) for field in fields},
        example,
        bool(example),
        post.text("name").strip(),
        editing,
        post.text("original_label").strip(),
        post.text("modified_label").strip(),
        post.text("rationale").strip(),
        post.text("strategy").strip(),
        tuple(dict.fromkeys([*post.texts("tags"), *more])),
        post.flag("dispute"),
    )


def _completed(task: Task, form: PairForm, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Put what is fixed beside what was typed."""
    fixed = {field.name for field in kind_of(task).fields(task) if not field.editable}
    return {**inputs, **{name: value for name, value in form.original.items() if name in fixed}}


def _modified(task: Task, form: PairForm) -> dict[str, Any]:
    """Read the changed side; a word that is still named as in the original moves along with it."""
    inputs = inputs_of(task, form.typed)
    for field in kind_of(task).form(task).inputs:
        original = form.original.get(field.name)
        if (
            field.widget == "token"
            and original is not None
            and form.typed.get(field.name) == typed_text(field, form.original)
        ):
            inputs[field.name] = original
    return inputs


def _meant_label(post: Post, name: str, typed: str) -> str | None:
    """Return a typed label, with the start that was chosen among the places where it stands."""
    chosen = post.text(PLACE + name)
    return chosen if chosen and chosen.partition(":")[2].lower() == typed.lower() else typed or None


def _label_places(task: Task, form: PairForm) -> dict[str, list[SpanPlace]]:
    """List where a typed answer stands, for each side on which it stands more than once; nothing for others."""
    modified = _completed(task, form, _modified(task, form))
    known = form.fixed and not form.dispute  # whichever is meant, the starter set's label stands
    sides = ((form.original, "" if known else form.original_label), (modified, form.modified_label))
    places = [places_of(task, inputs, {"text": text}) for inputs, text in sides]
    return {label: listed if len(listed) > 1 else [] for label, listed in zip(SIDES, places, strict=True)}
