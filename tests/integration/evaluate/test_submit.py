"""Submitting models: looked at, registered, queued, counted; and talked to afterwards."""

from __future__ import annotations

import hashlib
import json
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, TooMany, Unavailable
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.engine.archives import packed
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox import layers
from quintain.engine.sandbox.causes import Cause, CauseKind
from quintain.engine.sandbox.limits import MIB, Limits, Outcome
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells import progress
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.warm_models import LiveModels, LiveRunners
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.submissions.submit import SubmissionRules, quota_left, submit_folder, submit_upload
from quintain.services.models import uploads
from quintain.services.models.ask import predict
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from tests.evaluation import CARD, SENTENCES, add_data, add_task
from tests.people import make_person
from tests.refusals import refusal

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20))
RULES = SubmissionRules(per_day=3)
CONSTANT = "def predict(batch): return ['positive'] * len(batch)"


def folder_of(place: Path, code: str = CONSTANT, *, manifest: str = "", card: str = CARD, **files: str) -> Path:
    """Write a model's folder."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "handler.py").write_text(textwrap.dedent(code))
    (place / "card.md").write_text(card)
    if manifest:
        (place / "quintain.toml").write_text(manifest)
    for name, text in files.items():
        (place / name.replace("__", ".")).write_text(text)
    return place


@pytest.fixture
def mood(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> str:
    """A task with one data set."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    return "mood"


@pytest.mark.both_databases
def test_a_submission_becomes_a_version_with_cells(
    db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """The manifest names it; the same content again is the same version and does not count."""
    folder = folder_of(tmp_path / "m", manifest='name = "constant"\nbatch_size = 4\n')
    made = submit_folder(db, blobs, builder, mood, folder, rules=RULES)
    assert made.version.ref == "mood/constant@1"
    assert made.new
    assert made.cells > 10
    assert made.left_today == 2
    assert made.version.meta == {"batch_size": 4, "place": "sandbox"}
    again = submit_folder(db, blobs, builder, mood, folder, rules=RULES)
    assert (again.new, again.cells, again.left_today) == (False, 0, 2)
    assert again.version.hash == made.version.hash


def test_a_submission_with_faults_names_them_all_and_keeps_nothing(
    db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """Handler, manifest, card and requirements are looked at together."""
    folder = folder_of(
        tmp_path / "m", "def answer(b): ...", card="# A model\n\n## Licence\n\nMIT", requirements__txt="-e ."
    )
    with pytest.raises(BadInput) as caught:
        submit_folder(db, blobs, builder, mood, folder, rules=RULES, name="bad")
    files = [fault.file for fault in caught.value.faults]
    assert files.count("card.md") == 5
    assert {"handler.py", "requirements.txt"} < set(files)
    assert queries.rows(db) == []
    assert quota_left(db, builder, mood, RULES) == 3


def test_who_may_submit(db: Session, blobs: Blobs, worker: Actor, mood: str, tmp_path: Path) -> None:
    """Builders and owners, nobody else; and a model needs a name."""
    folder = folder_of(tmp_path / "m")
    with pytest.raises(Forbidden):
        submit_folder(db, blobs, worker, mood, folder, rules=RULES, name="x")
    with pytest.raises(BadInput, match="has no name"):
        submit_folder(db, blobs, OPERATOR, mood, folder, rules=RULES)
    with pytest.raises(NotFound):
        submit_folder(db, blobs, OPERATOR, "nowhere", folder, rules=RULES, name="x")


@pytest.mark.both_databases
def test_the_daily_quota_is_for_each_builder_and_task(
    db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """The fourth of the day is refused, a neighbour's first is not, and the operator has no limit."""
    for number in range(3):
        folder = folder_of(tmp_path / f"m{number}", f"{CONSTANT}  # {number}")
        submit_folder(db, blobs, builder, mood, folder, rules=RULES, name="mine")
    folder = folder_of(tmp_path / "m4", f"{CONSTANT}  # 4")
    with pytest.raises(TooMany, match="submitted 3 models to task 'mood'"):
        submit_folder(db, blobs, builder, mood, folder, rules=RULES, name="mine")
    other = make_person(db, "ben", RoleName.BUILDER)
    assert submit_folder(db, blobs, other, mood, folder, rules=RULES, name="his").left_today == 2
    assert submit_folder(db, blobs, OPERATOR, mood, folder, rules=RULES, name="ours").left_today is None


@pytest.mark.both_databases
def test_a_failure_of_ours_does_not_count(db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path) -> None:
    """A cell that the platform failed gives the submission back; one that the model failed does not."""
    made = submit_folder(db, blobs, builder, mood, folder_of(tmp_path / "m"), rules=RULES, name="m")
    assert made.left_today == 2
    with transaction(db):
        cell = queries.rows(db)[0].cell
        cell.state, cell.reason = "failed", f"{Outcome.CRASHED}: it raised"
    assert quota_left(db, builder, mood, RULES) == 2
    with transaction(db):
        cell.reason = f"{Outcome.PLATFORM}: the disk was full"
    assert quota_left(db, builder, mood, RULES) == 3


def test_code_is_refused_where_there_is_no_sandbox(
    db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal comes at submission, with what is missing, and does not count."""
    held = dict.fromkeys(layers.LAYERS, False)
    cause = Cause(CauseKind.NO_PROGRAM, "no bubblewrap", "Install it")
    monkeypatch.setattr(layers, "probe", lambda: layers.SandboxReport(held, (cause,)))
    with pytest.raises(Unavailable, match=r"Submitted code is refused here.*no bubblewrap"):
        submit_folder(db, blobs, builder, mood, folder_of(tmp_path / "m"), rules=RULES, name="m")
    assert quota_left(db, builder, mood, RULES) == 3


def test_a_server_that_is_not_allowed_is_refused_at_submission(
    db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """The operator's list decides; on it, the model gets cells but no measurement."""
    manifest = 'adapter = "chat"\n[options]\nurl = "http://models.example"\nmodel = "m"\nprompt = "{text}"\n'
    folder = folder_of(tmp_path / "m", manifest=manifest)
    with pytest.raises(Forbidden, match=r"http://models.example:80 is not one that this server may call"):
        submit_folder(db, blobs, builder, mood, folder, rules=RULES, name="m")
    rules = SubmissionRules(outside=Outside(("http://models.example",)))
    submit_folder(db, blobs, builder, mood, folder, rules=rules, name="m")
    variants = {row.cell.variant for row in queries.rows(db)}
    assert "plain" in variants
    assert "measure" not in variants


def test_a_builtin_baseline_is_not_submitted_by_builders(
    db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """It would run outside the sandbox, so it does not come from strangers."""
    folder = folder_of(tmp_path / "m", manifest='adapter = "builtin"\n', model__json="{}")
    with pytest.raises(Forbidden, match="trained by the task's owner"):
        submit_folder(db, blobs, builder, mood, folder, rules=RULES, name="m")


def ids_of(db: Session, blobs: Blobs) -> list[str]:
    """Give the ids of the data set's examples, as a download shows them."""
    version = queries.newest_dataset_versions(db, 1, evaluate.EVALUATED)[0]
    return pl.read_parquet(blobs.path(version.blob))["id"].to_list()


def predictions(place: Path, rows: list[tuple[str, str]]) -> Path:
    """Write a model that is a file of predictions."""
    lines = "".join(f"{one},{label}\n" for one, label in rows)
    return folder_of(place, manifest='adapter = "predictions"\n', predictions__csv=f"id,prediction\n{lines}")


def test_a_file_of_predictions_is_scored_where_it_covers_a_data_set(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """Only the plain cells of data sets that it covers come to be; its predictions are matched by content."""
    add_data(db, blobs, owner, tmp_path, name="more", rows=[("Another one.", "positive")])
    answers = dict(zip(ids_of(db, blobs), (label for _, label in SENTENCES), strict=True))
    folder = predictions(tmp_path / "m", list(answers.items()))
    made = submit_folder(db, blobs, builder, mood, folder, rules=RULES, name="file")
    assert made.cells == 1
    assert made.version.meta["place"] == "file"
    work(workspace.session, blobs, LocalEngine(tmp_path / "locks"), CONDITIONS, threading.Event(), until_empty=True)
    db.rollback()
    (row,) = queries.rows(db)
    assert (row.cell.state, row.dataset.name) == ("done", "test"), row.cell.reason
    assert row.cell.predictions is not None
    table = pl.read_parquet(blobs.path(row.cell.predictions))
    assert dict(zip(table["id"], table["prediction"], strict=True)) == answers
    why = {
        (data, variant): progress.explain(db, builder, "mood/file", f"mood/{data}", variant).summary
        for data, variant in (("test", "plain"), ("test", "typos"), ("more", "plain"))
    }
    assert "done" in why["test", "plain"]
    assert "is not run by us" in why["test", "typos"]
    assert "has none for mood/more@1" in why["more", "plain"]


def test_unknown_missing_and_doubled_ids_are_named(
    db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """Each fault says the file, the row and the id, or how many examples of which data set are missing."""
    ids = ids_of(db, blobs)
    whole = [(one, "positive") for one in ids]
    cases = {
        "id 'feed' belongs to no example of test@1": [*whole, ("feed", "positive")],
        "2 of 6 examples of test@1 have no prediction": whole[2:],
        "was there before": [*whole, whole[0]],
        "is not one of the labels": [*whole[1:], (ids[0], "happy")],
    }
    for number, (said, rows) in enumerate(cases.items()):
        with pytest.raises(BadInput) as caught:
            submit_folder(
                db, blobs, builder, mood, predictions(tmp_path / f"m{number}", rows), rules=RULES, name="file"
            )
        assert said in "\n".join(map(str, caught.value.faults))
        assert caught.value.faults[0].file == "predictions.csv"


@pytest.mark.both_databases
def test_an_upload_goes_on_where_it_broke_off(
    db: Session, blobs: Blobs, builder: Actor, worker: Actor, mood: str, tmp_path: Path
) -> None:
    """Parts may come twice, may not leave gaps, and make a whole only with the announced hash."""
    with packed(folder_of(tmp_path / "m"), tmp_path / "m.tar.gz") as archive:
        data = archive.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    first = uploads.begin_upload(db, blobs, builder, size=len(data), sha256=digest)
    uploads.append(db, blobs, builder, first.id, 0, data[:100])
    assert uploads.append(db, blobs, builder, first.id, 0, data[:100]).received == 100
    with pytest.raises(Conflict, match="begins at byte 300, and 100 bytes are here"):
        uploads.append(db, blobs, builder, first.id, 300, data[300:])
    with pytest.raises(NotFound):
        uploads.get_upload(db, worker, first.id)
    with pytest.raises(Conflict, match="100 of"):
        submit_upload(db, blobs, builder, mood, first.id, rules=RULES, name="m")
    again = uploads.begin_upload(db, blobs, builder, size=len(data), sha256=digest)
    assert (again.id, again.received) == (first.id, 100)
    assert uploads.append(db, blobs, builder, again.id, 50, data[50:]).complete
    made = submit_upload(db, blobs, builder, mood, again.id, rules=RULES, name="m")
    assert made.new
    with pytest.raises(NotFound):
        uploads.get_upload(db, builder, again.id)
    assert list((blobs.root / "uploads").iterdir()) == []


def test_an_upload_that_is_not_what_was_announced_is_refused(
    db: Session, blobs: Blobs, builder: Actor, mood: str
) -> None:
    """A wrong hash, too many bytes, too many uploads at once."""
    made = uploads.begin_upload(db, blobs, builder, size=4, sha256="0" * 64)
    with pytest.raises(BadInput, match="goes beyond"):
        uploads.append(db, blobs, builder, made.id, 0, b"12345")
    uploads.append(db, blobs, builder, made.id, 0, b"1234")
    with pytest.raises(BadInput, match="SHA-256 differs"):
        submit_upload(db, blobs, builder, mood, made.id, rules=RULES, name="m")
    for number in range(uploads.MAX_OPEN):
        uploads.begin_upload(db, blobs, builder, size=4, sha256=f"{number:064x}")
    with pytest.raises(TooMany):
        uploads.begin_upload(db, blobs, builder, size=4, sha256="f" * 64)


@pytest.mark.both_databases
def test_an_upload_begins_again_where_its_parts_are_not(
    db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """A part that reaches a machine without the earlier ones is told where to go on, and the archive gets through."""
    with packed(folder_of(tmp_path / "m"), tmp_path / "m.tar.gz") as archive:
        data = archive.read_bytes()
    made = uploads.begin_upload(db, blobs, builder, size=len(data), sha256=hashlib.sha256(data).hexdigest())
    uploads.append(db, blobs, builder, made.id, 0, data[:100])
    (blobs.root / "uploads" / made.id).unlink()  # as another machine's disk looks
    with pytest.raises(Conflict, match="begins at byte 100, and 0 bytes are here"):
        uploads.append(db, blobs, builder, made.id, 100, data[100:])
    assert uploads.get_upload(db, builder, made.id).received == 0
    assert uploads.append(db, blobs, builder, made.id, 0, data).complete
    (blobs.root / "uploads" / made.id).unlink()
    with pytest.raises(Conflict, match="0 of"):
        submit_upload(db, blobs, builder, mood, made.id, rules=RULES, name="m")
    uploads.append(db, blobs, builder, made.id, 0, data)
    assert submit_upload(db, blobs, builder, mood, made.id, rules=RULES, name="m").new


def test_an_archive_of_zeros_is_refused(db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path) -> None:
    """What passes the upload still has to pass the door."""
    data = b"PK\x03\x04" + bytes(1000)
    made = uploads.begin_upload(db, blobs, builder, size=len(data), sha256=hashlib.sha256(data).hexdigest())
    uploads.append(db, blobs, builder, made.id, 0, data)
    with pytest.raises(BadInput, match="is damaged"):
        submit_upload(db, blobs, builder, mood, made.id, rules=RULES, name="m")


@pytest.fixture
def live(workspace: Workspace) -> Iterator[LiveModels]:
    """Live models, two of them kept warm."""
    models = LiveModels(workspace.session, CONDITIONS, warm=2)
    yield models
    models.close()


COUNTER = """
    calls = 0
    def predict(batch):
        global calls
        calls += 1
        if batch[0]["text"] == "die":
            raise SystemExit(1)
        return [{"positive": 1.0 if calls > 1 else 0.0, "negative": 0.0 if calls > 1 else 1.0}] * len(batch)
"""


def test_a_submitted_model_can_be_talked_to(
    db: Session, blobs: Blobs, builder: Actor, mood: str, live: LiveModels, tmp_path: Path
) -> None:
    """It stays warm between calls, is started again after its death, and makes room for others."""
    made = submit_folder(db, blobs, builder, mood, folder_of(tmp_path / "m", COUNTER), rules=RULES, name="m")
    runners = LiveRunners(live)

    def say(ref: str, text: str) -> str:
        return str(predict(db, blobs, builder, ref, [{"text": text}], runners=runners, seconds=20)[0].answer)

    ref = made.version.ref
    assert [say(ref, "one"), say(ref, "two")] == ["negative", "positive"]
    with refusal(Unavailable, "model_failed"):
        say(ref, "die")
    assert live.running == 0
    assert say(ref, "one") == "negative"
    for name in ("a", "b"):
        other = folder_of(tmp_path / name, f"{CONSTANT}  # {name}")
        assert (
            say(submit_folder(db, blobs, builder, mood, other, rules=RULES, name=name).version.ref, "x") == "positive"
        )
    assert live.running == 2
    live.close()
    assert live.running == 0
    assert say(ref, "one") == "negative"


def test_live_models_that_nobody_asks_are_closed(
    workspace: Workspace, db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """Idle ones end by themselves; a file of predictions cannot be talked to at all."""
    made = submit_folder(db, blobs, builder, mood, folder_of(tmp_path / "m"), rules=RULES, name="m")
    models = LiveModels(workspace.session, CONDITIONS, idle_seconds=0.0)
    models(made.version, blobs, [{"text": "x"}])
    models.tidy()
    assert models.running == 0
    assert "predictions" not in LiveRunners(models)
    assert json.dumps(list(LiveRunners(models)))
    models.close()
