"""All about a round and a data set as one report, by service and by command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden
from quintain.core.people import OPERATOR
from quintain.core.records.base import to_json
from quintain.protocols.crowd.forecast import run_trial
from quintain.protocols.reading import shipped_text
from quintain.services.access.actors import actor_of, find_user
from quintain.services.plain.reports.trials import arms_of, find_protocol
from quintain.services.study.datasets import datasets_report
from quintain.services.study.whole import whole_report
from quintain.services.trial.trials import keep_simulated
from tests.boards import add_sentences, add_version, evaluated, sentences, up_to
from tests.studied import studied_workspace


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with a judged round."""
    workspace = studied_workspace(tmp_path_factory.mktemp("whole"))
    yield workspace
    workspace.close()


def test_a_round_is_told_as_a_whole(judged: Workspace, tmp_path: Path, cli: Callable[..., Result]) -> None:
    """Texts, labels and people stand in one report, each section with the command that makes it again."""
    done = cli(
        *("--workspace", judged.settings.workspace, "study", "report", "mood/1", "--out", tmp_path / "out", "--json")
    )
    report = json.loads(done.stdout)
    keys = [one["key"] for one in report["sections"]]
    assert len(keys) == len(set(keys))
    assert {"edits", "lengths", "vocabulary", "writers", "judges"} <= set(keys)
    assert all(one["commands"] == ["quintain study report mood/1 --seed 0 --out DIR"] for one in report["sections"])
    assert "All about round mood/1" in (tmp_path / "out" / "report.html").read_text()


def test_only_owners_and_only_what_there_is(judged: Workspace) -> None:
    """Others are refused, and so is what is neither a data set nor a round."""
    with judged.session() as db:
        with pytest.raises(Forbidden):
            whole_report(db, judged.blobs, actor_of(db, find_user(db, "rita")), "mood/1")
        with pytest.raises(BadInput, match="neither a data set nor a round or a trial"):
            whole_report(db, judged.blobs, OPERATOR, "mood")


def test_a_data_set_is_told_as_a_whole(judged: Workspace, tmp_path: Path) -> None:
    """Artefacts and, once models were run on it, difficulty and abilities: the stronger is the abler."""
    seen: list[float] = []
    blobs = judged.blobs
    with judged.session() as db:
        add_sentences(db, blobs, OPERATOR, tmp_path, "told", sentences(60))
        alone = whole_report(db, blobs, OPERATOR, "mood/told", done=seen.append)
        for level in (20, 50, 80, 95):
            model = add_version(db, blobs, OPERATOR, tmp_path, f"to{level}")
            evaluated(db, blobs, model, up_to(level), perturbed=(), measured=False)
        report = whole_report(db, blobs, OPERATOR, "mood/told")
        add_sentences(db, blobs, OPERATOR, tmp_path, "small", sentences(4))
        with pytest.raises(BadInput, match="nothing to study"):
            whole_report(db, blobs, OPERATOR, "mood/small")
    assert [one.key for one in alone.sections][:2] == ["partial", "words"]
    assert (seen == sorted(seen), seen[-1]) == (True, 1)
    sections = {one.key: one for one in report.sections}
    assert len(sections) == len(report.sections)
    assert {"difficulty", "abilities", "information", "ranking", "review"} <= set(sections)
    assert "What do to95@1 and to80@1 disagree on?" in sections["disagreement"].title
    assert sections["slices"].title == "Where is to95@1 weak?"
    assert [row[0] for row in sections["abilities"].tables[0].rows] == ["to95@1", "to80@1", "to50@1", "to20@1"]


def test_data_sets_of_a_workspace_stand_beside_each_other(
    judged: Workspace, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """The command takes data sets by name; models that were run on both give the gap; others are refused."""
    blobs = judged.blobs
    with judged.session() as db:
        for name, number in (("one", 60), ("two", 40)):
            add_sentences(db, blobs, OPERATOR, tmp_path, name, sentences(number))
        with pytest.raises(Forbidden):
            datasets_report(db, blobs, actor_of(db, find_user(db, "rita")), ["mood/one", "mood/two"])
        with pytest.raises(BadInput, match="not of task mood"):
            datasets_report(db, blobs, OPERATOR, ["mood/one", "other/two"])
    done = cli(
        *("--workspace", judged.settings.workspace, "study", "compare", "mood/one", "mood/two", "--seeds", "1"),
        *("--out", tmp_path / "out", "--json"),
    )
    found = json.loads(done.stdout)
    assert "transfer" in [one["key"] for one in found["sections"]]
    assert found["sections"][0]["commands"][0].startswith("quintain study compare mood/one mood/two --seeds 1")


def test_a_trial_is_told_as_a_whole(judged: Workspace) -> None:
    """A trial by its name: its arms beside each other, with the command that makes the report again."""
    [arm] = arms_of(run_trial([find_protocol("baseline")], 60, 0))
    with judged.session() as db:
        keep_simulated(db, judged.blobs, OPERATOR, ("mood", "tried"), [(shipped_text("baseline"), arm)], title="T")
        told = whole_report(db, judged.blobs, OPERATOR, "mood/tried")
    assert told.title == "All about trial mood/tried"
    assert {"results", "agreement"} <= {one.key for one in told.sections}
    assert told.sections[0].commands == ["quintain study report mood/tried --seed 0 --out DIR"]


def test_the_command_in_a_report_gives_its_numbers(
    judged: Workspace, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """Of a data set, a round and a trial, the command that stands beside a number makes the same number again."""
    [arm] = arms_of(run_trial([find_protocol("baseline")], 60, 0))
    with judged.session() as db:
        add_sentences(db, judged.blobs, OPERATOR, tmp_path, "again", sentences(40))
        keep_simulated(db, judged.blobs, OPERATOR, ("mood", "retried"), [(shipped_text("baseline"), arm)], title="T")
        told = [whole_report(db, judged.blobs, OPERATOR, f"mood/{name}", seed=3) for name in ("again", "1", "retried")]
    for at, report in enumerate(told):
        for command in {one for section in report.sections for one in section.commands}:
            program, *words = command.replace("DIR", str(tmp_path / str(at))).split()
            assert program == "quintain"
            made = json.loads(cli("--workspace", judged.settings.workspace, *words, "--json").stdout)
            assert made["sections"] == json.loads(to_json(report))["sections"]
