"""Asking a chat endpoint about examples: replies that are kept first, then calls; each reply read, or told apart.

What becomes of a reply: it is an answer; the model or a filter refuses; its tokens were used up before the answer; it
holds no answer; or nothing came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quintain.adapters.answer_reader import WEIGHED, ReplyReader, short
from quintain.adapters.chat_prompt import ChatPrompt, Message
from quintain.adapters.chat_reply import FILTERED, ChatReply, declines, kept_reply, tokens_of, usage_between
from quintain.adapters.chat_request import RequestTemplate, concerns_content, concerns_length, written
from quintain.adapters.chat_weighing import OptionWeigher, WeighingModel
from quintain.adapters.contract import Options
from quintain.adapters.endpoint_calls import CallFailed, EndpointCaller
from quintain.adapters.ledger import CallSize
from quintain.adapters.reply_store import ReplyStore
from quintain.core.errors import BadInput
from quintain.core.example import Exchange, Failure, Sampled, WordedAnswer
from quintain.core.hashing import canonical_json, content_id
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.core.untrusted import storable
from quintain.tasks.contract import kind_of

PATH = "/chat/completions"
LONGEST_KEPT = 20_000  # characters of a prompt, and of a reply, that are kept to be looked at
OUTCOMES = ("answered", "refused", "cut", "unreadable", "failed")
REDUCTIONS = ("majority", "mean", "pass@k", "first")
SERVED = 20  # names of models, and fingerprints, that are kept
MOST_TOKENS_REMEDY = "Raise max_tokens: the rule of reading is not why."


class Chat:
    """Asks one endpoint about examples, in the event loop of its *caller*. *fresh* asks again what was kept."""

    def __init__(
        self,
        caller: EndpointCaller,
        task: Task,
        options: Options,
        store: ReplyStore | None,
        folder: Path,
        *,
        fresh: bool = False,
    ) -> None:
        self.caller, self.task, self.options, self.store = caller, task, options, store
        self.fresh = fresh
        self.kind = kind_of(task)
        self.prompt = ChatPrompt(task, options, folder)
        self.reader = reader_of(task, options, self.prompt.marks)
        self.batch_price = float(options.get("batch_price", 1))
        self.samples = int(options.get("samples", 1))
        self.reduce = str(options.get("reduce", "majority"))
        self.endpoint = content_id([caller.url, str(options["model"])])
        self.template = RequestTemplate(options, self.reader, self._settled())
        self.weigher: OptionWeigher | None = None
        if options.get("read") == WEIGHED:
            self.weigher = OptionWeigher(
                self.template, WeighingModel(task, options, self.endpoint), store, self._ask, self._post
            )
        self.paid: set[str] = set()  # keys of replies that came in a batch of this run, which has entered them
        self.outcomes: Counter[str] = Counter()
        self.served: Counter[str] = Counter()
        self.fingerprints: Counter[str] = Counter()
        self._examples = self._reasoning = 0
        self._dates: list[str] = []

    async def answer(self, inputs: Mapping[str, Any]) -> WordedAnswer | Sampled:
        """Ask about one example, as often as there are samples, and read the answers.

        A call that fails because of the example is that example's failure, and nobody else's.
        """
        self._examples += 1
        messages = self.prompt.messages(inputs)
        body = written(messages)
        if self.samples == 1:
            return await self._sample(inputs, messages, body, 0)
        answers = [await self._sample(inputs, messages, body, number) for number in range(self.samples)]
        return Sampled(tuple(answers), self.reduce)

    def facts(self) -> Mapping[str, Any]:
        """Return what asking has taken, what became of it, and what has answered."""
        ledger = self.caller.ledger.facts()
        return {
            **ledger,
            "retries": self.caller.retried,
            "unread": self.outcomes["unreadable"] + self.outcomes["cut"],
            "refused": self.outcomes["refused"],
            "omitted": self.template.parameters.refused(self.template.usual.cap),
            "cost_per_example": ledger["cost"] / self._examples if self._examples else 0.0,
            "outcomes": {name: self.outcomes[name] for name in OUTCOMES},
            "samples": self.samples,
            "reduce": self.reduce if self.samples > 1 else "",
            "method": self.method,
            "reasoning_tokens": self._reasoning,
            "served": dict(self.served.most_common(SERVED)),
            "fingerprints": dict(self.fingerprints.most_common(SERVED)),
            "called": list(self._dates),
        }

    @property
    def method(self) -> str:
        """How answers come about."""
        return str(self.weigher) if self.weigher is not None else f"read: {self.reader.rule}"

    async def _sample(
        self, inputs: Mapping[str, Any], messages: list[Message], body: bytes, number: int
    ) -> WordedAnswer:
        shown = as_words(messages)
        try:
            if self.weigher is not None and await self.weigher.known_method(inputs, shown, body) != "json":
                return await self._weighed(self.weigher, inputs, shown, body, number)
            completion = await self._ask(self.template, shown, body, number)
        except CallFailed as error:
            kind = "refused" if concerns_content(error.words) else error.kind
            self._count(kind)
            return WordedAnswer(Failure(error.message, kind), _exchange(shown, ChatReply("")))
        answer = self._read(inputs, completion)
        self._count(answer.kind if isinstance(answer, Failure) else "answered")
        return WordedAnswer(answer, _exchange(shown, completion))

    async def _weighed(
        self, weigher: OptionWeigher, inputs: Mapping[str, Any], shown: str, body: bytes, number: int
    ) -> WordedAnswer:
        """Return what the model makes of each option."""
        try:
            shares, completion = await weigher.weigh(inputs, shown, body, number, self.prompt.marks)
        except CallFailed:
            raise
        except BadInput as error:
            self._count("unreadable")
            return WordedAnswer(Failure(error.message, "unreadable"), _exchange(shown, ChatReply("")))
        if completion.refused:
            self._count("refused")
            return WordedAnswer(_without_answer(completion), _exchange(shown, completion))
        self._count("answered")
        return WordedAnswer(shares, _exchange(shown, completion))

    async def _post(self, path: str, body: Mapping[str, Any], text: str) -> ChatReply:
        """Return the reply to *body*, which holds *text*, that is kept, or call for one and keep it."""
        written_body = canonical_json(body)
        key = content_id([self.caller.url, path, written_body.decode("utf-8", "replace")])
        size = len(text.encode("utf-8", "replace"))
        completion = self._find(key, size)
        if completion is None:
            reply: ChatReply | BadInput = await self.caller.call(path, written_body, CallSize(size, 1))
            completion = self._keep(key, reply)
        return completion

    def _read(self, inputs: Mapping[str, Any], completion: ChatReply) -> Any:
        """Return the answer in a reply, or the failure that stands for it."""
        in_words = self.kind.answers.read_as == "words"
        if completion.refused or (in_words and (completion.cut or declines(completion.text))):
            return _without_answer(completion)
        try:
            raw = self.reader.read(completion.text)
            self.kind.parse_answer(self.task, inputs, raw)
        except BadInput as error:
            if completion.cut or declines(completion.text):
                return _without_answer(completion)
            if "fallback" not in self.options:
                return Failure(error.message, "unreadable")
            self.outcomes["unreadable"] += 1
            self.outcomes["answered"] -= 1  # it is counted as what it is, and answers by the fallback
            return self.options["fallback"]
        return raw

    async def _ask(self, template: RequestTemplate, shown: str, body: bytes, number: int) -> ChatReply:
        """Return the reply that is kept for a conversation, or call for one and keep it."""
        size = len(shown.encode("utf-8", "replace"))
        key = template.key(self.caller.url, body, number) if self.store is not None else ""
        completion = self._find(key, size)
        if completion is None:
            reply = await self._call(template, body, shown, number, CallSize(size, template.most_tokens))
            completion = self._keep(key, reply)
        return completion

    def _find(self, key: str, size: int) -> ChatReply | None:
        """Return the reply that is kept under *key* to so many bytes, and enter it; None where there is none."""
        row = self.store.get(key) if self.store is not None and (not self.fresh or key in self.paid) else None
        if row is None:
            return None
        completion = kept_reply(*row)
        self._note_served(completion, str(row[1].get("at", "")))
        if key in self.paid:
            self.paid.discard(key)
        else:
            self.caller.ledger.enter_cached(usage_between(completion, size))
        return completion

    def _keep(self, key: str, reply: ChatReply | BadInput) -> ChatReply:
        """Keep a reply that has come, and return it; one that is no completion fails."""
        if isinstance(reply, BadInput):
            raise CallFailed(reply.message)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._note_served(reply, at)
        if self.store is not None:
            self.store.put(key, reply.text, {**reply.kept(), "at": at})
        return reply

    async def _call(
        self, template: RequestTemplate, body: bytes, shown: str, number: int, size: CallSize
    ) -> ChatReply | BadInput:
        """Send a conversation with the parameters that the endpoint takes; one that refuses some is asked without."""
        while True:
            request = template.request(body, number)
            try:
                reply: ChatReply | BadInput = await self.caller.call(PATH, request.body, size)
                return reply
            except CallFailed as error:
                words = error.words
                about_example = not words or concerns_length(words) or concerns_content(words)
                if about_example or not template.settle_refusal(request, words, shown):
                    raise
                if self.store is not None:
                    self.store.keep_parameters(self.endpoint, template.parameters)

    def _settled(self) -> Any:
        return self.store.parameters(self.endpoint) if self.store is not None else None

    def _note_served(self, completion: ChatReply, at: str) -> None:
        if completion.model:
            self.served[completion.model] += 1
        if completion.fingerprint:
            self.fingerprints[completion.fingerprint] += 1
        if at and not self._dates:
            self._dates = [at, at]
        elif at:
            self._dates = [min(at, self._dates[0]), max(at, self._dates[1])]
        details = completion.usage.get("completion_tokens_details")
        thought = details.get("reasoning_tokens") if isinstance(details, Mapping) else None
        self._reasoning += thought if isinstance(thought, int) and 0 <= thought < 10**9 else 0

    def _count(self, kind: str) -> None:
        self.outcomes[kind if kind in OUTCOMES else "failed"] += 1


def reader_of(task: Task, options: Options, marks: str = "") -> ReplyReader:
    """Return the reader of a chat model's answers, as its options describe it."""
    rule = str(options.get("read", "exact"))
    return ReplyReader(
        "json" if rule == WEIGHED else rule,
        kind_of(task).answer_type,
        tuple(task.label_names),
        after=str(options.get("after", "")),
        pattern=str(options.get("pattern", "")),
        marks=marks,
    )


def as_words(messages: list[Message]) -> str:
    """Write a conversation as one text: a prompt and its system message as they are, more turns with who speaks."""
    roles = [message["role"] for message in messages]
    if roles in (["user"], ["system", "user"]):
        return "\n\n".join(message["content"] for message in messages if message["content"])
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)


def _without_answer(completion: ChatReply) -> Failure:
    """Return the failure of a reply that refuses, or whose tokens were used up before its answer."""
    if completion.refused == FILTERED:
        return Failure("The endpoint's filter kept the reply back.", "refused")
    if completion.refused:
        return Failure(Text("The model refused: {reply}", reply=short(completion.text)), "refused")
    if declines(completion.text):
        return Failure(Text("The model declined: {reply}", reply=short(completion.text)), "refused")
    reason = Text(
        "The reply {reply} was cut off: its tokens were used up. {remedy}",
        reply=short(completion.text),
        remedy=Text(MOST_TOKENS_REMEDY),
    )
    return Failure(reason, "cut")


def _exchange(shown: str, completion: ChatReply) -> Exchange:
    """Return the words of one example as far as they are kept."""
    words = storable(shown, LONGEST_KEPT), storable(completion.text, LONGEST_KEPT)
    return Exchange(*words, *tokens_of(completion.usage), thoughts=storable(completion.thoughts, LONGEST_KEPT) or None)
