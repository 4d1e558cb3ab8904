"""The model that a worker runs: unpacked once for all of its runs that follow each other."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from quintain.engine.scratch import scratch
from quintain.models import artefact


class UnpackedModel:
    """A folder with the files of one artefact, until another one is asked for. Use it as a context manager.

    What a model's process can see of the folder is read-only, so that nothing passes from one run to the next.
    """

    def __init__(self) -> None:
        self._key = ""
        self._stack = ExitStack()

    def __enter__(self) -> UnpackedModel:
        """Return this, with nothing unpacked yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what was unpacked."""
        self.drop()

    def folder(self, key: str, source: Path) -> Path:
        """Return the folder of the artefact *key*, unpacked from *source* unless it is unpacked already."""
        if self._key != key:
            self.drop()
            folder = self._stack.enter_context(scratch("model")) / "model"
            artefact.unpack(source, folder)
            self._key, self._place = key, folder
        return self._place

    def drop(self) -> None:
        """Remove what was unpacked; the next run unpacks anew."""
        self._key = ""
        self._stack.close()
