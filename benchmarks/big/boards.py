"""The task, its data sets, and models that have answered every row of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from big.loading import Loader, packed
from big.people import People
from big.sizes import DATASETS, TASK, Size
from quintain.compose import Workspace
from quintain.core.cells import CellState
from quintain.core.example import Role
from quintain.core.hashing import content_id
from quintain.core.people import OPERATOR
from quintain.core.task import Task
from quintain.data.plan import ImportPlan
from quintain.engine.predicting import prediction_schema
from quintain.models.card import HEADINGS
from quintain.services.data.datasets import VersionInfo, import_dataset
from quintain.services.models.train import train
from quintain.services.tasks.board_settings import set_board
from quintain.services.tasks.definitions import get_task, put_task
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


def add_datasets(workspace: Workspace, size: Size, folder: Path) -> list[VersionInfo]:
    """Import the data sets; all of them score, and the models are ranked by performance alone."""
    found = []
    with workspace.session() as db:
        for number in range(DATASETS):
            path = folder / f"rows-{number}.jsonl"
            rng = np.random.default_rng(number)
            labels, tags = rng.integers(3, size=size.rows), rng.integers(len(TAGS), size=(size.rows, 2))
            with path.open("w", encoding="utf-8") as stream:
                for text, label, marks in zip(texts(number, size.rows), labels, tags, strict=True):
                    row = {"text": text, "answer": LABELS[label], "tags": sorted({TAGS[mark] for mark in marks})}
                    stream.write(json.dumps(row) + "\n")
            plan = ImportPlan(role=Role.TEST, hidden=number == 0)
            found.append(import_dataset(db, workspace.blobs, OPERATOR, TASK, f"set-{number}", path, plan))
            path.unlink()
        weights = {"performance": 1.0, "throughput": 0.0, "memory": 0.0, "fairness": 0.0, "robustness": 0.0}
        set_board(db, OPERATOR, TASK, {"datasets": {one.dataset: 1.0 for one in found}, "weights": weights})
    return found


def add_predictions(workspace: Workspace, size: Size, datasets: list[VersionInfo]) -> list[list[str]]:
    """Write the files of predictions: for each data set so many, each right on another share of its rows."""
    found = []
    with workspace.session() as db:
        task = get_task(db, TASK)
    for place, dataset in enumerate(datasets):
        rows = pl.read_parquet(workspace.blobs.path(dataset.blob), columns=["id", "answer"])
        found.append(
            [_predictions(workspace, task, rows, np.random.default_rng([place, one])) for one in range(size.files)]
        )
    return found


def _predictions(workspace: Workspace, task: Task, rows: pl.DataFrame, rng: np.random.Generator) -> str:
    gold = rows["answer"].replace_strict({label: place for place, label in enumerate(LABELS)}).to_numpy()
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


def add_models(
    load: Loader, size: Size, people: People, datasets: list[VersionInfo], files: list[list[str]], begun: datetime
) -> None:
    """Add models with a version each, and a finished cell on every data set."""
    with Session(load.engine) as db:
        task_id = db.connection().exec_driver_sql(f"SELECT id FROM tasks WHERE name = '{TASK}'").scalar_one()  # noqa: S608
    model, version, cell = load.next_id(Model), load.next_id(ModelVersion), load.next_id(Cell)
    card = "\n".join(f"# {heading}\nA file of answers.\n" for heading in HEADINGS)
    names = [f"model-{number:04}" for number in range(size.models)]
    owners = [people.builders[number % len(people.builders)] for number in range(size.models)]
    hashes = [content_id({"model": name}) for name in names]
    at = [load.when(begun + timedelta(hours=number)) for number in range(size.models)]
    load.add(
        Model,
        ("id", "task_id", "name", "owner_id", "visibility", "created_at"),
        (
            (model + place, task_id, name, owners[place], "private" if place % 50 == 49 else "public", at[place])
            for place, name in enumerate(names)
        ),
    )
    load.add(
        ModelVersion,
        ("id", "model_id", "number", "hash", "adapter", "card", "meta", "created_by", "created_at"),
        (
            (version + n, model + n, 1, hashes[n], "predictions", card, packed({}), owners[n], at[n])
            for n in range(size.models)
        ),
    )
    load.add(
        AuditEntry,
        ("at", "actor_id", "actor", "action", "subject", "details"),
        (
            (at[n], owners[n], f"person-{owners[n]}", "model.register", f"{TASK}/{names[n]}@1", packed({}))
            for n in range(size.models)
        ),
    )
    columns = (
        *("id", "model_version_id", "dataset_version_id", "variant", "state", "generation", "worker", "attempts"),
        *("lost", "done", "total", "reason", "waits_for", "predictions", "measurements"),
        *("created_at", "started_at", "finished_at"),
    )

    def cells() -> Iterator[tuple[object, ...]]:
        for n in range(size.models):
            for place, dataset in enumerate(datasets):
                file = files[place][(n + 13 * place) % size.files]
                yield (
                    *(cell + n * DATASETS + place, version + n, dataset.id, "plain", CellState.DONE.value, 1, "w", 1),
                    *(0, dataset.rows, dataset.rows, "", "", file, packed({})),
                    *(at[n], at[n], at[n]),
                )

    load.add(Cell, columns, cells())
    load.add(
        CellEvent,
        ("cell_id", "at", "kind", "text"),
        (
            (cell + n * DATASETS + place, at[n], kind, "")
            for n in range(size.models)
            for place in range(DATASETS)
            for kind in ("leased", "done")
        ),
    )
