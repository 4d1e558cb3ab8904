"""What the judging of a trial costs: pages, known items, and the entry quiz, which is paid once."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.rounds import Money
from quintain.services.pay import ledger
from quintain.services.pay.earnings import my_earnings
from quintain.services.pay.policy import save_policy
from quintain.services.pay.report import cost_report
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.costs import trial_costs
from quintain.services.trial.participation import enter
from quintain.services.trial.reporting import open_pool, report
from quintain.services.trial.trials import get_trial, open_trial, put_trial
from quintain.services.validate.judging.claim_page import claim_page
from quintain.services.validate.quality.gold import add_gold
from quintain.services.validate.quality.gold_quiz import make_quiz
from quintain.services.work.quizzes import get_quiz, take_quiz
from quintain.store.blobs import Blobs
from tests.collecting import TASK, writers
from tests.integration.trial.life import PLAIN, WHERE, write
from tests.people import make_person
from tests.validation_support import judge_all, make_judges

POOL = "mood/trial-training"
OPINIONATED = PLAIN + "writer = false\n"


@pytest.fixture
def judges(db: Session, blobs: Blobs, owner: Actor) -> list[Actor]:
    """A trial of one arm with a pool, whose judges take a quiz first; nobody has."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [OPINIONATED])
    open_trial(db, blobs, owner, *WHERE)
    for one in writers(db, 2):
        enter(db, one, *WHERE)
        for _ in range(2):
            write(db, blobs, one)
    judging = get_trial(db, owner, *WHERE).judging
    assert judging is not None
    assert judging.quiz == Money(250, "USD")
    open_pool(db, owner, *WHERE)
    rows = [{"inputs": {"text": f"Text {number} is known to be fine."}, "label": "positive"} for number in range(5)]
    add_gold(db, owner, POOL, rows)
    assert make_quiz(db, owner, POOL) == "judge"
    return make_judges(db, 4)


def test_the_quiz_is_paid_once_and_stands_in_the_costs(
    db: Session, blobs: Blobs, owner: Actor, judges: list[Actor]
) -> None:
    """Whoever takes it gets 2.50, passed or not, and nothing for the second try; costs and report name it."""
    first = judges[0]
    assert get_quiz(db, first, "mood", "judge").pay == Money(250, "USD")
    with pytest.raises(Forbidden, match="quiz"):
        claim_page(db, first, POOL)
    right = [one.answer for one in get_quiz(db, owner, "mood", "judge").questions]
    wrong = [(one or 0) + 1 for one in right]
    assert not take_quiz(db, first, "mood", "judge", wrong).passed
    for one in judges:
        assert take_quiz(db, one, "mood", "judge", right).passed
        assert [(e.amount, e.what) for e in my_earnings(db, one)] == [(250, "Quiz mood/judge")]
    reader = make_person(db, "rita", RoleName.EXPERT)
    take_quiz(db, reader, "mood", "judge", right)
    assert my_earnings(db, reader) == []  # not a worker of the task
    judge_all(db, judges, lambda inputs: "neutral", ref=POOL)
    spent = trial_costs(db, owner, *WHERE).judging
    assert spent.quizzes == Money(1000, "USD")
    assert spent.pages.amount > 0
    assert spent.total.amount == spent.pages.amount + spent.bonuses.amount + 1000
    costs = cost_report(db, owner, "mood")
    besides = costs.groups[-1]
    assert (besides.name, besides.texts, besides.total) == ("mood", 0, spent.total)
    assert costs.total.amount == sum(one.total.amount for one in costs.groups)
    assert not ledger.check(db, OPERATOR).discrepancies
    told = {one.key: one for one in report(db, blobs, owner, *WHERE).sections}
    assert [row[1] for row in told["costs"].tables[1].rows][2:] == ["10.00 USD", str(spent.total)]
    assert "without the writer’s" in str(told["results"].tables[0].note)
    assert told["costs"].tables[0].rows[0][2] == 1.0  # a question still costs what its session pays


def test_a_cap_pauses_a_quiz_that_pays(db: Session, owner: Actor, judges: list[Actor]) -> None:
    """Nobody takes it for nothing: it waits until there is money again."""
    save_policy(db, owner, "mood", {"currency": "USD", "project_cap": 100})
    with pytest.raises(Conflict, match="New work pauses"):
        take_quiz(db, judges[0], "mood", "judge", [0] * 5)
    assert my_earnings(db, judges[0]) == []


def test_caps_in_another_currency_are_refused(db: Session, blobs: Blobs, owner: Actor) -> None:
    """They would hold nothing back; the trial stays a draft until they agree."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [PLAIN])
    save_policy(db, owner, "mood", {"currency": "EUR", "project_cap": 100_000})
    with pytest.raises(Conflict, match="pay in USD, and what is promised and capped for the task is in EUR"):
        open_trial(db, blobs, owner, *WHERE)
    assert get_trial(db, owner, *WHERE).state == "draft"
    save_policy(db, owner, "mood", {"currency": "USD", "project_cap": 100_000})
    assert open_trial(db, blobs, owner, *WHERE).state == "open"
