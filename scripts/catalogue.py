"""Bring the catalogues of the interface's texts in step with the source.

A language has two: `messages.po` holds the texts of templates and pages, `errors.po` those with which services and
what is below them refuse something (`quintain.core.texts`). `python scripts/catalogue.py` adds new messages to both
(untranslated) and drops those that are gone; `--check` changes nothing and fails when a catalogue is out of step, a
message has no translation, or a text in the source could not be translated as it is written. A catalogue whose comment
says `covers: workers` has the texts of the files in `locale/workers.txt` and none that nobody translated beside them;
the others are shown in English. `--new it` begins a language, and `--read it` says that somebody has read all of its
translations.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import string
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

from quintain.adapters.contract import ADAPTERS
from quintain.core.task import Label, Task
from quintain.tasks.contract import KINDS
from quintain.web.catalogues import LOCALES, MACHINE, READ, WORKERS, header, read_catalogue, texts_of
from quintain.web.error_text import NAMES_A_COMMAND


class ErrorClass(NamedTuple):
    """How an error is raised: at which place its template is, if it takes one, and which arguments are no values."""

    place: int | None
    own: frozenset[str]


def classes_of_errors(root: Path) -> dict[str, ErrorClass]:
    """Find `QuintainError` and everything that is made from it, by reading the source.

    An error without an `__init__` of its own takes what the one above it takes.
    """
    bodies = [body for path in sorted(root.rglob("*.py")) for body in ast.parse(path.read_bytes()).body]
    classes = {body.name: body for body in bodies if isinstance(body, ast.ClassDef)}
    found: dict[str, ErrorClass] = {}

    def visit(name: str, above: ErrorClass) -> None:
        made = next((one for one in classes[name].body if getattr(one, "name", "") == "__init__"), None)
        found[name] = _taken(made) if isinstance(made, ast.FunctionDef) else above
        for one in classes.values():
            if any(isinstance(base, ast.Name) and base.id == name for base in one.bases):
                visit(one.name, found[name])

    visit("QuintainError", ErrorClass(0, frozenset()))
    return found


def _taken(made: ast.FunctionDef) -> ErrorClass:
    places = [one.arg for one in (*made.args.posonlyargs, *made.args.args)]
    own = frozenset(one.arg for one in made.args.kwonlyargs)
    return ErrorClass(places.index("message") - 1 if "message" in places and made.args.kwarg else None, own)


SOURCE = Path(__file__).resolve().parent.parent / "src" / "quintain"
WEB = SOURCE / "web"
METHODS = [("**.html", "jinja2.ext:babel_extract"), ("**.py", "python")]
OPTIONS = {"**.html": {"trimmed": "true", "silent": "false"}}

ERRORS = classes_of_errors(SOURCE)
# What takes a template, and at which place; the values are its other arguments by name, but for those of its own.
TEMPLATES = {
    **{name: one.place for name, one in ERRORS.items() if one.place is not None},
    "super": 0,  # within an error: what it says whatever it is given
    **dict.fromkeys(("Fault", "Text", "mistake", "refuse"), 0),
    "fault": 1,
    "_fault": 1,
    "Rule": 2,
}
OWN = {
    **{name: one.own for name, one in ERRORS.items()},
    "super": ERRORS["BadInput"].own,
    "Fault": frozenset({"file", "row", "field", "line"}),
}
SAID_AT_ONCE = frozenset({*ERRORS, "Fault"})  # helpers hand on what they are given
MAY_WAIT = 30  # texts by which a language of workers' pages may lag behind: until then they are in English
SPOKEN_IN_ENGLISH = ("cli/", "client/", "engine/guest/")  # commands, the library, and what runs beside a model


def errors(stream: IO[bytes], keywords: object = None, tags: object = None, options: object = None) -> Iterator[Any]:
    """Extract the templates of one Python file, as Babel asks for it: line, function, message, comments."""
    for call in calls(stream.read()):
        if is_plural(call):
            yield call.lineno, "ngettext", tuple(text for one in call.args for text in literals(one)), []
        for template in templates(call):
            for text in literals(template):
                if is_said(text):
                    yield template.lineno, None, text, []


def is_said(text: str) -> bool:
    """Say whether a template has words of its own, and is for pages: those that name a command are not."""
    words = "".join(part[0] for part in string.Formatter().parse(text))
    return any(character.isalpha() for character in words) and not NAMES_A_COMMAND.search(text)


@cache
def calls(source: bytes) -> list[ast.Call]:
    """List every call that takes a template."""
    tree = ast.parse(source)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    errors = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name in ERRORS]
    within = {node for one in errors for node in ast.walk(one)}
    taken = TEMPLATES.keys() - {"super"}
    return [call for call in found if name_of(call) in (TEMPLATES if call in within else taken) or is_plural(call)]


def name_of(call: ast.Call) -> str:
    """Give the last part of what is called; `super` for what an error hands to the one above it."""
    match call.func:
        case ast.Attribute(attr="__init__", value=ast.Call(func=ast.Name(id="super"))):
            return "super"
    return getattr(call.func, "id", None) or getattr(call.func, "attr", "")


def is_plural(call: ast.Call) -> bool:
    """Say whether this is `Text.plural(one, many, n=…)`."""
    match call.func:
        case ast.Attribute(attr="plural", value=ast.Name(id="Text")):
            return True
    return False


def templates(call: ast.Call) -> list[ast.expr]:
    """Give the templates of a call: the message, and for an error also what to do about it."""
    place = TEMPLATES.get(name_of(call))
    first = call.args[place : place + 1] if place is not None and not is_plural(call) else []
    return [*first, *(one.value for one in call.keywords if one.arg in {"remedy", "page"})]


def chosen(node: ast.expr) -> list[ast.expr]:
    """Give an expression, or both of those that it chooses from."""
    return [*chosen(node.body), *chosen(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def literals(node: ast.expr) -> list[str]:
    """Give the texts that are written there."""
    return [one.value for one in chosen(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def holes(text: str) -> set[str]:
    """Name the values that a template asks for.

    >>> sorted(holes("{name} has {n:,} rows"))
    ['n', 'name']
    """
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def slips(path: Path) -> Iterator[str]:
    """Find texts that were put together before they became a template, and values that do not fit their template."""
    source = path.read_bytes()
    for call in calls(source):
        place = f"{path.relative_to(SOURCE)}:{call.lineno}"
        written = [*(call.args[:2] if is_plural(call) else ()), *templates(call)]
        if any(is_finished(part) for one in written for part in chosen(one)):
            yield f"{place}: write a template and its values, not a finished text"
        named = [part.id for one in written for part in chosen(one) if isinstance(part, ast.Name)]
        bare = sorted({name for name in named if name_of(call) in SAID_AT_ONCE and name in bare_names(source, call)})
        yield from (f"{place}: '{name}' is a plain string here; make it a Text(…)" for name in bare)
        given = {one.arg for one in call.keywords} - OWN.get(name_of(call), frozenset())
        texts = [text for one in written for text in literals(one)]
        if None in given or name_of(call) == "Rule" or not texts:
            continue
        asked = set().union(*map(holes, texts)) if given else set()
        if asked != given - {"n"} | (asked & {"n"}):
            yield f"{place}: the templates ask for {sorted(asked)}, and the values are {sorted(map(str, given))}"


def is_finished(node: ast.expr) -> bool:
    """Say whether a text is put together there, or what it was made of is dropped."""
    match node:
        case ast.JoinedStr() | ast.BinOp():
            return True
        case ast.Call(func=ast.Name(id="str")):
            return True
    return False


def bare_names(source: bytes, call: ast.Call) -> set[str]:
    """Name the variables around *call* that a string was written into, which no catalogue would hold."""
    around = [scope for scope in scopes(source) if scope.lineno <= call.lineno <= (scope.end_lineno or 0)]
    if not around:
        return set()
    scope = max(around, key=lambda one: one.lineno)
    given = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
    found = {one.arg for one in given if isinstance(one.annotation, ast.Name) and one.annotation.id == "str"}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and any(literals(node.value) or is_finished(one) for one in chosen(node.value)):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


@cache
def scopes(source: bytes) -> list[ast.FunctionDef]:
    """List the functions of a file."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]


def catalogues() -> dict[str, Catalog]:
    """Collect all messages, by the file that they belong into."""
    return {"messages.po": messages(), "errors.po": refusals()}


def refusals(root: Path = SOURCE) -> Catalog:
    """Collect the texts with which something is refused."""
    catalogue = Catalog(project="Quintain", header_comment="# Texts with which Quintain refuses something.")
    for file, line, message, comments, context in extract_from_dir(root, [("**.py", errors)]):
        if not file.startswith(SPOKEN_IN_ENGLISH):
            catalogue.add(message, None, [(file, line)], auto_comments=comments, context=context)
    return catalogue


def messages() -> Catalog:
    """Collect the texts of templates and pages, and the words that task kinds put on pages."""
    catalogue = Catalog(project="Quintain", header_comment="# Texts of the interface of Quintain.")
    for file, line, message, comments, context in extract_from_dir(WEB, METHODS, OPTIONS):
        catalogue.add(message, None, [(f"web/{file}", line)], auto_comments=comments, context=context)
    for room in ("core", "services"):
        for file, line, message, _comments, _context in extract_from_dir(SOURCE / room, keywords={"N_": None}):
            catalogue.add(message, None, [(f"{room}/{file}", line)])
    for message in sorted(set(kind_words())):
        catalogue.add(message, None, [("tasks", 0)])
    for adapter in [adapter for _, adapter in ADAPTERS.items()]:
        catalogue.add(adapter.title, None, [("adapters", 0)])
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


@cache
def patterns() -> tuple[str, ...]:
    """List the files whose texts workers meet."""
    lines = (LOCALES / f"{WORKERS}.txt").read_text("utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def is_for_workers(message: Message) -> bool:
    """Say whether a text stands in one of the files that workers meet."""
    return any(fnmatchcase(file, pattern) for file, _ in message.locations for pattern in patterns())


def covered(have: Catalog, wanted: Catalog) -> Catalog:
    """Choose from all texts those that a catalogue is to have: with those for workers only, also what it has anyway."""
    if header(have).get("covers") != WORKERS:
        return wanted
    chosen = Catalog(locale=have.locale)
    translated = {message.id for message in have if message.id and any(texts_of(message))}
    for message in wanted:
        if message.id and (message.id in translated or is_for_workers(message)):
            chosen[message.id] = message
    return chosen


def problems(path: Path, wanted: Catalog) -> list[str]:
    """Say what is missing, gone, untranslated or uncertain in the catalogue at *path*."""
    have = read_catalogue(path)
    ids = {message.id for message in covered(have, wanted) if message.id}
    known = {message.id: message for message in have if message.id}
    found = [f"not in the catalogue: {text}" for text in ids - set(known)]
    found += [f"no longer used: {text}" for text in set(known) - ids]
    for message in known.values():
        texts = texts_of(message)
        if not all(texts) or message.fuzzy:
            found.append(f"not translated: {message.id}")
        elif path.name == "errors.po":
            found += [f"wrong placeholders: {message.id}"] * any(not fits(message, text) for text in texts)
        else:
            found += [f"wrong placeholders: {message.id}: {error}" for error in message.check(have)]
            found += [f"wrong placeholders: {message.id}"] * any(
                named(text) - named(last_of(message)) for text in texts
            )
    waiting = [text for text in found if text.startswith("not ")]
    if header(have).get("covers") == WORKERS and len(waiting) <= MAY_WAIT:
        found = [text for text in found if text not in waiting]
    return sorted(found)


def last_of(message: Message) -> str:
    """Return a text, of two the one for many."""
    return message.id if isinstance(message.id, str) else message.id[-1]


def fits(message: Message, text: str) -> bool:
    """Say whether a translation asks for the values that its text asks for; a number may be said in words.

    Arabic, for one, has words for one and for two of a thing.
    """
    asked, said = holes(last_of(message)), holes(text)
    return said == asked or (not isinstance(message.id, str) and asked - {"n"} <= said <= asked)


def named(text: str) -> set[str]:
    """Name the values that a text of a page asks for.

    >>> sorted(named("%(name)s has %(n)s rows"))
    ['n', 'name']
    """
    return set(re.findall(r"%\((\w+)\)", text))


def update(path: Path, wanted: Catalog) -> None:
    """Put new messages in and take old ones out, keeping the translations."""
    have = read_catalogue(path) if path.exists() else Catalog(locale=path.parent.parent.name)
    chosen = covered(have, wanted)
    chosen.header_comment = have.header_comment
    have.update(chosen, no_fuzzy_matching=True)
    have.obsolete.clear()
    write(path, have)
    print(f"{path}: {len(chosen)} messages")


def write(path: Path, catalogue: Catalog) -> None:
    """Write a catalogue down, in the order of its texts."""
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=110, sort_output=True, no_location=True, ignore_obsolete=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(buffer.getvalue())


def begin(language: str) -> None:
    """Make the empty catalogues of a language, for the texts that workers meet, made by a machine."""
    comment = f"# Texts of the interface of Quintain.\n# covers: {WORKERS}\n# translated by: {MACHINE}"
    for name, wanted in catalogues().items():
        path = LOCALES / language / "LC_MESSAGES" / name
        if path.exists():
            sys.exit(f"{path} exists already")
        write(path, Catalog(locale=language, project="Quintain", header_comment=comment))
        update(path, wanted)


def mark_read(language: str) -> None:
    """Say of all translations into a language that somebody who speaks it has read them."""
    for path in sorted((LOCALES / language / "LC_MESSAGES").glob("*.po")):
        catalogue = read_catalogue(path)
        for message in catalogue:
            if message.id and any(texts_of(message)):
                message.flags.add(READ)
        write(path, catalogue)


def main() -> None:
    """Update all catalogues, check them, begin one, or say that one was read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when something is out of step")
    parser.add_argument("--new", metavar="LANGUAGE", help="begin the catalogues of a language, such as it or pt")
    parser.add_argument("--read", metavar="LANGUAGE", help="say that somebody has read all of a language")
    asked = parser.parse_args()
    if asked.new:
        begin(asked.new)
    elif asked.read:
        mark_read(asked.read)
    elif asked.check:
        found = [slip for path in sorted(SOURCE.rglob("*.py")) for slip in slips(path)]
        found += [f"{path}: {text}" for path, wanted in files() for text in problems(path, wanted)]
        sys.exit("\n".join(found) if found else 0)
    else:
        for path, wanted in files():
            update(path, wanted)


def files() -> list[tuple[Path, Catalog]]:
    """List the catalogues that there are, each with all texts that it may have."""
    folders = sorted(LOCALES.glob("*/LC_MESSAGES"))
    return [(folder / name, wanted) for name, wanted in catalogues().items() for folder in folders]


if __name__ == "__main__":
    main()
