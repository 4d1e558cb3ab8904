"""A model's own packages: fetched as wheels only, installed and built inside the sandbox, without a network."""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import quintain.engine.guest
from quintain.core.errors import BadInput, Unavailable
from quintain.engine.archives import ArchiveLimits, unpack_archive
from quintain.engine.sandbox.command import Mount, python_executable, python_mounts
from quintain.engine.sandbox.layers import require_start
from quintain.engine.sandbox.limits import GIB, MIB, Limits, RunEnded
from quintain.engine.sandbox.process import PIPE_TOKEN, SandboxedProcess
from quintain.engine.session import platform_packages
from quintain.engine.staging import readable_folder

GUEST = "/quintain/guest"
WHEELS = "/quintain/wheels"
PACKAGES = "/quintain/packages"
PART = 8 * MIB
FETCH_SECONDS = 900
INSTALL_SECONDS = 900.0
MAX_SIZE = 2 * GIB


def fetch(requirements: Sequence[str], folder: Path, *, index: str = "", limit: int = MAX_SIZE) -> None:
    """Download wheels for *requirements* into *folder*. Nothing but wheels is taken, so no code of theirs runs."""
    file = folder / "requirements.txt"
    file.write_text("\n".join(requirements) + "\n", encoding="utf-8")
    command = ["prlimit", f"--fsize={limit}", "--", sys.executable, "-I", "-m", "pip", "--isolated"]
    command += ["--disable-pip-version-check", "--no-input", "download", "--only-binary", ":all:", "--no-cache-dir"]
    command += [*(["--index-url", index] if index else []), "--dest", str(folder), "-r", str(file)]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    try:
        result = subprocess.run(  # noqa: S603 - the requirements were checked to be names and versions
            command, env=environment, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"Fetching the requirements took longer than {FETCH_SECONDS} seconds.") from None
    if result.returncode != 0:
        raise _refusal(result.stderr, "cannot be fetched as wheels")
    size = sum(path.stat().st_size for path in folder.iterdir())
    if size > limit:
        raise BadInput(f"The requirements take {size // MIB:,} MiB; {limit // MIB:,} MiB are allowed.")


def install(requirements: Sequence[str], wheels: Path, target: Path, *, limit: int = MAX_SIZE) -> None:
    """Install *requirements* from the files in *wheels* into *target*, inside the sandbox and offline."""
    require_start("A model's requirements are installed in the sandbox")
    limits = Limits(
        memory_bytes=2 * limit + GIB,
        cpu_seconds=INSTALL_SECONDS,
        wall_seconds=INSTALL_SECONDS,
        call_seconds=INSTALL_SECONDS,
        file_bytes=2 * limit,
        scratch_bytes=2 * limit,  # the packages, and the same once more as the file that they are handed out in
    )
    guest = Path(quintain.engine.guest.__file__).parent
    with readable_folder(wheels) as shown, tempfile.TemporaryDirectory() as name:
        process = SandboxedProcess(
            [python_executable(), "-I", "-B", "-u", f"{GUEST}/install.py", PIPE_TOKEN, WHEELS, PACKAGES],
            mounts=[
                *python_mounts(),
                Mount(guest, GUEST),
                Mount(shown, WHEELS),
                Mount(platform_packages(), PACKAGES),
            ],
            limits=limits,
        )
        try:
            with process:
                packed = _collect(process, list(requirements), Path(name) / "packages.tar")
        except RunEnded as error:
            raise BadInput(f"The requirements cannot be installed: {error.message}") from error
        unpack_archive(packed, target, ArchiveLimits(files=100_000, size=limit), name="of the installed requirements")


def _collect(process: SandboxedProcess, requirements: list[str], target: Path) -> Path:
    reply = process.call({"op": "install", "requirements": requirements})
    if "refused" in reply:
        raise _refusal(str(reply["refused"]), "cannot be installed")
    size = int(reply.get("size", 0))
    with target.open("wb") as stream:
        while stream.tell() < size:
            part = process.call({"op": "read", "offset": stream.tell(), "size": PART})
            data = base64.b64decode(str(part.get("data", "")))
            if not data:
                raise BadInput("The installed requirements could not be read back.")
            stream.write(data)
    return target


def _refusal(said: str, what: str) -> BadInput:
    lines = [line for line in said.strip().splitlines() if line.startswith("ERROR")] or said.strip().splitlines()[-3:]
    reason = " ".join(line.removeprefix("ERROR: ").strip() for line in lines[:3])
    return BadInput(
        f"requirements.txt {what}: {reason}",
        remedy="Only wheels are taken; put others into the folder `wheels`, as wheels or as source archives.",
    )
