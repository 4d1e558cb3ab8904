"""Write docs/library.md from the signatures and docstrings of the library itself.

python scripts/make_library_reference.py          writes the file
python scripts/make_library_reference.py --check  exits with 1 when the file is stale
"""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import quintain as qt

TARGET = Path(__file__).parent.parent / "docs" / "library.md"
HEAD = """# The library

<!-- Written by scripts/make_library_reference.py from the library itself; change it, not this file. -->

What the commands on plain files do, in Python: no server, no account, no workspace.

```python
import quintain as qt

labels = qt.aggregate("judgements.csv", method="dawid-skene")
labels  # shows itself in a terminal and in a notebook
labels.table  # a polars frame
labels.plot()  # the chart that our pages show; .save("labels.svg"), .png, .pdf or .html makes a file of it
```

A table is a path (CSV, TSV, JSONL or Parquet), a frame of polars, pandas or Arrow (anything that hands over Arrow), a
mapping from columns to values, a list of objects, or a list of rows. Bad input raises `qt.BadInput`, whose `faults`
name table, row and column; rows of a frame are counted from 0.

Every result has `.table`, `.to_dict()` (what the command prints with `--json`), `.to_pandas()`, `.plot()` and `.notes`.

Short notebooks show it at work:

{notebooks}
"""


def analyses() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Go through the functions of the library, by name."""
    for name in sorted(qt.__all__):
        one = getattr(qt, name)
        if inspect.isfunction(one) and one.__module__.startswith("quintain.library."):
            yield name, one


def notebooks() -> Iterator[str]:
    """List the notebooks with their titles."""
    for page in sorted((TARGET.parent / "notebooks").glob("*.md")):
        title = page.read_text("utf-8").splitlines()[0].removeprefix("# ")
        yield f"- [{title}](notebooks/{page.name})"


def section(name: str, function: Callable[..., Any]) -> str:
    """Write what one function takes, does and gives."""
    text = inspect.getdoc(function) or ""
    examples = doctest.DocTestParser().get_examples(text)
    prose = text.split(">>>")[0].rstrip()
    result = get_type_hints(function)["return"]
    lines = [f"## qt.{name}", "", "```python", _signature(name, function), "```", "", prose, ""]
    if examples:
        body = "".join(f"{_prompted(one.source)}{one.want}" for one in examples)
        lines += ["```pycon", re.sub(rf"(?<![\w.]){name}\(", f"qt.{name}(", body).rstrip(), "```", ""]
    lines += [f"Gives `{result.__name__}`: {_first(result)} `.table` has: {_first(result.table.fget, lower=True)}", ""]
    return "\n".join(lines)


def _prompted(source: str) -> str:
    return "".join(f"{'...' if at else '>>>'} {line}\n" for at, line in enumerate(source.splitlines()))


def _signature(name: str, function: Callable[..., Any]) -> str:
    parts = [str(one) for one in _arguments(function)]
    return f"qt.{name}(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def _arguments(function: Callable[..., Any]) -> Iterator[str]:
    starred = False
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        shown = f'"{one.default}"' if isinstance(one.default, str) else one.default
        default = "" if one.default is one.empty else f" = {shown}"
        yield f"{'**' if one.kind is one.VAR_KEYWORD else ''}{one.name}: {one.annotation}{default}"


def _first(thing: Any, *, lower: bool = False) -> str:
    text = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return text[0].lower() + text[1:] if lower else text


def page() -> str:
    """Write the whole page."""
    return HEAD.format(notebooks="\n".join(notebooks())) + "\n" + "\n".join(section(*one) for one in analyses())


def main() -> None:
    """Write the page, or say that it is stale."""
    text = page().rstrip() + "\n"
    if "--check" not in sys.argv:
        TARGET.write_text(text, "utf-8")
    elif not TARGET.exists() or TARGET.read_text("utf-8") != text:
        sys.exit(f"{TARGET.name} is stale: run `python scripts/make_library_reference.py`.")


if __name__ == "__main__":
    main()
