"""Prompts: imported with where they come from, drawn so that nobody holds the same one."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.people import Actor
from quintain.core.records.base import plain
from quintain.services.collect.rounds.manage import close_round, put_round
from quintain.services.collect.rounds.prompts import import_prompts, list_prompts, prompt_counts
from quintain.services.tasks.definitions import get_task, put_task
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console.item_files import item_rows
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.collect import prompts as queries
from quintain.store.tables import Prompt, Round, User
from tests.collecting import ONE, ROUND, TASK, add_models, add_round, sentences, write_prompts, writers
from tests.integration.collect.prompt_writers import edit_prompts
from tests.properties import examples

pytestmark = pytest.mark.both_databases


def add_draft(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> str:
    """Add a draft of a round without prompts."""
    put_task(db, owner, TASK)
    add_models(db, blobs, owner, folder)
    return put_round(db, owner, ROUND.format(more="", targets=ONE, tables="")).ref


def show(db: Session, ref: str) -> None:
    """Let all prompts of a round have been shown."""
    number = int(ref.partition("/")[2])
    with transaction(db):
        shown = select(Round.id).where(Round.number == number).scalar_subquery()
        db.execute(update(Prompt).where(Prompt.round_id == shown).values(generation=1))


def test_prompts_are_imported_with_tags_and_source(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A table's columns can be mapped; tags, corpus, part and row are kept with each prompt."""
    ref = add_draft(db, blobs, owner, tmp_path)
    path = tmp_path / "reviews.csv"
    path.write_text('review,tags,row\n"Nice, really.","irony, short",17\nSo so.,,18\nSo so.,,19\n')
    report = import_prompts(db, owner, ref, path, columns={"text": "review"}, corpus="yelp", part="b", tags=["pilot"])
    assert plain(report) == {"rows": 3, "added": 2, "repeated": 1, "used": 0, "used_parts": 0, "used_reviews": 0}
    first, second = list_prompts(db, owner, ref)
    assert (first.inputs, first.tags) == ({"text": "Nice, really."}, ("irony", "short", "pilot"))
    assert (second.corpus, second.part, second.row, second.tags) == ("yelp", "b", "18", ("pilot",))
    assert import_prompts(db, owner, ref, path, columns={"text": "review"}).repeated == 3


def test_a_prompt_in_another_form_of_unicode_is_no_other_prompt(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """What nobody sees makes no new prompt, in this round and in the next; its id is made of the text as it came."""
    ref = add_draft(db, blobs, owner, tmp_path)
    twins = ["Tr\u00e8s caf\u00e9.", "Tre\u0300s cafe\u0301.", "Tr\u00e8s  ca\u200bf\u00e9."]
    path = tmp_path / "prompts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in twins[:2]))
    assert import_prompts(db, owner, ref, path).added == 1
    path.write_text(json.dumps({"text": twins[2]}) + "\n")
    assert import_prompts(db, owner, ref, path).repeated == 1
    path.write_text(json.dumps({"text": "Tr\u00e8s \u0441af\u00e9."}) + "\n")
    assert import_prompts(db, owner, ref, path).repeated == 1
    path.write_text(json.dumps({"text": "De\u0301j\u0430\u0300 vu."}) + "\n")
    assert import_prompts(db, owner, ref, path).added == 1
    show(db, ref)
    later = put_round(db, owner, ROUND.format(more="", targets=ONE, tables="")).ref
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in ["Tr\u00e8s \u0441af\u00e9.", twins[2]]))
    report = import_prompts(db, owner, later, path)
    assert (report.used, report.repeated) == (1, 1)


def test_a_prompt_that_came_with_its_accents_apart_is_used_in_any_form(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """What an earlier round has stored as e and its accent is found by the é of a later file."""
    ref = add_draft(db, blobs, owner, tmp_path)
    path = tmp_path / "prompts.jsonl"
    path.write_text(json.dumps({"text": "Tre\u0300s cafe\u0301."}) + "\n")
    assert import_prompts(db, owner, ref, path).added == 1
    show(db, ref)
    later = put_round(db, owner, ROUND.format(more="", targets=ONE, tables="")).ref
    path.write_text(json.dumps({"text": "Tr\u00e8s caf\u00e9."}) + "\n")
    assert import_prompts(db, owner, later, path).used == 1


def test_what_an_earlier_round_used_is_left_out(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Neither the same text nor the same part of a corpus comes back in a later round, nor what was harvested."""
    first = add_draft(db, blobs, owner, tmp_path)
    import_prompts(db, owner, first, write_prompts(tmp_path, ["One.", "Two."], part="a", corpus="yelp"))
    show(db, first)
    second = put_round(db, owner, ROUND.format(more="", targets=ONE, tables="")).ref
    validate.open_validation(db, owner, "mood/harvest")
    for _ in range(2):
        validate.add_items(db, owner, "mood/harvest", [{"inputs": {"text": "Four."}}])
    rows = '{"text": "Two.", "part": "b"}\n{"text": "Three.", "part": "b"}\n{"text": "Four."}\n'
    rows += '{"text": "Five.", "part": "a"}\n'
    path = tmp_path / "more.jsonl"
    path.write_text(rows)
    report = import_prompts(db, owner, second, path, corpus="yelp")
    assert plain(report) == {"rows": 4, "added": 1, "repeated": 0, "used": 2, "used_parts": 1, "used_reviews": 0}
    assert [one.inputs["text"] for one in list_prompts(db, owner, second)] == ["Three."]


def test_what_was_not_shown_is_not_used(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A corpus loaded into one round is free for the next, but for what was shown; no text is shown in both."""
    first = add_round(db, blobs, owner, tmp_path, prompts=20)
    people = [person.user_id or 0 for person in writers(db, 1)]

    def draw(round_id: int) -> Prompt | None:
        with transaction(db):
            return queries.draw(db, round_id, people[0], now(), now() + timedelta(minutes=5))

    shown = [draw(first.id) for _ in range(3)]
    second = put_round(db, owner, ROUND.format(more="", targets=ONE, tables=""))
    report = import_prompts(db, owner, second.ref, write_prompts(tmp_path, sentences(20)))
    assert (report.added, report.used) == (17, 3)
    later = [draw(second.id) for _ in range(17)]
    again = [draw(first.id), draw(second.id)]
    assert again == [None, None]
    texts = [prompt.inputs["text"] for prompt in (*shown, *later) if prompt is not None]
    assert sorted(texts) == sorted(sentences(20))


def test_provenance_stays_with_a_prompt(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Review, rating, place and any further columns are kept; what a harvest was told to keep stands for itself."""
    ref = add_draft(db, blobs, owner, tmp_path)
    path = tmp_path / "sample.jsonl"
    meta = json.dumps({"model": "ab", "predicted": "neutral", "corpus": {"city": "Graz"}})
    rows = [
        {"text": "So so.", "group": "r-17", "rating": 3, "start": 4, "end": 10, "meta": meta, "row": 2},
        {"text": "Nice.", "review_id": 18, "stars": "5", "helpful": 2},
        {"text": "Meh."},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert import_prompts(db, owner, ref, path).added == 3
    first, second, third = list_prompts(db, owner, ref)
    assert (first.review, first.row) == ("r-17", "2")
    assert first.about == {"review": "r-17", "rating": 3.0, "start": 4, "end": 10, "city": "Graz"}
    assert (second.review, second.about) == ("18", {"review": "18", "stars": "5", "helpful": "2"})
    assert (third.review, third.about) == ("", {})
    (tmp_path / "wrong.csv").write_text(f"text,rating,more\nFine.,three,\nFine again.,3,{'x' * 10_001}\n")
    with pytest.raises(BadInput) as refused:
        import_prompts(db, owner, ref, tmp_path / "wrong.csv")
    assert (refused.value.faults[0].row, refused.value.faults[0].field) == (2, "rating")


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_the_papers_names_are_read(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, suffix: str) -> None:
    """Rating and place of a sentence as DynaSent's files call them are those of prompts and of items to judge."""
    ref = add_draft(db, blobs, owner, tmp_path)
    path = tmp_path / f"round-1.{suffix}"
    if suffix == "jsonl":
        row = {"text": "So so.", "review_id": "r-9", "review_rating": 4, "indices_into_review_text": [0, 6]}
        path.write_text(json.dumps(row) + "\n")
    else:
        path.write_text('text,review_id,review_rating,indices_into_review_text\nSo so.,r-9,4,"[0, 6]"\n')
    assert import_prompts(db, owner, ref, path).added == 1
    (prompt,) = list_prompts(db, owner, ref)
    assert prompt.about == {"review": "r-9", "rating": 4.0, "start": 0, "end": 6}
    (item,) = item_rows(get_task(db, "mood"), path)
    assert (item["review"], item["rating"], item["start"], item["end"], item["about"]) == ("r-9", 4.0, 0, 6, {})
    path.with_suffix(".csv").write_text("text,review_rating,indices_into_review_text\nFine.,four,\n")
    with pytest.raises(BadInput) as refused:
        import_prompts(db, owner, ref, path.with_suffix(".csv"))
    assert (refused.value.faults[0].row, refused.value.faults[0].field) == (2, "review_rating")
    path.with_suffix(".csv").write_text("text,rating,review_rating,indices_into_review_text\nFine.,3,4,all\n")
    assert import_prompts(db, owner, ref, path.with_suffix(".csv")).added == 1
    both = list_prompts(db, owner, ref)[1].about
    assert both == {"rating": 3.0, "review_rating": 4.0, "indices_into_review_text": "all"}


def test_prompts_are_kept_apart_from_harvested_reviews(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Another sentence of a review that was harvested, or shown in another round, is no prompt."""
    ref = add_draft(db, blobs, owner, tmp_path)
    validate.open_validation(db, owner, "mood/harvest")
    validate.add_items(db, owner, "mood/harvest", [{"inputs": {"text": "Harvested."}, "review": "r-1"}])
    rows = [{"text": f"Sentence {at}.", "review": f"r-{at}"} for at in (1, 2, 3)]
    path = tmp_path / "prompts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = import_prompts(db, owner, ref, path)
    assert (report.added, report.used, report.used_reviews) == (2, 0, 1)
    # What is harvested afterwards is not drawn any more, and nor is another sentence of its review.
    validate.add_items(db, owner, "mood/harvest", [{"inputs": {"text": "Also harvested."}, "review": "r-2"}])
    person = writers(db, 1)[0].user_id or 0
    round_id = db.scalars(select(Prompt.round_id)).first() or 0
    with transaction(db):
        drawn = [queries.draw(db, round_id, person, now(), now() + timedelta(minutes=5)) for _ in range(2)]
    assert [prompt and prompt.inputs["text"] for prompt in drawn] == ["Sentence 3.", None]


def test_bad_tables_are_refused_with_every_place(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Nothing is imported from a table with a fault; others than the owner may not try."""
    ref = add_draft(db, blobs, owner, tmp_path)
    path = write_prompts(tmp_path, ["Fine.", " ", "x" * 20_001])
    with pytest.raises(BadInput) as caught:
        import_prompts(db, owner, ref, path)
    assert [(fault.row, fault.field) for fault in caught.value.faults] == [(2, "text"), (3, "text")]
    (tmp_path / "other.csv").write_text("sentence\nHello\n")
    with pytest.raises(BadInput, match="none of the columns text"):
        import_prompts(db, owner, ref, tmp_path / "other.csv")
    assert list_prompts(db, owner, ref) == []
    with pytest.raises(NotFound, match="There is no round"):
        import_prompts(db, worker, ref, path)


def test_a_closed_round_takes_no_prompts(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Prompts can be added while a round is open, and not afterwards."""
    info = add_round(db, blobs, owner, tmp_path, prompts=1)
    assert import_prompts(db, owner, info.ref, write_prompts(tmp_path, ["Later."])).added == 1
    close_round(db, owner, info.ref)
    with pytest.raises(Conflict, match="closed"):
        import_prompts(db, owner, info.ref, write_prompts(tmp_path, ["Too late."]))


STEPS = st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.sampled_from([-1, 60])), min_size=5, max_size=40)


@profile(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_leases_are_exclusive_whatever_happens(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, steps: list[tuple[int, bool, int]]
) -> None:
    """In any order of drawing, lapsing and giving back, a prompt has one holder whose token is good."""
    round_id = db.scalar(select(Prompt.round_id).limit(1))
    if round_id is None:
        round_id = add_round(db, blobs, owner, tmp_path, prompts=4).id
        writers(db, 6)
    people = list(db.scalars(select(User.id).where(User.name.startswith("writer-")).order_by(User.id)))
    held: dict[int, tuple[int, int]] = {}
    with transaction(db):
        queries.release_all(db, round_id)
    for person, giving_back, seconds in steps:
        with transaction(db):
            if person in held and giving_back:
                queries.release(db, *held.pop(person))
                continue
            until = now() + timedelta(seconds=seconds)
            drawn = queries.draw(db, round_id, people[person], now(), until)
            if drawn is None:
                continue
            for other in [other for other, (prompt, _) in held.items() if prompt == drawn.id]:
                assert not queries.extend(db, *held.pop(other), until)
            held[person] = (drawn.id, drawn.generation)
    assert len({prompt for prompt, _ in held.values()}) == len(held)


def test_threads_never_hold_the_same_prompt(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """Eight threads draw at the same time: each of forty prompts is drawn once before any comes again."""
    info = add_round(db, blobs, owner, tmp_path, prompts=40)
    people = [person.user_id or 0 for person in writers(db, 8)]
    db.commit()
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda one: edit_prompts(workspace.settings.database, info.id, one, 5), people))
    every = [prompt for some in drawn for prompt in some]
    assert len(every) == 40
    assert len(set(every)) == 40
    assert prompt_counts(db, owner, info.ref) == {"prompts": 40, "used": 40, "repeated": 0, "leased": 0, "unused": 0}


@pytest.mark.slow
def test_processes_never_hold_the_same_prompt(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """The same with processes, on either database."""
    info = add_round(db, blobs, owner, tmp_path, prompts=30)
    people = [person.user_id or 0 for person in writers(db, 3)]
    db.commit()
    jobs = [(workspace.settings.database, info.id, person, 10) for person in people]
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        drawn = pool.starmap(edit_prompts, jobs)
    every = [prompt for some in drawn for prompt in some]
    assert len(every) == 30
    assert len(set(every)) == 30


def test_sentences_for_tests_are_unlike_each_other() -> None:
    """The helper makes as many different texts as asked for."""
    assert len(set(sentences(500))) == 500
