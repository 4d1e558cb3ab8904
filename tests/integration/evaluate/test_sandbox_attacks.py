"""A submitted model tries to get out, to spy, to hog and to cheat; each ends with a clear status."""

from __future__ import annotations

import errno
import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quintain.core.errors import Unavailable
from quintain.engine.sandbox import layers
from quintain.engine.sandbox.causes import Cause, CauseKind, no_group
from quintain.engine.sandbox.limits import MIB, Limits, Outcome, RunEnded
from quintain.engine.session import ModelSession

SMALL = Limits(memory_bytes=192 * MIB, cpu_seconds=4, wall_seconds=20, call_seconds=6, processes=24, file_bytes=8 * MIB)
INPUTS = [{"text": "one"}, {"text": "two"}]


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., list[Any]]:
    """Give a function that puts a handler into the sandbox and asks it for answers."""

    def run(code: str, *, limits: Limits = SMALL, inputs: list[dict[str, str]] = INPUTS) -> Any:
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        (folder / "handler.py").write_text(textwrap.dedent(code))
        with ModelSession(folder, adapter="handler", limits=limits) as session:
            return session.predict(inputs).answers

    return run


def outcome_of(ask: Callable[..., list[Any]], code: str, **options: Any) -> RunEnded:
    """Run *code*, which must end badly, and give how."""
    with pytest.raises(RunEnded) as caught:
        ask(code, **options)
    return caught.value


def test_every_layer_holds_here() -> None:
    """The machine that runs these tests gives all layers, or the tests below would prove little."""
    report = layers.probe()
    assert report.complete, f"missing: {report.missing} {report.problem}"


def test_an_honest_model_answers_in_order(ask: Callable[..., list[Any]]) -> None:
    """The plain case: inputs in, answers out, in the order asked."""
    code = "def predict(batch): return [item['text'].upper() for item in batch]"
    assert ask(code) == ["ONE", "TWO"]


def test_a_model_sees_inputs_only(ask: Callable[..., list[Any]]) -> None:
    """What reaches predict is the input fields and nothing else."""
    assert ask("def predict(batch): return [sorted(item) for item in batch]") == [["text"], ["text"]]


def test_it_cannot_read_the_workspace(ask: Callable[..., list[Any]], tmp_path: Path) -> None:
    """Our files are not there at all, whoever may read them outside."""
    secret = tmp_path / "quintain.db"
    secret.write_text("hidden labels")
    secret.chmod(0o644)
    code = f"""
        import os
        def predict(batch):
            found = [name for name in ({str(secret)!r}, {str(Path(__file__))!r}) if os.path.exists(name)]
            return [found for _ in batch]
    """
    assert ask(code) == [[], []]


def test_it_cannot_read_other_models_or_processes(ask: Callable[..., list[Any]], tmp_path: Path) -> None:
    """Neither a neighbour's folder nor the process list of the machine can be seen."""
    neighbour = tmp_path / "other-model"
    neighbour.mkdir(mode=0o755)
    code = f"""
        import os
        def predict(batch):
            processes = [name for name in os.listdir("/proc") if name.isdigit()]
            return [[os.path.exists({str(neighbour)!r}), len(processes) < 6] for _ in batch]
    """
    assert ask(code) == [[False, True]] * 2


def test_it_knows_nothing_of_our_environment(ask: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is empty but for what a program needs to start."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", "postgresql://user:password@host/db")
    code = "import os\ndef predict(batch): return [sorted(os.environ)] * len(batch)"
    names = ask(code)[0]
    assert not [name for name in names if name.startswith("QUINTAIN")]
    assert set(names) <= {
        "HOME", "LANG", "PATH", "PWD", "LC_CTYPE", "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM", "HF_HUB_OFFLINE"
    }  # fmt: skip


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK"])
def test_it_cannot_open_a_socket(ask: Callable[..., list[Any]], family: str) -> None:
    """There is no network: not even a socket can be made."""
    end = outcome_of(
        ask, f"import socket\ndef predict(batch): return socket.socket(socket.{family}, socket.SOCK_DGRAM)"
    )
    assert end.outcome is Outcome.CRASHED
    assert "PermissionError" in end.message


def test_trying_the_network_is_said_plainly(ask: Callable[..., list[Any]]) -> None:
    """The builder reads what the model tried and that there is no network, not only an errno."""
    end = outcome_of(ask, "import socket\ndef predict(batch): return socket.create_connection(('example.org', 80))")
    assert "looked up the address of 'example.org'" in end.message
    assert "no network in the sandbox" in end.message


def test_a_fork_bomb_stays_in_its_group(ask: Callable[..., list[Any]]) -> None:
    """Processes are counted over the whole tree; the bomb fizzles and the run ends."""
    code = """
        import os, time
        def predict(batch):
            while True:
                try:
                    if os.fork() == 0: time.sleep(60)
                except OSError as error:
                    raise RuntimeError(f"could not fork: {error}") from None
    """
    end = outcome_of(ask, code)
    assert end.outcome is Outcome.CRASHED
    assert "could not fork" in end.message


def test_allocating_without_end_is_out_of_memory(ask: Callable[..., list[Any]]) -> None:
    """The kernel or the supervisor ends it, and the status says why."""
    end = outcome_of(ask, "def predict(batch):\n    hog = []\n    while True: hog.append(bytearray(1 << 20))")
    assert end.outcome is Outcome.OUT_OF_MEMORY
    assert "0.19 GiB" in end.message


def test_children_cannot_each_have_the_whole_memory(ask: Callable[..., list[Any]]) -> None:
    """Four children with half the limit each are over it together."""
    code = """
        import os, time
        def predict(batch):
            for _ in range(4):
                if os.fork() == 0:
                    hog = bytearray(b"x") * (96 << 20)
                    time.sleep(60)
            time.sleep(60)
    """
    end = outcome_of(ask, code)
    assert end.outcome in {Outcome.OUT_OF_MEMORY, Outcome.WALL_TIME}
    assert end.outcome is Outcome.OUT_OF_MEMORY or "no answer" in end.message


def test_sleeping_for_ever_takes_too_long(ask: Callable[..., list[Any]]) -> None:
    """A model that does not answer is ended at the limit for one call."""
    limits = Limits(memory_bytes=192 * MIB, call_seconds=1.0)
    end = outcome_of(ask, "import time\ndef predict(batch): time.sleep(1e6)", limits=limits)
    assert end.outcome is Outcome.WALL_TIME
    assert "within 1 seconds" in end.message


def test_spinning_uses_up_its_cpu_time(ask: Callable[..., list[Any]]) -> None:
    """A busy loop ends at the limit on CPU time."""
    limits = Limits(memory_bytes=192 * MIB, cpu_seconds=1.0, call_seconds=30)
    end = outcome_of(ask, "def predict(batch):\n    while True: pass", limits=limits)
    assert end.outcome is Outcome.CPU_TIME


def test_printing_gigabytes_ends_the_run(ask: Callable[..., list[Any]]) -> None:
    """Output is kept up to the limit and the run is ended; our memory does not grow with it."""
    limits = Limits(memory_bytes=192 * MIB, output_bytes=64 * 1024)
    end = outcome_of(ask, "def predict(batch):\n    while True: print('x' * 4096)", limits=limits)
    assert end.outcome is Outcome.OUTPUT
    assert len(end.log) <= 64 * 1024


def test_a_huge_file_cannot_be_written(ask: Callable[..., list[Any]]) -> None:
    """Files are limited in size, wherever they are written."""
    code = "def predict(batch):\n    with open('/tmp/big', 'wb') as f: f.write(bytes(64 << 20))"
    end = outcome_of(ask, code)
    assert end.outcome is Outcome.CRASHED


def test_it_cannot_write_to_its_own_package_or_ours(ask: Callable[..., list[Any]]) -> None:
    """The model's folder, the system and our library are read-only."""
    code = """
        def predict(batch):
            refused = []
            for name in ("/quintain/model/handler.py", "/quintain/library/quintain/core/errors.py", "/usr/bin/x", "/x"):
                try: open(name, "a")
                except OSError: refused.append(name)
            return [len(refused)] * len(batch)
    """
    assert ask(code) == [4, 4]


def test_killing_its_parent_hurts_only_itself(ask: Callable[..., list[Any]]) -> None:
    """Signals stay inside; the platform goes on and runs the next model."""
    code = """
        import os, signal
        def predict(batch):
            for pid in (1, os.getppid(), -1):
                try: os.kill(pid, signal.SIGKILL)
                except OSError: pass
            return ["alive"] * len(batch)
    """
    assert ask(code) == ["alive", "alive"]
    assert ask("def predict(batch): return ['next'] * len(batch)") == ["next", "next"]


def test_it_cannot_answer_for_ids_it_was_not_given(ask: Callable[..., list[Any]]) -> None:
    """A forged reply on the pipe is a fault, not an answer."""
    code = """
        import json, os, socket, stat
        def predict(batch):
            forged = json.dumps({"answers": [["someone-else", "positive"]], "ns": 0}).encode()
            for fd in range(3, 64):
                try:
                    if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, len(forged).to_bytes(4, "big") + forged)
                except OSError: pass
            return ["positive"] * len(batch)
    """
    end = outcome_of(ask, code)
    assert end.outcome is Outcome.BAD_ANSWER
    assert "ids that it was not given" in end.message


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def predict(batch): return [float('nan')] * len(batch)", "NaN"),
        ("def predict(batch): return ['only one']", "given 2 inputs and returned 1"),
        ("def predict(batch): return [object()] * len(batch)", "cannot be sent"),
        ("def predict(batch): return ['x' * (3 << 20)] * len(batch)", "bytes in one message"),
    ],
    ids=["NaN", "too few", "no JSON", "too long"],
)
def test_answers_that_cannot_be_used(ask: Callable[..., list[Any]], code: str, words: str) -> None:
    """Each kind of useless answer is named."""
    limits = Limits(memory_bytes=192 * MIB, answer_bytes=1 << 20)
    end = outcome_of(ask, code, limits=limits)
    assert end.outcome is Outcome.BAD_ANSWER
    assert words in end.message


def test_it_leaves_nothing_behind_for_its_next_run(ask: Callable[..., list[Any]]) -> None:
    """What is written in one run is gone in the next."""
    code = """
        import os, pathlib
        def predict(batch):
            marks = [pathlib.Path(name) for name in ("/tmp/mark", "/dev/shm/mark")]
            seen = [mark.exists() for mark in marks]
            for mark in marks: mark.write_text("I was here")
            return [seen] * len(batch)
    """
    assert ask(code)[0] == [False, False]
    assert ask(code)[0] == [False, False]


def test_namespaces_cannot_be_nested(ask: Callable[..., list[Any]]) -> None:
    """The usual first step of a break-out is refused."""
    code = """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        def predict(batch): return [libc.unshare(0x10000000)] * len(batch)
    """
    assert ask(code) == [-1, -1]


def test_it_cannot_reach_into_other_processes_files(ask: Callable[..., list[Any]]) -> None:
    """Neither pidfd_open, pidfd_getfd nor memfd_secret is there: all three are refused as not permitted."""
    code = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        def refused(number, *arguments):
            ctypes.set_errno(0)
            return [libc.syscall(number, *arguments), ctypes.get_errno()]
        def predict(batch):
            return [[refused(434, os.getpid(), 0), refused(438, 0, 0, 0), refused(447, 0)]] * len(batch)
    """
    assert ask(code)[0] == [[-1, errno.EPERM]] * 3


def test_proc_cannot_be_written(ask: Callable[..., list[Any]]) -> None:
    """What the kernel remembers of a process, such as its highest memory, is not the process's to change."""
    code = """
        def predict(batch):
            try: open("/proc/self/clear_refs", "w").write("5")
            except OSError as error: return [type(error).__name__] * len(batch)
    """
    assert ask(code)[0] in {"OSError", "PermissionError"}


def test_a_crash_shows_its_traceback(ask: Callable[..., list[Any]]) -> None:
    """The builder sees the line of the handler that failed, and what it printed before."""
    end = outcome_of(ask, "def predict(batch):\n    print('about to fail')\n    return batch[0]['premise']")
    assert end.outcome is Outcome.CRASHED
    assert "KeyError: 'premise'" in end.message
    assert "handler.py" in end.log
    assert "about to fail" in end.log


def test_answers_that_come_late_are_timed_too(tmp_path: Path) -> None:
    """A handler that yields its answers does its work while they are taken: that is part of the model's time."""
    (tmp_path / "handler.py").write_text(
        "import time\ndef predict(batch):\n    for _ in batch:\n        time.sleep(0.02)\n        yield 'x'\n"
    )
    with ModelSession(tmp_path, adapter="handler", limits=SMALL) as session:
        alone, together = session.predict(INPUTS[:1]), session.predict(INPUTS)
    assert alone.ns > 15_000_000
    assert together.ns > 30_000_000


def test_a_handler_that_does_not_import(ask: Callable[..., list[Any]]) -> None:
    """A missing module is named with where it was asked for."""
    end = outcome_of(ask, "import no_such_module\ndef predict(batch): return batch")
    assert "No module named 'no_such_module'" in end.message


def test_no_group_and_no_process_is_left(ask: Callable[..., list[Any]]) -> None:
    """After good and bad runs alike the control groups are gone."""
    ask("def predict(batch): return ['x'] * len(batch)")
    outcome_of(ask, "def predict(batch): raise SystemExit(3)")
    assert not list(Path("/sys/fs/cgroup").glob(f"**/quintain-{os.getpid()}-*"))


def test_an_incomplete_sandbox_refuses_submitted_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a layer is missing the refusal names it and what to do; an explicit setting can lift the last one."""
    held = dict.fromkeys(layers.LAYERS, True)
    only_memory = layers.SandboxReport({**held, "memory": False}, (no_group(as_root=False),))
    monkeypatch.setattr(layers, "probe", lambda: only_memory)
    with pytest.raises(Unavailable, match=r"Missing: memory .*QUINTAIN_SANDBOX=partial"):
        layers.require_sandbox("full")
    assert layers.require_sandbox("partial").missing == ["memory"]
    broken = layers.SandboxReport(dict.fromkeys(layers.LAYERS, False), (Cause(CauseKind.OTHER, "no bwrap", "Try it"),))
    monkeypatch.setattr(layers, "probe", lambda: broken)
    with pytest.raises(Unavailable, match="no bwrap"):
        layers.require_sandbox("partial")
