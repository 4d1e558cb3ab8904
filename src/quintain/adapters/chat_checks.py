"""What may be wrong with the options of a chat model, found before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintain.adapters.answer_reader import WEIGHED, check_reading
from quintain.adapters.chat_asking import REDUCTIONS
from quintain.adapters.chat_options import METHODS, likely_method
from quintain.adapters.chat_prompt import LETTERS, NUMBERS, OPTIONS, ROLES, choices_of, templates_of
from quintain.adapters.chat_servers import SERVERS, server_of, url_of
from quintain.adapters.contract import Options
from quintain.adapters.prompts import prompt_faults
from quintain.adapters.remote import check_options
from quintain.core.errors import Fault
from quintain.core.task import Task
from quintain.core.texts import as_text
from quintain.tasks.contract import kind_of

MOST_TOGETHER = 1000
MOST_SHOTS = 64
TEXTS = ("model", "prompt", "system", "after", "server", "reasoning_effort")
NUMBER_OPTIONS = (
    ("temperature", 0, 2, False),
    ("top_p", 0, 1, False),
    ("seed", 0, 2**31 - 1, True),
    ("max_tokens", 1, 32_000, True),
    ("concurrency", 1, MOST_TOGETHER, True),
    ("samples", 1, 100, True),
    ("requests_per_minute", 1, 10_000_000, False),
    ("batch_poll", 0, 3600, False),
    ("tokens_per_minute", 1, 10_000_000_000, False),
)
OURS = (
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "stream",
    "temperature",
    "top_p",
    "seed",
    "stop",
)
FEW_SHOT: Mapping[str, tuple[Any, ...]] = {"as": ("turns", "text"), "draw": ("same", "each")}
FEW_SHOT_KEYS = ("data", "examples", "seed", "balanced", "as", "draw")


def chat_faults(task: Task, options: Options) -> Iterator[Fault]:
    """Find what is wrong with *options*; nothing is called."""
    yield from check_options({**options, "url": url_of(options)} if url_of(options) else options)
    yield from check_reading(options)
    if not options.get("model"):
        yield _fault("model", "is missing")
    for name in TEXTS:
        if name in options and not isinstance(options[name], str):
            yield _fault(name, "is {value}, which is not a text", value=repr(options[name]))
    yield from _conversation_faults(task, options)
    yield from _weighing_faults(task, options)
    yield from _batch_faults(options)
    yield from number_faults(options)
    yield from _server_faults(options)
    yield from _stop_faults(task, options)
    yield from _sample_faults(options)
    yield from _few_shot_faults(options)
    yield from _fallback_faults(task, options)


def number_faults(options: Options) -> Iterator[Fault]:
    """Find numbers that are none, or lie outside of what they may be."""
    for name, least, most, whole in NUMBER_OPTIONS:
        value = options.get(name, least)
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not number or not least <= value <= most:
            reason = "is {value}; it lies between {least} and {most}"
            yield _fault(name, reason, value=repr(value), least=least, most=most)


def _conversation_faults(task: Task, options: Options) -> Iterator[Fault]:
    """Find a conversation that is missing, or said twice, or asks nothing, and turns that are none."""
    messages = options.get("messages")
    if messages is None:
        if not options.get("prompt"):
            yield _fault("prompt", "is missing")
    elif "prompt" in options:
        yield _fault("messages", "stands beside prompt; one of them says what is asked")
        return
    elif not isinstance(messages, list) or not messages or not all(map(_is_turn, messages)):
        roles = ", ".join(ROLES)
        yield _fault("messages", "is not a list of turns, each with a role ({roles}) and a content", roles=roles)
        return
    elif messages[-1]["role"] != "user":
        yield _fault("messages", "ends with what {role} says; the last turn asks", role=messages[-1]["role"])
    marks = options.get("options_as")
    if marks is not None and marks not in (LETTERS, NUMBERS):
        yield _fault("options_as", "is {value}; it is 'letters' or 'numbers'", value=repr(marks))
    fields = [item.name for item in kind_of(task).fields(task)]
    listed = [OPTIONS] if OPTIONS not in fields and kind_of(task).judged_by(task, {}) else []
    yield from prompt_faults([*fields, *listed], templates_of(options))


def _weighing_faults(task: Task, options: Options) -> Iterator[Fault]:
    """Find options that are to be weighed and are none, or that the model is not shown."""
    named = options.get("options_by")
    if named is not None and named not in METHODS:
        yield _fault("options_by", "is {value}; it is one of {known}", value=repr(named), known=", ".join(METHODS))
    if options.get("read") != WEIGHED:
        if named is not None:
            yield _fault("options_by", "goes with read = 'options'")
        return
    if not choices_of(task, kind_of(task).example.inputs):
        yield _fault("read", "is 'options', and the answers of this task are none that can be weighed")
    elif likely_method(options) != "echo" and f"{{{OPTIONS}}}" not in templates_of(options):
        yield _fault("prompt", "does not name {{options}}, whose letters are weighed")
    if options.get("samples", 1) != 1:
        yield _fault("samples", "goes with replies that are read, and options are weighed")


def _batch_faults(options: Options) -> Iterator[Fault]:
    if not isinstance(options.get("batch", False), bool):
        yield _fault("batch", "is {value}; it is true or false", value=repr(options["batch"]))
    if options.get("batch") and options.get("read") == WEIGHED:
        yield _fault("batch", "goes with replies that are read, and options are weighed")
    price = options.get("batch_price", 1)
    if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price <= 1:
        yield _fault("batch_price", "is {value}; it is a share between 0 and 1", value=repr(price))


def _is_turn(turn: Any) -> bool:
    return (
        isinstance(turn, Mapping)
        and set(turn) == {"role", "content"}
        and turn["role"] in ROLES
        and isinstance(turn["content"], str)
    )


def _server_faults(options: Options) -> Iterator[Fault]:
    """Find a server that nobody knows, what it does not take, and what `extra` says in place of an option."""
    named = options.get("server")
    if named is not None and named not in SERVERS:
        yield _fault("server", "is {value}; it is one of {known}", value=repr(named), known=", ".join(SERVERS))
        return
    server = server_of(options)
    for name in server.untaken:
        if name in options:
            yield _fault(name, "is not taken by {server}, which would leave it out of account", server=server.title)
    temperature = options.get("temperature", 0)
    if isinstance(temperature, int | float) and temperature > server.warmest:
        yield _fault("temperature", "is above {most}, the most of {server}", most=server.warmest, server=server.title)
    if options.get("read") == "json" and server.schema == "none":
        yield _fault("read", "is 'json', and {server} takes no schema; use a pattern", server=server.title)
    extra = options.get("extra", {})
    if not isinstance(extra, Mapping):
        yield _fault("extra", "is not a table")
        return
    for name in OURS:
        if name in extra:
            yield _fault("extra", "has {name}, which is an option, or ours to say", name=name)


def _stop_faults(task: Task, options: Options) -> Iterator[Fault]:
    """Find stop words that are none, are too many, or would end every answer."""
    stop = options.get("stop")
    if stop is None:
        return
    words = [stop] if isinstance(stop, str) else stop
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word for word in words):
        yield _fault("stop", "is not a text, or a list of texts")
        return
    server = server_of(options)
    if len(words) > server.most_stops:
        reason = "has {n} texts; {server} takes {most}"
        yield _fault("stop", reason, n=len(words), server=server.title, most=server.most_stops)
    answers = [*task.label_names] if options.get("read", "exact") in ("exact", "last_line") else []
    for word in words:
        if answers and all(word in answer for answer in answers):
            yield _fault("stop", "has {word}, which stands in every answer: none would come whole", word=repr(word))
        if options.get("after") and word in str(options["after"]):
            yield _fault("stop", "has {word}, which stands in what the answer follows", word=repr(word))


def _sample_faults(options: Options) -> Iterator[Fault]:
    """Find samples that would all be the same, and a way to reduce them that is none."""
    samples, reduce = options.get("samples", 1), options.get("reduce")
    if isinstance(samples, int) and samples > 1 and options.get("temperature", 0) == 0:
        yield _fault("samples", "is {n}, and at temperature 0 they would all be the same", n=samples)
    if reduce is not None and reduce not in REDUCTIONS:
        known = ", ".join(REDUCTIONS)
        yield _fault("reduce", "is {value}; it is one of {known}", value=repr(reduce), known=known)
    if reduce is not None and samples == 1:
        yield _fault("reduce", "goes with samples, of which there is one")


def _few_shot_faults(options: Options) -> Iterator[Fault]:
    few = options.get("few_shot")
    if few is None:
        return
    if not isinstance(few, Mapping):
        yield _fault("few_shot", "is not a table")
        return
    for key in few:
        if key not in FEW_SHOT_KEYS:
            yield _fault("few_shot", "has {key}; it takes {known}", key=key, known=", ".join(FEW_SHOT_KEYS))
    if not isinstance(few.get("data"), str) or not few.get("data"):
        yield _fault("few_shot", "does not say from which data: a data set such as task/train@1, or a file")
    number, seed = few.get("examples", 0), few.get("seed", 0)
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MOST_SHOTS:
        yield _fault("few_shot", "has {value} examples; there are 1 to {most}", value=repr(number), most=MOST_SHOTS)
    if not isinstance(seed, int) or isinstance(seed, bool) or not isinstance(few.get("balanced", False), bool):
        yield _fault("few_shot", "has a seed that is no whole number, or a balanced that is neither true nor false")
    for key, known in FEW_SHOT.items():
        if few.get(key, known[0]) not in known:
            yield _fault("few_shot", "has {key} = {value}; it is one of {known}", key=key, value=few[key], known=known)


def _fallback_faults(task: Task, options: Options) -> Iterator[Fault]:
    """Find a fallback that would never count as an answer; only labels are the same for all examples."""
    if "fallback" not in options or not task.label_names or options["fallback"] in task.label_names:
        return
    labels = ", ".join(task.label_names)
    yield _fault("fallback", "is {value}, not one of {labels}", value=repr(options["fallback"]), labels=labels)


def _fault(name: str, reason: str, /, **values: object) -> Fault:
    return Fault(as_text(reason, values), file="quintain.toml", field=f"options.{name}")
