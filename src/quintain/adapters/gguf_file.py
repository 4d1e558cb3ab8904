"""What a GGUF file says of itself, read without loading it. Standard library only: it also runs in the sandbox.

A file begins with its metadata: pairs of a key and a typed value, then name, shape and type of every tensor. Nothing in
it is trusted: every length is held against what is left of the file.
"""

from __future__ import annotations

import math
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from quintain.core.texts import Text

MAGIC = b"GGUF"
VERSIONS = (2, 3)
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, ARRAY = 8, 9
MOST_DIMENSIONS = 8
LONGEST_NAME = 200  # characters of a model's name that are kept


class NotGguf(ValueError):
    """The file is none, or its beginning is damaged; *reason* says which."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a model says of itself: its *name*, how many *parameters* it has, the most tokens that it reads (*context*).

    *context* is 0 where the file does not say, and *template* empty where it has none for conversations.
    """

    name: str
    parameters: int
    context: int
    template: str
    size: int


def read_header(path: Path) -> GgufHeader:
    """Read the beginning of the file at *path*, or raise NotGguf saying what is wrong with it."""
    with path.open("rb") as stream:
        return _HeaderReader(stream).read()


class _HeaderReader:
    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.size = os.fstat(stream.fileno()).st_size

    def read(self) -> GgufHeader:
        if self._bytes(4) != MAGIC:
            raise NotGguf(Text("does not begin as a GGUF file does"))
        version = self._number("I")
        if version not in VERSIONS:
            known = ", ".join(map(str, VERSIONS))
            raise NotGguf(Text("is of version {version} of its format, not of {known}", version=version, known=known))
        tensors, pairs = self._number("Q"), self._number("Q")
        values: dict[str, Any] = {}
        for _ in range(pairs):
            key = self._text()
            values[key] = self._value(self._number("I"))
        parameters = sum(self._tensor() for _ in range(tensors))
        context = values.get(f"{values.get('general.architecture')}.context_length")
        template = values.get("tokenizer.chat_template")
        name = values.get("general.name")
        return GgufHeader(
            name=name[:LONGEST_NAME] if isinstance(name, str) else "",
            parameters=parameters,
            context=context if isinstance(context, int) else 0,
            template=template if isinstance(template, str) else "",
            size=self.size,
        )

    def _value(self, kind: int) -> Any:
        """Read a value; of a list nothing is kept."""
        if kind == TEXT:
            return self._text()
        if kind != ARRAY:
            return self._number(self._scalar(kind))
        of, count = self._number("I"), self._number("Q")
        if of == TEXT:
            for _ in range(count):
                self._skip(self._number("Q"))
        else:
            self._skip(struct.calcsize(f"<{self._scalar(of)}") * count)
        return None

    def _scalar(self, kind: int) -> str:
        if kind not in SCALARS:
            raise NotGguf(Text("has a value of the unknown type {kind}", kind=kind))
        return SCALARS[kind]

    def _tensor(self) -> int:
        """Read past one tensor's description, and return how many numbers it holds."""
        self._skip(self._number("Q"))
        dimensions = self._number("I")
        if dimensions > MOST_DIMENSIONS:
            raise NotGguf(Text("has a tensor of {dimensions} dimensions", dimensions=dimensions))
        numbers = math.prod(self._number("Q") for _ in range(dimensions))
        self._skip(struct.calcsize("<IQ"))  # its type, and where it lies
        return numbers

    def _text(self) -> str:
        return self._bytes(self._number("Q")).decode("utf-8", "replace")

    def _number(self, code: str) -> int:
        return int(struct.unpack(f"<{code}", self._bytes(struct.calcsize(f"<{code}")))[0])

    def _skip(self, count: int) -> None:
        if count > self.size - self.stream.tell():
            raise NotGguf(Text("ends before its metadata do"))
        self.stream.seek(count, os.SEEK_CUR)

    def _bytes(self, count: int) -> bytes:
        if count > self.size - self.stream.tell():
            raise NotGguf(Text("ends before its metadata do"))
        return self.stream.read(count)
