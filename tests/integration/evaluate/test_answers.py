"""Every answer can be looked at: filters, pages, words that were sent and came back, and who sees which of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from quintain.cli.app import app
from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import Forbidden, NotFound
from quintain.core.people import ANONYMOUS, OPERATOR
from quintain.core.records.base import to_json
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.results.answers import SHOWS, AnswerFilter, get_answer, list_answers
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.web.app import create_app
from tests.web_support import browser_of

MODEL = "mood/brittle"
PAGES = "/tasks/mood/models/brittle/results"


@contextmanager
def worded(workspace: Workspace, folder: Path, dataset: str) -> Iterator[str]:
    """Let the scored run of `brittle` have been a chat model's: with words, and a first example that was not read."""
    with workspace.session() as db:
        rows = [row for row in queries.rows(db, states=["done"]) if row.model.name == "brittle"]
        cell = next(row.cell for row in rows if row.dataset.name == dataset and row.cell.variant == "plain")
        before, measured = cell.predictions, dict(cell.measurements)
        table = pl.read_parquet(workspace.blobs.path(str(before)))
        first = pl.int_range(pl.len()) == 0
        none = {name: pl.when(~first).then(pl.col(name)) for name in ("prediction", "probabilities")}
        table.with_columns(
            **none,
            failure=pl.when(first).then(pl.lit("The reply 'Well <hm>' is not one of them.")),
            prompt=pl.lit("Is it good? <b>"),
            reply=pl.lit("Well <hm>"),
            input_tokens=pl.lit(11),
            output_tokens=pl.lit(3),
        ).write_parquet(folder / "worded.parquet")
        with transaction(db):
            cell.predictions = workspace.blobs.put_file(folder / "worded.parquet")
            cell.measurements = {"failed": 1}
        yield str(table["id"][0])
        with transaction(db):
            cell.predictions, cell.measurements = before, measured


def test_filters_part_the_answers(evaluated_site: Workspace) -> None:
    """Right, wrong and failed make the whole; labels, answers and texts narrow it; pages follow one another."""
    with evaluated_site.session() as db:

        def find(limit: int = 50, offset: int = 0, **wanted: str) -> list[str]:
            found = list_answers(
                db, evaluated_site.blobs, ANONYMOUS, MODEL, "open", AnswerFilter(**wanted), offset=offset, limit=limit
            )
            assert len(found.answers) == min(limit, found.total - offset)
            return [one.id for one in found.answers]

        every = find()
        parts = {show: find(show=show) for show in SHOWS if show != "all"}
        assert sorted(key for part in parts.values() for key in part) == sorted(every)
        assert parts["wrong"]
        assert find(limit=5) + find(limit=50, offset=5) == every
        assert sorted(find(label="positive") + find(label="negative")) == sorted(every)
        assert set(find(show="wrong", label="positive")) == set(find(label="positive")) & set(parts["wrong"])
        assert sorted(find(said="positive") + find(said="negative")) == sorted(every)
        assert len(find(text="FOOD is")) == 1
        assert find(text="nowhere at all") == []
        one = get_answer(db, evaluated_site.blobs, ANONYMOUS, MODEL, "open", parts["wrong"][0])
        assert (one.state, one.score) == ("wrong", 0.0)
        assert one.gold != one.answer
        with pytest.raises(NotFound, match="no example"):
            get_answer(db, evaluated_site.blobs, ANONYMOUS, MODEL, "open", "0" * 32)


@pytest.mark.parametrize("dataset", ["open", "secret"])
def test_words_and_labels_are_for_those_who_may_see_them(
    evaluated_site: Workspace, tmp_path: Path, dataset: str
) -> None:
    """On every page: hidden labels for owners only, answers on them for the builder too, words for both alone.

    That is where the inputs are open; of a closed set the builder sees no answer.
    """
    with evaluated_site.session() as db:
        builder = browser_of(evaluated_site, "bert")
        if dataset == "secret":
            set_inputs(db, OPERATOR, "mood/secret", "never")
            assert builder.get(f"{PAGES}/secret/answers").status_code == 403
        set_inputs(db, OPERATOR, f"mood/{dataset}", "open")
    with worded(evaluated_site, tmp_path, dataset) as first:
        for name, answers, gold, words in (
            ("olga", True, True, True),
            ("bert", True, dataset == "open", True),
            ("boris", dataset == "open", dataset == "open", False),
            (None, dataset == "open", dataset == "open", False),
        ):
            client = browser_of(evaluated_site, name)
            listed = client.get(f"{PAGES}/{dataset}/answers")
            single = client.get(f"{PAGES}/{dataset}/answers/{first}")
            assert {listed.status_code, single.status_code} == {200 if answers else 403}, name
            assert client.get(f"{PAGES}/{dataset}/answers?show=wrong").status_code == (200 if gold else 403)
            assert client.get(f"{PAGES}/{dataset}/answers?label=positive").status_code == (200 if gold else 403)
            assert ("Right answer" in listed.text) == (answers and gold)
            assert ("Right answer" in single.text) == (answers and gold)
            assert ("Well &lt;hm&gt;" in single.text) == ("Is it good? &lt;b&gt;" in single.text) == words
            assert ("is not one of them" in listed.text) == words
            assert ("11 + 3" in listed.text) == answers
            called = client.get(f"/api/v1/tasks/mood/models/brittle/results/{dataset}/examples/{first}")
            if answers:
                assert called.json()["state"] == "failed"
                assert (called.json()["reply"] == "Well <hm>") == words
                assert (called.json()["gold"] is not None) == gold
        results = browser_of(evaluated_site, "olga").get(f"{PAGES}/{dataset}").text
        assert f"{PAGES}/{dataset}/answers?version=1" in results
        assert results.index("Where did it fail?") < results.index("most surely wrong") < results.index("Latency")


def test_the_command_and_the_client_give_the_same(evaluated_site: Workspace) -> None:
    """`evaluate answers --wrong --json`, the client's `answers` and the service agree."""
    with evaluated_site.session() as db:
        listed = list_answers(db, evaluated_site.blobs, OPERATOR, MODEL, "open", AnswerFilter("wrong"))
    known = json.loads(to_json(listed))
    folder = str(evaluated_site.settings.workspace)
    command = ["-w", folder, "evaluate", "answers", MODEL, "open", "--wrong"]
    said = CliRunner().invoke(app, [*command, "--json"])
    assert said.exit_code == 0, said.output
    assert json.loads(said.stdout) == known
    assert f"{known['total']} of {known['total']} answers" in CliRunner().invoke(app, command).output
    bad = CliRunner().invoke(app, ["-w", folder, "evaluate", "answers", MODEL, "open", "--show", "odd"])
    assert bad.exit_code != 0
    with Client("http://testserver") as client:
        client._transport._http = TestClient(create_app(evaluated_site), base_url="http://testserver/api/v1")
        found = client.answers(MODEL, "open", show="wrong")
        assert [one.id for one in found.answers] == [one["id"] for one in known["answers"]]
        assert client.answer(MODEL, "open", found.answers[0].id).gold == known["answers"][0]["gold"]


def test_hidden_labels_cannot_be_filtered_out(evaluated_site: Workspace) -> None:
    """The builder, who sees answers on hidden data, learns no label by asking for the right ones."""
    with evaluated_site.session() as db:
        builder = browser_of(evaluated_site, "bert")
        for query in ("show=right", "show=wrong", "label=positive"):
            path = f"/api/v1/tasks/mood/models/brittle/results/secret/examples?{query}"
            assert builder.get(path).status_code == 403
        with pytest.raises(Forbidden, match="hidden"):
            list_answers(db, evaluated_site.blobs, ANONYMOUS, MODEL, "secret")
