"""Model cards: Markdown with headings that every card must have, after the idea of Mitchell et al. (2019)."""

from __future__ import annotations

import re

from quintain.core.errors import Fault
from quintain.core.escaping import markdown_block

HEADINGS = (
    "Intended use",
    "Training data",
    "Evaluation",
    "Limitations",
    "Ethical considerations",
    "Licence",
)
MAX_CARD = 100_000
_SPELLINGS = {"license": "licence", "evaluation results": "evaluation", "intended uses": "intended use"}
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*)$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


def check_card(text: str) -> list[Fault]:
    """Find what a card lacks: required headings, and something written under each.

    >>> [fault.reason for fault in check_card("# Intended use")][:1]
    ["nothing is written under the heading 'Intended use'"]
    """
    if len(text) > MAX_CARD:
        return [
            Fault("the card has {n:,} characters; at most {most:,} are kept", n=len(text), most=MAX_CARD, field="card")
        ]
    sections = sections_of(text)
    faults = []
    for heading in HEADINGS:
        body = sections.get(heading.lower())
        if body is None:
            faults.append(Fault("the heading '{heading}' is missing", heading=heading, field="card"))
        elif not body.strip():
            faults.append(Fault("nothing is written under the heading '{heading}'", heading=heading, field="card"))
    return faults


def write_card(title: str, sections: dict[str, str]) -> str:
    """Write a card called *title* from the text under each required heading."""
    return (
        f"# {markdown_block(title)}\n\n"
        + "\n\n".join(f"## {heading}\n\n{sections[heading]}" for heading in HEADINGS)
        + "\n"
    )


def sections_of(text: str) -> dict[str, str]:
    """Return what stands under each heading, by its name in lower case; a deeper heading counts as content too."""
    lines_by_heading: dict[str, list[str]] = {}
    open_headings: list[tuple[int, str]] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= bool(_FENCE.match(line))
        heading = None if fenced else _HEADING.match(line)
        if heading:
            level = len(line.lstrip()) - len(line.lstrip().lstrip("#"))
            open_headings = [item for item in open_headings if item[0] < level]
            title = heading.group(1).rstrip(" \t").rstrip("#")
            name = re.sub(r"[*_:`]", "", title).strip().lower()
            name = _SPELLINGS.get(name, name)
            open_headings.append((level, name))
            lines_by_heading.setdefault(name, [])
        else:
            for _, name in open_headings:
                lines_by_heading[name].append(line)
    return {name: "\n".join(lines) for name, lines in lines_by_heading.items()}
