"""Machines without a whole sandbox: built-in models are measured and say how, submitted ones wait and say for what."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import textwrap
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import Unavailable
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.data.plan import ImportPlan
from quintain.engine.installing import install
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox import layers
from quintain.engine.sandbox.causes import Cause, CauseKind, no_group
from quintain.engine.sandbox.layers import LAYERS, SandboxReport
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.services.access.notify import list_notifications
from quintain.services.board.assemble import board
from quintain.services.data.datasets import import_dataset
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells import progress
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.results.compute import model_results
from quintain.services.models.train import train
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from tests.evaluation import SENTENCES, add_data, add_model, add_task
from tests.interpreters import library_path, system_python
from tests.web_support import browser_of

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20))
NO_BWRAP = Cause(CauseKind.NO_PROGRAM, "the program bwrap is missing", "Install the package bubblewrap")
NOTHING = SandboxReport(dict.fromkeys(LAYERS, False), (NO_BWRAP, no_group(as_root=False)))
NO_GROUP = SandboxReport({**dict.fromkeys(LAYERS, True), "memory": False}, (no_group(as_root=False),))
OTHER_USER = 64123  # an id that nobody has
Hide = Callable[[SandboxReport], None]


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Hide:
    """A function that makes this process find another sandbox here than there is."""

    def make(report: SandboxReport) -> None:
        monkeypatch.setattr(layers._seen, "current", lambda: report)
        if not report.layers["memory"]:
            monkeypatch.setattr("quintain.engine.sandbox.process.make_group", lambda limits: None)
        if not report.starts:
            monkeypatch.setenv("PATH", "/nowhere")

    return make


@pytest.fixture
def site(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> None:
    """A task with a built-in and a submitted model; only plain and measured cells are left to be computed."""
    add_task(db, owner)
    train_file = tmp_path / "train.jsonl"
    train_file.write_text("".join(f'{{"text": "{text} Yes.", "answer": "{label}"}}\n' for text, label in SENTENCES))
    import_dataset(db, blobs, OPERATOR, "mood", "train", train_file, ImportPlan(role="train"))
    add_data(db, blobs, owner, tmp_path, hidden=False)
    train(db, blobs, OPERATOR, "mood", "tfidf", ["mood/train"])
    add_model(db, blobs, builder, tmp_path)
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant not in {"plain", "measure"}:
                row.cell.state = "cancelled"


def compute(workspace: Workspace, tmp_path: Path, conditions: Conditions = CONDITIONS) -> int:
    """Run a worker until there is nothing left for it."""
    engine = LocalEngine(tmp_path / "locks")
    return work(workspace.session, workspace.blobs, engine, conditions, threading.Event(), until_empty=True)


def states(db: Session) -> dict[tuple[str, str], tuple[str, int, str]]:
    """Give state, attempts and what is waited for, by model and variant."""
    db.rollback()
    db.expire_all()
    rows = [row for row in queries.rows(db) if row.cell.state != "cancelled"]
    return {(row.model.name, row.cell.variant): (row.cell.state, row.cell.attempts, row.cell.waits_for) for row in rows}


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("report", [NOTHING, NO_GROUP], ids=["no bubblewrap", "no control group"])
def test_built_in_models_are_measured_with_what_there_is(
    workspace: Workspace, db: Session, blobs: Blobs, tmp_path: Path, hide: Hide, report: SandboxReport
) -> None:
    """They have a throughput and a memory of a process of their own; the figure says which layers held."""
    hide(report)
    assert compute(workspace, tmp_path) == 2
    (found,) = [one for one in model_results(db, blobs, ANONYMOUS, "mood/tfidf") if one.measurements]
    measured = found.measurements
    assert measured["throughput"] > 0
    assert 0.01 < measured["memory"] < 0.5
    assert measured["layers"] == report.held
    shown = board(db, blobs, ANONYMOUS, "mood")
    figures = [figure for model in shown.models if model.name == "tfidf" for figure in model.values["memory"] if figure]
    assert [figure["without"] for figure in figures] == [report.missing if report.held else ["all"]]
    page = browser_of(workspace).get("/tasks/mood/models/tfidf/results/test").text
    assert ("without memory" if report.held else "none: a process of its own") in page


@pytest.mark.usefixtures("site")
def test_submitted_models_wait_for_a_sandbox_and_then_run(
    workspace: Workspace, db: Session, builder: Actor, tmp_path: Path, hide: Hide, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is tried, nobody hears of a failure, pages say what is missing; with a sandbox the cells are computed."""
    hide(NOTHING)
    compute(workspace, tmp_path)
    found = states(db)
    assert found[("tfidf", "measure")] == ("done", 1, "")
    assert found[("constant", "plain")] == found[("constant", "measure")] == ("queued", 0, "sandbox")
    assert not list_notifications(db, builder)
    cell = next(row.cell.id for row in queries.rows(db, variant="plain") if row.model.name == "constant")
    why = progress.explain_cell(db, builder, cell)
    assert "Install the package bubblewrap" in why.summary
    assert "bubblewrap" not in progress.explain_cell(db, ANONYMOUS, cell).summary
    client = browser_of(workspace)
    assert "It waits for a machine with a sandbox" in client.get(f"/runs/{cell}").text
    assert "waits for a sandbox" in client.get("/tasks/mood/models/constant").text
    assert "waits for a sandbox" in client.get("/tasks/mood/runs").text
    monkeypatch.undo()
    assert compute(workspace, tmp_path) == 2
    found = states(db)
    assert found[("constant", "plain")] == found[("constant", "measure")] == ("done", 1, "")


@pytest.mark.usefixtures("site")
def test_a_machine_elsewhere_without_a_sandbox_gives_the_cell_back(
    workspace: Workspace, db: Session, tmp_path: Path, hide: Hide
) -> None:
    """Where a worker cannot know what holds on the machine that runs a cell, a refusal there costs no attempt."""
    hide(NO_GROUP)
    compute(workspace, tmp_path, replace(CONDITIONS, probe=lambda: None))
    assert states(db)[("constant", "plain")] == ("queued", 0, "sandbox")
    row = next(row for row in queries.rows(db, variant="plain") if row.model.name == "constant")
    assert row.cell.lease_until is not None
    kinds = [event.kind for event in queries.events(db, row.cell.id)]
    assert kinds == ["leased", "queued"]


@pytest.mark.usefixtures("site")
def test_a_workspace_that_asks_for_no_sandbox_runs_submitted_code_without(
    workspace: Workspace, db: Session, tmp_path: Path, hide: Hide
) -> None:
    """With QUINTAIN_SANDBOX=off the operator takes the risk; partial does so for the control group only."""
    hide(NO_GROUP)
    compute(workspace, tmp_path, replace(CONDITIONS, sandbox="partial"))
    assert states(db)[("constant", "plain")] == ("done", 1, "")
    hide(NOTHING)
    compute(workspace, tmp_path, replace(CONDITIONS, sandbox="off"))
    assert states(db)[("constant", "measure")] == ("done", 1, "")


def test_requirements_are_never_installed_without_a_sandbox(tmp_path: Path, hide: Hide) -> None:
    """A source archive runs its code when it is built: without bubblewrap that is refused whatever is set."""
    hide(NOTHING)
    with pytest.raises(Unavailable, match="does not start here"):
        install(["anything"], tmp_path, tmp_path / "target")


def test_commands_say_what_holds(
    cli: Callable[..., Result], workspace: Workspace, hide: Hide, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`status` and `worker` name what is missing and what to do, also as JSON."""
    hide(NOTHING)
    folder = str(workspace.settings.workspace)
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    assert "Install the package bubblewrap" in cli("--workspace", folder, "status").output
    shown = cli("--workspace", folder, "worker", "--until-empty").output
    assert "Sandbox: namespaces, network, files, user, syscalls, memory missing." in shown
    facts = json.loads(cli("--workspace", folder, "status", "--json").stdout)["sandbox"]
    assert facts["wanted"] == "full"
    assert facts["causes"][0] == {"what": NO_BWRAP.text, "remedy": NO_BWRAP.remedy}


SCRIPT = """
import sys, tempfile
from pathlib import Path
from quintain.engine.sandbox.layers import probe
from quintain.engine.sandbox.limits import Limits, RunEnded
from quintain.engine.session import ModelSession

FORKS = '''
import os, time
def predict(batch):
    made = 0
    try:
        while made < 300:
            if os.fork() == 0:
                time.sleep(5)
                os._exit(0)
            made += 1
    except OSError:
        pass
    return [made] * len(batch)
'''
report = probe()
print(report.starts, "memory" in report.missing)
folder = Path(tempfile.mkdtemp())
(folder / "handler.py").write_text(FORKS)
with ModelSession(folder, adapter="handler", limits=Limits(processes=64)) as session:
    print(session.predict([{"text": "x"}]).answers[0])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not here")
def test_a_user_with_many_threads_has_a_sandbox_all_the_same() -> None:
    """A user without a control group and with 100 processes of their own: models start, and may fork 64 times."""
    python = system_python()
    user = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups", "--"]
    crowd = [subprocess.Popen([*user, "sleep", "60"]) for _ in range(100)]
    try:
        done = subprocess.run(
            [*user, python, "-c", textwrap.dedent(SCRIPT)],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": library_path(), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd="/",
        )
    finally:
        for process in crowd:
            process.kill()
            process.wait()
    assert done.returncode == 0, done.stderr
    starts, without_group, forks = done.stdout.split()
    assert starts == "True"
    if without_group == "True":
        assert 0 < int(forks) < 64
