"""What a release says of people: how well they do on it, and what its owner alone can say in its datasheet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from sqlalchemy.orm import Session

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, Stale
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.release import ReleaseSpec
from quintain.services.access.links import make_link, redeem_link
from quintain.services.data.content import scan
from quintain.services.release.bundle import text_of
from quintain.services.release.datasheet_answers import answers_text, put_answers
from quintain.services.release.releases import release
from quintain.services.wheel.timeline import timeline
from tests.people import make_person
from tests.refusals import refusal
from tests.released import REF, Made, judged_round, mood_items
from tests.validation_support import LABELS
from tests.web_support import PASSWORD, browser_of, on_one_line, post, running, token_for

PLAIN = ReleaseSpec(dev=9, test=9, checked=(), even=(), writers="any")


@pytest.fixture
def database() -> str:
    """What is computed here is computed outside of the database."""
    return "sqlite"


def _disagreeing(items: list[Made]) -> list[Made]:
    """Let one of five say something else on every second item: never the same place, so that all judges do at times."""
    return [
        replace(item, votes=(*item.votes[:4], LABELS[LABELS.index(item.votes[0]) - 1])) if at % 2 else item
        for at, item in enumerate(items)
    ]


def test_people_are_measured_on_each_split(workspace: Workspace, db: Session, owner: Actor) -> None:
    """F1 is that of five synthetic annotators on what was released, and who never disagreed is counted by hand."""
    judged_round(db, owner, _disagreeing(mood_items(6)))
    made = release(db, workspace.blobs, owner, REF, PLAIN)
    assert [row.split for row in made.report.human] == ["dev", "test", "train", ""]
    everybody: set[str] = set()
    lapsed: set[str] = set()
    for row in made.report.human[:3]:
        rows = _judged_rows(db, workspace, owner, made.versions[row.split])
        votes = [
            (label, one["answer"], who)
            for one in rows
            for label, names in one["meta"]["judges"].items()
            for who in names
        ]
        judges, wrong = {who for *_, who in votes}, {who for said, gold, who in votes if said != gold}
        assert (row.items, row.workers, row.never_disagreed) == (len(rows), len(judges), len(judges - wrong))
        everybody, lapsed = everybody | judges, lapsed | wrong
        right = np.mean([said == gold for said, gold, _ in votes])
        assert row.fleiss_kappa.value == pytest.approx(_fleiss(rows), abs=1e-9)
        if row.split == "train":
            assert (row.annotators, row.f1, row.average.value) == (0, {}, None)
            continue
        assert row.annotators == 5
        assert row.average.value == pytest.approx(right, abs=0.02)  # classes are as frequent as each other
        assert row.average.low < row.average.value < row.average.high
        assert set(row.f1) == set(LABELS)
        assert np.mean([one.value for one in row.f1.values()]) == pytest.approx(row.average.value)
    whole = made.report.human[3]
    assert (whole.workers, whole.never_disagreed) == (len(everybody), len(everybody - lapsed))


def _judged_rows(db: Session, workspace: Workspace, owner: Actor, ref: str) -> list[dict[str, Any]]:
    table = scan(db, workspace.blobs, owner, ref, answers=True).collect()
    return [{**row, "meta": json.loads(row["meta"])} for row in table.to_dicts()]


def _fleiss(rows: list[dict[str, Any]]) -> float:
    """Compute Fleiss' kappa of items that all have five judgements."""
    counts = np.array([[len(one["meta"]["judges"].get(label, ())) for label in (*LABELS, "mixed")] for one in rows])
    agreed = ((counts * counts).sum(axis=1) - 5) / 20
    shares = counts.sum(axis=0) / counts.sum()
    return float((agreed.mean() - (shares**2).sum()) / (1 - (shares**2).sum()))


def test_answers_stand_in_the_next_release(workspace: Workspace, db: Session, owner: Actor) -> None:
    """The datasheet of what was released stays as it was; released again, the same data has the answers."""
    judged_round(db, owner, mood_items(4))
    first = release(db, workspace.blobs, owner, REF, PLAIN)
    sheet = text_of(db, workspace.blobs, owner, REF, 1, "datasheet.md")
    assert sheet.count("**Open:") == 8
    assert put_answers(
        db, owner, "mood", 'makers = "A *small* lab; paid by itself."\nmisuse = "<b>Ranking</b> people."'
    )
    assert text_of(db, workspace.blobs, owner, REF, 1, "datasheet.md") == sheet
    assert answers_text(db, owner, "mood").open == [
        "distress",
        "personal",
        "consent",
        "review",
        "licence",
        "maintainer",
    ]
    second = release(db, workspace.blobs, owner, REF, PLAIN)
    assert (second.number, second.new, second.versions) == (2, True, first.versions)
    assert release(db, workspace.blobs, owner, REF, PLAIN).new is False
    sheet = text_of(db, workspace.blobs, owner, REF, 2, "datasheet.md")
    assert "**Who made it, for whom, and who paid for it?** A *small* lab; paid by itself." in sheet
    assert "&lt;b&gt;Ranking&lt;/b&gt; people." in sheet
    assert sheet.count("**Open:") == 6
    changes = text_of(db, workspace.blobs, owner, REF, 2, "changelog.md")
    assert "The datasheet answers otherwise:" in changes
    assert "What should it not be used for?" in changes
    with refusal(Conflict, "released_before"):
        release(db, workspace.blobs, owner, REF, replace(PLAIN, seed=5))  # other data, which may show hidden labels
    assert timeline(db, owner, "mood").rounds[0].state == "waiting"  # the same test twice shows none of its labels


def test_answers_are_the_owners(db: Session, owner: Actor) -> None:
    """Others neither read nor write them, and a fault has its place."""
    judged_round(db, owner, mood_items(1))
    worker = make_person(db, "wanda", RoleName.WORKER)
    with pytest.raises(Forbidden):
        answers_text(db, worker, "mood")
    with pytest.raises(Forbidden):
        put_answers(db, worker, "mood", 'makers = "Me."')
    with pytest.raises(BadInput, match="maker"):
        put_answers(db, owner, "mood", 'maker = "Me."')
    with pytest.raises(BadInput, match="4000 characters"):
        put_answers(db, owner, "mood", f'makers = "{"x" * 4001}"')


@pytest.fixture
def judged(workspace: Workspace) -> Iterator[Workspace]:
    """A judged round of olga's, whose password is known."""
    with workspace.session() as db:
        judged_round(db, make_person(db, "olga", RoleName.OWNER), _disagreeing(mood_items(4)))
        redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    return workspace


def test_page_calls_and_command_agree(judged: Workspace, cli: Callable[..., Result], tmp_path: Path) -> None:
    """Each shows what another has set; the release page says what is open and how well people do."""
    browser, home = browser_of(judged, "olga"), "/tasks/mood/validation/1/release"
    assert "8 questions wait for your answers." in on_one_line(browser.get(home))
    page = browser.get(f"/tasks/mood/datasheet?back={home}").text
    assert page.count("<textarea") == 8
    saved = post(browser, "/tasks/mood/datasheet", "/tasks/mood/datasheet", makers="A lab.", back=home)
    assert (saved.status_code, saved.headers["location"]) == (303, home)
    with running(judged) as url, Client(url, token_for(judged, "olga")) as client:
        seen = client.datasheet("mood")
        assert 'makers = "A lab."' in seen.toml
        client.set_datasheet("mood", seen.toml.replace('misuse = ""', 'misuse = "Spam."'), revision=seen.revision)
        with pytest.raises(Stale):
            client.set_datasheet("mood", 'makers = "Others."', revision=seen.revision)
    at = ("--workspace", judged.settings.workspace, "task", "datasheet", "mood")
    shown = cli(*at)
    assert 'misuse = "Spam."' in shown.stdout
    assert "6 questions are open." in shown.stderr
    file = tmp_path / "answers.toml"
    file.write_text(shown.stdout.replace('review = ""', 'review = "None was asked for."'))
    assert cli(*at, file, "--yes").exit_code == 0
    assert "5 questions wait for your answers." in on_one_line(browser.get(home))
    looked = post(browser, home, home, dev="9", test="9", writers="any")
    assert "How well people do: F1 of synthetic annotators" in on_one_line(looked)
    refused = post(browser, "/tasks/mood/datasheet", "/tasks/mood/datasheet", makers="x" * 5000)
    assert refused.status_code == 422
    assert "at most 4000 characters" in refused.text
