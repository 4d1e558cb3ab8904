"""The Python client does what the owner's console and the judge page do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import RoleName
from tests.people import make_person
from tests.validation_support import LABELS, REF, judge_all, make_ground, make_judges, truth
from tests.web_support import running, token_for


@pytest.fixture
def database() -> str:
    """The client is tested on SQLite; the services below it on both."""
    return "sqlite"


@pytest.fixture
def served(workspace: Workspace) -> Iterator[str]:
    """A server with a validation of twelve items, an owner called olga and a judge called jo."""
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        make_person(db, "jo", RoleName.WORKER)
        make_ground(db, owner, 12, "automatic = false")
    with running(workspace) as url:
        yield url


@pytest.fixture
def owner_client(workspace: Workspace, served: str) -> Iterator[Client]:
    """A client that acts for the owner."""
    with Client(served, token_for(workspace, "olga")) as made:
        yield made


@pytest.fixture
def judge_client(workspace: Workspace, served: str) -> Iterator[Client]:
    """A client that acts for a judge."""
    with Client(served, token_for(workspace, "jo")) as made:
        yield made


def judged(workspace: Workspace) -> None:
    """Let five honest judges and one who says mixed to everything judge all items."""
    with workspace.session() as db:
        judge_all(db, make_judges(db, 6), [lambda inputs: "mixed", *[truth] * 5])


def test_a_judge_takes_answers_and_gives_back_pages(
    workspace: Workspace, owner_client: Client, judge_client: Client
) -> None:
    """A page is held, kept alive, answered in parts, flagged and skipped; the owner reads the notes."""
    page = judge_client.claim_page(REF)
    assert page is not None
    assert (len(page.items), page.items[0].labels) == (10, [*LABELS, "mixed"])
    assert judge_client.judging_page(page.token) == page
    assert judge_client.extend_page(page.token) >= page.lease_until
    first, second, *_ = page.items
    done = judge_client.submit_page(
        page.token,
        [
            {"item": first.id, "label": truth(dict(first.inputs)), "flag": "rude"},
            {"item": second.id, "skip": "not English"},
        ],
        finish=False,
    )
    assert (done.judged, done.skipped, done.flagged, done.left) == (1, 1, 1, 8)
    with pytest.raises(BadInput, match="is not one of"):
        judge_client.submit_page(page.token, [{"item": page.items[2].id, "label": "sad"}])
    judge_client.return_page(page.token)
    assert {(one.kind, one.text, one.worker) for one in owner_client.judging_notes(REF)} == {
        ("flag", "rude", "jo"),
        ("skip", "not English", "jo"),
    }
    with pytest.raises(Forbidden):
        judge_client.judging_notes(REF)
    assert judge_client.outcomes(REF).total == 0


def test_a_judge_saves_answers_and_hands_them_in_later(judge_client: Client) -> None:
    """Saved answers come back with the page, can be taken back, and are handed in with *saved*."""
    page = judge_client.claim_page(REF)
    assert page is not None
    one, two, three = (item.id for item in page.items[:3])
    assert judge_client.save_answer(page.token, one, label="positive", seconds=2) == 1
    assert judge_client.save_answer(page.token, two, skip="unclear", number=50) == 50
    judge_client.save_answer(page.token, three, label="neutral")
    assert judge_client.save_answer(page.token, three) == 2
    again = judge_client.judging_page(page.token)
    assert again is not None
    saved = {item.id: item.saved for item in again.items if item.saved}
    assert set(saved) == {one, two}
    assert saved[one]["label"] == "positive"
    with pytest.raises(BadInput):
        judge_client.save_answer(page.token, one, label="postive")
    receipt = judge_client.submit_page(page.token, saved=True)
    assert (receipt.judged, receipt.skipped) == (1, 1)
    with pytest.raises(Conflict):
        judge_client.save_answer(page.token, three, label="neutral")


def test_an_owner_watches_and_reviews_the_judges(workspace: Workspace, owner_client: Client) -> None:
    """Figures, reviews after a batch, without and with consequences, history, and everything in the trail."""
    judged(workspace)
    rows = {one.worker: one for one in owner_client.judges(REF)}
    assert rows["judge0"].accuracy["value"] < rows["judge1"].accuracy["value"]
    assert [owner_client.judges(REF, limit=1, offset=place)[0].worker for place in range(len(rows))] == list(rows)
    assert owner_client.judges(REF, offset=len(rows)) == []
    assert rows["judge0"].qualified
    owner_client.set_validation_policy(REF, "automatic = false\n[[rules]]\nrule = 'wilson'\nlimit = 0.5\nleast = 5")
    found = owner_client.review_judges(REF)
    assert (list(found.caught), found.applied) == (["judge0"], False)
    assert owner_client.review_judges(REF, apply=True).opened > 0
    told = owner_client.judge_history(REF, "judge0")
    assert (len(told.reviews), [one["qualified"] for one in told.standings]) == (3, [False])
    assert [one["held"] for one in told.qualifications] == [False]
    acts = [one.action for one in owner_client.validation_trail(REF)]
    assert acts[:2] == ["validation.review", "judge.unqualify"]
    with pytest.raises(NotFound):
        owner_client.judge_history(REF, "nobody")


def test_the_policy_is_read_changed_and_kept_in_every_state(owner_client: Client, judge_client: Client) -> None:
    """A policy that cannot be read changes nothing; a paused validation stays paused."""
    owner_client.set_validation_state(REF, "paused")
    made = owner_client.set_validation_policy(REF, "judgements = 3\nminimum = 2\nautomatic = false")
    assert (made.version, made.by) == (2, "olga")
    assert "judgements = 3" in owner_client.validation_policy(REF)
    assert [one.version for one in owner_client.validation_policies(REF)] == [2, 1]
    assert owner_client.validation_progress(REF).state == "paused"
    with pytest.raises(BadInput, match="judgments"):
        owner_client.set_validation_policy(REF, "judgments = 3")
    with pytest.raises(Forbidden):
        judge_client.set_validation_policy(REF, "")
    assert len(owner_client.validation_policies(REF)) == 2


def test_gold_items_are_made_retired_restored_and_asked_in_a_quiz(
    workspace: Workspace, owner_client: Client, judge_client: Client
) -> None:
    """What the quiz asks about is not restored; the quiz tells strangers nothing, and judges no right answers."""
    judged(workspace)
    first = owner_client.items(REF, state="labelled", sort="share", down=True).items[0]
    assert owner_client.make_gold(REF, first.id, note="all agree") == first.label
    rows = [{"inputs": {"text": f"gold {n} feels {LABELS[n % 3]}"}, "label": LABELS[n % 3]} for n in range(5)]
    assert owner_client.add_gold(REF, rows) == 5
    listed = owner_client.gold(REF).gold
    owner_client.retire_gold(REF, listed[0].id)
    assert [one.id for one in owner_client.gold(REF, use="retired").gold] == [listed[0].id]
    owner_client.restore_gold(REF, listed[0].id)
    assert owner_client.make_entry_quiz(REF, instructions="Read slowly.") == "judge"
    quiz = owner_client.gold(REF).gold
    assert [one.quiz for one in quiz] == [*["judge"] * 5, ""]
    with pytest.raises(Conflict, match="asks about gold item"):
        owner_client.restore_gold(REF, quiz[0].id)
    seen = judge_client.quiz("mood/judge")
    assert {question["answer"] for question in seen.questions} == {None}
    with pytest.raises(Forbidden, match="quiz"):
        judge_client.claim_page(REF)


def test_labels_come_down_with_their_texts(workspace: Workspace, owner_client: Client, tmp_path: Path) -> None:
    """One row per item: its text, its label and the votes for each label."""
    judged(workspace)
    table = pl.read_csv(owner_client.download_labels(REF, tmp_path / "labels.csv"))
    assert table.columns[:5] == ["item", "text", "label", "complete", "by_expert"]
    assert table.height == 12
    assert all(text.endswith(label) for text, label in table.select("text", "label").iter_rows())
    assert table["votes_mixed"].max() <= 1
