"""Attempts as data: notes, flags, counts, exports, helps, and the same for programs."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden, NotFound, TooMany
from quintain.core.people import Actor, RoleName
from quintain.services.collect.rounds.export import attempts_table, export_attempts
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.rounds.round_figures import counters
from quintain.services.collect.writing.list_attempts import add_notes, flag_queue, get_notes, my_attempts, report
from quintain.services.collect.writing.sessions import get_session, start_session
from quintain.services.collect.writing.submit_attempt import confirm
from quintain.services.collect.writing.writing_aids import inspiration, occlusion, try_attempt, try_session
from quintain.services.models.occlusion import PER_MINUTE
from quintain.services.validate.console.manage import open_validation
from quintain.services.validate.judging.claim_page import claim_page, return_page
from quintain.services.validate.judging.retraction import decide_flag, retract
from quintain.services.validate.quality import vmer
from quintain.store.blobs import Blobs
from quintain.store.tables import Attempt, WritingSession
from quintain.web.app import create_app
from tests.collecting import RUNNERS, add_round, agreed, submit, writers
from tests.exported import export_person
from tests.people import make_person
from tests.validation_support import judge_all, make_judges
from tests.web_support import token_for

pytestmark = pytest.mark.both_databases
ASKS = '[asks]\nreason = true\ntags = ["irony", "negation"]\n[helps]\nocclusion = true\ninspiration = true'


@pytest.fixture
def played(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> tuple[RoundInfo, list[Actor], list[int]]:
    """A round in which three people made four attempts, two of which fooled the model."""
    info = add_round(db, blobs, owner, tmp_path, tables=ASKS)
    ann, bob, cleo = people = writers(db, 3)
    made = []
    key = start_session(db, blobs, ann, info.ref).key
    made.append(submit(db, blobs, ann, key, "It was bad."))
    made.append(agreed(db, submit(db, blobs, ann, key, "It was good for nothing.")))
    key = start_session(db, blobs, bob, info.ref).key
    text = "Good grief, write to me at bob@example.org"
    made.append(agreed(db, submit(db, blobs, bob, key, text, target="neutral")))
    key = start_session(db, blobs, cleo, info.ref).key
    made.append(submit(db, blobs, cleo, key, "A good day for some.", target="positive"))
    return info, people, [one.attempt_id for one in made]


Played = tuple[RoundInfo, list[Actor], list[int]]


def test_counters_are_live_and_by_everything(db: Session, owner: Actor, played: Played) -> None:
    """Attempts and the rate at which they fool the model, by worker, prompt, label, condition, number and hour."""
    info, people, ids = played
    found = counters(db, owner, info.ref)
    assert (found.attempts, found.fooled, found.rate, found.workers) == (4, 2, 0.5, 3)
    assert [(one.name, one.attempts, one.fooled) for one in found.by_label] == [
        ("negative", 2, 1),
        ("neutral", 1, 1),
        ("positive", 1, 0),
    ]
    assert [(one.name, one.rate) for one in found.by_worker] == [
        ("writer-0", 0.5),
        ("writer-1", 1.0),
        ("writer-2", 0.0),
    ]
    assert [one.attempts for one in found.by_number] == [3, 1]
    assert sum(one.attempts for one in found.by_hour) == sum(one.attempts for one in found.by_prompt) == 4
    assert (found.prompts["used"], found.sessions, found.flags) == (3, {"open": 3}, 1)
    confirm(db, people[0], ids[1], False)
    assert counters(db, owner, info.ref).fooled == 1
    with pytest.raises(Forbidden):
        counters(db, people[0], info.ref)


def test_writers_add_reasons_and_tags_and_retract(db: Session, owner: Actor, played: Played) -> None:
    """Notes are added, the newest counts; a retracted attempt is out of counts and exports, and its text is free."""
    info, (ann, bob, _), ids = played
    assert not get_notes(db, ann, ids[1]).given
    assert add_notes(db, ann, ids[1]).given
    add_notes(db, ann, ids[1], reason="It counts words.", tags=["irony"])
    said = add_notes(db, ann, ids[1], tags=["irony", "negation"])
    assert (said.reason, said.tags) == ("It counts words.", ("irony", "negation"))
    with pytest.raises(BadInput, match="there is no tag 'wit'"):
        add_notes(db, ann, ids[1], reason="Not kept.", tags=["wit"])
    with pytest.raises(NotFound):
        add_notes(db, bob, ids[1], reason="Not mine.")
    row = attempts_table(db, owner, info.ref).filter(pl.col("attempt") == ids[1]).row(0, named=True)
    assert (row["reason"], row["tags"], row["fooled"]) == ("It counts words.", ["irony", "negation"], True)
    retract(db, ann, ids[1], "Typo.")
    retract(db, ann, ids[1])
    found = counters(db, owner, info.ref)
    assert (found.attempts, found.fooled, found.retracted) == (3, 1, 1)
    assert ids[1] not in attempts_table(db, owner, info.ref)["attempt"].to_list()
    assert [(one.id, one.retracted) for one in my_attempts(db, ann)] == [(ids[1], True), (ids[0], False)]


def test_flags_wait_for_the_owner(db: Session, owner: Actor, played: Played) -> None:
    """Personal data and reports are in a queue; what the owner withholds leaves in no export."""
    info, (_, bob, cleo), ids = played
    report(db, cleo, ids[0], "This is copied.")
    queue = flag_queue(db, owner, info.ref).flags
    assert [(one.attempt_id, one.kind, one.detail) for one in queue] == [
        (ids[2], "personal", "an e-mail address"),
        (ids[0], "reported", "This is copied."),
    ]
    page = flag_queue(db, owner, info.ref, offset=1, limit=1)
    assert ([one.id for one in page.flags], page.total) == ([queue[1].id], 2)
    decide_flag(db, owner, queue[0].id, withhold=True, note="An address.")
    decide_flag(db, owner, queue[1].id, withhold=False)
    assert flag_queue(db, owner, info.ref, decided=True, limit=1).total == 2
    assert flag_queue(db, owner, info.ref).total == 0
    assert set(attempts_table(db, owner, info.ref)["attempt"]) == {ids[0], ids[1], ids[3]}
    decide_flag(db, owner, queue[0].id, withhold=False)
    assert ids[2] in attempts_table(db, owner, info.ref)["attempt"].to_list()
    for refused in (bob, cleo):
        with pytest.raises(Forbidden):
            decide_flag(db, refused, queue[0].id, withhold=True)


def test_judges_are_not_shown_what_was_retracted_or_withheld(db: Session, owner: Actor, played: Played) -> None:
    """It is out of their sight at once, and what is withheld no more comes back."""
    info, (ann, _, _), _ = played
    open_validation(db, owner, info.ref, 'items = "all"\njudgements = 2\nminimum = 1')
    (flag,) = flag_queue(db, owner, info.ref).flags
    retract(db, ann, my_attempts(db, ann)[0].id)
    decide_flag(db, owner, flag.id, withhold=True)
    first, second = make_judges(db, 2)
    page = claim_page(db, first, info.ref)
    assert page is not None
    assert {item.inputs["text"] for item in page.items} == {"It was bad.", "A good day for some."}
    return_page(db, first, page.token)
    decide_flag(db, owner, flag.id, withhold=False)
    (left,) = page.items if (page := claim_page(db, first, info.ref)) else ()
    assert "bob@example.org" in left.inputs["text"]
    judge_all(db, [first, second], lambda inputs: "neutral", ref=info.ref)
    assert vmer.my_outcomes(db, played[1][1], info.ref).total == 1


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_attempts_are_exported_under_other_names(
    db: Session, owner: Actor, played: Played, tmp_path: Path, form: str
) -> None:
    """Each attempt with its time, target, prompt, model version, probabilities and outcome; no account names."""
    info, people, _ = played
    path = tmp_path / f"out.{form}"
    assert export_attempts(db, owner, info.ref, path) == 4
    data = path.read_bytes()
    assert not any(person.name.encode() in data for person in people)
    read = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}[form]
    table = read(path)
    assert table["text"].to_list()[0] == "It was bad."
    assert table["worker"].n_unique() == 3
    assert table["worker"].str.starts_with("w-").all()
    assert json.loads(table["probabilities"][0])["negative"] == pytest.approx(0.8)
    assert table["model"][0] == "mood/counter@1"
    assert {"at", "target", "prompt", "model_hash", "fooled", "edit_distance", "seconds"} <= set(table.columns)
    assert export_attempts(db, owner, info.ref, path, nonfooling=False) == 2


def test_workers_export_their_own_work(db: Session, played: Played) -> None:
    """What is kept about a person includes what they wrote and earned, and nobody else's."""
    _, (ann, *_), _ = played
    with zipfile.ZipFile(io.BytesIO(export_person(db, ann))) as bundle:
        rows = json.loads(bundle.read("attempts.json"))
        assert "writing_sessions.json" in bundle.namelist()
    assert [row["inputs"] for row in rows] == [{"text": "It was bad."}, {"text": "It was good for nothing."}]


def test_occlusion_says_which_words_moved_the_model(db: Session, blobs: Blobs, played: Played) -> None:
    """Leaving out the one word that the model counts changes its answer; the others do nothing; one call does it."""
    _, (ann, bob, _), ids = played
    calls = []

    def counting(version: Any, blobs: Any, batch: Any) -> list[Any]:
        calls.append(len(batch))
        return RUNNERS["handler"](version, blobs, batch)

    effects = occlusion(db, blobs, ann, ids[1], runners={"handler": counting})
    assert {one.word: round(one.effect, 3) for one in effects} == {
        "It": 0.0, "was": 0.0, "good": 0.6, "for": 0.0, "nothing": 0.0, ".": 0.0,
    }  # fmt: skip
    assert calls == [7]
    assert [one.start for one in effects][:3] == [0, 3, 7]
    with pytest.raises(NotFound):
        occlusion(db, blobs, bob, ids[1], runners=RUNNERS)
    for _ in range(PER_MINUTE - 1):
        occlusion(db, blobs, ann, ids[1], runners=RUNNERS)
    with pytest.raises(TooMany):
        occlusion(db, blobs, ann, ids[1], runners=RUNNERS)


def test_inspiration_shows_what_fooled_the_model(db: Session, blobs: Blobs, played: Played) -> None:
    """Others' fooling examples, without those that are flagged or one's own; for those who write in the round."""
    info, people, ids = played
    ann, bob, cleo = people
    keys = [start_session(db, blobs, one, info.ref).key for one in people]
    assert [one.inputs["text"] for one in inspiration(db, cleo, keys[2])] == ["It was good for nothing."]
    assert inspiration(db, ann, keys[0]) == []
    with pytest.raises(NotFound):
        inspiration(db, bob, keys[2])
    retract(db, ann, ids[1])
    assert inspiration(db, bob, keys[1]) == []


def test_the_sandbox_stores_nothing(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """The same checks and the same model, and neither session, prompt nor attempt is used."""
    info = add_round(db, blobs, owner, tmp_path)
    session = try_session(db, worker, info.ref)
    assert session.prompt is not None
    tried = try_attempt(
        db,
        blobs,
        worker,
        info.ref,
        {"text": "So bad."},
        target="positive",
        prompt_id=session.prompt.id,
        runners=RUNNERS,
    )
    assert (tried.fooled, tried.prediction, tried.attempt_id) == (True, "negative", 0)
    with pytest.raises(BadInput, match="unchanged"):
        try_attempt(db, blobs, worker, info.ref, session.prompt.inputs, target="positive", prompt_id=0, runners=RUNNERS)
    for table in (Attempt, WritingSession):
        assert db.scalar(select(func.count()).select_from(table)) == 0
    with pytest.raises(Forbidden, match="not switched this help on"):
        inspiration(db, worker, start_session(db, blobs, worker, info.ref).key)
    reader = make_person(db, "rita", RoleName.BUILDER)
    for ask in (
        lambda: try_session(db, reader, info.ref),
        lambda: try_attempt(db, blobs, reader, info.ref, {"text": "So bad."}, target="positive", runners=RUNNERS),
    ):
        with pytest.raises(Forbidden, match="needs the role worker"):
            ask()


def test_programs_write_too(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API leads through a round: define, open, begin, draft, submit, confirm, count, export, pay."""
    monkeypatch.setattr(Workspace, "runners", RUNNERS)
    info = add_round(db, blobs, owner, tmp_path)
    worker = make_person(db, "wanda", RoleName.WORKER)
    client = TestClient(create_app(workspace))
    owns = {"authorization": f"Bearer {token_for(workspace, owner.name)}"}
    writes = {"authorization": f"Bearer {token_for(workspace, worker.name)}"}
    place = f"/api/v1/tasks/mood/rounds/{info.number}"
    assert client.get(f"{place}/readiness", headers=writes).json()["ready"] is True
    session = client.post(f"{place}/sessions", headers=writes).json()
    address = f"/api/v1/sessions/{session['key']}"
    draft = {"inputs": {"text": "half"}, "target": "negative"}
    assert client.put(f"{address}/draft", headers=writes, json=draft).json()["lease_until"]
    assert client.get(address, headers=writes).json()["draft"] == {"text": "half"}
    forged = {"inputs": {"text": "Good grief."}, "target": "negative", "token": "t", "fooled": False}
    assert client.post(f"{address}/attempts", headers=writes, json=forged).status_code == 422
    good = {"inputs": {"text": "Good grief."}, "target": "negative", "token": "t"}
    verdict = client.post(f"{address}/attempts", headers=writes, json=good).json()
    assert (verdict["fooled"], verdict["ask"], verdict["answers"][0]["answer"]) == (True, "confirm", "positive")
    mine = f"/api/v1/attempts/{verdict['attempt_id']}"
    assert client.post(f"{mine}/confirm", headers=owns, json={"yes": True}).status_code == 404
    assert client.post(f"{mine}/confirm", headers=writes, json={"yes": True}).json()["outcome"] == "fooled"
    assert client.get(f"{place}/counters", headers=owns).json()["fooled"] == 1
    assert client.get(f"{place}/counters", headers=writes).status_code == 403
    assert b"Good grief." in client.get(f"{place}/attempts?format=csv", headers=owns).content
    earned = client.get("/api/v1/me/earnings", headers=writes).json()["earnings"]
    decision = {"ids": [one["id"] for one in earned]}
    decided = client.post("/api/v1/tasks/mood/earnings/decisions", headers=owns, json=decision).json()["earnings"]
    assert [(one["amount"], one["status"]) for one in decided] == [(30, "approved")]
    assert client.get("/api/v1/me/attempts", headers=writes).json()["attempts"][0]["prediction"] == "positive"
    assert client.post(f"{place}/close", headers=owns).json()["state"] == "closed"
    assert get_session(db, worker, session["key"]).outcome == "fooled"


def test_programs_bring_prompts_and_decide_on_flags(
    workspace: Workspace, db: Session, owner: Actor, played: Played, tmp_path: Path, cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Prompts go up as a file; the queue is listed and decided on over the API and from the command line."""
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    info, (ann, *_), ids = played
    client = TestClient(create_app(workspace))
    owns = {"authorization": f"Bearer {token_for(workspace, owner.name)}"}
    writes = {"authorization": f"Bearer {token_for(workspace, ann.name)}"}
    place = f"/api/v1/tasks/mood/rounds/{info.number}"
    file = {"file": ("more.csv", b"text\nA kite flew over the hill.\nA kite flew over the hill.\n")}
    report = client.post(f"{place}/prompts", headers=owns, files=file, data={"tags": "kites", "part": "z"})
    assert (report.status_code, report.json()["added"], report.json()["repeated"]) == (201, 1, 1)
    assert client.post(f"{place}/prompts", headers=writes, files=file).status_code == 403
    bad = {"file": ("more.csv", b"txt\nx\n")}
    assert client.post(f"{place}/prompts", headers=owns, files=bad).status_code == 422
    flags = client.get(f"{place}/flags", headers=owns).json()["flags"]
    assert [(one["attempt_id"], one["kind"], one["withhold"]) for one in flags] == [(ids[2], "personal", None)]
    assert client.get(f"{place}/flags", headers=writes).status_code == 403
    decision = f"/api/v1/flags/{flags[0]['id']}/decision"
    assert client.post(decision, headers=writes, json={"withhold": True}).status_code == 403
    assert client.post(decision, headers=owns, json={"withhold": True}).status_code == 204
    assert client.get(f"{place}/flags", headers=owns).json()["flags"] == []
    every = json.loads(cli("round", "flags", info.ref, "--all", "--json").stdout)["flags"]
    assert [one["withhold"] for one in every] == [True]
    assert cli("round", "flags", info.ref, "--keep", str(every[0]["id"])).exit_code == 0
    assert "kept" in cli("round", "flags", info.ref, "--all").stdout
    assert cli("round", "flags", info.ref, "--keep", "999999").exit_code == 1
