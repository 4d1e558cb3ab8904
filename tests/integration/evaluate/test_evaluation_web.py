"""The pages of evaluation: results, flips, runs, comparisons; and who sees what on them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.results.dataset_results import StoredResult
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.web.pages.evaluate import results as pages
from tests.web_support import browser_of, post

BRITTLE = "/tasks/mood/models/brittle"


def cell_of(workspace: Workspace, variant: str, state: str = "done") -> int:
    """Give the number of a run."""
    with workspace.session() as db:
        rows = queries.rows(db, states=[state])
        return next(row.cell.id for row in rows if row.cell.variant.partition(".v")[0] == variant)


def page(client: TestClient, path: str, status: int = 200) -> str:
    """Get a page."""
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    return answer.text


def test_the_model_page_shows_five_axes(evaluated_site: Workspace) -> None:
    """Performance, robustness, fairness, throughput and memory, for each data set, with a way into each."""
    text = page(browser_of(evaluated_site), BRITTLE)
    for word in ("Accuracy", "Robustness", "Fairness", "Examples/s", "Memory (GiB)", "95 % interval"):
        assert word in text, word
    assert f"{BRITTLE}/results/open?version=1" in text
    assert "5 of 26" in text or "5 of " in text


@pytest.mark.parametrize(("metric", "noted"), [("macro_f1", True), ("accuracy", False)])
def test_a_tag_of_one_label_is_marked_where_a_macro_average_stands(
    evaluated_site: Workspace, monkeypatch: pytest.MonkeyPatch, metric: str, noted: bool
) -> None:
    """The tag has a mark, and below the table stands what it means; accuracy needs none."""
    result_of = pages._result

    def with_tags(*arguments: Any) -> StoredResult:
        result = result_of(*arguments)
        part = {"by": "tag", "examples": 3, "metrics": result.metrics}
        return replace(result, slices=[{**part, "value": "short", "one_label": True}, {**part, "value": "long"}])

    monkeypatch.setattr(pages, "_result", with_tags)
    monkeypatch.setattr(pages.tasks, "leading_metric", lambda _: metric)
    text = page(browser_of(evaluated_site), f"{BRITTLE}/results/open")
    assert ("Of one gold label only" in text) is noted
    assert ('<td class="nowrap">short *</td>' in text) is noted
    assert '<td class="nowrap">long</td>' in text


def test_one_data_set_in_detail(evaluated_site: Workspace) -> None:
    """Metrics, confusions, families, measurements, the surest mistakes, and links to flips and runs."""
    text = page(browser_of(evaluated_site), f"{BRITTLE}/results/open")
    for word in (
        "Macro F1",
        "Which labels does it confuse?",
        "word_case",
        "gender_words",
        "Latency",
        "CPU time",
        "while loading",
    ):
        assert word in text, word
    contents = text.partition('<nav class="contents"')[2].partition("</nav>")[0]
    assert all(f'href="#{key}"' in contents and f'id="{key}"' in text for key in ("figures", "mistakes", "runs"))
    assert text.index('id="mistakes"') < text.index('id="confusion"')  # errors stand near the top
    assert "flips?version=1&amp;family=word_case" in text
    assert page(browser_of(evaluated_site), f"{BRITTLE}/results/none", 404)


def test_hidden_labels_do_not_leak_through_the_pages(evaluated_site: Workspace) -> None:
    """On hidden labels with open inputs a builder sees flips but no mistakes, downloads or small confusion matrix."""
    with evaluated_site.session() as db:
        set_inputs(db, OPERATOR, "mood/secret", "never")
        assert "are not open to you" in page(browser_of(evaluated_site, "bert"), f"{BRITTLE}/results/secret")
        set_inputs(db, OPERATOR, "mood/secret", "open")
    for name, sees_flips in (("bert", True), ("boris", False), (None, False)):
        client = browser_of(evaluated_site, name)
        text = page(client, f"{BRITTLE}/results/secret")
        assert "labels of this data set are hidden" in text
        assert "most surely wrong" not in text
        assert "Which labels does it confuse?" not in text
        page(client, f"{BRITTLE}/results/secret/flips", 200 if sees_flips else 403)
        page(client, f"{BRITTLE}/results/secret/download", 403)
        compared = page(client, "/tasks/mood/compare?a=brittle&b=constant&dataset=secret@1")
        assert "What an awful" not in compared or "open@1" in compared
    owner = browser_of(evaluated_site, "olga")
    assert "most surely wrong" in page(owner, f"{BRITTLE}/results/secret")
    assert "Which labels does it confuse?" in page(owner, f"{BRITTLE}/results/secret")


@contextmanager
def one_failure(workspace: Workspace, folder: Path, dataset: str) -> Iterator[None]:
    """Let the scored run of `brittle` on *dataset* have failed on its first example, and its measurement be odd."""
    with workspace.session() as db:
        rows = [row for row in queries.rows(db, states=["done"]) if row.model.name == "brittle"]
        cells = {row.cell.variant: row.cell for row in rows if row.dataset.name == dataset}
        plain, measured = cells["plain"], cells["measure"]
        before = plain.predictions, dict(plain.measurements), dict(measured.measurements)
        table = pl.read_parquet(workspace.blobs.path(str(plain.predictions)))
        first = pl.int_range(pl.len()) == 0
        none = {name: pl.when(~first).then(pl.col(name)) for name in ("prediction", "probabilities")}
        why = pl.when(first).then(pl.lit("The model raised ValueError: <seven>."))
        table.with_columns(**none, failure=why).write_parquet(folder / "failed.parquet")
        with transaction(db):
            plain.predictions = workspace.blobs.put_file(folder / "failed.parquet")
            plain.measurements = {"failed": 1}
            measured.measurements = {**before[2], "unstable": 3, "asked_again": 9}
        yield
        with transaction(db):
            plain.predictions, plain.measurements, measured.measurements = before


@pytest.mark.parametrize("dataset", ["open", "secret"])
def test_failures_are_counted_for_all_and_told_to_the_builder(
    evaluated_site: Workspace, tmp_path: Path, dataset: str
) -> None:
    """Everybody reads that some examples failed; why is for builder and owners, the inputs for who sees answers."""
    with evaluated_site.session() as db:
        set_inputs(db, OPERATOR, f"mood/{dataset}", "open")
    with one_failure(evaluated_site, tmp_path, dataset):
        for name, sees_input, sees_reason in (
            ("bert", True, True),
            ("olga", True, True),
            ("boris", dataset == "open", False),
            (None, dataset == "open", False),
        ):
            text = page(browser_of(evaluated_site, name), f"{BRITTLE}/results/{dataset}")
            assert "To some examples it gave no answer" in text
            assert "Asked again, it answered 3 of 9 examples differently." in text
            assert ("Where did it fail?" in text) == sees_input
            assert ("ValueError: &lt;seven&gt;" in text) == sees_reason
            assert ('<span class="chip bad">failed</span>' in text) == (dataset == "open" or name == "olga")
        answers = browser_of(evaluated_site).get(f"{BRITTLE}/results/open/download?format=csv").text
        assert "ValueError" not in answers


def test_flips_are_read_as_word_diffs(evaluated_site: Workspace) -> None:
    """What was removed and added is marked for the task's owners, with the answers; filters and paging work."""
    others = page(browser_of(evaluated_site, "bert"), f"{BRITTLE}/results/open/flips?family=word_case")
    assert "could prepare the answers" in others
    assert "<ins>" not in others
    client = browser_of(evaluated_site, "olga")
    text = page(client, f"{BRITTLE}/results/open/flips?family=word_case")
    assert "<del>" in text
    assert "<ins>" in text
    assert "before" in text
    assert "No flips" in page(client, f"{BRITTLE}/results/open/flips?group=nobody")
    assert page(client, f"{BRITTLE}/results/open/flips?offset=100000")


def test_answers_can_be_downloaded(evaluated_site: Workspace) -> None:
    """One row for each example, with gold answer, prediction and score, in every format."""
    client = browser_of(evaluated_site)
    for form in ("csv", "jsonl", "parquet"):
        answer = client.get(f"{BRITTLE}/results/open/download?format={form}")
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].endswith(f'mood-brittle-v1-open.{form}"')
    rows = [json.loads(line) for line in client.get(f"{BRITTLE}/results/open/download?format=jsonl").text.splitlines()]
    assert len(rows) == 12
    assert {"text", "answer", "prediction", "score", "confidence"} <= rows[0].keys()


def test_runs_are_listed_filtered_and_explained(evaluated_site: Workspace) -> None:
    """The list filters by state, model and data set; a log is for the builder and the owner."""
    everybody, builder = browser_of(evaluated_site), browser_of(evaluated_site, "bert")
    text = page(everybody, "/tasks/mood/runs?state=done&model=brittle&dataset=open")
    assert "brittle@1" in text
    assert "constant@1" not in text.split('id="rows"')[1]
    assert "Nothing fits" in page(everybody, "/tasks/mood/runs?state=failed")
    number = cell_of(evaluated_site, "plain")
    assert "leased" in page(builder, f"/runs/{number}")
    assert "shown to its builder" in page(everybody, f"/runs/{number}")
    assert "by " not in page(everybody, f"/runs/{number}").split("What happened")[1].split("</section>")[0].replace(
        "is shown to its builder", ""
    )
    page(everybody, "/runs/999999", 404)
    page(everybody, f"/runs/{10**30}", 404)


def test_a_run_is_retried_and_cancelled_by_its_builder(evaluated_site: Workspace) -> None:
    """The builder can, others cannot; the page says how many wait before it."""
    number = cell_of(evaluated_site, "ocr", "cancelled")
    builder, other = browser_of(evaluated_site, "bert"), browser_of(evaluated_site, "boris")
    answer = post(builder, f"/runs/{number}", f"/runs/{number}/retry")
    assert answer.status_code == 303
    text = page(builder, f"/runs/{number}")
    assert "before it" in text
    assert 'data-events="/runs/' in text
    assert post(other, "/account", f"/runs/{number}/cancel").status_code == 403
    assert post(builder, f"/runs/{number}", f"/runs/{number}/cancel").status_code == 303
    assert "Try it again" in page(builder, f"/runs/{number}")
    assert "Try it again" not in page(other, f"/runs/{number}")


def test_progress_is_streamed(evaluated_site: Workspace) -> None:
    """The stream tells the state as it is and ends when the run has."""
    number = cell_of(evaluated_site, "typos", "done")
    with browser_of(evaluated_site).stream("GET", f"/runs/{number}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
    assert json.loads(lines[-1].removeprefix("data: "))["state"] == "done"
    assert browser_of(evaluated_site).get("/runs/999999/events").status_code == 404


def test_private_models_stay_private(evaluated_site: Workspace) -> None:
    """Runs and results of a private model are found by nobody but its builder and owners."""
    number = cell_of(evaluated_site, "plain")
    with evaluated_site.session() as db, transaction(db):
        row = queries.row(db, number)
        assert row
        row.model.visibility = "private"
        name = row.model.name
    try:
        other, builder = browser_of(evaluated_site, "boris"), browser_of(evaluated_site, "bert")
        for path in (f"/runs/{number}", f"/runs/{number}/events", f"/tasks/mood/models/{name}/results/open"):
            assert other.get(path).status_code == 404, path
            assert builder.get(path).status_code == 200, path
        assert f"{name}@1" not in page(other, "/tasks/mood/runs").split('id="rows"')[1]
        assert f"{name}@1" in page(builder, "/tasks/mood/runs").split('id="rows"')[1]
    finally:
        with evaluated_site.session() as db, transaction(db):
            row = queries.row(db, number)
            assert row
            row.model.visibility = "public"


def test_two_models_are_compared(evaluated_site: Workspace) -> None:
    """The page gives both tests, a verdict in words, and the examples; a strange name is explained."""
    client = browser_of(evaluated_site)
    text = page(client, "/tasks/mood/compare?a=brittle&b=constant")
    for word in ("p, McNemar", "p, bootstrap", "Where do they differ?", "✓", "✗"):
        assert word in text, word
    assert page(client, "/tasks/mood/compare?a=brittle&b=constant&only=second")
    assert "no model" in page(client, "/tasks/mood/compare?a=brittle&b=nobody", 404)
    assert "compared with itself" in page(client, "/tasks/mood/compare?a=brittle&b=brittle", 422)
    assert page(client, "/tasks/mood/compare")


def test_overlap_says_what_is_known(evaluated_site: Workspace) -> None:
    """A model that does not name its training data gets no reassurance."""
    assert "It is not known" in page(browser_of(evaluated_site), f"{BRITTLE}/overlap")
