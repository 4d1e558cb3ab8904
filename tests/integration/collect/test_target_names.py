"""The name of a private target model reaches only those who may see the model."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Unavailable
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.models.contract import Batch
from quintain.services.collect.rounds.export import attempts_table
from quintain.services.collect.rounds.manage import RoundInfo, get_round, open_round, put_round
from quintain.services.collect.rounds.target_names import spec_for
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.submit_attempt import desk, get_verdict
from quintain.services.collect.writing.writing_aids import try_attempt
from quintain.services.models.ask import AdapterRunner
from quintain.services.models.registry import ModelVersionInfo, get_model, set_visibility
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.web.app import create_app
from tests.collecting import ROUND, RUNNERS, TASK, add_models, submit
from tests.exported import export_person
from tests.people import make_person
from tests.web_support import token_for

BLANK = '[[conditions]]\nname = "blank"\nprompt = false'
BOTH = 'mode = "ensemble"\nmodels = ["mood/open", "mood/nightjar"]'
SECRET = "nightjar"


@pytest.fixture
def builder(db: Session) -> Actor:
    """Whose models they are."""
    return make_person(db, "bert", RoleName.BUILDER)


@pytest.fixture
def info(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> RoundInfo:
    """An open round that asks two models at once, the second of which is private."""
    put_task(db, owner, TASK)
    add_models(db, blobs, builder, tmp_path, "open", SECRET)
    set_visibility(db, builder, f"mood/{SECRET}", "private")
    made = put_round(db, owner, ROUND.format(more="", targets=BOTH, tables=BLANK))
    return open_round(db, owner, made.ref)


def test_writers_meet_a_private_model_under_another_name(
    db: Session, blobs: Blobs, worker: Actor, info: RoundInfo
) -> None:
    """Sessions, verdicts, the sandbox and the export of one's own data say which model it was by its place only."""
    session = start_session(db, blobs, worker, info.ref)
    assert session.models == ("mood/open@1", "private model 2")
    made = submit(db, blobs, worker, session.key, "It was bad.")
    again = submit(db, blobs, worker, session.key, "It was bad.")  # the same token: a replayed form
    tried = try_attempt(db, blobs, worker, info.ref, {"text": "So bad."}, target="positive", runners=RUNNERS)
    for verdict in (
        made,
        again,
        get_verdict(db, worker, made.attempt_id),
        *desk(db, worker, session.key).verdicts,
        tried,
    ):
        names = [(one.model, bool(one.hash)) for one in verdict.answers]
        assert names == [("mood/open@1", True), ("private model 2", False)]
    for asking in (worker, OPERATOR):
        with zipfile.ZipFile(io.BytesIO(export_person(db, asking, worker.name))) as bundle:
            texts = [bundle.read(one).decode() for one in bundle.namelist()]
        assert not any(SECRET in text for text in texts)
        assert any("private model 2" in text for text in texts)


def test_the_hash_of_an_anonymous_model_tells_writers_of_no_twin(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, worker: Actor, info: RoundInfo
) -> None:
    """Verdicts, the sandbox and the export of one's own data have the hash that stands for it, until it is opened."""
    set_visibility(db, builder, "mood/open", "anonymous")
    raw, shown = (get_model(db, who, "mood/open").version.hash for who in (builder, worker))
    session = start_session(db, blobs, worker, info.ref)
    made = submit(db, blobs, worker, session.key, "It was bad.")
    tried = try_attempt(db, blobs, worker, info.ref, {"text": "So bad."}, target="positive", runners=RUNNERS)
    for verdict in (made, get_verdict(db, worker, made.attempt_id), *desk(db, worker, session.key).verdicts, tried):
        assert [one.hash for one in verdict.answers] == [shown, ""]
    with zipfile.ZipFile(io.BytesIO(export_person(db, worker, worker.name))) as bundle:
        texts = [bundle.read(one).decode() for one in bundle.namelist()]
    assert not any(raw in text for text in texts)
    own = desk(db, owner, start_session(db, blobs, owner, info.ref).key).session
    assert own.models == ("mood/open@1", f"mood/{SECRET}@1")
    set_visibility(db, builder, "mood/open", "public")
    assert get_verdict(db, worker, made.attempt_id).answers[0].hash == raw


def test_those_who_may_see_the_model_read_its_name(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, worker: Actor, info: RoundInfo, tmp_path: Path
) -> None:
    """The task's owner writes at it by its name, and finds it in the export; its builder finds it in the file."""
    assert start_session(db, blobs, owner, info.ref).models == ("mood/open@1", f"mood/{SECRET}@1")
    submit(db, blobs, worker, start_session(db, blobs, worker, info.ref).key, "It was bad.")
    said = json.loads(attempts_table(db, owner, info.ref)["predictions"][0])
    assert [one["model"] for one in said] == ["mood/open@1", f"mood/{SECRET}@1"]
    assert spec_for(db, builder, info).targets.models == ("mood/open", f"mood/{SECRET}")
    set_visibility(db, builder, f"mood/{SECRET}", "public")
    assert (
        desk(db, worker, start_session(db, blobs, worker, info.ref).key).verdicts[0].answers[1].model
        == f"mood/{SECRET}@1"
    )


def test_the_number_is_that_of_the_file_also_where_one_is_drawn(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, worker: Actor, info: RoundInfo
) -> None:
    """With one of several models at random, a private one goes by the number that it has in the round's file."""
    set_visibility(db, builder, "mood/open", "private")
    text = ROUND.format(more="", targets=BOTH.replace("ensemble", "random"), tables=BLANK)
    drawn = open_round(db, owner, put_round(db, owner, text).ref)
    names = {1: "private model 1", 2: "private model 2"}
    session = start_session(db, blobs, worker, drawn.ref)
    (mine,) = start_session(db, blobs, owner, drawn.ref).models
    assert session.models[0] in names.values()
    assert mine in {"mood/open@1", f"mood/{SECRET}@1"}
    assert spec_for(db, worker, drawn).targets.models == tuple(names.values())


def test_the_public_file_is_masked_and_the_owners_file_comes_back(
    workspace: Workspace, db: Session, owner: Actor, worker: Actor, info: RoundInfo
) -> None:
    """Others read the file without the name; what the owner reads makes the same round again, what others read none."""
    client = TestClient(create_app(workspace))
    place = f"/api/v1/tasks/mood/rounds/{info.number}"
    heads: list[Mapping[str, str]] = [{}, {"authorization": f"Bearer {token_for(workspace, worker.name)}"}]
    for head in heads:
        shown = client.get(place, headers=head).json()["toml"]
        assert SECRET not in client.get("/api/v1/tasks/mood/rounds", headers=head).text
        assert 'models = ["mood/open", "private model 2"]' in shown
    with pytest.raises(BadInput, match="There is no model 'private model 2'"):
        put_round(db, owner, shown.replace(f"number = {info.number}\n", ""))
    owns = {"authorization": f"Bearer {token_for(workspace, owner.name)}"}
    text = client.get(place, headers=owns).json()["toml"]
    again = put_round(db, owner, text.replace(f"number = {info.number}\n", ""))
    assert get_round(db, owner, again.ref).spec.targets == info.spec.targets


def test_a_failing_private_model_is_not_named(
    db: Session, blobs: Blobs, worker: Actor, info: RoundInfo, caplog: pytest.LogCaptureFixture
) -> None:
    """Writers hear that the model gave no answer; which one, and what its code complained of, is in the log."""

    def broken(version: ModelVersionInfo, blobs: Blobs, batch: Batch) -> list[Any]:
        raise Unavailable(f"Model '{version.ref}' gave no answer: KeyError in {SECRET}.py", remedy="See its logs.")

    runners: Mapping[str, AdapterRunner] = {"handler": broken}
    key = start_session(db, blobs, worker, info.ref).key
    with pytest.raises(Unavailable, match=r"^The model gave no answer\. This cost you no attempt") as caught:
        submit(db, blobs, worker, key, "It was bad.", runners=runners)
    assert SECRET not in str(caught.value)
    assert "KeyError" in caplog.text
