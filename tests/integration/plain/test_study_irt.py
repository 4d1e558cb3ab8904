"""`quintain study irt` on plain tables: long and wide, weighted, and what is wrong with a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import Result

import quintain as qt
from quintain.core.errors import BadInput
from tests.published import LSAT7, lsat6

Cli = Callable[..., Result]


@pytest.fixture
def drawn() -> pl.DataFrame:
    """Responses of forty to six items, wide, with a column of names."""
    rng = np.random.default_rng(3)
    chance = 1 / (1 + np.exp(-(rng.normal(0, 1.6, size=(40, 1)) - np.linspace(-1.5, 1.5, 6))))
    right = (rng.random((40, 6)) < chance).astype(int)
    columns = {f"q{at}": right[:, at] for at in range(6)}
    return pl.DataFrame({"who": [f"m{at}" for at in range(40)], **columns})


def test_long_and_wide_tables_say_the_same(cli: Cli, drawn: pl.DataFrame, tmp_path: Path) -> None:
    """The same responses give the same items; tables are written with the columns that they are to have."""
    drawn.write_csv(wide := tmp_path / "wide.csv")
    long = drawn.unpivot(index="who", variable_name="example", value_name="correct").rename({"who": "respondent"})
    long.write_csv(tmp_path / "long.csv")
    one = json.loads(cli("study", "irt", wide, "--json").stdout)
    done = cli(
        *("study", "irt", tmp_path / "long.csv", "--column", "item=example", "--json"),
        *("--out", tmp_path / "items.csv", "--abilities", tmp_path / "people.csv"),
    )
    two = json.loads(done.stdout)
    assert two["loglik"] == pytest.approx(one["loglik"])
    assert [item["item"] for item in two["items"]] == [f"q{at}" for at in range(6)]
    items, people = pl.read_csv(tmp_path / "items.csv"), pl.read_csv(tmp_path / "people.csv")
    assert items.columns == ["item", "discrimination", "difficulty", "guessing"]
    assert (people.columns, people.height) == (["respondent", "ability", "error"], 40)
    assert items["difficulty"].to_list() == pytest.approx([item["difficulty"] for item in one["items"]], abs=1e-3)
    assert "Weak priors were used" in done.stderr
    assert "Log-likelihood" in cli("study", "irt", wide, "--model", "1pl").stdout


def test_classic_tables_by_command(cli: Cli, tmp_path: Path) -> None:
    """Tables without a column of respondents, and with one of frequencies, are read as they are."""
    lsat6().write_csv(tmp_path / "lsat6.csv")
    six = json.loads(cli("study", "irt", tmp_path / "lsat6.csv", "--no-respondent", "--json").stdout)
    assert six["loglik"] == pytest.approx(-2466.653, abs=0.001)
    seven = json.loads(cli("study", "irt", LSAT7, "--frequency", "freq", "--json").stdout)
    assert (seven["respondents"], round(seven["loglik"], 3)) == (1000, -2658.805)


def test_what_is_wrong_with_responses_is_named(cli: Cli, tmp_path: Path) -> None:
    """A value that is neither right nor wrong, a second response, one respondent, an item without a response."""
    cases = {
        "respondent,item,correct\na,x,1\na,y,2\n": "row 3, field 'correct': '2' is neither 0 nor 1",
        "respondent,item,correct\na,x,1\na,x,0\n": "row 3: 'a' has a second response to 'x'",
        "who,x,y\na,1,0\n": "1 respondents with a response",
        "who,x,y\na,1,\nb,0,\n": "Item 'y' of bad.csv has no response",
    }
    for text, said in cases.items():
        (bad := tmp_path / "bad.csv").write_text(text)
        done = cli("study", "irt", bad)
        assert done.exit_code == 1
        assert said in done.stderr
    assert "no column 'n'" in cli("study", "irt", bad, "--frequency", "n").stderr


def test_several_files_are_several_tests(cli: Cli, drawn: pl.DataFrame, tmp_path: Path) -> None:
    """Respondents are matched by name, tests stay apart in the report; files without a common name are refused."""
    drawn.write_csv(one := tmp_path / "one.csv")
    drawn.select("who", "q1", "q2").sort("who").write_csv(other := tmp_path / "other.csv")
    done = cli("study", "irt", one, other, "--subset", "2", "--report", tmp_path / "report", "--json")
    found = json.loads(done.stdout)
    assert {item["test"] for item in found["items"]} == {"one", "other"}
    assert found["items"][6]["item"] == "other:q1"
    assert len(found["subset"]) == 2
    assert [entry["respondent"] for entry in found["abilities"]][:2] == ["m0", "m1"]
    assert "An item of" in (tmp_path / "report" / "report.md").read_text()
    drawn.with_columns(who="x" + pl.col("who")).write_csv(strange := tmp_path / "strange.csv")
    assert "No respondent is in all of the 2 files" in cli("study", "irt", one, strange).stderr
    assert "need the names" in cli("study", "irt", one, other, "--no-respondent").stderr
    assert "cannot be chosen" in cli("study", "irt", one, "--subset", "9").stderr


def test_variational_by_command(cli: Cli, drawn: pl.DataFrame, tmp_path: Path) -> None:
    """The bound at every prior that was tried is given; a column names the tests whose sizes weigh."""
    long = drawn.unpivot(index="who", variable_name="item", value_name="correct").rename({"who": "respondent"})
    long.with_columns(test=pl.when(pl.col("item") == "q0").then(pl.lit("short")).otherwise(pl.lit("long"))).write_csv(
        file := tmp_path / "long.csv"
    )
    done = cli("study", "irt", file, "--method", "vi", "--json")
    found = json.loads(done.stdout)
    assert found["method"] == "vi"
    assert found["elbo"] == max(one["elbo"] for one in found["priors_tried"])
    assert len(found["priors_tried"]) == 6
    assert "inverse size of their test" in done.stderr
    (tmp_path / "bad.csv").write_text("respondent,item,correct,test\na,x,1,s\nb,x,0,t\na,y,1,s\nb,y,0,s\n")
    assert "is in several tests" in cli("study", "irt", tmp_path / "bad.csv").stderr


def test_sparse_responses_are_estimated_or_refused() -> None:
    """Items that all get right, a respondent without a response: estimated, with a note; one respondent: refused."""
    said = [
        {"respondent": f"r{who}", "easy": 1, **{f"i{item}": int(who > item) for item in range(4)}} for who in range(6)
    ]
    silent = {"respondent": "none", "easy": None, **dict.fromkeys(f"i{item}" for item in range(4))}
    found = qt.irt([*said, silent], "1pl")
    assert found.table["difficulty"].is_finite().all()
    assert any("1 respondents have no response" in note for note in found.notes)
    assert any("items are right, or wrong, for all" in note for note in found.notes)
    with pytest.raises(BadInput, match="1 respondents with a response: abilities need two of each"):
        qt.irt(said[:1])


def test_a_prior_of_guessing_by_command(cli: Cli, drawn: pl.DataFrame, tmp_path: Path) -> None:
    """It is used, told, and part of the command that makes the report again; what is none is refused."""
    drawn.write_csv(file := tmp_path / "wide.csv")
    given = ("study", "irt", file, "--model", "3pl")
    done = cli(*given, "--guessing-prior", "0.5,1", "--report", tmp_path / "report", "--json")
    assert json.loads(done.stdout)["prior"] == {"guess_mean": 0.0, "guess_spread": 1.0}
    command = "quintain study irt wide.csv --model 3pl --guessing-prior 0.5,1 --seed 0 --report DIR"
    assert command in (tmp_path / "report" / "report.md").read_text()
    assert "takes numbers by commas" in cli(*given, "--guessing-prior", "often").stderr
    assert "a chance (0 to 1)" in cli(*given, "--guessing-prior", "2,1").stderr
    assert "knows no guessing" in cli("study", "irt", file, "--guessing-prior", "0.5,1").stderr


def test_only_known_models_and_methods_are_estimated(drawn: pl.DataFrame) -> None:
    """A name in capitals is taken, and guessing estimated; one that is not known is refused, not taken for another."""
    found = qt.irt(drawn, "3PL")  # type: ignore[arg-type]
    assert found.study.fit.model == "3pl"
    assert (found.table["guessing"] > 0).all()
    with pytest.raises(BadInput, match=r"'4pl' is no model of item response theory"):
        qt.irt(drawn, "4pl")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"'foo' is no method of item response theory; there are mml, vi"):
        qt.irt(drawn, method="foo")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0])
def test_what_is_no_frequency_is_refused(drawn: pl.DataFrame, bad: float) -> None:
    """It is named with its row; a column of zeros is nobody."""
    counted = drawn.drop("who").with_columns(freq=pl.Series([1.0] * 39 + [bad]))
    with pytest.raises(BadInput, match=r"row 39.*freq.*is no frequency"):
        qt.irt(counted, frequency="freq")
    with pytest.raises(BadInput, match="there is no respondent"):
        qt.irt(counted.with_columns(freq=pl.lit(0)), frequency="freq")


def test_respondents_have_one_row_each(drawn: pl.DataFrame) -> None:
    """Of two rows with one name neither is lost silently, in one table or in several; a name must be there."""
    twice = pl.concat([drawn, drawn.head(1)])
    for given in (twice, [drawn, twice]):
        with pytest.raises(BadInput, match="'m0' has several rows"):
            qt.irt(given)
    with pytest.raises(BadInput, match="has no respondent"):
        qt.irt(drawn.with_columns(who=pl.when(pl.col("who") == "m3").then(None).otherwise("who")))


def test_frames_are_tests_as_files_are(drawn: pl.DataFrame) -> None:
    """Several frames have a test in each, and respondents are the same where their names are."""
    found = qt.irt([drawn.select("who", "q0", "q1", "q2"), drawn.select("who", "q3", "q4", "q5")])
    assert found.study.responses.tests == ["test 1"] * 3 + ["test 2"] * 3
    assert found.abilities.height == 40


def test_estimates_that_did_not_settle_say_so(drawn: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the notes, in the report's facts, and in the section on difficulty, which other reports take over."""
    monkeypatch.setattr("quintain.stats.irt.marginal.MOST_TURNS", 1)
    found = qt.irt(drawn)
    assert not found.study.fit.converged
    assert any("had not settled" in note for note in found.notes)
    report = found.report()
    assert "no: do not rely on the estimates" in [str(fact.value) for fact in report.facts]
    assert "had not settled" in str(report.sections[0].findings[0])


def test_a_narrow_prior_of_few_respondents_is_doubted(drawn: pl.DataFrame) -> None:
    """Forty respondents cannot tell one prior of discrimination from another, and the notes say so."""
    found = qt.irt(drawn, method="vi")
    assert found.study.fit.prior["discrimination_spread"] == min(found.study.fit.search)
    assert any("With few respondents the narrowest prior" in note for note in found.notes)
