"""Records: what is written as JSON is read back as it was, and what is not understood is named."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quintain.core.records
from quintain.core.records.base import Misread, Record, decode, left_out, plain, to_json, to_plain
from tests.properties import examples


class Colour(StrEnum):
    """An enumeration, as states are."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Inner(Record):
    """A record in another one."""

    share: float | None
    colour: Colour = Colour.RED


@dataclass(frozen=True, slots=True)
class Outer(Record):
    """A record with everything that fields can be."""

    name: str
    at: datetime
    count: int
    place: Path
    kind: Literal["a", "b"]
    rows: list[Inner] = field(default_factory=list)
    pair: tuple[int, str] = (1, "x")
    names: tuple[str, ...] = ()
    by_name: Mapping[str, Inner | None] = field(default_factory=dict)
    anything: Any = None


ALL = Outer(
    "x", datetime(2026, 1, 2, tzinfo=UTC), 3, Path("a/b"), "a", [Inner(0.5)], (2, "y"), ("z",), {"k": None}, {"a": [1]}
)


def test_what_is_written_is_read_back_as_it_was() -> None:
    """Times, enumerations, paths, rows, and records within records; None is kept."""
    text = to_json(ALL)
    assert decode(Outer, json.loads(text)) == ALL
    assert json.loads(text)["at"] == "2026-01-02T00:00:00+00:00"
    assert json.loads(text)["by_name"] == {"k": None}


@dataclass(frozen=True, slots=True)
class Sparse(Record):
    """A record of which most have little to say."""

    value: float | None
    note: str | None = left_out()
    speed: float | None = left_out()
    watts: float | None = left_out(without="speed")


def test_a_field_that_is_left_out_is_not_null() -> None:
    """It is not in the JSON where it is None, and null where what it belongs to is there; both are read back."""
    assert to_plain(Sparse(None)) == {"value": None}
    assert to_plain(Sparse(1.0, "x", 2.0)) == {"value": 1.0, "note": "x", "speed": 2.0, "watts": None}
    for one in (Sparse(None), Sparse(1.0, "x", 2.0), Sparse(1.0, watts=3.0)):
        assert decode(Sparse, to_plain(one)) == one


def test_a_record_within_plain_data_stays_as_it_is() -> None:
    """What was decoded already is not looked at again."""
    inner = Inner(0.5)
    assert decode(list[Inner], [inner, {"share": None}]) == [inner, Inner(None)]


def test_an_older_reader_leaves_aside_what_a_newer_writer_adds() -> None:
    """Unknown keys are no fault; a key that may be left out has its default."""
    assert decode(Inner, {"share": 1, "new": "thing"}) == Inner(1.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": [{"share": 0.1}, {"share": "much"}]}, r"rows\[1\].share is 'much', not a number"),
        ({"by_name": {"k": {"share": None, "colour": "green"}}}, r"by_name.k.colour is 'green', not a Colour"),
        ({"count": True}, "count is True, not a whole number"),
        ({"count": None}, "count is null, not a whole number"),
        ({"at": "soon"}, "at is 'soon', not a time"),
        ({"kind": "c"}, "kind is 'c', not one of a, b"),
        ({"rows": "none"}, "rows is 'none', not a list"),
        ({"pair": [1]}, r"pair is \[1\], not a list of 2"),
    ],
)
def test_a_wrong_type_is_named_by_its_place(change: dict[str, Any], said: str) -> None:
    """Whoever reads the message finds the value."""
    with pytest.raises(Misread, match=f"^{said}$"):
        decode(Outer, {**json.loads(to_json(ALL)), **change})


def test_what_is_missing_is_named() -> None:
    """Also that the whole is no object."""
    with pytest.raises(Misread, match=r"^share is missing$"):
        decode(Inner, {})
    with pytest.raises(Misread, match=r"^the answer is \[\], not a Inner$"):
        decode(Inner, [])


def test_a_field_is_read_by_its_name_in_json_too() -> None:
    """As users of the client do whose scripts were written for plain dictionaries."""
    assert Inner(0.5)["share"] == 0.5
    with pytest.raises(KeyError):
        Inner(0.5)["__class__"]


def test_what_has_no_json_form_is_refused() -> None:
    """Nothing is written by accident."""
    with pytest.raises(TypeError, match="object has no JSON form"):
        plain(object())


@settings(max_examples=examples(50))
@given(st.floats(allow_nan=False, allow_infinity=False) | st.none(), st.sampled_from(Colour))
def test_any_record_comes_back(share: float | None, colour: Colour) -> None:
    """Writing and reading are inverse."""
    assert decode(Inner, json.loads(to_json(Inner(share, colour)))) == Inner(share, colour)


def test_every_record_is_frozen_and_can_be_read() -> None:
    """Records have types that the decoder knows, and no two share a name: OpenAPI and the client go by it."""
    seen: dict[str, str] = {}
    for module in pkgutil.iter_modules(quintain.core.records.__path__, "quintain.core.records."):
        for name, kind in vars(importlib.import_module(module.name)).items():
            if not (isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.name):
                continue
            assert issubclass(kind, Record), name
            assert kind.__dataclass_params__.frozen, name
            assert seen.setdefault(name, module.name) == module.name, f"{name} is in {seen[name]} and {module.name}"
            assert set(get_type_hints(kind)) >= {one.name for one in fields(kind)}, name
    assert len(seen) > 40
