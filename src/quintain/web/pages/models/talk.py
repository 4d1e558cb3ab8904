"""Talking to a model: type, pause, and see what it says; two models side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Fault, QuintainError, TooMany
from quintain.core.task import Task
from quintain.services.models import registry as models
from quintain.services.models.ask import limit_calls, predict
from quintain.services.models.occlusion import word_effects
from quintain.services.tasks import definitions as tasks
from quintain.tasks.contract import kind_of
from quintain.web.error_text import fault_text, translated
from quintain.web.errors import status_of
from quintain.web.forms import Spoken, inputs_of, spoken, typed
from quintain.web.pages.models.language_note import language_note
from quintain.web.pages.models.moved import moved_pieces
from quintain.web.pages.models.styles import model_styles
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Posting, Visit, Visiting


def talk_page(visit: Visiting, task: str, model: str = "", other: str = "") -> Response:
    """Show the form."""
    definition = tasks.get_task(visit.db, task)
    return _page(visit, definition, models.models_to_choose(visit.db, visit.actor, task), chosen=model, other=other)


def ask(post: Posting, task: str) -> Response:
    """Ask one model, or two, and show what they say."""
    visit = post.visit
    definition = tasks.get_task(visit.db, task)
    offered = models.models_to_choose(visit.db, visit.actor, task)
    chosen, other = post.text("model"), post.text("other")
    values = typed(kind_of(definition).form(definition), post.text)
    inputs = inputs_of(definition, values)
    answers: list[Spoken] = []
    faults: Sequence[Fault] = ()
    status = 200
    for ref in dict.fromkeys(ref for ref in (chosen, other) if ref):
        try:
            answers.append(_ask(visit, definition, ref, inputs, moved=post.flag("moved")))
        except BadInput as error:
            faults = error.faults or (Fault(error.message),)
            break
        except QuintainError as error:
            name, _, number = ref.partition("@")
            answers.append(Spoken(name, _number(number), error=error, busy=isinstance(error, TooMany)))
            status = status_of(error)
    if faults and not inputs:
        faults = ()  # nothing has been typed yet: an invitation, not a reproach
    return _page(
        visit, definition, offered, chosen, other, values=values, answers=answers, faults=faults, status=status
    )


def _ask(visit: Visit, task: Task, ref: str, inputs: Mapping[str, Any], *, moved: bool) -> Spoken:
    info = models.get_model(visit.db, visit.actor, f"{task.name}/{ref}")
    limit_calls(visit.db, visit.actor, visit.address, visit.workspace.settings.model_calls)
    runners = visit.workspace.runners
    prediction = predict(visit.db, visit.blobs, visit.actor, info.version.ref, [inputs], runners=runners)[0]
    answer = replace(
        spoken(task, info.name, info.version.number, inputs, prediction), note=language_note(visit, info.version)
    )
    if not moved:
        return answer
    who = f"address:{visit.address}" if visit.actor.user_id is None else f"user:{visit.actor.user_id}"
    effects = word_effects(visit.db, visit.blobs, visit.actor, info.version.ref, inputs, who=who, runners=runners)
    return replace(answer, moved=tuple(moved_pieces(visit, task, inputs, effects)))


def _choices(visit: Visit, offered: models.ModelChoices) -> list[tuple[str, str]]:
    def describe(model: models.ModelChoice) -> tuple[str, str]:
        number = model.number
        return f"{model.name}@{number}", f"{model.name} · {visit.tongue.gettext('Version %(n)s', n=number)}"

    return [describe(model) for model in offered.models]


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else 1


def _fault_sentence(visit: Visit, titles: Mapping[str, str], fault: Fault) -> str:
    """Return what is wrong with an input, by the name that the page gives to it."""
    title = titles.get(fault.field or "")
    return f"{title}: {translated(visit.language, fault.reason)}" if title else fault_text(visit.language, fault)


def _page(
    visit: Visit,
    task: Task,
    offered: models.ModelChoices,
    chosen: str = "",
    other: str = "",
    *,
    values: Mapping[str, str] | None = None,
    answers: Sequence[Spoken] = (),
    faults: Sequence[Fault] = (),
    status: int = 200,
) -> Response:
    _ = visit.tongue.gettext
    available = _choices(visit, offered)
    listed = [ref for ref, _title in available]
    if chosen and chosen not in listed:  # an older version that was asked for by its address
        available = [(chosen, chosen), *available]
    titles = {field.name: _(field.title) for field in kind_of(task).form(task).inputs}
    return visit.render(
        "models/talk.html",
        status=status,
        task=task,
        section="talk",
        form=kind_of(task).form(task),
        models=available,
        more=offered.more,
        chosen=chosen or (listed[0] if listed else ""),
        other=other,
        values=values or {},
        answers=answers,
        styles=model_styles(visit, task.name),
        faults=[_fault_sentence(visit, titles, fault) for fault in faults],
        crumbs=[(title_of(visit, task), f"/tasks/{task.name}"), (_("Talk"), None)],
    )
