"""What models and people return, turned into answers: labels, probabilities, choices and spans."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

from quintain.core.errors import BadInput
from quintain.core.example import Prediction
from quintain.core.label_form import LabelNames, names_of
from quintain.core.texts import Text

# Rounded probabilities are fine; anything further off is not a distribution.
SUM_TOLERANCE = 0.02


def parse_label(labels: Sequence[str], raw: Any) -> Prediction:
    """Read a label, `{label: probability}`, `{"label": …, "probabilities": {…}}` or `[{"label", "score"}, …]`."""
    if isinstance(raw, str) or (isinstance(raw, int | float) and names_of(tuple(labels)).find(raw)):
        return Prediction(known_label(labels, raw))
    if isinstance(raw, Mapping) and "label" in raw and "label" not in labels:
        refuse_unknown(raw, ("label", "probabilities", "score"))
        shares = raw.get("probabilities")
        answer = known_label(labels, raw["label"])
        return Prediction(answer, None if shares is None else distribution(labels, shares))
    if isinstance(raw, Mapping):
        return _most_probable(labels, raw)
    if (
        isinstance(raw, list | tuple)
        and raw
        and all(isinstance(one, Mapping) and isinstance(one.get("label"), str) for one in raw)
    ):
        return _most_probable(labels, {one["label"]: one.get("score") for one in raw})
    raise BadInput(
        "The answer {raw} is neither a label nor probabilities by label.", raw=show(raw), remedy=_known(labels)
    )


def _most_probable(labels: Sequence[str], raw: Mapping[Any, Any]) -> Prediction:
    probabilities = distribution(labels, raw)
    return Prediction(max(labels, key=lambda label: probabilities[label]), probabilities)


def known_label(labels: Sequence[str], raw: Any) -> str:
    """Return the one of *labels* that *raw* is, by its form (`1.0` is `1`); refuse another, with the labels."""
    name = names_of(tuple(labels)).find(raw) if isinstance(raw, str | int | float) else None
    if name is not None:
        return name
    close = get_close_matches(raw, labels, n=1) if isinstance(raw, str) else []
    raise BadInput(
        "The answer {raw} is not one of the labels. Did you mean '{close}'?"
        if close
        else "The answer {raw} is not one of the labels.",
        raw=show(raw),
        close=" ".join(close),
        remedy=_known(labels),
    )


def distribution(names: Sequence[str], raw: Any) -> dict[str, float]:
    """Check probabilities over *names* (by name, or in their order) and scale them to sum to exactly one."""
    values = by_name(names, raw)
    total = sum(values.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise BadInput("The probabilities sum to {sum:.4g}, not to 1.", sum=total, remedy="Give one for every answer.")
    return {name: value / total for name, value in values.items()}


def by_name(names: Sequence[str], raw: Any) -> dict[str, float]:
    """Read a probability for each of *names*; those that are left out are 0."""
    if isinstance(raw, Mapping):
        called = LabelNames(names).renamed([str(name) for name in raw])
        shares = {called[str(name)]: value for name, value in raw.items()}
        unknown = [name for name in shares if name not in names]
        if unknown:
            raise BadInput(
                "There is a probability for {unknown}, which is no answer.",
                unknown=show(unknown[0]),
                remedy=_known(names),
            )
    elif isinstance(raw, list | tuple) and len(raw) == len(names):
        shares = dict(zip(names, raw, strict=True))
    else:
        raise BadInput("{raw} is not a probability for each answer.", raw=show(raw), remedy=_known(names))
    return {name: _probability(name, shares.get(name, 0.0)) for name in names}


def _probability(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadInput("The probability of '{name}' is {value}, which is not a number.", name=name, value=show(value))
    number = float(value)
    if not math.isfinite(number):
        raise BadInput(
            "The probability of '{name}' is {number}, which is not a finite number.", name=name, number=number
        )
    if not -1e-9 <= number <= 1 + 1e-6:
        raise BadInput(
            "The probability of '{name}' is {number:.6g}, which is not between 0 and 1.", name=name, number=number
        )
    return min(max(number, 0.0), 1.0)


def refuse_unknown(raw: Mapping[Any, Any], known: Sequence[str]) -> None:
    """Refuse keys that mean nothing here, rather than drop what they were meant to say."""
    for key in raw:
        if key not in known:
            raise BadInput("The answer has the unknown key {key}.", key=show(key), remedy=_known(known))


def index(raw: Any) -> int | None:
    """Return *raw* as a whole number, or None where it is not one."""
    return int(raw) if isinstance(raw, Integral) and not isinstance(raw, bool) else None


def chosen(called: str, entries: Sequence[str], raw: Any) -> int:
    """Find the entry that *raw* names by its number from 0 or by its text, in the list that is *called* so."""
    number = index(raw)
    if isinstance(raw, str):
        if entries.count(raw) > 1:
            raise BadInput(
                "{raw} is there more than once in '{called}'.",
                raw=show(raw),
                called=called,
                remedy="Give its number from 0.",
            )
        if raw in entries:
            return entries.index(raw)
        number = int(raw) if raw.isdecimal() and len(raw) < 10 else None
    if number is None:
        raise BadInput("The answer {raw} is neither a number nor an entry of '{called}'.", raw=show(raw), called=called)
    if not 0 <= number < len(entries):
        raise BadInput(
            "The answer {number} is out of range: '{called}' has {n} entries, counted from 0.",
            number=number,
            called=called,
            n=len(entries),
        )
    return number


def show(value: Any) -> str:
    """Quote *value* for a message, cut short."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _known(names: Sequence[str]) -> str:
    return Text("Known: {names}.", names=", ".join(names))
