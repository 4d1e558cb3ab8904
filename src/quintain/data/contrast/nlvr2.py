"""NLVR2: a sentence that is true or false of two images. The originals are in NLVR2 itself; images are addresses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quintain.core.jsontext import NotJson, parse_json
from quintain.core.texts import Text
from quintain.data.contrast.contract import CONTRAST_FORMATS, ContrastFiles, ContrastFormat, ContrastSets, Member
from quintain.data.text import read_bytes


def read(files: ContrastFiles) -> ContrastSets:
    """Read `contrast_set_nlvr2.jsonl` and, where it is given, the file of NLVR2 with the originals."""
    path = files.file(r"contrast.*\.jsonl$")
    sets = ContrastSets(path.name)
    for number, row in _lines(path, sets):
        name = str(row.get("identifier"))
        _add(sets, number, row, name, name.rpartition("-")[0])
    if files.originals is not None:
        origins = {member.set for member in sets.members}
        first = ContrastSets(files.originals.name)
        for number, row in _lines(files.originals, first):
            if str(row.get("identifier")) in origins:
                _add(first, number, row, str(row["identifier"]), str(row["identifier"]), original=True)
        sets.members[:0] = first.members
        sets.faults += first.faults
    return sets


def _lines(path: Path, sets: ContrastSets) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(read_bytes(path).decode().split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except NotJson as error:
            sets.fault(Text("not JSON: {error}", error=error), number)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            sets.fault(Text("not a JSON object"), number)


def _add(
    sets: ContrastSets, number: int, row: dict[str, Any], name: str, origin: str, *, original: bool = False
) -> None:
    label = str(row.get("label")).lower()
    parts = {"left_image": row.get("left_url"), "right_image": row.get("right_url"), "statement": row.get("sentence")}
    if (
        label not in {"true", "false"}
        or not all(isinstance(part, str) and part for part in parts.values())
        or not origin
    ):
        sets.fault(
            Text("a line needs a sentence, two addresses of images, an identifier and a label true or false"), number
        )
        return
    # Some addresses have spaces in them, as they were found.
    inputs = {key: str(part).strip().replace(" ", "%20") if "image" in key else part for key, part in parts.items()}
    sets.members.append(Member(number, name, origin, original, inputs, label, label))


CONTRAST_FORMATS.register("nlvr2")(
    ContrastFormat(
        "nlvr2",
        read,
        'kind = "image-pair"',
        "accuracy",
        "Statements on two images: 994 in 479 sets; the originals are in NLVR2's own file.",
    )
)
