"""Probes answer whatever hangs: within two seconds, from no thread that requests may have taken, naming nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.errors import OutOfOrder
from quintain.services.house import probes
from quintain.services.house.health import HouseReadiness
from quintain.services.house.probes import Watch
from quintain.store.blobs import Blobs
from quintain.web.app import create_app

CROWD = 150  # more than there are threads


@dataclass(slots=True)
class HeldStore:
    """A store that has stopped to answer until somebody lets it, and how often it was asked."""

    released: threading.Event
    asked: int = 0

    def check_writable(self) -> None:
        """Wait as one would for a network that is gone."""
        self.asked += 1
        self.released.wait(30)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldStore]:
    """Stop the object store."""
    held = HeldStore(threading.Event())
    monkeypatch.setattr(Blobs, "check_writable", held.check_writable)
    monkeypatch.setattr(probes, "PATIENCE_S", 0.2)
    yield held
    held.released.set()


def test_a_held_object_store_holds_no_probe(workspace: Workspace, store: HeldStore) -> None:
    """However many ask, each hears which part hangs, `/healthz` answers, and the store is asked a single time."""
    with TestClient(create_app(workspace)) as client, ThreadPoolExecutor(CROWD) as people:
        answers = [people.submit(client.get, "/readyz") for _ in range(CROWD)]
        assert client.get("/healthz").json() == {"status": "ok"}
        outcomes = [answer.result() for answer in answers]
        assert {answer.status_code for answer in outcomes} == {503}
        checks = outcomes[0].json()["checks"]
        assert (checks["database"], checks["blobs"]) == ("ok", "does not answer")
        assert store.asked == 1
        store.released.set()
        for _ in range(100):
            time.sleep(0.05)
            if client.get("/readyz").status_code == 200:
                break
        assert client.get("/readyz").json()["checks"]["blobs"] == "ok"


def test_probes_answer_where_requests_have_taken_every_thread(workspace: Workspace) -> None:
    """What hangs may hold all threads of the server: neither probe needs one."""
    app = create_app(workspace)
    released = threading.Event()
    app.add_api_route("/hang", lambda: released.wait(30), include_in_schema=False)
    with TestClient(app) as client, ThreadPoolExecutor(60) as people:
        hanging = [people.submit(client.get, "/hang") for _ in range(60)]
        time.sleep(0.2)
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 200
        assert not any(request.done() for request in hanging)
        released.set()


def test_neither_probe_names_hosts_or_users(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong stands in the log with where it is; anybody hears only that it is."""
    refusal = OutOfOrder("The store at {url} refuses {user}.", url="https://minio.inside:9000", user="operator")

    def refuse(blobs: Blobs) -> None:
        raise refusal

    monkeypatch.setattr(Blobs, "check_writable", refuse)
    with TestClient(create_app(workspace)) as client:
        answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "minio" not in answer.text
    assert "operator" not in answer.text.replace("tell the operator", "")


def test_who_asks_often_costs_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look writes to the disk, and anybody may ask: within a second the answer is remembered, then it is new."""
    looks: list[int] = []

    def probe() -> HouseReadiness:
        looks.append(1)
        return HouseReadiness([], [])

    watch = Watch({"database": probe})
    for _ in range(20):
        watch.readiness()
    assert len(looks) == 1
    monkeypatch.setattr(probes, "FRESH_S", 0.0)
    watch.readiness()
    assert len(looks) == 2


def test_a_part_that_hangs_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks later hears at once that it still hangs, also while another part is tried anew."""
    monkeypatch.setattr(probes, "PATIENCE_S", 0.5)
    monkeypatch.setattr(probes, "FRESH_S", 0.0)
    released = threading.Event()
    works = HouseReadiness([], [])

    def hang() -> HouseReadiness:
        released.wait(30)
        return works

    watch = Watch({"database": lambda: works, "blobs": hang})
    watch.readiness()
    begun = time.monotonic()
    assert [watch.readiness().ready for _ in range(20)] == [False] * 20
    assert time.monotonic() - begun < 5  # 20 times half a second, if each waited
    released.set()


def test_a_probe_that_breaks_is_a_part_that_does_not_work() -> None:
    """An error that nobody foresaw is no answer of 500."""

    def probe() -> HouseReadiness:
        raise ZeroDivisionError

    seen = Watch({"database": probe}).readiness()
    assert not seen.ready
    assert seen.words() == {"database": "failed"}
