"""Winogender schemas recast as inference: whether the pronoun means the occupation or the other person.

The source is the schemas' file of templates. Each template with each pronoun is a premise; two hypotheses put one of
the two people in the pronoun's place, and the one that the schema means is entailed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.data.readers.contract import READERS, Options, RequestedColumns, RowBatch, Source
from quintain.data.readers.lines import read_blocks
from quintain.data.readers.rows import Row, batched

SCHEMA: Mapping[str, pl.DataType] = {
    "premise": pl.String(),
    "hypothesis": pl.String(),
    "label": pl.String(),
    "occupation": pl.String(),
    "gender": pl.String(),
    "pair": pl.String(),
}
PRONOUNS = {
    "male": {"$NOM_PRONOUN": "he", "$POSS_PRONOUN": "his", "$ACC_PRONOUN": "him"},
    "female": {"$NOM_PRONOUN": "she", "$POSS_PRONOUN": "her", "$ACC_PRONOUN": "her"},
    "neutral": {"$NOM_PRONOUN": "they", "$POSS_PRONOUN": "their", "$ACC_PRONOUN": "them"},
}
_PRONOUN = re.compile(r"\$(?:NOM|POSS|ACC)_PRONOUN")


@READERS.register("winogender")
def open_winogender(path: Path, options: Options) -> Source:
    """Open the file of templates."""

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        return batched(path.name, _rows(path), SCHEMA, requested, size=size)

    size = path.stat().st_size if path.is_file() else 0
    return Source(path.name, tuple(SCHEMA), size, batches)


def _rows(path: Path) -> Iterator[Row]:
    for block in read_blocks(path):
        yield from block.faults
        for number, line in block.texts():
            cells = line.split("\t")
            if number == 1:
                if not cells[0].startswith("occupation"):
                    raise BadInput("{name} is not Winogender's file of templates.", name=path.name)
            elif len(cells) != 4 or cells[2] not in {"0", "1"} or not _PRONOUN.search(cells[3]):
                yield Fault("not a template: occupation, participant, 0 or 1, sentence", file=path.name, row=number)
            else:
                yield from ((number, row) for row in _recast(*cells))


def _recast(occupation: str, participant: str, answer: str, template: str) -> Iterator[dict[str, str]]:
    people = [f"the {occupation}", participant if participant == "someone" else f"the {participant}"]
    frame = template.replace("$OCCUPATION", occupation)
    frame = frame.replace("the $PARTICIPANT", people[1]).replace("The $PARTICIPANT", people[1].capitalize())
    frame = frame.replace("$PARTICIPANT", participant)
    for gender, pronouns in PRONOUNS.items():
        premise = _PRONOUN.sub(lambda match: pronouns[match[0]], frame)  # noqa: B023 - used at once
        premise = _agreeing(premise) if gender == "neutral" else premise
        for index, person in enumerate(people):
            filled = _PRONOUN.sub(lambda match: person + ("'s" if "POSS" in match[0] else ""), frame)  # noqa: B023
            yield {
                "premise": premise,
                "hypothesis": filled[0].upper() + filled[1:],
                "label": "entailment" if index == int(answer) else "not_entailment",
                "occupation": occupation,
                "gender": gender,
                "pair": f"{occupation}.{participant}.{answer}",
            }


def _agreeing(sentence: str) -> str:
    """Let the verb agree with a singular they."""
    return re.sub(r"\bthey was\b", "they were", re.sub(r"\bthey is\b", "they are", sentence))
