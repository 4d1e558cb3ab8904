"""A specification on a form: a control for each of its options, what the controls hold, and plain data back from them.

What an option takes, its title and its help stand in the specification (`quintain.core.spec`). A page only says where
on it the controls go; those that it does not place are drawn at the end of their section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.rounds import Money
from quintain.core.spec import Option, attribute, options_of, plain
from quintain.core.spec_kinds import Kind
from quintain.web.error_text import translated
from quintain.web.errors import Trouble
from quintain.web.form_reading import FormReading, amount_text, local_moment_text, moment_text, number_text
from quintain.web.i18n import SOURCE_LANGUAGE, Tongue
from quintain.web.visit import Post

Choice = tuple[str, str, str]  # its value, what it is called, an explanation
SHOWN: Mapping[str, Callable[[Any], Any]] = {
    "whole": str,
    "number": number_text,
    "percent": lambda rate: number_text(round(rate * 100, 10)),
    "moment": moment_text,
    "local_moment": local_moment_text,
    "names": ", ".join,
    "numbers": lambda values: ", ".join(number_text(value) for value in values),
    "boxes": list,
}
READ: Mapping[str, Callable[[FormReading, str], Any]] = {
    "whole": FormReading.whole,
    "number": FormReading.number,
    "percent": FormReading.percent,
    "moment": FormReading.moment,
    "local_moment": FormReading.local_moment,
    "names": FormReading.names,
    "numbers": FormReading.numbers,
    "currency": lambda reading, name: reading.text(name).upper(),
}


@dataclass(frozen=True, slots=True)
class SpecField:
    """Where an option stands: its *path* in the file, and its *name* and *section* on the form.

    A table that may be left out is there if its first option is given, which is the *switch* of all in it.
    """

    path: tuple[str, ...]
    name: str
    section: str
    option: Option
    switch: str = ""


@dataclass(frozen=True, slots=True)
class Control:
    """A control as it is drawn: in the reader's language, with what it holds and what is wrong with that."""

    name: str
    widget: str
    title: str
    help: str
    value: Any
    fault: str
    required: bool
    choices: Sequence[Choice]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The choices without explanations."""
        return [(value, title) for value, title, _ in self.choices]


class SpecForm:
    """The form of one specification."""

    def __init__(self, make: type[Any], currency: str = "") -> None:
        """Make it; amounts of money that have no option for their currency beside them are in *currency*."""
        self.currency = currency
        self.fields = {field.name: field for field in _fields_of(make)}
        self._names = {".".join(field.path): field.name for field in self.fields.values()}

    def show(self, spec: Any) -> dict[str, Any]:
        """Return what the controls hold for *spec*."""
        return {name: _shown(spec, field, self.currency) for name, field in self.fields.items()}

    def typed(self, post: Post) -> dict[str, Any]:
        """Return what was typed, to show it again."""
        ways: Mapping[str, Callable[[str], Any]] = {"check": post.flag, "boxes": partial(_ticked, post)}
        return {name: ways.get(field.option.kind.widget, post.text)(name) for name, field in self.fields.items()}

    def data(self, reading: FormReading, before: Any = None) -> dict[str, Any]:
        """Return plain data of a specification with what was typed over what was *before*; nothing typed: the default.

        What has no control stays.
        """
        on_form = {field.path[0] for field in self.fields.values()}
        data = {name: value for name, value in (plain(before) if before else {}).items() if name not in on_form}
        for field in self.fields.values():
            if field.switch and not reading.values[field.switch]:
                continue
            table = data
            for part in field.path[:-1]:
                table = table.setdefault(part, {})
            if field.option.required or _is_given(reading, field):
                table[field.path[-1]] = self._read(reading, field, before)
        return data

    def faults_by_control(self, faults: Sequence[Fault], language: str = SOURCE_LANGUAGE) -> dict[str, str]:
        """Return what is wrong with each control, to be said beside it in *language*."""
        reasons: dict[str, str] = {}
        for fault in faults:
            field = fault.field or ""
            name = self._names.get(field, field.partition(".")[0])
            reason = translated(language, fault.reason)
            reasons[name] = f"{reasons[name]}; {reason}" if name in reasons else reason
        return reasons

    def under_titles(self, faults: Sequence[Fault], tongue: Tongue) -> tuple[Fault, ...]:
        """Return *faults* at the titles that the form shows instead of the names that a file has."""

        def title(fault: Fault) -> str | None:
            field = self.fields.get(self._names.get(fault.field or "", fault.field or ""))
            return tongue.gettext(field.option.title) if field and field.option.title else fault.field

        return tuple(fault.at(field=title(fault)) for fault in faults)

    def read(self, values: Mapping[str, Any], before: Any = None, **fixed: Any) -> dict[str, Any]:
        """Return plain data as `data` does, with what is *fixed*; or raise BadInput with what cannot be read."""
        reading = FormReading(values)
        data = {**self.data(reading, before), **fixed}
        if reading.faults:
            raise BadInput(faults=reading.faults)
        return data

    def shown(self, trouble: Trouble, tongue: Tongue) -> Trouble:
        """Return *trouble* with its faults at the titles of the form."""
        titled = self.under_titles(trouble.faults, tongue)
        alone = trouble.message == "\n".join(map(str, trouble.faults))  # it says no more than the faults do
        return replace(trouble, faults=titled, message="\n".join(map(str, titled)) if alone else trouble.message)

    def _read(self, reading: FormReading, field: SpecField, before: Any) -> Any:
        kind, name = field.option.kind, field.name
        if kind.widget == "check":
            return reading.values[name]
        if kind.widget == "boxes":
            ticked = reading.values[name]
            return [choice for choice in kind.choices if choice in ticked] if kind.choices else ticked
        if kind.widget == "money":
            beside = self._names.get(".".join((*field.path[:-1], "currency")))
            return reading.money(name, reading.text(beside).upper() if beside else self.currency)
        value = READ.get(kind.widget, FormReading.text)(reading, name)
        old = getattr(_owner(before, field), attribute(field.path[-1]), None)
        # A text that was only trimmed on its way through the form is not a change.
        return old if isinstance(old, str) and old.replace("\r\n", "\n").strip() == value else value


def _ticked(post: Post, name: str) -> list[str]:
    """Return what was ticked, and what was named besides where a form does not show all there is."""
    named = (one.strip() for one in post.text(f"{name}-more").split(","))
    return list(dict.fromkeys([*post.texts(name), *filter(None, named)]))


class Sheet:
    """A form as one page draws it: *values* in it, *faults* beside them, *choices* that only the page knows."""

    def __init__(
        self,
        form: SpecForm,
        tongue: Tongue,
        values: Mapping[str, Any],
        faults: Mapping[str, str],
        choices: Mapping[str, Sequence[Choice]],
    ) -> None:
        self.fields = form.fields
        self.tongue = tongue
        self.values = values
        self.faults = faults
        self.choices = choices
        self._drawn: set[str] = set()

    def control(self, name: str) -> Control:
        """Return the control called *name*, which the page draws."""
        self._drawn.add(name)
        field = self.fields[name]
        none = self.tongue.gettext("none") if field.switch == name else ""
        control = drawn(field.option, name, self.tongue, self.values[name], self.faults.get(name, ""), none=none)
        return replace(control, choices=self.choices[name]) if name in self.choices else control

    def rest(self, section: str) -> list[Control]:
        """Return the controls of *section* that have not been drawn."""
        return [self.control(name) for name in self._of(section) if name not in self._drawn]

    def faulty(self, section: str) -> bool:
        """Whether something in *section* is wrong."""
        return any(name in self.faults for name in self._of(section))

    def _of(self, section: str) -> list[str]:
        return [name for name, field in self.fields.items() if field.section == section]


def drawn(option: Option, name: str, tongue: Tongue, value: Any, fault: str, *, none: str = "") -> Control:
    """Return the control of an option in the reader's language; a choice of *none* is offered where it has a word."""
    _, kind = tongue.gettext, option.kind
    commas = _("With commas between them.") if kind.widget in {"names", "numbers"} else ""
    choices = [(value, _(title), _(gloss) if gloss else "") for value, (title, gloss) in kind.choices.items()]
    return Control(
        name,
        kind.widget,
        _(option.title) if option.title else name,
        _(option.help) if option.help else commas,
        value,
        fault,
        option.required,
        [("", none, ""), *choices] if none else choices,
    )


def shown(kind: Kind, value: Any) -> Any:
    """Return what a control holds for *value*."""
    return "" if value is None else SHOWN.get(kind.widget, kind.plain)(value)


def _fields_of(
    make: type[Any], path: tuple[str, ...] = (), section: str = "", prefix: str = "", optional: bool = False
) -> Iterator[SpecField]:
    switch = ""
    for own_name, option in options_of(make).items():
        here, path_to = option.section or section, (*path, own_name)
        if here and option.kind.make and option.kind.is_table:
            yield from _fields_of(option.kind.make, path_to, here, option.control, option.default is None)
        elif here and not option.kind.many and not option.kind.each:  # which a page draws itself, if at all
            name = option.control or f"{prefix}{own_name}"
            switch = switch or (name if optional else "")
            yield SpecField(path_to, name, here, option, switch)


def _owner(spec: Any, field: SpecField) -> Any:
    """Return the table that an option is in; nothing where that is not there."""
    for part in field.path[:-1]:
        spec = getattr(spec, attribute(part), None)
    return spec


def _shown(spec: Any, field: SpecField, currency: str) -> Any:
    owner, option = _owner(spec, field), field.option
    if owner is None and field.switch == field.name:
        return ""  # or saving what is shown would bring the table in
    # Of a table that is not there, the form shows what else it would be.
    value = getattr(owner, attribute(field.path[-1]), None if option.required else option.default)
    if option.kind.widget == "money" and value is not None:
        return amount_text(Money(value, getattr(owner, "currency", currency)))
    return shown(option.kind, value)


def _is_given(reading: FormReading, field: SpecField) -> bool:
    return field.option.kind.widget in {"check", "boxes"} or bool(reading.text(field.name))
