"""Asking a chat endpoint what it makes of each option, by the method that it was found to allow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quintain.adapters.chat_options import (
    ECHO_PATH,
    OptionMethod,
    echo_request,
    echoed_score,
    first_token_request,
    first_token_scores,
    first_tokens,
    likely_method,
    shares,
)
from quintain.adapters.chat_prompt import choices_of, mark
from quintain.adapters.chat_reply import ChatReply
from quintain.adapters.chat_request import RequestTemplate
from quintain.adapters.contract import Options
from quintain.adapters.endpoint_calls import CallFailed
from quintain.adapters.reply_store import ReplyStore
from quintain.core.errors import BadInput, Forbidden
from quintain.core.task import Task

# Asks with a template about a conversation, as text and written, for the sample of that number.
AskWith = Callable[[RequestTemplate, str, bytes, int], Awaitable[ChatReply]]
# Posts a body to a path, about so many bytes of text.
Post = Callable[[str, Mapping[str, Any], str], Awaitable[ChatReply]]


@dataclass(frozen=True, slots=True)
class WeighingModel:
    """The model whose options are weighed, for a task, at an *endpoint*."""

    task: Task
    options: Options
    endpoint: str


class OptionWeigher:
    """Weighs the options of examples. *template* asks in words, *ask* and *post* keep and find replies."""

    def __init__(
        self, template: RequestTemplate, model: WeighingModel, store: ReplyStore | None, ask: AskWith, post: Post
    ) -> None:
        self.task, self.options, self.endpoint, self.store = model.task, model.options, model.endpoint, store
        task, options, endpoint = model.task, model.options, model.endpoint
        self._ask, self._post = ask, post
        self._one = RequestTemplate(
            {**options, "max_tokens": 1, "read": "exact"},
            template.plain_reader,
            template.parameters,
            more=first_token_request(options),
        )
        self.by_length = not task.label_names
        self.method: OptionMethod | None = store.option_method(endpoint) if store is not None else None
        self._finding = asyncio.Lock()

    def __str__(self) -> str:
        """Return the method in words, as it stands beside a figure."""
        if self.method == "echo":
            return f"options: {'mean' if self.by_length else 'sum'} of the echoed tokens' log-probabilities"
        if self.method == "first token":
            return "options: log-probability of the letter as first token"
        return "options: json"

    async def known_method(self, inputs: Mapping[str, Any], shown: str, body: bytes) -> OptionMethod:
        """Return the method; the first example finds it out, and the others wait for that."""
        if self.method is None:
            async with self._finding:
                if self.method is None:
                    self.method = await self._find(inputs, shown, body)
                    if self.store is not None:
                        self.store.keep_option_method(self.endpoint, self.method)
        return self.method

    async def weigh(
        self, inputs: Mapping[str, Any], shown: str, body: bytes, number: int, marks: str
    ) -> tuple[Any, ChatReply]:
        """Return the probabilities of an example's options, and the reply that they were read from."""
        choices = choices_of(self.task, inputs)
        if self.method == "echo":
            scores, completion = await self._echoed(shown, [words for _, words in choices])
            weighed = shares(scores, by_length=self.by_length)
        else:
            completion = await self._ask(self._one, shown, body, number)
            if completion.refused:
                return None, completion
            likely = first_token_scores(completion, [mark(marks, place) for place in range(len(choices))])
            weighed = shares([(score, 1) for score in likely], by_length=False)
        if self.task.label_names:
            return {name: share for (name, _), share in zip(choices, weighed, strict=True)}, completion
        return weighed, completion

    async def _find(self, inputs: Mapping[str, Any], shown: str, body: bytes) -> OptionMethod:
        method = likely_method(self.options)
        if method == "echo" and not await self._echoes(inputs, shown):
            method = "first token"
        if method == "first token" and not await self._tells_first_tokens(shown, body):
            method = "json"
        named = self.options.get("options_by")
        if named is not None and named != method:
            raise Forbidden(
                "The server does not allow options to be weighed by '{method}'.",
                method=named,
                remedy="Leave options_by out, and the best method that it allows is taken.",
            )
        return method

    async def _echoes(self, inputs: Mapping[str, Any], shown: str) -> bool:
        try:
            await self._echoed(shown, [words for _, words in choices_of(self.task, inputs)][:1])
        except (BadInput, Forbidden):
            return False
        return True

    async def _tells_first_tokens(self, shown: str, body: bytes) -> bool:
        try:
            completion = await self._ask(self._one, shown, body, 0)
        except CallFailed as error:
            if error.status is None:
                raise
            return False
        return bool(completion.refused or first_tokens(completion))

    async def _echoed(self, shown: str, options: list[str]) -> tuple[list[tuple[float, int]], ChatReply]:
        """Return the score of each option behind the prompt, and the reply to the last."""
        scores: list[tuple[float, int]] = []
        completion = ChatReply("")
        for words in options:
            option = words if shown[-1:].isspace() else f" {words}"
            completion = await self._post(ECHO_PATH, echo_request(self.options, shown + option), shown + option)
            scores.append(echoed_score(completion, shown, option))
        return scores, completion
