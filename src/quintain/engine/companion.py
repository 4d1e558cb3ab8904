"""A process of our own beside this one: started again when it dies, and gone when this one goes."""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

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
    ) -> None:
        """Name the *command*; it inherits the open *files*, and has *grace* seconds to stop."""
        self._command = list(command)
        self._environment = dict(environment)
        self._files = tuple(files)
        self._grace = grace
        self._stop = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="companion", daemon=True)

    def __enter__(self) -> Companion:
        """Start the process, in a session of its own: Ctrl-C is for us, and we pass it on."""
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Ask the process to stop, and end it when it takes too long."""
        self.stop()
        self._thread.join()

    def stop(self) -> None:
        """Ask the process to stop, without waiting for it: where there are several, they stop side by side."""
        self._stop.set()

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while not self._stop.is_set():
            begun = time.monotonic()
            code = self._watch()
            if self._stop.is_set():
                return
            if time.monotonic() - begun >= QUIET_SECONDS:
                pause = FIRST_PAUSE
            log.warning("%s ended with %s; starting it again in %.0f s", self._command[-1], code, pause)
            self._stop.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

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
