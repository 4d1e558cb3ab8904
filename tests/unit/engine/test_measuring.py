"""What a measurement makes of times, samples of memory, answers in batches and the processors' counters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.engine import machine_load, pace
from quintain.engine.cutting import (
    ALONE_SHARE,
    LEAST_SESSIONS,
    TIMED_ROWS,
    cut_requests,
    process_count,
    process_rows,
    session_rows,
)
from quintain.engine.machine_load import LoadMark, busy_elsewhere
from quintain.engine.measuring import MOST_SESSIONS, measure
from quintain.engine.pace import Pace
from quintain.engine.replies import Reply
from quintain.engine.sandbox.limits import GIB, Outcome, RunEnded
from quintain.engine.sandbox.process import Usage
from quintain.engine.session_watch import SessionWatch
from quintain.engine.sessions import BOUND, pooled, read_session
from quintain.tasks.definition import parse_task
from tests.evaluation import TASK

MOOD = parse_task(TASK)
INPUTS = [{"text": f"sentence {number}"} for number in range(13)]
LOOKS = 2  # at the pace of the machine, in a process that is quick: before its first request and after its last


class Model:
    """Takes a millisecond for each example, more memory each time, and answers otherwise in a batch.

    *moody* changes its mind on what it has seen before; *broken* answers what is no label to the given texts; *paces*
    are the milliseconds that an example takes in one process after the other.
    """

    layers: Sequence[str] | None = None
    worded = False

    def __init__(
        self,
        counter: Path | None = None,
        *,
        moody: bool = False,
        broken: Sequence[str] = (),
        paces: Sequence[float] = (1.0,),
    ) -> None:
        self.usage: Usage | None = Usage(samples=[2 * GIB])  # while it loaded
        self.paces = list(paces)
        self.started = 0
        self.counter = counter
        self.moody = moody
        self.broken = broken
        self.seen: list[str] = []

    def predict(self, inputs: Sequence[Mapping[str, Any]], *, single: bool = False) -> Reply:
        """Answer, and take time, memory and energy."""
        assert self.usage is not None
        self.usage.cpu_seconds += 0.002 * len(inputs)
        if self.counter is not None:
            self.counter.write_text(str((int(self.counter.read_text()) + 4_000_000) % 100_000_000))
        answers = [self._answer(one["text"], batched=len(inputs) > 1 and not single) for one in inputs]
        self.seen += [one["text"] for one in inputs]
        pace = self.paces[min(self.started, len(self.paces)) - 1]
        return Reply(answers, round(pace * 1_000_000) * len(inputs))

    @contextmanager
    def open(self) -> Iterator[Model]:
        """Start a process of it."""
        self.started += 1
        yield self

    def observe(self) -> None:
        """Hold a GiB, and a tenth more with each hundred examples."""
        if self.usage is not None:
            self.usage.samples.append(GIB + len(self.seen) * GIB // 1000)

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


class Looks(Pace):
    """A machine that lacks the given shares of its speed in one session after the other, then nothing."""

    def __init__(self, *lost: float) -> None:
        super().__init__()
        self.shares = [share for share in lost for _ in range(LOOKS)]

    def lost(self) -> float:
        """Give the next share."""
        return self.shares.pop(0) if self.shares else 0.0


def told(model: Model, **options: Any) -> dict[str, Any]:
    """Measure the model on a machine that keeps its pace, and give what is stored."""
    options = {"batch_size": 1, "generator": np.random.default_rng(0), "pace": Looks(), **options}
    measured = measure(model.open, MOOD, INPUTS, **options)
    assert measured is not None
    return measured.as_dict()


@given(st.integers(1, 2000), st.integers(1, 64), st.integers(0, 9))
def test_no_example_is_in_two_requests(rows: int, batch_size: int, seed: int) -> None:
    """Requests go over all examples once, of the declared size but for single ones, with which they begin."""
    requests = cut_requests(rows, batch_size, np.random.default_rng(seed))
    assert [row for request in requests for row in request] == list(range(rows))
    assert {len(request) for request in requests[:-1]} <= {1, batch_size}
    assert len(requests[0]) == 1


@given(st.integers(1, 20_000), st.integers(1, 300))
def test_a_further_process_is_as_long_as_one_that_is_scored(rows: int, batch_size: int) -> None:
    """A scored run has up to three processes of enough examples each; another has as many as each is timed on."""
    count = process_count(rows, batch_size)
    assert 1 <= count <= LEAST_SESSIONS
    assert count == 1 or rows // count >= session_rows(batch_size)
    longest = -(-rows // count)
    assert process_rows(rows, batch_size) == min(longest, max(TIMED_ROWS, session_rows(batch_size)))


def test_single_requests_are_strewn_among_batches() -> None:
    """The latency of one request stands beside the throughput of batches, and a request of one is nothing special."""
    sizes = [len(request) for request in cut_requests(608, 32, np.random.default_rng(1))]
    assert 2 <= sizes.count(1) <= 10
    small = [len(request) for request in cut_requests(20_000, 2, np.random.default_rng(1))]
    assert (
        0.5 * ALONE_SHARE < small.count(1) / 20_000 < 1.5 * ALONE_SHARE
    )  # being slow there would gain next to nothing
    assert told(Model(), batch_size=4)["latency_p50"] in (None, pytest.approx(0.001))


def test_every_input_is_new_while_the_clock_runs() -> None:
    """The 12 examples that are timed are asked once each, after another; remembering them gains nothing."""
    model = Model()
    found = told(model, most_sessions=1)
    timed = model.seen[: found["warm_up"] + found["examples"]]
    assert (found["warm_up"], found["examples"]) == (1, 12)
    assert len(set(timed)) == 13


def test_repeats_give_an_error_and_batches_are_compared() -> None:
    """Rates have an error over the repeats; one example is answered otherwise in a batch."""
    found = told(Model(), batch_size=4)
    assert found["throughput"] == pytest.approx(1000)
    assert found["throughput_half"] == pytest.approx(0)
    assert found["cpu_seconds_per_example"] == pytest.approx(0.002)
    assert told(Model(), batch_size=4, asks_again=False)["throughput"] == pytest.approx(1000)
    assert (found["batch_size"], found["batch_differs"], found["unstable"]) == (4, 1, 0)
    assert told(Model())["batch_differs"] == 0


def test_loading_is_no_part_of_the_memory_that_answering_takes() -> None:
    """Two GiB while it loads stand apart; what it holds while it answers is a little more than one."""
    found = told(Model(), most_sessions=1)
    assert found["memory_loading"] == pytest.approx(2)
    assert 1 < found["memory"] <= found["memory_peak"] < 1.02
    assert found["memory_samples"] == 1  # at the end of the process, however short it is


def test_what_the_first_request_loads_is_no_part_of_it_either() -> None:
    """What a model loads when it is first asked, and gives up again, is loading, and not what its answers take."""

    class Late(Model):
        def observe(self) -> None:
            """Hold three GiB while the first request is answered, one from then on."""
            assert self.usage is not None
            self.usage.samples.append(3 * GIB if len(self.seen) == 1 else GIB)

        def predict(self, inputs: Sequence[Mapping[str, Any]], *, single: bool = False) -> Reply:
            """Answer; the process is looked at while it does."""
            reply = super().predict(inputs, single=single)
            self.observe()
            return reply

    found = told(Late())
    assert found["memory_loading"] == pytest.approx(3)
    assert found["memory"] == found["memory_peak"] == pytest.approx(1)


def test_what_is_asked_once_alone_is_measured_by_that() -> None:
    """Where one request is all there is, it warms nothing up: what it took is the figure."""
    model = Model()
    watch = SessionWatch(model, model.usage or Usage(), 13, Looks(), rows=13).begin()
    model.predict(INPUTS)
    assert model.usage is not None
    model.usage.samples.append(5 * GIB)
    watch.note(13, 13_000_000)
    assert watch.finish().memory_peak == 5 * GIB


def test_throughput_is_the_median_of_the_processes() -> None:
    """One process that was disturbed does not move the figure, and is a reason to measure on."""
    found = told(Model(paces=[1.0, 50.0, 1.0]))
    assert found["throughput"] == pytest.approx(1000)
    assert found["sessions"] > LEAST_SESSIONS


def test_being_slow_in_few_requests_counts_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes 50 ms for each of the first third of the requests, and 1 ms for the others, is no quick model."""
    model = Model()
    usual, calls = model.predict, [0]

    def slow_at_first(inputs: Sequence[Mapping[str, Any]], *, single: bool = False) -> Reply:
        reply = usual(inputs, single=single)
        calls[0] += 1
        return Reply(reply.answers, 50_000_000) if calls[0] % 13 in range(1, 6) else reply

    monkeypatch.setattr(model, "predict", slow_at_first)
    found = told(model, asks_again=False)
    assert found["throughput"] == pytest.approx(12 / (4 * 0.05 + 8 * 0.001))


def test_what_the_scored_run_showed_needs_no_further_process() -> None:
    """Where its three processes agree, nothing is asked; where there are two, a third follows, and all count."""
    model = Model()
    three = measure(model.open, MOOD, INPUTS, batch_size=1, pace=Looks())
    assert three is not None
    sessions = [read_session(session.as_dict()) for session in three.sessions]
    assert pooled(sessions, 1) == pooled(three.sessions, 1)
    started = model.started
    found = measure(model.open, MOOD, INPUTS, batch_size=1, pace=Looks(), known=sessions, layers=["files"])
    assert found is not None
    assert (model.started, found.answered, found.layers, found.as_dict()["sessions"]) == (started, [], ["files"], 3)
    more = measure(model.open, MOOD, INPUTS, batch_size=1, pace=Looks(), known=sessions[:2])
    assert more is not None
    assert (model.started, len(more.answered), more.as_dict()["sessions"]) == (started + 1, 13, 3)


def test_more_work_after_what_is_timed_is_noticed() -> None:
    """Others may have the machine after the first ten examples; by then, five times the work for each is told."""
    model, freed = Model(paces=[1.0]), []
    assert model.usage is not None
    with model.open() as runner:
        watch = SessionWatch(runner, model.usage, 1, Looks(), rows=10, timed_out=lambda: freed.append(True)).begin()
        for number in range(30):
            model.usage.cpu_seconds += 0.002 if number < 10 else 0.01
            watch.note(1, 1_000_000 if number < 10 else 6_000_000)
        session = watch.finish()
    assert freed == [True]
    assert (session.examples, session.rate) == (9, pytest.approx(1000))
    assert session.later == pytest.approx(5)


def test_a_noisy_figure_is_measured_again_until_it_is_sharp() -> None:
    """Processes of differing pace are followed by others, up to a limit; three that agree are enough, one never is."""
    assert told(Model())["sessions"] == LEAST_SESSIONS
    settled = told(Model(paces=[1.0, 1.3, 1.0, 1.0, 1.1, 1.0]))
    assert LEAST_SESSIONS < settled["sessions"] <= MOST_SESSIONS
    assert 0 < settled["throughput_half"] <= BOUND * settled["throughput"]
    unsteady = told(Model(paces=[1.0, 3.0, 0.5, 2.0, 4.0, 1.0]))
    assert unsteady["sessions"] == MOST_SESSIONS
    assert unsteady["throughput_half"] > 0.5 * unsteady["throughput"]


def test_sessions_count_while_the_machine_keeps_its_pace() -> None:
    """Two sessions on a machine at half its speed are left out; where all are, the figure is as unsure as it is low."""
    found = told(Model(paces=[2.0, 2.0, 1.0, 1.0, 1.0]), pace=Looks(0.5, 0.5))
    assert (found["sessions"], found["slowed"]) == (5, 0.0)
    assert found["throughput"] == pytest.approx(1000)
    assert found["throughput_half"] == pytest.approx(0)
    slow = told(Model(paces=[2.0]), pace=Looks(*[0.5] * MOST_SESSIONS))
    assert (slow["sessions"], slow["slowed"]) == (MOST_SESSIONS, 0.5)
    assert (slow["throughput"], slow["throughput_half"]) == (pytest.approx(500), pytest.approx(500))


def test_the_pace_of_a_machine_is_against_its_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fastest of three looks counts; what takes twice as long as the best ever lacks half of the speed."""
    seconds = iter([0.004, 0.002, 0.003, 0.004, 0.005, 0.004, 0.001, 0.009, 0.009])
    monkeypatch.setattr(pace, "_work", lambda: next(seconds))
    machine = Pace()
    assert [machine.lost() for _ in range(3)] == [0.0, 0.5, 0.0]
    monkeypatch.undo()
    assert 0 <= Pace().lost() <= 1


def test_a_model_that_changes_its_mind_is_flagged() -> None:
    """Some examples are asked again outside the time: what it has met it answers otherwise."""
    found = told(Model(moody=True))
    assert found["asked_again"] == 13
    assert found["unstable"] >= 12


def test_what_others_work_meanwhile_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two processors that worked three seconds in two, ours took one: others kept half of the machine busy."""
    monkeypatch.setattr(machine_load.os, "cpu_count", lambda: 2)
    assert busy_elsewhere(LoadMark(10.0, 1.0, 0.0), LoadMark(13.0, 2.0, 2.0)) == pytest.approx(0.5)
    assert busy_elsewhere(LoadMark(None, 1.0, 0.0), LoadMark(13.0, 2.0, 2.0)) is None
    assert busy_elsewhere(LoadMark(10.0, 1.0, 0.0), LoadMark(10.5, 2.0, 2.0)) == 0


def test_answers_are_checked_as_in_any_run() -> None:
    """One useless answer of 13 is counted, two end the measurement as they end a run."""
    assert told(Model(broken=["sentence 5"]), most_sessions=1)["failed"] == 1
    with pytest.raises(RunEnded, match=r"12345.*is not one of the labels.*failed on 2 examples; 1 of 13 may") as caught:
        told(Model(broken=["sentence 5", "sentence 6"]))
    assert caught.value.outcome is Outcome.BAD_ANSWER


def test_energy_is_read_where_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve requests of 4 J are told, though the counter begins anew at 100 J; without a counter nothing is."""
    monkeypatch.setattr(machine_load, "POWERCAP", tmp_path)
    assert told(Model())["joules_per_example"] is None
    place = tmp_path / "intel-rapl:0"
    place.mkdir()
    (place / "max_energy_range_uj").write_text("100000000\n")
    counter = place / "energy_uj"
    counter.write_text("60000000")
    assert told(Model(counter), most_sessions=1)["joules_per_example"] == pytest.approx(4)


def test_what_runs_elsewhere_is_not_measured() -> None:
    """Nothing can be said of a model whose process we do not see."""
    model = Model()
    model.usage = None
    assert measure(model.open, MOOD, INPUTS, batch_size=1) is None
