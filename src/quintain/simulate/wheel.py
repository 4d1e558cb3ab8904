"""Two complete rounds of the starter task with simulated people, through the real services.

Model 0 → harvest → validation → release 1 → Model 1 → writing at Model 1 → validation → release 2 → Model 2 → board.

Nothing decides how it ends but the language, the people and the services: no result is aimed at. Every station looks
first whether its result is there, and judging and writing go on where they stopped. So a wheel that was interrupted is
turned on by turning it again with the same seed; with another seed, another one turns beside it.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.compose import Workspace, conditions_of, make_engine
from quintain.core.errors import Conflict, NotFound
from quintain.core.people import OPERATOR
from quintain.core.records.release import Release
from quintain.core.records.wheel import WheelReport, WheelRound, WheelScore
from quintain.core.release import ReleaseSpec
from quintain.core.rounds import RoundSpec, RoundState, Targets
from quintain.core.validation import UnqualifyRule, ValidationPolicy
from quintain.services.collect import attempts, prompts
from quintain.services.collect import rounds as round_service
from quintain.services.evaluate.cells import fill
from quintain.services.evaluate.results import results
from quintain.services.evaluate.worker import work
from quintain.services.harvest.model import target_from_workspace
from quintain.services.harvest.run import Harvesting, harvest
from quintain.services.house.demo import add_starter
from quintain.services.models.registry import get_model
from quintain.services.models.train import train
from quintain.services.release.releases import list_releases, release
from quintain.services.tasks.board_settings import let_score
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.item_files import open_with_items
from quintain.services.validate.policy import dump_policy
from quintain.services.validate.status import progress as progress_of
from quintain.services.validate.validations import list_validations, open_validation
from quintain.services.validate.vmer import error_rates
from quintain.services.wheel import standings
from quintain.simulate.driving import Pen, hire, judge_all, write_all
from quintain.simulate.people import Crowd, SimulatedPerson, draw_people
from quintain.simulate.reviews import make_reviews
from quintain.simulate.writers import SimulatedWriter
from quintain.store.queries.evaluate.cells import PLAIN

TASK = "sentiment"
BASELINE = "ngram"
MARK = "Simulated"  # titles of rounds begin with it
# What is drawn at each station has a generator of its own, so that a wheel which is turned on draws what it would have.
STATIONS = ("people", "reviews", "judging 1", "prompts", "writing", "judging 2")

Progress = Callable[[str, int, int], None]  # the station, how much of it is done, and of how much


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is read, harvested and written, and by how many people."""

    reviews: int = 1000
    harvested: int = 400
    written: int = 300
    judges: int = 14
    writers: int = 18
    crowd: Crowd = field(default_factory=Crowd)


def turn(
    workspace: Workspace,
    seed: int,
    sizes: Sizes | None = None,
    *,
    progress: Progress | None = None,
    anyway: bool = False,
) -> WheelReport:
    """Turn the wheel twice in *workspace*, or turn on the one that was begun with this *seed*.

    Where the task has rounds or validations of real people, that is refused unless they are to mix *anyway*.
    """
    with workspace.session() as db, tempfile.TemporaryDirectory(prefix="quintain-wheel-") as folder:
        wheel = _Wheel(workspace, db, seed, sizes or Sizes(), Path(folder), progress or (lambda *_: None))
        if not anyway:
            wheel.refuse_strangers()
        return wheel.turn()


@dataclass(slots=True)
class _Wheel:
    workspace: Workspace
    db: Session
    seed: int
    sizes: Sizes
    folder: Path
    progress: Progress

    @property
    def prefix(self) -> str:
        return f"sim{self.seed}"

    def rng(self, station: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, STATIONS.index(station)])

    def refuse_strangers(self) -> None:
        try:
            get_task(self.db, TASK)
        except NotFound:
            return
        found = round_service.list_rounds(self.db, OPERATOR, TASK)
        ours = {str(one.number) for one in found if one.spec.title.startswith(MARK)}
        names = {str(one.number) for one in found}
        names |= {ref.rpartition("/")[2] for ref in list_validations(self.db, TASK)}
        strange = sorted(name for name in names - ours if not name.startswith("sim"))
        if strange:
            raise Conflict(
                "Task '{task}' has rounds of real people here, such as {ref}, and simulated ones would mix with them.",
                task=TASK,
                ref=f"{TASK}/{strange[0]}",
                remedy="Simulate in a workspace of its own, or give --anyway.",
            )

    def turn(self) -> WheelReport:
        self.progress("Starter task", 0, 1)
        add_starter(self.db, self.workspace.blobs, TASK)
        self.progress("Starter task", 1, 1)
        judges, writers = self.people()
        models = [self.model(0, [])]
        first = self.harvest_round(models[0], judges)
        models.append(self.model(1, [first]))
        second = self.written_round(models[1], judges, writers)
        models.append(self.model(2, [first, second]))
        for made in (first, second):
            let_score(self.db, OPERATOR, made.versions["test"].partition("@")[0])
        self.evaluate()
        return self.report(models, [first, second])

    def people(self) -> tuple[list[SimulatedPerson], list[SimulatedPerson]]:
        rng = self.rng("people")
        judges = draw_people(rng, self.sizes.judges, name=f"{self.prefix}-judge", crowd=self.sizes.crowd)
        writers = draw_people(rng, self.sizes.writers, name=f"{self.prefix}-writer", crowd=self.sizes.crowd)
        return judges, writers

    def model(self, number: int, released: Sequence[Release]) -> str:
        """Train a model, from scratch, on the starter data and on what was released so far."""
        name = f"{self.prefix}-model-{number}"
        try:
            return get_model(self.db, OPERATOR, f"{TASK}/{name}").version.ref
        except NotFound:
            self.progress(f"Model {number}", 0, 1)
        data = [f"{TASK}/train", *(one.versions["train"] for one in released)]
        made = train(self.db, self.workspace.blobs, OPERATOR, TASK, BASELINE, data, name=name, seed=self.seed)
        self.progress(f"Model {number}", 1, 1)
        return made.ref

    def harvest_round(self, target: str, judges: Sequence[SimulatedPerson]) -> Release:
        ref = f"{TASK}/{self.prefix}-harvest"
        if ref not in list_validations(self.db, TASK):
            self.progress("Harvest", 0, 1)
            corpus, sample = self.folder / "reviews.jsonl", self.folder / "sample.jsonl"
            _write(corpus, (one.row() for one in make_reviews(self.rng("reviews"), self.sizes.reviews)))
            model = target_from_workspace(self.db, self.workspace.blobs, OPERATOR, target)
            harvest([corpus], model, sample, Harvesting(size=self.sizes.harvested, seed=self.seed))
            blobs = self.workspace.blobs
            open_with_items(self.db, blobs, OPERATOR, ref, self.policy(), seed=self.seed, items=sample)
            self.progress("Harvest", 1, 1)
        return self.judged(ref, "judging 1", judges, f"{self.prefix}-round-1")

    def written_round(
        self, target: str, judges: Sequence[SimulatedPerson], writers: Sequence[SimulatedPerson]
    ) -> Release:
        title = f"{MARK} people write at {target.partition('@')[0].rpartition('/')[2]}"
        found = [one for one in round_service.list_rounds(self.db, OPERATOR, TASK) if one.spec.title == title]
        info = found[0] if found else self.begin_round(title, target)
        if info.state is RoundState.DRAFT:
            self.give_prompts(info.ref)
            info = round_service.open_round(self.db, OPERATOR, info.ref)
        if info.state is RoundState.OPEN:
            self.write(info.ref, writers)
            round_service.close_round(self.db, OPERATOR, info.ref)
        if info.ref not in list_validations(self.db, TASK):
            open_validation(self.db, OPERATOR, info.ref, self.policy(), seed=self.seed)
        return self.judged(info.ref, "judging 2", judges, f"{self.prefix}-round-2")

    def begin_round(self, title: str, target: str) -> round_service.RoundInfo:
        """Add a round in which every prompt is tried once: dev and test take no prompt twice."""
        spec = RoundSpec(task=TASK, title=title, attempts=1, targets=Targets("one", (target,)))
        return round_service.put_spec(self.db, OPERATOR, spec)

    def give_prompts(self, ref: str) -> None:
        """Give a round its prompts, as far as it has them not."""
        file = self.folder / "prompts.jsonl"
        reviews = make_reviews(self.rng("prompts"), self.sizes.written)
        _write(file, ({"text": sentence.text} for one in reviews for sentence in one.sentences))
        prompts.import_prompts(self.db, OPERATOR, ref, file, corpus=self.prefix)

    def write(self, ref: str, writers: Sequence[SimulatedPerson]) -> None:
        before, wanted = attempts.counters(self.db, OPERATOR, ref).attempts, self.sizes.written
        actors = hire(self.db, writers)
        # Whoever goes on draws further, so that nothing is written twice.
        rng = np.random.default_rng([self.seed, STATIONS.index("writing"), before])
        pens = [Pen(SimulatedWriter(one), actors[one.name]) for one in writers]

        def done(made: int) -> None:
            self.progress("Writing", before + made, wanted)

        write_all(self.db, self.workspace.blobs, rng, ref, pens, wanted - before, done=done)

    def judged(self, ref: str, station: str, judges: Sequence[SimulatedPerson], name: str) -> Release:
        """Have a validation judged and released, as far as it is not."""
        made = list_releases(self.db, OPERATOR, ref).releases
        if made:
            return made[-1]
        actors = hire(self.db, judges)
        found = progress_of(self.db, OPERATOR, ref)
        wanted, before = found.items * ValidationPolicy().judgements, found.judgements

        def done(count: int) -> None:
            self.progress(f"{station.capitalize()}", before + count, wanted)

        judge_all(self.db, self.rng(station), ref, [(one, actors[one.name]) for one in judges], done=done)
        spec = ReleaseSpec(name=name, seed=self.seed)
        return release(self.db, self.workspace.blobs, OPERATOR, ref, spec)

    def policy(self) -> str:
        """Judge everything, and unqualify whoever surely agrees with the others on less than seven of ten."""
        rules = (UnqualifyRule("wilson", limit=0.7),)
        return dump_policy(ValidationPolicy(items="all", page_size=20, rules=rules))

    def evaluate(self) -> None:
        self.db.rollback()
        runs = 0

        def tell(_: str) -> None:
            nonlocal runs
            runs += 1
            self.progress("Evaluation", runs, runs)

        run_plain(self.workspace, TASK, tell=tell)
        standings.catch_up(self.db, self.workspace.blobs)

    def report(self, models: list[str], released: Sequence[Release]) -> WheelReport:
        task = get_task(self.db, TASK)
        versions = {get_model(self.db, OPERATOR, ref).version.id: ref for ref in models}
        tests = {made.versions["test"]: made for made in released}
        scores = [
            WheelScore(versions[one.model_version_id], ref, one.metrics["macro_f1"]["value"], _classes(one.metrics))
            for one in results(self.db, self.workspace.blobs, task)
            if one.model_version_id in versions and (ref := f"{TASK}/{one.dataset}@{one.number}") in tests
        ]
        rounds = [self.round(made, target) for made, target in zip(released, models, strict=False)]
        return WheelReport(TASK, self.seed, models, rounds, scores)

    def round(self, made: Release, target: str) -> WheelRound:
        rates = error_rates(self.db, OPERATOR, made.validation)
        rows = {one.split: one.rows for one in made.report.splits}
        return WheelRound(
            ref=made.validation,
            target=target,
            collected=rates.collected,
            vmer=rates.vmer.value,
            train=rows["train"],
            test=made.versions["test"],
            rows=rows["test"],
        )


def run_plain(workspace: Workspace, task: str, *, tell: Callable[[str], None] = lambda _: None) -> int:
    """Run what the scores of *task* rest on, in this process; perturbations and measurements are left to workers."""
    with workspace.session() as db:
        fill(db, task)
    return work(
        workspace.session,
        workspace.blobs,
        make_engine(workspace.settings),
        conditions_of(workspace.settings),
        threading.Event(),
        until_empty=True,
        task=task,
        variant=PLAIN,
        tell=tell,
    )


def _classes(metrics: Mapping[str, Any]) -> dict[str, float]:
    return {name: part["value"] for name, part in metrics["class_f1"]["parts"].items()}


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
