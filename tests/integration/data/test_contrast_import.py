"""Published contrast sets as data set versions, by the command and by the service."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.example import Example
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.data.contrast.contract import ContrastFiles
from quintain.data.plan import ImportPlan, parse_plan
from quintain.services.contrast.results import model_contrast
from quintain.services.data import content
from quintain.services.data.contrast import import_contrast
from quintain.services.data.datasets import import_dataset, list_versions
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from tests.boards import add_version, evaluated
from tests.people import make_person

TASK = 'name = "films"\nkind = "text-classification"\ntitle = "Films"\nlabels = ["negative", "positive"]'
ROWS = [("Negative", "Bad.", "Positive", "Good."), ("Positive", "Fine.", "Negative", "Fine."),
        ("Positive", "Great.", "Negative", "Grating.")]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three sets of reviews; the second neighbour is the same text as its original."""
    for name, at in (("original", 0), ("contrast", 2)):
        lines = ["Sentiment\tText", *(f"{row[at]}\t{row[at + 1]}" for row in ROWS)]
        (tmp_path / f"test_{name}.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_version_of_whole_sets(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """Sets are groups, roles are tags, the role is contrast, and nothing scores before its owner lets it."""
    put_task(db, owner, TASK)
    version, report = import_contrast(db, blobs, owner, "films", "turned", "imdb", ContrastFiles(folder), ImportPlan())
    table = content.scan(db, blobs, owner, version.ref, answers=True).collect()

    sets = [f"test-{number}" for number in (1, 1, 2, 2, 3, 3)]
    assert (version.role, version.rows, version.scores) == ("contrast", 6, False)
    assert table["group"].to_list() == sets
    assert table["tags"].list.first().to_list() == ["role:original", "role:contrast"] * 3
    assert [json.loads(one)["source"] for one in table["meta"]] == sets
    assert report.usable.sets == 3
    assert report.left_out == {}


def test_a_repeated_input_is_a_member_of_its_own(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """A neighbour that nobody changed has an id of its own: no model gets that set right, and no other set suffers.

    The file that is exported from the version comes in again as it was.
    """
    put_task(db, owner, TASK.replace("films", "mood"))
    version, report = import_contrast(db, blobs, owner, "mood", "turned", "imdb", ContrastFiles(folder), ImportPlan())
    table = content.scan(db, blobs, owner, version.ref, answers=True).collect()
    assert table["id"].n_unique() == 6
    assert table["id"][2] == Example({"text": "Fine."}).id != table["id"][3]
    assert table["answer"].to_list()[2:4] == ["positive", "negative"]
    assert "1 members have the input of another one" in report.notes[0]
    bad = ("Bad.", "Grating.")
    model = add_version(db, blobs, owner, folder, "simple")
    evaluated(
        db, blobs, model, lambda row: "negative" if row["text"] in bad else "positive", perturbed=(), measured=False
    )
    score = model_contrast(db, blobs, owner, "mood/simple", "turned").score
    assert (score.sets, score.examples, round(score.consistency, 3)) == (3, 6, 0.667)
    content.export(db, blobs, owner, version.ref, "jsonl", folder / "out.jsonl")
    again = ImportPlan(role="contrast", duplicates="keep")
    assert not import_dataset(db, blobs, owner, "mood", "turned", folder / "out.jsonl", again).new
    with pytest.raises(BadInput, match="a contrast set keeps all"):
        import_dataset(db, blobs, owner, "mood", "turned", folder / "out.jsonl", ImportPlan(role="contrast"))
    with pytest.raises(BadInput, match="in a contrast set only"):
        parse_plan('role = "test"\nduplicates = "keep"')


@pytest.mark.parametrize(
    ("name", "where", "task", "sizes"),
    [
        ("ropes", "ropes/data", '[options]\npassages = ["background", "situation"]\n', (974, 974, 974)),
        ("quoref", "quoref", "", (700, 415, 415)),
        ("drop", "DROP", "", (947, 623, 0)),
    ],
)
def test_published_sets_lose_no_member(
    db: Session, blobs: Blobs, owner: Actor, shared_data: Path, name: str, where: str, task: str, sizes: tuple[int, ...]
) -> None:
    """Sets of the paper in which inputs repeat come into a workspace whole: neighbours, sets and originals."""
    put_task(db, owner, f'name = "{name}"\nkind = "discrete-qa"\ntitle = "Published"\n{task}')
    files = ContrastFiles(shared_data / "contrast-sets" / where)
    version, report = import_contrast(db, blobs, owner, name, "published", name, files, ImportPlan())
    table = content.scan(db, blobs, owner, version.ref, answers=True).collect()
    neighbours, sets, originals = sizes
    assert (report.usable.contrasts, report.usable.sets, report.left_out) == (neighbours, sets, {})
    assert version.rows == table.height == table["id"].n_unique() == neighbours + originals
    roles = table["tags"].list.first().value_counts().rows()
    assert dict(roles) == {"role:contrast": neighbours, **({"role:original": originals} if originals else {})}
    assert table["group"].n_unique() == sets


def test_only_owners_bring_data(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """Others are refused before a file is read, and a task that is not there is said not to be."""
    put_task(db, owner, TASK)
    worker = make_person(db, "wanda", RoleName.WORKER)
    with pytest.raises(Forbidden):
        import_contrast(db, blobs, worker, "films", "turned", "imdb", ContrastFiles(folder / "none"), ImportPlan())
    with pytest.raises(NotFound):
        import_contrast(db, blobs, owner, "none", "turned", "imdb", ContrastFiles(folder), ImportPlan())
    assert list_versions(db, OPERATOR) == []


def test_the_command_writes_plain_examples_without_a_workspace(cli: Callable[..., Result], folder: Path) -> None:
    """With --out there are all members, inputs included, in a file that `contrast score` reads."""
    made = cli("contrast", "import", folder, "--format", "imdb", "--out", folder / "out.jsonl")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    lost = cli("contrast", "import", folder, "--format", "imdb")

    assert made.exit_code == 0, made.output
    assert "Wrote 6 examples" in made.stderr
    assert rows[1] == {
        "id": "test-1/contrast-1", "source": "test-1", "set": "test-1", "role": "contrast", "gold": "positive",
        "tags": [], "text": "Good.",
    }  # fmt: skip
    assert lost.exit_code == 1
    assert "--task, or a file with --out" in lost.stderr


def test_formats_are_listed_with_their_tasks(cli: Callable[..., Result]) -> None:
    """Whoever wants to import one sees what task it needs."""
    listed = json.loads(cli("contrast", "formats", "--json").stdout)["formats"]
    shown = cli("contrast", "formats").stdout

    assert len(listed) == 10
    assert 'passages = ["background", "situation"]' in shown
