"""Whether predicted labels are the gold ones at all: a slip in a file looks like a model that is always wrong.

Labels that differ in case stay different, and `pos` is not `1`. But where hardly any label that was predicted occurs
among the gold ones, that is said aloud, with what it may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from quintain.core.label_form import LabelNames
from quintain.core.texts import Text

HARDLY = 0.1  # of the predictions have a label that is gold
MANY = 0.05  # of the predictions would be a gold label in another case
SHOWN = 5  # labels that a warning names


def label_warnings(gold: Iterable[Any], predicted: Iterable[Any], *, what: str = Text("predictions")) -> list[Text]:
    """Return what may be wrong with the labels of *predicted*: None is no answer, and is not looked at.

    >>> label_warnings(["yes", "no"], ["Yes", "No"])[0]
    "2 of 2 predictions differ from a gold label in case only, and count as wrong: 'No' for 'no', 'Yes' for 'yes'."
    >>> label_warnings(["1", "0"], [1.0, True])
    []
    """
    names = LabelNames(sorted({str(label) for label in gold if label is not None}))
    counts = Counter(label for label in predicted if label is not None)
    strange = {label: count for label, count in counts.items() if names.find(label) is None}
    total = sum(counts.values())
    if not strange or not total:
        return []
    by_case = {name.casefold(): name for name in names.all()}
    slips = {str(label): by_case[key] for label in strange if (key := str(label).strip().casefold()) in by_case}
    slipped = sum(count for label, count in strange.items() if str(label) in slips)
    if slipped >= MANY * total:
        return [_case(slips, slipped, total, what)]
    return [_strangers(names, strange, total, what)] if sum(strange.values()) >= (1 - HARDLY) * total else []


def _case(slips: Mapping[str, str], slipped: int, total: int, what: str) -> Text:
    pairs = ", ".join(f"'{said}' for '{name}'" for said, name in sorted(slips.items())[:SHOWN])
    return Text(
        "{slipped:,} of {total:,} {what} differ from a gold label in case only, and count as wrong: {pairs}.",
        slipped=slipped,
        total=total,
        what=what,
        pairs=pairs,
    )


def _strangers(names: LabelNames, strange: Mapping[Any, int], total: int, what: str) -> Text:
    often = sorted(strange, key=lambda label: (-strange[label], str(label)))
    return Text(
        "{strange:,} of {total:,} {what} are no label of the gold answers ({gold}), and count as wrong: {said}. "
        "Are they coded in another way?",
        strange=sum(strange.values()),
        total=total,
        what=what,
        gold=_listed(names.all()),
        said=_listed(str(label) for label in often),
    )


def _listed(labels: Iterable[str]) -> str:
    every = [f"'{label}'" for label in labels]
    return ", ".join(every[:SHOWN]) + (", …" if len(every) > SHOWN else "")
