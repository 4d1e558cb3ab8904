"""What a measurement makes of times, samples of memory, answers in batches and the processors' counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from quintain.engine import measuring
from quintain.engine.measuring import GIB, measure
from quintain.engine.sandbox.process import Usage
from quintain.engine.session import Reply
from quintain.tasks.definition import parse_task
from tests.evaluation import TASK

MOOD = parse_task(TASK)
INPUTS = [{"text": f"sentence {number}"} for number in range(4)]


class Model:
    """Takes a millisecond and some more memory in each repeat; in a batch the first is answered as all others are."""

    def __init__(self, counter: Path | None = None) -> None:
        self.usage: Usage | None = Usage(samples=[GIB])
        self.counter = counter

    def predict(self, inputs: Sequence[Mapping[str, Any]], *, single: bool = False) -> Reply:
        """Answer, and take time, memory and energy."""
        assert self.usage is not None
        self.usage.cpu_seconds += 0.002 * len(inputs)
        self.usage.samples += [self.usage.samples[-1] + GIB // 10]
        if self.counter is not None:
            self.counter.write_text(str((int(self.counter.read_text()) + 40_000_000) % 100_000_000))
        alone = ["negative" if one["text"] == "sentence 0" else "positive" for one in inputs]
        if single:
            return Reply(alone, 0, tuple(1_000_000 for _ in inputs))
        return Reply(["positive"] * len(inputs), 0)

    def facts(self) -> Mapping[str, Any]:
        """Give nothing."""
        return {}

    def printed(self) -> str:
        """Give nothing."""
        return ""


def test_repeats_give_a_spread_and_batches_are_compared() -> None:
    """Rates and memory have a spread over the repeats; one example of four is answered otherwise in a batch."""
    found = measure(Model(), MOOD, INPUTS, batch_size=4)
    assert found is not None
    told = found.as_dict()
    assert told["throughput"] == pytest.approx(1000)
    assert told["throughput_spread"] == pytest.approx(0)
    assert told["memory"] == pytest.approx(1.3)
    assert told["memory_spread"] == pytest.approx(0.1)
    assert told["cpu_seconds_per_example"] == pytest.approx(0.002)
    assert (told["examples"], told["batch_size"], told["batch_differs"]) == (12, 4, 1)
    alone = measure(Model(), MOOD, INPUTS, batch_size=1)
    assert alone is not None
    assert alone.as_dict()["batch_differs"] == 0


def test_energy_is_read_where_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two repeats of 40 J are told, though the counter begins anew at 100 J; without a counter nothing is."""
    monkeypatch.setattr(measuring, "POWERCAP", tmp_path)
    without = measure(Model(), MOOD, INPUTS, batch_size=1)
    assert without is not None
    assert without.as_dict()["joules_per_example"] is None
    place = tmp_path / "intel-rapl:0"
    place.mkdir()
    (place / "max_energy_range_uj").write_text("100000000\n")
    counter = place / "energy_uj"
    counter.write_text("30000000")
    found = measure(Model(counter), MOOD, INPUTS, batch_size=1, repeats=2)
    assert found is not None
    assert found.as_dict()["joules_per_example"] == pytest.approx(80 / 8)


def test_what_runs_elsewhere_is_not_measured() -> None:
    """Nothing can be said of a model whose process we do not see."""
    model = Model()
    model.usage = None
    assert measure(model, MOOD, INPUTS, batch_size=1) is None
