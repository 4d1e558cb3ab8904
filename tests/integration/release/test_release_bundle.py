"""Everything about a release in one folder: what is promised holds in the files, hidden labels are not in it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result
from sqlalchemy import update
from sqlalchemy.orm import Session

from quintain.client import Client
from quintain.compose import Workspace, create_workspace
from quintain.core.errors import Conflict, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.release import ReleaseSpec
from quintain.services.access.links import make_link, redeem_link
from quintain.services.release import bundle
from quintain.services.release import releases as service
from quintain.services.validate.console.manage import find_validation
from quintain.settings import Settings
from quintain.store.database import transaction
from quintain.store.tables import Judgement, JudgeStanding
from tests.people import make_person
from tests.released import REF, Made, judged_round, mood_items
from tests.released_files import faults
from tests.validation_support import LABELS
from tests.web_support import PASSWORD, browser_of, running, token_for

ODD = [
    Made("The soup was lovely, the waiter rude.", "neutral", ("mixed",) * 5, 12, prompt=900),
    Made("Whatever this might be called.", "positive", ("negative",) * 2 + ("neutral",) * 2 + ("mixed",), 12),
]
COPIES = 6
SPEC = ReleaseSpec(dev=18, test=18, checked=("length",), writers="disjoint")
TOML = 'dev = 18\ntest = 18\nchecked = ["length"]\nwriters = "disjoint"\n'


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with a released round: 188 items of twelve writers, some nearly the same, one judge unqualified."""
    made = create_workspace(Settings(workspace=tmp_path_factory.mktemp("released") / "workspace"))
    with made.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        make_person(db, "rita", RoleName.WORKER)
        for name in ("olga", "rita"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
        items = mood_items(20, writers=12)
        copies = [
            Made(one.text.replace("met", "meet"), one.said, one.votes, one.writer, 1000 + at, one.rating)
            for at, one in enumerate(items[:COPIES])
        ]
        judged_round(db, owner, [*items, *copies, *ODD])
        _unqualify(db)
        service.release(db, made.blobs, owner, REF, SPEC)
    yield made
    made.close()


def _unqualify(db: Session) -> None:
    """Let somebody have judged the first three items otherwise, before all others, and be unqualified for it."""
    spam = make_person(db, "spam", RoleName.WORKER)
    validation = find_validation(db, REF).id
    with transaction(db):
        db.execute(update(Judgement).values(id=Judgement.id + 100_000))
        db.add_all(
            Judgement(id=1 + at, validation_id=validation, item_id=1 + at, user_id=spam.user_id, label="mixed")
            for at in range(3)
        )
        db.add(
            JudgeStanding(
                validation_id=validation, user_id=spam.user_id, qualified=False, rule="disagreement", aside_through=3
            )
        )


@pytest.fixture
def db(released: Workspace) -> Iterator[Session]:
    """A session on it."""
    with released.session() as session:
        yield session


@pytest.fixture
def owner(db: Session) -> Actor:
    """Who may do everything there."""
    return OPERATOR


def test_what_is_promised_holds_in_the_files(released: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """A script that shares no code with the solver finds nothing wrong, with the hidden answers and without."""
    for answers in (False, True):
        folder = tmp_path / f"bundle-{answers}"
        bundle.write_bundle(db, released.blobs, owner, REF, 1, folder, hidden_answers=answers)
        assert faults(folder, answers=answers, labels=LABELS, rated=True, disjoint=True) == []
        test = pl.read_parquet(folder / "hf" / "data" / "test.parquet")
        assert (test["answer"].null_count() == test.height) is not answers
    script = Path(__file__).parents[2] / "released_files.py"
    command = [sys.executable, "-I", script, folder, "--answers"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "All that was promised holds.\n")


def test_the_script_finds_what_is_broken(released: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """A label changed, a text in two splits, a shown test label: each is found."""
    folder = tmp_path / "bundle"
    bundle.write_bundle(db, released.blobs, owner, REF, 1, folder)
    dev, test = folder / "dynasent" / "dev.jsonl", folder / "dynasent" / "test.jsonl"
    rows = [json.loads(line) for line in dev.read_text().splitlines()]
    rows[0]["gold_label"] = next(one for one in LABELS if one != rows[0]["gold_label"])
    dev.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown = [json.loads(line) for line in test.read_text().splitlines()]
    shown[0]["gold_label"] = "neutral"
    test.write_text("".join(json.dumps(row) + "\n" for row in [*shown, rows[1]]))
    found = faults(folder, answers=False, labels=LABELS, rated=True, disjoint=True)
    said = ("not balanced", "F1 on", "too little agreement", "shows its label", "is there 2 times", "nearly the same")
    for part in said:
        assert any(part in one for one in found), part


def test_a_bundle_has_everything_once(
    released: Workspace, db: Session, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """The command writes it beside the release that is there; a folder that is not empty is left alone."""
    db.rollback()
    (spec := tmp_path / "release.toml").write_text(TOML)
    command = ["--workspace", released.settings.workspace, "round", "release", REF]
    folder = tmp_path / "bundle"
    done = cli(*command, "--spec", spec, "--out", folder)
    assert done.exit_code == 0, done.stderr
    assert "was there already" in done.stderr
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()) == [
        "changelog.md", "datasheet.md", "dynasent/dev.jsonl", "dynasent/test.jsonl", "dynasent/train.jsonl",
        "hf/README.md", "hf/croissant.json", "hf/data/test.parquet", "hf/data/train.parquet",
        "hf/data/validation.parquet", "report.json", "report.md",
    ]  # fmt: skip
    refused = cli(*command, "--number", "1", "--out", folder)
    assert refused.exit_code == 1
    assert "is there already" in refused.stderr
    assert cli(*command, "--number", "1", "--out", tmp_path / "b.zip", "--report", tmp_path / "r.md").exit_code == 0
    assert "datasheet.md" in zipfile.ZipFile(tmp_path / "b.zip").namelist()
    assert (tmp_path / "r.md").read_text() == (folder / "report.md").read_text()
    assert cli(*command, "--number", "9").exit_code == 1


def test_the_report_has_counts_and_examples(released: Workspace, db: Session, owner: Actor) -> None:
    """Items by label with mixed, no majority and votes; short examples by answer and label, none of a hidden set."""
    made = service.find_release(db, owner, REF, 1)
    text = bundle.text_of(db, released.blobs, owner, REF, 1, "report.md")
    train = made.report.splits[0]
    assert f"| mixed | {train.votes['mixed']} | 1 | 0 | 0 |" in text
    assert "| no majority | – | 1 | 0 | 0 |" in text
    assert f"| all | {sum(train.votes.values())} | {train.rows} | 18 | 18 |" in text
    examples = made.report.examples
    assert {one.split for one in examples} <= {"train", "dev"}
    cells = {(one.predicted, one.label) for one in examples}
    assert {(said, label) for said in LABELS for label in LABELS} <= cells
    assert {("neutral", "mixed"), ("positive", None)} <= cells
    assert all(len(one.text) <= 80 and sum(one.votes.values()) == 5 for one in examples)


def test_the_datasheet_is_filled_in_from_the_record(released: Workspace, db: Session, owner: Actor) -> None:
    """All headings are there, with figures; whom unqualification removed is said, what nobody knows is marked."""
    text = bundle.text_of(db, released.blobs, owner, REF, 1, "datasheet.md")
    for heading in (
        "Motivation", "Composition", "Collection process", "Preprocessing, cleaning, labelling", "Uses",
        "Distribution", "Maintenance",
    ):  # fmt: skip
        assert f"## {heading}" in text
    people = service.find_release(db, owner, REF, 1).report.people
    assert people is not None
    assert (people.writers, people.judges, people.unqualified, people.set_aside) == (13, 5, 1, 3)
    assert people.everybody == 6
    assert "6 people gave 943 judgements, 5 for an item; 940 by 5 of them count." in text
    assert "Judging was not paid" in text
    assert "was paid and is kept" not in text, "what was not paid is not said to have been"
    assert (people.given, people.kept, people.compared) == (188 * 5 + 3, 188 * 5, 3)
    assert people.other_label + people.no_label + people.new_label == 0, "five unanimous votes outweigh one"
    assert "1 judge was unqualified (disagreement 1), and 3 judgements set aside" in text
    assert text.count("Open: for the owner to answer") >= 5
    assert "0.30 USD for a session" in text


def test_the_changelog_says_what_moved(released: Workspace, db: Session, owner: Actor) -> None:
    """The first release says so; one after it counts the texts by where they were and are, and the options."""
    first = bundle.text_of(db, released.blobs, owner, REF, 1, "changelog.md")
    assert "The first release of this task." in first
    spec = ReleaseSpec(dev=9, test=18, checked=("length",), again=True)
    second = service.release(db, released.blobs, owner, REF, spec)
    text = bundle.text_of(db, released.blobs, owner, REF, second.number, "changelog.md")
    assert "Against release 1 of mood/1." in text
    assert "| dev | 18 | 9 |" in text
    assert "0 texts whose labels are open in both have another label now." in text
    assert "| again | False | True |" in text
    assert "| train | train |" in text
    assert "| train | test |" not in text, "what can be read already is not hidden"
    assert "| dev | test |" not in text


def test_pages_api_and_client_give_it_to_owners_alone(released: Workspace, tmp_path: Path) -> None:
    """The page links all of it; the client reads texts and the ZIP; others get nothing."""
    home = "/tasks/mood/validation/1/release"
    page = browser_of(released, "olga").get(home).text
    for name in ("bundle.zip", "datasheet.md", "changelog.md", "report.md"):
        assert f'href="{home}/1/{name}"' in page
    assert "Examples, drawn at random" in page
    sheet = browser_of(released, "olga").get(f"{home}/1/datasheet.md")
    assert sheet.headers["content-disposition"].endswith('release-1-datasheet.md"')
    assert browser_of(released, "rita").get(f"{home}/1/bundle.zip").status_code == 403
    with running(released) as url:
        with Client(url, token_for(released, "olga")) as client:
            assert client.release_text(REF, 1) == sheet.text
            assert "Items by label" in client.release_text(REF, 1, "report.md")
            names = zipfile.ZipFile(client.download_release(REF, 1, tmp_path / "b.zip")).namelist()
            assert "dynasent/test.jsonl" in names
            with pytest.raises(NotFound):
                client.release_text(REF, 99)
        with Client(url, token_for(released, "rita")) as other, pytest.raises(Forbidden):
            other.download_release(REF, 1, tmp_path / "c.zip")


def test_an_interrupted_bundle_leaves_nothing(
    released: Workspace, db: Session, owner: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a part cannot be written, no folder is there, and no half of one."""

    def fail(*_: object, **__: object) -> None:
        raise Conflict("The disk is gone.")

    monkeypatch.setattr(bundle, "write_dynasent", fail)
    with pytest.raises(Conflict, match="disk"):
        bundle.write_bundle(db, released.blobs, owner, REF, 1, tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []
