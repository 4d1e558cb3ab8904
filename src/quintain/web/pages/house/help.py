"""The help: the product's documents, as pages."""

from __future__ import annotations

from starlette.responses import FileResponse, Response

from quintain.web.help_pages import help_page, picture
from quintain.web.help_tree import help_tree, neighbours
from quintain.web.i18n import languages
from quintain.web.visit import Visit, Visiting


def index(visit: Visiting) -> Response:
    """List the documents, and for whom each is."""
    return _show(visit, "")


def show(visit: Visiting, page: str) -> Response:
    """Show one document."""
    return _show(visit, page)


def show_in_folder(visit: Visiting, folder: str, page: str) -> Response:
    """Show a document of a folder of them."""
    return _show(visit, f"{folder}/{page}")


def show_picture(name: str) -> Response:
    """Send a picture of the documents."""
    return FileResponse(picture(name), headers={"cache-control": "public, max-age=3600"})


def _show(visit: Visit, name: str) -> Response:
    """Show a document in the reader's language or the one that the address names, else in English."""
    asked = visit.request.query_params.get("language", "")
    language = asked if asked in languages() else visit.language
    page = help_page(name, language)
    title = visit.tongue.gettext("Help")
    crumbs: list[tuple[str, str | None]] = [(title, "/help"), (page.title, None)] if name else [(title, None)]
    above = name.rpartition("/")[0]
    if above:
        crumbs.insert(1, (help_page(above, language).title, f"/help/{above}"))
    before, after = neighbours(page.url, language)
    return visit.render(
        "house/help.html",
        page=page,
        language=language,
        crumbs=crumbs,
        help_tree=help_tree(language),
        before=before,
        after=after,
    )
