"""Harvesting: what is taken from a corpus, whatever its format and however it is cut, and what is said if it fails."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.core.errors import BadInput, Conflict, NotFound, Unavailable
from quintain.core.people import Actor
from quintain.core.task import Label, Task
from quintain.data.harvest_rules import parse_rules
from quintain.data.importing import write_examples
from quintain.data.plan import ImportPlan
from quintain.data.readers.contract import Options
from quintain.models.baselines.ngram import Ngram
from quintain.models.baselines.tfidf import Tfidf
from quintain.models.card import HEADINGS, write_card
from quintain.services.harvest import corpus as harvest_corpus
from quintain.services.harvest.model import HarvestTarget, target_from_folder
from quintain.services.harvest.run import Harvesting, harvest
from quintain.services.harvest.state import HarvestState
from quintain.services.harvest.stored_model import target_from_workspace
from quintain.services.models.registry import register_version, withdraw
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from tests.starter import starter_rows

LABELS = ("negative", "neutral", "positive")
TASK = Task("sentiment", "text-classification", {"en": "Sentiment"}, labels=tuple(Label(name) for name in LABELS))
TOML = 'name = "sentiment"\nkind = "text-classification"\ntitle = "S"\nlabels = ["negative", "neutral", "positive"]\n'
Run = Callable[..., Result]


def by_words(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Answer by one word: a model whose answers a test can foretell."""
    sure = np.array([[0.05, 0.05, 0.9]])
    shift = [1 if "awful" in text else 2 if "plain" in text else 0 for text in texts]
    return np.concatenate([np.roll(sure, one, axis=1) for one in shift]) if texts else np.empty((0, 3))


TARGET = HarvestTarget("fake", "f" * 32, "sentiment", LABELS, "text", by_words)


def reviews(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Make reviews of a few sentences with stars."""
    rng = np.random.default_rng(seed)
    nouns = [f"{a}{b}" for a in ("sou", "sal", "mea", "win", "stea", "bre") for b in ("p", "ad", "t", "e", "k", "do")]
    made = []
    for number in range(count):
        parts = []
        for _ in range(int(rng.integers(1, 5))):
            one, two, three = rng.choice(nouns, 3)
            verb, said = rng.choice(["was", "seemed", "tasted"]), rng.choice(["awful", "plain", "lovely"])
            parts.append(f"The {one} and {two} of {three} number {rng.integers(10**6)} {verb} {said}.")
        city = str(rng.choice(["Bonn", "Ulm"]))
        made.append({"id": f"r{number}", "stars": int(rng.integers(1, 6)), "city": city, "text": " ".join(parts)})
    return made


def write_jsonl(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reviews in a file."""
    return write_jsonl(tmp_path_factory.mktemp("corpus") / "reviews.jsonl", reviews(800))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model in a folder, without a workspace."""
    folder = tmp_path_factory.mktemp("model")
    words = ["awful", "plain", "lovely"]
    table = pl.DataFrame({"text": [f"It was {words[n % 3]}." for n in range(60)], "answer": list(LABELS) * 20})
    Ngram.train(TASK, table).save(folder)
    return folder


def take(corpus: Path | list[Path], out: Path, **settings: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Harvest, and give the sample and the report."""
    files = corpus if isinstance(corpus, list) else [corpus]
    told = harvest(files, TARGET, out, Harvesting(**settings), report=out.with_suffix(".report.json"))
    assert json.loads(out.with_suffix(".report.json").read_text(encoding="utf-8")) == json.loads(
        json.dumps(told.as_dict())
    )
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()], told.as_dict()


def test_the_papers_rule(corpus: Path, tmp_path: Path) -> None:
    """A quarter is one star and positive, a quarter five stars and negative, the rest is even over label and rating."""
    rows, told = take(corpus, tmp_path / "a.jsonl", size=120)
    assert len(rows) == told["taken"] == 120
    of = {(row["stratum"], row["predicted"], row["rating"]) for row in rows}
    assert sum(row["stratum"] == "one star, predicted positive" for row in rows) == 30
    assert sum(row["stratum"] == "five stars, predicted negative" for row in rows) == 30
    assert {one[1:] for one in of if one[0] == "one star, predicted positive"} == {("positive", 1.0)}
    assert {one[1:] for one in of if one[0] == "five stars, predicted negative"} == {("negative", 5.0)}
    cells = told["strata"][2]["cells"]
    assert len(cells) == 13  # 3 labels × 5 ratings, but for the two above
    assert {cell["taken"] for cell in cells} == {4, 5}
    assert told["shortfalls"] == []
    assert sum(one["sentences"] for one in told["predicted_by_rating"]) == told["sentences"]["read"]
    assert sum(one["seen"] for one in told["strata"]) == told["sentences"]["read"]
    assert told["model"]["hash"] == "f" * 32
    assert len(told["corpus"][0]["hash"]) == 64


def test_a_sample_says_where_it_comes_from(corpus: Path, tmp_path: Path) -> None:
    """Each sentence leads back to its review, and has what the model said."""
    rows, _ = take(corpus, tmp_path / "a.jsonl", size=50, keep=["city"])
    lines = corpus.read_text(encoding="utf-8").splitlines()
    for row in rows:
        review = json.loads(lines[row["row"] - 1])
        meta = json.loads(row["meta"])
        assert row["text"] in review["text"]
        assert row["source"] == f"reviews.jsonl:{row['row']}#{row['sentence']}"
        assert row["group"] == review["id"]
        assert row["rating"] == review["stars"]
        assert meta["corpus"] == {"city": review["city"]}
        assert meta["probabilities"][row["predicted"]] == row["probability"] == 0.9
        assert f"rating:{review['stars']}" in row["tags"]


def test_the_same_again_whatever_the_pieces(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed decides; how the corpus is cut, and the order of other rows, do not."""
    first, _ = take(corpus, tmp_path / "a.jsonl", size=60, seed=3)
    monkeypatch.setattr(harvest_corpus, "ROWS", 7)
    monkeypatch.setattr("quintain.services.harvest.sample.PENDING", 20)
    again, _ = take(corpus, tmp_path / "b.jsonl", size=60, seed=3)
    assert first == again
    turned = write_jsonl(tmp_path / "turned.jsonl", list(reversed(reviews(800))))
    texts = {row["text"] for row in take(turned, tmp_path / "c.jsonl", size=60, seed=3)[0]}
    assert texts == {row["text"] for row in first}
    other, _ = take(corpus, tmp_path / "d.jsonl", size=60, seed=4)
    assert {row["text"] for row in other} != texts


def test_one_that_was_interrupted_goes_on(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is taken up gives the same sample and the same counts, and asks the model about the rest alone."""
    monkeypatch.setattr(harvest_corpus, "ROWS", 100)
    settings = Harvesting(size=60, seed=3, where="predicted != 'neutral'")
    whole = harvest([corpus], TARGET, tmp_path / "whole.jsonl", settings).as_dict()
    written: list[dict[str, Any]] = []

    def stop_at_five(state: Callable[[], HarvestState]) -> None:
        if state().pieces == 5:
            written.append(state().write(tmp_path / "state.parquet"))
            raise InterruptedError

    with pytest.raises(InterruptedError):
        harvest([corpus], TARGET, tmp_path / "half.jsonl", settings, keep=stop_at_five)
    asked: list[int] = []
    target = replace(TARGET, ask=lambda texts: (asked.append(len(texts)), TARGET.ask(texts))[1])
    state = HarvestState.read(tmp_path / "state.parquet", json.loads(json.dumps(written[0])))
    again = harvest([corpus], target, tmp_path / "again.jsonl", settings, begin_at=state).as_dict()
    assert (tmp_path / "again.jsonl").read_text() == (tmp_path / "whole.jsonl").read_text()
    assert len(asked) == 3  # of eight pieces
    times = {"seconds", "cpu_seconds", "sentences_per_second", "sentences_per_cpu_second"}
    assert {key: again[key] for key in again.keys() - times} == {key: whole[key] for key in whole.keys() - times}


def test_every_format_gives_the_same_sample(corpus: Path, tmp_path: Path) -> None:
    """JSON lines, CSV, TSV and Parquet, with gzip or without."""
    expected = [row["text"] for row in take(corpus, tmp_path / "a.jsonl", size=40)[0]]
    table = pl.read_ndjson(corpus)
    table.write_csv(tmp_path / "reviews.csv")
    table.write_csv(tmp_path / "reviews.tsv", separator="\t")
    table.write_parquet(tmp_path / "reviews.parquet")
    for name in ("reviews.csv", "reviews.tsv", "reviews.parquet"):
        assert [row["text"] for row in take(tmp_path / name, tmp_path / "b.jsonl", size=40)[0]] == expected
    halves = [
        write_jsonl(tmp_path / f"{n}.jsonl", part) for n, part in enumerate((reviews(800)[:99], reviews(800)[99:]))
    ]
    rows, told = take(halves, tmp_path / "c.jsonl", size=40)
    assert [row["text"] for row in rows] == expected
    assert [one["file"] for one in told["corpus"]] == ["0.jsonl", "1.jsonl"]


def test_plain_text_has_no_ratings(tmp_path: Path) -> None:
    """Rules without ratings work on it; those with ratings say what is missing."""
    path = tmp_path / "lines.txt"
    path.write_text("The soup was lovely. The bread was awful here.\n\nA plain day at last.\n", encoding="utf-8")
    rules = parse_rules('strata = [{ name = "all", share = 1.0, across = ["predicted"] }]')
    rows, told = take(path, tmp_path / "a.jsonl", size=3, rules=rules)
    assert {row["predicted"] for row in rows} == set(LABELS)
    assert told["rows"]["read"] == 2
    with pytest.raises(BadInput, match=r"looks at ratings, and lines\.txt has no column for 'rating'"):
        take(path, tmp_path / "b.jsonl", size=3)
    across = parse_rules('strata = [{ name = "all", share = 1.0, across = ["rating"] }]')
    with pytest.raises(BadInput, match="no column for 'rating'"):
        take(path, tmp_path / "b.jsonl", size=3, rules=across)


def test_conditions_and_limits_narrow_it_down(corpus: Path, tmp_path: Path) -> None:
    """`where` of the command and of the rules both hold; limits of length and script too."""
    rules = parse_rules(
        "where = \"city == 'Bonn'\"\nlimits = { words = [5, 12], scripts = ['Latin'], per_text = 1 }\n"
        'strata = [{ name = "all", share = 1.0 }]'
    )
    rows, told = take(
        corpus, tmp_path / "a.jsonl", size=30, rules=rules, where="probability('positive') > 0.5", keep=["city"]
    )
    assert {json.loads(row["meta"])["corpus"]["city"] for row in rows} == {"Bonn"}
    assert {row["predicted"] for row in rows} == {"positive"}
    assert len({row["group"] for row in rows}) == 30
    assert told["sentences"]["left_out"]["not wanted by a condition"] > 0
    greek = parse_rules('limits = { scripts = ["Greek"] }\nstrata = [{ name = "all", share = 1.0 }]')
    with pytest.raises(BadInput, match=r"None of the .* sentences is wanted: .* in another script"):
        take(corpus, tmp_path / "a.jsonl", rules=greek)


def test_only_wanted_languages_are_taken(tmp_path: Path) -> None:
    """A limit keeps the languages it names, text by text; a column of the corpus does the same as a condition."""
    rows = [
        {"text": "The soup was lovely and we were all happy. Delicious!", "lang": "en"},
        {"text": "Die Suppe war leider kalt und der Wein auch. Furchtbar!", "lang": "de"},
        {"text": "Zzyzx qwrt plugh.", "lang": ""},
    ]
    path = write_jsonl(tmp_path / "mixed.jsonl", rows)
    strata = '[[strata]]\nname = "all"\nshare = 1.0\n'
    rules = parse_rules('[limits]\nlanguages = ["en"]\n' + strata)
    taken, told = take(path, tmp_path / "a.jsonl", rules=rules, size=10)
    assert {row["text"] for row in taken} == {"The soup was lovely and we were all happy.", "Delicious!"}
    left = told["sentences"]["left_out"]
    assert (left["in another language"], left["in a language that cannot be told"]) == (2, 1)
    other, _ = take(path, tmp_path / "b.jsonl", rules=parse_rules(strata), where="lang == 'en'", size=10)
    assert {row["text"] for row in other} == {row["text"] for row in taken}


def test_repeats_are_counted_and_taken_once(tmp_path: Path) -> None:
    """The same words, whatever case and marks, are one sentence; near ones are passed over."""
    lines = [{"stars": 1, "text": text} for text in ["Really lovely soup here!", "really LOVELY soup, here."] * 20]
    lines += [{"stars": 1, "text": "We had a lovely time by the lake."}]
    lines += [{"stars": 1, "text": "We had a lovely time by the lakes!"}]
    rows, told = take(write_jsonl(tmp_path / "r.jsonl", lines), tmp_path / "a.jsonl", size=10)
    assert len(rows) == 2
    assert [row["occurrences"] for row in rows if "soup" in row["text"]] == [40]
    assert told["duplicates"]["repeats"] == 39
    assert told["duplicates"]["near duplicates"] == 1
    assert told["strata"][0]["distinct"] == 3


def test_shortfalls_are_told(tmp_path: Path) -> None:
    """Where a stratum is short, the report says by how much, and who stood in."""
    lines = [{"stars": 1, "text": f"A lovely dish of {number} and {number * 7} things."} for number in range(100, 140)]
    rows, told = take(write_jsonl(tmp_path / "r.jsonl", lines), tmp_path / "a.jsonl", size=60, rules=None)
    assert len(rows) == told["taken"] <= 40
    short = {one["name"]: one for one in told["shortfalls"]}
    assert short["five stars, predicted negative"]["found"] == 0
    assert short["five stars, predicted negative"]["filled"][0]["from"] == "one star, predicted positive"
    assert sum(one["short"] for one in short.values()) == 60 - told["taken"]


def test_bad_rows_are_named_and_left_out(tmp_path: Path) -> None:
    """Broken lines, missing texts and ratings that are no numbers are counted, the first of them shown."""
    path = tmp_path / "r.jsonl"
    good = [json.dumps({"stars": 1, "text": f"A lovely day number {n} here."}) for n in range(5)]
    bad = [
        "{broken",
        '{"stars": "many", "text": "A lovely one."}',
        '{"stars": 1, "text": ""}',
        '{"text": "So lovely it is."}',
    ]
    path.write_text("\n".join([*good, *bad]) + "\n", encoding="utf-8")
    rows, told = take(path, tmp_path / "a.jsonl", size=20, rules=None)
    assert told["rows"] == {"read": 9, "bad": 2, "without_text": 1, "without_rating": 1}
    assert [(fault["row"], fault["field"]) for fault in told["faults"]] == [(6, None), (7, "rating")]
    assert "'many' is not a number" in told["faults"][1]["reason"]
    assert {row["row"] for row in rows} <= {1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"columns": {"rating": "star"}}, "reviews.jsonl: there is no column 'star'"),
        ({"columns": {"stars": "stars"}}, "'stars' cannot be mapped"),
        ({"where": "town == 'Bonn'"}, "no name 'town'"),
        ({"where": "rating = 1"}, "--where, character 8"),
        ({"where": "predicted == 'postive'"}, "did you mean 'positive'"),
        ({"keep": ["town"]}, "no column 'town' to keep"),
        ({"size": 0}, "The size is 0"),
        ({"where": "length > 1000"}, "None of the"),
        ({"rules": parse_rules('strata = [{ name = "a", share = 1.0, across = ["citi"] }]')}, "Did you mean 'city'"),
        ({"rules": parse_rules('strata = [{ name = "a", share = 1.0, across = ["id"] }]')}, "more than 500 cells"),
        ({"rules": parse_rules('strata = [{ name = "a", count = 3 }]'), "size": 5}, "The rules count 3 sentences"),
        ({"format": "xml"}, "xml"),
    ],
)
def test_what_makes_no_sense_is_refused(corpus: Path, tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    """Each mistake has its message, and nothing is written."""
    with pytest.raises((BadInput, NotFound)) as caught:
        harvest([corpus], TARGET, tmp_path / "a.jsonl", Harvesting(**settings))
    assert reason in str(caught.value)
    assert not (tmp_path / "a.jsonl").exists()


def test_files_without_anything_are_refused(corpus: Path, tmp_path: Path) -> None:
    """Empty ones, missing ones, ones without a text column or without ratings, and outputs of no known format."""
    for nothing in (b"", b"\n\n"):
        (tmp_path / "empty.jsonl").write_bytes(nothing)
        with pytest.raises(BadInput, match="the file is empty"):
            take(tmp_path / "empty.jsonl", tmp_path / "a.jsonl")
    with pytest.raises(NotFound, match="no file"):
        take(tmp_path / "none.jsonl", tmp_path / "a.jsonl")
    with pytest.raises(BadInput, match="no column for 'text'"):
        take(write_jsonl(tmp_path / "x.jsonl", [{"a": 1}]), tmp_path / "a.jsonl")
    lines = [{"text": "A lovely day it is.", "stars": None}] * 3
    with pytest.raises(BadInput, match="None of the 3 rows has a rating"):
        take(write_jsonl(tmp_path / "y.jsonl", lines), tmp_path / "a.jsonl")
    with pytest.raises(BadInput, match="There are no sentences"):
        take(
            write_jsonl(tmp_path / "z.jsonl", [{"text": " ", "stars": 1}, {"text": "", "stars": 2}]),
            tmp_path / "a.jsonl",
        )
    with pytest.raises(BadInput, match=r"format of a\.docx cannot be told"):
        harvest([corpus], TARGET, tmp_path / "a.docx", Harvesting())


def test_a_sample_can_be_imported(corpus: Path, model: Path, tmp_path: Path) -> None:
    """As JSON lines, CSV and Parquet, with its tags, groups and meta; the answer is for people to give."""
    target = target_from_folder(model, task=TASK)
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        harvest([corpus], target, tmp_path / name, Harvesting(size=20))
        report = write_examples(tmp_path / name, TASK, ImportPlan(unlabelled=True), tmp_path / "b.parquet")
        table = pl.read_parquet(tmp_path / "b.parquet")
        assert report.rows == table.height == 20
        assert table["tags"].list.len().min() == 3
        assert json.loads(table["meta"][0])["model"] == target.hash
        assert table["group"].null_count() == 0


def test_models_of_the_workspace(
    db: Session, blobs: Blobs, owner: Actor, corpus: Path, model: Path, tmp_path: Path
) -> None:
    """Built-in ones run here; others through their runner; withdrawn ones and unsuited tasks are refused."""
    put_task(db, owner, TOML)
    card = write_card("A model", dict.fromkeys(HEADINGS, "Some words."))

    def register(name: str, adapter: str) -> str:
        return register_version(db, blobs, owner, "sentiment", name, adapter=adapter, folder=model, card=card).ref

    ours, theirs = register("ngram", "builtin"), register("remote", "http")
    target = target_from_workspace(db, blobs, owner, ours, task="sentiment")
    told = harvest([corpus], target, tmp_path / "a.jsonl", Harvesting(size=20))
    assert told.as_dict()["model"]["name"] == ours
    folder = target_from_folder(model)
    np.testing.assert_array_equal(target.ask(["It was lovely."]), folder.ask(["It was lovely."]))
    with pytest.raises(Unavailable, match="adapter 'http'"):
        target_from_workspace(db, blobs, owner, theirs)

    def answer(version: Any, blobs: Blobs, batch: list[dict[str, Any]]) -> list[Any]:
        return ["positive" if "lovely" in one["text"] else {"negative": 0.75, "neutral": 0.25} for one in batch]

    asked = target_from_workspace(db, blobs, owner, theirs, runners={"http": answer})
    assert asked.ask(["lovely", "x"]).tolist() == [[0, 0, 1], [0.75, 0.25, 0]]
    with pytest.raises(BadInput, match="not to 'nli'"):
        target_from_workspace(db, blobs, owner, ours, task="nli")
    withdraw(db, owner, ours)
    with pytest.raises(Conflict, match="withdrawn"):
        target_from_workspace(db, blobs, owner, ours)


def test_folders_of_models(tmp_path: Path, model: Path) -> None:
    """Any baseline with labels works; other labels, and tasks of more than one sentence, are refused."""
    table = pl.DataFrame({"text": ["good soup", "bad soup", "soup"], "answer": list(LABELS)})
    Tfidf.train(TASK, table).save(tmp_path / "tfidf")
    assert target_from_folder(tmp_path / "tfidf").ask(["good soup"] * 3).shape == (3, 3)
    assert target_from_folder(tmp_path / "tfidf").ask([]).shape == (0, 3)
    other = Task("two", "text-classification", {"en": "Two"}, labels=(Label("yes"), Label("no")))
    with pytest.raises(BadInput, match="has the labels yes, no"):
        target_from_folder(model, task=other)
    pairs = Task("nli", "pair-classification", {"en": "N"}, labels=(Label("a"), Label("b")))
    Ngram.train(pairs, pl.DataFrame({"premise": ["x"], "hypothesis": ["y"], "answer": ["a"]})).save(tmp_path / "nli")
    with pytest.raises(BadInput, match="more than one sentence"):
        target_from_folder(tmp_path / "nli")
    with pytest.raises(NotFound, match="no trained baseline"):
        target_from_folder(tmp_path / "none")


def test_the_command(cli: Run, corpus: Path, model: Path, tmp_path: Path) -> None:
    """Results go to stdout, as a table or as JSON; the sample and the report into their files."""
    out, report = tmp_path / "a.csv", tmp_path / "report.json"
    common = [corpus, "--model", model, "--size", "40", "--column", "rating=stars", "--out", out]
    shown = cli("harvest", *common, "--report", report)
    assert shown.exit_code == 0, shown.output
    assert "five stars, predicted negative" in shown.stdout
    assert "wrote 40" in shown.stderr
    told = json.loads(cli("harvest", *common, "--json", "--force").stdout)
    assert told["taken"] == 40
    assert told["strata"] == json.loads(report.read_text(encoding="utf-8"))["strata"]
    assert pl.read_csv(out).height == 40


def test_the_command_refuses_what_is_wrong(cli: Run, corpus: Path, model: Path, tmp_path: Path) -> None:
    """Wrong usage exits with 2, bad input with 1, and the default rules can be had to start from."""
    out = tmp_path / "a.csv"
    assert cli("harvest", corpus).exit_code == 2
    wrong = cli("harvest", corpus, "--model", model, "--out", out, "--where", "rating = 1")
    assert wrong.exit_code == 1
    assert "--where, character 8" in wrong.stderr
    assert cli("harvest", corpus, "--model", model, "--out", out, "--rules", tmp_path / "none.toml").exit_code == 1
    rules = tmp_path / "rules.toml"
    rules.write_text(cli("harvest", "--show-rules").stdout, encoding="utf-8")
    kept = cli("harvest", corpus, "--model", model, "--out", out, "--rules", rules, "--size", "10")
    assert kept.exit_code == 0, kept.output


def test_made_reviews_with_ratings(model: Path, tmp_path: Path) -> None:
    """Snippets with ratings from -4 to 4 in Latin-1, one file packed, are read and shared out by rating."""
    texts = [row["text"] for row in starter_rows("sentiment") if max(row["text"]) <= "\xff"]
    lines = [f"{n}\t{n % 9 - 4}.5\t{text}" for n, text in enumerate(texts[:400])]
    (tmp_path / "movies.txt.gz").write_bytes(gzip.compress("\n".join(lines[:250]).encode("latin-1")))
    (tmp_path / "gadgets.txt").write_bytes("\n".join(lines[250:]).encode("latin-1"))
    rules = parse_rules(
        """
        [limits]
        words = [3, 60]
        [[strata]]
        name = "low"
        where = "rating < -1"
        share = 0.5
        [[strata]]
        name = "rest"
        share = 0.5
        across = ["predicted"]
        """
    )
    options = Options(names=("id", "rating", "text"), quotes=False, encoding="latin-1")
    settings = Harvesting(rules=rules, size=60, format="tsv", options=options)
    files = [tmp_path / "movies.txt.gz", tmp_path / "gadgets.txt"]
    told = harvest(files, target_from_folder(model), tmp_path / "a.jsonl", settings).as_dict()
    assert told["taken"] == 60
    assert told["rows"] == {"read": 400, "bad": 0, "without_text": 0, "without_rating": 0}
    with (tmp_path / "a.jsonl").open(encoding="utf-8") as stream:
        taken = [json.loads(line)["text"] for line in stream]
    assert len(taken) == 60
    assert all(any(one in text for text in texts) for one in taken)


def test_real_reviews(shared_data: Path, model: Path, tmp_path: Path) -> None:
    """Movie and product snippets with ratings from -4 to 4, and sentences with a label, in their own formats."""
    folder = shared_data / "vader-icwsm2014"
    rules = parse_rules(
        """
        [limits]
        words = [3, 60]
        [[strata]]
        name = "low, positive"
        where = "rating < -1 and predicted == 'positive'"
        share = 0.25
        [[strata]]
        name = "high, negative"
        where = "rating > 1 and predicted == 'negative'"
        share = 0.25
        [[strata]]
        name = "rest"
        share = 0.5
        across = ["predicted"]
        """
    )
    told = harvest(
        [folder / "movieReviewSnippets_GroundTruth.txt.gz", folder / "amazonReviewSnippets_GroundTruth.txt"],
        target_from_folder(model),
        tmp_path / "a.jsonl",
        Harvesting(
            rules=rules,
            size=200,
            format="tsv",
            options=Options(names=("id", "rating", "text"), quotes=False, encoding="latin-1"),
        ),
    ).as_dict()
    assert told["taken"] == 200
    assert told["rows"] == {"read": 14_313, "bad": 0, "without_text": 0, "without_rating": 0}
    assert told["sentences"]["read"] > 14_313
    uci = shared_data / "uci-sentiment-sentences" / "sentiment labelled sentences"
    even = parse_rules('strata = [{ name = "all", share = 1.0, across = ["predicted", "label"] }]')
    settings = Harvesting(rules=even, size=60, format="tsv", options=Options(names=("text", "label"), quotes=False))
    told = harvest(
        sorted(uci.glob("*_labelled.txt")), target_from_folder(model), tmp_path / "b.jsonl", settings
    ).as_dict()
    assert told["rows"]["read"] == 3000
    assert {(cell["label"]) for cell in told["strata"][0]["cells"]} == {"0", "1"}
