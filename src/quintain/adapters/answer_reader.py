"""Reading an answer from what a chat model wrote, by a rule that is declared beforehand.

A reply that does not fit the rule, or fits it in two ways, is not guessed at: it is unreadable, and counted as such.
The rules: `exact` takes the reply as the answer, `last_line` its last line, `pattern` what a regular expression finds,
and `json` an object whose shape the endpoint is asked for. What a model thinks aloud first is never read.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import regex

from quintain.adapters.chat_reply import split_thoughts
from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.task import AnswerType
from quintain.core.texts import Text, as_text
from quintain.tasks.answer_kinds.contract import Reading, answers_of

WEIGHED = "options"  # no reply is read: what the model makes of each option is asked for
RULES = ("exact", "last_line", "pattern", "json", WEIGHED)
PATTERN_SECONDS = 0.5  # a pattern is somebody's, and may be one that never ends
LONGEST_READ = 20_000
SHOWN = 100
FENCE = re.compile(r"\A```\w*\n(.*?)\n?```\Z", re.DOTALL)
LEAD = re.compile(r"\A(?:the )?(?:final |correct )?(?:answer|label|option)(?: is)?(?:\s*[:=]\s*|\s+)", re.IGNORECASE)
OPTION = re.compile(r"\A(?:\(([A-Za-z]|\d{1,4})\)|([A-Za-z]|\d{1,4}))(?:[.):]?\Z|[.):]\s+\S.*\Z)", re.DOTALL)
SEVERAL = re.compile(r"\s*(?:,|;|\band\b|&|\s)\s*", re.IGNORECASE)
AROUND = " \t\r\n.!\"'`*_"


@dataclass(frozen=True, slots=True)
class ReplyReader:
    """Reads answers of one type. *labels* are those of the task, *after* the words that an answer follows.

    *marks* say how the prompt has marked the options: a label may then be named by its mark, and numbers begin at 1.
    """

    rule: str
    answer_type: AnswerType
    labels: tuple[str, ...] = ()
    after: str = ""
    pattern: str = ""
    marks: str = ""

    def read(self, reply: str) -> Any:
        """Return the answer that *reply* holds, or raise BadInput saying why it cannot be read.

        >>> ReplyReader("exact", "label", ("negative", "positive")).read("Answer: **Positive**.")
        'positive'
        """
        text = split_thoughts(reply)[0][:LONGEST_READ].strip()
        if self.after:
            if self.after not in text:
                raise BadInput(
                    "The reply {reply} does not contain {after}.", reply=short(reply), after=repr(self.after)
                )
            text = text.rpartition(self.after)[2].strip()
        if not text:
            raise BadInput(
                "The reply is empty." if not reply.strip() else "The reply {reply} has no answer.", reply=short(reply)
            )
        if self.rule == "json":
            return self._from_json(text)
        if self.rule == "last_line":
            text = text.splitlines()[-1]
        elif self.rule == "pattern":
            text = self._matched_answer(text)
        return _READINGS[answers_of(self.answer_type).read_as](self, text)

    def schema(self) -> Mapping[str, Any]:
        """Describe, as JSON Schema, the object that an endpoint is asked for under the rule `json`."""
        shapes: dict[Reading, Mapping[str, Any]] = {
            "label": {"type": "string", "enum": list(self.labels)},
            "option": {"type": "integer", "minimum": 0},
            "options": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "words": {"type": "string"},
        }
        answer = shapes[answers_of(self.answer_type).read_as]
        return {
            "type": "object",
            "properties": {"answer": answer},
            "required": ["answer"],
            "additionalProperties": False,
        }

    def _from_json(self, text: str) -> Any:
        fenced = FENCE.match(text)
        try:
            content = parse_json(fenced[1] if fenced else text)
        except NotJson:
            raise BadInput("The reply {text} is not JSON.", text=short(text)) from None
        if not isinstance(content, dict) or "answer" not in content:
            raise BadInput("The reply {text} is not an object with 'answer'.", text=short(text))
        answer = content["answer"]
        if isinstance(answer, str):
            return _READINGS[answers_of(self.answer_type).read_as](self, answer)
        return answer

    def _matched_answer(self, text: str) -> str:
        try:
            matches = regex.finditer(self.pattern, text, timeout=PATTERN_SECONDS)
            answers = {(match[1] if match.re.groups else match[0]) or "" for match in matches}
        except TimeoutError:
            raise BadInput("The pattern takes too long on the reply {text}.", text=short(text)) from None
        if len(answers) != 1:
            problem = Text("finds {n} different answers", n=len(answers)) if answers else Text("finds nothing")
            raise BadInput("The pattern {problem} in the reply {text}.", problem=problem, text=short(text))
        return answers.pop()

    def _label(self, text: str) -> str:
        bare = _bare(text)
        named = {label.casefold(): label for label in self.labels}
        if bare.casefold() in named:
            return named[bare.casefold()]
        match = OPTION.match(bare) if self.marks else None
        number = -1 if match is None else self._option_number(match[1] or match[2])
        if 0 <= number < len(self.labels):
            return self.labels[number]
        raise BadInput("The reply {text} is not one of {labels}.", text=short(text), labels=", ".join(self.labels))

    def _option(self, text: str) -> int:
        match = OPTION.match(_bare(text))
        if match is None:
            raise BadInput("The reply {text} is not one option, such as B or 1.", text=short(text))
        return self._option_number(match[1] or match[2])

    def _options(self, text: str) -> list[int]:
        parts = [part.strip("()[]." + AROUND) for part in SEVERAL.split(_bare(text).strip("[]"))]
        named = [part for part in parts if part]
        if not named or not all(re.fullmatch(r"[A-Za-z]|\d{1,4}", part) for part in named):
            raise BadInput("The reply {text} is not a list of options, such as A, C or 0, 2.", text=short(text))
        return sorted({self._option_number(part) for part in named})

    def _option_number(self, named: str) -> int:
        if named.isdecimal():
            return int(named) - (self.marks == "numbers")
        return string.ascii_uppercase.index(named.upper())

    def _words(self, text: str) -> str:
        return text.strip().strip("\"' ")


def check_reading(options: Mapping[str, Any]) -> list[Fault]:
    """Find what is wrong with the rule that *options* declare."""
    rule, pattern = options.get("read", "exact"), options.get("pattern")
    faults = []
    if rule not in RULES:
        faults.append(_fault("read", "is {rule}; it is one of {rules}", rule=repr(rule), rules=", ".join(RULES)))
    if (rule == "pattern") != (pattern is not None):
        faults.append(_fault("pattern", 'goes with read = "pattern", and that with it'))
    if pattern is not None:
        try:
            groups = regex.compile(str(pattern)).groups
        except regex.error as error:
            faults.append(_fault("pattern", "is no regular expression: {error}", error=error))
        else:
            if groups > 1:
                faults.append(
                    _fault("pattern", "has {groups} groups; the answer is what one group holds", groups=groups)
                )
    return faults


def short(text: str) -> str:
    """Quote *text*, cut where it is long."""
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")


def _bare(text: str) -> str:
    """Take off what stands around an answer: quotes, emphasis, a full stop, and "Answer:" before it."""
    return LEAD.sub("", text.strip(AROUND)).strip(AROUND)


def _fault(name: str, reason: str, /, **values: object) -> Fault:
    return Fault(as_text(reason, values), file="quintain.toml", field=f"options.{name}")


_READINGS: Mapping[Reading, Callable[[ReplyReader, str], Any]] = {
    "label": ReplyReader._label,
    "option": ReplyReader._option,
    "options": ReplyReader._options,
    "words": ReplyReader._words,
}
