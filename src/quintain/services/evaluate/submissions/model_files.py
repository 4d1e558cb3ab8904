"""What a model may be handed in as: a folder, an archive of one, or one file that is a whole model by itself."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quintain.adapters.scaffold import (
    adapter_of_folder,
    bare_endings,
    is_bare,
    model_name,
    wrap_file,
    write_manifest_and_card,
)
from quintain.core.errors import BadInput, NotFound
from quintain.core.texts import Text
from quintain.engine.archives import ArchiveLimits, is_archive, model_root, unpack_archive

ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")


@contextmanager
def opened_model(path: Path, limits: ArchiveLimits | None = None, *, filename: str = "") -> Iterator[Path]:
    """Yield the folder of the model at *path* for as long as the block runs; one with a manifest as it is.

    One without a manifest is completed where its files tell what runs it, in a copy. *filename* is what whoever sent
    the file calls it, where it lies under another name: by that, one file that is a whole model is known.
    """
    if path.is_dir():
        if adapter_of_folder(path) is None:
            yield path
            return
        with tempfile.TemporaryDirectory(prefix="quintain-model-") as name:
            yield _completed(shutil.copytree(path, Path(name) / "model"), path.name)
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
        sender_calls_it = filename or path.name
        yield _completed(model_root(folder), sender_calls_it)


def _completed(folder: Path, called: str) -> Path:
    """Add a manifest and a card to *folder* where its files tell which adapter runs it and it has no manifest."""
    member = adapter_of_folder(folder)
    if member is not None:
        stem = called[: -len(ending)] if (ending := next(filter(called.endswith, ARCHIVES), "")) else called
        use = f"Not said: the model was handed in as the folder {stem[:80]}, without a card."
        write_manifest_and_card(folder, member, name=model_name(stem), use=use)
    return folder


def accepted_formats() -> Text:
    """Return a sentence on which files a model may be handed in as."""
    return Text(
        "A model is a folder packed as .tar.gz or .zip, or one file by itself: {endings}.",
        endings=", ".join(sorted(bare_endings())),
    )


def accepted_files() -> str:
    """Return the endings of files that may be handed in, as a form's control for files takes them."""
    return ",".join([*ARCHIVES, ".gz", *sorted(bare_endings())])
