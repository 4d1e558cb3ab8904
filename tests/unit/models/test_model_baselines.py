"""What every registered baseline must do, on every kind of task that it suits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quintain.core.errors import BadInput, NotFound
from quintain.core.task import Task
from quintain.models.contract import BASELINES, Baseline, baselines_for, load
from quintain.tasks.contract import KINDS, kind_of
from tests.unit.models.sample_tasks import inputs_of, table_of, task_of

PAIRS = [(kind, baseline) for kind in KINDS.names() for baseline in baselines_for(task_of(kind))]
STRANGE = [
    "",
    " ",
    "\x00",
    "\ud800",
    "é",
    "日本語のテキスト",
    "🙂" * 3,
    "a" * 5000,
    "<b>&amp;</b>",
    "\u202eabc\u0301",
    "''",
    "?!",
]


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{pair[1]}-{pair[0]}", scope="module")
def trained(request: pytest.FixtureRequest) -> tuple[Task, pl.DataFrame, Baseline]:
    """One baseline trained on one kind of task."""
    kind, baseline = request.param
    task = task_of(kind)
    table = table_of(task)
    return task, table, BASELINES.get(baseline).train(task, table, seed=1)


Trained = tuple[Task, pl.DataFrame, Baseline]


def test_every_kind_has_a_baseline() -> None:
    """No task is without something to compare with."""
    assert {kind for kind, _ in PAIRS} == set(KINDS.names())


def test_every_baseline_suits_some_kind() -> None:
    """No baseline is out of reach."""
    assert {baseline for _, baseline in PAIRS} == set(BASELINES.names())


def test_it_says_what_it_is(trained: Trained) -> None:
    """Its name is the registered one, and its card has something to say."""
    _, _, model = trained
    assert BASELINES.get(model.name) is type(model)
    assert model.title
    assert len(model.about) > 60


def test_answers_can_be_parsed(trained: Trained) -> None:
    """Every answer is one that the kind reads, in the order of the batch."""
    task, table, model = trained
    batch = inputs_of(table)
    answers = model.predict(batch)
    assert len(answers) == len(batch)
    for one, answer in zip(batch, answers, strict=True):
        kind_of(task).parse_answer(task, one, answer)


def test_labels_and_choices_come_with_probabilities(trained: Trained) -> None:
    """Whoever chooses says how sure it is."""
    task, table, model = trained
    kind = kind_of(task)
    one = inputs_of(table)[0]
    parsed = kind.parse_answer(task, one, model.predict([one])[0])
    assert (parsed.probabilities is not None) == (kind.answer_type in {"label", "choice", "choices", "token"})


def test_training_again_gives_the_same_bytes(trained: Trained, tmp_path: Path) -> None:
    """The same data and seed make the same model."""
    task, table, model = trained
    model.save(tmp_path / "one")
    type(model).train(task, table, seed=1).save(tmp_path / "two")
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "two").iterdir())
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_saved_model_answers_as_before(trained: Trained, tmp_path: Path) -> None:
    """Saving and loading loses nothing, and leaves only data behind, no code."""
    _, table, model = trained
    model.save(tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} <= {".json", ".npz"}
    assert load(tmp_path).predict(inputs_of(table)) == model.predict(inputs_of(table))


def test_answers_do_not_depend_on_the_batch(trained: Trained) -> None:
    """One at a time or all at once: the answers are the same."""
    _, table, model = trained
    batch = inputs_of(table)
    together = model.predict(batch)
    alone = [model.predict([one])[0] for one in batch]
    for one, other in zip(together, alone, strict=True):
        assert one == (pytest.approx(other, abs=1e-6) if isinstance(one, dict) and "text" not in one else other)


def test_an_empty_batch_is_fine(trained: Trained) -> None:
    """No inputs, no answers."""
    assert trained[2].predict([]) == []


@pytest.mark.parametrize("text", STRANGE)
def test_strange_texts_are_answered(trained: Trained, text: str) -> None:
    """Empty texts, other scripts, broken Unicode: there is an answer that can be parsed."""
    task, table, model = trained
    types = {field.name: field.type for field in kind_of(task).fields(task)}
    one: dict[str, Any] = {
        name: text if types[name] in {"text", "long_text"} else [text, *value[1:]] if types[name] == "texts" else value
        for name, value in inputs_of(table)[0].items()
    }
    assert kind_of(task).parse_answer(task, one, model.predict([one])[0]).answer is not None


def test_progress_goes_up_to_one(trained: Trained) -> None:
    """Progress never goes back, and ends at 1."""
    task, table, model = trained
    seen: list[float] = []
    type(model).train(task, table, seed=1, progress=seen.append)
    assert seen[-1] == 1.0
    assert seen == sorted(seen)


def test_a_baseline_that_does_not_suit_is_refused() -> None:
    """The message names those that do."""
    with pytest.raises(BadInput, match="return-context") as caught:
        BASELINES.get("majority").train(task_of("extractive-qa"), table_of(task_of("extractive-qa")))
    assert "does not suit" in caught.value.message


def test_nothing_to_train_on_is_refused() -> None:
    """No rows, or rows without answers, are not training data."""
    task = task_of("text-classification")
    table = table_of(task)
    with pytest.raises(BadInput, match="no rows"):
        BASELINES.get("majority").train(task, table.clear())
    with pytest.raises(BadInput, match="have no answer"):
        BASELINES.get("majority").train(task, table.with_columns(answer=pl.lit(None, pl.String)))


def test_an_unknown_label_is_named() -> None:
    """A typing error in the data is not learned."""
    task = task_of("text-classification")
    with pytest.raises(BadInput, match="'yse'"):
        BASELINES.get("tfidf").train(task, table_of(task).with_columns(answer=pl.lit("yse")))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    """An empty folder, a broken file and a future format are told apart."""
    with pytest.raises(NotFound, match=r"model\.json"):
        load(tmp_path)
    (tmp_path / "model.json").write_text("{")
    with pytest.raises(BadInput, match="no readable baseline"):
        load(tmp_path)
    (tmp_path / "model.json").write_text('{"format": 3}')
    with pytest.raises(BadInput, match="format 3"):
        load(tmp_path)
