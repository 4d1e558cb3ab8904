"""For admins: how far the interface's translations have been read by people, and which have not."""

from __future__ import annotations

from starlette.responses import Response

from quintain.services.access.permissions import require_admin
from quintain.web.catalogues import SOURCE_LANGUAGE, languages, reading
from quintain.web.i18n import Tongue
from quintain.web.listing import Asking, make_listing
from quintain.web.visit import Visiting


def show(visit: Visiting, asked: Asking) -> Response:
    """Count the translations of each language that nobody has read, and list those of the one that *show* names."""
    require_admin(visit.actor)
    _ = visit.tongue.gettext
    translated = [reading(code) for code in languages() if code != SOURCE_LANGUAGE]
    chosen = next((one for one in translated if one.language == asked.show), translated[0])
    rows = [one for one in chosen.unread if any(asked.has(text) for text in (one.source, *one.texts))]
    return visit.render(
        "access/translations.html",
        readings=translated,
        chosen=chosen,
        search=asked.q.strip()[:200],
        listing=make_listing(
            rows, {"text": lambda entry: entry.source}, asked, path="/admin/translations", default="text"
        ),
        choices=[(one.language, Tongue.name_of(one.language)) for one in translated],
        text_direction=Tongue(chosen.language).direction,
        tab="translations",
        crumbs=[(_("Administration"), "/admin"), (_("Translations"), None)],
    )
