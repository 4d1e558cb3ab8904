"""What of an edit may point at another word than its original, and nobody but a person can tell: owners are told.

Edits are now asked about such words when they are kept. Those that were kept before are listed in the log:
prepositions whose word was exchanged or is gone, predicates that are only a part of another word, and spans that stand
elsewhere than they say, or in several places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from quintain.core.texts import Text, packed
from quintain.store.base import UtcTime

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

ACTION = "positions.unclear"
MOST_LISTED = 1_000  # ids of one log entry
AT_ONCE = 1_000  # rows that are in memory
KINDS = ("attachment", "qa-srl", "extractive-qa")
SOURCES = ("sentence", "passage")  # of which answers are a piece
EDITS = {
    "contrast": (
        "SELECT p.task_id AS task_id, t.name AS task, p.name AS part, v.id AS id, o.inputs AS before,"
        " v.inputs AS after, v.answer AS answer FROM contrast_variants v JOIN contrast_pivots o ON o.id = v.pivot_id"
        " JOIN contrast_projects p ON p.id = v.project_id JOIN tasks t ON t.id = p.task_id"
        " WHERE p.task_id IN :tasks AND v.state <> 'withdrawn' ORDER BY v.id"
    ),
    "contests": (
        "SELECT c.task_id AS task_id, t.name AS task, c.name AS part, a.id AS id, a.original AS before,"
        " a.modified AS after, a.modified_gold AS answer FROM contest_pairs a JOIN contests c ON c.id = a.contest_id"
        " JOIN tasks t ON t.id = c.task_id WHERE c.task_id IN :tasks ORDER BY a.id"
    ),
    "rounds": (
        "SELECT r.task_id AS task_id, t.name AS task, r.number AS part, a.id AS id, p.inputs AS before,"
        " a.inputs AS after, a.target AS answer FROM attempts a JOIN prompts p ON p.id = a.prompt_id"
        " JOIN rounds r ON r.id = a.round_id JOIN tasks t ON t.id = r.task_id"
        " WHERE r.task_id IN :tasks ORDER BY a.id"
    ),
}
NOTIFICATIONS = sa.table(
    "notifications",
    *(sa.column(name) for name in ("user_id", "kind", "text", "url")),
    sa.column("at", UtcTime(timezone=True)),
    sa.column("said", sa.JSON()),
)
AUDIT = sa.table(
    "audit",
    *(sa.column(name) for name in ("actor", "action", "subject")),
    sa.column("at", UtcTime(timezone=True)),
    sa.column("details", sa.JSON()),
)


def upgrade() -> None:
    """List, by project, contest and round, what people have to look at; change nothing."""
    connection = op.get_bind()
    tasks = _tasks(connection)
    if not tasks:
        return
    for room in EDITS:
        unclear: dict[tuple[int, str, str], list[dict[str, Any]]] = {}
        for row in _edits(connection, room, tasks):
            reason = _unclear(row.before or {}, row.after or {}, row.answer)
            if reason is not None:
                unclear.setdefault((row.task_id, row.task, str(row.part)), []).append({"id": row.id, "why": reason})
        for (task_id, task, part), listed in unclear.items():
            _tell(connection, room, task_id, task, part, listed)


def _tasks(connection: sa.Connection) -> list[int]:
    """Return the tasks whose examples point at words."""
    rows = connection.execute(sa.text("SELECT task_id, toml FROM task_versions"))
    kind = re.compile(rf"""^\s*kind\s*=\s*["']({"|".join(KINDS)})["']""", re.MULTILINE)
    return sorted({row.task_id for row in rows if kind.search(row.toml)})


def _edits(connection: sa.Connection, room: str, tasks: list[int]) -> Iterator[sa.Row[Any]]:
    named = sa.text(EDITS[room]).bindparams(sa.bindparam("tasks", tasks, expanding=True))
    query = named.columns(before=sa.JSON(), after=sa.JSON(), answer=sa.JSON())
    for batch in connection.execute(query.execution_options(yield_per=AT_ONCE)).partitions():
        yield from batch


def _unclear(before: Mapping[str, Any], after: Mapping[str, Any], answer: Any) -> str | None:
    """Return which part of an edit may be about another word; None where all is plain."""
    words = [_pointed(before), _pointed(after)]
    if None not in words:
        return None if words[0] == words[1] else "preposition"
    text = next((after[name] for name in SOURCES if isinstance(after.get(name), str)), "")
    predicate = after.get("predicate")
    if isinstance(predicate, str) and predicate.strip() and text != before.get("sentence"):
        whole = re.compile(rf"(?<!\w)(?i:{re.escape(predicate.strip())})(?!\w)")
        if not whole.search(text):
            return "predicate"
    spans = answer if isinstance(answer, list) else [answer]
    return "answer" if any(_elsewhere(span, text) for span in spans) else None


def _pointed(inputs: Mapping[str, Any]) -> str | None:
    """Return the word that a preposition's number is of; None where there is no such number."""
    words, number = inputs.get("tokens"), inputs.get("preposition")
    if not isinstance(words, list) or not isinstance(number, int):
        return None
    return str(words[number]) if 0 <= number < len(words) else ""


def _elsewhere(span: Any, text: str) -> bool:
    """Whether a span stands elsewhere than it says, or does not say in which of several places it stands."""
    if not isinstance(span, dict) or not isinstance(span.get("text"), str) or not span["text"]:
        return False
    start, piece = span.get("start"), str(span["text"])
    if isinstance(start, int):
        return text[start : start + len(piece)].lower() != piece.lower()
    return text.lower().count(piece.lower()) != 1


def _tell(
    connection: sa.Connection, room: str, task_id: int, task: str, part: str, listed: list[dict[str, Any]]
) -> None:
    moment, ref = datetime.now(UTC), f"{task}/{part}"
    entry = {"actor": "operator", "action": ACTION, "subject": ref, "at": moment}
    op.bulk_insert(AUDIT, [{**entry, "details": {room: listed[:MOST_LISTED], "total": len(listed)}}])
    message = Text(
        "In {ref}, {n} edits may be about another word than their original: {ids}. Look at them; the audit log has all "
        "of them with what is unclear.",
        ref=ref,
        n=len(listed),
        ids=", ".join(str(one["id"]) for one in listed[:10]),
    )
    owners = sa.text(
        "SELECT DISTINCT g.user_id FROM role_grants g JOIN users u ON u.id = g.user_id AND u.deleted_at IS NULL"
        " WHERE g.role = 'owner' AND (g.task_id = :task OR g.task_id IS NULL) AND g.revoked_at IS NULL"
    )
    row = {"at": moment, "kind": ACTION, "text": str(message), "said": packed(message)}
    url = f"/tasks/{task}/{room}/{part}"
    readers = [owner.user_id for owner in connection.execute(owners, {"task": task_id})]
    if readers:
        op.bulk_insert(NOTIFICATIONS, [{**row, "url": url, "user_id": reader} for reader in readers])
