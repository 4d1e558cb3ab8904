"""No query of a hot path reads a whole table: what SQLite plans for them in a workspace of years."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from big.building import build
from big.sizes import TASK, Size
from quintain.compose import Workspace, open_workspace
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, Grant, RoleName
from quintain.core.records.pay import EarningOrder
from quintain.services.access import accounts, audit
from quintain.services.access.sign_in import start_session
from quintain.services.board.materialised import BOARD, BoardKey, board_audience
from quintain.services.collect.rounds.manage import get_round
from quintain.services.collect.writing.list_attempts import flag_queue
from quintain.services.collect.writing.sessions import start_session as start
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.evaluate.cells.progress import page_of_cells
from quintain.services.house import health
from quintain.services.house.browse import search, task_cards
from quintain.services.jobs import queue
from quintain.services.jobs.running import run_next
from quintain.services.models.registry import list_names
from quintain.services.pay import payouts
from quintain.services.pay.earnings import list_earnings, my_page
from quintain.services.pay.report import cost_report
from quintain.services.release.releases import Basis
from quintain.services.study.reports import ReportRequest
from quintain.services.study.stored_reports import FIGURES, ReportKey
from quintain.services.validate.console.audit_trail import trail
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.judging.claim_page import claim_page
from quintain.services.validate.judging.submit_page import Answer, submit_page
from quintain.settings import Settings
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access import mails
from quintain.store.queries.board import boards as board_queries
from quintain.store.queries.collect import prompts
from quintain.store.queries.validate import collected, item_figures, items, slots
from quintain.web.app import create_app
from quintain.web.visit import SESSION_COOKIE
from tests.people import find_or_make_person, make_person

MANY = 1_000_000
FEW = ("ix_validation_items_gold",)
FEW_ROWS = 20_000  # of an index, that are read in some milliseconds
PLAN = re.compile(
    r"(?P<how>SCAN|SEARCH) (?P<table>\w+)(?: USING (?:COVERING )?INDEX (?P<index>\w+))?.*?(?:\((?P<by>.*)\))?$"
)
ALIAS = re.compile(r"\b(?:FROM|JOIN|UPDATE)\s+(\w+)\s+(?:AS\s+)?(\w+)")
KNOWN = (
    "FROM attempt_notes",  # counted where nothing is left for a judge, to see whether a round has more
    "SELECT coalesce(max(id), 0) - 2000 FROM",  # the end of an index, which is one step, and what comes before it
    "FROM owed_pay WHERE owed_pay.task_id = ?",  # a row for everybody who works for a task, and these are summed up
    "WHERE users.deleted_at IS NULL ORDER BY users.name LIMIT",  # few were erased: it stops after its page
    "ORDER BY earning_standings.amount DESC, earning_standings.earning_id DESC LIMIT",  # by an index, as a test shows
    "ORDER BY users.name, earning_standings.earning_id DESC LIMIT",  # narrow rows are sorted, and one page is joined
)
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
    with workspace.session() as db:
        health.tidy(db, workspace.blobs)  # which counts what there is, as a server does when it starts
    _believe_large(workspace.engine)
    with workspace.session() as db:
        ids = db.connection().exec_driver_sql("SELECT user_id FROM judge_places ORDER BY user_id").scalars().all()
    role = frozenset([Grant(RoleName.WORKER)])
    yield Place(workspace, tuple(Actor(user_id=one, name=f"person-{one}", grants=role) for one in ids))
    workspace.close()


def _believe_large(engine: Engine) -> None:
    """Write into SQLite's statistics what they would be: what is the same in most rows stays so, the rest is rare."""
    with engine.connect().execution_options(writing=True) as connection:
        connection.exec_driver_sql(
            "PRAGMA analysis_limit=0"
        )  # a part of an index does not say that all of it is the same
        connection.exec_driver_sql("ANALYZE")
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


def _written(db: Session, place: Place) -> object:
    """Let somebody begin a session in the open round and write a text."""
    writer = make_person(db, "wanda", RoleName.WORKER)
    key = start(db, place.workspace.blobs, writer, f"{TASK}/2").key
    inputs = {"text": "It was bad in ways that no number can tell."}
    return submit_attempt(db, place.workspace.blobs, writer, key, inputs, target="negative", token="once")


def _worked(db: Session, place: Place) -> object:
    """Let a worker take the job whose turn it is."""
    queue.enqueue(db, "nothing", TASK)
    return run_next(place.workspace.session, place.workspace.blobs, {"nothing": lambda run: None}, "here", Event())


def _mailed(db: Session) -> object:
    """Look whether a message is due, take one, and tidy those that are long over."""
    moment = now()
    with transaction(db):
        mails.any_due(db, moment)
        mails.expire(db, moment, {})
        return mails.claim(db, moment, moment + timedelta(seconds=60))


def _page(path: str) -> Callable[[Session, Place], object]:
    """Look at a page as an admin."""

    def look(db: Session, place: Place) -> object:
        admin = find_or_make_person(db, "ada", RoleName.ADMIN)
        client = TestClient(create_app(place.workspace), base_url="https://testserver")
        client.cookies.set(SESSION_COOKIE, start_session(db, admin).token)
        answer = client.get(path)
        assert answer.status_code == 200, answer.text
        return answer

    return look


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
        ReportRequest(TASK, "models"),
        ReportRequest(TASK, "compare", (1,)),
        ReportRequest(TASK, "relabel", validation="1"),
        ReportRequest(TASK, "workers", validation="1"),
    )
    asked = [(FIGURES[one.kind], str(ReportKey(one))) for one in wanted]
    return [(kind.basis(db, subject), kind.facts(db, subject)) for kind, subject in asked]


PAGES: dict[str, Callable[[Session, Place], object]] = {
    "the console of a validation": _page(f"/tasks/{TASK}/validation/1"),
    "its judges": _page(f"/tasks/{TASK}/validation/1/judges"),
    "its items": _page(f"/tasks/{TASK}/validation/1/items"),
    "its gold items": _page(f"/tasks/{TASK}/validation/1/gold"),
    "a round": _page(f"/tasks/{TASK}/rounds/1"),
    "an open round": _page(f"/tasks/{TASK}/rounds/2"),
    "health": _page("/admin/health"),
}
HOT: dict[str, Callable[[Session, Place], object]] = {
    **PAGES,
    "claim and hand in a page": _judged,
    "a person's earnings": lambda db, place: my_page(db, place.judge),
    "people": lambda db, place: accounts.list_people(db, OPERATOR, limit=25),
    "audit": lambda db, place: audit.entries(db, OPERATOR),
    "the stamp of boards": lambda db, place: board_queries.stamp(db),
    "what a board rests on": lambda db, place: BOARD.basis(db, str(BoardKey(TASK, "public"))),
    "who sees which board": lambda db, place: board_audience(db, place.judge, TASK),
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
    "a writer's outcomes": lambda db, place: collected.own_items(db, 1, _round(db), place.judge.user_id or 0, limit=50),
    "what reports rest on": lambda db, place: _reports(db),
    "what a release rests on": lambda db, place: Basis.of(db, find_validation(db, f"{TASK}/1")),
    "judged items, some of them": lambda db, place: items.draw_judged(db, 1, least=3, number=50, among=500),
    "begin a session and write": _written,
    "take a job": _worked,
    "mail": lambda db, place: _mailed(db),
    "what was done to a validation": lambda db, place: trail(db, OPERATOR, f"{TASK}/1"),
    "how many those are": lambda db, place: collected.count_own_items(db, 1, _round(db), place.judge.user_id or 0),
}


@pytest.mark.parametrize("name", HOT)
def test_no_hot_query_reads_a_whole_table(place: Place, name: str) -> None:
    """Every statement finds its rows by an index, or stops after the few that it wants."""
    seen: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE", "WITH")) and not many:
            seen.append((statement, parameters))

    with place.workspace.session() as db:
        if name in PAGES:  # what is kept was computed before: here there is so little that a look computes it
            HOT[name](db, place)
    event.listen(place.workspace.engine, "before_cursor_execute", note)
    try:
        with place.workspace.session() as db:
            HOT[name](db, place)
    finally:
        event.remove(place.workspace.engine, "before_cursor_execute", note)
    assert seen
    with place.workspace.engine.connect() as connection:
        rows = _rows_by_index(connection)
        read = [
            f"{plan}\n{statement}"
            for statement, parameters in seen
            for plan in _much(connection, statement, parameters, rows)
        ]
    assert not read, "\n\n".join(read)


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


def _rows_by_index(connection: Connection) -> dict[str, list[int]]:
    """Give, for each index, how many rows there are for a value of its first column, of its first two, and so on."""
    known = connection.exec_driver_sql("SELECT idx, stat FROM sqlite_stat1 WHERE idx IS NOT NULL")
    return {index: [int(word) for word in stat.split() if word.isdigit()][1:] for index, stat in known}


def _much(connection: Connection, statement: str, parameters: Any, rows: Mapping[str, list[int]]) -> list[str]:
    """Give the steps of a statement's plan that go through much of a big table."""
    found = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    plans = [str(plan) for *_, plan in found]
    # What is sorted first is read to the end, however few are wanted.
    stops = "LIMIT" in statement.upper() and not any("TEMP B-TREE FOR ORDER BY" in plan for plan in plans)
    if any(one in " ".join(statement.split()) for one in KNOWN):
        return []
    tables = {alias: table for table, alias in ALIAS.findall(statement)}
    return [plan for plan in plans if _reads_much(plan, tables, rows, stops=stops, all_of_it="WHERE" not in statement)]


def _reads_much(
    plan: str, tables: Mapping[str, str], rows: Mapping[str, list[int]], *, stops: bool, all_of_it: bool
) -> bool:
    """Say whether a step goes through much of a big table.

    A list that nothing is left out of may stop after its page. An index may be searched where a value has few rows; a
    search up to a limit stops there.
    """
    step = PLAN.match(plan)
    if step is None or tables.get(step["table"], step["table"]) not in BIG or step["index"] in FEW:
        return False
    if step["how"] == "SCAN":
        return not (stops and all_of_it)
    by = (step["by"] or "").split(" AND ")
    if stops or "rowid=?" in by or any(sign in one for one in by for sign in "<>"):
        return False
    found = rows.get(step["index"] or "", [])
    return len(found) >= len(by) and found[len(by) - 1] > FEW_ROWS


READ_ALL = {
    "a scan that stops late": "SELECT id FROM audit WHERE details LIKE '%y%' ORDER BY id DESC LIMIT 5",
    "a scan": "SELECT count(*) FROM judgements",
    "under another name": "SELECT count(*) FROM judgements AS j WHERE j.late",
    "a search for what most rows have": "SELECT sum(seconds) FROM judgements WHERE validation_id = 1",
    "a limit after sorting": "SELECT id FROM judgements WHERE validation_id = 1 ORDER BY seconds LIMIT 5",
}
READ_FEW = {
    "a page of all": "SELECT id FROM audit ORDER BY id DESC LIMIT 5",
    "a row": "SELECT label FROM judgements WHERE id = 1",
    "what one person did": "SELECT label FROM judgements WHERE item_id = 1 AND user_id = 1",
    "the newest": "SELECT seconds FROM judgements WHERE validation_id = 1 ORDER BY id DESC LIMIT 5",
}


@pytest.mark.parametrize("name", [*READ_ALL, *READ_FEW])
def test_what_is_taken_for_reading_much(place: Place, name: str) -> None:
    """Scans, also under other names, searches that find most rows, and limits that come too late are seen."""
    with place.workspace.engine.connect() as connection:
        found = _much(connection, {**READ_ALL, **READ_FEW}[name], (), _rows_by_index(connection))
    assert bool(found) == (name in READ_ALL), found
