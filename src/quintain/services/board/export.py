"""A ranked board in the formats that papers and other tools read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from quintain.core.errors import BadInput, NotFound
from quintain.core.escaping import latex, markdown
from quintain.core.hashing import content_id
from quintain.core.records.base import to_plain
from quintain.core.records.figures import Estimate, Figure, RunCounts
from quintain.core.texts import Text
from quintain.data.cells import RowWriter
from quintain.services.board.parts import BoardMatrix, MatrixDataset, MatrixModel
from quintain.services.board.ranking import Ranked
from quintain.tasks.contract import kind_of

# How lm-evaluation-harness calls what we call otherwise.
HARNESS_NAMES: Mapping[str, str] = {"accuracy": "acc", "exact_match": "exact_match", "token_f1": "f1"}


def export(ranked: Ranked, kind: str, model: str | None = None) -> str:
    """Write the ranking as *kind*; `harness` and `model-index` are about one *model*."""
    if kind in WHOLE:
        return WHOLE[kind](ranked)
    if kind in SINGLE:
        return SINGLE[kind](ranked, _chosen(ranked, model))
    raise BadInput("There is no format '{kind}'.", kind=kind, known=", ".join(KINDS), remedy="There are: {known}.")


def _chosen(ranked: Ranked, model: str | None) -> MatrixModel:
    if not model:
        raise BadInput("This format describes one model.", remedy="Say which, by its name.")
    row = ranked.board.position(model)
    if row is None:
        names = ", ".join(model.name for model in ranked.board.models[:10])
        raise NotFound(
            "There is no model '{model}' on this board.",
            model=model,
            known=names or Text("none"),
            remedy="There are: {known}.",
        )
    return ranked.board.models[row]


def _lines(ranked: Ranked) -> list[list[str]]:
    """Return one line per model for tables that people read: rank, model, score, then a value per axis."""
    lines = []
    for row in ranked.order():
        score, position = ranked.ranking.dynascore[row], ranked.ranking.rank[row]
        cells = [ranked.figure(row, axis.name) for axis in ranked.board.axes]
        lines.append(
            [
                "–" if position is None else str(position),
                ranked.board.models[row].name,
                "–" if score is None else f"{score:.2f}",
                *("–" if cell is None else f"{cell.value:.2f}" for cell in cells),
            ]
        )
    return lines


def _titles(ranked: Ranked) -> list[str]:
    axes = [f"{axis.title} ({axis.unit})" if axis.unit else axis.title for axis in ranked.board.axes]
    return ["Rank", "Model", "Dynascore", *axes]


def caption(ranked: Ranked) -> str:
    """Return a sentence on what was ranked, by what weights and when: a Dynascore without that means nothing."""
    ranking = ranked.ranking
    weights = ", ".join(f"{name} {weight:.3g}" for name, weight in ranking.weights.items() if weight > 0)
    used = ranked.dataset_weights()
    datasets = ", ".join(dataset.ref for dataset in ranked.board.datasets if used[dataset.name] > 0)
    return (
        f"Task {ranked.board.task.name} on {datasets or 'no data set'}; weights: {weights}; "
        f"epsilon {ranking.epsilon:g}; {_rates(ranked)}{_cover(ranked)}{_measured_on(ranked)}"
        f"as of {ranked.board.made_at:%Y-%m-%d %H:%M} UTC."
        f"{provisional(ranked.runs)}{_held(ranked)}"
    )


def _held(ranked: Ranked) -> str:
    """Return a sentence that it is the last complete ranking; empty where it is the current one."""
    held = ranked.board.held
    return (
        f" Ranking of {held.at:%Y-%m-%d %H:%M} UTC; the next one needs {held.runs.waiting} more runs." if held else ""
    )


def _rates(ranked: Ranked) -> str:
    return "median exchange rates; " if ranked.ranking.rate == "median" else ""


def _cover(ranked: Ranked) -> str:
    """Return a sentence on the axes that are not averaged over all data sets that score."""
    parts = [
        f"over {len(names)} of {scoring} data sets" if names else "dropped" for _, names, scoring in ranked.partial()
    ]
    return "".join(f"{name} {part}; " for (name, _, _), part in zip(ranked.partial(), parts, strict=True))


def _measured_on(ranked: Ranked) -> str:
    return f"measured on {ranked.board.machine.name}; " if ranked.board.machine.name else ""


def provisional(runs: RunCounts) -> str:
    """Return a sentence that the order is not final yet; empty where it is."""
    return f" Provisional: {runs.waiting} of {runs.needed} runs are still to come." if runs.waiting else ""


def _csv(ranked: Ranked) -> str:
    stream = io.StringIO()
    writer = RowWriter(stream)
    names = [axis.name for axis in ranked.board.axes]
    columns = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    writer.row(["rank", "model", "version", "hash", "dynascore", *columns, "reason", "provisional"])
    waits = "true" if ranked.runs.waiting else "false"
    for row in ranked.order():
        model = ranked.board.models[row]
        figures = [ranked.figure(row, name) or Estimate(None) for name in names]
        cells = [end for figure in figures for end in (figure.value, figure.low, figure.high)]
        start = [ranked.ranking.rank[row], model.name, model.number, model.hash, ranked.ranking.dynascore[row]]
        writer.row([*start, *cells, ranked.reasons.get(model.ref, ""), waits])
    return stream.getvalue()


def _json(ranked: Ranked) -> str:
    return json.dumps(ranked.as_dict(), ensure_ascii=False, indent=2) + "\n"


def _markdown(ranked: Ranked) -> str:
    titles, lines = _titles(ranked), _lines(ranked)
    rule = ["--:", "---", *(["--:"] * (len(titles) - 2))]
    rows = [map(markdown, titles), rule, *(map(markdown, line) for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + f"\n\n{markdown(caption(ranked))}\n"


def _latex(ranked: Ranked) -> str:
    titles, lines = _titles(ranked), _lines(ranked)
    body = [" & ".join(map(latex, line)) + r" \\" for line in lines]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{rl{'r' * (len(titles) - 2)}}}",
            r"\toprule",
            " & ".join(map(latex, titles)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{latex(caption(ranked))}}}",
            r"\end{table}",
            "",
        ]
    )


def _scored(matrix: BoardMatrix, model: MatrixModel) -> list[tuple[MatrixDataset, Figure | None]]:
    """List on what a model has a performance: the data sets or, where vMER ranks, the rounds it answered in."""
    axis = matrix.axes[0]
    if not axis.pooled:
        return list(zip(matrix.datasets, model.values[axis.name], strict=True))
    scored: list[tuple[MatrixDataset, Figure | None]] = []
    for board_round in matrix.rounds:
        record_hash = content_id(to_plain(board_round.record()))
        for rate in board_round.models:
            if rate.model in (model.ref, *model.seeds) and rate.vmer.value is not None:
                low, high = ((end or 0.0) * axis.scale for end in (rate.vmer.low, rate.vmer.high))
                figure = Figure(rate.vmer.value * axis.scale, low, high)
                name = f"round_{board_round.ref.partition('/')[2]}"
                scored.append(
                    (MatrixDataset(f"{board_round.ref}@1", name, record_hash, "round", "", rate.collected, 0.0), figure)
                )
    return scored


def _harness(ranked: Ranked, model: MatrixModel) -> str:
    matrix = ranked.board
    lower = matrix.axes[0].lower
    name = HARNESS_NAMES.get(matrix.metric, matrix.metric)
    results: dict[str, dict[str, Any]] = {}
    scored = _scored(matrix, model)
    for dataset, figure in scored:
        if figure is not None:
            task = f"{matrix.task.name}_{dataset.name}"
            results[task] = {"alias": task, f"{name},none": figure.value / matrix.axes[0].scale}
            results[task][f"{name}_stderr,none"] = (
                (figure.high - figure.low) / matrix.axes[0].scale / 3.92
                if figure.low is not None and figure.high is not None
                else "N/A"
            )
    versions = {f"{matrix.task.name}_{dataset.name}": dataset for dataset, _ in scored}
    shape = {
        "results": results,
        "group_subtasks": {task: [] for task in results},
        "configs": {
            task: {"task": task, "dataset_path": versions[task].ref, "metadata": {"hash": versions[task].hash}}
            for task in results
        },
        "versions": {task: versions[task].ref.rpartition("@")[2] for task in results},
        "n-shot": dict.fromkeys(results, 0),
        "higher_is_better": {task: {name: not lower} for task in results},
        "n-samples": {task: {"original": versions[task].rows, "effective": versions[task].rows} for task in results},
        "config": {"model": "quintain", "model_args": f"ref={model.ref},hash={model.hash}", "batch_size": 1},
        "date": matrix.made_at.timestamp(),
    }
    return json.dumps(shape, ensure_ascii=False, indent=2) + "\n"


def _model_index(ranked: Ranked, model: MatrixModel) -> str:
    """Write the part of a model card's front matter that the hub reads results from."""
    matrix = ranked.board
    results = [
        {
            "task": {"type": kind_of(matrix.task).hub_categories[0], "name": matrix.task.name},
            "dataset": {
                "name": dataset.name,
                "type": f"{matrix.task.name}/{dataset.name}",
                "split": dataset.role,
                "revision": dataset.hash,
            },
            "metrics": [
                {
                    "type": matrix.metric,
                    "name": matrix.axes[0].title,
                    "value": float(figure.value) / matrix.axes[0].scale,
                }
            ],
        }
        for dataset, figure in _scored(matrix, model)
        if figure is not None
    ]
    index = {"model-index": [{"name": model.name, "results": results}]}
    return f"---\n{yaml.safe_dump(index, allow_unicode=True, sort_keys=False, width=1000)}---\n"


WHOLE: Mapping[str, Callable[[Ranked], str]] = {
    "csv": _csv,
    "json": _json,
    "latex": _latex,
    "markdown": _markdown,
}
SINGLE: Mapping[str, Callable[[Ranked, MatrixModel], str]] = {"harness": _harness, "model-index": _model_index}
KINDS = (*WHOLE, *SINGLE)
SUFFIXES: Mapping[str, tuple[str, str]] = {
    "csv": ("csv", "text/csv"),
    "json": ("json", "application/json"),
    "latex": ("tex", "text/x-tex"),
    "markdown": ("md", "text/markdown"),
    "harness": ("harness.json", "application/json"),
    "model-index": ("model-index.md", "text/markdown"),
}
