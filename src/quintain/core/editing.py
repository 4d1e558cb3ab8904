"""Two who change the same thing at once: every edit says what it was made from.

What is stored has a *revision*, a hash of its content, which is given with it. An edit brings back the revision that it
was made from. If something else is stored by now, nothing is changed: `Stale` says what differs, field by field, and a
next edit may leave fields as the other one had them. The hash is of the content alone, so that nothing has to be kept.

>>> edit = EditOrigin(revision_of({"title": "Mood"}))
>>> edit.settled({"title": "Mood", "reward": 30}, {"title": "The mood"})
Traceback (most recent call last):
quintain.core.errors.Stale: Somebody else has changed this meanwhile. Look at both, and choose.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from quintain.core.errors import Difference, Stale
from quintain.core.hashing import content_id
from quintain.core.spec import option_at, plain

Spec = TypeVar("Spec")
Path = tuple[str, ...]  # to a field, through the tables that it is in
LENGTH = 16  # of a revision
PART_LENGTH = 8  # of the hash of one field
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class EditOrigin:
    """What an edit was made from, by its *revision*; without one, it replaces whatever is there.

    A page also brings *parts*, the hash of each field, by which it is known who changed what, and *theirs*: the fields
    that are to stay as they are stored.

    What it does not mention is reset only where it is to *remove* that by name, or somebody has seen it (*by_name* is
    off); see `spec_changes`. They are asked `never`, when something is reset (`removals`), or `always`, until
    *confirmed* is the digest of what changes; or they *look* and change nothing. A form mentions the *whole* of it.
    """

    revision: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    theirs: frozenset[str] = frozenset()
    remove: frozenset[str] = frozenset()
    ask: Literal["never", "removals", "always"] = "never"
    confirmed: str = ""
    by_name: bool = True
    look: bool = False
    whole: bool = False

    def settled(
        self, stored: Mapping[str, Any], submitted: Mapping[str, Any], make: type[Any] | None = None
    ) -> Mapping[str, Any]:
        """Return what is to replace *stored*: *submitted*, but for fields that stay as others had them.

        Raise Stale where something else is stored than the edit was made from; options of *make* have the titles.
        """
        if not self.revision:
            return submitted
        now, then = _flat(stored), _flat(submitted)
        differing = [path for path in {**now, **then} if now.get(path, _ABSENT) != then.get(path, _ABSENT)]
        if self.revision != revision_of(stored) and differing:
            differences = [self._difference(path, now, then, make) for path in differing]
            raise Stale(differences, revision=revision_of(stored), parts=parts_of(stored))
        for path in differing:
            if _dotted(path) in self.theirs:
                submitted = _put(submitted, path, now.get(path, _ABSENT))
        return submitted

    def _difference(
        self, path: Path, now: Mapping[Path, Any], then: Mapping[Path, Any], make: type[Any] | None
    ) -> Difference:
        name = _dotted(path)
        before, known = self.parts.get(name, ""), bool(self.parts)
        return Difference(
            name,
            option_at(make, name) if make else None,
            now.get(path),
            then.get(path),
            mine=not known or _part(then, path) != before,
            others=not known or _part(now, path) != before,
        )


ANYHOW = EditOrigin()


def revision_of(stored: Mapping[str, Any]) -> str:
    """Return the revision of what is stored, from its content.

    >>> revision_of({"a": 1, "b": {"c": 2}}) == revision_of({"b": {"c": 2}, "a": 1})
    True
    """
    return content_id(_written(sorted(_flat(stored).items())))[:LENGTH]


def revision_of_spec(spec: Any) -> str:
    """Return the revision of a specification."""
    return revision_of(plain(spec))


def parts_of(stored: Mapping[str, Any]) -> dict[str, str]:
    """Return the hash of each field of what is stored, for a page that is to tell who changed what."""
    flat = _flat(stored)
    return {_dotted(path): _part(flat, path) for path in flat}


def settled(edit: EditOrigin, before: Spec, after: Spec, make: Callable[[Mapping[str, Any]], Spec]) -> Spec:
    """Merge the edit of a specification: return *after*, with the fields of *before* that stay."""
    submitted = plain(after)
    chosen = edit.settled(plain(before), submitted, type(before))
    return after if chosen is submitted else make(chosen)


def _flat(table: Mapping[str, Any]) -> dict[Path, Any]:
    return dict(_leaves(table, ()))


def _leaves(table: Mapping[str, Any], above: Path) -> Iterator[tuple[Path, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*above, name))
        elif value is not None:
            yield (*above, name), list(value) if isinstance(value, tuple) else value


def _dotted(path: Path) -> str:
    return ".".join(path)


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def _part(flat: Mapping[Path, Any], path: Path) -> str:
    return content_id(_written(flat[path]))[:PART_LENGTH] if path in flat else ""


def _put(table: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return *table* with *value* at *path*; without what is at *path*, where *value* is absent."""
    head, *rest = path
    copy = dict(table)
    inner = copy.get(head)
    if rest:
        copy[head] = _put(inner if isinstance(inner, Mapping) else {}, tuple(rest), value)
    elif value is not _ABSENT:
        copy[head] = value
    if value is _ABSENT and (not rest or not copy[head]):
        copy.pop(head, None)
    return copy
