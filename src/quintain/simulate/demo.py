"""The demo's life: the wheel turned twice, work that waits for the visitor, and people who answer them.

The first two rounds are released. A third, harvested one is judged and waits for its release; the fourth is being
judged, with pages left for the visitor; the fifth is open for writing; and experts are asked about sentences on which
judges could not agree. A contest of builders and breakers is over, with its results. As long as the demo runs,
simulated judges answer what the visitor writes, so that one sentence's whole life can be watched.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.core.spec import plain
from quintain.core.validation import ValidationPolicy, ValidationState
from quintain.engine.loops import Each, Loop
from quintain.protocols.crowd.forecast import run_trial
from quintain.protocols.reading import shipped
from quintain.protocols.spec import Protocol
from quintain.services.collect.rounds import round_figures
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.evaluate.cells.lifecycle import fill
from quintain.services.house.demo import MIXED
from quintain.services.models.registry import get_model
from quintain.services.plain.reports.trials import arms_of
from quintain.services.trial.trials import keep_simulated, list_trials
from quintain.services.validate.console.item_files import open_with_items
from quintain.services.validate.console.manage import find_validation, list_validations
from quintain.services.validate.console.status import progress as progress_of
from quintain.simulate.contest import play_contest
from quintain.simulate.driving import Wait, at_once, hire, judge_all
from quintain.simulate.handwritten import HandwrittenCorpus
from quintain.simulate.people import SimulatedPerson
from quintain.simulate.progress import (
    CONTEST,
    HARVEST,
    JUDGEMENT,
    MODEL,
    RELEASE,
    STARTER,
    TEXT,
    TRIAL,
    BuildProgress,
    TimedStation,
)
from quintain.simulate.stations import TASK, Progress, Sizes, Wheel, draw_crowd, model_name, wheel_at
from quintain.simulate.strangers import MARK
from quintain.simulate.wheel import run_two_rounds
from quintain.store.queries.validate import judgements
from quintain.tasks.writing import dump_toml

NAME = "baseline-or-crowd"
TITLE = "Simulated trial: BASELINE beside CROWD"
WORKERS = 60
ITEMS = 240
OFTEN = 120
TRIAL_SEED = 11


def add_trial(workspace: Workspace, task: str) -> None:
    """Run the trial and keep it, unless it is there already."""
    with workspace.session() as db:
        if any(trial.name == NAME for trial in list_trials(db, OPERATOR, task)):
            return
        protocols = [_small(shipped()[name]) for name in ("baseline", "crowd")]
        arms = arms_of(run_trial(protocols, WORKERS, TRIAL_SEED))
        texts = [dump_toml(plain(protocol)) for protocol in protocols]
        keep_simulated(db, workspace.blobs, OPERATOR, (task, NAME), [*zip(texts, arms, strict=True)], title=TITLE)


def _small(protocol: Protocol) -> Protocol:
    """Ask for fewer items in the final round, and judge fewer of them often."""
    stages = tuple(
        replace(stage, writing=replace(stage.writing, wanted=ITEMS))
        if stage.writing is not None and stage.writing.final
        else stage
        for stage in protocol.stages
    )
    return replace(protocol, stages=stages, validation=replace(protocol.validation, sample=OFTEN))


SEED = 3
PAGE = 10  # texts on a page that the visitor judges
MIXED_TEXTS = 45
DAYS = 13.0
ERRING = "tfidf"
LONGEST_PAGE_SECONDS = 5.0
LAZY = 0.5  # of the time, from which on somebody is none of the crew
CREW_SECONDS = 5.0  # between two looks for something to judge
log = logging.getLogger("quintain.demo")


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much of everything there is: sentences that wait for their release, texts to judge, texts that are written.

    Of the texts to judge, so many *pages* of ten are judged: some items are complete, and some wait.
    """

    wheel: Sizes = field(
        default_factory=lambda: Sizes(
            harvested=385,
            written=310,
            dev=9,
            test=108,
            judges=12,
            writers=12,
            corpus=HandwrittenCorpus(SEED, reviews={0: 160, 2: 60}, prompts={1: 165, 3: 33, 4: 20}),
        )
    )
    ready: int = 110
    judged: int = 45
    pages: int = 16
    written: int = 24

    def progress(self) -> BuildProgress:
        """Return the stages that a build goes through, with what each takes."""
        votes = ValidationPolicy().judgements
        texts = {"harvested": self.wheel.harvested, "ready": self.ready}
        judged = {name: TimedStation("Judging", JUDGEMENT * votes * size) for name, size in texts.items()}
        return BuildProgress(
            [
                TimedStation("Starter task", STARTER),
                TimedStation("Model 0", MODEL),
                TimedStation("Harvest", HARVEST),
                judged["harvested"],
                TimedStation("Model 1", RELEASE + MODEL),
                *_written(self.wheel.written, votes * self.wheel.written),
                TimedStation("Model 2", RELEASE + MODEL),
                TimedStation("Harvest", HARVEST),
                judged["ready"],
                *_written(self.judged, PAGE * self.pages),
                TimedStation("Judging", JUDGEMENT * votes * MIXED_TEXTS),
                *_written(self.written, votes * self.written),
                TimedStation("Contest", CONTEST),
                TimedStation("Trial", TRIAL),
            ]
        )


def _written(texts: int, judgements: int) -> list[TimedStation]:
    return [TimedStation("Writing", TEXT * texts), TimedStation("Judging", JUDGEMENT * judgements)]


@dataclass(frozen=True, slots=True)
class DemoStage:
    """What a step finds: the wheel that was turned twice, the model that came of it, and people."""

    wheel: Wheel
    amounts: Amounts
    target: str
    judges: Sequence[SimulatedPerson]
    writers: Sequence[SimulatedPerson]


def simulate_activity(
    workspace: Workspace, *, amounts: Amounts | None = None, progress: Progress | None = None
) -> None:
    """Turn the wheel twice, and go through all steps; what is there already is left as it is."""
    amounts = amounts or Amounts()
    with wheel_at(workspace, SEED, "", amounts.wheel, days=DAYS, progress=progress) as wheel:
        models, _ = run_two_rounds(wheel)
        judges, writers = wheel.people()
        stage = DemoStage(wheel, amounts, models[-1], judges, writers)
        for day, step in STEPS:
            wheel.time.wait_until(days=day)
            step(stage)
    report = progress or (lambda *_: None)
    report("Contest", 0, 1)
    play_contest(workspace)
    report("Trial", 0, 1)
    add_trial(workspace, TASK)
    report("Trial", 1, 1)
    with workspace.session() as db:
        fill(db)  # whoever computes already learns of all that is new


def _harvest_to_release(stage: DemoStage) -> None:
    """Harvest with a model that errs on every class: where it does not, it cannot be at chance in dev and test."""
    wheel = stage.wheel
    target = get_model(wheel.db, OPERATOR, f"{TASK}/{ERRING}").version.ref
    harvested = wheel.harvest(2, target, stage.amounts.ready)
    if progress_of(wheel.db, OPERATOR, harvested.ref).judgements:
        return
    wheel.judge(2, harvested.ref, stage.judges)
    wheel.adjudicate_rest(harvested.ref)


def _texts_to_judge(stage: DemoStage) -> None:
    wheel = stage.wheel
    written = wheel.open_writing(3, stage.target)
    wheel.write(3, written, stage.writers, stage.amounts.judged)
    wheel.close_writing(written, page=PAGE)
    if not progress_of(wheel.db, OPERATOR, written.ref).judgements:
        wheel.judge(3, written.ref, stage.judges, pages=stage.amounts.pages)


def _items_to_decide(stage: DemoStage) -> None:
    """Have sentences judged that praise and blame at once: people do not agree on all of them."""
    wheel, ref = stage.wheel, f"{TASK}/{MIXED.name}"
    if ref in list_validations(wheel.db, TASK):
        return
    blobs, policy = wheel.workspace.blobs, wheel.policy()
    open_with_items(wheel.db, blobs, OPERATOR, ref, policy, seed=SEED, dataset=f"{TASK}/{MIXED.name}")
    wheel.judge(5, ref, stage.judges)


def _model_to_fool(stage: DemoStage) -> None:
    wheel = stage.wheel
    written = wheel.open_writing(4, stage.target, title=f"Fool {model_name(stage.target)}")
    if round_figures.counters(wheel.db, OPERATOR, written.ref).attempts:
        return
    wheel.write(4, written, stage.writers, stage.amounts.written)
    wheel.let_judge(written, page=PAGE)
    wheel.judge(4, written.ref, stage.judges)


# What happens after the wheel was turned, and on which day of it. A step leaves alone what it finds done.
STEPS: tuple[tuple[float, Callable[[DemoStage], None]], ...] = (
    (7, _harvest_to_release),
    (9, _texts_to_judge),
    (9, _items_to_decide),
    (12, _model_to_fool),
)


@contextmanager
def run_crew(workspace: Workspace) -> Iterator[None]:
    """Let simulated judges answer what is written, until the demo ends."""
    stop, rng = threading.Event(), np.random.default_rng()

    def judge(each: Each) -> None:
        judge_what_waits(workspace, rng, lambda seconds: _linger(stop, seconds))

    loop = Loop("crew of the demo", judge, every=CREW_SECONDS, logger=log)
    with workspace.loops.holding(loop):
        crew = loop.start(stop, after=CREW_SECONDS)
        try:
            yield
        finally:
            stop.set()
            crew.join(10)


def _linger(stop: threading.Event, seconds: float) -> None:
    """Take a little of the time that somebody would: whoever answers at once does not read."""
    stop.wait(min(seconds, LONGEST_PAGE_SECONDS))


def judge_what_waits(workspace: Workspace, rng: np.random.Generator, wait: Wait = at_once) -> int:
    """Let the crew judge every open validation that is not left to the visitor; give how many judgements they gave."""
    judges, _ = draw_crowd(SEED, "", Amounts().wheel)
    with workspace.session() as db:
        actors = hire(db, judges)
        simulated = {actor.user_id for actor in actors.values()}
        theirs = [ref for ref in list_validations(db, TASK) if _is_theirs(db, ref, simulated)]
        people = [(judge, actors[judge.name]) for judge in judges if judge.laziness < LAZY]
        return sum(judge_all(db, rng, ref, people, wait=wait) for ref in theirs)


def _is_theirs(db: Session, ref: str, simulated: set[int | None]) -> bool:
    """Whether the crew judges there; what simulated people wrote is left until the visitor has had a turn."""
    validation = find_validation(db, ref)
    if validation.state is not ValidationState.OPEN:
        return False
    titles = {info.ref: info.spec.title for info in list_rounds(db, OPERATOR, TASK)}
    if not titles.get(ref, "").startswith(MARK):
        return True
    return bool(set(judgements.table(db, validation.id).user.tolist()) - simulated)
