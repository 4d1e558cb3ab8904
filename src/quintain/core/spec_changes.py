"""What a new specification changes of the one that holds, and nothing that is changed in silence.

A TOML file replaces everything that it is about. So a file that was cut off, or that was written from memory, would
reset whatever it does not mention. `review` compares what holds with what is to hold: what would be reset without
being mentioned is refused until it is named, and who wishes to look first is shown every change from old to new.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quintain.core.editing import EditOrigin
from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.records.changes import SpecChange, SpecChanges

LONGEST = 300
MOST_NAMED = 5  # of what is reset, in the words of an error


class ChangesToConfirm(Conflict):
    """The changes are to be looked at before they are made."""

    code = "confirm_changes"

    def __init__(self, changes: SpecChanges) -> None:
        super().__init__("Look at what changes first, and confirm it.")
        self.changes = changes


def review(
    edit: EditOrigin,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
    mentioned: Mapping[str, Any] | None,
    file: str | None = None,
) -> None:
    """Compare what holds, if anything, with what is to hold and is *mentioned*, before anything is written.

    *mentioned* is None where all of it is meant. Raises BadInput where nothing is in it, where something would be reset
    that is not named, or is named and not reset; ChangesToConfirm where somebody wishes to look first.
    """
    if mentioned is not None and not mentioned and not edit.whole:
        raise BadInput(
            faults=[Fault("there is no key in it", file=file)],
            remedy="Write what is to hold; what is to be reset is removed by name.",
        )
    changes = compare(before, after, None if edit.whole else mentioned) if before is not None else SpecChanges([], "")
    reset = [change for change in changes.changes if change.removed]
    names = {name for one in reset for name in _prefixes(one.option)}
    if unknown := sorted(edit.remove - names):
        raise BadInput(
            faults=[Fault("is to be removed, and is not set, or is in the file", field=name) for name in unknown]
        )
    silent = [one for one in reset if not edit.remove.intersection(_prefixes(one.option))]
    if silent and edit.by_name and not edit.look:
        raise _silent(silent, file)
    asks = bool(changes.changes) if edit.ask == "always" else bool(reset) and edit.ask == "removals"
    if edit.look or (asks and edit.confirmed != changes.digest):
        raise ChangesToConfirm(changes)


def _silent(silent: Sequence[SpecChange], file: str | None) -> BadInput:
    faults = [
        Fault("is {before} now, and is not in the file", before=one.before, file=file, field=one.option)
        for one in silent
    ]
    some = " ".join(f"--remove {one.option}" for one in silent[:MOST_NAMED])
    return BadInput(
        faults=faults,
        remedy="Keep it in the file, or say that it is to go: {some}",
        some=some,
        page="Keep it in the text, or take it away with the form.",
        code="silent_removal",
    )


def compare(
    before: Mapping[str, Any], after: Mapping[str, Any], mentioned: Mapping[str, Any] | None = None
) -> SpecChanges:
    """Return what differs between two specifications as plain data; what is not *mentioned* is removed.

    >>> [str(one.option) for one in compare({"a": 1, "b": 2}, {"a": 3, "b": 0}, {"a": 3}).changes if one.removed]
    ['b']
    """
    changes = list(_differences(before, after, mentioned, ""))
    seen = json.dumps([[change.option, change.before, change.after, change.removed] for change in changes])
    return SpecChanges(changes, hashlib.sha256(seen.encode()).hexdigest()[:32])


def _differences(before: Any, after: Any, mentioned: Any, path: str) -> Iterator[SpecChange]:
    old, new = _by_name(before), _by_name(after)
    named = {**old, **new} if mentioned is None else _by_name(mentioned)
    for name in dict.fromkeys([*old, *new]):
        was, will, here = old.get(name), new.get(name), f"{path}{name}"
        if was == will:
            continue
        if _is_table(was) and _is_table(will) and name in named:
            yield from _differences(was, will, None if mentioned is None else named[name], f"{here}.")
        else:
            gone = name in old and name not in named and _says_something(was)
            yield SpecChange(here, _words(was), _words(will), removed=gone)


def _is_table(value: Any) -> bool:
    """Whether a value has entries of its own: a table, or a list of tables."""
    if isinstance(value, Mapping):
        return True
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _by_name(value: Any) -> Mapping[str, Any]:
    """Return the entries of a table, or of a list of tables by what they are called, or else by number."""
    if isinstance(value, Mapping):
        return value
    if not _is_table(value):
        return {}
    names = [_name_of(one) for one in value]
    if "" in names or len(set(names)) < len(names):
        return {str(number): one for number, one in enumerate(value, 1)}
    return dict(zip(names, value, strict=True))


def _name_of(entry: Mapping[str, Any]) -> str:
    named = next((entry[key] for key in ("name", "qualification", "label", "text") if key in entry), None)
    return " ".join(named.split())[:60] if isinstance(named, str) else ""


def _says_something(value: Any) -> bool:
    return value is not None and value not in ("", [], (), {})


def _words(value: Any) -> str:
    """Write a value for people; long ones are cut."""
    if not _says_something(value):
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _prefixes(option: str) -> list[str]:
    """Return an option and the tables that it is in: who removes a table removes what is in it.

    >>> _prefixes("prolific.hooks")
    ['prolific', 'prolific.hooks']
    """
    parts = option.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts) + 1)]
