"""Score a file of predictions against a file of gold answers: no workspace, no account, no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.data.in_memory import Source
from quintain.data.numbers import plain_numbers
from quintain.data.tables import FAULT_LIMIT, TWINS, read_table, row_number
from quintain.data.text import read_bytes, suffix_of
from quintain.metrics.contract import METRICS
from quintain.metrics.evaluate import Evaluation, SlicedRows, evaluate_metrics, one_label_slices, slice_rows
from quintain.stats.label_columns import in_names
from quintain.stats.label_hints import label_warnings
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS, answers_of

_GOLD = ("id", "answer", "label", "tags", "group", "distribution")
_PREDICTED = ("id", "prediction", "probabilities")
_PROBABILITY_PREFIXES = ("prob_", "probability_")


@dataclass(frozen=True, slots=True)
class Scoring:
    """How to score: which metrics, by what, what each column is called, what may be absent."""

    metrics: Sequence[str] = ()
    by: Sequence[str] = ()
    columns: Mapping[str, str] | None = None
    answer_type: AnswerType | None = None
    cluster: str | None = None
    allow_missing: bool = False
    allow_unknown: bool = False
    seed: int = 0
    resamples: int = 1000


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
    columns = scoring.columns or {}
    _check_columns(columns)
    gold = _read_gold(gold_path, columns)
    predicted = _read_predictions(predictions_path, columns)
    missing, unknown = _check_ids(gold, predicted, gold_path, predictions_path, scoring)
    table = gold.join(predicted, on="id", how="left", maintain_order="left")
    answer_type = scoring.answer_type or _guess_type(gold["answer"], scoring.metrics)
    if answer_type not in ANSWER_KINDS:
        raise BadInput(
            "There is no answer type '{answer_type}'.",
            answer_type=answer_type,
            known=", ".join(_types()),
            remedy="Use one of {known}.",
        )
    answers = _answers(table["answer"], answer_type, gold_path, "answer")
    predictions = _answers(table["prediction"], answer_type, predictions_path, "prediction")
    slicings = {
        name: slice_rows(name, values, len(table)) for name, values in _slicings(table, scoring.by, gold_path).items()
    }
    evaluation = evaluate_metrics(
        answer_type,
        answers,
        predictions,
        scoring.metrics,
        by=slicings,
        seed=scoring.seed,
        resamples=scoring.resamples,
        probabilities=_shares(table, "probabilities", predictions_path),
        distributions=_shares(table, "distribution", gold_path),
        groups=_clusters(table, scoring.cluster, gold_path),
    )
    named = answers_of(answer_type).named
    warnings = label_warnings(answers.to_list(), predictions.to_list()) if named else []
    notes = _of_one_class(evaluation, in_names(answers), slicings) if named else []
    return ScoreReport(evaluation, answer_type, missing, unknown, scoring, tuple(warnings), tuple(notes))


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


def _check_columns(columns: Mapping[str, str]) -> None:
    known = {*_GOLD, *_PREDICTED, "gold.id", "predictions.id"}
    strange = [name for name in columns if name not in known]
    if strange:
        raise BadInput(
            "There is no column called '{name}' to map to.",
            name=strange[0],
            known=", ".join(sorted(known)),
            remedy="Use: {known}.",
        )


def _mapping(columns: Mapping[str, str], names: Sequence[str], side: str) -> dict[str, str]:
    """Pick the mappings for one file; `gold.id` and `predictions.id` map the id of one of them only."""
    chosen = {name: theirs for name, theirs in columns.items() if name in names}
    if f"{side}.id" in columns:
        chosen["id"] = columns[f"{side}.id"]
    return chosen


def _read_gold(path: Source, columns: Mapping[str, str]) -> pl.DataFrame:
    if isinstance(path, Path) and suffix_of(path) == ".json":
        return _read_squad(path)
    table = read_table(path, required=["id"], optional=_GOLD[1:], columns=_mapping(columns, _GOLD, "gold"))
    if "answer" not in table.columns:
        if "label" not in table.columns:
            raise BadInput(
                faults=[Fault("there is no column 'answer' or 'label'", file=path.name)],
                columns=", ".join(table.columns),
                remedy="The file has: {columns}. Map one with --column answer=COLUMN.",
            )
        table = table.rename({"label": "answer"})
    return table.rename({name: f"gold.{name}" for name in table.columns if name in ("prediction", "probabilities")})


def _read_squad(path: Path) -> pl.DataFrame:
    """Read SQuAD's JSON: articles, paragraphs, questions; the answers' texts are the golds."""
    document = _read_json(path)
    try:
        rows = [
            {
                "id": str(question["id"]),
                "answer": [answer["text"] for answer in question["answers"]],
                "title": str(article.get("title", "")),
                "paragraph": f"{article.get('title', '')}#{number}",
            }
            for article in document["data"]
            for number, paragraph in enumerate(article["paragraphs"])
            for question in paragraph["qas"]
        ]
    except (KeyError, TypeError) as error:
        raise BadInput(
            faults=[Fault("not in SQuAD's form: {error} is not where it belongs", error=error, file=path.name)],
            remedy="Give SQuAD JSON, or a CSV, JSONL or Parquet table with id and answer.",
        ) from error
    if not rows:
        raise BadInput(faults=[Fault("the file has no questions", file=path.name)])
    return pl.DataFrame(rows, schema_overrides={"answer": pl.List(pl.String)})


def _read_predictions(path: Source, columns: Mapping[str, str]) -> pl.DataFrame:
    if isinstance(path, Path) and suffix_of(path) == ".json":
        document = _read_json(path)
        if not isinstance(document, dict) or not document:
            raise BadInput(faults=[Fault("not an object from ids to answers", file=path.name)])
        return pl.DataFrame({"id": list(document), "prediction": list(document.values())}, strict=False)
    mapping = _mapping(columns, _PREDICTED, "predictions")
    table = read_table(path, required=["id", "prediction"], optional=["probabilities"], columns=mapping)
    shares = {name: _class_of(name) for name in table.columns if _class_of(name)}
    if shares and "probabilities" not in table.columns:
        numbers = [pl.col(name).cast(pl.Float64, strict=False).alias(str(label)) for name, label in shares.items()]
        table = table.with_columns(pl.struct(numbers).alias("probabilities"))
    return table.select(name for name in _PREDICTED if name in table.columns)


def _class_of(column: str) -> str | None:
    return next((column.removeprefix(start) for start in _PROBABILITY_PREFIXES if column.startswith(start)), None)


def _read_json(path: Path) -> Any:
    try:
        return parse_json(read_bytes(path))
    except NotJson as error:
        raise BadInput(faults=[Fault("not JSON: {error}", error=error, file=path.name, row=error.line)]) from error


def _check_ids(
    gold: pl.DataFrame, predicted: pl.DataFrame, gold_path: Source, predictions_path: Source, scoring: Scoring
) -> tuple[int, int]:
    """Name every id that is there twice, missing or unknown; count those that were allowed."""
    faults = _repeated(gold, gold_path) + _repeated(predicted, predictions_path)
    missing = gold.with_row_index("row").join(predicted, on="id", how="anti", maintain_order="left")
    unknown = predicted.with_row_index("row").join(gold, on="id", how="anti", maintain_order="left")
    if not scoring.allow_missing:
        faults += [
            Fault("no prediction for id '{name}'", name=name, file=predictions_path.name) for name in missing["id"]
        ]
    if not scoring.allow_unknown:
        faults += [
            Fault(
                "id '{name}' is not among the gold answers",
                name=name,
                file=predictions_path.name,
                row=_row(predictions_path, row),
            )
            for row, name in unknown.select("row", "id").iter_rows()
        ]
    if faults:
        raise BadInput(
            faults=faults[:FAULT_LIMIT],
            total=len(faults),
            remedy="Mend the files; --allow-missing counts missing predictions as wrong, "
            "--allow-unknown leaves out predictions without a gold answer.",
        )
    return len(missing), len(unknown)


def _row(path: Source, index: int) -> int | None:
    if isinstance(path, Path) and suffix_of(path) == ".json":
        return None
    return row_number(path, index)


def _repeated(table: pl.DataFrame, path: Source) -> list[Fault]:
    again = table.with_row_index("row").filter(~pl.col("id").is_first_distinct())
    return [
        Fault("id '{name}' is there a second time", name=name, file=path.name, row=_row(path, row))
        for row, name in again.select("row", "id").iter_rows()
    ]


def _types() -> list[AnswerType]:
    """List the types of answers, those that are guessed first before the others."""
    return sorted(ANSWER_KINDS.names(), key=lambda name: answers_of(name).rank)


def _guess_type(answers: pl.Series, metrics: Sequence[str]) -> AnswerType:
    """Tell the answer type from the shape of the gold answers and the metrics asked for."""
    possible = [name for name in _types() if answers_of(name).may_be(answers.dtype)]
    asked = [METRICS.get(name).answer_types for name in metrics if name != "f1"]
    return next((name for name in possible if all(name in types for types in asked)), possible[0])


def _answers(column: pl.Series, answer_type: AnswerType, path: Source, field: str) -> pl.Series:
    """Bring a column of text into the shape of its answer type; lists in a CSV are written as JSON."""
    answers = answers_of(answer_type)
    as_list = isinstance(answers.dtype, pl.List)
    if column.dtype == pl.String and not as_list:
        # An empty cell holds no label and no number; as a text or a span it is the answer "none".
        bare = column.str.strip_chars()
        column = pl.select(pl.when(bare != "").then(column)).to_series().alias(column.name)
    if field == "answer" and column.null_count():
        faults = [
            Fault("there is no gold answer", file=path.name, row=_row(path, row)) for row in column.is_null().arg_true()
        ]
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults), remedy="Leave out examples without one.")
    if answers.dtype == pl.String:
        return answers.normalise_labels(column)
    if column.dtype.is_nested():
        return column
    if as_list:
        rows = [_cell(cell, path, index, field) for index, cell in enumerate(column)]
        if not answers.is_text:
            return _whole_lists(rows, path, field)
        return answers.golds(rows) if field == "answer" else answers.predictions(rows)
    numbers = _whole_numbers(column)
    bad = (numbers.is_null() & column.is_not_null()).arg_true()
    if len(bad):
        faults = [
            Fault("'{given}' is not a whole number", given=column[int(row)], file=path.name, field=field) for row in bad
        ]
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    return numbers


def _whole_numbers(column: pl.Series) -> pl.Series:
    """Read whole numbers, also where a program wrote 1 as 1.0; null for what is none."""
    number = plain_numbers(column.cast(pl.String).str.strip_chars()).cast(pl.Float64, strict=False)
    return pl.select(pl.when((number % 1 == 0) & (number.abs() < 2**53)).then(number)).to_series().cast(pl.Int64)


def _cell(cell: Any, path: Source, index: int, field: str) -> Any:
    if not isinstance(cell, str) or not cell.startswith("["):
        return cell
    try:
        return parse_json(cell)
    except NotJson as error:
        fault = Fault(
            "'{cell}' is not a JSON list: {reason}",
            cell=cell[:80],
            reason=error.reason,
            file=path.name,
            row=_row(path, index),
            field=field,
        )
        raise BadInput(faults=[fault]) from error


def _whole_lists(rows: Sequence[Any], path: Source, field: str) -> pl.Series:
    try:
        lists = [None if row is None else [int(x) for x in (row if isinstance(row, list) else [row])] for row in rows]
    except (TypeError, ValueError) as error:
        fault = Fault("not a list of whole numbers: {error}", error=error, file=path.name, field=field)
        raise BadInput(faults=[fault], remedy="Write choices as [0, 2].") from error
    return pl.Series(field, lists, dtype=pl.List(pl.Int64))


def _slicings(table: pl.DataFrame, by: Sequence[str], path: Source) -> dict[str, pl.Series]:
    slicings = {}
    for name in by:
        column = name if name in table.columns else TWINS.get(name, name)
        if column not in table.columns:
            raise BadInput(
                faults=[Fault("there is no column '{column}' to slice by", column=name, file=path.name)],
                columns=", ".join(other for other in table.columns if other not in _PREDICTED),
                remedy="The file has: {columns}. Tags stand in a column 'tag' or 'tags', several apart by commas.",
            )
        values = table[column]
        slicings[name] = _tags(values) if column in ("tag", "tags") and values.dtype == pl.String else values
    return slicings


def _tags(values: pl.Series) -> pl.Series:
    """Split tags written in one cell, at commas, semicolons or bars, or as a JSON list."""
    bare = values.str.replace_all(r'[\[\]"]', "").str.replace_all(r"[;|]", ",").str.split(",")
    return bare.list.eval(pl.element().str.strip_chars().replace("", None).drop_nulls())


def _shares(table: pl.DataFrame, name: str, path: Source) -> Any:
    """Return a column of shares by class: an object, or its JSON in a CSV."""
    if name not in table.columns:
        return None
    column = table[name]
    if isinstance(column.dtype, pl.Struct):
        return column
    try:
        return [None if not cell else dict(parse_json(cell)) for cell in column]
    except (TypeError, ValueError) as error:
        fault = Fault("not a JSON object from classes to numbers", file=path.name, field=name)
        raise BadInput(faults=[fault]) from error


def _clusters(table: pl.DataFrame, cluster: str | None, path: Source) -> pl.Series | None:
    """Return the clusters to resample by: the column asked for, or `group` where the gold answers have one."""
    if cluster is None:
        return table["group"] if "group" in table.columns else None
    if cluster not in table.columns:
        raise BadInput(
            faults=[Fault("there is no column '{cluster}' to cluster by", cluster=cluster, file=path.name)],
            columns=", ".join(table.columns),
            remedy="The file has: {columns}.",
        )
    return table[cluster]
