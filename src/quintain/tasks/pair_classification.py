"""Two texts, or two marked events in one text, and how they stand to each other.

NLI (premise, hypothesis) is the default; stance is the same with other names (`first = "claim"`,
`second = "perspective"`). With `marked = true` there is one text in which two events are marked in place,
`She <e1>left</e1> after he <e2>called</e2>.`, so that the marks stay right when somebody edits the text around them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.example import Example
from quintain.core.task import Field, Task
from quintain.core.texts import Text
from quintain.tasks.contract import KINDS, RESERVED
from quintain.tasks.labelled import LabelKind
from quintain.tasks.rules import Rule, blank

FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_EVENT = re.compile(r"<(e[12])>([^<]*)</\1>")


@dataclass(frozen=True, slots=True)
class Marked:
    """A text without its marks, and the character ranges (start, end) of the two events in it."""

    text: str
    e1: tuple[int, int]
    e2: tuple[int, int]


def read_marks(text: str) -> Marked:
    """Take the marks out of *text*.

    >>> read_marks("She <e1>left</e1> after he <e2>called</e2>.")
    Marked(text='She left after he called.', e1=(4, 8), e2=(18, 24))
    """
    plain, ranges, position = "", {}, 0
    for match in _EVENT.finditer(text):
        plain += text[position : match.start()]
        ranges[match[1]] = (len(plain), len(plain) + len(match[2]))
        plain += match[2]
        position = match.end()
    if set(ranges) != {"e1", "e2"}:
        raise BadInput("The text does not mark two events.", remedy="Mark them as <e1>…</e1> and <e2>…</e2>.")
    return Marked(plain + text[position:], ranges["e1"], ranges["e2"])


@KINDS.register("pair-classification")
class PairClassification(LabelKind):
    """Two texts, one label."""

    name: ClassVar[str] = "pair-classification"
    title: ClassVar[str] = "Pair classification"
    hub_categories: ClassVar[tuple[str, ...]] = ("text-classification",)
    starter_labels: ClassVar[tuple[str, ...]] = ("entailment", "neutral", "contradiction")
    example: ClassVar[Example] = Example(
        {"premise": "Two girls row across the lake.", "hypothesis": "Somebody is on the water."}, "entailment"
    )
    default_options: ClassVar[Mapping[str, Any]] = {"first": "premise", "second": "hypothesis", "marked": False}

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the two texts, or for the one with its marks."""
        if self.option(task, "marked"):
            # A perturbation could break the marks, so the text is left alone.
            return (Field("text", "long_text", title="Text", help=_MARK_HELP, perturbable=False),)
        first, second = self.option(task, "first"), self.option(task, "second")
        return (
            # In a round a prompt gives the first text and people write the second: premise, then hypothesis.
            Field(first, "long_text", title=_title(first), editable=False),
            Field(second, "long_text", title=_title(second)),
        )

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask for a label and, where events are marked, for one mark of each."""
        marks = [_mark_rule("e1"), _mark_rule("e2")] if self.option(task, "marked") else []
        return [*marks, *super().answer_rules(task)]

    def check_options(self, options: Mapping[str, Any]) -> Sequence[str]:
        """Ask that the fields have two different, usable names."""
        faults = list(super().check_options(options))
        if not isinstance(options.get("marked", False), bool):
            faults.append(Text("option 'marked' is neither true nor false"))
        for name in ("first", "second"):
            value = options.get(name, self.default_options[name])
            if not isinstance(value, str) or not FIELD_NAME.fullmatch(value) or value in RESERVED:
                faults.append(
                    Text(
                        "option '{name}' is {value}; a field is called by small letters, digits and _",
                        name=name,
                        value=repr(value),
                    )
                )
        both = {**self.default_options, **options}
        if both["first"] == both["second"]:
            faults.append(Text("options 'first' and 'second' name the same field"))
        if both["marked"] is True and {"first", "second"} & set(options):
            faults.append(Text("with 'marked' there is one field, 'text'; leave out 'first' and 'second'"))
        return faults


_MARK_HELP = "Mark the two events as <e1>…</e1> and <e2>…</e2>."


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _mark_rule(mark: str) -> Rule:
    text = pl.col("text")
    once = pl.all_horizontal(text.str.count_matches(tag, literal=True) == 1 for tag in (f"<{mark}>", f"</{mark}>"))
    whole = text.str.contains(rf"<{mark}>[^<]*[^<\s][^<]*</{mark}>")
    reason = "does not mark one event as <{mark}>…</{mark}>"
    return Rule("text", ~blank(text) & ~(once & whole), reason, values={"mark": mark})
