"""What is sent to a chat endpoint: the conversation, and the request around it, written once for all examples.

Endpoints differ in the parameters that they take. What one is known not to take is never sent; what one refuses is
decided once, for all calls under way and to come: a parameter that only shapes the reply is dropped, and the cap on
tokens goes by its other name. The cap is never dropped: without one, nobody knows what a call may cost.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quintain.adapters.answer_reader import ReplyReader
from quintain.adapters.chat_prompt import Message
from quintain.adapters.chat_servers import CAPS, server_of, shape_request
from quintain.adapters.contract import Options
from quintain.core.hashing import ID_LENGTH, canonical_json
from quintain.core.jsontext import NotJson, parse_json

DROPPABLE = ("temperature", "response_format", "top_p", "seed", "reasoning_effort", "top_logprobs", "logprobs")
SAMPLING = ("top_p", "stop", "reasoning_effort")  # options that go into the request as they are
MOST_TOKENS = 64  # of a reply, where the manifest does not say
QUOTED = 20  # characters from which a prompt that is quoted cannot be mistaken for other words
MARK = "\N{NULL}messages\N{NULL}"
SEEDED = 2**31  # seeds go round there: a server takes no larger ones


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which parameters go to an endpoint: the name of the *cap* on tokens, and those that are *dropped*."""

    cap: str = CAPS[0]
    dropped: tuple[str, ...] = ()

    def refused(self, usual: str = CAPS[0]) -> list[str]:
        """Return those of the manifest's parameters that the endpoint does not take as they are."""
        return [*([] if self.cap == usual else [usual]), *self.dropped]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request as it is sent, and with which *parameters*."""

    body: bytes
    parameters: Parameters


class RequestTemplate:
    """The requests of one model, in one event loop. *parameters* are those that earlier calls have settled on.

    *more* goes into every request beside what the manifest says, such as a wish for log-probabilities.
    """

    def __init__(
        self,
        options: Options,
        reader: ReplyReader,
        parameters: Parameters | None = None,
        *,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        self.plain_reader = replace(reader, rule="exact")
        self.most_tokens = int(options.get("max_tokens", MOST_TOKENS))
        self._seed = options.get("seed")
        self._caps_refused: set[str] = set()
        self.usual = Parameters(server_of(options).cap)
        self._whole = self._request(options, reader) | dict(more or {})
        self.parameters = parameters or self.usual
        self._key = _around(self._whole)
        self._sent: dict[int | None, tuple[bytes, bytes]] = {}

    def request(self, messages: bytes, sample: int = 0) -> ChatRequest:
        """Return the request for *messages* that are written as JSON, for the sample of that number."""
        seed = None if self._seed is None else (int(self._seed) + sample) % SEEDED
        around = self._sent.get(seed)
        if around is None:
            around = self._sent[seed] = _around(self._taken(seed=seed))
        return ChatRequest(around[0] + messages + around[1], self.parameters)

    def key(self, url: str, messages: bytes, sample: int = 0) -> str:
        """Name the request as the manifest has it, whatever the endpoint takes: the same question has the same name.

        Another *sample* is another question, since what it is answered with may differ.
        """
        before, after = self._key
        number = b',"sample":%d' % sample if sample else b""
        parts = (b'{"body":', before, messages, after, number, b',"url":', canonical_json(url), b"}")
        return hashlib.sha256(b"".join(parts)).hexdigest()[:ID_LENGTH]

    def settle_refusal(self, request: ChatRequest, words: str, prompt: str) -> bool:
        """Decide what follows from the endpoint's refusal of *request*; False where its parameters are not why.

        *words* are the endpoint's own; the *prompt* is left out of account where they quote it. Of several calls that
        are refused for the same parameter, the first decides, and the others are sent again as it has decided.
        """
        refused = self._refused_parameter(request.parameters, words, prompt)
        if refused is None:
            return False
        if refused in CAPS:
            self._caps_refused.add(refused)
        settled = _without(self.parameters, refused)
        if settled.cap in self._caps_refused:  # it takes neither name, and is not asked without a cap
            return False
        self.parameters = settled
        self._sent.clear()
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
        server = server_of(options)
        request: dict[str, Any] = {
            **dict(options.get("extra", {})),
            **server.more,
            "model": str(options["model"]),
            "messages": MARK,
            "temperature": options.get("temperature", 0),
            self.usual.cap: self.most_tokens,
            **{name: options[name] for name in SAMPLING if name in options},
        }
        if self._seed is not None:
            request["seed"] = self._seed
        if reader.rule == "json":
            request |= shape_request(server, reader.schema())
        return request

    def _taken(self, parameters: Parameters | None = None, seed: int | None = None) -> dict[str, Any]:
        taken = parameters or self.parameters
        request = {name: value for name, value in self._whole.items() if name not in (*CAPS, *taken.dropped)}
        if "seed" in request and seed is not None:
            request["seed"] = seed
        return {**request, taken.cap: self.most_tokens}


def written(messages: Sequence[Message]) -> bytes:
    """Write a conversation as it goes into a request."""
    return json.dumps(messages, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


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
