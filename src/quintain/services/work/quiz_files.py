"""A quiz as a TOML or JSON file: reading it with every fault named, and writing it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.toml import parse_toml
from quintain.services.work.quizzes import quiz_faults
from quintain.tasks.writing import dump_toml

MAX_FILE = 1_000_000
LISTS = ("practice", "questions")


def parse_quiz(text: str, *, file: str | None = None) -> dict[str, Any]:
    r"""Make the definition of a quiz of TOML *text*, or of JSON where *file* ends so; every fault names *file*.

    >>> parse_quiz('[[questions]]\ntext = "2 + 2?"\noptions = ["3", "4"]\nanswer = 1')["questions"][0]["answer"]
    1
    """
    if len(text) > MAX_FILE:
        raise BadInput("This is larger than 1 MB, which no quiz is.")
    try:
        in_json = file is not None and file.lower().endswith(".json")
        data = parse_json(text) if in_json else parse_toml(text, file=file)
    except NotJson as error:
        raise BadInput(
            faults=[Fault("not valid JSON: {error}", error=error, file=file)], remedy="Mend the JSON first."
        ) from None
    if not isinstance(data, dict):
        raise BadInput(faults=[Fault("is not a table with questions", file=file)])
    faults = quiz_faults(data)
    if faults:
        raise BadInput(faults=[fault.at(file=file) for fault in faults])
    return data


def dump_quiz(definition: Mapping[str, Any]) -> str:
    """Write the definition of a quiz as TOML; reading it again gives the same."""
    return dump_toml({key: value for key, value in definition.items() if value or key not in LISTS})
