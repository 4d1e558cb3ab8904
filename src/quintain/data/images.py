"""Images that a data file names by paths beside it: found, looked at, and named by their content.

A path is relative to the data file. Where files came without their folders, as from a form, the name alone will do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from quintain.core.errors import Fault
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.tasks.contract import kind_of
from quintain.tasks.rules import Rule, blank, shown

PREFIX = "blob:"
MAX_BYTES = 2_000_000
# What begins so is an image of that type; what anybody else calls an image is not sent to a browser as one.
KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
NO_IMAGE = Text("is neither a PNG, a JPEG, a GIF nor a WebP image")
TOO_LARGE = Text("is larger than {most} MB", most=MAX_BYTES // 1_000_000)


def image_kind(content: bytes) -> str | None:
    """Return the media type of an image by how it begins; None where it is none that is shown."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in KINDS.items() if content.startswith(start)), None)


def image_fault(content: bytes) -> Text | None:
    """Return what is wrong with an image, or None."""
    if len(content) > MAX_BYTES:
        return TOO_LARGE
    return NO_IMAGE if image_kind(content) is None else None


class ImageFolder:
    """The images beside a data file, below the folder *root*; those that examples name can then be kept."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._named: dict[str, str | Text] = {}
        self._used: dict[str, Path] = {}

    def name_of(self, written: str) -> str | Text:
        """Return the name by which an example refers to the image at a path, or what is wrong with it."""
        if written not in self._named:
            self._named[written] = self._read(written)
        return self._named[written]

    def keep_all(self, keep: Callable[[Path], str]) -> None:
        """Have every image that was named kept by *keep*, each once."""
        for path in self._used.values():
            keep(path)

    def _read(self, written: str) -> str | Text:
        path = self._find(written)
        if path is None:
            return Text(
                "'{path}' is not beside the file; bring the image along, or give its http(s) address",
                path=written[:200],
            )
        try:
            if path.stat().st_size > MAX_BYTES:
                return Text("'{path}' {fault}", path=written[:200], fault=TOO_LARGE)
            content = path.read_bytes()
        except OSError as error:
            return Text("'{path}' cannot be read: {error}", path=written[:200], error=error.strerror or str(error))
        fault = image_fault(content)
        if fault:
            return Text("'{path}' {fault}", path=written[:200], fault=fault)
        key = hashlib.sha256(content).hexdigest()
        self._used[key] = path
        return PREFIX + key

    def _find(self, written: str) -> Path | None:
        """Find a file below the folder of the data file, and never outside of it, whatever a link says."""
        parts = PurePosixPath(written).parts
        if not parts or ".." in parts or written.startswith("/") or "\0" in written:
            return None
        for candidate in (self._root.joinpath(*parts), self._root / parts[-1]):
            path = candidate.resolve()
            if path.is_relative_to(self._root) and path.is_file():
                return path
        return None


def path_faults(task: Task, inputs: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> list[Fault]:
    """Refuse images that are named by a path: only an import of a data set brings those along.

    What *before*, which *inputs* are an edit of, names alike is left alone.
    """
    values = {name: inputs.get(name) for name in image_fields(task) if inputs.get(name) != (before or {}).get(name)}
    return [
        Fault(
            "'{path}' is a path; give an http(s) address, or import it with a data set and name it as there (blob:…)",
            path=value[:200],
            field=name,
        )
        for name, value in values.items()
        if isinstance(value, str) and value and is_relative(value)
    ]


def path_rules(task: Task, columns: Collection[str]) -> list[Rule]:
    """Refuse images that are named by a path in a table with these *columns* that is no data set."""
    stored = "|".join((PREFIX, "http://", "https://"))
    return [
        Rule(
            name,
            ~blank(pl.col(name)) & ~pl.col(name).str.contains(f"^({stored})"),
            "'{path}' is a path; give an http(s) address, or import it with a data set and name it as there (blob:…)",
            values={"path": shown(pl.col(name))},
        )
        for name in image_fields(task)
        if name in columns
    ]


def image_fields(task: Task) -> list[str]:
    """Name the inputs of a task that are images."""
    return [item.name for item in kind_of(task).fields(task) if item.type == "image"]


def is_relative(written: str) -> bool:
    """Whether an image is named by a path beside the data, and not by an address or its content."""
    return not written.startswith((PREFIX, "http://", "https://"))
