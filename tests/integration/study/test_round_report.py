"""What a released round tells: artefacts with its writers, and how hard its texts are by condition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.core.release import ReleaseSpec
from quintain.services.release.releases import release
from quintain.services.study.stored import examples_of, joined, stored_set
from quintain.services.study.whole import whole_report
from quintain.services.tasks.definitions import get_task
from tests.boards import Says, add_version, evaluated
from tests.released import REF, judged_round, mood_items
from tests.validation_support import LABELS

SPEC = ReleaseSpec(dev=18, test=18, checked=(), even=(), writers="any", prompted=False)


def sometimes(every: int) -> Says:
    """Make a model that errs on the texts whose letters add up to a multiple of *every*."""

    def say(row: object) -> str:
        text = str(row["text"])  # type: ignore[index]
        return LABELS[sum(map(ord, text)) // every % 3]

    return say


def test_a_released_round_tells_of_answers_writers_and_difficulty(
    workspace: Workspace, db: Session, owner: Actor, tmp_path: Path
) -> None:
    """Before the release there is nothing of them; after it, all splits count, and those that were run by condition."""
    half = [replace(one, prompt=None) if at % 2 else one for at, one in enumerate(mood_items(10))]
    judged_round(db, owner, half)
    before = {one.key for one in whole_report(db, workspace.blobs, owner, REF).sections}
    assert not before & {"partial", "people", "difficulty"}
    made = release(db, workspace.blobs, owner, REF, SPEC)
    for every in (3, 5, 7):
        model = add_version(db, workspace.blobs, owner, tmp_path, f"m{every}")
        evaluated(db, workspace.blobs, model, sometimes(every), perturbed=(), measured=False)

    report = whole_report(db, workspace.blobs, owner, REF)

    sections = {one.key: one for one in report.sections}
    assert len(sections) == len(report.sections)
    assert any("of the same writer" in str(one) for one in sections["people"].findings)
    assert any("Who wrote a text tells its label" in str(one) for one in sections["people"].findings)
    by_condition = {row[0]: row[1] for row in sections["difficulty"].tables[0].rows}
    assert set(by_condition) == {"none", "prompt"}
    task = get_task(db, "mood")
    sets = [stored_set(db, workspace.blobs, owner, task, ref) for ref in made.versions.values()]
    found = examples_of(joined(sets))
    assert found is not None
    assert (
        sum(int(str(one)) for one in by_condition.values()) == sum(one.table.height for one in sets if one.said) == 36
    )
    assert len(found[0]) == 90
    assert len(set(found[0].writer)) == 6
