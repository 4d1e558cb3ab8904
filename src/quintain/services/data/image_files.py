"""Stored images as files beside a table that goes out: named by paths, as an import reads them back.

In a workspace an example names an image by its content (`blob:` and a SHA-256). Elsewhere that says nothing, so a table
that goes out names `images/<sha256>.png`, and the file lies there.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from quintain.core.errors import NotFound
from quintain.core.task import Task
from quintain.data.images import PREFIX, image_fields, image_kind
from quintain.store.blobs import Blobs

FOLDER = "images"
SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


def with_image_paths(blobs: Blobs, task: Task, table: pl.LazyFrame) -> tuple[pl.LazyFrame, Mapping[str, Path]]:
    """Return *table* with paths in place of the names of stored images, and the file that belongs to each path.

    Reads the columns of images, each name once. An image that is not in the workspace keeps its name.
    """
    schema = table.collect_schema()
    columns = [name for name in image_fields(task) if name in schema]
    paths: dict[str, str] = {}
    files: dict[str, Path] = {}
    for column in columns:
        names = table.select(pl.col(column).drop_nulls().unique()).collect().to_series()
        for name in names.filter(names.str.starts_with(PREFIX)).to_list():
            source = _file_of(blobs, name)
            if name not in paths and source is not None:
                paths[name] = f"{FOLDER}/{name.removeprefix(PREFIX)}.{_suffix(source)}"
                files[paths[name]] = source
    if not paths:
        return table, {}
    return table.with_columns(pl.col(column).replace(paths) for column in columns), files


def copy_images(files: Mapping[str, Path], folder: Path) -> None:
    """Put *files* at their paths below *folder*; one that is there already is the same, by its name."""
    for path, source in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copyfile(source, target)


def _file_of(blobs: Blobs, name: str) -> Path | None:
    try:
        path = blobs.path(name.removeprefix(PREFIX))
    except NotFound:
        return None
    return path if path.is_file() else None


def _suffix(source: Path) -> str:
    with source.open("rb") as stream:
        return SUFFIXES.get(image_kind(stream.read(16)) or "", "bin")
