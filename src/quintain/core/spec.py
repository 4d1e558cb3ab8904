"""Specifications: what somebody decides, as a frozen dataclass whose fields say themselves what they take and mean.

    @specification
    class Caps:
        worker: int | None = option(whole(1, 1000), default=None, title=N_("Sessions a day for one worker"))

A field holds its check, default, title and help once. From it follow reading with every fault named (`read`), writing
(`plain`), the control on a page (`quintain.web.spec_form`), and the row in the documentation. What is wrong only in
combination is found by a method `check`, which yields faults; their fields are those of the specification.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

from quintain.core.errors import BadInput, Fault
from quintain.core.spec_kinds import Kind
from quintain.core.texts import Text, as_text, hint

Made = TypeVar("Made")
Also = Callable[[Mapping[str, Any]], Iterable[Fault]]


def N_(message: str) -> str:  # noqa: N802 - gettext's name for a text that is translated where it is shown
    """Mark *message* for the catalogue of texts."""
    return message


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a specification.

    *title* is what a form calls it and *help* explains it. *section* is where on the form it stands; without one it is
    in the file only. *control* is its name there if that is not the option's own; that of a table comes before those
    of its options. What is *written* stands in a file also where it is the default.
    """

    kind: Kind
    default: Any = field(default_factory=lambda: MISSING)  # as a plain default, MISSING would be none
    title: str = ""
    help: str = ""
    section: str = ""
    control: str = ""
    written: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING


def option(
    kind: Kind,
    *,
    default: Any = MISSING,
    title: str = "",
    help: str = "",  # noqa: A002 - what an option calls it
    section: str = "",
    control: str = "",
    written: bool = False,
) -> Any:
    """Make a field of a specification that takes *kind*; the rest as in `Option`."""
    declared = Option(kind, default, title, help, section, control, written)
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata={"option": declared})
    return field(default=default, metadata={"option": declared})


@dataclass_transform(frozen_default=True, field_specifiers=(option,))
def specification(make: type[Made]) -> type[Made]:
    """Make a class a specification: a frozen dataclass of options."""
    return dataclass(frozen=True, slots=True)(make)


def options_of(make: type[Any]) -> dict[str, Option]:
    """Return the options of a specification by name, in order; a field may be none where it is not decided."""
    named = {item.name: item.metadata["option"] for item in fields(make) if "option" in item.metadata}
    return {name.removesuffix("_"): one for name, one in named.items()}


def option_at(make: type[Any], path: str) -> Option | None:
    """Return the option at a dotted *path*, if there is one."""
    head, _, rest = path.partition(".")
    top = options_of(make).get(head)
    if top is None or not rest:
        return top
    return option_at(top.kind.make, rest) if top.kind.make else None


def attribute(name: str) -> str:
    """Return the field that holds the option *name*: one that is a keyword of Python has _ behind it.

    >>> attribute("continue"), attribute("seed")
    ('continue_', 'seed')
    """
    return f"{name}_" if keyword.iskeyword(name) else name


def table(make: type[Any]) -> Kind:
    """Take a specification within another."""
    return Kind(lambda value: isinstance(value, Mapping), Text("a table"), plain=without_empty, make=make)


def tables(make: type[Any], *, least: int = 0) -> Kind:
    """Take a list of specifications."""
    return Kind(
        lambda value: _are_tables(value) and len(value) >= least,
        Text("a list of tables"),
        kept=tuple,
        plain=lambda value: [without_empty(row) for row in value],
        make=make,
        many=True,
    )


def any_tables() -> Kind:
    """Take a list of tables of any keys; who knows them checks them."""
    return Kind(
        _are_tables,
        Text("a list of tables"),
        kept=lambda value: tuple(dict(one) for one in value),
        plain=lambda value: [dict(one) for one in value],
        many=True,
    )


def read(
    make: type[Made],
    data: Mapping[str, Any],
    *,
    file: str | None = None,
    also: Also | None = None,
    message: Text | None = None,
) -> Made:
    """Make a specification of plain *data*, or raise BadInput with every fault in it; *file* is named in them.

    *also* finds faults in the values that could be read which take more knowledge than the specification has. The
    *message* of the error is what the faults say, unless it is given.
    """
    reading = Reading()
    spec = reading.table(make, data)
    if also is not None:
        reading.faults += also(reading.values(make, data))
    if reading.faults or spec is None:
        faults = [Fault(fault.reason, file=file, field=fault.field) for fault in reading.faults]
        raise BadInput(message or "", faults=faults)
    return spec


def restore(make: type[Made], data: Mapping[str, Any]) -> Made:
    """Make a specification of *data* that was read before, whatever is checked by now; unknown keys are left out."""
    options = options_of(make)
    known = {item.name for item in fields(make)}  # type: ignore[arg-type]  # every specification is a dataclass
    return make(
        **{
            attribute(name): _restored(options[name].kind, value) if name in options and value is not None else value
            for name, value in data.items()
            if attribute(name) in known
        }
    )


def plain(spec: Any, *, whole: bool = False) -> dict[str, Any]:
    """Return *spec* as it is written: what differs from the default and is always written, or the *whole*.

    Reading that gives the same specification again.
    """
    written = {}
    for name, option in options_of(type(spec)).items():
        value = getattr(spec, attribute(name))
        if value is not None and (whole or option.written or option.kind.is_table or value != option.default):
            written[name] = option.kind.plain(value)
    return written


def without_empty(spec: Any) -> dict[str, Any]:
    """Return all of a table but what is empty."""
    return {name: value for name, value in plain(spec, whole=True).items() if value != ""}


class Reading:
    """One pass over plain data, which gathers faults instead of stopping at the first."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fault(self, path: str, reason: str, **values: object) -> None:
        """Note what is wrong at *path*: a template and its *values*."""
        self.faults.append(Fault(as_text(reason, values), field=path))

    def table(self, make: type[Made], data: Mapping[str, Any], path: str = "") -> Made | None:
        """Make a specification of a table; nothing where it has a fault."""
        options = options_of(make)
        before = len(self.faults)
        self._unknown(path, data, tuple(options))
        values = {}
        for name, option in options.items():
            if name in data:
                values[attribute(name)] = self.value(option.kind, data[name], f"{path}{name}")
            elif option.required:
                self.fault(f"{path}{name}", "is missing; it is {wanted}", wanted=option.kind.wanted)
        if len(self.faults) == before:
            self._check(make(**values), data, path)
        return make(**values) if len(self.faults) == before else None

    def value(self, kind: Kind, value: Any, path: str) -> Any:
        """Return a value as it is kept, or note what is wrong with it."""
        if not kind.fits(value):
            self.fault(path, _not_tables(kind, path) if kind.make or kind.many or kind.each else kind.wrong(value))
            return None
        if kind.each is not None:
            self._unknown(f"{path}.", value, tuple(kind.choices) or tuple(value))
            return kind.kept({name: self.value(kind.each, one, f"{path}.{name}") for name, one in value.items()})
        if kind.make is None:
            return kind.kept(value)
        entries = value if kind.many else (value,)
        specs = tuple(self._entry(kind.make, one, path, number, len(entries)) for number, one in enumerate(entries, 1))
        return specs if kind.many else specs[0]

    def _unknown(self, path: str, data: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in data:
            if key not in known:
                self.fault(f"{path}{key}", "no such key; {hint}", hint=hint(key, known))

    def _check(self, spec: Any, data: Mapping[str, Any], path: str) -> None:
        """Look for what is wrong only in combination; also with a table that was not given and has a default."""
        for name, option in options_of(type(spec)).items():
            if option.kind.is_table and name not in data and option.default is not None:
                self.value(option.kind, option.kind.plain(option.default), f"{path}{name}")
        if hasattr(spec, "check"):
            self.faults += [Fault(fault.reason, field=f"{path}{fault.field}") for fault in spec.check()]

    def _entry(self, make: type[Made], data: Mapping[str, Any], path: str, number: int, of: int) -> Made | None:
        inner = Reading()
        spec = inner.table(make, data, f"{path}.")
        self.faults += [numbered(fault, number, of) for fault in inner.faults]
        return spec

    @staticmethod
    def values(make: type[Any], data: Mapping[str, Any]) -> dict[str, Any]:
        """Return what fits of *data*, table by table."""
        options = options_of(make)
        return {key: value for key, value in data.items() if key in options and options[key].kind.fits(value)}


def numbered(fault: Fault, number: int, of: int) -> Fault:
    """Return a fault that names the entry of a list that it is in, where there are several.

    >>> numbered(Fault("is missing", field="rules.name"), 2, of=3).reason
    'entry 2: is missing'
    """
    if of < 2:
        return fault
    return Fault("entry {number}: {reason}", number=number, reason=fault.reason, field=fault.field)


def twice(names: Sequence[str]) -> Iterator[str]:
    """Return each of *names* that occurs more than once."""
    yield from (name for name in dict.fromkeys(names) if names.count(name) > 1)


def _restored(kind: Kind, value: Any) -> Any:
    if kind.make is None:
        return kind.kept(value)
    return tuple(restore(kind.make, one) for one in value) if kind.many else restore(kind.make, value)


def _are_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, Mapping) for one in value)


def _not_tables(kind: Kind, path: str) -> Text:
    if not kind.many:
        return Text("is not a table; write [{place}] and its keys below it", place=path)
    first = next(iter(options_of(kind.make)), "rule") if kind.make else "rule"
    return Text("is not a list of tables; write [[{place}]] and {first} = … below it", place=path, first=first)
