"""A contest on QA-SRL: the question stands, the answer is in the sentence, and spans are right by token F1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.example import Example
from quintain.core.people import Actor, RoleName
from quintain.data.plan import ImportPlan
from quintain.services.access.actors import actor_of, find_user
from quintain.services.contest import pairs, scores, systems, teams
from quintain.services.contest.contests import put_contest
from quintain.services.contest.pair_checks import PairDraft
from quintain.services.data.datasets import import_dataset
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from tests.contests import CONTEST, during
from tests.people import make_person

TASK = 'name = "mood"\nkind = "qa-srl"\ntitle = "Who did what"\n'
REF = "mood/spring"
FIXED = {"predicate": "beating", "question": "who beat someone ?"}
ORIGINAL = {"sentence": "UCD finished as champions by beating St Vincents in the final .", **FIXED}
MODIFIED = {"sentence": "UCD , not Cork , finished as champions by beating St Vincents in the final .", **FIXED}


@pytest.fixture
def breaker(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> Actor:
    """Somebody who breaks in a contest on semantic roles, in which ann builds."""
    put_task(db, owner, TASK)
    rows = [({"sentence": f"Team {n} won by beating Cork .", **FIXED}, f"Team {n}") for n in range(4)]
    for name, examples, hidden in (("dev", rows, True), ("starter", [(ORIGINAL, "UCD")], False)):
        file = tmp_path / f"{name}.jsonl"
        lines = [{**inputs, "answer": [{"text": text, "start": 0}]} for inputs, text in examples]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        import_dataset(db, blobs, owner, "mood", name, file, ImportPlan(role="dev", hidden=hidden))
    with during("coming"):
        put_contest(db, owner, CONTEST.format(more="threshold = 0.6"))
    builder, found = make_person(db, "ann"), make_person(db, "ben", RoleName.WORKER)
    with during("build"):
        teams.create_team(db, builder, REF, "words", "builder")
        teams.create_team(db, found, REF, "knots", "breaker")
        answers = [(inputs, text if "0" not in text else "Cork") for inputs, text in rows]
        systems.hand_in(db, blobs, builder, REF, _file(tmp_path, answers))
    return found


def _file(folder: Path, answers: list[tuple[dict[str, str], str]]) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps({"id": Example(one).id, "prediction": said}) + "\n" for one, said in answers))
    return path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"modified_label": "Leeds"}, "modified_label.*is not in 'sentence'"),
        ({"modified": {**MODIFIED, "question": "who was beaten ?"}}, "'question' is fixed"),
        ({"original_label": "the final"}, "in the starter set it is 'UCD'"),
    ],
)
def test_a_pair_on_roles_is_checked(
    db: Session, blobs: Blobs, breaker: Actor, changes: dict[str, Any], reason: str
) -> None:
    """The answer is a piece of the sentence, and the question and the original's answer stand."""
    values = {"name": "r1", "original": ORIGINAL, "modified": MODIFIED, "modified_label": "UCD", **changes}
    with during("break"), pytest.raises(BadInput, match=reason):
        pairs.put_pair(db, blobs, breaker, REF, PairDraft(**values))


def test_spans_are_right_by_token_f1(db: Session, blobs: Blobs, owner: Actor, breaker: Actor, tmp_path: Path) -> None:
    """Half an answer may be enough, as the threshold says, and builders have the mean token F1."""
    with during("break"):
        table = tmp_path / "roles.csv"
        table.write_text(
            "pair_id,side,sentence,predicate,question,label\n"
            f'r1,a,"{ORIGINAL["sentence"]}",beating,who beat someone ?,UCD\n'
            f'r1,b,"{MODIFIED["sentence"]}",,,UCD\n'
        )
        assert pairs.upload_pairs(db, blobs, breaker, REF, table).added == 1
    with during("score"):
        builder = actor_of(db, find_user(db, "ann"))
        said = [(ORIGINAL, "UCD finished"), (MODIFIED, "Cork")]
        systems.hand_in(db, blobs, builder, REF, _file(tmp_path, said))
        found = scores.results(db, blobs, owner, REF)
    assert found.dev_accuracy == {"words": 0.75}
    assert (found.score.metric, found.score.threshold) == ("f1", 0.6)
    assert found.score.systems["words"].broken == 1
    assert found.score.systems["words"].average_f1 == pytest.approx((2 / 3 + 0) / 2)
    assert found.score.breakers["knots"].score == pytest.approx(0.75)
    assert "--metric f1 --threshold 0.6" in found.command
