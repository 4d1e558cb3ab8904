"""A builder's own model on a builder's own file, on all five axes: no workspace, no account, no server.

The model runs in the same sandbox, meets the same perturbations and is scored by the same code as on a server.
"""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import polars as pl

from quintain.adapters.contract import ADAPTERS, Outside
from quintain.adapters.manifest import read_manifest
from quintain.core.cells import MEASURE, PLAIN
from quintain.core.errors import BadInput, NotFound
from quintain.core.records.base import plain as to_plain
from quintain.core.records.evaluate import CostEstimate
from quintain.core.records.figures import Gap
from quintain.core.task import Task
from quintain.data.importing import write_examples
from quintain.data.plan import ImportPlan
from quintain.engine.cutting import MEASURED_ROWS
from quintain.engine.jobs import CellJob, CellResult, LocalEngine
from quintain.engine.predicting import prediction_schema
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import OURS, RunEnded
from quintain.services.evaluate.cells.conditions import Conditions, runnable
from quintain.services.evaluate.cells.estimate import estimate
from quintain.services.evaluate.cells.kept_spending import within_budgets
from quintain.services.evaluate.results.asking_facts import asking_facts
from quintain.services.evaluate.results.measurement_gaps import (
    count_unlike,
    measured_figures,
    measurement_gaps,
    without_withheld,
)
from quintain.services.evaluate.results.scoring import ScoringRules, score_table
from quintain.services.evaluate.results.unchanged import side_by_side, unchanged_figures
from quintain.services.evaluate.results.variants import VARIANT_ROWS, VARIANT_SEED, family_of, perturbed, variants_for
from quintain.services.evaluate.submissions.few_shot_draw import with_shots
from quintain.services.models.inspection import require_runnable
from quintain.services.tasks.board_spec import APART, WRONG
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import read_task

Progress = Callable[[str, int, int], None]  # the variant, rows done, rows in all
TASK_FILE = "task.toml"
ASKING = (
    "requests",
    "answered",
    "cached",
    "lost",
    "retries",
    "unread",
    "refused",
    "input_tokens",
    "output_tokens",
    "estimated",
    "cost",
    "spent",
)


@dataclass(frozen=True, slots=True)
class LocalReport:
    """The five axes of one model on one file. Rates are fractions, memory is in GiB.

    *scored* has the metrics and, where examples *failed*, the bounds of each with those all wrong and all right. *gaps*
    say of what was measured why it would not rank. *asking* is what calls to a server elsewhere took: requests, tokens,
    cost, how many replies came from the cache, over all runs; *asked* is what became of each answer of the plain run,
    and by which method of reading.
    """

    task: str
    adapter: str
    file: str
    rows: int
    scored: Mapping[str, Any] = field(default_factory=dict)
    failed: int = 0
    measurements: Mapping[str, Any] = field(default_factory=dict)
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    robustness: Mapping[str, Any] | None = None
    fairness: Mapping[str, Any] | None = None
    asking: Mapping[str, float] = field(default_factory=dict)
    asked: Mapping[str, Any] | None = None
    estimate: CostEstimate | None = None
    hints: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "task": self.task,
            "adapter": self.adapter,
            "file": self.file,
            "rows": self.rows,
            **self.scored,
            "failed": self.failed,
            "measurements": dict(self.measurements),
            "gaps": {axis: to_plain(why) for axis, why in self.gaps.items()},
            "robustness": self.robustness,
            "fairness": self.fairness,
            "asking": dict(self.asking),
            **self._asked(),
            "estimate": self.estimate and to_plain(self.estimate),
            "hints": list(self.hints),
        }

    def _asked(self) -> dict[str, Any]:
        """Return what became of the answers of a model elsewhere; what all runs took stands in for the plain one's."""
        if self.asked is None:
            return {}
        took = {name: self.asking[name] for name in ("requests", "cost") if name in self.asking}
        return {**self.asked, **took}


def find_task(named: str | None, folder: Path) -> Task:
    """Find the task: a file, a starter task by name, `task.toml` beside the model, or what its manifest says."""
    manifest = read_manifest(folder)
    for name in (named, manifest.task):
        if not name:
            continue
        if Path(name).is_file():
            return read_task(Path(name))
        starter = files("quintain") / "demo_data" / name / TASK_FILE
        if name.replace("-", "").replace("_", "").isalnum() and starter.is_file():
            with as_file(starter) as path:
                return read_task(path)
        if name == named:
            raise NotFound("There is no task file '{name}'.", name=name, remedy="Name a TOML file or a starter task.")
    if (folder / TASK_FILE).is_file():
        return read_task(folder / TASK_FILE)
    raise BadInput(
        "It is not known which task the model is for.",
        remedy="Name its file with --task, put task.toml beside the model, or set `task` in quintain.toml.",
    )


def evaluate_locally(
    folder: Path,
    data: Path,
    task: Task,
    conditions: Conditions,
    *,
    plan: ImportPlan | None = None,
    quick: bool = False,
    progress: Progress | None = None,
    warn: Callable[[CostEstimate], None] | None = None,
    refusals: str = WRONG,
) -> LocalReport:
    """Run the model in *folder* on the examples in *data* and score it; *quick* leaves the perturbations out.

    *warn* is told what the calls of a chat model may cost, before the first of them. *refusals* says whether what it
    refuses is wrong, or left apart.
    """
    if not folder.is_dir():
        raise NotFound("There is no folder {folder}.", folder=folder, remedy="`quintain model init` makes one.")
    manifest = require_runnable(folder, task).manifest
    ADAPTERS.get(manifest.adapter)().permit(manifest.options, conditions.outside)
    plan = plan or ImportPlan(role="test", duplicates="first")
    with (
        _bench(folder, data, task, conditions, plan, progress) as opened,
        with_shots(folder, task, manifest.options, opened.examples) as shown,
    ):
        bench = replace(opened, model=replace(opened.model, folder=shown.resolve()))
        expected = bench.estimate(quick=quick)
        if expected is not None and warn is not None:
            warn(expected)
        timing, plain = bench.score()
        asked = asking_facts(timing)
        rules = ScoringRules(str(timing.get("reduce") or ""), refusals == APART)
        scored = score_table(task, bench.examples, plain, role=plan.role, rules=rules)
        measured = bench.measure(timing, plain) if bench.place == "sandbox" else {}
        shares: dict[str, Any] = {"robustness": None, "fairness": None}
        if not quick and bench.place != "file":
            shares |= _shares(bench, plain)
        return LocalReport(
            task=task.name,
            adapter=bench.model.adapter,
            file=data.name,
            rows=bench.examples.height,
            scored=scored,
            failed=plain["failure"].count(),
            measurements=without_withheld(measured),
            gaps=measurement_gaps(measured),
            asking=dict(bench.asking),
            asked=asked,
            estimate=expected,
            hints=bench.hints,
            **shares,
        )


@dataclass(frozen=True, slots=True)
class _Bench:
    """A model and examples, ready to be run on one variant after the other."""

    folder: Path
    task: Task
    model: RunnableModel
    examples: pl.DataFrame
    conditions: Conditions
    progress: Progress
    hints: Sequence[str] = ()
    asking: Counter[str] = field(default_factory=Counter)

    @property
    def place(self) -> str:
        return ADAPTERS.get(self.model.adapter).place

    def estimate(self, *, quick: bool) -> CostEstimate | None:
        """Estimate the calls; without perturbations where it has to be *quick*."""
        options, outside = self.model.options, self.conditions.outside
        tables = [(self.examples.height, self.examples)]
        return estimate(self.task, self.model.adapter, options, outside, tables, perturbed=not quick)

    def predict(self, variant: str, examples: pl.DataFrame) -> pl.DataFrame:
        return self._run(variant, examples)[1]

    def score(self) -> tuple[Mapping[str, Any], pl.DataFrame]:
        """Run the model on the plain examples; return what was measured meanwhile, and its predictions."""
        result, plain = self._run(PLAIN, self.examples)
        return result.measurements, plain

    def measure(self, scored: Mapping[str, Any], plain: pl.DataFrame) -> Mapping[str, Any]:
        """Measure the model, and count what it answered otherwise meanwhile than the *plain* run, *scored* of which."""
        result, timed = self._run(MEASURE, self.examples.sort("id").head(MEASURED_ROWS), known=scored)
        return measured_figures(result.measurements, scored, count_unlike(self.task, plain, timed))

    def _run(
        self, variant: str, examples: pl.DataFrame, known: Mapping[str, Any] | None = None
    ) -> tuple[CellResult, pl.DataFrame]:
        """Run the model, and return what came of it, and its predictions; none where nothing had to be asked."""
        out = self.folder / f"predictions-{variant}.parquet"
        inputs = self.folder / "inputs.parquet"
        examples.select("id", *(item.name for item in kind_of(self.task).fields(self.task))).write_parquet(inputs)
        job = CellJob(
            task=self.task,
            model=self.model,
            inputs=inputs,
            out=out,
            measured=variant == MEASURE,
            scored=variant == PLAIN,
            known=known or {},
            seed=VARIANT_SEED,
            limits=self.conditions.limits,
            sandbox=self.conditions.sandbox,
            outside=self._outside(),
        )
        engine = LocalEngine(Path(tempfile.gettempdir()) / "quintain-locks")
        try:
            result = engine.run(job, lambda done: self.progress(variant, done, examples.height), threading.Event())
        except RunEnded as error:
            self._add_asking(error.facts)  # what it took was spent, also where nothing came of it
            raise
        self._add_asking(result.measurements)
        return result, pl.read_parquet(out) if out.exists() else pl.DataFrame(schema=prediction_schema(self.task))

    def _add_asking(self, facts: Mapping[str, Any]) -> None:
        self.asking.update({name: facts[name] for name in ASKING if name in facts})

    def _outside(self) -> Outside:
        """Return what may be reached, with what earlier runs have left of the budget."""
        return within_budgets(self.model.options, self.conditions.outside, self.asking["spent"])


@contextmanager
def _bench(
    folder: Path, data: Path, task: Task, conditions: Conditions, plan: ImportPlan, progress: Progress | None
) -> Iterator[_Bench]:
    with tempfile.TemporaryDirectory(prefix="quintain-local-") as name:
        target = Path(name) / "examples.parquet"
        report = write_examples(data, task, plan, target)
        yield _Bench(
            folder=Path(name),
            task=task,
            model=runnable(read_manifest(folder).adapter, folder.resolve(), conditions),
            examples=pl.read_parquet(target),
            conditions=conditions,
            progress=progress or (lambda variant, done, total: None),
            hints=report.hints,
        )


def _answers(bench: _Bench, name: str, changed: pl.DataFrame) -> pl.DataFrame | None:
    """Run the model on a variant; None where it breaks the run, which counts as on a server: all answers changed."""
    try:
        return bench.predict(name, changed)
    except RunEnded as error:
        if error.outcome in OURS:
            raise
        return None


def _shares(bench: _Bench, plain: pl.DataFrame) -> dict[str, Any]:
    """Run the model on every perturbation and give the shares of unchanged answers by family."""
    source = bench.examples.sort("id").head(VARIANT_ROWS)
    tables: dict[str, list[pl.DataFrame]] = {"robustness": [], "fairness": []}
    which = str(bench.model.options.get("perturbations", "counted"))
    for variant in variants_for(bench.task, bench.model.adapter, which):
        family = family_of(variant)
        if family is None:
            continue
        name = variant.rpartition(".v")[0]
        changed = perturbed(bench.task, source, name, seed=VARIANT_SEED, language=bench.task.language)
        if changed.height:
            tables[family].append(side_by_side(name, changed, plain, _answers(bench, name, changed)))
    return {
        family: unchanged_figures(bench.task, pl.concat(parts), source["id"])
        for family, parts in tables.items()
        if parts
    }
