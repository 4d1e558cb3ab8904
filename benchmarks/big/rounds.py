"""Two rounds that people wrote in: the first is closed and judged, the second is open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from big.boards import LABELS, texts
from big.loading import Loader, packed
from big.people import People
from big.sizes import ALLOWED, PER_SESSION, TASK, Size
from quintain.compose import Workspace
from quintain.core.example import Example
from quintain.core.people import OPERATOR
from quintain.services.collect.rounds.manage import close_round, open_round, put_round
from quintain.services.collect.writing.duplicates import BANDS, text_key
from quintain.services.models.registry import get_model
from quintain.store.tables import Attempt, AttemptBand, AttemptFlag, AttemptNote, FlagDecision, WritingSession

ROUND = """
task = "big"
title = "Round {number}"
attempts = 10
[[conditions]]
name = "blank"
prompt = false
[targets]
models = ["big/ngram"]
[reward]
amount = 30
"""
FLAGGED = 100  # every so many attempts has a flag
SECONDS = 45.0


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: of every attempt its id, writer, hash, text, target, and what the model said."""

    ids: range
    users: list[int]
    hashes: list[str]
    texts: list[str]
    targets: list[str]
    predictions: list[str]
    rounds: tuple[int, int]
    sessions: range
    session_users: list[int]
    at: list[datetime]


def make_rounds(workspace: Workspace) -> tuple[int, int]:
    """Make both rounds and open them."""
    with workspace.session() as db:
        made = [put_round(db, OPERATOR, ROUND.format(number=number)) for number in (1, 2)]
        for one in made:
            open_round(db, OPERATOR, one.ref)
        return made[0].id, made[1].id


def close_first(workspace: Workspace) -> None:
    """Close the round that is judged."""
    with workspace.session() as db:
        close_round(db, OPERATOR, f"{TASK}/1")


def add_attempts(
    workspace: Workspace, load: Loader, size: Size, people: People, rounds: tuple[int, int], begun: datetime
) -> Written:
    """Add sessions of five attempts each, the attempts, and what is kept beside them."""
    with workspace.session() as db:
        version = get_model(db, OPERATOR, f"{TASK}/ngram").version
    rng = np.random.default_rng(7)
    count, first = size.attempts, load.next_id(Attempt)
    sessions = range(load.next_id(WritingSession), load.next_id(WritingSession) + count // PER_SESSION)
    session_users = [people.writers[place % len(people.writers)] for place in range(len(sessions))]
    written = texts(99, count)
    targets = [LABELS[label] for label in rng.integers(3, size=count)]
    # The last attempt of a session fools the model in half of the sessions.
    fooled = (np.arange(count) % PER_SESSION == PER_SESSION - 1) & (rng.random(count) < 0.5)
    said = [
        packed(
            [
                {
                    "version": version.id,
                    "model": version.ref,
                    "hash": version.hash,
                    "answer": LABELS[(LABELS.index(target) + 1) % 3] if missed else target,
                    "probabilities": {label: round(1 / 3, 4) for label in LABELS},
                    "fooled": bool(missed),
                }
            ]
        )
        for target, missed in zip(targets, fooled, strict=True)
    ]
    found = Written(
        ids=range(first, first + count),
        users=[session_users[place // PER_SESSION] for place in range(count)],
        hashes=[Example({"text": text}).id for text in written],
        texts=written,
        targets=targets,
        predictions=said,
        rounds=rounds,
        sessions=sessions,
        session_users=session_users,
        at=[begun + timedelta(seconds=SECONDS * place) for place in range(count)],
    )
    _add_sessions(load, size, found, fooled, version.id)
    load.add(Attempt, _ATTEMPT, _attempt_rows(load, size, found, fooled))
    load.add(
        AttemptBand,
        ("band", "attempt_id"),
        ((band, found.ids[place]) for place, some in enumerate(_bands(count)) for band in some),
    )
    _add_notes(load, found, fooled)
    return found


def _bands(count: int) -> list[list[int]]:
    """Draw bands: texts of random words share none, and computing them takes longer than all the rest."""
    limits = np.iinfo(np.int64)
    drawn: list[list[int]] = np.random.default_rng(5).integers(limits.min, limits.max, size=(count, BANDS)).tolist()
    return drawn


_ATTEMPT = (
    *("id", "round_id", "session_id", "user_id", "origin", "condition", "number", "token", "hash", "text_key"),
    *("inputs", "target", "aim", "predictions", "fooled", "seconds", "source", "created_at"),
)


def _attempt_rows(
    load: Loader, size: Size, found: Written, fooled: np.ndarray[Any, Any]
) -> Iterator[tuple[object, ...]]:
    for place, text in enumerate(found.texts):
        target = found.targets[place]
        yield (
            found.ids[place],
            found.rounds[0] if place < size.judged else found.rounds[1],
            found.sessions[place // PER_SESSION],
            found.users[place],
            "written",
            "blank",
            place % PER_SESSION + 1,
            f"token-{place}",
            found.hashes[place],
            text_key(TASK, {"text": text}),
            packed({"text": text}),
            packed(target),
            target,
            found.predictions[place],
            bool(fooled[place]),
            SECONDS * (place % PER_SESSION + 1),
            packed({}),
            load.when(found.at[place]),
        )


def _add_sessions(load: Loader, size: Size, found: Written, fooled: np.ndarray[Any, Any], version: int) -> None:
    columns = (
        *("id", "key", "round_id", "user_id", "condition", "generation", "models", "allowed"),
        *("started_at", "ended_at", "outcome"),
    )
    ends = fooled.reshape(-1, PER_SESSION).any(axis=1)

    def rows() -> Iterator[tuple[object, ...]]:
        for place, number in enumerate(found.sessions):
            start = place * PER_SESSION
            yield (
                number,
                f"session-{number}",
                found.rounds[0] if start < size.judged else found.rounds[1],
                found.session_users[place],
                "blank",
                0,
                packed([version]),
                ALLOWED,
                load.when(found.at[start]),
                load.when(found.at[start] + timedelta(seconds=SECONDS * PER_SESSION)),
                "fooled" if ends[place] else "given_up",
            )

    load.add(WritingSession, columns, rows())


def _add_notes(load: Loader, found: Written, fooled: np.ndarray[Any, Any]) -> None:
    """Add what writers confirmed, and flags, half of which an owner has seen to."""
    load.add(
        AttemptNote,
        ("attempt_id", "user_id", "kind", "yes", "text", "tags", "created_at"),
        (
            (found.ids[place], found.users[place], "confirmed", True, "", packed([]), load.when(found.at[place]))
            for place in np.flatnonzero(fooled)
        ),
    )
    flag = load.next_id(AttemptFlag)
    flagged = range(0, len(found.ids), FLAGGED)
    load.add(
        AttemptFlag,
        ("id", "attempt_id", "kind", "detail", "created_at"),
        (
            (flag + n, found.ids[place], "offensive", "a word of the list", load.when(found.at[place]))
            for n, place in enumerate(flagged)
        ),
    )
    load.add(
        FlagDecision,
        ("flag_id", "withhold", "note", "created_at"),
        (
            (flag + n, False, "", load.when(found.at[place] + timedelta(days=1)))
            for n, place in enumerate(flagged)
            if n % 2 == 0
        ),
    )
