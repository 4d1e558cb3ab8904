"""Learners: what they learn from votes, when they stop, what they keep, and going on after they were killed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from quintain.core.errors import BadInput, NotFound
from quintain.core.spec import options_of
from quintain.core.task import Label, Task
from quintain.data.mixing import Mix
from quintain.models.contract import load
from quintain.models.learning import LEARNERS, Learner, Lesson, Lessons, make_learner
from tests.tiny_models import tiny_bert

LABELS = ("negative", "neutral", "positive")
TASK = Task(
    name="mood",
    kind="text-classification",
    title={"en": "Mood"},
    labels=tuple(Label(one) for one in LABELS),
    options={},
)
ROWS = [
    (f"the {thing} was {word}", label)
    for thing in ("food", "service", "soup", "plain monday")
    for word, label in (
        ("good", 2),
        ("great", 2),
        ("lovely", 2),
        ("bad", 0),
        ("awful", 0),
        ("cold", 0),
        ("so so", 1),
        ("plain", 1),
        ("on monday", 1),
    )
]


def mix_of_rows(rows: list[tuple[str, int]], weights: list[float] | None = None) -> Mix:
    """Make a mix with an answer for each row."""
    says = np.eye(3, dtype=np.float32)[[label for _, label in rows]]
    return Mix(
        LABELS,
        pl.DataFrame({"text": [text for text, _ in rows]}),
        says,
        np.ones(len(rows), dtype=np.int64),
        np.array(weights or [1.0] * len(rows), dtype=np.float32),
        np.zeros(len(rows), dtype=np.bool_),
    )


DEV = pl.DataFrame({"text": [text for text, _ in ROWS], "answer": [LABELS[label] for _, label in ROWS]})
OPTIONS: dict[str, dict[str, Any]] = {
    "linear": {},
    "transformers": {"rate": 0.01, "epochs": 6, "batch": 4, "dropout": 0.0, "device": "cpu"},
    "embeddings": {"strength": 1000.0, "device": "cpu"},
}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Tiny models are slower on several threads."""
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)


def learner_called(name: str, tmp_path: Path, **more: Any) -> Learner:
    """Make a learner; one that needs a checkpoint gets a tiny one."""
    options = {**OPTIONS.get(name, {}), **more}
    if "checkpoint" in options_of(LEARNERS.get(name).options):
        options.setdefault("checkpoint", str(tiny_bert(tmp_path / "checkpoint")))
    return make_learner(name, options)


def right(lessons: Lessons) -> float:
    """Give the share of right answers on the rows."""
    answers = lessons.handler.predict([{"text": text} for text, _ in ROWS])
    found = [max(answer, key=answer.get) for answer in answers]
    return float(np.mean([one == LABELS[label] for one, (_, label) in zip(found, ROWS, strict=True)]))


@pytest.mark.parametrize("name", LEARNERS.names())
def test_every_learner_learns_and_keeps_checkpoints(name: str, tmp_path: Path) -> None:
    """It beats chance on what it was shown, keeps a folder at each share, and compares epochs on the dev examples."""
    learner = learner_called(name, tmp_path)
    learner.check_trainable(TASK, None)
    seen: list[float] = []
    lesson = Lesson(
        TASK,
        mix_of_rows(ROWS),
        tmp_path / "place",
        dev=DEV,
        checkpoints=(0.01, 0.05),
        progress=seen.append,
    )
    lessons = learner.learn(lesson)
    assert right(lessons) > 0.6
    assert [one.share for one in lessons.models] == [0.01, 0.05, None]
    assert all(any(one.folder.iterdir()) for one in lessons.models)
    assert lessons.best is not None
    assert lessons.scores[lessons.best - 1] == max(lessons.scores)
    assert seen == sorted(seen)
    assert 0 <= seen[0] < seen[-1] <= 1


@pytest.mark.parametrize("name", LEARNERS.names())
def test_every_learner_stops_without_gain_and_goes_on_from_a_model(name: str, tmp_path: Path) -> None:
    """With patience it ends early; the model that it wrote can be gone on from."""
    learner = learner_called(name, tmp_path)
    first = learner.learn(Lesson(TASK, mix_of_rows(ROWS), tmp_path / "first", dev=DEV, patience=1))
    assert first.best is not None
    assert first.epochs <= first.best + 1
    folder = first.models[-1].folder
    learner.check_trainable(TASK, folder)
    again = learner.learn(Lesson(TASK, mix_of_rows(ROWS), tmp_path / "second", start=folder))
    assert right(again) > 0.6


def test_a_weight_counts_as_that_many_copies(tmp_path: Path) -> None:
    """Two rows of weight one teach nearly the same as one of weight two, where the order plays no part."""
    once = mix_of_rows([*ROWS[:9], ROWS[0]])
    weighed = mix_of_rows(ROWS[:9], [2.0, *[1.0] * 8])
    found = []
    for number, mix in enumerate((once, weighed)):
        lessons = make_learner("linear", {"features": "tfidf"}).learn(Lesson(TASK, mix, tmp_path / str(number)))
        found.append(lessons.handler.predict([{"text": ROWS[0][0]}])[0]["positive"])
    assert found[0] == pytest.approx(found[1], abs=0.05)
    assert found[1] > 0.5


def test_shares_of_votes_are_learned(tmp_path: Path) -> None:
    """A text with half of the votes for either label is answered with about as much probability for both."""
    rows = [("it was good", 2), ("it was bad", 0), ("it was plain", 1), ("good bad", 2)] * 30
    mix = mix_of_rows(rows)
    says = mix.says.copy()
    says[3::4] = [0.5, 0.0, 0.5]
    soft = Mix(LABELS, mix.table, says, mix.copies, mix.weights, (says == 0.5).any(axis=1))
    lessons = make_learner("linear", {}).learn(Lesson(TASK, soft, tmp_path))
    answer = lessons.handler.predict([{"text": "good bad"}])[0]
    assert answer["positive"] == pytest.approx(answer["negative"], abs=0.1)
    assert answer["neutral"] < 0.2


def test_a_linear_model_is_written_as_a_baseline(tmp_path: Path) -> None:
    """What `quintain train BASELINE` writes and what the learner writes are the same kind of folder."""
    lessons = make_learner("linear", {"features": "tfidf"}).learn(Lesson(TASK, mix_of_rows(ROWS), tmp_path))
    assert load(lessons.models[-1].folder).name == "tfidf"
    with pytest.raises(BadInput, match="features are 'ngram'"):
        make_learner("linear", {}).check_trainable(TASK, lessons.models[-1].folder)


class Killed(Exception):
    """Stands for a process that ends in the middle."""


def ended_after(steps: int) -> Callable[[float], None]:
    """Give a progress that ends the run after so many reports."""
    count = 0

    def report(_: float) -> None:
        nonlocal count
        count += 1
        if count == steps:
            raise Killed

    return report


def test_fine_tuning_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    """Killed twice, it ends with the weights of a run that was not, also with dropout and across an epoch's end."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from safetensors.torch import load_file

    learner = learner_called("transformers", tmp_path, epochs=3, dropout=0.3)
    whole = Lesson(TASK, mix_of_rows(ROWS), tmp_path / "whole", dev=DEV, patience=9, checkpoints=(0.5,))
    learner.learn(whole)
    broken = Lesson(TASK, mix_of_rows(ROWS), tmp_path / "broken", dev=DEV, patience=9, checkpoints=(0.5,))
    for steps in (3, 4):
        with pytest.raises(Killed):
            learner.learn(Lesson(*(getattr(broken, name) for name in broken.__slots__[:-1]), ended_after(steps)))
        torch.rand(5)
    lessons = learner.learn(broken)
    assert len(lessons.scores) == 3
    for name in ("final", "at-0.5"):
        expected, found = (load_file(tmp_path / one / name / "model.safetensors") for one in ("whole", "broken"))
        assert all(torch.equal(expected[key], found[key]) for key in expected)


def test_a_checkpoint_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    """Each missing file is named before anything is loaded; so is a folder that is not there."""
    folder = tiny_bert(tmp_path / "checkpoint")
    for path in folder.glob("*token*"):
        path.unlink()
    (folder / "vocab.txt").unlink()
    for name in ("transformers", "embeddings"):
        with pytest.raises(BadInput, match=r"tokenizer\.json.*cannot read texts without a tokenizer"):
            make_learner(name, {"checkpoint": str(folder)}).check_trainable(TASK, None)
        with pytest.raises(NotFound, match="no checkpoint folder"):
            make_learner(name, {"checkpoint": str(tmp_path / "none")}).check_trainable(TASK, None)
    with pytest.raises(BadInput, match="names no checkpoint"):
        make_learner("transformers", {}).check_trainable(TASK, None)
