"""Submitting over the API of a real server: in parts, through breakdowns, and talking to the model afterwards."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from typer.testing import Result

import quintain
from quintain.client import Client
from quintain.client.submit import upload
from quintain.client.transport import Transport
from quintain.compose import Workspace, create_workspace
from quintain.core.errors import BadInput, Forbidden, NotSignedIn, TooMany, Unavailable
from quintain.core.people import RoleName
from quintain.engine.archives import packed
from quintain.settings import Settings
from tests.evaluation import add_data, add_task
from tests.integration.evaluate.test_submit import folder_of
from tests.people import make_person
from tests.web_support import running, token_for


@pytest.fixture
def served(sqlite_template: Path, tmp_path: Path) -> Iterator[tuple[Workspace, str]]:
    """A served workspace with a task, a data set and a builder called bert."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    shutil.copyfile(sqlite_template, folder / "quintain.db")
    workspace = create_workspace(Settings(workspace=folder, submissions_per_day=2))
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        make_person(db, "bert", RoleName.BUILDER)
        make_person(db, "wilma", RoleName.WORKER)
        add_task(db, owner)
        add_data(db, workspace.blobs, owner, tmp_path)
    with running(workspace) as url:
        yield workspace, url
    workspace.close()


@pytest.fixture
def client(served: tuple[Workspace, str]) -> Iterator[Client]:
    """A client that acts for the builder."""
    workspace, url = served
    with quintain.Client(url, token_for(workspace, "bert")) as made:
        yield made


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Path]:
    """A packed model."""
    folder = folder_of(tmp_path / "m", noise=json.dumps([n * 7919 % 104729 for n in range(40_000)]))
    with packed(folder, tmp_path / "m.tar.gz") as made:
        yield made


def test_a_model_goes_up_and_answers(client: Client, archive: Path) -> None:
    """Upload, submission, quota and a live answer, all through the client."""
    seen: list[tuple[int, int]] = []
    made = client.submit(archive, "mood", name="mine", progress=lambda done, total: seen.append((done, total)))
    assert made["ref"] == "mood/mine@1"
    assert made["cells"] > 10
    assert made["left_today"] == 1
    assert seen[0][0] == 0
    assert seen[-1] == (archive.stat().st_size, archive.stat().st_size)
    found = client.predict("mood/mine", [{"text": "Anything."}])
    assert found[0].answer == "positive"


class Flaky(Transport):
    """A connection that breaks after every other part, sometimes after the server has taken it."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(url, token, 30)
        self.parts = 0

    def ask(self, method: str, path: str, **request: Any) -> Any:
        """Break now and then."""
        if method == "PUT":
            self.parts += 1
            if self.parts % 3 == 1:
                raise Unavailable("the cable was pulled")
            if self.parts % 3 == 2:
                super().ask(method, path, **request)
                raise Unavailable("the cable was pulled too late")
        return super().ask(method, path, **request)


def test_an_upload_survives_breakdowns(served: tuple[Workspace, str], client: Client, archive: Path) -> None:
    """Parts that were lost are sent again, parts that arrived twice count once; the archive is whole in the end."""
    workspace, url = served
    flaky = Flaky(url, token_for(workspace, "bert"))
    size = archive.stat().st_size
    upload(flaky, archive, lambda done, total: None, part=size // 4)
    assert flaky.parts > 8
    flaky.close()
    sent: list[int] = []
    assert client.submit(archive, "mood", name="mine", progress=lambda done, total: sent.append(done))["new"]
    assert sent == [size]  # it was all there already
    assert list((workspace.blobs.root / "uploads").iterdir()) == []


def test_refusals_come_with_their_faults(served: tuple[Workspace, str], client: Client, tmp_path: Path) -> None:
    """A bad model is refused in the words of the check; workers and strangers are refused at all."""
    workspace, url = served
    with packed(folder_of(tmp_path / "bad", "x = 1"), tmp_path / "bad.tar.gz") as archive:
        with pytest.raises(BadInput) as caught:
            client.submit(archive, "mood", name="bad")
        assert [fault.file for fault in caught.value.faults] == ["handler.py"]
        with Client(url, token_for(workspace, "wilma")) as worker, pytest.raises(Forbidden):
            worker.submit(archive, "mood", name="bad")
        with Client(url) as nobody, pytest.raises(NotSignedIn):
            nobody.submit(archive, "mood", name="bad")


def test_the_quota_reaches_the_client(client: Client, tmp_path: Path) -> None:
    """The third of the day is refused with when to come back."""
    for number in range(3):
        folder = folder_of(tmp_path / f"m{number}", f"def predict(b): return ['negative'] * len(b)  # {number}")
        with packed(folder, tmp_path / "m.tar.gz") as archive:
            if number < 2:
                assert client.submit(archive, "mood", name="mine")["number"] == number + 1
            else:
                with pytest.raises(TooMany, match="submitted 2 models") as caught:
                    client.submit(archive, "mood", name="mine")
                assert caught.value.retry_after > 0


def test_a_part_that_is_too_large_is_refused(served: tuple[Workspace, str]) -> None:
    """The door stays closed to what does not announce itself."""
    workspace, url = served
    headers = {"authorization": f"Bearer {token_for(workspace, 'bert')}"}
    start = httpx2.post(f"{url}/api/v1/uploads", json={"size": 5 << 20, "sha256": "0" * 64}, headers=headers)
    assert start.status_code == 201
    address = f"{url}/api/v1/uploads/{start.json()['id']}"
    assert httpx2.put(address, content=bytes(3 << 20), params={"offset": 0}, headers=headers).status_code == 413
    assert httpx2.get(address, headers=headers).json()["received"] == 0
    assert httpx2.put(address, content=b"x", params={"offset": 9}, headers=headers).status_code == 409


def test_the_command_line_submits_to_a_server(
    served: tuple[Workspace, str], cli: Callable[..., Result], tmp_path: Path
) -> None:
    """`--url` and `--token` send it there; the reference is the result."""
    workspace, url = served
    folder = folder_of(tmp_path / "m", manifest='task = "mood"\nname = "sent"\n')
    result = cli("model", "submit", folder, "--url", url, "--token", token_for(workspace, "bert"))
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == "mood/sent@1"
    assert "1 submissions are left today" in result.stderr
    wrong = cli("model", "submit", folder, "--url", "http://127.0.0.1:9", "--token", "qt_x")
    assert wrong.exit_code == 1
    assert "cannot be reached" in wrong.stderr
