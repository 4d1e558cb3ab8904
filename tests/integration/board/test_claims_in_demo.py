"""The whole demo: home, overview, board, command and API say the same of who leads, for every task."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.cells import PLAIN
from quintain.core.people import ANONYMOUS, OPERATOR
from quintain.services.board.claims import board_claim, claim_text
from quintain.services.board.standings import known_standings
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.tasks.board_settings import set_board
from quintain.services.tasks.definitions import list_tasks
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.tables import CellEvent
from tests.boards import wait_for_standings
from tests.web_support import browser_of, copy_demo, on_one_line

CLAIM = re.compile(r"<(\w+)[^>]* data-claim=\"(\w+)\"[^>]*>(.*?)</\1>")
TAG = re.compile(r"<[^>]+>")


def _answer(db: Session, blobs: Blobs, task: str) -> None:
    """Let two models of a task have answered everything: one with what is right, one with what is right of another."""
    evaluate.fill(db, task)
    rows = [row for row in queries.rows(db, task=task) if row.cell.variant == PLAIN]
    first, second = list(dict.fromkeys(row.model.name for row in rows))[:2]
    with transaction(db):
        for row in rows:
            if row.model.name not in (first, second):
                continue
            examples = pl.read_parquet(blobs.path(row.dataset_version.blob))
            answers = examples["answer"] if row.model.name == first else examples["answer"].shift(1, fill_value=None)
            table = pl.DataFrame({"id": examples["id"], "prediction": answers})
            with blobs.scratch(".parquet") as path:
                table.write_parquet(path)
                row.cell.predictions = blobs.put_file(path)
            row.cell.state, row.cell.finished_at = "done", now()
            db.add(CellEvent(cell_id=row.cell.id, kind="done"))


@pytest.mark.slow
def test_all_that_speaks_of_a_leader_says_the_same(demo: Workspace, tmp_path: Path, cli: Callable[..., Result]) -> None:
    """Of every task, each surface has the claim of the board word by word, also where nobody is ranked."""
    workspace = copy_demo(demo, tmp_path / "demo")
    with workspace.session() as db:
        names = [listed.task.name for listed in list_tasks(db)]
        for name in names[:-1]:  # of the last, nobody is ranked
            set_board(db, OPERATOR, name, {"weights": {"performance": 1}})
            _answer(db, workspace.blobs, name)
        known_standings(db, workspace.blobs, names)
        wait_for_standings(db)
        claims = {name: board_claim(db, workspace.blobs, ANONYMOUS, name) for name in names}
    assert len({claim.certainty for claim in claims.values()}) > 1
    client = browser_of(workspace)
    home = on_one_line(client.get("/"))
    for name, claim in claims.items():
        said = claim_text(claim)
        assert client.get(f"/api/v1/tasks/{name}/board/claim").json()["certainty"] == claim.certainty
        shown = json.loads(cli("-w", workspace.settings.workspace, "board", "show", name, "--json").stdout)
        assert (shown["claim"]["certainty"], shown["claim"]["leader"]) == (claim.certainty, claim.leader)
        if claim.certainty == "unranked":
            assert said in on_one_line(client.get(f"/tasks/{name}"))
            assert "No model is ranked" in said
            continue
        for text in (home, *(on_one_line(client.get(f"/tasks/{name}{page}")) for page in ("", "/board/claim"))):
            words = {html.unescape(TAG.sub("", inner)).strip() for _, _, inner in CLAIM.findall(text)}
            assert said in words, name
    workspace.close()
