"""Raw answers, whatever they are, become predictions or failures of single examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.core.example import Failure, Prediction
from quintain.engine.asking import Failures, ask, parse_raw
from quintain.engine.replies import Reply, read_answers
from quintain.engine.sandbox.limits import AnswersLost, Outcome, RunEnded
from quintain.engine.sandbox.process import Usage
from quintain.services.tasks.definitions import check_task
from quintain.tasks.contract import KINDS
from quintain.tasks.definition import parse_task
from quintain.tasks.starter import starter
from tests.evaluation import TASK

MOOD = parse_task(TASK)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["label", "probabilities", "text", "start", "end", "choice", "0"]), inner)
    ),
    max_leaves=12,
)


class Brittle:
    """Raises on a whole message where one of its inputs is bad, as a model does in a batch."""

    usage: Usage | None = None

    def __init__(self, *bad: str) -> None:
        self.bad = bad
        self.calls: list[int] = []

    def predict(self, inputs: Sequence[Mapping[str, Any]], *, single: bool = False) -> Reply:
        """Answer, or lose all answers."""
        self.calls.append(len(inputs))
        if any(one["text"] in self.bad for one in inputs):
            raise AnswersLost(Outcome.CRASHED, "The model raised KeyError: 'x'.", log="Traceback …")
        return Reply(["positive"] * len(inputs))

    def facts(self) -> Mapping[str, Any]:
        """Give nothing."""
        return {}

    def printed(self) -> str:
        """Give nothing."""
        return ""


@pytest.mark.parametrize("kind", list(KINDS.names()))
@given(raw=ANYTHING)
def test_no_answer_raises_anything_else(kind: str, raw: Any) -> None:
    """For every kind of task, any JSON is an answer or bad input."""
    task = check_task(starter(kind, "some-task"))
    try:
        found = parse_raw(task, KINDS.get(kind)().example.inputs, raw)
    except BadInput:
        return
    assert isinstance(found, Prediction)


def test_only_the_culprits_of_a_message_are_marked() -> None:
    """A message that is lost is asked again one by one; the others keep their answers."""
    inputs = [{"text": str(number)} for number in range(40)]
    runner, failures = Brittle("7", "23"), Failures(40)
    found = ask(runner, MOOD, inputs, failures, single=False)
    assert [place for place, one in enumerate(found) if one.failure] == [7, 23]
    assert {one.answer for one in found} == {"positive", None}
    assert runner.calls == [40] + [1] * 40
    assert failures.count == 2


def test_the_first_failure_too_many_ends_the_run() -> None:
    """It says what happened first, how often, and how often it may."""
    with pytest.raises(RunEnded, match=r"KeyError: 'x'\. It failed on 3 examples; 2 of 40 may fail") as caught:
        ask(Brittle("1", "2", "3"), MOOD, [{"text": str(number)} for number in range(40)], Failures(40), single=False)
    assert not isinstance(caught.value, AnswersLost)
    assert (caught.value.outcome, caught.value.log) == (Outcome.CRASHED, "Traceback …")


def test_failures_inside_a_reply_stand_in_their_places() -> None:
    """What the process says it raised on single inputs is put where those inputs are."""
    found = read_answers({"answers": [["b", 2]], "failures": [["a", "KeyError: 1"]]}, ["a", "b"])
    assert found == [Failure("The model raised KeyError: 1."), 2]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"answers": {}},
        {"answers": [["a", 1]], "failures": 3},
        {"answers": [["a", 1], ["a", 2], ["b", 1]]},
        {"answers": [["a", 1]], "failures": [["a", "x"]]},
        {"answers": [["a"]]},
        {"answers": [[["a"], 1]]},
        {"answers": [["a", 1]]},
        {"answers": [["a", 1], ["b", 1], ["c", 1]]},
    ],
)
def test_replies_that_do_not_match_are_the_models_fault(message: dict[str, Any]) -> None:
    """Missing, double, strange and misshapen ones."""
    with pytest.raises(AnswersLost) as caught:
        read_answers(message, ["a", "b"])
    assert caught.value.outcome is Outcome.BAD_ANSWER
