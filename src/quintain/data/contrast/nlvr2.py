"""NLVR2: a sentence that is true or false of two images. The originals are in NLVR2 itself; images are addresses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quintain.core.jsontext import NotJson, parse_json
from quintain.core.texts import Text
from quintain.data.contrast.contract import CONTRAST_FORMATS, ContrastFiles, ContrastFormat, ContrastSets, Member
from quintain.data.text import read_bytes


def read(given: ContrastFiles) -> ContrastSets:
    """Read `contrast_set_nlvr2.jsonl` and, where it is given, the file of NLVR2 with the originals."""
    path = given.file(r"contrast.*\.jsonl$")
    found = ContrastSets(path.name)
    for number, row in _lines(path, found):
        name = str(row.get("identifier"))
        _add(found, number, row, name, name.rpartition("-")[0])
    if given.originals is not None:
        wanted = {one.set for one in found.members}
        first = ContrastSets(given.originals.name)
        for number, row in _lines(given.originals, first):
            if str(row.get("identifier")) in wanted:
                _add(first, number, row, str(row["identifier"]), str(row["identifier"]), original=True)
        found.members[:0] = first.members
        found.faults += first.faults
    return found


def _lines(path: Path, found: ContrastSets) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(read_bytes(path).decode().split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except NotJson as error:
            found.fault(Text("not JSON: {error}", error=error), number)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            found.fault(Text("not a JSON object"), number)


def _add(
    found: ContrastSets, number: int, row: dict[str, Any], name: str, origin: str, *, original: bool = False
) -> None:
    label = str(row.get("label")).lower()
    parts = {"left_image": row.get("left_url"), "right_image": row.get("right_url"), "statement": row.get("sentence")}
    if (
        label not in {"true", "false"}
        or not all(isinstance(part, str) and part for part in parts.values())
        or not origin
    ):
        found.fault(
            Text("a line needs a sentence, two addresses of images, an identifier and a label true or false"), number
        )
        return
    # Some addresses have spaces in them, as they were found.
    inputs = {key: str(part).strip().replace(" ", "%20") if "image" in key else part for key, part in parts.items()}
    found.members.append(Member(number, name, origin, original, inputs, label, label))


CONTRAST_FORMATS.register("nlvr2")(
    ContrastFormat(
        "nlvr2",
        read,
        'kind = "image-pair"',
        "accuracy",
        "Statements on two images: 994 in 479 sets; the originals are in NLVR2's own file.",
    )
)
