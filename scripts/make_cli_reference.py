"""Write docs/cli.md from the commands, the settings and the registered extensions themselves.

python scripts/make_cli_reference.py          writes the file
python scripts/make_cli_reference.py --check  exits with 1 when the file is stale
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

TARGET = Path(__file__).parent.parent / "docs" / "cli.md"
COMMAND = "quintain"
EXAMPLE = re.compile(r"Examples?:\s*(.*?)(?:\n\s*\n|\Z)", re.DOTALL)
HEAD = """# Command line

<!-- Written by scripts/make_cli_reference.py from the commands themselves; change them, not this file. -->

Nouns, then verbs. Results go to stdout, messages and progress to stderr. A command exits with 0 when it is done, with 1
when it refuses or what it was given is wrong, and with 2 when it was called wrongly. `--json` prints the result for
programs. `quintain COMMAND --help` shows what stands here. What a command is to write, a file or a folder, is not to be
there yet, unless it is called with `--force`.
"""
SETTINGS_HEAD = """
## Settings

Read from the environment; an option on the command line wins.

"""
FAMILIES_HEAD = """
## What can be named

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


def _command(name: str, command: Any) -> str:
    parts = [f"\n### {name}\n\n{summary_of(command)}\n\n```sh\n{_usage(name, command)}\n```\n"]
    examples = examples_of(command)
    if examples:
        parts.append("\nFor example:\n\n```sh\n" + "\n".join(examples) + "\n```\n")
    rows = [_parameter(item) for item in command.params if not getattr(item, "hidden", False) and item.name != "help"]
    if rows:
        parts.append("\n" + _table(("", "what it does", "default"), rows))
    return "".join(parts)


def _families() -> str:
    parts = [FAMILIES_HEAD]
    for family in registries():
        title = f"{family.family[0].upper()}{family.family[1:]}s"
        rows = [(f"`{name}`", about(member)) for name, member in family.items()]
        parts.append(f"\n### {title} (`{family.group}`)\n\n" + _table(("name", "what it is"), rows))
    return "".join(parts)


def render() -> str:
    """Write the whole page."""
    root = get_command(app)
    common = [
        _parameter(item) for item in root.params if item.name not in {"help", "install_completion", "show_completion"}
    ]
    parts = [HEAD, "\nOptions before the command:\n\n", _table(("", "what it does", "default"), common)]
    parts.append("\n## Commands\n")
    parts += [_command(name, command) for name, command in commands()]
    rows = [(f"`{name}`", f"`{default}`" if default else "", text) for name, default, text in describe()]
    parts += [SETTINGS_HEAD, _table(("variable", "default", "what it does"), rows), _families()]
    return "".join(parts)


def main() -> None:
    """Write the file, or check it."""
    text = render()
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET.name} is stale: run `python scripts/make_cli_reference.py`.")


if __name__ == "__main__":
    main()
