"""What teams enter into a contest: pairs one by one and in tables, answers in files, and models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import OPERATOR, Actor
from quintain.services.contest import pairs, scores, systems
from quintain.services.contest.freeze import freeze, freeze_due
from quintain.services.data.datasets import get_version
from quintain.store.blobs import Blobs
from quintain.store.tables import AuditEntry
from tests.beginnings import Build
from tests.contests import (
    DEV,
    PAIRS,
    REF,
    add_contest,
    draft,
    during,
    make_teams,
    pair_texts,
    run_cells,
    with_contest_task,
    write_answers,
    write_pairs,
)
from tests.evaluation import add_model
from tests.refusals import refusal


@pytest.fixture
def beginning() -> Build:
    """A task with a development set and a starter set, its owner olga, and people."""
    return with_contest_task


@pytest.mark.both_databases
def test_the_drafts_of_others_are_refused_and_that_is_written_down(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """A team sees its own pairs, organisers see all, and who asks for another team's stands in the log."""
    add_contest(db, owner)
    make_teams(db, people)
    write_pairs(db, blobs, people)
    with during("break"):
        assert pairs.list_drafts(db, people["ben"], REF, "knots").total == 2
        assert pairs.list_drafts(db, owner, REF, "knots").total == 2
        with refusal(Forbidden, "drafts_of_others"):
            pairs.list_drafts(db, people["cleo"], REF, "knots")
        with refusal(Conflict, "too_early"):
            scores.list_pairs(db, blobs, people["cleo"], REF)
    [entry] = db.scalars(select(AuditEntry).where(AuditEntry.action == "contest.refused"))
    assert (entry.actor, entry.details) == ("cleo", {"team": "knots", "asked_by": "mixed"})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"original": {"text": "I love that film."}}, "original.*is not in the starter set"),
        ({"modified": {"text": "I love this film."}}, "neither side was changed"),
        ({"modified": {"text": "I hate the ending."}}, "exactly one side is to be changed"),
        (
            {"original": {"text": "I love that film."}, "modified": {"text": "I love this film."}},
            "give the unchanged one as the original",
        ),
        ({"modified_label": "postive"}, "modified_label.*Did you mean 'positive'"),
        ({"original_label": "negative"}, "in the starter set it is 'positive'"),
        ({"modified_label": ""}, "modified_label.*is missing"),
        ({"modified": {"text": "I really do not know why but this is a film that I love."}}, "changes 11 words"),
        ({"tags": ("idioms",)}, "'idioms' is not one of idiom, negation"),
        ({"rationale": " "}, "say why"),
        ({"modified": {"txt": "Hm."}}, "modified"),
    ],
)
def test_a_bad_pair_is_refused_with_its_place(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], changes: dict[str, Any], reason: str
) -> None:
    """Each rule of a minimal pair is checked when it is written."""
    add_contest(db, owner, 'tags = ["idiom", "negation"]\nchanged_words = 5\nrationale = true')
    make_teams(db, people)
    with during("break"):
        with pytest.raises(BadInput, match=reason):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(0, **changes))
        assert pairs.list_drafts(db, people["ben"], REF, "knots").total == 0


def test_what_nobody_sees_makes_no_other_pair(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """A zero-width space or a Cyrillic letter is no change of a side, and makes no new pair of one that is there.

    Nor does it hide that the other side is a sentence of the starter set, too.
    """
    add_contest(db, owner, "")
    make_teams(db, people)
    first = draft(0, name="one")
    hidden = {"text": first.modified["text"].replace(" ", " \u200b", 1)}
    with during("break"):
        pairs.put_pair(db, blobs, people["ben"], REF, first)
        with pytest.raises(Conflict, match="same pair already, as 'one'"):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(0, name="two", modified=hidden))
        unchanged = {"text": first.original["text"] + "\u200b"}
        with pytest.raises(BadInput, match="neither side was changed"):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(0, name="three", modified=unchanged))
        twin = {"text": first.original["text"].replace("o", "\u043e", 1)}
        with pytest.raises(BadInput, match="neither side was changed"):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(0, name="four", modified=twin))
        alike = {"text": first.modified["text"].replace("e", "\u0435", 1)}
        with pytest.raises(Conflict, match="same pair already, as 'one'"):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(0, name="five", modified=alike))
        other = {"text": "I hate the ending.".replace("a", "\u0430", 1)}
        with pytest.raises(BadInput, match="exactly one side is to be changed"):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(0, name="six", modified=other))


@pytest.mark.both_databases
def test_an_upload_is_taken_whole_or_not_at_all(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Every fault is named by its row, duplicates with both rows; a good table is taken, and not a second time."""
    add_contest(db, owner, "pairs = 3")
    make_teams(db, people)
    bad = tmp_path / "bad.csv"
    bad.write_text(
        "pair_id,side,sentence,gold\n"
        "1,a,I love this film.,positive\n"
        "1,b,I love that film.,positive\n"
        "1,b,I loved this film.,positive\n"
        "2,a,Not a sentence of theirs.,positive\n"
        "2,b,Not a sentence of ours.,positive\n"
        "3,a,I hate the ending.,negative\n"
    )
    with during("break"), pytest.raises(BadInput) as caught:
        pairs.upload_pairs(db, blobs, people["ben"], REF, bad)
    assert [str(fault) for fault in caught.value.faults] == [
        "bad.csv, row 4, field 'pair_id': pair '1' has side 'b' in row 3 already",
        "bad.csv, row 7: pair '3' has no modified side",
    ]
    bad.write_text(
        "\n".join(line for line in bad.read_text().splitlines() if "loved" not in line and "3,a" not in line)
    )
    with during("break"), pytest.raises(BadInput, match=r"bad.csv, row 4, field 'original': is not in the starter set"):
        pairs.upload_pairs(db, blobs, people["ben"], REF, bad)
    good = tmp_path / "good.jsonl"
    rows = [
        {"pair_id": f"u{number}", "side": side, "text": text, "label": label, "tags": [tag], "strategy": "by hand"}
        for number, (first, second, one, two, tag) in enumerate(PAIRS)
        for side, text, label in (("a", first, one), ("b", second, two))
    ]
    good.write_text("\n".join(map(json.dumps, rows)))
    with during("break"):
        assert pairs.list_drafts(db, people["ben"], REF, "knots").total == 0
        added = pairs.upload_pairs(db, blobs, people["ben"], REF, good)
        assert (added.added, added.pairs) == (3, 3)
        [first, *_] = pairs.list_drafts(db, people["ben"], REF, "knots").pairs
        assert (first.name, first.strategy, first.tags, first.words) == ("u0", "by hand", ("idiom",), 4)
        with pytest.raises(BadInput, match="your team has a pair 'u0' already"):
            pairs.upload_pairs(db, blobs, people["ben"], REF, good)
        with pytest.raises(Conflict, match="over the 3"):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(0, name="more", modified={"text": "I love it."}))
        with pytest.raises(Forbidden, match="does not break"):
            pairs.upload_pairs(db, blobs, people["anna"], REF, good)


def test_answers_are_whole_and_to_what_is_asked(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Missing, strange and repeated ids, unknown labels and the wrong phase's file are refused by their rows."""
    add_contest(db, owner, "submissions = 2")
    make_teams(db, people)
    dev = [text for text, _ in DEV]
    file = write_answers(tmp_path / "a.csv", {}, [*dev[1:], dev[2]])
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:3], lines[3].replace("positive", "happy"), *lines[4:], "nobody,positive"]))
    with during("build"):
        with pytest.raises(BadInput) as caught:
            systems.hand_in(db, blobs, people["anna"], REF, file)
        said = "\n".join(str(fault) for fault in caught.value.faults)
        assert "row 4: The answer 'happy' is not one of the labels" in said
        assert "is in row 3 already" in said
        assert "there is no example 'nobody'" in said
        assert "there is no prediction for" in said
        assert systems.list_systems(db, blobs, people["anna"], REF) == []
        systems.hand_in(db, blobs, people["anna"], REF, write_answers(tmp_path / "b.csv", {}, dev))
        [seen] = systems.list_systems(db, blobs, people["anna"], REF)
        assert (seen.dev, seen.pairs, seen.dev_accuracy) == ("there", "missing", 0.5)
        assert systems.list_systems(db, blobs, people["ben"], REF) == []
        systems.hand_in(db, blobs, people["anna"], REF, write_answers(tmp_path / "b.csv", {"bad": "negative"}, dev))
        with pytest.raises(Conflict, match="2 times"):
            systems.hand_in(db, blobs, people["anna"], REF, tmp_path / "b.csv")
    write_pairs(db, blobs, people)
    with during("break"):
        assert systems.list_systems(db, blobs, people["ben"], REF)[0].dev_accuracy == 1.0
        with refusal(Conflict, "too_early"):
            systems.hand_in(db, blobs, people["anna"], REF, tmp_path / "b.csv")
    with during("score"):
        with refusal(BadInput, "wrong_phase") as wrong:
            systems.hand_in(db, blobs, people["anna"], REF, tmp_path / "b.csv")
        assert wrong.value.code == "wrong_phase"
        with refusal(Conflict, "too_late"):
            systems.hand_in(db, blobs, people["cleo"], REF, write_answers(tmp_path / "c.csv", {}, pair_texts()))
    with during("over"), refusal(Conflict, "too_late"):
        systems.hand_in(db, blobs, people["anna"], REF, tmp_path / "c.csv")


@pytest.mark.both_databases
def test_a_model_is_run_by_the_platform_in_both_phases(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Its runs are queued when it is handed in and when breaking is over; the pairs' labels are hidden."""
    add_contest(db, owner, "anonymous = true")
    make_teams(db, people)
    model = add_model(db, blobs, people["anna"], tmp_path)
    with during("build"):
        assert systems.submit_model(db, people["anna"], REF, model.ref).dev == "waiting"
        with pytest.raises(Forbidden, match="not yours"):
            systems.submit_model(db, people["cleo"], REF, model.ref)
        assert run_cells(db, blobs, {"bad": "negative"}) == 1
        assert systems.list_systems(db, blobs, people["anna"], REF)[0].dev_accuracy == 1.0
    write_pairs(db, blobs, people)
    with during("score"):
        assert freeze_due(db, blobs) == 1
        assert freeze_due(db, blobs) == 0
        frozen = freeze(db, blobs, REF)
        version = get_version(db, OPERATOR, "mood/contest-spring")
        assert (frozen.pairs_version_id, version.rows, version.hidden) == (version.id, 6, True)
        assert run_cells(db, blobs, {"bad": "negative"}) == 1
        with pytest.raises(Conflict, match="runs the model"):
            systems.hand_in(db, blobs, people["anna"], REF, write_answers(tmp_path / "x.csv", {}, pair_texts()))
        assert scores.results(db, blobs, owner, REF).score.systems["words"].pairs == 3
    with during("review"):
        seen = scores.results(db, blobs, people["ben"], REF)
        [name] = seen.score.systems
        assert name.startswith("system-")
        assert [(one.team, one.model) for one in seen.systems] == [(None, None)]
        with pytest.raises(Forbidden, match="for its teams"):
            scores.results(db, blobs, people["dan"], REF)
    with during("over"):
        assert list(scores.results(db, blobs, people["dan"], REF).score.systems) == ["words"]
