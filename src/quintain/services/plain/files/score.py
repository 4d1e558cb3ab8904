"""Score a file of predictions against a file of gold answers: no workspace, no account, no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.data.in_memory import Source
from quintain.data.tables import TWINS
from quintain.metrics.evaluate import Evaluation, SlicedRows, evaluate_metrics, one_label_slices, slice_rows
from quintain.services.plain.files.scored_answers import PREDICTED, Scoring, check_columns, match_answers, read_gold
from quintain.stats.label_columns import in_names
from quintain.stats.label_hints import label_warnings
from quintain.tasks.answer_kinds.contract import answers_of


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """The figures, and how many golds had no prediction and how many predictions no gold."""

    evaluation: Evaluation
    answer_type: AnswerType
    missing: int
    unknown: int
    scoring: Scoring
    warnings: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "answer_type": self.answer_type,
            "missing": self.missing,
            "unknown": self.unknown,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "seed": self.scoring.seed,
            "resamples": self.scoring.resamples,
            **self.evaluation.as_dict(),
        }


def score_files(gold_path: Source, predictions_path: Source, scoring: Scoring | None = None) -> ScoreReport:
    """Score the predictions in one file against the gold answers in another, matched by id."""
    scoring = scoring or Scoring()
    check_columns(scoring.columns or {})
    gold = read_gold(gold_path, scoring.columns or {})
    matched = match_answers(gold, gold_path, predictions_path, scoring)
    table, answers, predictions = matched.table, matched.answers, matched.predictions
    slicings = {
        name: slice_rows(name, values, len(table)) for name, values in _slicings(table, scoring.by, gold_path).items()
    }
    evaluation = evaluate_metrics(
        matched.answer_type,
        answers,
        predictions,
        scoring.metrics,
        by=slicings,
        seed=scoring.seed,
        resamples=scoring.resamples,
        **matched.beside,
    )
    named = answers_of(matched.answer_type).named
    warnings = label_warnings(answers.to_list(), predictions.to_list()) if named else []
    notes = _of_one_class(evaluation, in_names(answers), slicings) if named else []
    return ScoreReport(
        evaluation, matched.answer_type, matched.missing, matched.unknown, scoring, tuple(warnings), tuple(notes)
    )


def _of_one_class(evaluation: Evaluation, gold: pl.Series, slicings: Mapping[str, SlicedRows]) -> list[Text]:
    """Name the slices whose gold answers are one class: there a macro average says something else."""
    alone = [f"{name}: {value}" for name, value in one_label_slices(gold, slicings, evaluation.metrics)]
    if not alone:
        return []
    return [
        Text(
            "Of one gold label only: {slices}. A macro average over such a slice counts every other label that is "
            "predicted there as a class with an F1 of 0; its accuracy says how many are right.",
            slices=", ".join(alone[:10]) + (", …" if len(alone) > 10 else ""),
        )
    ]


def _slicings(table: pl.DataFrame, by: Sequence[str], path: Source) -> dict[str, pl.Series]:
    slicings = {}
    for name in by:
        column = name if name in table.columns else TWINS.get(name, name)
        if column not in table.columns:
            raise BadInput(
                faults=[Fault("there is no column '{column}' to slice by", column=name, file=path.name)],
                columns=", ".join(other for other in table.columns if other not in PREDICTED),
                remedy="The file has: {columns}. Tags stand in a column 'tag' or 'tags', several apart by commas.",
            )
        values = table[column]
        slicings[name] = _tags(values) if column in ("tag", "tags") and values.dtype == pl.String else values
    return slicings


def _tags(values: pl.Series) -> pl.Series:
    """Split tags written in one cell, at commas, semicolons or bars, or as a JSON list."""
    bare = values.str.replace_all(r'[\[\]"]', "").str.replace_all(r"[;|]", ",").str.split(",")
    return bare.list.eval(pl.element().str.strip_chars().replace("", None).drop_nulls())
