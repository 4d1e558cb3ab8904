"""`quintain validate` and the API: the same services, from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Actor
from quintain.services.access.links import make_link, redeem_link
from quintain.services.validate.judging import claim_page, submit_page
from quintain.web.app import create_app
from tests.validation_support import REF, judge_all, make_ground, make_judges, text_of, truth
from tests.web_support import PASSWORD, browser_of, token_for

Run = Callable[..., Result]


@pytest.fixture
def run(cli: Run, workspace: Workspace) -> Callable[..., Any]:
    """A function that runs a command of the workspace with --json and gives what it prints."""

    def call(*arguments: str | Path, code: int = 0) -> Any:
        done = cli("--workspace", workspace.settings.workspace, "validate", *arguments, "--json")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout) if code == 0 and done.stdout.strip() else done.stderr

    return call


@pytest.fixture
def database() -> str:
    """Commands are tested on SQLite; the services below them on both."""
    return "sqlite"


def test_a_table_is_validated_from_the_command_line(run: Any, db: Session, owner: Actor, tmp_path: Path) -> None:
    """Open with a file of items, judge, look, export judgements and labels."""
    make_ground(db, owner, 1, ref="mood/other")
    items = tmp_path / "items.csv"
    pl.DataFrame({"sentence": [text_of(n) for n in range(12)]}).write_csv(items)
    opened = run("open", REF, "--items", items, "--column", "text=sentence")
    assert (opened["items"], opened["forecast"]["judgements"]) == (12, 60)
    judge_all(db, make_judges(db, 5))
    found = run("status", REF)
    assert found["progress"]["complete"] == 12
    assert found["labels"] == {"mixed": 0, "negative": 4, "neutral": 4, "positive": 4, "no majority": 0}
    assert len(run("status")["validations"]) == 2
    assert run("export", REF, "--out", tmp_path / "j.csv")["rows"] == 60
    table = pl.read_csv(tmp_path / "j.csv")
    assert table.columns[:3] == ["item", "worker", "label"]
    assert table["worker"].n_unique() == 5
    assert not table["worker"].str.contains("judge0").any()
    assert run("export", REF, "--labels", "--out", tmp_path / "l.parquet")["rows"] == 12
    assert pl.read_parquet(tmp_path / "l.parquet")["votes_neutral"].sum() == 20


def test_judges_are_managed_from_the_command_line(run: Any, db: Session, owner: Actor, tmp_path: Path) -> None:
    """Preview, unqualify, take back, gold, adjudicate, history, close."""
    make_ground(db, owner, 12, "automatic = false")
    judge_all(db, make_judges(db, 6), [lambda inputs: "mixed", *[truth] * 5])
    preview = run("rule", "try", REF, "--limit", "0.8", "--least", "5")
    assert preview["workers"] == ["judge0"]
    assert preview["unqualified"] == []
    assert run("rule", "apply", REF, "--limit", "0.8", "--least", "5")["unqualified"] == ["judge0"]
    assert run("requalify", REF, "--worker", "judge0", "--restore")["qualified"] == ["judge0"]
    assert [one["qualified"] for one in run("history", REF, "judge0")["standings"]] == [False, True]
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"text": "so so", "label": "neutral"}\n')
    (listed,) = run("gold", "add", REF, gold)["gold"]
    assert listed["label"] == "neutral"
    added = listed["id"]
    (first,) = run("items", REF, "--text", "item 0 feels")["items"]
    assert (first["state"], first["label"]) == ("labelled", "negative")
    assert [one["label"] for one in run("gold", "make", REF, str(first["id"]))["gold"]] == ["neutral", "negative"]
    assert run("gold", "retire", REF, str(added))["gold"][0]["retired"]
    assert not run("gold", "restore", REF, str(added))["gold"][0]["retired"]
    assert run("items", REF, "--state", "waiting")["total"] == 0
    assert "Use one of contested" in run("items", REF, "--state", "gone", code=1)
    assert run("review", REF)["applied"] is False
    assert run("adjudicate", REF)["items"] == []
    assert run("close", REF)["state"] == "closed"


def test_what_is_wrong_is_named(run: Any, db: Session, owner: Actor, tmp_path: Path) -> None:
    """A missing round, a bad policy, a file without the column: exit 1 and a message."""
    make_ground(db, owner, 1)
    assert "no round 7" in run("open", "mood/7", code=1)
    assert "no validation" in run("status", "mood/none", code=1)
    policy = tmp_path / "policy.toml"
    policy.write_text("judgments = 3")
    assert "did you mean 'judgements'" in run("open", REF, "--policy", policy, code=1)
    items = tmp_path / "items.csv"
    items.write_text("body\nhello\n")
    assert "text" in run("open", REF, "--items", items, code=1)
    assert "one of disagreement" in run("rule", "try", REF, "--rule", "harsh", code=1)


def test_programs_judge_over_the_api(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Claim, keep alive, hand in; the owner sees the progress, the judge does not; errors have their status."""
    make_ground(db, owner, 3)
    make_judges(db, 1)
    handing_in, boss = api_of(workspace, "judge0"), api_of(workspace, "olga")
    page = handing_in.post("tasks/mood/validations/check/pages").json()["page"]
    assert handing_in.post("tasks/mood/validations/check/pages").json()["page"]["token"] == page["token"]
    assert handing_in.post(f"pages/{page['token']}/extend").json()["held"] == 3
    bad = handing_in.post(
        f"pages/{page['token']}", json={"answers": [{"item": page["items"][0]["id"], "label": "sad"}]}
    )
    assert bad.status_code == 422
    assert "not one of negative" in bad.json()["error"]["message"]
    answers = [{"item": item["id"], "label": truth(item["inputs"]), "seconds": 0.001} for item in page["items"]]
    assert handing_in.post(f"pages/{page['token']}", json={"answers": answers}).json()["judged"] == 3
    assert handing_in.get("tasks/mood/validations/check").status_code == 403
    found = boss.get("tasks/mood/validations/check").json()
    assert (found["progress"]["judgements"], found["judges"][0]["worker"]) == (3, "judge0")
    assert boss.post("tasks/mood/validations/check/rules/try", json={"rule": "wilson"}).json()["workers"] == []
    nobody = boss.post("tasks/mood/validations/check/unqualify", json={"workers": [], "reason": "none"})
    assert nobody.status_code == 422, "naming nobody is no rule"
    assert boss.get("tasks/mood/validations/none").status_code == 404
    (line,) = boss.get("tasks/mood/validations").json()["validations"]
    assert (line["validation"], line["judgements"]) == (REF, 3)
    assert handing_in.get("tasks/mood/validations").status_code == 403
    assert boss.get("tasks/nowhere/validations").status_code == 404
    table = pl.read_csv(boss.get("tasks/mood/validations/check/judgements").content)
    assert (table.height, set(table["worker"])) == (3, {"judge-1"})
    assert handing_in.get("tasks/mood/validations/check/judgements").status_code == 403
    assert boss.get("tasks/mood/validations/check/contested").json() == {"items": []}
    assert boss.post("tasks/mood/validations/check/review").json()["clean"] is True


def test_the_saving_of_an_adaptive_policy_is_reported(
    cli: Run, workspace: Workspace, db: Session, owner: Actor
) -> None:
    """The command line and the console say how many judgements were saved, and α or why there is none."""
    make_ground(db, owner, 6, "minimum = 2\n[adaptive]\nthreshold = 0.9\n[gold]\nrate = 0")
    judge_all(db, make_judges(db, 5))
    shown = cli("--workspace", workspace.settings.workspace, "validate", "status", REF).stdout
    assert "saved by asking adaptively: 18 judgements (60.0%)" in shown
    assert "Krippendorff's alpha 1.000" in shown
    redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    page = browser_of(workspace, "olga").get("/tasks/mood/validation/check").text
    assert re.search(r"saved by asking adaptively</dt>\s*<dd>18", page)


def test_owners_manage_items_and_gold_over_the_api(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Items come in and are listed; gold is made, retired, brought back; the quiz is made; the state changes."""
    make_ground(db, owner, 3, "automatic = false\n[gold]\nrate = 0")
    boss = api_of(workspace, "olga")
    base = "tasks/mood/validations/check"
    rows = [{"inputs": {"text": "brand new"}}, {"inputs": {"text": text_of(0)}}]
    assert boss.post(f"{base}/items", json={"items": rows}).json() == {"added": 1, "repeats": 1}
    bad = boss.post(f"{base}/items", json={"items": [{"inputs": {"words": "x"}}]})
    assert bad.status_code == 422
    judge_all(db, make_judges(db, 5), lambda inputs: "neutral")
    found = boss.get(f"{base}/items", params={"state": "labelled", "text": "brand"}).json()
    assert (found["total"], found["items"][0]["votes"]) == (1, {"neutral": 5})
    assert boss.get(f"{base}/items", params={"state": "gone"}).status_code == 422
    item = found["items"][0]["id"]
    assert boss.post(f"{base}/items/{item}/gold", json={}).json() == {"label": "neutral"}
    assert boss.post(f"{base}/items/{item}/gold", json={}).status_code == 409
    (gold,) = boss.get(f"{base}/gold").json()["gold"]
    assert boss.post(f"{base}/gold/{gold['id']}/retire").status_code == 204
    assert boss.get(f"{base}/gold").json()["gold"][0]["retired"]
    assert boss.post(f"{base}/gold/{gold['id']}/restore").status_code == 204
    assert boss.post(f"{base}/quiz", json={}).status_code == 409
    more = [{"inputs": {"text": f"surely {number}"}, "label": "neutral"} for number in range(5)]
    assert boss.post(f"{base}/gold", json={"items": more}).json() == {"added": 5}
    assert boss.post(f"{base}/quiz", json={"instructions": "Read."}).json() == {"quiz": "judge"}
    assert boss.post(f"{base}/state", json={"state": "paused"}).json()["state"] == "paused"
    assert boss.post(f"{base}/state", json={"state": "gone"}).status_code == 422
    assert api_of(workspace, "judge0").get(f"{base}/items").status_code == 403


def api_of(workspace: Workspace, name: str) -> TestClient:
    """Give a program that acts for *name*."""
    client = TestClient(create_app(workspace), base_url="http://testserver/api/v1/")
    client.headers["authorization"] = f"Bearer {token_for(workspace, name)}"
    return client


def test_the_console_from_the_command_line(
    run: Any, cli: Run, workspace: Workspace, db: Session, owner: Actor, tmp_path: Path
) -> None:
    """The policy, the judges, their notes and the trail: what the owner's pages show, as JSON and as tables."""
    make_ground(db, owner, 12, "automatic = false")
    people = make_judges(db, 6)
    judge_all(db, people, [lambda _: "mixed", *[truth] * 5])
    policy = tmp_path / "policy.toml"
    policy.write_text("judgements = 7\nautomatic = true\n")
    assert run("policy", REF)["version"] == 1
    assert run("policy", REF, "--set", policy, "--yes")["version"] == 2
    assert [one["version"] for one in run("policy", REF, "--all")["versions"]] == [2, 1]
    policy.write_text("judgments = 7\n")
    assert "policy.toml" in run("policy", REF, "--set", policy, code=1)
    assert run("judges", REF)["judges"][0]["worker"] == "judge0"
    assert [one["worker"] for one in run("judges", REF, "--suspicious")["judges"]] == ["judge0"]
    run("unqualify", REF, "--worker", "judge0", "--reason", "always mixed")
    assert [one["reason"] for one in run("judges", REF, "--unqualified")["judges"]] == ["always mixed"]
    (fresh,) = make_judges(db, 1, "fresh")
    page = claim_page.claim_page(db, fresh, REF)
    assert page is not None
    submit_page.submit_page(db, fresh, page.token, [submit_page.Answer(page.items[0].id, skip="not English")])
    assert [(one["kind"], one["text"]) for one in run("notes", REF)["notes"]] == [("skip", "not English")]
    assert run("trail", REF, "--limit", "1")["entries"][0]["action"] == "judge.unqualify"
    for command in ("policy", "judges", "notes", "trail"):
        assert cli("--workspace", workspace.settings.workspace, "validate", command, REF).exit_code == 0


def test_bad_items_leave_nothing_half_done(run: Any, db: Session, owner: Actor, tmp_path: Path) -> None:
    """A file with faults opens no validation; one with a byte-order mark and repeats is read, and repeats counted."""
    make_ground(db, owner, 1, ref="mood/other")
    items = tmp_path / "items.csv"
    items.write_text("text,answer\nI like it,positive\n,neutral\nbad,sad\n", encoding="utf-8-sig")
    said = run("open", REF, "--items", items, code=1)
    assert "items.csv, row 3, field 'text': is empty" in said
    assert "items.csv, row 4, field 'answer': label 'sad' is not one of negative, neutral, positive" in said
    assert [one["validation"] for one in run("status")["validations"]] == ["mood/other"]
    items.write_text("text,answer\nI like it,positive\nI like it,positive\nmeh,\n", encoding="utf-8-sig")
    assert run("open", REF, "--items", items)["items"] == 2
    assert "'other' names no validation" in run("open", "other", code=1)
    rates = run("status", REF)["rates"]
    assert (rates["vmer"]["value"], rates["aimed_success"]) == (None, None)
    assert rates["vmer"]["reason"] == "no model has answered any of the items"
