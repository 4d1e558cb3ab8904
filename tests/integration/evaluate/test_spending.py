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

from quintain.adapters.contract import ADAPTERS, EndpointSecret, Outside
from quintain.adapters.ledger import OverBudget
from quintain.adapters.manifest import read_manifest
from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, Actor
from quintain.engine.jobs import LocalEngine
from quintain.engine.runner import RunnableModel
from quintain.perturbations.contract import PERTURBATIONS
from quintain.services.board.assemble import board
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells import spending
from quintain.services.evaluate.cells.warm_models import LiveModels
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.results.answers import list_answers
from quintain.services.evaluate.results.compute import model_results
from quintain.services.evaluate.submissions.submit import ModelSubmission, SubmissionRules, submit_folder
from quintain.services.models.outside import read_outside
from quintain.services.tasks.board_settings import set_board
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate.charges import charged
from tests.endpoint import Server, ok
from tests.evaluation import add_data, add_task
from tests.integration.evaluate.test_submit import CONDITIONS, folder_of

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

    def submit(self, name: str, options: str, *, adapter: str = "chat", tried: bool = False) -> ModelSubmission:
        """Submit a model with more *options*."""
        prompt = 'prompt = "{text}"\n' if adapter == "chat" else ""
        given = f'url = "{self.server.url}"\nmodel = "{name}"\n{prompt}{options}'
        folder = folder_of(self.folder / name, manifest=f'adapter = "{adapter}"\n[options]\n{given}')
        trial = replace(CONDITIONS, outside=self.outside) if tried else None
        rules = SubmissionRules(outside=self.outside, tryout=trial)
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


@pytest.mark.both_databases
def test_the_cap_of_a_key_holds_over_models_of_all_adapters(bench: Bench, server: Server) -> None:
    """A chat model and one of the Open Inference Protocol draw on one budget, and both stop when it is spent."""
    usage = {"prompt_tokens": 10, "completion_tokens": 1}

    def both(path: str, body: Any, headers: dict[str, str]) -> Any:
        if not path.endswith("/infer"):
            return ok({"choices": [{"message": {"content": "positive"}}], "usage": usage})
        texts = body["inputs"][0]["data"]
        return ok(
            {"outputs": [{"name": "o", "datatype": "BYTES", "shape": [len(texts)], "data": ["positive"] * len(texts)}]}
        )

    server.respond = both
    secret = EndpointSecret(server.url, "k", prices=(1000.0, 1000.0), budget=1.5)
    bench.outside = replace(bench.outside, secrets={"key": secret})
    bench.submit("a", 'max_tokens = 1\nsecret = "key"\n')
    bench.submit("b", 'secret = "key"\n', adapter="open-inference")
    cells = bench.run()
    spent = charged(bench.db, secret="key")
    assert 0 < spent <= 1.5
    assert {path.endswith("/infer") for path, _, _ in server.calls} == {True, False}
    failed = [name for name, cell in cells.items() if cell.state == "failed"]
    assert any(name.startswith("b/") for name in failed)
    assert all(cells[name].reason.startswith("would cost more than its budget") for name in failed)


def test_a_killed_run_has_spent_what_it_had_spent(bench: Bench, server: Server, db: Session) -> None:
    """What a worker had reserved that was killed becomes what its calls cost, as they were entered one by one."""
    bench.submit("m", f"{PRICES}budget = 50.0\n")
    evaluate.fill(db, "mood")
    lease = evaluate.claim(db, "worker", task="mood", seconds=60)
    assert lease is not None
    row = queries.row(db, lease.cell_id)
    assert row is not None
    folder = bench.folder / "m"
    model = RunnableModel(folder, "chat", read_manifest(folder).options)
    inputs = bench.folder / "inputs.parquet"
    pl.DataFrame({"text": ["one", "two", "three"]}).write_parquet(inputs)
    task = get_task(db, "mood")
    outside = spending.allow(db, lease, model, bench.outside, task, inputs)
    assert outside.budget is not None
    with ADAPTERS.get("chat")().connect(folder, task, model.options, outside) as connection:
        connection.predict([{"text": "one"}, {"text": "two"}])
    assert charged(db, model_version_id=row.model_version.id) == pytest.approx(outside.budget)
    spending.allow(db, replace(lease, generation=lease.generation + 1), model, bench.outside, task, inputs)
    first = charged(db, model_version_id=row.model_version.id) - outside.budget
    assert first == pytest.approx(2 * EACH)


def test_people_who_talk_to_a_model_draw_on_its_budget(bench: Bench, server: Server) -> None:
    """A live call is reserved and recorded like a run, and refused where the key's budget does not cover it."""
    secret = EndpointSecret(server.url, "k", prices=(1000.0, 1000.0), budget=0.1)
    bench.outside = replace(bench.outside, secrets={"key": secret})
    version = bench.submit("m", 'max_tokens = 1\nsecret = "key"\n').version
    live = LiveModels(bench.workspace.session, replace(CONDITIONS, outside=bench.outside))
    try:
        for number in range(40):
            try:
                live(version, bench.workspace.blobs, [{"text": f"text {number}"}])
            except OverBudget:
                break
    finally:
        live.close()
    bench.db.rollback()
    assert 0 < len(server.calls) < 40
    assert charged(bench.db, secret="key") == pytest.approx(len(server.calls) * EACH)
    assert charged(bench.db, secret="key") <= 0.1


def test_a_try_before_submission_draws_on_the_keys_budget(bench: Bench, server: Server) -> None:
    """Somebody who submits again and again, and is refused, spends no more than the key allows."""
    secret = EndpointSecret(server.url, "k", prices=(1000.0, 1000.0), budget=0.0)
    bench.outside = replace(bench.outside, secrets={"key": secret})
    with pytest.raises(OverBudget, match="does not cover the call"):
        bench.submit("m", 'max_tokens = 1\nsecret = "key"\n', tried=True)
    assert server.calls == []
    secret = replace(secret, budget=50.0)
    bench.outside = replace(bench.outside, secrets={"key": secret})
    bench.submit("m", 'max_tokens = 1\nsecret = "key"\n', tried=True)
    assert len(server.calls) == 3
    assert charged(bench.db, secret="key") == pytest.approx(3 * EACH)


@pytest.mark.parametrize(("limit", "state"), [(0.5, "done"), (0.0, "failed")])
def test_the_owner_says_how_many_examples_may_fail(
    bench: Bench, server: Server, owner: Actor, limit: float, state: str
) -> None:
    """Within the limit the figure stands, with its bounds on the results and on the board; beyond, the run says why."""
    usual = server.respond
    set_board(bench.db, owner, "mood", {"failure_limit": limit, "metric": "accuracy"})
    bench.submit("m", "retries = 0\n")
    row = next(row for row in queries.rows(bench.db) if row.cell.variant == "plain")
    never = set(pl.read_parquet(bench.workspace.blobs.path(row.dataset_version.blob))["text"].head(2).to_list())

    def respond(path: str, body: Any, headers: dict[str, str]) -> Any:
        asked = body["messages"][0]["content"]
        return (500, {"retry-after": "0"}, b"oops") if asked in never else usual(path, body, headers)

    server.respond = respond
    cell = bench.run()["m/plain"]
    assert cell.state == state, cell.reason
    if state == "failed":
        assert "It failed on 1 examples; 0 of 6 may fail." in cell.reason
        return
    result = model_results(bench.db, bench.workspace.blobs, owner, "mood/m")[0].record()
    bound = result.bounds["accuracy"]
    value = result.metrics["accuracy"].value
    assert (bound.examples, bound.low) == (2, pytest.approx(value))
    assert bound.high == pytest.approx(bound.low + 2 / 6)
    matrix = board(bench.db, bench.workspace.blobs, owner, "mood")
    figure = matrix.models[0].values["performance"][0]
    assert figure is not None
    assert (figure.failed, figure.worst) == (2, pytest.approx(bound.low * 100))
    assert figure.best == pytest.approx(bound.high * 100)


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
    set_inputs(bench.db, OPERATOR, "mood/test", "open")  # what a model says is as open as the inputs
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
