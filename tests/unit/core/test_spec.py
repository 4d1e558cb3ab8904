"""A specification says once what an option takes and means; reading, writing, the form and the table follow."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import FormData

from quintain.core import spec_kinds as kinds
from quintain.core.errors import BadInput, Fault
from quintain.core.spec import (
    Option,
    Reading,
    any_tables,
    option,
    options_of,
    plain,
    read,
    restore,
    specification,
    table,
    tables,
)
from quintain.core.toml import parse_toml
from quintain.tasks.writing import dump_toml
from quintain.web.form_reading import FormReading
from quintain.web.i18n import Tongue
from quintain.web.rendering import environment
from quintain.web.spec_form import Sheet, SpecForm
from quintain.web.visit import Post

ROOT = Path(__file__).parent.parent.parent.parent


@specification
class Prize:
    """What a place wins."""

    place: int = option(kinds.whole(1, 10))
    amount: int = option(kinds.money(), default=0)
    currency: str = option(kinds.currency(), default="USD")

    def check(self) -> Iterator[Fault]:
        """Pay in euros only what they have."""
        if self.currency == "EUR" and self.amount > 1000:
            yield Fault("is too much", field="amount")


@specification
class Door:
    """How people come in."""

    panel: str = option(kinds.one_of({"a": "Panel A", "b": ("Panel B", "The other one.")}), title="Panel")
    code: str = option(kinds.text(10), default="none yet", title="Code")


@specification
class Fair:
    """A toy with an option of every kind."""

    title: str = option(kinds.text(40, 1), title="Title", section="what")
    tents: int = option(kinds.whole(1, 9), default=3, title="Tents", help="Where people sit.", section="what")
    share: float = option(kinds.fraction(above=True), default=0.5, section="what")
    open: bool = option(kinds.flag(), default=True, written=True, section="what")
    lasts: timedelta = option(kinds.duration(timedelta(days=9)), default=timedelta(hours=36), section="what")
    starts: datetime | None = option(kinds.moment(), default=None, section="what")
    words: tuple[str, ...] = option(kinds.texts(3), default=(), section="what")
    sorts: tuple[str, ...] = option(kinds.some_of(["big", "small"]), default=("big",), section="what")
    label: str = option(kinds.label(), default="fun")
    home: str = option(kinds.address(), default="")
    name: str = option(kinds.name(8), default="fair")
    best: Prize = option(table(Prize), default=Prize(1), section="prizes", control="best_")
    prizes: tuple[Prize, ...] = option(tables(Prize), default=(), section="prizes")
    door: Door | None = option(table(Door), default=None, title="Door", section="door", control="door_")
    extras: tuple[dict[str, Any], ...] = option(any_tables(), default=())
    weights: dict[str, float] = option(kinds.each(kinds.number(0), ["size", "noise"]), default={})
    notes: dict[str, Any] = option(kinds.each(kinds.any_text()), default={})
    made: str = ""

    def check(self) -> Iterator[Fault]:
        """Find tents for every prize."""
        if len(self.prizes) > self.tents:
            yield Fault("are more than the tents", field="prizes")


FULL = Fair(
    "Kirmes",
    tents=4,
    share=0.25,
    open=False,
    lasts=timedelta(minutes=90),
    starts=datetime(2026, 12, 1, 9, tzinfo=UTC),
    words=("a", "b"),
    sorts=("small",),
    label="very fun",
    home="https://fair.example",
    name="f-1",
    best=Prize(1, 150, "EUR"),
    prizes=(Prize(1, 5), Prize(2)),
    door=Door("b", "x"),
    extras=({"any": 1},),
    weights={"size": 2},
    notes={"a": "b"},
)


def _reasons(data: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(BadInput) as caught:
        read(Fair, {"title": "x", **data}, file="fair.toml")
    assert {fault.file for fault in caught.value.faults} == {"fair.toml"}
    return {fault.field or "": fault.reason for fault in caught.value.faults}


def test_what_is_written_reads_the_same() -> None:
    """Through TOML, with every option set and with none."""
    for spec in (FULL, Fair("x")):
        assert read(Fair, parse_toml(dump_toml(plain(spec)))) == spec
        assert read(Fair, parse_toml(dump_toml(plain(spec, whole=True)))) == spec


def test_only_what_was_decided_is_written() -> None:
    """What is the default is left out, but for tables and what is always written."""
    assert plain(Fair("x")) == {"title": "x", "open": True, "best": {"place": 1, "amount": 0, "currency": "USD"}}
    assert plain(Fair("x"), whole=True)["lasts"] == "36h"


@pytest.mark.parametrize(
    ("data", "place", "reason"),
    [
        ({"tnets": 3}, "tnets", "no such key; did you mean 'tents'?"),
        ({"best": {"place": 1, "zzz": 1}}, "best.zzz", "no such key; there are place, amount, currency"),
        ({"best": {}}, "best.place", "is missing; it is a whole number from 1 to 10"),
        ({"best": 3}, "best", "is not a table; write [best] and its keys below it"),
        ({"prizes": [3]}, "prizes", "is not a list of tables; write [[prizes]] and place = … below it"),
        ({"prizes": [{"place": 1}, {"place": 99}]}, "prizes.place", "entry 2: is 99, not a whole number from 1 to 10"),
        ({"tents": True}, "tents", "is true, not a whole number from 1 to 9"),
        ({"share": 0}, "share", "is 0, not a number above 0 and at most 1"),
        ({"share": float("nan")}, "share", "is nan, not a number above 0 and at most 1"),
        ({"title": " "}, "title", "is ' ', not a text of 1 to 40 characters"),
        ({"title": "a\x00"}, "title", "is 'a\\x00', not a text of 1 to 40 characters"),
        ({"open": 1}, "open", "is 1, not true or false"),
        ({"lasts": "10d"}, "lasts", "is '10d', not a length of time such as 90s, 20m, 36h or 7d, at most 9d"),
        ({"starts": "soon"}, "starts", "is 'soon', not a date and time such as 2026-12-01T09:00:00Z"),
        ({"words": ["a", "a"]}, "words", "is ['a', 'a'], not a list of at most 3 different texts"),
        ({"sorts": [["big"]]}, "sorts", "is [['big']], not a list with any of big, small"),
        ({"door": {"panel": ["a"]}}, "door.panel", "is ['a'], not one of a, b"),
        ({"home": "ftp://x"}, "home", "is 'ftp://x', not an http(s) address"),
        ({"name": "Fair"}, "name", "is 'Fair', not a name of up to 8 small letters, digits, - and _"),
        ({"label": " x"}, "label", "is ' x', not a name of 1 to 80 characters"),
        ({"weights": {"size": -1}}, "weights.size", "is -1, not a number from 0 up"),
        ({"weights": {"sice": 1}}, "weights.sice", "no such key; did you mean 'size'?"),
        ({"weights": 3}, "weights", "is not a table; write [weights] and its keys below it"),
        ({"notes": {"a": 3}}, "notes.a", "is 3, not a text"),
        ({"made": "today"}, "made", f"no such key; there are {', '.join(options_of(Fair))}"),
        ({"extras": {}}, "extras", "is not a list of tables; write [[extras]] and rule = … below it"),
        ({"best": {"place": 1, "amount": 2000, "currency": "EUR"}}, "best.amount", "is too much"),
        ({"tents": 1, "prizes": [{"place": 1}, {"place": 2}]}, "prizes", "are more than the tents"),
    ],
)
def test_every_fault_is_named_at_its_place(data: dict[str, Any], place: str, reason: str) -> None:
    """What is wrong, what is wanted, and where."""
    assert _reasons(data) == {place: reason}


def test_what_was_stored_is_made_again() -> None:
    """Unchecked, since it was checked when it was taken, and without keys that are gone; also what nobody decides."""
    kept = {**plain(FULL, whole=True), "made": "today", "tents": 99, "gone": 1}
    assert restore(Fair, kept) == replace(FULL, made="today", tents=99)


def test_all_faults_come_at_once() -> None:
    """In every table, also in combination, and with what more knowledge finds; a long value is cut."""
    costly = {"place": 1, "amount": 2000, "currency": "EUR"}
    found = _reasons({"tents": 0, "best": costly, "prizes": [{"place": 0}], "what": 1, "words": "x" * 100})
    assert set(found) == {"tents", "best.amount", "prizes.place", "what", "words"}
    assert "…, not" in found["words"]
    with pytest.raises(BadInput) as caught:
        read(Fair, {"tents": 0, "words": ["a"]}, also=lambda values: [Fault("is known", field=name) for name in values])
    assert [fault.field for fault in caught.value.faults] == ["title", "tents", "words"]


@given(st.dictionaries(st.sampled_from([*options_of(Fair), "x"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)))  # fmt: skip
def test_any_data_is_read_or_refused(data: dict[str, Any]) -> None:
    """Whatever stands in it: there is a specification, or there are faults."""
    reading = Reading()
    made = reading.table(Fair, data)
    assert (made is None) == bool(reading.faults)


FORM = SpecForm(Fair)


def _through_the_form(spec: Fair, before: Fair | None = None, **changes: Any) -> Fair:
    reading = FormReading(FORM.show(spec) | changes)
    data = FORM.data(reading, before)
    if reading.faults:
        raise BadInput(faults=reading.faults)
    return read(Fair, data)


def test_a_form_holds_every_option_of_its_sections() -> None:
    """What goes through it unchanged is the same; what has no control stays."""
    assert _through_the_form(FULL, FULL) == FULL
    assert _through_the_form(Fair("x"), FULL).prizes == FULL.prizes
    assert _through_the_form(Fair("x"), FULL).door is None
    assert [FORM.show(FULL)[name] for name in ("best_amount", "words", "lasts")] == ["1.50", "a, b", "90m"]
    assert _through_the_form(Fair("x"), tents="", share="").tents == 3


def test_what_was_typed_is_shown_again_and_its_faults_stand_beside_it() -> None:
    """Faults of reading and of the specification find their control."""
    typed = FORM.typed(Post(None, FormData([("title", "T"), ("open", "on"), ("sorts", "big"), ("tents", "many")])))  # type: ignore[arg-type]  # no visit is looked at
    assert (typed["title"], typed["open"], typed["sorts"], typed["tents"]) == ("T", True, ["big"], "many")
    for changes, control, reason in (
        ({"tents": "many"}, "tents", "'many' is not a whole number"),
        ({"tents": "99"}, "tents", "is 99, not a whole number from 1 to 9"),
        ({"best_currency": "euro"}, "best_currency", "is 'EURO', not a currency code such as USD"),
        ({"door_panel": "c"}, "door_panel", "is 'c', not one of a, b"),
    ):
        with pytest.raises(BadInput) as caught:
            _through_the_form(FULL, **changes)
        assert FORM.faults_by_control(caught.value.faults) == {control: reason}


def _drawn(form: SpecForm, spec: Any) -> str:
    sheet = Sheet(form, Tongue("en"), form.show(spec), {"tents": "no"}, {})
    first = sheet.control("title")
    rest = [one for section in ("what", "prizes", "door") for one in sheet.rest(section)]
    assert sorted(one.name for one in (first, *rest)) == sorted(form.fields)
    source = '{% import "spec_controls.html" as spec with context %}{{ spec.controls(all) }}'
    return str(environment("en").from_string(source).render(all=[first, *rest]))


def test_a_new_option_is_one_field() -> None:
    """A field that is added is read, refused, written, on the form with its help, and in the documentation's table."""

    @specification
    class Larger(Fair):
        clowns: int = option(kinds.whole(0, 5), default=1, title="Clowns", help="Not too many.", section="what")

    spec = read(Larger, {"title": "x", "clowns": 4})
    assert spec.clowns == 4
    with pytest.raises(BadInput, match="field 'clowns': is 9, not a whole number from 0 to 5"):
        read(Larger, {"title": "x", "clowns": 9})
    assert "clowns = 4\n" in dump_toml(plain(spec))
    form = SpecForm(Larger)
    assert read(Larger, form.data(FormReading(form.show(spec) | {"clowns": "2"}))).clowns == 2
    page = _drawn(form, spec)
    assert '<label for="clowns">Clowns' in page
    assert "Not too many." in page
    assert 'name="clowns" type="number" value="4"' in page
    row = "| `clowns` | `1` | a whole number from 0 to 5 | Clowns. Not too many. |"
    assert row in _tables().table(Larger)
    assert row not in _tables().table(Fair)


def test_a_table_tells_every_option() -> None:
    """With what it takes and its default, also in tables within."""
    found = _tables().table(Fair)
    for name, one in options_of(Fair).items():
        assert isinstance(one, Option)
        assert f"`{name}`" in found or f"`[{name}]`" in found or f"`[[{name}]]`" in found
    assert "| `[door]` `panel` | required | `a` (Panel A), `b` (Panel B) | Panel |" in found


def _tables() -> Any:
    script = importlib.util.spec_from_file_location("tables", ROOT / "scripts" / "make_option_tables.py")
    assert script is not None
    assert script.loader is not None
    module = importlib.util.module_from_spec(script)
    script.loader.exec_module(module)
    return module
