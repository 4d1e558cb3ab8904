"""Scripts of pages import what is there: a name that has moved would leave a page without its script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "src" / "quintain" / "web" / "static" / "js"
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function\*?|class|const|let) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("name", sorted(path.name for path in SCRIPTS.glob("*.js")))
def test_every_name_that_is_imported_is_exported(name: str) -> None:
    """Every import names a file beside the script and what that file exports."""
    text = (SCRIPTS / name).read_text(encoding="utf-8")
    assert len(IMPORT.findall(text)) == len(re.findall(r"^import ", text, re.MULTILINE))
    for names, source in IMPORT.findall(text):
        exported = EXPORT.findall((SCRIPTS / source).read_text(encoding="utf-8"))
        imported = {each.split(" as ")[0].strip() for each in names.split(",") if each.strip()}
        assert imported <= set(exported), f"{name} imports from {source}"
