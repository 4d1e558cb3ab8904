"""Showing what a form or a file changes, from old to new, before it is changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import Response

from quintain.core.editing import EditOrigin
from quintain.core.jsontext import parse_json
from quintain.core.records.changes import SpecChange, SpecChanges
from quintain.core.spec import Option, option_at
from quintain.web.conflicts import shown_value
from quintain.web.visit import Post

NOT_AGAIN = ("csrf", "confirmed")
NUMBERS = ("money", "percent", "check")  # controls whose values a form writes otherwise than a file


def page_edit(post: Post, *, always: bool = False) -> EditOrigin:
    """Return how a page changes things: what is reset is shown first, or *always* whatever changes."""
    asked = replace(post.edit, confirmed=post.text("confirmed"), by_name=False)
    return replace(asked, ask="always") if always else replace(asked, ask="removals")


def form_edit(post: Post) -> EditOrigin:
    """Return how a form changes things that shows all there is: what it leaves out is meant to be reset."""
    return replace(post.edit, whole=True)


@dataclass(frozen=True, slots=True)
class ShownChange:
    """An option that changes, as the page shows it."""

    name: str
    title: str
    before: str
    after: str
    removed: bool


def show_changes(post: Post, changes: SpecChanges, back: str, make: type[Any] | None = None) -> Response:
    """Show what changes, with everything that was sent, so that pressing a button sends it again; or go *back*.

    Options of *make* are called as its form calls them.
    """
    fields = [(name, value) for name, value in post.form.multi_items() if isinstance(value, str)]
    _ = post.visit.tongue.gettext
    return post.visit.render(
        "confirm_changes.html",
        shown=[_shown(post, changes, change, make) for change in changes.changes],
        digest=changes.digest,
        fields=[(name, value) for name, value in fields if name not in NOT_AGAIN],
        action=post.visit.request.url.path,
        back=back,
        crumbs=[(_("Look at what changes"), None)],
    )


def _shown(post: Post, changes: SpecChanges, change: SpecChange, make: type[Any] | None) -> ShownChange:
    tongue = post.visit.tongue
    option = option_at(make, change.option) if make is not None else None
    title = tongue.gettext(option.title) if option is not None and option.title else change.option
    money = next((change for change in changes.changes if change.option == "currency"), None)
    typed = post.text("currency").upper()
    currencies = (money.before, money.after) if money is not None else (typed, typed)
    before, after = (
        _words(post, option, text, currency)
        for text, currency in zip((change.before, change.after), currencies, strict=True)
    )
    return ShownChange(change.option, title, before, after, change.removed)


def _words(post: Post, option: Option | None, text: str, currency: str) -> str:
    if option is None or option.kind.widget not in NUMBERS or not text:
        return text or post.visit.tongue.gettext("nothing")
    return shown_value(post.visit.tongue, option, parse_json(text), currency)
