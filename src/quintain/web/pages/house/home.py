"""The front door: what waits, a model to fool, all tasks; and the search over everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from quintain.core.errors import BadInput, NotFound, TooMany, Unavailable
from quintain.core.people import RoleName
from quintain.core.records.house import Movement, MovementKind
from quintain.core.records.tasks import Found, Hit
from quintain.core.search_words import beginnings, words_of
from quintain.core.task import Task
from quintain.services.access import accounts
from quintain.services.house import browse
from quintain.services.house.fool import FoolBox, FoolTry, find_box, try_to_fool
from quintain.services.house.front import Front, front
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.forms import Spoken, spoken
from quintain.web.help_search import search_help
from quintain.web.i18n import in_language, languages
from quintain.web.pages.house.waiting import shown_waiting
from quintain.web.pages.models.language_note import language_note
from quintain.web.pages.models.moved import moved_pieces
from quintain.web.search_marks import excerpt, marked
from quintain.web.tour import role_of
from quintain.web.visit import LANGUAGE_COOKIE, Posting, Visit, Visiting, local_path


@dataclass(frozen=True, slots=True)
class ShownTry:
    """What came of an attempt at the box: whether it fooled the model, and what that said."""

    fooled: bool
    said: Spoken
    label: str


def home(visit: Visiting) -> Response:
    """Show what waits for the person, a model to fool, and the tasks."""
    return _home(visit)


def fool(post: Posting) -> Response:
    """Let the model of the box answer, and forget it."""
    visit = post.visit
    text, label, ref = post.text("text"), post.text("label"), post.text("model")
    shown, trouble = None, None
    try:
        settings = visit.workspace.settings
        attempt = try_to_fool(
            visit.db,
            visit.blobs,
            visit.actor,
            ref,
            text,
            label,
            address=visit.address,
            limit=settings.model_calls,
            runners=visit.workspace.runners,
        )
        shown = _shown(visit, attempt, label)
    except (BadInput, NotFound, TooMany, Unavailable) as error:
        trouble = trouble_of(error)
    if visit.request.headers.get("hx-request") != "true":
        return _home(visit, {"text": text, "label": label, "model": ref}, shown, trouble)
    return visit.render(
        "house/fooled.html",
        status=trouble.status if trouble else 200,
        headers={"hx-retarget": "#fooled", "hx-reselect": "#fooled", "hx-reswap": "outerHTML"},
        tried=shown,
        trouble=trouble,
        box=find_box(visit.db, visit.actor, {}),
    )


def search(visit: Visiting, q: str = "") -> Response:
    """Show the tasks, data sets, models, rounds, people and sections of the help that hold the words."""
    query = q.strip()[:200]
    _ = visit.tongue.gettext
    hits = browse.search(visit.db, visit.actor, query, visit.language) if query else Found()
    sections = search_help(query, visit.language)
    groups = [
        (_("Tasks"), hits.tasks),
        (_("Rounds"), hits.rounds),
        (_("Models"), hits.models),
        (_("Data sets"), hits.datasets),
        (_("People"), hits.people),
    ]
    starts = beginnings(query)
    return visit.render(
        "house/search.html",
        query=query,
        total=hits.total + len(sections),
        groups=[(title, [_shown_hit(hit, starts) for hit in found]) for title, found in groups if found],
        help_hits=sections,
        crumbs=[(_("Search"), None)],
    )


def _shown_hit(hit: Hit, starts: Sequence[str]) -> tuple[str, Markup, str, Markup]:
    """Return the address of what was found, its title, what it is, and what it says; the words marked."""

    def is_meant(word: str) -> bool:
        return any(form.startswith(start) for form in words_of(word) for start in starts)

    text = hit.text.replace("#", " ").replace("*", "")
    return hit.url, marked(hit.title, is_meant), hit.detail, marked(excerpt(" ".join(text.split()), is_meant), is_meant)


def choose_language(post: Posting) -> Response:
    """Remember the language that was chosen, in a cookie and with the account."""
    visit = post.visit
    language = post.text("language")
    if language not in languages():
        raise BadInput(
            "The interface does not speak '{language}'.",
            language=language,
            languages=", ".join(languages()),
            remedy="It speaks {languages}.",
        )
    if visit.signed_in:
        accounts.update_profile(visit.db, visit.actor, language=language)
    visit.remember(LANGUAGE_COOKIE, language)
    return visit.redirect(local_path(post.text("next", "/")))


def _home(
    visit: Visit,
    typed: Mapping[str, Any] | None = None,
    shown: ShownTry | None = None,
    trouble: Trouble | None = None,
) -> Response:
    known = front(visit.db, visit.blobs, visit.actor)
    titles = _titles(visit, known)
    box: FoolBox | None = find_box(visit.db, visit.actor, known.standings)
    return visit.render(
        "house/home.html",
        status=trouble.status if trouble else 200,
        cards=[(card, _moved(visit, card.moved)) for card in known.cards],
        waiting=shown_waiting(visit, titles) if visit.signed_in else [],
        box=box,
        language_note=language_note(visit, box.language_model) if box and box.language_model else "",
        typed=typed or {},
        tried=shown,
        trouble=trouble,
        build_in=_build_in(visit, known, box),
        may_create=visit.actor.has(RoleName.OWNER),
        tour_role=role_of(visit.actor),
    )


def _build_in(visit: Visit, known: Front, box: FoolBox | None) -> str:
    """Name the task that a builder may begin with: the one whose model is to be fooled, or the first."""
    names = [*([box.task.name] if box else []), *(card.card.task.name for card in known.cards)]
    return next((name for name in names if visit.actor.has(RoleName.BUILDER, name)), "")


def _titles(visit: Visit, known: Front) -> dict[str, str]:
    def title(task: Task) -> str:
        return in_language(task.title, visit.language, task.languages) or task.name

    return {card.card.task.name: title(card.card.task) for card in known.cards}


def _moved(visit: Visit, moved: Movement | None) -> str:
    """Return in words what moved a task last."""
    if moved is None:
        return ""
    _ = visit.tongue.gettext
    texts = {
        MovementKind.MODEL: _("%(name)s came", name=moved.name),
        MovementKind.ROUND: _("Round %(name)s closed", name=moved.name),
        MovementKind.RELEASE: (
            _("Round %(name)s released", name=moved.name)
            if moved.name.isdecimal()
            else _("%(name)s released", name=moved.name)
        ),
    }
    return texts[moved.kind]


def _shown(visit: Visit, attempt: FoolTry, label: str) -> ShownTry:
    task = tasks.get_task(visit.db, attempt.version.task)
    answer = spoken(task, attempt.version.model, attempt.version.number, attempt.inputs, attempt.prediction)
    if attempt.moved is not None:
        answer = replace(answer, moved=tuple(moved_pieces(visit, task, attempt.inputs, attempt.moved)))
    return ShownTry(attempt.fooled, answer, label)
