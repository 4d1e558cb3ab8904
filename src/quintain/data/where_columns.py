"""Conditions as polars expressions: which columns they look at, whether they make sense, and what they select."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.texts import Text
from quintain.data.where import (
    Among,
    Compare,
    Condition,
    Contains,
    Every,
    LabelProbability,
    Literal,
    Missing,
    Name,
    Not,
    Operand,
    Some,
    leaves,
    operands,
    where_error,
)

COLUMN_PREFIX = "column "
LABEL_PREFIX = "probability "


@dataclass(frozen=True, slots=True)
class WhereScope:
    """What a condition may speak of.

    *numbers* and *texts* are the names that are always there. *labels* are what `predicted` can be. *columns* are those
    of the file; in the table that is filtered, their names have `COLUMN_PREFIX` before them.
    """

    numbers: Sequence[str]
    texts: Sequence[str]
    labels: Sequence[str]
    columns: Sequence[str]

    def is_known(self, name: Name) -> bool:
        """Whether a name means something."""
        return name.name in self.columns if name.quoted else name.name in {*self.numbers, *self.texts, *self.columns}

    def is_own(self, name: Name) -> bool:
        """Whether a name means a column of the file."""
        return name.quoted or name.name not in {*self.numbers, *self.texts}

    def is_number(self, value: Operand) -> bool:
        """Whether an operand is always a number."""
        if isinstance(value, Name):
            return not self.is_own(value) and value.name in self.numbers
        return isinstance(value, LabelProbability) or isinstance(value.value, float)

    def is_text(self, value: Operand) -> bool:
        """Whether an operand is always a text."""
        if isinstance(value, Name):
            return not self.is_own(value) and value.name in self.texts
        return isinstance(value, Literal) and isinstance(value.value, str)


def file_columns(condition: Condition, scope: WhereScope) -> list[str]:
    """List the columns of the file that a condition looks at."""
    names = [name.name for name in _names(condition) if scope.is_own(name)]
    return list(dict.fromkeys(names))


def mentions(condition: Condition, scope: WhereScope, *names: str) -> bool:
    """Whether a condition looks at one of the names that are always there; `probability` counts its function."""
    return any(
        (isinstance(operand, Name) and not scope.is_own(operand) and operand.name in names)
        or (isinstance(operand, LabelProbability) and "probability" in names)
        for operand in operands(condition)
    )


def check_where(condition: Condition, scope: WhereScope, *, text: str, source: str) -> None:
    """Refuse names, labels and comparisons that make no sense; *text* is the condition as it was written."""
    for leaf in leaves(condition):
        for operand in (leaf.left, leaf.right) if isinstance(leaf, Compare) else (leaf.value,):
            if isinstance(operand, Name) and not scope.is_known(operand):
                raise _unknown_name(operand, scope, text, source)
            if isinstance(operand, LabelProbability):
                _check_label(operand.label, operand.at, scope, text, source)
        if isinstance(leaf, Compare):
            _check_comparison(leaf, scope, text, source)
        elif isinstance(leaf, Among):
            for option in leaf.options:
                _check_comparison(Compare("==", leaf.value, option, option.at), scope, text, source)


def to_expression(condition: Condition, scope: WhereScope) -> pl.Expr:
    """Turn a checked condition into an expression that is true or false, and never missing."""
    if isinstance(condition, Every):
        return pl.all_horizontal(*(to_expression(part, scope) for part in condition.parts))
    if isinstance(condition, Some):
        return pl.any_horizontal(*(to_expression(part, scope) for part in condition.parts))
    if isinstance(condition, Not):
        return ~to_expression(condition.part, scope)
    return _leaf(condition, scope)


def _leaf(condition: Compare | Among | Contains | Missing, scope: WhereScope) -> pl.Expr:
    if isinstance(condition, Missing):
        value = _column(condition.value, scope)
        return value.is_null() if scope.is_number(condition.value) else (value.cast(pl.String()).fill_null("") == "")
    if isinstance(condition, Contains):
        text = _column(condition.value, scope).cast(pl.String())
        contains = text.str.to_lowercase().str.contains(condition.part.lower(), literal=True)
        return contains.fill_null(False)
    if isinstance(condition, Among):
        return pl.any_horizontal(
            *(_compared(Compare("==", condition.value, option, option.at), scope) for option in condition.options)
        )
    return _compared(condition, scope)


def _names(condition: Condition) -> list[Name]:
    return [operand for operand in operands(condition) if isinstance(operand, Name)]


def _compared(leaf: Compare, scope: WhereScope) -> pl.Expr:
    numeric = scope.is_number(leaf.left) or scope.is_number(leaf.right)
    left, right = (_value(one, scope, numeric=numeric) for one in (leaf.left, leaf.right))
    # What is missing equals nothing: `!=` holds for it, all else does not.
    comparisons = {
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[leaf.operator]
    return comparisons.fill_null(leaf.operator == "!=")


def _value(operand: Operand, scope: WhereScope, *, numeric: bool) -> pl.Expr:
    if isinstance(operand, Literal):
        return pl.lit(operand.value)
    if isinstance(operand, LabelProbability):
        return pl.col(LABEL_PREFIX + operand.label)
    column = _column(operand, scope)
    if not scope.is_own(operand):
        return column
    return column.cast(pl.Float64(), strict=False) if numeric else column.cast(pl.String())


def _column(name: Name, scope: WhereScope) -> pl.Expr:
    return pl.col(COLUMN_PREFIX + name.name if scope.is_own(name) else name.name)


def _check_comparison(leaf: Compare, scope: WhereScope, text: str, source: str) -> None:
    for side, other in ((leaf.left, leaf.right), (leaf.right, leaf.left)):
        if scope.is_number(side) and scope.is_text(other):
            raise where_error(
                source,
                text,
                leaf.at,
                Text("{one} is a number and {other} is a text", one=_called(side), other=_called(other)),
            )
        if isinstance(side, Name) and not side.quoted and side.name == "predicted":
            if leaf.operator not in {"==", "!="}:
                raise where_error(source, text, leaf.at, Text("labels have no order: use == or !="))
            if isinstance(other, Literal):
                _check_label(str(other.value), other.at, scope, text, source)


def _called(operand: Operand) -> str:
    if isinstance(operand, Name):
        return f"'{operand.name}'"
    return f"probability('{operand.label}')" if isinstance(operand, LabelProbability) else repr(operand.value)


def _check_label(label: str, at: int, scope: WhereScope, text: str, source: str) -> None:
    if label not in scope.labels:
        close = get_close_matches(label, scope.labels, n=1)
        reason = (
            Text("the model never answers '{label}'; did you mean '{close}'?", label=label, close=close[0])
            if close
            else Text("the model never answers '{label}'", label=label)
        )
        raise where_error(
            source,
            text,
            at,
            reason,
            remedy=Text("It answers {labels}.", labels=_list(scope.labels)),
        )


def _unknown_name(name: Name, scope: WhereScope, text: str, source: str) -> BadInput:
    known = [*scope.columns] if name.quoted else [*scope.numbers, *scope.texts, *scope.columns]
    close = get_close_matches(name.name, known, n=1)
    what = Text("column") if name.quoted else Text("name")
    if close:
        reason = Text("there is no {what} '{name}'; did you mean '{close}'?", what=what, name=name.name, close=close[0])
    else:
        reason = Text("there is no {what} '{name}'", what=what, name=name.name)
    columns = _list(scope.columns)
    if name.quoted:
        remedy = Text("Columns of the corpus: {columns}.", columns=columns)
    else:
        always = _list([*scope.numbers, *scope.texts])
        remedy = Text("Always there: {always}. Columns of the corpus: {columns}.", always=always, columns=columns)
    return where_error(source, text, name.at, reason, remedy=remedy)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or Text("none")
