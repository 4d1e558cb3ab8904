"""What a measurement makes of times, samples of memory, answers in batches and the processors' counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.engine import measuring
from quintain.engine.measuring import GIB, MEASURED_ROWS, PER_REPEAT, measure, split
from quintain.engine.replies import Reply
from quintain.engine.sandbox.limits import Outcome, RunEnded
from quintain.engine.sandbox.process import Usage
from quintain.tasks.definition import parse_task
from tests.evaluation import TASK

MOOD = parse_task(TASK)
INPUTS = [{"text": f"sentence {number}"} for number in range(14)]


class Model:
    """Takes a millisecond for each example, more memory each time, and answers otherwise in a batch.

    *moody* changes its mind on what it has seen before; *broken* answers what is no label to the given texts.
    """

    def __init__(self, counter: Path | None = None, *, moody: bool = False, broken: Sequence[str] = ()) -> None:
        self.usage: Usage | None = Usage(samples=[GIB])
        self.counter = counter
        self.moody = moody
        self.broken = broken
        self.seen: list[str] = []

    def predict(self, inputs: Sequence[Mapping[str, Any]], *, single: bool = False) -> Reply:
        """Answer, and take time, memory and energy."""
        assert self.usage is not None
        self.usage.cpu_seconds += 0.002 * len(inputs)
        self.usage.samples += [self.usage.samples[-1] + GIB // 10]
        if self.counter is not None:
            self.counter.write_text(str((int(self.counter.read_text()) + 4_000_000) % 100_000_000))
        answers = [self._answer(one["text"], batched=len(inputs) > 1 and not single) for one in inputs]
        self.seen += [one["text"] for one in inputs]
        return Reply(answers, 1_000_000 * len(inputs))

    def _answer(self, text: str, *, batched: bool) -> str:
        if text in self.broken:
            return "12345"
        usual = "negative" if text == "sentence 3" and not batched else "positive"
        return "negative" if self.moody and text in self.seen else usual

    def facts(self) -> Mapping[str, Any]:
        """Give nothing."""
        return {}

    def printed(self) -> str:
        """Give nothing."""
        return ""


def told(model: Model, **options: Any) -> dict[str, Any]:
    """Measure the model and give what is stored."""
    found = measure(model, MOOD, INPUTS, **{"batch_size": 1, **options})
    assert found is not None
    return found.as_dict()


@given(st.integers(1, 2000), st.integers(1, 5))
def test_no_example_is_in_two_parts(rows: int, repeats: int) -> None:
    """Warm-up and repeats share nothing, repeats are of one size, and a set of one example is measured too."""
    warm_up, *parts = split(rows, repeats)
    places = [place for part in (warm_up, *parts) for place in part]
    assert sorted(places) == list(range(len(places)))
    assert len(places) <= rows
    assert len({len(part) for part in parts}) == 1
    assert all(len(part) >= 1 for part in parts)
    assert len(split(MEASURED_ROWS)[1]) == PER_REPEAT


def test_every_input_is_new_while_the_clock_runs() -> None:
    """The 12 examples that are timed are asked once each, after two others; remembering them gains nothing."""
    model = Model()
    found = told(model)
    timed = model.seen[: found["warm_up"] + found["examples"]]
    assert (found["warm_up"], found["examples"]) == (2, 12)
    assert len(set(timed)) == 14


def test_repeats_give_a_spread_and_batches_are_compared() -> None:
    """Rates and memory have a spread over the repeats; one example is answered otherwise in a batch."""
    found = told(Model(), batch_size=4)
    assert found["throughput"] == pytest.approx(1000)
    assert found["throughput_spread"] == pytest.approx(0)
    assert found["memory"] == pytest.approx(1.85)
    assert found["memory_spread"] == pytest.approx(0.4)
    assert found["cpu_seconds_per_example"] == pytest.approx(0.002)
    assert (found["batch_size"], found["batch_differs"], found["unstable"]) == (4, 1, 0)
    assert told(Model())["batch_differs"] == 0


def test_throughput_is_the_median_of_the_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """One repeat that was disturbed does not move the figure."""
    slow = [{"text": f"sentence {number}"} for number in range(2, 6)]
    model = Model()
    usual = model.predict

    def disturbed(inputs: Sequence[Mapping[str, Any]], *, single: bool = False) -> Reply:
        reply = usual(inputs, single=single)
        return Reply(reply.answers, 50_000_000) if inputs[0] in slow else reply

    monkeypatch.setattr(model, "predict", disturbed)
    found = told(model)
    assert found["throughput"] == pytest.approx(1000)
    assert found["throughput_repeats"][0] == pytest.approx(20)


def test_a_model_that_changes_its_mind_is_flagged() -> None:
    """Some examples are asked again outside the time: 11 of the 12 are answered otherwise."""
    found = told(Model(moody=True))
    assert (found["asked_again"], found["unstable"]) == (12, 11)


def test_answers_are_checked_as_in_any_run() -> None:
    """One useless answer of 12 is counted, two end the measurement as they end a run."""
    assert told(Model(broken=["sentence 5"]))["failed"] == 1
    with pytest.raises(RunEnded, match=r"12345.*is not one of the labels.*failed on 2 examples; 1 of 12 may") as caught:
        told(Model(broken=["sentence 5", "sentence 6"]))
    assert caught.value.outcome is Outcome.BAD_ANSWER


def test_energy_is_read_where_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven requests of 4 J are told, though the counter begins anew at 100 J; without a counter nothing is."""
    monkeypatch.setattr(measuring, "POWERCAP", tmp_path)
    assert told(Model())["joules_per_example"] is None
    place = tmp_path / "intel-rapl:0"
    place.mkdir()
    (place / "max_energy_range_uj").write_text("100000000\n")
    counter = place / "energy_uj"
    counter.write_text("60000000")
    assert told(Model(counter), repeats=1)["joules_per_example"] == pytest.approx(4)


def test_what_runs_elsewhere_is_not_measured() -> None:
    """Nothing can be said of a model whose process we do not see."""
    model = Model()
    model.usage = None
    assert measure(model, MOOD, INPUTS, batch_size=1) is None
