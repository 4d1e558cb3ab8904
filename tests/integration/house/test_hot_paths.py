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
from quintain.core.records.pay import EarningOrder
from quintain.services.access import accounts, audit
from quintain.services.board.kept import BOARD, BoardKey, sight_of
from quintain.services.collect.attempts import flag_queue
from quintain.services.collect.rounds import get_round
from quintain.services.evaluate.progress import page_of_cells
from quintain.services.house.browse import search, task_cards
from quintain.services.models.registry import list_names
from quintain.services.pay import payouts
from quintain.services.pay.earnings import list_earnings, my_page
from quintain.services.pay.report import cost_report
from quintain.services.release.releases import Basis
from quintain.services.study.kept_reports import FIGURES, ReportKey
from quintain.services.study.reports import WantedReport
from quintain.services.validate.handing_in import Answer, submit_page
from quintain.services.validate.handing_out import claim_page
from quintain.services.validate.validations import find
from quintain.settings import Settings
from quintain.store.base import now
from quintain.store.queries.board import boards as board_queries
from quintain.store.queries.collect import prompts
from quintain.store.queries.validate import collected, item_figures, items, slots

MANY = 1_000_000
FEW = ("ix_validation_items_gold",)
RARELY = ("FROM attempt_notes",)  # counted where nothing is left for a judge, to see whether a round has more
# Tables that grow with work, people and models. What belongs to a task (rounds, data sets …) stays small.
BIG = frozenset(
    {
        *("attempts", "attempt_bands", "attempt_notes", "attempt_flags", "writing_sessions", "validation_items"),
        *("validation_slots", "judgements", "judging_offers", "judging_pages", "judge_places", "judging_notes"),
        *("earnings", "earning_standings", "earning_decisions", "audit", "users", "role_grants", "web_sessions"),
        *("ledger_accounts", "ledger_entries", "ledger_tails", "ledger_transactions", "cell_events"),
        *("notifications", "kept_figures", "jobs", "kept_counts", "count_tails", "owed_pay", "flag_standings"),
        *("item_figures", "prompts"),
    }
)


@dataclass(frozen=True)
class Place:
    """A small workspace whose database believes that it is large."""

    workspace: Workspace
    judges: tuple[Actor, ...]

    @property
    def judge(self) -> Actor:
        """Somebody who has judged and earned."""
        return self.judges[0]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Build what the benchmark builds, very small, and let SQLite believe that each big table has a million rows."""
    settings = Settings(workspace=tmp_path_factory.mktemp("hot"))
    size = Size(0.003)
    build(settings, size, figures=False)
    workspace = open_workspace(settings)
    _believe_large(workspace.engine)
    with workspace.session() as db:
        ids = db.connection().exec_driver_sql("SELECT user_id FROM judge_places ORDER BY user_id").scalars().all()
    role = frozenset([Grant(RoleName.WORKER)])
    yield Place(workspace, tuple(Actor(user_id=one, name=f"person-{one}", grants=role) for one in ids))
    workspace.close()


def _believe_large(engine: Engine) -> None:
    """Write into SQLite's statistics what they would be: what is the same in most rows stays so, the rest is rare."""
    with engine.connect().execution_options(writing=True) as connection:
        partial = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'"
        small = set(connection.exec_driver_sql(partial).scalars())  # an index of what is open stays small
        known = connection.exec_driver_sql("SELECT rowid, tbl, idx, stat FROM sqlite_stat1").all()
        for row, table, index, stat in known:
            numbers = [int(word) for word in stat.split() if word.isdigit()]
            if table in BIG and numbers and index not in small:
                most = numbers[0]
                scaled = [MANY, *(MANY if 2 * one > most else one for one in numbers[1:])]
                text = " ".join(map(str, scaled))
                connection.exec_driver_sql("UPDATE sqlite_stat1 SET stat = ? WHERE rowid = ?", (text, row))
        connection.commit()
    engine.dispose()


def _judged(db: Session, place: Place) -> object:
    """Let the first judge for whom there is something left judge a page of it."""
    held = ((judge, claim_page(db, judge, f"{TASK}/1")) for judge in place.judges)
    judge, page = next((judge, page) for judge, page in held if page is not None)
    answers = [Answer(item.id, label="positive", seconds=1.0) for item in page.items]
    return submit_page(db, judge, page.token, answers)


def _round(db: Session) -> int:
    return get_round(db, OPERATOR, f"{TASK}/1").id


def _items(db: Session) -> object:
    wanted = item_figures.ItemFilter()
    return item_figures.page(db, 1, wanted, order="item", down=False, offset=0, limit=25)


def _contested(db: Session, place: Place) -> object:
    number = item_figures.count_contested(db, 1, place.judge.user_id)
    return number, item_figures.contested(db, 1, place.judge.user_id, offset=0, limit=25)


def _reports(db: Session) -> object:
    """Say of each report on the task what it would rest on, and how much there is to read."""
    wanted = (
        WantedReport(TASK, "models"),
        WantedReport(TASK, "compare", (1,)),
        WantedReport(TASK, "relabel", validation="1"),
        WantedReport(TASK, "workers", validation="1"),
    )
    asked = [(FIGURES[one.kind], str(ReportKey(one))) for one in wanted]
    return [(kind.basis(db, subject), kind.facts(db, subject)) for kind, subject in asked]


HOT: dict[str, Callable[[Session, Place], object]] = {
    "claim and hand in a page": _judged,
    "a person's earnings": lambda db, place: my_page(db, place.judge),
    "people": lambda db, place: accounts.list_people(db, OPERATOR, limit=25),
    "audit": lambda db, place: audit.entries(db, OPERATOR),
    "the stamp of boards": lambda db, place: board_queries.stamp(db),
    "what a board rests on": lambda db, place: BOARD.basis(db, str(BoardKey(TASK, "public"))),
    "who sees which board": lambda db, place: sight_of(db, place.judge, TASK),
    "runs": lambda db, place: page_of_cells(db, ANONYMOUS, TASK),
    "names of models": lambda db, place: list_names(db, place.judge, TASK, limit=50),
    "cards of tasks": lambda db, place: task_cards(db, place.judge),
    "search": lambda db, place: search(db, place.judge, "model"),
    "a task's pay": lambda db, place: list_earnings(db, OPERATOR, TASK, limit=25),
    "a round's pay": lambda db, place: list_earnings(db, OPERATOR, TASK, round_id=_round(db), limit=25),
    "a task's pay by amount": lambda db, place: list_earnings(db, OPERATOR, TASK, order="largest", limit=25),
    "a task's pay by worker": lambda db, place: list_earnings(db, OPERATOR, TASK, order="worker", limit=25),
    "what is owed": lambda db, place: payouts.owed(db, OPERATOR, TASK),
    "what texts cost": lambda db, place: cost_report(db, OPERATOR, TASK),
    "flags": lambda db, place: flag_queue(db, OPERATOR, f"{TASK}/1", limit=25),
    "all flags": lambda db, place: flag_queue(db, OPERATOR, f"{TASK}/1", decided=None, limit=25),
    "prompts": lambda db, place: prompts.tally(db, _round(db), now()),
    "items to judge": lambda db, place: slots.has_any(db, 1),
    "items": lambda db, place: _items(db),
    "contested items": _contested,
    "a writer's outcomes": lambda db, place: collected.own(db, 1, _round(db), place.judge.user_id or 0, limit=50),
    "what reports rest on": lambda db, place: _reports(db),
    "what a release rests on": lambda db, place: Basis.of(db, find(db, f"{TASK}/1")),
    "judged items, some of them": lambda db, place: items.draw_judged(db, 1, least=3, number=50, among=500),
    "how many those are": lambda db, place: collected.count_own(db, 1, _round(db), place.judge.user_id or 0),
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


@pytest.mark.parametrize("order", ["largest", "smallest"])
@pytest.mark.parametrize("of", ["task", "round"])
def test_pay_is_sorted_by_an_index(place: Place, order: EarningOrder, of: str) -> None:
    """A page of the largest amounts, or the smallest, is read off an index, and only that page is joined."""
    with place.workspace.session() as db:
        round_id = _round(db) if of == "round" else None
        seen: list[tuple[str, Any]] = []

        def note(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
            seen.append((statement, parameters))

        event.listen(place.workspace.engine, "before_cursor_execute", note)
        try:
            found = list_earnings(db, OPERATOR, TASK, round_id=round_id, order=order, limit=25).earnings
        finally:
            event.remove(place.workspace.engine, "before_cursor_execute", note)
        amounts = [one.amount for one in found]
        assert amounts == sorted(amounts, reverse=order == "largest")
        (statement, parameters) = next(one for one in seen if "earning_decisions" in one[0])
        plan = db.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    assert any(f"ix_earning_standings_{of}_amount" in str(line[-1]) for line in plan), plan


def _reads_all(plan: str, statement: str) -> bool:
    """Say whether a step of a plan goes through a big table.

    Up to a limit, in the order of an index, it may; through an index of gold items, which are few, too.
    """
    words = plan.split()
    few = words[-1] in FEW or any(one in statement for one in RARELY)
    return words[0] == "SCAN" and words[1] in BIG and "LIMIT" not in statement.upper() and not few
