"""Item response theory on plain files: `respondent,item,correct`, or a table with a column for each item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.data.tables import FAULT_LIMIT, read_table, row_number, write_table
from quintain.stats.bootstrap import FloatArray
from quintain.stats.irt.marginal import IrtFit, IrtModel, fit_marginal
from quintain.stats.irt.responses import Responses

LONG = ("respondent", "item", "correct")
RIGHT = {"1": 1.0, "1.0": 1.0, "true": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0}
EMPTY = ("", "na", "nan", "null")


@dataclass(frozen=True, slots=True)
class ResponseReading:
    """How to read responses: names of columns, whether a wide table names respondents, which column counts rows."""

    columns: Mapping[str, str] = field(default_factory=dict)
    named: bool = True
    frequency: str = ""


@dataclass(frozen=True, slots=True)
class IrtStudy:
    """What was found of a file."""

    responses: Responses
    fit: IrtFit
    notes: list[str]

    def items(self) -> pl.DataFrame:
        """Give the items as a table."""
        fit = self.fit
        return pl.DataFrame(
            {
                "item": list(self.responses.items),
                "discrimination": fit.discrimination,
                "difficulty": fit.difficulty,
                "guessing": fit.guess,
            }
        )

    def abilities(self) -> pl.DataFrame:
        """Give the respondents as a table."""
        names = list(self.responses.respondents)
        return pl.DataFrame({"respondent": names, "ability": self.fit.ability, "error": self.fit.ability_error})

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        fit = self.fit
        more = {
            "intercept": fit.intercept,
            "discrimination_error": fit.discrimination_error,
            "difficulty_error": fit.difficulty_error,
            "intercept_error": fit.intercept_error,
            "guessing_error": fit.guess_error,
            "infit": fit.infit,
            "outfit": fit.outfit,
        }
        items = self.items().with_columns(**{name: pl.Series(values) for name, values in more.items()})
        return {
            "model": fit.model,
            "method": "mml",
            "respondents": fit.respondents,
            "loglik": fit.loglik,
            "aic": fit.aic,
            "bic": fit.bic,
            "parameters": fit.parameters,
            "iterations": fit.turns,
            "converged": fit.converged,
            "priors": fit.priors,
            "items": items.fill_nan(None).to_dicts(),
            "notes": self.notes,
        }


def item_responses(path: Path, model: IrtModel = "2pl", reading: ResponseReading | None = None) -> IrtStudy:
    """Estimate items and abilities from the responses in a file."""
    responses = read_responses(path, reading or ResponseReading())
    fit = fit_marginal(responses, model)
    notes = []
    if not fit.converged:
        notes.append(f"The estimates had not settled after {fit.turns} iterations: do not rely on them.")
    if fit.priors:
        notes.append("Weak priors were used: for guessing, few respondents, or items that all get right or wrong.")
    negative = int((fit.discrimination < 0).sum())
    if negative:
        notes.append(f"{negative} items are right more often for the weaker: their labels may be wrong.")
    return IrtStudy(responses, fit, notes)


def read_responses(path: Path, reading: ResponseReading) -> Responses:
    """Read responses, long or wide; an empty cell is no response."""
    path = Path(path)
    table = read_table(path, required=(), columns={})
    theirs = [reading.columns.get(name, name) for name in LONG]
    if all(name in table.columns for name in theirs):
        respondents, items, correct, weight = _long(table, path, theirs)
    else:
        respondents, items, correct, weight = _wide(table, path, reading)
    there = ~np.isnan(correct)
    answered = there.any(axis=1)
    if len(items) < 2 or answered.sum() < 2:
        raise BadInput(
            "{file} has {items} items and {n} respondents with a response: abilities need two of each.",
            file=path.name,
            items=len(items),
            n=int(answered.sum()),
            remedy="See whether the table is long (respondent,item,correct) or wide (a column for each item).",
        )
    if not there.any(axis=0).all():
        raise BadInput(
            "Item '{item}' of {file} has no response.",
            item=items[int(there.any(axis=0).argmin())],
            file=path.name,
            remedy="Leave it out.",
        )
    return Responses(respondents, items, correct, weight)


def _long(table: pl.DataFrame, path: Path, names: list[str]) -> tuple[list[str], list[str], FloatArray, FloatArray]:
    who, what, said = (table[name].cast(pl.String) for name in names)
    values = _numbers(said, path, names[2])
    if who.null_count() or what.null_count():
        raise BadInput("{file} has rows without a respondent or an item.", file=path.name)
    both = pl.DataFrame({"who": who, "what": what})
    repeated = both.is_duplicated()
    if repeated.any():
        row = int(repeated.arg_true()[-1])
        raise BadInput(
            faults=[
                Fault(
                    "'{who}' has a second response to '{what}'",
                    who=who[row],
                    what=what[row],
                    file=path.name,
                    row=row_number(path, row),
                )
            ]
        )
    people, items = who.unique(maintain_order=True).to_list(), what.unique(maintain_order=True).to_list()
    rows = who.replace_strict(people, range(len(people)), return_dtype=pl.Int64()).to_numpy()
    columns = what.replace_strict(items, range(len(items)), return_dtype=pl.Int64()).to_numpy()
    correct = np.full((len(people), len(items)), np.nan)
    correct[rows, columns] = values
    return people, items, correct, np.ones(len(people))


def _wide(
    table: pl.DataFrame, path: Path, reading: ResponseReading
) -> tuple[list[str], list[str], FloatArray, FloatArray]:
    weight = np.ones(table.height)
    if reading.frequency:
        if reading.frequency not in table.columns:
            raise BadInput(
                "{file} has no column '{column}'.", file=path.name, column=reading.frequency, remedy="Name another one."
            )
        weights = table[reading.frequency].cast(pl.Float64, strict=False)
        if weights.null_count() or (weights < 0).any():
            raise BadInput("The column '{column}' has something that is no frequency.", column=reading.frequency)
        weight = weights.to_numpy().astype(np.float64)
        table = table.drop(reading.frequency)
    named = reading.named and not reading.frequency
    people = table[:, 0].cast(pl.String).to_list() if named else [str(at + 1) for at in range(table.height)]
    items = table.columns[1:] if named else table.columns
    columns = [_numbers(table[name].cast(pl.String), path, name) for name in items]
    correct = np.column_stack(columns) if columns else np.zeros((table.height, 0))
    return people, list(items), correct, weight


def _numbers(values: pl.Series, path: Path, name: str) -> FloatArray:
    """Read right and wrong as 1 and 0; an empty cell is NaN, and anything else a fault with its row."""
    lower = values.str.strip_chars().str.to_lowercase().fill_null("")
    found = lower.replace_strict(list(RIGHT), list(RIGHT.values()), default=None, return_dtype=pl.Float64())
    bad = found.is_null() & ~lower.is_in(EMPTY)
    if bad.any():
        places = bad.arg_true().to_list()
        faults = [
            Fault(
                "'{value}' is neither 0 nor 1",
                value=values[at],
                file=path.name,
                row=row_number(path, at),
                field=name,
            )
            for at in places[:FAULT_LIMIT]
        ]
        raise BadInput(faults=faults, total=len(places))
    return found.fill_null(np.nan).to_numpy().astype(np.float64)


def write_items(study: IrtStudy, items: Path | None, abilities: Path | None) -> None:
    """Write the tables that are wanted."""
    if items is not None:
        write_table(study.items(), items)
    if abilities is not None:
        write_table(study.abilities(), abilities)
