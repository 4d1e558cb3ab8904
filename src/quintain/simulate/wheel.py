"""Two complete rounds of the starter task with simulated people, through the real services.

Model 0 → harvest → validation → release 1 → Model 1 → writing at Model 1 → validation → release 2 → Model 2 → board.

Nothing decides how it ends but the language, the people and the services: no result is aimed at. A wheel that was
interrupted is turned on by turning it again with the same seed; with another seed, another one turns beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from quintain.compose import Workspace, make_engine
from quintain.conditions import conditions_here
from quintain.core.cells import PLAIN
from quintain.core.errors import NotFound
from quintain.core.people import OPERATOR
from quintain.core.records.release import Release
from quintain.core.records.wheel import WheelReport, WheelRound, WheelScore
from quintain.services.evaluate.cells.lifecycle import fill
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.results.compute import results
from quintain.services.house.demo import add_starter_tasks
from quintain.services.models.registry import get_model
from quintain.services.tasks.board_settings import let_score
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.quality.vmer import error_rates
from quintain.services.wheel import standings
from quintain.simulate.stations import TASK, Progress, Sizes, Wheel, wheel_at
from quintain.simulate.strangers import refuse_strangers


def simulate_rounds(
    workspace: Workspace,
    seed: int,
    sizes: Sizes | None = None,
    *,
    progress: Progress | None = None,
    anyway: bool = False,
) -> WheelReport:
    """Turn the wheel twice in *workspace*, or turn on the one that was begun with this *seed*, and evaluate.

    Where the task has rounds or validations of real people, that is refused unless they are to mix *anyway*.
    """
    with wheel_at(workspace, seed, f"sim{seed}", sizes, progress=progress) as wheel:
        if not anyway:
            _refuse_strangers(wheel)
        models, released = run_two_rounds(wheel)
        _evaluate(wheel)
        return _report(wheel, models, released)


def run_two_rounds(wheel: Wheel) -> tuple[list[str], list[Release]]:
    """Go through all stations twice, up to the third model; return the models and what was released."""
    wheel.progress("Starter task", 0, 1)
    add_starter_tasks(wheel.db, wheel.workspace.blobs, TASK)
    wheel.progress("Starter task", 1, 1)
    judges, writers = wheel.people()
    models = [wheel.model(0, [])]
    harvested = wheel.harvest(0, models[0], wheel.sizes.harvested)
    wheel.judge(0, harvested.ref, judges)
    released = [wheel.release(harvested.ref)]
    models.append(wheel.model(1, released))
    wheel.time.wait_until(days=3)
    written = wheel.open_writing(1, models[1])
    wheel.write(1, written, writers, wheel.sizes.written)
    wheel.close_writing(written)
    wheel.judge(1, written.ref, judges)
    released.append(wheel.release(written.ref))
    models.append(wheel.model(2, released))
    for release in released:
        let_score(wheel.db, OPERATOR, release.versions["test"].partition("@")[0])
    return models, released


def _refuse_strangers(wheel: Wheel) -> None:
    try:
        get_task(wheel.db, TASK)
    except NotFound:
        return
    refuse_strangers(wheel.db, TASK)


def _evaluate(wheel: Wheel) -> None:
    wheel.db.rollback()
    runs = 0

    def tell(_: str) -> None:
        nonlocal runs
        runs += 1
        wheel.progress("Evaluation", runs, runs)

    run_plain(wheel.workspace, TASK, tell=tell)
    standings.catch_up(wheel.db, wheel.workspace.blobs)


def _report(wheel: Wheel, models: list[str], released: Sequence[Release]) -> WheelReport:
    task = get_task(wheel.db, TASK)
    versions = {get_model(wheel.db, OPERATOR, ref).version.id: ref for ref in models}
    tests = {made.versions["test"]: made for made in released}
    scores = [
        WheelScore(
            versions[result.model_version_id], ref, result.metrics["macro_f1"]["value"], _classes(result.metrics)
        )
        for result in results(wheel.db, wheel.workspace.blobs, task)
        if result.model_version_id in versions and (ref := f"{TASK}/{result.dataset}@{result.number}") in tests
    ]
    rounds = [_round(wheel, made, target) for made, target in zip(released, models, strict=False)]
    return WheelReport(TASK, wheel.seed, models, rounds, scores)


def _round(wheel: Wheel, release: Release, target: str) -> WheelRound:
    rates = error_rates(wheel.db, OPERATOR, release.validation)
    rows = {split.split: split.rows for split in release.report.splits}
    return WheelRound(
        ref=release.validation,
        target=target,
        collected=rates.collected,
        vmer=rates.vmer.value,
        train=rows["train"],
        test=release.versions["test"],
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
        conditions_here(workspace.settings),
        threading.Event(),
        until_empty=True,
        task=task,
        variant=PLAIN,
        tell=tell,
    )


def _classes(metrics: Mapping[str, Any]) -> dict[str, float]:
    return {name: part["value"] for name, part in metrics["class_f1"]["parts"].items()}
