"""What a chat model is asked: a conversation filled in for an example, its options listed, and examples before it.

The conversation is a `prompt`, with or without a `system` message, or `messages` in turns. Examples of the task
(`few_shot`) come before the last turn, as turns of their own or as text within it. They are in the file SHOTS of the
model's folder: they were drawn once, and are part of the model.
"""

from __future__ import annotations

import hashlib
import json
import random
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quintain.adapters.answer_reader import WEIGHED
from quintain.adapters.contract import Options
from quintain.adapters.prompts import fill_prompt
from quintain.core.errors import BadInput
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.task import Task
from quintain.tasks.contract import kind_of

SHOTS = "few_shot.json"
OPTIONS = "options"
LETTERS, NUMBERS = "letters", "numbers"
ROLES = ("system", "developer", "user", "assistant")

Message = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Shot:
    """An example that a model is shown, with its id and its answer."""

    id: str
    inputs: Mapping[str, Any]
    answer: Any


class ChatPrompt:
    """Fills in what a model is asked. *folder* is the model's, where its examples are."""

    def __init__(self, task: Task, options: Options, folder: Path) -> None:
        self._task, self._options, self._kind = task, options, kind_of(task)
        self._labels = ", ".join(task.label_names)
        self.marks = marks_of(task, options)
        self._system = [{"role": "system", "content": str(options["system"])}] if "system" in options else []
        self._turns = turns_of(options)
        few = options.get("few_shot")
        self._few: Mapping[str, Any] = few if isinstance(few, Mapping) else {}
        self.shots = read_shots(folder) if self._few else ()

    def messages(self, inputs: Mapping[str, Any]) -> list[Message]:
        """Return the conversation about one example."""
        turns = [*self._system, *(self._filled(turn, inputs) for turn in self._turns)]
        shots = self._chosen(inputs)
        if not shots:
            return turns
        asked = self._turns[-1]
        if self._few.get("as", "turns") == "text":
            shown = [f"{self._filled(asked, shot.inputs)['content']}\n{self.written(shot)}" for shot in shots]
            last = {"role": asked["role"], "content": "\n\n".join([*shown, turns[-1]["content"]])}
            return [*turns[:-1], last]
        before: list[Message] = []
        for shot in shots:
            before += [self._filled(asked, shot.inputs), {"role": "assistant", "content": self.written(shot)}]
        return [*turns[:-1], *before, turns[-1]]

    def written(self, shot: Shot) -> str:
        """Write the answer of *shot* as a reply that is read the way the model's replies are."""
        answer = shot.answer
        if isinstance(answer, list) and answer and self._kind.answers.is_text:
            answer = answer[0]
        if isinstance(answer, Mapping):
            answer = answer.get("text", "")
        if self._options.get("read") == "json":
            return json.dumps({"answer": answer}, ensure_ascii=False)
        if self.marks:
            answer = self._marked(shot.inputs, answer)
        elif self._kind.answers.read_as == "option":
            answer = string.ascii_uppercase[answer] if answer < len(string.ascii_uppercase) else answer
        words = ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
        after = str(self._options.get("after", ""))
        return f"{after} {words}" if after else words

    def _chosen(self, inputs: Mapping[str, Any]) -> Sequence[Shot]:
        """Return the examples that go before one: the same for all, or drawn for each from those there are."""
        number = int(self._few.get("examples", 0))
        if self._few.get("draw", "same") == "same" or number >= len(self.shots):
            return self.shots[:number]
        written = json.dumps([self._few.get("seed", 0), dict(inputs)], sort_keys=True, default=str).encode()
        seed = int.from_bytes(hashlib.sha256(written).digest()[:8], "big")
        return random.Random(seed).sample(list(self.shots), number)  # noqa: S311 - a draw that everybody can repeat

    def _marked(self, inputs: Mapping[str, Any], answer: Any) -> Any:
        names = [name for name, _ in choices_of(self._task, inputs)]
        several = answer if isinstance(answer, list) else [answer]
        marked = [mark(self.marks, names.index(str(name))) for name in several if str(name) in names]
        return marked if isinstance(answer, list) else (marked or [str(answer)])[0]

    def _filled(self, turn: Message, inputs: Mapping[str, Any]) -> Message:
        values: Mapping[str, Any] = inputs
        if self.marks and f"{{{OPTIONS}}}" in turn["content"]:
            values = {**inputs, OPTIONS: listed(self.marks, self._task, inputs)}
        return {"role": turn["role"], "content": fill_prompt(turn["content"], values, self._labels)}


def turns_of(options: Options) -> list[Message]:
    """Return the turns that are filled in, as the manifest has them; a system message goes as it stands."""
    messages = options.get("messages")
    if messages:
        return [{"role": str(turn["role"]), "content": str(turn["content"])} for turn in messages]
    return [{"role": "user", "content": str(options.get("prompt", ""))}]


def templates_of(options: Options) -> str:
    """Return all that is said to the model before it is filled in, to find what it names."""
    return "\n".join(turn["content"] for turn in turns_of(options))


def marks_of(task: Task, options: Options) -> str:
    """Return how options are marked: by letters, by numbers from 1, or (empty) as the field is written by itself."""
    fields = {item.name for item in kind_of(task).fields(task)}
    named = f"{{{OPTIONS}}}" in templates_of(options)
    by_default = LETTERS if named and (OPTIONS not in fields or options.get("read") == WEIGHED) else ""
    return str(options.get("options_as", by_default))


def choices_of(task: Task, inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List what an example may be answered with, as the answer's name and its words; empty where that is any text."""
    choices = kind_of(task).judged_by(task, inputs) or ()
    named = set(task.label_names)
    return [(label.name, label.name if label.name in named else label.gloss) for label in choices]


def mark(marks: str, number: int) -> str:
    """Return the mark of the option *number*, from 0.

    >>> mark(LETTERS, 2), mark(NUMBERS, 2)
    ('C', '3')
    """
    if marks == LETTERS and number < len(string.ascii_uppercase):
        return string.ascii_uppercase[number]
    return str(number + 1)


def listed(marks: str, task: Task, inputs: Mapping[str, Any]) -> str:
    """List the options of an example, each with its mark, one to a line."""
    return "\n".join(f"{mark(marks, number)}. {words}" for number, (_, words) in enumerate(choices_of(task, inputs)))


def read_shots(folder: Path) -> tuple[Shot, ...]:
    """Read the examples of the model in *folder*; none are there while nobody has drawn them."""
    path = folder / SHOTS
    if not path.is_file():
        return ()
    try:
        rows = parse_json(path.read_text("utf-8"))
        return tuple(Shot(str(row["id"]), dict(row["inputs"]), row["answer"]) for row in rows)
    except (NotJson, KeyError, TypeError, ValueError, UnicodeDecodeError):
        raise BadInput("{file} does not hold examples as they are drawn.", file=SHOTS) from None


def write_shots(folder: Path, shots: Sequence[Shot]) -> None:
    """Keep *shots* as part of the model in *folder*."""
    rows = [{"id": shot.id, "inputs": dict(shot.inputs), "answer": shot.answer} for shot in shots]
    (folder / SHOTS).write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")
