"""Data sets in a workspace: importing, finding, looking, comparing, exporting, and who may do what."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, NotSignedIn, Unavailable
from quintain.core.example import Example, Role
from quintain.core.people import ANONYMOUS, Actor, Scope
from quintain.data.plan import ImportPlan
from quintain.services.data import content
from quintain.services.data import datasets as service
from quintain.services.data.inputs import set_inputs
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.store.tables import AuditEntry, Dataset, DatasetVersion

TOML = 'name = "sentiment"\nkind = "text-classification"\nlabels = ["negative", "neutral", "positive"]\n'
ROWS = [("Good food", "positive", ["food"]), ("Bad food", "negative", ["food"]), ("A place", "neutral", [])]


@pytest.fixture
def task(db: Session, owner: Actor) -> str:
    """The name of a task in the workspace."""
    return put_task(db, owner, TOML).name


def _file(folder: Path, rows: list[tuple[str, str, list[str]]], name: str = "a.jsonl") -> Path:
    path = folder / name
    lines = [json.dumps({"text": text, "label": label, "tags": tags, "who": "w1"}) for text, label, tags in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def version(db: Session, blobs: Blobs, owner: Actor, task: str, tmp_path: Path) -> service.VersionInfo:
    """A hidden test set of three examples."""
    plan = ImportPlan(role="test", hidden=True, keep=("who",))
    return service.import_dataset(db, blobs, owner, task, "reviews", _file(tmp_path, ROWS), plan)


@pytest.mark.both_databases
def test_a_token_that_only_reads_shows_no_hidden_answers(
    db: Session, blobs: Blobs, owner: Actor, version: service.VersionInfo, tmp_path: Path
) -> None:
    """An owner's token for a dashboard takes no hidden label out; one that owns does, and so does signing in."""
    reading, owning = (replace(owner, allows=frozenset(scopes)) for scopes in ([Scope.READ], [Scope.READ, Scope.OWN]))
    with pytest.raises(Forbidden, match="are hidden"):
        content.scan(db, blobs, reading, version.ref, answers=True)
    for actor, shown in ((reading, False), (owning, True)):
        content.export(db, blobs, actor, version.ref, "csv", tmp_path / "out.csv")
        text = (tmp_path / "out.csv").read_text()
        assert ("positive" in text, "w1" in text) == (shown, shown)


def test_an_import_makes_a_version(db: Session, blobs: Blobs, owner: Actor, version: service.VersionInfo) -> None:
    """What was imported can be found by name, by number and by hash, and its examples have their ids."""
    assert (version.ref, version.rows, version.role, version.hidden) == ("sentiment/reviews@1", 3, "test", True)
    for ref in ("sentiment/reviews", "sentiment/reviews@1", version.hash[:8]):
        assert service.get_version(db, owner, ref).id == version.id
    table = content.scan(db, blobs, owner, version.ref, answers=True).collect()
    assert table["id"].to_list() == [Example({"text": text}).id for text, _, _ in ROWS]
    assert table["answer"].to_list() == ["positive", "negative", "neutral"]
    assert db.scalar(select(AuditEntry.subject).where(AuditEntry.action == "data.import")) == version.ref
    assert [one.ref for one in service.list_versions(db, owner, "sentiment")] == [version.ref]


@pytest.mark.both_databases
def test_the_same_content_is_the_same_version(
    db: Session, blobs: Blobs, owner: Actor, version: service.VersionInfo, tmp_path: Path
) -> None:
    """Importing it again adds nothing, from another format either; with another role it is refused."""
    path = tmp_path / "b.csv"
    content.export(db, blobs, owner, version.ref, "csv", path)
    again = service.import_dataset(db, blobs, owner, "sentiment", "reviews", path, ImportPlan(role="test", hidden=True))
    assert (again.id, again.new) == (version.id, False)
    with pytest.raises(Conflict, match="role test and hidden labels"):
        service.import_dataset(db, blobs, owner, "sentiment", "reviews", path, ImportPlan(role="train"))
    changed = service.import_dataset(
        db, blobs, owner, "sentiment", "reviews", _file(tmp_path, ROWS[:2]), ImportPlan(role="test")
    )
    assert changed.number == 2
    assert service.get_version(db, owner, "sentiment/reviews").number == 2


def test_only_owners_import(db: Session, blobs: Blobs, owner: Actor, worker: Actor, task: str, tmp_path: Path) -> None:
    """Workers and strangers are refused, and so are unknown tasks, bad names and a missing role."""
    path = _file(tmp_path, ROWS)
    plan = ImportPlan(role="test")
    with pytest.raises(Forbidden):
        service.import_dataset(db, blobs, worker, task, "x", path, plan)
    with pytest.raises(NotSignedIn):
        service.import_dataset(db, blobs, ANONYMOUS, task, "x", path, plan)
    with pytest.raises(NotFound, match="no task called 'sentimant'"):
        service.import_dataset(db, blobs, owner, "sentimant", "x", path, plan)
    with pytest.raises(BadInput, match="cannot be the name"):
        service.import_dataset(db, blobs, owner, task, "A b", path, plan)
    with pytest.raises(BadInput, match="no role"):
        service.import_dataset(db, blobs, owner, task, "x", path, ImportPlan())


def test_a_bad_file_leaves_nothing_behind(db: Session, blobs: Blobs, owner: Actor, task: str, tmp_path: Path) -> None:
    """Neither a version, nor a data set, nor a blob; with skip_bad the good rows are kept."""
    path = _file(tmp_path, [*ROWS, ("Odd", "postive", [])])
    with pytest.raises(BadInput, match="has 1 fault; nothing was imported") as caught:
        service.import_dataset(db, blobs, owner, task, "x", path, ImportPlan(role="test"))
    assert [(fault.file, fault.row, fault.field) for fault in caught.value.faults] == [("a.jsonl", 4, "label")]
    assert db.scalars(select(DatasetVersion)).all() == []
    assert db.scalars(select(Dataset)).all() == []
    assert blobs.keys() == []
    assert list((blobs.root / "scratch").iterdir()) == []
    kept = service.import_dataset(db, blobs, owner, task, "x", path, ImportPlan(role="test", skip_bad=True))
    assert (kept.rows, kept.meta["dropped"]) == (3, {"bad": 1})


def test_a_full_disk_leaves_nothing_behind(
    db: Session, blobs: Blobs, owner: Actor, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills while the version is written is said to be full, and nothing is imported."""
    write = service.write_examples
    monkeypatch.setattr(
        service,
        "write_examples",
        lambda source, task, plan, target, **options: write(source, task, plan, Path("/dev/full"), **options),
    )
    with pytest.raises(Unavailable, match="full"):
        service.import_dataset(db, blobs, owner, task, "x", _file(tmp_path, ROWS), ImportPlan(role="test"))
    assert db.scalars(select(DatasetVersion)).all() == []
    assert blobs.keys() == []


def test_hidden_answers_stay_with_owners(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, version: service.VersionInfo, tmp_path: Path
) -> None:
    """Others see inputs only, where they are open: in scans, previews, counts, exports and diffs."""
    set_inputs(db, owner, "sentiment/reviews", "open")
    with pytest.raises(Forbidden, match="hidden"):
        content.scan(db, blobs, worker, version.ref, answers=True)
    page = content.preview(db, blobs, worker, version.ref)
    assert page.total == 3
    assert all(not {"answer", "meta"} & set(example) for example in page.examples)
    with pytest.raises(Forbidden):
        content.preview(db, blobs, worker, version.ref, label="positive")
    assert content.label_counts(db, blobs, worker, version.ref) == {}
    content.export(db, blobs, worker, version.ref, "jsonl", tmp_path / "out.jsonl")
    assert set(pl.read_ndjson(tmp_path / "out.jsonl").columns) == {"id", "text", "tags", "group"}
    content.export(db, blobs, owner, version.ref, "jsonl", tmp_path / "own.jsonl")
    assert {"answer", "meta"} <= set(pl.read_ndjson(tmp_path / "own.jsonl").columns)
    assert content.diff(db, blobs, worker, version.ref, version.ref).changed.height == 0
    assert content.scan_for_scoring(blobs, version).collect()["answer"].null_count() == 0


@pytest.mark.both_databases
def test_preview_filters_and_counts(db: Session, blobs: Blobs, owner: Actor, version: service.VersionInfo) -> None:
    """Examples are found by text (whatever its case), label and tag, and pages know the total."""
    assert content.preview(db, blobs, owner, version.ref, text="FOOD").total == 2
    page = content.preview(db, blobs, owner, version.ref, text="food", label="negative", tag="food")
    assert [example["text"] for example in page.examples] == ["Bad food"]
    page = content.preview(db, blobs, owner, version.ref, offset=2, limit=5)
    assert (page.total, len(page.examples)) == (3, 1)
    assert content.label_counts(db, blobs, owner, version.ref) == {"negative": 1, "neutral": 1, "positive": 1}
    assert content.tag_counts(db, blobs, owner, version.ref) == {"food": 2}
    with pytest.raises(BadInput):
        content.preview(db, blobs, owner, version.ref, limit=0)


def test_diff_says_what_changed(
    db: Session, blobs: Blobs, owner: Actor, version: service.VersionInfo, tmp_path: Path
) -> None:
    """Added, removed and answered differently."""
    rows = [("Good food", "neutral", []), ROWS[2], ("New", "positive", [])]
    other = service.import_dataset(
        db, blobs, owner, "sentiment", "reviews", _file(tmp_path, rows), ImportPlan(role="test")
    )
    found = content.diff(db, blobs, owner, version.ref, other.ref)
    assert found.added["text"].to_list() == ["New"]
    assert found.removed["text"].to_list() == ["Bad food"]
    assert found.changed.select("text", "before", "after").rows() == [("Good food", "positive", "neutral")]


def test_a_derived_version_knows_its_parents(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, version: service.VersionInfo
) -> None:
    """Lineage is kept both ways, with how and with which settings."""
    frame = pl.DataFrame({"text": ["good food!"], "answer": ["positive"]})
    facts = service.Facts(Role.CONTRAST)
    with pytest.raises(Forbidden):
        service.derive(db, blobs, worker, [version.ref], frame, how="case", settings={}, name="cased", facts=facts)
    child = service.derive(
        db, blobs, owner, [version.ref], frame, how="case", settings={"seed": 1}, name="cased", facts=facts
    )
    assert [(step.ref, step.how, step.settings) for step in child.parents] == [(version.ref, "case", {"seed": 1})]
    assert [step.ref for step in service.get_version(db, owner, version.ref).children] == [child.ref]
    with pytest.raises(BadInput, match="same input twice"):
        service.derive(
            db,
            blobs,
            owner,
            [version.ref],
            pl.concat([frame, frame]),
            how="x",
            settings={},
            name="y",
            facts=service.Facts(Role.TRAIN),
        )


def test_unknown_references_are_explained(db: Session, owner: Actor, version: service.VersionInfo) -> None:
    """A typo gets a suggestion, a bad number is refused."""
    with pytest.raises(NotFound, match="Did you mean sentiment/reviews"):
        service.get_version(db, owner, "sentiment/review")
    with pytest.raises(NotFound):
        service.get_version(db, owner, "sentiment/reviews@9")
    with pytest.raises(BadInput):
        service.get_version(db, owner, "sentiment/reviews@x")
