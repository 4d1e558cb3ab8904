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
from collections.abc import Callable
from pathlib import Path

import httpx2
import numpy as np
import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.cli.house.demo import _serving
from quintain.compose import create_workspace
from quintain.core.people import ANONYMOUS, OPERATOR, Grant, RoleName
from quintain.core.release import ReleaseSpec
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.audit import entries
from quintain.services.access.links import redeem_link
from quintain.services.contrast.projects import get_project
from quintain.services.data.datasets import list_versions
from quintain.services.house.demo import CONTRAST, PARTS, STARTERS, TO_CHECK, add_people, build_demo, demo_links
from quintain.services.models.ask import predict
from quintain.services.models.registry import list_models
from quintain.services.release.releases import list_releases, preview
from quintain.services.release.stations import stations_of
from quintain.services.tasks.definitions import list_tasks
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.judging.adjudicate import adjudication_queue_of
from quintain.services.validate.judging.claim_page import claim_page
from quintain.services.validate.judging.submit_page import Answer, submit_page
from quintain.services.validate.quality.judges import judge_table
from quintain.settings import Settings
from quintain.simulate.demo import Amounts, judge_what_waits, simulate_activity
from quintain.simulate.handwritten import find_sentence
from quintain.simulate.understanding import gist
from quintain.store.blobs import Blobs
from quintain.store.queries.release.releases import judged

DOCS = Path(__file__).parent.parent.parent.parent / "docs"


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
    wanted.append((CONTRAST.task, CONTRAST.name, 1))
    assert sorted((one.task, one.dataset, one.number) for one in versions) == sorted(wanted)
    assert {one.dataset for one in versions if one.hidden} == {"test"}
    progress = get_project(db, OPERATOR, f"{CONTRAST.task}/{CONTRAST.name}").progress
    assert (progress.variants, progress.written) == (60, TO_CHECK)
    assert progress.sets >= 40
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


def seconds_to_first_page(folder: Path, port: int) -> float:
    """Run `quintain demo` until its first page answers, and give the processor time that it took until its end.

    That is what a clock would show on an idle machine, and other work on this one does not change it much.
    """
    command = [sys.executable, "-m", "quintain", "demo", "--workspace", str(folder), "--no-open", "--port", str(port)]
    with (folder.parent / f"{port}.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "COLUMNS": "100"})
    try:
        answer = _first_page(port)
    finally:
        process.send_signal(signal.SIGINT)
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    assert answer.status_code == 200
    assert "Sentiment" in answer.text
    return used.ru_utime + used.ru_stime


def _first_page(port: int) -> httpx2.Response:
    limit = time.monotonic() + 180
    while time.monotonic() < limit:
        try:
            return httpx2.get(f"http://127.0.0.1:{port}/", timeout=120)
        except httpx2.ConnectError:
            time.sleep(0.05)
    raise AssertionError("the demo never answered")


@pytest.mark.slow
def test_a_warm_demo_answers_within_ten_seconds(tmp_path: Path) -> None:
    """The command builds and serves; started again in the same folder, its first page needs less than 10 s."""
    folder = tmp_path / "demo"
    assert seconds_to_first_page(folder, free_port()) < 40
    port = free_port()
    assert seconds_to_first_page(folder, port) < 10
    shown = (tmp_path / f"{port}.log").read_text()
    assert f"http://127.0.0.1:{port}/link/" in shown
    assert " info " not in shown, "lines of the log push the links out of sight"


def test_a_demo_elsewhere_is_served_from_there() -> None:
    """The command that is named for a demo in another folder names the folder."""
    assert _serving(Path("quintain-demo")).endswith(" demo")
    assert _serving(Path("my demo")).endswith(" demo -w 'my demo'")


def test_a_folder_that_is_not_ours_is_left_alone(cli: Callable[..., Result], tmp_path: Path) -> None:
    """`--fresh` empties a workspace, and refuses a folder that holds anything else."""
    (tmp_path / "thesis.txt").write_text("years of work")
    result = cli("demo", "--workspace", tmp_path, "--fresh", "--build-only")
    assert result.exit_code == 1
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


@pytest.mark.slow
def test_the_tutorial_works_as_it_is_written(
    cli: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of docs/getting-started.md does its work, in the order of the page."""
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "getting-started.md").read_text(encoding="utf-8")
    Path("reviews.csv").write_text(re.findall(r"```csv\n(.*?)```", page, re.DOTALL)[0], encoding="utf-8")
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).replace("\\\n", " ").splitlines()
    commands = [line for line in lines if line.startswith("quintain ")]
    for line in commands:
        command, _, target = line.partition(" > ")
        words = shlex.split(command)[1:]
        done = cli(*words, *(["--build-only"] if words == ["demo"] else []))
        assert done.exit_code == 0, f"{line}\n{done.output}"
        if target:
            Path(target).write_text(done.stdout, encoding="utf-8")
    assert len(commands) >= 11


@pytest.mark.slow
def test_the_demo_lives_and_leaves_work(tmp_path: Path) -> None:
    """Two rounds are released; others wait for release, judges and writers, and three items for an expert."""
    workspace = create_workspace(Settings(workspace=tmp_path / "demo"))
    with workspace.session() as db:
        build_demo(db, workspace.blobs, progress=lambda what, fraction: None)
    built, shown, begun = Amounts().progress(), list[tuple[float, float]](), time.process_time()

    def watch(station: str, done: int, of: int) -> None:
        shown.append((time.process_time() - begun, built.update(station, done, of)))

    simulate_activity(workspace, progress=watch)
    _check_honest(shown)
    with workspace.session() as db:
        _check_settled(db)
        steps = [stations_of(db, OPERATOR, f"sentiment/{number}").step for number in range(1, 6)]
        assert steps == [None, None, "release", "judge", "write"]
        ready = preview(db, workspace.blobs, OPERATOR, "sentiment/3", ReleaseSpec())
        assert all(one.rows for one in ready.report.splits), "it is released as the form offers it"
        assert len(adjudication_queue_of(db, OPERATOR, "sentiment/mixed")) >= 3
        worker = actor_of(db, find_user(db, "demo-worker"))
        assert judge_what_waits(workspace, np.random.default_rng(1)) == 0  # that one is left to the visitor
        page = claim_page(db, worker, "sentiment/4")
        assert page is not None
        assert len(page.items) == 10
        patterns = [one.patterns for one in judge_table(db, OPERATOR, "sentiment/1") if one.qualified]
        assert not any("too_fast" in found for found in patterns)
        before = len(entries(db, OPERATOR, limit=10_000))
    simulate_activity(workspace)
    with workspace.session() as db:
        assert len(entries(db, OPERATOR, limit=10_000)) == before
        submit_page(db, worker, page.token, [Answer(item.id, gist(item.inputs["text"])) for item in page.items])
        assert judge_what_waits(workspace, np.random.default_rng(1)) == 55
        db.rollback()  # see what the crew did since
        assert stations_of(db, OPERATOR, "sentiment/4").now != "judge"
    workspace.close()


def _check_honest(shown: list[tuple[float, float]]) -> None:
    """Check that the bar never goes back, ends full, and is never far from the share of the time that is over."""
    fractions = [fraction for _, fraction in shown]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    whole = shown[-1][0]
    assert max(abs(seconds / whole - fraction) for seconds, fraction in shown) < 0.25


def _check_settled(db: Session) -> None:
    """Check that test sets are large enough to rank on, and that every text was written by hand and is there once."""
    seen: list[str] = []
    for number in (1, 2):
        (made,) = list_releases(db, OPERATOR, f"sentiment/{number}").releases
        assert next(split.rows for split in made.report.splits if split.split == "test") >= 100
    for number in range(1, 6):
        validation = find_validation(db, f"sentiment/{number}")
        seen += [str(row.inputs["text"]) for row in judged(db, validation.id)]
    assert len(seen) == len(set(seen))
    assert [text for text in seen if find_sentence(text) is None] == []
