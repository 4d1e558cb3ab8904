"""Paid endpoints: budgets over all runs, an operator's cap, an estimate beforehand, and no calls that nobody counts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.adapters.contract import EndpointSecret, Outside
from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, Actor
from quintain.engine.jobs import LocalEngine
from quintain.perturbations.contract import PERTURBATIONS
from quintain.services.evaluate import cells as evaluate
from quintain.services.evaluate.answers import list_answers
from quintain.services.evaluate.submit import ModelSubmission, SubmissionRules, submit_folder
from quintain.services.evaluate.worker import work
from quintain.services.models.outside import read_outside
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate.charges import charged
from tests.evaluation import add_data, add_task
from tests.integration.evaluate.test_submit import CONDITIONS, folder_of
from tests.integration.models.test_adapters_remote import Server, ok

PRICES = "input_price = 1000.0\noutput_price = 1000.0\nmax_tokens = 1\nconcurrency = 1\n"  # 0.001 a token
EACH = 0.011  # ten tokens sent and one received


@pytest.fixture
def server() -> Iterator[Server]:
    """An endpoint that always says the same."""
    made = Server()
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    made.respond = lambda *_: ok({"choices": [{"message": {"content": "positive"}}], "usage": usage})
    yield made
    made.close()


@pytest.fixture
def mood(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> str:
    """A task with one data set of six examples."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    return "mood"


class Bench:
    """Submits chat models of the server and runs their cells."""

    def __init__(self, workspace: Workspace, db: Session, builder: Actor, server: Server, folder: Path) -> None:
        self.workspace, self.db, self.builder, self.server, self.folder = workspace, db, builder, server, folder
        self.outside = Outside((server.url,), cache=folder / "cache")

    def submit(self, name: str, options: str) -> ModelSubmission:
        """Submit a model with more *options*."""
        given = f'url = "{self.server.url}"\nmodel = "{name}"\nprompt = "{{text}}"\n{options}'
        folder = folder_of(self.folder / name, manifest=f'adapter = "chat"\n[options]\n{given}')
        rules = SubmissionRules(outside=self.outside)
        return submit_folder(self.db, self.workspace.blobs, self.builder, "mood", folder, rules=rules, name=name)

    def run(self) -> dict[str, Any]:
        """Compute what is queued and give the cells by model and variant."""
        conditions = replace(CONDITIONS, outside=self.outside)
        engine = LocalEngine(self.folder / "locks")
        blobs = self.workspace.blobs
        work(self.workspace.session, blobs, engine, conditions, threading.Event(), until_empty=True)
        self.db.rollback()
        self.db.expire_all()
        return {f"{row.model.name}/{row.cell.variant}": row.cell for row in queries.rows(self.db)}


@pytest.fixture
def bench(workspace: Workspace, db: Session, builder: Actor, server: Server, mood: str, tmp_path: Path) -> Bench:
    """The bench."""
    return Bench(workspace, db, builder, server, tmp_path)


@pytest.mark.both_databases
def test_a_budget_holds_over_all_runs_of_a_version(bench: Bench, server: Server) -> None:
    """The plain run fits; what follows stops where the money ends, blames nobody, and costs no more than allowed."""
    made = bench.submit("m", f"{PRICES}budget = 0.2\n")
    cells = bench.run()
    assert cells["m/plain"].state == "done", cells["m/plain"].reason
    failed = [cell for cell in cells.values() if cell.state == "failed"]
    assert failed
    assert all(cell.reason.startswith("would cost more than its budget") for cell in failed)
    assert len(server.calls) * EACH <= 0.2
    assert charged(bench.db, model_version_id=made.version.id) == pytest.approx(len(server.calls) * EACH)


def test_a_retry_goes_on_with_what_was_kept(bench: Bench, server: Server) -> None:
    """A run that stopped for money and is tried again pays for no reply twice."""
    bench.outside = replace(
        bench.outside, secrets={"key": EndpointSecret(server.url, "k", prices=(1000.0, 1000.0), budget=0.15)}
    )
    bench.submit("m", 'max_tokens = 1\nconcurrency = 1\nsecret = "key"\n')
    stopped = next(cell for cell in bench.run().values() if cell.state == "failed")
    before = len(server.calls)
    bench.outside = replace(
        bench.outside, secrets={"key": EndpointSecret(server.url, "k", prices=(1000.0, 1000.0), budget=99.0)}
    )
    evaluate.retry(bench.db, OPERATOR, stopped.id)
    bench.run()
    bench.db.refresh(stopped)
    assert stopped.state == "done", stopped.reason
    asked = [body["messages"][0]["content"] for _, body, _ in server.calls]
    assert len(asked) == len(set(asked)) > before


@pytest.mark.both_databases
def test_the_cap_of_a_key_holds_over_all_models_at_the_operators_prices(bench: Bench, server: Server) -> None:
    """A builder who writes a low price, or submits again and again, spends no more of the operator's money."""
    secret = EndpointSecret(server.url, "k", prices=(1000.0, 1000.0), budget=0.25)
    bench.outside = replace(bench.outside, secrets={"key": secret})
    for name in ("a", "b"):
        bench.submit(name, 'input_price = 0.0\noutput_price = 0.0\nmax_tokens = 1\nsecret = "key"\n')
    bench.run()
    assert 0 < len(server.calls) * EACH <= 0.25
    assert charged(bench.db, secret="key") == pytest.approx(len(server.calls) * EACH)


def test_only_perturbations_that_count_are_run_unless_all_are_asked_for(bench: Bench) -> None:
    """Those that enter no figure make no calls; the estimate says how many the others make at most."""
    counted = bench.submit("few", "")
    every = bench.submit("all", 'perturbations = "all"\n')
    found: dict[str, set[str]] = {"few": set(), "all": set()}
    for row in queries.rows(bench.db):
        found[row.model.name].add(row.cell.variant.rpartition(".v")[0] or row.cell.variant)
    beside = {name for name, member in PERTURBATIONS.items() if not member.in_paper}
    assert found["all"] - found["few"] == beside
    assert counted.estimate is not None
    assert every.estimate is not None
    assert counted.estimate.calls == 6 * len(found["few"]) < every.estimate.calls == 6 * len(found["all"])


def test_the_words_of_a_run_are_kept(bench: Bench) -> None:
    """What was sent and what came back stand with each answer."""
    bench.submit("m", 'system = "Be brief."\n')
    bench.run()
    page = list_answers(bench.db, bench.workspace.blobs, bench.builder, "mood/m", "test")
    assert {one.reply for one in page.answers} == {"positive"}
    assert all(one.prompt == f"Be brief.\n\n{one.inputs['text']}" for one in page.answers)
    assert {(one.input_tokens, one.output_tokens) for one in page.answers} == {(10, 1)}


def test_a_model_that_rambles_keeps_its_score(bench: Bench, server: Server) -> None:
    """Two of six replies without an answer count as wrong; the cell is done, though two are more than may crash."""
    usual = server.respond

    def ramble(path: str, body: Any, headers: dict[str, str]) -> Any:
        asked = body["messages"][0]["content"]
        odd = {"choices": [{"message": {"content": "Well, you see …"}}]}
        return ok(odd) if asked in rambled else usual(path, body, headers)

    blobs = bench.workspace.blobs
    bench.submit("m", "")
    row = next(row for row in queries.rows(bench.db) if row.cell.variant == "plain")
    rambled = set(pl.read_parquet(blobs.path(row.dataset_version.blob))["text"].head(2).to_list())
    server.respond = ramble
    cell = bench.run()["m/plain"]
    assert cell.state == "done", cell.reason
    assert (cell.measurements["failed"], cell.measurements["unread"]) == (2, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("budget = 5", "needs both"),
        ("input_price = 1.0", "needs both"),
        ('input_price = 1.0\noutput_price = "x"', "field 'key.output_price': is 'x', not an amount"),
        ("input_price = 1.0\noutput_price = 1.0\nbudget = -1", "field 'key.budget': is -1, not an amount"),
        ("budgett = 5", "field 'key.budgett': no such key; did you mean 'budget'"),
    ],
)
def test_a_cap_needs_the_operators_own_prices(tmp_path: Path, text: str, said: str) -> None:
    """A cap that is reckoned in the manifest's prices would be none."""
    file = tmp_path / "secrets.toml"
    file.write_text(f'[key]\nendpoint = "https://models.example"\nkey = "k"\n{text}\n')
    with pytest.raises(BadInput, match=said):
        read_outside("https://models.example", str(file), None)


def test_every_fault_of_the_keys_is_named_and_no_key_is_shown(tmp_path: Path) -> None:
    """All that is wrong in the file is said at once, with its place; a key is never part of what is said."""
    file = tmp_path / "secrets.toml"
    file.write_text('bare = "s3cr3t"\n[one]\nkey = 998877\nendpoint = "https://a.example"\n[two]\nkey = "s3cr3t"\n')
    with pytest.raises(BadInput) as caught:
        read_outside("https://models.example", str(file), None)
    said = [str(fault) for fault in caught.value.faults]
    assert [fault.field for fault in caught.value.faults] == ["bare", "one.key", "two.endpoint"]
    assert all(one.startswith("secrets.toml, field") for one in said)
    assert not any("s3cr3t" in one or "998877" in one for one in said)
