"""What a trial pays and how long it takes stands on its entry page, before anybody agrees to anything."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.rounds import Money
from quintain.protocols.reading import parse_protocol
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.participation import trial_part
from quintain.services.trial.terms import terms_of
from quintain.services.trial.trials import OpenTrial, open_trial, put_trial
from quintain.store.blobs import Blobs
from tests.collecting import TASK
from tests.integration.trial.life import PLAIN, TRAINED, WHERE


def test_pay_and_time_stand_before_the_consent(db: Session, blobs: Blobs, owner: Actor, worker: Actor) -> None:
    """They are the protocols', over all arms; once somebody is in, the page says what they do instead."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [PLAIN, TRAINED], title="Mood of texts")
    open_trial(db, blobs, owner, *WHERE, OpenTrial())
    part = trial_part(db, worker, *WHERE)
    assert (part.what, part.terms) == ("enter", terms_of([parse_protocol(PLAIN), parse_protocol(TRAINED)]))
    assert part.terms is not None
    assert (part.terms.first_least, part.terms.first_most) == (Money(100), Money(350))
    assert (part.terms.first_minutes, part.terms.most, part.terms.minutes) == (30, Money(450), 43.5)


def test_terms_show_no_arm() -> None:
    """It is the same in whatever order the arms stand, and says nothing of how many there are."""
    protocols = [parse_protocol(text) for text in (PLAIN, TRAINED)]
    assert terms_of(protocols) == terms_of(protocols[::-1]) == terms_of([*protocols, protocols[0]])
