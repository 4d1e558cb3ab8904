"""Flips, mistakes, downloads and comparisons: who sees what, and that it is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.people import ANONYMOUS, Actor, RoleName
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.results import example_files, examples
from quintain.services.evaluate.results.compare import compare, differences
from quintain.services.evaluate.results.compute import model_results
from quintain.services.evaluate.results.example_files import export_examples
from quintain.services.evaluate.results.examples import flips, mistakes
from quintain.services.evaluate.results.overlap import model_overlap, overlap_versions
from quintain.services.evaluate.results.stored_predictions import read_predictions
from quintain.services.plain.files.overlap import overlap_files
from quintain.store.blobs import Blobs
from tests.beginnings import Build
from tests.evaluated import MORE, build
from tests.people import make_person
from tests.refusals import refusal


def run_two(workspace: Workspace, folder: Path) -> None:
    """Begin with two models that have been run."""
    with workspace.session() as db:
        people = (make_person(db, "olga", RoleName.OWNER), make_person(db, "bert", RoleName.BUILDER))
        build(db, workspace, *people, folder / "files")


@pytest.fixture
def beginning() -> Build:
    """Made once, and copied for each test."""
    return run_two


@pytest.fixture
def evaluated(workspace: Workspace) -> Workspace:
    """The workspace after two models have been run."""
    return workspace


def test_single_examples_are_shown_only_where_they_tell_no_hidden_label(
    evaluated: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """On open labels everybody reads originals and answers; on hidden ones the builder reads answers, owners the gold.

    What a perturbation made of an example is for owners, of open sets, too.
    """
    stranger = make_person(db, "boris", RoleName.BUILDER)
    model = "mood/brittle"

    for actor in (ANONYMOUS, builder):
        seen = flips(db, blobs, actor, model, "open", family="word_case")
        assert not seen.texts
        assert all(dict(flip.fields) == {"text": [("same", flip.inputs["text"])]} for flip in seen.flips)
        assert all(flip.before != flip.after for flip in seen.flips)
    found = flips(db, blobs, owner, model, "open", family="word_case")
    assert found.texts
    assert found.total == seen.total > 0
    first = found.flips[0]
    assert first.before != first.after
    pieces = first.fields["text"]
    assert {kind for kind, _ in pieces} >= {"removed", "added"}
    assert "".join(text for kind, text in pieces if kind != "added") == first.inputs["text"]
    everything = flips(db, blobs, ANONYMOUS, model, "open", limit=500)
    assert len(everything.flips) == everything.total >= found.total
    assert flips(db, blobs, ANONYMOUS, model, "open", family="robustness").total <= everything.total
    assert flips(db, blobs, ANONYMOUS, model, "open", group="female → male").total == sum(
        flip.group == "female → male" for flip in everything.flips
    )

    wrong, total = mistakes(db, blobs, ANONYMOUS, model, "open", limit=50)
    assert mistakes(db, blobs, ANONYMOUS, model, "open", limit=60)[0][:50] == wrong
    assert mistakes(db, blobs, ANONYMOUS, model, "open", limit=2, offset=1) == (wrong[1:3], total)
    assert total == len(wrong) > 0
    assert all(one.gold != one.answer for one in wrong)
    sure = [one.confidence for one in wrong if one.confidence is not None]
    assert sure == sorted(sure, reverse=True)

    with refusal(Forbidden, "inputs_closed"):
        flips(db, blobs, builder, model, "secret")
    set_inputs(db, owner, "mood/secret", "open")
    assert flips(db, blobs, builder, model, "secret").total > 0
    for actor in (stranger, ANONYMOUS):
        with pytest.raises(Forbidden, match="hidden"):
            flips(db, blobs, actor, model, "secret")
    for actor in (builder, stranger, ANONYMOUS):
        with pytest.raises(Forbidden, match="tells its label"):
            mistakes(db, blobs, actor, model, "secret")
        with pytest.raises(Forbidden, match="tells its label"):
            export_examples(db, blobs, actor, model, "secret", "csv", tmp_path / "no.csv")
        with pytest.raises(Forbidden, match="hidden"):
            differences(db, blobs, actor, model, "mood/constant", "secret@1")
    assert mistakes(db, blobs, owner, model, "secret")[1] > 0
    with pytest.raises(NotFound, match="no predictions"):
        flips(db, blobs, owner, model, "elsewhere")

    export_examples(db, blobs, ANONYMOUS, model, "open", "jsonl", tmp_path / "rows.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert len(rows) == 12
    assert all((row["prediction"] == row["answer"]) == (row["score"] == 1) for row in rows)
    assert "meta" not in rows[0]


def test_answers_are_written_some_at_a_time(
    evaluated: Workspace, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is the same in every format, however few examples are read at once."""
    given = (db, blobs, owner, "mood/brittle", "open")
    for form in ("jsonl", "csv", "tsv", "parquet"):
        assert export_examples(*given, form, tmp_path / f"whole.{form}") == 12
    monkeypatch.setattr(example_files, "AT_A_TIME", 5)
    for form in ("jsonl", "csv", "tsv"):
        assert export_examples(*given, form, tmp_path / f"parts.{form}") == 12
        assert (tmp_path / f"parts.{form}").read_bytes() == (tmp_path / f"whole.{form}").read_bytes()
    export_examples(*given, "parquet", tmp_path / "parts.parquet")
    assert pl.read_parquet(tmp_path / "parts.parquet").equals(pl.read_parquet(tmp_path / "whole.parquet"))


def test_the_next_page_reads_no_predictions(
    evaluated: Workspace, db: Session, blobs: Blobs, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages of mistakes and flips follow from one reading; all pages together are the whole list, in its order."""
    read = []

    def counted(*given: Any, **named: Any) -> pl.DataFrame:
        read.append(given)
        return read_predictions(*given, **named)

    blobs.state.clear()
    monkeypatch.setattr(examples, "read_predictions", counted)
    given = (db, blobs, owner, "mood/brittle", "open")
    wrong, total = mistakes(*given, limit=50)
    assert [mistakes(*given, offset=at, limit=1)[0][0] for at in range(total)] == wrong
    changed = flips(*given, limit=500)
    assert [flips(*given, offset=at, limit=1).flips[0] for at in range(changed.total)] == changed.flips
    assert len(read) == 2


def test_hidden_labels_cannot_be_read_off_small_groups(
    evaluated: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor
) -> None:
    """A label that was answered for few hidden examples shows no confusion matrix, except to owners."""
    mine = {one.dataset: one for one in model_results(db, blobs, builder, "mood/brittle")}
    theirs = {one.dataset: one for one in model_results(db, blobs, owner, "mood/brittle")}
    assert mine["secret"].confusion is None
    assert theirs["secret"].confusion is not None
    counts = theirs["secret"].confusion["counts"]
    assert sum(map(sum, counts)) == 6
    assert mine["open"].confusion == theirs["open"].confusion
    diagonal = sum(theirs["open"].confusion["counts"][i][i] for i in range(2))
    assert theirs["open"].metrics["accuracy"]["value"] == pytest.approx(diagonal / 12)


def test_two_models_are_compared_pair_by_pair(evaluated: Workspace, db: Session, blobs: Blobs, builder: Actor) -> None:
    """McNemar's counts, the difference and the examples agree with each other."""
    found = compare(db, blobs, builder, "mood/brittle", "mood/constant")
    assert [one.dataset for one in found.datasets] == ["open@1", "secret@1"]
    opened = found.datasets[0]
    assert opened.second == pytest.approx(0.5)
    assert opened.first is not None
    assert opened.difference.value == pytest.approx(opened.first - 0.5)
    first_only, total = differences(db, blobs, builder, "mood/brittle", "mood/constant", "open@1", only="first")
    assert total == len(first_only) == opened.mcnemar.first_only
    both, total = differences(db, blobs, builder, "mood/brittle", "mood/constant", "open@1", limit=50)
    assert total == opened.answers_differ == opened.mcnemar.first_only + opened.mcnemar.second_only
    assert all(one.first != one.second for one in both)
    with pytest.raises(BadInput, match="compared with itself"):
        compare(db, blobs, builder, "mood/brittle", "mood/brittle@1")
    with pytest.raises(BadInput, match="not both been run"):
        differences(db, blobs, builder, "mood/brittle", "mood/constant", "none")


def test_training_data_that_is_tested_on_is_reported(
    evaluated: Workspace, db: Session, blobs: Blobs, builder: Actor, owner: Actor, tmp_path: Path
) -> None:
    """Exact and near duplicates are counted, between files, between versions, and for a model that names its data."""
    train = tmp_path / "train.csv"
    rows = [MORE[0][0].upper(), MORE[1][0].replace("witty", "wittier"), "Something else altogether"]
    pl.DataFrame({"text": rows, "answer": ["negative"] * 3}).write_csv(train)
    test = tmp_path / "test.jsonl"
    test.write_text("".join(json.dumps({"text": text, "answer": answer}) + "\n" for text, answer in MORE))
    found = overlap_files(train, test, threshold=0.6)
    assert (found.exact, found.near, found.test_rows) == (1, 1, 6)
    assert found.pairs[0].similarity == 1
    assert found.share == pytest.approx(2 / 6)
    between = overlap_versions(db, blobs, builder, "mood/open", "mood/secret")
    assert (between.exact, between.near) == (6, 0)
    assert model_overlap(db, blobs, builder, "mood/brittle") == []
    pl.DataFrame({"other": ["a"]}).write_csv(tmp_path / "other.csv")
    with pytest.raises(BadInput, match="share no column"):
        overlap_files(train, tmp_path / "other.csv")
