"""A verdict as its writer sees it: what each model said, with bars, and what to say aloud."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from quintain.core.errors import Fault
from quintain.core.example import Prediction
from quintain.core.records.collect import ModelAnswer, Verdict
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.tasks.contract import kind_of
from quintain.web.errors import Trouble
from quintain.web.forms import PREFIX, Spoken, answer_text, spoken
from quintain.web.pages.collect.write_form import boxes_of, target_of
from quintain.web.pages.written import own_text
from quintain.web.visit import Visit


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """One attempt, ready to be shown. *reuse* is what the form's controls hold to try it again, as JSON."""

    attempt_id: int
    number: int
    allowed: int
    left: int
    fooled: bool | None
    ask: str
    outcome: str
    models: tuple[tuple[Spoken, bool | None], ...]
    aim: str
    text: str
    distance: int | None
    share: float | None
    flags: tuple[str, ...]
    title: str
    say: str
    reuse: str


def shown_verdict(visit: Visit, task: Task, allowed: int, verdict: Verdict) -> ShownVerdict:
    """Make a verdict readable."""
    models = tuple((_spoken(visit, task, verdict.inputs, answer), answer.fooled) for answer in verdict.answers)
    aim = "" if verdict.target is None else answer_text(task, verdict.inputs, verdict.target)
    title = _title(visit, verdict)
    return ShownVerdict(
        attempt_id=verdict.attempt_id,
        number=verdict.number,
        allowed=allowed,
        left=verdict.attempts_left,
        fooled=verdict.fooled,
        ask=verdict.ask,
        outcome=verdict.outcome,
        models=models,
        aim=aim,
        text=own_text(task, verdict.inputs),
        distance=verdict.edit_distance
        or None,  # an unchanged prompt is refused: 0 means that nothing was there to edit
        share=verdict.edit_share,
        flags=verdict.flags,
        title=title,
        say=_say(visit, title, models, allowed, verdict),
        reuse=_reuse(task, verdict),
    )


def about_fields(visit: Visit, task: Task, trouble: Trouble) -> Trouble:
    """Name fields in faults as the page names them."""
    form = kind_of(task).form(task)
    titles = {field.name: visit.tongue.gettext(field.title) for field in (*form.inputs, form.answer)}
    titles |= {"justification": visit.tongue.gettext("Justification"), "type": visit.tongue.gettext("Type")}
    faults = tuple(
        Fault("{title}: {reason}", title=titles[fault.field], reason=fault.reason) if fault.field in titles else fault
        for fault in trouble.faults
    )
    message = Text("This cannot be sent yet. It cost you no attempt.") if faults else trouble.message
    return replace(trouble, faults=faults, message=message)


def _spoken(visit: Visit, task: Task, inputs: Mapping[str, Any], answer: ModelAnswer) -> Spoken:
    name, _, version = answer.model.partition("/")[2].partition("@")
    number = int(version) if version.isdecimal() else 1
    if not name:  # the reader may not know which model it is
        name = visit.tongue.gettext("private model %(n)s", n=answer.model.rpartition(" ")[2])
    return spoken(task, name, number, inputs, Prediction(answer.answer, answer.probabilities))


def _title(visit: Visit, verdict: Verdict) -> str:
    _ = visit.tongue.gettext
    if not verdict.answers:
        return _("Handed in")
    if verdict.fooled is None:
        return _("The model has answered")
    return _("You fooled it") if verdict.fooled else _("Not this time")


def _say(
    visit: Visit, title: str, models: tuple[tuple[Spoken, bool | None], ...], allowed: int, verdict: Verdict
) -> str:
    """Return the verdict in one breath, for those who listen."""
    _ = visit.tongue.gettext
    sentences = [_("%(model)s says: %(answer)s.", model=model.name, answer=model.text) for model, _fooled in models]
    tries = _("%(used)s of %(all)s tries used.", used=verdict.number, all=allowed)
    if not verdict.answers:
        tries = _("%(used)s of %(all)s written.", used=verdict.number, all=allowed)
    question = {
        "confirm": _("Would other people agree with you?"),
        "decide": _("Was it wrong? You decide."),
        "": "",
    }[verdict.ask]
    return " ".join(text for text in (f"{title}.", *sentences, question or tries) if text)


def _reuse(task: Task, verdict: Verdict) -> str:
    boxes = boxes_of(task, None, verdict.inputs, started=True)
    values: dict[str, list[str]] = {
        PREFIX + box.field.name: list(box.rows) or [box.value] for box in boxes if box.field.editable
    }
    target = target_of(task, boxes, verdict.target, None)
    values["answer"] = list(target.chosen) or [target.text]
    if target.start:
        values["answer-start"] = [target.start]
    return json.dumps(values, ensure_ascii=False)
