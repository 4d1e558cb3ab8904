"""Images that a data file names by a path are brought in, or their rows are refused."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.data.plan import ImportPlan
from quintain.models.card import HEADINGS, write_card
from quintain.services.access.links import make_link, redeem_link
from quintain.services.collect.rounds import prompts
from quintain.services.collect.rounds.definition import parse_round
from quintain.services.collect.rounds.manage import put_round
from quintain.services.collect.writing.checks import check_writing
from quintain.services.contest.definition import parse_contest
from quintain.services.contest.pair_checks import Desk, PairDraft
from quintain.services.contrast.images import read_image
from quintain.services.data import content
from quintain.services.data.bundles import find_data_file
from quintain.services.data.datasets import VersionInfo, import_dataset, list_versions
from quintain.services.data.publishing import export_folder
from quintain.services.models.registry import register_version
from quintain.services.tasks.definitions import get_task, put_task
from quintain.services.validate.console import item_files
from quintain.store.blobs import Blobs
from quintain.tasks.definition import parse_task
from quintain.web.pages.contest.sides import differences
from quintain.web.pages.validate.judge_items import item_text, parts_of
from quintain.web.pages.written import written_parts
from tests.contests import CONTEST
from tests.contrast_site import png
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of

TASK = 'name = "pictures"\nkind = "image-pair"\ntitle = "Pictures"\n'
ROUND = 'task = "pictures"\nnumber = 1\ntitle = "R"\n[targets]\nmodels = ["pictures/one"]\n'
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


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_an_export_has_its_images(db: Session, blobs: Blobs, owner: Actor, folder: Path, form: str) -> None:
    """A file names them by their paths beside it, a ZIP file holds both, and either is read back as it was."""
    put_task(db, owner, TASK)
    version = import_dataset(db, blobs, owner, "pictures", "test", folder / "pairs.jsonl", ImportPlan(role="test"))
    out = folder.parent / "out"
    out.mkdir()
    content.export(db, blobs, owner, version.ref, form, out / f"again.{form}")
    (image,) = (out / "images").iterdir()
    assert image.suffix == ".png"
    assert image.read_bytes() == png(10)
    assert not import_dataset(db, blobs, owner, "pictures", "test", out / f"again.{form}", ImportPlan(role="test")).new
    content.export(db, blobs, owner, version.ref, form, folder.parent / "packed.zip", archive=True)
    again = import_dataset(db, blobs, owner, "pictures", "test", folder.parent / "packed.zip", ImportPlan(role="test"))
    assert not again.new


@pytest.mark.parametrize("form", ["hf", "croissant"])
def test_a_folder_has_its_images(db: Session, blobs: Blobs, owner: Actor, folder: Path, form: str) -> None:
    """The tables of a folder name files that lie in it."""
    put_task(db, owner, TASK)
    version = import_dataset(db, blobs, owner, "pictures", "test", folder / "pairs.jsonl", ImportPlan(role="test"))
    export_folder(db, blobs, owner, [version.ref], form, folder.parent / "out")
    named = pl.read_parquet(folder.parent / "out" / "data" / "test.parquet")["left_image"].unique().to_list()
    assert [(folder.parent / "out" / name).read_bytes() for name in named] == [png(10)]


def test_nothing_else_takes_paths(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """Prompts, contexts, items, variants, pairs and what is written name stored images or addresses."""
    put_task(db, owner, TASK)
    task = get_task(db, "pictures")
    file = folder / "pairs.jsonl"
    inputs = {name: value for name, value in ROW.items() if name != "answer"}
    stored = {**inputs, "left_image": f"blob:{blobs.put(png(10))}"}

    def refused(call: Callable[[], object]) -> list[tuple[int | None, str | None]]:
        with pytest.raises(BadInput) as caught:
            call()
        assert all("is a path; give an http(s) address" in str(fault.reason) for fault in caught.value.faults)
        return [(fault.row, fault.field) for fault in caught.value.faults]

    rows = [(1, "left_image"), (2, "left_image")]
    (folder / "model").mkdir()
    (folder / "model" / "handler.py").write_text("def predict(batch): return ['true'] * len(batch)\n")
    card = write_card("One", dict.fromkeys(HEADINGS, "Some words."))
    register_version(db, blobs, owner, "pictures", "one", adapter="handler", folder=folder / "model", card=card)
    put_round(db, owner, ROUND)
    assert refused(lambda: prompts.import_prompts(db, owner, "pictures/1", file)) == rows
    assert refused(lambda: prompts.read_contexts(file, task)) == rows
    assert refused(lambda: item_files.item_rows(task, file)) == rows
    assert refused(lambda: check_writing(task, parse_round(ROUND), None, inputs, "true")) == [(None, "left_image")]
    desk = Desk(parse_contest(CONTEST.format(more="scratch = true")), task)
    pair = PairDraft("p", inputs, {**inputs, "statement": "Three."}, "true", "false")
    assert [fault.field for fault in desk.check(pair)[1]] == ["original.left_image"]
    assert desk.check(replace(pair, original=stored, modified={**stored, "statement": "Three."}))[1] == []


def test_pages_show_images(workspace: Workspace, folder: Path) -> None:
    """The page of a data set shows images to whoever is signed in, and the name of none."""
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
        put_task(db, owner, TASK)
        plan = ImportPlan(role="train")
        import_dataset(db, workspace.blobs, owner, "pictures", "set", folder / "pairs.jsonl", plan)
    browser = browser_of(workspace, "olga")
    page = browser.get("/tasks/pictures/data/set").text
    shown_here = re.findall(r'<img class="example-image" src="(/images/[0-9a-f]{64})" alt="Left image"', page)
    assert len(shown_here) == 2
    assert browser.get(shown_here[0]).headers["content-type"] == "image/png"
    assert "blob:" not in page
    packed = browser.get("/tasks/pictures/data/set/download?format=csv")
    assert packed.headers["content-type"] == "application/zip"
    stranger = browser_of(workspace).get("/tasks/pictures/data/set").text
    assert "An image, for people who are signed in" in stranger


def test_an_item_is_shown_with_its_images() -> None:
    """Judges, coders and graders see the image; lists of items name it in a few letters."""
    task = parse_task(TASK)
    inputs = {"left_image": "blob:" + "3f2a91c0" * 8, "right_image": ROW["right_image"], "statement": "Two."}
    assert [part.image for part in parts_of(task, inputs)] == [inputs["left_image"], inputs["right_image"], ""]
    assert item_text(task, inputs) == "image 3f2a91c0 · https://example.org/blue.png · Two."
    assert next(part.image for part in written_parts(task, inputs, None)) == inputs["left_image"]
    changed = differences(task, inputs, {**inputs, "statement": "Three."})
    assert [images for _title, _pieces, images in changed] == [[inputs["left_image"]], [inputs["right_image"]], []]
