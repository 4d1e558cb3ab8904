"""Contrast projects through the services: what is drawn, who has it, what is written, checked, settled, released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.contrast import ProjectState
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.services.contrast import authoring, checking, listing, projects, releasing
from quintain.services.contrast.authoring import Edit
from quintain.services.contrast.checking import Opinion
from quintain.services.data.content import preview
from quintain.services.house.waiting import waiting_for
from quintain.store.base import clock, now
from quintain.store.blobs import Blobs
from tests.beginnings import Build
from tests.boards import add_sentences
from tests.contrasting import EDITS, PROJECT, build, expert, project, write
from tests.refusals import refusal

REF = "mood/near"


@pytest.fixture
def beginning() -> Build:
    """A task with a test set of eight sentences."""
    return build


def faults_of(call: Callable[[], object]) -> dict[str, str]:
    """Give what a call complains about, by field."""
    with pytest.raises(BadInput) as caught:
        call()
    return {str(fault.field): str(fault.reason) for fault in caught.value.faults}


def test_the_same_seed_draws_the_same_examples(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Two projects of one seed have the same pivots in the same order; another seed has others first."""
    found = {}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        text = PROJECT.replace('"near"', f'"{name}"').replace("pivots = 6", f"pivots = 6\nseed = {seed}")
        info = projects.put_project(db, blobs, owner, text)
        who = expert(db, "xenia")
        found[name] = [_take(db, who, info.ref) for _ in range(6)]
    assert found["a"] == found["b"] != found["c"]
    assert len(set(found["a"])) == 6


def _take(db: Session, who: Actor, ref: str) -> str:
    pivot = authoring.take_pivot(db, who, ref)
    authoring.finish_pivot(db, who, ref, pivot.id, skip=True)
    return str(pivot.inputs["text"])


def test_examples_are_drawn_evenly_by_label_and_by_tag(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Of two labels as many each; by a tag only those that have it."""
    by_label = PROJECT.replace("pivots = 6", 'pivots = 6\npick = "label"\npicked = ["positive", "negative"]')
    projects.put_project(db, blobs, owner, by_label)
    who = expert(db, "xenia")
    labels = []
    for _ in range(6):
        pivot = authoring.take_pivot(db, who, REF)
        labels.append(pivot.answer)
        authoring.finish_pivot(db, who, REF, pivot.id, skip=True)
    assert labels == ["positive", "negative"] * 3
    by_tag = PROJECT.replace('"near"', '"food"').replace("pivots = 6", 'pivots = 1\npick = "tag"\npicked = ["food"]')
    projects.put_project(db, blobs, owner, by_tag)
    assert authoring.take_pivot(db, who, "mood/food").inputs["text"] == "I liked the soup."


@pytest.mark.parametrize(
    ("change", "field", "part"),
    [
        (("pivots = 6", "pivots = 60"), "pivots", "there are 8 such examples, not 60"),
        (("mood/test", "mood/nothing"), "dataset", "nothing"),
        (("pivots = 6", 'pivots = 6\npick = "label"\npicked = ["odd"]'), "picked", "'odd' is not one of"),
        (("pivots = 6", 'pivots = 6\npick = "tag"\npicked = ["odd"]'), "picked", "no example has 'odd'"),
        (("pivots = 6", 'pivots = 6\npick = "tag"'), "picked", "is empty"),
        (("pivots = 6", 'pivots = 6\npicked = ["odd"]'), "picked", "drawn at random"),
        (('"wording"', '"role:original"'), "phenomena", "role:"),
        (("pivots = 6", "pivotz = 6"), "pivotz", "did you mean"),
    ],
)
def test_a_project_that_cannot_be_is_refused(
    db: Session, blobs: Blobs, owner: Actor, change: tuple[str, str], field: str, part: str
) -> None:
    """Every fault names its field, and nothing is left behind."""
    found = faults_of(lambda: projects.put_project(db, blobs, owner, PROJECT.replace(*change)))
    assert part in found[field]
    assert projects.list_projects(db, owner, "mood").projects == []


def test_a_project_takes_what_its_own_data_set_has(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Where nobody says how many, it is 100, or all of the data set that was chosen; what was drawn is written down."""
    rows = [{"text": f"Sentence {number}.", "answer": "positive"} for number in range(120)]
    add_sentences(db, blobs, owner, tmp_path, "large", rows, hidden=False)
    for dataset, pivots in (("large", 100), ("test", 8)):
        text = PROJECT.replace('"near"', f'"from-{dataset}"').replace("mood/test", f"mood/{dataset}")
        info = projects.put_project(db, blobs, owner, text.replace("pivots = 6\n", ""))
        assert projects.get_project(db, owner, info.ref).progress.pivots == pivots == info.spec.pivots
        again = projects.put_project(db, blobs, owner, text.replace("pivots = 6\n", "extend = false\n"))
        assert (again.spec.pivots, again.spec.extend) == (pivots, False)


def test_two_people_never_take_the_same_example(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Who asks again gets what they have; others get other ones, until none is left."""
    project(db, blobs, owner)
    names = ("xenia", "yann", "zoe", "olga", "uta", "udo")
    people = [expert(db, name) for name in names]
    taken = [authoring.take_pivot(db, one, REF).id for one in people]
    assert len(set(taken)) == 6
    assert authoring.take_pivot(db, people[0], REF).id == taken[0]
    with refusal(NotFound, "no_pivots"):
        authoring.take_pivot(db, expert(db, "late"), REF)


def test_a_lapsed_example_goes_to_somebody_else(db: Session, blobs: Blobs, owner: Actor) -> None:
    """What is sent after that is refused, and nothing of it is kept."""
    project(db, blobs, owner, "minutes = 10\n")
    xenia, yann = expert(db, "xenia"), expert(db, "yann")
    mine = authoring.take_pivot(db, xenia, REF)
    later = now() + timedelta(minutes=11)
    with clock(lambda: later):
        found = [authoring.take_pivot(db, expert(db, f"p{number}"), REF).id for number in range(6)]
        assert mine.id in found
        with refusal(Forbidden, "pivot_not_held"):
            authoring.add_variant(db, xenia, REF, mine.id, Edit({"text": "Other."}, "negative", ["wording"]))
    with pytest.raises(Forbidden):
        authoring.get_pivot(db, yann, REF, mine.id)
    assert projects.get_project(db, owner, REF).progress.variants == 0


def test_an_edit_is_measured_and_timed(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Tokens, characters and seconds are those of the edit; the second one is timed from the first."""
    project(db, blobs, owner, "variants = 2\n")
    xenia = expert(db, "xenia")
    begun = now()
    with clock(lambda: begun):
        pivot = authoring.take_pivot(db, xenia, REF)
    after, label = EDITS[pivot.inputs["text"]]
    with clock(lambda: begun + timedelta(seconds=40)):
        made = authoring.add_variant(db, xenia, REF, pivot.id, Edit({"text": after}, label, ["wording"], "Why."))
    assert made.tokens == 1
    assert made.seconds == 40
    assert (made.state, made.rationale) == ("written", "Why.")
    same = Edit({"text": f"Well: {pivot.inputs['text']}"}, pivot.answer, ["wording"], keeps_label=True)
    with clock(lambda: begun + timedelta(seconds=55)):
        kept = authoring.add_variant(db, xenia, REF, pivot.id, same)
    assert (kept.tokens, kept.seconds, kept.keeps_label) == (2, 15, True)
    third = Edit({"text": "Another."}, label, ["wording"], reason="x")
    with pytest.raises(Conflict, match="the most there may be"):
        authoring.add_variant(db, xenia, REF, pivot.id, third)


def test_everything_wrong_with_an_edit_is_said_at_once(db: Session, blobs: Blobs, owner: Actor) -> None:
    """A label outside the set, the same answer, a size over the limit, an unknown tag, a draft nobody confirmed."""
    project(db, blobs, owner)
    xenia = expert(db, "xenia")
    pivot = authoring.take_pivot(db, xenia, REF)

    def refused(edit: Edit) -> dict[str, str]:
        return faults_of(lambda: authoring.add_variant(db, xenia, REF, pivot.id, edit))

    after, label = EDITS[pivot.inputs["text"]]
    good = Edit({"text": after}, label, ["wording"])
    assert "is not one of" in refused(replace(good, answer="great"))["answer"]
    assert "that of the original" in refused(replace(good, answer=pivot.answer))["answer"]
    assert "you say that it stays" in refused(replace(good, keeps_label=True))["answer"]
    assert "is missing" in refused(replace(good, answer=None))["answer"]
    assert (
        "size of" in refused(replace(good, inputs={"text": "Nobody here has ever said anything like that."}))["reason"]
    )
    assert "'tense' is not one of" in refused(replace(good, tags=["tense"]))["tags"]
    assert "is empty" in refused(replace(good, tags=[]))["tags"]
    assert "label and grammar" in refused(replace(good, draft="negation"))["draft"]
    assert "nothing was changed" in refused(Edit({}, pivot.answer, ["wording"], keeps_label=True))["inputs"]
    unseen = pivot.inputs["text"].replace("e", "\u0435", 1) + "\u200b"
    assert unseen != pivot.inputs["text"]
    seen = refused(Edit({"text": unseen}, pivot.answer, ["wording"], keeps_label=True))
    assert "nothing was changed" in seen["inputs"]
    assert "no such field" in refused(replace(good, inputs={"txt": "x"}))["txt"]
    long = replace(good, inputs={"text": "Nobody here has ever said anything like that."}, reason="It has to be.")
    assert authoring.add_variant(db, xenia, REF, pivot.id, long).reason == "It has to be."
    again = replace(long, reason="Once more.")
    assert "in this project already" in refused(again)["inputs"]
    twin = replace(again, inputs={"text": again.inputs["text"].replace("e", "\u0435", 1)})
    assert "in this project already" in refused(twin)["inputs"]


def test_only_experts_write_unless_the_owner_says_otherwise(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor
) -> None:
    """A worker is refused, sees no project, and may write where everybody may."""
    project(db, blobs, owner)
    with pytest.raises(Forbidden):
        authoring.take_pivot(db, worker, REF)
    assert projects.list_projects(db, worker, "mood").projects == []
    projects.put_project(db, blobs, owner, 'writers = "workers"\n' + PROJECT)
    assert authoring.take_pivot(db, worker, REF).answer in {"positive", "negative"}
    with pytest.raises(Forbidden):
        projects.put_project(db, blobs, worker, PROJECT)


def test_hidden_answers_are_for_experts_only(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """A project over a set with hidden labels cannot be opened to everybody, neither at once nor later."""
    rows = [{"text": f"Soup number {at} was cold.", "answer": "negative"} for at in range(8)]
    add_sentences(db, blobs, owner, tmp_path, "secret", rows, hidden=True)
    text = PROJECT.replace('"near"', '"far"').replace("mood/test", "mood/secret")
    open_to_all = 'writers = "workers"\n' + text
    assert "are hidden" in faults_of(lambda: projects.put_project(db, blobs, owner, open_to_all))["writers"]
    projects.put_project(db, blobs, owner, text)
    assert "are hidden" in faults_of(lambda: projects.put_project(db, blobs, owner, open_to_all))["writers"]
    with pytest.raises(Forbidden):
        authoring.take_pivot(db, worker, "mood/far")


def test_phenomena_can_be_added_and_what_was_drawn_cannot_change(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Who writes adds to the list where the owner lets them; the number of examples is fixed."""
    project(db, blobs, owner)
    xenia = expert(db, "xenia")
    assert projects.add_phenomenon(db, xenia, REF, " tense ") == ("negation", "wording", "tense")
    assert projects.add_phenomenon(db, xenia, REF, "tense") == ("negation", "wording", "tense")
    projects.put_project(db, blobs, owner, "extend = false\n" + PROJECT)
    with pytest.raises(Forbidden):
        projects.add_phenomenon(db, xenia, REF, "numbers")
    with pytest.raises(Conflict, match="pivots"):
        projects.put_project(db, blobs, owner, "extend = false\n" + PROJECT.replace("pivots = 6", "pivots = 5"))
    projects.set_state(db, owner, REF, ProjectState.CLOSED)
    with pytest.raises(Conflict, match="closed"):
        authoring.take_pivot(db, xenia, REF)


def test_a_second_person_checks_without_seeing_any_answer(db: Session, blobs: Blobs, owner: Actor) -> None:
    """The author is never asked; agreement accepts, and what is asked holds neither gold nor aim."""
    project(db, blobs, owner)
    xenia, yann = expert(db, "xenia"), expert(db, "yann")
    (made,) = write(db, xenia)
    assert checking.next_check(db, xenia, REF) is None
    asked = checking.next_check(db, yann, REF)
    assert asked is not None
    assert asked.id == made
    assert not {"answer", "gold"} & set(asked.__dataclass_fields__)
    label = EDITS[asked.original["text"]][1]
    with pytest.raises(Forbidden):
        checking.check_variant(db, xenia, REF, made, Opinion(label, minimal=True, sound=True))
    assert checking.check_variant(db, yann, REF, made, Opinion(label, minimal=True, sound=True)) == "accepted"
    with pytest.raises(Conflict):
        checking.check_variant(db, yann, REF, made, Opinion(label, minimal=True, sound=True))


@pytest.mark.parametrize("opinion", [("wrong", True, True), ("right", False, True), ("right", True, False)])
def test_disagreement_goes_to_an_adjudicator(
    db: Session, blobs: Blobs, owner: Actor, opinion: tuple[str, bool, bool]
) -> None:
    """Another label, no minimal edit or no sound sentence: a third person settles it, with another label if need be."""
    project(db, blobs, owner)
    xenia, yann, zoe = (expert(db, name) for name in ("xenia", "yann", "zoe"))
    (made,) = write(db, xenia)
    asked = checking.next_check(db, yann, REF)
    assert asked is not None
    label = EDITS[asked.original["text"]][1]
    other = {"positive": "negative", "negative": "positive"}[label]
    word, minimal, sound = opinion
    said = Opinion(label if word == "right" else other, minimal=minimal, sound=sound, note="Hm.")
    assert checking.check_variant(db, yann, REF, made, said) == "contested"
    assert checking.list_contested(db, yann, REF).total == 0
    assert checking.list_contested(db, xenia, REF).total == 0
    (one,) = checking.list_contested(db, zoe, REF).variants
    assert one.checks[0].note == "Hm."
    with pytest.raises(Conflict, match="already"):
        checking.settle_variant(db, yann, REF, made, accept=True)
    assert checking.settle_variant(db, zoe, REF, made, accept=True, answer=other) == "accepted"
    (found,) = listing.list_sets(db, owner, REF).sets
    assert (found.variants[0].answer, found.variants[0].author) == (other, "xenia")


def test_a_release_holds_whole_sets_of_what_was_accepted(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Originals and accepted variants, the set as the group, the role and the phenomena as tags; twice is once."""
    project(db, blobs, owner, "checks = 0\n")
    xenia = expert(db, "xenia")
    made = write(db, xenia, number=4)
    authoring.withdraw_variant(db, xenia, REF, made[0])
    with pytest.raises(Forbidden):
        releasing.release_project(db, blobs, xenia, REF)
    found = releasing.release_project(db, blobs, owner, REF)
    assert (found.version, found.sets, found.variants, found.new) == ("mood/near@1", 3, 3, True)
    assert not releasing.release_project(db, blobs, owner, REF).new
    page = preview(db, blobs, owner, "mood/near")
    assert (page.version.role, page.version.scores, page.total) == ("contrast", False, 6)
    assert [step.ref for step in page.version.parents] == ["mood/test@1"]
    groups = [row["group"] for row in page.examples]
    assert all(groups.count(one) == 2 for one in groups)
    originals = [row for row in page.examples if "role:original" in row["tags"]]
    assert all(EDITS[row["text"]] for row in originals)
    assert {tag for row in page.examples if "role:contrast" in row["tags"] for tag in row["tags"]} <= {
        "role:contrast",
        "negation",
        "wording",
    }


def test_nothing_is_released_before_anything_is_accepted(db: Session, blobs: Blobs, owner: Actor) -> None:
    """What nobody checked does not count."""
    project(db, blobs, owner)
    write(db, expert(db, "xenia"))
    with pytest.raises(Conflict, match="accepted"):
        releasing.release_project(db, blobs, owner, REF)


def test_the_front_page_leads_to_the_work(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Who writes is led to an example, or to the one in hand; others to what they may check or decide."""
    project(db, blobs, owner)
    xenia, yann, zoe = (expert(db, name) for name in ("xenia", "yann", "zoe"))
    base = "/tasks/mood/contrast/near"

    def waits(who: Actor) -> list[tuple[str, str, bool]]:
        return [(one.kind.value, one.url, one.begun) for one in waiting_for(db, who)]

    assert waits(xenia) == [("contrast", f"{base}/write", False)]
    (made,) = write(db, xenia)
    pivot = authoring.take_pivot(db, xenia, REF)
    assert waits(xenia) == [("contrast", f"{base}/write/{pivot.id}", True)]
    assert ("check", f"{base}/check", False) in waits(yann)
    asked = checking.next_check(db, yann, REF)
    assert asked is not None
    checking.check_variant(db, yann, REF, made, Opinion(EDITS[asked.original["text"]][1], minimal=False, sound=True))
    assert ("settle", f"{base}/contested", False) in waits(zoe)
    assert ("settle", f"{base}/contested", False) in waits(owner)
    assert "settle" not in {kind for kind, _, _ in waits(yann)}
