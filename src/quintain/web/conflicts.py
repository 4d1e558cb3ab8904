"""Two people changed the same thing: the page that shows both, field by field, and lets one choose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData
from starlette.responses import Response

from quintain.core.errors import Difference, Stale
from quintain.core.rounds import Money
from quintain.core.spec import Option
from quintain.web.form_reading import amount_text, number_text
from quintain.web.i18n import Tongue
from quintain.web.visit import CHOICE, Visit, make_visit, workspace_of

BROUGHT_ANEW = ("csrf", "revision", "parts", "edits")


@dataclass(frozen=True, slots=True)
class ShownDifference:
    """A field as the page shows it: both values, and which of them is chosen until somebody chooses otherwise."""

    name: str
    title: str
    theirs: str
    yours: str
    chosen: str
    note: str


def conflict_page(request: Request, error: Stale) -> Response | None:
    """Answer a form whose edit was made from what is no longer there; None where no form was sent."""
    form: FormData | None = getattr(request.state, "form", None)
    if form is None:
        return None
    with workspace_of(request).session() as db:
        visit = make_visit(request, db)
        return visit.render(
            "conflict.html",
            status=HTTPStatus.CONFLICT,
            action=request.url.path,
            back=_back(request),
            fields=list(_again(form)),
            revision=error.revision,
            edits=form.get("edits", ""),
            parts=json.dumps(error.parts, separators=(",", ":")),
            differences=[_shown(visit, form, difference) for difference in error.differences],
        )


def _back(request: Request) -> str:
    """Return the page on which the form was: read again, it has what is stored now."""
    came = request.headers.get("referer", "")
    same = came.startswith(str(request.base_url)) and came
    return same.removeprefix(str(request.base_url).rstrip("/")) if same else request.url.path


def _again(form: FormData) -> Iterator[tuple[str, str]]:
    """Yield what was sent, to be sent again; files are chosen again where they are needed."""
    for name, value in form.multi_items():
        if isinstance(value, str) and name not in BROUGHT_ANEW and not name.startswith(CHOICE):
            yield name, value


def _shown(visit: Visit, form: FormData, difference: Difference) -> ShownDifference:
    _ = visit.tongue.gettext
    note, chosen = "", ""
    if difference.mine and not difference.others:
        note, chosen = _("only you changed it"), "yours"
    elif difference.others and not difference.mine:
        note, chosen = _("only they changed it"), "theirs"
    title = _(difference.option.title) if difference.option and difference.option.title else difference.field
    currency = str(form.get("currency") or "").upper()
    theirs, yours = (
        shown_value(visit.tongue, difference.option, value, currency) for value in (difference.theirs, difference.yours)
    )
    return ShownDifference(difference.field, title, theirs, yours, chosen, note)


def shown_value(tongue: Tongue, option: Option | None, value: Any, currency: str) -> str:
    """Write a value as the form has it; nothing is the default of its option."""
    _ = tongue.gettext
    if value is None and option is not None and not option.required:
        value = option.default
    if value is None:
        return _("nothing")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if option is not None and option.kind.widget == "money":
        return amount_text(Money(value, currency or "USD"))
    if option is not None and option.kind.widget == "percent":
        return f"{number_text(round(value * 100, 10))} %"
    return _text(tongue, value)


def _text(tongue: Tongue, value: Any) -> str:
    _ = tongue.gettext
    if isinstance(value, str):
        return value or _("empty")
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, list | tuple) and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(map(str, value)) or _("nothing")
    structured = isinstance(value, list | tuple | dict)
    return json.dumps(value, ensure_ascii=False, indent=1, default=str) if structured else str(value)
