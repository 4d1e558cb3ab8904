"""What a release's data sets can be written as: labels as people voted, and DynaSent's own format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import Result
from sqlalchemy import update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.people import Actor, RoleName
from quintain.core.release import ReleaseSpec
from quintain.services.data import content
from quintain.services.data.inputs import set_inputs
from quintain.services.data.publishing import export_folder
from quintain.services.release import releases as service
from quintain.services.tasks.definitions import put_task
from quintain.services.validate.console import manage as validate
from quintain.store.database import transaction
from quintain.store.tables import Prompt
from tests.people import make_person
from tests.released import MODEL, REF, Made, judge, judged_round, mood_items
from tests.validation_support import LABELS, TASK, make_ground

ODD = [
    Made("The soup was lovely, the waiter rude.", "neutral", ("mixed",) * 3 + ("neutral",) * 2, prompt=900),
    Made("Whatever this might be called tonight.", "neutral", ("negative",) * 2 + ("neutral",) * 2 + ("mixed",)),
]
MIXES = TASK + 'mixes = ["positive", "negative"]\n'
R2 = {
    "text_id", "hit_ids", "sentence", "sentence_author", "has_prompt", "prompt_data", "model_0_label",
    "model_0_probs", "label_distribution", "gold_label",
}  # fmt: skip
R1 = {
    "text_id", "hit_ids", "sentence", "review_id", "review_rating", "indices_into_review_text", "model_0_label",
    "model_0_probs", "label_distribution", "gold_label",
}  # fmt: skip


@pytest.fixture
def database() -> str:
    """The files are the same whatever the database."""
    return "sqlite"


@pytest.fixture
def released(workspace: Workspace, db: Session, owner: Actor) -> dict[str, str]:
    """A round of 47 items, released; gives its versions by split."""
    judged_round(db, owner, [*mood_items(5), *ODD])
    put_task(db, owner, MIXES)
    spec = ReleaseSpec(dev=18, test=18, checked=(), even=(), writers="any")
    return dict(service.release(db, workspace.blobs, owner, REF, spec).versions)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_labels_are_written_as_people_voted(
    workspace: Workspace, db: Session, owner: Actor, released: dict[str, str], tmp_path: Path
) -> None:
    """A row for each vote, a mixed one as one positive and one negative; or shares that add up to one."""
    path = tmp_path / "train.jsonl"
    content.export(db, workspace.blobs, owner, released["train"], "jsonl", path, labels="distributional")
    copies = Counter((row["text"], row["answer"]) for row in lines(path))
    assert {label: copies[ODD[0].text, label] for label in LABELS} == {"negative": 3, "neutral": 2, "positive": 3}
    assert {label: copies[ODD[1].text, label] for label in LABELS} == {"negative": 3, "neutral": 2, "positive": 1}
    assert copies.total() == 9 * 5 + 8 + 6
    soft = tmp_path / "soft.parquet"
    content.export(db, workspace.blobs, owner, released["train"], "parquet", soft, labels="soft")
    table = pl.read_parquet(soft)
    assert table.height == 11
    shares = table["distribution"].struct.unnest()
    assert shares.columns == list(LABELS)
    assert shares.sum_horizontal().round(9).unique().to_list() == [1.0]
    with pytest.raises(BadInput, match="not a view of labels"):
        content.export(db, workspace.blobs, owner, released["train"], "jsonl", path, labels="all")


def test_dynasents_names(
    workspace: Workspace, db: Session, released: dict[str, str], tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """Exactly the paper's fields, with judges by label under other names; the same text has the same id everywhere."""
    db.rollback()
    rows = []
    for split, ref in released.items():
        out = tmp_path / f"{split}.jsonl"
        done = cli("--workspace", workspace.settings.workspace, "data", "export", ref, out, "--format", "dynasent")
        assert done.exit_code == 0, done.stderr
        rows += lines(out)
    assert all(set(row) == R2 for row in rows)
    assert len({row["text_id"] for row in rows}) == len(rows) == 47
    by_text = {row["sentence"]: row for row in rows}
    odd = by_text[ODD[0].text]
    assert {label: len(who) for label, who in odd["label_distribution"].items()} == {
        "negative": 0, "neutral": 2, "positive": 0, "mixed": 3,
    }  # fmt: skip
    assert (odd["gold_label"], odd["model_0_label"], odd["has_prompt"]) == ("mixed", "neutral", True)
    assert odd["prompt_data"]["prompt_sentence"] == "p 900"
    assert (by_text[ODD[1].text]["gold_label"], by_text[ODD[1].text]["prompt_data"]) == (None, None)
    judges = {name for row in rows for who in row["label_distribution"].values() for name in who}
    assert len(judges) == 5
    assert not any(name.startswith("judge") for name in judges)


def test_a_harvests_rows_lead_back_to_their_reviews(
    workspace: Workspace, db: Session, owner: Actor, tmp_path: Path
) -> None:
    """Review, rating and the sentence's place in it are in the fields that the paper has for them, as is the model."""
    make_ground(db, owner, items=0)
    made = mood_items(5)
    rows = [
        {
            "inputs": {"text": one.text},
            "predictions": [{"model": MODEL, "answer": one.said, "probabilities": {one.said: 1.0}}],
            "rating": 3,
            "review": f"review-{at}",
            "start": at,
            "end": at + len(one.text),
        }
        for at, one in enumerate(made)
    ]
    validate.add_items(db, owner, "mood/check", rows)
    judge(db, {one.text: one.votes for one in made}, "mood/check")
    versions = service.release(db, workspace.blobs, owner, "mood/check", ReleaseSpec(dev=18, test=18)).versions
    content.export(db, workspace.blobs, owner, versions["dev"], "dynasent", tmp_path / "dev.jsonl")
    place = {one.text: at for at, one in enumerate(made)}
    for row in lines(tmp_path / "dev.jsonl"):
        at = place[row["sentence"]]
        assert set(row) == R1
        assert row["indices_into_review_text"] == [at, at + len(row["sentence"])]
        assert (row["review_id"], row["review_rating"]) == (f"review-{at}", 3)
        assert row["model_0_probs"] == {row["model_0_label"]: 1.0}
    with pytest.raises(BadInput, match="-1 is no place in a text"):
        validate.add_items(db, owner, "mood/check", [{"inputs": {"text": "a"}, "start": -1}])


def test_what_was_written_from_a_prompt_leads_back_to_its_review(
    workspace: Workspace, db: Session, owner: Actor, tmp_path: Path
) -> None:
    """Every format has the prompt's review, its rating, its place and the further columns of the file of prompts."""
    judged_round(db, owner, [replace(one, rating=None) for one in mood_items(5)])
    about = {"review": "r-17", "rating": 3.0, "start": 4, "end": 10, "city": "Graz"}
    with transaction(db):
        db.execute(update(Prompt).values(corpus="prompts.jsonl", row="2", review="r-17", about=about))
    spec = ReleaseSpec(dev=18, test=18, checked=(), even=(), writers="any")
    versions = dict(service.release(db, workspace.blobs, owner, REF, spec).versions)
    stranger = make_person(db, "sid", RoleName.WORKER)
    read: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
        "jsonl": lines,
        "csv": lambda path: pl.read_csv(path).to_dicts(),
        "tsv": lambda path: pl.read_csv(path, separator="\t").to_dicts(),
        "parquet": lambda path: pl.read_parquet(path).to_dicts(),
    }
    files = {form: tmp_path / f"dev.{form}" for form in read}
    for form, path in files.items():
        content.export(db, workspace.blobs, stranger, versions["dev"], form, path)
    for form in ("hf", "croissant"):
        dev = {"dev": versions["dev"]}
        files[form] = folder_of(workspace, db, stranger, dev, tmp_path / form, form) / "data" / "validation.parquet"
    for form, path in files.items():
        rows = read.get(form, read["parquet"])(path)
        assert len(rows) == 18, form
        for row in rows:
            assert json.loads(row["provenance"]) == {"corpus": "prompts.jsonl", "row": "2", **about}, form
    content.export(db, workspace.blobs, stranger, versions["dev"], "dynasent", tmp_path / "dynasent.jsonl")
    for row in lines(tmp_path / "dynasent.jsonl"):
        prompt = row["prompt_data"]
        assert (prompt["review_id"], prompt["review_rating"]) == ("r-17", 3)
        assert prompt["indices_into_review_text"] == [4, 10]


FACTS = ["label_distribution", "votes", "judges", "written_by", "written_from", "provenance"]


def folder_of(workspace: Workspace, db: Session, actor: Actor, refs: dict[str, str], path: Path, form: str) -> Path:
    export_folder(db, workspace.blobs, actor, list(refs.values()), form, path)
    return path


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_votes_are_in_every_open_split(
    workspace: Workspace, db: Session, owner: Actor, released: dict[str, str], tmp_path: Path, form: str
) -> None:
    """Anybody reads how many said what, how many they were and who, under other names; also where no answer is."""
    stranger = make_person(db, "sid", RoleName.WORKER)
    path = tmp_path / f"train.{form}"
    content.export(db, workspace.blobs, stranger, released["train"], form, path)
    if form == "jsonl":
        rows = lines(path)
    else:
        table = pl.read_parquet(path) if form == "parquet" else pl.read_csv(path)
        rows = table.to_dicts()
    found = {row["text"]: {name: row[name] for name in FACTS} | {"answer": row["answer"]} for row in rows}
    if form == "csv":
        found = {
            text: {**row, **{name: json.loads(row[name]) for name in ("label_distribution", "judges")}}
            for text, row in found.items()
        }
    odd, split = found[ODD[0].text], found[ODD[1].text]
    assert odd["label_distribution"] == {"negative": 0, "neutral": 2, "positive": 0, "mixed": 3}
    assert (odd["votes"], odd["answer"], split["votes"], split["answer"]) == (5, None, 5, None)
    assert Counter(one["label"] for one in odd["judges"]) == {"mixed": 3, "neutral": 2}
    judges = {one["judge"] for row in found.values() for one in row["judges"]}
    assert len(judges) == 5
    assert not any("judge" in name or "writer" in name for name in judges)
    assert (odd["written_from"], split["written_from"]) == ("p 900", None)
    assert odd["written_by"]


def test_votes_on_hidden_labels_stay(
    workspace: Workspace, db: Session, owner: Actor, released: dict[str, str], tmp_path: Path
) -> None:
    """No format has votes of a hidden split, nor a page of it, whoever asks for what is passed on; nor as labels."""
    set_inputs(db, owner, released["test"], "open")
    stranger = make_person(db, "sid", RoleName.WORKER)
    for actor in (stranger, owner):
        folder = folder_of(workspace, db, actor, released, tmp_path / actor.name, "hf")
        test = pl.read_parquet(folder / "data" / "test.parquet")
        assert test.height == 18
        assert all(test[name].null_count() == 18 for name in ("answer", *FACTS))
    for form in ("jsonl", "csv", "parquet", "dynasent"):
        path = tmp_path / f"test.{form}"
        content.export(db, workspace.blobs, stranger, released["test"], form, path)
        raw = path.read_bytes()
        assert not any(name.encode() in raw for name in ("w-", '"judges"'))
        if form == "dynasent":
            assert {(row["label_distribution"], row["gold_label"]) for row in lines(path)} == {(None, None)}
    with pytest.raises(BadInput, match="not there to be seen"):
        content.export(db, workspace.blobs, stranger, released["test"], "jsonl", path, labels="soft")
    page = content.preview(db, workspace.blobs, stranger, released["test"])
    assert not any({"meta", "answer", *FACTS} & set(row) for row in page.examples)


def test_an_owner_may_keep_the_votes(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """With `votes = false` only owners have them."""
    judged_round(db, owner, mood_items(5))
    spec = ReleaseSpec(dev=18, test=18, checked=(), even=(), writers="any", votes=False)
    versions = dict(service.release(db, workspace.blobs, owner, REF, spec).versions)
    stranger = make_person(db, "sid", RoleName.WORKER)
    path = tmp_path / "train.jsonl"
    content.export(db, workspace.blobs, stranger, versions["train"], "jsonl", path)
    assert not {"meta", *FACTS} & set(lines(path)[0])
    folder = folder_of(workspace, db, stranger, {"train": versions["train"]}, tmp_path / "hf", "hf")
    assert not set(FACTS) & set(pl.read_parquet(folder / "data" / "train.parquet").columns)


def test_everybody_trains_on_published_votes(
    workspace: Workspace, db: Session, released: dict[str, str], tmp_path: Path
) -> None:
    """The views of labels are for all where the votes are."""
    stranger = make_person(db, "sid", RoleName.WORKER)
    path = tmp_path / "soft.jsonl"
    content.export(db, workspace.blobs, stranger, released["train"], "jsonl", path, labels="soft")
    assert all(sum(row["distribution"].values()) == pytest.approx(1) for row in lines(path))


@pytest.mark.parametrize("hidden", [True, False])
def test_other_tools_read_every_split(
    workspace: Workspace, db: Session, owner: Actor, released: dict[str, str], tmp_path: Path, hidden: bool
) -> None:
    """`mlcroissant` and `datasets` read train, dev and test of a release with hidden labels, and of an open one."""
    import datasets
    import mlcroissant

    if not hidden:
        spec = ReleaseSpec(dev=18, test=18, checked=(), even=(), writers="any", hidden=False, again=True, seed=1)
        released = dict(service.release(db, workspace.blobs, owner, REF, spec).versions)
    folder = folder_of(workspace, db, owner, released, tmp_path / "out", "hf")
    found = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert not found.metadata.ctx.issues.errors
    rows = {one.id: list(found.records(one.id)) for one in found.metadata.record_sets}
    assert {name: len(records) for name, records in rows.items()} == {
        "labels": 3, "train": 11, "validation": 18, "test": 18,
    }  # fmt: skip
    assert all(row["validation/answer"].decode() in LABELS for row in rows["validation"])
    assert {row["validation/votes"] for row in rows["validation"]} == {5}
    odd = next(row for row in rows["train"] if row["train/text"].decode() == ODD[0].text)
    assert odd["train/label_distribution"]["train/label_distribution/mixed"] == 3
    assert hidden == all(not row["test/answer"] for row in rows["test"])
    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert {name: split.num_rows for name, split in loaded.items()} == {"train": 11, "validation": 18, "test": 18}
    assert loaded["validation"][0]["label_distribution"]["mixed"] == 0
    assert len(loaded["validation"][0]["judges"]) == 5
