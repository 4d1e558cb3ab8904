"""Options weighed by what a model makes of each, in place of a reply that is read: `read = "options"`.

By one of three methods, which is found out with the first example, kept for the endpoint and part of the figure, so
that no figure mixes them:

- *echo*: the server tells the log-probabilities of a text that it is given. Each option is put behind the prompt, and
  those of its tokens are added up; of an example's own options, which differ in length, the mean over tokens is taken.
- *first token*: options are marked by letters, and the server tells the likeliest first tokens of its reply. A mark
  that is not among them counts as the least likely of them.
- *json*: the server tells no log-probabilities. The option is asked for by a schema, and there are no probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeGuard, get_args

from quintain.adapters.chat_reply import ChatReply
from quintain.adapters.chat_servers import server_of
from quintain.adapters.contract import Options
from quintain.adapters.shaping import softmax
from quintain.core.errors import BadInput

OptionMethod = Literal["echo", "first token", "json"]
METHODS: tuple[OptionMethod, ...] = get_args(OptionMethod)
ECHO_PATH = "/completions"
FIRST_TOKENS = 20  # likeliest tokens that are asked for, where the server tells so many


def likely_method(options: Options) -> OptionMethod:
    """Return the method to begin with: what the manifest says, else the best that the kind of server is known for."""
    named = next((method for method in METHODS if method == options.get("options_by")), None)
    if named is not None:
        return named
    server = server_of(options)
    if server.echoes:
        return "echo"
    return "first token" if server.most_logprobs else "json"


def first_token_request(options: Options) -> dict[str, Any]:
    """Return what asks for the likeliest first tokens."""
    return {"logprobs": True, "top_logprobs": min(FIRST_TOKENS, server_of(options).most_logprobs or FIRST_TOKENS)}


def echo_request(options: Options, text: str) -> dict[str, Any]:
    """Return what asks for the log-probabilities of *text*; one token more is written, since some servers want to."""
    extra = dict(options.get("extra", {}))
    return {**extra, "model": str(options["model"]), "prompt": text, "max_tokens": 1, "temperature": 0, **ECHO}


ECHO = {"echo": True, "logprobs": 1}


def first_token_scores(completion: ChatReply, marks: Sequence[str]) -> list[float]:
    """Return the log-probability of each of *marks* as the first token of a reply.

    Tokens that are the same mark but for spaces are added up. Raises BadInput where none of the marks is told.
    """
    tokens = first_tokens(completion)
    if not tokens:
        raise BadInput("The server tells no log-probabilities of this reply.")
    scores = [_log_sum([value for token, value in tokens if token.strip() == mark]) for mark in marks]
    if all(score is None for score in scores):
        likeliest = ", ".join(repr(token) for token, _ in tokens[:5])
        raise BadInput("None of the options is among the likeliest first tokens: {tokens}.", tokens=likeliest)
    least = min(value for _, value in tokens)
    return [least if score is None else score for score in scores]


def first_tokens(completion: ChatReply) -> list[tuple[str, float]]:
    """Return the likeliest first tokens of a reply with their log-probabilities; none where the server tells none."""
    content = completion.logprobs.get("content") if isinstance(completion.logprobs, Mapping) else None
    first = content[0] if isinstance(content, list) and content else None
    listed = first.get("top_logprobs") if isinstance(first, Mapping) else None
    if not isinstance(listed, list):
        return []
    pairs = [(one.get("token"), one.get("logprob")) for one in listed if isinstance(one, Mapping)]
    return [(token, value) for token, value in pairs if isinstance(token, str) and _is_logprob(value)]


def echoed_score(completion: ChatReply, prompt: str, option: str) -> tuple[float, int]:
    """Return the sum of the log-probabilities of the tokens of *option* behind *prompt*, and how many they are."""
    echoed = completion.logprobs if isinstance(completion.logprobs, Mapping) else {}
    offsets, values, tokens = (echoed.get(name) for name in ("text_offset", "token_logprobs", "tokens"))
    if not (isinstance(offsets, list) and isinstance(values, list) and isinstance(tokens, list)):
        raise BadInput("The server does not echo the prompt with log-probabilities.")
    end = len(prompt) + len(option)
    scores = [
        value
        for offset, token, value in zip(offsets, tokens, values, strict=False)
        if isinstance(offset, int) and offset < end and offset + len(str(token)) > len(prompt) and _is_logprob(value)
    ]
    if not scores:
        raise BadInput("The server does not echo the prompt with log-probabilities.")
    return sum(scores), len(scores)


def shares(scores: Sequence[tuple[float, int]], *, by_length: bool) -> list[float]:
    """Return the probability of each option by its score, a sum over so many tokens, or (*by_length*) their mean.

    >>> shares([(-1.0, 1), (-1.0, 2)], by_length=False)
    [0.5, 0.5]
    """
    return softmax([score / max(tokens, 1) if by_length else score for score, tokens in scores])


def _log_sum(values: Sequence[float]) -> float | None:
    if not values:
        return None
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))


def _is_logprob(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value <= 1e-6
