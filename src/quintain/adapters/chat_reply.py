"""What a chat endpoint sends back: the words of a completion, what it took, and whether it was kept from answering.

What a model thinks before it answers is no answer. It comes in a field of its own, between marks within the text
(`<think>` … `</think>`, also where only the second mark is there, since some templates write the first), or in
channels, of which the one called *final* is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quintain.adapters.ledger import CallSize, TokenUse
from quintain.adapters.prices import BYTES_PER_TOKEN, estimated_tokens
from quintain.core.errors import BadInput

MOST_TOKENS = 10**9  # of one reply; what says more is not believed
FILTERED = "content_filter"  # how OpenAI's interface says that a filter has kept the reply back
CUT = "length"  # how it says that there were no tokens left
THOUGHTS = ("reasoning_content", "reasoning", "thinking")  # fields of a message in which servers put thoughts
THOUGHT = re.compile(r"<(think|thinking|reasoning)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
LONE_END = re.compile(r"\A(?:(?!<think(?:ing)?>).)*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
CHANNEL = re.compile(
    r"<\|channel\|>([a-z]+).*?<\|message\|>(.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)", re.DOTALL
)
LONGEST_NAME = 200  # characters of what a server calls itself
# How models say in words that they will not answer, at the beginning of a reply.
DECLINES = re.compile(
    r"\A\W*(?:i(?:['’]m| am) (?:really |very |so )?sorry,? (?:but )?"
    r"(?:i (?:can(?:['’]t|not)|am (?:not able|unable))|that)"
    r"|(?:sorry,? (?:but )?)?i (?:can(?:['’]t|not)|won['’]t|am (?:unable|not able) to|['’]m (?:unable|not able) to)"
    r" (?:help|assist|answer|provide|comply|do that|engage|fulfil|continue|discuss|generate|create|respond)"
    r"|i must (?:decline|refuse)|as an ai(?: language)? model,? i (?:can(?:['’]t|not)|am not able))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The text of a reply and its *usage* as the server says it.

    *refused* says why there is no answer: a filter kept it back, or the model's own `refusal`. *cut* is True where the
    tokens were used up. *thoughts* came before the answer. *model* and *fingerprint* are what the server calls what has
    answered, *logprobs* what it tells of the tokens.
    """

    text: str
    usage: Mapping[str, Any] = field(default_factory=dict)
    refused: str = ""
    cut: bool = False
    thoughts: str = ""
    model: str = ""
    fingerprint: str = ""
    logprobs: Any = None

    def kept(self) -> dict[str, Any]:
        """Return what is kept of it beside its text."""
        more = {
            "refused": self.refused,
            "cut": self.cut,
            "thoughts": self.thoughts,
            "model": self.model,
            "fingerprint": self.fingerprint,
            "logprobs": self.logprobs,
        }
        return {**self.usage, **{name: value for name, value in more.items() if value}}


def kept_reply(text: str, stored: Mapping[str, Any]) -> ChatReply:
    """Return the reply of which *text* and what is *stored* beside it were kept; older versions kept less of it."""
    refused = stored.get("refused", "")
    return ChatReply(
        text,
        stored,
        refused=FILTERED if refused is True else str(refused),
        cut=bool(stored.get("cut")),
        thoughts=str(stored.get("thoughts", "")),
        model=str(stored.get("model", "")),
        fingerprint=str(stored.get("fingerprint", "")),
        logprobs=stored.get("logprobs"),
    )


def read_completion(reply: Any) -> ChatReply:
    """Read a completion, or say that it is none."""
    try:
        choice = reply["choices"][0]
        message = choice["message"] if "message" in choice else {"content": choice["text"]}
        refusal = message.get("refusal")
        content = message["content"] if "content" in message else message["refusal"]
    except (AttributeError, KeyError, IndexError, TypeError):
        raise BadInput("The endpoint's reply is not a chat completion: {reply}", reply=repr(str(reply)[:160])) from None
    usage, finish = reply.get("usage"), choice.get("finish_reason")
    text, within = split_thoughts(_text_of(content, reply))
    apart = next((message[name] for name in THOUGHTS if isinstance(message.get(name), str) and message[name]), "")
    refused = FILTERED if finish == FILTERED else ""
    if not refused and isinstance(refusal, str) and refusal.strip():
        refused, text = "refusal", text or refusal
    return ChatReply(
        text,
        usage if isinstance(usage, dict) else {},
        refused=refused,
        cut=finish == CUT,
        thoughts="\n".join(filter(None, (apart, within))),
        model=_name(reply.get("model")),
        fingerprint=_name(reply.get("system_fingerprint")),
        logprobs=choice.get("logprobs"),
    )


def split_thoughts(text: str) -> tuple[str, str]:
    """Return the answer in *text*, and what the model thought before it.

    >>> split_thoughts("<think>Hm. Good, I guess.</think>positive")
    ('positive', 'Hm. Good, I guess.')
    >>> split_thoughts("Hm. Good.</think>positive")
    ('positive', 'Hm. Good.')
    >>> split_thoughts("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>positive")
    ('positive', 'Hm.')
    """
    if "<|channel|>" in text:
        parts = CHANNEL.findall(text)
        answers = [words for name, words in parts if name == "final"]
        return "".join(answers), "\n".join(words for name, words in parts if name != "final")
    if "</" not in text and "<" not in text:
        return text, ""
    thoughts = [match[2] for match in THOUGHT.finditer(text)]
    answer = THOUGHT.sub("", text)
    lone = LONE_END.match(answer)
    if lone is not None:
        thoughts.append(re.sub(r"</think(?:ing)?>\Z", "", lone[0], flags=re.IGNORECASE))
        answer = answer[lone.end() :]
    return answer, "\n".join(thoughts)


def declines(text: str) -> bool:
    """Whether a reply begins as those do in which a model says that it will not answer.

    >>> declines("I'm sorry, but I can't help with that."), declines("I can't stand this film: negative")
    (True, False)
    """
    return DECLINES.match(text) is not None


def read_reply(reply: Any, size: CallSize) -> tuple[ChatReply | BadInput, TokenUse]:
    """Read a completion, or why it is none, and the tokens that a call of *size* took.

    What the server does not say of them is guessed from the texts.
    """
    try:
        completion = read_completion(reply)
    except BadInput as error:
        return error, TokenUse(-(-size.sent // BYTES_PER_TOKEN), size.received, estimated=True)
    return completion, usage_between(completion, size.sent)


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


def _name(value: Any) -> str:
    return value[:LONGEST_NAME] if isinstance(value, str) else ""
