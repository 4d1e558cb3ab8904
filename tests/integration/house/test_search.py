"""Finding tasks, data sets, models, rounds and people by their words, as far as one may see them, on both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import text, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access import accounts
from quintain.services.collect.rounds.manage import put_round
from quintain.services.house.browse import search
from quintain.services.models.registry import register_version
from quintain.services.tasks.definitions import archive_task, find_row, put_task
from quintain.store.blobs import Blobs
from quintain.store.search_index import Findable, keep_entry, matches
from quintain.store.tables import Round
from tests.evaluation import CARD, TASK
from tests.people import find_or_make_person
from tests.web_support import browser_of, on_one_line

NOBODY = Actor()
ROUND = """
task = "mood"
title = "Irony in winter"
instructions = "Write about snow."
[targets]
mode = "none"
"""


@pytest.fixture
def task_id(db: Session, owner: Actor) -> int:
    """The number of the task `mood`."""
    put_task(db, owner, TASK)
    return find_row(db, "mood").id


def _enter(db: Session, task_id: int, number: int, title: str, about: str = "") -> None:
    keep_entry(db, Findable.DATASET, number, task_id=task_id, title=title, text=about)
    db.commit()


def _found(db: Session, query: str) -> list[str]:
    return [match.title for match in matches(db, Findable.DATASET, query, limit=10)]


@pytest.mark.both_databases
def test_words_are_found_by_how_they_begin_titles_first(db: Session, task_id: int) -> None:
    """Case, accents, hyphens and plurals make no other word; every word has to be there; titles come first."""
    _enter(db, task_id, 1, "hotels", "Reviews of cafés, one by one.")
    _enter(db, task_id, 2, "cafe-reviews_v2", "By hand.")
    assert _found(db, "CAFE") == ["cafe-reviews_v2", "hotels"]
    assert _found(db, "café review") == ["cafe-reviews_v2", "hotels"]
    assert _found(db, "caf hand") == ["cafe-reviews_v2"]
    assert _found(db, "afe") == []
    assert _found(db, "v2") == ["cafe-reviews_v2"]
    assert _found(db, "café zebra") == []
    assert _found(db, ' … "*) & ! ') == []


@pytest.mark.both_databases
def test_what_changes_is_found_by_its_new_words(db: Session, task_id: int) -> None:
    """An entry that is written again loses its old words, and one that is gone is not found."""
    _enter(db, task_id, 1, "hotels", "Old words.")
    _enter(db, task_id, 1, "hotels", "New ones.")
    assert (_found(db, "old"), _found(db, "new")) == ([], ["hotels"])
    db.execute(text("DELETE FROM search_entries"))
    db.commit()
    assert _found(db, "new") == []


@pytest.mark.both_databases
def test_each_sees_what_they_may(db: Session, blobs: Blobs, owner: Actor, builder: Actor) -> None:
    """Drafts and people are for owners, a private model for whose it is, what is in an archived task for nobody."""
    put_task(db, owner, TASK)
    put_round(db, owner, ROUND)
    register_version(
        db, blobs, builder, "mood", "winterling", adapter="handler", folder=None, card=CARD, visibility="private"
    )
    find_or_make_person(db, "winter-writer", RoleName.WORKER)
    accounts.grant_role(db, OPERATOR, "winter-writer", RoleName.WORKER, task="mood")
    theirs, nobodys = search(db, owner, "winter"), search(db, NOBODY, "winter")
    assert [(hit.title, hit.url) for hit in theirs.rounds] == [("Irony in winter", "/tasks/mood/rounds/1")]
    assert [hit.title for hit in theirs.models] == ["winterling"]
    assert [hit.url for hit in theirs.people] == ["/tasks/mood/settings?q=winter-writer"]
    assert nobodys.total == 0
    assert [hit.url for hit in search(db, OPERATOR, "winter").people] == ["/admin?q=winter-writer"]
    assert [hit.title for hit in search(db, builder, "winter").models] == ["winterling"]
    assert search(db, builder, "winter").people == ()
    db.execute(update(Round).values(state="open"))
    db.commit()
    assert [hit.text for hit in search(db, NOBODY, "snow").rounds] == ["Write about snow."]
    archive_task(db, owner, "mood")
    assert (search(db, owner, "winter").rounds, search(db, owner, "mood").tasks) == ((), ())


@pytest.mark.both_databases
def test_the_page_marks_the_words(demo: Workspace) -> None:
    """What was found stands under its kind, with a piece of what it says and the words marked, the help included."""
    anybody = browser_of(demo)
    page = on_one_line(anybody.get("/search", params={"q": "sentiment"}))
    assert '<a href="/tasks/sentiment"><mark>Sentiment</mark></a>' in page
    assert 'id="help-hits"' in page
    cards = anybody.get("/search", params={"q": "tfidf"}).text
    assert cards.count('<a href="/tasks/sentiment/models/tfidf"><mark>tfidf</mark></a>') == 1
    assert "Nothing matches" in anybody.get("/search", params={"q": "zzyzx"}).text
    german = anybody.get("/search", params={"q": "Beurteilen"}, headers={"accept-language": "de"}).text
    assert '<li lang="de">' in german
