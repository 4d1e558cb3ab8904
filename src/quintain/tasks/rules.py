"""What may be wrong with an example, said once: as expressions over a table.

`find_faults` runs the rules over a table of any size, and a single example is a table of one row. So a worker's
sentence and a file of a million rows are judged alike. A table of one row takes a millisecond, though, and almost all
that people send is good: `surely_fine` tells that of the most common rules at once, and leaves the rest to the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from quintain.core.task import Field
from quintain.core.texts import Text

CONTROL = r"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F]"
SHOWN = 60

_CONTROL = re.compile(CONTROL)
_ROW = "__row"


@dataclass(frozen=True, slots=True)
class RowFault:
    """A fault found in a table, by the row's position from 0."""

    row: int
    field: str
    reason: Text


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows are faulty in *field* where *when* is true, for the *reason* given: a template over *values*.

    A value is the same for all rows, or an expression that gives it for each. With *each*, the name of a list column,
    the expressions see one entry of that list at a time. *fine*, where there is one, says of the values of one row that
    they surely do not break the rule; it may not say so of any that do.
    """

    field: str
    when: pl.Expr
    reason: str
    each: str | None = None
    values: Mapping[str, pl.Expr | str | int] | None = None
    fine: Callable[[Mapping[str, Any]], bool] | None = None


def surely_fine(values: Mapping[str, Any], rules: Iterable[Rule]) -> bool:
    """Whether one row surely breaks none of *rules*, without making a table of it."""
    return all(rule.fine is not None and rule.fine(values) for rule in rules)


def find_faults(table: pl.DataFrame, rules: Iterable[Rule]) -> list[RowFault]:
    """Find the rows of *table* that break a rule, in the order of the rows."""
    every = list(rules)
    indexed = table.with_row_index(_ROW)
    ranked: list[tuple[int, int, RowFault]] = []
    for each in dict.fromkeys(rule.each for rule in every):
        frame = indexed if each is None else indexed.filter(pl.col(each).list.len() > 0).explode(each)
        chosen = [(number, rule) for number, rule in enumerate(every) if rule.each == each]
        flags = frame.select(_ROW, *(rule.when.fill_null(False).alias(f"__{number}") for number, rule in chosen))
        for number, rule in chosen:
            flag = flags[f"__{number}"]
            if not flag.any():
                continue
            bad = frame.filter(flag)
            ranked.extend((row, number, RowFault(row, rule.field, reason)) for row, reason in _reasons(bad, rule))
    return [fault for _, _, fault in sorted(ranked, key=lambda entry: entry[:2])]


def _reasons(bad: pl.DataFrame, rule: Rule) -> Iterator[tuple[int, Text]]:
    by_name = rule.values or {}
    same = {name: value for name, value in by_name.items() if not isinstance(value, pl.Expr)}
    each = {name: value for name, value in by_name.items() if isinstance(value, pl.Expr)}
    for row, *values in bad.select(_ROW, **each).iter_rows():
        yield row, Text(rule.reason, **same, **dict(zip(each, values, strict=True)))


def shown(text: pl.Expr) -> pl.Expr:
    """Cut a text for a message."""
    return pl.when(text.str.len_chars() > SHOWN).then(pl.format("{}…", text.str.slice(0, SHOWN))).otherwise(text)


def blank(text: pl.Expr) -> pl.Expr:
    """Return where a text is missing or holds nothing but white space."""
    return text.is_null() | (text.str.strip_chars() == "")


def holds(text: pl.Expr, part: pl.Expr) -> pl.Expr:
    """Return where *text* holds *part*, which must not be empty."""
    # `str.contains` makes a pattern of a lone part, which takes seconds for one of 20,000 characters.
    return text.str.split(part).list.len() > 1


@lru_cache(maxsize=1024)
def field_rules(field: Field) -> tuple[Rule, ...]:
    """List what may be wrong with one input by itself. Kept: putting them together takes longer than the check."""
    match field.type:
        case "texts" | "tokens":
            return tuple(_list_rules(field))
        case "token":
            missing = Rule(field.name, pl.col(field.name).is_null(), "is missing", fine=_is_there(field.name))
            return (missing,) if field.required else ()
        case "image":
            return (*_text_rules(field), _image_rule(field.name))
        case _:
            return tuple(_text_rules(field))


def _text_rules(field: Field) -> list[Rule]:
    text = pl.col(field.name)
    length = text.str.len_chars()
    rules = [
        Rule(field.name, text.str.contains(CONTROL), "has a control character", fine=_has_no_control(field.name)),
        Rule(
            field.name,
            length > field.max_length,
            "has {length} characters; at most {most} are allowed",
            values={"length": length, "most": field.max_length},
            fine=_is_short(field.name, field.max_length),
        ),
    ]
    empty = Rule(field.name, blank(text), "is empty", fine=_is_not_blank(field.name))
    return [empty, *rules] if field.required else rules


def _is_there(name: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda values: values[name] is not None


def _is_not_blank(name: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda values: bool(values[name] and values[name].strip())


def _has_no_control(name: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda values: values[name] is None or _CONTROL.search(values[name]) is None


def _is_short(name: str, most: int) -> Callable[[Mapping[str, Any]], bool]:
    return lambda values: values[name] is None or len(values[name]) <= most


def _list_rules(field: Field) -> list[Rule]:
    entries = pl.col(field.name)
    length = entries.list.eval(pl.element().str.len_chars()).list.sum()
    rules = [
        Rule(field.name, blank(entries), "has an empty entry", each=field.name),
        Rule(field.name, entries.str.contains(CONTROL), "has a control character", each=field.name),
        Rule(
            field.name,
            length > field.max_length,
            "has {length} characters; at most {most} are allowed",
            values={"length": length, "most": field.max_length},
        ),
    ]
    empty = entries.is_null() | (entries.list.len() == 0)
    return [Rule(field.name, empty, "is empty"), *rules] if field.required else rules


def _image_rule(name: str) -> Rule:
    image = pl.col(name)
    fine = (
        image.str.contains(r"^https?://[^\s/]+(/\S*)?$")
        | image.str.contains(r"^blob:[0-9a-f]{64}$")
        | (image.str.contains(r"^[^/\\:\s][^\\:]*$") & ~image.str.contains(r"(^|/)\.\.(/|$)"))
    )
    return Rule(
        name,
        ~fine & ~blank(image),
        "'{image}' is not an http(s) address, a relative path or blob:<sha256>",
        values={"image": shown(image)},
    )


@lru_cache(maxsize=256)
def label_rules(labels: tuple[str, ...], *, extra: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    """Ask that the answer is one of *labels*; those in *extra* are refused with their own reason."""
    answer = pl.col("answer")
    known = ", ".join(labels)
    good = frozenset(labels) - frozenset(extra) | {None}

    def fine(values: Mapping[str, Any]) -> bool:
        return values["answer"] in good

    return (
        Rule(
            "answer",
            answer.is_in(list(extra)),
            "label '{label}' is for validation only; the labels that score are {known}",
            values={"label": answer, "known": known},
            fine=fine,
        ),
        Rule(
            "answer",
            ~answer.is_in([*labels, *extra]),
            "label '{label}' is not one of {known}",
            values={"label": shown(answer), "known": known},
            fine=fine,
        ),
    )


def index_rules(of: str, *, answer: str = "answer", each: bool = False) -> list[Rule]:
    """Ask that the column *answer*, or each of its entries, counts an entry of the list column *of* from 0.

    Where there is no list, that is what is wrong: nothing is said of the number.
    """
    number, size = pl.col(answer), pl.col(of).list.len().cast(pl.Int64)
    return [
        Rule(
            answer,
            size.is_not_null() & ((number < 0) | (number >= size)),
            "{number} is out of range: '{of}' has {size} entries, counted from 0",
            values={"number": number, "of": of, "size": size},
            each=answer if each else None,
        )
    ]


def distinct_rule(name: str) -> Rule:
    """Ask that no two entries of the list column *name* are the same."""
    entries = pl.col(name).list.eval(pl.element().str.strip_chars())
    return Rule(name, entries.list.n_unique() < entries.list.len(), "has the same entry twice")


def span_rules(of: str, *, ignore_case: bool = False) -> list[Rule]:
    """Ask that every span of the answer lies in the column *of*, at its start where that is given."""
    text, start = pl.col("answer").struct.field("text"), pl.col("answer").struct.field("start")
    at_start = pl.col(of).str.slice(start, text.str.len_chars())
    occurs = holds(pl.col(of), text)
    if ignore_case:
        folded = holds(pl.col(of).str.to_lowercase(), text.str.to_lowercase())
        occurs = pl.when(start.is_null()).then(folded).otherwise(occurs)
    return [
        Rule("answer", blank(text), "has an empty span", each="answer"),
        Rule("answer", text.str.contains(CONTROL), "has a control character", each="answer"),
        Rule(
            "answer",
            ~blank(text) & ~occurs,
            "'{text}' is not in '{of}'",
            values={"text": shown(text), "of": of},
            each="answer",
        ),
        Rule(
            "answer",
            ~blank(text) & occurs & ((start < 0) | (at_start != text)),
            "'{text}' does not start at character {start} of '{of}'",
            values={"text": shown(text), "start": start, "of": of},
            each="answer",
        ),
    ]
