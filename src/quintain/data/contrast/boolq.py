"""BoolQ: questions on a passage, each with several that were made from it."""

from __future__ import annotations

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

_HEADER = "Gold Answer"  # the published file begins with the titles of its spreadsheet
_ANSWERS = {"true": "yes", "false": "no", "yes": "yes", "no": "no"}


def read(files: ContrastFiles) -> ContrastSets:
    """Read `boolq_perturbed.json`."""
    path = files.file(r"\.json$")
    document = read_json(path)
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise BadInput("{name} is JSON, but has no list 'data'.", name=path.name)
    sets = ContrastSets(path.name)
    listed = 0
    for number, entry in enumerate(entries, 1):
        questions = entry.get("perturbed_questions") if isinstance(entry, dict) else None
        if not isinstance(questions, list) or not isinstance(entry.get("paragraph"), str):
            sets.fault(Text("a set needs a 'paragraph' and a list 'perturbed_questions'"), number)
            continue
        listed += len(questions)
        if entry.get("answer") == _HEADER:
            sets.leave_out("the line with the titles of the columns")
            continue
        _add(sets, number, entry, entry.get("question"), original=True)
        for other in questions:
            asked = other if isinstance(other, dict) else {}
            _add(sets, number, {**asked, "paragraph": entry["paragraph"]}, asked.get("perturbed_q"), original=False)
    sets.in_file = (listed, len(entries))
    return sets


def _add(sets: ContrastSets, number: int, entry: dict[str, Any], question: Any, *, original: bool) -> None:
    answer = _ANSWERS.get(str(entry.get("answer")).strip().lower())
    if not isinstance(question, str) or not question.strip():
        sets.leave_out("without a question")
    elif answer is None:
        sets.fault(Text("'{answer}' is neither TRUE nor FALSE", answer=entry.get("answer")), number)
    else:
        inputs = {"passage": entry["paragraph"], "question": question.strip()}
        sets.members.append(Member(number, str(number), str(number), original, inputs, answer, answer))


CONTRAST_FORMATS.register("boolq")(
    ContrastFormat("boolq", read, 'kind = "yes-no"', "accuracy", "Yes/no questions on a passage: 341 in 70 sets.")
)
