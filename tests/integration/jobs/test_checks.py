"""Checks of what is kept: each kind of figure damaged, found, repaired, reported and not shown any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName
from quintain.core.records.jobs import FigureFault
from quintain.services.access import audit
from quintain.services.access.links import make_link, redeem_link
from quintain.services.board import cache, materialised, uncertainty
from quintain.services.board.cache import warm_board
from quintain.services.board.materialised import BOARD, BoardKey
from quintain.services.board.uncertainty import UNCERTAINTY, known_uncertainty
from quintain.services.contrast.results import model_contrast
from quintain.services.evaluate.results.compare import compare
from quintain.services.evaluate.results.compute import model_results
from quintain.services.house import job_kinds
from quintain.services.jobs import checking, figures, queue
from quintain.services.jobs.checks import Checked, CheckKind
from quintain.services.jobs.figures import check
from quintain.services.jobs.running import run_all
from quintain.store.base import clock, now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.jobs import figures as figure_queries
from quintain.store.tables import Cell, ResultCache
from tests.beginnings import Build, with_small_board
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, keep_house_once

PUBLIC = str(BoardKey("mood", "public"))


@pytest.fixture
def beginning() -> Build:
    """A board of three models on two data sets."""
    return with_small_board


@contextmanager
def large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every board count as large: kept, and made by a worker."""
    with monkeypatch.context() as patched:
        patched.setattr(materialised, "AT_ONCE", -1)
        patched.setattr(uncertainty, "AT_ONCE", -1)
        patched.setattr(figures, "REST", 0.0)
        board, sure = replace(BOARD, at_once=-1), replace(UNCERTAINTY, at_once=-1)
        for module in (materialised, cache, job_kinds, uncertainty):
            patched.setattr(module, "BOARD", board)
        for module in (uncertainty, job_kinds):
            patched.setattr(module, "UNCERTAINTY", sure)
        yield


def damage(db: Session, change: Callable[[dict[str, Any]], None], has: str) -> int:
    """Change what is cached of every row that *has* a name; give how many there are."""
    found = 0
    with transaction(db):
        for row in db.scalars(select(ResultCache)):
            if has in row.value:
                value = deepcopy(row.value)
                change(value)
                row.value, found = value, found + 1
    return found


def check_all(db: Session, blobs: Blobs) -> list[FigureFault]:
    """Do what `quintain status --check` does."""
    kinds = job_kinds.figure_kinds(), job_kinds.count_kinds(), job_kinds.check_others()
    return list(check(db, blobs, OPERATOR, *kinds).faults)


def accuracies(db: Session, blobs: Blobs) -> list[float]:
    """Give what the board shows of the first data set."""
    made = warm_board(db, blobs, ANONYMOUS, "mood").board
    return [one.values["performance"][0]["value"] for one in made.models]


@pytest.mark.both_databases
def test_wrong_figures_of_runs_are_repaired_and_leave_the_board_in_memory(db: Session, blobs: Blobs) -> None:
    """Metrics, shares and what was drawn: each is compared with the predictions, and the audit log names it."""
    right = accuracies(db, blobs)
    assert check_all(db, blobs) == []

    def worse(value: dict[str, Any]) -> None:
        value["metrics"]["accuracy"]["value"] = 0.01

    number = damage(db, worse, "metrics")
    shares = damage(db, lambda value: value["share"].update(value=0.5), "share")
    drawn = damage(db, lambda value: value.update(drawn="AAAA"), "drawn")
    assert min(number, shares, drawn) > 0
    assert model_results(db, blobs, OPERATOR, "mood/small")[0].metrics["accuracy"]["value"] == 0.01
    found = check_all(db, blobs)
    assert {one.kind for one in found} == {"figures of runs"}
    assert len(found) == number + shares + drawn
    assert {one.subject.partition(" ")[0] for one in found} == {"mood/large@1", "mood/medium@1", "mood/small@1"}
    assert accuracies(db, blobs) == right
    assert model_results(db, blobs, OPERATOR, "mood/small")[0].metrics["accuracy"]["value"] != 0.01
    assert check_all(db, blobs) == []
    lines = [one for one in audit.entries(db, OPERATOR) if one.action == "figure.repair"]
    assert len(lines) == len(found)
    said = [one.details for one in lines if "metrics" in one.details["kept"]]
    assert len(said) == number
    assert all(one["kept"]["metrics"]["accuracy"]["value"] == 0.01 for one in said)
    assert all(one["counted"]["metrics"]["accuracy"]["value"] > 0.4 for one in said)


def test_a_board_made_while_a_figure_was_wrong_is_not_shown_after_the_repair(db: Session, blobs: Blobs) -> None:
    """It is in the memory of a process that knows nothing of the check."""
    right = accuracies(db, blobs)
    damage(db, lambda value: value["metrics"]["accuracy"].update(value=0.01), "metrics")
    with transaction(db):  # something happens, so that the board is made anew, of wrong figures
        audit.record(db, OPERATOR, "board.settings", "mood")
    assert accuracies(db, blobs) == [1.0] * 3
    check_all(db, blobs)
    assert accuracies(db, blobs) == right


def test_a_kept_board_of_wrong_figures_is_thrown_away(
    db: Session, blobs: Blobs, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large one is pending until a worker has made it of the repaired ones; nobody sees the wrong one again."""
    right = accuracies(db, blobs)
    with large(monkeypatch):
        damage(db, lambda value: value["metrics"]["accuracy"].update(value=0.01), "metrics")
        with transaction(db):  # so that the board in memory is not the one that is meant
            audit.record(db, OPERATOR, "board.settings", "mood")
        figures.refresh(db, blobs, BOARD, PUBLIC)
        assert accuracies(db, blobs) == [1.0] * 3
        check_all(db, blobs)
        again = figure_queries.figure(db, BOARD.name, PUBLIC)  # made anew of the right ones, to check what rests on it
        assert again is not None
        assert all(one["values"]["performance"][0]["value"] > 1 for one in again.value["models"])
        run_all(workspace.session, blobs, job_kinds.job_handlers())
        assert accuracies(db, blobs) == right


def test_a_wrong_kept_board_is_repaired_also_in_memory(
    db: Session, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the check it is outrun, since something was repaired, and what is shown until then is the right one."""
    with large(monkeypatch):
        figures.refresh(db, blobs, BOARD, PUBLIC)
        row = figure_queries.figure(db, BOARD.name, PUBLIC)
        assert row is not None
        value = deepcopy(row.value)
        right = [one["ref"] for one in value["models"]]
        value["models"][0]["ref"] = "mood/nobody@1"
        with transaction(db):
            figure_queries.put(db, BOARD.name, PUBLIC, basis=row.basis, value=value, at=now(), seconds=1.0)
        assert warm_board(db, blobs, ANONYMOUS, "mood").board.models[0].ref == "mood/nobody@1"
        assert [one.kind for one in check_all(db, blobs)] == ["board"]
        assert [one.ref for one in warm_board(db, blobs, ANONYMOUS, "mood").board.models] == right


@pytest.mark.parametrize("outrun", [False, True])
def test_how_sure_a_large_board_is_is_counted_again_also_where_nothing_changed(
    db: Session, blobs: Blobs, outrun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker takes it over while its key is the same, so that the check alone finds what is wrong with it."""
    with large(monkeypatch):
        for kind in (BOARD, UNCERTAINTY):
            figures.refresh(db, blobs, kind, PUBLIC)
        right = known_uncertainty(db, blobs, ANONYMOUS, "mood")["models"]
        row = figure_queries.figure(db, UNCERTAINTY.name, PUBLIC)
        assert row is not None
        value = deepcopy(row.value)
        value["models"][0]["rank"]["high"] = 99
        with transaction(db):
            figure_queries.put(db, UNCERTAINTY.name, PUBLIC, basis=row.basis, value=value, at=now(), seconds=1.0)
            if outrun:
                audit.record(db, OPERATOR, "board.settings", "mood")
        figures.refresh(db, blobs, BOARD, PUBLIC)
        assert figures.refresh(db, blobs, UNCERTAINTY, PUBLIC)["models"][0]["rank"]["high"] == 99
        assert [one.kind for one in check_all(db, blobs)] == ["uncertainty"]
        assert known_uncertainty(db, blobs, ANONYMOUS, "mood")["models"] == right
        assert check_all(db, blobs) == []


def test_what_is_remembered_of_small_boards_and_contrast_sets_is_counted_again(db: Session, blobs: Blobs) -> None:
    """Both are computed while somebody waits and remembered under what went in."""
    right = known_uncertainty(db, blobs, ANONYMOUS, "mood")
    contrast = model_contrast(db, blobs, OPERATOR, "mood/small", "contrast")
    assert damage(db, lambda value: value["models"][0]["rank"].update(low=7), "above") == 1
    assert damage(db, lambda value: value.update(broken=1000), "sets") == 1
    assert known_uncertainty(db, blobs, ANONYMOUS, "mood") != right
    assert sorted(one.kind for one in check_all(db, blobs)) == ["figures of contrast sets", "how sure a board is"]
    assert known_uncertainty(db, blobs, ANONYMOUS, "mood") == right
    assert model_contrast(db, blobs, OPERATOR, "mood/small", "contrast") == contrast


def test_what_is_rebuilt_is_computed_from_predictions_and_the_rest_thrown_away(db: Session, blobs: Blobs) -> None:
    """`quintain jobs rebuild` leaves nothing that was computed before it."""
    right = accuracies(db, blobs)
    compared = compare(db, blobs, OPERATOR, "mood/small", "mood/large")
    damage(db, lambda value: value["metrics"]["accuracy"].update(value=0.01), "metrics")
    assert damage(db, lambda value: value["compared"].update(first=0.0), "compared") == 2
    with transaction(db):
        gone = [row.key for row in db.scalars(select(ResultCache)) if "share" in row.value]
        db.execute(delete(ResultCache).where(ResultCache.key.in_(gone)))
    assert job_kinds.rebuild_all(db, blobs, OPERATOR, figures.quietly) > 6
    known = {row.key: row.value for row in db.scalars(select(ResultCache))}
    assert known.keys() >= set(gone)
    assert not any("compared" in one for one in known.values())
    with transaction(db):
        audit.record(db, OPERATOR, "board.settings", "mood")
    assert accuracies(db, blobs) == right
    assert compare(db, blobs, OPERATOR, "mood/small", "mood/large") == compared


def test_a_file_that_cannot_be_read_is_a_fault_and_ends_nothing(db: Session, blobs: Blobs) -> None:
    """The others are checked all the same."""
    first = db.scalars(select(Cell).where(Cell.variant == "plain").order_by(Cell.id)).first()
    assert first is not None
    blobs.path(str(first.predictions)).write_bytes(b"no table")
    damage(db, lambda value: value["metrics"]["accuracy"].update(value=0.01), "metrics")
    found = check_all(db, blobs)
    errors = [one for one in found if "error" in one.counted]
    assert errors
    assert len(found) > len(errors)


def test_the_house_has_a_part_checked_every_hour_and_goes_on_where_it_was(
    db: Session, blobs: Blobs, workspace: Workspace
) -> None:
    """Server and worker find a wrong figure by themselves; the page Health can say how far they are."""
    damage(db, lambda value: value["metrics"]["accuracy"].update(value=0.01), "metrics")
    assert checking.how_far(db, OPERATOR) is None
    handlers = {checking.JOB: checking.handler_of(job_kinds.everything_checked(), seconds=0.0)}
    begin, faults = now(), 0
    for hour in range(200):
        with clock(lambda moment=begin + timedelta(hours=hour): moment):  # type: ignore[misc]
            keep_house_once(workspace, tidy=True)
            keep_house_once(workspace, tidy=True)
            assert run_all(workspace.session, blobs, handlers) == 1
        db.rollback()
        standing = checking.how_far(db, OPERATOR)
        assert standing is not None
        faults = max(faults, len(standing.faults))
        if standing.ended_at is not None:
            break
    assert hour > 6
    assert faults == 6
    assert {one.kind for one in standing.faults} == {"figures of runs"}
    assert check_all(db, blobs) == []
    with clock(lambda: begin + timedelta(hours=500)):
        keep_house_once(workspace, tidy=True)
        run_all(workspace.session, blobs, job_kinds.job_handlers())
    db.rollback()
    assert len(queue.list_jobs(db, OPERATOR).jobs) <= 5
    again = checking.how_far(db, OPERATOR)
    assert again is not None
    assert again.ended_at is not None
    assert again.ended_at > standing.ended_at


def test_a_part_goes_on_after_the_subject_that_is_gone(db: Session, blobs: Blobs, workspace: Workspace) -> None:
    """Where the last one checked is no more, its kind begins anew; the round still ends."""
    seen: list[str] = []
    there = ["a", "b", "c"]

    def look(db: Session, blobs: Blobs, subject: str) -> Checked:
        seen.append(subject)
        return Checked(1)

    kind = CheckKind("letters", lambda db: list(there), look)
    handlers = {checking.JOB: checking.handler_of([kind], seconds=0.0)}
    for _ in range(5):
        queue.enqueue(db, checking.JOB, checking.SUBJECT)
        run_all(workspace.session, blobs, handlers)
        if seen == ["a", "b"]:
            there.remove("b")
    assert seen == ["a", "b", "a", "c"]
    db.rollback()
    standing = checking.how_far(db, OPERATOR)
    assert standing is not None
    assert (standing.kind, standing.checked, standing.ended_at is not None) == ("", 4, True)


def test_the_health_page_and_the_command_say_what_was_found(
    workspace: Workspace, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command exits with 1 once, and the page names the figures from then on."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url or "")
    with workspace.session() as db:
        make_person(db, "ada", RoleName.ADMIN)
        redeem_link(db, make_link(db, OPERATOR, "ada").token, PASSWORD)
        damage(db, lambda value: value["metrics"]["accuracy"].update(value=0.01), "metrics")
    client = browser_of(workspace, "ada")
    assert "None has been at it yet" in client.get("/admin/health").text
    found = cli("--workspace", workspace.settings.workspace, "status", "--check")
    assert found.exit_code == 1
    assert "figures of runs of mood/small@1 on test@1" in found.output
    assert cli("--workspace", workspace.settings.workspace, "status", "--check").exit_code == 0
    page = client.get("/admin/health").text
    assert "mood/small@1 on test@1" in page
    assert "These disagreed" in page


def test_only_admins_learn_of_faults(db: Session, owner: Actor) -> None:
    """They name figures of all tasks."""
    with pytest.raises(Exception, match="admin"):
        checking.how_far(db, owner)
