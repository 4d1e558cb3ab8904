"""Conditions such as `rating == 1 and predicted == 'positive' and length < 30`: read by us, and never run as code.

    condition = parse_where("rating <= 2 and probability('positive') > 0.6")

Beside `and`, `or`, `not` and brackets there are `== != < <= > >=` (also in a row: `0.4 < probability < 0.6`),
`in [1, 2]`, `not in`, `contains(text, 'never')` and `missing(city)`. A name in backquotes is always a column of the
file, so that one called `length` or `first name` can be named too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from quintain.core.errors import BadInput
from quintain.core.texts import Text, as_text

MAX_LENGTH = 10_000
MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Name:
    """A value that is known of a sentence, or (*quoted*) a column of the file."""

    name: str
    at: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a text as it is written."""

    value: float | str
    at: int


@dataclass(frozen=True, slots=True)
class LabelProbability:
    """How sure the model is of a label."""

    label: str
    at: int


Operand = Name | Literal | LabelProbability


@dataclass(frozen=True, slots=True)
class Compare:
    """One comparison; *operator* is one of `OPERATORS`."""

    operator: str
    left: Operand
    right: Operand
    at: int


@dataclass(frozen=True, slots=True)
class Among:
    """Whether a value is one of several."""

    value: Operand
    options: tuple[Literal, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Contains:
    """Whether a text has another one in it, whatever the case."""

    value: Name
    part: str
    at: int


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether a value is not there."""

    value: Name
    at: int


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Every:
    """All *parts* hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of *parts* holds."""

    parts: tuple[Condition, ...]


Condition = Compare | Among | Contains | Missing | Not | Every | Some

OPERATORS = ("==", "!=", "<=", ">=", "<", ">")
WORDS = ("and", "or", "not", "in")
FUNCTIONS = ("probability", "contains", "missing")

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
    |(?P<text>'[^'\n]*'|"[^"\n]*")
    |(?P<column>`[^`\n]+`)
    |(?P<name>[^\W\d][\w.]*)
    |(?P<mark>==|!=|<=|>=|<|>|[()\[\],])""",
    re.VERBOSE,
)
_OFTEN_MEANT = {"=": "==", "&": "and", "|": "or", "!": "not", "<>": "!="}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def where_error(source: str, text: str, at: int, reason: str, *, remedy: str | None = None) -> BadInput:
    """Return the error that says what is wrong with the condition *text* at a position, and shows it there."""
    start = max(0, at - 60)
    shown = text[start : at + 40].replace("\n", " ")
    return BadInput(
        "{source}, character {at}: {reason}\n  {shown}\n  {space}^",
        source=source,
        at=at + 1,
        reason=reason,
        shown=shown,
        space=" " * (at - start),
        remedy=remedy,
    )


def parse_where(text: str, *, source: str = "--where") -> Condition:
    """Read a condition, or raise BadInput with the place of the first mistake; *source* says where it stands.

    >>> parse_where("length < 30")
    Compare(operator='<', left=Name(name='length', at=0, quoted=False), right=Literal(value=30.0, at=9), at=7)
    """
    if len(text) > MAX_LENGTH:
        raise BadInput(
            "{source} has {n:,} characters; {most:,} are enough for anybody.",
            source=source,
            n=len(text),
            most=MAX_LENGTH,
        )
    return _Reading(text, source).condition()


def conjuncts(condition: Condition | None) -> list[Condition]:
    """List the conditions that must hold all at once, so that cheap ones can be tried first."""
    if condition is None:
        return []
    if isinstance(condition, Every):
        return [conjunct for part in condition.parts for conjunct in conjuncts(part)]
    return [condition]


def leaves(condition: Condition) -> Iterator[Compare | Among | Contains | Missing]:
    """Yield the single comparisons of a condition, in order."""
    if isinstance(condition, Every | Some):
        for part in condition.parts:
            yield from leaves(part)
    elif isinstance(condition, Not):
        yield from leaves(condition.part)
    else:
        yield condition


def operands(condition: Condition) -> Iterator[Operand]:
    """Yield every operand of a condition, in order."""
    for leaf in leaves(condition):
        if isinstance(leaf, Compare):
            yield leaf.left
            yield leaf.right
        else:
            yield leaf.value


def _tokens(text: str, source: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise where_error(source, text, at, _unreadable(text, at))
        kind = str(match.lastgroup)
        if kind != "space":
            word = match.group()
            tokens.append(_Token("word" if word in WORDS else kind, word, at))
        at = match.end()
    return [*tokens, _Token("end", "", len(text))]


def _unreadable(text: str, at: int) -> str:
    if text[at] in "'\"`":
        return Text("the {text} is never closed", text=text[at])
    if text[at].isdigit():
        return Text("this is not a number")
    meant = _OFTEN_MEANT.get(text[at])
    if meant:
        return Text("'{text}' means nothing here; did you mean '{meant}'?", text=text[at], meant=meant)
    return Text("'{text}' means nothing here", text=text[at])


class _Reading:
    """Reads one condition from left to right."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.tokens = _tokens(text, source)
        self.place = 0
        self.depth = 0

    @property
    def now(self) -> _Token:
        return self.tokens[self.place]

    def condition(self) -> Condition:
        whole = self.some()
        if self.now.kind != "end":
            raise self.mistake("'{text}' is not expected; join conditions with 'and' or 'or'", text=self.now.text)
        return whole

    def mistake(self, reason: str, /, token: _Token | None = None, **values: object) -> BadInput:
        return where_error(self.source, self.text, (token or self.now).at, as_text(reason, values))

    def take(self, *texts: str) -> _Token | None:
        token = self.now
        if token.kind in {"mark", "word"} and token.text in texts:
            self.place += 1
            return token
        return None

    def need(self, text: str) -> _Token:
        token = self.take(text)
        if token is None:
            raise self.mistake("'{text}' is missing", text=text)
        return token

    def some(self) -> Condition:
        parts = self._joined("or", self.every)
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def every(self) -> Condition:
        parts = self._joined("and", self.single)
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _joined(self, word: str, read: Callable[[], Condition]) -> list[Condition]:
        parts = [read()]
        while self.take(word):
            parts.append(read())
        return parts

    def single(self) -> Condition:
        token = self.now
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.mistake("there are too many brackets inside each other")
        try:
            if self.take("not"):
                return Not(self.single())
            if self.take("("):
                condition = self.some()
                self.need(")")
                return condition
            if token.kind == "name" and token.text in {"contains", "missing"} and self._calls():
                return self.function(token)
            return self.comparison()
        finally:
            self.depth -= 1

    def _calls(self) -> bool:
        return self.tokens[self.place + 1].text == "("

    def function(self, token: _Token) -> Condition:
        self.place += 1
        self.need("(")
        value = self.operand()
        if not isinstance(value, Name):
            raise self.mistake("{function} asks for a name here", token, function=token.text)
        test: Condition
        if token.text == "missing":
            test = Missing(value, token.at)
        else:
            self.need(",")
            test = Contains(value, self.string("contains"), token.at)
        self.need(")")
        return test

    def string(self, what: str) -> str:
        token = self.now
        if token.kind != "text":
            raise self.mistake("{function} asks for a text in quotation marks here", function=what)
        self.place += 1
        return token.text[1:-1]

    def comparison(self) -> Condition:
        left = self.operand()
        negated = self.now.text == "not" and self.tokens[self.place + 1].text == "in"
        if negated:
            self.place += 1
        if token := self.take("in"):
            among = Among(left, self.options(), token.at)
            return Not(among) if negated else among
        parts: list[Condition] = []
        while token := self.take(*OPERATORS):
            right = self.operand()
            parts.append(Compare(token.text, left, right, token.at))
            left = right
        if not parts:
            raise self.mistake("a comparison is missing: one of {operators}, 'in'", operators=" ".join(OPERATORS))
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def options(self) -> tuple[Literal, ...]:
        opened = self.take("[", "(")
        if opened is None:
            raise self.mistake("'[' is missing: write in [1, 2]")
        literals: list[Literal] = []
        while not literals or self.take(","):
            token = self.now
            value = self.operand()
            if not isinstance(value, Literal):
                raise self.mistake("only numbers and texts in quotation marks can be listed", token)
            literals.append(value)
        self.need("]" if opened.text == "[" else ")")
        return tuple(literals)

    def operand(self) -> Operand:
        token = self.now
        self.place += 1
        if token.kind == "number":
            return Literal(float(token.text), token.at)
        if token.kind == "text":
            return Literal(token.text[1:-1], token.at)
        if token.kind == "column":
            return Name(token.text[1:-1], token.at, quoted=True)
        if token.kind == "name":
            if self.now.text != "(":
                return Name(token.text, token.at)
            return self.label_probability(token)
        self.place -= 1
        raise self.mistake(
            "'{text}' stands where a name, a number or a text in quotation marks is expected"
            if token.text
            else "the end comes where a name, a number or a text in quotation marks is expected",
            text=token.text,
        )

    def label_probability(self, token: _Token) -> LabelProbability:
        if token.text != "probability":
            known: Sequence[str] = FUNCTIONS
            raise self.mistake(
                "there is no function '{name}'; there are {known}", token, name=token.text, known=", ".join(known)
            )
        self.need("(")
        label = self.string("probability")
        self.need(")")
        return LabelProbability(label, token.at)
