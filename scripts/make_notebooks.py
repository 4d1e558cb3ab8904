"""Run the notebooks of the documentation and write what they show.

python scripts/make_notebooks.py          writes docs/notebooks/*.ipynb and *.md, and their pictures
python scripts/make_notebooks.py --check  exits with 1 where a notebook says something else than its page

A notebook is docs/notebooks/NAME.py: cells between lines `# %%` (code) and `# %% [markdown]`. Pictures are drawn by
Chromium, as the tests have it; `--check` runs the code and leaves the pictures alone.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import quintain as qt

DOCS = Path(__file__).parent.parent / "docs"
FOLDER, IMAGES = DOCS / "notebooks", DOCS / "images" / "notebooks"
CELL = re.compile(r"^# %%(?P<kind> \[markdown\])?\n", re.MULTILINE)


@dataclass
class Cell:
    """A cell and what came of it: what was printed, and the value of its last line."""

    source: str
    prose: bool
    printed: str = ""
    value: Any = field(default=None, repr=False)


def read(path: Path) -> list[Cell]:
    """Read the cells of a notebook's source."""
    parts = CELL.split(path.read_text("utf-8"))[1:]
    cells = []
    for kind, body in zip(parts[::2], parts[1::2], strict=True):
        text = body.strip("\n")
        prose = kind is not None
        cells.append(Cell(re.sub(r"^# ?", "", text, flags=re.MULTILINE) if prose else text, prose))
    return cells


def run(cells: Sequence[Cell]) -> None:
    """Run the code of a notebook in a folder of its own, cell by cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    here, path = Path.cwd(), os.environ.get("PATH", "")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{path}"  # the command beside this Python
        try:
            for cell in cells:
                if not cell.prose:
                    _run_cell(cell, names)
        finally:
            os.chdir(here)
            os.environ["PATH"] = path


def _run_cell(cell: Cell, names: dict[str, Any]) -> None:
    tree = ast.parse(cell.source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "notebook", "exec"), names)  # noqa: S102 - our own notebooks
        if isinstance(last, ast.Expr):
            cell.value = eval(compile(ast.Expression(last.value), "notebook", "eval"), names)  # noqa: S307
    cell.printed = out.getvalue()


def markdown(name: str, cells: Sequence[Cell]) -> str:
    """Write a notebook as a page: prose, code, what it prints, pictures of its charts."""
    return "\n\n".join(part for at, cell in enumerate(cells) for part in _shown(name, at, cell)) + "\n"


def _shown(name: str, at: int, cell: Cell) -> Iterator[str]:
    if cell.prose:
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    if isinstance(cell.value, qt.Chart):
        yield f"![{cell.value.title}](../images/notebooks/{_picture(name, at)})"
    text = cell.printed + ("" if cell.value is None or isinstance(cell.value, qt.Chart) else f"{cell.value!r}\n")
    if text.strip():
        yield f"```text\n{text.rstrip()}\n```"


def notebook(cells: Sequence[Cell]) -> str:
    """Write a notebook as Jupyter has it, with what came out."""
    made = [_as_json(at, cell) for at, cell in enumerate(cells)]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _as_json(at: int, cell: Cell) -> dict[str, Any]:
    lines = cell.source.splitlines(keepends=True)
    if cell.prose:
        return {"cell_type": "markdown", "id": f"cell-{at}", "metadata": {}, "source": lines}
    outputs: list[dict[str, Any]] = []
    if cell.printed:
        outputs.append({"output_type": "stream", "name": "stdout", "text": cell.printed.splitlines(keepends=True)})
    if cell.value is not None:
        shown = _bundle(cell.value)
        outputs.append({"output_type": "execute_result", "execution_count": at + 1, "metadata": {}, "data": shown})
    return {
        "cell_type": "code",
        "id": f"cell-{at}",
        "metadata": {},
        "execution_count": at + 1,
        "source": lines,
        "outputs": outputs,
    }


def _bundle(value: Any) -> dict[str, Any]:
    if isinstance(value, qt.Chart):
        return value._repr_mimebundle_()
    plain = {"text/plain": repr(value)}
    return plain | {"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else plain


def _picture(name: str, at: int) -> str:
    return f"{name}-{at}.png"


def draw(name: str, cells: Sequence[Cell]) -> None:
    """Draw the charts of a notebook."""
    from playwright.sync_api import sync_playwright

    charts = [(at, cell.value) for at, cell in enumerate(cells) if isinstance(cell.value, qt.Chart)]
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 760, "height": 600}, color_scheme="light")
        for at, chart in charts:
            page.set_content(chart.to_html())
            page.locator("svg.marks, canvas.marks").first.wait_for()
            page.locator(".vega-embed").first.screenshot(path=IMAGES / _picture(name, at))
        browser.close()


def main() -> int:
    """Write all notebooks, or name those that are stale."""
    stale = []
    for path in sorted(FOLDER.glob("*.py")):
        cells = read(path)
        run(cells)
        text = markdown(path.stem, cells)
        if "--check" in sys.argv:
            there = path.with_suffix(".md")
            stale += [] if there.exists() and there.read_text("utf-8") == text else [path.stem]
            continue
        path.with_suffix(".md").write_text(text, "utf-8")
        path.with_suffix(".ipynb").write_text(notebook(cells), "utf-8")
        draw(path.stem, cells)
    for name in stale:
        print(f"docs/notebooks/{name}.md is stale: run python scripts/make_notebooks.py")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
