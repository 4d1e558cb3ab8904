"""What MkDocs is told besides mkdocs.yml: the order of the pages, the names of headings, the product's colours.

The order is that of `docs/README.md`, which the help's tree follows, too; a page that has a list of its own is followed
by those. Headings are called in addresses as in the help. Links out of `docs` keep their words, as in the help.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+\.md)\)")
OUTSIDE = re.compile(r"(?<!!)\[([^\]]+)\]\((?:\.\./)+(?:CONTRIBUTING|CHANGELOG|examples|src|scripts|tests)[^)]*\)")
COLOURS = """
:root { --md-primary-fg-color: #1d3f94; --md-primary-fg-color--light: #4a76d4; --md-primary-fg-color--dark: #142e70;
  --md-accent-fg-color: #1d3f94; }
[data-md-color-scheme="slate"] { --md-primary-fg-color: #142e70; --md-accent-fg-color: #93b4ff;
  --md-typeset-a-color: #93b4ff; }
[data-md-color-scheme="default"] { --md-typeset-a-color: #1d3f94; }
.md-typeset table:not([class]) td { overflow-wrap: normal; }
"""
LANGUAGES = {
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "pt": "Português",
    "zh": "中文",
    "ar": "العربية",
    "hi": "हिन्दी",
}
MARK = Path("src/quintain/web/static/img/mark.svg")


def heading_name(title: str, separator: str) -> str:
    """Name a heading as the help does, so that one link works in both.

    >>> heading_name("What `quintain` asks, and pays", "-")
    'what-quintain-asks-and-pays'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", separator)


def reading_order(docs: Path, listing: str = "README.md") -> list[dict[str, Any]]:
    """Return the sections of a list of pages, each with its pages by title, in the order of the list."""
    sections: list[dict[str, Any]] = []
    for part in re.split(r"^## ", (docs / listing).read_text("utf-8"), flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        pages = [
            _with_list(docs, called, target)
            for called, target in LINK.findall(text)
            if "/" not in target or (target.endswith("/README.md") and not target.startswith("de/"))
        ]
        if pages:
            sections.append({title.strip(): pages})
    return sections


def _with_list(docs: Path, title: str, target: str) -> dict[str, Any]:
    """Return a page by its title; the list of a folder is followed by the pages that it names."""
    folder, _, name = target.rpartition("/")
    if not folder:
        return {title: target}
    pages = dict.fromkeys(LINK.findall((docs / target).read_text("utf-8")))
    inside = [{called: f"{folder}/{page}"} for called, page in pages if "/" not in page and page != name]
    return {title: [target, *inside]}


def on_config(config: Any) -> Any:
    """Set the order of the pages and how headings are called."""
    docs = Path(config["docs_dir"])
    config["nav"] = [{"Quintain": "README.md"}, *reading_order(docs), *_other_languages(docs)]
    config["mdx_configs"]["toc"] = {"slugify": heading_name, "permalink": True}
    config["extra_css"] = ["quintain.css"]
    return config


def _other_languages(docs: Path) -> list[dict[str, list[str]]]:
    """Return a section for each language that has pages, under its own name."""
    folders = [docs / code for code in LANGUAGES if (docs / code).is_dir()]
    return [
        {
            LANGUAGES[folder.name]: [
                f"{folder.name}/{page.name}" for page in sorted(folder.glob("*.md"), key=_lists_first)
            ]
        }
        for folder in folders
    ]


def _lists_first(page: Path) -> tuple[bool, str]:
    return page.name != "README.md", page.name


def on_files(files: Any, config: Any) -> Any:
    """Add the product's colours and its mark to the files of the site."""
    from mkdocs.structure.files import File

    mark = Path(config["config_file_path"]).parent / MARK
    files.append(File.generated(config, "quintain.css", content=COLOURS))
    files.append(File.generated(config, "images/mark.svg", content=mark.read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Leave the words of links that lead out of the documents."""
    return OUTSIDE.sub(r"\1", markdown)
