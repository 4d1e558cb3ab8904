"""Training a baseline on plain files, and saying honestly what came of it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput, Conflict
from quintain.core.task import Task
from quintain.data.importing import write_examples
from quintain.data.plan import ImportPlan
from quintain.metrics.evaluate import Evaluation, evaluate_metrics
from quintain.models.card import write_card
from quintain.models.contract import BASELINES, MODEL_FILE, Baseline, Handler, Progress, quiet
from quintain.services.plain.files.predictions import parse
from quintain.tasks.contract import kind_of

CARD_FILE = "CARD.md"
RESAMPLES = 1000
DEV_BATCH = 1024


@dataclass(frozen=True, slots=True)
class ExampleSource:
    """Where training or dev examples came from, and how many there were."""

    name: str
    rows: int
    hash: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {"name": self.name, "rows": self.rows} | ({"hash": self.hash} if self.hash else {})


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained baseline, from what, and how it does on the dev examples where there were some.

    *notes* are what its card warns of, such as training on what is for evaluation only.
    """

    model: Baseline
    seed: int
    data: tuple[ExampleSource, ...]
    dev: tuple[ExampleSource, ...] = ()
    evaluation: Evaluation | None = None
    notes: tuple[str, ...] = ()

    @property
    def meta(self) -> dict[str, Any]:
        """What is kept with the model version."""
        return {
            "baseline": self.model.name,
            "title": self.model.title,
            "seed": self.seed,
            "data": [source.as_dict() for source in self.data],
            "dev": [source.as_dict() for source in self.dev],
            "metrics": self.metrics(),
        }

    def metrics(self) -> dict[str, Any]:
        """Return the figures on the dev examples, each with its interval."""
        if self.evaluation is None:
            return {}
        return {name: result.estimate.as_dict() for name, result in self.evaluation.metrics.items()}


Tables = Sequence[tuple[ExampleSource, pl.DataFrame]]


def train_files(
    task: Task,
    baseline: str,
    data: Sequence[Path],
    out: Path,
    *,
    dev: Sequence[Path] = (),
    plan: ImportPlan | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Trained:
    """Train *baseline* on plain files and write model and card into the folder *out*; needs no workspace."""
    BASELINES.get(baseline).refuse_unsuited(task)
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MODEL_FILE).exists())):
        raise Conflict("{out} is there already and holds no trained model.", out=out, remedy="Name another folder.")
    reading = plan or ImportPlan(duplicates="first")
    trained = train_tables(
        task,
        baseline,
        [read_file(path, task, reading) for path in data],
        dev=[read_file(path, task, reading) for path in dev],
        seed=seed,
        progress=progress,
    )
    trained.model.save(out)
    (out / CARD_FILE).write_text(card_of(trained), encoding="utf-8")
    return trained


def train_tables(
    task: Task, baseline: str, data: Tables, *, dev: Tables = (), seed: int = 0, progress: Progress | None = None
) -> Trained:
    """Train *baseline* on tables of examples, and evaluate it on *dev* where there is some."""
    if not data:
        raise BadInput("There is nothing to train on.", remedy="Name at least one data set.")
    columns = list(kind_of(task).schema(task))
    table = pl.concat([frame.select(columns) for _, frame in data])
    model = BASELINES.get(baseline).train(task, table, seed=seed, progress=progress or quiet)
    held = [frame.select(columns) for _, frame in dev]
    evaluation = evaluate(task, model, pl.concat(held), baseline) if held else None
    sources = tuple(source for source, _ in data), tuple(source for source, _ in dev)
    return Trained(model, seed, *sources, evaluation)


def evaluate(task: Task, model: Handler, table: pl.DataFrame, name: str = "model") -> Evaluation:
    """Compute the task's metrics of *model* on a table of examples with gold answers."""
    if table["answer"].null_count():
        raise BadInput(
            "{bare} of the {height} dev examples have no answer.",
            bare=table["answer"].null_count(),
            height=table.height,
        )
    batch = table.drop("answer").to_dicts()
    raw = [answer for start in range(0, len(batch), DEV_BATCH) for answer in model.predict(batch[start:][:DEV_BATCH])]
    predictions = parse(task, batch, raw, name)
    shares = [prediction.probabilities for prediction in predictions]
    labelled = kind_of(task).needs_labels and all(shares)
    return evaluate_metrics(
        task,
        table["answer"],
        [prediction.answer for prediction in predictions],
        resamples=RESAMPLES,
        probabilities=shares if labelled else None,
    )


def card_of(trained: Trained) -> str:
    """Write the model card of a trained baseline: what is known of it, and nothing else."""
    model, task = trained.model, trained.model.task
    rows = sum(source.rows for source in trained.data)
    sources = "\n".join(f"- {_named(source)}" for source in trained.data) + warned(trained.notes)
    return write_card(
        f"{model.title} for {task.name}",
        {
            "Intended use": f"A baseline for the task `{task.name}` ({task.kind}): a point to compare other models "
            f"with, and a first opponent for people who write examples. It is not meant for decisions about anybody.",
            "Training data": f"Trained on {rows:,} examples with seed {trained.seed}:\n\n{sources}",
            "Evaluation": _evaluation_text(trained),
            "Limitations": model.about,
            "Ethical considerations": "Whatever regularities the training data has, prejudices included, it may have "
            "learned. Nobody has looked for them, beyond what the figures above show.",
            "Licence": "The program is under the Apache License 2.0. What was learned comes from the training data, "
            "whose own licence says how it may be used.",
        },
    )


def _evaluation_text(trained: Trained) -> str:
    if trained.evaluation is None:
        return "It was not evaluated when it was trained; the board shows what was measured since."
    sources = ", ".join(_named(source) for source in trained.dev)
    figures = "\n".join(f"| {name} | {_figure(value)} |" for name, value in trained.metrics().items())
    return f"On {sources}, with 95 % bootstrap intervals:\n\n| metric | value |\n| --- | --- |\n{figures}"


def _figure(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return f"undefined: {estimate.get('reason', '')}"
    text = f"{estimate['value']:.4f}"
    return text if estimate["low"] is None else f"{text} ({estimate['low']:.4f}–{estimate['high']:.4f})"


def _named(source: ExampleSource) -> str:
    return f"`{source.name}` ({source.rows:,} examples)"


def warned(notes: Sequence[str]) -> str:
    """Write what a card warns of, below what it says of the data."""
    return "".join(f"\n\n**Note:** {note}" for note in notes)


def read_file(path: Path, task: Task, plan: ImportPlan) -> tuple[ExampleSource, pl.DataFrame]:
    """Read the examples of a file, as an import would."""
    with tempfile.TemporaryDirectory(prefix="quintain-read-") as folder:
        target = Path(folder) / "examples.parquet"
        report = write_examples(path, task, plan, target)
        table = pl.read_parquet(target)
    return ExampleSource(path.name, table.height, report.hash), table
