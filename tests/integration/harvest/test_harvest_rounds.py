"""A harvest as a round: numbered, with its model and its validation, on every surface; nobody writes in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.models.baselines.ngram import Ngram
from quintain.models.card import HEADINGS, write_card
from quintain.services.access.links import make_link, redeem_link
from quintain.services.collect.rounds import manage
from quintain.services.collect.writing import readiness
from quintain.services.models.registry import register_version
from quintain.services.release.stations import stations_of
from quintain.services.tasks.definitions import get_task, put_task
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console.harvests import add_harvest
from quintain.services.validate.quality import vmer
from quintain.store.tables import Round, RoundTarget, ValidationItem
from tests.people import make_person
from tests.validation_support import LABELS, TASK, judge_all, make_judges, truth
from tests.web_support import PASSWORD, browser_of, csrf_of, post, running, token_for

MODEL = "mood/words@1"
REVIEW = "We came late and it feels neutral. The soup feels positive. The waiter of the house feels negative."


@pytest.fixture
def database() -> str:
    """Nothing here differs between the databases."""
    return "sqlite"


@pytest.fixture
def ground(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> Path:
    """The task, a model of it, and a corpus of one review; gives the folder that holds it."""
    put_task(db, owner, TASK)
    table = pl.DataFrame({"text": [f"{one} it is" for one in LABELS] * 4, "answer": LABELS * 4})
    Ngram.train(get_task(db, "mood"), table).save(tmp_path / "model")
    card = write_card("A model", dict.fromkeys(HEADINGS, "Some words."))
    made = register_version(
        db, workspace.blobs, owner, "mood", "words", adapter="builtin", folder=tmp_path / "model", card=card
    )
    assert made.ref == MODEL
    (tmp_path / "reviews.jsonl").write_text(json.dumps({"review_id": "r7", "stars": 4, "text": REVIEW}) + "\n")
    db.rollback()
    return tmp_path


@pytest.fixture
def sample(ground: Path) -> Path:
    """A sample as a harvest writes it."""
    rows = [
        {
            "text": f"item {at} feels {LABELS[at % 3]}",
            "model": MODEL,
            "predicted": "neutral",
            "group": "r1",
            "rating": 2,
        }
        for at in range(6)
    ]
    (file := ground / "sample.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_a_harvest_is_the_next_round(
    workspace: Workspace, db: Session, ground: Path, cli: Callable[..., Result]
) -> None:
    """One command reads the corpus, makes the round and opens its validation; offsets, review and answers are kept."""
    out = ground / "out.jsonl"
    done = cli(
        "--workspace", workspace.settings.workspace, "harvest", ground / "reviews.jsonl", "--model", MODEL,
        "--out", out, "--size", 3, "--round", "--title", "Sentences", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    made = json.loads(done.stdout)["round"]
    assert (made["ref"], made["kind"], made["state"], made["title"]) == ("mood/1", "harvest", "closed", "Sentences")
    assert "quintain round release mood/1" in done.stderr
    items = db.scalars(select(ValidationItem).order_by(ValidationItem.id)).all()
    assert len(items) == 3
    for item in items:
        source = item.source
        assert REVIEW[source["start"] : source["end"]] == item.inputs["text"]
        assert (source["review"], source["rating"]) == ("r7", 4)
        (said,) = item.predictions
        assert said["model"] == MODEL
        assert said["answer"] == max(said["probabilities"], key=said["probabilities"].get)
    assert db.scalar(select(func.count()).select_from(RoundTarget)) == 1
    listed = cli("--workspace", workspace.settings.workspace, "round", "status")
    assert "harvest" in listed.stdout


def test_it_is_judged_and_rated_by_its_number(db: Session, owner: Actor, sample: Path) -> None:
    """Its validation is task/number, and the model's error rate is found there; nobody can write, clone or change."""
    made = add_harvest(db, owner, "mood", sample)
    at = stations_of(db, owner, made.ref)
    assert (at.kind, at.now, at.stations[0].count, at.stations[1].total) == ("harvest", "judge", 6, 30)
    judge_all(db, make_judges(db, 5), truth, ref=made.ref)
    assert stations_of(db, owner, made.ref).now == "release"
    rates = vmer.error_rates(db, owner, made.ref)
    assert [(one.model, one.errors) for one in rates.models] == [(MODEL, 4)]
    assert validate.find_validation(db, made.ref).round_id == made.id
    why = readiness.readiness(db, make_person(db, "wim", RoleName.WORKER), made.ref)
    assert "is a harvest: nothing is written in it" in str(why)
    with pytest.raises(Conflict, match="is a harvest"):
        manage.clone_round(db, owner, made.ref)
    with pytest.raises(Conflict, match="is a harvest"):
        manage.put_spec(db, owner, made.spec)
    assert manage.put_spec(db, owner, made.spec.__class__("mood", "Next", targets=made.spec.targets)).number == 2


def test_a_sample_that_is_no_harvest_makes_no_round(db: Session, owner: Actor, sample: Path) -> None:
    """Without the model's answers, with a strange model, or with a bad policy nothing is left behind."""
    bad = sample.with_name("bad.jsonl")
    bad.write_text('{"text": "a b c", "model": "", "predicted": ""}\n')
    with pytest.raises(BadInput, match=r"bad.jsonl, row 1: there is no model's answer"):
        add_harvest(db, owner, "mood", bad)
    bad.write_text('{"text": "a b c", "model": "folder/else", "predicted": "neutral"}\n')
    with pytest.raises(BadInput, match="There is no model 'folder/else' of task 'mood'"):
        add_harvest(db, owner, "mood", bad)
    assert add_harvest(db, owner, "mood", bad, model=MODEL).spec.targets.models == (MODEL,)
    with pytest.raises(BadInput, match="judgements"):
        add_harvest(db, owner, "mood", sample, policy_toml="judgements = 0")
    with pytest.raises(Forbidden):
        add_harvest(db, make_person(db, "sid", RoleName.WORKER), "mood", sample)
    assert db.scalar(select(func.count()).select_from(Round)) == 1


def test_pages_and_client_add_harvests(workspace: Workspace, db: Session, sample: Path) -> None:
    """The owner uploads a sample on a page or with the client; the list of rounds and the round's page show it."""
    redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    db.commit()
    client = browser_of(workspace, "olga")
    page = "/tasks/mood/rounds/harvest"
    refused = post(client, page, page, title="x")
    assert refused.status_code == 422
    form = {"csrf": csrf_of(client, page), "title": "From a file"}
    done = client.post(page, data=form, files={"file": ("sample.jsonl", sample.read_bytes())})
    assert done.headers["location"] == "/tasks/mood/rounds/1"
    shown = client.get("/tasks/mood/rounds/1").text
    assert "From a file" in shown
    assert "/tasks/mood/validation/1" in shown
    assert "harvest" in client.get("/tasks/mood/rounds").text
    with running(workspace) as url, Client(url, token_for(workspace, "olga")) as program:
        made = program.add_harvest("mood", sample, title="Again")
        assert (made.ref, made.kind) == ("mood/2", "harvest")
        assert [one.kind for one in program.rounds("mood")] == ["harvest", "harvest"]
