"""Any OpenAI-compatible chat endpoint: a prompt for each example, several at once, each answer read from a text.

Replies are kept on disk by what was asked, so that a run that broke off, or a perturbation that left an example as it
was, costs nothing twice.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.answer_reader import ReplyReader, check_reading
from quintain.adapters.chat_reply import ChatReply, read_completion, tokens_of, usage_between, usage_of_completion
from quintain.adapters.chat_request import (
    MOST_TOKENS,
    RequestTemplate,
    concerns_content,
    concerns_length,
)
from quintain.adapters.contract import (
    ADAPTERS,
    Adapter,
    AskingSize,
    Connection,
    ModelStart,
    Options,
    Outside,
    RemoteExample,
    TaskSketch,
)
from quintain.adapters.endpoint_calls import CallFailed, EndpointCaller
from quintain.adapters.ledger import CallSize
from quintain.adapters.prompts import PLACEHOLDER, prompt_faults
from quintain.adapters.remote import REMOTE_OPTIONS, SERVER_LEFT, check_options, permit
from quintain.adapters.reply_store import ReplyStore, open_ledger
from quintain.core.errors import BadInput, Fault
from quintain.core.example import Exchange, Failure, WordedAnswer
from quintain.core.hashing import content_id
from quintain.core.task import Task
from quintain.core.texts import as_text
from quintain.core.untrusted import storable
from quintain.tasks.contract import kind_of

PATH = "/chat/completions"
LONGEST_KEPT = 20_000  # characters of a prompt, and of a reply, that are kept to be looked at
TOGETHER = 4  # calls at once, where the manifest does not say
LIKELY_TOKENS = 4  # of a reply that is a label
TEXTS = ("model", "prompt", "system", "after")
NUMBERS = (("temperature", 0, 2, False), ("max_tokens", 1, 32_000, True), ("concurrency", 1, 32, True))


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
    }

    example: ClassVar[RemoteExample | None] = RemoteExample(
        {"model": "some-model", "prompt": "{text}"},
        lambda body, label: {"choices": [{"message": {"role": "assistant", "content": label}}]},
    )

    def check(self, folder: Path, task: Task, options: Options) -> list[Fault]:
        """Look at the options and at the prompt's placeholders; nothing is called."""
        faults = check_options(options) + check_reading(options)
        faults += [_fault(name, "is missing") for name in ("model", "prompt") if not options.get(name)]
        faults += [
            _fault(name, "is {value}, which is not a text", value=repr(options[name]))
            for name in TEXTS
            if name in options and not isinstance(options[name], str)
        ]
        fields = [item.name for item in kind_of(task).fields(task)]
        faults += prompt_faults(fields, str(options.get("prompt", "")))
        return faults + _number_faults(options) + _fallback_faults(task, options)

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return the options of an endpoint, with an address to replace and a prompt that names every field."""
        ask = "Answer with one of these and nothing else: {labels}." if sketch.labels else "Answer with nothing else."
        fields = "\n".join(f"{name}: {{{name}}}" for name in sketch.fields)
        options = {
            "url": "https://models.example.org/v1",
            "model": "some-model",
            "prompt": f"{ask}\n\n{fields}",
            "read": "exact",
        }
        return ModelStart(options=options, left=SERVER_LEFT)

    def asking_size(self, task: Task, options: Options) -> AskingSize:
        """Count the template's own bytes, how often each field stands in it, and the cap on the reply."""
        prompt, system = str(options.get("prompt", "")), str(options.get("system", ""))
        named = PLACEHOLDER.findall(prompt)
        labels = ", ".join(task.label_names) * named.count("labels")
        most = int(options.get("max_tokens", MOST_TOKENS))
        return AskingSize(
            around=len(f"{system}{prompt}{labels}".encode()),
            fields={name: named.count(name) for name in dict.fromkeys(named)},
            reply_tokens=most,
            likely=min(most, LIKELY_TOKENS),
        )

    def permit(self, options: Options, outside: Outside) -> None:
        """Refuse a server or a key that the operator does not allow."""
        permit(options, outside)

    @contextmanager
    def connect(self, folder: Path, task: Task, options: Options, outside: Outside) -> Iterator[Connection]:
        """Yield a `predict` that asks for several examples at once."""
        together = int(options.get("concurrency", TOGETHER))
        with ExitStack() as stack:
            ledger, store = stack.enter_context(open_ledger(options, outside))
            caller = stack.enter_context(
                EndpointCaller(options, outside, ledger, usage_of=usage_of_completion, results=("choices",))
            )
            pool = stack.enter_context(ThreadPoolExecutor(together, thread_name_prefix="chat"))
            chat = Chat(caller, task, options, store)
            predict = partial(_shared_out, chat.answer, pool=pool, together=together)
            yield Connection(predict, chat.facts, worded=True, ledger=ledger)


def _shared_out(
    answer: Callable[[Mapping[str, Any]], WordedAnswer],
    batch: Sequence[Mapping[str, Any]],
    *,
    pool: Executor,
    together: int,
) -> list[Any]:
    """Answer *batch* with so many threads, each of which takes the next example when it is done with one.

    The first error ends it: the others finish the call they are in, and none begins another.
    """
    answers: list[Any] = [None] * len(batch)
    left = iter(range(len(batch)))  # a thread takes from it in one step
    failed = threading.Event()

    def work() -> None:
        for row in left:
            if failed.is_set():
                return
            try:
                answers[row] = answer(batch[row])
            except BaseException:
                failed.set()
                raise

    begun = [pool.submit(work) for _ in range(min(together, len(batch)))]
    wait(begun)  # what is under way needs the connection and the kept replies, which close after this
    for done in begun:
        done.result()
    return answers


class Chat:
    """Asks for one example at a time; several threads may."""

    def __init__(self, caller: EndpointCaller, task: Task, options: Options, store: ReplyStore | None) -> None:
        self.caller = caller
        self.task = task
        self.options = options
        self.store = store
        self.kind = kind_of(task)
        self.reader = reader_of(task, options)
        self.endpoint = content_id([caller.url, str(options["model"])])
        parameters = store.parameters(self.endpoint) if store is not None else None
        self.template = RequestTemplate(task, options, self.reader, parameters)
        self._examples = self._unread = self._refused = 0
        self._lock = threading.Lock()

    def answer(self, inputs: Mapping[str, Any]) -> WordedAnswer:
        """Ask about one example and read the answer; where it cannot be read, give the fallback or the failure.

        A call that fails because of the example is that example's failure, and nobody else's.
        """
        prompt = self.template.prompt(inputs)
        with self._lock:
            self._examples += 1
        try:
            completion = self._ask(prompt)
        except CallFailed as error:
            refused = concerns_content(error.words)
            self._count(refused=refused)
            failure = Failure(error.message, "refused" if refused else error.kind)
            return WordedAnswer(failure, self._exchange(prompt, ChatReply("")))
        return WordedAnswer(self._read(inputs, completion), self._exchange(prompt, completion))

    def facts(self) -> Mapping[str, Any]:
        """Return what asking has taken: requests, tokens, cost, replies that could not be read."""
        ledger = self.caller.ledger.facts()
        return {
            **ledger,
            "retries": self.caller.retried,
            "unread": self._unread,
            "refused": self._refused,
            "omitted": self.template.parameters.refused,
            "cost_per_example": ledger["cost"] / self._examples if self._examples else 0.0,
        }

    def _read(self, inputs: Mapping[str, Any], completion: ChatReply) -> Any:
        if completion.refused:
            self._count(refused=True)
            return Failure("The endpoint's filter kept the reply back.", "refused")
        try:
            raw = self.reader.read(completion.text)
            self.kind.parse_answer(self.task, inputs, raw)
        except BadInput as error:
            self._count(unread=True)
            return self.options["fallback"] if "fallback" in self.options else Failure(error.message, "unreadable")
        return raw

    def _ask(self, prompt: str) -> ChatReply:
        """Return the reply that is kept for *prompt*, or call for one and keep it."""
        written = json.dumps(prompt, ensure_ascii=False).encode("utf-8", "replace")
        size = len((prompt + self.template.system).encode("utf-8", "replace"))
        key = self.template.key(self.caller.url, written) if self.store is not None else ""
        row = self.store.get(key) if self.store is not None else None
        if row is not None:
            completion = ChatReply(row[0], row[1], refused=bool(row[1].get("refused")))
            self.caller.ledger.enter_cached(usage_between(completion, size))
            return completion
        reply = self._call(written, prompt, CallSize(size, self.template.most_tokens))  # no token is less than a byte
        try:
            completion = read_completion(reply)
        except BadInput as error:
            raise CallFailed(error.message) from None
        if self.store is not None:
            refused = {"refused": True} if completion.refused else {}
            self.store.put(key, completion.text, {**completion.usage, **refused})
        return completion

    def _call(self, written: bytes, prompt: str, size: CallSize) -> Any:
        """Send the prompt with the parameters that the endpoint takes; one that refuses some is asked without them."""
        while True:
            request = self.template.request(written)
            try:
                return self.caller.call(PATH, request.body, size)
            except CallFailed as error:
                words = error.words
                about_example = not words or concerns_length(words) or concerns_content(words)
                if about_example or not self.template.settle_refusal(request, words, prompt):
                    raise
                if self.store is not None:
                    self.store.keep_parameters(self.endpoint, self.template.parameters)

    def _exchange(self, prompt: str, completion: ChatReply) -> Exchange:
        """Return the words of one example as far as they are kept."""
        system = f"{self.template.system}\n\n" if self.template.system else ""
        words = storable(f"{system}{prompt}", LONGEST_KEPT), storable(completion.text, LONGEST_KEPT)
        return Exchange(*words, *tokens_of(completion.usage))

    def _count(self, *, unread: bool = False, refused: bool = False) -> None:
        with self._lock:
            self._unread += unread
            self._refused += refused


def reader_of(task: Task, options: Options) -> ReplyReader:
    """Return the reader of a chat model's answers, as its options describe it."""
    return ReplyReader(
        str(options.get("read", "exact")),
        kind_of(task).answer_type,
        tuple(task.label_names),
        after=str(options.get("after", "")),
        pattern=str(options.get("pattern", "")),
    )


def _number_faults(options: Options) -> list[Fault]:
    faults = []
    for name, least, most, whole in NUMBERS:
        value = options.get(name, least)
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not number or not least <= value <= most:
            reason = "is {value}; it lies between {least} and {most}"
            faults.append(_fault(name, reason, value=repr(value), least=least, most=most))
    return faults


def _fallback_faults(task: Task, options: Options) -> list[Fault]:
    """Find a fallback that would never count as an answer; only labels are the same for all examples."""
    if "fallback" not in options or not task.label_names or options["fallback"] in task.label_names:
        return []
    labels = ", ".join(task.label_names)
    return [_fault("fallback", "is {value}, not one of {labels}", value=repr(options["fallback"]), labels=labels)]


def _fault(name: str, reason: str, /, **values: object) -> Fault:
    return Fault(as_text(reason, values), file="quintain.toml", field=f"options.{name}")
