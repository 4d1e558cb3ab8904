"""A validation's policy chooses the method that makes its labels, and everything that rests on labels follows."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.task import Task
from quintain.core.validation import ValidationPolicy
from quintain.labels.contract import AGGREGATORS, make_aggregator
from quintain.labels.dawid_skene import DawidSkene
from quintain.services.access.links import make_link, redeem_link
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console.export import export_labels
from quintain.services.validate.console.item_rules import rules_of
from quintain.services.validate.console.status import status
from quintain.services.validate.judging.adjudicate import adjudication_queue_of
from quintain.services.validate.policy import dump_policy, parse_policy
from quintain.services.validate.quality import gold, label_methods, vmer
from quintain.services.validate.quality.final_labels import final_labels
from quintain.services.validate.quality.judge_figures import evidence_of, gather
from quintain.store.queries.validate.judgements import JudgementTable
from quintain.store.tables import ValidationItem
from tests.people import make_person
from tests.validation_support import LABELS, REF, TASK, judge_all, make_ground, make_judges, text_of, truth
from tests.web_support import PASSWORD, browser_of

Rule = Callable[[dict[str, Any]], str]


def careless(seed: int) -> Rule:
    """Make a judge who says anything."""
    return lambda inputs: random.Random(f"{seed}, {inputs['text']}").choice(LABELS)  # noqa: S311 - no secret


def judged(db: Session, owner: Actor, policy: str, items: int = 60) -> None:
    """Let two judges who are always right and three who guess judge: often there is no majority."""
    make_ground(db, owner, items=items, policy=f"judgements = 5\nminimum = 3\n{policy}\n[gold]\nrate = 0")
    judge_all(db, make_judges(db, 5), [truth, truth, *(careless(seed) for seed in range(3))])


def wrong(db: Session, owner: Actor, folder: Path) -> set[str]:
    """Export the labels, and give the texts whose label is not the true one."""
    export_labels(db, owner, REF, folder / "labels.csv")
    table = pl.read_csv(folder / "labels.csv")
    return {row["text"] for row in table.iter_rows(named=True) if row["label"] != row["text"].rsplit(" ", 1)[-1]}


def test_a_model_of_the_judges_finds_what_the_majority_misses(db: Session, owner: Actor, tmp_path: Path) -> None:
    """Status, export and labels follow the policy's method, which is the one of `labels aggregate`."""
    judged(db, owner, 'method = "one-coin"')
    ground = validate.find_validation(db, REF)
    final = final_labels(db, ground)
    plain = make_aggregator("one-coin").aggregate(gather(db, ground).counted, seed=ground.seed)
    assert final.label.tolist() == plain.label.tolist()
    assert final.confidence.tolist() == plain.confidence.tolist()
    found = status(db, owner, REF)
    assert found["method"] == "one-coin"
    assert (found["progress"]["labelled"], wrong(db, owner, tmp_path)) == (60, set())
    validate.set_policy(db, owner, REF, 'method = "majority"\n[gold]\nrate = 0')
    assert status(db, owner, REF)["method"] == "majority"
    assert len(wrong(db, owner, tmp_path)) > 10


def test_experts_are_asked_where_the_method_is_unsure(db: Session, owner: Actor) -> None:
    """The queue of contested items goes by the method's confidence, not by votes alone."""
    judged(db, owner, "")
    assert len(adjudication_queue_of(db, owner, REF)) > 20
    validate.set_policy(db, owner, REF, 'method = "one-coin"\n[gold]\nrate = 0')
    final = final_labels(db, validate.find_validation(db, REF))
    assert len(adjudication_queue_of(db, owner, REF)) == int((final.confidence < 0.75).sum()) < 5


def test_a_method_runs_once_for_each_change(db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often labels are asked for, and by whichever service, a model is fitted once until something changes."""
    runs: list[int] = []
    fit = DawidSkene.run

    def counted(self: DawidSkene, *given: Any) -> Any:
        runs.append(1)
        return fit(self, *given)

    monkeypatch.setattr(DawidSkene, "run", counted)
    judged(db, owner, 'method = "dawid-skene"', items=12)
    label_methods._aggregate.cache_clear()
    runs.clear()
    for _ in range(3):
        status(db, owner, REF)
        adjudication_queue_of(db, owner, REF)
        vmer.error_rates(db, owner, REF)
    assert len(runs) == 1
    validate.add_items(db, owner, REF, [{"inputs": {"text": text_of(12)}}])
    judge_all(db, make_judges(db, 1, name="late"))
    runs.clear()
    for _ in range(2):
        status(db, owner, REF)
    assert len(runs) == 1


def test_votes_weigh_by_what_judges_did_on_gold_items(db: Session, owner: Actor, tmp_path: Path) -> None:
    """`gold-weighted` learns from the validation's own gold items; before any was answered, nothing has a label."""
    policy = 'judgements = 5\nminimum = 3\nautomatic = false\nmethod = "gold-weighted"\n[gold]\nrate = 0.4\nbelow = 0'
    make_ground(db, owner, items=60, policy=policy)
    judges = make_judges(db, 5)
    assert status(db, owner, REF)["progress"]["labelled"] == 0
    rows = [{"inputs": {"text": text_of(number)}, "label": LABELS[number % 3]} for number in range(100, 130)]
    gold.add_gold(db, owner, REF, rows)
    judge_all(db, judges, [truth, truth, *(careless(seed) for seed in range(3))])
    assert status(db, owner, REF)["progress"]["labelled"] == 60
    assert wrong(db, owner, tmp_path) == set()


def test_a_label_that_only_gold_items_have_is_given_to_nothing(db: Session, owner: Actor) -> None:
    """Where all judges fail on gold items, no vote weighs anything, and no item gets a label that nobody chose."""
    ground = make_ground(db, owner, items=1, policy='minimum = 1\nmethod = "gold-weighted"')
    ground = replace(ground, task=Task("quiz", "multiple-choice", {"en": "Quiz"}))
    numbers = np.arange(1, 41)
    table = JudgementTable(
        id=numbers,
        item=numbers,
        user=np.ones(40, dtype=np.int64),
        label=np.array(["0", "1"] * 20, dtype=object),
        gold=np.array(["", "3"] * 20, dtype=object),
        late=np.zeros(40, dtype=bool),
        seconds=np.ones(40),
    )
    evidence = evidence_of(table, {}, ())
    rules = rules_of(db, ground, evidence.items, evidence.counted.classes)
    made = label_methods.label_items(ground, evidence, evidence.counted, rules)
    assert evidence.counted.classes == ("0", "1")
    assert len(made.label) == 20
    assert made.label.max() <= 1
    assert (made.label == -1).any()


def test_a_policy_names_a_method_that_is_there_and_suits_the_task(db: Session, owner: Actor) -> None:
    """A method that nobody knows, or that can do nothing with the task's labels, is refused by name."""
    assert parse_policy("").method == ValidationPolicy().method == "majority"
    for name in AGGREGATORS.names():
        policy = parse_policy(f'method = "{name}"')
        assert parse_policy(dump_policy(policy)) == policy
    with pytest.raises(BadInput, match="one of dawid-skene, dawid-skene-early, distribution"):
        parse_policy('method = "loudest"')
    make_ground(db, owner, items=1, policy='method = "mixed-as-two"')
    two = TASK.replace('"mood"', '"plain"').partition("[[extra_labels]]")[0]
    tasks.put_task(db, owner, two)
    with pytest.raises(BadInput, match="does not suit the labels negative, neutral, positive"):
        validate.open_validation(db, owner, "plain/check", 'method = "mixed-as-two"')


def test_the_writers_vote_counts_where_the_policy_says_so(db: Session, owner: Actor) -> None:
    """Two judgements that differ are decided by the writer; an item that nobody wrote has no third vote."""
    writer = make_person(db, "wanda", RoleName.WORKER)
    tasks.put_task(db, owner, TASK)
    validate.open_validation(db, owner, REF, 'judgements = 2\nminimum = 2\nmethod = "writer-vote"\n[gold]\nrate = 0')
    validate.add_items(db, owner, REF, [{"inputs": {"text": text_of(number)}} for number in range(2)])
    written = db.scalars(select(ValidationItem).order_by(ValidationItem.id)).first()
    assert written is not None
    written.author_id, written.aim = writer.user_id, "positive"
    db.commit()
    judge_all(db, make_judges(db, 2), [lambda inputs: "positive", lambda inputs: "negative"])
    assert final_labels(db, validate.find_validation(db, REF)).names() == ["positive", None]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_page_says_which_method_made_the_labels(workspace: Workspace, db: Session, owner: Actor) -> None:
    """The owner's console names the method beside the number of labels."""
    judged(db, owner, 'method = "dawid-skene"', items=3)
    redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    page = browser_of(workspace, "olga").get("/tasks/mood/validation/check").text
    assert "labels made by</dt><dd>dawid-skene" in page
