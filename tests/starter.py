"""Data that is everywhere the tests are: the starter data that is shipped with the package, written for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import quintain

FOLDER = Path(quintain.__file__).parent / "demo_data"
PAIRS = ("contest", "contrast")  # edits and pairs of sentences, with columns of their own


def starter_rows(task: str, *splits: str) -> list[dict[str, Any]]:
    """Give the examples of a starter task; of all its files of examples where none is named."""
    files = [FOLDER / task / f"{split}.jsonl" for split in splits] or sorted((FOLDER / task).glob("*.jsonl"))
    files = [file for file in files if file.stem not in PAIRS]
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
