"""The documentation as a site: its order, the names of its headings, and that no link in it leads nowhere."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from quintain.web.help_pages import anchor_of

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """What the site is told besides its settings."""
    made = importlib.util.spec_from_file_location("docs_site", ROOT / "scripts" / "docs_site.py")
    assert made is not None
    assert made.loader is not None
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


def _pages(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    for inner in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
        yield from _pages(inner)


def test_every_document_has_its_place(site: ModuleType) -> None:
    """All that the help lists is in the tree of the site, in its order; other languages have parts of their own."""
    config = site.on_config({"docs_dir": str(DOCS), "mdx_configs": {}})
    listed = list(_pages(config["nav"]))
    assert len(listed) == len(set(listed))
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert {name for name in written - set(listed) if not name.startswith("notebooks/")} == set()
    assert set(listed) <= written
    assert listed.index("getting-started.md") < listed.index("board.md") < listed.index("cli/README.md")
    assert listed.index("cli/README.md") < listed.index("cli/data.md") < listed.index("de/README.md")


@pytest.mark.parametrize("title", ["What `quintain` asks, and pays", "Roles – who may", "--json", "κ and α"])
def test_headings_are_called_as_in_the_help(site: ModuleType, title: str) -> None:
    """One link to a heading works on the pages of the product and on the site."""
    assert site.heading_name(title, "-") == anchor_of(title, {})


def test_links_out_of_the_documents_keep_their_words(site: ModuleType) -> None:
    """What is not part of the site is named and not linked; what is, is."""
    text = "See [CONTRIBUTING](../CONTRIBUTING.md), [the example](../examples/task.toml) and [the board](../board.md)."
    plain = site.on_page_markdown(text, None, None, None)
    assert plain == "See CONTRIBUTING, the example and [the board](../board.md)."


@pytest.mark.slow
def test_the_site_is_built_and_a_dead_link_fails_it(tmp_path: Path) -> None:
    """`scripts/docs` makes all pages with a search of their own, asks nothing of other servers, and is strict."""
    subprocess.run([ROOT / "scripts" / "docs", "-q", "-d", tmp_path / "site"], check=True, timeout=900)
    page = (tmp_path / "site" / "board.html").read_text("utf-8")
    assert 'id="how-sure-it-is"' in page
    assert "fonts.googleapis" not in page
    assert (tmp_path / "site" / "search" / "search_index.js").is_file()
    config = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert "\nstrict: true\n" in config
    assert config.count(": warn\n") == 4
