"""Write docs/cli from the commands, the settings and the registered extensions themselves: one page per command.

python scripts/make_cli_reference.py          writes the pages, and removes those of commands that are gone
python scripts/make_cli_reference.py --check  exits with 1 when a page is stale
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

import quintain
from quintain.cli.app import app
from quintain.cli.lazy import COMMANDS, load
from quintain.core.registry import Registry
from quintain.settings import describe

FOLDER = Path(__file__).parent.parent / "docs" / "cli"
COMMAND = "quintain"
EXAMPLE = re.compile(r"Examples?:\s*(.*?)(?:\n\s*\n|\Z)", re.DOTALL)
NOTE = "<!-- Written by scripts/make_cli_reference.py from the commands themselves; change them, not this file. -->"
HEAD = f"""# Command line

{NOTE}

Nouns, then verbs. Results go to stdout, messages and progress to stderr. A command exits with 0 when it is done, with 1
when it refuses or what it was given is wrong, and with 2 when it was called wrongly. `--json` prints the result for
programs. `quintain COMMAND --help` shows what stands on its page here. What a command is to write, a file or a folder,
is not to be there yet, unless it is called with `--force`.

Options before the command:

"""
SETTINGS = ("settings", "Settings", "What is read from the environment; an option on the command line wins.")
FAMILIES = (
    "extensions",
    "What can be named",
    "Task kinds, metrics, baselines and the other families that task files and commands name members of.",
)
FAMILIES_TEXT = """\
Task files and commands name members of these families. Each is one file with one decorator; other distributions add
theirs through the entry-point group.
"""


def commands() -> Iterator[tuple[str, Any]]:
    """Go through every command that does something, as (full name, command), in the order of `--help`."""
    for name in COMMANDS:
        yield from _below(f"{COMMAND} {name}", load(name))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    if command.invoke_without_command and not command.no_args_is_help:
        yield name, command
    for word in command.list_commands(None):
        child = command.get_command(None, word)
        if not child.hidden:
            yield from _below(f"{name} {word}", child)


def examples_of(command: Any) -> list[str]:
    """Give the command lines after "Example:" in a command's help, up to the next blank line."""
    return [line.strip() for part in EXAMPLE.findall(_help(command)) for line in part.splitlines() if line.strip()]


def summary_of(command: Any) -> str:
    """Give a command's help without its examples."""
    return re.sub(r"\n{3,}", "\n\n", EXAMPLE.sub("", _help(command))).strip()


def _help(command: Any) -> str:
    return re.sub("[\b\f]", "", inspect.cleandoc(command.help or ""))


def registries() -> list[Registry[Any]]:
    """Find the families: every registry that a module called `contract` holds."""
    found: dict[str, Registry[Any]] = {}
    for module in pkgutil.walk_packages(quintain.__path__, prefix="quintain."):
        if module.name.endswith(".contract"):
            values = vars(importlib.import_module(module.name)).values()
            found |= {value.group: value for value in values if isinstance(value, Registry)}
    return [found[group] for group in sorted(found)]


def about(member: Any) -> str:
    """Give the first sentence that a member says of itself."""
    own = getattr(member, "about", None)
    if isinstance(own, str) and not inspect.isclass(member):
        return own
    text = inspect.getdoc(member if inspect.isroutine(member) or inspect.isclass(member) else type(member)) or ""
    return " ".join(text.split("\n\n")[0].split())


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"

    return line(columns) + line("---" for _ in columns) + "".join(line(row) for row in rows)


def _usage(name: str, command: Any) -> str:
    words = [name]
    for item in command.params:
        if item.param_type_name == "argument":
            word = (item.metavar or item.name).upper() + ("…" if item.nargs == -1 else "")
            words.append(word if item.required else f"[{word}]")
    has_options = any(item.param_type_name == "option" for item in command.params)
    return " ".join([*words, *(["[options]"] if has_options else [])])


def _parameter(item: Any) -> tuple[str, str, str]:
    if item.param_type_name == "argument":
        shown = f"`{(item.metavar or item.name).upper()}`"
    else:
        names = ", ".join([*item.opts, *item.secondary_opts])
        shown = f"`{names}`" if item.is_flag else f"`{names} {(item.metavar or item.name).upper()}`"
    return shown, item.help or "", _default(item)


def _default(item: Any) -> str:
    if item.required:
        return "required"
    if item.default in (None, False, "", (), []) or callable(item.default) or not item.show_default:
        return ""
    values = item.default if isinstance(item.default, list | tuple) else [item.default]
    return "`" + " ".join(str(getattr(value, "value", value)) for value in values) + "`"


def _command(name: str, command: Any, level: int = 2) -> str:
    """Write what there is to say of a command; at level 1 its heading is the page's, and stands there already."""
    heading = f"\n## {name}\n" if level > 1 else ""
    parts = [f"{heading}\n{summary_of(command)}\n\n```sh\n{_usage(name, command)}\n```\n"]
    examples = examples_of(command)
    if examples:
        parts.append("\nFor example:\n\n```sh\n" + "\n".join(examples) + "\n```\n")
    rows = [_parameter(item) for item in command.params if not getattr(item, "hidden", False) and item.name != "help"]
    if rows:
        parts.append("\n" + _table(("option", "what it does", "default"), rows))
    return "".join(parts)


def _page(word: str) -> str:
    """Write the page of one word after `quintain`: the command itself, or every command below it."""
    below = list(_below(f"{COMMAND} {word}", load(word)))
    parts = [f"# {COMMAND} {word}\n\n{NOTE}\n"]
    if [name for name, _ in below] == [f"{COMMAND} {word}"]:
        return "".join([*parts, _command(*below[0], level=1)])
    return "".join([*parts, f"\n{COMMANDS[word].help}\n", *(_command(name, command) for name, command in below)])


def _settings() -> str:
    rows = [(f"`{name}`", f"`{default}`" if default else "", text) for name, default, text in describe()]
    table = _table(("variable", "default", "what it does"), rows)
    return f"# {SETTINGS[1]}\n\n{NOTE}\n\n{SETTINGS[2]}\n\n{table}"


def _families() -> str:
    parts = [f"# {FAMILIES[1]}\n\n{NOTE}\n\n{FAMILIES_TEXT}"]
    for family in registries():
        title = f"{family.family[0].upper()}{family.family[1:]}s"
        rows = [(f"`{name}`", about(member)) for name, member in family.items()]
        parts.append(f"\n## {title} (`{family.group}`)\n\n" + _table(("name", "what it is"), rows))
    return "".join(parts)


def _index() -> str:
    root = get_command(app)
    common = [
        _parameter(item) for item in root.params if item.name not in {"help", "install_completion", "show_completion"}
    ]
    rows = [(f"[{COMMAND} {word}]({word}.md)", listed.help) for word, listed in COMMANDS.items()]
    others = [(f"[{title}]({name}.md)", text) for name, title, text in (SETTINGS, FAMILIES)]
    parts = [HEAD, _table(("option", "what it does", "default"), common), "\n## Commands\n\n"]
    parts += [_table(("command", "what it does"), rows), "\n## Settings and extensions\n\n"]
    return "".join([*parts, _table(("page", "what it lists"), others)])


def render() -> dict[str, str]:
    """Write every page, by the name of its file."""
    pages = {f"{word}.md": _page(word) for word in COMMANDS}
    return {"README.md": _index(), **pages, f"{SETTINGS[0]}.md": _settings(), f"{FAMILIES[0]}.md": _families()}


def stored() -> dict[str, str]:
    """Read the pages as they are in the repository, by the name of their file."""
    return {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}


def main() -> None:
    """Write the pages, or check them."""
    pages, before = render(), stored()
    if "--check" in sys.argv:
        stale = sorted(name for name in {*pages, *before} if pages.get(name) != before.get(name))
        if stale:
            sys.exit(f"docs/cli is stale ({', '.join(stale)}): run `python scripts/make_cli_reference.py`.")
        return
    FOLDER.mkdir(exist_ok=True)
    for name in before.keys() - pages.keys():
        (FOLDER / name).unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
