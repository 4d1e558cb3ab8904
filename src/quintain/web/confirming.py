"""Showing what a form or a file changes, from old to new, before it is changed."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.records.changes import SpecChanges
from quintain.core.spec_changes import Edit
from quintain.web.visit import Post

NOT_AGAIN = ("csrf", "confirmed")


def page_edit(post: Post, *, always: bool = False) -> Edit:
    """Say how a page changes things: what is reset is shown first, or *always* whatever changes."""
    ask = "always" if always else "removals"
    return Edit(ask=ask, confirmed=post.text("confirmed"), by_name=False)


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
