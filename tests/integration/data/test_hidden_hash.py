"""The hash of a version with hidden answers gives nothing away, and still names its content."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.data.identity import ContentHash, salted
from quintain.data.importing import check_file
from quintain.data.plan import ImportPlan
from quintain.services.data import datasets as service
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.results.dataset_results import few_of
from quintain.services.house.backup import create_backup, restore_backup
from quintain.services.tasks.definitions import get_task, put_task
from quintain.store.blobs import Blobs
from quintain.store.tables import DatasetVersion
from quintain.web.app import create_app
from tests.refusals import refusal

TOML = 'name = "mood"\nkind = "text-classification"\nlabels = ["negative", "positive"]\n'
ANSWERS = ("positive", "negative", "negative", "positive", "negative", "positive")
HIDDEN = ImportPlan(role="test", hidden=True)


@pytest.fixture(autouse=True)
def _task(db: Session, owner: Actor) -> None:
    put_task(db, owner, TOML)


def write(folder: Path, answers: tuple[str, ...] = ANSWERS) -> Path:
    """Write six sentences with these answers."""
    path = folder / "set.jsonl"
    rows = [{"text": f"Sentence {place}", "label": answer} for place, answer in enumerate(answers)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def guesses(table: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """Compute the hash of the content with every possible list of answers, as anybody can who sees the inputs."""
    found = {}
    for answers in itertools.product(("negative", "positive"), repeat=table.height):
        content = ContentHash()
        content.update(table.with_columns(pl.Series("answer", answers), group=pl.lit(None, pl.String())))
        found[content.hexdigest()] = answers
    return found


def test_answers_cannot_be_computed_from_what_is_public(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """Whoever tries all answers finds those of an open set in its hash, and those of a hidden set nowhere."""
    service.import_dataset(db, blobs, owner, "mood", "secret", write(tmp_path), HIDDEN)
    service.import_dataset(db, blobs, owner, "mood", "known", write(tmp_path), ImportPlan(role="test"))
    set_inputs(db, owner, "mood/secret", "open")
    anybody = TestClient(create_app(workspace))
    public = "/api/v1/tasks/mood/datasets"
    secret, known = (anybody.get(f"{public}/{name}").json() for name in ("secret", "known"))
    rows = [
        {key: row[key] for key in ("id", "text", "tags")}
        for row in anybody.get(f"{public}/secret/preview").json()["examples"]
    ]
    tried = guesses(pl.DataFrame(rows, schema_overrides={"tags": pl.List(pl.String())}))
    assert tried[known["hash"]] == ANSWERS
    assert secret["hash"] not in tried
    said = "".join(anybody.get(f"{public}{path}").text for path in ("", "/secret", "/secret/preview", "/secret/labels"))
    said += anybody.get("/tasks/mood/data/secret").text + anybody.get("/api/v1/tasks/mood/board").text
    assert not set(re.findall(r"[0-9a-f]{64}", said)) & (set(tried) - {known["hash"]})


def test_what_is_public_does_not_depend_on_hidden_answers(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """Two hidden sets that differ in their answers only look the same to anybody, but for names, times and hashes."""
    service.import_dataset(db, blobs, owner, "mood", "x-one", write(tmp_path), HIDDEN)
    service.import_dataset(db, blobs, owner, "mood", "z-two", write(tmp_path, ANSWERS[::-1]), HIDDEN)
    for name in ("x-one", "z-two"):
        set_inputs(db, owner, f"mood/{name}", "open")
    anybody = TestClient(create_app(workspace))

    def seen(name: str) -> list[str | bytes]:
        base = f"/api/v1/tasks/mood/datasets/{name}"
        texts = [anybody.get(f"{base}{path}").text for path in ("", "/preview", "/labels", "/preview?label=positive")]
        page = anybody.get(f"/tasks/mood/data/{name}")
        assert page.status_code == 200
        texts.append(page.text)
        plain = [re.sub(r"[0-9a-f]{64}|[0-9]{2}:[0-9]{2}[0-9:.]*", "…", text.replace(name, "…")) for text in texts]
        files = [anybody.get(f"{base}/download", params={"format": kind}) for kind in ("jsonl", "csv", "parquet")]
        assert all(file.status_code == 200 for file in files)
        return [*(re.sub(r'(nonce|value)="[^"]*"', "", text) for text in plain), *(file.content for file in files)]

    assert seen("x-one") == seen("z-two")


@pytest.mark.both_databases
def test_the_same_hidden_content_is_still_the_same_version(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """An owner who imports it again gets the version that is there; opening it under its name is refused."""
    first = service.import_dataset(db, blobs, owner, "mood", "secret", write(tmp_path), HIDDEN)
    again = service.import_dataset(db, blobs, owner, "mood", "secret", write(tmp_path), HIDDEN)
    assert (again.ref, again.hash, again.new) == (first.ref, first.hash, False)
    with refusal(Conflict, "same_content"):
        service.import_dataset(db, blobs, owner, "mood", "secret", write(tmp_path), ImportPlan(role="test"))
    other = service.import_dataset(db, blobs, owner, "mood", "copy", write(tmp_path), HIDDEN)
    assert other.hash != first.hash  # or an owner of one task could try answers of another's
    assert service.get_version(db, ANONYMOUS, first.hash[:10]).ref == first.ref
    row = db.scalars(select(DatasetVersion).where(DatasetVersion.id == first.id)).one()
    plain = check_file(write(tmp_path), get_task(db, "mood"), HIDDEN).hash
    assert row.salt
    assert first.hash == salted(plain, row.salt)
    assert not hasattr(first.record(), "salt")


def test_an_open_version_keeps_its_hash(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """It is the hash of the content alone, the same on every server."""
    path = write(tmp_path)
    made = service.import_dataset(db, blobs, owner, "mood", "known", path, ImportPlan(role="test"))
    assert made.hash == check_file(path, get_task(db, "mood"), HIDDEN).hash


def test_a_backup_keeps_the_salt(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, workspace: Workspace) -> None:
    """After restoring, the version has its name, and its content is known again."""
    first = service.import_dataset(db, blobs, owner, "mood", "secret", write(tmp_path), HIDDEN)
    create_backup(db, blobs, OPERATOR, tmp_path / "backup.zip")
    restore_backup(db, blobs, OPERATOR, tmp_path / "backup.zip", force=True)
    with workspace.session() as fresh:
        again = service.import_dataset(fresh, blobs, OPERATOR, "mood", "secret", write(tmp_path), HIDDEN)
        assert (again.hash, again.new) == (first.hash, False)
        assert fresh.scalar(select(func.count()).select_from(DatasetVersion)) == 1


@pytest.mark.parametrize(
    ("examples", "rows", "few"),
    [(9, 100, True), (10, 100, False), (91, 100, True), (90, 100, False), (100, 100, False)],
)
def test_a_slice_that_lacks_a_few_is_as_telling_as_one_that_has_a_few(examples: int, rows: int, few: bool) -> None:
    """What is missing to the whole is a figure on the others, so small rests are kept from readers, too."""
    assert few_of(examples, rows) is few
