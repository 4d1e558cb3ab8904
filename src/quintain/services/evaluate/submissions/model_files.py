"""What a model may be handed in as: a folder, an archive of one, or one file that is a whole model by itself."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quintain.adapters.scaffold import bare_endings, is_bare, wrap_file
from quintain.core.errors import BadInput, NotFound
from quintain.core.texts import Text
from quintain.engine.archives import ArchiveLimits, is_archive, model_root, unpack_archive

ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")


@contextmanager
def opened_model(path: Path, limits: ArchiveLimits | None = None, *, filename: str = "") -> Iterator[Path]:
    """Return the folder of the model at *path* for as long as the block runs; a folder is returned as it is.

    *filename* is what whoever sent the file calls it, where it lies under another name: by that, one file that is a
    whole model is known.
    """
    if path.is_dir():
        yield path
        return
    if not path.is_file():
        raise NotFound("There is no folder {folder}.", folder=path, remedy="`quintain model init` makes one.")
    with tempfile.TemporaryDirectory(prefix="quintain-model-") as name:
        folder = Path(name) / "model"
        if is_bare(filename or path.name):
            wrap_file(path, folder, filename)
            yield folder
            return
        if not is_archive(path):
            raise BadInput(
                "{name} is neither an archive nor a file that is a whole model by itself.",
                name=filename or path.name,
                remedy=accepted_formats(),
            )
        unpack_archive(path, folder, limits, name=filename[:80] or Text("of the model"))
        yield model_root(folder)


def accepted_formats() -> Text:
    """Return a sentence on which files a model may be handed in as."""
    return Text(
        "A model is a folder packed as .tar.gz or .zip, or one file by itself: {endings}.",
        endings=", ".join(sorted(bare_endings())),
    )


def accepted_files() -> str:
    """Return the endings of files that may be handed in, as a form's control for files takes them."""
    return ",".join([*ARCHIVES, ".gz", *sorted(bare_endings())])
