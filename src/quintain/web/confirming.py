"""Showing what a form or a file changes, from old to new, before it is changed."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from quintain.core.editing import EditOrigin
from quintain.core.records.changes import SpecChanges
from quintain.web.visit import Post

NOT_AGAIN = ("csrf", "confirmed")


def page_edit(post: Post, *, always: bool = False) -> EditOrigin:
    """Say how a page changes things: what is reset is shown first, or *always* whatever changes."""
    asked = replace(post.edit, confirmed=post.text("confirmed"), by_name=False)
    return replace(asked, ask="always") if always else replace(asked, ask="removals")


def form_edit(post: Post) -> EditOrigin:
    """Say how a form changes things that shows all there is: what it does not say is meant to be reset."""
    return replace(post.edit, whole=True)


def show_changes(post: Post, changes: SpecChanges, back: str) -> Response:
    """Show what changes, with everything that was sent, so that pressing a button sends it again; or go *back*."""
    fields = [(name, value) for name, value in post.form.multi_items() if isinstance(value, str)]
    _ = post.visit.tongue.gettext
    return post.visit.render(
        "confirm_changes.html",
        changes=changes,
        fields=[(name, value) for name, value in fields if name not in NOT_AGAIN],
        action=post.visit.request.url.path,
        back=back,
        crumbs=[(_("Look at what changes"), None)],
    )
