"""A board that ranks by ability: fitted by a job, kept, shown with intervals, exported; suspects for owners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from quintain.compose import Workspace, create_workspace
from quintain.core.people import ANONYMOUS, OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.board.abilities import shown_abilities
from quintain.services.board.cache import warm_board
from quintain.services.board.export import export
from quintain.services.board.ranking import rank
from quintain.services.house.job_kinds import figure_kinds, job_handlers
from quintain.services.jobs import figures
from quintain.services.jobs.running import run_all
from quintain.services.tasks.board_settings import set_board
from quintain.settings import Settings
from tests.boards import add_sentences, add_version, evaluated, sentences, up_to
from tests.evaluation import add_task
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, on_one_line

LEVELS = tuple(range(4, 100, 6))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Sixteen models, each right on more of the examples than the one before; the board ranks by ability."""
    folder = tmp_path_factory.mktemp("ability")
    workspace = create_workspace(Settings(workspace=folder / "workspace", login_attempts=1000))
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
        add_task(db, owner)
        add_sentences(db, workspace.blobs, owner, folder, "test", sentences(60))
        for level in LEVELS:
            model = add_version(db, workspace.blobs, owner, folder, f"to{level}")
            evaluated(db, workspace.blobs, model, up_to(level), perturbed=(), measured=False)
        set_board(db, owner, "mood", {"metric": "ability", "weights": {"performance": 1}})
    yield workspace
    workspace.close()


def pooled(workspace: Workspace) -> dict[str, Mapping[str, Any] | None]:
    """Give the ability of each model, as the board has it."""
    with workspace.session() as db:
        board = warm_board(db, workspace.blobs, ANONYMOUS, "mood").board
    return {one.name: one.pooled["performance"] for one in board.models}


def test_abilities_are_fitted_by_a_job_and_rank(made: Workspace) -> None:
    """Before the job nobody has one; afterwards models stand in order with intervals, on the board and in files."""
    assert set(pooled(made).values()) == {None}
    with made.session() as db:
        waiting = shown_abilities(db, "mood")
        assert (waiting.value, waiting.fresh) == (None, False)
        assert waiting.job is not None
    assert run_all(made.session, made.blobs, job_handlers()) == 1
    found = pooled(made)
    abilities = [found[f"to{level}"] for level in LEVELS]
    values = [one["value"] for one in abilities if one is not None]
    assert values == sorted(values)
    assert len(set(values)) == len(LEVELS)
    assert all(one is not None and one["low"] < one["value"] < one["high"] and one["n"] == 60 for one in abilities)
    with made.session() as db:
        assert shown_abilities(db, "mood").fresh
        ranked = rank(warm_board(db, made.blobs, ANONYMOUS, "mood").board)
        assert [ranked.board.models[row].name for row in ranked.order()] == [f"to{one}" for one in reversed(LEVELS)]
        table = export(ranked, "csv").splitlines()
        assert figures.check(db, made.blobs, OPERATOR, figure_kinds()).faults == ()
    best = dict(zip(table[0].split(","), table[1].split(","), strict=True))
    assert (best["model"], best["rank"]) == ("to94", "1")
    assert float(best["performance"]) == pytest.approx(values[-1], abs=0.01)


def test_a_label_that_the_strong_miss_is_listed_for_owners(
    made: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New runs outrun the abilities; on swapped labels, the strong are wrong and the weak right, which owners see."""
    monkeypatch.setattr(figures, "REST", 0.0)  # the next ones are computed at once
    rows = [dict(row) for row in sentences(60)]
    swap = {"positive": "negative", "negative": "positive"}
    for row in rows[6:8]:
        row["answer"] = swap[row["answer"]]
    run_all(made.session, made.blobs, job_handlers())
    page = "/tasks/mood/board"
    with made.session() as db:
        assert shown_abilities(db, "mood").fresh
        add_sentences(db, made.blobs, OPERATOR, tmp_path, "test", rows)
        for level in LEVELS:
            model = add_version(db, made.blobs, OPERATOR, tmp_path, f"to{level}")
            evaluated(db, made.blobs, model, up_to(level), perturbed=(), measured=False)
        assert not shown_abilities(db, "mood").fresh
    assert "being counted" in browser_of(made, "olga").get(page).text
    run_all(made.session, made.blobs, job_handlers())
    shown = on_one_line(browser_of(made, "olga").get(page))
    review = shown.split("Labels that want a second look</h3>")[1].split("</table>")[0]
    assert sum(f"item {place} of level" in review for place in (6, 7)) == 2
    assert "What is ability here?" in on_one_line(browser_of(made).get(page))
    assert "Labels that want a second look" not in on_one_line(browser_of(made).get(page))
    settings = browser_of(made, "olga").get("/tasks/mood/board/settings").text
    assert 'value="ability" selected' in settings
