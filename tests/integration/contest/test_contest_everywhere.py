"""Contests through the client and the command line, and who is let in where."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import Result

from quintain import BadInput, Client, Conflict, Forbidden
from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.contest import pairs, teams
from quintain.services.contest.contests import put_contest
from tests.contests import (
    CONTEST,
    DEV,
    PAIRS,
    REF,
    STARTER,
    TERRIFIC,
    add_contest_task,
    add_word_model,
    draft,
    during,
    move_to,
    pair_texts,
    write_answers,
)
from tests.people import find_or_make_person, make_person
from tests.refusals import refusal
from tests.web_support import PASSWORD, browser_of, running, token_for

NAMES = ("olga", "anna", "ben", "jo")


@pytest.fixture
def database() -> str:
    """Client and commands are tested on SQLite; the services below them on both."""
    return "sqlite"


@pytest.fixture
def contest(workspace: Workspace, tmp_path: Path) -> Workspace:
    """A task for contests, its owner olga, and people."""
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        add_contest_task(db, workspace.blobs, owner, tmp_path, [*STARTER, TERRIFIC])
        for name in NAMES[1:]:
            make_person(db, name, RoleName.BUILDER)
        for name in NAMES:
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return workspace


@pytest.fixture
def served(contest: Workspace) -> Iterator[str]:
    """A server with the task."""
    with running(contest) as url:
        yield url


def _ahead() -> str:
    """Give the contest's file with moments that lie ahead."""
    year = datetime.now(UTC).year + 1
    return CONTEST.replace("2024", str(year)).format(more="")


def _move(workspace: Workspace, phase: str) -> None:
    with workspace.session() as db:
        move_to(db, phase)


def _judge_and_count(builder: Client, judge: Client, pair: int) -> None:
    """Let two pairs be contested: one is judged, the other given back, and the builder knows what it has used."""
    with pytest.raises(BadInput, match="says too little"):
        builder.dispute_pair(REF, pair, "x")
    claims = builder.pair_disputes(REF)
    assert (claims.used, claims.allowed) == (1, 10)
    assert [one.reason for one in claims.disputes] == ["Being mad for a film is bad."]
    first = judge.next_pair_to_judge(REF)
    assert first is not None
    assert first.lease_until > datetime.now(UTC)
    judged = judge.judge_pair(REF, first.id, "positive", "positive")
    assert (judged.late, str(judged.earned)) == (False, "0.00 USD")
    second = judge.next_pair_to_judge(REF)
    assert second is not None
    judge.return_pair_to_judge(REF, second.id)
    assert judge.next_pair_to_judge(REF) is None


def test_the_client_plays_every_part(
    contest: Workspace, served: str, cli: Callable[..., Result], tmp_path: Path
) -> None:
    """Organiser, builder, breaker and judge do by calls what the pages offer."""
    olga, anna, ben, jo = (Client(served, token_for(contest, name)) for name in NAMES)
    made = olga.put_contest("mood", _ahead())
    assert (made.ref, made.phase) == (REF, "coming")
    later = f"{datetime.now(UTC).year + 1}-05-04T09:00:00"
    assert olga.extend_phase(REF, "build", later).version == 2
    assert [one.number for one in olga.contest_history(REF)] == [2, 1]
    with pytest.raises(Forbidden):
        anna.put_contest("mood", _ahead())
    _move(contest, "build")
    anna.create_contest_team(REF, "words", "builder")
    ben.create_contest_team(REF, "knots", "breaker")
    dev = tmp_path / "blind.csv"
    assert "answer" not in anna.download_contest_part(REF, "dev", dev).read_text().splitlines()[0]
    said = write_answers(tmp_path / "dev.csv", {"bad": "negative"}, [text for text, _ in DEV])
    assert anna.hand_in_answers(REF, said).dev_accuracy == 1.0
    assert anna.hand_in_answers(REF, said, system="second").name == "second"
    anna.withdraw_contest_system(REF, "second")
    assert [team.systems for team in anna.contest_teams(REF)] == [(), ("words",)]
    _move(contest, "break")
    assert ben.dev_answers(REF, limit=5).items[0].answers.keys() == {"words"}
    first, second, one, two, tag = PAIRS[0]
    pair = ben.put_contest_pair(
        REF, {"text": first}, {"text": second}, original_label=one, modified_label=two, tags=[tag]
    )
    assert (pair.name, pair.words) == ("p1", 4)
    table = tmp_path / "pairs.csv"
    table.write_text(f"pair_id,side,sentence,gold\nu,a,{PAIRS[1][0]},{PAIRS[1][2]}\nu,b,{PAIRS[1][1]},{PAIRS[1][3]}\n")
    assert ben.upload_pairs(REF, table).pairs == 2
    with pytest.raises(BadInput, match="your team has a pair 'u' already"):
        ben.upload_pairs(REF, table)
    with refusal(Forbidden, "drafts_of_others"):
        anna.team_pairs(REF, "knots")
    _upload_of_2017(cli, served, token_for(contest, "ben"), tmp_path)
    ben.remove_contest_pair(REF, "3")
    _move(contest, "score")
    with refusal(Conflict, "too_late"):
        ben.remove_contest_pair(REF, "u")
    anna.hand_in_answers(REF, write_answers(tmp_path / "said.csv", {"mad": "negative"}, pair_texts()[:4]))
    _move(contest, "review")
    anna.dispute_pair(REF, pair.id, "Being mad for a film is bad.")
    assert anna.contest_results(REF).score.contested == 1
    olga.dispute_pair(REF, ben.contest_pairs(REF).pairs[1].id, "The organisers doubt this one.")
    _judge_and_count(anna, jo, pair.id)
    olga.rule_pair(REF, pair.id, "keep", reason="It praises the film.")
    _move(contest, "over")
    found = Client(served).contest_results(REF)
    assert found.score.systems["words"].broken == 2
    assert Client(served).contest_pairs(REF, broke="words").total == 2
    assert anna.export_contest(REF, tmp_path / "all.csv").read_text().startswith("breaker,pair_id,side,sentence,gold")


def _upload_of_2017(cli: Callable[..., Result], url: str, token: str, folder: Path) -> None:
    """Upload a pair of a file of 2017 that disputes the starter set, which is refused where nobody says so."""
    old = folder / "Team1_breaker_test.tsv"
    old.write_text('3_a\tI hate the ending.\t1\n3_b\tI "hate" the ending.\t1\n')
    as_ben = ("--url", url, "--token", token, "--preset", "bibi-2017")
    assert cli("contest", "upload", REF, old, *as_ben).exit_code == 1
    sent = cli("contest", "upload", REF, old, *as_ben, "--dispute", "--json")
    assert json.loads(sent.stdout) == {"added": 1, "pairs": 3, "disputed": 1}


def test_a_search_by_command_asks_about_each_proposal(
    contest: Workspace, served: str, cli: Callable[..., Result], tmp_path: Path
) -> None:
    """The command goes on until the search is done, and makes a pair of what somebody gives a label, and of no more."""
    olga, ben = (Client(served, token_for(contest, name)) for name in ("olga", "ben"))
    olga.put_contest("mood", _ahead())
    with contest.session() as db:
        model = add_word_model(db, contest.blobs, make_person(db, "mia", RoleName.OWNER), tmp_path)
    _move(contest, "break")
    ben.create_contest_team(REF, "knots", "breaker")
    as_ben = ("--url", served, "--token", token_for(contest, "ben"))
    done = cli("contest", "break", REF, "--model", model, "--text", "terrific", *as_ben, input="positive\nn\nq\n")
    assert done.exit_code == 0, done.output
    assert "[-terrific-]" in done.stdout
    assert "your team's pair p1" in done.stderr
    [search] = ben.contest_searches(REF).searches
    assert (search.done, search.proposals - search.waiting) == (True, 2)
    again = cli("contest", "break", REF, "--search", str(search.number), *as_ben, "--json")
    assert [one["decision"] for one in json.loads(again.stdout)["proposals"]].count("rejected") == 1
    assert cli("contest", "break", REF, *as_ben).exit_code == 1
    [kept] = ben.team_pairs(REF, "knots").pairs
    assert (kept.strategy, kept.modified_label) == ("automatic search", "positive")


def test_commands_of_the_organisers(contest: Workspace, cli: Callable[..., Result], tmp_path: Path) -> None:
    """Put, list, show, extend, teams, systems, and what cannot be yet, as commands."""
    file = tmp_path / "spring.toml"
    file.write_text(_ahead())
    where = ("-w", contest.settings.workspace, "contest")
    assert cli("contest", "put", file, "--check").exit_code == 0
    said = cli(*where, "put", file, "--json")
    assert json.loads(said.stdout)["ref"] == REF
    assert "coming" in cli(*where, "list", "mood").stdout
    shown = cli(*where, "show", REF).stdout
    assert 'dev = "mood/dev@1"' in shown
    year = datetime.now(UTC).year + 1
    assert cli(*where, "extend", REF, "break", f"{year}-05-06T09:00", "--json").exit_code == 0
    assert cli(*where, "extend", REF, "lunch", f"{year}-05-06T09:00").exit_code == 1
    assert json.loads(cli(*where, "teams", REF, "--json").stdout) == {"teams": []}
    assert json.loads(cli(*where, "systems", REF, "--json").stdout) == {"systems": []}
    early = cli(*where, "results", REF, "--json")
    assert json.loads(early.stdout)["error"]["code"] == "too_early"
    assert cli(*where, "reference", REF, "--name", "ngrams").exit_code == 1


def test_pages_are_for_those_whom_they_concern(contest: Workspace) -> None:
    """A reader sees the contest and no more; drafts, editing and early results are refused."""
    with contest.session() as db:
        owner = make_person(db, "otto", RoleName.OWNER)
        put_contest(db, owner, _ahead())
    home = f"/tasks/mood/contests/{REF.partition('/')[2]}"
    reader, person = browser_of(contest), browser_of(contest, "jo")
    assert reader.get(home).status_code == 200
    assert reader.get("/tasks/mood/contests").status_code == 200
    for path in ("/break", "/answers", "/edit"):
        assert person.get(f"{home}{path}").status_code == 403, path
    for path in ("/results", "/pairs", "/export", "/judge"):
        assert person.get(f"{home}{path}").status_code == 409, path
    assert reader.get(f"{home}/teams/none/join").headers["location"].startswith("/login")
    assert person.get(f"{home}/teams/none/join").status_code == 404


def test_commands_to_contest_and_to_decide(contest: Workspace, cli: Callable[..., Result], tmp_path: Path) -> None:
    """What waits is listed, contested, decided with a reason, and all that is left at once, as commands."""
    with contest.session() as db:
        people = {name: find_or_make_person(db, name, RoleName.BUILDER) for name in ("ben", "jo")}
        owner = find_or_make_person(db, "olga", RoleName.OWNER)
        with during("coming"):
            put_contest(db, owner, CONTEST.format(more='validation = "none"\nundecided = "wait"'))
        with during("build"):
            teams.create_team(db, people["ben"], REF, "knots", "breaker")
        with during("break"):
            for number in range(3):
                pairs.put_pair(db, contest.blobs, people["ben"], REF, draft(number))
        move_to(db, "review")
    where = ("-w", contest.settings.workspace, "contest")
    listed = json.loads(cli(*where, "pairs", REF, "--json").stdout)["pairs"]
    for pair in listed:
        said = cli(*where, "dispute", REF, pair["id"], "--reason", "The label of it is wrong.")
        assert said.exit_code == 0, said.output
    assert json.loads(cli(*where, "pairs", REF, "--status", "waiting", "--json").stdout)["total"] == 3
    assert "The label of it is wrong." in cli(*where, "disputes", REF).stdout
    assert json.loads(cli(*where, "disputes", REF, "--json").stdout)["allowed"] is None
    first = listed[0]["id"]
    without = cli(*where, "rule", REF, first, "drop")
    assert (without.exit_code, "Say why" in without.output) == (1, True)
    assert cli(*where, "rule", REF, first, "drop", "--reason", "Not English.").exit_code == 0
    rest = cli(*where, "rule-rest", REF, "--reason", "Nobody showed it.", "--json")
    assert json.loads(rest.stdout) == {"pairs": 2}
    assert json.loads(cli(*where, "pairs", REF, "--status", "waiting", "--json").stdout)["total"] == 0
