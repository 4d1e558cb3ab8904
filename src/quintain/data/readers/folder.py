"""A folder in the style of Hugging Face: README with front matter, and files by split.

Splits come from the README's `configs`, or else from the names of the files (`train.csv`, `data/test-00000.parquet`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, NotFound
from quintain.core.texts import Text
from quintain.data.frontmatter import read_configs
from quintain.data.readers.contract import READERS, Options, RequestedColumns, RowBatch, Source, guess_format

_SAME = {"dev": "validation", "valid": "validation", "val": "validation", "training": "train", "testing": "test"}
_IN_NAME = re.compile(r"(?:^|[^a-z])(train|training|dev|valid|val|validation|test|testing)(?:[^a-z]|$)")


@READERS.register("folder")
def open_folder(path: Path, options: Options) -> Source:
    """Open the files of one split of the folder, one after the other."""
    if not path.is_dir():
        raise NotFound("There is no folder {folder}.", folder=path, remedy="Check the spelling.")
    splits = find_splits(path)
    wanted_split = _usual(options.split or "test")
    files = splits.get(wanted_split, [])
    if not files:
        available = ", ".join(splits) or Text("none")
        raise NotFound(
            "{name} has no split '{split}'.",
            name=path.name,
            split=options.split or "test",
            there=available,
            remedy="It has: {there}. Choose with --split.",
            page="It has: {there}. Choose one of them.",
        )
    sources = [READERS.get(guess_format(file))(file, options) for file in files]
    for file, source in zip(files, sources, strict=True):
        if set(source.columns) != set(sources[0].columns):
            raise BadInput(
                "{name} has other columns than {other}, though both are '{split}'.",
                name=file.name,
                other=files[0].name,
                split=wanted_split,
            )

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        before = 0
        for source in sources:
            for batch in source.batches(requested):
                yield RowBatch(batch.file, batch.frame, batch.rows, batch.faults, before + batch.done)
            before += source.size

    return Source(path.name, sources[0].columns, sum(source.size for source in sources), batches, sources[0].usual)


def find_splits(folder: Path) -> dict[str, list[Path]]:
    """Return the files of every split of *folder*."""
    readme = folder / "README.md"
    configs: list[dict[str, Any]] = []
    if readme.is_file():
        configs = read_configs(readme.read_bytes().decode("utf-8", errors="replace"), file=f"{folder.name}/README.md")
    if configs:
        return _declared(folder, configs)
    splits: dict[str, list[Path]] = {}
    for file in sorted(folder.rglob("*")):
        location = file.relative_to(folder).as_posix().lower()
        match = _IN_NAME.search(location)
        if match and file.is_file() and _is_data(file):
            splits.setdefault(_usual(match[1]), []).append(file)
    return splits


def _declared(folder: Path, configs: list[dict[str, Any]]) -> dict[str, list[Path]]:
    default = [
        config for config in configs if config.get("default") == "true" or config.get("config_name") == "default"
    ]
    config = (default or configs)[0]
    entries = config.get("data_files") or []
    if isinstance(entries, dict):
        entries = [{"split": split, "path": where} for split, where in entries.items()]
    if isinstance(entries, str):
        entries = [{"split": "train", "path": entries}]
    splits: dict[str, list[Path]] = {}
    for entry in entries:
        declared = entry if isinstance(entry, dict) else {"split": "train", "path": entry}
        patterns = declared.get("path") or []
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            files = _matching(folder, pattern, config.get("data_dir"))
            splits.setdefault(_usual(str(declared.get("split", "train"))), []).extend(files)
    return splits


def _matching(folder: Path, pattern: str, inside: str | None) -> list[Path]:
    for part in (pattern, inside or ""):
        if not isinstance(part, str) or part.startswith("/") or ".." in Path(part).parts or "://" in part:
            raise BadInput(
                "{name}/README.md names '{place}', which is not a file in the folder.", name=folder.name, place=part
            )
    base = folder / inside if inside else folder
    files = sorted(file for file in base.glob(pattern) if file.is_file())
    if not files:
        raise NotFound(
            "{name}/README.md names '{pattern}', and there is no such file.", name=folder.name, pattern=pattern
        )
    return files


def _is_data(file: Path) -> bool:
    try:
        return guess_format(file) in {"jsonl", "csv", "tsv", "parquet"}
    except BadInput:
        return False


def _usual(split: str) -> str:
    return _SAME.get(split.lower(), split.lower())
