"""Our own scripts, styles and pictures, under addresses that change whenever any of them does.

The version is a part of the path, not of the query: a module that imports another by a relative address then gets the
one of its own version, never one that the browser has kept from before an upgrade.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
_VERSION = re.compile(r"[0-9a-f]{12}")


@cache
def static_version() -> str:
    """Return the version of all files together."""
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(STATIC).as_posix()}\n{path.stat().st_size}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def static(path: str) -> str:
    """Return the address of a static file or folder."""
    if not (STATIC / path).exists():
        raise FileNotFoundError(f"There is no static file {path}.")
    return f"/static/{static_version()}/{path}"


class Static(StaticFiles):
    """Serve the files. What is asked for under the present version may be kept for a year."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer with a file; pages of an older version get what there is now, not to be kept."""
        version, _, rest = path.partition("/")
        response = await super().get_response(rest if _VERSION.fullmatch(version) else path, scope)
        present = version == static_version()
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if present else "no-cache"
        return response
