"""A sample that is judged more often, and the writer's vote: the same on every page, in the export and from files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.core.records.validate import AskedPart
from quintain.core.release import ReleaseSpec
from quintain.services.plain.labels.aggregation import Aggregating, aggregate_source
from quintain.services.release.candidates import gather
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import export as judged_export
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console.item_rules import drawn_often
from quintain.services.validate.console.items import list_items
from quintain.services.validate.console.status import status
from quintain.services.validate.quality.final_labels import final_labels
from quintain.store.blobs import Blobs
from quintain.store.queries.validate import slots
from quintain.store.tables import ValidationItem
from tests.people import make_person
from tests.validation_support import REF, TASK, judge_all, make_judges, text_of, truth

POLICY = """
judgements = 2
minimum = 2
writer = true
setting = 4
automatic = false
[often]
judgements = 6
items = 3
minimum = 3
[gold]
rate = 0
"""


def _pool(db: Session, owner: Actor, policy: str, *, items: int = 12) -> Actor:
    """Open a validation of items of two parts; all were written by one person, who aims at what is true."""
    writer = make_person(db, "wanda", RoleName.WORKER)
    tasks.put_task(db, owner, TASK)
    validate.open_validation(db, owner, REF, policy, seed=7)
    rows = [
        {
            "inputs": {"text": text_of(number)},
            "answer": truth({"text": text_of(number)}),
            "author_id": writer.user_id,
            "part": "ab"[number % 2],
        }
        for number in range(items)
    ]
    validate.take_rows(db, owner, REF, rows)
    return writer


def _rows(db: Session) -> list[ValidationItem]:
    return [*db.scalars(select(ValidationItem).order_by(ValidationItem.id))]


def test_a_sample_of_each_part_is_judged_more_often_and_drawn_again_the_same(db: Session, owner: Actor) -> None:
    """Three of each part get six judgements, the others two; the seed alone draws the same three again."""
    _pool(db, owner, POLICY)
    found = _rows(db)
    assert {part: sum(one.asked == 6 for one in found if one.part == part) for part in "ab"} == {"a": 3, "b": 3}
    again = drawn_often(
        validate.find_validation(db, REF), [{"hash": one.hash, "part": one.part} for one in reversed(found)], known={}
    )
    assert again[::-1] == [one.asked for one in found]
    other = drawn_often(
        validate.find_validation(db, REF), [{"hash": one.hash, "part": one.part} for one in found], {"a": 3}
    )
    assert [one for one, row in zip(other, found, strict=True) if row.part == "a"] == [None] * 6
    told = status(db, owner, REF)
    assert told.asking.parts == [AskedPart("a", 6, 3), AskedPart("b", 6, 3)]
    assert told.forecast.judgements == told.progress.asked_without_adapting == 6 * 6 + 6 * 2
    judge_all(db, make_judges(db, 7))
    assert sum(slots.counts(db, validate.find_validation(db, REF).id).values()) == 48
    told = status(db, owner, REF)
    assert (told.progress.labelled, told.progress.judgements, told.progress.kept) == (12, 48, 6 * 4 + 6 * 2)


def test_more_that_is_taken_in_fills_the_sample_up_and_no_further(db: Session, owner: Actor) -> None:
    """What was drawn stays drawn; later items of a part whose sample is full get no more than all others."""
    _pool(db, owner, POLICY, items=4)
    before = {one.hash: one.asked for one in _rows(db)}
    assert [*before.values()] == [6] * 4
    rows = [{"inputs": {"text": text_of(number)}, "part": "a"} for number in range(20, 26)]
    validate.take_rows(db, owner, REF, rows)
    after = {one.hash: one.asked for one in _rows(db)}
    assert {key: after[key] for key in before} == before
    assert sum(one == 6 for key, one in after.items() if key not in before) == 1


def test_a_share_is_drawn_item_by_item(db: Session, owner: Actor) -> None:
    """Whether an item is in the sample does not depend on what came with it."""
    _pool(db, owner, POLICY.replace("items = 3", "share = 0.3"), items=60)
    found = _rows(db)
    assert 6 <= sum(one.asked is not None for one in found) <= 30
    ground = validate.find_validation(db, REF)
    assert [drawn_often(ground, [{"hash": one.hash}], {})[0] for one in found] == [one.asked for one in found]


def test_the_writers_vote_counts_alike_everywhere(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Pages, exports, a release, and labels made from exported judgements by the plain command are the same."""
    _pool(db, owner, POLICY)
    says = [truth, *([lambda inputs: "mixed"] * 4), *([truth] * 2)]
    judge_all(db, make_judges(db, 7), says)
    final = final_labels(db, validate.find_validation(db, REF))
    assert (final.votes.sum(axis=1) == [5 if one == 6 else 3 for one in final.asked.tolist()]).all()
    assert (final.writer >= 0).all()
    labels, judgements = tmp_path / "labels.jsonl", tmp_path / "judgements.csv"
    assert judged_export.export_labels(db, owner, REF, labels) == 12
    assert judged_export.export_judgements(db, owner, REF, judgements) == 48 + 12
    exported = pl.read_ndjson(labels)
    known = dict(exported.select("item", "label").iter_rows())
    assert dict(zip(exported["item"], final.names(), strict=True)) == known
    assert sorted(exported["asked"]) == [2] * 6 + [6] * 6
    made = aggregate_source(judgements, Aggregating())
    assert dict(zip(made.result.items, made.result.names(), strict=True)) == known
    assert {None, "mixed"} & {*known.values()}, "the judges and the writer never agree"
    listed = {one.id: one for one in list_items(db, owner, REF).items}
    for item, name in zip(final.items.tolist(), final.names(), strict=True):
        assert listed[item].label == name
        assert sum(listed[item].votes.values()) == final.votes[final.by_item()[item]].sum()
    released = gather(db, blobs, validate.find_validation(db, REF), ReleaseSpec())
    assert {
        row.id: [*released.labels, None][code] for row, code in zip(released.rows, released.label, strict=True)
    } == {item: one.label for item, one in listed.items()}
    assert released.votes.sum() == final.votes.sum()
    assert int(released.often.sum()) == 6
    counts = status(db, owner, REF).labels
    assert {name: counts.get(name or "no majority", 0) for name in known.values()} == {
        name: [*known.values()].count(name) for name in known.values()
    }


@pytest.mark.parametrize("method", ["majority", "dawid-skene", "distribution"])
def test_a_writer_decides_between_two_judges_by_any_method(db: Session, owner: Actor, method: str) -> None:
    """Of two judges who differ, the one is right with whom the writer agrees."""
    _pool(db, owner, f'method = "{method}"\njudgements = 2\nminimum = 2\nwriter = true\n[gold]\nrate = 0')
    judge_all(db, make_judges(db, 2), [truth, lambda inputs: "mixed"])
    items = {one.id: one.aim for one in _rows(db)}
    final = final_labels(db, validate.find_validation(db, REF))
    assert [items[item] for item in final.items.tolist()] == final.names()


def test_asking_adaptively_spares_no_judgement_of_the_sample(db: Session, owner: Actor) -> None:
    """Where the writer and one judge agree, the others are spared; the sample gets all of its judgements."""
    policy = POLICY.replace("judgements = 2\n", "judgements = 4\n", 1).replace("setting = 4\n", "")
    _pool(db, owner, policy + "[adaptive]\nthreshold = 0.9\nleast = 2\naccuracy = 0.9")
    judge_all(db, make_judges(db, 7))
    told = status(db, owner, REF)
    assert told.progress.judgements == 6 * 6 + 6 * 2
    assert (told.progress.saved, told.progress.asked_without_adapting) == (12, 6 * 6 + 6 * 4)
    assert told.progress.labelled == 12
