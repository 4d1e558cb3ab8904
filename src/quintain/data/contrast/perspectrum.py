"""PERSPECTRUM: whether a perspective supports a claim. Here the claim is perturbed, and the perspective stands."""

from __future__ import annotations

import csv
import io

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.data.contrast.contract import CONTRAST_FORMATS, ContrastFiles, ContrastFormat, ContrastSets, Member
from quintain.data.text import read_bytes

TASK = """kind = "pair-classification"
labels = ["pos", "neg"]

[options]
first = "claim"
second = "perspective\""""
_ROLES = ("original", "contrast")


def read(files: ContrastFiles) -> ContrastSets:
    """Read `perspectrum_contrast_sets.csv`; a row whose perspective is not relevant to both claims is left out."""
    path = files.file(r"\.csv$")
    table = csv.DictReader(io.StringIO(read_bytes(path).decode(), newline=""))
    required = [
        "perspective",
        *(f"{role}_{part}" for role in _ROLES for part in ("claim", "relevance_label", "stance_label")),
    ]
    missing = [name for name in required if name not in (table.fieldnames or [])]
    if missing:
        raise BadInput(faults=[Fault("there is no column '{name}'", name=missing[0], file=path.name, row=1)])
    sets = ContrastSets(path.name)
    number = 1
    for number, row in enumerate(table, 2):
        if any((row[f"{role}_relevance_label"] or "").strip() != "1" for role in _ROLES):
            sets.leave_out("not relevant to both claims")
            continue
        for role in _ROLES:
            label = (row[f"{role}_stance_label"] or "").strip()
            if label not in {"pos", "neg"}:
                sets.fault(Text("'{label}' is neither pos nor neg", label=label), number)
                continue
            inputs = {"claim": row[f"{role}_claim"], "perspective": row["perspective"]}
            name = str(number - 1)
            sets.members.append(Member(number, name, name, role == "original", inputs, label, label))
    sets.in_file = (number - 1, number - 1)
    return sets


CONTRAST_FORMATS.register("perspectrum")(
    ContrastFormat("perspectrum", read, TASK, "accuracy", "For or against a claim: 217 usable pairs of 494 rows.")
)
