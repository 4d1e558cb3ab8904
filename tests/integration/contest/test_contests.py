"""Contests from beginning to end, through the services: phases by the clock, teams, pairs, answers, labels, figures."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.contests import Phase
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName
from quintain.core.records.base import to_json
from quintain.services.contest import pairs, scores, settling, systems, teams
from quintain.services.contest.contests import extend, find, history, put_contest
from quintain.services.contest.freezing import freeze, freeze_due
from quintain.services.data.datasets import get_version
from quintain.store.blobs import Blobs
from quintain.store.tables import AuditEntry
from tests.beginnings import Build
from tests.contests import (
    BEGIN,
    CONTEST,
    DEV,
    PAIRS,
    REF,
    add_contest,
    add_contest_task,
    at,
    draft,
    during,
    pair_texts,
    run_cells,
    write_answers,
)
from tests.evaluation import add_model
from tests.people import find_or_make_person, make_person

NAMES = ("anna", "ben", "cleo", "dan", "jo", "jim", "jule")


def _begin(workspace: Workspace, folder: Path) -> None:
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        add_contest_task(db, workspace.blobs, owner, folder)
        for name in NAMES:
            make_person(db, name, RoleName.BUILDER, RoleName.WORKER)


@pytest.fixture
def beginning() -> Build:
    """A task with a development set and a starter set, its owner olga, and people."""
    return _begin


@pytest.fixture
def people(db: Session) -> dict[str, Actor]:
    """The people, by their names."""
    return {name: find_or_make_person(db, name, RoleName.BUILDER) for name in NAMES}


def _teams(db: Session, people: dict[str, Actor]) -> None:
    with during("build"):
        teams.create_team(db, people["anna"], REF, "words", "builder")
        teams.create_team(db, people["ben"], REF, "knots", "breaker")
        teams.create_team(db, people["cleo"], REF, "mixed", "both")


def _built(db: Session, blobs: Blobs, people: dict[str, Actor], folder: Path) -> None:
    """Let the builders hand in answers to the development set: one has three quarters right, one half."""
    dev = [text for text, _ in DEV]
    with during("build"):
        good = write_answers(folder / "words.csv", {"bad": "negative"}, dev)
        systems.hand_in(db, blobs, people["anna"], REF, good)
        systems.hand_in(db, blobs, people["cleo"], REF, write_answers(folder / "mixed.csv", {}, dev))


def _broken(db: Session, blobs: Blobs, people: dict[str, Actor]) -> None:
    with during("break"):
        for number in range(2):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(number))
        pairs.put_pair(db, blobs, people["cleo"], REF, draft(2))


def _scored(db: Session, blobs: Blobs, people: dict[str, Actor], folder: Path) -> None:
    says = {"mad": "negative", "bad": "negative", "no ": "negative"}
    with during("score"):
        systems.hand_in(db, blobs, people["anna"], REF, write_answers(folder / "words2.csv", says, pair_texts()))
        systems.hand_in(db, blobs, people["cleo"], REF, write_answers(folder / "mixed2.csv", {}, pair_texts()))


@pytest.fixture
def whole(db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path) -> None:
    """A contest of three teams in which everybody did their part."""
    add_contest(db, owner, 'tags = ["idiom", "negation"]')
    _teams(db, people)
    _built(db, blobs, people, tmp_path)
    _broken(db, blobs, people)
    _scored(db, blobs, people, tmp_path)


@pytest.mark.both_databases
@pytest.mark.usefixtures("whole")
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
    assert found.own == {"mixed": "mixed"}
    assert set(score.by_tag) == {"idiom", "negation"}
    assert score.by_tag["negation"].pairs == 2
    assert score.directions["words"].original_only == 2


@pytest.mark.usefixtures("whole")
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


def test_a_phase_ends_to_the_second_by_the_clocks_of_the_contest(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """At nine in Berlin it is still time; one second later it is not, and organisers may extend before that."""
    with during("coming"):
        put_contest(db, owner, CONTEST.replace('"UTC"', '"Europe/Berlin"').format(more=""))
    last = BEGIN + timedelta(days=4) - timedelta(hours=2)  # nine o'clock in the summer of Berlin
    with at(last - timedelta(days=3)):
        teams.create_team(db, people["ben"], REF, "knots", "breaker")
    with at(last):
        pairs.put_pair(db, blobs, people["ben"], REF, draft(0))
    with at(last + timedelta(seconds=1)), pytest.raises(Conflict, match=r"too late.* 2024-05-05 09:00:00 CEST") as late:
        pairs.put_pair(db, blobs, people["ben"], REF, draft(1))
    assert late.value.code == "too_late"
    with at(last - timedelta(hours=1)):
        extend(db, owner, REF, Phase.BREAK, datetime(2024, 5, 5, 21))
    with at(last + timedelta(seconds=1)):
        pairs.put_pair(db, blobs, people["ben"], REF, draft(1))
        assert find(db, REF).phase is Phase.BREAK
    assert [one.number for one in history(db, owner, REF)] == [2, 1]


def test_what_was_promised_does_not_change_and_the_past_stays(db: Session, owner: Actor) -> None:
    """Once it has begun, data and rules stand, a moment that passed cannot move, and none moves into the past."""
    add_contest(db, owner)
    with during("build"):
        with pytest.raises(Conflict, match="anonymous cannot change"):
            put_contest(db, owner, CONTEST.format(more="anonymous = true"))
        with pytest.raises(BadInput, match=r"starts.*has passed"):
            put_contest(db, owner, CONTEST.replace("2024-05-01T09", "2024-05-01T08").format(more=""))
        with pytest.raises(BadInput, match=r"build_ends.*lies in the past"):
            extend(db, owner, REF, Phase.BUILD, datetime(2024, 5, 1, 10))
        with pytest.raises(BadInput, match=r"break_ends.*is not after 'build_ends'"):
            extend(db, owner, REF, Phase.BUILD, datetime(2024, 5, 6))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('dev = "mood/dev"', 'dev = "mood/starter"'), "labels of mood/starter@1 are open"),
        (('starter = "mood/starter"', 'starter = "mood/dev"'), "labels of mood/dev@1 are hidden"),
        (('starter = "mood/starter"', ""), "without it pairs have to be written from scratch"),
        (('"UTC"', '"Berlin"'), "no time zone 'Berlin'"),
        (("build_ends = 2024-05-03T09:00:00", ""), "no models are named"),
        (('dev = "mood/dev"', 'dev = "mood/nothing"'), "no data set version 'mood/nothing'"),
        (("{more}", "pears = 3"), "no such key; did you mean 'pairs'?"),
    ],
)
def test_a_bad_contest_is_refused_with_its_place(
    db: Session, owner: Actor, change: tuple[str, str], reason: str
) -> None:
    """What is wrong is named, and nothing is added."""
    text = CONTEST.replace(*change)
    with during("coming"):
        with pytest.raises(BadInput) as caught:
            put_contest(db, owner, text.format(more=""))
        assert reason in str(caught.value)
        with pytest.raises(NotFound):
            find(db, REF)


def test_teams_are_joined_by_link_and_have_their_limits(db: Session, owner: Actor, people: dict[str, Actor]) -> None:
    """Nobody is in two teams, a full one is closed, a wrong key is refused, and organisers are in none."""
    add_contest(db, owner, "team_size = 2\nboth = false")
    with during("build"):
        made = teams.create_team(db, people["anna"], REF, "words", "builder")
        with pytest.raises(Forbidden, match="by invitation"):
            teams.join_team(db, people["ben"], REF, "words", "wrong")
        assert teams.join_team(db, people["ben"], REF, "words", made.key or "").people == ("anna", "ben")
        with pytest.raises(Conflict, match="is full"):
            teams.join_team(db, people["cleo"], REF, "words", made.key or "")
        with pytest.raises(Conflict, match="nobody is in two"):
            teams.create_team(db, people["ben"], REF, "other", "breaker")
        with pytest.raises(Conflict, match="in no team"):
            teams.create_team(db, owner, REF, "judges", "builder")
        with pytest.raises(BadInput, match="'both' is not one of builder, breaker"):
            teams.create_team(db, people["cleo"], REF, "third", "both")
        [seen] = teams.list_teams(db, people["cleo"], REF)
        assert (seen.size, seen.people, seen.key, seen.pairs) == (2, None, None, None)
        teams.leave_team(db, people["ben"], REF)
        assert teams.list_teams(db, people["anna"], REF)[0].people == ("anna",)
    with during("score"), pytest.raises(Conflict, match="too late"):
        teams.create_team(db, people["cleo"], REF, "late", "breaker")


@pytest.mark.both_databases
def test_the_drafts_of_others_are_refused_and_that_is_written_down(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """A team sees its own pairs, organisers see all, and who asks for another team's stands in the log."""
    add_contest(db, owner)
    _teams(db, people)
    _broken(db, blobs, people)
    with during("break"):
        assert pairs.list_drafts(db, people["ben"], REF, "knots").total == 2
        assert pairs.list_drafts(db, owner, REF, "knots").total == 2
        with pytest.raises(Forbidden, match="asked is noted"):
            pairs.list_drafts(db, people["cleo"], REF, "knots")
        with pytest.raises(Conflict, match="not there before"):
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
    _teams(db, people)
    with during("break"):
        with pytest.raises(BadInput, match=reason):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(0, **changes))
        assert pairs.list_drafts(db, people["ben"], REF, "knots").total == 0


@pytest.mark.both_databases
def test_an_upload_is_taken_whole_or_not_at_all(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Every fault is named by its row, duplicates with both rows; a good table is taken, and not a second time."""
    add_contest(db, owner, "pairs = 3")
    _teams(db, people)
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
    _teams(db, people)
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
    _broken(db, blobs, people)
    with during("break"):
        assert systems.list_systems(db, blobs, people["ben"], REF)[0].dev_accuracy == 1.0
        with pytest.raises(Conflict, match="begins after"):
            systems.hand_in(db, blobs, people["anna"], REF, tmp_path / "b.csv")
    with during("score"):
        with pytest.raises(BadInput, match="this phase asks for answers to the pairs") as wrong:
            systems.hand_in(db, blobs, people["anna"], REF, tmp_path / "b.csv")
        assert wrong.value.code == "wrong_phase"
        with pytest.raises(Conflict, match="nothing was handed in while building"):
            systems.hand_in(db, blobs, people["cleo"], REF, write_answers(tmp_path / "c.csv", {}, pair_texts()))
    with during("over"), pytest.raises(Conflict, match="too late"):
        systems.hand_in(db, blobs, people["anna"], REF, tmp_path / "c.csv")


@pytest.mark.both_databases
def test_a_model_is_run_by_the_platform_in_both_phases(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Its runs are queued when it is handed in and when breaking is over; the pairs' labels are hidden."""
    add_contest(db, owner, "anonymous = true")
    _teams(db, people)
    model = add_model(db, blobs, people["anna"], tmp_path)
    with during("build"):
        assert systems.submit_model(db, people["anna"], REF, model.ref).dev == "waiting"
        with pytest.raises(Forbidden, match="not yours"):
            systems.submit_model(db, people["cleo"], REF, model.ref)
        assert run_cells(db, blobs, {"bad": "negative"}) == 1
        assert systems.list_systems(db, blobs, people["anna"], REF)[0].dev_accuracy == 1.0
    _broken(db, blobs, people)
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


@pytest.mark.both_databases
@pytest.mark.usefixtures("whole")
def test_contested_pairs_leave_the_score_until_judges_agree(
    db: Session, blobs: Blobs, people: dict[str, Actor]
) -> None:
    """Both scores are shown meanwhile; three people outside settle it, with the label that most of them give."""
    with during("review"):
        pair = next(one for one in scores.list_pairs(db, blobs, people["anna"], REF).pairs if one.name == "p1")
        with pytest.raises(Conflict, match="of your own team"):
            settling.contest_pair(db, people["ben"], REF, pair.id, "Hm.")
        with pytest.raises(Forbidden, match="by the teams"):
            settling.contest_pair(db, people["jo"], REF, pair.id, "Hm.")
        settling.contest_pair(db, people["anna"], REF, pair.id, "It still blames the evening.")
        found = scores.results(db, blobs, people["anna"], REF)
        assert (found.score.contested, found.score.systems["words"].pairs) == (1, 2)
        assert found.score.with_contested is not None
        assert found.score.with_contested.systems["words"].broken == 2
        with pytest.raises(Forbidden, match="in no team"):
            settling.next_to_judge(db, people["cleo"], REF)
        for name, label in (("jo", "negative"), ("jim", "positive"), ("jule", "negative")):
            waiting = settling.next_to_judge(db, people[name], REF)
            assert waiting is not None
            assert (waiting.id, waiting.left) == (pair.id, 1)
            settling.judge_pair(db, people[name], REF, pair.id, "negative", label)
            assert settling.next_to_judge(db, people[name], REF) is None
            with pytest.raises(Conflict, match="already"):
                settling.judge_pair(db, people[name], REF, pair.id, "negative", label)
        late = make_person(db, "late", RoleName.WORKER)
        other = next(one for one in scores.list_pairs(db, blobs, people["anna"], REF).pairs if one.id != pair.id)
        for one in (pair, other):  # it has its three judgements; nobody contests the other
            with pytest.raises(Conflict, match="waits for no judgement"):
                settling.judge_pair(db, late, REF, one.id, "positive", "positive")
        found = scores.results(db, blobs, people["anna"], REF)
        assert (found.score.contested, found.score.systems["words"].broken) == (0, 1)
        settled = scores.get_pair(db, blobs, people["anna"], REF, pair.id)
        assert settled is not None
        assert (settled.status, settled.modified_label, settled.broken) == ("settled", "negative", ())


@pytest.mark.usefixtures("whole")
def test_organisers_decide_and_what_they_drop_is_gone_from_score_and_export(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Keep, relabel, drop: the newest decision stands, and only organisers decide."""
    with during("over"):
        first, second, third = scores.list_pairs(db, blobs, ANONYMOUS, REF).pairs
        with pytest.raises(Forbidden):
            settling.rule(db, people["anna"], REF, first.id, "drop")
        settling.rule(db, owner, REF, first.id, "drop", reason="Not English.")
        settling.rule(db, owner, REF, second.id, "relabel", original="negative", modified="negative")
        with pytest.raises(BadInput, match="'forget' is not one of"):
            settling.rule(db, owner, REF, third.id, "forget")
        found = scores.results(db, blobs, ANONYMOUS, REF)
        assert (found.dropped, found.score.systems["words"].pairs, found.score.systems["words"].broken) == (1, 2, 0)
        scores.export(db, blobs, ANONYMOUS, REF, tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text().count("\n") == 1 + 2 * 2
        settling.rule(db, owner, REF, first.id, "keep")
        assert scores.results(db, blobs, ANONYMOUS, REF).dropped == 0


@pytest.mark.usefixtures("whole")
def test_reference_systems_are_marked_and_count_if_the_organisers_say_so(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """They come after breaking, as models or as files; breaker scores change only where they are let count."""
    with during("break"), pytest.raises(Conflict, match="begins after"):
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
        assert found.score.breakers["knots"].score == before
        systems.let_count(db, owner, REF, "ngrams", True)
        found = scores.results(db, blobs, ANONYMOUS, REF)
        assert found.score.breakers["knots"].score == pytest.approx((0.5 * 0.5 + 1.0 + 0.5) / 3)


def test_a_break_phase_over_models_of_the_board(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Without building, breakers have the board's models before them from the beginning."""
    model = add_model(db, blobs, builder, tmp_path)
    with during("coming"):
        text = CONTEST.replace("build_ends = 2024-05-03T09:00:00", "")
        put_contest(db, owner, text.format(more=f'models = ["{model.ref}"]\nscratch = true'))
    assert run_cells(db, blobs, {"bad": "negative"}) == 1
    with during("build"):
        assert find(db, REF).phase is Phase.BREAK
        with pytest.raises(BadInput, match="'builder' is not one of breaker"):
            teams.create_team(db, people["ben"], REF, "knots", "builder")
        teams.create_team(db, people["ben"], REF, "knots", "breaker")
        [seen] = systems.list_systems(db, blobs, people["ben"], REF)
        assert (seen.name, seen.team, seen.dev_accuracy) == ("constant", None, 1.0)
        own = draft(0, original={"text": "All new and good."}, modified={"text": "All new and bad."})
        own = pairs.put_pair(db, blobs, people["ben"], REF, own)
        assert own.scratch
    with during("score"):
        freeze(db, blobs, REF)
        run_cells(db, blobs, {})
        assert scores.results(db, blobs, owner, REF).score.systems["constant"].broken == 0
