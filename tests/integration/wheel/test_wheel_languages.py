"""The wheel turned once in Chinese, Arabic, Hindi and German: people write at a model and judge; a release, a board."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace, make_engine
from quintain.conditions import conditions_here
from quintain.core.cells import PLAIN
from quintain.core.people import OPERATOR
from quintain.core.records.board import BoardView
from quintain.core.release import ReleaseSpec
from quintain.core.rounds import RoundSpec, Targets
from quintain.core.validation import ValidationPolicy
from quintain.data.plan import ImportPlan
from quintain.services.board.assemble import board
from quintain.services.board.ranking import dataset_weights, dropped_axes, rank
from quintain.services.collect.rounds import manage, prompts
from quintain.services.data.datasets import import_dataset
from quintain.services.evaluate.cells.lifecycle import fill
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.results.axis_gaps import counted_variants
from quintain.services.evaluate.results.compute import results
from quintain.services.evaluate.results.variants import LEAST_KINDS
from quintain.services.models.train import train
from quintain.services.release.releases import release
from quintain.services.tasks.board_settings import let_score
from quintain.services.tasks.definitions import get_task, put_task
from quintain.services.validate.console.manage import open_validation
from quintain.services.validate.policy import dump_policy
from quintain.services.validate.quality.vmer import error_rates
from quintain.settings import Settings
from quintain.simulate.driving import Pen, hire, judge_all, write_all
from quintain.simulate.judges import Judged
from quintain.simulate.people import SimulatedPerson, draw_people
from quintain.simulate.sentences import PLAIN as PLAINLY
from quintain.simulate.sentences import Sentence
from quintain.simulate.writers import Draft, SimulatedWriter
from tests.languages import THINGS, opinions

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["negative", "positive"]
metrics = ["accuracy", "macro_f1"]
canonical_metric = "accuracy"
"""
WRITTEN = 38
RELEASE = ReleaseSpec(seed=1, dev=0, test=24, at_chance=False, even=(), checked=(), unique_prompts=False, hidden=False)
NAMES = {"good": "positive", "bad": "negative"}


@dataclass(slots=True)
class Author:
    """Somebody who hands in what stands in a corpus, one text after the other."""

    person: SimulatedPerson
    texts: list[dict[str, str]]
    learned: list[str] = field(default_factory=list)

    def drafts(self, rng: np.random.Generator, prompt: str, aim: str | None, labels: Sequence[str]) -> Iterator[Draft]:
        """Yield the next text, with the label that it has."""
        row = self.texts.pop()
        yield Draft(Sentence(row["text"], NAMES[row["answer"]], PLAINLY), NAMES[row["answer"]])

    def learn(self, construction: str, *, fooled: bool) -> None:
        """Learn nothing: the corpus is written."""

    def confirms(self, rng: np.random.Generator, written: Sentence, aim: str) -> bool:
        """Stand by the label."""
        return True


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the wheel in a language, in a workspace of its own."""

    workspace: Workspace
    language: str
    folder: Path
    rng: np.random.Generator

    def target(self, db: Session) -> str:
        """Make the task, bring in what is learned from, and train the model to write at."""
        put_task(db, OPERATOR, f'{TASK}languages = ["{self.language}"]\n')
        learned = [{**row, "answer": NAMES[row["answer"]]} for row in opinions(self.language, half=0)]
        file = self.folder / "train.jsonl"
        pl.DataFrame(learned).write_ndjson(file)
        version = import_dataset(db, self.workspace.blobs, OPERATOR, "mood", "train", file, ImportPlan(role="train"))
        assert version.language == self.language
        assert version.report is not None
        assert version.report.hints == []
        return self.train(db, "tfidf", "model-0")

    def train(self, db: Session, baseline: str, name: str) -> str:
        """Train a baseline on the starter half."""
        return train(db, self.workspace.blobs, OPERATOR, "mood", baseline, ["mood/train"], name=name, seed=1).ref

    def write(self, db: Session, target: str) -> str:
        """Open a round with the things as prompts, and let people write what the corpus says of them."""
        spec = RoundSpec(task="mood", title="r1", attempts=1, targets=Targets("one", (target,)))
        ref = manage.put_spec(db, OPERATOR, spec).ref
        things = self.folder / "prompts.jsonl"
        things.write_text("".join(f'{{"text": "{thing}"}}\n' for thing in THINGS[self.language][1::2]), "utf-8")
        prompts.import_prompts(db, OPERATOR, ref, things, corpus="things")
        manage.open_round(db, OPERATOR, ref)
        rows = opinions(self.language, half=1)
        texts = [rows[place] for place in self.rng.permutation(len(rows)).tolist()]
        people = draw_people(self.rng, 24, name="writer")
        actors = hire(db, people)
        pens = [Pen(cast(SimulatedWriter, Author(person, texts)), actors[person.name]) for person in people]
        assert write_all(db, self.workspace.blobs, self.rng, ref, pens, WRITTEN) == WRITTEN
        manage.close_round(db, OPERATOR, ref)
        return ref

    def judge(self, db: Session, ref: str) -> str:
        """Let people judge the round; return the test set that is released."""
        meant = {row["text"]: NAMES[row["answer"]] for row in opinions(self.language, half=1)}

        def judged(rng: np.random.Generator, person: SimulatedPerson, text: str, labels: Sequence[str]) -> Judged:
            others = [label for label in labels if label != meant[text]]
            return Judged(meant[text] if person.gets(rng, hard=False) else others[0], person.takes(rng, text))

        open_validation(db, OPERATOR, ref, dump_policy(ValidationPolicy(page_size=20)), seed=1)
        people = draw_people(self.rng, 12, name="judge")
        actors = hire(db, people)
        judge_all(db, self.rng, ref, [(person, actors[person.name]) for person in people], way=judged)
        assert error_rates(db, OPERATOR, ref).collected == WRITTEN
        made = release(db, self.workspace.blobs, OPERATOR, ref, RELEASE)
        let_score(db, OPERATOR, made.versions["test"].partition("@")[0])
        return made.versions["test"]

    def evaluate(self) -> int:
        """Run the models on the test set, plain and perturbed; return how many kinds robustness rests on."""
        with self.workspace.session() as db:
            fill(db, "mood")
            kinds = counted_variants(get_task(db, "mood"))["robustness"]
        for variant in (PLAIN, *kinds):
            work(
                self.workspace.session,
                self.workspace.blobs,
                make_engine(self.workspace.settings),
                conditions_here(self.workspace.settings),
                threading.Event(),
                until_empty=True,
                task="mood",
                variant=variant,
            )
        return len(kinds)


@pytest.mark.parametrize(
    "language", ["zh", *(pytest.param(code, marks=pytest.mark.slow) for code in ("ar", "hi", "de"))]
)
def test_the_wheel_turns_in_every_script(language: str, tmp_path: Path) -> None:
    """Baselines are above chance with their intervals, robustness ranks, and fairness is no axis."""
    workspace = create_workspace(Settings(workspace=tmp_path / "workspace"))
    try:
        turn = Turn(workspace, language, tmp_path, np.random.default_rng(1))
        with workspace.session() as db:
            test = turn.judge(db, turn.write(db, turn.target(db)))
            turn.train(db, "ngram", "model-1")
        kinds = turn.evaluate()
        with workspace.session() as db:
            every = results(db, workspace.blobs, get_task(db, "mood"))
            matrix = board(db, workspace.blobs, OPERATOR, "mood")
    finally:
        workspace.close()
    of_test = [result for result in every if f"mood/{result.dataset}@{result.number}" == test]
    assert len(of_test) == 2
    for result in of_test:
        assert result.metrics["accuracy"]["low"] > 0.5
        assert result.robustness is not None
        assert result.robustness["kinds"] == kinds >= LEAST_KINDS
        assert result.robustness["share"]["low"] > 0.5
    assert dropped_axes(matrix, dataset_weights(matrix, BoardView())) == ["fairness"]
    view = BoardView(weights={"performance": 1.0, "robustness": 1.0, "throughput": 0.0, "memory": 0.0})
    assert [bool(model["rank"]) for model in rank(matrix, view).as_dict()["models"]] == [True, True]
