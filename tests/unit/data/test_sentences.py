"""Where sentences end: what readers would say, on reviews and on prose."""

from __future__ import annotations

import csv
import gzip
import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.data.sentences import sentences, split_texts
from tests.starter import starter_rows


def split(text: str) -> list[str]:
    """Give the sentences of one text."""
    return split_texts([text])[0]


@pytest.mark.parametrize(
    "whole",
    [
        "Mr. Bell and Dr. Watson met Prof. Moriarty.",
        "J. K. Rowling wrote it.",
        "The U.S. Army bought 3.5 tons, i.e. too much.",
        "We met at 9 p.m. on Main St. near the park.",
        "Try burgers, fries, etc. and a shake.",
        "See www.example.com/a.b?c=d.html or mail a.b@example.org for more.",
        "It costs $4.50, not $5.",
        "Version 2.0.1 is No. 1 here.",
        "Well... it was fine…",
        '"Really?" she asked.',
        "Yahoo and node.js and Amazon.Com are names.",
        "1. Order early.",
        "It was good . . . sort of.",
        "Smith et al. found it in Jan. 2020.",
    ],
)
def test_some_stops_end_nothing(whole: str) -> None:
    """Abbreviations, initials, numbers, addresses, ellipses before a small letter and numbered points go on."""
    assert split(whole) == [whole]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good. Bad! Why? So…", ["Good.", "Bad!", "Why?", "So…"]),
        ("food was good. service was bad.", ["food was good.", "service was bad."]),
        ("Great! loved it.", ["Great!", "loved it."]),
        ("good food.The service was bad", ["good food.", "The service was bad"]),
        ("Yes!Great stuff", ["Yes!", "Great stuff"]),
        ("Wow... Loved this place.", ["Wow...", "Loved this place."]),
        ('He said "I left." Then he ran.', ['He said "I left."', "Then he ran."]),
        ("(I hated it.) We left.", ["(I hated it.)", "We left."]),
        ("Loved it!!! 😍 Will return.", ["Loved it!!! 😍", "Will return."]),
        ("Loved it 😍 Will return", ["Loved it 😍", "Will return"]),
        ("Great food :) We'll be back", ["Great food :)", "We'll be back"]),
        ("I ate at 9 p.m. The food was cold.", ["I ate at 9 p.m.", "The food was cold."]),
        ("I live in the U.S. They know.", ["I live in the U.S.", "They know."]),
        ("So is Main St. I go there.", ["So is Main St.", "I go there."]),
        ("Oh no. We left at 5 am. Nice", ["Oh no.", "We left at 5 am.", "Nice"]),
        ("Me and I. We left.", ["Me and I.", "We left."]),
        ("Pros:\n- good\n- cheap\n\nCons: none", ["Pros:", "- good", "- cheap", "Cons: none"]),
        ("これは良い。とても！はい", ["これは良い。", "とても！", "はい"]),
        ("Great! !! ok", ["Great! !!", "ok"]),
        ("!!! Great", ["!!! Great"]),
        ("1. Order early. 2. Eat.", ["1. Order early.", "2. Eat."]),
        ("It was $5. It is $6.", ["It was $5.", "It is $6."]),
        ("Un café, s'il vous plaît. Merci !", ["Un café, s'il vous plaît.", "Merci !"]),
        ("هذا جيد. شكرا!", ["هذا جيد.", "شكرا!"]),
        ("  \n ", []),
        ("", []),
        ("...", ["..."]),
        ("no stop at all", ["no stop at all"]),
    ],
)
def test_sentences_end_where_readers_see_an_end(text: str, expected: list[str]) -> None:
    """Stops with what belongs to them, smileys and emoji, blank lines and lists, missing blanks, other scripts."""
    assert split(text) == expected


@given(st.text(alphabet=st.sampled_from(list("aBé .!?…\n\"'():;=<3😍1。-")), max_size=60))
def test_nothing_is_lost(text: str) -> None:
    """Sentences follow each other, only space lies between them, and all but a lone one have a letter or a digit."""
    spans = sentences(text)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    covered = "".join(text[start:end] for start, end in spans)
    assert "".join(covered.split()) == "".join(text.split())
    pieces = [text[start:end] for start, end in spans]
    assert all(piece == piece.strip() for piece in pieces)
    assert len(pieces) < 2 or all(any(map(str.isalnum, piece)) for piece in pieces)


def test_texts_are_counted_one_by_one() -> None:
    """An empty text has no sentences, and the counts add up."""
    pieces, starts, counts = split_texts(["One. Two.", "", "Three"])
    assert pieces == ["One.", "Two.", "Three"]
    assert starts == [0, 5, 0]
    assert counts == [2, 0, 1]


def test_a_long_run_of_marks_takes_no_longer_than_its_length() -> None:
    """Nothing in the rules goes back over what it has read, so hostile texts are cut in one go."""
    for part in (". ", "!", "\n", ":)", "😍 ", '."', "a.", "Mr. "):
        assert sum(end - start for start, end in sentences(part * 20_000)) > 0 or not part.strip()


def test_starter_sentences_stay_whole() -> None:
    """Sentences that are shipped one by one, commas, quotation marks and abbreviations in them, are not cut."""
    texts = [row["text"] for row in starter_rows("sentiment")]
    single = [text for text in texts if not re.search(r"[.!?…]['\"”’)]*\s", text)]
    assert len(single) > 400
    _, _, counts = split_texts(single)
    assert set(counts) == {1}


def test_real_sentences_stay_whole(shared_data: Path) -> None:
    """Of the sentences that were cut for DynaSent, under 2 % are cut again."""
    with gzip.open(
        shared_data / "dynasent-derived" / "round1_sentences_topvote.csv.gz", "rt", encoding="utf-8"
    ) as file:
        texts = [row["sentence"] for row, _ in zip(csv.DictReader(file), range(20_000), strict=False)]
    _, _, counts = split_texts(texts)
    assert sum(count != 1 for count in counts) / len(counts) < 0.02
