"""Forms of pages as a browser would send them: what their controls hold, with what somebody changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Form:
    """A form: where it goes, and the names and values of its controls as they stand."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)

    def value(self, name: str) -> str:
        """Give the first value of a control."""
        return next((value for known, value in self.fields if known == name), "")

    def with_(self, **changed: str) -> dict[str, list[str]]:
        """Give what is sent when some controls are changed."""
        strange = changed.keys() - {name for name, _ in self.fields}
        assert not strange or all(name.startswith("choose:") for name in strange), f"no control is called {strange}"
        sent: dict[str, list[str]] = {}
        for name, value in self.fields:
            if name not in changed:
                sent.setdefault(name, []).append(value)
        return {**sent, **{name: [value] for name, value in changed.items()}}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.inside: Form | None = None
        self.area: str | None = None
        self.text = ""
        self.select: str | None = None
        self.options: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = Form(given.get("action", ""), given.get("method", "get").lower())
            self.forms.append(self.inside)
        if self.inside is None:
            return
        name = given.get("name", "")
        if tag == "textarea":
            self.area, self.text = name, ""
        elif tag == "select":
            self.select, self.options = name, []
        elif tag == "option" and self.select is not None:
            self.options.append((given.get("value", ""), "selected" in given))
        elif tag == "input" and name and given.get("type") not in {"submit", "file"}:
            ticked = given.get("type") not in {"checkbox", "radio"} or "checked" in given
            if ticked:
                self.inside.fields.append((name, given.get("value", "on" if "checked" in given else "")))

    def handle_endtag(self, tag: str) -> None:
        if self.inside is not None and tag == "textarea" and self.area is not None:
            self.inside.fields.append((self.area, self.text.removeprefix("\n")))
            self.area = None
        elif self.inside is not None and tag == "select" and self.select is not None:
            chosen = [value for value, selected in self.options if selected] or [one for one, _ in self.options[:1]]
            self.inside.fields += [(self.select, value) for value in chosen]
            self.select = None
        elif tag == "form":
            self.inside = None

    def handle_data(self, data: str) -> None:
        if self.area is not None:
            self.text += data


def forms_of(html: str) -> Iterator[Form]:
    """Give the forms of a page."""
    reader = _Reader()
    reader.feed(html)
    yield from reader.forms


def form_to(html: str, action: str, having: str = "") -> Form:
    """Give the form of a page that goes to *action*, the one with the control *having* where there are several."""
    fitting = [one for one in forms_of(html) if one.action == action and one.method == "post"]
    fitting = [one for one in fitting if not having or any(name == having for name, _ in one.fields)]
    assert fitting, f"no form goes to {action}"
    return fitting[0]
