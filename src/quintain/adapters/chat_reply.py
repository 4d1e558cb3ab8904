"""What a chat endpoint sends back: the words of a completion, what it took, and whether it was kept from answering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quintain.adapters.ledger import CallSize, TokenUse
from quintain.adapters.prices import BYTES_PER_TOKEN, estimated_tokens
from quintain.core.errors import BadInput

MOST_TOKENS = 10**9  # of one reply; what says more is not believed
FILTERED = "content_filter"  # how OpenAI's interface says that a filter has kept the reply back


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The text of a reply and its *usage* as the server says it; *refused* where a filter kept the answer back."""

    text: str
    usage: Mapping[str, Any] = field(default_factory=dict)
    refused: bool = False


def read_completion(reply: Any) -> ChatReply:
    """Read a completion, or say that it is none."""
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        content = message["content"] if "content" in message else message["refusal"]
    except (KeyError, IndexError, TypeError):
        raise BadInput("The endpoint's reply is not a chat completion: {reply}", reply=repr(str(reply)[:160])) from None
    usage = reply.get("usage")
    return ChatReply(
        _text_of(content, reply),
        usage if isinstance(usage, dict) else {},
        refused=choice.get("finish_reason") == FILTERED,
    )


def usage_of_completion(reply: Any, size: CallSize) -> TokenUse:
    """Return the tokens that a call of *size* took; what the server does not say is guessed from the texts."""
    try:
        completion = read_completion(reply)
    except BadInput:
        return TokenUse(-(-size.sent // BYTES_PER_TOKEN), size.received, estimated=True)
    return usage_between(completion, size.sent)


def usage_between(completion: ChatReply, sent_bytes: int) -> TokenUse:
    """Return the tokens of a prompt of so many bytes and its *completion*.

    >>> usage_between(ChatReply("four", {"prompt_tokens": 7}), 100)
    TokenUse(sent=7, received=1, estimated=True)
    """
    sent, received = tokens_of(completion.usage)
    return TokenUse(
        -(-sent_bytes // BYTES_PER_TOKEN) if sent is None else sent,
        estimated_tokens(completion.text) if received is None else received,
        estimated=sent is None or received is None,
    )


def tokens_of(usage: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the tokens sent and received as a server reports them; None where it does not."""
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _text_of(content: Any, reply: Any) -> str:
    """Return the text of a message, which may come in parts; thoughts and pictures among them are no answer."""
    if content is None:  # it refused, or had no tokens left to say anything
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, str | dict) for part in content):
        texts = (part if isinstance(part, str) else _part_text(part) for part in content)
        return "".join(texts)
    raise BadInput("The endpoint's reply has no text: {reply}", reply=repr(str(reply)[:160]))


def _part_text(part: Mapping[str, Any]) -> str:
    text = part.get("text") if part.get("type", "text") in ("text", "output_text") else None
    return text if isinstance(text, str) else ""


def _count(value: Any) -> int | None:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return value if known else None
