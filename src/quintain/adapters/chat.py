"""Any OpenAI-compatible chat endpoint: a prompt for each example, several at once, each answer read from a text.

Replies are kept on disk by what was asked, so that a run that broke off, or a perturbation that left an example as it
was, costs nothing twice.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.contract import ADAPTERS, Adapter, Connection, Options, Outside
from quintain.adapters.reading import Reader, check_reading
from quintain.adapters.remote import REMOTE_OPTIONS, Caller, Refused, check_options, permit
from quintain.core.errors import BadInput, Fault
from quintain.core.example import Failure
from quintain.core.hashing import canonical_json, content_id
from quintain.core.task import Task
from quintain.tasks.contract import kind_of

PLACEHOLDER = re.compile(r"\{(\w+)\}")
PATH = "/chat/completions"
LIMIT = "max_completion_tokens"  # what newer endpoints call max_tokens
OPTIONAL = (LIMIT, "max_tokens", "temperature", "response_format")  # what an endpoint may refuse, and is then left out
MOST_TOKENS = 10**9  # of one reply; what says more is not believed


@ADAPTERS.register("chat")
class ChatAdapter(Adapter):
    """An OpenAI-compatible chat endpoint with a prompt template, and rules to read its answers."""

    name = "chat"
    title = "Chat endpoint"
    place = "remote"
    options: ClassVar[Mapping[str, str]] = {
        **REMOTE_OPTIONS,
        "url": "Address up to the version, such as https://models.example.org/v1.",
        "model": "Name of the model on the server.",
        "prompt": "What is asked, with {field} for each field of the task; {labels} lists the labels.",
        "system": "The system message, if there is one.",
        "read": "How an answer is read: exact (the default), last_line, pattern or json.",
        "pattern": "The regular expression of read = 'pattern'; its group, if it has one, is the answer.",
        "after": "Only what follows the last of these words is read as the answer, such as 'Answer:'.",
        "fallback": "The answer where a reply cannot be read; without it such an example counts as failed.",
        "temperature": "Temperature; 0 by default.",
        "max_tokens": "The most tokens of a reply; 64 by default.",
        "concurrency": "How many calls are made at once; 4 by default, 32 at most.",
        "input_price": "Price of a million tokens that are sent, in any currency.",
        "output_price": "Price of a million tokens that come back.",
    }

    def check(self, folder: Path, task: Task, options: Options) -> list[Fault]:
        """Look at the options and at the prompt's placeholders; nothing is called."""
        faults = check_options(options) + check_reading(options)
        faults += [_fault(name, "is missing") for name in ("model", "prompt") if not options.get(name)]
        known = {item.name for item in kind_of(task).fields(task)} | {"labels"}
        for name in PLACEHOLDER.findall(str(options.get("prompt", ""))):
            if name not in known:
                faults.append(_fault("prompt", f"names {{{name}}}; there are {', '.join(sorted(known))}"))
        for name, least, most in (("temperature", 0, 2), ("max_tokens", 1, 32_000), ("concurrency", 1, 32)):
            value = options.get(name, 1)
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
                faults.append(_fault(name, f"is {value!r}; it lies between {least} and {most}"))
        return faults

    def permit(self, options: Options, outside: Outside) -> None:
        """Refuse a server or a key that the operator does not allow."""
        permit(options, outside)

    @contextmanager
    def connect(self, folder: Path, task: Task, options: Options, outside: Outside) -> Iterator[Connection]:
        """Give a `predict` that asks for several examples at once."""
        with (
            Caller(options, outside) as caller,
            ThreadPoolExecutor(int(options.get("concurrency", 4)), thread_name_prefix="chat") as pool,
        ):
            chat = Chat(caller, task, options, outside.cache)
            yield Connection(lambda batch: list(pool.map(chat.answer, batch)), chat.facts)


@dataclass(slots=True)
class Tally:
    """What asking has taken so far."""

    examples: int = 0
    requests: int = 0
    cached: int = 0
    unread: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, *, cached: bool, usage: Mapping[str, Any]) -> None:
        """Count one example."""
        with self.lock:
            self.examples += 1
            self.cached += cached
            self.requests += not cached
            self.input_tokens += _count(usage.get("prompt_tokens"))
            self.output_tokens += _count(usage.get("completion_tokens"))


class Chat:
    """Asks for one example at a time; several threads may."""

    def __init__(self, caller: Caller, task: Task, options: Options, cache: Path | None) -> None:
        self.caller = caller
        self.task = task
        self.options = options
        self.cache = cache
        self.kind = kind_of(task)
        self.reader = Reader(
            str(options.get("read", "exact")),
            self.kind.answer_type,
            tuple(task.label_names),
            after=str(options.get("after", "")),
            pattern=str(options.get("pattern", "")),
        )
        self.tally = Tally()
        self.omitted: tuple[str, ...] = ()

    def answer(self, inputs: Mapping[str, Any]) -> Any:
        """Ask about one example and read the answer; where it cannot be read, give the fallback or the failure."""
        text = self._reply(self._body(inputs))
        try:
            raw = self.reader.read(text)
            self.kind.parse_answer(self.task, inputs, raw)
        except BadInput as error:
            with self.tally.lock:
                self.tally.unread += 1
            return self.options["fallback"] if "fallback" in self.options else Failure(error.message)
        return raw

    def facts(self) -> Mapping[str, Any]:
        """Give what asking has cost. Tokens of replies from the cache count: somebody paid for them once."""
        tally = self.tally
        cost = (
            tally.input_tokens * float(self.options.get("input_price", 0))
            + tally.output_tokens * float(self.options.get("output_price", 0))
        ) / 1e6
        return {
            "requests": tally.requests,
            "cached": tally.cached,
            "retries": self.caller.retried,
            "unread": tally.unread,
            "omitted": list(self.omitted),
            "input_tokens": tally.input_tokens,
            "output_tokens": tally.output_tokens,
            "cost": cost,
            "cost_per_example": cost / tally.examples if tally.examples else 0.0,
        }

    def _body(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        values = {**inputs, "labels": ", ".join(self.task.label_names)}
        prompt = PLACEHOLDER.sub(lambda found: _written(values.get(found[1])), str(self.options["prompt"]))
        system = [{"role": "system", "content": str(self.options["system"])}] if "system" in self.options else []
        body = {
            "model": str(self.options["model"]),
            "messages": [*system, {"role": "user", "content": prompt}],
            "temperature": self.options.get("temperature", 0),
            "max_tokens": int(self.options.get("max_tokens", 64)),
        }
        if self.reader.rule == "json":
            shape = {"name": "answer", "strict": True, "schema": dict(self.reader.schema())}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        return body

    def _reply(self, body: dict[str, Any]) -> str:
        place = None
        if self.cache is not None:
            key = content_id(canonical_json({"url": self.caller.url, "body": body}))
            place = self.cache / "chat" / key[:2] / f"{key}.json"
            kept = _read(place)
            if kept is not None:
                self.tally.add(cached=True, usage=kept["usage"])
                return str(kept["content"])
        content, usage = read_completion(self._post(body))
        self.tally.add(cached=False, usage=usage)
        if place is not None:
            _write(place, {"content": content, "usage": dict(usage)})
        return content

    def _post(self, body: dict[str, Any]) -> Any:
        """Send *body*, leaving out what this endpoint has refused; newer ones take some parameters no more."""
        while True:
            sent = {name: value for name, value in body.items() if name not in self.omitted}
            if "max_tokens" in self.omitted and LIMIT not in self.omitted:
                sent[LIMIT] = body["max_tokens"]
            try:
                return self.caller.post(PATH, sent)
            except Refused as error:
                named = [name for name in OPTIONAL if name in sent and error.names(name)]
                if not named:
                    raise
                with self.tally.lock:
                    self.omitted = tuple(dict.fromkeys((*self.omitted, *named)))


def read_completion(reply: Any) -> tuple[str, Mapping[str, Any]]:
    """Give the text and the usage of a completion, or say that it is none."""
    try:
        content = reply["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise BadInput(f"The endpoint's reply is not a chat completion: {str(reply)[:160]!r}") from None
    if content is None:  # it refused, or had no tokens left to say anything
        content = ""
    if not isinstance(content, str):
        raise BadInput(f"The endpoint's reply has no text: {str(reply)[:160]!r}")
    usage = reply.get("usage")
    return content, usage if isinstance(usage, dict) else {}


def _written(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(f"{number}. {entry}" for number, entry in enumerate(value))
    return "" if value is None else str(value)


def _read(place: Path) -> dict[str, Any] | None:
    try:
        kept = json.loads(place.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return kept if isinstance(kept, dict) and {"content", "usage"} <= kept.keys() else None


def _write(place: Path, value: Any) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(value, stream, ensure_ascii=False)
    os.replace(name, place)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS else 0


def _fault(name: str, reason: str) -> Fault:
    return Fault(reason, file="quintain.toml", field=f"options.{name}")
