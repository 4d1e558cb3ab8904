"""Submitted models are tried on a few examples: at once where that can be, else as a worker's first job."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden, NotFound, TooMany
from quintain.core.people import OPERATOR, Actor
from quintain.engine.archives import packed
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.services.access.notify import list_notifications
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.submissions import submit, tryouts
from quintain.services.evaluate.submissions.submit import SubmissionRules, quota_left, submit_folder, submit_upload
from quintain.services.models import uploads
from quintain.services.models.registry import get_model
from quintain.services.models.tryouts import tryout_of
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as queries
from tests.evaluation import CARD, add_data, add_task

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=120, call_seconds=60), trial_seconds=60)
RULES = SubmissionRules(per_day=3, tryout=CONDITIONS, elsewhere=True)
GOOD = "def predict(batch): return ['positive'] * len(batch)"
MISSPELT = "def predict(batch): return ['postive'] * len(batch)"


def folder_of(place: Path, code: str, *, manifest: str = "") -> Path:
    """Write a model's folder."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "handler.py").write_text(code)
    (place / "card.md").write_text(CARD)
    (place / "quintain.toml").write_text(f'name = "mine"\n{manifest}')
    return place


@pytest.fixture
def mood(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> str:
    """A task with one data set."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    return "mood"


@pytest.fixture
def send(db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path) -> Callable[..., submit.ModelSubmission]:
    """A function that submits a handler."""

    def run(code: str, manifest: str = "", rules: SubmissionRules = RULES) -> submit.ModelSubmission:
        folder = folder_of(tmp_path / "model", code, manifest=manifest)
        return submit_folder(db, blobs, builder, mood, folder, rules=rules)

    return run


@pytest.fixture
def workers(workspace: Workspace, tmp_path: Path) -> Callable[[], int]:
    """A function that lets a worker do all there is to do."""
    engine = LocalEngine(tmp_path / "locks")
    return lambda: work(workspace.session, workspace.blobs, engine, CONDITIONS, threading.Event(), until_empty=True)


@pytest.fixture
def no_sandbox_here(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The machine that takes submissions has no sandbox, until the patch is undone."""
    monkeypatch.setattr(tryouts, "_sandbox_is_here", lambda conditions: False)
    return monkeypatch


def test_a_misspelt_answer_is_refused_at_once_with_what_was_said(
    db: Session, builder: Actor, mood: str, send: Callable[..., submit.ModelSubmission]
) -> None:
    """Nothing is registered, no run is queued, and the quota is what it was."""
    with pytest.raises(BadInput) as caught:
        send(MISSPELT)
    assert "the model answered 'postive'" in str(caught.value.faults[0])
    assert "model check" in str(caught.value.remedy)
    with pytest.raises(NotFound):
        get_model(db, builder, "mood/mine")
    assert queries.rows(db) == []
    assert quota_left(db, builder, mood, RULES) == 3
    assert send(GOOD).left_today == 2


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def predict(batch): return [{}[x['text']] for x in batch]", "KeyError"),
        ("raise ValueError('no weights here')\ndef predict(batch): return batch", "no weights here"),
        ("def predict(batch): return []", "returned 0 answers"),
        ("def predict(batch): return [{'positive': 2.0}] * len(batch)", "positive"),
    ],
)
def test_a_model_that_breaks_is_refused_with_its_traceback(
    code: str, said: str, send: Callable[..., submit.ModelSubmission]
) -> None:
    """Whatever goes wrong while it is loaded or asked is told to the builder, with the end of its log."""
    with pytest.raises(BadInput) as caught:
        send(code)
    told = "\n".join(str(fault) for fault in caught.value.faults)
    assert said in told
    assert "handler.py" in told or "answer" in told


def test_the_model_sees_inputs_of_the_data_and_no_answers(
    db: Session, blobs: Blobs, mood: str, send: Callable[..., submit.ModelSubmission]
) -> None:
    """It is asked real inputs where they are open: just their fields."""
    set_inputs(db, OPERATOR, "mood/test", "open")  # what a model says is as open as the inputs
    with pytest.raises(BadInput) as caught:
        send("def predict(batch): return ['|'.join(f'{k}={v}' for k, v in x.items()) for x in batch]")
    told = [str(fault) for fault in caught.value.faults]
    assert len(told) == 6
    assert all("the model answered" in one and "text=" in one and "|" not in one for one in told)
    assert any("actress" in one for one in told)


def test_where_there_is_no_sandbox_a_worker_tries_it_first(
    db: Session,
    builder: Actor,
    send: Callable[..., submit.ModelSubmission],
    workers: Callable[[], int],
    no_sandbox_here: pytest.MonkeyPatch,
) -> None:
    """Until it has passed no run of it is queued, by nobody; then all are."""
    made = send(GOOD)
    assert (made.waiting, made.cells, made.left_today) == (True, 0, 2)
    assert evaluate.fill(db) == 0
    assert workers() == 0, "a worker without a sandbox leaves it to others"
    no_sandbox_here.undo()
    assert workers() > 10
    db.rollback()
    found = tryout_of(db, made.version.id)
    assert found is not None
    assert found.state == "passed"


@pytest.mark.both_databases
def test_a_worker_that_refuses_a_model_tells_its_builder(
    db: Session,
    builder: Actor,
    mood: str,
    send: Callable[..., submit.ModelSubmission],
    workers: Callable[[], int],
    no_sandbox_here: pytest.MonkeyPatch,
) -> None:
    """It has no runs, counts for nothing, and is tried again when it is submitted again."""
    made = send(MISSPELT)
    no_sandbox_here.undo()
    assert workers() == 0
    db.rollback()
    assert queries.rows(db) == []
    assert quota_left(db, builder, mood, RULES) == 3
    told = list_notifications(db, builder)[0]
    assert "the model answered 'postive'" in told.text
    assert told.url == "/tasks/mood/models/mine?version=1"
    version = get_model(db, builder, "mood/mine@1").version
    assert version.withdrawn_at is not None
    no_sandbox_here.setattr(tryouts, "_sandbox_is_here", lambda conditions: False)
    again = send(MISSPELT)
    assert (again.waiting, again.version.id) == (True, made.version.id)
    no_sandbox_here.undo()
    assert send(GOOD).version.number == 2


@pytest.mark.both_databases
def test_a_model_that_loads_for_long_is_put_off(
    workspace: Workspace,
    db: Session,
    send: Callable[..., submit.ModelSubmission],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Nobody waits at the form for it: a worker gives it the time that the operator allows."""
    monkeypatch.setattr(tryouts, "HERE_SECONDS", 0.5)
    made = send("import time\ntime.sleep(0.8)\n" + GOOD)
    assert made.waiting
    stop = threading.Event()
    engine = LocalEngine(tmp_path / "locks")
    # Every run loads the model anew, so one is enough to see that they are queued and work.
    assert work(workspace.session, workspace.blobs, engine, CONDITIONS, stop, tell=lambda what: stop.set()) == 1
    db.rollback()
    assert sorted({row.cell.state for row in queries.rows(db)}) == ["done", "queued"]
    assert len(queries.rows(db)) > 10


def test_a_server_that_cannot_be_reached_is_said(send: Callable[..., submit.ModelSubmission]) -> None:
    """A model elsewhere is called a few times, too."""
    options = '[options]\nurl = "http://127.0.0.1:9"\nmodel = "m"\nprompt = "Say positive or negative: {text}"\n'
    outside = Outside(endpoints=("http://127.0.0.1:9",))
    conditions = Conditions(CONDITIONS.limits, outside=outside)
    with pytest.raises(BadInput) as caught:
        send(GOOD, 'adapter = "chat"\n' + options, SubmissionRules(per_day=3, outside=outside, tryout=conditions))
    assert "could not be reached" in str(caught.value.faults[0])


@pytest.mark.both_databases
def test_trying_has_a_limit_of_its_own(
    send: Callable[..., submit.ModelSubmission], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused models count for nothing in the quota, and still nobody may be refused all day long."""
    monkeypatch.setattr(submit, "TRIES_PER_HOUR", 2)
    for _ in range(2):
        with pytest.raises(BadInput):
            send(MISSPELT)
    with pytest.raises(TooMany):
        send(MISSPELT)


@pytest.mark.both_databases
def test_a_refused_upload_frees_its_place(db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path) -> None:
    """Seven archives in a row that are refused leave nothing behind, and the eighth is taken."""
    for number in range(8):
        folder = folder_of(tmp_path / f"m{number}", GOOD, manifest=f"wrong{number} = 1\n" if number < 7 else "")
        with packed(folder, tmp_path / "archive") as archive:
            data = archive.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        begun = uploads.begin_upload(db, blobs, builder, size=len(data), sha256=digest)
        uploads.append(db, blobs, builder, begun.id, 0, data)
        if number < 7:
            with pytest.raises(BadInput):
                submit_upload(db, blobs, builder, mood, begun.id, rules=RULES)
        else:
            assert submit_upload(db, blobs, builder, mood, begun.id, rules=RULES).new
    assert list((blobs.root / "uploads").iterdir()) == []


@pytest.mark.both_databases
def test_whole_uploads_give_way_and_unfinished_ones_do_not(db: Session, blobs: Blobs, builder: Actor) -> None:
    """One that is all here but was not registered gives its place to the next; five that are under way are enough."""
    for number in range(7):
        data = bytes([number])
        begun = uploads.begin_upload(db, blobs, builder, size=1, sha256=hashlib.sha256(data).hexdigest())
        uploads.append(db, blobs, builder, begun.id, 0, data)
    for number in range(5):
        uploads.begin_upload(db, blobs, builder, size=9, sha256=f"{number:064x}")
    with pytest.raises(TooMany):
        uploads.begin_upload(db, blobs, builder, size=9, sha256=f"{9:064x}")


def test_who_cannot_submit_cannot_upload(db: Session, blobs: Blobs, worker: Actor) -> None:
    """A worker is refused before the first byte is taken."""
    with pytest.raises(Forbidden, match="builder or owner"):
        uploads.begin_upload(db, blobs, worker, size=1 << 30, sha256="0" * 64)
    assert not (blobs.root / "uploads").exists()
