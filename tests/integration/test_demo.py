"""The demo: building it, going on after an interruption, starting it warm, and following the tutorial in it."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.core.people import ANONYMOUS, OPERATOR, Grant, RoleName
from quintain.services.audit import entries
from quintain.services.datasets import list_versions
from quintain.services.demo import PARTS, STARTERS, add_people, build_demo, demo_links
from quintain.services.links import redeem_link
from quintain.services.models import list_models
from quintain.services.predict import predict
from quintain.services.tasks import list_tasks
from quintain.store.blobs import Blobs

DOCS = Path(__file__).parent.parent.parent / "docs"


def test_the_demo_goes_on_where_it_was_interrupted(db: Session, blobs: Blobs) -> None:
    """After an interruption and a second start everything is there exactly once, and a third start adds nothing."""

    def interrupt(what: str, fraction: float) -> None:
        if what.startswith("Training tfidf"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_demo(db, blobs, progress=interrupt)
    build_demo(db, blobs, progress=lambda what, fraction: None)
    _check_content(db)
    (said,) = predict(db, blobs, ANONYMOUS, "sentiment/lexicon", [{"text": "A lovely, delightful evening."}])
    assert said.answer == "positive"
    before = len(entries(db, OPERATOR, limit=1000))
    reports: list[float] = []
    build_demo(db, blobs, progress=lambda what, fraction: reports.append(fraction))
    assert len(entries(db, OPERATOR, limit=1000)) == before
    assert reports == sorted(reports)
    assert reports[-1] == 1.0


def _check_content(db: Session) -> None:
    """Check that every task, version and model is there once, and that just the test answers are hidden."""
    assert {one.task.name for one in list_tasks(db)} == {starter.name for starter in STARTERS}
    versions = list_versions(db, OPERATOR)
    wanted = [(starter.name, split.name, 1) for starter in STARTERS for split in starter.splits]
    assert sorted((one.task, one.dataset, one.number) for one in versions) == sorted(wanted)
    assert {one.dataset for one in versions if one.hidden} == {"test"}
    models = {(one.task, one.name, len(one.versions)) for one in list_models(db, ANONYMOUS)}
    assert models == {(starter.name, baseline, 1) for starter in STARTERS for baseline in starter.baselines}


def test_people_of_the_demo_open_their_accounts_once(db: Session) -> None:
    """There is a link for the admin and each part; who has used theirs gets no new one."""
    add_people(db)
    add_people(db)
    links = demo_links(db)
    assert [link.name for link in links] == ["admin", *(part.name for part in PARTS)]
    builder = redeem_link(db, links[2].token, "a long enough phrase")
    assert builder.grants == {Grant(RoleName.BUILDER)}
    assert [link.name for link in demo_links(db)] == ["admin", "demo-owner", "demo-worker"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(folder: Path, port: int) -> Iterator[float]:
    """Run `quintain demo` until its first page answers; give the seconds from the command to the page."""
    command = [sys.executable, "-m", "quintain", "demo", "--workspace", str(folder), "--no-open", "--port", str(port)]
    started = time.monotonic()
    with (folder.parent / f"{port}.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "COLUMNS": "100"})
    try:
        yield _seconds_to_first_page(process, port, started)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)


def _seconds_to_first_page(process: subprocess.Popen[bytes], port: int, started: float) -> float:
    while time.monotonic() - started < 90:
        assert process.poll() is None
        try:
            answer = httpx2.get(f"http://127.0.0.1:{port}/", timeout=10)
        except httpx2.TransportError:
            time.sleep(0.05)
            continue
        assert answer.status_code == 200
        assert "Sentiment" in answer.text
        return time.monotonic() - started
    raise AssertionError("the demo never answered")


@pytest.mark.slow
def test_a_warm_demo_answers_within_ten_seconds(tmp_path: Path) -> None:
    """The command serves after a cold start; started again in the same folder, its first page answers in 10 s."""
    folder = tmp_path / "demo"
    with serving(folder, free_port()) as cold:
        assert cold < 60
    with serving(folder, port := free_port()) as warm:
        assert warm < 10
    log = (tmp_path / f"{port}.log").read_text()
    assert f"http://127.0.0.1:{port}/link/" in log


def test_a_folder_that_is_not_ours_is_left_alone(cli: Callable[..., Result], tmp_path: Path) -> None:
    """`--fresh` empties a workspace, and refuses a folder that holds anything else."""
    (tmp_path / "thesis.txt").write_text("years of work")
    result = cli("demo", "--workspace", tmp_path, "--fresh", "--build-only")
    assert result.exit_code == 1
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


@pytest.mark.slow
def test_the_tutorial_works_as_it_is_written(
    run_cli: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """Every command of docs/getting-started.md does its work, in the order of the page."""
    page = (DOCS / "getting-started.md").read_text(encoding="utf-8")
    (tmp_path / "reviews.csv").write_text(re.findall(r"```csv\n(.*?)```", page, re.DOTALL)[0], encoding="utf-8")
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).replace("\\\n", " ").splitlines()
    ran = []
    for line in (line for line in lines if line.startswith("quintain ")):
        command, _, target = line.partition(" > ")
        words = shlex.split(command)[1:]
        words += ["--build-only"] if words == ["demo"] else []
        done = run_cli(*words, cwd=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        if target:
            (tmp_path / target).write_text(done.stdout, encoding="utf-8")
        ran.append(words)
    assert len(ran) >= 11
