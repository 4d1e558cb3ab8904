"""The stations of a wheel, each driven by simulated people through the real services.

Every station looks first whether its result is there, and judging and writing go on where they stopped. So a wheel
that was interrupted is turned on by turning it again with the same seed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, NotFound
from quintain.core.people import OPERATOR
from quintain.core.records.release import Release
from quintain.core.release import ReleaseSpec
from quintain.core.rounds import RoundSpec, RoundState, Targets
from quintain.core.validation import UnqualifyRule, ValidationPolicy
from quintain.services.collect.rounds import manage as round_service
from quintain.services.collect.rounds import prompts, round_figures
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.harvest.model import sentence_field
from quintain.services.harvest.run import Harvesting, harvest
from quintain.services.harvest.stored_model import target_from_workspace
from quintain.services.models.registry import get_model
from quintain.services.models.train import train
from quintain.services.release.releases import list_releases, release
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.console.harvests import add_harvest
from quintain.services.validate.console.manage import list_validations, open_validation
from quintain.services.validate.console.status import progress as progress_of
from quintain.services.validate.judging import adjudicate
from quintain.services.validate.policy import dump_policy
from quintain.simulate.clock import SimulatedClock
from quintain.simulate.driving import Pen, hire, judge_all, write_all
from quintain.simulate.handwritten import HandwrittenCorpus
from quintain.simulate.language import make_reviews
from quintain.simulate.people import SimulatedCrowd, SimulatedPerson, draw_people
from quintain.simulate.sentences import Review
from quintain.simulate.strangers import MARK
from quintain.simulate.understanding import gist
from quintain.simulate.writers import SimulatedWriter
from quintain.store.base import clock, now

TASK = "sentiment"
BASELINE = "ngram"
DRAWS = 4  # of a release, until one gives nothing away
TOO_FEW = ("splits_clash", "gives_away")  # the sizes that were asked for cannot be reached
DAYS = 8.0  # a wheel began so long ago
# What is drawn at each station has a generator of its own, so that a wheel which is turned on draws what it would have.
STATIONS = ("people", "reviews", "judging", "prompts", "writing")

Progress = Callable[[str, int, int], None]  # the station, how much of it is done, and of how much


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is read, harvested, written and held out, and by how many people.

    Without a *corpus*, so many *reviews*, and the prompts, are written in the language of `simulate.language`. *dev*
    and *test* are sizes of a release; None leaves them to its rule.
    """

    reviews: int = 1000
    harvested: int = 400
    written: int = 300
    dev: int | None = None
    test: int | None = None
    judges: int = 14
    writers: int = 18
    crowd: SimulatedCrowd = field(default_factory=SimulatedCrowd)
    corpus: HandwrittenCorpus | None = None


@contextmanager
def wheel_at(
    workspace: Workspace,
    seed: int,
    prefix: str,
    sizes: Sizes | None = None,
    *,
    days: float = DAYS,
    progress: Progress | None = None,
) -> Iterator[Wheel]:
    """Yield a wheel to turn step by step, as if it had been begun so many *days* ago.

    Names of models and people begin with *prefix*, where it is not empty.
    """
    time = SimulatedClock(now() - timedelta(days=days))
    with workspace.session() as db, tempfile.TemporaryDirectory(prefix="quintain-wheel-") as folder, clock(time):
        report = progress or (lambda *_: None)
        yield Wheel(workspace, db, seed, prefix, sizes or Sizes(), time, Path(folder), report)


@dataclass(slots=True)
class Wheel:
    """A wheel: whose it is, and its stations. A *turn* is the number of the model that it is aimed at."""

    workspace: Workspace
    db: Session
    seed: int
    prefix: str
    sizes: Sizes
    time: SimulatedClock
    folder: Path
    progress: Progress

    def named(self, what: str) -> str:
        """Return the name of something of this wheel."""
        return _named(self.prefix, what)

    def rng(self, station: str, *where: int) -> np.random.Generator:
        """Return the generator of a station, of a turn or of what is left there."""
        return _generator(self.seed, station, *where)

    def people(self) -> tuple[list[SimulatedPerson], list[SimulatedPerson]]:
        """Draw the judges and the writers."""
        return draw_crowd(self.seed, self.prefix, self.sizes)

    def reviews(self, turn: int) -> Iterable[Review]:
        """Return the reviews that a turn harvests from."""
        if self.sizes.corpus is not None:
            return self.sizes.corpus.reviews_of(turn)
        return make_reviews(self.rng("reviews", turn), self.sizes.reviews)

    def prompts(self, turn: int) -> Iterable[str]:
        """Return the texts that writers of a turn begin with."""
        if self.sizes.corpus is not None:
            return self.sizes.corpus.prompts_of(turn)
        reviews = make_reviews(self.rng("prompts", turn), self.sizes.written)
        return (sentence.text for review in reviews for sentence in review.sentences)

    def model(self, number: int, released: Sequence[Release]) -> str:
        """Train a model, from scratch, on the starter data and on what was released so far."""
        name = self.named(f"model-{number}")
        try:
            return get_model(self.db, OPERATOR, f"{TASK}/{name}").version.ref
        except NotFound:
            self.progress(f"Model {number}", 0, 1)
        data = [f"{TASK}/train", *(one.versions["train"] for one in released)]
        trained = train(self.db, self.workspace.blobs, OPERATOR, TASK, BASELINE, data, name=name, seed=self.seed)
        self.progress(f"Model {number}", 1, 1)
        return trained.ref

    def harvest(self, turn: int, target: str, size: int) -> RoundInfo:
        """Harvest a round of *size* sentences with the model *target*, whose validation is open."""
        title = f"{MARK} reviews, harvested with {model_name(target)}"
        existing = self.find(title)
        if existing is not None:
            return existing
        self.progress("Harvest", 0, 1)
        corpus, sample = self.folder / "reviews.jsonl", self.folder / "sample.jsonl"
        _write(corpus, (review.row() for review in self.reviews(turn)))
        model = target_from_workspace(self.db, self.workspace.blobs, OPERATOR, target, runners=self.workspace.runners)
        harvest([corpus], model, sample, Harvesting(size=size, seed=self.seed))
        added = add_harvest(
            self.db, OPERATOR, TASK, sample, title=title, model=target, policy_toml=self.policy(), seed=self.seed
        )
        self.progress("Harvest", 1, 1)
        return added

    def open_writing(self, turn: int, target: str, title: str = "") -> RoundInfo:
        """Open a round in which everybody tries a prompt once: dev and test take one text of it at most."""
        title = title or f"{MARK} people write at {model_name(target)}"
        info = self.find(title)
        if info is None:
            spec = RoundSpec(task=TASK, title=title, attempts=1, targets=Targets("one", (target,)))
            info = round_service.put_spec(self.db, OPERATOR, spec)
        if info.state is not RoundState.DRAFT:
            return info
        file = self.folder / "prompts.jsonl"
        _write(file, ({"text": text} for text in self.prompts(turn)))
        prompts.import_prompts(self.db, OPERATOR, info.ref, file, corpus=self.named(f"corpus-{turn}"))
        return round_service.open_round(self.db, OPERATOR, info.ref)

    def write(self, turn: int, info: RoundInfo, writers: Sequence[SimulatedPerson], goal: int) -> None:
        """Have so many texts written in a round that is open, as far as they are not there."""
        if info.state is not RoundState.OPEN:
            return
        before = round_figures.counters(self.db, OPERATOR, info.ref).attempts
        actors = hire(self.db, writers)
        # Whoever goes on draws further, so that nothing is written twice.
        rng = self.rng("writing", turn, before)
        pens = [Pen(SimulatedWriter(writer), actors[writer.name]) for writer in writers]

        def done(count: int) -> None:
            self.progress("Writing", before + count, goal)

        write_all(
            self.db, self.workspace.blobs, rng, info.ref, pens, max(goal - before, 0), wait=self.time.wait, done=done
        )

    def close_writing(self, info: RoundInfo, page: int = 20) -> None:
        """Close a round that is open, and let people judge what was written."""
        if info.state is RoundState.OPEN:
            round_service.close_round(self.db, OPERATOR, info.ref)
        self.let_judge(info, page)

    def let_judge(self, info: RoundInfo, page: int = 20) -> None:
        """Open the validation of a round, with pages of so many items, unless it is there."""
        if info.ref not in list_validations(self.db, TASK):
            open_validation(self.db, OPERATOR, info.ref, self.policy(page), seed=self.seed)

    def judge(self, turn: int, ref: str, judges: Sequence[SimulatedPerson], pages: int | None = None) -> None:
        """Have a validation judged, to the end or so many pages of it, and go on where it was interrupted."""
        actors = hire(self.db, judges)
        state = progress_of(self.db, OPERATOR, ref)
        goal, before = state.items * ValidationPolicy().judgements, state.judgements

        def done(count: int) -> None:
            self.progress("Judging", before + count, goal)

        people = [(judge, actors[judge.name]) for judge in judges]
        judge_all(self.db, self.rng("judging", turn, before), ref, people, pages=pages, wait=self.time.wait, done=done)

    def release(self, ref: str) -> Release:
        """Release a validation, unless it was."""
        releases = list_releases(self.db, OPERATOR, ref).releases
        if releases:
            return releases[-1]
        seeds = range(self.seed, self.seed + DRAWS)
        sized = [ReleaseSpec(seed=seed, dev=self.sizes.dev, test=self.sizes.test) for seed in seeds]
        # Models are not quite the same on every machine: rather a smaller test set than none.
        *others, last = [*sized, *(ReleaseSpec(seed=seed) for seed in seeds)]
        for spec in others:
            try:
                return release(self.db, self.workspace.blobs, OPERATOR, ref, spec)
            except BadInput as error:
                if error.code not in TOO_FEW:
                    raise
        return release(self.db, self.workspace.blobs, OPERATOR, ref, last)

    def adjudicate_rest(self, ref: str) -> None:
        """Have an expert decide what judges could not agree on."""
        for item in adjudicate.adjudication_queue_of(self.db, OPERATOR, ref, limit=1000):
            meant = gist(str(item.inputs[sentence_field(get_task(self.db, TASK))]))
            if meant in item.labels:
                adjudicate.adjudicate(self.db, OPERATOR, ref, item.id, meant)

    def policy(self, page: int = 20) -> str:
        """Judge everything, and unqualify whoever surely agrees with the others on less than seven of ten."""
        return dump_policy(ValidationPolicy(page_size=page, rules=(UnqualifyRule("wilson", limit=0.7),)))

    def find(self, title: str) -> RoundInfo | None:
        """Find a round of the task by its title."""
        rounds = round_service.list_rounds(self.db, OPERATOR, TASK)
        return next((one for one in rounds if one.spec.title == title), None)


def draw_crowd(seed: int, prefix: str, sizes: Sizes) -> tuple[list[SimulatedPerson], list[SimulatedPerson]]:
    """Draw the judges and the writers of a wheel."""
    rng = _generator(seed, "people")
    judges = draw_people(rng, sizes.judges, name=_named(prefix, "judge"), crowd=sizes.crowd)
    return judges, draw_people(rng, sizes.writers, name=_named(prefix, "writer"), crowd=sizes.crowd)


def _named(prefix: str, what: str) -> str:
    return f"{prefix}-{what}" if prefix else what


def _generator(seed: int, station: str, *where: int) -> np.random.Generator:
    return np.random.default_rng([seed, STATIONS.index(station), *where])


def model_name(ref: str) -> str:
    """Return the name in a reference to a model.

    >>> model_name("sentiment/model-1@2")
    'model-1'
    """
    return ref.partition("@")[0].rpartition("/")[2]


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
