"""What is sent to a chat endpoint: the prompt filled in, and the request around it, written once for all examples.

Endpoints differ in the parameters that they take. What one refuses is decided once, for all calls under way and to
come: a parameter that only shapes the reply is dropped, and the cap on tokens goes by its other name. The cap is never
dropped: without one, nobody knows what a call may cost.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from quintain.adapters.answer_reader import ReplyReader
from quintain.adapters.contract import Options
from quintain.adapters.prompts import fill_prompt
from quintain.core.hashing import ID_LENGTH, canonical_json
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.task import Task

CAPS = ("max_tokens", "max_completion_tokens")  # the names of the cap; newer endpoints take the second
DROPPABLE = ("temperature", "response_format")
MOST_TOKENS = 64  # of a reply, where the manifest does not say
QUOTED = 20  # characters from which a prompt that is quoted cannot be mistaken for other words
MARK = "\N{NULL}prompt\N{NULL}"


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which parameters go to an endpoint: the name of the *cap* on tokens, and those that are *dropped*."""

    cap: str = CAPS[0]
    dropped: tuple[str, ...] = ()

    @property
    def refused(self) -> list[str]:
        """Those of the manifest's parameters that the endpoint does not take as they are."""
        return [*([] if self.cap == CAPS[0] else [CAPS[0]]), *self.dropped]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request as it is sent, and with which *parameters*."""

    body: bytes
    parameters: Parameters


class RequestTemplate:
    """The requests of one model. *parameters* are those that earlier calls have settled on."""

    def __init__(self, task: Task, options: Options, reader: ReplyReader, parameters: Parameters | None = None) -> None:
        self.template = str(options["prompt"])
        self.labels = ", ".join(task.label_names)
        self.system = str(options.get("system", ""))
        self.most_tokens = int(options.get("max_tokens", MOST_TOKENS))
        self._lock = threading.Lock()
        self._caps_refused: set[str] = set()
        self._whole = self._request(options, reader)
        self._key = _around(self._whole)
        self.parameters = parameters or Parameters()
        self._sent = _around(self._taken())

    def prompt(self, inputs: Mapping[str, Any]) -> str:
        """Fill the template in."""
        return fill_prompt(self.template, inputs, self.labels)

    def request(self, prompt: bytes) -> ChatRequest:
        """Return the request for a *prompt* that is written as JSON."""
        with self._lock:
            (before, after), parameters = self._sent, self.parameters
        return ChatRequest(before + prompt + after, parameters)

    def key(self, url: str, prompt: bytes) -> str:
        """Name the request as the manifest has it, whatever the endpoint takes: the same question has the same name."""
        before, after = self._key
        parts = (b'{"body":', before, prompt, after, b',"url":', canonical_json(url), b"}")
        return hashlib.sha256(b"".join(parts)).hexdigest()[:ID_LENGTH]

    def settle_refusal(self, request: ChatRequest, words: str, prompt: str) -> bool:
        """Decide what follows from the endpoint's refusal of *request*; False where its parameters are not why.

        *words* are the endpoint's own; the *prompt* is left out of account where they quote it. Of several calls that
        are refused for the same parameter, the first decides, and the others are sent again as it has decided.
        """
        with self._lock:
            refused = self._refused_parameter(request.parameters, words, prompt)
            if refused is None:
                return False
            if refused in CAPS:
                self._caps_refused.add(refused)
            settled = _without(self.parameters, refused)
            if settled.cap in self._caps_refused:  # it takes neither name, and is not asked without a cap
                return False
            self.parameters = settled
            self._sent = _around(self._taken())
            return True

    def _refused_parameter(self, sent: Parameters, words: str, prompt: str) -> str | None:
        """Return the parameter that was *sent* and is refused, by a field of the reply or by its words."""
        present = [name for name in (sent.cap, *DROPPABLE) if name in self._taken(sent)]
        param = _error_of(words).get("param")
        if isinstance(param, str) and param.partition(".")[0] in present:
            return param.partition(".")[0]
        quoted = (json.dumps(prompt)[1:-1], prompt) if len(prompt) >= QUOTED else ()
        plain = words
        for text in quoted:
            plain = plain.replace(text, "")
        return next((name for name in present if _names(plain, name)), None)

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

    def _taken(self, parameters: Parameters | None = None) -> dict[str, Any]:
        taken = parameters or self.parameters
        request = {name: value for name, value in self._whole.items() if name not in (*CAPS, *taken.dropped)}
        return {**request, taken.cap: self.most_tokens}


def concerns_length(words: str) -> bool:
    """Whether a refusal is about the length of what was asked, which other examples do not have.

    >>> concerns_length("'max_tokens' is too large: 64. This model's maximum context length is 4096 tokens")
    True
    """
    code = _code_of(words)
    return code == "context_length_exceeded" or (code not in OF_PARAMETERS and bool(LENGTH.search(words)))


def concerns_content(words: str) -> bool:
    """Whether a refusal is a filter's, which does not let the endpoint answer this example."""
    return _code_of(words) in {"content_filter", "content_policy_violation"} or bool(CONTENT.search(words))


OF_PARAMETERS = ("unsupported_parameter", "unsupported_value", "unknown_parameter")
LENGTH = re.compile(
    r"(too (large|long)|(maximum|max) (context|model|sequence) len|context[ _](length|window)|reduce the length"
    r"|exceeds? the (maximum|context|model|limit)|too many (input )?tokens|longer than)",
    re.IGNORECASE,
)
CONTENT = re.compile(r"content[ _](management[ _])?(filter|polic)|ResponsibleAIPolicyViolation", re.IGNORECASE)


def _without(parameters: Parameters, refused: str) -> Parameters:
    if refused in CAPS:
        return replace(parameters, cap=CAPS[1 - CAPS.index(refused)])
    return replace(parameters, dropped=tuple(dict.fromkeys((*parameters.dropped, refused))))


def _error_of(words: str) -> Mapping[str, Any]:
    """Return the object in which OpenAI's interface describes what is wrong, where there is one."""
    try:
        reply = parse_json(words)
    except NotJson:
        return {}
    error = reply.get("error", reply) if isinstance(reply, dict) else {}
    return error if isinstance(error, dict) else {}


def _code_of(words: str) -> str:
    error = _error_of(words)
    return str(error.get("code") or error.get("type") or "")


def _names(words: str, parameter: str) -> bool:
    return re.search(rf"(?<![A-Za-z_]){re.escape(parameter)}(?![A-Za-z_])", words) is not None


def _around(request: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Write *request* and give what stands before and after the prompt."""
    before, _, after = canonical_json(request).partition(canonical_json(MARK))
    return before, after
