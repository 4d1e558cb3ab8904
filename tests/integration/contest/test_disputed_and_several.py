"""Breakers who dispute a label of the starter set, files of 2017 as they are, and teams with several systems."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.contests import PairStatus
from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.people import ANONYMOUS, Actor
from quintain.services.contest import judging, offers, pairs, rulings, scores, systems, teams
from quintain.services.contest.freeze import freeze_due
from quintain.store.blobs import Blobs
from quintain.store.tables import ContestDispute
from tests.beginnings import Build
from tests.contests import (
    DEV,
    REF,
    add_contest,
    draft,
    during,
    make_teams,
    pair_texts,
    with_contest_task,
    write_answers,
)

DEV_TEXTS = [text for text, _ in DEV]


@pytest.fixture
def beginning() -> Build:
    """A task with a development set and a starter set, its owner olga, and people."""
    return with_contest_task


def _hand_in(db: Session, blobs: Blobs, actor: Actor, folder: Path, says: dict[str, str], system: str = "") -> None:
    systems.hand_in(db, blobs, actor, REF, write_answers(folder / "dev.csv", says, DEV_TEXTS), system=system)


@pytest.mark.both_databases
def test_a_disputed_starter_label_is_contested_and_scored_by_the_ruling(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Such a row is refused unless it says that it disputes; then it comes in, is contested, and a ruling counts."""
    add_contest(db, owner)
    make_teams(db, people)
    with during("build"):
        _hand_in(db, blobs, people["anna"], tmp_path, {"bad": "negative"})
    claim = draft(0, original_label="negative", modified_label="negative")
    with during("break"):
        with pytest.raises(BadInput, match="in the starter set it is 'positive'; say that you dispute it"):
            pairs.put_pair(db, blobs, people["ben"], REF, claim)
        kept = pairs.put_pair(db, blobs, people["ben"], REF, draft(0, original_label="negative", dispute=True))
        assert (kept.original_label, kept.claimed_label) == ("positive", "negative")
        # It is a draft like others: it can be changed so that it disputes nothing, and back.
        assert pairs.put_pair(db, blobs, people["ben"], REF, draft(0)).claimed_label is None
        pairs.put_pair(db, blobs, people["ben"], REF, draft(0, original_label="negative", dispute=True))
        assert db.scalars(select(ContestDispute)).all() == []
    with during("score"):
        assert freeze_due(db, blobs) == 1
        says = {"mad": "negative", "bad": "negative"}
        answers = write_answers(tmp_path / "pairs.csv", says, pair_texts()[:2])
        systems.hand_in(db, blobs, people["anna"], REF, answers)
    with during("review"):
        freeze_due(db, blobs)
        [disputed] = scores.list_pairs(db, blobs, people["anna"], REF, status="contested").pairs
        assert (disputed.original_label, disputed.claimed_label) == ("positive", "negative")
        shown = scores.get_pair(db, blobs, people["anna"], REF, disputed.id)
        assert shown is not None
        assert "starter set says 'positive'" in (shown.objections or ("",))[0]
        assert scores.results(db, blobs, owner, REF).score.contested == 1
        assert [claim.by for claim in rulings.list_disputes(db, owner, REF).disputes] == ["knots"]
        waiting = judging.next_to_judge(db, people["dan"], REF)
        assert waiting is not None
        assert waiting.id == disputed.id
        rulings.rule_pair(
            db, owner, REF, disputed.id, "relabel", original="negative", modified="positive", reason="Sic."
        )
        ruled = scores.get_pair(db, blobs, owner, REF, disputed.id)
        assert ruled is not None
        assert (ruled.status, ruled.original_label) == (PairStatus.SETTLED, "negative")
        # The system says positive of the original and negative of the other: both are wrong now, so it is not broken.
        assert scores.results(db, blobs, owner, REF).score.systems["words"].broken == 0
    [fact] = db.scalars(select(ContestDispute))
    assert fact.team_id is None


def test_a_file_of_2017_is_taken_as_it_is(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """`558_a` in one column, loose quotes and -1 for negative; what disputes the starter set is counted."""
    add_contest(db, owner)
    make_teams(db, people)
    file = tmp_path / "Team1_breaker_test.tsv"
    file.write_text(
        "sentence_id\tsentence\tsentiment_label\n"
        '1_a\tI love this film.\t1\n1_b\tI "love" this film.\t-1\n'
        "2_a\tA dull and bad evening.\t1\n2_b\tA dull and sad evening.\t-1\n"
    )
    with during("break"):
        with pytest.raises(BadInput, match=r"row 4, field 'original_label': is 'positive', and in the starter set"):
            pairs.upload_pairs(db, blobs, people["ben"], REF, file, preset="bibi-2017")
        with pytest.raises(BadInput, match="'bibi' is not one of table, bibi-2017"):
            pairs.upload_pairs(db, blobs, people["ben"], REF, file, preset="bibi")
        added = pairs.upload_pairs(db, blobs, people["ben"], REF, file, preset="bibi-2017", dispute=True)
        assert (added.added, added.disputed) == (2, 1)
        [first, second] = pairs.list_drafts(db, people["ben"], REF, "knots").pairs
        assert first.modified == {"text": 'I "love" this film.'}
        assert (second.original_label, second.claimed_label) == ("negative", "positive")


@pytest.mark.both_databases
def test_a_team_has_several_systems(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Each has its own answers and figures; which one is meant has to be said, and one can be taken out again."""
    add_contest(db, owner, "systems = 2\nsubmissions = 5")
    make_teams(db, people)
    cleo = people["cleo"]
    with during("build"):
        _hand_in(db, blobs, cleo, tmp_path, {}, "scnn")
        _hand_in(db, blobs, cleo, tmp_path, {"bad": "negative"}, "pcnn")
        with pytest.raises(BadInput, match="several systems: pcnn, scnn"):
            _hand_in(db, blobs, cleo, tmp_path, {})
        with pytest.raises(Conflict, match="has 2 systems, which is all"):
            _hand_in(db, blobs, cleo, tmp_path, {}, "rntn")
        systems.withdraw_system(db, cleo, REF, "scnn")
        with pytest.raises(Conflict, match="cannot be the name"):  # nor does it come back under another's answers
            _hand_in(db, blobs, cleo, tmp_path, {}, "scnn")
        _hand_in(db, blobs, cleo, tmp_path, {}, "rntn")
        with pytest.raises(NotFound, match="no system 'scnn'"):
            systems.withdraw_system(db, cleo, REF, "scnn")
        _hand_in(db, blobs, people["anna"], tmp_path, {})
        with pytest.raises(Conflict, match="cannot be the name"):
            _hand_in(db, blobs, people["anna"], tmp_path, {}, "rntn")
        for _ in range(2):
            _hand_in(db, blobs, cleo, tmp_path, {}, "rntn")
        with pytest.raises(Conflict, match="5 times"):  # of all its systems together
            _hand_in(db, blobs, cleo, tmp_path, {}, "pcnn")
        listed = systems.list_systems(db, blobs, cleo, REF)
        assert [(item.name, item.team, item.dev_accuracy) for item in listed] == [
            ("pcnn", "mixed", 1.0),
            ("rntn", "mixed", 0.5),
        ]
        assert [team.systems for team in teams.list_teams(db, people["ben"], REF)] == [(), (), ()]
    with during("break"):
        pairs.put_pair(db, blobs, cleo, REF, draft(0))
        known = {team.name: team.systems for team in teams.list_teams(db, ANONYMOUS, REF)}
        assert known == {"knots": (), "mixed": ("pcnn", "rntn"), "words": ("words",)}
    texts = pair_texts()[:2]
    with during("score"):
        file = write_answers(tmp_path / "pairs.csv", {"mad": "negative"}, texts)
        with pytest.raises(BadInput, match="several systems"):
            systems.hand_in(db, blobs, cleo, REF, file)
        with pytest.raises(BadInput, match="no system 'words'; it has pcnn, rntn"):
            systems.hand_in(db, blobs, cleo, REF, file, system="words")
        systems.hand_in(db, blobs, cleo, REF, file, system="pcnn")
        assert [item.step for item in offers.contest_offers(db, cleo, {"mood"})] == ["answer"]
        systems.hand_in(db, blobs, cleo, REF, write_answers(tmp_path / "rntn.csv", {}, texts), system="rntn")
        assert list(offers.contest_offers(db, cleo, {"mood"})) == []
    with during("over"):
        results = scores.results(db, blobs, ANONYMOUS, REF)
        assert {name: system.broken for name, system in results.score.systems.items()} == {"pcnn": 1, "rntn": 0}
        assert results.own == {"mixed": ("pcnn", "rntn")}
        assert results.score.breakers["mixed"].score == pytest.approx(0.5)
