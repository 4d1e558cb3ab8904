"""DROP: questions whose answer is a number, a date or spans. The originals' answers are in DROP itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput
from quintain.core.texts import Text
from quintain.data.contrast.contract import (
    CONTRAST_FORMATS,
    ContrastFiles,
    ContrastFormat,
    ContrastSets,
    Member,
    read_json,
)
from quintain.tasks.answer_kinds.discrete import spans_of


def read(files: ContrastFiles) -> ContrastSets:
    """Read `drop_contrast_sets_test.json` and, where it is given, the file of DROP with the originals."""
    path = files.file(r"contrast.*\.json$")
    sets = ContrastSets(path.name)
    origins: dict[str, None] = {}
    for number, passage, asked in _questions(path):
        name = str(asked.get("query_id", ""))
        origin = name.rpartition("_")[0]
        if not origin:
            sets.fault(Text("'query_id' is not that of an original, followed by _ and a number"), number)
        origins[origin] = None
        _add(sets, number, passage, asked, name, origin)
    if files.originals is not None:
        first = ContrastSets(files.originals.name)
        for number, passage, asked in _questions(files.originals):
            if str(asked.get("query_id")) in origins:
                _add(first, number, passage, asked, str(asked["query_id"]), str(asked["query_id"]), original=True)
        sets.members[:0] = first.members
        sets.faults += first.faults
    return sets


def _questions(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    document = read_json(path)
    if not isinstance(document, dict):
        raise BadInput("{name} is JSON, but no object from passages to questions.", name=path.name)
    number = 0
    for entry in document.values():
        for asked in entry.get("qa_pairs", []) if isinstance(entry, dict) else []:
            number += 1
            if isinstance(asked, dict):
                yield number, str(entry.get("passage", "")), asked


def _add(
    sets: ContrastSets,
    number: int,
    passage: str,
    asked: dict[str, Any],
    name: str,
    origin: str,
    *,
    original: bool = False,
) -> None:
    raw_answers = [asked.get("answer"), *(asked.get("validated_answers") or [])]
    answers = [spans for answer in raw_answers if isinstance(answer, dict) and (spans := spans_of(answer))]
    question = asked.get("question")
    if not answers or not isinstance(question, str):
        sets.fault(Text("a question needs a 'question' and an 'answer' with a number, a date or spans"), number)
        return
    # The same answer from two annotators is one right answer.
    right = [list(one) for one in dict.fromkeys(tuple(answer) for answer in answers)]
    inputs = {"passage": passage, "question": question}
    sets.members.append(Member(number, name, origin, original, inputs, right, right))


CONTRAST_FORMATS.register("drop")(
    ContrastFormat(
        "drop",
        read,
        'kind = "discrete-qa"',
        "f1",
        "Numbers, dates and spans over passages: 947 in 623 sets; the originals' answers are in DROP's own file.",
    )
)
