"""Links in templates lead to pages that there are."""

from __future__ import annotations

import re
from pathlib import Path

import quintain.web
from quintain.web.routes import PAGES

TEMPLATES = Path(quintain.web.__file__).parent / "templates"
FILLED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
LINK = re.compile(r'\b(?:href|action|hx-get|hx-post)="(/(?!static/|api/)[^"?#]*)')
PLACE = re.compile(r"\{\w+\}")
MARK = "\N{NULL}"


def leads_somewhere(address: str) -> bool:
    """Say whether some page has an address like this one, in which a mark stands for one part or several."""
    like = re.compile(".*".join(re.escape(part) for part in address.split(MARK)))
    filled = address.replace(MARK, "x")
    return any(
        like.fullmatch(PLACE.sub("x", page.path)) or re.fullmatch(PLACE.sub("[^/]+", page.path), filled)
        for page in PAGES
    )


def test_links_lead_somewhere() -> None:
    """An address that is written out in a template is that of a page."""
    links = [
        (path.name, address)
        for path in sorted(TEMPLATES.rglob("*.html"))
        for address in LINK.findall(FILLED.sub(MARK, path.read_text(encoding="utf-8")))
    ]
    assert len(links) > 150
    assert [link for link in links if not leads_somewhere(link[1])] == []
    assert not leads_somewhere("/sign-in")
