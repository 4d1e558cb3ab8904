"""Parts of long work, kept in a folder until the whole is done: who was interrupted goes on where they were."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from quintain.core.errors import OutOfOrder
from quintain.core.records.base import Misread, decode, to_json
from quintain.core.records.report import ReportSection
from quintain.reports.plain import sections_from_plain, sections_to_plain

T = TypeVar("T")
FOLDER = ".parts"


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Where parts are kept, and *key*, which says what they are parts of; without a *folder* nothing is kept."""

    folder: Path | None = None
    key: str = ""

    def keyed(self, key: object) -> Self:
        """Return the same store for parts of something else, which *key* tells."""
        return replace(self, key=repr(key))

    def sections(self, name: str, make: Callable[[], list[ReportSection]]) -> list[ReportSection]:
        """Return some sections of a report: those that were kept under *name*, or make and keep them."""
        return sections_from_plain(self.part(name, list[Any], lambda: sections_to_plain(make())))

    def part(self, name: str, kind: type[T], make: Callable[[], T]) -> T:
        """Return the part that was kept under *name*, or make it and keep it."""
        if self.folder is None:
            return make()
        path = self._part_path(name)
        with contextlib.suppress(OSError, ValueError, Misread):  # what cannot be read is made anew
            return decode(kind, json.loads(path.read_text(encoding="utf-8")))
        result = make()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            half = path.with_suffix(".half")
            half.write_text(to_json(result), encoding="utf-8")
            os.replace(half, path)
        except OSError as error:
            raise OutOfOrder(
                "{folder} cannot be written: {strerror}.",
                folder=self.folder,
                strerror=error.strerror,
                remedy="Name another folder.",
            ) from error
        return result

    def has(self, name: str) -> bool:
        """Whether a part is kept."""
        return self.folder is not None and self._part_path(name).exists()

    def clear(self) -> None:
        """Remove what was kept: the whole is done. Without a key that is all of the folder."""
        if self.folder is None:
            return
        parts = self.folder / FOLDER
        with contextlib.suppress(OSError):  # another run may keep parts there, too
            for path in parts.glob(f"{self._prefix()}-*" if self.key else "*"):
                path.unlink(missing_ok=True)
            parts.rmdir()

    def _prefix(self) -> str:
        return hashlib.sha256(self.key.encode()).hexdigest()[:16]

    def _part_path(self, name: str) -> Path:
        own = hashlib.sha256(name.encode()).hexdigest()[:16]
        return (self.folder or Path()) / FOLDER / f"{self._prefix()}-{own}.json"
