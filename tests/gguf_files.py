"""GGUF files for tests: the beginning of one, made here, and the real small model of the extra `local-llm`."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def text(value: str) -> bytes:
    """Write a text as the format has it: its length and its bytes."""
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_header(values: Mapping[str, str | int] | None = None, *, shape: tuple[int, ...] = (4, 3)) -> bytes:
    """Write the beginning of a file with these texts and numbers, a list of two words, and one tensor of *shape*."""
    pairs: dict[str, str | int] = {"general.architecture": "llama", "llama.context_length": 256}
    pairs |= {"general.name": "Tiny", "tokenizer.chat_template": TEMPLATE, **(values or {})}
    data = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs) + 2)
    for key, value in pairs.items():
        data += text(key)
        data += struct.pack("<I", 8) + text(value) if isinstance(value, str) else struct.pack("<II", 4, value)
    data += text("tokenizer.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b")
    data += text("tokenizer.scores") + struct.pack("<IIQ2f", 9, 6, 2, 0.5, 0.25)
    data += text("weights") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, 0)
    return data


def real_model() -> Path:
    """Return the file of the small model; a test that asks for it is skipped where the extra is not installed."""
    from quintain.core.errors import Unavailable
    from quintain.services.house.language_model import weights_file

    try:
        return weights_file()
    except Unavailable as error:
        pytest.skip(str(error))


def folder_with(file: Path, folder: Path) -> Path:
    """Put a model's file into *folder* under its usual name, without copying it where the disk is the same."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        (folder / "model.gguf").hardlink_to(file)
    except OSError:
        (folder / "model.gguf").write_bytes(file.read_bytes())
    return folder
