"""The help: the product's documents, as pages."""

from __future__ import annotations

from starlette.responses import FileResponse, Response

from quintain.web.help_pages import help_page, picture
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
    """Give a picture of the documents."""
    return FileResponse(picture(name), headers={"cache-control": "public, max-age=3600"})


def _show(visit: Visit, name: str) -> Response:
    found = help_page(name)
    title = visit.tongue.gettext("Help")
    crumbs: list[tuple[str, str | None]] = [(title, "/help"), (found.title, None)] if name else [(title, None)]
    above = name.rpartition("/")[0]
    if above:
        crumbs.insert(1, (help_page(above).title, f"/help/{above}"))
    return visit.render("house/help.html", found=found, crumbs=crumbs)
