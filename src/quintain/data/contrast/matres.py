"""MATRES: which of two marked events came first. Labels go by the order in which the events stand in the text."""

from __future__ import annotations

import csv
import io
import re

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.data.contrast.contract import CONTRAST_FORMATS, ContrastFiles, ContrastFormat, ContrastSets, Member
from quintain.data.text import read_bytes

TASK = """kind = "pair-classification"
labels = ["before", "after", "simultaneous", "vague"]

[options]
marked = true"""
_LABELS = ("before", "after", "simultaneous", "vague")
_COLUMNS = ("_unit_id", "bodygraph", "decision", "modified bodygraph", "new decision", "reason")
_EVENT = re.compile(r"<span style='color:\s*(?:red|blue);?'>(.*?)</span>", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
# What annotators called an indicator is a conjunction (before, after, until); the others are slips of the pen.
_REASONS = {
    "indicator": "conjunction",
    "indicator change": "conjunction",
    "connective": "conjunction",
    "verb tense": "tense",
    "verb": "verb change",
    "even change": "event change",
    "sentence order change": "sentence order",
    "sentence ordering": "sentence order",
}


def read(files: ContrastFiles) -> ContrastSets:
    """Read `Platinum_subset_minimal_pairs.csv`."""
    path = files.file(r"minimal_pairs\.csv$")
    table = csv.DictReader(io.StringIO(read_bytes(path).decode(), newline=""))
    missing = [name for name in _COLUMNS if name not in (table.fieldnames or [])]
    if missing:
        raise BadInput(faults=[Fault("there is no column '{name}'", name=missing[0], file=path.name, row=1)])
    sets = ContrastSets(path.name)
    seen: set[str] = set()
    for number, row in enumerate(table, 2):
        unit, label = str(row["_unit_id"]), (row["new decision"] or "").strip()
        if not label:
            sets.leave_out("without a new decision")
            continue
        if unit not in seen:
            seen.add(unit)
            _add(sets, number, unit, row["bodygraph"], row["decision"].strip(), (), original=True)
        _add(sets, number, unit, row["modified bodygraph"], label, reasons(row["reason"] or ""), original=False)
    return sets


def _add(
    sets: ContrastSets, number: int, unit: str, body: str, label: str, tags: tuple[str, ...], *, original: bool
) -> None:
    text = marked(body)
    if label not in _LABELS:
        sets.fault(Text("'{label}' is not one of {known}", label=label, known=", ".join(_LABELS)), number)
    elif text is None:
        sets.fault(Text("the text does not mark two events"), number)
    else:
        sets.members.append(Member(number, unit, unit, original, {"text": text}, label, label, tags))


def marked(body: str) -> str | None:
    """Return a text with its first event marked as e1 and its second as e2; None where there are not two.

    >>> marked("<p>He <span style='color:blue;'><strong>left </strong></span>, then <span "
    ...        "style='color:red;'>had <strong>slept </strong></span>. </p>")
    'He <e1>left</e1> , then had <e2>slept</e2> .'
    """
    if len(_EVENT.findall(body)) != 2:
        return None
    parts, position = [], 0
    for number, match in enumerate(_EVENT.finditer(body), 1):
        before, _, rest = match[1].partition("<strong>")
        event = _TAG.sub("", rest or before).strip()
        lead = _TAG.sub("", before).strip() if rest else ""
        parts += [_words(body[position : match.start()]), lead, f"<e{number}>{event}</e{number}>"]
        position = match.end()
    return " ".join(part for part in (*parts, _words(body[position:])) if part)


def _words(html: str) -> str:
    return " ".join(_TAG.sub(" ", html).replace("<", " ").split())


def reasons(text: str) -> tuple[str, ...]:
    """Read the phenomena of one pair.

    >>> reasons("appearance order, indicator")
    ('appearance order', 'conjunction')
    """
    parts = (part.strip().lower() for part in re.split(r"[,+/]", text))
    return tuple(dict.fromkeys(_REASONS.get(part, part) for part in parts if part))


CONTRAST_FORMATS.register("matres")(
    ContrastFormat("matres", read, TASK, "accuracy", "Which of two events came first: 401 in 239 sets.")
)
