"""Every public function with values of other types than it takes: bad input that names the argument, nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

import quintain as qt

_VOTES = [{"item": f"i{at}", "worker": who, "label": "ab"[at % 2]} for at in range(4) for who in "xyz"]
_GOLD = [{"id": str(at), "text": f"text {at}", "label": "ab"[at % 2], "votes": ["a", "b"]} for at in range(24)]
_SAID = [{"id": str(at), "prediction": "ab"[at % 2], "probabilities": {"a": 0.5, "b": 0.5}} for at in range(24)]
_SETS = [
    {"id": f"{at}{role}", "set": f"s{at}", "role": role, "gold": label}
    for at in range(2)
    for role, label in (("original", "a"), ("contrast", "b"))
]
_PAIRS = [{"breaker": "b", "pair_id": "p", "side": side, "gold": "1", "sys": "1"} for side in ("original", "modified")]
_TASK = 'name = "nli"\nkind = "pair-classification"\nlabels = ["yes", "no"]'
# What each function is called with beside the value that is wrong.
CALLS: Mapping[str, Mapping[str, Any]] = {
    "aggregate": {"judgements": _VOTES},
    "agreement": {"judgements": _VOTES, "resamples": 10},
    "artefacts": {"examples": _GOLD[:3]},
    "calibration": {"gold": _GOLD[:3], "predictions": _SAID[:3]},
    "compare": {"datasets": {"A": _GOLD[:3], "B": _GOLD[3:6]}, "seeds": 1},
    "contest_score": {"matrix": _PAIRS, "resamples": 10},
    "contrast_score": {
        "examples": _SETS,
        "predictions": [{"id": row["id"], "prediction": "a"} for row in _SETS],
        "resamples": 10,
    },
    "disagreement": {"gold": _GOLD[:3], "first": _SAID[:3], "second": _SAID[:3]},
    "estimate": {"people": _VOTES, "machine": {"item": ["i0", "i1"], "label": ["a", "b"]}, "label": "a"},
    "expand": {"judgements": _VOTES},
    "human": {"judgements": _VOTES, "seeds": 2},
    "irt": {"responses": [{"respondent": "r", "item": "i", "correct": 1}]},
    "kind_of": {"task": qt.parse_task(_TASK)},
    "machine_agreement": {"judgements": _VOTES, "machine": "z"},
    "parse_task": {"text": _TASK},
    "paired": {"gold": _GOLD[:3], "resamples": 100},
    "perturb": {"texts": ["She sings."], "kinds": "typos"},
    "preference": {"votes": [("x", "y", "left"), ("y", "x", "left")]},
    "rank": {"table": [{"model": "a", "acc": 0.1, "mem": 1}, {"model": "b", "acc": 0.2, "mem": 2}]},
    "read_task": {"path": "/nowhere.toml"},
    "release": {"items": _GOLD[:6], "dev": 1, "test": 1},
    "score": {"gold": {"1": "a"}, "predictions": {"1": "a"}, "resamples": 10},
    "slices": {"gold": _GOLD, "predictions": _SAID},
    "trial": {},
    "workers": {"judgements": _VOTES},
}
WRONG = {
    "a text": "nonsense",
    "a number": 3.5,
    "a list": ["nonsense"],
    "a list of lists": [[object()]],
    "a mapping": {"acc": "nonsense", "mem": None},
    "an object": object(),
}
FUNCTIONS = [name for name in qt.__all__ if inspect.isfunction(getattr(qt, name))]


def test_every_public_function_is_tried() -> None:
    """A function that is new is to be added here."""
    assert sorted(FUNCTIONS) == sorted(CALLS)


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_no_argument_of_another_type_ends_in_an_error_from_within(name: str, value: str) -> None:
    """Each argument in turn is of another type: what comes is a result or an error of ours."""
    verb = getattr(qt, name)
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD or parameter.name in {"progress", "keep", "commands"}:
            continue
        wrong = WRONG[value]
        positional = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        call = (lambda: verb(wrong)) if positional else (lambda: verb(**{**CALLS[name], parameter.name: wrong}))  # noqa: B023
        try:
            call()
        except Exception as error:
            ours = isinstance(error, qt.QuintainError)
            from_within = "" if ours else f"{name}({parameter.name}={wrong!r}): {type(error).__name__}: {error}"
        else:
            from_within = ""
        assert not from_within


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda table: qt.rank(table, weights={"acc": "x"}), r'\'weights\["acc"\]\' is a number, and \'x\' was given'),
        (lambda table: qt.rank(table, weights="acc"), "'weights' is a mapping"),
        (lambda table: qt.rank(table, amrs={"mem": "x"}), r'\'amrs\["mem"\]\' is a number'),
        (lambda table: qt.rank(table, lower="mem"), "'lower' is a list"),
        (lambda _: qt.contest_score(_PAIRS, dev_accuracy={"sys": "x"}), r'\'dev_accuracy\["sys"\]\' is a number'),
        (lambda _: qt.read_task("/nowhere.toml"), "There is no file /nowhere.toml"),
        (lambda _: qt.kind_of("nli"), "'task' is Task"),
        (lambda _: qt.disagreement(_GOLD, _SAID, _SAID, models=("a",)), "'models' is 2 values"),
    ],
)
def test_what_is_wrong_within_a_mapping_or_a_list_is_named(call: Any, named: str) -> None:
    """The place within the argument is said, with what was given there."""
    table = pl.DataFrame(CALLS["rank"]["table"])
    with pytest.raises(qt.BadInput, match=named):
        call(table)
