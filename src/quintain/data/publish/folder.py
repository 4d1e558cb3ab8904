"""A collection written as a folder, or as a ZIP of it: one Parquet file for each split, and what describes them.

`hf` is a folder that the library `datasets` loads and `data import` reads back, with README.md and croissant.json;
`croissant` is croissant.json and the files that it names. Tables are copied piece by piece, never read whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from quintain.core.errors import BadInput, Conflict, OutOfOrder
from quintain.data.publish.card import readme
from quintain.data.publish.collection import Collection, PublishedSplit
from quintain.data.publish.croissant import DataFile, croissant

HUGGING_FACE = "hf"
FOLDERS = (HUGGING_FACE, "croissant")
PIECE = 50_000


def write_folder(collection: Collection, form: str, path: Path, *, archive: bool = False) -> None:
    """Write *collection* to the new folder *path*, or with *archive* to the ZIP file *path*; whole, or not at all."""
    if not path.absolute().parent.is_dir():
        raise BadInput("There is no folder {parent} to write to.", parent=path.parent)
    if not archive and path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise Conflict("{path} is there already.", path=path, remedy="Name a folder that is new, or empty.")
    scratch = Path(tempfile.mkdtemp(dir=path.absolute().parent, prefix=f".{path.name}-"))
    try:
        target = scratch / "made"
        _fill(target, collection, form)
        if archive:
            pack(target, scratch / "made.zip")
            target = scratch / "made.zip"
        os.replace(target, path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise OutOfOrder(
            "{path} could not be written: {error}.", path=path, error=str(error).splitlines()[0]
        ) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _fill(folder: Path, collection: Collection, form: str) -> None:
    (folder / "data").mkdir(parents=True)
    files: dict[str, DataFile] = {}
    for split in collection.splits:
        name = f"data/{split.name}.parquet"
        _copy(split, folder / name)
        with (folder / name).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        files[split.name] = DataFile(name, (folder / name).stat().st_size, digest)
    for path, source in collection.images.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / path)
    described = json.dumps(croissant(collection, files), ensure_ascii=False, indent=2)
    (folder / "croissant.json").write_text(f"{described}\n", encoding="utf-8")
    if form == HUGGING_FACE:
        (folder / "README.md").write_text(readme(collection, files), encoding="utf-8")


def _copy(split: PublishedSplit, target: Path) -> None:
    # Left to itself, polars reads further ahead the larger the table is.
    def pieces(*_: object) -> Iterator[pl.DataFrame]:
        return (split.table.slice(start, PIECE).collect() for start in range(0, split.rows, PIECE))

    register_io_source(pieces, schema=split.table.collect_schema()).sink_parquet(target)


def pack(folder: Path, target: Path) -> None:
    """Write the files of *folder* to the ZIP file *target*."""
    # Parquet is compressed already.
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                info = zipfile.ZipInfo(file.relative_to(folder).as_posix())  # of no date, so that the same is the same
                info.external_attr = 0o644 << 16
                with file.open("rb") as source, archive.open(info, "w", force_zip64=True) as packed:
                    shutil.copyfileobj(source, packed, 1 << 20)
