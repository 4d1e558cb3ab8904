"""Backups that are damaged on purpose."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def rewrite(file: Path, member: str, change: Callable[[bytes], bytes]) -> None:
    """Change one member of a ZIP file."""
    copy = file.with_suffix(".copy")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == member else old.read(name))
    shutil.move(copy, file)


def forge(file: Path, table: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change the rows of *table*, and the hash that the manifest has of them."""
    with zipfile.ZipFile(file) as bundle:
        rows = [change(json.loads(line)) for line in bundle.open(f"tables/{table}.jsonl")]
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    assert content, f"{table} has no row to change"

    def sign(data: bytes) -> bytes:
        manifest = json.loads(data)
        manifest["tables"][table]["sha256"] = hashlib.sha256(content).hexdigest()
        return json.dumps(manifest).encode()

    rewrite(file, f"tables/{table}.jsonl", lambda _: content)
    rewrite(file, "manifest.json", sign)
