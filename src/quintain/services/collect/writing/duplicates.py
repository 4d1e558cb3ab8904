"""Texts that are there already, or almost: refused at submission with a message that says so.

Within one session a writer tries small changes again and again, and two edits of one prompt are alike by nature: there
only the same text is refused. Everywhere else near-duplicates with the same target are, too, also where two people
write on one context, which gives nothing to edit. (With another target a small change is a contrast, and welcome.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.hashing import content_id
from quintain.core.task import Task
from quintain.core.text_form import text_form
from quintain.services.collect.writing.checks import Written, split_fields
from quintain.stats.near_duplicates import WIDTH, mix, squeeze
from quintain.store.queries.collect import attempts as queries
from quintain.store.tables import WritingSession as SessionRow

# Of texts that share .85 of their n-grams, 1 − (1 − .85⁴)⁸ = 99.7 % share a band; of those that share .5, 40 %.
BANDS, ROWS = 8, 4
ALIKE = 0.85

_SEEDS = mix(np.arange(1, BANDS * ROWS + 1, dtype=np.uint64))


def text_key(task: str, texts: Mapping[str, str]) -> str:
    """Return the hash of a task and what counts of a text: case, punctuation and white space do not.

    >>> text_key("mood", {"text": "Oh, great!"}) == text_key("mood", {"text": "oh great"})
    True
    """
    return content_id([task, *(f"{name}={counted_text(texts[name])}" for name in sorted(texts))])


def counted_text(text: str) -> str:
    """Leave of a text what counts; one without a word, such as an emoji, counts as it is."""
    return squeeze(text) or text_form(text)


def bands(scope: str, text: str) -> list[int]:
    """Return the bands of *text*, as signed 64-bit numbers; only texts of the same *scope* ever share one."""
    grams = _grams(counted_text(text))
    lowest = mix(grams[:, None] ^ _SEEDS[None, :]).min(axis=0)
    salt = np.uint64(int(content_id(scope)[:16], 16))
    values = salt ^ np.arange(BANDS, dtype=np.uint64)
    for rows in lowest.reshape(BANDS, ROWS).T:
        values = mix(values ^ rows)
    return [int(value) for value in values.astype(np.int64)]


def nearest(text: str, others: Sequence[str]) -> int | None:
    """Return the position of the text of *others* that *text* is a near-duplicate of; None without one.

    It is what `find_nearest` gives, said for one text and a few others: there, arrays cost more than they save.
    """
    asked, squeezed = squeeze(text), [squeeze(other) for other in others]
    if asked in squeezed:
        return squeezed.index(asked) if asked else None
    mine = _windows(asked)
    best, most = None, ALIKE - 1e-12
    for at, other in enumerate(squeezed):
        theirs = _windows(other)
        shared = len(mine & theirs)
        likeness = shared / (len(mine) + len(theirs) - shared) if shared else 0.0
        if likeness > most:
            best, most = at, likeness
    return best


def _windows(squeezed: str) -> set[str]:
    padded = f" {squeezed} ".ljust(WIDTH)
    return {padded[start : start + WIDTH] for start in range(len(padded) - WIDTH + 1)} if squeezed else set()


def _grams(text: str) -> npt.NDArray[np.uint64]:
    padded = f" {text} ".ljust(WIDTH)
    letters = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    hashes = np.zeros(len(letters) - WIDTH + 1, dtype=np.uint64)
    for offset in range(WIDTH):
        hashes = mix(hashes ^ letters[offset : offset + len(hashes)])
    return np.unique(hashes)


@dataclass(frozen=True, slots=True)
class Sketch:
    """By what a text is found again: *own* are the fields that its writer wrote."""

    own: Mapping[str, str]
    text: str
    text_key: str
    bands: tuple[int, ...]


def sketch_of(task: Task, written: Written) -> Sketch:
    """Make the sketch of what was written; texts on different passages (or premises) never meet."""
    own, fixed = split_fields(task, written.inputs)
    text = _joined(own)
    scope = text_key(task.name, fixed)
    return Sketch(own, text, text_key(task.name, {**own, **fixed}), tuple(bands(scope, text)))


def refuse_duplicates(db: Session, task: Task, row: SessionRow, written: Written, sketch: Sketch) -> None:
    """Refuse a text that somebody has submitted before, or nearly so."""
    similar = queries.like(db, sketch.text_key, sketch.bands)
    for other in similar:
        if other.same:
            raise is_exact_duplicate(mine=other.user_id == row.user_id)
    others = [other for other in similar if _comparable(other, row, written)]
    texts = [_joined(split_fields(task, other.inputs)[0]) for other in others]
    closest = nearest(sketch.text, texts)
    if closest is not None:
        mine = others[closest].user_id == row.user_id
        raise Conflict(
            "This is almost the same as what you submitted before: “{text}”."
            if mine
            else "This is almost the same as what somebody else submitted before.",
            text=_short(texts[closest]),
            remedy="Change more of it. It cost you no attempt.",
            code="duplicate_text",
        )


def is_exact_duplicate(*, mine: bool) -> Conflict:
    """Return the refusal of a text that was submitted before, whatever its case and punctuation."""
    return Conflict(
        "You have submitted this very text before." if mine else "Somebody has submitted this very text before.",
        remedy="Change it. It cost you no attempt.",
        code="duplicate_text",
    )


def _comparable(other: queries.Likeness, row: SessionRow, written: Written) -> bool:
    if other.session_id == row.id or not other.inputs:
        return False
    edited = written.edit_distance is not None
    same_prompt = edited and row.prompt_id is not None and other.prompt_id == row.prompt_id
    return not same_prompt and other.target == written.target


def _joined(own: Mapping[str, str]) -> str:
    return "\n".join(own[name] for name in sorted(own))


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
