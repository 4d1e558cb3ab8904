"""Error rates, aimed success, the writers' bonus, and the experts' decisions, on a round of attempts."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.hashing import ID_LENGTH
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.figures import Estimate
from quintain.services.access.links import make_link, redeem_link
from quintain.services.collect.writing import list_attempts
from quintain.services.validate.console import item_files
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console.intake import take_attempts
from quintain.services.validate.judging import adjudicate, claim_page, submit_page
from quintain.services.validate.quality import gold, gold_list, unqualify, vmer
from quintain.services.validate.quality.final_labels import final_labels
from quintain.services.validate.quality.review import review
from quintain.services.validate.quality.tallies import tally
from quintain.services.work import qualify
from quintain.store.database import transaction
from quintain.store.tables import Attempt, AttemptNote, Earning, ValidationItem
from tests.judged_rounds import REF, ROUND, attempt, make_round
from tests.people import make_person
from tests.validation_support import REF as CHECK
from tests.validation_support import answer_page, judge_all, make_ground, make_judges, truth
from tests.web_support import PASSWORD, browser_of

FOOLING = 'items = "fooling"\n'


@pytest.fixture
def writer(db: Session) -> Actor:
    """Somebody who wrote things."""
    return make_person(db, "wanda", RoleName.WORKER)


def five(writer: Actor) -> list[dict[str, Any]]:
    """Five attempts: two aimed successes, one error on another label, one where judges say mixed, one not fooling."""
    return [
        attempt(writer, "a feels positive", "positive", "negative"),
        attempt(writer, "b feels positive", "positive", "negative"),
        attempt(writer, "c feels neutral", "positive", "negative"),
        attempt(writer, "d feels mixed", "positive", "negative"),
        attempt(writer, "e feels positive", "positive", "positive"),
    ]


def test_there_is_no_rate_before_anything_is_validated(db: Session, owner: Actor, writer: Actor) -> None:
    """That no error was found says nothing while nobody has judged: no 0 % with whiskers, but the reason."""
    make_round(db, owner, five(writer), FOOLING)
    rates = vmer.error_rates(db, owner, REF)
    assert (rates["collected"], rates["validated"]) == (5, 0)
    for rate in (rates["vmer"], rates["aimed_success"], rates["models"][0]["vmer"], rates["workers"][0]["vmer"]):
        assert rate == Estimate(None, reason="no item has a validated label yet")


def test_vmer_and_aimed_success_are_as_the_design_defines_them(db: Session, owner: Actor, writer: Actor) -> None:
    """Errors over all that was collected, judged or not; an extra label is no error; intervals beside the values."""
    make_round(db, owner, five(writer), FOOLING)
    judge_all(db, make_judges(db, 5), ref=REF)
    rates = vmer.error_rates(db, owner, REF)
    assert (rates["collected"], rates["validated"], rates["errors"], rates["successes"]) == (5, 4, 3, 2)
    assert rates["vmer"]["value"] == pytest.approx(3 / 5)
    assert rates["vmer"]["low"] < 3 / 5 < rates["vmer"]["high"]
    assert rates["aimed_success"]["value"] == pytest.approx(2 / 5)
    assert [(one["model"], one["errors"]) for one in rates["models"]] == [("mood/m0", 3)]
    assert [(one["worker"], one["successes"]) for one in rates["workers"]] == [("wanda", 2)]
    assert [(one["label"], one["collected"]) for one in rates["labels"]] == [("positive", 5)]
    found = validate.find_validation(db, REF)
    assert tally(db, found, final_labels(db, found)).error_counts() == {
        "all": [5, 4, 3],
        "models": {"mood/m0": [5, 4, 3]},
    }


def test_what_did_not_fool_is_judged_too_or_a_sample_of_it(db: Session, owner: Actor, writer: Actor) -> None:
    """By default all that was written is judged; a share of what did not fool is drawn, the same one by every look."""
    fooled = [attempt(writer, f"f{at} feels positive", "positive", "negative", hash=f"{at:032x}") for at in range(20)]
    others = [
        attempt(
            writer, f"o{at} feels positive", "positive", "positive", hash=sha256(b"%d" % at).hexdigest()[:ID_LENGTH]
        )
        for at in range(200)
    ]
    make_round(db, owner, [*fooled, *others], "unfooled = 0.25")
    some = taken(db)
    assert sum(text.startswith("f") for text in some) == 20
    assert 30 <= sum(text.startswith("o") for text in some) <= 70
    validate.set_policy(db, owner, REF, "unfooled = 0.5")
    validate.open_validation(db, owner, REF)
    assert some < taken(db), "what a smaller share took, a larger one takes"
    validate.open_validation(db, owner, REF, "unfooled = 1.0")
    assert len(taken(db)) == 220


def taken(db: Session) -> set[str]:
    return {inputs["text"] for inputs in db.scalars(select(ValidationItem.inputs))}


def test_an_ensemble_errs_where_every_model_does(db: Session, owner: Actor, writer: Actor) -> None:
    """By model each is counted alone; harvested items have no aim, and no aimed success."""
    rows = [
        attempt(None, "a feels positive", "", "negative", "positive"),
        attempt(None, "b feels neutral", "", "x", "y"),
    ]
    make_round(db, owner, rows, 'items = "all"')
    judge_all(db, make_judges(db, 5), ref=REF)
    rates = vmer.error_rates(db, owner, REF)
    assert rates["vmer"]["value"] == 0.5
    assert rates["aimed_success"] is None
    assert [one["errors"] for one in rates["models"]] == [2, 1]
    assert {one["label"] for one in rates["labels"]} == {"negative", "x"}


@pytest.mark.parametrize("ref", ["mood/check", REF])
def test_a_harvest_has_an_error_rate(db: Session, owner: Actor, tmp_path: Path, ref: str) -> None:
    """What the model said comes along in the file, also into the validation of a round; nobody aimed."""
    make_round(db, owner, [])
    validate.open_validation(db, owner, ref, "[gold]\nrate = 0")
    path = tmp_path / "sample.csv"
    rows = ["a feels positive,negative", "b feels neutral,neutral", "c feels negative,positive", "d feels positive,"]
    path.write_text("\n".join(["text,predicted,model", *(f"{row},mood/m@1" for row in rows)]))
    assert item_files.add_items_from_file(db, owner, ref, path).added == 4
    judge_all(db, make_judges(db, 5), ref=ref)
    rates = vmer.error_rates(db, owner, ref)
    assert (rates["collected"], rates["errors"], rates["aimed_success"]) == (4, 2, None)
    assert [(one["model"], one["collected"], one["errors"]) for one in rates["models"]] == [("mood/m@1", 3, 2)]
    assert {one["label"] for one in rates["labels"]} == {"negative", "neutral", "positive"}


def test_what_a_judge_flags_waits_in_the_queue_of_the_round(db: Session, owner: Actor, writer: Actor) -> None:
    """The owner decides on it as on every flag; handing the page in again flags nothing twice."""
    make_round(db, owner, five(writer), f"{FOOLING}[gold]\nrate = 0")
    (judge0,) = make_judges(db, 1)
    page = claim_page.claim_page(db, judge0, REF)
    assert page is not None
    said = ["copied from a film", "", None, None]
    answers = [submit_page.Answer(item.id, "positive", flag=flag) for item, flag in zip(page.items, said, strict=True)]
    for _ in range(2):
        submit_page.submit_page(db, judge0, page.token, answers)
    found = list_attempts.flag_queue(db, owner, REF).flags
    assert {(one.kind, one.detail) for one in found} == {
        ("reported", "copied from a film"),
        ("reported", "Flagged by a judge."),
    }
    assert len(found) == 2


def test_judges_read_the_content_warning(workspace: Workspace, db: Session, owner: Actor, writer: Actor) -> None:
    """The warning of the round stands on the first page of its judging, before anything is shown."""
    warning = 'content_warning = "Harsh words."\n[targets]'
    make_round(db, owner, five(writer), FOOLING, definition=ROUND.replace("[targets]", warning))
    make_judges(db, 1)
    redeem_link(db, make_link(db, OPERATOR, "judge0").token, PASSWORD)
    page = browser_of(workspace, "judge0").get("/tasks/mood/judge/1").text
    assert page.index("Harsh words.") < page.index("Start judging")


def test_the_writers_bonus_follows_aimed_success_once(db: Session, owner: Actor, writer: Actor) -> None:
    """Two successes pay two bonuses, however often the round is reviewed; the writer sees labels and votes."""
    make_round(db, owner, five(writer), FOOLING)
    judge_all(db, make_judges(db, 5), ref=REF)
    review(db, owner, REF)
    review(db, owner, REF)
    bonuses = select(Earning.amount).where(Earning.kind == "bonus", Earning.user_id == writer.user_id)
    assert list(db.scalars(bonuses)) == [20, 20]
    found = vmer.my_outcomes(db, writer, REF)
    mine = found.attempts[::-1]
    assert (found.total, vmer.my_outcomes(db, writer, REF, limit=2, offset=1).attempts) == (5, found.attempts[1:3])
    assert [one["success"] for one in mine] == [True, True, False, False, None]
    assert [one["state"] for one in mine] == [*["validated"] * 4, "not judged"]
    assert mine[3]["distribution"]["mixed"] == 1
    (reason,) = qualify.eligibility(
        db, writer.user_id or 0, [{"rule": "validated_fooling", "at_least": 0.5, "of": 4}], task="mood"
    )
    assert reason.ok
    assert "2 of 4" in reason.text


def test_writers_do_not_judge_their_own_and_retracted_attempts_leave(db: Session, owner: Actor, writer: Actor) -> None:
    """A retraction takes the item out of what is offered and of what is counted; new attempts come in by themselves."""
    make_round(db, owner, five(writer), FOOLING)
    assert claim_page.claim_page(db, writer, REF) is None
    first = db.scalars(select(Attempt).order_by(Attempt.id)).all()[0]
    with transaction(db):
        db.add(AttemptNote(attempt_id=first.id, user_id=writer.user_id, kind="retracted"))
        db.add(Attempt(round_id=first.round_id, **attempt(writer, "f feels neutral", "neutral", "positive")))
    with transaction(db):
        take_attempts(db, validate.find_validation(db, REF))
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    assert sorted(item.inputs["text"][0] for item in page.items) == ["b", "c", "d", "f"]
    assert vmer.error_rates(db, owner, REF)["collected"] == 5


@pytest.mark.parametrize("policy", ["", "minimum = 2\n[adaptive]\nthreshold = 0.999\nleast = 2\naccuracy = 0.8\n"])
def test_what_was_retracted_is_shown_to_nobody_again(db: Session, owner: Actor, writer: Actor, policy: str) -> None:
    """Neither unqualifying who judged it, nor an answer on the way, nor restoring its gold copy brings it back."""
    make_round(db, owner, five(writer), f"{FOOLING}automatic = false\njudgements = 3\n{policy}[gold]\nrate = 0.5")
    people = make_judges(db, 3)
    page = claim_page.claim_page(db, people[0], REF)
    held = claim_page.claim_page(db, people[1], REF)
    assert page is not None
    assert held is not None
    answer_page(db, people[0], page)
    first = db.scalars(select(ValidationItem).order_by(ValidationItem.id)).all()[0]
    adjudicate.adjudicate(db, owner, REF, first.id, "positive")
    gold.gold_from_item(db, owner, REF, first.id)
    with transaction(db):
        db.add(AttemptNote(attempt_id=first.attempt_id, user_id=writer.user_id, kind="retracted"))
    with transaction(db):
        take_attempts(db, validate.find_validation(db, REF))
    answer_page(db, people[1], held, lambda inputs: "mixed")
    unqualify.unqualify(db, owner, REF, [people[0].name, people[1].name], reason="a test")
    assert gold_list.list_gold(db, owner, REF).gold == []
    copy = db.scalar(select(ValidationItem.id).where(ValidationItem.gold.is_not(None)))
    assert copy is not None
    with pytest.raises(Conflict, match="retracted"):
        gold.restore_gold(db, owner, REF, copy)
    fresh = claim_page.claim_page(db, people[2], REF)
    assert fresh is not None
    assert sorted(item.inputs["text"][0] for item in fresh.items) == ["b", "c", "d"]


def test_experts_decide_on_contested_items(db: Session, owner: Actor, writer: Actor) -> None:
    """Items without a majority come first; a decision is a fact that can be taken back, and judgements stay."""
    make_round(db, owner, five(writer), FOOLING)
    turns = iter(["negative", "neutral", "positive", "mixed", "negative"] * 20)

    def quarrel(inputs: dict[str, Any]) -> str:
        return next(turns) if inputs["text"].startswith("a") else truth(inputs)

    judge_all(db, make_judges(db, 5), quarrel, ref=REF)
    expert = make_person(db, "eve", RoleName.EXPERT)
    (contested,) = adjudicate.adjudication_queue_of(db, expert, REF)
    assert contested.inputs["text"] == "a feels positive"
    assert contested.label is None
    assert sum(contested.votes.values()) == 5
    adjudicate.adjudicate(db, expert, REF, contested.id, "positive", reason="it says so")
    assert adjudicate.adjudication_queue_of(db, expert, REF) == []
    assert vmer.error_rates(db, owner, REF)["successes"] == 2
    adjudicate.adjudicate(db, expert, REF, contested.id, "")
    assert final_labels(db, validate.find_validation(db, REF)).names().count(None) == 1
    with pytest.raises(BadInput, match="'sad' is not one of"):
        adjudicate.adjudicate(db, expert, REF, contested.id, "sad")
    with pytest.raises(NotFound):
        adjudicate.adjudicate(db, expert, REF, 10**6, "positive")
    with pytest.raises(Forbidden):
        adjudicate.adjudication_queue_of(db, writer, REF)
    assert db.scalar(select(ValidationItem.author_id).where(ValidationItem.id == contested.id)) == writer.user_id


def test_the_writer_sees_the_outcome_and_the_votes_on_a_page(
    workspace: Workspace, db: Session, owner: Actor, writer: Actor
) -> None:
    """Label, votes and success stand beside each text of the writer's own; nobody else's are there."""
    other = make_person(db, "willi", RoleName.WORKER)
    rows = [*five(writer), attempt(other, "f feels neutral", "neutral", "negative")]
    make_round(db, owner, rows, f"{FOOLING}automatic = false\n[gold]\nrate = 0")
    people = make_judges(db, 5)
    judge_all(db, people[:2], ref=REF)
    states = {one["state"] for one in vmer.my_outcomes(db, writer, REF).attempts}
    assert states == {"waiting", "not judged"}, "the text that did not fool the model is not judged"
    judge_all(db, people, [*[truth] * 4, lambda inputs: "negative"], ref=REF)
    for name in ("wanda", "judge0"):
        redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    client = browser_of(workspace, "wanda")
    assert "/tasks/mood/outcomes/1" in client.get("/work").text
    page = client.get("/tasks/mood/outcomes/1").text
    assert page.count("aim met</span>") == 2
    assert '<b class="nowrap">mixed</b>' in page
    assert "80.0%" in page
    assert "20.0%" in page
    assert "f feels neutral" not in page
    assert "Nothing of yours is judged here" in browser_of(workspace, "judge0").get("/tasks/mood/outcomes/1").text
    assert browser_of(workspace).get("/tasks/mood/outcomes/1").headers["location"].startswith("/login")
    assert client.get("/tasks/mood/outcomes/9").status_code == 404


def test_the_queue_is_as_long_as_it_is_and_leaves_out_ones_own(db: Session, owner: Actor, writer: Actor) -> None:
    """One looks at any place of it; beyond the end it is the last item; what one wrote is for others."""
    expert = make_person(db, "edda", RoleName.EXPERT)
    rows = [attempt(writer, f"{number} feels neutral", "positive", "negative") for number in range(8)]
    rows.append(attempt(expert, "8 feels neutral", "positive", "negative"))
    make_round(db, owner, rows, f"{FOOLING}automatic = false\n[gold]\nrate = 0")
    says = ["negative", "negative", "neutral", "neutral", "positive"]
    judge_all(db, make_judges(db, 5), [lambda inputs, label=label: label for label in says], ref=REF)
    found = adjudicate.adjudication_queue(db, expert, REF, first=3)
    assert (found.total, found.first, len(found.items)) == (8, 3, 1)
    assert adjudicate.adjudication_queue(db, expert, REF, first=99).first == 7
    assert adjudicate.adjudication_queue(db, owner, REF).total == 9
    assert len(adjudicate.adjudication_queue_of(db, expert, REF, limit=50)) == 8


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"predictions": [{"modell": "x", "answer": "neutral"}]}, "no such key 'modell'; did you mean 'model'"),
        ({"predictions": [{"answer": "neutral"}]}, "does not name its model"),
        ({"predictions": [{"model": "x"}]}, "has no answer"),
        ({"predictions": ["x"]}, "not a table with model and answer"),
        ({"predictons": []}, "no such key 'predictons'; did you mean 'predictions'"),
    ],
)
def test_predictions_with_other_keys_are_refused(db: Session, owner: Actor, row: dict[str, Any], reason: str) -> None:
    """A slip in a key would make a model called None; the row is named, and nothing is added."""
    make_ground(db, owner, 1)
    with pytest.raises(BadInput, match=f"row 2.*{reason}"):
        validate.add_items(db, owner, CHECK, [{"inputs": {"text": "a"}}, {"inputs": {"text": "b"}, **row}])
    assert vmer.error_rates(db, owner, CHECK)["models"] == []
    with pytest.raises(BadInput, match="did you mean 'note'"):
        gold.add_gold(db, owner, CHECK, [{"inputs": {"text": "a"}, "label": "neutral", "notes": "x"}])
