"""A rival that contests eighteen of a hundred pairs takes none of them out of the final score."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import ANONYMOUS, Actor
from quintain.services.contest import contests, pairs, rulings, scores, systems, teams
from quintain.store.blobs import Blobs
from tests.beginnings import Build
from tests.contests import DEV, REF, STARTER, add_contest, during, make_teams, with_contest_task, write_answers
from tests.refusals import refusal

REASON = "The evening is still blamed in it."


@pytest.fixture
def beginning() -> Build:
    """A task with a development set and a starter set, its owner olga, and people."""
    return with_contest_task


def test_a_rival_cannot_take_eighteen_of_a_hundred_pairs_out_of_the_score(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Without answers and with "x" nothing is contested; with both ten pairs are; at the end all hundred count."""
    add_contest(db, owner)
    make_teams(db, people)
    texts = [text for text, _ in DEV]
    with during("build"):
        teams.create_team(db, people["dan"], REF, "rivals", "both")
        for name in ("anna", "dan"):
            systems.hand_in(db, blobs, people[name], REF, write_answers(tmp_path / "dev.csv", {}, texts))
    lines = ["pair_id,side,text,label"]
    for number in range(100):
        original, label = STARTER[number % len(STARTER)]
        modified, other = f"{original[:-1]} {number}.", "negative" if label == "positive" else "positive"
        texts += [original, modified]
        lines += [f"q{number},a,{original},{label}", f"q{number},b,{modified},{other}"]
    table = tmp_path / "pairs.csv"
    table.write_text("\n".join(lines) + "\n")
    with during("break"):
        pairs.upload_pairs(db, blobs, people["ben"], REF, table)
    with during("score"):
        asked = list(dict.fromkeys(texts[len(DEV) :]))
        systems.hand_in(db, blobs, people["anna"], REF, write_answers(tmp_path / "said.csv", {}, asked))
        assert contests.find_contest(db, REF).spec.disputes == 10
    with during("review"):
        before = scores.results(db, blobs, owner, REF).score
        ids = [one.id for one in scores.list_pairs(db, blobs, owner, REF, limit=18).pairs]
        for pair in ids:
            with pytest.raises(BadInput, match="says too little"):
                rulings.contest_pair(db, people["dan"], REF, pair, "x")
            with refusal(Forbidden, "no_answers") as refused:
                rulings.contest_pair(db, people["dan"], REF, pair, REASON)
        assert refused.value.code == "no_answers"
        for pair in ids[:10]:
            rulings.contest_pair(db, people["anna"], REF, pair, REASON)
        for pair in ids[10:]:
            with pytest.raises(Conflict, match="contested 10 pairs, which is all") as refused_again:
                rulings.contest_pair(db, people["anna"], REF, pair, REASON)
        assert refused_again.value.code == "too_many_disputes"
        assert scores.results(db, blobs, owner, REF).score.contested == 10
    with during("over"):
        after = scores.results(db, blobs, ANONYMOUS, REF)
        assert (after.score.breakers, after.score.contested) == (before.breakers, 0)
        assert (after.expired, after.provisional) == (10, False)
        assert "10 pairs count as they were written: nobody settled their labels in time." in after.notes
        assert scores.list_pairs(db, blobs, ANONYMOUS, REF, status="expired").total == 10
