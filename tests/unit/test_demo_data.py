"""The starter tasks: how much there is, how it is split, and that it is clean."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files
from itertools import combinations
from typing import Any

import polars as pl
import pytest

from quintain.core.task import Task
from quintain.perturbations.fairness.identity_terms import groups
from quintain.services.house.demo import CONTRAST
from quintain.stats.diff import edit_size
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import parse_task

DATA = files("quintain") / "demo_data"
SPLITS = {
    "sentiment": {"train": 390, "dev": 105, "test": 165},
    "nli": {"train": 108, "test": 60},
    "qa": {"train": 104, "test": 64},
    "choice": {"train": 26, "test": 12},
    "hate": {"train": 96, "dev": 30, "test": 60},
    "questions": {"train": 24, "test": 40},
}
DOMAINS = {"restaurants", "films-and-books", "gadgets", "travel-and-transport", "work-and-services"}
NEGATIONS = re.compile(r"n't\b|\b(not|no|never|nobody|none|nothing|neither|without)\b", re.IGNORECASE)


def task_of(name: str) -> Task:
    return parse_task((DATA / name / "task.toml").read_text(encoding="utf-8"))


def rows_of(name: str, split: str) -> list[dict[str, Any]]:
    text = (DATA / name / f"{split}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize("name", SPLITS)
def test_every_split_has_its_size(name: str) -> None:
    """The README of the data and the files agree on how much there is."""
    assert {split: len(rows_of(name, split)) for split in SPLITS[name]} == SPLITS[name]


@pytest.mark.parametrize("name", ["sentiment", "nli", "hate"])
def test_labels_are_balanced_within_each_split(name: str) -> None:
    """No label is more frequent than another, so the majority baseline stands at chance."""
    for split in SPLITS[name]:
        counts = Counter(row["answer"] for row in rows_of(name, split))
        assert set(counts) == set(task_of(name).label_names)
        assert len(set(counts.values())) == 1


def test_sentiment_is_balanced_over_domains() -> None:
    """Each split has the same number of sentences from each of the five domains, and each sentence has one domain."""
    for split in SPLITS["sentiment"]:
        domains = [DOMAINS.intersection(row["tags"]) for row in rows_of("sentiment", split)]
        assert all(len(found) == 1 for found in domains)
        counts = Counter(domain for found in domains for domain in found)
        assert set(counts) == DOMAINS
        assert len(set(counts.values())) == 1


def test_mixed_sentences_are_kept_apart() -> None:
    """Sentences for the label that only people give are in a file of their own, tagged, without answers that score."""
    mixed = rows_of("sentiment", "mixed")
    assert len(mixed) >= 40
    assert all("mixed" in row["tags"] and "answer" not in row for row in mixed)
    assert [label.name for label in task_of("sentiment").extra_labels] == ["mixed"]
    scored = {row["text"] for split in SPLITS["sentiment"] for row in rows_of("sentiment", split)}
    assert scored.isdisjoint(row["text"] for row in mixed)


@pytest.mark.parametrize("name", SPLITS)
def test_no_two_rows_are_alike(name: str) -> None:
    """No two sentences share half of their words, nor two hypotheses or questions four fifths, in whatever splits."""
    splits = [*SPLITS[name], *(["mixed"] if name == "sentiment" else [])]
    fields = {"sentiment": "text", "hate": "text", "nli": "hypothesis", "questions": "source"}
    field, limit = fields.get(name, "question"), 0.5 if fields.get(name) == "text" else 0.8
    texts = [row[field] for split in splits for row in rows_of(name, split)]
    tokens = [words(text) for text in texts]
    alike = [
        (texts[i], texts[j])
        for i, j in combinations(range(len(texts)), 2)
        if len(tokens[i] & tokens[j]) / len(tokens[i] | tokens[j]) >= limit
    ]
    assert alike == []


@pytest.mark.parametrize(("name", "field"), [("nli", "premise"), ("qa", "passage"), ("choice", "passage")])
def test_what_rows_share_stays_in_one_split(name: str, field: str) -> None:
    """No premise and no passage leaks from training into the test, not even reworded."""
    train = {row[field] for row in rows_of(name, "train")}
    test = {row[field] for row in rows_of(name, "test")}
    assert max(len(words(a) & words(b)) / len(words(a) | words(b)) for a in train for b in test) < 0.4


@pytest.mark.parametrize("name", SPLITS)
def test_the_kind_finds_nothing_wrong(name: str) -> None:
    """Every row passes the checks that an import makes."""
    task = task_of(name)
    kind = kind_of(task)
    for split in SPLITS[name]:
        table = pl.DataFrame(rows_of(name, split)).select(list(kind.schema(task)))
        assert kind.check_table(task, table.cast(dict(kind.schema(task)))) == []


def test_spans_are_where_they_say() -> None:
    """Every answer is cut from its passage at its start, and the passages are short."""
    rows = [row for split in SPLITS["qa"] for row in rows_of("qa", split)]
    for row in rows:
        (span,) = row["answer"]
        assert row["passage"][span["start"] :].startswith(span["text"])
        assert span["text"].strip() == span["text"] != ""
    passages = {row["passage"] for row in rows}
    assert len(passages) >= 40
    assert all(60 <= len(passage.split()) <= 125 for passage in passages)


def test_negation_does_not_give_the_label_away() -> None:
    """Negation words turn up under every label of the pairs, least of all more often in contradictions."""
    rows = [row for split in SPLITS["nli"] for row in rows_of("nli", split)]
    counts = Counter(row["answer"] for row in rows if NEGATIONS.search(row["hypothesis"]))
    assert min(counts[label] for label in task_of("nli").label_names) >= 10
    assert counts["contradiction"] < len(rows) / 3 / 2


def test_neither_place_nor_length_gives_the_option_away() -> None:
    """The right option is as often in each place, and always taking the longest one is little better than guessing."""
    rows = [row for split in SPLITS["choice"] for row in rows_of("choice", split)]
    places = Counter(row["answer"] for row in rows)
    assert max(places.values()) - min(places.values()) <= 1
    longest = sum(len(row["options"][row["answer"]]) == max(map(len, row["options"])) for row in rows)
    assert longest / len(rows) < 0.4


def test_there_is_something_to_perturb() -> None:
    """Sentences have names, digits and contractions, so that perturbations find what they change."""
    texts = [row["text"] for split in SPLITS["sentiment"] for row in rows_of("sentiment", split)]
    assert sum(bool(re.search(r"\d", text)) for text in texts) >= 60
    assert sum(bool(re.search(r"\w[’'](t|s|re|ve|d|ll|m)\b", text)) for text in texts) >= 120
    assert sum(bool(re.search(r"(?<!^)(?<![.!?] )\b[A-Z]\w{2,}", text)) for text in texts) > 150


def test_hate_speech_is_warned_of_and_about_invented_groups() -> None:
    """The task warns in both languages, and names every group that its sentences speak of."""
    task = task_of("hate")
    assert set(task.content_warning) == {"en", "de"}
    invented = set(groups()["invented"])
    assert all(several in text for _, several in invented for text in task.content_warning.values())
    texts = [row["text"] for split in SPLITS["hate"] for row in rows_of("hate", split)]
    real = {word for kind, listed in groups().items() if kind != "invented" for words in listed for word in words}
    assert not any(real & set(re.findall(r"\w+", text)) for text in texts)


def test_the_name_of_a_group_does_not_give_hate_away() -> None:
    """Groups are named under both labels, each group at least a third as often under the rarer one."""
    rows = [row for split in SPLITS["hate"] for row in rows_of("hate", split)]
    for one, _ in [*groups()["invented"], ("Brindish", "")]:
        counts = Counter(row["answer"] for row in rows if one in row["text"])
        assert min(counts[label] for label in task_of("hate").label_names) * 3 >= max(counts.values()), one


def test_the_contrast_set_turns_sentences_of_dev_by_a_few_words() -> None:
    """At least 40 originals of dev; every edit is small, new, changes the label, and is about one of three things."""
    rows = rows_of("sentiment", "contrast")
    dev = {row["text"]: row["answer"] for row in rows_of("sentiment", "dev")}
    known = {row["text"] for split in (*SPLITS["sentiment"], "mixed") for row in rows_of("sentiment", split)}
    assert len({row["original"] for row in rows}) >= 40
    assert all(dev[row["original"]] != row["answer"] for row in rows)
    assert {row["answer"] for row in rows} <= set(task_of("sentiment").label_names)
    assert {tag for row in rows for tag in row["tags"]} == {"negation", "word choice", "stance"}
    assert max(edit_size(row["original"], row["text"]).tokens for row in rows) <= CONTRAST.limit.most
    assert known.isdisjoint(row["text"] for row in rows)
