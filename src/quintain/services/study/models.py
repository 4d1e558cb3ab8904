"""How well models tell each class, on every data set and round: the tables 3 and 8 of DynaSent, for any task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.figures import Estimate
from quintain.core.records.report import Cell, Chart, Column, Report, ReportFact, ReportSection, Table
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.reports.charts import interval_chart
from quintain.services.evaluate.results.compute import results
from quintain.services.evaluate.results.dataset_results import StoredResult, guarded, newest_only, sees_all
from quintain.services.models.registry import list_models
from quintain.services.tasks.definitions import get_task
from quintain.stats.by_class import ClassScores, macro_f1, scores_by_class
from quintain.store.blobs import Blobs

MOST_MODELS = 40
MOST_CHARTS = 6
MACRO = "classes-macro"  # the table with a row for each model


@dataclass(frozen=True, slots=True)
class Scored:
    """One model on one data set: its classes' scores, and the mean of their F1."""

    model: str
    dataset: str
    examples: int
    classes: list[ClassScores]
    macro: Estimate


def models_report(db: Session, blobs: Blobs, actor: Actor, task_name: str, *, seed: int = 0) -> Report:
    """Score every model that *actor* may see on the newest version of every data set, by class.

    On hidden labels, those who do not own the task see no figures that would tell of single examples.
    """
    task = require_labels(db, task_name)
    names = {model.version.id: f"{model.name}@{model.version.number}" for model in list_models(db, actor, task_name)}
    by_model: dict[int, list[StoredResult]] = {}
    for result in results(db, blobs, task):
        if result.model_version_id in names:
            seen = result if sees_all(actor, task_name, result.hidden) else guarded(result)
            by_model.setdefault(result.model_version_id, []).append(seen)
    newest = {version: newest_only(found) for version, found in by_model.items()}
    tables = {
        names[version]: [one for one in found if one.confusion is not None and any(map(sum, one.confusion["counts"]))]
        for version, found in newest.items()
    }
    hidden_count = sum(one.confusion is None and one.examples > 0 for found in newest.values() for one in found)
    ordered = _best_first(tables)
    shown = ordered[:MOST_MODELS]  # intervals are drawn, and only for those
    scored = [_scored(name, table, seed) for name in shown for table in tables[name]]
    return Report(
        key="models",
        title=Text("Models of {task}, class by class", task=task_name),
        lead=Text("Precision, recall and F1 of each class, on every data set and round."),
        facts=[
            ReportFact(Text("Models"), f"{len(ordered):,}"),
            ReportFact(Text("Data sets"), f"{len({one.dataset for one in scored}):,}"),
            ReportFact(Text("Seed"), str(seed)),
        ],
        sections=[_section(task_name, shown, scored, hidden_count, seed)],
    )


def require_labels(db: Session, task_name: str) -> Task:
    """Return a task whose models can be told by class; refuse another."""
    task = get_task(db, task_name)
    if not task.label_names:
        raise BadInput("Task {task} has no labels, and nothing can be told by class.", task=task_name)
    return task


def named_in(report: Report) -> set[str]:
    """Name the models that a report shows, with their versions."""
    tables = (table for section in report.sections for table in section.tables if table.key == MACRO)
    return {str(row[0]) for table in tables for row in table.rows}


def _scored(model: str, result: StoredResult, seed: int) -> Scored:
    classes, macro = scores_by_class(*_table(result), seed=seed)
    return Scored(model, f"{result.dataset}@{result.number}", result.examples, classes, macro)


def _table(result: StoredResult) -> tuple[Sequence[str], Sequence[Sequence[int]], Sequence[int]]:
    table = result.confusion or {}
    return table["labels"], table["counts"], table["unanswered"]


def _best_first(tables: Mapping[str, Sequence[StoredResult]]) -> list[str]:
    """Put the models that have a table in the order of their mean macro F1."""
    means = {
        name: float(np.mean([macro_f1(*_table(one)[1:]) or 0.0 for one in found]))
        for name, found in tables.items()
        if found
    }
    return sorted(means, key=lambda name: (-means[name], name))


def _section(task: str, shown: Sequence[str], scored: Sequence[Scored], hidden_count: int, seed: int) -> ReportSection:
    commands = [f"quintain study models {task} --seed {seed} --out DIR"]
    title = Text("How well does each model tell each class?")
    note = (
        Text.plural(
            "{n} result on hidden labels is left out: its table would tell of single examples.",
            "{n} results on hidden labels are left out: their tables would tell of single examples.",
            n=hidden_count,
        )
        if hidden_count
        else ""
    )
    if not scored:
        return ReportSection("classes", title, [Text("No model has been measured on a data set yet.")], note=note)
    return ReportSection(
        key="classes",
        title=title,
        findings=[weakest_class(name, [one for one in scored if one.model == name]) for name in shown[:MOST_CHARTS]],
        charts=[_chart(at, name, scored) for at, name in enumerate(shown[:MOST_CHARTS])],
        tables=[_macro(shown, scored), _classes(scored)],
        commands=commands,
        note=note,
    )


def weakest_class(model: str, scored: Sequence[Scored]) -> Text:
    """Return the class with the lowest F1, called the weakest only where all others' intervals lie above its own."""
    (worst, where), *others = sorted(
        ((one, part.dataset) for part in scored for one in part.classes if one.f1.value is not None),
        key=lambda pair: pair[0].f1.value or 0.0,
    )
    high = worst.f1.high if worst.f1.high is not None else 1.0
    figures = {
        "model": model,
        "label": worst.name,
        "dataset": where,
        "f1": worst.f1.value or 0.0,
        "low": worst.f1.low or 0.0,
        "high": high,
    }
    if others and all(high < (one.f1.low or 0.0) for one, _ in others):
        return Text(
            "{model} is weakest on {label} in {dataset}: F1 {f1:.1%} (95 % between {low:.1%} and {high:.1%}).",
            **figures,
        )
    return Text(
        "The lowest F1 of {model} is that of {label} in {dataset}: {f1:.1%} (95 % between {low:.1%} and {high:.1%}). "
        "The intervals of others reach as low.",
        **figures,
    )


def _chart(at: int, model: str, scored: Sequence[Scored]) -> Chart:
    figures = [
        (one.dataset, part.name, part.f1, part.gold) for one in scored if one.model == model for part in one.classes
    ]
    spec = interval_chart(figures, row=Text("Data set"), series=Text("Class"), value=Text("F1"))
    return Chart(f"classes-chart-{at + 1}", Text("Which classes does {model} tell well?", model=model), spec)


def _macro(shown: Sequence[str], scored: Sequence[Scored]) -> Table:
    datasets = sorted({one.dataset for one in scored})
    scores = {(one.model, one.dataset): one.macro for one in scored}
    rows: list[list[Cell]] = [[name, *(scores.get((name, dataset)) for dataset in datasets)] for name in shown]
    return Table(
        MACRO,
        Text("Mean F1 of the classes"),
        [Column(Text("Model")), *(Column(name, "share") for name in datasets)],
        rows,
    )


def _classes(scored: Sequence[Scored]) -> Table:
    rows: list[list[Cell]] = [
        [one.model, one.dataset, part.name, part.gold, part.precision, part.recall, part.f1]
        for one in scored
        for part in one.classes
    ]
    columns = [
        Column(Text("Model")),
        Column(Text("Data set")),
        Column(Text("Class")),
        Column(Text("Examples"), "count"),
        Column(Text("Precision"), "share"),
        Column(Text("Recall"), "share"),
        Column(Text("F1"), "share"),
    ]
    return Table("classes-table", Text("Every class on every data set"), columns, rows)
