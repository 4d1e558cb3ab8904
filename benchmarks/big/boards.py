"""The task, its data sets, and models that have answered every row of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache, partial
from pathlib import Path

import numpy as np
import polars as pl
from sqlalchemy import func, select

from big.loading import Loader, packed
from big.people import People
from big.sizes import DATASETS, TASK, Size
from big.steps import side_by_side
from quintain.compose import Workspace, create_workspace
from quintain.core.cells import CellState
from quintain.core.example import Role
from quintain.core.hashing import content_id
from quintain.core.people import OPERATOR
from quintain.core.task import Task
from quintain.data.plan import ImportPlan
from quintain.engine.predicting import prediction_schema
from quintain.models.card import HEADINGS
from quintain.services.data.datasets import VersionInfo, import_dataset
from quintain.services.evaluate.results.compute import compute_figures
from quintain.services.models.train import train
from quintain.services.tasks.board_settings import set_board
from quintain.services.tasks.definitions import get_task, put_task
from quintain.settings import Settings
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.tables import AuditEntry, Cell, CellEvent, Model, ModelVersion

DATA = Path(__file__).parents[2] / "src" / "quintain" / "demo_data" / "sentiment"
TAGS = ("long", "short", "irony", "negation", "names", "numbers", "food", "film")
LABELS = ("positive", "negative", "neutral")


def words() -> list[str]:
    """Give the words that texts are made of."""
    texts = (json.loads(line)["text"] for line in (DATA / "train.jsonl").open(encoding="utf-8"))
    return sorted({word for text in texts for word in text.split() if word.isalpha()})


def texts(seed: int, count: int, length: int = 14) -> list[str]:
    """Make texts of random words."""
    known = words()
    drawn = np.random.default_rng(seed).integers(len(known), size=(count, length)).tolist()
    return [" ".join([known[place] for place in row]) for row in drawn]


def prepare_task(workspace: Workspace) -> None:
    """Make the task, with a real model that writers can face."""
    with workspace.session() as db:
        definition = (DATA / "task.toml").read_text(encoding="utf-8").replace('"sentiment"', f'"{TASK}"', 1)
        put_task(db, OPERATOR, definition)
        plan = ImportPlan(role=Role.TRAIN)
        import_dataset(db, workspace.blobs, OPERATOR, TASK, "train", DATA / "train.jsonl", plan)
        train(db, workspace.blobs, OPERATOR, TASK, "ngram", [f"{TASK}/train"])


def add_dataset(workspace: Workspace, size: Size, number: int) -> VersionInfo:
    """Import a data set; the first has hidden labels."""
    rng = np.random.default_rng(number)
    labels, tags = rng.integers(3, size=size.rows), rng.integers(len(TAGS), size=(size.rows, 2))
    with workspace.blobs.scratch(suffix=".jsonl") as path, workspace.session() as db:
        with path.open("w", encoding="utf-8") as stream:
            for text, label, marks in zip(texts(number, size.rows), labels, tags.tolist(), strict=True):
                row = {"text": text, "answer": LABELS[label], "tags": sorted({TAGS[mark] for mark in marks})}
                stream.write(json.dumps(row) + "\n")
        plan = ImportPlan(role=Role.TEST, hidden=number == 0)
        return import_dataset(db, workspace.blobs, OPERATOR, TASK, f"set-{number}", path, plan)


def weigh(workspace: Workspace, datasets: list[VersionInfo]) -> None:
    """Let all data sets score, and rank the models by performance alone."""
    weights = {"performance": 1.0, "throughput": 0.0, "memory": 0.0, "fairness": 0.0, "robustness": 0.0}
    with workspace.session() as db:
        set_board(db, OPERATOR, TASK, {"datasets": {one.dataset: 1.0 for one in datasets}, "weights": weights})


def add_predictions(settings: Settings, size: Size, datasets: list[VersionInfo]) -> list[list[str]]:
    """Write the files of predictions: for each data set so many, each right on another share of its rows."""
    work = partial(_predictions, settings)
    pairs = [(place, one.blob, number) for place, one in enumerate(datasets) for number in range(size.files)]
    made = side_by_side(work, pairs)
    return [made[start : start + size.files] for start in range(0, len(made), size.files)]


@lru_cache(maxsize=1)
def _rows(path: Path) -> pl.DataFrame:
    """Read the ids of a data set and the places of its labels."""
    places = {label: place for place, label in enumerate(LABELS)}
    return pl.read_parquet(path, columns=["id", "answer"]).select("id", gold=pl.col("answer").replace_strict(places))


def _predictions(settings: Settings, which: tuple[int, str, int]) -> str:
    place, blob, number = which
    workspace, task = _opened(settings)
    rows = _rows(workspace.blobs.path(blob))
    rng = np.random.default_rng([place, number])
    gold = rows["gold"].to_numpy()
    wrong = rng.random(rows.height) > rng.uniform(0.5, 0.95)
    said = np.where(wrong, (gold + rng.integers(1, 3, size=rows.height)) % 3, gold)
    sure = np.where(np.arange(3)[None, :] == said[:, None], 0.8, 0.1)
    labels = pl.Series(LABELS)
    table = pl.DataFrame(
        {
            "id": rows["id"],
            "prediction": labels.gather(said),
            "probabilities": pl.DataFrame({label: sure[:, place] for place, label in enumerate(LABELS)}).to_struct(),
            "failure": pl.Series([None] * rows.height, dtype=pl.String),
            "outcome": pl.Series(["answered"] * rows.height, dtype=pl.String),
        }
    )
    schema = prediction_schema(task)
    extra = [name for name in schema["probabilities"].to_schema() if name not in LABELS]  # type: ignore[attr-defined]
    if extra:
        shares = table["probabilities"].struct.unnest().with_columns(*(pl.lit(0.0).alias(name) for name in extra))
        table = table.with_columns(probabilities=shares.to_struct())
    with workspace.blobs.scratch(suffix=".parquet") as path:
        table.cast(schema).write_parquet(path)  # type: ignore[arg-type] # the schema is of data types
        return workspace.blobs.put_file(path)


@cache
def _opened(settings: Settings) -> tuple[Workspace, Task]:
    """Open the workspace once in each process."""
    workspace = create_workspace(settings)
    with workspace.session() as db:
        return workspace, get_task(db, TASK)


def add_figures(settings: Settings) -> int:
    """Compute what the cells say, once for all that have the same predictions, as the worker that runs one does."""
    workspace, _ = _opened(settings)
    with workspace.session() as db:
        first = select(func.min(Cell.id)).group_by(Cell.dataset_version_id, Cell.predictions)
        wanted = db.scalars(first.order_by(Cell.dataset_version_id)).all()  # what was read of one data set is used
    return len(side_by_side(partial(_figures, settings), wanted))


def _figures(settings: Settings, cell: int) -> None:
    workspace, task = _opened(settings)
    with workspace.session() as db:
        row = cell_queries.row(db, cell)
        assert row is not None
        compute_figures(db, workspace.blobs, task, row)


@dataclass(frozen=True, slots=True)
class _Added:
    """Models that are added: their first ids, and of each its name, owner, and when it came."""

    model: int
    version: int
    cell: int
    names: list[str]
    owners: list[int]
    at: list[str]


def add_models(
    load: Loader, size: Size, people: People, datasets: list[VersionInfo], files: list[list[str]], begun: datetime
) -> None:
    """Add models with a version each, and a finished cell on every data set."""
    added = _Added(
        *(load.next_id(Model), load.next_id(ModelVersion), load.next_id(Cell)),
        names=[f"model-{number:04}" for number in range(size.models)],
        owners=[people.builders[number % len(people.builders)] for number in range(size.models)],
        at=[load.when(begun + timedelta(hours=number)) for number in range(size.models)],
    )
    _add_versions(load, added)
    _add_cells(load, added, datasets, files)


def _add_versions(load: Loader, added: _Added) -> None:
    task_id = load.one(f"SELECT id FROM tasks WHERE name = '{TASK}'")  # noqa: S608
    card = "\n".join(f"# {heading}\nA file of answers.\n" for heading in HEADINGS)
    every = list(enumerate(zip(added.names, added.owners, added.at, strict=True)))
    load.add(
        Model,
        ("id", "task_id", "name", "owner_id", "visibility", "created_at"),
        (
            (added.model + n, task_id, name, owner, "private" if n % 50 == 49 else "public", at)
            for n, (name, owner, at) in every
        ),
    )
    load.add(
        ModelVersion,
        ("id", "model_id", "number", "hash", "adapter", "card", "meta", "created_by", "created_at"),
        (
            (
                *(added.version + n, added.model + n, 1, content_id({"model": name})),
                *("predictions", card, packed({}), owner, at),
            )
            for n, (name, owner, at) in every
        ),
    )
    load.add(
        AuditEntry,
        ("at", "actor_id", "actor", "action", "subject", "details"),
        (
            (at, owner, f"person-{owner}", "model.register", f"{TASK}/{name}@1", packed({}))
            for _, (name, owner, at) in every
        ),
    )


def _add_cells(load: Loader, added: _Added, datasets: list[VersionInfo], files: list[list[str]]) -> None:
    columns = (
        *("id", "model_version_id", "dataset_version_id", "variant", "state", "generation", "worker", "attempts"),
        *("lost", "done", "total", "reason", "waits_for", "predictions", "measurements"),
        *("created_at", "started_at", "finished_at"),
    )

    def cells() -> Iterator[tuple[object, ...]]:
        for n, at in enumerate(added.at):
            for place, dataset in enumerate(datasets):
                file = files[place][(n + 13 * place) % len(files[place])]
                number = added.cell + n * DATASETS + place
                yield (
                    *(number, added.version + n, dataset.id, "plain", CellState.DONE.value, 1, "w", 1),
                    *(0, dataset.rows, dataset.rows, "", "", file, packed({}), at, at, at),
                )

    load.add(Cell, columns, cells())
    load.add(
        CellEvent,
        ("cell_id", "at", "kind", "text"),
        (
            (added.cell + n * DATASETS + place, at, kind, "")
            for n, at in enumerate(added.at)
            for place in range(DATASETS)
            for kind in ("leased", "done")
        ),
    )
