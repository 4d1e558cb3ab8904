"""Quoref and ROPES: questions over passages in SQuAD's form, with the originals in a file of their own."""

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

_Asked = tuple[int, dict[str, Any], dict[str, Any]]


def read_quoref(files: ContrastFiles) -> ContrastSets:
    """Read both files of Quoref: an answer has several spans, and a neighbour names its original."""
    first, second = files.pair(r"original.*\.json$", r"perturbations.*\.json$")
    sets = ContrastSets(second.name)
    for number, paragraph, asked in _questions(first):
        _quoref(sets, number, paragraph, asked, str(asked.get("id")), original=True)
    known = {member.set for member in sets.members}
    for number, paragraph, asked in _questions(second):
        origin = str(asked.get("original_id"))
        if origin not in known:
            sets.fault(Text("its original '{origin}' is not in {other}", origin=origin, other=first.name), number)
            continue
        _quoref(sets, number, paragraph, asked, origin, original=False)
    return sets


def _quoref(
    sets: ContrastSets, number: int, paragraph: dict[str, Any], asked: dict[str, Any], origin: str, *, original: bool
) -> None:
    spans = _texts(asked)
    if not spans or not isinstance(paragraph.get("context"), str):
        sets.fault(Text("a question needs an answer, and its paragraph a 'context'"), number)
        return
    inputs = {"passage": paragraph["context"], "question": str(asked["question"])}
    sets.members.append(Member(number, str(asked.get("id")), origin, original, inputs, [spans], [spans]))


def read_ropes(files: ContrastFiles) -> ContrastSets:
    """Read both files of ROPES: a question has the same id in both."""
    first, second = files.pair(r"contrast_set_original.*\.json$", r"contrast_set_\d+.*\.json$")
    sets = ContrastSets(second.name)
    for path, original in ((first, True), (second, False)):
        for number, paragraph, asked in _questions(path):
            texts, name = _texts(asked), str(asked.get("id"))
            passages = {part: paragraph.get(part) for part in ("background", "situation")}
            if not texts or not all(isinstance(text, str) for text in passages.values()):
                sets.fault(
                    Text("a question needs an answer, and its paragraph a 'background' and a 'situation'"), number
                )
                continue
            inputs = {**passages, "question": str(asked["question"])}
            right = [[text] for text in texts]
            sets.members.append(Member(number, name, name, original, inputs, right, texts))
    return sets


def _questions(path: Path) -> Iterator[_Asked]:
    document = read_json(path)
    articles = document.get("data") if isinstance(document, dict) else None
    if not isinstance(articles, list):
        raise BadInput("{name} is JSON, but has no list 'data' as SQuAD's files do.", name=path.name)
    number = 0
    for article in articles:
        for paragraph in article.get("paragraphs", []) if isinstance(article, dict) else []:
            for asked in paragraph.get("qas", []) if isinstance(paragraph, dict) else []:
                number += 1
                if isinstance(asked, dict) and "question" in asked:
                    yield number, paragraph, asked


def _texts(asked: dict[str, Any]) -> list[str]:
    """Return the texts of the answers as they stand, but for spaces around them, each once."""
    answers = asked.get("answers")
    texts = [answer.get("text") for answer in answers if isinstance(answer, dict)] if isinstance(answers, list) else []
    return list(dict.fromkeys(text.strip() for text in texts if isinstance(text, str) and text.strip()))


CONTRAST_FORMATS.register("quoref")(
    ContrastFormat(
        "quoref", read_quoref, 'kind = "discrete-qa"', "f1", "Who is meant, over a passage: 700 in 415 sets."
    )
)
CONTRAST_FORMATS.register("ropes")(
    ContrastFormat(
        "ropes",
        read_ropes,
        'kind = "discrete-qa"\n\n[options]\npassages = ["background", "situation"]',
        "exact_match",
        "Causes applied to situations, over two passages: 974 pairs.",
    )
)
