"""The front page: what waits for whom, a model that anybody may try to fool, and tasks with what moved them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from sqlalchemy import func, select

from quintain.compose import Workspace
from quintain.core.errors import BadInput, TooMany
from quintain.core.people import ANONYMOUS, OPERATOR
from quintain.core.records.house import WaitingKind
from quintain.services.access.actors import actor_of, find_user
from quintain.services.board.standings import known_standings
from quintain.services.collect.rounds.manage import close_round
from quintain.services.house.fool import find_box, try_to_fool
from quintain.services.house.front import front
from quintain.services.house.waiting import waiting_for
from quintain.services.models.registry import set_visibility
from quintain.services.pay import earnings
from quintain.store.tables import Attempt, Cell
from tests.boards import wait_for_standings
from tests.web_support import browser_of, copy_demo, on_one_line, post, token_for
from tests.write_site import HTMX, Site, begin, ref_of, send


@pytest.fixture(scope="module")
def house(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A copy of the demo of which nothing is open yet, with a worker and an owner; the tests build on each other."""
    folder = tmp_path_factory.mktemp("home")
    workspace = copy_demo(demo, folder / "demo")
    with ExitStack() as stack:
        worker, owner = (stack.enter_context(browser_of(workspace, name)) for name in ("demo-worker", "demo-owner"))
        yield Site(workspace, worker, owner, folder)


# What the demo's contrast project has for everybody.
CONTRAST = [
    (WaitingKind.CONTRAST, "/tasks/sentiment/contrast/near-misses/write", False),
    (WaitingKind.CHECK, "/tasks/sentiment/contrast/near-misses/check", False),
]


def _kinds(house: Site, name: str) -> list[tuple[WaitingKind, str, bool]]:
    with house.workspace.session() as db:
        found = waiting_for(db, actor_of(db, find_user(db, name)))
    return [(one.kind, one.url, one.begun) for one in found]


def test_a_stranger_fools_a_model_on_the_front_page(house: Site) -> None:
    """Without an account: the best model that is built in answers with bars and what moved it, and nothing is kept."""
    client = browser_of(house.workspace)
    page = on_one_line(client.get("/"))
    assert "Fool this model" in page
    assert 'value="sentiment/tfidf@1"' in page  # what scored best when it was trained
    assert "Others judge it" in page
    said = []
    for label in ("positive", "negative", "neutral"):
        fields = {"model": "sentiment/tfidf@1", "text": "Not the worst way to waste an evening.", "label": label}
        found = on_one_line(post(client, "/", "/fool", **fields))
        assert "What moved it" in found
        said.append("You fooled it" in found)
        assert said[-1] != ("Not this time" in found)
    assert sorted(said) == [False, True, True]  # one of the three is what the model says
    with house.workspace.session() as db:
        assert db.scalar(select(func.count()).select_from(Attempt)) == 0


def test_the_box_answers_a_script_with_its_part_alone(house: Site) -> None:
    """A script gets what it puts in place; faults stand there, too, and keep the text that was typed."""
    client = browser_of(house.workspace)
    fields = {"model": "sentiment/tfidf@1", "text": "Fine.", "label": "positive"}
    token = client.get("/").text.partition('name="csrf" value="')[2].partition('"')[0]
    part = client.post("/fool", data={"csrf": token, **fields}, headers=HTMX)
    assert part.status_code == 200
    assert "<html" not in part.text
    refused = client.post("/fool", data={"csrf": token, **fields, "label": "splendid"}, headers=HTMX)
    assert refused.status_code == 422
    assert "say which label people would give" in refused.text
    whole = client.post("/fool", data={"csrf": token, **fields, "text": "", "label": "neutral"})
    assert whole.status_code == 422
    assert "Fool this model" in whole.text


def test_the_box_is_throttled_and_takes_only_what_it_can(house: Site) -> None:
    """Calls are counted as when talking; a task with two texts, or a model that is private, is no box."""
    with house.workspace.session() as db:

        def ask(ref: str, limit: int = 1) -> bool:
            return try_to_fool(
                db, house.workspace.blobs, ANONYMOUS, ref, "So so.", "neutral", address="203.0.113.9", limit=limit
            ).fooled

        assert ask("sentiment/lexicon") in {True, False}
        with pytest.raises(TooMany):
            ask("sentiment/lexicon")
        with pytest.raises(BadInput, match="one text and one label"):
            ask("nli/majority")


def test_an_open_round_comes_first_and_waits_for_its_writers(house: Site) -> None:
    """The box takes the round's target, the card names the round, and a worker's list leads to the page itself."""
    place = house.open(title="Fool the n-grams")
    page = on_one_line(house.client.get("/"))
    assert 'value="sentiment/ngram@1"' in page
    assert "Fool the n-grams" in page
    assert _kinds(house, "demo-worker") == [(WaitingKind.WRITE, f"{place}/write", False), *CONTRAST]
    assert _kinds(house, "demo-owner") == []  # may write, and is not asked to
    fields = {"model": "sentiment/ngram@1", "text": "Fine.", "label": "neutral"}
    stranger = browser_of(house.workspace)
    assert f'href="{place}/write"' in post(stranger, "/", "/fool", **fields).text
    session = begin(house.client, place)
    assert _kinds(house, "demo-worker") == [(WaitingKind.WRITE, session, True), *CONTRAST]
    assert house.client.get(session).status_code == 200
    with house.workspace.session() as db:
        set_visibility(db, OPERATOR, "sentiment/ngram", "private")
        box = find_box(db, ANONYMOUS, {})
        assert box is not None
        assert (box.version.model, box.round) == ("tfidf", None)  # what is private is not put on the front page
        set_visibility(db, OPERATOR, "sentiment/ngram", "public")


def test_owners_are_told_the_next_step_of_their_rounds_and_pay(house: Site) -> None:
    """A closed round waits to be judged; what was earned waits to be approved; approved pay is told to the worker."""
    place = house.open(title="Once more")
    session = begin(house.client, place)
    send(house.client, session, in_text="The soup was cold and the waiter came never.", answer="negative")
    with house.workspace.session() as db:
        close_round(db, OPERATOR, ref_of(place))
    waits = _kinds(house, "demo-owner")
    assert (WaitingKind.VALIDATE, place, False) in waits
    assert (WaitingKind.APPROVE_PAY, f"{place}/pay", False) in waits
    assert all(house.owner.get(url).status_code == 200 for _, url, _ in waits)
    assert "Approve pay: 0.30 USD" in on_one_line(house.owner.get("/"))
    with house.workspace.session() as db:
        found = earnings.list_earnings(db, OPERATOR, "sentiment").earnings
        earnings.decide(db, OPERATOR, "sentiment", [one.id for one in found])
    assert (WaitingKind.APPROVE_PAY, f"{place}/pay", False) not in _kinds(house, "demo-owner")
    assert (WaitingKind.PAID, "/work/earnings", False) in _kinds(house, "demo-worker")
    assert "Round 2 closed" in on_one_line(house.client.get("/"))


def test_programs_ask_what_waits(house: Site) -> None:
    """The API gives the same list, to those who say who they are."""
    client = browser_of(house.workspace)
    assert client.get("/api/v1/me/waiting").status_code == 401
    headers = {"authorization": f"Bearer {token_for(house.workspace, 'demo-worker')}"}
    found = client.get("/api/v1/me/waiting", headers=headers).json()["waiting"]
    assert {"write", "paid"} <= {one["kind"] for one in found}


def test_builders_see_their_own_failed_runs(evaluated_site: Workspace) -> None:
    """A run that failed leads to its page, once for each model and data set; others are not told."""
    with evaluated_site.session() as db:
        cell = db.scalars(select(Cell).order_by(Cell.id)).first()
        assert cell is not None
        before, cell.state = cell.state, "failed"
        db.commit()
        builder, owner = (actor_of(db, find_user(db, name)) for name in ("bert", "olga"))
        found = [one for one in waiting_for(db, builder) if one.kind is WaitingKind.FAILED_RUN]
        assert [(one.count, one.url) for one in found] == [(1, f"/runs/{cell.id}")]
        assert WaitingKind.FAILED_RUN not in {one.kind for one in waiting_for(db, owner)}
        cell.state = before
        db.commit()


def test_the_leader_is_known_without_waiting_for_it(evaluated_site: Workspace) -> None:
    """The first visit asks for the board and waits for nobody; the next one names who leads and what moved."""
    with evaluated_site.session() as db:
        known_standings(db, evaluated_site.blobs, ["mood"])
        wait_for_standings(db)
        card = next(one for one in front(db, evaluated_site.blobs, ANONYMOUS).cards if one.card.task.name == "mood")
        standing = known_standings(db, evaluated_site.blobs, ["mood"])["mood"]
    assert card.claim == standing.claim
    assert card.moved is not None
    assert len(standing.places) + standing.unranked == card.card.models


def test_a_task_shows_its_open_round_first(house: Site) -> None:
    """The overview names what to fool and how it goes, then who leads, then the rounds before; instructions fold."""
    page = on_one_line(browser_of(house.workspace).get("/tasks/sentiment"))
    assert "Round 1: Fool the n-grams" in page
    assert "Fool ngram. 0 texts, 0 fooled it." in page
    assert 'href="/tasks/sentiment/rounds/1/write"' in page
    assert page.index("Fool the n-grams") < page.index("Who leads") < page.index("Once more")
    assert '<summary><h2 class="inline">Instructions</h2></summary>' in page
    part = browser_of(house.workspace).get("/tasks/sentiment/board/top")
    assert part.status_code == 200
    assert "<html" not in part.text


def test_the_models_are_a_table_that_sorts(house: Site) -> None:
    """Names are links, columns sort either way, and who has no rank yet says so; of many, one page is described."""
    client = browser_of(house.workspace)
    first = on_one_line(client.get("/tasks/sentiment/models?sort=name"))
    assert first.index("models/lexicon") < first.index("models/tfidf")
    last = on_one_line(client.get("/tasks/sentiment/models?sort=name&order=down"))
    assert last.index("models/tfidf") < last.index("models/lexicon")
    assert "not ranked yet" in first
    assert client.get("/tasks/sentiment/models?sort=robustness&offset=99").status_code == 200


def test_no_board_is_made_while_somebody_waits_for_the_models(house: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is known yet, the table stands without ranks and says so, and the board is made beside."""
    made: list[object] = []
    house.workspace.state.clear()
    beside = SimpleNamespace(start=made.append)
    monkeypatch.setattr("quintain.services.board.standings.Loop", lambda *_, **__: beside)
    page = on_one_line(browser_of(house.workspace).get("/tasks/sentiment/models"))
    assert "The ranking is being made" in page
    assert "models/tfidf" in page
    assert len(made) == 1
