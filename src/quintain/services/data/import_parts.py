"""One file as three data sets: what models learn from, what one chooses between them by, and what they are scored on.

Texts that nearly repeat each other, and examples of one group, stay on one side: a model that has learned a text by
heart is not scored on it. Each answer has about its share in every part. What scores is a tenth, and of a small file as
much as a ranking needs, but no more than half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import scipy
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.data.importing import ImportReport, Progress, write_examples
from quintain.data.plan import ImportPlan
from quintain.services.data import datasets
from quintain.services.data.bundles import data_file, has_images
from quintain.services.data.datasets import Facts, VersionInfo
from quintain.services.plain.files.folds import codes_of, groups_of
from quintain.services.tasks.board_settings import let_score
from quintain.services.tasks.definitions import get_task
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.fitness import LEAST_EXAMPLES
from quintain.stats.near_duplicates import THRESHOLD
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.tasks.contract import kind_of

ROLES = (Role.TRAIN, Role.DEV, Role.TEST)
TENTH = 0.1
MOST_TEST = 0.5
MARGIN = 1.1  # more than are needed: what stays together is not dealt out to the very example
LEAST = 20  # examples: fewer leave a part with hardly any
MOST_STRATA = 30  # different answers of which each has its share in every part


def import_parts(  # noqa: PLR0917 - as `import_dataset`
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    name: str,
    source: Path,
    plan: ImportPlan,
    *,
    score: bool = False,
    progress: Progress | None = None,
    held: Callable[[Session], None] | None = None,
) -> list[VersionInfo]:
    """Import *source* as NAME-train, NAME-dev and NAME-test; all of it or nothing.

    Hidden are the answers of the test set alone: models learn from the others. The plan's seed decides which example
    goes where.
    """
    datasets.require_import(db, actor, task, name, replace(plan, role=Role.TEST.value), score=score)
    definition = get_task(db, task)
    if has_images(definition):
        raise BadInput(
            "Examples with images are not divided.", remedy="Import a file for each part: train, dev and test."
        )
    with data_file(source) as path, blobs.scratch(suffix=".parquet") as target:
        report = write_examples(path, definition, replace(plan, role=Role.TRAIN.value), target, progress=progress)
        table = pl.read_parquet(target)
    parts = divide(table, definition, plan.seed)
    written = {
        role: datasets.write_made(db, blobs, actor, task, part.drop("id"), name=f"{name}-{role}")
        for role, part in parts.items()
    }
    with transaction(db):
        if held is not None:
            held(db)
        versions = [
            datasets.keep_written(
                db,
                actor,
                task,
                content,
                name=f"{name}-{role}",
                facts=_facts(plan, definition, role, report, len(parts[role])),
            )
            for role, content in written.items()
        ]
        if score:
            let_score(db, actor, f"{task}/{name}-{Role.TEST}")
    return [replace(version, report=report, scores=score and version.role == Role.TEST) for version in versions]


def shares_of(rows: int) -> dict[Role, float]:
    """Return the share of each part in a file of so many *rows*.

    >>> shares_of(5000)[Role.TEST], round(shares_of(220)[Role.TEST], 2)
    (0.1, 0.5)
    """
    test = min(MOST_TEST, max(TENTH, MARGIN * LEAST_EXAMPLES / max(rows, 1)))
    return {Role.TRAIN: 1 - TENTH - test, Role.DEV: TENTH, Role.TEST: test}


def sizes_of_parts(rows: int) -> dict[str, int]:
    """Return about how many of so many *rows* come into each part, by its role."""
    return {role.value: round(rows * share) for role, share in shares_of(rows).items()}


def divide(table: pl.DataFrame, task: Task, seed: int = 0) -> dict[Role, pl.DataFrame]:
    """Divide examples by the shares for their number; what nearly repeats another, or has its group, goes with it."""
    if table.height < LEAST:
        raise BadInput(
            "{n} examples are too few to be divided into three parts.",
            n=table.height,
            least=LEAST,
            remedy="Bring at least {least}, or choose what all of them are for.",
        )
    order = np.random.default_rng(seed).permutation(table.height)
    units = _units(table, task)
    sizes = np.bincount(units)
    shares = np.array([shares_of(table.height)[role] for role in ROLES])
    role_of_unit = _deal(units[order], _strata(table["answer"])[order], sizes, shares)
    return {role: table.filter(pl.Series(role_of_unit[units] == number)) for number, role in enumerate(ROLES)}


def _units(table: pl.DataFrame, task: Task) -> IntArray:
    """Return the number of what stays together for each example: alike texts and those of one group, and so on."""
    names = [field.name for field in kind_of(task).fields(task) if table.schema[field.name] == pl.String()]
    texts = table.select(pl.concat_str(names, separator="\n", ignore_nulls=True)).to_series().to_list() if names else []
    rows = np.arange(table.height)
    links = []
    for codes in (groups_of(texts, THRESHOLD) if texts else None, codes_of(table["group"].to_list())):
        if codes is not None and (codes >= 0).any():
            coded = codes >= 0
            # the first row of a code stands for it
            _, first = np.unique(codes[coded], return_index=True)
            first_row = np.zeros(int(codes.max()) + 1, dtype=np.int64)
            first_row[codes[coded][first]] = rows[coded][first]
            links.append((rows[coded], first_row[codes[coded]]))
    ends = [np.concatenate(side) for side in zip(*links, strict=True)] if links else [rows, rows]
    graph = scipy.sparse.coo_array((np.ones(len(ends[0])), (ends[0], ends[1])), shape=(table.height, table.height))
    _, unit = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return np.asarray(unit, dtype=np.int64)


def _strata(answers: pl.Series) -> IntArray:
    """Return a number for each answer where there are few different ones; else all are alike."""
    if answers.dtype.is_nested() or answers.n_unique() > MOST_STRATA:
        return np.zeros(len(answers), dtype=np.int64)
    return codes_of([str(answer) for answer in answers.to_list()])


def _deal(units: IntArray, strata: IntArray, sizes: IntArray, shares: FloatArray) -> IntArray:
    """Return the part of each unit: the one that is furthest behind its share of the answer in hand."""
    role_of_unit = np.full(len(sizes), -1, dtype=np.int64)
    dealt: dict[int, FloatArray] = {}
    for unit, stratum in zip(units.tolist(), strata.tolist(), strict=True):
        if role_of_unit[unit] >= 0:
            continue
        counts = dealt.setdefault(stratum, np.zeros(len(shares)))
        behind = shares * (counts.sum() + sizes[unit]) - counts
        role_of_unit[unit] = int(np.argmax(behind))
        counts[role_of_unit[unit]] += sizes[unit]
    return role_of_unit


def _facts(plan: ImportPlan, task: Task, role: Role, report: ImportReport, rows: int) -> Facts:
    meta = {
        "source": report.file,
        "rows_read": report.rows_read,
        "part": {"role": role.value, "rows": rows, "of": report.rows, "seed": plan.seed},
        **plan.selection,
        **{name: value for name, value in (("license", plan.license), ("citation", plan.citation)) if value},
    }
    return Facts(role, plan.hidden and role is Role.TEST, plan.language or task.language, plan.description, meta)
