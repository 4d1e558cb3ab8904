"""A contest in which everybody did their part: its figures, contested pairs, decisions, reference systems."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName
from quintain.core.records.base import to_json
from quintain.core.records.jobs import FigureCheck
from quintain.services.contest import contests, freeze, judging, pair_checks, pairs, recount, rulings, scores, systems
from quintain.services.contest.figures import LISTED, SCORE
from quintain.services.contest.pair_checks import starter_labels
from quintain.services.data.datasets import may_see_answers
from quintain.services.jobs import figures
from quintain.services.jobs.checks import CheckKind
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.contest import marks
from quintain.store.tables import ContestMark, KeptFigure, ResultCache
from tests.beginnings import Build
from tests.contests import (
    DEV,
    REF,
    draft,
    during,
    pair_texts,
    with_whole_contest,
    write_answers,
)
from tests.people import make_person
from tests.refusals import refusal
from tests.statements import counted


@pytest.fixture
def beginning() -> Build:
    """A contest of three teams in which everybody did their part."""
    return with_whole_contest


@pytest.mark.both_databases
def test_a_whole_contest_has_the_figures_that_follow_by_hand(
    db: Session, blobs: Blobs, people: dict[str, Actor]
) -> None:
    """Accuracy × share broken, averaged over the systems; a pair breaks what has exactly one side right."""
    with during("review"):
        found = scores.results(db, blobs, people["anna"], REF)
    assert found.dev_accuracy == {"mixed": 0.5, "words": 1.0}
    score = found.score
    # words: "mad" makes it miss pair 0, negation pair 1, and it has pair 2 right; mixed always says positive.
    assert {name: one.broken for name, one in score.systems.items()} == {"mixed": 2, "words": 2}
    assert score.breakers["knots"].score == pytest.approx((0.5 * 0.5 + 1.0 * 1.0) / 2)
    assert score.breakers["mixed"].score == pytest.approx((0.5 * 1.0 + 1.0 * 0.0) / 2)
    assert score.breakers["mixed"].score_per_sentence == pytest.approx(0.125)
    assert found.own == {"mixed": ("mixed",)}
    assert set(score.by_tag) == {"idiom", "negation"}
    assert score.by_tag["negation"].pairs == 2
    assert score.directions["words"].original_only == 2


@pytest.mark.both_databases
def test_the_set_of_pairs_is_hidden_or_open_and_not_both(db: Session, blobs: Blobs, people: dict[str, Actor]) -> None:
    """While labels are settled the set of pairs has hidden labels; when the results are public, so are its labels."""
    with during("review"):
        freeze.freeze_due(db, blobs)
        pairs_set = freeze.parts_of(db, contests.find_contest(db, REF))["pairs"]
        assert (pairs_set.hidden, may_see_answers(ANONYMOUS, pairs_set)) == (True, False)
    with during("over"):
        freeze.freeze_due(db, blobs)
        opened = freeze.parts_of(db, contests.find_contest(db, REF))["pairs"]
        assert (opened.hidden, may_see_answers(ANONYMOUS, opened)) == (False, True)
        assert opened.hash == pairs_set.hash
        assert scores.results(db, blobs, ANONYMOUS, REF).score


def test_wrong_scores_are_found_repaired_and_not_shown(db: Session, blobs: Blobs, people: dict[str, Actor]) -> None:
    """Scores, accuracies, and what pairs are found by are compared with the pairs, and set right."""
    others = [CheckKind(recount.KIND, recount.contests, recount.check_contest)]

    def check() -> FigureCheck:
        return figures.check(db, blobs, OPERATOR, (LISTED, SCORE), (), others)

    with during("review"):
        seen = [scores.results(db, blobs, people[name], REF) for name in ("anna", "ben")]
        listed = scores.list_pairs(db, blobs, people["anna"], REF, broke="words")
        assert len(listed.pairs) == 2
        assert check().faults == ()
        with transaction(db):
            accuracies = db.scalars(select(ResultCache)).all()
            for row in accuracies:
                row.value = {"accuracy": 0.25}
            [kept] = db.scalars(select(KeptFigure).where(KeptFigure.kind == SCORE.name))
            value = json.loads(json.dumps(kept.value))
            value["score"]["breakers"]["knots"]["score"] = 1.0
            kept.value = {**value, "dropped": 3}
            db.execute(delete(ContestMark).where(ContestMark.mark.startswith("broke:")))
        assert scores.results(db, blobs, people["anna"], REF) != seen[0]
        assert scores.list_pairs(db, blobs, people["anna"], REF, broke="words").pairs == []
        found = check()
        assert (found.checked, len(found.faults)) == (len(accuracies) + 2, len(accuracies) + 2)
        assert [scores.results(db, blobs, people[name], REF) for name in ("anna", "ben")] == seen
        assert scores.list_pairs(db, blobs, people["anna"], REF, broke="words") == listed
        assert check().faults == ()


@pytest.mark.both_databases
def test_pairs_are_found_by_what_was_said_last_and_a_page_reads_only_its_own(
    db: Session, blobs: Blobs, workspace: Workspace, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filters page through ids that are put together once; a ruling puts them together anew."""
    with during("over"):
        first, second, third = scores.list_pairs(db, blobs, ANONYMOUS, REF).pairs
        rulings.rule_pair(db, owner, REF, first.id, "drop", reason="Not English.")
        rulings.rule_pair(db, owner, REF, third.id, "drop", reason="Not English.")
        dropped = scores.list_pairs(db, blobs, ANONYMOUS, REF, status="dropped", limit=1, offset=1)
        assert ([one.id for one in dropped.pairs], dropped.total) == ([third.id], 2)
        only = scores.list_pairs(db, blobs, ANONYMOUS, REF, team="mixed", tag="negation")
        assert [one.id for one in only.pairs] == [third.id]
        monkeypatch.setattr(marks, "keep", lambda *_: pytest.fail("it was put together again"))
        broke = scores.list_pairs(db, blobs, ANONYMOUS, REF, broke="words", tag="negation")
        assert [one.id for one in broke.pairs] == [second.id]
        with counted(workspace) as read:
            scores.get_pair(db, blobs, ANONYMOUS, REF, second.id)
    said = [one for one in read if "FROM contest_judgements" in one or "FROM contest_rulings" in one]
    assert len(said) == 3  # where it stands, and what is told of a ruling
    assert not any("contest_id" in one for one in said)


def test_the_starter_set_is_read_before_anything_is_locked(
    db: Session, blobs: Blobs, people: dict[str, Actor], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading a file of any size keeps no other writer waiting."""
    looked = []

    def look(given: Session, *rest: Any) -> Any:
        looked.append(bool(given.info.get("in_transaction")))
        return starter_labels(given, *rest)

    monkeypatch.setattr(pair_checks, "starter_labels", look)
    table = tmp_path / "more.csv"
    table.write_text(
        "pair_id,side,sentence,gold,rationale,tags\n"
        "q1,a,I hate the ending.,negative,why,negation\n"
        "q1,b,I do not hate the ending.,positive,why,negation\n"
    )
    with during("break"):
        pairs.put_pair(db, blobs, people["ben"], REF, draft(1, name="other", modified={"text": "No dull evening."}))
        pairs.upload_pairs(db, blobs, people["ben"], REF, table)
    assert looked == [False, False]


def test_the_command_on_the_export_gives_the_same_figures(
    db: Session, blobs: Blobs, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """What a page shows is what anybody computes from the exported table, to the last digit."""
    with during("over"):
        found = scores.results(db, blobs, ANONYMOUS, REF)
        file = tmp_path / "pairs.csv"
        command = scores.export(db, blobs, ANONYMOUS, REF, file)
    words = shlex.split(command)
    assert words[:4] == ["quintain", "contest", "score", "pairs.csv"]
    said = cli("contest", "score", file, *words[4:], "--json")
    assert said.exit_code == 0, said.output
    assert json.loads(said.stdout) == json.loads(to_json(found.score))


@pytest.mark.both_databases
def test_contested_pairs_leave_the_score_until_judges_agree(
    db: Session, blobs: Blobs, people: dict[str, Actor]
) -> None:
    """Both scores are shown meanwhile; three people outside settle it, with the label that most of them give."""
    with during("review"):
        pair = next(one for one in scores.list_pairs(db, blobs, people["anna"], REF).pairs if one.name == "p1")
        with pytest.raises(Conflict, match="of your own team"):
            rulings.contest_pair(db, people["ben"], REF, pair.id, "Hm.")
        with pytest.raises(Forbidden, match="by the teams"):
            rulings.contest_pair(db, people["jo"], REF, pair.id, "Hm.")
        rulings.contest_pair(db, people["anna"], REF, pair.id, "It still blames the evening.")
        found = scores.results(db, blobs, people["anna"], REF)
        assert (found.score.contested, found.score.systems["words"].pairs) == (1, 2)
        assert found.score.with_contested is not None
        assert found.score.with_contested.systems["words"].broken == 2
        with pytest.raises(Forbidden, match="in no team"):
            judging.next_to_judge(db, people["cleo"], REF)
        for name, label in (("jo", "negative"), ("jim", "positive"), ("jule", "negative")):
            waiting = judging.next_to_judge(db, people[name], REF)
            assert waiting is not None
            assert (waiting.id, waiting.left) == (pair.id, 1)
            judging.judge_pair(db, people[name], REF, pair.id, "negative", label)
            assert judging.next_to_judge(db, people[name], REF) is None
            with pytest.raises(Conflict, match="already"):
                judging.judge_pair(db, people[name], REF, pair.id, "negative", label)
        late = make_person(db, "late", RoleName.WORKER)
        other = next(one for one in scores.list_pairs(db, blobs, people["anna"], REF).pairs if one.id != pair.id)
        for one in (pair, other):  # it has its three judgements; nobody contests the other
            with refusal(Conflict, "not_handed"):
                judging.judge_pair(db, late, REF, one.id, "positive", "positive")
        found = scores.results(db, blobs, people["anna"], REF)
        assert (found.score.contested, found.score.systems["words"].broken) == (0, 1)
        settled = scores.get_pair(db, blobs, people["anna"], REF, pair.id)
        assert settled is not None
        assert (settled.status, settled.modified_label, settled.broken) == ("settled", "negative", ())


def test_organisers_decide_and_what_they_drop_is_gone_from_score_and_export(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Keep, relabel, drop: the newest decision stands, and only organisers decide."""
    with during("over"):
        first, second, third = scores.list_pairs(db, blobs, ANONYMOUS, REF).pairs
        with pytest.raises(Forbidden):
            rulings.rule_pair(db, people["anna"], REF, first.id, "drop")
        rulings.rule_pair(db, owner, REF, first.id, "drop", reason="Not English.")
        rulings.rule_pair(
            db, owner, REF, second.id, "relabel", original="negative", modified="negative", reason="It blames."
        )
        with pytest.raises(BadInput, match="'forget' is not one of"):
            rulings.rule_pair(db, owner, REF, third.id, "forget", reason="Hm.")
        found = scores.results(db, blobs, ANONYMOUS, REF)
        assert (found.dropped, found.score.systems["words"].pairs, found.score.systems["words"].broken) == (1, 2, 0)
        scores.export(db, blobs, ANONYMOUS, REF, tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text().count("\n") == 1 + 2 * 2
        rulings.rule_pair(db, owner, REF, first.id, "keep", reason="It is English.")
        assert scores.results(db, blobs, ANONYMOUS, REF).dropped == 0


def test_reference_systems_are_marked_and_count_if_the_organisers_say_so(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """They come after breaking, as models or as files; breaker scores change only where they are let count."""
    with during("break"), refusal(Conflict, "too_early"):
        systems.add_reference(db, blobs, owner, REF, "ngrams")
    with during("over"):
        before = scores.results(db, blobs, ANONYMOUS, REF).score.breakers["knots"].score
        with pytest.raises(Forbidden):
            systems.add_reference(db, blobs, people["anna"], REF, "ngrams")
        with pytest.raises(Conflict, match="cannot be the name"):
            systems.add_reference(db, blobs, owner, REF, "gold")
        systems.add_reference(db, blobs, owner, REF, "ngrams")
        dev = write_answers(tmp_path / "dev.csv", {"bad": "negative"}, [text for text, _ in DEV])
        systems.hand_in(db, blobs, owner, REF, dev, system="ngrams")
        said = write_answers(tmp_path / "said.csv", {"no ": "negative", "dull": "negative"}, pair_texts())
        systems.hand_in(db, blobs, owner, REF, said, system="ngrams")
        found = scores.results(db, blobs, ANONYMOUS, REF)
        assert [(one.name, one.reference, one.counts) for one in found.systems][-1] == ("ngrams", True, False)
        assert found.score.systems["ngrams"].broken == 1
        assert next(one for one in found.systems if one.name == "ngrams").dev_accuracy is not None
        assert "ngrams: for reference only, and left out of the breakers' scores." in found.notes
        assert not any("accuracy was given" in note for note in found.notes)
        assert found.score.breakers["knots"].score == before
        systems.let_count(db, owner, REF, "ngrams", True)
        found = scores.results(db, blobs, ANONYMOUS, REF)
        assert found.score.breakers["knots"].score == pytest.approx((0.5 * 0.5 + 1.0 + 0.5) / 3)
        assert not any("ngrams" in note for note in found.notes)
