"""Files that come and go: an upload on disk for as long as it is read, a download that is removed once it is sent.

An upload that is looked at before it is imported is kept for a day, under a name that cannot be guessed.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

from starlette.background import BackgroundTask
from starlette.datastructures import UploadFile
from starlette.responses import FileResponse, Response

from quintain.core.errors import BadInput
from quintain.data.limits import FileLimits, check_limits
from quintain.store.blobs import Blobs

MEDIA_TYPES = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "parquet": "application/vnd.apache.parquet",
}
ARCHIVE_TYPE = "application/zip"


@contextmanager
def on_disk(upload: UploadFile, limits: FileLimits | None) -> Iterator[Path]:
    """Put an upload into a folder of its own, under the name it came with, while the block runs.

    A file that unpacks to more than *limits* is refused; None is for what has limits of its own, as archives do.
    """
    with tempfile.TemporaryDirectory(prefix="quintain-upload-") as folder:
        path = _written(upload, Path(folder))
        if limits is not None:
            check_limits(path, limits)
        yield path


@contextmanager
def several_on_disk(uploads: Sequence[UploadFile], limits: FileLimits) -> Iterator[Path]:
    """Put uploads into one folder while the block runs, and give that; of a single one, give the file.

    A file that unpacks to more than *limits* is refused.
    """
    with tempfile.TemporaryDirectory(prefix="quintain-upload-") as folder:
        paths = [_written(upload, Path(folder)) for upload in uploads]
        for path in paths:
            check_limits(path, limits)
        yield paths[0] if len(paths) == 1 else Path(folder)


@contextmanager
def rows_on_disk(rows: Sequence[Mapping[str, Any]], name: str) -> Iterator[Path | None]:
    """Put rows that came in a request into a file, called *name*, while the block runs; None where there are none."""
    with tempfile.TemporaryDirectory(prefix="quintain-rows-") as folder:
        path = Path(folder) / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        yield path if rows else None


def _written(upload: UploadFile, folder: Path) -> Path:
    name = _usable(upload.filename or "")
    path = folder / name
    if path.exists():
        raise BadInput("There are two files called {name}.", name=name, remedy="Give each a name of its own.")
    with path.open("wb") as target:
        shutil.copyfileobj(upload.file, target, 1 << 20)
    return path


def _usable(called: str) -> str:
    name = Path(called.replace("\\", "/")).name
    if not name or name.startswith(".") or not name.isprintable() or len(name.encode()) > 200:
        raise BadInput("The file has no usable name.", remedy="Rename it to something like reviews.jsonl.")
    return name


def send_bytes(data: bytes, name: str, media_type: str) -> Response:
    """Send *data* as a file called *name*, which is of our making."""
    return Response(data, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def download(name: str, form: str, write: Callable[[Path], object]) -> FileResponse:
    """Let *write* make a file of the format *form*, send it as *name*, and remove it afterwards."""
    if form not in MEDIA_TYPES:
        raise BadInput(
            "'{form}' is not a format to export to.",
            form=form,
            known=", ".join(MEDIA_TYPES),
            remedy="Choose one of: {known}.",
        )
    return _sent(f"{name}.{form}", MEDIA_TYPES[form], write)


def download_archive(name: str, write: Callable[[Path], object]) -> FileResponse:
    """Let *write* make a ZIP file, send it as *name*, and remove it afterwards."""
    return _sent(f"{name}.zip", ARCHIVE_TYPE, write)


def download_json(name: str, write: Callable[[Path], object]) -> FileResponse:
    """Let *write* make a file of JSON, send it as *name*, and remove it afterwards."""
    return _sent(f"{name}.json", "application/json", write)


def _sent(name: str, media_type: str, write: Callable[[Path], object]) -> FileResponse:
    folder = Path(tempfile.mkdtemp(prefix="quintain-download-"))
    path = folder / name
    try:
        write(path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    tidy = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(path, media_type=media_type, filename=name, background=tidy)


def keep_upload(blobs: Blobs, source: Path) -> str:
    """Keep what was sent, a file or a folder of several, for a day; the name that is given is known to nobody else."""
    with blobs.scratch(suffix=".data") as path:
        if source.is_dir():
            with ZipFile(path, "w", ZIP_STORED) as archive:
                for member in sorted(source.iterdir()):
                    archive.write(member, member.name)
        else:
            shutil.copyfile(source, path)
        return blobs.put_passing(path)


@contextmanager
def kept_on_disk(blobs: Blobs, key: str, name: str, limits: FileLimits) -> Iterator[Path]:
    """Yield a file that `keep_upload` has kept, under the *name* that it came with, while the block runs."""
    stored = blobs.passing(key)
    if stored is None:
        raise BadInput("The file was thrown away after a day.", remedy="Choose it again.")
    with tempfile.TemporaryDirectory(prefix="quintain-kept-") as folder:
        path = Path(folder) / _usable(name)
        path.symlink_to(stored)
        check_limits(path, limits)
        yield path
