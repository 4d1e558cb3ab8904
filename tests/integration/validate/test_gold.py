"""Gold items: mixed in within limits, bonus and end of the qualification, and the entry quiz."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import item_files, items
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console import status as validation_status
from quintain.services.validate.judging import adjudicate, claim_page, submit_page
from quintain.services.validate.judging.submit_page import Answer
from quintain.services.validate.quality import gold, gold_list, gold_quiz, judges, unqualify, validation_figures
from quintain.services.validate.quality.gold_list import GoldQuery
from quintain.services.validate.quality.review import review
from quintain.services.work import quizzes
from quintain.store.tables import Earning, Judgement, Offer, ValidationItem
from tests.exported import export_person
from tests.validation_support import LABELS, REF, answer_page, judge_all, make_ground, make_judges, truth


def add(db: Session, owner: Actor, count: int) -> int:
    """Add gold items."""
    rows = [
        {"inputs": {"text": f"gold {n} feels {LABELS[n % 3]}"}, "label": LABELS[n % 3], "note": "it says so"}
        for n in range(count)
    ]
    return gold.add_gold(db, owner, REF, rows)


def wrong_on_gold(inputs: dict[str, Any]) -> str:
    """Say the truth, except on gold items."""
    return "mixed" if inputs["text"].startswith("gold") else truth(inputs)


@pytest.mark.both_databases
def test_one_item_in_ten_is_gold_and_looks_like_the_others(db: Session, owner: Actor) -> None:
    """Pages keep their size; gold items take no slots and do not count as votes."""
    make_ground(db, owner, 60)
    assert add(db, owner, 30) == 30
    assert add(db, owner, 30) == 0
    (actor,) = make_judges(db, 1)
    for _ in range(4):
        page = claim_page.claim_page(db, actor, REF)
        assert page is not None
        assert len(page.items) == 10
        assert sum(item.inputs["text"].startswith("gold") for item in page.items) == 1
        assert not hasattr(claim_page.page_record(page).items[0], "gold")
        answer_page(db, actor, page)
    (row,) = judges.judge_table(db, owner, REF)
    assert (row["judgements"], row["gold_seen"], row["gold"]["value"]) == (36, 4, 1.0)


@pytest.mark.both_databases
def test_exposure_is_limited_per_item_and_per_person(db: Session, owner: Actor) -> None:
    """An item is shown at most twice, a person sees at most one; the least shown come first."""
    make_ground(db, owner, 60, "[gold]\nrate = 0.5\nexposures = 2\nper_worker = 1")
    add(db, owner, 2)
    people = make_judges(db, 6)
    judge_all(db, people)
    shown = select(Offer.user_id, Offer.item_id).where(Offer.slot_id.is_(None))
    pairs = db.execute(shown).all()
    assert len(pairs) <= 4 + 6
    listed = gold_list.list_gold(db, owner, REF).gold
    assert all(item.shown >= 1 for item in listed)
    assert all(item.shown == item.answered == item.right for item in listed)


@pytest.mark.both_databases
def test_gold_items_are_listed_a_page_at_a_time_the_worst_first(db: Session, owner: Actor) -> None:
    """They are filtered, sorted and paged alike whatever asks; what nobody answered comes last either way."""
    make_ground(db, owner, 10, "judgements = 2\nminimum = 2\n[gold]\nrate = 0.4\nafter = 9")
    add(db, owner, 6)
    for actor, choose in zip(make_judges(db, 2), (wrong_on_gold, truth), strict=True):
        page = claim_page.claim_page(db, actor, REF)
        assert page is not None
        answer_page(db, actor, page, choose)
    everything = gold_list.list_gold(db, owner, REF).gold
    shares = {one.id: one.accuracy.value for one in everything}
    for down in (False, True):
        wanted = [GoldQuery(order="accuracy", down=down, offset=offset, limit=2) for offset in (0, 2, 4)]
        paged = [one.id for asked in wanted for one in gold_list.list_gold(db, owner, REF, asked).gold]
        there = sorted((share for share in shares.values() if share is not None), reverse=down)
        assert [shares[one] for one in paged] == [*there, *[None] * (6 - len(there))]
        assert set(paged) == set(shares)
    shown = [one.shown for one in gold_list.list_gold(db, owner, REF, GoldQuery(order="shown", down=True)).gold]
    assert shown == sorted(shown, reverse=True)
    assert sum(shown) == sum(one.answered for one in everything) > 0
    gold.retire_gold(db, owner, REF, everything[1].id)
    retired = gold_list.list_gold(db, owner, REF, GoldQuery("retired"))
    assert ([one.id for one in retired.gold], retired.total) == ([everything[1].id], 1)
    assert dict(retired.use) == {"used": 5, "retired": 1}
    found = gold_list.list_gold(db, owner, REF, GoldQuery(text="GOLD 3 feels", limit=1, offset=7))
    assert ([one.inputs["text"][:6] for one in found.gold], found.total) == (["gold 3"], 1)
    assert len(items.list_items(db, owner, REF).items) == items.list_items(db, owner, REF).total == 10
    for wrong, said in ((GoldQuery("lost"), "not 'lost'"), (GoldQuery(order="luck"), "ordered by 'luck'")):
        with pytest.raises(BadInput, match=said):
            gold_list.list_gold(db, owner, REF, wrong)


@pytest.mark.both_databases
def test_doing_badly_on_gold_ends_the_qualification_and_doing_well_earns_a_bonus(db: Session, owner: Actor) -> None:
    """Below half of at least four control items, no more pages; three of four right earn the bonus, once."""
    policy = "judgements = 2\nminimum = 2\n[gold]\nrate = 0.4\nafter = 4\nbonus = 50\n[reward]\namount = 10"
    make_ground(db, owner, 40, policy)
    add(db, owner, 20)
    bad, good = make_judges(db, 2)
    page = claim_page.claim_page(db, bad, REF)
    assert page is not None
    receipt = answer_page(db, bad, page, wrong_on_gold)
    assert not receipt.qualified
    assert receipt.feedback == "0 of 4 control items were right; 50% is needed"
    with pytest.raises(Forbidden, match="control items"):
        claim_page.claim_page(db, bad, REF)
    fine = claim_page.claim_page(db, good, REF)
    assert fine is not None
    assert answer_page(db, good, fine).qualified
    bonuses = db.execute(select(Earning.user_id, Earning.amount).where(Earning.kind == "bonus")).all()
    assert bonuses == [(good.user_id, 50)]
    base = select(func.sum(Earning.amount)).where(Earning.kind == "base", Earning.user_id == bad.user_id)
    assert db.scalar(base) == 10
    assert db.scalar(select(func.count()).select_from(Judgement).where(Judgement.user_id == bad.user_id)) == 10


def test_who_is_qualified_again_begins_anew_on_gold(db: Session, owner: Actor) -> None:
    """What the owner has forgiven ends the qualification neither at the next gold item nor at the next review."""
    make_ground(db, owner, 60, "judgements = 2\nminimum = 2\n[gold]\nrate = 0.4\nafter = 4\nbelow = 0.6")
    add(db, owner, 20)
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    assert not answer_page(db, actor, page, wrong_on_gold).qualified
    unqualify.requalify(db, owner, REF, actor.name, reason="a misunderstanding", restore=True)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    assert answer_page(db, actor, page).qualified
    found = review(db, owner, REF, apply=True)
    assert found is not None
    assert found.clean
    (row,) = judges.judge_table(db, owner, REF)
    assert (row["gold_seen"], row["gold"]["value"], row["qualified"]) == (4, 1.0, True)


def test_the_entry_quiz_is_five_gold_questions_of_which_three_must_be_right(db: Session, owner: Actor) -> None:
    """Without it there is no page; its questions are not shown on pages."""
    make_ground(db, owner, 10, "[quiz]\nname = 'judge'")
    with pytest.raises(Conflict, match="5 gold questions, and there are 0"):
        gold_quiz.make_quiz(db, owner, REF)
    add(db, owner, 5)
    assert gold_quiz.make_quiz(db, owner, REF) == "judge"
    (actor,) = make_judges(db, 1)
    with pytest.raises(Forbidden, match="quiz"):
        claim_page.claim_page(db, actor, REF)
    asked = quizzes.get_quiz(db, owner, "mood", "judge")
    assert (len(asked.questions), asked.right) == (5, 3)
    assert asked.questions[0].options == ("negative", "neutral", "positive", "mixed")
    right = [question.answer or 0 for question in asked.questions]
    quizzes.take_quiz(db, actor, "mood", "judge", [*right[:3], 3, 3])
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    assert not any(item.inputs["text"].startswith("gold") for item in page.items)


def test_what_the_quiz_explained_is_no_gold_item_any_more(db: Session, owner: Actor) -> None:
    """It comes back in no validation of the task: not by restoring it, nor by adding it to another round."""
    make_ground(db, owner, 10)
    make_ground(db, owner, 10, ref="mood/other")
    add(db, owner, 7)
    rows = [{"inputs": {"text": "gold 5 feels positive"}, "label": "positive"}]
    rows += [{"inputs": {"text": f"gold {n} feels {LABELS[n % 3]}"}, "label": LABELS[n % 3]} for n in range(2)]
    gold.add_gold(db, owner, "mood/other", rows[1:2])
    gold_quiz.make_quiz(db, owner, REF)
    assert gold.add_gold(db, owner, "mood/other", rows) == 2
    listed = {one.inputs["text"]: one for one in gold_list.list_gold(db, owner, "mood/other").gold}
    asked = {text: (one.retired, one.quiz) for text, one in listed.items()}
    assert asked == {
        "gold 0 feels negative": (True, "judge"),
        "gold 1 feels neutral": (True, "judge"),
        "gold 5 feels positive": (False, ""),
    }
    first = gold_list.list_gold(db, owner, REF).gold[0]
    for ref, item in ((REF, first.id), ("mood/other", listed["gold 0 feels negative"].id)):
        with pytest.raises(Conflict, match="The quiz 'judge' asks about gold item"):
            gold.restore_gold(db, owner, ref, item)
    assert gold_list.list_gold(db, owner, REF).gold[0].retired


def test_gold_items_are_checked_and_can_be_retired(db: Session, owner: Actor) -> None:
    """A label outside the set is named with its row; a retired item is shown no more."""
    make_ground(db, owner, 10)
    with pytest.raises(BadInput, match="row 1, field 'label': label 'sad' is not one of"):
        gold.add_gold(db, owner, REF, [{"inputs": {"text": "oh"}, "label": "sad"}])
    with pytest.raises(BadInput, match="no inputs"):
        gold.add_gold(db, owner, REF, [{"label": "neutral"}])
    add(db, owner, 1)
    item = db.scalar(select(ValidationItem.id).where(ValidationItem.gold.is_not(None)))
    assert item is not None
    gold.retire_gold(db, owner, REF, item)
    assert gold_list.list_gold(db, owner, REF).gold[0].retired
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    assert not any(one.inputs["text"].startswith("gold") for one in page.items)
    with pytest.raises(NotFound, match="no gold item"):
        gold.retire_gold(db, owner, REF, 10**6)


def test_a_retired_gold_item_comes_back(db: Session, owner: Actor) -> None:
    """Retiring is taken back; the accuracy of an item comes with its interval."""
    make_ground(db, owner, 10)
    add(db, owner, 1)
    (one,) = gold_list.list_gold(db, owner, REF).gold
    assert one.accuracy.value is None
    gold.retire_gold(db, owner, REF, one.id)
    gold.restore_gold(db, owner, REF, one.id)
    judge_all(db, make_judges(db, 5), wrong_on_gold)
    (one,) = gold_list.list_gold(db, owner, REF).gold
    assert not one.retired
    assert (one.answered, one.right, one.accuracy.value) == (5, 0, 0.0)
    assert one.accuracy.high is not None
    assert 0.3 < one.accuracy.high < 0.5


@pytest.mark.both_databases
def test_a_finished_item_becomes_gold_and_nobody_sees_it_twice(db: Session, owner: Actor) -> None:
    """Who judged it or wrote it is not shown it as gold; it keeps its label, and unqualifying asks for it no more."""
    make_ground(db, owner, 10, "automatic = false\n[gold]\nrate = 0.1")
    first = make_judges(db, 5)
    with pytest.raises(NotFound, match="no item"):
        gold.gold_from_item(db, owner, REF, 10**6)
    item = db.scalars(select(ValidationItem).order_by(ValidationItem.id)).first()
    assert item is not None
    with pytest.raises(Conflict, match="no label yet"):
        gold.gold_from_item(db, owner, REF, item.id)
    judge_all(db, first)
    assert gold.gold_from_item(db, owner, REF, item.id) == truth(item.inputs)
    with pytest.raises(Conflict, match="already"):
        gold.gold_from_item(db, owner, REF, item.id)
    assert validation_status.status(db, owner, REF)["progress"]["items"] == 10
    opened = unqualify.unqualify(db, owner, REF, [first[0].name], reason="a test").opened
    assert opened == 9, "the item that is gold now is not asked for again"
    later = make_judges(db, 1, "later")
    page = claim_page.claim_page(db, later[0], REF)
    assert page is not None
    texts = [one.inputs["text"] for one in page.items]
    assert len(texts) == len(set(texts)) == 10
    assert item.inputs["text"] in texts
    page = claim_page.claim_page(db, first[1], REF)
    assert page is None, "everything was seen by those who judged first, the gold item too"
    status = validation_status.status(db, owner, REF)
    assert status["progress"]["labelled"] == 1, "the others wait for a fifth judgement"


@pytest.mark.both_databases
def test_an_item_that_is_asked_for_again_has_no_label_for_gold(
    db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A label as it was counted last counts only while nobody is asked anew; nothing is counted to find it out."""
    make_ground(db, owner, 10, "automatic = false")
    people = make_judges(db, 5)
    judge_all(db, people)
    validation_status.status(db, owner, REF)  # which counts
    item = db.scalars(select(ValidationItem).order_by(ValidationItem.id)).first()
    assert item is not None
    monkeypatch.setattr(
        validation_figures, "VALIDATION", replace(validation_figures.VALIDATION, at_once=0)
    )  # as where there are many
    unqualify.unqualify(db, owner, REF, [people[0].name], reason="a test")
    with pytest.raises(Conflict, match="no label yet"):
        gold.gold_from_item(db, owner, REF, item.id)
    adjudicate.adjudicate(db, owner, REF, item.id, "mixed")
    assert gold.gold_from_item(db, owner, REF, item.id) == "mixed"


def test_nothing_that_judges_can_ask_for_tells_gold_items_from_others(db: Session, owner: Actor) -> None:
    """The lease counts every item that is not answered, and what is kept about a judge does not say what has a slot."""
    make_ground(db, owner, 30, "[gold]\nrate = 0.4")
    add(db, owner, 20)
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    assert claim_page.extend_page(db, actor, page.token).held == 10
    ordered = sorted(page.items, key=lambda item: item.inputs["text"].startswith("gold"))
    for place, item in enumerate(ordered, 1):  # the gold items last
        submit_page.submit_page(db, actor, page.token, [Answer(item.id, truth(item.inputs))], finish=False)
        if place < 10:
            assert claim_page.extend_page(db, actor, page.token).held == 10 - place
    assert sum(item.inputs["text"].startswith("gold") for item in page.items) == 4
    with zipfile.ZipFile(io.BytesIO(export_person(db, actor))) as bundle:
        offers = json.loads(bundle.read("judging_offers.json"))
    assert len(offers) == 10
    assert all(set(row) == {"id", "page_id", "position", "user_id"} for row in offers)


@pytest.mark.both_databases
def test_an_item_that_an_expert_decided_early_is_asked_for_no_more_once_it_is_gold(db: Session, owner: Actor) -> None:
    """Its open slots go, and an answer on the way opens none, so that nobody meets the item and its gold copy."""
    adaptive = "minimum = 2\n[adaptive]\nthreshold = 0.99\nleast = 2\naccuracy = 0.8\n"
    make_ground(db, owner, 10, adaptive + "[gold]\nrate = 0.5")
    one, slow, later = make_judges(db, 3)
    page = claim_page.claim_page(db, one, REF)
    held = claim_page.claim_page(db, slow, REF)
    assert page is not None
    assert held is not None
    answer_page(db, one, page)
    item = db.scalars(select(ValidationItem).order_by(ValidationItem.id)).first()
    assert item is not None
    adjudicate.adjudicate(db, owner, REF, item.id, truth(item.inputs))
    gold.gold_from_item(db, owner, REF, item.id)
    answer_page(db, slow, held, lambda inputs: "mixed")
    seen: list[str] = []
    while (page := claim_page.claim_page(db, later, REF)) is not None:
        seen += [one.inputs["text"] for one in page.items]
        answer_page(db, later, page)
    assert seen.count(item.inputs["text"]) == 1
    assert len(seen) == 10


FILES = {
    "bom.csv": "\ufefftext,label,note\nso good,positive,plain\nso bad,negative,\n",
    "rows.jsonl": '{"text": "so good", "label": "positive"}\n{"text": "so bad", "label": "negative"}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_gold_comes_from_files(db: Session, owner: Actor, tmp_path: Path, name: str) -> None:
    """CSV with a byte-order mark and JSONL are read alike; the same file again adds nothing."""
    make_ground(db, owner, 3)
    path = tmp_path / name
    path.write_text(FILES[name])
    assert item_files.add_gold_from_file(db, owner, REF, path) == 2
    assert item_files.add_gold_from_file(db, owner, REF, path) == 0
    assert {one.label for one in gold_list.list_gold(db, owner, REF).gold} == {"positive", "negative"}


def test_faults_of_files_name_the_row_that_a_person_finds(db: Session, owner: Actor, tmp_path: Path) -> None:
    """The first row after the header of a CSV is row 2; that of JSONL is row 1; a contradiction is named."""
    make_ground(db, owner, 3)
    path = tmp_path / "gold.csv"
    path.write_text("text,label\nso good,sad\n,positive\n")
    with pytest.raises(BadInput, match=r"gold\.csv, row 3, field 'text'"):
        item_files.add_gold_from_file(db, owner, REF, path)
    path.write_text("text,label\nso good,sad\n")
    with pytest.raises(BadInput, match=r"gold\.csv, row 2, field 'label': label 'sad' is not one of"):
        item_files.add_gold_from_file(db, owner, REF, path)
    path.write_text("text,label\nso good,positive\nso good,negative\n")
    with pytest.raises(BadInput, match=r"row 3, field 'label': the same item has another label"):
        item_files.add_gold_from_file(db, owner, REF, path)
    lines = tmp_path / "items.jsonl"
    lines.write_text('{"text": ""}\n{"text": "fine"}\n')
    with pytest.raises(BadInput, match=r"items\.jsonl, row 1, field 'text'"):
        item_files.add_items_from_file(db, owner, REF, lines)


def test_answers_to_judge_come_from_files(db: Session, owner: Actor, tmp_path: Path) -> None:
    """Where judges judge answers, a table of items brings them, and so does gold."""
    tasks.put_task(db, owner, 'name = "reading"\nkind = "extractive-qa"\ntitle = "Reading"\n')
    validate.open_validation(db, owner, "reading/check", "[gold]\nrate = 0.5")
    path = tmp_path / "items.csv"
    path.write_text("passage,question\nAnn has a dog.,What barks?\n")
    with pytest.raises(BadInput, match="no column 'answer'"):
        item_files.add_items_from_file(db, owner, "reading/check", path)
    path.write_text("passage,question,answer\nAnn has a dog.,What barks?,a dog\nBob has a cat.,What purrs?,a cow\n")
    with pytest.raises(BadInput, match=r"row 3, field 'answer'"):
        item_files.add_items_from_file(db, owner, "reading/check", path)
    path.write_text("passage,question,answer\nAnn has a dog.,What barks?,a dog\n")
    assert item_files.add_items_from_file(db, owner, "reading/check", path).added == 1
    path.write_text("passage,question,answer,label\nBob has a cat.,What purrs?,a cat,right\n")
    assert item_files.add_gold_from_file(db, owner, "reading/check", path) == 1
