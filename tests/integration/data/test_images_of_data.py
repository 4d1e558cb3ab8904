"""Images that a data file names by a path are brought in, or their rows are refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.data.plan import ImportPlan
from quintain.services.contrast.images import read_image
from quintain.services.data import content
from quintain.services.data.bundles import find_data_file
from quintain.services.data.datasets import VersionInfo, import_dataset, list_versions
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from tests.contrast_site import png

TASK = 'name = "pictures"\nkind = "image-pair"\ntitle = "Pictures"\n'
ROW = {
    "left_image": "images/red.png",
    "right_image": "https://example.org/blue.png",
    "statement": "Two.",
    "answer": "true",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data file with one image in a folder beside it."""
    place = tmp_path / "set"
    (place / "images").mkdir(parents=True)
    (place / "images" / "red.png").write_bytes(png(10))
    rows = [ROW, {**ROW, "statement": "Three."}]
    (place / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


def shown(db: Session, blobs: Blobs, owner: Actor, version: VersionInfo) -> list[str]:
    """Give the left images of a version; each that is stored can be sent."""
    images = content.scan(db, blobs, owner, version.ref, answers=True).collect()["left_image"].to_list()
    for image in images:
        assert read_image(blobs, owner, image.removeprefix("blob:"))[1] == "image/png"
    return images


def test_a_file_brings_the_images_beside_it(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """From its folder, and the same from a .zip file of both; an address stays an address."""
    put_task(db, owner, TASK)
    plan = ImportPlan(role="test")
    version = import_dataset(db, blobs, owner, "pictures", "test", folder / "pairs.jsonl", plan)
    assert len(set(shown(db, blobs, owner, version))) == 1
    packed = folder.parent / "all.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in ("pairs.jsonl", "images/red.png"):
            archive.write(folder / path, f"mine/{path}")
        archive.writestr("__MACOSX/mine/._pairs.jsonl", b"x")
    assert not import_dataset(db, blobs, owner, "pictures", "test", packed, plan).new


def test_a_row_without_its_image_is_refused(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """What is missing, no image, or outside of the folder is said by row, and nothing is stored."""
    put_task(db, owner, TASK)
    (folder.parent / "secret.png").write_bytes(png(20))
    (folder / "images" / "link.png").symlink_to(folder.parent / "secret.png")
    (folder / "images" / "note.png").write_text("no image")
    names = ("images/gone.png", "images/link.png", "images/note.png", "images/red.png")
    rows = [{**ROW, "left_image": name} for name in names]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    before = blobs.keys()
    with pytest.raises(BadInput) as caught:
        import_dataset(db, blobs, owner, "pictures", "test", folder / "pairs.jsonl", ImportPlan(role="test"))
    reasons = [(fault.row, str(fault.reason)) for fault in caught.value.faults]
    assert [row for row, _ in reasons] == [1, 2, 3]
    assert ["is not beside the file" in reason for _, reason in reasons] == [True, True, False]
    assert "neither a PNG" in reasons[2][1]
    assert (blobs.keys(), list_versions(db, owner, "pictures")) == (before, [])
    kept = ImportPlan(role="test", skip_bad=True)
    assert import_dataset(db, blobs, owner, "pictures", "test", folder / "pairs.jsonl", kept).rows == 1
    (folder / "other.jsonl").write_text("")
    with pytest.raises(BadInput, match="holds 3 files that are no images"):
        find_data_file(folder, "what came")


def test_the_command_looks_for_them(cli: Callable[..., Result], folder: Path) -> None:
    """`data check` needs no workspace, takes an image by its name alone, and says what is missing."""
    (folder / "task.toml").write_text(TASK)
    assert "2 good examples" in cli("data", "check", folder / "pairs.jsonl", "--task", folder / "task.toml").stdout
    (folder / "images" / "red.png").rename(folder / "red.png")
    assert cli("data", "check", folder / "pairs.jsonl", "--task", folder / "task.toml").exit_code == 0
    (folder / "red.png").unlink()
    missing = cli("data", "check", folder / "pairs.jsonl", "--task", folder / "task.toml")
    assert missing.exit_code == 1
    assert "'images/red.png' is not beside the file" in missing.stderr
