"""People write at a model, and it answers at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, NotFound, QuintainError, TooMany, Unavailable
from quintain.core.people import Actor
from quintain.protocols.assignment import Draw
from quintain.services.collect.rounds.export import attempts_table
from quintain.services.collect.rounds.manage import close_round, open_round, put_round
from quintain.services.collect.rounds.prompts import prompt_counts
from quintain.services.collect.writing import sessions
from quintain.services.collect.writing.sessions import get_session, give_up, save_draft, start_session
from quintain.services.collect.writing.submit_attempt import (
    confirm,
    decide,
    desk,
    get_verdict,
    submit_attempt,
)
from quintain.services.models.registry import register_version
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.store.queries.house.personal import rows_about
from quintain.store.tables import Attempt, Round, RoundAssignment, WritingSession
from tests.collecting import RUNNERS, TASK, add_models, add_round, submit, writers
from tests.evaluation import CARD
from tests.refusals import refusal

Counted = Callable[[], int]


@pytest.fixture
def stored(db: Session) -> Counted:
    """A function that counts the attempts in the database."""
    return lambda: db.scalar(select(func.count()).select_from(Attempt)) or 0


@pytest.mark.both_databases
def test_a_writer_fools_the_model_on_the_second_attempt(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """The model's answer, its probabilities, the distance to the prompt and the attempts left come back at once."""
    info = add_round(db, blobs, owner, tmp_path)
    session = start_session(db, blobs, worker, info.ref)
    assert session.prompt is not None
    assert session.attempts_left == 10
    first = submit(db, blobs, worker, session.key, session.prompt.inputs["text"] + " It was bad.")
    assert (first.fooled, first.prediction, first.attempts_left) == (False, "negative", 9)
    assert first.probabilities == pytest.approx({"negative": 0.8, "neutral": 0.15, "positive": 0.05})
    assert first.edit_distance == len(" It was bad.")
    second = submit(db, blobs, worker, session.key, "It was good for nothing.")
    assert (second.fooled, second.prediction, second.ask, second.ended) == (True, "positive", "confirm", False)
    assert get_session(db, worker, session.key).pending == second.attempt_id
    done = confirm(db, worker, second.attempt_id, True)
    assert (done.outcome, done.attempts_left, done.ask) == ("fooled", 0, "")
    assert get_session(db, worker, session.key).outcome == "fooled"
    assert [one.number for one in desk(db, worker, session.key).verdicts] == [1, 2]


@pytest.mark.both_databases
def test_a_replayed_form_gives_the_first_verdict(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path, stored: Counted
) -> None:
    """A double click or a reloaded page counts once, whatever the second form says."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start_session(db, blobs, worker, info.ref).key
    first = submit(db, blobs, worker, key, "Not bad at all.", token="one")
    again = submit(db, blobs, worker, key, "Something else entirely.", target="positive", token="one")
    assert again == first
    assert stored() == 1
    assert start_session(db, blobs, worker, info.ref).key == key


def test_a_denied_confirmation_takes_the_fooling_back(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """A writer who says that others would not agree goes on writing."""
    info = add_round(db, blobs, owner, tmp_path, more="attempts = 2")
    key = start_session(db, blobs, worker, info.ref).key
    fooling = submit(db, blobs, worker, key, "It was good for nothing.")
    after = confirm(db, worker, fooling.attempt_id, False)
    assert (after.ended, after.attempts_left, after.fooled) == (False, 1, False)
    assert desk(db, worker, key).verdicts[0].fooled is False
    row = attempts_table(db, owner, info.ref).row(0, named=True)
    assert (row["fooled"], row["confirmed"]) == (False, False)
    assert confirm(db, worker, fooling.attempt_id, False).fooled is False
    last = submit(db, blobs, worker, key, "It was bad, and that is that.")
    assert (last.outcome, last.attempts_left) == ("exhausted", 0)
    with pytest.raises(Conflict, match="over"):
        submit(db, blobs, worker, key, "One more about the weather.")
    with pytest.raises(Conflict, match="over"):
        confirm(db, worker, fooling.attempt_id, True)


BAD = [
    ({"text": ""}, "negative", "is empty"),
    ({"text": "   \n "}, "negative", "is empty"),
    ({}, "negative", "is empty"),
    ({"text": "x" * 20_001}, "negative", "at most 20000 are allowed"),
    ({"text": "x" * 200_000}, "negative", "nobody will read more than 100,000"),
    ({"text": "a\x00b"}, "negative", "control character"),
    ({"text": "bell \x07"}, "negative", "control character"),
    ({"text": "half a pair \ud800"}, "negative", "not valid Unicode"),
    ({"text": "fine", "fooled": "true"}, "negative", "no such field"),
    ({"text": 7}, "negative", "is a number, not a text"),
    ({"text": "fine"}, "postive", "is not one of negative, neutral, positive"),
    ({"text": "fine"}, None, "say first which answer is right"),
    ({"text": "Это было очень хорошо"}, "negative", "is written in Cyrillic; this round asks for Latin"),
]


def test_what_cannot_be_taken_is_explained_and_costs_nothing(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path, stored: Counted
) -> None:
    """Each kind of bad text has its message; no attempt is used up."""
    info = add_round(db, blobs, owner, tmp_path, more='scripts = ["Latin"]')
    key = start_session(db, blobs, worker, info.ref).key
    for inputs, target, message in BAD:
        with pytest.raises(BadInput) as caught:
            submit_attempt(db, blobs, worker, key, inputs, target=target, token="t", runners=RUNNERS)
        assert message in str(caught.value)
    assert stored() == 0
    assert get_session(db, worker, key).attempts_left == 10


@pytest.mark.both_databases
def test_unusual_texts_are_kept_as_they_are(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Emoji, HTML and right-to-left text are text like any other."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start_session(db, blobs, worker, info.ref).key
    for text in ("Great 🎉, just bad 🙄!", "<script>alert('bad')</script>", "שלום bad עולם", "🙃"):
        assert submit(db, blobs, worker, key, text).inputs == {"text": text}


def test_an_unchanged_prompt_is_refused_and_the_text_kept(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """A prompt that comes back as it was costs no attempt, and what was typed is there afterwards."""
    info = add_round(db, blobs, owner, tmp_path)
    session = start_session(db, blobs, worker, info.ref)
    assert session.prompt is not None
    with pytest.raises(BadInput, match="unchanged"):
        submit(db, blobs, worker, session.key, session.prompt.inputs["text"], target="positive")
    after = get_session(db, worker, session.key)
    assert (after.draft, after.draft_target, after.attempts_left) == (session.prompt.inputs, "positive", 10)


def test_a_target_that_the_model_gives_is_simply_not_fooled(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Aiming at what the model says is a failed attempt, no error."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start_session(db, blobs, worker, info.ref).key
    assert submit(db, blobs, worker, key, "So good.", target="positive").fooled is False


def test_a_dead_or_slow_model_costs_no_attempt(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path, stored: Counted
) -> None:
    """Whatever is wrong with the model is said to be so, and the text is kept."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start_session(db, blobs, worker, info.ref).key

    def dead(*_: Any) -> list[Any]:
        raise RuntimeError("segmentation fault")

    def slow(*_: Any) -> list[Any]:
        time.sleep(0.5)
        return ["neutral"]

    for runners, seconds in (
        ({"handler": dead}, 5.0),
        ({"handler": slow}, 0.05),
        ({"handler": lambda *_: ["nonsense"]}, 5.0),
        ({"handler": lambda *_: []}, 5.0),
        ({}, 5.0),
    ):
        with refusal(Unavailable, "no_answer"):
            submit_attempt(
                db,
                blobs,
                worker,
                key,
                {"text": "So so."},
                target="neutral",
                token="t",
                runners=runners,
                seconds=seconds,
            )
    assert stored() == 0
    after = get_session(db, worker, key)
    assert (after.draft, after.attempts_left) == ({"text": "So so."}, 10)
    assert submit(db, blobs, worker, key, "So so.", token="t").attempts_left == 9


def test_the_model_is_asked_outside_of_any_transaction(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """While the model thinks, the session holds no connection."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start_session(db, blobs, worker, info.ref).key
    held: list[bool] = []

    def watching(*_: Any) -> list[Any]:
        held.append(db.in_transaction())
        return ["neutral"]

    submit_attempt(db, blobs, worker, key, {"text": "Hm."}, target="neutral", token="t", runners={"handler": watching})
    assert held == [False]


def test_a_round_that_closes_while_somebody_types_keeps_the_text(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path, stored: Counted
) -> None:
    """The writer is told, the draft stays, and nothing is stored as an attempt."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start_session(db, blobs, worker, info.ref).key
    close_round(db, owner, info.ref)
    with pytest.raises(Conflict, match=r"closed.*while you were writing.*kept as a draft"):
        submit(db, blobs, worker, key, "Almost done, it was good.")
    after = get_session(db, worker, key)
    assert (after.outcome, after.draft) == ("closed", {"text": "Almost done, it was good."})
    with pytest.raises(Conflict, match="closed"):
        start_session(db, blobs, worker, info.ref)
    assert stored() == 0


def test_a_round_that_closes_while_the_model_thinks_keeps_the_text(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path, stored: Counted
) -> None:
    """Closing between the question and the answer loses nothing and stores nothing."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start_session(db, blobs, worker, info.ref).key

    def closing(*_: Any) -> list[Any]:
        close_round(db, owner, info.ref)
        return ["neutral"]

    with refusal(Conflict, "round_not_open"):
        submit_attempt(
            db, blobs, worker, key, {"text": "Hm."}, target="neutral", token="t", runners={"handler": closing}
        )
    assert stored() == 0
    assert get_session(db, worker, key).draft == {"text": "Hm."}


def test_nobody_writes_in_another_ones_session(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """A key that is somebody else's is as good as none, and so is an attempt."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start_session(db, blobs, worker, info.ref).key
    made = submit(db, blobs, worker, key, "It was good for nothing.")
    other = writers(db, 1)[0]
    for act in (
        lambda: submit(db, blobs, other, key, "Mine now."),
        lambda: get_session(db, other, key),
        lambda: save_draft(db, other, key, {"text": "x"}),
        lambda: give_up(db, other, key),
        lambda: confirm(db, other, made.attempt_id, True),
        lambda: get_verdict(db, other, made.attempt_id),
        lambda: get_session(db, worker, "nonsense\x00"),
    ):
        with pytest.raises(NotFound):
            act()


@pytest.mark.both_databases
def test_exact_and_near_duplicates_are_refused(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """The same text is refused everywhere, almost the same in another session; another target makes it a contrast."""
    info = add_round(db, blobs, owner, tmp_path)
    text = "The waiter took our order twice, and then he brought us neither of the two good dishes."
    key = start_session(db, blobs, worker, info.ref).key
    submit(db, blobs, worker, key, text, target="positive", token="1")
    with refusal(Conflict, "duplicate_text"):
        submit(db, blobs, worker, key, text.upper() + "!!", target="positive", token="2")
    assert submit(db, blobs, worker, key, text.replace("neither", "none"), target="positive", token="3").number == 2
    other = writers(db, 1)[0]
    theirs = start_session(db, blobs, other, info.ref).key
    with refusal(Conflict, "duplicate_text"):
        submit(db, blobs, other, theirs, text, target="positive", token="4")
    with refusal(Conflict, "duplicate_text"):
        submit(db, blobs, other, theirs, text.replace("dishes", "dish"), target="positive", token="5")
    contrast = submit(db, blobs, other, theirs, text.replace("dishes", "dish"), target="negative", token="6")
    assert contrast.number == 1


def test_an_ensemble_must_be_fooled_together(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """With two targets a text that fools only one of them has not fooled the model."""
    targets = 'mode = "ensemble"\nmodels = ["mood/counter", "mood/neutral"]'

    put_task(db, owner, TASK)
    add_models(db, blobs, owner, tmp_path, "neutral", adapter="sklearn")
    info = add_round(db, blobs, owner, tmp_path, targets=targets)
    key = start_session(db, blobs, worker, info.ref).key
    one = submit(db, blobs, worker, key, "So bad.", target="negative")
    assert ([answer.fooled for answer in one.answers], one.fooled) == ([False, True], False)
    both = submit(db, blobs, worker, key, "So very good, no?", target="negative")
    assert ([answer.fooled for answer in both.answers], both.fooled) == ([True, True], True)


def test_without_keeping_failures_only_their_count_stays(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Where the owner does not keep them, texts that did not fool the model are not stored; the count is."""
    info = add_round(db, blobs, owner, tmp_path, more="keep_nonfooling = false")
    key = start_session(db, blobs, worker, info.ref).key
    missed = submit(db, blobs, worker, key, "So bad.")
    hit = submit(db, blobs, worker, key, "So very good, no?")
    assert (missed.inputs, missed.number) == ({}, 1)
    assert (hit.inputs, hit.number) == ({"text": "So very good, no?"}, 2)


@pytest.mark.both_databases
def test_caps_hold_for_a_day(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """A worker's and the round's sessions in one day are limited; the message says when to come back."""
    info = add_round(db, blobs, owner, tmp_path, tables="[caps]\nworker = 2\nround = 3")
    for _ in range(2):
        give_up(db, worker, start_session(db, blobs, worker, info.ref).key)
    with pytest.raises(TooMany, match="tomorrow") as caught:
        start_session(db, blobs, worker, info.ref)
    assert 0 < caught.value.retry_after <= 24 * 3600
    first, second = writers(db, 2)
    start_session(db, blobs, first, info.ref)
    with pytest.raises(TooMany, match="all it takes in a day"):
        start_session(db, blobs, second, info.ref)


def test_two_conditions_are_piloted_side_by_side(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Workers are spread evenly over the conditions, and each stays in theirs."""
    tables = '[[conditions]]\nname = "prompt"\n[[conditions]]\nname = "blank"\nprompt = false'
    info = add_round(db, blobs, owner, tmp_path, tables=tables)
    drawn = []
    for person in writers(db, 6):
        session = start_session(db, blobs, person, info.ref)
        assert (session.prompt is None) == (session.condition == "blank")
        give_up(db, person, session.key)
        assert start_session(db, blobs, person, info.ref).condition == session.condition
        drawn.append(session.condition)
    assert sorted(drawn) == ["blank"] * 3 + ["prompt"] * 3


@pytest.mark.both_databases
def test_labels_to_aim_at_are_handed_out_evenly(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A label that was given must be aimed at, and those aimed at least come first."""
    info = add_round(db, blobs, owner, tmp_path, more='aiming = "assign"')
    given = []
    for number, person in enumerate(writers(db, 6)):
        session = start_session(db, blobs, person, info.ref)
        others = {"negative", "neutral", "positive"} - {session.target}
        with pytest.raises(BadInput, match=f"the label to aim at was given: {session.target}"):
            submit(db, blobs, person, session.key, f"Text {number}", target=others.pop(), token="a")
        submit(db, blobs, person, session.key, f"{'good' * number} number {number}", target=session.target, token="b")
        given.append(session.target)
    assert sorted(given) == sorted(["negative", "neutral", "positive"] * 2)


def test_what_was_drawn_is_drawn_again_from_the_record(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """The round's seed and what is kept give every condition, model and label once more; writers are told neither."""
    put_task(db, owner, TASK)
    add_models(db, blobs, owner, tmp_path, "second")
    info = add_round(
        db,
        blobs,
        owner,
        tmp_path,
        targets='mode = "random"\nmodels = ["mood/counter", "mood/second"]',
        more='aiming = "assign"',
        tables='[[conditions]]\nname = "prompt"\nweight = 2\n[[conditions]]\nname = "blank"\nprompt = false',
    )
    people = writers(db, 6)
    for number, person in enumerate(people):
        for again in range(2):
            session = start_session(db, blobs, person, info.ref)
            text = f"{'good ' * (number + 1)}text {number}, {again}"
            submit(db, blobs, person, session.key, text, target=session.target, token="a")
            give_up(db, person, session.key)
    seed = db.get_one(Round, info.id).seed
    assigned = db.scalars(select(RoundAssignment)).all()
    assert [Draw(**one.drawn).pick(seed) for one in assigned] == [one.condition for one in assigned]
    sessions = db.scalars(select(WritingSession)).all()
    assert len(sessions) == 12
    for one in sessions:
        assert Draw(**one.drawn["target"]).pick(seed) == one.target
        assert [int(Draw(**one.drawn["model"]).pick(seed))] == one.models
    assert {tuple(one.models) for one in sessions} != {tuple(sessions[0].models)}
    told = {name: list(chain.from_iterable(parts)) for name, parts in rows_about(db, people[0].user_id or 0)}
    assert told["round_assignments"][0]["condition"] in {"prompt", "blank"}
    assert all("drawn" not in row for name in ("round_assignments", "writing_sessions") for row in told[name])


@pytest.mark.both_databases
def test_a_lapsed_lease_goes_to_the_next_writer(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who was away too long is told that the prompt is gone; what they typed is kept."""
    info = add_round(db, blobs, owner, tmp_path, prompts=1)
    monkeypatch.setattr(sessions, "LEASE", timedelta(seconds=-1))
    key = start_session(db, blobs, worker, info.ref).key
    monkeypatch.setattr(sessions, "LEASE", timedelta(minutes=5))
    other = writers(db, 1)[0]
    theirs = start_session(db, blobs, other, info.ref)
    with pytest.raises(Conflict, match="given to somebody else"):
        submit(db, blobs, worker, key, "I was away.")
    assert get_session(db, worker, key).draft == {"text": "I was away."}
    assert submit(db, blobs, other, theirs.key, "Here I am.").number == 1
    with refusal(Unavailable, "nothing_to_write"):
        start_session(db, blobs, worker, info.ref)
    assert db.scalars(select(WritingSession.outcome).where(WritingSession.key == key)).one() == ""


def test_a_lapsed_lease_that_nobody_wanted_is_taken_up_again(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Autosave keeps the prompt, and coming back late is fine while nobody else has it."""
    info = add_round(db, blobs, owner, tmp_path, prompts=1)
    monkeypatch.setattr(sessions, "LEASE", timedelta(seconds=-1))
    session = start_session(db, blobs, worker, info.ref)
    monkeypatch.setattr(sessions, "LEASE", timedelta(minutes=5))
    until = save_draft(db, worker, session.key, {"text": "half a sen"})
    assert until is not None
    assert session.lease_until is not None
    assert until > session.lease_until
    again = start_session(db, blobs, worker, info.ref)
    assert (again.key, again.draft) == (session.key, {"text": "half a sen"})


@pytest.mark.both_databases
def test_prompts_are_used_once_and_come_back_when_given_up(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """A prompt from which nothing was written is free again; one that was used comes last."""
    info = add_round(db, blobs, owner, tmp_path, prompts=3)
    first, second, third = writers(db, 3)
    unused = start_session(db, blobs, first, info.ref)
    give_up(db, first, unused.key)
    assert prompt_counts(db, owner, info.ref) == {"prompts": 3, "used": 0, "repeated": 0, "leased": 0, "unused": 3}
    seen = set()
    for person in (second, third, first):
        session = start_session(db, blobs, person, info.ref)
        assert session.prompt is not None
        seen.add(session.prompt.id)
        submit(db, blobs, person, session.key, f"{person.name} says it was bad.")
        give_up(db, person, session.key)
    assert len(seen) == 3
    assert prompt_counts(db, owner, info.ref)["used"] == 3
    again = start_session(db, blobs, second, info.ref)
    assert again.prompt is not None
    submit(db, blobs, second, again.key, "And once more, bad.")
    assert prompt_counts(db, owner, info.ref)["repeated"] == 1


def test_the_worker_decides_where_the_round_says_so(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """For free text the writer says whether the model was fooled, and that ends the session."""
    put_task(db, owner, 'name = "talk"\nkind = "free-text"\ntitle = "Talk"')
    folder = tmp_path / "echo"
    folder.mkdir()
    (folder / "handler.py").write_text("def predict(batch): return batch\n")
    register_version(db, blobs, owner, "talk", "echo", adapter="handler", folder=folder, card=CARD)
    text = 'task = "talk"\ntitle = "Talk"\n[targets]\nmodels = ["talk/echo"]\n'
    text += '[[conditions]]\nname = "blank"\nprompt = false\n'
    info = open_round(db, owner, put_round(db, owner, text).ref)
    key = start_session(db, blobs, worker, info.ref).key
    runners = {"handler": lambda version, blobs, batch: [one["source"].upper() for one in batch]}
    made = submit_attempt(db, blobs, worker, key, {"source": "Hello?"}, target=None, token="1", runners=runners)
    assert (made.fooled, made.ask, made.prediction) == (None, "decide", "HELLO?")
    assert decide(db, worker, made.attempt_id, False).fooled is False
    last = submit_attempt(db, blobs, worker, key, {"source": "Are you there?"}, target=None, token="2", runners=runners)
    with pytest.raises(QuintainError):
        confirm(db, worker, last.attempt_id, True)
    after = decide(db, worker, last.attempt_id, True)
    assert (after.fooled, after.ask) == (True, "confirm")
    assert confirm(db, worker, last.attempt_id, True).outcome == "fooled"


def test_rounds_name_their_targets(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """With several models at random each session has one of them, and stays with it."""
    put_task(db, owner, TASK)
    add_models(db, blobs, owner, tmp_path, "counter", "other")
    info = add_round(db, blobs, owner, tmp_path, targets='mode = "random"\nmodels = ["mood/counter", "mood/other"]')
    met = set()
    for person in writers(db, 12):
        session = start_session(db, blobs, person, info.ref)
        assert len(session.models) == 1
        assert start_session(db, blobs, person, info.ref).models == session.models
        met |= set(session.models)
    assert met == {"mood/counter@1", "mood/other@1"}
