"""Whatever is in a file, a command that reads it says so and exits with 1; it never shows a traceback."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.data import parquet
from quintain.services.house.backup import create_backup
from quintain.services.tasks.definitions import put_task
from tests import damage

TASK = 'name = "mood"\nkind = "text-classification"\nlabels = ["a", "b"]\n'
FORMS = ("jsonl", "csv", "parquet")
Cli = Callable[..., Result]
Command = Callable[[Path], Sequence[str | Path]]

# How each command is called with the file; those that need a workspace find one.
COMMANDS: dict[str, Command] = {
    "data check": lambda file: ["data", "check", file, "--task", "task.toml", "--role", "test"],
    "data import": lambda file: ["data", "import", file, "--task", "mood", "--name", "x", "--role", "test"],
    "data perturb": lambda file: ["data", "perturb", file, "--kind", "typos", "--out", "out.jsonl"],
    "data overlap": lambda file: ["data", "overlap", "whole.csv", file, "--field", "text"],
    "labels aggregate": lambda file: ["labels", "aggregate", file, "--out", "out.csv"],
    "labels agreement": lambda file: ["labels", "agreement", file],
    "labels workers": lambda file: ["labels", "workers", file],
    "labels expand": lambda file: ["labels", "expand", file, "--out", "out.csv"],
    "study human": lambda file: ["study", "human", file],
    "board rank": lambda file: ["board", "rank", file, "--column", "model=id", "--skip", SKIPPED],
    "evaluate score, gold": lambda file: ["evaluate", "score", file, "whole.csv", "--metric", "accuracy"],
    "evaluate score": lambda file: ["evaluate", "score", "whole.csv", file, "--metric", "accuracy"],
    "validate open": lambda file: ["validate", "open", "mood/x", "--items", file],
    "validate gold": lambda file: ["validate", "gold", "add", "mood/y", file],
}
SKIPPED = "item,worker,label,text,answer,prediction"


@pytest.fixture
def database() -> str:
    """Commands are tested on SQLite; what they write is tested on both."""
    return "sqlite"


@pytest.fixture(scope="module", autouse=True)
def _probed_once() -> Iterator[None]:
    """Let the process of its own read each Parquet file once, and not for each of the commands that it is given to."""
    faults: dict[bytes, str] = {}
    probe = parquet._fault_of

    def remember(path: Path, size: int, rows: int, *, at_once: bool) -> str:
        data = path.read_bytes()
        if data not in faults:
            faults[data] = probe(path, size, rows, at_once=at_once)
        return faults[data]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "_fault_of", remember)
        yield


@pytest.fixture
def run(cli: Cli, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """A function that runs a command on a file, in a folder with a workspace, a task and a whole table."""
    with workspace.session() as db:
        put_task(db, OPERATOR, TASK)
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.toml").write_text(TASK)
    (tmp_path / "whole.csv").write_bytes(damage.csv())
    assert cli("validate", "open", "mood/y", "--items", "whole.csv").exit_code == 0
    return cli


def explained(result: Result, *, refused: bool) -> str:
    """Say what is wrong with how a command ended; "" where it said what is wrong with the file."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"{type(result.exception).__name__}: {str(result.exception)[:200]}"
    if "Traceback" in result.output:
        return "a traceback"
    if result.exit_code not in ((1,) if refused else (0, 1)):
        return f"exit code {result.exit_code}: {result.output[-300:]}"
    if result.exit_code == 1 and not result.output.strip():
        return "nothing was said"
    # A result has whole what is in the file, however long; whoever is refused, or only told something, reads little.
    said = result.output if result.exit_code else result.stderr
    return "" if len(said) < 50_000 else "too much was said"


def troubles(run: Cli, folder: Path, command: str, files: Iterator[tuple[str, bytes]], form: str) -> dict[str, str]:
    """Run *command* on *files*, and give what went wrong with those that were not explained."""
    path = folder / f"given.{form}"
    found = {}
    for name, data in files:
        path.write_bytes(data)
        if said := explained(run(*COMMANDS[command](path)), refused=not name.startswith("#")):
            found[name] = said
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_no_table_is_refused(run: Cli, tmp_path: Path, command: str, form: str) -> None:
    """Nesting, digits, encodings, pages: every command exits with 1 and says what is wrong."""
    assert troubles(run, tmp_path, command, damage.named(form), form) == {}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_with_any_damage_is_read_or_refused(run: Cli, tmp_path: Path, command: str, form: str) -> None:
    """Bytes turned around, cut and doubled: the file is still good, or the command says why not."""
    files = ((f"# {n}", data) for n, data in enumerate(damage.at_random(form, 15 if form == "parquet" else 60)))
    assert troubles(run, tmp_path, command, files, form) == {}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_whole_file_is_read(run: Cli, tmp_path: Path, command: str) -> None:
    """Each command does its work on the file as it was: what is refused above is refused for its damage."""
    (tmp_path / "given.jsonl").write_bytes(damage.jsonl())
    result = run(*COMMANDS[command](tmp_path / "given.jsonl"))
    assert result.exit_code == 0, result.output


OTHER: dict[str, tuple[str, Command]] = {
    "task check": ("task.toml", lambda file: ["task", "check", file]),
    "task add": ("task.toml", lambda file: ["task", "add", file]),
    "round new": ("round.toml", lambda file: ["round", "new", file, "--check"]),
    "quiz new": ("quiz.toml", lambda file: ["task", "quiz", "new", "mood/q", file, "--check"]),
    "quiz new in JSON": ("quiz.json", lambda file: ["task", "quiz", "new", "mood/q", file, "--check"]),
    "board set": ("board.toml", lambda file: ["board", "set", "mood", file]),
    "board verify": ("board.json", lambda file: ["board", "verify", file]),
    "data check, SQuAD": ("squad.json", lambda file: ["data", "check", file, "--task", "qa.toml", "--role", "test"]),
    "evaluate score, JSON": ("said.json", lambda file: ["evaluate", "score", "whole.csv", file]),
    "validate policy": ("policy.toml", lambda file: ["validate", "policy", "mood/y", "--set", file]),
    "model card": ("card.md", lambda file: ["model", "card", "mood/none", "--set", file]),
    "restore": ("backup.zip", lambda file: ["-w", "copy", "restore", file]),
    "data plan": ("plan.toml", lambda file: ["data", "check", "whole.csv", "--task", "task.toml", "--plan", file]),
}
TEXTS = {
    "bytes of no encoding": b"\xff\xfe\xfa" * 50,
    "nesting in TOML": b"a = " + damage.DEEP.encode(),
    "nesting that is not closed": b"a = " + b"[" * 20_000,
    "a key of many parts": b".".join([b"a"] * 50_000) + b" = 1",
    "a heading of many parts": b"[" + b".".join([b"a"] * 50_000) + b"]",
    "many digits in TOML": b"a = " + damage.DIGITS.encode(),
    "nesting in JSON": b'{"format": ' + damage.DEEP.encode() + b"}",
    "many digits in JSON": b'{"format": ' + damage.DIGITS.encode() + b', "data": [], "questions": []}',
    "no number": b'{"format": NaN, "data": [{"paragraphs": [{"qas": [NaN]}]}]}',
    "half a surrogate pair": b'{"r1": "\\ud800", "data": [{"paragraphs": [{"context": "\\ud800"}]}]}',
    "a start beyond all texts": b'{"data": [{"paragraphs": [{"context": "a", "qas": [{"id": 1, "question": "b", '
    b'"answers": [{"text": "a", "answer_start": 99999999999999999999999}]}]}]}]}',
}


@pytest.mark.parametrize("command", OTHER)
def test_a_definition_that_is_none_is_refused(run: Cli, tmp_path: Path, command: str) -> None:
    """Files that people write by hand, and those that we wrote: nesting, digits and bytes are refused with 1."""
    name, call = OTHER[command]
    (tmp_path / "qa.toml").write_text('name = "qa"\nkind = "extractive-qa"\n')
    (tmp_path / "given").mkdir()
    found = {}
    for what, data in TEXTS.items():
        (tmp_path / "given" / name).write_bytes(data)
        if said := explained(run(*call(tmp_path / "given" / name)), refused=True):
            found[what] = said
    assert found == {}


@pytest.mark.parametrize("rounds", [10, pytest.param(150, marks=pytest.mark.slow)])
def test_a_backup_with_a_turned_byte_is_refused_or_whole(
    run: Cli, workspace: Workspace, tmp_path: Path, rounds: int
) -> None:
    """Wherever the byte lies, `restore` says that the backup is damaged, or restores all of it."""
    whole = tmp_path / "whole.zip"
    with workspace.session() as db:
        create_backup(db, workspace.blobs, OPERATOR, whole)
    data = whole.read_bytes()
    found = {}
    for number in range(rounds):
        # The directory at the end is where zipfile is easiest to confuse, so half of the bytes are turned there.
        place = len(data) * number // rounds if number % 2 else len(data) - 1 - number * 7 % 6000
        broken = bytearray(data)
        broken[place] ^= 1 << number % 8
        (tmp_path / "broken.zip").write_bytes(bytes(broken))
        result = run("-w", tmp_path / f"copy{number}", "restore", tmp_path / "broken.zip")
        if said := explained(result, refused=False):
            found[place] = said
    assert found == {}
    assert run("-w", tmp_path / "copy", "restore", whole).exit_code == 0


def test_a_backup_whose_rows_do_not_fit_is_refused(run: Cli, workspace: Workspace, tmp_path: Path) -> None:
    """Rows that were changed together with the manifest are refused, and the workspace stays as it was."""
    whole, changed = tmp_path / "whole.zip", tmp_path / "changed.zip"
    with workspace.session() as db:
        create_backup(db, workspace.blobs, OPERATOR, whole)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(changed, "w") as target:
        manifest = json.loads(source.read("manifest.json"))
        for name in source.namelist():
            data = source.read(name)
            if name == "tables/tasks.jsonl":
                data += data.splitlines()[0] + b"\n"
                manifest["tables"]["tasks"] = {"rows": 2, "sha256": hashlib.sha256(data).hexdigest()}
            if name != "manifest.json":
                target.writestr(name, data)
        target.writestr("manifest.json", json.dumps(manifest))
    result = run("restore", changed, "--force")
    assert explained(result, refused=True) == ""
    assert "damaged" in result.output
    assert "mood" in run("task", "list").output
