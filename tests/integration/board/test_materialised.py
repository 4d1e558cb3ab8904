"""Large boards: made by a worker, kept by what may be seen, shown with their time while more comes in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import Forbidden, NotFound, Unavailable
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, Grant, RoleName
from quintain.core.records.base import decode, to_plain
from quintain.core.records.board import Board, BoardView
from quintain.services.board import cache, draws, materialised, uncertainty
from quintain.services.board.assemble import board
from quintain.services.board.cache import PENDING, warm_board
from quintain.services.board.materialised import BOARD, BoardKey, board_audience, decode_board, encode
from quintain.services.board.parts import BoardPart
from quintain.services.board.ranking import rank
from quintain.services.board.uncertainty import known_uncertainty, sent_uncertainty
from quintain.services.evaluate.cells.lifecycle import CellLease
from quintain.services.evaluate.cells.run_cell import keep_figures
from quintain.services.jobs import figures
from quintain.services.jobs.figures import check, handler_of
from quintain.services.jobs.lease import Sessions
from quintain.services.jobs.queue import list_jobs
from quintain.services.jobs.running import run_all
from quintain.services.models.registry import set_visibility
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as cell_queries
from tests.beginnings import Build, with_small_board
from tests.boards import add_version, evaluated, up_to


@pytest.fixture
def beginning() -> Build:
    """A board of three models on two data sets."""
    return with_small_board


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every board count as large, and no job wait for the one before."""
    monkeypatch.setattr(cache, "BOARD", replace(BOARD, at_once=-1))
    monkeypatch.setattr(uncertainty, "UNCERTAINTY", replace(uncertainty.UNCERTAINTY, at_once=-1))
    monkeypatch.setattr(figures, "REST", 0.0)


def sessions_of(db: Session) -> Sessions:
    """Give what opens sessions on the same database."""

    @contextmanager
    def session() -> Iterator[Session]:
        with Session(db.get_bind(), expire_on_commit=False) as one:
            yield one

    db.rollback()
    return session


def do_jobs(db: Session, blobs: Blobs) -> int:
    """Do what a worker would."""
    return run_all(sessions_of(db), blobs, {kind.job: handler_of(kind) for kind in (BOARD, uncertainty.UNCERTAINTY)})


def test_a_board_is_read_as_it_was_sent(db: Session, blobs: Blobs) -> None:
    """The record of a board says all that is sent, down to the last figure, and means the same."""
    sent = json.loads(warm_board(db, blobs, ANONYMOUS, "mood").json)
    found = decode(Board, sent)
    assert to_plain(found) == sent
    figure = found.models[0].values["performance"][0]
    assert figure is not None
    assert sent["models"][0]["values"]["performance"][0] == {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
        "at": figure.at,
    }
    measured = sent["models"][0]["values"]["memory"][0]
    assert {"machine_class"} <= measured.keys() - {"value", "low", "high", "n", "at"}


def test_the_tag_of_a_board_is_that_of_its_content(db: Session, blobs: Blobs) -> None:
    """Made at another time it has the same tag, and with another name on it another one."""
    made = board(db, blobs, ANONYMOUS, "mood")
    later = replace(made, made_at=made.made_at + timedelta(hours=1))
    other = replace(made, models=(replace(made.models[0], name="x"), *made.models[1:]))
    tags = [cache.BoardText(one).etag for one in (made, later, other)]
    assert tags[0] == tags[1] != tags[2]


def test_a_kept_board_is_the_board(db: Session, blobs: Blobs) -> None:
    """Written as plain data and read again it has the same rows, figures and ranking."""
    made = board(db, blobs, ANONYMOUS, "mood")
    again = decode_board(made.task, encode(made), made.made_at)
    assert again.record() == made.record()
    assert rank(again).as_dict() == rank(made).as_dict()
    assert [one.predictions for one in again.models] == [one.predictions for one in made.models]
    assert again.datasets == made.datasets
    assert [list(map(list, one.slices)) for one in again.models] == [list(map(list, one.slices)) for one in made.models]
    assert again.spec == made.spec


def test_who_sees_the_same_shares_a_board(db: Session, blobs: Blobs, owner: Actor, builder: Actor) -> None:
    """Boards are kept by what may be seen: workers and strangers have one, owners one, who hides a model their own."""
    worker = Actor(user_id=10_000, name="w", grants=frozenset([Grant(RoleName.WORKER)]))
    public = warm_board(db, blobs, ANONYMOUS, "mood")
    assert warm_board(db, blobs, worker, "mood") is public
    assert warm_board(db, blobs, builder, "mood") is public
    assert warm_board(db, blobs, owner, "mood") is warm_board(db, blobs, OPERATOR, "mood")
    set_visibility(db, builder, "mood/large", "private")
    assert board_audience(db, builder, "mood") == f"of:{builder.user_id}"
    assert len(warm_board(db, blobs, builder, "mood").board.models) == 3
    assert len(warm_board(db, blobs, worker, "mood").board.models) == 2
    assert board_audience(db, worker, "mood") == "public"


@pytest.mark.usefixtures("large")
def test_a_large_board_is_made_by_a_worker_and_shown_as_it_was_until_then(
    db: Session, blobs: Blobs, builder: Actor, tmp_path: Path
) -> None:
    """Nobody who looks makes it: the first is told to wait, later ones see the last one and that more has come in."""
    with pytest.raises(Unavailable) as caught:
        warm_board(db, blobs, ANONYMOUS, "mood")
    assert caught.value.code == PENDING
    assert do_jobs(db, blobs) == 1
    first = warm_board(db, blobs, ANONYMOUS, "mood")
    assert first.fresh
    assert len(first.board.models) == 3
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "new"), up_to(30))
    outrun = warm_board(db, blobs, ANONYMOUS, "mood")
    assert not outrun.fresh
    assert outrun.job is not None
    assert outrun.etag == first.etag
    do_jobs(db, blobs)
    assert len(warm_board(db, blobs, ANONYMOUS, "mood").board.models) == 4
    assert len(warm_board(db, blobs, ANONYMOUS, "mood", BoardPart(seeds_apart=True), wait=True).board.models) == 4


def test_a_finished_cell_has_a_large_board_made_before_anybody_looks(
    db: Session, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is done wakes the boards that many see; a small one is made by who looks."""
    lease = CellLease(cell_queries.rows(db, task="mood")[0].cell.id, 1, "plain")

    def done() -> list[str]:
        keep_figures(sessions_of(db), blobs, lease)
        return [job.subject for job in list_jobs(db, OPERATOR).jobs]

    assert done() == []
    monkeypatch.setattr(materialised, "BOARD", replace(BOARD, at_once=-1))
    monkeypatch.setattr(cache, "BOARD", materialised.BOARD)
    assert sorted(done()) == ["mood?sight=owner", "mood?sight=public"]
    assert do_jobs(db, blobs) == 2
    assert warm_board(db, blobs, ANONYMOUS, "mood").fresh


@pytest.mark.usefixtures("large")
def test_what_is_hidden_leaves_an_older_board_at_once(db: Session, blobs: Blobs, builder: Actor) -> None:
    """A model that became private, and who is behind one that became anonymous, are not shown until a worker comes."""
    with pytest.raises(Unavailable):
        warm_board(db, blobs, ANONYMOUS, "mood")
    do_jobs(db, blobs)
    known_uncertainty(db, blobs, ANONYMOUS, "mood")
    do_jobs(db, blobs)
    first = warm_board(db, blobs, ANONYMOUS, "mood").board.models
    names = [one.name for one in first]
    assert {one.owner for one in first} == {builder.name}
    assert len(known_uncertainty(db, blobs, ANONYMOUS, "mood")["models"]) == 3
    set_visibility(db, builder, f"mood/{names[0]}", "private")
    set_visibility(db, builder, f"mood/{names[1]}", "anonymous")
    outrun = warm_board(db, blobs, ANONYMOUS, "mood")
    assert not outrun.fresh
    assert [(one.name, one.owner) for one in outrun.board.models] == [(names[1], None), (names[2], builder.name)]
    assert names[0].encode() not in outrun.json
    assert known_uncertainty(db, blobs, ANONYMOUS, "mood")["models"] == []


@pytest.mark.usefixtures("large")
def test_nobody_has_boards_made_of_tags_that_there_are_not(db: Session, blobs: Blobs) -> None:
    """Anybody may ask for any tag; only those that occur are worth a worker's time."""
    with pytest.raises(Unavailable):
        warm_board(db, blobs, ANONYMOUS, "mood", BoardPart(tag="even"))
    do_jobs(db, blobs)
    with pytest.raises(NotFound):
        warm_board(db, blobs, ANONYMOUS, "mood", BoardPart(tag="nobody"))
    with pytest.raises(Unavailable):
        warm_board(db, blobs, ANONYMOUS, "mood", BoardPart(tag="even"))
    do_jobs(db, blobs)
    assert warm_board(db, blobs, ANONYMOUS, "mood", BoardPart(tag="even")).board.part.tag == "even"


@pytest.mark.usefixtures("large")
def test_a_kept_board_that_disagrees_with_its_cells_is_repaired(db: Session, blobs: Blobs) -> None:
    """`quintain status --check` counts it again."""
    subject = str(BoardKey("mood", "public"))
    kind = replace(BOARD, subjects=lambda db: [subject])
    figures.refresh(db, blobs, kind, subject)
    assert not check(db, blobs, OPERATOR, [kind]).faults


@pytest.mark.usefixtures("large")
def test_how_sure_a_large_board_is_comes_from_a_worker(db: Session, blobs: Blobs) -> None:
    """It is pending, then there with its time; by weights of one's own it is not computed."""
    with pytest.raises(Unavailable):
        known_uncertainty(db, blobs, ANONYMOUS, "mood")
    do_jobs(db, blobs)
    assert known_uncertainty(db, blobs, ANONYMOUS, "mood")["pending"]
    do_jobs(db, blobs)
    found = known_uncertainty(db, blobs, ANONYMOUS, "mood")
    assert len(found["models"]) == 3
    assert found["computed_at"] is not None
    assert not found["pending"]
    assert known_uncertainty(db, blobs, ANONYMOUS, "mood", None, BoardView(weights={"performance": 1}))["too_large"]


@pytest.mark.usefixtures("large")
def test_how_sure_a_large_board_is_is_written_once_for_all_who_see_it(
    db: Session, blobs: Blobs, builder: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody gets the same bytes without reading the figure again, until more has happened or it is hidden."""
    key = str(BoardKey("mood", "public"))
    for kind in (BOARD, uncertainty.UNCERTAINTY):
        figures.refresh(db, blobs, kind, key)
    known = known_uncertainty(db, blobs, ANONYMOUS, "mood")
    sent = sent_uncertainty(db, blobs, ANONYMOUS, "mood")
    assert [one["model"] for one in json.loads(sent)["models"]] == [one["model"] for one in known["models"]]
    with monkeypatch.context() as patched:
        patched.setattr(uncertainty, "known_uncertainty", lambda *_: pytest.fail("it was read again"))
        assert sent_uncertainty(db, blobs, ANONYMOUS, "mood") is sent
        with pytest.raises(Forbidden):
            sent_uncertainty(db, blobs, builder, "mood", BoardPart(live=True))
    set_visibility(db, builder, known["models"][0]["model"].rpartition("@")[0], "private")
    assert json.loads(sent_uncertainty(db, blobs, ANONYMOUS, "mood"))["models"] == []


def test_a_ranking_comes_in_pages(db: Session, blobs: Blobs) -> None:
    """Pages put together are the whole ranking, in its order; what is made of a board once is kept with it."""
    warm = warm_board(db, blobs, ANONYMOUS, "mood")
    assert warm.ranked is not None
    pages = [warm.ranked.page(warm.order, limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [one for page in pages for one in page["models"]] == warm.ranked.page(warm.order, limit=1000).models
    assert [(page["total"], len(page["models"])) for page in pages] == [(3, 2), (3, 1), (3, 0)]
    assert warm_board(db, blobs, OPERATOR, "mood").text is not warm.text
    assert warm_board(db, blobs, ANONYMOUS, "mood").order is warm.order


@pytest.mark.parametrize("metric", ["accuracy", "macro_f1"])
def test_streaming_file_by_file_says_what_resampling_all_at_once_says(
    db: Session, blobs: Blobs, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file after the other, from all examples or from a part: the figure stays, and the errors are alike."""
    made = board(db, blobs, ANONYMOUS, "mood")
    made = replace(made, metric=metric)
    keys = [str(model.predictions[1][0]) for model in made.models]
    whole = draws._resample(blobs, made, made.datasets[1], keys, 400, tell=None)
    monkeypatch.setattr(draws, "AT_ONCE", 1)
    told: list[int] = []
    streamed = draws._resample(blobs, made, made.datasets[1], keys, 400, tell=lambda done, total: told.append(done))
    assert told == [0, 1, 2]
    assert streamed.examples == streamed.known == 120
    assert streamed.values.mean(axis=0) == pytest.approx(whole.values.mean(axis=0), abs=0.01)
    assert streamed.values.std(axis=0) == pytest.approx(whole.values.std(axis=0), rel=0.25)
    monkeypatch.setattr(draws, "LEAST_UNITS", 60)
    part = draws._resample(blobs, made, made.datasets[1], keys, 400, tell=None)
    assert part.examples == 60
    assert part.shrunk * part.values.std(axis=0) == pytest.approx(whole.values.std(axis=0), rel=0.5)


def test_a_name_that_no_task_can_have_is_not_found(db: Session, blobs: Blobs) -> None:
    """Whatever stands in an address, also what separates the parts of a key."""
    with pytest.raises(NotFound):
        warm_board(db, blobs, OPERATOR, "what?sight=owner&x")
