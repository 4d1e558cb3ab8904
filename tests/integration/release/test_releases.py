"""Releases: what is promised of train, dev and test, counted on the data sets themselves."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import Actor, RoleName
from quintain.core.records.release import Release
from quintain.core.release import ReleaseSpec
from quintain.data.plan import ImportPlan
from quintain.services.data import origins
from quintain.services.data.content import scan
from quintain.services.data.datasets import get_version, import_dataset, list_versions
from quintain.services.data.inputs import set_inputs
from quintain.services.models.train import train
from quintain.services.release import releases as service
from quintain.services.release.releases import parse_release
from quintain.services.validate.console import manage as validate
from quintain.store.database import transaction
from quintain.store.queries.release import releases as queries
from quintain.store.tables import Dataset, Judgement, ReleaseRow
from tests.people import make_person
from tests.refusals import refusal
from tests.released import MODEL, REF, Made, judge, judged_round, mood_items, read_split
from tests.validation_support import LABELS, make_ground, text_of

PLAIN = ReleaseSpec(dev=18, test=18, checked=(), even=(), writers="any")


def made_of(workspace: Workspace, db: Session, owner: Actor, spec: ReleaseSpec = PLAIN) -> Release:
    return service.release(db, workspace.blobs, owner, REF, spec)


def rows_of(workspace: Workspace, db: Session, owner: Actor, made: Release) -> dict[str, list[dict[str, Any]]]:
    return {split: read_split(db, workspace.blobs, owner, ref) for split, ref in made.versions.items()}


def f1(rows: list[dict[str, Any]], label: str) -> float:
    """Count the model's F1 by hand, from what the data set says."""
    pairs = [(row["answer"], row["meta"]["predictions"][MODEL]) for row in rows]
    hits = sum(gold == said == label for gold, said in pairs)
    missed = sum(gold == label != said for gold, said in pairs)
    wrong = sum(said == label != gold for gold, said in pairs)
    return 2 * hits / (2 * hits + missed + wrong)


def test_every_promise_is_kept_in_dev_and_test(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Classes are balanced, the model is at chance, ratings are even, people agree, and no writer is in two splits."""
    judged_round(db, owner, mood_items(20, writers=12))
    made = made_of(workspace, db, owner, replace(PLAIN, even=("rating",), writers="disjoint"))
    rows = rows_of(workspace, db, owner, made)
    for split in ("dev", "test"):
        held = rows[split]
        assert Counter(row["answer"] for row in held) == dict.fromkeys(LABELS, 6)
        assert [f1(held, label) for label in LABELS] == pytest.approx([1 / 3] * 3)
        ratings = [Counter(row["meta"]["source"]["rating"] for row in held if row["answer"] == one) for one in LABELS]
        assert ratings[0] == ratings[1] == ratings[2]
        assert all(row["meta"]["label_distribution"][row["answer"]] >= 4 for row in held)
    writers = {split: {row["meta"]["writer"] for row in held} for split, held in rows.items()}
    assert not writers["dev"] & writers["test"]
    assert not writers["train"] & (writers["dev"] | writers["test"])
    texts = [row["text"] for held in rows.values() for row in held]
    assert len(set(texts)) == len(texts)


def test_the_report_says_what_is_in_the_data_sets(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Counts, votes, F1 and writers of the report are those that counting the data sets gives."""
    judged_round(db, owner, mood_items(8))
    made = made_of(workspace, db, owner)
    rows = rows_of(workspace, db, owner, made)
    for split in made.report.splits:
        held = rows[split.split]
        assert split.rows == len(held)
        assert {name: count for name, count in split.labels.items() if count} == Counter(row["answer"] for row in held)
        assert split.votes["neutral"] == sum(row["meta"]["label_distribution"]["neutral"] for row in held)
        assert split.f1 == pytest.approx({label: f1(held, label) for label in LABELS})
        assert split.writers == len({row["meta"]["writer"] for row in held})
    everywhere = [{row["meta"]["writer"] for row in held} for held in rows.values()]
    shared = Counter(name for names in everywhere for name in names)
    assert made.report.shared_writers == sum(count > 1 for count in shared.values())


def test_what_may_not_be_held_out_stays_in_train_with_a_flag(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Mixed items, those without a majority, without a prompt or with a used one are in train, and say so."""
    odd = [
        Made("The soup was lovely, the waiter rude.", "neutral", ("mixed",) * 5, prompt=900),
        Made("Whatever this might be called tonight.", "neutral", ("negative",) * 2 + ("neutral",) * 2 + ("mixed",)),
        Made("Quite brilliant, from the first bite on.", "neutral", ("positive",) * 5),
        Made("Chairs stood outside on wet gravel.", "neutral", ("neutral",) * 5, prompt=901),
        Made("Umbrellas hung over every doorway.", "neutral", ("neutral",) * 5, prompt=901),
        Made("Only three of us liked that melon.", "neutral", ("positive",) * 3 + ("neutral",) * 2, prompt=902),
    ]
    judged_round(db, owner, [*mood_items(5), *odd])
    rows = rows_of(workspace, db, owner, made_of(workspace, db, owner))
    train = {row["text"]: row for row in rows["train"]}
    assert [train[one.text]["tags"] for one in odd] == [
        ["mixed"],
        ["no-majority", "no-prompt"],
        ["no-prompt"],
        ["repeated-prompt"],
        ["repeated-prompt"],
        [],
    ]
    assert [train[one.text]["answer"] for one in odd] == [None, None, "positive", "neutral", "neutral", "positive"]
    assert all(not row["tags"] for split in ("dev", "test") for row in rows[split])


def test_a_model_is_trained_on_what_has_an_answer(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Training on a release leaves out mixed items, and the model's card counts the others."""
    odd = Made("The soup was lovely, the waiter rude.", "neutral", ("mixed",) * 5, prompt=900)
    judged_round(db, owner, [*mood_items(5), odd])
    made = made_of(workspace, db, owner)
    trained = train(db, workspace.blobs, owner, "mood", "ngram", [made.versions["train"]])
    assert made.report.splits[0].rows == 10
    assert "(9 examples)" in trained.card


def twice_tried(per_cell: int = 12) -> list[Made]:
    """Make sessions of two tries on one prompt, of which the second fools the model."""
    items = mood_items(per_cell, writers=9)
    right = [one for one in items if one.said == one.votes[0]]
    wrong = [one for one in items if one.said != one.votes[0]]
    return [replace(one, prompt=at % len(right), writer=at % len(right) % 9) for at, one in enumerate([*right, *wrong])]


def test_of_each_prompt_one_item_is_held_out(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Writers who try again on a prompt fill dev and test, which have one item of each; the rest is for train."""
    judged_round(db, owner, twice_tried())
    with pytest.raises(BadInput, match="Without 'unique_prompts'"):
        service.preview(db, workspace.blobs, owner, REF, replace(PLAIN, dev=27, test=27))
    rows = rows_of(workspace, db, owner, made_of(workspace, db, owner))
    held = [row for split in ("dev", "test") for row in rows[split]]
    prompts = Counter(row["meta"]["prompt"]["text"] for row in held)
    assert (len(held), max(prompts.values())) == (36, 1)
    assert prompts.keys() <= {row["meta"]["prompt"]["text"] for row in rows["train"]}
    assert [f1(rows["dev"], label) for label in LABELS] == pytest.approx([1 / 3] * 3)
    assert {row["tags"][0] for row in rows["train"]} == {"repeated-prompt"}


def test_prompts_may_be_kept_on_one_side(workspace: Workspace, db: Session, owner: Actor) -> None:
    """With `apart`, what is left over of a held-out prompt is in no data set, and the report counts it."""
    tries = twice_tried()
    judged_round(db, owner, tries)
    made = made_of(workspace, db, owner, replace(PLAIN, apart=("prompt",)))
    rows = rows_of(workspace, db, owner, made)
    homes: dict[str, set[str]] = {}
    for split, held in rows.items():
        for row in held:
            homes.setdefault(row["meta"]["prompt"]["text"], set()).add(split)
    assert all(len(splits) == 1 for splits in homes.values())
    lost = made.report.left_out["another of its prompt is in dev or test"]
    assert lost == len(tries) - sum(len(held) for held in rows.values()) > 0


def test_the_preview_says_what_constraints_cost(workspace: Workspace, db: Session, owner: Actor) -> None:
    """For every constraint that takes anything away: the next weaker one, and what would be gained by it."""
    items = twice_tried(20)
    mixed = [replace(one, votes=(*one.votes[:3], "mixed", "mixed")) for one in items]
    judged_round(db, owner, [mixed[at] if at % 4 == 0 else one for at, one in enumerate(items)])
    spec = replace(PLAIN, dev=9, test=9, writers="disjoint")
    costs = service.preview(db, workspace.blobs, owner, REF, spec).costs
    assert costs is not None
    by_name = {one.constraint: one for one in costs.constraints}
    assert set(by_name) == {"at_chance", "agreement", "writers", "unique_prompts"}
    assert (by_name["writers"].value, by_name["writers"].weaker) == ("disjoint", "capped")
    assert by_name["writers"].kept == len(items)
    assert by_name["writers"].costs_kept == len(items) - costs.kept > 0
    assert (by_name["agreement"].value, by_name["agreement"].weaker) == ("0.8", "0.6")
    assert by_name["agreement"].costs_held_out > 0
    capped = service.preview(db, workspace.blobs, owner, REF, replace(spec, writers="capped")).costs
    assert capped is not None
    assert (capped.kept, capped.held_out) == (by_name["writers"].kept, by_name["writers"].held_out)


def test_near_duplicates_are_never_across_splits(workspace: Workspace, db: Session, owner: Actor) -> None:
    """A text and its near copy are both in train, flagged; or one of them is held out, and the other in no data set."""
    items = mood_items(5)
    copies = [replace(one, text=one.text.replace("met", "meet"), prompt=900 + at) for at, one in enumerate(items[::9])]
    judged_round(db, owner, [*items, *copies])
    made = made_of(workspace, db, owner)
    rows = rows_of(workspace, db, owner, made)
    where = {row["text"]: (split, row["tags"]) for split, held in rows.items() for row in held}
    lost = 0
    for one, copy in zip(items[::9], copies, strict=True):
        found = [where[text] for text in (one.text, copy.text) if text in where]
        if len(found) == 2:
            assert found == [("train", ["near-duplicate"])] * 2
        else:
            assert [split for split, _ in found] in (["dev"], ["test"])
            lost += 1
    assert made.report.left_out.get("nearly the same is in dev or test", 0) == lost
    assert lost, "one of a group can be held out"


def test_a_label_that_can_be_read_is_not_hidden(
    workspace: Workspace, db: Session, owner: Actor, tmp_path: Path
) -> None:
    """Texts that an open data set has with their answers are not in hidden test; dev and open test may have them."""
    items = mood_items(5)
    judged_round(db, owner, items)
    known = items[::4]
    (file := tmp_path / "known.jsonl").write_text(
        "".join(json.dumps({"text": one.text, "answer": one.votes[0]}) + "\n" for one in known)
    )
    import_dataset(db, workspace.blobs, owner, "mood", "known", file, ImportPlan(role="train"))
    rows = rows_of(workspace, db, owner, made_of(workspace, db, owner, replace(PLAIN, dev=9, test=9)))
    open_texts = {one.text for one in known}
    assert not open_texts & {row["text"] for row in rows["test"]}
    assert open_texts & {row["text"] for split in ("train", "dev") for row in rows[split]}
    with pytest.raises(BadInput, match="If no open data set had texts of it") as refused:
        service.preview(db, workspace.blobs, owner, REF, replace(PLAIN, dev=9, test=36))
    assert refused.value.code == "splits_clash"
    shown = service.preview(db, workspace.blobs, owner, REF, replace(PLAIN, dev=9, test=36, hidden=False))
    assert shown.report.splits[-1].rows == 36


def test_test_labels_are_hidden_and_roles_are_set(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Each version has its role; who is no owner sees neither the answers of test nor anybody's votes."""
    judged_round(db, owner, mood_items(5))
    made = made_of(workspace, db, owner)
    found = {split: get_version(db, owner, ref) for split, ref in made.versions.items()}
    assert {split: (one.role, one.hidden) for split, one in found.items()} == {
        "train": ("train", False),
        "dev": ("dev", False),
        "test": ("test", True),
    }
    reader = make_person(db, "rita", RoleName.WORKER)
    with pytest.raises(Forbidden):
        scan(db, workspace.blobs, reader, made.versions["test"], answers=True)
    with refusal(Forbidden, "inputs_closed"):
        scan(db, workspace.blobs, reader, made.versions["test"], answers=False)
    set_inputs(db, owner, made.versions["test"], "open")
    seen = scan(db, workspace.blobs, reader, made.versions["test"], answers=False).collect()
    assert "answer" not in seen.columns
    assert "meta" not in seen.columns


def test_a_second_release_does_not_undo_what_the_first_hides(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Other splits of the same items could show in train what is hidden in test: refused, and nothing is left of it."""
    judged_round(db, owner, mood_items(5))
    first = made_of(workspace, db, owner)
    with pytest.raises(Conflict) as refused:
        made_of(workspace, db, owner, replace(PLAIN, seed=1))
    assert refused.value.code == "released_before"
    db.rollback()
    assert [one.number for one in service.list_releases(db, owner, REF).releases] == [first.number]
    assert made_of(workspace, db, owner).new is False


def test_the_same_release_again_is_the_same(workspace: Workspace, db: Session, owner: Actor) -> None:
    """The same specification on the same judgements gives the same versions, and no second release."""
    judged_round(db, owner, mood_items(5))
    first, second = made_of(workspace, db, owner), made_of(workspace, db, owner)
    assert (first.new, second.new) == (True, False)
    assert first.versions == second.versions
    assert second.number == first.number == 1
    other = made_of(workspace, db, owner, replace(PLAIN, seed=1, again=True))
    assert other.number == 2
    assert other.versions["dev"] != first.versions["dev"]
    assert [one.number for one in service.list_releases(db, owner, REF).releases] == [2, 1]


def test_looking_writes_nothing(workspace: Workspace, db: Session, owner: Actor) -> None:
    """A preview has the report of the release, and leaves no data set behind."""
    judged_round(db, owner, mood_items(5))
    looked = service.preview(db, workspace.blobs, owner, REF, PLAIN)
    assert list_versions(db, owner) == []
    made = made_of(workspace, db, owner)
    assert looked.report == made.report
    assert (looked.costs is None, made.costs is None) == (False, True)


def test_what_is_too_much_is_refused_with_what_would_work(workspace: Workspace, db: Session, owner: Actor) -> None:
    """The refusal names the wishes that clash, and the largest sizes; both of its numbers are true."""
    items = mood_items(5)
    unsure = [replace(one, votes=(*one.votes[:3], "mixed", "mixed")) if at % 5 else one for at, one in enumerate(items)]
    judged_round(db, owner, unsure)
    with pytest.raises(BadInput, match=r"at most dev 0, test 9|at most dev 9, test 0") as refused:
        service.preview(db, workspace.blobs, owner, REF, PLAIN)
    assert "With less 'agreement': dev 18, test 18." in str(refused.value)
    assert refused.value.code == "splits_clash"
    easier = replace(PLAIN, agreement=0.6)
    assert [one.rows for one in service.preview(db, workspace.blobs, owner, REF, easier).report.splits] == [9, 18, 18]


def test_too_few_items_and_a_class_without_agreement_are_refused(
    workspace: Workspace, db: Session, owner: Actor
) -> None:
    """The refusal says the largest sizes, and which wish stands in the way; nothing is released."""
    items = [
        replace(one, votes=(*one.votes[:4], "mixed")) if one.votes[0] == "positive" else one for one in mood_items(3)
    ]
    judged_round(db, owner, items)
    with pytest.raises(BadInput, match="at most dev 0, test 0") as refused:
        made_of(workspace, db, owner, replace(PLAIN, dev=9, test=9, agreement=1.0))
    assert "With less 'agreement': dev 9, test 9." in str(refused.value)
    with pytest.raises(BadInput, match="No single wish is to blame; there are too few items") as refused:
        made_of(workspace, db, owner, replace(PLAIN, dev=900, test=900, at_chance=False, balanced=False))
    assert refused.value.code == "splits_clash"
    assert list_versions(db, owner) == []


def test_a_size_with_broken_shares_is_refused(workspace: Workspace, db: Session, owner: Actor) -> None:
    """At chance on three classes needs multiples of nine, and the refusal says which is next."""
    judged_round(db, owner, mood_items(5))
    with pytest.raises(BadInput, match="multiples of 9") as refused:
        service.preview(db, workspace.blobs, owner, REF, replace(PLAIN, dev=20))
    assert "Ask for 18" in str(refused.value)


def test_a_round_of_fooling_items_alone_cannot_be_at_chance(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Where only what fooled the model is judged, at-chance is refused with that reason."""
    judged_round(db, owner, [one for one in mood_items(8) if one.said != one.votes[0]], 'items = "fooling"')
    with refusal(BadInput, "only_fooling"):
        service.preview(db, workspace.blobs, owner, REF, PLAIN)
    assert service.preview(db, workspace.blobs, owner, REF, replace(PLAIN, at_chance=False)).report.splits[1].rows == 18


def test_an_attribute_that_gives_the_class_away_is_made_even(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Where a checked attribute predicts the class it is made even; where that cannot be, the refusal names it."""
    items = mood_items(12)
    longer = {"negative": "", "neutral": " and so on", "positive": " and so on, all through that long grey autumn"}
    told = [replace(one, text=one.text + longer[one.votes[0]]) if at % 3 else one for at, one in enumerate(items)]
    judged_round(db, owner, told)
    spec = replace(PLAIN, dev=9, test=9, checked=("length",))
    report = service.preview(db, workspace.blobs, owner, REF, spec).report
    assert [(one.attribute, one.even, one.gain) for one in report.gains] == [("length", True, 0.0)]
    assert all(len(set(counts.values())) == 1 for one in report.splits[1:] for counts in one.even["length"].values())
    with pytest.raises(BadInput, match="length predicts the class") as refused:
        service.preview(db, workspace.blobs, owner, REF, replace(spec, dev=45, test=45))
    assert refused.value.code == "gives_away"


def test_a_harvest_is_released_with_its_ratings(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Items from a file have no writer and no prompt; the ratings of their reviews are made even."""
    make_ground(db, owner, items=0)
    items = [replace(one, text=f"{one.text} {text_of(at)}") for at, one in enumerate(mood_items(10))]
    validate.add_items(
        db,
        owner,
        "mood/check",
        [
            {
                "inputs": {"text": one.text},
                "predictions": [{"model": MODEL, "answer": one.said}],
                "rating": 1 + LABELS.index(one.votes[0]) if at % 2 else 3,
                "review": f"r-{at // 2}",
                "about": {"city": "Graz"},
            }
            for at, one in enumerate(items)
        ],
    )
    judge(db, {one.text: one.votes for one in items}, "mood/check")
    spec = ReleaseSpec(dev=9, test=9, similarity=0.95, apart=("review",))
    made = service.release(db, workspace.blobs, owner, "mood/check", spec)
    assert list(made.versions.values()) == ["mood/check-train@1", "mood/check-dev@1", "mood/check-test@1"]
    for ref in (made.versions["dev"], made.versions["test"]):
        rows = read_split(db, workspace.blobs, owner, ref)
        ratings = [Counter(row["meta"]["source"]["rating"] for row in rows if row["answer"] == one) for one in LABELS]
        assert ratings[0] == ratings[1] == ratings[2]
    homes: dict[str, set[str]] = {one: set() for one in ("train", "dev", "test")}
    for split, ref in made.versions.items():
        table = scan(db, workspace.blobs, owner, ref, answers=True).collect()
        facts = [json.loads(meta)["source"] for meta in table["meta"]]
        assert {one["city"] for one in facts} == {"Graz"}
        homes[split] = {one["review"] for one in facts}
    assert not homes["dev"] & homes["test"] | homes["train"] & (homes["dev"] | homes["test"])
    assert origins.origin_of(db, owner, made.versions["dev"]) == origins.Origin("mood", "check", 1, None)


@pytest.mark.both_databases
def test_nothing_is_half_released(
    workspace: Workspace, db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it fails after the versions were kept, no version, data set or release is there; then it works."""
    judged_round(db, owner, mood_items(5))

    def fail(*_: object) -> None:
        raise OSError("The disk is gone.")

    with monkeypatch.context() as broken:
        broken.setattr(queries, "add", fail)
        with pytest.raises(OSError, match="disk"):
            made_of(workspace, db, owner)
    assert db.scalar(select(func.count()).select_from(Dataset)) == 0
    assert db.scalar(select(func.count()).select_from(ReleaseRow)) == 0
    assert made_of(workspace, db, owner).number == 1


def test_what_changes_while_it_is_solved_is_not_released(
    workspace: Workspace, db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judgement that comes in between makes a conflict, not a release of what nobody has seen."""
    judged_round(db, owner, mood_items(5))
    solved = service.plan_splits
    late = make_person(db, "late", RoleName.WORKER)

    def meanwhile(candidates: Any, spec: ReleaseSpec) -> Any:
        plan = solved(candidates, spec)
        with transaction(db):
            first = candidates.rows[0].id
            validation = candidates.validation.id
            db.add(Judgement(validation_id=validation, item_id=first, user_id=late.user_id, label="mixed"))
            validate.set_policy(db, owner, REF, 'items = "all"\njudgements = 6')
        return plan

    monkeypatch.setattr(service, "plan_splits", meanwhile)
    with pytest.raises(Conflict, match="changed in the meantime"):
        made_of(workspace, db, owner)
    assert list_versions(db, owner) == []


def test_what_is_still_judged_is_not_released(workspace: Workspace, db: Session, owner: Actor) -> None:
    """An open validation whose items wait for judgements is refused, with how many."""
    make_ground(db, owner, items=6)
    with pytest.raises(Conflict, match="6 items of mood/check still wait"):
        service.preview(db, workspace.blobs, owner, "mood/check", PLAIN)


def test_only_owners_release(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Somebody without the role may neither look, nor release, nor list."""
    judged_round(db, owner, mood_items(5))
    stranger = make_person(db, "sid", RoleName.WORKER)
    with pytest.raises(Forbidden):
        service.preview(db, workspace.blobs, stranger, REF, PLAIN)
    with pytest.raises(Forbidden):
        made_of(workspace, db, stranger)
    with pytest.raises(Forbidden):
        service.list_releases(db, stranger, REF)


def test_a_specification_names_every_fault() -> None:
    """All faults of a file are said at once, with their places."""
    with pytest.raises(BadInput) as refused:
        parse_release('dev = -1\nwriters = "some"\nevn = []', file="release.toml")
    assert [one.field for one in refused.value.faults] == ["evn", "dev", "writers"]
    with pytest.raises(BadInput, match="any of rating, condition, length, writer"):
        parse_release('even = ["star"]')
    with pytest.raises(BadInput, match="nothing would be held out"):
        parse_release("dev = 0\ntest = 0")
