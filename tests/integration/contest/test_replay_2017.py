"""Build It Break It 2017 played again by the services: teams, systems, pairs and answers from files as released."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.core.example import Example
from quintain.core.people import Actor, RoleName
from quintain.core.records.contests import ContestResults
from quintain.data.plan import ImportPlan
from quintain.data.presets import read_preset
from quintain.data.tables import write_table
from quintain.services.contest import blind, pairs, rulings, scores, systems, teams
from quintain.services.contest.contests import put_contest
from quintain.services.data.datasets import import_dataset
from quintain.services.plain.files.contest import ContestOptions, score_contest_file
from quintain.services.plain.files.shared_task import GOLD, SharedTask, answers_table, matrix, read_folder
from quintain.services.tasks.definitions import put_task
from quintain.stats.grading import Grading
from quintain.store.blobs import Blobs
from tests.contests import CONTEST, REF, during
from tests.people import make_person
from tests.shared_task import released

TASK = """
name = "mood"
kind = "text-classification"
title = "Sentiment of film reviews"
labels = ["-1", "0", "1"]
metrics = ["accuracy", "macro_f1"]
canonical_metric = "macro_f1"
"""
BREAKERS = {"Team1": "osu", "Team2": "melbourne", "Team3": "utrecht", "Team4": "vtex"}
BUILDERS = {
    "Builder_Team_1": "strawman",
    "Builder_Team_2": "pcnn",
    "Builder_Team_3": "scnn",
    "Builder_Team_4": "opinionfinder",
    "Builder_Team_5": "rntn",
    "Builder_Team_6": "dcnn",
    "Builder_Team_7": "ngrams",
}
TEAM_SYSTEMS = {"strawman": ("cho",), "pcnn": ("melbourne",), "scnn": ("melbourne",)}
FIVE = {"very_negative": "-1", "negative": "-1", "neutral": "0", "positive": "1", "very_positive": "1"}
SENTENCES = "annotations/sentiment/crowdflower_results_100_sents.csv"


class Played(NamedTuple):
    """What came of an event: its results, and how many pairs each team brought and how many of them dispute."""

    results: ContestResults
    added: Mapping[str, tuple[int, int]]


def play(
    db: Session, blobs: Blobs, owner: Actor, folder: Path, event_folder: Path, labels: Mapping[str, str]
) -> Played:
    """Let everybody do again what they did in 2017; *labels* are those of the sentences that breakers began from.

    What builders answered to the development set was not released: here each has all of it right.
    """
    put_task(db, owner, TASK)
    rows = list(labels.items())
    for name, own, hidden in (("dev", rows[:20], True), ("starter", rows, False)):
        file = folder / f"{name}.jsonl"
        file.write_text("".join(json.dumps({"text": text, "answer": label}) + "\n" for text, label in own))
        import_dataset(db, blobs, owner, "mood", name, file, ImportPlan(role="dev", hidden=hidden))
    with during("coming"):
        put_contest(db, owner, CONTEST.format(more="scratch = true"))
    event = read_folder(
        event_folder, {theirs: ours for theirs, ours in {**BREAKERS, **BUILDERS}.items() if _has(event_folder, theirs)}
    )
    people = _make_teams(db, event)
    right = folder / "right.csv"
    right.write_text(
        "id,prediction\n" + "".join(f"{Example({'text': text}).id},{label}\n" for text, label in rows[:20])
    )
    own = {name: team for name, [team] in TEAM_SYSTEMS.items() if name in event.answers}
    with during("build"):
        for name, team in own.items():
            systems.hand_in(db, blobs, people[team], REF, right, system=name)
    added = {}
    with during("break"):
        for theirs, team in BREAKERS.items():
            for file in sorted((event_folder / GOLD).glob(f"{theirs}_*")):
                found = pairs.upload_pairs(db, blobs, people[team], REF, file, preset="bibi-2017", dispute=True)
                added[team] = (found.added, found.disputed)
    with during("score"):
        asked = folder / "asked.csv"
        sentences = blind.export_part(db, blobs, people[next(iter(added))], REF, "pairs", asked)
        for name in event.answers:
            said = folder / f"{name}.csv"
            table = answers_table(event, name)
            assert table.height == sentences
            write_table(table, said)
            if name in own:
                systems.hand_in(db, blobs, people[own[name]], REF, said, system=name)
            else:
                systems.add_reference(db, blobs, owner, REF, name, counts=name != "opinionfinder")
                systems.hand_in(db, blobs, owner, REF, right, system=name)
                systems.hand_in(db, blobs, owner, REF, said, system=name)
    with during("review"):
        return Played(scores.results(db, blobs, owner, REF), added)


def _has(folder: Path, name: str) -> bool:
    return any(name == path.name or path.name.startswith(f"{name}_") for path in folder.glob("*/*"))


def _make_teams(db: Session, event: SharedTask) -> dict[str, Actor]:
    builds = {team for name, [team] in TEAM_SYSTEMS.items() if name in event.answers}
    people = {}
    with during("build"):
        for team in sorted({*event.pairs, *builds}):
            role = "both" if team in builds and team in event.pairs else "builder" if team in builds else "breaker"
            people[team] = make_person(db, f"of-{team}", RoleName.BUILDER)
            teams.create_team(db, people[team], REF, team, role)
    return people


def test_an_event_of_that_shape_is_played_again(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Files of the released shape go through teams, uploads and answers as they are, and have their figures."""
    folder = released(tmp_path / "released")
    played = play(db, blobs, owner, tmp_path, folder, {"Russell is terrific as coach.": "-1", "Good.": "1"})
    assert played.added == {"osu": (3, 2)}
    score = played.results.score
    assert (score.contested, score.with_contested is not None) == (2, True)
    assert score.systems.keys() == {"strawman", "pcnn"}


def _crowd_labels(folder: Path) -> dict[str, str]:
    """Read what the crowd said of the sentences that breakers began from, the first time that each was asked about."""
    labels: dict[str, str] = {}
    with (folder / SENTENCES).open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            labels.setdefault(row["sentence"].strip(), FIVE[row["choose_one_of_the_sentiments_below"]])
    return labels


@pytest.mark.slow
def test_the_sentiment_task_of_2017_is_played_again(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, shared_data: Path
) -> None:
    """Seven systems of two teams and the organisers, four breakers' 291 pairs: what Table 1 counts comes out."""
    home = shared_data / "bibi-2017"
    folder = home / "builders" / "sentiment_analysis"
    played = play(db, blobs, owner, tmp_path, folder, _crowd_labels(home))
    assert played.added == {"osu": (99, 6), "melbourne": (42, 2), "utrecht": (50, 4), "vtex": (100, 4)}
    assert played.results.own == {"melbourne": ("pcnn", "scnn")}
    with during("review"):
        contested = scores.list_pairs(db, blobs, owner, REF, status="contested", limit=pairs.MAX_PAGE)
        pages = [scores.list_pairs(db, blobs, owner, REF, limit=pairs.MAX_PAGE, offset=start) for start in (0, 200)]
        assert sum(pair.scratch for page in pages for pair in page.pairs) == 230
        assert contested.total == played.results.score.contested == 16
        for pair in contested.pairs:  # in 2017 the breakers' labels counted
            labels = {"original": pair.claimed_label, "modified": pair.modified_label}
            rulings.rule_pair(
                db, owner, REF, pair.id, "relabel", **labels, reason="The breakers' labels counted in 2017."
            )
        settled = scores.results(db, blobs, owner, REF)
        assert (settled.score.contested, settled.dropped) == (0, 0)
        table = tmp_path / "exported.csv"
        scores.export(db, blobs, owner, REF, table)
    released_table = tmp_path / "matrix.csv"
    write_table(matrix(read_folder(folder, {**BREAKERS, **BUILDERS})), released_table)
    ours, theirs = settled.score, score_contest_file(released_table, ContestOptions(resamples=0))
    assert all(system.pairs == 291 for system in ours.systems.values())
    for name, system in theirs.systems.items():
        if name in {"opinionfinder", "rntn"}:  # they answer a sentence now so, now so; a contest asks once
            continue
        assert (ours.systems[name].broken, ours.systems[name].average_f1) == (system.broken, system.average_f1), name
    for name, breaker in theirs.breakers.items():
        rates = {system: rate for system, rate in breaker.break_rate.items() if system not in {"opinionfinder", "rntn"}}
        assert rates == {system: ours.breakers[name].break_rate[system] for system in rates}, name
    # Table 2 in its order: every development set was answered alike, so the score is the mean share broken.
    ranked = sorted(ours.breakers, key=lambda name: -(ours.breakers[name].score or 0))
    assert ranked == ["utrecht", "osu", "melbourne", "vtex"]
    assert "opinionfinder" not in settled.dev_accuracy
    assert score_contest_file(table, ContestOptions(resamples=0)).systems == ours.systems


ROLES = 'name = "mood"\nkind = "qa-srl"\ntitle = "Who did what"\n'
OPENING = "In the spring of 1999 , "


def _says(inputs: Mapping[str, str]) -> str:
    """Answer as a system without syntax would: with the words beside the predicate, before it or after it."""
    words, verb = inputs["sentence"].split(), inputs["predicate"].lower()
    at = next((place for place, word in enumerate(words) if word.lower() == verb), 0)
    agent = inputs["question"].split()[0].lower() in {"who", "what"}
    return " ".join(words[max(0, at - 2) : at] if agent and at else words[at + 1 : at + 4]) or words[0]


def _first_place(text: str, sentence: str) -> dict[str, Any]:
    """Say of an answer which may stand twice that its first place is meant; the files do not say where it begins."""
    place = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", sentence, re.IGNORECASE)
    return {"text": place[0], "start": place.start()} if place else {"text": text, "start": None}


def test_the_roles_task_of_2017_is_played_again(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, shared_data: Path
) -> None:
    """The released sentences go through a contest on roles; its pairs were never released, so a rule writes some."""
    home = shared_data / "bibi-2017" / "annotations" / "qasrl" / "hal_create_tsvs" / "tsv"
    put_task(db, owner, ROLES)
    plan = replace(read_preset("qa-srl").plan, role="dev")
    import_dataset(db, blobs, owner, "mood", "dev", home / "wiki2.dev.tsv", replace(plan, hidden=True))
    starter = import_dataset(db, blobs, owner, "mood", "starter", home / "wiki2.test.tsv", plan)
    with during("coming"):
        put_contest(db, owner, CONTEST.format(more="threshold = 0.6\npairs = 200\nchanged_words = 7"))
    builder, breaker = make_person(db, "of-umd", RoleName.BUILDER), make_person(db, "of-umass", RoleName.BUILDER)

    def answer(part: str) -> None:
        asked, said = tmp_path / f"{part}.jsonl", tmp_path / f"said-{part}.jsonl"
        blind.export_part(db, blobs, builder, REF, part, asked)
        rows = [json.loads(line) for line in asked.read_text(encoding="utf-8").splitlines()]
        lines = [json.dumps({"id": row["id"], "prediction": _says(row)}) for row in rows]
        said.write_text("\n".join(lines), encoding="utf-8")
        systems.hand_in(db, blobs, builder, REF, said)

    with during("build"):
        teams.create_team(db, builder, REF, "umd", "builder")
        teams.create_team(db, breaker, REF, "umass", "breaker")
        answer("dev")
    table = tmp_path / "pairs.jsonl"
    examples = pl.read_parquet(blobs.path(starter.blob)).head(150).to_dicts()
    with table.open("w", encoding="utf-8") as stream:
        for number, row in enumerate(examples):
            inputs = {name: row[name] for name in ("sentence", "predicate", "question")}
            for side, sentence in (("a", inputs["sentence"]), ("b", OPENING + inputs["sentence"])):
                gold = [_first_place(span["text"], sentence) for span in row["answer"]]
                line = {**inputs, "pair_id": str(number), "side": side, "sentence": sentence, "label": gold}
                stream.write(json.dumps({**line, "strategy": "adding a date"}) + "\n")
    with during("break"):
        assert pairs.upload_pairs(db, blobs, breaker, REF, table).added == 150
    with during("score"):
        answer("pairs")
    with during("over"):
        results = scores.results(db, blobs, owner, REF)
        exported = tmp_path / "exported.csv"
        scores.export(db, blobs, owner, REF, exported)
    [score] = results.score.systems.values()
    assert (score.pairs, results.score.metric) == (150, "f1")
    assert 0 < results.dev_accuracy["umd"] < 0.5
    options = ContestOptions(Grading("f1", 0.6, "squad"), results.dev_accuracy, resamples=0)
    assert score_contest_file(exported, options).systems == results.score.systems
