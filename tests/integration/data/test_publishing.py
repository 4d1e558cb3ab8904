"""Folders for other tools: loaded with `datasets`, validated with `mlcroissant`, read back by our own import."""

from __future__ import annotations

import hashlib
import json
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from sqlalchemy import select
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.data.plan import ImportPlan
from quintain.services.data.datasets import VersionInfo, import_dataset
from quintain.services.data.inputs import ask_for_inputs, decide_inputs, set_inputs
from quintain.services.data.publishing import export_folder
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.store.tables import AuditEntry
from quintain.tasks.contract import KINDS
from quintain.tasks.starter import starter
from tests.people import make_person
from tests.refusals import refusal

LABELS = ("negative", "neutral", "positive")
TOML = 'name = "mood"\nkind = "text-classification"\nlabels = ["negative", "neutral", "positive"]\n'
CITATION = '@misc{mood, title = {Moods: a "test"}}'
DRAWN = "https://example.org/dogs-2.jpg"  # images that are files go along in tests of their own


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No network: whoever looks up a host fails. Caches of the libraries go to a folder of the test."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("there is no network here")

    monkeypatch.setattr(socket.socket, "connect", _only_local(socket.socket.connect))
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))


def _only_local(connect: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family == socket.AF_UNIX or address[0] in {"127.0.0.1", "::1", "localhost"}:
            return connect(self, address)
        raise OSError(f"there is no network here: {address}")

    return guarded


def _rows(prefix: str, count: int) -> list[dict[str, Any]]:
    return [
        {"text": f"{prefix} {n}, “ä”", "label": LABELS[n % 3], "tags": ["odd"] if n % 2 else [], "who": "w1"}
        for n in range(count)
    ]


def _import(db: Session, blobs: Blobs, folder: Path, name: str, rows: list[dict[str, Any]], **plan: Any) -> VersionInfo:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_dataset(db, blobs, OPERATOR, "mood", name, path, ImportPlan(keep=("who",), **plan))


@pytest.fixture
def splits(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> list[VersionInfo]:
    """A training, a development and a hidden test set."""
    put_task(db, owner, TOML)
    known = {"license": "CC-BY-4.0", "citation": CITATION}
    made = [
        _import(db, blobs, tmp_path, "train", _rows("t", 30), role="train", description="Moods.", **known),
        _import(db, blobs, tmp_path, "dev", _rows("d", 9), role="dev", **known),
        _import(db, blobs, tmp_path, "test", _rows("e", 6), role="test", hidden=True, **known),
    ]
    set_inputs(db, owner, "mood/test", "open")
    return made


@pytest.fixture
def folder(db: Session, blobs: Blobs, splits: list[VersionInfo], tmp_path: Path) -> Path:
    """The three as a folder, as anybody gets it."""
    export_folder(db, blobs, ANONYMOUS, [one.ref for one in splits], "hf", tmp_path / "mood")
    return tmp_path / "mood"


def _load(folder: Path, cache: Path) -> Any:
    import datasets

    datasets.disable_progress_bars()
    return datasets.load_dataset(str(folder), cache_dir=str(cache))


def _croissant(folder: Path) -> Any:
    import mlcroissant

    found = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert not found.metadata.ctx.issues.errors
    return found


def test_the_library_loads_the_folder(folder: Path, tmp_path: Path) -> None:
    """Splits have their names and rows, labels are ClassLabel with the task's names, withheld ones are empty."""
    loaded = _load(folder, tmp_path / "cache")
    assert {name: split.num_rows for name, split in loaded.items()} == {"train": 30, "validation": 9, "test": 6}
    assert loaded["train"].features["answer"].names == list(LABELS)
    assert loaded["train"][4] == {
        "id": loaded["train"][4]["id"],
        "text": "t 4, “ä”",
        "answer": 1,
        "tags": [],
        "group": None,
    }
    assert loaded["validation"]["tags"][1] == ["odd"]
    assert loaded["test"]["answer"][:] == [None] * 6


def test_the_front_matter_says_what_the_hub_asks(folder: Path) -> None:
    """Language, licence, category, size, files by split and features; the card names versions and citation."""
    _, block, card = (folder / "README.md").read_text().split("---\n", 2)
    said = yaml.safe_load(block)
    assert (said["language"], said["license"], said["size_categories"]) == (["en"], "cc-by-4.0", ["n<1K"])
    assert said["task_categories"] == ["text-classification"]
    assert said["configs"][0]["data_files"][1] == {"split": "validation", "path": "data/validation.parquet"}
    assert said["dataset_info"]["splits"][2] == {
        "name": "test",
        "num_bytes": (folder / "data/test.parquet").stat().st_size,
        "num_examples": 6,
    }
    assert "| test | mood/test@1 | 6 | withheld |" in card
    assert CITATION in card


def test_croissant_is_valid_and_its_records_can_be_read(folder: Path) -> None:
    """No error, files with their size and checksum, and record sets that `mlcroissant` reads without a network."""
    described = json.loads((folder / "croissant.json").read_text())
    assert (described["license"], described["citeAs"], described["description"]) == ("CC-BY-4.0", CITATION, "Moods.")
    for file in described["distribution"]:
        content = (folder / file["contentUrl"]).read_bytes()
        assert (file["contentSize"], file["sha256"]) == (f"{len(content)} B", hashlib.sha256(content).hexdigest())
    found = _croissant(folder)
    assert [one.id for one in found.metadata.record_sets] == ["labels", "train", "validation", "test"]
    rows = list(found.records("train"))
    assert [row["train/answer"].decode() for row in rows] == [LABELS[n % 3] for n in range(30)]
    assert [row["train/text"].decode() for row in rows][:2] == ["t 0, “ä”", "t 1, “ä”"]
    assert [row["labels/name"] for row in found.records("labels")] == list(LABELS)


def test_no_description_turns_the_direction_of_text(
    db: Session, blobs: Blobs, splits: list[VersionInfo], tmp_path: Path
) -> None:
    """A task's title is shown by whoever reads the metadata: an override in it is seen as a mark, in both files."""
    put_task(db, OPERATOR, f'title = "a\u202eb"\n{TOML}')
    export_folder(db, blobs, OPERATOR, [splits[2].ref], "hf", tmp_path / "turned")
    for name in ("README.md", "croissant.json"):
        text = (tmp_path / "turned" / name).read_text(encoding="utf-8")
        assert "a\ufffdb" in json.loads(text)["description"] if name.endswith("json") else "a\ufffdb" in text
        assert "\u202e" not in text


def test_hidden_answers_and_meta_stay(db: Session, blobs: Blobs, splits: list[VersionInfo], tmp_path: Path) -> None:
    """Not even an owner's folder has them unless asked for, which is written down; others cannot ask."""
    hidden = splits[2].ref
    export_folder(db, blobs, OPERATOR, [hidden], "hf", tmp_path / "plain")
    table = pl.read_parquet(tmp_path / "plain/data/test.parquet")
    assert table["answer"].null_count() == 6
    assert "meta" not in table.columns
    export_folder(db, blobs, OPERATOR, [hidden], "hf", tmp_path / "asked", hidden_answers=True)
    assert pl.read_parquet(tmp_path / "asked/data/test.parquet")["answer"].to_list() == [*LABELS, *LABELS]
    assert db.scalars(select(AuditEntry.subject).where(AuditEntry.action == "data.export")).all() == [hidden]
    with pytest.raises(Forbidden, match="hidden"):
        export_folder(db, blobs, ANONYMOUS, [hidden], "hf", tmp_path / "never", hidden_answers=True)
    assert not (tmp_path / "never").exists()


def test_inputs_that_are_not_open_are_in_the_folders_of_those_who_may_read_them(
    db: Session, blobs: Blobs, owner: Actor, splits: list[VersionInfo], tmp_path: Path
) -> None:
    """Owners and whom they let have the inputs, and the card warns; others get no folder; a public one has ids only."""
    hidden, reader = splits[2].ref, make_person(db, "rita")
    texts = [row["text"] for row in _rows("e", 6)]
    set_inputs(db, owner, "mood/test", "request")
    with refusal(Forbidden, "inputs_closed"):
        export_folder(db, blobs, reader, [hidden], "hf", tmp_path / "refused")
    [asked] = ask_for_inputs(db, reader, "mood/test", "to look at errors").requests
    decide_inputs(db, owner, "mood/test", asked.id, "allow")
    for name, actor in (("owner", owner), ("reader", reader)):
        export_folder(db, blobs, actor, [hidden], "hf", tmp_path / name)
        table = pl.read_parquet(tmp_path / name / "data/test.parquet")
        assert table["text"].to_list() == texts
        assert table["answer"].null_count() == 6
        assert "do not pass this folder on" in (tmp_path / name / "README.md").read_text()
    set_inputs(db, owner, "mood/test", "never")
    with refusal(Forbidden, "inputs_closed"):
        export_folder(db, blobs, reader, [hidden], "croissant", tmp_path / "refused")
    export_folder(db, blobs, owner, [splits[1].ref, hidden], "hf", tmp_path / "public", public=True)
    passed_on = pl.read_parquet(tmp_path / "public/data/test.parquet")
    assert (passed_on["text"].null_count(), passed_on["id"].null_count(), passed_on.height) == (6, 0, 6)
    assert pl.read_parquet(tmp_path / "public/data/validation.parquet")["text"].null_count() == 0
    assert "do not pass" not in (tmp_path / "public/README.md").read_text()
    with pytest.raises(BadInput, match="no hidden answers"):
        export_folder(db, blobs, owner, [hidden], "hf", tmp_path / "both", public=True, hidden_answers=True)


def test_the_folder_is_imported_again_with_the_same_hash(
    db: Session, blobs: Blobs, splits: list[VersionInfo], folder: Path
) -> None:
    """Open splits have the hash that they had; one without answers is taken as unlabelled."""
    for one in splits[:2]:
        made = import_dataset(db, blobs, OPERATOR, "mood", f"{one.dataset}-again", folder, ImportPlan(role=one.role))
        assert (made.hash, made.rows) == (one.hash, one.rows)
    made = import_dataset(db, blobs, OPERATOR, "mood", "bare", folder, ImportPlan(role="test", unlabelled=True))
    assert made.rows == 6


@pytest.mark.parametrize("kind", KINDS.names())
def test_every_kind_goes_out_and_comes_back(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, kind: str) -> None:
    """The starter example of each kind: `datasets` and `mlcroissant` read it, and the import finds the same hash."""
    put_task(db, owner, starter(kind, "some"))
    example = KINDS.get(kind).example
    path = tmp_path / "a.jsonl"
    inputs = {name: DRAWN if name.endswith("_image") else value for name, value in example.inputs.items()}
    path.write_text(json.dumps({**inputs, "answer": example.answer, "group": "g"}) + "\n")
    made = import_dataset(db, blobs, OPERATOR, "some", "one", path, ImportPlan(role="dev"))
    export_folder(db, blobs, OPERATOR, [made.ref], "hf", tmp_path / "out")
    loaded = _load(tmp_path / "out", tmp_path / "cache")["validation"]
    assert {name: loaded[0][name] for name in inputs} == inputs
    [row] = _croissant(tmp_path / "out").records("validation")
    assert row["validation/group"] == b"g"
    again = import_dataset(db, blobs, OPERATOR, "some", "again", tmp_path / "out", ImportPlan(role="dev"))
    assert again.hash == made.hash


def test_versions_of_the_same_role_are_splits_of_their_own(
    db: Session, blobs: Blobs, splits: list[VersionInfo], tmp_path: Path
) -> None:
    """Two development sets are named after their data sets, and each can be chosen at an import."""
    other = _import(db, blobs, tmp_path, "tweets-2.0", _rows("x", 4), role="dev")
    export_folder(db, blobs, OPERATOR, [splits[1].ref, other.ref], "hf", tmp_path / "two")
    assert sorted(_load(tmp_path / "two", tmp_path / "cache")) == ["validation_dev", "validation_tweets_2_0"]
    plan = ImportPlan(role="dev", split="validation_tweets_2_0")
    assert import_dataset(db, blobs, OPERATOR, "mood", "again", tmp_path / "two", plan).hash == other.hash


def test_what_cannot_be_written_is_refused(
    db: Session, blobs: Blobs, owner: Actor, splits: list[VersionInfo], folder: Path, tmp_path: Path
) -> None:
    """A folder that is there, a version twice, versions of two tasks: nothing is changed or left behind."""
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(Conflict, match="is there already"):
        export_folder(db, blobs, OPERATOR, [splits[0].ref], "hf", folder)
    with pytest.raises(BadInput, match="mood/train@1 is named twice"):
        export_folder(db, blobs, OPERATOR, ["mood/train", splits[0].hash], "hf", tmp_path / "new")
    with pytest.raises(BadInput, match="There is no folder"):
        export_folder(db, blobs, OPERATOR, ["mood/train"], "hf", tmp_path / "no" / "new")
    put_task(db, owner, TOML.replace("mood", "other"))
    path = tmp_path / "train.jsonl"
    import_dataset(db, blobs, OPERATOR, "other", "train", path, ImportPlan(role="train"))
    with pytest.raises(BadInput, match="of different tasks"):
        export_folder(db, blobs, OPERATOR, ["mood/train", "other/train"], "croissant", tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.fixture
def data(
    cli: Callable[..., Result], workspace: Workspace, splits: list[VersionInfo], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """A function that runs a data command in the workspace with the three versions."""
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    if workspace.settings.database_url:
        monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    return lambda *arguments: cli("data", *arguments)


def test_the_command_takes_several_versions(data: Callable[..., Result], tmp_path: Path) -> None:
    """A folder, or a ZIP that is the same each time; a file takes one version only."""
    made = data("export", "mood/train", "mood/test", tmp_path / "out", "--format", "croissant", "--json")
    assert made.exit_code == 0, made.output
    assert [one["ref"] for one in json.loads(made.stdout)["versions"]] == ["mood/train@1", "mood/test@1"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["croissant.json", "data"]
    packed = data("export", "mood/train", tmp_path / "out.zip", "--format", "hf", "--hidden-answers")
    assert packed.exit_code == 0, packed.output
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.namelist() == ["README.md", "croissant.json", "data/train.parquet"]
        assert archive.testzip() is None
    refused = data("export", "mood/train", "mood/dev", tmp_path / "out.csv")
    assert refused.exit_code == 1
    assert "--format hf or croissant" in refused.stderr
