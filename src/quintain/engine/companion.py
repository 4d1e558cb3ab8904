"""A process of our own beside this one: started again when it dies, and gone when this one goes."""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

from quintain.core.errors import Unavailable
from quintain.engine.loops import Each, Loop, LoopBook

GRACE_SECONDS = 8.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
QUIET_SECONDS = 60.0  # a process that ran so long has got over what made it die before
log = logging.getLogger("quintain.companion")


class Companion:
    """Keeps *command* running while the block runs.

    The process holds the end of a pipe as its input and has to stop when that ends: so it stops too when this process
    is killed, and nobody could tell it any more.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        files: Sequence[int] = (),
        grace: float = GRACE_SECONDS,
        name: str = "",
        book: LoopBook | None = None,
    ) -> None:
        """Prepare to run *command*; it inherits the open *files*, and has *grace* seconds to stop.

        How it fares is written into the *book*, under its *name*.
        """
        self._command = list(command)
        self._environment = dict(environment)
        self._files = tuple(files)
        self._grace = grace
        self._stop = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._book = book or LoopBook()
        self.loop = Loop(f"companion {name}".strip(), self._live, every=FIRST_PAUSE, longest=LONGEST_PAUSE, logger=log)

    def __enter__(self) -> Companion:
        """Start the process, in a session of its own: Ctrl-C is for us, and we pass it on."""
        self._thread = self._book.add(self.loop).start(self._stop)
        return self

    def __exit__(self, *exception: object) -> None:
        """Ask the process to stop, and end it when it takes too long."""
        self.stop()
        if self._thread is not None:
            self._thread.join()
        self._book.remove(self.loop)

    def stop(self) -> None:
        """Ask the process to stop, without waiting for it: where there are several, they stop side by side."""
        self._stop.set()

    def _live(self, each: Each) -> None:
        """Start the process and watch it until it ends; raise Unavailable where nobody asked it to."""
        begun = time.monotonic()
        code = self._watch()
        if self._stop.is_set():
            return
        if time.monotonic() - begun >= QUIET_SECONDS:
            self.loop.forgive()
        command = " ".join(self._command[-2:])
        raise Unavailable("{command} ended with {status}, and is started again.", command=command, status=code)

    def _watch(self) -> int:
        with subprocess.Popen(  # noqa: S603 - a command of our own
            self._command,
            stdin=subprocess.PIPE,
            env=self._environment,
            start_new_session=True,
            pass_fds=self._files,
        ) as process:
            while process.poll() is None and not self._stop.wait(0.5):
                continue
            if process.stdin:
                process.stdin.close()
            try:
                return process.wait(self._grace)
            except subprocess.TimeoutExpired:
                process.kill()
                return process.wait()
