"""Knowing the judges: agreement with the others, rules, unqualifying, requalifying, and the final five."""

from __future__ import annotations

from collections import Counter
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import Actor, RoleName
from quintain.core.records.validate import Batch
from quintain.core.validation import UnqualifyRule
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import audit_trail
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console import status as validation_status
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.judging import claim_page
from quintain.services.validate.quality import judge_figures, judges, unqualify
from quintain.services.validate.quality.final_labels import final_labels
from quintain.services.validate.quality.review import review, review_new
from quintain.services.work import qualify
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.tables import AuditEntry, Earning, Judgement, Notification, Qualification, Slot
from tests.refusals import refusal
from tests.validation_support import LABELS, REF, TASK, answer_page, judge_all, make_ground, make_judges, text_of, truth

ASK = "automatic = false\n"
PAPER = UnqualifyRule("disagreement", 0.8)
THREE = TASK.split("[[extra_labels]]")[0].replace('"mood"', '"tone"')


def contrary(inputs: dict[str, Any]) -> str:
    """Never say what is true."""
    return "mixed"


def settled(db: Session, owner: Actor, policy: str = ASK) -> list[Actor]:
    """Let five honest judges and one contrary one judge thirty items."""
    make_ground(db, owner, 30, policy)
    people = make_judges(db, 6)
    judge_all(db, people, [contrary, truth, truth, truth, truth, truth])
    return people


@pytest.mark.both_databases
def test_agreement_is_with_the_majority_of_the_others(db: Session, owner: Actor) -> None:
    """The contrary judge agrees never, the others always; the table says so with intervals."""
    settled(db, owner)
    rows = {row["worker"]: row for row in judges.judge_table(db, owner, REF)}
    assert rows["judge0"]["agreement"]["value"] == 0
    assert rows["judge0"]["accuracy"]["value"] < 0.3
    assert "same_key" in rows["judge0"]["patterns"]
    honest = rows["judge3"]
    assert honest["agreement"]["value"] == 1
    assert honest["agreement"]["low"] < 1 == honest["agreement"]["high"]
    assert honest["patterns"] == []
    assert honest["median_seconds"] is not None


def test_pages_that_were_handed_in_are_completed_tasks(db: Session, owner: Actor) -> None:
    """The rule `completed` counts judging as well as writing."""
    people = settled(db, owner)
    rules = [{"rule": "completed", "at_least": 1}, {"rule": "completed", "at_least": 100}]
    assert people[0].user_id is not None
    assert [one.ok for one in qualify.eligibility(db, people[0].user_id, rules, task="mood")] == [True, False]


def test_a_preview_names_whom_a_rule_would_catch_and_changes_nothing(db: Session, owner: Actor) -> None:
    """The preview has the rule's power against random clickers; workers may not look."""
    people = settled(db, owner)
    found = unqualify.try_rule(db, owner, REF, PAPER)
    assert found.workers == ["judge0"]
    assert found.judgements > 0
    assert found.power[-1].judgements == 100
    assert found.power[-1].clicker < 0.3
    assert found.judgements_needed is None
    assert not db.scalars(select(Qualification)).all()
    with pytest.raises(Forbidden):
        unqualify.try_rule(db, people[1], REF, PAPER)


@pytest.mark.both_databases
def test_unqualifying_sets_aside_reopens_and_pays(db: Session, owner: Actor) -> None:
    """Nothing is deleted or unpaid; the slots are filled by others; the judge is told and gets no more pages."""
    people = settled(db, owner, ASK + "[reward]\namount = 25")
    paid = sum(db.scalars(select(Earning.amount)))
    done = unqualify.apply_rule(db, owner, REF, PAPER)
    ground = find_validation(db, REF)
    mine = select(Judgement.id).where(Judgement.user_id == people[0].user_id)
    assert done.unqualified == done.workers == ["judge0"]
    assert done.opened == len(db.scalars(mine).all()) > 0
    assert slot_queries.counts(db, ground.id)["open"] == done.opened
    assert sum(db.scalars(select(Earning.amount))) == paid
    with pytest.raises(Forbidden, match="disagreed with the majority of the others on more than 80%"):
        claim_page.claim_page(db, people[0], REF)
    assert any("no longer judge" in row.text for row in db.scalars(select(Notification)))
    judge_all(db, [*people[1:], *make_judges(db, 2, "fresh")])
    final = final_labels(db, ground)
    assert final.votes.sum(axis=1).tolist() == [5] * 30
    assert "mixed" not in final.names()
    filled = set(db.scalars(select(Slot.judgement_id)))
    assert not filled & set(db.scalars(mine))
    assert unqualify.try_rule(db, owner, REF, PAPER).workers == []
    actions = [row.action for row in db.scalars(select(AuditEntry))]
    assert actions.count("judge.unqualify") == 1


@pytest.mark.both_databases
def test_figures_of_an_unqualified_judge_rest_on_what_they_did(db: Session, owner: Actor) -> None:
    """Setting everything aside leaves the figures for which somebody was unqualified, in table and history alike."""
    people = settled(db, owner)
    before = {one["worker"]: one for one in judges.judge_table(db, owner, REF)}["judge0"]
    unqualify.apply_rule(db, owner, REF, PAPER)
    after = {one["worker"]: one for one in judges.judge_table(db, owner, REF)}["judge0"]
    for name in ("judgements", "compared", "agreement", "accuracy"):
        assert after[name] == before[name]
    assert after["accuracy"].value < 0.3
    judge_all(db, [*people[1:], *make_judges(db, 2, "fresh")])
    review(db, owner, REF)
    history = judges.judge_history(db, owner, REF, "judge0")["reviews"]
    table = {one["worker"]: one for one in judges.judge_table(db, owner, REF)}
    assert history[-1]["accuracy"] == pytest.approx(table["judge0"]["accuracy"].value)
    assert table["judge0"]["accuracy"].value < 0.3
    assert table["judge1"]["accuracy"].value > 0.8


def test_answers_on_the_way_of_an_unqualified_judge_are_kept_but_do_not_count(db: Session, owner: Actor) -> None:
    """A page held while the qualification ends can still be handed in, and is paid."""
    make_ground(db, owner, 10, "judgements = 1\nminimum = 1\n[reward]\namount = 20")
    first, second = make_judges(db, 2)
    page = claim_page.claim_page(db, first, REF)
    assert page is not None
    unqualify.unqualify(db, owner, REF, ["judge0"], reason="clicks at random")
    receipt = answer_page(db, first, page)
    assert (receipt.judged, receipt.late, receipt.earned.amount) == (10, 10, 20)
    assert len(final_labels(db, find_validation(db, REF)).items) == 0
    again = claim_page.claim_page(db, second, REF)
    assert again is not None
    assert len(again.items) == 10


def test_a_qualification_given_elsewhere_leads_to_no_work_that_does_not_count(db: Session, owner: Actor) -> None:
    """What an unqualified judge does in a validation is set aside; pages wait until they are qualified again there."""
    make_ground(db, owner, 10)
    (actor,) = make_judges(db, 1)
    unqualify.unqualify(db, owner, REF, ["judge0"], reason="clicks at random")
    qualify.set_qualification(db, owner, "mood", "judge0", "judge", held=True)
    with refusal(Forbidden, "not_qualified"):
        claim_page.claim_page(db, actor, REF)
    unqualify.requalify(db, owner, REF, "judge0")
    assert claim_page.claim_page(db, actor, REF) is not None


@pytest.mark.both_databases
def test_what_owners_see_of_qualifications_is_what_is_enforced(db: Session, owner: Actor) -> None:
    """Unqualified in one validation, a judge takes pages of none; each says why, and whether the work there counts."""
    people = settled(db, owner)
    make_ground(db, owner, 30, ref="mood/other")
    judge_all(db, people, ref="mood/other")
    unqualify.unqualify(db, owner, REF, ["judge0"], reason="clicks at random")

    def seen(ref: str) -> tuple[bool, bool, str]:
        (row,) = [one for one in judges.judge_table(db, owner, ref) if one["worker"] == "judge0"]
        return row["qualified"], row["set_aside"], row["reason"]

    def may_judge(ref: str) -> bool:
        db.rollback()
        try:
            claim_page.require_judge(db, people[0], find_validation(db, ref))
        except Forbidden:
            return False
        return True

    assert seen(REF) == (False, True, "clicks at random")
    assert seen("mood/other") == (False, False, f"clicks at random ({REF})")
    assert not any(may_judge(ref) for ref in (REF, "mood/other"))
    assert final_labels(db, find_validation(db, "mood/other")).votes.sum(axis=1).min() == 5
    unqualify.requalify(db, owner, "mood/other", "judge0", reason="reads with care")
    assert (seen("mood/other"), may_judge("mood/other")) == ((True, False, ""), True)
    assert (seen(REF)[:2], may_judge(REF)) == ((False, True), False)
    assert judges.judge_history(db, owner, "mood/other", "judge0")["standings"] == []
    changes = judges.judge_history(db, owner, REF, "judge0")["qualifications"]
    assert [(one["held"], one["reason"]) for one in changes] == [
        (False, f"clicks at random ({REF})"),
        (True, "reads with care"),
    ]
    with pytest.raises(Conflict, match="already"):
        unqualify.requalify(db, owner, "mood/other", "judge0")
    qualify.set_qualification(db, owner, "mood", "judge1", "judge", held=False, reason="asked to stop")
    assert {row["worker"] for row in judges.judge_table(db, owner, REF) if not row["qualified"]} == {"judge0", "judge1"}


@pytest.mark.both_databases
def test_rules_run_after_every_batch_until_the_round_is_clean(db: Session, owner: Actor) -> None:
    """The last slot of a batch starts the review, which unqualifies; what it reopens is judged, and reviewed again."""
    make_ground(db, owner, 20, "batch_size = 20\n[[rules]]\nrule = 'wilson'\nlimit = 0.5")
    people = make_judges(db, 7)
    judge_all(db, people, [contrary, *[truth] * 6])
    history = validation_status.status(db, owner, REF)["agreement_by_review"]
    assert [entry["caught"] for entry in history] == [1, 0]
    assert history[0]["agreement"] < history[1]["agreement"] == 1
    found = judges.judge_history(db, owner, REF, "judge0")
    assert [one["qualified"] for one in found["standings"]] == [False]
    assert found["standings"][0]["rule"] == "wilson"
    assert len(found["reviews"]) == 2
    assert review_new(db, owner, REF) is None


def test_a_review_does_not_undo_what_an_owner_restored(db: Session, owner: Actor) -> None:
    """Judgements that an owner let count again are not held against the judge by the reviews that follow."""
    make_ground(db, owner, 20, "batch_size = 20\n[[rules]]\nrule = 'wilson'\nlimit = 0.5")
    judge_all(db, make_judges(db, 7), [contrary, *[truth] * 6])
    unqualify.requalify(db, owner, REF, "judge0", reason="an expert", restore=True)
    for _ in range(2):
        found = review(db, owner, REF, apply=True)
        assert found is not None
        assert found.clean
    assert judges.judge_history(db, owner, REF, "judge0")["standings"][-1]["qualified"]


def test_requalifying_lets_a_judge_work_again(db: Session, owner: Actor) -> None:
    """With *restore* the old judgements count again and fill what is still open; without, only new ones count."""
    people = settled(db, owner)
    before = len(judge_figures.gather(db, find_validation(db, REF)).counted)
    unqualify.unqualify(db, owner, REF, ["judge1"], reason="a mistake")
    assert len(judge_figures.gather(db, find_validation(db, REF)).counted) < before
    unqualify.requalify(db, owner, REF, "judge1", reason="sorry", restore=True)
    assert len(judge_figures.gather(db, find_validation(db, REF)).counted) == before
    assert "open" not in slot_queries.counts(db, find_validation(db, REF).id)
    unqualify.unqualify(db, owner, REF, ["judge1"], reason="again")
    unqualify.requalify(db, owner, REF, "judge1")
    assert len(judge_figures.gather(db, find_validation(db, REF)).counted) < before
    with pytest.raises(Conflict, match="qualified"):
        unqualify.requalify(db, owner, REF, "judge1")
    with pytest.raises(BadInput, match="Say why"):
        unqualify.unqualify(db, owner, REF, ["judge2"], reason=" ")
    assert len(judges.judge_history(db, people[1], REF, "judge1")["standings"]) == 4


@pytest.mark.both_databases
def test_the_final_data_keeps_the_best_ranked_judgements(db: Session, owner: Actor) -> None:
    """Of seven judgements (two of them late) five are kept, and none by the judge who agrees least."""
    settled(db, owner)
    ground = find_validation(db, REF)
    final = final_labels(db, ground)
    status = validation_status.status(db, owner, REF)
    assert status["progress"]["kept"] == int(final.kept.sum()) == 150
    assert status["labels"]["no majority"] == 0
    assert set(Counter(final.names()).values()) == {10}
    assert status["progress"]["items"] == status["progress"]["complete"] == 30
    assert status["agreement"]["krippendorff_alpha"]["value"] > 0.4
    assert sum(map(sum, status["confusion"]["rows"])) == 150
    assert status["forecast"]["judgements"] == 0
    assert status.batches == [Batch(1, 150, 150, done=True)]


def test_five_of_seven_judgements_are_kept_and_none_of_an_unqualified_judge(db: Session, owner: Actor) -> None:
    """Seven judged every item; the policy keeps five: those of the best-ranked, never of who was unqualified."""
    make_ground(db, owner, 30, "judgements = 7\nminimum = 4\npage_size = 30\nautomatic = false\n[gold]\nrate = 0")
    places = {f"judge{number}": number for number in range(7)}

    def sloppy(wrong: int) -> Any:
        return lambda inputs: "mixed" if int(inputs["text"].split()[1]) % 10 < wrong else truth(inputs)

    people = make_judges(db, 7)
    judge_all(db, people, [sloppy(wrong) for wrong in (0, 0, 0, 1, 2, 4, 9)])
    five = "judgements = 5\nminimum = 3\npage_size = 30\nautomatic = false\n[gold]\nrate = 0"
    validate.set_policy(db, owner, REF, five)
    assert kept_of(db, places) == [30, 30, 30, 30, 30, 0, 0], "the two who agree least are not needed"
    unqualify.unqualify(db, owner, REF, ["judge1"], reason="copies")
    assert kept_of(db, places) == [30, 0, 30, 30, 30, 30, 0]
    final = final_labels(db, find_validation(db, REF))
    assert set(final.votes.sum(axis=1).tolist()) == {5}
    assert len(db.scalars(select(Judgement)).all()) == 210, "all others stay in the record"


def kept_of(db: Session, places: dict[str, int]) -> list[int]:
    """Count the judgements that are kept, by judge."""
    evidence = judge_figures.gather(db, find_validation(db, REF))
    final = final_labels(db, find_validation(db, REF), evidence)
    names = people_names(db, evidence.users.tolist())
    found = [0] * len(places)
    for row in evidence.rows[final.kept]:
        found[places[names[int(evidence.table.user[row])]]] += 1
    return found


def test_the_preview_is_right_about_random_clickers_and_says_when_a_rule_is_weak(db: Session, owner: Actor) -> None:
    """On three labels the paper's rule catches few of ten clickers; the rule that the preview names catches them."""
    tasks.put_task(db, owner, THREE)
    validate.open_validation(db, owner, "tone/check", "page_size = 50\nautomatic = false\n[gold]\nrate = 0", seed=7)
    rows = [{"inputs": {"text": text_of(number)}} for number in range(500)]
    validate.add_items(db, owner, "tone/check", rows)
    chance = np.random.default_rng(3)
    people = make_judges(db, 50)
    for number, actor in enumerate(people):
        page = claim_page.claim_page(db, actor, "tone/check")
        assert page is not None
        answer_page(db, actor, page, truth if number % 5 else lambda inputs: str(chance.choice(LABELS)))
    weak = unqualify.try_rule(db, owner, "tone/check", UnqualifyRule("disagreement", 0.8, 10))
    assert weak.labels == 3
    assert weak.weak
    assert len(weak.workers) <= 3
    assert weak.power[-1].clicker < 0.01
    assert "agrees on 33% by chance" in weak.advice
    assert weak.better is not None
    strong = unqualify.try_rule(db, owner, "tone/check", weak.better)
    assert not strong.weak
    assert strong.advice == ""
    clickers = {actor.name for actor in people[::5]}
    assert len(clickers & set(strong.workers)) >= 9
    assert not set(strong.workers) - clickers


@pytest.mark.both_databases
def test_an_adaptive_policy_stops_when_a_label_is_sure(db: Session, owner: Actor) -> None:
    """Where judges agree, three judgements do, and the saving is reported; contested items get the cap."""
    policy = ASK + "minimum = 2\n[adaptive]\nthreshold = 0.97\nleast = 2\naccuracy = 0.8\n[gold]\nrate = 0"
    make_ground(db, owner, 12, policy)
    people = make_judges(db, 7)

    turns = cycle(["negative", "neutral", "positive", "mixed"])

    def quarrel(inputs: dict[str, Any]) -> str:
        return next(turns) if "item 3 " in inputs["text"] else truth(inputs)

    judge_all(db, people, quarrel)
    status = validation_status.status(db, owner, REF)
    progress = status["progress"]
    assert progress["complete"] == 12
    assert progress["judgements"] + progress["saved"] == progress["asked_without_adapting"] == 60
    given = Counter(db.scalars(select(Judgement.item_id)))
    assert sorted(given.values()) == [2] * 11 + [5]
    assert progress["saved"] == 11 * 3
    assert progress["saved_share"] == pytest.approx(33 / 60)


def test_experts_judge_too_but_readers_do_not(db: Session, owner: Actor) -> None:
    """Roles decide who may judge; the table of judges is the owner's."""
    make_ground(db, owner, 5)
    (worker,) = make_judges(db, 1)
    with pytest.raises(Forbidden):
        judges.judge_table(db, worker, REF)
    with pytest.raises(Forbidden):
        review(db, worker, REF)
    assert RoleName.WORKER in {grant.role for grant in worker.grants}


@pytest.mark.both_databases
def test_the_trail_has_what_was_done_to_a_validation_and_its_judges_in_order(db: Session, owner: Actor) -> None:
    """Both kinds are among each other, the newest first, as many as are wanted; none of other validations."""
    make_ground(db, owner, 10)
    (judge,) = make_judges(db, 1)
    validate.open_validation(db, owner, "mood/other")
    unqualify.unqualify(db, owner, "mood/other", [judge.name], reason="there")
    unqualify.unqualify(db, owner, REF, [judge.name], reason="here")
    validate.set_policy(db, owner, REF, "judgements = 3")
    unqualify.requalify(db, owner, REF, judge.name)
    done = [one.action for one in audit_trail.trail(db, owner, REF)]
    wanted = ["judge.requalify", "validation.policy", "judge.unqualify", "validation.items", "validation.open"]
    assert done == wanted
    assert [one.action for one in audit_trail.trail(db, owner, REF, limit=2)] == wanted[:2]
