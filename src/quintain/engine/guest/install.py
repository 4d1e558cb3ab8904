"""The program that installs a model's requirements inside the sandbox: offline, from the files that it is shown.

Started as `python -I install.py PIPE WHEELS PACKAGES`. What it made is handed out as one tar file, in parts.
"""

from __future__ import annotations

import base64
import ctypes
import os
import subprocess
import sys
import tarfile
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from main import Pipe  # type: ignore[import-not-found]  # beside this file, which runs as a program

TARGET = "/tmp/packages"  # noqa: S108 - the private one inside
PACKED = "/tmp/packages.tar"  # noqa: S108
SHOWN = 4000
PR_SET_DUMPABLE = 4


def install(requirements: list[str], wheels: str, packages: str) -> dict[str, Any]:
    """Run pip with the given requirements; source archives are built here, by the platform's own build tools."""
    file = "/tmp/requirements.txt"  # noqa: S108
    with open(file, "w", encoding="utf-8") as stream:
        stream.write("\n".join(requirements) + "\n")
    command = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-input", "install"]
    command += ["--no-index", "--find-links", wheels, "--no-build-isolation", "--no-cache-dir", "--no-compile"]
    command += ["--no-warn-script-location", "--root-user-action=ignore", "--target", TARGET, "-r", file]
    environment = {**os.environ, "PYTHONPATH": packages}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if result.returncode != 0:
        output = (result.stderr.strip() or result.stdout.strip())[-SHOWN:]
        return {"refused": output, "log": result.stdout[-SHOWN:]}
    os.makedirs(TARGET, exist_ok=True)
    with tarfile.open(PACKED, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.add(TARGET, ".", filter=_plain)
    return {"size": os.path.getsize(PACKED)}


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return member if member.isreg() or member.isdir() else None


def _keep_to_ourselves() -> None:
    """Keep what is built here from this process's memory and files: it runs as the same user."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def main() -> None:
    """Serve requests until the pipe closes."""
    _keep_to_ourselves()
    pipe = Pipe(int(sys.argv[1]))
    while (request := pipe.read()) is not None:
        if request["op"] == "install":
            pipe.write(install(request["requirements"], *sys.argv[2:4]))
        else:
            with open(PACKED, "rb") as stream:
                stream.seek(request["offset"])
                pipe.write({"data": base64.b64encode(stream.read(request["size"])).decode()})


if __name__ == "__main__":
    main()
