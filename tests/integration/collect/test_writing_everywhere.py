"""Writing and watching over a round without a page: the API and the Python client, and the command line for owners."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

import quintain
from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.people import Actor, RoleName
from quintain.core.records.pay import PayTotal
from quintain.core.rounds import Money
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.writing.writing_aids import SANDBOX_PER_MINUTE
from quintain.services.models.occlusion import PER_MINUTE
from quintain.store.blobs import Blobs
from tests.collecting import RUNNERS, add_round
from tests.people import make_person
from tests.web_support import running, token_for

OPEN = 'content_warning = "It may hurt."'
ALL = (
    '[asks]\nreason = true\ntags = ["irony"]\n[helps]\nocclusion = true\ninspiration = true\n'
    '[[conditions]]\nname = "prompt"\n[[conditions]]\nname = "blank"\nprompt = false\n'
    '[entry]\nprovider = "prolific"\ncompletion_code = "C1ABC"'
)


@pytest.fixture
def info(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> RoundInfo:
    """An open round with a warning, every help and two conditions."""
    monkeypatch.setattr(Workspace, "runners", RUNNERS)
    return add_round(db, blobs, owner, tmp_path, more=OPEN, tables=ALL)


@pytest.fixture
def clients(workspace: Workspace, db: Session, owner: Actor, info: RoundInfo) -> Iterator[list[Client]]:
    """Clients of the owner, of two who write, and of somebody who may not."""
    people = [make_person(db, name, RoleName.WORKER) for name in ("ann", "bob")]
    people = [owner, *people, make_person(db, "rita", RoleName.BUILDER)]
    with running(workspace) as url, ExitStack() as stack:
        yield [stack.enter_context(Client(url, token_for(workspace, one.name))) for one in people]


def test_a_program_writes_as_a_person_does(clients: list[Client], info: RoundInfo) -> None:
    """From the warning over the sandbox to a verdict, its words, the writer's word on it, and the pay."""
    _, ann, bob, _ = clients
    assert (ann.readiness(info.ref).ready, ann.readiness(info.ref).needs_warning) == (False, True)
    for ask in (lambda: ann.practice(info.ref), lambda: ann.practise(info.ref, {"text": "So bad."}, "positive")):
        with pytest.raises(quintain.Forbidden, match="Read the content warning"):
            ask()
    assert ann.choose(info.ref, "warning").ready
    sandbox = ann.practice(info.ref)
    assert (sandbox.key, sandbox.models) == ("", ())
    assert sandbox.prompt is not None
    with pytest.raises(quintain.BadInput, match="unchanged"):
        ann.practise(info.ref, sandbox.prompt["inputs"], "positive", prompt=sandbox.prompt["id"])
    tried = ann.practise(info.ref, {"text": "So bad."}, "positive", prompt=sandbox.prompt["id"])
    assert (tried.fooled, tried.attempt_id) == (True, 0)
    assert ann.my_attempts() == []
    session = ann.begin_writing(info.ref)
    assert session.models == ("mood/counter@1",)
    ann.save_draft(session.key, {"text": "half"}, "negative")
    assert ann.writing_session(session.key).draft == {"text": "half"}
    made = ann.write(session.key, {"text": "Good grief."}, "negative", token="once")
    assert ann.write(session.key, {"text": "Good grief."}, "negative", token="once") == made
    assert (made.fooled, made.ask, made.answers[0]["answer"]) == (True, "confirm", "positive")
    words = ann.moving_words(made.attempt_id)
    assert [(one.word, one.start, one.end) for one in words] == [("Good", 0, 4), ("grief", 5, 10), (".", 10, 11)]
    assert words[0].effect == pytest.approx(0.6)
    with pytest.raises(quintain.NotFound):
        bob.moving_words(made.attempt_id)
    assert ann.confirm(made.attempt_id, True).outcome == "fooled"
    assert ann.add_notes(made.attempt_id, reason="It counts words.", tags=["irony"]).attempt_id == made.attempt_id
    bob.choose(info.ref, "warning")
    other = bob.begin_writing(info.ref)
    assert [one.inputs for one in bob.inspiration(other.key)] == [{"text": "Good grief."}]
    assert bob.end_writing(other.key).outcome == "given_up"
    assert [(one.kind, one.amount, one.status) for one in ann.my_earnings()] == [("base", 30, "pending")]
    ann.retract(made.attempt_id, "It was not mine.")
    assert [one.retracted for one in ann.my_attempts()] == [True]
    assert bob.inspiration(other.key) == []


def test_the_helps_keep_their_limits_and_switches(
    clients: list[Client], info: RoundInfo, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """A program is held to the roles, the switches and the rates of the page."""
    _, ann, _, rita = clients
    for ask in (lambda: rita.practice(info.ref), lambda: rita.begin_writing(info.ref)):
        with pytest.raises(quintain.Forbidden, match="needs the role worker"):
            ask()
    plain = add_round(db, blobs, owner, tmp_path, prompts=0, tables='[[conditions]]\nname = "blank"\nprompt = false')
    key = ann.begin_writing(plain.ref).key
    made = ann.write(key, {"text": "It was bad."}, "negative")
    for help_ in (lambda: ann.moving_words(made.attempt_id), lambda: ann.inspiration(key)):
        with pytest.raises(quintain.Forbidden, match="not switched this help on"):
            help_()
    refused(lambda: ann.practise(plain.ref, {"text": "So bad."}, "positive"), SANDBOX_PER_MINUTE)
    ann.choose(info.ref, "warning")
    made = ann.write(ann.begin_writing(info.ref).key, {"text": "Not a bad word."}, "negative")
    refused(lambda: ann.moving_words(made.attempt_id), PER_MINUTE)


def refused(ask: Callable[[], object], limit: int) -> None:
    """Ask until a limit is reached; the window may slide while one asks, so that it is reached a little later."""
    asked = 0
    try:
        while asked < 3 * limit:
            ask()
            asked += 1
    except quintain.TooMany:
        assert asked >= limit
    else:
        pytest.fail(f"{asked} times were not too many")


def test_an_owner_does_over_the_api_what_the_page_does(clients: list[Client], info: RoundInfo, tmp_path: Path) -> None:
    """Flags, pay with reasons, history, a clone with a title, the panel's address, and what each condition brought."""
    owner, ann, *_ = clients
    ann.choose(info.ref, "warning")
    key = ann.begin_writing(info.ref).key
    ann.write(key, {"text": "It was bad, write to ann@example.org"}, "negative")
    made = ann.write(key, {"text": "Good grief."}, "negative")
    ann.confirm(made.attempt_id, True)
    (flag,) = owner.flags(info.ref).flags
    assert (flag.kind, flag.withhold) == ("personal", None)
    owner.decide_flag(flag.id, withhold=True, note="An address.")
    assert owner.flags(info.ref).flags == []
    assert [one.withhold for one in owner.flags(info.ref, decided=True).flags] == [True]
    cost = owner.round_pay(info.ref, status="pending")
    assert (cost.minutes, cost.measured, cost.hourly) == (5.0, 0, Money(360, "USD"))
    assert cost.totals == [PayTotal("base", "pending", 30, "USD")]
    assert [(one.worker, one.amount) for one in cost.earnings] == [("ann", 30)]
    ids = [one.id for one in cost.earnings]
    with pytest.raises(quintain.BadInput, match="say why"):
        owner.decide_earnings("mood", ids, approved=False)
    owner.decide_earnings("mood", ids, approved=False, reason="It was copied.")
    assert [(one.status, one.reason) for one in ann.my_earnings()] == [("declined", "It was copied.")]
    assert [one.status for one in owner.decide_earnings("mood", ids)] == ["approved"]
    assert [one.status for one in owner.earnings("mood", status="approved")] == ["approved"]
    asked: list[Callable[[str], object]] = [ann.round_pay, ann.flags, ann.round_history, ann.clone_round]
    for ask in asked:
        with pytest.raises(quintain.Forbidden):
            ask(info.ref)
    assert "PROLIFIC_PID" in (owner.round(info.ref).entry_url or "")
    assert ann.round(info.ref).entry_url is None
    made_again = owner.clone_round(info.ref, title="Once more")
    assert (made_again.title, made_again.state) == ("Once more", "draft")
    owner.put_round("mood", made_again.toml.replace("Once more", "And again"))
    assert [one.number for one in owner.round_history(made_again.ref)] == [2, 1]
    counts = owner.counters(info.ref)
    assert [(one["attempts"], one["fooled"]) for one in counts.by_condition] == [(2, 1)]
    assert counts.low is not None
    assert counts.low < 0.5 < (counts.high or 0)
    path = owner.download_attempts(info.ref, tmp_path / "fooling.parquet", fooling=True)
    assert pl.read_parquet(path)["text"].to_list() == ["Good grief."]
    assert owner.qualify("mood", "ann", "star")[0].held
    assert [one.name for one in ann.qualifications("mood")] == ["star"]
    assert [one.held for one in owner.qualifications("mood", "ann")] == [True]


def test_an_owner_does_at_the_command_line_what_the_page_does(
    workspace: Workspace,
    clients: list[Client],
    info: RoundInfo,
    cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`round show`, `history` and `pay`; what does not belong to the round is refused, and nothing is half decided."""
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    _, ann, *_ = clients
    ann.choose(info.ref, "warning")
    key = ann.begin_writing(info.ref).key
    ann.write(key, {"text": "It was bad, write to ann@example.org"}, "negative")
    ann.end_writing(key)
    shown = cli("round", "show", info.ref).stdout
    assert "one: mood/counter" in shown
    assert "blank (a blank page)" in shown
    assert "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID=" in shown
    assert 'completion_code = "C1ABC"' in cli("round", "show", info.ref, "--toml").stdout
    assert json.loads(cli("round", "show", info.ref, "--json").stdout)["entry_url"].startswith("http")
    assert [one["number"] for one in json.loads(cli("round", "history", info.ref, "--json").stdout)["versions"]] == [1]
    assert "olga" in cli("round", "history", info.ref).stdout
    (one,) = json.loads(cli("round", "pay", info.ref, "--pending", "--json").stdout)["earnings"]
    assert (one["worker"], one["amount"], one["status"]) == ("ann", 3, "pending")
    number = str(one["id"])
    assert "no earning 999" in cli("round", "approve", info.ref, number, "999").stderr
    assert cli("round", "set-aside", info.ref, number).exit_code == 2
    assert cli("round", "set-aside", info.ref, number, "--reason", " ").exit_code == 1
    assert [cli("round", "approve", info.ref, *chosen).exit_code for chosen in ((), (number, "--all"))] == [1, 1]
    assert [one.status for one in ann.my_earnings()] == ["pending"]
    assert "set aside" not in cli("round", "set-aside", info.ref, number, "--reason", "No.").stdout
    assert [one.status for one in ann.my_earnings()] == ["declined"]
    done = cli("round", "approve", info.ref, number)
    assert "approved" in done.stdout
    assert "base, approved: 0.03 USD" in done.stderr
    (flag,) = json.loads(cli("round", "flags", info.ref, "--json").stdout)["flags"]
    both = cli("round", "flags", info.ref, "--keep", str(flag["id"]), "--withhold", "999")
    assert (both.exit_code, "has no flag 999" in both.stderr) == (1, True)
    (flag,) = json.loads(cli("round", "flags", info.ref, "--all", "--json").stdout)["flags"]
    assert flag["withhold"] is None
