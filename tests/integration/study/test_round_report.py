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


def right_on(share: int) -> Says:
    """Make a model that is right on *share* in ten of the texts, so that models can be told apart."""

    def say(row: object) -> str:
        answer = str(row["answer"])  # type: ignore[index]
        easy = sum(map(ord, str(row["text"]))) % 10 < share  # type: ignore[index]
        return answer if easy else next(label for label in LABELS if label != answer)

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
    for share in (2, 5, 9):
        model = add_version(db, workspace.blobs, owner, tmp_path, f"m{share}")
        evaluated(db, workspace.blobs, model, right_on(share), perturbed=(), measured=False)

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
