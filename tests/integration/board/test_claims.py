"""What is said of who leads: one answer, on every page, by the API and by commands."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import quintain.web
from quintain.compose import Workspace
from quintain.core.people import ANONYMOUS
from quintain.core.records.figures import Estimate
from quintain.core.records.ranking import RankRange, SureModel, SurePair, Uncertainty
from quintain.services.access.actors import actor_of, find_user
from quintain.services.board.cache import warm_board
from quintain.services.board.claims import board_claim, claim_of, claim_text
from quintain.services.board.ranking import Ranked
from quintain.services.board.standings import known_standings
from quintain.services.tasks.board_settings import set_board
from quintain.stats.fitness import Weakness
from tests.boards import wait_for_standings
from tests.web_support import browser_of, copy_demo, on_one_line

PAGES = ("/", "/tasks/mood", "/tasks/mood/board/top", "/tasks/mood/board/claim")
CLAIM = re.compile(r"<(\w+) data-claim=\"(\w+)\"[^>]*>(.*?)</\1>")
NAMES_FIRST = re.compile(r"\.leader\b|places\[0\]")
TAG = re.compile(r"<[^>]+>")
TEMPLATES = Path(quintain.web.__file__).parent / "templates"


@pytest.fixture(scope="module")
def workspace(evaluated_site: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Two models on a board that ranks by performance, which both have."""
    own = copy_demo(evaluated_site, tmp_path_factory.mktemp("claims") / "workspace")
    with own.session() as db:
        set_board(db, actor_of(db, find_user(db, "olga")), "mood", {"weights": {"performance": 1}})
    yield own
    own.close()


@pytest.fixture
def ranked(workspace: Workspace) -> Ranked:
    """The board of the task, whose data sets are taken to be large."""
    with workspace.session() as db:
        found = warm_board(db, workspace.blobs, ANONYMOUS, "mood").ranked
    assert found is not None
    return replace(found, board=replace(found.board, datasets=_warned(found, ())))


def _warned(ranked: Ranked, warnings: tuple[Weakness, ...]) -> tuple:
    return tuple(replace(dataset, warnings=warnings) for dataset in ranked.board.datasets)


def _sure(ranked: Ranked, probability: float, *, apart: bool) -> Uncertainty:
    """Say how probably each model is above the next, and whether it is told apart from it."""
    refs = [ranked.board.models[row].ref for row in ranked.order() if ranked.ranking.rank[row] is not None]
    assert len(refs) > 1
    models = [
        SureModel(ref, RankRange(place, place, place), Estimate(1.0), place if apart else 1)
        for place, ref in enumerate(refs, 1)
    ]
    pairs = [SurePair(one, other, probability, Estimate(1.0), None) for one, other in pairwise(refs)]
    return Uncertainty(100, 1000, models, [], pairs)


def test_every_page_that_names_a_leader_says_what_the_board_says(workspace: Workspace) -> None:
    """Home, overview and its part say the claim of the board word by word, with figure, unit and certainty."""
    with workspace.session() as db:
        known_standings(db, workspace.blobs, ["mood"])
        wait_for_standings(db)
        claim = board_claim(db, workspace.blobs, ANONYMOUS, "mood")
    assert claim.certainty == "too_small"
    client = browser_of(workspace)
    assert client.get("/api/v1/tasks/mood/board/claim").json()["certainty"] == claim.certainty
    for page in PAGES:
        text = on_one_line(client.get(page))
        said = [(kind, html.unescape(TAG.sub("", words)).strip()) for _, kind, words in CLAIM.findall(text)]
        assert (claim.certainty, claim_text(claim)) in said, page


def test_a_page_shows_who_is_first_only_beside_the_claim() -> None:
    """A template that goes over the places of a board from the best has the claim, or only the rank of each model."""
    showing = [path for path in TEMPLATES.rglob("*.html") if "standing.places" in path.read_text()]
    assert showing
    assert all("claim_text(" in path.read_text() for path in showing)
    offenders = [
        path.name for path in TEMPLATES.rglob("*.html") if re.search(r"\.leader\b|places\[0\]", path.read_text())
    ]
    assert offenders == []


def test_a_sure_leader_is_named_with_figure_unit_and_certainty(ranked: Ranked) -> None:
    """Where the first is told apart from the second, it leads, and the sentence says by what and how surely."""
    claim = claim_of(ranked, _sure(ranked, 0.99, apart=True))
    assert claim.certainty == "settled"
    assert claim.leader == ranked.board.models[ranked.order()[0]].ref
    assert claim_text(claim).startswith(f"{claim.first[0]} leads with a Dynascore of {claim.score:.1f}")
    assert claim_text(claim).endswith("ahead 99 %.")


def test_of_models_without_a_rank_nothing_is_claimed(ranked: Ranked) -> None:
    """Where a figure of some model is missing, whoever leads is said to lead the others, and the rest are counted."""
    last = [row for row in ranked.order() if ranked.ranking.rank[row] is not None][-1]
    places = tuple(None if row == last else place for row, place in enumerate(ranked.ranking.rank))
    fewer = replace(ranked, ranking=replace(ranked.ranking, rank=places))
    claim = claim_of(fewer, _sure(ranked, 0.99, apart=True))
    assert claim.unranked == claim_of(ranked, _sure(ranked, 0.99, apart=True)).unranked + 1
    others = "other model is" if claim.unranked == 1 else "other models are"
    assert claim_text(claim).endswith(f" {claim.unranked} {others} not ranked.")


def test_what_cannot_be_told_apart_has_no_leader(ranked: Ranked) -> None:
    """A first that is above the second in half of the draws does not lead."""
    claim = claim_of(ranked, _sure(ranked, 0.51, apart=False))
    assert (claim.leader, claim.certainty) == (None, "too_close")
    assert claim_text(claim).startswith("Too close to call: ")
    assert "51 %" in claim_text(claim)


def test_too_small_to_rank_on_has_no_leader(ranked: Ranked) -> None:
    """Where all that scores is too small, nobody leads, however sure the draws are."""
    small = replace(ranked.board, datasets=_warned(ranked, (Weakness("few", 24),)))
    claim = claim_of(replace(ranked, board=small), _sure(ranked, 0.99, apart=True))
    assert (claim.leader, claim.certainty) == (None, "too_small")
    assert "too small to rank on" in claim_text(claim)


def test_until_it_is_known_how_sure_the_order_is_nobody_leads(ranked: Ranked) -> None:
    """A large board whose certainty a worker still computes has no leader yet; nor one that is never certain 100 %."""
    claim = claim_of(ranked, None)
    assert (claim.leader, claim.certainty) == (None, "unknown")
    assert "> 99 %" in claim_text(claim_of(ranked, _sure(ranked, 0.9996, apart=True)))
