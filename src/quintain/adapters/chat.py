"""Any OpenAI-compatible chat endpoint: a prompt for each example, several at once, each answer read from a text.

Replies are kept on disk by what was asked, so that a run that broke off, or a perturbation that left an example as it
was, costs nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.chat_asking import Chat
from quintain.adapters.chat_batch import fetch_batch
from quintain.adapters.chat_checks import chat_faults
from quintain.adapters.chat_prompt import templates_of
from quintain.adapters.chat_public import public_request
from quintain.adapters.chat_reply import read_reply
from quintain.adapters.chat_request import MOST_TOKENS
from quintain.adapters.chat_servers import SERVERS, url_of
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
from quintain.adapters.endpoint_calls import EndpointCaller
from quintain.adapters.prompts import PLACEHOLDER
from quintain.adapters.remote import REMOTE_OPTIONS, SERVER_LEFT, permit
from quintain.adapters.reply_store import open_ledger
from quintain.adapters.share_out import share_out
from quintain.adapters.throttle import CallLimits
from quintain.core.errors import Fault
from quintain.core.task import Task

TOGETHER = 4  # calls at once, where the manifest does not say
LIKELY_TOKENS = 4  # of a reply that is a label
LONGEST_SHOT = 4_000  # bytes of an example that is shown to a model, and of its answer


@ADAPTERS.register("chat")
class ChatAdapter(Adapter):
    """An OpenAI-compatible chat endpoint with a prompt template, and rules to read its answers."""

    name = "chat"
    title = "Chat endpoint"
    place = "remote"
    options: ClassVar[Mapping[str, str]] = {
        **REMOTE_OPTIONS,
        "server": f"What kind of server it is, where it is one of {', '.join(SERVERS)}.",
        "url": "Address up to the version, such as https://models.example.org/v1; some servers bring theirs.",
        "model": "Name of the model on the server.",
        "prompt": "What is asked, with {field} for each field; {labels} lists the labels, {options} marks the options.",
        "messages": "In place of prompt, a list of turns with `role` and `content`, filled in the same way.",
        "system": "The system message, if there is one; it goes as it stands.",
        "options_as": "How {options} are marked: letters or numbers (from 1); an answer may then be the mark.",
        "few_shot": "Examples shown before: data, examples, seed, balanced, as (turns or text), draw (same or each).",
        "read": "How an answer is read: exact (the default), last_line, pattern or json; options weighs each option.",
        "options_by": "How options are weighed: echo, first token or json; by default the best that the server allows.",
        "pattern": "The regular expression of read = 'pattern'; its group, if it has one, is the answer.",
        "after": "Only what follows the last of these words is read as the answer, such as 'Answer:'.",
        "fallback": "The answer where a reply cannot be read; without it such an example counts as failed.",
        "temperature": "Temperature; 0 by default.",
        "top_p": "Nucleus sampling; the server's own by default.",
        "seed": "Seed of the sampling, where the server takes one; each sample after the first adds 1.",
        "stop": "A text, or several, that end a reply.",
        "reasoning_effort": "How long a model that reasons may do so, in the server's words.",
        "extra": "A table of anything else that goes into the body of each request.",
        "max_tokens": "The most tokens of a reply; 64 by default.",
        "samples": "How often each example is asked, at a temperature above 0; 1 by default.",
        "reduce": "What is made of several samples: majority (the default), mean, pass@k or first.",
        "batch": "true asks by the provider's batch interface, within a day; a few examples are asked by calls.",
        "batch_price": "The share of its price that a call in a batch costs; 1 by default.",
        "batch_poll": "Seconds between two looks at a batch; 30 by default.",
        "show_url": "true shows the address on the model's page; by default it is not shown.",
        "concurrency": "The most calls at once; 4 by default, 1000 at most. A server that has enough gets fewer.",
        "requests_per_minute": "The most requests in a minute.",
        "tokens_per_minute": "The most tokens in a minute, sent and received.",
    }

    example: ClassVar[RemoteExample | None] = RemoteExample(
        {"model": "some-model", "prompt": "{text}"},
        lambda body, label: {"choices": [{"message": {"role": "assistant", "content": label}}]},
    )

    def check(self, folder: Path, task: Task, options: Options) -> list[Fault]:
        """Look at the options and at the prompt's placeholders; nothing is called."""
        return list(chat_faults(task, options))

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
        template, system = templates_of(options), str(options.get("system", ""))
        named = PLACEHOLDER.findall(template)
        labels = ", ".join(task.label_names) * (named.count("labels") + 2 * named.count("options"))
        few = options.get("few_shot", {})
        shots = int(few.get("examples", 0)) * (len(template.encode()) + LONGEST_SHOT) if isinstance(few, Mapping) else 0
        most, samples = int(options.get("max_tokens", MOST_TOKENS)), int(options.get("samples", 1))
        return AskingSize(
            around=samples * (len(f"{system}{template}{labels}".encode()) + shots),
            fields={name: samples * named.count(name) for name in dict.fromkeys(named)},
            reply_tokens=samples * most,
            likely=samples * min(most, LIKELY_TOKENS),
            calls=samples,
        )

    def request(self, folder: Path, task: Task, options: Options) -> Mapping[str, Any]:
        """Return the conversation, the parameters and the examples shown; the address only if its builder says so."""
        return public_request(folder, options)

    def permit(self, options: Options, outside: Outside) -> None:
        """Refuse a server or a key that the operator does not allow."""
        permit({**options, "url": url_of(options)}, outside)

    @contextmanager
    def connect(self, folder: Path, task: Task, options: Options, outside: Outside) -> Iterator[Connection]:
        """Yield a `predict` that asks for several examples at once."""
        options = {**options, "url": url_of(options)}
        with ExitStack() as stack:
            ledger, store = stack.enter_context(open_ledger(options, outside))
            caller = stack.enter_context(
                EndpointCaller(
                    options,
                    outside,
                    ledger,
                    read=read_reply,
                    results=("choices",),
                    limits=limits_of(options),
                )
            )
            chat = Chat(caller, task, options, store, folder, fresh=outside.fresh)
            stream = partial(_stream, caller, chat)
            yield Connection(partial(_collected, stream), chat.facts, worded=True, ledger=ledger, stream=stream)


def limits_of(options: Options) -> CallLimits:
    """Return what the calls of a model are held to."""
    return CallLimits(
        int(options.get("concurrency", TOGETHER)), options.get("requests_per_minute"), options.get("tokens_per_minute")
    )


def _stream(
    caller: EndpointCaller, chat: Chat, batch: Sequence[Mapping[str, Any]], on_answer: Callable[[int, Any], None]
) -> None:
    """Ask about each example of *batch*: in a batch of the provider's first, where the manifest says so."""
    if chat.options.get("batch"):
        caller.wait(fetch_batch(caller, chat, batch))
    share_out(caller, chat.answer, batch, on_answer)


def _collected(stream: Callable[..., None], batch: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return all answers to *batch* in its order."""
    answers: list[Any] = [None] * len(batch)
    stream(batch, answers.__setitem__)
    return answers
