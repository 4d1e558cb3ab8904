"""Any OpenAI-compatible chat endpoint: a prompt for each example, several at once, each answer read from a text.

Replies are kept on disk by what was asked, so that a run that broke off, or a perturbation that left an example as it
was, costs nothing twice.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.contract import ADAPTERS, Adapter, Connection, Options, Outside
from quintain.adapters.kept_replies import KeptReplies
from quintain.adapters.letter import PLACEHOLDER, RequestTemplate
from quintain.adapters.prices import PRICE_OPTIONS, Purse, check_prices, estimated_tokens, prices_of
from quintain.adapters.reading import ReplyReader, check_reading
from quintain.adapters.remote import REMOTE_OPTIONS, Caller, Refused, check_options, permit
from quintain.core.errors import BadInput, Fault
from quintain.core.example import Exchange, Failure, WordedAnswer
from quintain.core.task import Task
from quintain.core.texts import as_text
from quintain.core.untrusted import storable
from quintain.tasks.contract import kind_of

PATH = "/chat/completions"
LONGEST_KEPT = 20_000  # characters of a prompt, and of a reply, that are kept to be looked at
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
        **PRICE_OPTIONS,
    }

    def check(self, folder: Path, task: Task, options: Options) -> list[Fault]:
        """Look at the options and at the prompt's placeholders; nothing is called."""
        faults = check_options(options) + check_reading(options) + check_prices(options)
        faults += [_fault(name, "is missing") for name in ("model", "prompt") if not options.get(name)]
        known = {item.name for item in kind_of(task).fields(task)} | {"labels"}
        for name in PLACEHOLDER.findall(str(options.get("prompt", ""))):
            if name not in known:
                faults.append(
                    _fault("prompt", "names {{{name}}}; there are {known}", name=name, known=", ".join(sorted(known)))
                )
        for name, least, most in (("temperature", 0, 2), ("max_tokens", 1, 32_000), ("concurrency", 1, 32)):
            value = options.get(name, 1)
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
                faults.append(
                    _fault(
                        name,
                        "is {value}; it lies between {least} and {most}",
                        value=repr(value),
                        least=least,
                        most=most,
                    )
                )
        return faults

    def permit(self, options: Options, outside: Outside) -> None:
        """Refuse a server or a key that the operator does not allow."""
        permit(options, outside)

    @contextmanager
    def connect(self, folder: Path, task: Task, options: Options, outside: Outside) -> Iterator[Connection]:
        """Give a `predict` that asks for several examples at once."""
        together = int(options.get("concurrency", 4))
        with ExitStack() as stack:
            caller = stack.enter_context(Caller(options, outside))
            pool = stack.enter_context(ThreadPoolExecutor(together, thread_name_prefix="chat"))
            kept = stack.enter_context(closing(KeptReplies(outside.cache))) if outside.cache else None
            chat = Chat(caller, task, options, outside, kept)
            yield Connection(lambda batch: _shared_out(chat.answer, batch, pool, together), chat.facts, worded=True)


def _shared_out(
    answer: Callable[[Mapping[str, Any]], WordedAnswer],
    batch: Sequence[Mapping[str, Any]],
    pool: Executor,
    together: int,
) -> list[Any]:
    """Answer *batch* with so many threads, each of which takes the next example when it is done with one.

    The first that fails ends it: the others finish the call they are in, and none begins another.
    """
    found: list[Any] = [None] * len(batch)
    left = iter(range(len(batch)))  # a thread takes from it in one step
    failed = threading.Event()

    def work() -> None:
        for place in left:
            if failed.is_set():
                return
            try:
                found[place] = answer(batch[place])
            except BaseException:
                failed.set()
                raise

    begun = [pool.submit(work) for _ in range(min(together, len(batch)))]
    wait(begun)  # what is under way needs the connection and the kept replies, which close after this
    for done in begun:
        done.result()
    return found


@dataclass(slots=True)
class ChatTally:
    """What asking has taken so far."""

    examples: int = 0
    requests: int = 0
    cached: int = 0
    unread: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, exchange: Exchange, *, cached: bool) -> None:
        """Count one example."""
        with self.lock:
            self.examples += 1
            self.cached += cached
            self.requests += not cached
            self.input_tokens += exchange.input_tokens or 0
            self.output_tokens += exchange.output_tokens or 0


class Chat:
    """Asks for one example at a time; several threads may."""

    def __init__(
        self, caller: Caller, task: Task, options: Options, outside: Outside, kept: KeptReplies | None
    ) -> None:
        self.caller = caller
        self.task = task
        self.options = options
        self.kept = kept
        self.kind = kind_of(task)
        self.reader = reader_of(task, options)
        self.letter = RequestTemplate(task, options, self.reader)
        self.purse = Purse(prices_of(options, outside), outside.budget)
        self.tally = ChatTally()

    def answer(self, inputs: Mapping[str, Any]) -> WordedAnswer:
        """Ask about one example and read the answer; where it cannot be read, give the fallback or the failure."""
        exchange = self._ask(self.letter.prompt(inputs))
        try:
            raw = self.reader.read(exchange.reply)
            self.kind.parse_answer(self.task, inputs, raw)
        except BadInput as error:
            with self.tally.lock:
                self.tally.unread += 1
            raw = self.options["fallback"] if "fallback" in self.options else Failure(error.message, unread=True)
        return WordedAnswer(raw, self._worth_keeping(exchange))

    def facts(self) -> Mapping[str, Any]:
        """Give what asking has cost. Tokens of replies from the cache count: somebody paid for them once."""
        tally = self.tally
        cost = self.purse.prices.cost(tally.input_tokens, tally.output_tokens)
        return {
            "requests": tally.requests,
            "cached": tally.cached,
            "retries": self.caller.retried,
            "unread": tally.unread,
            "omitted": list(self.letter.omitted),
            "input_tokens": tally.input_tokens,
            "output_tokens": tally.output_tokens,
            "cost": cost,
            "cost_per_example": cost / tally.examples if tally.examples else 0.0,
            "spent": self.purse.spent,
        }

    def _ask(self, prompt: str) -> Exchange:
        written = json.dumps(prompt, ensure_ascii=False).encode("utf-8", "replace")
        key = ""
        if self.kept is not None:
            key = self.letter.key(self.caller.url, written)
            found = self.kept.get(key)
            if found is not None:
                exchange = Exchange(prompt, found[0], *_tokens(found[1]))
                self.tally.add(exchange, cached=True)
                return exchange
        aside = self.purse.set_aside(prompt + self.letter.system, self.letter.most_tokens)
        paid = 0.0
        try:
            content, usage = read_completion(self._post(written))
            exchange = Exchange(prompt, content, *_tokens(usage))
            paid = self.purse.prices.cost(*_charged(exchange, self.letter.system))
        finally:
            self.purse.give_back(aside, paid)
        self.tally.add(exchange, cached=False)
        if self.kept is not None:
            self.kept.put(key, content, usage)
        return exchange

    def _post(self, written: bytes) -> Any:
        """Send the prompt, leaving out what this endpoint has refused; newer ones take some parameters no more."""
        while True:
            tried = self.letter.omitted
            try:
                return self.caller.post(PATH, self.letter.body(written))
            except Refused as error:
                # Another call may have found out meanwhile what this one was refused for.
                if not self.letter.leave_out(error.names, tried):
                    raise

    def _worth_keeping(self, exchange: Exchange) -> Exchange:
        system = f"{self.letter.system}\n\n" if self.letter.system else ""
        return replace(
            exchange,
            prompt=storable(f"{system}{exchange.prompt}", LONGEST_KEPT),
            reply=storable(exchange.reply, LONGEST_KEPT),
        )


def reader_of(task: Task, options: Options) -> ReplyReader:
    """Give what reads the answers of a chat model."""
    return ReplyReader(
        str(options.get("read", "exact")),
        kind_of(task).answer_type,
        tuple(task.label_names),
        after=str(options.get("after", "")),
        pattern=str(options.get("pattern", "")),
    )


def read_completion(reply: Any) -> tuple[str, Mapping[str, Any]]:
    """Give the text and the usage of a completion, or say that it is none."""
    try:
        content = reply["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise BadInput("The endpoint's reply is not a chat completion: {reply}", reply=repr(str(reply)[:160])) from None
    if content is None:  # it refused, or had no tokens left to say anything
        content = ""
    if not isinstance(content, str):
        raise BadInput("The endpoint's reply has no text: {reply}", reply=repr(str(reply)[:160]))
    usage = reply.get("usage")
    return content, usage if isinstance(usage, dict) else {}


def _tokens(usage: Mapping[str, Any]) -> tuple[int | None, int | None]:
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _charged(exchange: Exchange, system: str) -> tuple[int, int]:
    """Give the tokens that a call is charged for: a server that does not say how many it took is not free of charge."""
    sent, received = exchange.input_tokens, exchange.output_tokens
    return (
        estimated_tokens(system + exchange.prompt) if sent is None else sent,
        estimated_tokens(exchange.reply) if received is None else received,
    )


def _count(value: Any) -> int | None:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return value if known else None


def _fault(name: str, reason: str, /, **values: object) -> Fault:
    return Fault(as_text(reason, values), file="quintain.toml", field=f"options.{name}")
