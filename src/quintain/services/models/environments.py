"""The packages that a submitted model brings along: one folder for each set of requirements, made once.

`requirements.txt` names packages and versions, nothing else: no options, no addresses, no paths. Where the model has a
folder `wheels`, everything comes from there and nothing is fetched; a source archive in it is built inside the sandbox.

All of them together may take so much room; beyond it, those that nobody has used for longest are taken away, and made
anew when they are needed again. One that a model is running with is never taken.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from quintain.core.errors import BadInput, Fault
from quintain.core.hashing import content_id
from quintain.core.texts import Text
from quintain.engine.folder_locks import hold_folder, last_used, mark_used, remove_unheld
from quintain.engine.installing import MAX_SIZE, fetch, install
from quintain.engine.scratch import scratch

REQUIREMENTS = "requirements.txt"
WHEELS = "wheels"
MAX_REQUIREMENTS = 200
LISTED = 20
NO_INDEX = "none"
# Long enough for a worker that has just asked for an environment to have started its model.
GRACE_SECONDS = 600.0
_ARCHIVES = (".whl", ".tar.gz", ".zip")
MAX_BYTES = 100_000
MAX_LINE = 500
# Blanks have been made one each before this looks at a line: several kinds of "any number of blanks" in a row would
# let a long line of them take the square of its length.
_REQUIREMENT = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"  # the name
    r"(?: ?\[[A-Za-z0-9._, -]*\])?"  # extras
    r" ?(?:\(? ?(?:[<>=!~]=?|===) ?[A-Za-z0-9.*+!_-]+(?: ?, ?(?:[<>=!~]=?|===) ?[A-Za-z0-9.*+!_-]+)* ?\)?)?"
    r" ?(?:;[\w .'\"<>=!()-]+)?"  # a marker
)


def read_requirements(folder: Path) -> list[str]:
    """Read the requirements of the model in *folder*, or name every line that is none."""
    path = folder / REQUIREMENTS
    if not path.is_file():
        return []
    requirements, faults = [], []
    if path.stat().st_size > MAX_BYTES:
        raise BadInput(faults=[Fault("has more than {most:,} bytes", most=MAX_BYTES, file=REQUIREMENTS)])
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise BadInput(faults=[Fault("is not UTF-8", file=REQUIREMENTS)]) from None
    for number, line in enumerate(lines, start=1):
        text = " ".join(_without_comment(line).split())
        if not text:
            continue
        if len(text) > MAX_LINE:
            faults.append(
                Fault(
                    "'{text}…' has more than {most} characters",
                    text=text[:80],
                    most=MAX_LINE,
                    file=REQUIREMENTS,
                    line=number,
                )
            )
        elif _REQUIREMENT.fullmatch(text):
            requirements.append(text)
        else:
            what = Text("options are not read") if text.startswith("-") else Text("it is not a name with versions")
            faults.append(
                Fault("'{text}' is refused: {what}", text=text[:80], what=what, file=REQUIREMENTS, line=number)
            )
    if len(requirements) > MAX_REQUIREMENTS:
        faults.append(
            Fault(
                "names {n} packages; {most} are allowed", n=len(requirements), most=MAX_REQUIREMENTS, file=REQUIREMENTS
            )
        )
    if faults:
        raise BadInput(faults=faults[:LISTED], total=len(faults), remedy="Write lines such as: scikit-learn==1.7.2")
    return requirements


def _without_comment(line: str) -> str:
    """Return a line as far as its comment, which begins it or follows a blank."""
    words = line.split("#")
    content = words[0]
    for word in words[1:]:
        if not content or content[-1].isspace():
            break
        content += "#" + word
    return content


def vendored(folder: Path) -> list[Path]:
    """List the packages that the model brings in its folder `wheels`, or say which file there is none."""
    wheels = folder / WHEELS
    files = sorted(path for path in wheels.rglob("*") if path.is_file()) if wheels.is_dir() else []
    wrong = [path for path in files if not path.name.endswith(_ARCHIVES) or path.parent != wheels]
    if wrong:
        faults = [
            Fault("is neither a wheel nor a source archive", file=str(path.relative_to(folder))) for path in wrong
        ]
        raise BadInput(faults=faults[:20], total=len(faults))
    return files


@dataclass(frozen=True, slots=True)
class Environments:
    """Where environments are kept. *index* is where wheels are fetched: empty for pip's own, `none` for nowhere.

    One may take *limit* bytes, all together *room*; 0 sets no bound to all.
    """

    folder: Path
    index: str = ""
    limit: int = MAX_SIZE
    room: int = 0
    grace: float = GRACE_SECONDS

    def packages(self, model: Path) -> tuple[Path, ...]:
        """Return the folders of packages that *model* needs, made now if nobody has needed them yet."""
        requirements = read_requirements(model)
        if not requirements:
            return ()
        environment = self.folder / self.key(model, requirements)
        if not _is_usable(environment):
            self._make(model, requirements, environment)
            mark_used(environment, time.time())
            self.make_room()
        return (environment,)

    def ready(self, model: Path) -> bool:
        """Whether the packages that the model in *model* needs are there already, or none are needed."""
        requirements = read_requirements(model)
        return not requirements or (self.folder / self.key(model, requirements)).is_dir()

    def make_room(self) -> list[str]:
        """Take away what nobody has used for longest until the rest has room; give the keys of what went."""
        if not self.room or not self.folder.is_dir():
            return []
        environments = [path for path in self.folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
        sizes = {path: _size(path) for path in environments}
        total, gone = sum(sizes.values()), []
        for path in sorted(environments, key=last_used):
            if total <= self.room:
                break
            if remove_unheld(path, unused_since=time.time() - self.grace):
                total -= sizes[path]
                gone.append(path.name)
        return gone

    def key(self, model: Path, requirements: list[str]) -> str:
        """Name the environment by all that decides its content."""
        files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in vendored(model)}
        return content_id(
            {
                "python": platform.python_version(),
                "machine": platform.machine(),
                "index": self.index,
                "requirements": sorted(requirements),
                "files": files,
            }
        )

    def _make(self, model: Path, requirements: list[str], environment: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self.folder / f".{environment.name}-{secrets.token_hex(4)}"
        try:
            with scratch("wheels") as fetched:
                wheels = fetched
                if vendored(model):
                    wheels = model / WHEELS
                elif self.index == NO_INDEX:
                    raise BadInput(
                        "This server fetches no packages.",
                        remedy="Put wheels into a folder `wheels` beside the handler.",
                    )
                else:
                    fetch(requirements, wheels, index=self.index, limit=self.limit)
                install(requirements, wheels, unfinished, limit=self.limit)
            unfinished.chmod(0o755)
            try:
                os.rename(unfinished, environment)
            except OSError:
                if not environment.is_dir():  # another worker may have been quicker, with the same content
                    raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _is_usable(environment: Path) -> bool:
    """Whether the environment is there; notes that it is used now."""
    try:
        with hold_folder(environment):
            mark_used(environment, time.time())
    except FileNotFoundError:
        return False
    return True


def _size(folder: Path) -> int:
    """Add up the files of *folder*; one that another process takes away meanwhile counts for nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total
