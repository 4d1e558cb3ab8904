"""What a panel calls a person stays inside: every page, endpoint, command, file and log line is searched for it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.actors import actor_of
from quintain.services.access.links import make_link, redeem_link
from quintain.services.validate.console.manage import open_validation
from quintain.store.blobs import Blobs
from quintain.store.queries.collect import panels
from quintain.web.routes import API, PAGES
from tests.collecting import RUNNERS, add_round, submit
from tests.people import make_person
from tests.validation_support import judge_all
from tests.web_support import PASSWORD, browser_of, post, token_for

PID = "5eed0123456789abcdef5eed"  # in the form of Prolific's
DOORS = {
    "prolific": (
        'provider = "prolific"\ncompletion_code = "C1"',
        f"PROLIFIC_PID={PID}&STUDY_ID=OUTSIDE-study-1&SESSION_ID=OUTSIDE-session-1",
        PID,
    ),
    "panel": ('provider = "panel"\nid_parameter = "who"', "who=OUTSIDE-pid-2", "OUTSIDE-pid-2"),
    "mturk": (
        'provider = "mturk"',
        "workerId=OUTSIDE-pid-3&hitId=OUTSIDE-hit&assignmentId=OUTSIDE-a&turkSubmitTo=https://www.mturk.com",
        "OUTSIDE-pid-3",
    ),
}
LEAVES = re.compile(r"export|download|attempts|outcomes|datasets|board")
FORMATS = ("csv", "tsv", "jsonl", "parquet")
EXPORTS = [f"/tasks/mood/rounds/{number}/export?form={form}" for number in (1, 2, 3) for form in FORMATS]
VALUES = {"task": "mood", "number": "1", "name": "1", "model": "counter", "person": "olga", "quiz": "intro"}


def come_and_write(workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, folder: Path) -> list[Actor]:
    """Let one person from each panel come in by the door and write."""
    people = []
    for number, (provider, (entry, query, outside)) in enumerate(DOORS.items()):
        blank = '[[conditions]]\nname = "blank"\nprompt = false'
        info = add_round(db, blobs, owner, folder, prompts=0, tables=f"{blank}\n[entry]\n{entry}")
        with browser_of(workspace) as client:
            assert client.get(f"/enter/{info.entry_key}?{query}").status_code == 303
            place = f"/tasks/mood/rounds/{info.number}/write"
            key = str(post(client, place, place).headers["location"]).rpartition("/")[2]
        db.rollback()
        user = panels.person(db, provider, outside)
        assert user is not None
        people.append(actor_of(db, user))
        submit(db, blobs, people[-1], key, f"Good grief, said {['Ann', 'Bob', 'Cem'][number]}, number {number}.")
    return people


def paths(table: list, prefix: str) -> list[str]:
    """Give the addresses of everything that can be looked at with the names above."""
    found = [prefix + one.path.format(**VALUES) for one in table if one.method == "GET" and _known(one.path)]
    assert len(found) > 20
    return found


def _known(path: str) -> bool:
    return set(re.findall(r"\{(\w+)\}", path)) <= set(VALUES)


@pytest.mark.slow
def test_no_door_of_ours_lets_an_outside_id_out(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """Pages and API for owners and admins, exports in every format, commands, logs; accounts leave in no export."""
    monkeypatch.setattr(Workspace, "runners", RUNNERS)
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    caplog.set_level(logging.DEBUG)
    people = come_and_write(workspace, db, blobs, owner, tmp_path)
    open_validation(db, owner, "mood/1", 'items = "all"\njudgements = 2\nminimum = 1\n')
    judge_all(db, people[1:], lambda inputs: "negative", ref="mood/1")
    # Ours alone: the client of the test logs what it asks for.
    seen = {"log": " ".join(str(vars(one)) for one in caplog.records if one.name.startswith("quintain"))}
    assert "/enter/" in seen["log"]
    for name in (owner.name, make_person(db, "ada", RoleName.ADMIN).name):
        redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
        headers = {"authorization": f"Bearer {token_for(workspace, name)}"}
        wanted = re.compile("" if name == owner.name else "users|audit|admin|people|/me")
        with browser_of(workspace, name) as client:
            pages = [*paths(PAGES, ""), *(f"/tasks/mood/rounds/1/eligibility?name={one.name}" for one in people)]
            seen |= {f"{name} {path}": _text(client, path) for path in pages if wanted.search(path)}
            api = [*paths(API, "/api/v1"), *(f"/api/v1/users/{one.name}" for one in people)]
            seen |= {f"{name} {path}": _text(client, path, headers) for path in api if wanted.search(path)}
            if name == owner.name:
                seen |= {path: _text(client, path) for path in EXPORTS}
    for command in ("round status mood/1", "round eligible mood/1", "user list", "validate status mood/1"):
        seen[f"quintain {command}"] = cli(*command.split(), "--json").stdout
    for form in ("csv", "jsonl", "parquet"):
        file = tmp_path / f"out.{form}"
        for command in (
            f"round export mood/1 {file}",
            f"validate export mood/1 --out {file}",
            f"validate export mood/1 --labels --out {file}",
        ):
            file.unlink(missing_ok=True)
            done = cli(*command.split())
            assert done.exit_code == 0, done.output
            seen[f"quintain {command}"] = file.read_bytes().decode("latin-1")
    assert len([path for path, text in seen.items() if "Good grief" in text]) > 15
    assert [path for path, text in seen.items() if "OUTSIDE" in text or PID in text] == []
    leaving = {path: text for path, text in seen.items() if LEAVES.search(path)}
    assert [path for path, text in leaving.items() if any(one.name in text for one in people)] == []


def _text(client: TestClient, path: str, headers: dict[str, str] | None = None) -> str:
    answer = client.get(path, headers=headers)
    assert answer.status_code < 500, path
    return answer.content.decode("latin-1")
