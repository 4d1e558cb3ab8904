"""The documents stay true: the reference is fresh, nothing is left out, and links lead somewhere."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shlex
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import quintain
from quintain.settings import describe

ROOT = Path(__file__).parent.parent.parent
PAGES = [*sorted((ROOT / "docs").glob("**/*.md")), *sorted(ROOT.glob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)[^)]*\)")


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


REFERENCE = _script("make_cli_reference")
TABLES = _script("make_option_tables")
LIBRARY = _script("make_library_reference")
NOTEBOOKS = _script("make_notebooks")
COMMANDS: dict[str, Any] = dict(REFERENCE.commands())
MEMBERS = [(family, name, member) for family in REFERENCE.registries() for name, member in family.items()]


@pytest.fixture(scope="module")
def cli_pages() -> dict[str, str]:
    """The command line reference as it is in the repository."""
    return dict(REFERENCE.stored())


def test_the_command_line_reference_is_fresh(cli_pages: dict[str, str]) -> None:
    """docs/cli says what the commands say; if not, run `python scripts/make_cli_reference.py`."""
    assert cli_pages == REFERENCE.render()


def test_each_command_has_a_page_that_can_be_read(cli_pages: dict[str, str]) -> None:
    """The first word after `quintain` names the page, which holds its commands and no others; the list is short."""
    for name in COMMANDS:
        word = name.split()[1]
        heading = f"# {name}\n" if name == f"quintain {word}" else f"\n## {name}\n"
        assert heading in cli_pages[f"{word}.md"]
        assert f"({word}.md)" in cli_pages["README.md"]
    assert len(cli_pages["README.md"].splitlines()) < 100


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda page: page.name)
def test_the_tables_of_options_are_fresh(page: Path) -> None:
    """A page says of each option what its specification says; if not, run `python scripts/make_option_tables.py`."""
    text = page.read_text(encoding="utf-8")
    assert text == TABLES.render(text)


def test_the_library_reference_is_fresh() -> None:
    """docs/library.md says what the functions say; if not, run `python scripts/make_library_reference.py`."""
    assert LIBRARY.TARGET.read_text(encoding="utf-8") == LIBRARY.page().rstrip() + "\n"


def test_the_examples_of_the_library_run_as_they_are_typed() -> None:
    """Whoever types what stands in docs/library.md, with the import of its first lines, gets what stands there."""
    text = LIBRARY.TARGET.read_text(encoding="utf-8")
    pages = re.findall(r"^## (qt\.\w+)$.*?^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(pages) >= 12
    for name, typed in pages:
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
        parsed = doctest.DocTestParser().get_doctest(typed, {"qt": quintain}, name, None, None)
        told: list[str] = []
        runner.run(parsed, out=told.append)
        assert runner.failures == 0, "".join(told)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_notebook_says_what_its_page_shows(path: Path) -> None:
    """Run again, a notebook gives what is on its page; if not, run `python scripts/make_notebooks.py`."""
    cells = NOTEBOOKS.read(path)
    NOTEBOOKS.run(cells)
    assert path.with_suffix(".md").read_text("utf-8") == NOTEBOOKS.markdown(path.stem, cells)
    kept = json.loads(path.with_suffix(".ipynb").read_text("utf-8"))
    assert ["".join(cell["source"]) for cell in kept["cells"]] == [cell.source for cell in cells]
    for name in re.findall(r"images/notebooks/([\w.-]+)", NOTEBOOKS.markdown(path.stem, cells)):
        assert (NOTEBOOKS.IMAGES / name).is_file()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    """A command has a sentence, an example that calls it, `--json`, and help for each of its parameters."""
    command = COMMANDS[name]
    assert REFERENCE.summary_of(command).split("\n")[0].endswith((".", ":"))
    examples = REFERENCE.examples_of(command)
    assert name in [_command_in(_words(example)) for example in examples]
    assert [example for example in examples if example.startswith("quintain ") and not _is_known(example)] == []
    parameters = [item for item in command.params if item.name != "help"]
    assert [item.name for item in parameters if not item.help] == []
    assert "json" in {item.name for item in parameters}


@pytest.mark.parametrize("variable", [name for name, _, _ in describe()])
def test_every_setting_is_documented(variable: str, cli_pages: dict[str, str]) -> None:
    """A setting that can be given in the environment stands in the reference, with what it does."""
    row = next(line for line in cli_pages["settings.md"].splitlines() if line.startswith(f"| `{variable}` |"))
    assert len(row.split("|")[3].strip()) > 10


@pytest.mark.parametrize(("family", "name", "member"), MEMBERS, ids=[f"{f.family}-{n}" for f, n, _ in MEMBERS])
def test_every_member_of_a_family_is_documented(family: Any, name: str, member: Any, cli_pages: dict[str, str]) -> None:
    """A task kind, metric, baseline or other extension says what it is, and the reference repeats it."""
    section = cli_pages["extensions.md"].partition(f"(`{family.group}`)")[2].partition("\n## ")[0]
    assert f"| `{name}` | " in section
    assert len(REFERENCE.about(member)) > 10


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_relative_links_lead_somewhere(page: Path) -> None:
    """Every link to a file of the repository finds it, and every link to a heading finds that."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    broken = [target for target in LINK.findall(text) if not _leads_somewhere(page, target)]
    assert broken == []


def _leads_somewhere(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return True
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return False
    return not anchor or anchor in _anchors(file)


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "cli"], ids=lambda page: page.name)
def test_documents_name_only_commands_that_exist(page: Path) -> None:
    """Each `quintain …` line in a code block calls a command that there is, with options that it has."""
    blocks = re.findall(r"```(?:sh|console|bash)\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    wrong = [line for line in lines if line.startswith("quintain ") and not _is_known(line)]
    assert wrong == []


def _words(line: str) -> list[str]:
    """Split what the shell would give to `quintain`, without the options before the command."""
    words = shlex.split(re.split(r" [|>] ", line)[0], comments=True)
    while len(words) > 2 and words[1] in {"-w", "--workspace"}:
        del words[1:3]
    return words


def _command_in(words: list[str]) -> str | None:
    return next((" ".join(words[:n]) for n in (4, 3, 2, 1) if " ".join(words[:n]) in COMMANDS), None)


def _is_known(line: str) -> bool:
    words = _words(line)
    name = _command_in(words)
    if name is None:
        return words[1:] in (["--version"], ["--help"])
    known = {option for item in COMMANDS[name].params for option in [*item.opts, *item.secondary_opts]} | {"--help"}
    return all(word.partition("=")[0] in known for word in words if word.startswith("--"))


def test_the_picture_of_rooms_shows_every_room() -> None:
    """docs/concepts.md draws the rooms that the import contract knows, and CONTRIBUTING lists them in its order."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    contract = next(one["layers"] for one in contracts if one["name"] == "The rooms of services, one direction")
    # A module among them, such as the list of events, is no room.
    rooms = {path.name for path in (ROOT / "src/quintain/services").iterdir() if path.is_dir()}
    layers = [layer for layer in contract if rooms >= set(layer.split(" : "))]
    picture = (
        (ROOT / "docs" / "concepts.md").read_text("utf-8").partition("## Where it is in the code")[2].split("```")[1]
    )
    drawn = {word for line in picture.splitlines() for word in re.sub("[─┴│]", " ", line).split()}
    assert {room for layer in layers for room in layer.split(" : ")} <= drawn
    lines = (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()
    assert [line.split("■")[0].strip() for line in lines if "■" in line] == layers


def test_the_architecture_names_files_that_are_there() -> None:
    """Every path on the page on architecture is one of a file or a folder of the source, or the end of one."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    named = {path.rstrip("/") for path in re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?|[a-z_]+\.py)`", text)}
    source = ROOT / "src" / "quintain"
    paths = {path.relative_to(ROOT).as_posix() for path in (*source.rglob("*"), *(ROOT / "tests").rglob("*"))}
    missing = {name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in paths)}
    assert len(named) > 40
    assert not {name for name in missing if not (ROOT / name).exists()}
