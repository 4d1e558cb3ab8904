"""Rounds without a model to fool: nothing is asked, no verdict is shown, and a session ends after so many texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict
from quintain.core.people import OPERATOR, Actor
from quintain.services.collect.rounds.definition import parse_round
from quintain.services.collect.rounds.manage import list_rounds, open_round, put_round
from quintain.services.collect.rounds.round_figures import counters
from quintain.services.collect.writing.sessions import get_session, start_session
from quintain.services.pay.earnings import my_earnings
from quintain.store.blobs import Blobs
from quintain.store.queries.collect.notes import texts_of
from tests.collecting import add_round, submit, writers
from tests.write_site import Site, begin, send

NONE = 'mode = "none"'
WHY = "The ember is named twice, and only the second time does the fjord stand for the loss of the boat {n}."


def test_a_session_ends_after_so_many_texts_and_no_model_is_asked(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """Two texts are a session; nobody is asked what a model said, and both are kept and paid."""
    info = add_round(db, blobs, owner, tmp_path, more="attempts = 2", targets=NONE)
    (writer,) = writers(db, 1)
    key = start_session(db, blobs, writer, info.ref).key
    first = submit(db, blobs, writer, key, "A quiet heron walked over the glade at noon.", runners={})
    assert (first.answers, first.ask, first.attempts_left, first.outcome) == ((), "", 1, "")
    assert get_session(db, writer, key).draft == {}
    second = submit(db, blobs, writer, key, "Nobody had seen the amber islet since the storm.", runners={})
    assert second.outcome == "exhausted"
    assert counters(db, owner, info.ref).attempts == 2
    with pytest.raises(Conflict, match="over"):
        submit(db, blobs, writer, key, "One more about the jasper dunes, please.", runners={})
    assert [one.money.amount for one in my_earnings(db, writer)] == [30]


def test_a_justification_that_says_nothing_or_repeats_is_not_taken(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """Missing, trivial and repeated ones cost no attempt; a good one is kept with the text."""
    info = add_round(db, blobs, owner, tmp_path, targets=NONE, tables="[asks]\njustification = true")
    (writer,) = writers(db, 1)
    key = start_session(db, blobs, writer, info.ref).key
    text = "A quiet heron walked over the glade at noon."
    for given, reason in (("", "is missing"), ("It is a good and hard question to answer.", "says nothing")):
        with pytest.raises(BadInput, match=reason):
            submit(db, blobs, writer, key, text, justification=given, runners={})
    made = submit(db, blobs, writer, key, text, justification=WHY.format(n=1), runners={})
    assert made.number == 1
    assert texts_of(db, [made.attempt_id], "justified") == {made.attempt_id: WHY.format(n=1)}
    with pytest.raises(BadInput, match="nearly repeats"):
        submit(db, blobs, writer, key, "Another text of jasper dunes.", justification=WHY.format(n=2), runners={})


def test_what_is_not_listed_is_found_by_its_owners_only(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """A round of a trial is no invitation to everybody."""
    info = add_round(db, blobs, owner, tmp_path, targets=NONE, more="listed = false")
    (writer,) = writers(db, 1)
    assert list_rounds(db, writer, "mood") == []
    assert [one.ref for one in list_rounds(db, owner, "mood")] == [info.ref]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[targets]\nmode = "none"\nmodels = ["mood/ngram"]', "asks no model"),
        ('keep_nonfooling = false\n[targets]\nmode = "none"', "nothing would be kept"),
    ],
)
def test_what_does_not_go_together_is_refused(text: str, reason: str) -> None:
    """No model and a model's name; no model, and keeping only what fooled it."""
    with pytest.raises(BadInput, match=reason):
        parse_round(f'task = "mood"\ntitle = "Write"\n{text}')


def test_the_page_speaks_of_no_model(site: Site) -> None:
    """The form asks for a text and its justification, each text clears it, and the end thanks for the work."""
    with site.workspace.session() as db:
        toml = (
            'task = "sentiment"\ntitle = "Write two"\nattempts = 2\n[targets]\nmode = "none"\n'
            '[[conditions]]\nname = "blank"\nprompt = false\n[asks]\njustification = true\n'
        )
        info = open_round(db, OPERATOR, put_round(db, OPERATOR, toml).ref)
    address = begin(site.client, f"/tasks/sentiment/rounds/{info.number}")
    page = site.client.get(address).text
    assert "Hand in" in page
    assert "What makes it hard?" in page
    assert "2 texts to write" in page
    assert "The model’s answer" not in page
    refused = send(site.client, address, in_text="The pier smelled of tar and rain.", answer="neutral")
    assert "is missing; say in one to three sentences" in refused.text
    four = "Tar smells. Sailors like it. Rain says otherwise. Most readers miss that."
    refused = send(site.client, address, in_text="The pier smelled of tar.", answer="neutral", justification=four)
    assert "has 4 sentences; keep to one, two or three" in refused.text
    texts = ("The pier smelled of tar and rain all week.", "My sister sold the clarinet without a word.")
    whys = (
        "The pier smells of tar, which sailors like; only rain says otherwise.",
        "Selling a clarinet silently is grief, though no sad word stands there.",
    )
    for place, (text, why) in enumerate(zip(texts, whys, strict=True), 1):
        answer = send(site.client, address, in_text=text, answer="negative", justification=why)
        assert f"{place} of 2 written." in answer.text
        assert "tries used" not in answer.text
    assert "All that you wrote is kept." in site.client.get(address).text
