"""The commands that make a workspace and look after it."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.ledger import Posting, transfer
from quintain.core.people import OPERATOR, RoleName
from quintain.core.rounds import Money
from quintain.services.access import accounts, links
from quintain.services.house.health import readiness
from quintain.services.pay import ledger
from quintain.services.pay.earnings import earn
from quintain.services.tasks.definitions import find_row, put_task
from quintain.settings import Settings
from quintain.store.blobs import Blobs
from quintain.store.database import connect, transaction
from tests.collecting import TASK
from tests.people import make_person

Run = Callable[..., Result]


@pytest.fixture
def quintain(cli: Run, settings: Settings, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs a command on the workspace, on either kind of database."""
    if settings.database_url:
        monkeypatch.setenv("QUINTAIN_DATABASE_URL", settings.database_url)
    return lambda *arguments: cli("--workspace", settings.workspace, *arguments)


def _json(result: Result) -> Any:
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_init_makes_a_workspace_and_a_link_that_works(cli: Run, tmp_path: Path) -> None:
    """The link that `init` prints opens the admin's account; a second `init` on the folder is refused."""
    made = _json(cli("init", tmp_path / "new", "--json"))
    assert made["admin"] == "admin"
    engine = connect(f"sqlite:///{tmp_path / 'new' / 'quintain.db'}")
    with Session(engine) as db:
        assert links.redeem_link(db, made["url"].rpartition("/")[2], "a good long password").is_admin
    engine.dispose()
    again = cli("init", tmp_path / "new")
    assert again.exit_code == 1
    assert "already" in again.stderr
    assert again.stdout == ""


def test_init_prints_only_the_link_to_stdout(run_cli: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """Run as a real process, the result is one line that a script can use, and messages go to stderr."""
    done = run_cli("init", env={"QUINTAIN_PUBLIC_URL": "https://q.example.org", "QUINTAIN_WORKSPACE": "here"})
    assert done.returncode == 0
    assert done.stdout.startswith("https://q.example.org/link/")
    assert len(done.stdout.splitlines()) == 1
    assert "serve" in done.stderr


@pytest.mark.parametrize("command", ["serve", "worker", "status"])
def test_an_engine_that_cannot_be_reached_is_refused_at_the_start(
    quintain: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Whatever begins to work says that nothing would be run; an address that is none is refused likewise."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    monkeypatch.setenv("QUINTAIN_ENGINE", f"ray://127.0.0.1:{port}")
    refused = quintain(command)
    assert refused.exit_code == 1
    assert f"Nothing answers at ray://127.0.0.1:{port}" in refused.stderr
    monkeypatch.setenv("QUINTAIN_ENGINE", "head:6379")
    refused = quintain(command)
    assert refused.exit_code == 1
    assert "neither local nor ray://host:port" in refused.stderr
    monkeypatch.delenv("QUINTAIN_ENGINE")
    monkeypatch.setenv("QUINTAIN_PUBLICURL", "https://bench.example.org")
    assert "did you mean PUBLIC_URL?" in quintain(command).stderr


def test_users_are_added_listed_granted_and_erased(quintain: Run, db: Session) -> None:
    """The whole life of an account, each step as JSON."""
    added = _json(quintain("user", "add", "wilma", "--email", "w@example.org", "--role", "worker", "--json"))
    assert added["name"] == "wilma"
    assert links.look_up_link(db, added["url"].rpartition("/")[2])[0] == "wilma"
    granted = _json(quintain("user", "grant", "wilma", "builder", "--json"))["grants"]
    assert [(one["role"], one["task"]) for one in granted] == [("worker", None), ("builder", None)]
    assert len(_json(quintain("user", "revoke", "wilma", "worker", "--json"))["grants"]) == 1
    assert "/link/" in _json(quintain("user", "link", "wilma", "--json"))["url"]
    assert [user["name"] for user in _json(quintain("user", "list", "--json"))["users"]] == ["wilma"]
    assert _json(quintain("user", "list", "nobody", "--json")) == {"users": [], "total": 0}
    assert _json(quintain("user", "delete", "wilma", "--yes", "--json")) == {"deleted": "wilma", "given_up": []}
    db.rollback()  # see what the commands did since
    assert accounts.list_people(db, OPERATOR) == []


def test_commands_speak_to_people_too(quintain: Run, tmp_path: Path) -> None:
    """Without --json there are tables and sentences; what a person typed is not taken for markup."""
    assert "/link/" in quintain("user", "add", "wilma", "--display-name", "[bold]W[/bold]").stdout
    listed = quintain("user", "list").stdout
    assert "[bold]W[/bold]" in listed
    assert "wilma: worker, expert" in quintain("user", "grant", "wilma", "expert").stdout
    assert "wilma: expert" in quintain("user", "revoke", "wilma", "worker").stdout
    assert "http" in quintain("user", "link", "wilma").stdout
    assert "KiB" in quintain("user", "export", "wilma", tmp_path / "wilma.zip").stdout
    assert (tmp_path / "wilma.zip").stat().st_size > 100
    assert "erased" in quintain("user", "delete", "wilma", "--yes").stdout


def test_erasing_asks_first(quintain: Run, db: Session) -> None:
    """Without --yes and without an answer nobody is erased."""
    quintain("user", "add", "wilma")
    assert quintain("user", "delete", "wilma").exit_code == 1
    db.rollback()  # see what the commands did since
    assert len(accounts.list_people(db, OPERATOR)) == 1


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["user", "add", "not a name"], "not a name", 1),
        (["user", "add", "wilma", "--email", "x"], "e-mail address", 1),
        (["user", "grant", "nobody", "worker"], "no account called 'nobody'", 1),
        (["user", "grant", "nobody", "king"], "king", 2),
        (["user", "link", "nobody"], "no account", 1),
        (["user", "delete", "nobody", "--yes"], "no account", 1),
        (["user", "export", "nobody", "x.zip"], "no account", 1),
        (["restore", "no-such-file.zip"], "There is no file", 1),
        (["nonsense"], "nonsense", 2),
    ],
)
def test_what_is_wrong_is_said_on_stderr(quintain: Run, arguments: list[str], said: str, code: int) -> None:
    """Bad input exits with 1, wrong usage with 2; stdout stays empty and there is no traceback."""
    result = quintain(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_without_a_workspace_commands_say_how_to_make_one(cli: Run, tmp_path: Path) -> None:
    """Every command on a folder that is none names `quintain init`."""
    for arguments in (["status"], ["backup"], ["upgrade"], ["user", "list"]):
        result = cli("--workspace", tmp_path / "none", *arguments)
        assert result.exit_code == 1
        assert "quintain init" in result.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("url", "said"), [("mysql://x/y", "mysql"), ("postgresql://u:secret@127.0.0.1:1/x", "does not answer")]
)
def test_a_wrong_database_is_explained(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, said: str
) -> None:
    """An address of another kind, or of a server that is not there, is named without its password."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", url)
    result = cli("--workspace", tmp_path / "w", "init")
    assert result.exit_code == 1
    assert said in result.stderr
    assert "secret" not in result.stderr


def test_status_counts_and_checks(quintain: Run, workspace: Workspace) -> None:
    """What there is, and that the parts work, for people and for programs."""
    quintain("user", "add", "wilma")
    workspace.blobs.put(b"12345")
    found = _json(quintain("status", "--json"))
    assert found["status"]["rows"]["users"] == 1
    assert (found["status"]["blobs"], found["status"]["blob_bytes"]) == (1, 5)
    assert found["status"]["pending"] == []
    assert [(check["name"], check["ok"]) for check in found["checks"]] == [
        ("database", True),
        ("migrations", True),
        ("blobs", True),
    ]
    assert "check: blobs" in quintain("status").stdout


def test_status_says_whether_the_books_agree(quintain: Run, workspace: Workspace) -> None:
    """With --check, what was booked is compared with what people earned; what differs is named, and the exit is 1."""
    with workspace.session() as db:
        owner, worker = make_person(db, "olga", RoleName.OWNER), make_person(db, "willy", RoleName.WORKER)
        put_task(db, owner, TASK)
        with transaction(db):
            task_id, user = find_row(db, "mood").id, worker.user_id or 0
            earn(db, user, task_id, kind="base", work="piece", money=Money(10, "USD"))
    found = quintain("status", "--check")
    assert (found.exit_code, "1 transactions, 0 differences" in found.stdout) == (0, True)
    assert _json(quintain("status", "--check", "--json"))["books"]["discrepancies"] == []
    with workspace.session() as db, transaction(db):
        ledger.post(db, [Posting("slip", "slip", transfer(("worker:1", "base.paid"), ("x", "y"), 5, "USD"))])
    found = quintain("status", "--check")
    assert (found.exit_code, "worker:1 base.paid USD: -0.05 USD, not 0.00 USD" in found.stdout) == (1, True)


def test_a_backup_is_made_and_restored_by_command(quintain: Run, cli: Run, settings: Settings, tmp_path: Path) -> None:
    """The default place is in the workspace; a new workspace is made from the file, an old one only by force."""
    quintain("user", "add", "wilma")
    made = _json(quintain("backup", "--json"))
    assert Path(made["file"]).parent == settings.workspace / "backups"
    assert "rows" in quintain("backup", tmp_path / "b.zip").stdout
    assert "not empty" in quintain("restore", tmp_path / "b.zip").stderr
    restored = _json(quintain("restore", made["file"], "--force", "--json"))
    assert restored["rows"]["users"] == 1
    assert _json(quintain("upgrade", "--json")) == {"migrations": [], "backup": None}
    assert "nothing was done" in quintain("upgrade").stdout


def test_a_sqlite_copy_is_made_from_a_backup(quintain: Run, cli: Run, tmp_path: Path) -> None:
    """A backup of either database becomes a new workspace in a folder; a broken one makes no folder."""
    quintain("user", "add", "wilma")
    quintain("backup", tmp_path / "b.zip")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("QUINTAIN_DATABASE_URL", raising=False)
        assert cli("--workspace", tmp_path / "copy", "restore", tmp_path / "b.zip").exit_code == 0
        users = _json(cli("--workspace", tmp_path / "copy", "user", "list", "--json"))["users"]
        (tmp_path / "b.zip").write_bytes(b"PK broken")
        assert cli("--workspace", tmp_path / "third", "restore", tmp_path / "b.zip").exit_code == 1
    assert [user["name"] for user in users] == ["wilma"]
    assert not (tmp_path / "third").exists()


def test_readiness_names_what_is_wrong(db: Session, tmp_path: Path) -> None:
    """A blob folder that cannot be made, or a database that is gone, is a failed check and not an exception."""
    (tmp_path / "file").write_text("")
    checks = {check.name: check for check in readiness(db, Blobs(tmp_path / "file" / "blobs")).checks}
    assert (checks["database"].ok, checks["migrations"].ok, checks["blobs"].ok) == (True, True, False)
    assert "cannot be written" in checks["blobs"].detail
    gone = connect("postgresql://u:secret@127.0.0.1:1/x")
    with Session(gone) as nowhere:
        checks = {check.name: check for check in readiness(nowhere, Blobs(tmp_path / "blobs")).checks}
    assert (checks["database"].ok, checks["migrations"].ok, checks["blobs"].ok) == (False, False, True)
    assert "does not answer" in checks["database"].detail
