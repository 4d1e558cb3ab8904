"""One sandboxed process from start to end, watched all the while."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from quintain.core.errors import BadInput
from quintain.core.texts import Text
from quintain.core.untrusted import Bounds, storable
from quintain.engine.loops import Each, Loop, LoopEnd
from quintain.engine.sandbox.bare import Layout, laid_out
from quintain.engine.sandbox.cgroups import ControlGroup, make_group
from quintain.engine.sandbox.channel import Channel
from quintain.engine.sandbox.command import Mount, bare_command, sandbox_command
from quintain.engine.sandbox.limits import GIB, AnswersLost, Limits, Outcome, RunEnded
from quintain.engine.sandbox.memory import MemoryMeter
from quintain.engine.sandbox.proctree import tree_cpu, tree_memory
from quintain.engine.sandbox.syscalls import filter_available, write_filter

SAMPLE_SECONDS = 0.05
LONGEST_BLIND_S = 0.5  # after a look that failed
SETTLE_SECONDS = 0.02  # what was printed just before a reply may still be on its way through the other pipe
PIPE_TOKEN = "{pipe}"  # noqa: S105 - where the program's command line wants the number of the pipe


@dataclass(slots=True)
class Usage:
    """What a run used: memory in bytes at a fixed interval, CPU seconds, wall seconds."""

    samples: list[int] = field(default_factory=list)
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    @property
    def peak_memory(self) -> int:
        """The largest sample."""
        return max(self.samples, default=0)


class Called(NamedTuple):
    """A reply, and the nanoseconds that it took to come, by our own clock."""

    reply: dict[str, Any]
    ns: int


class SandboxedProcess:
    """A program in the sandbox with one pipe to it. Use it as a context manager; leaving kills what is left."""

    def __init__(
        self,
        program: Sequence[str],
        *,
        mounts: Sequence[Mount],
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        trusted: bool = False,
        bare: bool = False,
        metered: bool = False,
    ) -> None:
        """Name the *program*. One that is *trusted* is our own code; *bare* starts it without bubblewrap.

        *metered* says that its memory is to be measured, not only limited.
        """
        self.trusted = trusted
        self.bare = bare
        self.program = list(program)
        self.mounts = list(mounts)
        self.limits = limits
        self.environment = {"HOME": "/tmp", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", **(environment or {})}  # noqa: S108
        self.metered = metered
        self.usage = Usage()
        self.log = bytearray()
        self._verdict: tuple[Outcome, Text] | None = None
        self._ended = threading.Event()
        self._looking = threading.Lock()
        self._looked = 0.0
        self._apart = True

    def __enter__(self) -> SandboxedProcess:
        """Start the program."""
        self._stack = ExitStack()
        self.layout = self._stack.enter_context(laid_out(self.mounts)) if self.bare else Layout()
        self._group: ControlGroup | None = make_group(self.limits)
        ours, theirs = socket.socketpair()
        filter_file = write_filter() if filter_available() and not self.bare else None
        passed = [theirs.fileno(), *([filter_file.fileno()] if filter_file else [])]
        command = self._command(theirs.fileno(), filter_file.fileno() if filter_file else None)
        self._started = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603 - the command is built by us, layer by layer
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=passed,
            start_new_session=True,
            env=self.environment if self.bare else None,
        )
        theirs.close()
        if filter_file:
            filter_file.close()
        self._meter = MemoryMeter(self._group, self._process.pid, own_scratch=not self.bare)
        self._channel = Channel(ours, limit=self.limits.answer_bytes)
        drain = threading.Thread(target=self._drain, daemon=True)  # reads until the pipe ends
        drain.start()
        watch = Loop("sandbox", self._watch, every=SAMPLE_SECONDS, longest=LONGEST_BLIND_S)
        self._threads = [drain, watch.start(self._ended, after=SAMPLE_SECONDS)]
        return self

    def _command(self, pipe: int, filter_fd: int | None) -> list[str]:
        program = [str(pipe) if part == PIPE_TOKEN else self.layout.find(part) for part in self.program]
        group_files = self._group.entry_files if self._group else ()
        if self.bare:
            return bare_command(program, group_files=group_files)
        return sandbox_command(
            program,
            mounts=self.mounts,
            limits=self.limits,
            group_files=group_files,
            filter_fd=filter_fd,
            environment=self.environment,
            trusted=self.trusted,
        )

    def __exit__(self, *exception: object) -> None:
        """Close the pipe, end the program, of which nothing more is wanted, and tidy up."""
        self._channel.close()
        self._kill()
        self._finish()
        self._stack.close()

    def call(self, message: Mapping[str, Any], bounds: Bounds) -> Called:
        """Send *message* and wait for the reply; raises RunEnded when there will be none.

        A reply beyond *bounds* is AnswersLost: the process can be called again.
        """
        limit = self.limits.call_seconds
        try:
            reply, elapsed = self._channel.exchange(message, time.monotonic() + limit, bounds)
        except TimeoutError:
            self._condemn(Outcome.WALL_TIME, Text("The model gave no answer within {limit:g} seconds.", limit=limit))
            raise self._death() from None
        except (BrokenPipeError, ConnectionResetError, EOFError):
            raise self._death() from None
        except BadInput as error:
            raise AnswersLost(
                Outcome.BAD_ANSWER,
                "The model's reply cannot be used. {reason}",
                reason=error.message,
                log=self.printed(),
            ) from None
        except RunEnded as error:
            self._condemn(error.outcome, error.message)
            raise self._death() from None
        if not isinstance(reply, dict):
            raise AnswersLost(Outcome.BAD_ANSWER, "The model's reply is not an object.", log=self.printed())
        return Called(reply, elapsed)

    def cancel(self) -> None:
        """End the run from another thread."""
        self._condemn(Outcome.CANCELLED, Text("The run was cancelled."))

    def printed(self) -> str:
        """Return what the program printed so far, as far as it is kept."""
        if self._process.poll() is None:
            time.sleep(SETTLE_SECONDS)
        return storable(bytes(self.log).decode("utf-8", "replace"))

    def sample(self) -> int:
        """Measure the memory that the processes need resident."""
        return self._meter.read()

    def observe(self) -> None:
        """Note now what memory and processor time were used, apart from the look before and the one to come."""
        with contextlib.suppress(OSError, ValueError):
            self._sample_memory(apart=True)
            self._apart = True

    def _sample_memory(self, *, apart: bool = False) -> float:
        """Note the memory since the last look; two closer than the interval between looks count as one, unless *apart*.

        One that is asked for stands apart: the look before it may be of what was asked before.
        """
        with self._looking:
            resident = self.sample() if self.metered else self._limited_memory()
            cpu = self.cpu_seconds()
            moment = time.monotonic()
            if self._process.poll() is None:
                samples = self.usage.samples
                if samples and not (apart or self._apart) and moment - self._looked < SAMPLE_SECONDS:
                    samples[-1] = max(samples[-1], resident)
                else:
                    samples.append(resident)
                self.usage.cpu_seconds, self._looked, self._apart = cpu, moment, False
            return cpu

    def _limited_memory(self) -> int:
        """Return the memory that the limit is about, which is cheap to see."""
        return self._group.memory_bytes() if self._group else tree_memory(self._process.pid)

    def cpu_seconds(self) -> float:
        """Measure the CPU time used so far."""
        return self._group.cpu_seconds() if self._group else tree_cpu(self._process.pid)

    def _drain(self) -> None:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101 - opened as a pipe above
        descriptor = stream.fileno()
        seen = 0
        while part := os.read(descriptor, 1 << 16):
            seen += len(part)
            self.log += part[: max(0, self.limits.output_bytes - len(self.log))]
            if seen > self.limits.output_bytes:
                most = self.limits.output_bytes
                self._condemn(Outcome.OUTPUT, Text("The model printed more than {most:,} bytes.", most=most))
        stream.close()

    def _watch(self, each: Each) -> None:
        """Measure what the processes use, and end what goes beyond its limits."""
        try:
            used = self._limited_memory()
            # What somebody has just looked at says nothing yet of what the model is about to need.
            recent = self._apart and time.monotonic() - self._looked < SAMPLE_SECONDS / 2
            cpu = self.cpu_seconds() if recent else self._sample_memory()
        except (OSError, ValueError):  # a process has ended while it was looked at
            return
        if self._process.poll() is not None:
            raise LoopEnd
        if used > self.limits.memory_bytes:
            self._condemn(Outcome.OUT_OF_MEMORY, self._memory_message())
        elif cpu > self.limits.cpu_seconds:
            self._condemn(Outcome.CPU_TIME, self._cpu_message())
        elif time.monotonic() - self._started > self.limits.wall_seconds:
            most = self.limits.wall_seconds
            self._condemn(Outcome.WALL_TIME, Text("The run took longer than {most:g} seconds.", most=most))

    def _memory_message(self) -> Text:
        return Text("The model used more than {most:.2f} GiB of memory.", most=self.limits.memory_bytes / GIB)

    def _cpu_message(self) -> Text:
        return Text("The model used more than {most:g} CPU seconds.", most=self.limits.cpu_seconds)

    def _condemn(self, outcome: Outcome, message: Text) -> None:
        if self._verdict is None:
            self._verdict = (outcome, message)
        self._kill()

    def _kill(self) -> None:
        # One that is gone already is what was wanted.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for pid in self._group.processes() if self._group else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _finish(self) -> int:
        if self._ended.is_set():
            return self._process.returncode
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self._kill()
            code = self._process.wait()
        self._kill()
        self._ended.set()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=5.0)
        self.usage.wall_seconds = time.monotonic() - self._started
        if self._group:
            self.usage.cpu_seconds = self._group.cpu_seconds()
            self._starved = self._group.out_of_memory()
            self._group.close()
        else:
            self._starved = False
        return code

    def _death(self) -> RunEnded:
        """Find out why there is no answer."""
        code = self._finish()
        log = self.printed()
        if self._verdict is not None:
            outcome, message = self._verdict
            return RunEnded(outcome, message, log=log)
        if self._starved:
            return RunEnded(Outcome.OUT_OF_MEMORY, self._memory_message(), log=log)
        if self.usage.cpu_seconds > self.limits.cpu_seconds:
            return RunEnded(Outcome.CPU_TIME, self._cpu_message(), log=log)
        if code == 97:
            return RunEnded(Outcome.PLATFORM, "The control group could not be entered.", log=log)
        how = signal.Signals(-code).name if code < 0 else Text("exit code {code}", code=code)
        return RunEnded(Outcome.CRASHED, "The model's process ended before it answered ({how}).", how=how, log=log)
