"""What every published contrast set becomes: members of sets, with where they stand in their file.

A format is one file in this package with one function decorated by `@CONTRAST_FORMATS.register(name)`; another
distribution adds its own through the entry-point group `quintain.contrast`. It says what task its members are of, and
never guesses what a file does not hold: where the originals' answers were not published, they are brought besides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.example import Example
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.registry import Registry
from quintain.core.texts import Text
from quintain.data.tables import FAULT_LIMIT
from quintain.data.text import read_bytes

ORIGINAL, CONTRAST = "original", "contrast"
BROKEN = "of a set that is not whole without them"
# The role of a member as a tag of its example, by which results are told apart.
ROLE_TAGS: Mapping[bool, str] = {True: f"role:{ORIGINAL}", False: f"role:{CONTRAST}"}


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a contrast set: *source* is what its file calls it, *row* where it stands there.

    *answer* is the gold answer as the kind of task has it, *gold* the same as a plain file of examples has it.
    """

    row: int
    source: str
    set: str
    original: bool
    inputs: Mapping[str, Any]
    answer: Any
    gold: Any
    tags: tuple[str, ...] = ()

    @property
    def role(self) -> str:
        """The role: original or contrast."""
        return ORIGINAL if self.original else CONTRAST


@dataclass(slots=True)
class ContrastSets:
    """What was read: members, what is wrong, what was left out and why, and what a reader should know.

    *in_file* counts the neighbours and the sets that the file lists, usable or not.
    """

    file: str
    members: list[Member] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    in_file: tuple[int, int] | None = None

    @property
    def contrasts(self) -> int:
        """How many neighbours can be used."""
        return sum(not member.original for member in self.members)

    @property
    def sets(self) -> int:
        """How many sets they are in."""
        return len({member.set for member in self.members})

    def leave_out(self, reason: str) -> None:
        """Count a row that cannot be used."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1

    def fault(self, reason: Text, row: int) -> None:
        """Note what is wrong in a row."""
        self.faults.append(Fault(reason, file=self.file, row=row))


@dataclass(frozen=True, slots=True)
class ContrastFiles:
    """What an importer is given: the file or folder, the originals where they are apart, and the split."""

    path: Path
    originals: Path | None = None
    split: str = "test"

    def file(self, pattern: str) -> Path:
        """Find the one file that is meant: the path itself, or the one in the folder that fits *pattern*."""
        if not self.path.is_dir():
            return self.path
        matches = sorted(one for one in self.path.rglob("*") if one.is_file() and re.search(pattern, one.name))
        if len(matches) != 1:
            raise NotFound(
                "{path} has {n} files whose name fits '{pattern}'.",
                path=self.path,
                n=len(matches),
                pattern=pattern,
                remedy="Name the file itself, or a folder with one of them.",
            )
        return matches[0]

    def pair(self, original: str, contrast: str) -> tuple[Path, Path]:
        """Find the file of originals and that of their neighbours: both in the folder, or one of them named."""
        if self.path.is_dir():
            return self.originals or self.file(original), self.file(contrast)
        if self.originals is None:
            raise BadInput(
                "The originals of {name} are in a file of their own.",
                name=self.path.name,
                remedy="Name the folder with both files, or the other one with --originals.",
            )
        return self.originals, self.path


@dataclass(frozen=True, slots=True)
class ContrastFormat:
    """A published contrast set: how it is read, which task it is of, by what it is scored, and what to know of it."""

    name: str
    read: Callable[[ContrastFiles], ContrastSets]
    task: str
    metric: str
    about: str


CONTRAST_FORMATS: Registry[ContrastFormat] = Registry(
    "contrast set", package="quintain.data.contrast", group="quintain.contrast"
)


def read_contrast(name: str, files: ContrastFiles) -> ContrastSets:
    """Read a contrast set in the format called *name*; refuse it with everything that is wrong with its files."""
    contents = CONTRAST_FORMATS.get(name).read(files)
    if contents.faults:
        raise BadInput(faults=contents.faults[:FAULT_LIMIT], total=len(contents.faults))
    if not contents.members:
        raise BadInput(faults=[Fault("there is no member of a contrast set", file=contents.file)])
    sets = {member.set for member in contents.members}
    alone = sets - {member.set for member in contents.members if member.original}
    if alone:
        contents.notes.append(
            f"{len(alone)} of {len(sets)} sets have no original here: the file has no answers to them. "
            "Bring the data set that they come from with --originals."
        )
    return contents


def plain_members(members: Iterable[Member]) -> list[dict[str, Any]]:
    """Return members as rows of a file for `contrast score`, inputs included; ids are told apart by role.

    >>> one = Member(2, "7", "7", False, {"text": "No."}, "no", "no")
    >>> plain_members([one])[0]["id"]
    '7/contrast-1'
    """
    numbers: dict[str, int] = {}
    rows = []
    for member in members:
        numbers[member.set] = numbers.get(member.set, 0) + (not member.original)
        name = f"{member.set}/{ORIGINAL}" if member.original else f"{member.set}/{CONTRAST}-{numbers[member.set]}"
        rows.append(
            {
                "id": name,
                "source": member.source,
                "set": member.set,
                "role": member.role,
                "gold": member.gold,
                "tags": list(member.tags),
                **member.inputs,
            }
        )
    return rows


def whole_sets(members: Sequence[Member]) -> tuple[list[Member], dict[str, int]]:
    """Return the members of the sets that have an original and a neighbour, and how many others there are.

    What is left of another set would be consistent for nothing. Where no original is here at all, none is asked for. An
    input may be a member of several sets, and a neighbour that nobody changed is one with the answer that it was given.
    """
    originals = {member.set for member in members if member.original}
    whole = {member.set for member in members if not member.original} & (
        originals or {member.set for member in members}
    )
    members_of_whole = [member for member in members if member.set in whole]
    left = len(members) - len(members_of_whole)
    return members_of_whole, {BROKEN: left} if left else {}


def repeated_inputs(members: Iterable[Member]) -> int:
    """Count the members whose input is that of an earlier one."""
    names = [Example(member.inputs).id for member in members]
    return len(names) - len(set(names))


def without_broken_sets(members: Sequence[Member]) -> tuple[list[Member], dict[str, int]]:
    """Return the members of sets that can be scored, and how many others there are.

    A set whose original is here and whose neighbours all had to be left out would be consistent for nothing. Where no
    original is here they are in a file of their own, and nothing is left out.
    """
    with_neighbour = {member.set for member in members if not member.original}
    whole = [member for member in members if member.set in with_neighbour]
    left = len(members) - len(whole)
    return whole, {BROKEN: left} if left else {}


def stored_members(members: Iterable[Member]) -> list[dict[str, Any]]:
    """Return members as examples of a data set version: the set is the group, the role a tag."""
    return [
        {
            **member.inputs,
            "answer": member.answer,
            "tags": [ROLE_TAGS[member.original], *member.tags],
            "group": member.set,
            "source": member.source,
        }
        for member in members
    ]


def read_json(path: Path) -> Any:
    """Read a file that is one JSON value."""
    try:
        return parse_json(read_bytes(path))
    except NotJson as error:
        raise BadInput(
            faults=[Fault("not JSON: {error}", error=error.reason, file=path.name, line=error.line)]
        ) from None
