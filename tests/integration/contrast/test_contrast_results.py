"""What models and people make of a contrast set, drafts and scouting, and variants that come in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor, RoleName
from quintain.services.contrast import authoring, drafts, people, projects, releasing, results, scouting, uploading
from quintain.services.contrast.authoring import Edit
from quintain.services.data.content import scan
from quintain.services.evaluate.results.compute import model_results
from quintain.services.models.train import train
from quintain.stats.contrast import Members, contrast_estimates
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.validate.validation import find as find_validation
from quintain.store.tables import AuditEntry, ContrastLook, Judgement, ValidationItem
from tests.beginnings import Build
from tests.boards import add_sentences, add_version, evaluated
from tests.contrasting import EDITS, PAIRS, build, expert, project, write
from tests.people import find_or_make_person
from tests.refusals import refusal

REF = "mood/near"


@pytest.fixture
def beginning() -> Build:
    """A project without checks, all six examples of which are edited and released; one model that knows bad words."""
    return _released


def _released(workspace: Workspace, folder: Path) -> None:
    build(workspace, folder)
    with workspace.session() as db:
        blobs = workspace.blobs
        owner = find_or_make_person(db, "olga", RoleName.OWNER)
        project(db, blobs, owner, "checks = 0\ndrafts = true\nscouting = 1\n")
        write(db, expert(db, "xenia"), number=6)
        releasing.release_project(db, blobs, owner, REF)
        builder = find_or_make_person(db, "bert", RoleName.BUILDER)
        model = add_version(db, blobs, builder, folder, "simple")
        evaluated(db, blobs, model, lambda row: says(str(row["text"])), perturbed=(), measured=False)


def says(text: str) -> str:
    """Be a model that knows a few bad words."""
    return "negative" if any(word in text for word in ("dull", "rude", "filthy", "lost")) else "positive"


def test_the_figures_are_those_of_the_answers(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Original, contrast, difference and consistency are what counting by hand gives; so are tags and transitions."""
    found = results.model_contrast(db, blobs, owner, "mood/simple", "near")
    rows = scan(db, blobs, owner, "mood/near", answers=True).collect().to_dicts()
    right = [says(row["text"]) == row["answer"] for row in rows]
    original = ["role:original" in row["tags"] for row in rows]
    by_hand = contrast_estimates(Members.of(right, right, [row["group"] for row in rows], original))
    assert found.score.intervals.overall == by_hand
    assert found.score.original == sum(one for one, first in zip(right, original, strict=True) if first) / 6
    assert found.score.consistency <= found.score.original
    assert found.broken == round(6 * (1 - found.score.consistency))
    assert "never prove" in found.score.caveat
    changed = sum(part.examples for part in found.score.by_transition.values())
    assert (found.score.sets, found.score.examples, changed) == (6, 12, 6)
    assert set(found.score.by_tag) <= {"negation", "wording"}
    again = results.model_contrast(db, blobs, owner, "mood/simple", "near@1")
    assert again == found


def test_consistency_is_a_metric_and_the_set_does_not_score_by_itself(db: Session, blobs: Blobs, owner: Actor) -> None:
    """The evaluation of the set has the same consistency."""
    told = results.model_contrast(db, blobs, owner, "mood/simple", "near")
    (found,) = [one for one in model_results(db, blobs, owner, "mood/simple") if one.dataset == "near"]
    assert found.metrics["consistency"]["value"] == pytest.approx(told.score.consistency)


def test_the_boundary_shows_which_sets_break_it(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Sets that break it come alone or among all; the original is first; a page is a page."""
    told = results.model_contrast(db, blobs, owner, "mood/simple", "near")
    broken = results.boundary(db, blobs, owner, "mood/simple", "near")
    assert broken.total == told.broken > 0
    assert all(not one.consistent and one.members[0].original for one in broken.sets)
    assert all(member.differs is not member.original for one in broken.sets for member in one.members)
    every = results.boundary(db, blobs, owner, "mood/simple", "near", show="all", offset=4, limit=4)
    assert (every.total, len(every.sets)) == (6, 2)
    for one in every.sets:
        for member in one.members:
            assert member.right is (says(member.inputs["text"]) == member.gold)
    with pytest.raises(BadInput):
        results.boundary(db, blobs, owner, "mood/simple", "near", show="some")
    with pytest.raises(NotFound, match="no contrast set"):
        results.model_contrast(db, blobs, owner, "mood/simple", "test")


def test_single_sets_of_hidden_labels_are_for_owners(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Others see the overall figures, and no part that rests on few examples."""
    rows = [
        {"text": text, "answer": label, "group": f"g{place}", "tags": [role, "wording"]}
        for place, (before, first, after, second) in enumerate(PAIRS)
        for text, label, role in ((before, first, "role:original"), (after, second, "role:contrast"))
    ]
    add_sentences(db, blobs, owner, tmp_path, "secret", rows, role="contrast")
    builder = find_or_make_person(db, "bert", RoleName.BUILDER)
    second = add_version(db, blobs, builder, tmp_path, "second")
    evaluated(db, blobs, second, lambda row: says(str(row["text"])), perturbed=(), measured=False)
    seen = results.model_contrast(db, blobs, worker, "mood/second", "secret")
    assert (seen.score.by_tag, seen.score.by_transition) == ({}, {})
    assert seen.score.sets == 8
    assert results.model_contrast(db, blobs, owner, "mood/second", "secret").score.by_tag
    with pytest.raises(Forbidden):
        results.boundary(db, blobs, worker, "mood/second", "secret")


def test_people_are_measured_on_pairs_they_did_not_write(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Author and originals' readers are kept out; figures come of whole pairs; few pairs are not enough."""
    xenia, yann = expert(db, "xenia"), expert(db, "yann")
    assert people.people_figures(db, owner, REF).pairs == 0
    opened = people.open_people(db, owner, REF, pairs=4)
    assert (opened.pairs, opened.judged, opened.enough) == (4, 0, False)
    validation = find_validation(db, "mood", "contrast-near")
    assert validation is not None
    items = list(db.scalars(select(ValidationItem).where(ValidationItem.validation_id == validation.id)))
    assert len(items) == 8
    assert {item.author_id for item in items} == {xenia.user_id}
    with transaction(db):
        for item in items[:6]:
            label = item.aim if item is not items[1] else "neither"
            db.add(
                Judgement(validation_id=validation.id, item_id=item.id, user_id=yann.user_id, label=label, seconds=1.0)
            )
    found = people.people_figures(db, owner, REF)
    assert (found.judged, found.judges) == (3, 1)
    assert found.figures is not None
    assert found.figures.original.value == 1.0
    assert found.figures.consistency.value == pytest.approx(2 / 3)
    with pytest.raises(Forbidden):
        people.people_figures(db, yann, REF)


def more_room(db: Session, blobs: Blobs, owner: Actor) -> str:
    """Open a second project, two examples of which are free."""
    text = (
        'task = "mood"\nname = "more"\ntitle = "More"\ndataset = "mood/test"\npivots = 2\n'
        "drafts = true\nscouting = 1\nchecks = 0\n"
    )
    return projects.put_project(db, blobs, owner, text).ref


def test_drafts_are_marked_and_need_somebody_to_confirm_them(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Rules offer drafts of what one has in hand; the variant keeps the name of the rule."""
    ref = more_room(db, blobs, owner)
    xenia = expert(db, "xenia")
    pivot = authoring.take_pivot(db, xenia, ref)
    found = drafts.list_drafts(db, xenia, ref, pivot.id).drafts
    assert found
    first = found[0]
    label = EDITS[pivot.inputs["text"]][1]
    edit = Edit({first.field: first.text}, label, draft=first.rule, reason="x", confirmed=True)
    assert authoring.add_variant(db, xenia, ref, pivot.id, edit).draft == first.rule
    with pytest.raises(Forbidden):
        drafts.list_drafts(db, expert(db, "yann"), ref, pivot.id)


def test_a_search_turns_a_named_model_and_is_logged(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """What is found makes that model say something else."""
    rows = [{"text": f"a {word} film {n}", "answer": label} for n in range(6) for word, label in WORDS.items()]
    add_sentences(db, blobs, owner, tmp_path, "train", rows, role="train", hidden=False)
    train(db, blobs, owner, "mood", "lexicon", ["mood/train"])
    ref = more_room(db, blobs, owner)
    xenia = expert(db, "xenia")
    pivot = authoring.take_pivot(db, xenia, ref)
    found = drafts.search_drafts(db, blobs, xenia, ref, pivot.id, "mood/lexicon").drafts
    assert all(one.model == "mood/lexicon@1" and one.label for one in found)
    log = db.scalars(select(AuditEntry.action).where(AuditEntry.subject == ref)).all()
    assert "contrast.search" in log


WORDS = {"good": "positive", "bad": "negative", "warm": "positive", "dull": "negative"}


def test_a_look_at_a_model_is_logged_and_takes_the_example_out(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """What was seen is never edited, and nobody looks more often than the owner allows."""
    rows = [{"text": f"a {word} film {n}", "answer": label} for n in range(6) for word, label in WORDS.items()]
    add_sentences(db, blobs, owner, tmp_path, "train", rows, role="train", hidden=False)
    train(db, blobs, owner, "mood", "lexicon", ["mood/train"])
    ref = more_room(db, blobs, owner)
    xenia = expert(db, "xenia")
    seen = scouting.scout(db, blobs, xenia, ref, "mood/lexicon")
    assert seen.answer in {"positive", "negative"}
    assert seen.left == 0
    with refusal(Conflict, "looked_enough"):
        scouting.scout(db, blobs, xenia, ref, "mood/lexicon")
    assert authoring.take_pivot(db, xenia, ref).id != seen.pivot
    with pytest.raises(NotFound):
        authoring.take_pivot(db, expert(db, "yann"), ref)
    assert db.scalars(select(ContrastLook.pivot_id)).all() == [seen.pivot]
    assert projects.get_project(db, owner, ref).progress.scouted == 1


def test_variants_come_in_a_file_whole_or_not_at_all(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """An original that is not in the project, a label outside the set and a text twice are named with their rows."""
    ref = more_room(db, blobs, owner)
    xenia = expert(db, "xenia")
    texts = []
    for _ in range(2):
        pivot = authoring.take_pivot(db, xenia, ref)
        texts.append(str(pivot.inputs["text"]))
        authoring.finish_pivot(db, xenia, ref, pivot.id, skip=True)
    rows = [{"original": text, "text": EDITS[text][0], "answer": EDITS[text][1]} for text in texts]
    file = tmp_path / "variants.jsonl"

    def put(*given: dict[str, str]) -> None:
        file.write_text("".join(json.dumps(row) + "\n" for row in given))

    put(rows[0], {**rows[0], "original": "Nobody wrote this."}, {**rows[1], "answer": "great"}, rows[0])
    with pytest.raises(BadInput) as caught:
        uploading.add_variants_file(db, owner, ref, file)
    told = {(fault.row, fault.field): str(fault.reason) for fault in caught.value.faults}
    assert "no example of this project" in told[2, "original"]
    assert "is not one of" in told[3, "answer"]
    assert "already" in told[4, "inputs"]
    assert projects.get_project(db, owner, ref).progress.variants == 0
    put(*rows)
    assert uploading.add_variants_file(db, owner, ref, file).added == 2
    assert releasing.release_project(db, blobs, owner, ref).sets == 2
    with pytest.raises(Forbidden):
        uploading.add_variants(db, xenia, ref, rows)
