"""The analyst's library: what it offers, what its results can do, and that commands give the same."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import pkgutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quintain as qt
from quintain import library
from quintain.core.errors import BadInput, Unavailable
from quintain.library import results

VOTES = [
    (item, worker, label)
    for item, labels in {"a": "yyn", "b": "nnn", "c": "yny", "d": "yyy"}.items()
    for worker, label in zip(("ann", "bob", "cy"), labels, strict=True)
]
SETS = [
    {"id": f"{name}{place}", "set": name, "role": "contrast" if place else "original", "gold": gold, "tags": ["not"]}
    for name in "st"
    for place, gold in enumerate(("yes", "no"))
]
MATRIX = [
    {"breaker": "b", "pair_id": pair, "side": side, "gold": gold, "one": "yes", "two": gold}
    for pair in ("1", "2")
    for side, gold in (("a", "yes"), ("b", "no"))
]
ITEMS = [{"id": str(at), "text": f"{at * 7919} a day", "label": "yes" if at % 2 else "no"} for at in range(40)]
ANSWERED = [
    {
        "id": str(at),
        "text": "not bad" if at < 20 else f"good {at}",
        "label": "yes",
        "said": "no" if at < 15 else "yes",
        "votes": ["yes"] * (5 - at % 3) + ["no"] * (at % 3),
    }
    for at in range(60)
]
RESPONSES = [(f"r{who}", f"i{item}", int(who + (who * item) % 3 > item)) for who in range(8) for item in range(6)]
MODELS = {"model": ["x", "y", "z"], "perf": [80.0, 70.0, 60.0], "speed": [1.0, 3.0, 2.0]}


def _trial() -> qt.Result:
    """Report on an arm of twelve items from a file."""
    votes = [[f"j{number}", "a"] for number in range(6)]
    rows = [
        {
            "item": f"i{at}",
            "writer": f"w{at % 3}",
            "label": "a",
            "judgements": votes,
            "predictions": {"m": "ab"[at % 2]},
        }
        for at in range(12)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arm.json"
        file.write_text(json.dumps({"format": "quintain-trial", "arms": [{"name": "plain", "items": rows}]}))
        return qt.trial(file, draws=3)


MADE: dict[str, Callable[[], qt.Result]] = {
    "aggregate": lambda: qt.aggregate(VOTES, "dawid-skene"),
    "agreement": lambda: qt.agreement(VOTES, resamples=50),
    "workers": lambda: qt.workers(VOTES),
    "human": lambda: qt.human(VOTES, seeds=5),
    "expand": lambda: qt.expand(VOTES),
    "score": lambda: qt.score({"a": "yes", "b": "no"}, {"a": "yes", "b": "yes"}, ["accuracy"]),
    "rank": lambda: qt.rank(MODELS, {"perf": 1, "speed": 1}),
    "release": lambda: qt.release(ITEMS, dev=4, test=4, writers="any"),
    "irt": lambda: qt.irt(RESPONSES),
    "preference": lambda: qt.preference([("x", "y", "left"), ("y", "x", "left"), ("x", "y", "tie")]),
    "artefacts": lambda: qt.artefacts(ITEMS),
    "slices": lambda: qt.slices(ANSWERED, {one["id"]: one["said"] for one in ANSWERED}),
    "estimate": lambda: qt.estimate(
        [(f"e{at}", "ann", "yes" if at % 4 else "no") for at in range(100)],
        [(f"e{at}", "yes" if at % 4 else "no") for at in range(500)],
        label="yes",
    ),
    "machine_agreement": lambda: qt.machine_agreement(
        [(f"e{at}", who, "yes" if at % 2 else "no") for at in range(40) for who in ("ann", "bob", "gpt")], "gpt"
    ),
    "paired": lambda: qt.paired(
        {"a": "yes", "b": "no"}, {"one": {"a": "yes", "b": "no"}, "two": {"a": "no", "b": "no"}}
    ),
    "disagreement": lambda: qt.disagreement(
        ANSWERED, *([(one["id"], one[by]) for one in ANSWERED] for by in ("said", "label"))
    ),
    "calibration": lambda: qt.calibration(
        ANSWERED, [{"id": one["id"], "prediction": "yes", "prob_yes": 0.8, "prob_no": 0.2} for one in ANSWERED]
    ),
    "trial": _trial,
    "compare": lambda: qt.compare({"one": ITEMS, "two": ITEMS[:30]}, seeds=1),
    "perturb": lambda: qt.perturb(["A fine day for a long walk."], ["typos", "ocr"]),
    "contrast_score": lambda: qt.contrast_score(SETS, {one["id"]: "yes" for one in SETS}),
    "contest_score": lambda: qt.contest_score(MATRIX, dev_accuracy={"one": 0.5, "two": 0.9}),
}


def test_every_analysis_is_tried_here() -> None:
    """Each function of the library is offered by the package, and made once by the tests below."""
    offered = {name for name in qt.__all__ if "quintain.library" in getattr(getattr(qt, name), "__module__", "")}
    assert offered - {"Chart", "Result"} == set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_a_result_shows_itself(name: str) -> None:
    """A table, plain data, a chart of Vega-Lite, a narrow text for a terminal and HTML for a notebook."""
    found = MADE[name]()
    assert isinstance(found, qt.Result)
    assert found.table.height > 0
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert found.plot().spec["$schema"].endswith("v6.json")
    assert found.plot().spec["data"]["values"]
    assert max(map(len, repr(found).splitlines())) <= results.WIDTH + 12  # its heading may be a little longer
    assert repr(found).startswith(found.title)
    assert found.title in found._repr_html_()
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize("name", MADE)
def test_a_result_goes_to_pandas(name: str) -> None:
    """The main table as a pandas frame has the same columns and rows."""
    pytest.importorskip("pandas", reason="pandas is not installed")
    found = MADE[name]()
    frame = found.to_pandas()
    assert list(frame.columns) == found.table.columns
    assert len(frame) == found.table.height


def test_without_pandas_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pandas is not installed, the error says how to get it."""

    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(results, "import_module", absent)
    with pytest.raises(Unavailable, match="pip install pandas"):
        MADE["workers"]().to_pandas()


def test_a_chart_becomes_a_file(tmp_path: Path) -> None:
    """As HTML it needs nothing else, as JSON it is the specification; a notebook gets what it draws."""
    chart = MADE["rank"]().plot()
    page = chart.save(tmp_path / "chart.html").read_text("utf-8")
    assert "<script" in page
    assert "https://cdn" not in page
    assert json.loads(chart.save(tmp_path / "chart.json").read_text("utf-8")) == chart.spec
    drawn = chart._repr_mimebundle_()
    assert drawn["application/vnd.vegalite.v6+json"]["width"] == 480


def test_examples_in_docstrings_hold() -> None:
    """Every example in the library's docstrings gives what it says."""
    tried = 0
    for module in pkgutil.iter_modules(library.__path__, "quintain.library."):
        found = doctest.testmod(importlib.import_module(module.name))
        assert not found.failed, module.name
        tried += found.attempted
    assert tried >= 9


def test_every_argument_has_a_type_and_every_function_a_docstring() -> None:
    """What editors show: names, types, and what it does."""
    for name in MADE:
        function = getattr(qt, name)
        assert (inspect.getdoc(function) or "").count("\n") >= 2
        for argument in inspect.signature(function).parameters.values():
            assert argument.annotation is not inspect.Parameter.empty


def test_known_labels_come_in_any_form(tmp_path: Path) -> None:
    """Gold as a mapping, as a table and as a file is the same."""
    known = {"a": "y", "b": "n"}
    file = tmp_path / "gold.csv"
    file.write_text("item,label\na,y\nb,n\n")
    forms: list[Any] = [known, {"item": list(known), "label": list(known.values())}, file, str(file)]
    found = [qt.human(VOTES, gold=form, seeds=5).to_dict()["synthetic_annotators"] for form in forms]
    assert all(one == found[0] for one in found)


def test_wrong_words_are_named() -> None:
    """A level, a way to treat repeats, a metric that there is not, and a row that has no worker."""
    with pytest.raises(BadInput, match="no level 'nominial'"):
        qt.agreement(VOTES, level="nominial")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="'all' is not a way"):
        qt.aggregate(VOTES, repeats="all")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="no column 'label'"):
        qt.aggregate({"item": ["a"], "worker": ["ann"]})
    with pytest.raises(BadInput, match="no prediction for id 'b'"):
        qt.score({"a": "yes", "b": "no"}, {"a": "yes"})


def test_a_command_prints_what_the_library_finds(tmp_path: Path, cli: Callable[..., Any]) -> None:
    """`--json` and `to_dict()` are the same figures."""
    file = tmp_path / "votes.csv"
    file.write_text("item,worker,label\n" + "".join(f"{','.join(vote)}\n" for vote in VOTES))
    printed = json.loads(cli("labels", "agreement", file, "--json", "--pairs", "0").stdout)
    assert printed == qt.agreement(file).to_dict()
    assert json.loads(cli("labels", "workers", file, "--json").stdout) == qt.workers(VOTES).to_dict()
