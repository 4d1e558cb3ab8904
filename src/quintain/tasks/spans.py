"""What all kinds share whose answer is a piece of one of their texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.example import Answer, Inputs, Prediction
from quintain.core.task import AnswerType, Task
from quintain.core.texts import Text
from quintain.stats.alignment import follow_piece
from quintain.stats.text import token_f1
from quintain.tasks.answers import index, refuse_unknown, show
from quintain.tasks.contract import FormField, TaskKind
from quintain.tasks.positions import MOST_SHOWN
from quintain.tasks.rules import Rule, span_rules

_NAMED = re.compile(r"(\d{1,8}):(.+)", re.DOTALL)
NO_ANSWER = {"text": "", "start": None}


class SpanKind(TaskKind):
    """A kind whose answer is a span of the input called *source*; each gold answer may have several right ones.

    The model is fooled when the best token F1 against them is below the option `f1_threshold`. Where the option
    `unanswerable` is true, an empty list of spans is the gold answer of a question that has none.
    """

    answer_type: ClassVar[AnswerType] = "span"
    source: ClassVar[str]
    ignore_case: ClassVar[bool] = False
    default_metrics: ClassVar[tuple[str, ...]] = ("token_f1", "exact_match")
    default_options: ClassVar[Mapping[str, Any]] = {"f1_threshold": 0.4, "unanswerable": False}

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask that the spans lie where they say, and that there is one where there must be."""
        rules = span_rules(self.source, ignore_case=self.ignore_case)
        if self.option(task, "unanswerable"):
            return rules
        return [Rule("answer", pl.col("answer").list.len() == 0, "has no span"), *rules]

    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Read a text, `{"text", "start"}` or `{"start", "end"}`; nothing at all means "no answer"."""
        source = str(inputs.get(self.source, ""))
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            return Prediction(dict(NO_ANSWER))
        if isinstance(raw, str):
            return Prediction({"text": str(raw), "start": None})
        if not isinstance(raw, Mapping):
            raise BadInput(
                "The answer {raw} is not a span.", raw=show(raw), remedy='Give a text or {{"text": …, "start": …}}.'
            )
        refuse_unknown(raw, ("text", "answer", "start", "end", "score", "probability"))
        return Prediction(_span(self.source, source, raw))

    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Whether the token F1 of *prediction* stays below the threshold, whichever right answer is taken."""
        texts = self.answers.texts(prediction)
        threshold = float(self.option(task, "f1_threshold"))
        return token_f1(texts[0] if texts else "", self.answers.texts(target), task.language) < threshold

    def places(self, inputs: Inputs, text: str) -> list[int]:
        """List where *text* stands in the source; whatever its case, if the kind says so.

        Where it stands as words of its own, the insides of other words are no places; else they are.
        """
        source = inputs.get(self.source)
        if not isinstance(source, str) or not text:
            return []
        forms = [re.escape(text), *([f"(?i:{re.escape(text)})"] if self.ignore_case else [])]
        patterns = [*(_as_words(form, text) for form in forms), *forms]
        return next((places for pattern in patterns if (places := _occurrences(pattern, source))), [])

    def placed(self, task: Task, inputs: Inputs, target: Answer) -> tuple[Answer, list[Fault]]:
        """Find where spans stand that were given without their start; where it could be several places, ask."""
        if target is None:
            return None, []
        located, faults = [], []
        for span in self.answers.stored(target):
            places = self.places(inputs, span["text"]) if span["start"] is None else [span["start"]]
            if len(places) > 1:
                reason = Text(
                    "'{text}' stands {n} times in '{of}'; say which one you mean, by its start: {names}",
                    text=span["text"][:80],
                    n=len(places),
                    of=self.source,
                    names=", ".join(f"{start}:{span['text'][:80]}" for start in places[:MOST_SHOWN]),
                )
                faults.append(Fault(reason, field="answer"))
            start = places[0] if places else None
            text = span["text"] if start is None else str(inputs[self.source])[start : start + len(span["text"])]
            located.append({"text": text, "start": start})
        return (located if isinstance(target, list | tuple) else located[0]), faults

    def resolved(
        self, task: Task, inputs: Inputs, answer: Answer, before: Inputs | None = None
    ) -> tuple[dict[str, Any], Answer, list[Fault]]:
        """Move a span along whose start is still that of the text before the edit; read one with it (`13:tea`)."""
        inputs, answer, faults = super().resolved(task, inputs, answer, before)
        first, second = (str((one or {}).get(self.source) or "") for one in (before, inputs))
        answer = _named_span(answer, second)
        if first == second or not first or answer is None or not self.answers.fits(answer):
            return inputs, answer, faults
        spans = [_refreshed(span, first, second) for span in self.answers.stored(answer)]
        return inputs, spans if isinstance(answer, list | tuple) else spans[0], faults

    def followed(self, task: Task, before: Inputs, inputs: Inputs, answer: Answer) -> Answer:
        """Move every span along with its text; without one that was edited itself, none is left."""
        first, second = str(before.get(self.source) or ""), str(inputs.get(self.source) or "")
        if first == second or answer is None:
            return answer
        moved = [_moved(span, first, second) for span in self.answers.stored(answer)]
        return None if None in moved else moved

    def answer_control(self, task: Task) -> FormField:
        """Let the answer be selected in the text."""
        unanswerable = bool(self.option(task, "unanswerable"))
        return FormField("answer", "span", "Answer", required=not unanswerable, of=self.source)

    def check_options(self, options: Mapping[str, Any]) -> Sequence[str]:
        """Ask for a threshold that something can be below, and reach."""
        faults = list(super().check_options(options))
        threshold = options.get("f1_threshold", 0.4)
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            faults.append(
                Text("option 'f1_threshold' is {value}; it lies above 0 and is at most 1", value=repr(threshold))
            )
        if not isinstance(options.get("unanswerable", False), bool):
            faults.append(Text("option 'unanswerable' is neither true nor false"))
        return faults


def _refreshed(span: Mapping[str, Any], before: str, after: str) -> dict[str, Any]:
    """Return a span that stands where it says; one that stood there before the edit is moved, or has no place."""
    text, start = str(span["text"]), span["start"]
    if start is None or after[start : start + len(text)] == text or before[start : start + len(text)] != text:
        return dict(span)
    return _moved(span, before, after) or {"text": text, "start": None}


def _named_span(answer: Answer, source: str) -> Answer:
    """Read a text with its start (`13:tea`), which no text of *source* reads like; anything else stays as it is."""
    raw = answer.get("text") if isinstance(answer, Mapping) and answer.get("start") is None else answer
    named = _NAMED.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if named is None or named[0] in source:
        return answer
    start, text = int(named[1]), named[2]
    return {"text": text, "start": start} if source[start : start + len(text)] == text else answer


def _moved(span: Mapping[str, Any], before: str, after: str) -> dict[str, Any] | None:
    text, start = str(span["text"]), span["start"]
    if start is None:
        return dict(span) if text in after else None
    position = follow_piece(before, after, start, len(text))
    return None if position is None else {"text": text, "start": position}


def _as_words(pattern: str, text: str) -> str:
    """Ask that *text*, which *pattern* matches, neither begins nor ends in the middle of a word."""
    before = r"(?<!\w)" if re.match(r"\w", text[0]) else ""
    after = r"(?!\w)" if re.match(r"\w", text[-1]) else ""
    return f"{before}{pattern}{after}"


def _occurrences(pattern: str, source: str) -> list[int]:
    # Looking ahead finds places that overlap, too.
    return [match.start() for match in re.finditer(f"(?={pattern})", source)]


def _span(field: str, source: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    text = raw.get("text", raw.get("answer"))
    start, end = _offset(raw, "start"), _offset(raw, "end")
    if text is None and start is not None and end is not None:
        if not 0 <= start <= end <= len(source):
            raise BadInput(
                "The span {start}–{end} is out of range: '{field}' has {n} characters.",
                start=start,
                end=end,
                field=field,
                n=len(source),
            )
        return {"text": source[start:end], "start": start}
    if not isinstance(text, str):
        raise BadInput("The answer {raw} has no text.", raw=show(dict(raw)), remedy='Give {{"text": …, "start": …}}.')
    if not text.strip():
        return dict(NO_ANSWER)
    if start is not None and (start < 0 or source[start : start + len(text)] != text):
        raise BadInput(
            "The span {text} does not start at character {start} of '{field}'.",
            text=show(text),
            start=start,
            field=field,
        )
    return {"text": str(text), "start": start}


def _offset(raw: Mapping[str, Any], name: str) -> int | None:
    value = raw.get(name)
    number = index(value)
    if value is not None and number is None:
        raise BadInput("The answer's {name} is {value}, which is not a whole number.", name=name, value=show(value))
    return number
