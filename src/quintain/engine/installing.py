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
from quintain.core.texts import Text
from quintain.core.untrusted import Bounds, storable
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
FILES = 100_000
SHOWN = 1_000
TAR_HEADERS = 2048  # bytes that a member takes in an archive beside its content
REPLY = Bounds(size=2 * PART, text=2 * PART, elements=64)


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
        raise Unavailable(
            "Fetching the requirements took longer than {seconds} seconds.", seconds=FETCH_SECONDS
        ) from None
    if result.returncode != 0:
        raise _refusal(result.stderr, Text("cannot be fetched as wheels"))
    size = sum(path.stat().st_size for path in folder.iterdir())
    if size > limit:
        raise BadInput(
            "The requirements take {size:,} MiB; {limit:,} MiB are allowed.", size=size // MIB, limit=limit // MIB
        )


def install(requirements: Sequence[str], wheels: Path, target: Path, *, limit: int = MAX_SIZE) -> None:
    """Install *requirements* from the files in *wheels* into *target*, inside the sandbox and offline."""
    require_start(Text("A model's requirements are installed in the sandbox"))
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
                most = limit + FILES * TAR_HEADERS
                packed = _collect(process, list(requirements), Path(name) / "packages.tar", most)
        except RunEnded as error:
            raise BadInput("The requirements cannot be installed: {message}", message=error.message) from error
        unpack_archive(
            packed, target, ArchiveLimits(files=FILES, size=limit), name=Text("of the installed requirements")
        )


def _collect(process: SandboxedProcess, requirements: list[str], target: Path, limit: int) -> Path:
    """Read back what was made. What is built inside may have taken the replies over: nothing is read beyond *limit*."""
    reply = process.call({"op": "install", "requirements": requirements}, REPLY).reply
    if "refused" in reply:
        raise _refusal(str(reply["refused"]), Text("cannot be installed"))
    size = reply.get("size")
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= limit:
        raise BadInput("The installed requirements would take more than {limit:,} MiB.", limit=limit // MIB)
    with target.open("wb") as stream:
        while stream.tell() < size:
            part = process.call({"op": "read", "offset": stream.tell(), "size": PART}, REPLY).reply.get("data")
            data = _decoded(part)
            if not 0 < len(data) <= min(PART, size - stream.tell()):
                raise BadInput("The installed requirements could not be read back.")
            stream.write(data)
    return target


def _decoded(part: object) -> bytes:
    try:
        return base64.b64decode(part, validate=True) if isinstance(part, str) else b""
    except ValueError:
        return b""


def _refusal(output: str, what: str) -> BadInput:
    lines = [line for line in output.strip().splitlines() if line.startswith("ERROR")] or output.strip().splitlines()[
        -3:
    ]
    reason = " ".join(line.removeprefix("ERROR: ").strip() for line in lines[:3])
    return BadInput(
        "requirements.txt {what}: {reason}",
        what=what,
        reason=storable(reason, SHOWN),
        remedy="Only wheels are taken; put others into the folder `wheels`, as wheels or as source archives.",
    )
