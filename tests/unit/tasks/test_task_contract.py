"""What holds for every kind of task, built in or added by somebody else."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.core.example import Prediction
from quintain.core.task import Label, Task
from quintain.metrics.contract import METRICS
from quintain.tasks.contract import KINDS, RESERVED, TaskKind
from tests.properties import examples

TEXTS = st.text(alphabet="ab {}<>é𝄞\u0301\t\n\x00\x1f\u2028", max_size=12) | st.sampled_from(["", "a" * 21_000, " "])
NUMBERS = st.integers(-3, 6)
SPANS = st.fixed_dictionaries({"text": TEXTS, "start": st.none() | NUMBERS})
FIELD_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS,
    "long_text": TEXTS,
    "texts": st.lists(TEXTS, max_size=4),
    "tokens": st.lists(TEXTS, max_size=4),
    "token": NUMBERS,
    "image": TEXTS | st.sampled_from(["http://x/y.png", "../up", "/etc/x", "a b.png", "blob:12", "ftp://x"]),
}
ANSWER_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "label": TEXTS | st.sampled_from(["yes", "no", "true", "false", "neutral", "negative", "mixed"]),
    "choice": NUMBERS,
    "choices": st.lists(NUMBERS, max_size=4),
    "span": st.lists(SPANS, max_size=3),
    "token": NUMBERS,
    "text": st.lists(TEXTS, max_size=3),
    "discrete": st.lists(st.lists(TEXTS, max_size=3), max_size=3),
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=3) | st.sampled_from(["label", "probabilities", "text", "start", "choice", "token", "0"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)

every_kind = pytest.mark.parametrize("kind", [member() for _, member in KINDS.items()], ids=KINDS.names())


def task_of(kind: TaskKind, **options: Any) -> Task:
    """Make the smallest task of a kind, with one extra label for validation."""
    return Task(
        name="sample",
        kind=kind.name,
        title={"en": "Sample"},
        labels=tuple(Label(name) for name in kind.fixed_labels or kind.starter_labels),
        extra_labels=(Label("mixed"),),
        options=options,
    )


def rows_of(kind: TaskKind, task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """Generate examples of the right shape, good and bad ones, some of them near the kind's own example."""
    own = {**kind.example.inputs, "answer": kind.example.answer}
    columns = {
        item.name: st.one_of(st.just(own[item.name]), FIELD_VALUES[item.type], st.none()) for item in kind.fields(task)
    }
    columns["answer"] = st.one_of(st.just(own["answer"]), ANSWER_VALUES[kind.answer_type], st.none())
    return st.fixed_dictionaries(columns)


def faults_of(kind: TaskKind, task: Task, row: dict[str, Any]) -> list[tuple[str | None, str]]:
    inputs = {name: value for name, value in row.items() if name != "answer"}
    return [(fault.field, fault.reason) for fault in kind.check(task, inputs, row["answer"])]


@every_kind
def test_kind_describes_itself(kind: TaskKind) -> None:
    """A kind is registered under its own name, has a title, and fields whose names are not taken."""
    assert KINDS.get(kind.name) is type(kind)
    assert kind.title
    names = [item.name for item in kind.fields(task_of(kind))]
    assert names
    assert len(set(names)) == len(names)
    assert not set(names) & set(RESERVED)
    assert all(item.title for item in kind.fields(task_of(kind)))


@every_kind
def test_default_metrics_fit(kind: TaskKind) -> None:
    """The default metrics exist and are made for the kind's type of answer."""
    assert kind.default_metrics
    for name in kind.default_metrics:
        assert kind.answer_type in METRICS.get(name).answer_types


@every_kind
def test_own_example_is_good(kind: TaskKind) -> None:
    """A kind's own example has no fault, in a table as by itself, and survives being stored."""
    task = task_of(kind)
    example = kind.example
    assert kind.check(task, example.inputs, example.answer) == []
    assert kind.check(task, example.inputs) == []
    row = {**example.inputs, "answer": example.answer}
    table = pl.DataFrame([row, row], schema=kind.schema(task))
    assert kind.check_table(task, table) == []
    assert kind.check_table(task, table.drop("answer")) == []
    assert table.row(0, named=True) == row


@every_kind
def test_form_asks_for_every_field(kind: TaskKind) -> None:
    """The form has one control per input, in their order, and one for the answer."""
    task = task_of(kind)
    form = kind.form(task)
    assert [control.name for control in form.inputs] == [item.name for item in kind.fields(task)]
    assert form.answer.name == "answer"
    names = {control.name for control in form.inputs}
    assert all(control.of is None or control.of in names for control in (*form.inputs, form.answer))


@every_kind
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_table_and_single_check_agree(kind: TaskKind, data: st.DataObject) -> None:
    """A table of examples has exactly the faults that its rows have one by one."""
    task = task_of(kind)
    rows = data.draw(st.lists(rows_of(kind, task), min_size=1, max_size=4))
    table = pl.DataFrame(rows, schema=kind.schema(task))
    found = [(fault.row, fault.field, fault.reason) for fault in kind.check_table(task, table)]
    one_by_one = [(number, *fault) for number, row in enumerate(rows) for fault in faults_of(kind, task, row)]
    assert found == one_by_one


@every_kind
def test_missing_inputs_are_faults(kind: TaskKind) -> None:
    """An example without any input is told so once for each that is required."""
    task = task_of(kind)
    empty = {fault.field for fault in kind.check(task, {})}
    assert empty == {item.name for item in kind.fields(task) if item.required}


@every_kind
@settings(max_examples=examples(40), deadline=None)
@given(value=JSON)
def test_check_survives_any_json(kind: TaskKind, value: Any) -> None:
    """Whatever JSON stands in a field or as the answer, `check` gives faults and never fails."""
    task = task_of(kind)
    inputs = {item.name: value for item in kind.fields(task)}
    assert all(fault.field for fault in kind.check(task, inputs, value))


@every_kind
@settings(max_examples=examples(60), deadline=None)
@given(raw=JSON)
def test_parse_answer_survives_any_json(kind: TaskKind, raw: Any) -> None:
    """Whatever a model returns is an answer in plain JSON, or a BadInput that says why not."""
    task = task_of(kind)
    try:
        prediction = kind.parse_answer(task, kind.example.inputs, raw)
    except BadInput as error:
        assert error.message  # noqa: PT017 - either way is fine, and both are checked
    else:
        assert isinstance(prediction, Prediction)
        json.dumps(prediction.answer, allow_nan=False)
        assert kind.fooled(task, kind.example.answer, prediction.answer) in {True, False}


@every_kind
def test_right_answer_does_not_fool(kind: TaskKind) -> None:
    """The gold answer given back, as a model would give it, is no fooled model."""
    task = task_of(kind)
    gold = kind.example.answer
    raw = gold[0] if kind.answers.is_text else gold
    prediction = kind.parse_answer(task, kind.example.inputs, raw)
    assert not kind.fooled(task, gold, prediction.answer)


@every_kind
def test_unknown_option_is_refused(kind: TaskKind) -> None:
    """An option that the kind does not know is named, and its own defaults are fine."""
    assert kind.check_options(kind.default_options) == []
    assert kind.check_options({}) == []
    assert "'colour'" in kind.check_options({"colour": "red"})[0]


@every_kind
def test_wrong_columns_are_refused(kind: TaskKind) -> None:
    """A table without an input's column is refused by the column's name."""
    task = task_of(kind)
    first = kind.fields(task)[0].name
    table = pl.DataFrame(schema=kind.schema(task)).drop(first)
    with pytest.raises(BadInput, match=f"no column '{first}'"):
        kind.check_table(task, table)


@pytest.mark.parametrize(
    ("name", "inputs", "answer"),
    [
        ("attachment", {"tokens": None, "preposition": -1}, -1),
        ("multiple-choice", {"passage": "p", "question": "q", "options": None}, -1),
        ("several-answers", {"passage": "p", "question": "q", "candidates": None}, [-1]),
    ],
)
def test_a_number_without_its_list_is_one_fault(name: str, inputs: dict[str, Any], answer: Any) -> None:
    """Where the list is missing that is said, and nothing of a number that would count its entries."""
    kind = KINDS.get(name)()
    faults = kind.check(task_of(kind), inputs, answer)
    missing = next(key for key, value in inputs.items() if value is None)
    assert missing in {fault.field for fault in faults}
    assert all(fault.field != "answer" or "itself" in fault.reason for fault in faults)
