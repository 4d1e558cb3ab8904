"""No query of a hot path reads a whole table: what SQLite plans for them in a workspace of years."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.orm import Session

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from big.building import build
from big.sizes import TASK, Size
from quintain.compose import Workspace, open_workspace
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, Grant, RoleName
from quintain.services.access import accounts, audit
from quintain.services.board.kept import BOARD, BoardKey, sight_of
from quintain.services.evaluate.progress import page_of_cells
from quintain.services.house.browse import search, task_cards
from quintain.services.models.registry import list_names
from quintain.services.pay.earnings import my_page
from quintain.services.validate.handing_in import Answer, submit_page
from quintain.services.validate.handing_out import claim_page
from quintain.settings import Settings
from quintain.store.queries.board import boards as board_queries

MANY = 1_000_000
# Tables that grow with work, people and models. What belongs to a task (rounds, data sets …) stays small.
BIG = frozenset(
    {
        *("attempts", "attempt_bands", "attempt_notes", "attempt_flags", "writing_sessions", "validation_items"),
        *("validation_slots", "judgements", "judging_offers", "judging_pages", "judge_places", "judging_notes"),
        *("earnings", "earning_standings", "earning_decisions", "audit", "users", "role_grants", "web_sessions"),
        *("ledger_accounts", "ledger_entries", "ledger_tails", "ledger_transactions", "cell_events"),
        *("notifications", "kept_figures", "jobs"),
    }
)


@dataclass(frozen=True)
class Place:
    """A small workspace whose database believes that it is large."""

    workspace: Workspace
    judge: Actor


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Build what the benchmark builds, very small, and let SQLite believe that each big table has a million rows."""
    settings = Settings(workspace=tmp_path_factory.mktemp("hot"))
    size = Size(0.0005)
    build(settings, size, figures=False)
    workspace = open_workspace(settings)
    _believe_large(workspace.engine)
    with workspace.session() as db:
        first = db.connection().exec_driver_sql("SELECT min(user_id) FROM judge_places").scalar_one()
        judge = Actor(user_id=first, name=f"person-{first}", grants=frozenset([Grant(RoleName.WORKER)]))
    yield Place(workspace, judge)
    workspace.close()


def _believe_large(engine: Engine) -> None:
    """Write into SQLite's statistics what they would be: what is the same in most rows stays so, the rest is rare."""
    with engine.connect().execution_options(writing=True) as connection:
        known = connection.exec_driver_sql("SELECT rowid, tbl, stat FROM sqlite_stat1").all()
        for row, table, stat in known:
            numbers = [int(word) for word in stat.split() if word.isdigit()]
            if table in BIG and numbers:
                most = numbers[0]
                scaled = [MANY, *(MANY if 2 * one > most else one for one in numbers[1:])]
                text = " ".join(map(str, scaled))
                connection.exec_driver_sql("UPDATE sqlite_stat1 SET stat = ? WHERE rowid = ?", (text, row))
        connection.commit()
    engine.dispose()


def _judged(db: Session, place: Place) -> object:
    page = claim_page(db, place.judge, f"{TASK}/1")
    answers = [Answer(item.id, label="positive", seconds=1.0) for item in page.items]
    return submit_page(db, place.judge, page.token, answers)


HOT: dict[str, Callable[[Session, Place], object]] = {
    "claim and hand in a page": _judged,
    "a person's earnings": lambda db, place: my_page(db, place.judge),
    "people": lambda db, place: accounts.page_of_people(db, OPERATOR, limit=25),
    "audit": lambda db, place: audit.entries(db, OPERATOR),
    "the stamp of boards": lambda db, place: board_queries.stamp(db),
    "what a board rests on": lambda db, place: BOARD.basis(db, str(BoardKey(TASK, "public"))),
    "who sees which board": lambda db, place: sight_of(db, place.judge, TASK),
    "runs": lambda db, place: page_of_cells(db, ANONYMOUS, TASK),
    "names of models": lambda db, place: list_names(db, place.judge, TASK, limit=50),
    "cards of tasks": lambda db, place: task_cards(db, place.judge),
    "search": lambda db, place: search(db, place.judge, "model"),
}


@pytest.mark.parametrize("name", HOT)
def test_no_hot_query_reads_a_whole_table(place: Place, name: str) -> None:
    """Every statement finds its rows by an index, or stops after the few that it wants."""
    seen: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE", "WITH")) and not many:
            seen.append((statement, parameters))

    event.listen(place.workspace.engine, "before_cursor_execute", note)
    try:
        with place.workspace.session() as db:
            HOT[name](db, place)
    finally:
        event.remove(place.workspace.engine, "before_cursor_execute", note)
    assert seen
    with place.workspace.engine.connect() as connection:
        scans = [
            f"{plan}\n{statement}"
            for statement, parameters in seen
            for *_, plan in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            if _reads_all(str(plan), statement)
        ]
    assert not scans, "\n\n".join(scans)


def _reads_all(plan: str, statement: str) -> bool:
    """Say whether a step of a plan goes through a big table; in the order of an index, up to a limit, it may."""
    words = plan.split()
    return words[0] == "SCAN" and words[1] in BIG and "LIMIT" not in statement.upper()
