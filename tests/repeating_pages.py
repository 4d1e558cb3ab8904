"""What the tests of `docs/repeating` share: running a page from top to bottom, and reading its tables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "repeating"


def working_folder(folder: Path) -> Path:
    """Return an empty folder beside which the public data lies, and in which the repository's test data is."""
    work = folder / "work"
    (work / "tests").mkdir(parents=True)
    (work / "tests" / "data").symlink_to(ROOT / "tests" / "data")
    (folder / "shared").symlink_to(ROOT.parent / "shared")
    return work


def run_page(page: str, cli: Callable[..., Result], names: dict[str, Any] | None = None) -> dict[str, Result]:
    """Do all that a page says, from top to bottom, in the folder that one is in; return what each command gave.

    Python is run in one namespace, *names*; TOML is written to the file that its first line names.
    """
    results: dict[str, Result] = {}
    names = {} if names is None else names
    for kind, content in re.findall(r"^```(\w+)\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE):
        if kind == "python":
            exec(compile(content, "<page>", "exec"), names)  # noqa: S102 - what the page says
        elif kind == "toml":
            Path(content.splitlines()[0].removeprefix("# ")).write_text(content, encoding="utf-8")
        elif kind in {"console", "sh"}:
            for line in content.splitlines():
                command = line.removeprefix("$ ").removeprefix("quintain ")
                results[command] = cli(*shlex.split(command))
                assert results[command].exit_code == 0, f"{command}\n{results[command].output}"
    return results


def output(results: Mapping[str, Result], *words: str) -> str:
    """Return what the one command printed that has all of these words."""
    (result,) = (result for command, result in results.items() if all(word in command for word in words))
    return result.stdout


def rows_of(page: str, name: str) -> list[list[str]]:
    """Return the rows of a marked table of the page, as texts, without its head."""
    body = page.partition(f"<!-- {name}: begin -->")[2].partition(f"<!-- {name}: end -->")[0].strip().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in body[2:]]


def matches(printed: Sequence[str], figures: Sequence[object], within: float = 0.0) -> bool:
    """Whether cells of the page show *figures*: texts as they are, numbers as far off as *within* and rounding."""
    if len(printed) != len(figures):
        return False
    return all(_shows(cell, figure, within) for cell, figure in zip(printed, figures, strict=True))


def _shows(cell: str, figure: object, within: float) -> bool:
    if not isinstance(figure, int | float):
        return cell == str(figure)
    number = re.sub(r"[ ,%]", "", cell).replace("−", "-")
    digits = len(number.partition(".")[2])
    return float(number) == pytest.approx(figure, abs=within + 0.5001 * 10**-digits)
