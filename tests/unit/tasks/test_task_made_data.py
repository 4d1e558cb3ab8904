"""Rows in the shapes that public data sets have, made for these tests: read without a fault, wrong ones named.

The same is shown on the real files in `test_task_real_data`, where they are beside the repository.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.starter import starter_rows
from tests.unit.tasks.test_task_real_data import check

LABELLED = 'kind = "text-classification"\nlabels = ["negative", "positive"]'
STANCE = (
    'kind = "pair-classification"\nlabels = ["pos", "neg", "unk"]\n[options]\nfirst = "claim"\nsecond = "perspective"'
)
EVENTS = 'kind = "pair-classification"\nlabels = ["before", "after"]\n[options]\nmarked = true'
PASSAGE = "Zoë Müller née Šimić – “the baker” – lives in Kraków. 😀 She bakes."

# Kind: its definition, rows that are good, a row that is not, and the field that says so.
CASES: dict[str, tuple[str, list[dict[str, Any]], dict[str, Any], str]] = {
    "text": (
        LABELLED,
        [{"text": "It works , somehow .", "answer": "positive"}],
        {"text": "x", "answer": "1"},
        "answer",
    ),
    "stance": (
        STANCE,
        [{"claim": "Tea helps.", "perspective": "It soothes.", "answer": answer} for answer in ("pos", "neg", "unk")],
        {"claim": "", "perspective": "It soothes.", "answer": "pos"},
        "claim",
    ),
    "events": (
        EVENTS,
        [
            {"text": "She <e1>left</e1> after he <e2>came</e2> .", "answer": "after"},
            {"text": "After he <e2>came</e2> she <e1>left</e1> .", "answer": None},
        ],
        {"text": "She <e1>left</e1> after he came.", "answer": "after"},
        "text",
    ),
    "yes-no": (
        'kind = "yes-no"',
        [{"passage": PASSAGE, "question": "is there a baker", "answer": "yes"}],
        {"passage": "paragraph", "question": "question", "answer": "answer"},
        "answer",
    ),
    "spans": (
        'kind = "extractive-qa"',
        [
            {
                "passage": PASSAGE,
                "question": "Who?",
                "answer": [
                    {"text": text, "start": PASSAGE.index(text)} for text in ("Zoë", "“the baker”", "She bakes")
                ],
            }
        ],
        {"passage": PASSAGE, "question": "Who?", "answer": [{"text": "the baker", "start": 3}]},
        "answer",
    ),
    "choice": (
        'kind = "multiple-choice"',
        [{"passage": PASSAGE, "question": "Who?", "options": ["she", "he", "it", "nobody"], "answer": 3}],
        {"passage": PASSAGE, "question": "Who?", "options": ["she", "he"], "answer": 2},
        "answer",
    ),
    "several": (
        'kind = "several-answers"',
        [{"passage": PASSAGE, "question": "How long?", "candidates": ["an hour", "a day"], "answer": [0, 1]}],
        {"passage": PASSAGE, "question": "How long?", "candidates": ["a day", "a day"], "answer": [0]},
        "candidates",
    ),
    "qa-srl": (
        'kind = "qa-srl"',
        [
            {
                "sentence": "She baked two loaves on Monday .",
                "predicate": "baked",
                "question": "What did someone bake?",
                "answer": [{"text": "two loaves", "start": None}],
            }
        ],
        {
            "sentence": "She baked two loaves .",
            "predicate": "baked",
            "question": "What?",
            "answer": [{"text": "bread", "start": None}],
        },
        "answer",
    ),
    "attachment": (
        'kind = "attachment"',
        [{"tokens": ["He", "ate", "pizza", "with", "friends"], "preposition": 3, "answer": 1}],
        {"tokens": ["He", "ate"], "preposition": 1, "answer": 7},
        "answer",
    ),
    "images": (
        'kind = "image-pair"',
        [
            {
                "left_image": "https://a.example/1.jpg",
                "right_image": "https://a.example/2.jpg",
                "statement": "Both show a dog.",
                "answer": "true",
            }
        ],
        {"left_image": "https://a.example/1.jpg", "right_image": "", "statement": "Both.", "answer": "true"},
        "right_image",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_good_rows_are_good_and_the_wrong_one_is_named(case: str) -> None:
    """Accents, marks in either order, missing answers and several spans are read; the fault has its row and field."""
    definition, good, bad, field = CASES[case]
    assert check(definition, good) == (len(good), [])
    height, faults = check(definition, [*good, bad])
    assert height == len(good) + 1
    assert {(fault.row, fault.field) for fault in faults} == {(len(good), field)}


@pytest.mark.parametrize(
    ("task", "definition"),
    [
        ("sentiment", 'kind = "text-classification"\nlabels = ["negative", "neutral", "positive"]'),
        ("nli", 'kind = "pair-classification"\nlabels = ["entailment", "neutral", "contradiction"]'),
        ("qa", 'kind = "extractive-qa"'),
        ("choice", 'kind = "multiple-choice"'),
    ],
)
def test_the_starter_data_is_good(task: str, definition: str) -> None:
    """Every example that is shipped is one of its kind, spans and all."""
    rows = [
        {name: value for name, value in row.items() if name not in {"tags", "group"}}
        for row in starter_rows(task, "train", "test")
    ]
    assert check(definition, rows) == (len(rows), [])
