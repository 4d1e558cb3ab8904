"""Submitting a model to a server, part by part; what broke off is taken up where it stopped."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quintain.client.refs import task_path
from quintain.client.transport import Transport
from quintain.core.errors import Conflict, Unavailable
from quintain.core.records.tasks import Submission, Upload

PART = 1 << 20
ATTEMPTS = 5

Progress = Callable[[int, int], None]  # called with the bytes that have arrived, and all


def upload(transport: Transport, archive: Path, progress: Progress, *, part: int = PART) -> str:
    """Send the file *archive*, or what is missing of it there, and give the id of the upload."""
    with archive.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    size = archive.stat().st_size
    state = _ask(transport, "POST", "/uploads", json={"size": size, "sha256": digest})
    address = f"/uploads/{state.id}"
    progress(state.received, size)
    with archive.open("rb") as stream:
        while state.received < size:
            stream.seek(state.received)
            params = {"offset": state.received}
            try:
                state = _ask(transport, "PUT", address, content=stream.read(part), params=params)
            except Conflict:  # it knows better how far it is
                state = _ask(transport, "GET", address)
            progress(state.received, size)
    return str(state.id)


def submit(
    transport: Transport, archive: Path, task: str, *, name: str | None, visibility: str, progress: Progress
) -> Submission:
    """Upload *archive* and submit it to *task*; give the version that was made."""
    body = {
        "upload": upload(transport, archive, progress),
        "file": archive.name,
        "name": name,
        "visibility": visibility,
    }
    return transport.read(Submission, "POST", f"{task_path(task)}/models", json=body)


def _ask(transport: Transport, method: str, path: str, **request: Any) -> Upload:
    """Call an endpoint that may be called twice, again and again while the connection breaks."""
    for attempt in range(ATTEMPTS):
        try:
            return transport.read(Upload, method, path, **request)
        except Unavailable:
            if attempt == ATTEMPTS - 1:
                raise
            time.sleep(0.2 * 2**attempt)
    raise Unavailable("{url} cannot be reached.", url=transport.url)
