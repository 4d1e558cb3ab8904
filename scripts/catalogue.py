"""Bring the catalogues of the interface's texts in step with the source.

A language has two: `messages.po` holds the texts of templates and pages, `errors.po` those with which services and
what is below them refuse something (see `raised.py`). `python scripts/catalogue.py` adds new messages to both
(untranslated) and drops those that are gone; `--check` changes nothing and fails when a catalogue is out of step or a
message has no translation.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from quintain.core.task import Label, Task
from quintain.tasks.contract import KINDS

sys.path.insert(0, str(Path(__file__).resolve().parent))
import raised

SOURCE = Path(__file__).resolve().parent.parent / "src" / "quintain"
WEB = SOURCE / "web"
METHODS = [("**.html", "jinja2.ext:babel_extract"), ("**.py", "python")]
OPTIONS = {"**.html": {"trimmed": "true", "silent": "false"}}

# Rooms whose errors reach pages. Everything in a folder does, unless it is only for commands, the API or the log.
ROOMS = (
    "core",
    "services",
    "tasks",
    "data",
    "web",
    "adapters/contract.py",
    "adapters/manifest.py",
    "adapters/predictions.py",
    "adapters/remote.py",
    "engine/archives.py",
    "labels/contract.py",
    "models/card.py",
    "stats/utility.py",
    "store/blobs.py",
    "store/database.py",
)
NOT_ON_PAGES = (
    *(f"services/{name}" for name in ("backup", "check_model", "demo", "harvest", "human_files", "judgement_files")),
    *(f"services/{name}" for name in ("label_files", "local_evaluation", "mail", "overlap", "perturb", "rank.py")),
    *(f"services/{name}" for name in ("score", "train.py", "vmer", "worker.py")),
    *(f"data/{name}" for name in ("harvest_rules", "sentences", "where")),
    "web/api",
    "web/server",
)
# What the checks of addresses say (pydantic), where a page's address has a number in it.
OF_ADDRESSES = (
    "Input should be a valid integer, unable to parse string as an integer",
    "Input should be a valid number, unable to parse string as a number",
    "Input should be a valid boolean, unable to interpret input",
    "Input should be greater than or equal to %(limit)s",
    "Input should be less than or equal to %(limit)s",
    "Field required",
)


def templates() -> dict[str, Catalog]:
    """Collect all messages, by the file that they belong into."""
    return {"messages.po": template(), "errors.po": refusals()}


def refusals() -> Catalog:
    """Collect the texts with which something is refused."""
    catalogue = Catalog(project="Quintain", header_comment="# Texts with which Quintain refuses something.")
    found = raised.templates(raised.read_modules(SOURCE, ROOMS, NOT_ON_PAGES))
    for text in (*found, *OF_ADDRESSES):
        catalogue.add(text, None, [found.get(text, ("web", 0))], flags=("python-format",) if "%(" in text else ())
    return catalogue


def template() -> Catalog:
    """Collect the texts of templates and pages, and the words that task kinds put on pages."""
    catalogue = Catalog(project="Quintain", header_comment="# Texts of the interface of Quintain.")
    for file, line, message, comments, context in extract_from_dir(WEB, METHODS, OPTIONS):
        catalogue.add(message, None, [(f"web/{file}", line)], auto_comments=comments, context=context)
    for room in ("core", "services"):
        for file, line, message, _comments, _context in extract_from_dir(SOURCE / room, keywords={"N_": None}):
            catalogue.add(message, None, [(f"{room}/{file}", line)])
    for message in sorted(set(kind_words())):
        catalogue.add(message, None, [("tasks", 0)])
    return catalogue


def kind_words() -> Iterator[str]:
    """Go through the titles and hints of every task kind and its controls."""
    labels = (Label("a"), Label("b"))
    for name, kind in KINDS.items():
        task = Task(name="t", kind=name, title={}, labels=labels, options=dict(kind.default_options))
        yield kind.title
        form = kind().form(task)
        for control in (*form.inputs, form.answer):
            yield from (text for text in (control.title, control.help) if text)
        yield from (field.title for field in kind().fields(task) if field.title)


def problems(path: Path, wanted: Catalog) -> list[str]:
    """Say what is missing, gone, untranslated or uncertain in the catalogue at *path*."""
    with path.open("rb") as stream:
        have = read_po(stream, locale=path.parent.parent.name)
    ids = {message.id for message in wanted if message.id}
    known = {message.id: message for message in have if message.id}
    found = [f"not in the catalogue: {text}" for text in ids - set(known)]
    found += [f"no longer used: {text}" for text in set(known) - ids]
    for message in known.values():
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        if not all(texts) or message.fuzzy:
            found.append(f"not translated: {message.id}")
        found += [f"wrong placeholders: {message.id}: {error}" for error in message.check(have)]
    return sorted(found)


def update(path: Path, wanted: Catalog) -> None:
    """Put new messages in and take old ones out, keeping the translations."""
    locale = path.parent.parent.name
    have = Catalog(locale=locale)
    if path.exists():
        with path.open("rb") as stream:
            have = read_po(stream, locale=locale)
    keep_renamed(have, wanted)
    have.update(wanted, no_fuzzy_matching=True)
    have.obsolete.clear()
    buffer = io.BytesIO()
    write_po(buffer, have, width=110, sort_output=True, no_location=True, omit_header=False, ignore_obsolete=True)
    path.write_bytes(buffer.getvalue())


def keep_renamed(have: Catalog, wanted: Catalog) -> None:
    """Keep the translation of a text of which only the names of the values have changed."""
    hole = re.compile(r"%\((\w+)\)s")
    known = {hole.sub("%()s", str(message.id)): message for message in have if message.string}
    for message in list(wanted):
        old = known.get(hole.sub("%()s", str(message.id)))
        if isinstance(message.id, str) and old is not None and message.id not in have:
            names = dict(zip(hole.findall(str(old.id)), hole.findall(message.id), strict=True))
            kept = str(old.string)
            have.add(message.id, hole.sub(partial(_renamed, names), kept))


def _renamed(names: Mapping[str, str], found: re.Match[str]) -> str:
    return f"%({names[found[1]]})s"


def main() -> None:
    """Update all catalogues, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when something is out of step")
    check = parser.parse_args().check
    wanted = templates()
    folders = sorted((WEB / "locale").glob("*/LC_MESSAGES"))
    paths = [(folder / name, catalogue) for folder in folders for name, catalogue in wanted.items()]
    if check:
        found = [f"{path}: {text}" for path, catalogue in paths for text in problems(path, catalogue)]
        sys.exit("\n".join(found) if found else 0)
    for path, catalogue in paths:
        update(path, catalogue)
        print(f"{path}: {len(catalogue)} messages")


if __name__ == "__main__":
    main()
