"""How what was found is shown: a piece of the text around the words that were looked for, and those words marked."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup, escape

from quintain.core.words import SEARCHED, compiled

EXCERPT = 200  # characters
Meant = Callable[[str], bool]


def excerpt(text: str, is_meant: Meant) -> str:
    """Cut a piece around the first word that is meant, at borders of words; from the beginning where there is none."""
    first = next((match.start() for match in compiled(SEARCHED).finditer(text) if is_meant(match.group())), 0)
    begin = max(0, first - EXCERPT // 3)
    begin = text.find(" ", begin) + 1 if begin else 0
    piece = text[begin : begin + EXCERPT]
    if begin + EXCERPT < len(text):
        piece = piece.rpartition(" ")[0] + " …"
    return f"… {piece}" if begin else piece


def marked(text: str, is_meant: Meant) -> Markup:
    """Mark every word of *text* that is meant.

    >>> marked("Two <boards>", lambda word: word == "boards")
    Markup('Two &lt;<mark>boards</mark>&gt;')
    """
    pieces: list[Markup] = []
    end = 0
    for match in compiled(SEARCHED).finditer(text):
        if is_meant(match.group()):
            pieces += [escape(text[end : match.start()]), Markup("<mark>{}</mark>").format(match.group())]
            end = match.end()
    return Markup("").join([*pieces, escape(text[end:])])
