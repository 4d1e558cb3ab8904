"""What goes on in a process goes on whatever a step raises; and nothing goes on that is not run so."""

from __future__ import annotations

import ast
import logging
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest

import quintain
from quintain.core.errors import Unavailable
from quintain.engine.loops import Each, Loop, LoopBook, LoopCondition, LoopEnd, LoopState

SOURCE = Path(quintain.__file__).parent
STARTERS = {"Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "create_task", "Popen"}
PAUSES = {"wait", "sleep"}
# What starts threads or waits in a loop without being run by `engine/loops.py`, and why it needs not.
OTHERWISE = {
    "adapters/chat_batch.py": "asks for one batch again and again, within the call that waits for it",
    "adapters/endpoint_calls.py": "a call that waits for its answer",
    "adapters/loop_thread.py": "the thread of one model's calls, ended with them",
    "adapters/throttle.py": "a call that waits for its turn",
    "cli/evaluate/cells.py": "a command that waits for a run to end",
    "cli/house/worker.py": "reads its input until that ends; runs the loop of jobs",
    "cli/house/serve.py": "reads its input, or a pipe, until that ends",
    "client/transport.py": "a call that waits for its answer",
    "data/importing.py": "reads ahead of one import, and ends with it",
    "engine/cluster.py": "a run that waits for its node",
    "engine/companion.py": "one life of a process, which is a step of a loop",
    "engine/loops.py": "the mechanism itself",
    "engine/sandbox/process.py": "reads what a program prints until that ends; its watch is a loop",
    "services/evaluate/cells/run_cell.py": "waits within a step, or writes down one result within its lease",
    "services/evaluate/cells/worker.py": "holds the threads that run the loops of cells",
    "services/harvest/corpus.py": "reads ahead of one corpus, and ends with it",
    "services/house/probes.py": "tries what others hang on, a moment at a time; who asks is answered meanwhile",
    "services/house/backup.py": "packs one archive, and ends with it",
    "services/house/backup_file.py": "reads one archive, and ends with it",
    "services/models/ask.py": "answers calls; what fails is raised to who asked",
    "simulate/crowd_drive.py": "a simulated person whose time passes",
    "simulate/driving.py": "simulated people whose time passes",
    "web/pages/evaluate/runs.py": "an answer that lasts as long as its reader listens",
}


@cache
def _places() -> frozenset[str]:
    """Name the files that start threads or processes that stay, or that wait in a `while` loop."""
    places: set[str] = set()
    for path in sorted(SOURCE.rglob("*.py")):
        source = path.read_text()
        if not any(word in source for word in (*STARTERS, *PAUSES)):
            continue
        tree = ast.parse(source)
        waits = [
            node
            for loop in ast.walk(tree)
            if isinstance(loop, ast.While)
            for node in ast.walk(loop)
            if isinstance(node, ast.Call) and _called(node) in PAUSES
        ]
        starts = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) in STARTERS]
        if waits or starts:
            places.add(path.relative_to(SOURCE).as_posix())
    return frozenset(places)


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def test_nothing_goes_on_by_itself_but_as_a_loop() -> None:
    """A thread, a timer, or a `while` that waits is a `Loop`, or stands in the list above with its reason."""
    assert set(_places()) - set(OTHERWISE) == set()


def test_the_list_of_exceptions_is_not_longer_than_it_must_be() -> None:
    """What is listed is still there."""
    assert set(OTHERWISE) - set(_places()) == set()


def test_a_loop_goes_on_after_whatever_a_step_raises(caplog: pytest.LogCaptureFixture) -> None:
    """Each failure is logged with where it was, pauses grow, and a success ends the row of failures."""
    stop, steps = threading.Event(), iter([KeyError("one"), ValueError("two"), None, RuntimeError("three"), LoopEnd()])

    def step(each: Each) -> None:
        error = next(steps)
        if error is not None:
            raise error

    loop = Loop("mending", step, every=0.01, longest=0.015)
    with caplog.at_level(logging.WARNING):
        loop.run(stop)
    told = [record for record in caplog.records if record.name == "quintain.loop.mending"]
    assert [record.args[1] for record in told if isinstance(record.args, tuple)] == [0.01, 0.015, 0.01]
    assert all(record.exc_info for record in told)
    assert loop.state.reason == "RuntimeError: three"
    assert (loop.state.failures, loop.state.succeeded_at is not None) == (1, True)


def test_one_who_waits_for_the_end_hears_of_failures() -> None:
    """With *patience* a loop gives up after so many in a row, as a command must that is to end by itself."""
    tries: list[int] = []

    def step(each: Each) -> None:
        tries.append(1)
        raise Unavailable("The database is away.")

    with pytest.raises(Unavailable):
        Loop("trying", step, every=0.001).run(threading.Event(), patience=3)
    assert len(tries) == 3


def test_an_item_that_fails_holds_up_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, undone and left alone for a while; the next time it works it is as any other."""
    bad, done, undone = {"b"}, [], []

    def do(item: str) -> None:
        if item in bad:
            raise ZeroDivisionError(item)
        done.append(item)

    def step(each: Each) -> None:
        each("abc", do, name=lambda item: f"item {item}", undo=lambda: undone.append(1))
        each("x", str, name=lambda item: f"other {item}")  # which forgets nothing of the first

    loop = Loop("sorting", step, every=0.02)
    assert loop.once()
    assert loop.once()
    assert (done, undone) == (["a", "c", "a", "c"], [1])
    assert (loop.state.items, loop.state.failures) == (1, 0)
    assert loop.state.reason == "item b: ZeroDivisionError: b"
    assert "item b" in caplog.text
    bad.clear()
    threading.Event().wait(0.05)
    assert loop.once()
    assert done[-3:] == ["a", "b", "c"]
    assert loop.state.items == 0


def test_how_a_loop_is_told_from_when_it_last_succeeded() -> None:
    """One failure is nothing; no success for several intervals is, as a step without end and a thread that is gone."""
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    state = LoopState("mail", 60.0, begun, allowed=1800.0)
    later = begun + timedelta(hours=1)
    assert state.condition(later) is LoopCondition.FINE
    failing = replace(state, failures=3, failed_at=later)
    assert failing.condition(begun + timedelta(seconds=200)) is LoopCondition.FINE
    assert failing.condition(later) is LoopCondition.FAILING
    assert replace(failing, succeeded_at=later).condition(later) is LoopCondition.FINE
    assert replace(state, working_since=begun).condition(later) is LoopCondition.STUCK
    assert replace(state, alive=False).condition(later) is LoopCondition.STOPPED


def test_a_book_knows_who_has_stopped_by_itself() -> None:
    """A thread that ended although nobody asked it to is seen; one that is struck out is not."""
    book, loop = LoopBook(), Loop("short", lambda each: _end(), every=1.0)
    book.add(loop).start(threading.Event()).join(5)
    assert [state.alive for state in book.states()] == [False]
    book.remove(loop)
    assert book.states() == []


def _end() -> None:
    raise LoopEnd
