"""Types of answers say what they are in their own files, and nobody else asks which one it is."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quintain.core.task import Task
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS, answers_of
from quintain.tasks.contract import KINDS

SOURCE = Path(__file__).parents[3] / "src" / "quintain"
ALLOWED = ("adapters/transformers.py",)
NAMES = ANSWER_KINDS.names()
CLASSES = ("SpanKind", "LabelKind", *(kind.__name__ for family in (KINDS, ANSWER_KINDS) for _, kind in family.items()))
GOLDS: dict[str, Any] = {
    "label": "yes",
    "choice": 3,
    "choices": [2, 1],
    "span": [{"text": "Ada", "start": 3}],
    "token": 4,
    "text": ["A text.", "Another."],
    "discrete": [["1911"], ["5", "6"]],
}


def outside() -> list[Path]:
    """List the sources outside of the family itself."""
    return [path for path in SOURCE.rglob("*.py") if (SOURCE / "tasks") not in path.parents]


def texts_in(node: ast.AST) -> set[str]:
    """Give the texts that are written out in some code."""
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def asks(node: ast.AST) -> bool:
    """Say whether code asks which type of answers, or which kind of task, something is."""
    if isinstance(node, ast.Compare):
        named = any("answer_type" in ast.unparse(side) for side in (node.left, *node.comparators))
        return named and bool(texts_in(node) & set(NAMES))
    if isinstance(node, ast.Dict):
        return len({key.value for key in node.keys if isinstance(key, ast.Constant)} & set(NAMES)) > 2
    if isinstance(node, ast.Match):
        return "answer_type" in ast.unparse(node.subject)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        return any(name in ast.unparse(node.args[1]) for name in CLASSES)
    return False


def test_nobody_outside_asks_which_type_it_is() -> None:
    """No comparison, no `match`, no table and no question after a class goes by types of answers outside of `tasks`.

    Metrics, baselines and the adapter of a library with a head for each type declare the types that they are for, which
    is a list of their own and no branch.
    """
    paths = outside()
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in paths
        if str(path.relative_to(SOURCE)) not in ALLOWED
        for node in ast.walk(ast.parse(path.read_text()))
        if asks(node)
    ]
    assert len(paths) > 300
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        'kind.answer_type == "label"',
        'answer_type(task) not in {"span", "text"}',
        'TYPES = {"label": 1, "span": 2, "text": 3}',
        "isinstance(kind, SpanKind)",
        "match kind.answer_type:\n    case _: pass",
    ],
)
def test_asking_would_be_found(code: str) -> None:
    """The test above sees each way of asking."""
    assert any(asks(node) for node in ast.walk(ast.parse(code)))


def test_no_template_asks_which_type_it_is() -> None:
    """Templates draw by the control that a kind names."""
    pages = list((SOURCE / "web" / "templates").rglob("*.html"))
    assert len(pages) > 50
    assert [page.name for page in pages if "answer_type" in page.read_text()] == []


@pytest.mark.parametrize("name", NAMES)
def test_it_describes_itself(name: str) -> None:
    """A type has its own name, metrics that are for it, and a gold answer fits and is stored in its column."""
    answers = answers_of(name)
    assert answers.name == name
    asked = [*answers.metrics, *(one for one in (answers.f1, answers.graded_by) if one)]
    assert all(name in METRICS.get(metric).answer_types for metric in asked)
    if answers.graded_by:
        assert issubclass(METRICS.get(answers.graded_by), MeanMetric)
    gold = GOLDS[name]
    assert answers.fault(gold) is None
    assert "not" in str(answers.fault({"no": "answer"}))
    stored = pl.Series([answers.stored(gold), None], dtype=answers.dtype)
    assert answers.may_be(stored.dtype)
    assert answers.golds(stored).null_count() == 1
    assert answers.stored(None) is None


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_is_the_same_as_itself_and_as_no_other(name: str) -> None:
    """What is normalised for comparing keeps answers apart that differ, and those together that mean the same."""
    answers = answers_of(name)
    kind = next(kind() for _, kind in KINDS.items() if kind.answer_type == name)
    predicted = answers.as_prediction(kind.example.answer[0] if answers.is_text else kind.example.answer)
    series = answers.normalised(answers.predictions([predicted, predicted, None]))
    assert series[0] is not None
    assert series.eq_missing(series[[1, 0, 2]]).all()
    other = answers.normalised(answers.predictions([GOLDS[name][0] if answers.is_text else GOLDS[name]]))
    assert not other.eq_missing(series[:1]).all()


def test_guesses_go_by_rank() -> None:
    """No two types are guessed at once."""
    ranks = [answers_of(name).rank for name in NAMES]
    assert len(set(ranks)) == len(ranks)


def test_kinds_say_what_judges_choose_from() -> None:
    """Labels and options are chosen; any other answer is shown, and judged right or wrong."""
    own = {name: kind().judged_by(Task("t", name, {}), kind.example.inputs) for name, kind in KINDS.items()}
    assert [label.name for label in own["multiple-choice"] or ()] == ["0", "1", "2"]
    chosen = {name for name, labels in own.items() if labels is not None}
    assert chosen == {name for name, kind in KINDS.items() if kind.answer_type in {"label", "choice"}}
