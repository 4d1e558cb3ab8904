"""Quizzes and qualifications through services, API, client and commands: results, retiring, who may write and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

import quintain
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.validation import ValidationState
from quintain.services.access.accounts import grant_role, revoke_role
from quintain.services.collect.rounds.eligible import crowd, may_write
from quintain.services.collect.rounds.manage import close_round, put_round
from quintain.services.house.personal_data import delete_person
from quintain.services.tasks.definitions import put_task
from quintain.services.validate.console.manage import open_validation, set_state
from quintain.services.validate.quality.quiz_use import retire_quiz
from quintain.services.work.qualify import eligibility, facts, record_fact, state_fact
from quintain.services.work.quiz_files import dump_quiz, parse_quiz
from quintain.services.work.quiz_results import quiz_list, quiz_results
from quintain.services.work.quizzes import get_quiz, list_quizzes, practise, put_quiz, take_quiz
from quintain.store.blobs import Blobs
from quintain.store.tables import WorkerFact
from quintain.web.app import create_app
from tests.collecting import ROUND, TASK, add_round, writers
from tests.people import make_person
from tests.statements import counted
from tests.web_support import running, token_for

QUIZ = {
    "instructions": "Read this.",
    "questions": [
        {"text": "Which is positive?", "options": ["good", "bad"], "answer": 0, "explanation": "Good is."},
        {"text": "Which is negative?", "options": ["good", "bad"], "answer": 1},
    ],
    "practice": [{"text": "And 'meh'?", "options": ["positive", "neutral"], "answer": 1, "explanation": "Neither."}],
}
RULES = 'quizzes = ["intro"]'
COUNTRY = '[[qualifications]]\nrule = "country"\none_of = ["DE"]'


def add_quiz(db: Session, owner: Actor) -> None:
    """Add a task with a quiz."""
    put_task(db, owner, TASK)
    put_quiz(db, owner, "mood", "intro", QUIZ)


def test_results_say_who_passed_and_what_is_missed(db: Session, owner: Actor) -> None:
    """By person: tries, the best and whether it was passed; by question: the share of right answers."""
    add_quiz(db, owner)
    ann, bob = writers(db, 2)
    take_quiz(db, ann, "mood", "intro", [0, 0])
    take_quiz(db, ann, "mood", "intro", [0, 1])
    take_quiz(db, bob, "mood", "intro", [1, 0])
    found = quiz_results(db, owner, "mood", "intro")
    assert (found.people, found.passed, found.tries) == (2, 1, 3)
    assert {(one.name, one.tries, one.best, one.passed) for one in found.by_person} == {
        (ann.name, 2, 2, True),
        (bob.name, 1, 0, False),
    }
    pages = [quiz_results(db, owner, "mood", "intro", limit=1, offset=offset) for offset in (0, 1, 2)]
    assert [page.by_person for page in pages] == [found.by_person[:1], found.by_person[1:], ()]
    assert {(page.people, page.passed, page.tries) for page in pages} == {(2, 1, 3)}
    assert [one.rate for one in found.by_question] == pytest.approx([2 / 3, 1 / 3])
    assert [one.chosen for one in found.by_question] == [(2, 1), (2, 1)]
    with pytest.raises(Forbidden):
        quiz_results(db, ann, "mood", "intro")
    put_quiz(db, owner, "mood", "intro", {**QUIZ, "tries": 3})
    again = quiz_results(db, owner, "mood", "intro")
    assert (again.version, again.tries, [one.rate for one in again.by_question]) == (2, 3, [None, None])


def test_a_retired_quiz_is_out_of_use_and_stays_passed(db: Session, owner: Actor, worker: Actor) -> None:
    """It cannot be taken or asked for; who passed it has; its file brings it back."""
    add_quiz(db, owner)
    take_quiz(db, worker, "mood", "intro", [0, 1])
    with pytest.raises(Forbidden):
        retire_quiz(db, worker, "mood", "intro")
    with pytest.raises(NotFound):
        retire_quiz(db, owner, "mood", "nothing")
    assert retire_quiz(db, owner, "mood", "intro").retired
    assert list_quizzes(db, "mood") == []
    assert [(one.name, one.retired) for one in quiz_list(db, owner, "mood")] == [("intro", True)]
    assert quiz_list(db, worker, "mood") == []
    (reason,) = eligibility(db, worker.user_id or 0, [{"rule": "quiz", "name": "intro"}], task="mood")
    assert reason.ok
    assert get_quiz(db, owner, "mood", "intro").questions[0].answer == 0
    for act in (
        lambda: get_quiz(db, worker, "mood", "intro"),
        lambda: take_quiz(db, worker, "mood", "intro", [0, 1]),
        lambda: practise(db, worker, "mood", "intro", 0, 0),
    ):
        with pytest.raises(Conflict, match="has been retired"):
            act()
    with pytest.raises(BadInput, match="has no quiz 'intro'"):
        put_round(db, owner, ROUND.format(more=RULES, targets='mode = "best"', tables=""))
    put_quiz(db, owner, "mood", "intro", QUIZ)
    assert list_quizzes(db, "mood") == ["intro"]


def test_a_quiz_that_is_asked_for_cannot_be_retired(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """An open round and an unfinished validation hold on to their quiz."""
    add_quiz(db, owner)
    info = add_round(db, blobs, owner, tmp_path, more=RULES)
    with pytest.raises(Conflict, match=r"asked for by round mood/1"):
        retire_quiz(db, owner, "mood", "intro")
    close_round(db, owner, info.ref)
    open_validation(db, owner, "mood/check", policy_toml='[quiz]\nname = "intro"\n')
    with pytest.raises(Conflict, match=r"asked for by validation mood/check"):
        retire_quiz(db, owner, "mood", "intro")
    set_state(db, owner, "mood/check", ValidationState.CLOSED)
    assert retire_quiz(db, owner, "mood", "intro").retired


@pytest.mark.both_databases
def test_who_has_the_role_now_is_listed_page_by_page(
    db: Session, workspace: Workspace, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Everywhere or on this task, admins too; not on another task, nor once it is taken back; a page reads itself."""
    info = add_round(db, blobs, owner, tmp_path)
    people = writers(db, 3)
    make_person(db, "zoe-admin", RoleName.ADMIN)
    put_task(db, owner, TASK.replace('"mood"', '"other"'))
    grant_role(db, OPERATOR, builder.name, RoleName.WORKER, task="other")
    listed = [one.name for one in crowd(db, owner, info.ref).people]
    assert listed == [*(one.name for one in people), "zoe-admin"]
    grant_role(db, OPERATOR, builder.name, RoleName.WORKER, task="mood")
    revoke_role(db, OPERATOR, people[0].name, RoleName.WORKER)
    with counted(workspace) as sent:
        found = crowd(db, owner, info.ref, limit=2)
    assert ([one.name for one in found.people], found.total) == (sorted([builder.name, *listed[1:]])[:2], 4)
    assert all("LIMIT" in one for one in sent if "FROM users" in one and "display_name" in one)


def test_everybody_is_sorted_into_eligible_and_not(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """The owner sees all workers with their reasons, and nobody without the role; workers see only themselves."""
    add_quiz(db, owner)
    info = add_round(db, blobs, owner, tmp_path, more=RULES, tables=COUNTRY)
    ann, bob, cem = writers(db, 3)
    take_quiz(db, ann, "mood", "intro", [0, 1])
    state_fact(db, ann, "country", "de")
    found = crowd(db, owner, info.ref)
    assert found.total == 3
    assert [(one.name, one.eligible) for one in found.people] == [
        (ann.name, True),
        (bob.name, False),
        (cem.name, False),
    ]
    assert [reason.rule for reason in found.people[1].reasons] == ["quiz", "country"]
    assert [one.name for one in crowd(db, owner, info.ref, limit=1, offset=1).people] == [bob.name]
    assert [one.name for one in crowd(db, owner, info.ref, search="ter-2").people] == [cem.name]
    assert may_write(db, ann, info.ref).eligible
    assert may_write(db, owner, info.ref, bob.name).reasons == found.people[1].reasons
    for act in (lambda: crowd(db, ann, info.ref), lambda: may_write(db, ann, info.ref, bob.name)):
        with pytest.raises(Forbidden):
            act()


def test_facts_are_stated_or_taken_over(db: Session, owner: Actor, admin: Actor, worker: Actor) -> None:
    """Workers state country and language; admins take over what a panel says; the newest counts."""
    state_fact(db, worker, "country", "AT")
    record_fact(db, admin, worker.name, "country", "DE", source="prolific")
    record_fact(db, admin, worker.name, "approval_rate", "0.97", source="prolific")
    assert [(one.name, one.value, one.source) for one in facts(db, worker)] == [
        ("approval_rate", "0.97", "prolific"),
        ("country", "DE", "prolific"),
    ]
    with pytest.raises(BadInput) as caught:
        record_fact(db, admin, worker.name, "approval_rate", "often", source="self")
    assert {fault.field for fault in caught.value.faults} == {"value", "source"}
    with pytest.raises(BadInput, match="there is no 'height' to record"):
        record_fact(db, admin, worker.name, "height", "1.80", source="prolific")
    for act in (
        lambda: record_fact(db, owner, worker.name, "country", "DE", source="x"),
        lambda: facts(db, owner, worker.name),
    ):
        with pytest.raises(Forbidden):
            act()


def test_what_somebody_said_of_themselves_goes_with_them(db: Session, worker: Actor) -> None:
    """Country and language are forgotten with the account."""
    state_fact(db, worker, "country", "DE")
    delete_person(db, worker)
    assert db.scalars(select(WorkerFact)).all() == []


def test_quiz_files_read_back_and_name_their_faults() -> None:
    """TOML and JSON give the same; what is wrong names the file."""
    assert parse_quiz(dump_quiz(QUIZ)) == QUIZ == parse_quiz(json.dumps(QUIZ), file="quiz.json")
    for text, file, reason in (
        ("x = ", "quiz.toml", "quiz.toml.*not valid TOML"),
        ("{", "quiz.json", "quiz.json.*not valid JSON"),
        ("[]", "quiz.json", "is not a table"),
        ("tries = 0", "quiz.toml", "field 'tries'"),
        ('retired = "yes"', "quiz.toml", "not true or false"),
        ('[[questions]]\ntext = "a\\u0000"\noptions = ["a", "b"]\nanswer = 0', "quiz.toml", "not a text of 1 to"),
    ):
        with pytest.raises(BadInput, match=reason):
            parse_quiz(text, file=file)


def test_programs_take_and_watch_quizzes(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Owner: define, results, qualify, list, retire; worker: list, take, state a fact, ask why; with their errors."""
    put_task(db, owner, TASK)
    client = TestClient(create_app(workspace))
    owns = {"authorization": f"Bearer {token_for(workspace, owner.name)}"}
    works = {"authorization": f"Bearer {token_for(workspace, worker.name)}"}
    place = "/api/v1/tasks/mood/quizzes/intro"
    assert client.put(place, headers=works, json={"definition": QUIZ}).status_code == 403
    assert client.put(place, headers=owns, json={"definition": {"tries": 1}}).status_code == 422
    assert client.put(place, headers=owns, json={"definition": QUIZ}).json()["version"] == 1
    info = add_round(db, blobs, owner, tmp_path, more=RULES, tables=COUNTRY)
    assert TestClient(create_app(workspace)).get(place).status_code == 401
    seen = client.get(place, headers=works).json()
    assert [one["answer"] for one in seen["questions"]] == [None, None]
    explained = client.post(f"{place}/practice", headers=works, json={"question": 0, "answer": 0}).json()
    assert explained == {"right": False, "answer": 1, "explanation": "Neither."}
    why = f"/api/v1/tasks/mood/rounds/{info.number}"
    assert client.get(f"{why}/eligibility", headers=works).json()["eligible"] is False
    assert client.post(f"{place}/tries", headers=works, json={"answers": [0, 1]}).json()["passed"] is True
    assert client.put("/api/v1/me/facts", headers=works, json={"name": "country", "value": "DE"}).json()["facts"] == [
        {"name": "country", "value": "DE", "source": "self"}
    ]
    assert client.get("/api/v1/me/facts", headers=works).json()["facts"][0]["value"] == "DE"
    assert client.get(f"{why}/eligibility", headers=works).json()["eligible"] is True
    people = client.get(f"{why}/people", headers=owns).json()
    assert (people["total"], people["people"][0]["eligible"]) == (1, True)
    assert client.get(f"{why}/people", headers=works).status_code == 403
    assert client.get(f"{place}/results", headers=owns).json()["passed"] == 1
    assert client.get("/api/v1/tasks/mood/quizzes", headers=works).json()["quizzes"][0]["passed"] is True
    body = {"name": worker.name, "qualification": "expert-writer", "held": False, "reason": "Copied."}
    client.post("/api/v1/tasks/mood/qualifications", headers=owns, json={**body, "held": True})
    changes = client.post("/api/v1/tasks/mood/qualifications", headers=owns, json=body).json()["qualifications"]
    assert [(one["held"], one["reason"]) for one in changes] == [(True, "Copied."), (False, "Copied.")]
    assert len(client.get("/api/v1/tasks/mood/qualifications", headers=works).json()["qualifications"]) == 2
    assert client.post(f"{place}/retire", headers=owns).status_code == 409
    close_round(db, owner, info.ref)
    assert client.post(f"{place}/retire", headers=owns).json()["retired"] is True


def test_nobody_finds_out_who_has_an_account(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Asked about others by name or address, everybody but owners gets the same answer whether they exist or not."""
    info = add_round(db, blobs, owner, tmp_path)
    open_validation(db, owner, info.ref)
    client = TestClient(create_app(workspace))
    works = {"authorization": f"Bearer {token_for(workspace, worker.name)}"}
    for path in (
        f"rounds/{info.number}/eligibility?name=NAME",
        "qualifications?name=NAME",
        f"validations/{info.number}/judges/NAME",
    ):
        for headers, status in ((works, 403), ({}, 401)):
            codes = [
                client.get(f"/api/v1/tasks/mood/{path.replace('NAME', name)}", headers=headers).status_code
                for name in (owner.name, "nobody", "nobody@example.org")
            ]
            assert codes == [status] * 3, path
        assert client.get(f"/api/v1/tasks/mood/{path.replace('NAME', worker.name)}", headers=works).status_code == 200


def test_the_client_speaks_of_quizzes(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """The typed calls give records, and raise the platform's errors."""
    put_task(db, owner, TASK)
    with running(workspace) as url, quintain.Client(url, token_for(workspace, owner.name)) as mine:
        assert mine.put_quiz("mood/intro", QUIZ).questions[0]["answer"] == 0
        info = add_round(db, blobs, owner, tmp_path, more=RULES)
        with quintain.Client(url, token_for(workspace, worker.name)) as theirs:
            assert theirs.quiz("mood/intro").tries_left == 5
            assert theirs.eligibility(info.ref).eligible is False
            assert theirs.take_quiz("mood/intro", [0, 1]).passed
            assert theirs.state_fact("language", "de") == {"language": "de"}
            assert [one.passed for one in theirs.quizzes("mood")] == [True]
            with pytest.raises(Forbidden):
                theirs.quiz_results("mood/intro")
        assert mine.quiz_results("mood/intro").by_person[0]["name"] == worker.name
        assert [one.eligible for one in mine.eligible(info.ref)] == [True]
        assert mine.eligibility(info.ref, worker.name).reasons[0]["rule"] == "quiz"
        assert mine.qualify("mood", worker.name, "expert")[-1].held
        close_round(db, owner, info.ref)
        assert mine.retire_quiz("mood/intro").retired
        with pytest.raises(BadInput, match="is not a reference"):
            mine.quiz("intro")


def test_the_command_line_speaks_of_quizzes(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path,
    cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """new, list, show, results, retire; who may write; qualify and facts: each with JSON, and bad input explained."""
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    put_task(db, owner, TASK)
    file = tmp_path / "quiz.json"
    file.write_text(json.dumps(QUIZ))
    assert cli("task", "quiz", "new", "mood/intro", file, "--check").exit_code == 0
    assert json.loads(cli("task", "quiz", "new", "mood/intro", file, "--json").stdout)["version"] == 1
    shown = cli("task", "quiz", "show", "mood/intro").stdout
    assert parse_quiz(shown) == QUIZ
    again = tmp_path / "quiz.toml"
    again.write_text(shown)
    assert json.loads(cli("task", "quiz", "new", "mood/intro", again, "--json").stdout)["version"] == 1
    db.rollback()
    info = add_round(db, blobs, owner, tmp_path, more=RULES, tables=COUNTRY)
    take_quiz(db, worker, "mood", "intro", [0, 1])
    results = json.loads(cli("task", "quiz", "results", "mood/intro", "--json").stdout)
    assert (results["passed"], results["by_person"][0]["name"]) == (1, worker.name)
    assert "Which is positive?" in cli("task", "quiz", "results", "mood/intro").stdout
    assert "The country is not known" in cli("round", "eligible", info.ref).stdout
    assert cli("user", "fact", worker.name, "country", "DE", "--source", "prolific").exit_code == 0
    one = json.loads(cli("round", "eligible", info.ref, worker.name, "--json").stdout)
    assert (one["eligible"], [reason["rule"] for reason in one["reasons"]]) == (True, ["quiz", "country"])
    assert "may write" in cli("round", "eligible", info.ref, worker.name).stdout
    everybody = json.loads(cli("round", "eligible", info.ref, "--json").stdout)
    assert (everybody["total"], everybody["rules"][1]["one_of"]) == (1, ["DE"])
    given = json.loads(cli("user", "qualify", worker.name, "mood", "expert", "--json").stdout)["qualifications"]
    assert [(one["name"], one["held"]) for one in given] == [("expert", True)]
    cli("user", "qualify", worker.name, "mood", "expert", "--end", "--reason", "Copied.")
    history = json.loads(cli("user", "qualifications", worker.name, "mood", "--json").stdout)["qualifications"]
    assert [(row["held"], row["reason"]) for row in history] == [(True, ""), (False, "Copied.")]
    refused = cli("task", "quiz", "retire", "mood/intro")
    assert (refused.exit_code, "asked for by round mood/1" in refused.stderr) == (1, True)
    db.rollback()
    close_round(db, owner, info.ref)
    assert json.loads(cli("task", "quiz", "retire", "mood/intro", "--json").stdout)["retired"] is True
    assert json.loads(cli("task", "quiz", "list", "mood", "--json").stdout)["quizzes"][0]["retired"] is True
    file.write_text('{"questions": []}')
    bad = cli("task", "quiz", "new", "mood/intro", file)
    assert (bad.exit_code, "quiz.json" in bad.stderr) == (1, True)
    assert cli("task", "quiz", "show", "intro").exit_code == 1


def test_a_new_quiz_takes_no_name_that_is_taken(db: Session, owner: Actor) -> None:
    """Who makes a new one changes none that is there."""
    add_quiz(db, owner)
    with pytest.raises(Conflict, match="has a quiz 'intro' already"):
        put_quiz(db, owner, "mood", "intro", {**QUIZ, "tries": 3}, new=True)
    assert get_quiz(db, owner, "mood", "intro").version == 1
