"""Texts that are there already, or almost: refused at submission with a message that says so.

Within one session a writer tries small changes again and again, and two edits of one prompt are alike by nature: there
only the same text is refused. Everywhere else near-duplicates with the same target are, too, also where two people
write on one context, which gives nothing to edit. (With another target a small change is a contrast, and welcome.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.task import Task
from quintain.services.collect.writing import sketches
from quintain.services.collect.writing.checks import Written, split_fields
from quintain.store.queries.collect import attempts as queries
from quintain.store.tables import WritingSession as SessionRow


@dataclass(frozen=True, slots=True)
class Sketch:
    """By what a text is found again: *own* are the fields that its writer wrote."""

    own: Mapping[str, str]
    text: str
    text_key: str
    bands: tuple[int, ...]


def sketch_of(task: Task, written: Written) -> Sketch:
    """Make the sketch of what was written; texts on different passages (or premises) never meet."""
    own, given = split_fields(task, written.inputs)
    text = _joined(own)
    scope = sketches.text_key(task.name, given)
    return Sketch(own, text, sketches.text_key(task.name, {**own, **given}), tuple(sketches.bands(scope, text)))


def refuse_duplicates(db: Session, task: Task, row: SessionRow, written: Written, sketch: Sketch) -> None:
    """Refuse a text that somebody has submitted before, or nearly so."""
    found = queries.like(db, sketch.text_key, sketch.bands)
    for one in found:
        if one.same:
            raise is_exact_duplicate(mine=one.user_id == row.user_id)
    others = [one for one in found if _comparable(one, row, written)]
    texts = [_joined(split_fields(task, one.inputs)[0]) for one in others]
    place = sketches.nearest(sketch.text, texts)
    if place is not None:
        mine = others[place].user_id == row.user_id
        raise Conflict(
            "This is almost the same as what you submitted before: “{text}”."
            if mine
            else "This is almost the same as what somebody else submitted before.",
            text=_short(texts[place]),
            remedy="Change more of it. It cost you no attempt.",
            code="duplicate_text",
        )


def is_exact_duplicate(*, mine: bool) -> Conflict:
    """Say that exactly the same text, whatever its case and punctuation, was submitted before."""
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
