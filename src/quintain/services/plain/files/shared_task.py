"""The released files of Build It Break It 2017 as tables of ours: the matrix of a contest, and what builders answered.

A folder has the gold pairs of every breaker in `test_ground_truth_data` and a folder of answers for every builder in
`builder_teams_test_predictions`; a file's name begins with the breaker's team (`Team1_…`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.example import Example
from quintain.data.shared_task import SharedTaskRow, read_shared_task

Repeats = Literal["all", "last"]
REPEATS: tuple[Repeats, ...] = get_args(Repeats)
GOLD, ANSWERS = "test_ground_truth_data", "builder_teams_test_predictions"
_PLAIN = ".predictions"  # labels alone, which other files of the same builder have with their sentences


@dataclass(frozen=True, slots=True)
class SharedTask:
    """What the folder holds: the pairs of each breaker, and each builder's answers to those of each breaker."""

    pairs: Mapping[str, tuple[SharedTaskRow, ...]]
    answers: Mapping[str, Mapping[str, tuple[SharedTaskRow, ...]]]


def read_folder(folder: Path, names: Mapping[str, str] | None = None) -> SharedTask:
    """Read the released folder; *names* gives teams other names (`Team1`, `Builder_Team_1`).

    Builders' folders without a file are left out: the names of others stay as they are in the folder.
    """
    names = dict(names or {})
    if not (folder / GOLD).is_dir():
        raise BadInput(
            "{folder} has no folder {gold}.", folder=folder, gold=GOLD, remedy="Name the folder sentiment_analysis."
        )
    pairs = {_team(path): tuple(read_shared_task(path)) for path in _files(folder / GOLD)}
    answers = {
        builder.name: {_team(path): tuple(read_shared_task(path)) for path in _files(builder)}
        for builder in sorted((folder / ANSWERS).glob("*"))
        if builder.is_dir()
    }
    strange = sorted(set(names) - {*pairs, *answers})
    if strange:
        known = ", ".join([*pairs, *answers])
        raise BadInput(
            "There is no team '{name}' in the folder.", name=strange[0], known=known, remedy="Known: {known}."
        )
    return SharedTask(
        {names.get(team, team): rows for team, rows in pairs.items()},
        {
            names.get(builder, builder): {names.get(team, team): rows for team, rows in own.items()}
            for builder, own in answers.items()
            if own
        },
    )


def matrix(event: SharedTask, repeats: Repeats = "all") -> pl.DataFrame:
    """Put the pairs beside every builder's answers: the table that `quintain contest score` reads.

    Four names stand for two pairs each. With *repeats* `last`, only the later one counts, as in the organisers' script.
    """
    columns: list[dict[str, str]] = []
    labels = {
        builder: {(team, row.name, row.side): row.label for team, rows in own.items() for row in rows}
        for builder, own in event.answers.items()
    }
    for team, rows in event.pairs.items():
        last = _last(rows)
        for row in rows:
            if repeats == "last" and last[_first_name(row)] != row.name:
                continue
            own = {builder: answers.get((team, row.name, row.side), "") for builder, answers in labels.items()}
            columns.append(
                {"breaker": team, "pair_id": row.name, "side": row.side, "sentence": row.sentence, "gold": row.label}
                | own
            )
    return pl.DataFrame(columns)


def pairs_table(rows: Iterable[SharedTaskRow]) -> pl.DataFrame:
    """Return pairs as a table that a contest takes: `pair_id,side,sentence,label`."""
    return pl.DataFrame(
        [{"pair_id": row.name, "side": row.side, "sentence": row.sentence, "label": row.label} for row in rows]
    )


def answers_table(event: SharedTask, builder: str, field: str = "text") -> pl.DataFrame:
    """Return a builder's answers as a table that a contest takes, `id,prediction`; *field* is the one input.

    Builders gave their own form of sentences back, so an answer belongs to the gold sentence of its id. Where the same
    sentence was answered twice and differently, the first answer stands.
    """
    answers: dict[str, str] = {}
    for team, rows in event.pairs.items():
        labels = {(row.name, row.side): row.label for row in event.answers[builder].get(team, ())}
        missing = [row for row in rows if (row.name, row.side) not in labels]
        if missing:
            fault = Fault("{builder} has no answer to '{id}' of {team}", builder=builder, id=missing[0].name, team=team)
            raise BadInput(faults=[fault])
        for row in rows:
            answers.setdefault(Example({field: row.sentence}).id, labels[row.name, row.side])
    return pl.DataFrame({"id": list(answers), "prediction": list(answers.values())})


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix != _PLAIN]


def _team(path: Path) -> str:
    return path.name.partition("_")[0]


def _first_name(row: SharedTaskRow) -> str:
    return row.name.partition("-")[0]


def _last(rows: Iterable[SharedTaskRow]) -> dict[str, str]:
    """Return for each name of the files which of our names its last pair has."""
    return {_first_name(row): row.name for row in rows}
