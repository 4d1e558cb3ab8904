"""Automatic breaking: a search finds the word that a model hangs on, keeps to its budget, and people confirm pairs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor, RoleName
from quintain.perturbations.drafts.substitutes import learned, near_words, substitutes_of
from quintain.services.contest import pairs, search_pairs
from quintain.services.models.ask import AdapterRunner
from quintain.store.blobs import Blobs
from tests.beginnings import Build
from tests.contests import NAMES, REF, STARTER, TERRIFIC, add_contest, add_contest_task, during, make_teams
from tests.evaluation import add_model
from tests.people import make_person
from tests.refusals import refusal


class HangsOnAWord:
    """A model that says positive where it reads "terrific", and counts what it was asked about."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, version: object, blobs: Blobs, batch: list[Mapping[str, Any]]) -> list[Any]:
        """Answer with likelihoods that hang on the word alone."""
        self.asked += len(batch)
        sure = [0.95 if "terrific" in text["text"].lower() else 0.2 for text in batch]
        return [{"positive": one, "negative": 1 - one} for one in sure]


@pytest.fixture
def beginning() -> Build:
    """A task whose starter set has a sentence with "terrific", its owner olga, and people."""

    def build(workspace: Any, folder: Path) -> None:
        with workspace.session() as db:
            owner = make_person(db, "olga", RoleName.OWNER)
            add_contest_task(db, workspace.blobs, owner, folder, [TERRIFIC, *STARTER])
            for name in NAMES:
                make_person(db, name, RoleName.BUILDER)

    return build


@pytest.fixture
def model(db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path) -> str:
    """A model of anna's that a search may ask, in a contest with two teams of breakers."""
    add_contest(db, owner, "changed_words = 2\nsearches = 120")
    make_teams(db, people)
    return add_model(db, blobs, people["anna"], tmp_path).ref


@pytest.fixture
def runners() -> dict[str, AdapterRunner]:
    """What answers for that model."""
    return {"handler": HangsOnAWord()}


@pytest.mark.both_databases
def test_it_finds_the_word_that_a_model_hangs_on(
    db: Session, blobs: Blobs, people: dict[str, Actor], model: str, runners: dict[str, AdapterRunner]
) -> None:
    """Of all words the search replaces "terrific"; nothing is a pair before a person says so, and then by the rules."""
    ben = people["ben"]
    with during("break"):
        search = search_pairs.start_search(db, blobs, ben, REF, model, text="terrific", words=1)
        assert (search.total, search.position, search.done) == (1, 0, False)
        search = search_pairs.advance_search(db, blobs, ben, REF, search.number, runners=runners)
        assert (search.position, search.done, search.waiting) == (1, True, 3)
        proposals = search_pairs.list_proposals(db, ben, REF, search.number).proposals
        assert all("terrific" not in one.modified["text"] for one in proposals)
        assert all(one.modified["text"].startswith("Russell is ") for one in proposals)
        assert all((one.was, one.says, one.words) == ("positive", "negative", 1) for one in proposals)
        assert pairs.list_drafts(db, ben, REF, "knots").total == 0
        with pytest.raises(BadInput, match=r"modified_label.*is missing"):
            search_pairs.confirm_proposal(db, blobs, ben, REF, proposals[0].id, "")
        kept = search_pairs.confirm_proposal(db, blobs, ben, REF, proposals[0].id, "positive")
        assert (kept.name, kept.strategy, kept.modified_label) == ("p1", search_pairs.STRATEGY, "positive")
        assert "says 'negative' instead of 'positive'" in kept.rationale
        with pytest.raises(Conflict, match="decided about already"):
            search_pairs.confirm_proposal(db, blobs, ben, REF, proposals[0].id, "positive")
        search_pairs.reject_proposal(db, ben, REF, proposals[1].id)
        assert search_pairs.get_search(db, ben, REF, search.number).waiting == 1
        search_pairs.reject_proposal(db, ben, REF, proposals[1].id, undo=True)
        left = search_pairs.list_proposals(db, ben, REF, search.number, waiting=True)
        assert [one.id for one in left.proposals] == [proposals[1].id, proposals[2].id]
        assert pairs.list_drafts(db, ben, REF, "knots").total == 1
        with pytest.raises(Conflict, match="search is done"):
            search_pairs.advance_search(db, blobs, ben, REF, search.number, runners=runners)


@pytest.mark.both_databases
def test_a_search_keeps_to_its_budget_and_can_be_gone_on_with(
    db: Session, blobs: Blobs, people: dict[str, Actor], model: str, runners: dict[str, AdapterRunner]
) -> None:
    """Each call goes on where the last one ended; neither a search nor a team's searches together ask too much."""
    ben = people["ben"]
    with during("break"):
        search = search_pairs.start_search(db, blobs, ben, REF, model, budget=60)
        seen = []
        while not search.done:
            search = search_pairs.advance_search(db, blobs, ben, REF, search.number, runners=runners, seconds=0)
            seen.append(search.position)
        assert seen == sorted(set(seen))
        assert len(seen) > 1
        assert search.asked == runners["handler"].asked <= 60  # type: ignore[attr-defined]
        assert search_pairs.list_searches(db, ben, REF).left == 120 - search.asked
        more = search_pairs.start_search(db, blobs, ben, REF, model, budget=1000)
        while not more.done:
            more = search_pairs.advance_search(db, blobs, ben, REF, more.number, runners=runners)
        assert search.asked + more.asked <= 120


def test_searches_are_the_breakers_own_and_within_the_rules(
    db: Session, blobs: Blobs, people: dict[str, Actor], model: str, runners: dict[str, AdapterRunner]
) -> None:
    """Others see none of it; before and after breaking nothing is searched; numbers and models have to be some."""
    ben, cleo = people["ben"], people["cleo"]
    with during("build"), refusal(Conflict, "too_early"):
        search_pairs.start_search(db, blobs, ben, REF, model)
    with during("break"):
        with pytest.raises(Forbidden, match="does not break"):
            search_pairs.start_search(db, blobs, people["anna"], REF, model)
        with pytest.raises(BadInput, match="words': is not a number from 1 to 2"):
            search_pairs.start_search(db, blobs, ben, REF, model, words=3)
        with pytest.raises(BadInput, match="sources': are not some of opposites, near, data"):
            search_pairs.start_search(db, blobs, ben, REF, model, sources=["dreams"])
        with pytest.raises(NotFound, match="contains 'zebra'"):
            search_pairs.start_search(db, blobs, ben, REF, model, text="zebra")
        search = search_pairs.start_search(db, blobs, ben, REF, model, text="terrific")
        search_pairs.advance_search(db, blobs, ben, REF, search.number, runners=runners)
        [proposal, *_] = search_pairs.list_proposals(db, ben, REF, search.number).proposals
        with pytest.raises(NotFound, match="no search"):
            search_pairs.advance_search(db, blobs, cleo, REF, search.number, runners=runners)
        with pytest.raises(NotFound, match="no proposal"):
            search_pairs.confirm_proposal(db, blobs, cleo, REF, proposal.id, "positive")
    with during("score"), refusal(Conflict, "too_late"):
        search_pairs.confirm_proposal(db, blobs, ben, REF, proposal.id, "positive")


def test_words_for_a_word() -> None:
    """Words come from lists, and from texts in which both stand between the same neighbours."""
    assert "superb" in near_words()["terrific"]
    words = learned([f"He is {word} as coach." for word in ("terrific", "dire", "late")] + ["The coach is here."])
    assert set(words("terrific")) == {"dire", "late"}
    assert words("zebra") == ()
    both = substitutes_of(["near", "data"], ["He is terrific as coach.", "He is dire as coach."])("terrific")
    assert both[0] == "superb"
    assert both[-1] == "dire"
    assert len(both) == len(set(both))
