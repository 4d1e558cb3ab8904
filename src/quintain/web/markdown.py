"""Markdown that people wrote, as HTML that can do no harm."""

from __future__ import annotations

from functools import cache, lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

HEADING_SHIFT = 1


@cache
def _parser() -> MarkdownIt:
    # Raw HTML is shown as text, pictures from elsewhere would be requests off site: neither is let through.
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")


@lru_cache(maxsize=128)  # instructions stand on many pages, and seldom change
def render_markdown(text: str) -> Markup:
    r"""Turn *text* into safe HTML: no raw HTML, no pictures, headings below the page's own.

    >>> render_markdown("**hi** <b>x</b>")
    Markup('<p><strong>hi</strong> &lt;b&gt;x&lt;/b&gt;</p>\n')
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        _tame(token)
        for child in token.children or []:
            _tame(child)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - the renderer escapes all text


def _tame(token: Token) -> None:
    """Push headings below the page's own, leave out styles, and keep links from passing anything on."""
    if token.type in {"heading_open", "heading_close"}:
        token.tag = f"h{min(6, int(token.tag[1]) + HEADING_SHIFT)}"
    if token.type in {"th_open", "td_open"}:
        token.attrs.pop("style", None)
    if token.type == "link_open":
        token.attrSet("rel", "noopener noreferrer nofollow")
