"""MC-TACO: questions with candidates, any number of which are plausible; a row for each candidate.

A question counts as one, whatever number of candidates it has. In these files the passage and its question are one
text, which is cut where the last question begins.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from quintain.core.errors import BadInput, Fault
from quintain.data.contrast.contract import CONTRAST_FORMATS, ContrastFiles, ContrastFormat, ContrastSets, Member
from quintain.data.text import read_bytes

_COLUMNS = ["index", "sentence1", "sentence2", "label"]
_CUT = re.compile(r"(?s)(.*[.!?\"”;)])\s+([^.!?]+\?)\s*$")
_ASKS = re.compile(r"(?<=\s)(?:How|What|When|Where|Who|Why|Which|Will|Would|Is|Are|Was|Were|Did|Does?|Has|Have|Had)\b")
_Rows = dict[str, list[tuple[int, str, bool]]]


def read(files: ContrastFiles) -> ContrastSets:
    """Read `original.tsv` and `changed.tsv`, whose questions stand in the same order."""
    first, second = files.pair(r"^original\.tsv$", r"^changed\.tsv$")
    sets = ContrastSets(second.name)
    originals, others = _questions(first, sets), _questions(second, sets)
    if len(originals) != len(others) and not sets.faults:
        raise BadInput(
            faults=[
                Fault("{n} questions, where {other} has {m}", n=len(others), other=first.name, m=len(originals),
                      file=second.name)
            ],
            remedy="Both files have the same questions in the same order.",
        )  # fmt: skip
    for number, (original_rows, other) in enumerate(zip(originals.items(), others.items(), strict=False), 1):
        for original, (text, rows) in ((True, original_rows), (False, other)):
            _add(sets, str(number), text, rows, original=original)
    answers = sum(len(rows) for rows in others.values())
    sets.notes.append(f"{answers} answer rows of {len(others)} questions; each question counts as one.")
    return sets


def _questions(path: Path, sets: ContrastSets) -> _Rows:
    text = read_bytes(path).decode()
    lines = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    questions: _Rows = {}
    for number, cells in enumerate(lines, 1):
        if number == 1 and cells != _COLUMNS:
            expected = ", ".join(_COLUMNS)
            raise BadInput(faults=[Fault("the columns are not {wanted}", wanted=expected, file=path.name, row=1)])
        if number == 1 or not cells:
            continue
        label = cells[-1].strip().lower()
        if len(cells) != len(_COLUMNS) or label not in {"yes", "no"}:
            sets.faults.append(Fault("its label is neither yes nor no", file=path.name, row=number))
            continue
        questions.setdefault(cells[1].strip(), []).append((number, cells[2].strip(), label == "yes"))
    return questions


def _add(sets: ContrastSets, name: str, text: str, rows: list[tuple[int, str, bool]], *, original: bool) -> None:
    passage, question = cut_question(text)
    plausible: dict[str, bool] = {}
    for _, candidate, right in rows:
        if not candidate or candidate in plausible:
            sets.leave_out("candidates that are empty or there already")
            continue
        plausible[candidate] = right
    candidates = list(plausible)
    answer = [place for place, one in enumerate(candidates) if plausible[one]]
    inputs = {"passage": passage, "question": question, "candidates": candidates}
    gold = [candidates[place] for place in answer]
    sets.members.append(Member(rows[0][0], name, name, original, inputs, answer, gold))


def cut_question(text: str) -> tuple[str, str]:
    """Cut a text into the passage and the question at its end.

    >>> cut_question("He baked bread. How long did it take?")
    ('He baked bread.', 'How long did it take?')
    """
    match = _CUT.match(text)
    if match:
        return match[1], match[2]
    starts = [found.start() for found in _ASKS.finditer(text)]
    return (text[: starts[-1]].strip(), text[starts[-1] :].strip()) if starts else (text, text)


CONTRAST_FORMATS.register("mctaco")(
    ContrastFormat(
        "mctaco",
        read,
        'kind = "several-answers"',
        "set_exact_match",
        "How long, how often, when: 646 answer rows of 100 questions.",
    )
)
