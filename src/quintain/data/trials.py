"""The items of a trial from files: those of Nangia, Sugawara et al. (2021) as published, and our own.

Ours is one JSON object with the arms in it; `write_trial` writes what `read_trial` reads. Theirs is a list of records,
each with the name of its protocol; those without judgements (of the rounds between) are counted and not judged.
"""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.data.tables import FAULT_LIMIT
from quintain.data.text import read_bytes
from quintain.stats.arms import ArmItems
from quintain.stats.judgements import NONE, Judgements

FORMAT = "quintain-trial"
PUBLISHED = {"passage": "document", "question": "question", "options": "options"}  # our names of published fields
INVALID = "option5"  # what the published files call an item without an answer


@dataclass(frozen=True, slots=True)
class GradeRow:
    """What somebody answered to the questions of a rubric about an item; an *expert*'s may be there to compare with."""

    grader: str
    answers: Mapping[str, str]
    expert: bool = False


@dataclass(frozen=True, slots=True)
class TrialItem:
    """One item of an arm: who wrote it, their label, how others judged it, and what models say.

    *inputs* are its texts, such as passage, question and options, and *stage* is where it was written.
    """

    name: str
    writer: str
    label: str | None
    judgements: Sequence[tuple[str, str]] = ()
    predictions: Mapping[str, str] = field(default_factory=dict)
    justification: str | None = None
    genre: str = ""
    type: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    stage: str = ""
    grades: Sequence[GradeRow] = ()


@dataclass(frozen=True, slots=True)
class ArmFacts:
    """What is known of an arm beside its items: money in minor units by stage, experts' time, how many came where."""

    currency: str = "USD"
    paid: Mapping[str, int] = field(default_factory=dict)
    final: str = ""
    expert_hours: float = 0.0
    expert_cost: float = 0.0
    came: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TrialArm:
    """An arm: its name, its data, and what else is known. An item judged to be *invalid* is discarded.

    *earlier* is what was written before the data: in a tutorial, and in the rounds between.
    """

    name: str
    items: Sequence[TrialItem]
    facts: ArmFacts | None = None
    invalid: str = "invalid"
    writer_votes: bool = True
    earlier: Sequence[TrialItem] = ()

    @property
    def judged(self) -> bool:
        """Whether any item was judged."""
        return any(item.judgements for item in self.items)


def read_trial(paths: Iterable[Path]) -> list[TrialArm]:
    """Read the arms of files, each of which may hold some; an arm that is in two of them is refused."""
    arms: dict[str, TrialArm] = {}
    for path in paths:
        for arm in _read(path):
            if arm.name in arms:
                raise BadInput("The arm '{name}' is in {file} again.", name=arm.name, file=path.name)
            arms[arm.name] = arm
    return [*arms.values()]


def write_trial(arms: Sequence[TrialArm], path: Path) -> None:
    """Write arms as one file; `.gz` at its end compresses."""
    data = trial_bytes(arms)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def trial_bytes(arms: Sequence[TrialArm]) -> bytes:
    """Return the content of a file of *arms*."""
    return (json.dumps({"format": FORMAT, "arms": [_plain(arm) for arm in arms]}, ensure_ascii=False) + "\n").encode()


def items_of(arm: TrialArm) -> ArmItems:
    """Return the judged items of an arm as numbers."""
    items = sorted((item for item in arm.items if item.judgements), key=lambda item: item.name)
    rows = [(place, *vote) for place, one in enumerate(items) for vote in one.judgements]
    labels = {item.label for item in items if item.label is not None} | {label for _, _, label in rows}
    classes = sorted(labels | {arm.invalid} | {said for item in items for said in item.predictions.values()})
    codes = {name: code for code, name in enumerate(classes)}
    workers = {name: code for code, name in enumerate(sorted({worker for _, worker, _ in rows}))}
    writers = {name: code for code, name in enumerate(sorted({item.writer for item in items}))}
    models = sorted({model for item in items for model in item.predictions})
    return ArmItems(
        arm.name,
        Judgements.from_codes(
            [place for place, _, _ in rows],
            [workers[worker] for _, worker, _ in rows],
            [codes[label] for _, _, label in rows],
            [item.name for item in items],
            list(workers),
            classes,
        ),
        np.array([NONE if item.label is None else codes[item.label] for item in items], dtype=np.int64),
        np.array([writers[item.writer] for item in items], dtype=np.int64),
        {
            model: np.array([codes.get(item.predictions.get(model, ""), NONE) for item in items], dtype=np.int64)
            for model in models
        },
        codes[arm.invalid],
        arm.writer_votes,
    )


def _read(path: Path) -> list[TrialArm]:
    try:
        value = parse_json(read_bytes(path))
    except NotJson as error:
        raise BadInput(
            faults=[Fault("not valid JSON: {reason}", reason=str(error), file=path.name, line=error.line)]
        ) from None
    if isinstance(value, dict) and value.get("format") == FORMAT:
        return [_arm(one, path.name) for one in _list(value.get("arms"), path.name, "arms")]
    if isinstance(value, list):
        return _published(value, path.name)
    raise BadInput(
        "{file} is no trial: neither a list of records with 'protocol' and 'validation_data' nor a file of ours.",
        file=path.name,
        remedy="Give a file of crowdsourcing-protocols, or one that `quintain trial simulate --data` wrote.",
    )


def _list(value: Any, file: str, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadInput(faults=[Fault("is not a list", file=file, field=field)])
    return value


def _published(records: list[Any], file: str) -> list[TrialArm]:
    faults, arms = [], dict[str, list[TrialItem]]()
    for row, record in enumerate(records, 1):
        try:
            name, item = _record(record)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            faults.append(
                Fault("is not a record of a protocol: {error} is missing or wrong", error=error, file=file, row=row)
            )
            continue
        arms.setdefault(name, []).append(item)
    if faults:
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    return [TrialArm(name, items, invalid=INVALID) for name, items in arms.items()]


def _record(record: Mapping[str, Any]) -> tuple[str, TrialItem]:
    votes: dict[str, str] = {}
    for vote in record.get("validation_data", ()):
        votes.setdefault(str(vote["worker_id"]), str(vote["worker_answer"]))  # of one's repeated votes, the first
    parts = str(record.get("passage_id", "")).split("/")
    item = TrialItem(
        str(record["question_id"]),
        str(record["worker_id"]),
        str(record["gold_answer"]),
        tuple(votes.items()),
        {str(model): f"option{int(place) + 1}" for place, model in record.get("model_predictions", ())},
        record.get("justification"),
        parts[5] if len(parts) > 5 else "",
        inputs={ours: _published_text(record[theirs]) for ours, theirs in PUBLISHED.items() if theirs in record},
    )
    return str(record["protocol"]), item


def _published_text(value: Any) -> Any:
    """Return a field as it was meant: some published files have the options as a list that Python wrote out."""
    if not (isinstance(value, str) and value.startswith("[") and value.endswith("]")):
        return value
    try:
        written = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return written if all(isinstance(each, str) for each in written) else value


def _arm(value: Any, file: str) -> TrialArm:
    try:
        facts = value.get("facts")
        return TrialArm(
            str(value["name"]),
            [_item(item) for item in value["items"]],
            None if facts is None else ArmFacts(**facts),
            str(value.get("invalid", "invalid")),
            bool(value.get("writer_votes", True)),
            [_item(one) for one in value.get("earlier", ())],
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            faults=[
                Fault("is not an arm of a trial: {error} is missing or wrong", error=error, file=file, field="arms")
            ]
        ) from None


def _item(record: Mapping[str, Any]) -> TrialItem:
    return TrialItem(
        str(record["item"]),
        str(record["writer"]),
        record.get("label"),
        tuple((str(judge), str(label)) for judge, label in record.get("judgements", ())),
        {str(model): str(label) for model, label in record.get("predictions", {}).items()},
        record.get("justification"),
        str(record.get("genre", "")),
        str(record.get("type", "")),
        dict(record.get("inputs", {})),
        str(record.get("stage", "")),
        [
            GradeRow(str(grade["grader"]), dict(grade["answers"]), bool(grade.get("expert", False)))
            for grade in record.get("grades", ())
        ],
    )


def _plain(arm: TrialArm) -> dict[str, Any]:
    facts = arm.facts
    return {
        "name": arm.name,
        "invalid": arm.invalid,
        "writer_votes": arm.writer_votes,
        "facts": None
        if facts is None
        else {
            "currency": facts.currency,
            "paid": dict(facts.paid),
            "final": facts.final,
            "expert_hours": facts.expert_hours,
            "expert_cost": facts.expert_cost,
            "came": dict(facts.came),
        },
        "items": [_plain_item(item) for item in arm.items],
        "earlier": [_plain_item(one) for one in arm.earlier],
    }


def _plain_item(item: TrialItem) -> dict[str, Any]:
    return {
        "item": item.name,
        "stage": item.stage,
        "writer": item.writer,
        "inputs": dict(item.inputs),
        "label": item.label,
        "justification": item.justification,
        "genre": item.genre,
        "type": item.type,
        "grades": [
            {"grader": grade.grader, "answers": dict(grade.answers), "expert": grade.expert} for grade in item.grades
        ],
        "judgements": [list(vote) for vote in item.judgements],
        "predictions": dict(item.predictions),
    }
