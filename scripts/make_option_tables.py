"""Write the tables of options in docs/ from the specifications themselves.

A table stands between `<!-- options: quintain.core.rounds:RoundSpec -->` and `<!-- end of options -->`.

python scripts/make_option_tables.py          writes them
python scripts/make_option_tables.py --check  exits with 1 when one is stale
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quintain.core.spec import Option, options_of
from quintain.tasks.writing import toml

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"(<!-- options: ([\w.]+):(\w+) -->\n).*?(<!-- end of options -->)", re.DOTALL)
WIDEST = 200
HEAD = "| key | default | what it takes | meaning |\n| --- | --- | --- | --- |\n"


def table(make: type[Any]) -> str:
    """Write the options of a specification as a table in Markdown."""
    return HEAD + "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |\n" for row in _rows(make))


def render(text: str) -> str:
    """Write every table of a page anew."""
    return BLOCK.sub(lambda found: f"{found[1]}\n{table(_class(found[2], found[3]))}\n{found[4]}", text)


def _class(module: str, name: str) -> type[Any]:
    made: type[Any] = getattr(importlib.import_module(module), name)
    return made


def _rows(make: type[Any], place: str = "") -> Iterator[tuple[str, str, str, str]]:
    told: dict[type[Any], str] = {}
    for name, one in options_of(make).items():
        if one.kind.make is None:
            yield f"{place}`{f'[[{name}]]' if one.kind.many else name}`", _default(one), _takes(one), _meaning(one)
            continue
        inner = f"`[[{name}]]`" if one.kind.many else f"`[{name}]`"
        same = f"the same as {told[one.kind.make]}" if one.kind.make in told else ""
        if one.kind.many or one.default is None or _meaning(one) or same:
            default = "" if one.kind.is_table and one.default is not None else _default(one)
            yield inner, default, same, _meaning(one)
        if not same:
            told[one.kind.make] = inner
            yield from _rows(one.kind.make, f"{inner} ")


def _default(one: Option) -> str:
    if one.required:
        return "required"
    if one.default is None:
        return "none"
    plain = one.kind.plain(one.default)
    written = toml(plain)
    if isinstance(plain, list) and len(written) > WIDEST:  # a table in a cell of a table: nobody reads that
        return ", ".join(f"`{each['name']}`" for each in plain)
    return f"`{written}`"


def _takes(one: Option) -> str:
    if one.kind.widget == "money":
        return "an amount in minor units: 30 is 0.30"
    choices = [f"`{name}` ({words})" if words != name else f"`{name}`" for name, (words, _) in one.kind.choices.items()]
    if not choices:
        return one.kind.wanted
    before = f"{one.kind.each.wanted} for each of " if one.kind.each else "any of " if one.kind.kept is tuple else ""
    return f"{before}{', '.join(choices)}"


def _meaning(one: Option) -> str:
    return ". ".join(part for part in (one.title, one.help) if part)


def main() -> None:
    """Write the tables, or check them."""
    stale = []
    for page in sorted(DOCS.glob("**/*.md")):
        text = page.read_text(encoding="utf-8")
        if render(text) != text:
            stale.append(page.name)
            if "--check" not in sys.argv:
                page.write_text(render(text), encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"{', '.join(stale)}: stale; run `python scripts/make_option_tables.py`.")


if __name__ == "__main__":
    main()
