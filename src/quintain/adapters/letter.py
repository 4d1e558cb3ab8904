"""What is sent to a chat endpoint: the prompt filled in, and the request around it, written once for all examples."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

from quintain.adapters.contract import Options
from quintain.adapters.reading import ReplyReader
from quintain.core.hashing import ID_LENGTH, canonical_json
from quintain.core.task import Task

PLACEHOLDER = re.compile(r"\{(\w+)\}")
LIMIT = "max_completion_tokens"  # what newer endpoints call max_tokens
OPTIONAL = (LIMIT, "max_tokens", "temperature", "response_format")  # what an endpoint may refuse, and is then left out
MARK = "\N{NULL}prompt\N{NULL}"


class RequestTemplate:
    """The requests of one model. *omitted* are the parameters that its endpoint has refused."""

    def __init__(self, task: Task, options: Options, reader: ReplyReader) -> None:
        self.template = str(options["prompt"])
        self.labels = ", ".join(task.label_names)
        self.system = str(options.get("system", ""))
        self.most_tokens = int(options.get("max_tokens", 64))
        self.omitted: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self._whole = self._request(options, reader)
        self._key = _around(self._whole)
        self._sent = self._key

    def prompt(self, inputs: Mapping[str, Any]) -> str:
        """Fill the template in."""
        values = {**inputs, "labels": self.labels}
        return PLACEHOLDER.sub(lambda found: _written(values.get(found[1])), self.template)

    def body(self, prompt: bytes) -> bytes:
        """Give the request for a *prompt* that is written as JSON."""
        before, after = self._sent
        return before + prompt + after

    def key(self, url: str, prompt: bytes) -> str:
        """Name the request, also as it was before parameters were left out: the same question has the same name."""
        before, after = self._key
        parts = (b'{"body":', before, prompt, after, b',"url":', canonical_json(url), b"}")
        return hashlib.sha256(b"".join(parts)).hexdigest()[:ID_LENGTH]

    def leave_out(self, refused: Callable[[str], bool], tried: tuple[str, ...]) -> bool:
        """Leave out the parameters that were *refused*; False where nothing has changed since they were *tried*."""
        with self._lock:
            sent = self._without(self.omitted)
            named = [name for name in OPTIONAL if name in sent and refused(name)]
            if named:
                self.omitted = tuple(dict.fromkeys((*self.omitted, *named)))
                self._sent = _around(self._without(self.omitted))
            return self.omitted != tried

    def _request(self, options: Options, reader: ReplyReader) -> dict[str, Any]:
        system = [{"role": "system", "content": self.system}] if "system" in options else []
        request: dict[str, Any] = {
            "model": str(options["model"]),
            "messages": [*system, {"role": "user", "content": MARK}],
            "temperature": options.get("temperature", 0),
            "max_tokens": self.most_tokens,
        }
        if reader.rule == "json":
            shape = {"name": "answer", "strict": True, "schema": dict(reader.schema())}
            request["response_format"] = {"type": "json_schema", "json_schema": shape}
        return request

    def _without(self, omitted: tuple[str, ...]) -> dict[str, Any]:
        sent = {name: value for name, value in self._whole.items() if name not in omitted}
        if "max_tokens" in omitted and LIMIT not in omitted:
            sent[LIMIT] = self.most_tokens
        return sent


def _around(request: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Write *request* and give what stands before and after the prompt."""
    before, _, after = canonical_json(request).partition(canonical_json(MARK))
    return before, after


def _written(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(f"{number}. {entry}" for number, entry in enumerate(value))
    return "" if value is None else str(value)
