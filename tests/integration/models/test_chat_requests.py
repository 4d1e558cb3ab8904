"""What is sent to chat endpoints, server by server, and how what comes back is told apart."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from quintain.adapters.chat import ChatAdapter
from quintain.adapters.chat_prompt import Shot, write_shots
from quintain.adapters.chat_reply import read_completion
from quintain.adapters.chat_servers import SERVERS
from quintain.adapters.contract import Connection, Outside
from quintain.adapters.reply_store import ReplyStore
from quintain.adapters.throttle import CallLimits, Throttle
from quintain.core.example import Failure, Sampled
from quintain.core.task import Task
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter
from tests.endpoint import Answer, Server, completion, ok

ASKED = [{"content": "good", "role": "user"}]
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["negative", "neutral", "positive"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
STRICT = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
SAMPLING = {"top_p": 0.9, "stop": ["\n"], "max_tokens": 5, "temperature": 1}

# The body that each server is sent, as its documentation has it.
RECORDED: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "openai": (
        {**SAMPLING, "seed": 7, "reasoning_effort": "low", "read": "json"},
        {
            "top_p": 0.9,
            "stop": ["\n"],
            "temperature": 1,
            "seed": 7,
            "reasoning_effort": "low",
            "max_completion_tokens": 5,
            "response_format": STRICT,
        },
    ),
    "anthropic": (SAMPLING, SAMPLING),
    "google": ({**SAMPLING, "reasoning_effort": "none"}, {**SAMPLING, "reasoning_effort": "none"}),
    "vllm": (
        {**SAMPLING, "seed": 7, "extra": {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}}},
        {**SAMPLING, "seed": 7, "top_k": 20, "chat_template_kwargs": {"enable_thinking": False}},
    ),
    "llama.cpp": ({**SAMPLING, "seed": 7, "read": "json"}, {**SAMPLING, "seed": 7, "response_format": STRICT}),
    "ollama": ({**SAMPLING, "seed": 7}, {**SAMPLING, "seed": 7}),
    "tgi": (
        {**SAMPLING, "seed": 7, "read": "json"},
        {**SAMPLING, "seed": 7, "response_format": {"type": "json_object", "value": SCHEMA}},
    ),
    "openrouter": (SAMPLING, {**SAMPLING, "usage": {"include": True}}),
}


@pytest.fixture
def server() -> Iterator[Server]:
    """An endpoint that always says the same."""
    endpoint = Server()
    endpoint.respond = lambda *_: completion("positive")
    yield endpoint
    endpoint.close()


@pytest.fixture(scope="module")
def task() -> Task:
    """A task of sentiment."""
    return check_task(starter("text-classification", "sentiment"))


def ask(
    endpoint: Server, task: Task, texts: list[str], *, folder: Path = Path("."), outside: Any = None, **options: Any
) -> tuple[list[Any], Connection]:
    """Ask about *texts* and give what came, and the connection that it came by."""
    said = {"url": endpoint.url, "model": "m", "timeout": 2, "retries": 2, **options}
    if "messages" not in said:
        said.setdefault("prompt", "{text}")
    assert ChatAdapter().check(folder, task, said) == []
    with ChatAdapter().connect(folder, task, said, outside or Outside((endpoint.url,))) as connection:
        return connection.predict([{"text": text} for text in texts]), connection


@pytest.mark.parametrize("name", SERVERS)
def test_each_server_is_asked_as_its_documentation_has_it(name: str, server: Server, task: Task) -> None:
    """The published formats, as recorded requests: what a server names otherwise is so named the first time."""
    server.respond = lambda *_: completion('{"answer": "positive"}' if "read" in RECORDED[name][0] else "positive")
    options, body = RECORDED[name]
    answers, _ = ask(server, task, ["good"], server=name, **options)
    assert [answer.answer for answer in answers] == ["positive"]
    assert [call[1] for call in server.calls] == [{"model": "m", "messages": ASKED, **body}]


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        ({"server": "anthropic", "seed": 1}, "seed", "is not taken by Anthropic"),
        ({"server": "anthropic", "temperature": 1.5}, "temperature", "above 1"),
        ({"server": "anthropic", "read": "json"}, "read", "takes no schema"),
        ({"server": "tgi", "stop": ["v", "w", "x", "y", "z"]}, "stop", "takes 4"),
        ({"server": "nobody"}, "server", "one of openai"),
        ({"extra": {"messages": []}}, "extra", "has messages"),
        ({"stop": "e"}, "stop", "stands in every answer"),
        ({"samples": 3}, "samples", "would all be the same"),
        ({"samples": 3, "temperature": 1, "reduce": "best"}, "reduce", "one of majority"),
        ({"messages": [{"role": "user", "content": "{text}"}]}, "messages", "beside prompt"),
        ({"few_shot": {"examples": 2}}, "few_shot", "from which data"),
        ({"few_shot": {"data": "a/b", "examples": 900}}, "few_shot", "1 to 64"),
        ({"prompt": "Which is it?"}, "prompt", "would ask the same of every example"),
    ],
)
def test_what_cannot_work_is_refused_before_any_call(
    options: dict[str, Any], field: str, words: str, task: Task
) -> None:
    """Each fault names its option and says why."""
    faults = ChatAdapter().check(Path("."), task, {"url": "http://h", "model": "m", "prompt": "{text}", **options})
    assert [(fault.field, words in str(fault.reason)) for fault in faults] == [(f"options.{field}", True)]


def test_a_conversation_in_turns_with_marked_options(server: Server, task: Task) -> None:
    """Turns are filled in, options get letters, and an answer may be the letter."""
    server.respond = lambda *_: completion("C")
    turns = [
        {"role": "user", "content": "What may it be?"},
        {"role": "assistant", "content": "{options}"},
        {"role": "user", "content": "And this: {text}"},
    ]
    answers, _ = ask(server, task, ["good"], messages=turns, system="Be {brief}.")
    sent = [turn["content"] for turn in server.calls[0][1]["messages"]]
    assert sent == ["Be {brief}.", "What may it be?", "A. negative\nB. neutral\nC. positive", "And this: good"]
    assert answers[0].answer == "positive"
    numbered, _ = ask(server, task, ["good"], prompt="{text}\n{options}", options_as="numbers")
    assert server.calls[1][1]["messages"][0]["content"] == "good\n1. negative\n2. neutral\n3. positive"
    assert numbered[0].answer == "positive"


def test_examples_are_shown_as_turns_or_as_text(server: Server, task: Task, tmp_path: Path) -> None:
    """They come before the question, answered the way the model's replies are read."""
    write_shots(tmp_path, [Shot("1", {"text": "awful"}, "negative"), Shot("2", {"text": "fine"}, "positive")])
    few = {"data": "x/train", "examples": 2}
    ask(server, task, ["good"], folder=tmp_path, few_shot=few, after="Answer:", fallback="neutral")
    turns = [(turn["role"], turn["content"]) for turn in server.calls[0][1]["messages"]]
    shown = [("user", "awful"), ("assistant", "Answer: negative"), ("user", "fine"), ("assistant", "Answer: positive")]
    assert turns == [*shown, ("user", "good")]
    ask(server, task, ["good"], folder=tmp_path, few_shot={**few, "as": "text"})
    assert server.calls[1][1]["messages"] == [{"role": "user", "content": "awful\nnegative\n\nfine\npositive\n\ngood"}]
    ask(server, task, ["good", "bad"], folder=tmp_path, few_shot={**few, "examples": 1, "draw": "each"})
    assert {len(call[1]["messages"]) for call in server.calls[2:]} == {3}


OUTCOMES: Mapping[str, Answer] = {
    "answered": completion("positive", finish_reason="stop"),
    "refusal field": ok({"choices": [{"message": {"content": None, "refusal": "I will not."}}]}),
    "filter": completion("", finish_reason="content_filter"),
    "in words": completion("I'm sorry, but I can't help with that."),
    "cut": completion("Let me think about", finish_reason="length"),
    "rambling": completion("It depends."),
    "thought": completion("<think>Is it negative? No.</think>positive"),
    "lone end": completion("Is it negative? No.</think>\npositive"),
    "channels": completion("<|channel|>analysis<|message|>negative?<|end|><|channel|>final<|message|>positive"),
    "apart": ok({"choices": [{"message": {"content": "positive", "reasoning_content": "negative?"}}]}),
}


def test_outcomes_are_told_apart(server: Server, task: Task, tmp_path: Path) -> None:
    """Refused, cut off, unreadable and answered are counted each by itself, and again the same from the cache."""
    server.respond = lambda path, body, headers: OUTCOMES[body["messages"][0]["content"]]
    counts = {"answered": 5, "refused": 3, "cut": 1, "unreadable": 1, "failed": 0}
    for _ in range(2):
        answers, connection = ask(server, task, list(OUTCOMES), outside=Outside((server.url,), cache=tmp_path))
        told = dict(zip(OUTCOMES, answers, strict=True))
        assert connection.facts()["outcomes"] == counts
        assert "Raise max_tokens" in str(told["cut"].answer.reason)
        assert told["apart"].exchange.thoughts == "negative?"
        assert (told["thought"].exchange.reply, told["thought"].answer) == ("positive", "positive")
    assert len(server.calls) == len(OUTCOMES)


def test_thoughts_of_a_reply_without_end_are_no_answer() -> None:
    """What was cut off while it thought has no answer, though its thoughts name one."""
    reply = read_completion({"choices": [{"message": {"content": "<think>positive"}, "finish_reason": "length"}]})
    assert (reply.text, reply.thoughts, reply.cut) == ("", "positive", True)


def test_what_has_answered_is_on_record(server: Server, task: Task, tmp_path: Path) -> None:
    """The server's own name of the model, its fingerprint and the dates of the calls, also from the cache."""
    reply = {"model": "m-2026-05", "system_fingerprint": "fp_1", "choices": [{"message": {"content": "positive"}}]}
    server.respond = lambda *_: ok(reply)
    outside = Outside((server.url,), cache=tmp_path)
    facts = [ask(server, task, ["a", "b"], outside=outside)[1].facts() for _ in range(2)]
    assert [(one["served"], one["fingerprints"]) for one in facts] == [({"m-2026-05": 2}, {"fp_1": 2})] * 2
    assert facts[0]["called"] == facts[1]["called"]
    assert len(facts[0]["called"]) == 2


def test_each_sample_is_a_question_of_its_own(server: Server, task: Task, tmp_path: Path) -> None:
    """Samples are kept apart, asked with seeds of their own, and come from the cache as they were; fresh asks again."""
    said = iter(["positive", "negative", "positive"] * 2)
    server.respond = lambda *_: completion(next(said))
    options = {"samples": 3, "temperature": 1, "seed": 5, "concurrency": 1}
    outside = Outside((server.url,), cache=tmp_path)
    answers, connection = ask(server, task, ["good"], outside=outside, **options)
    assert isinstance(answers[0], Sampled)
    assert [sample.answer for sample in answers[0].answers] == ["positive", "negative", "positive"]
    assert [call[1]["seed"] for call in server.calls] == [5, 6, 7]
    assert connection.facts()["outcomes"]["answered"] == 3
    again, later = ask(server, task, ["good"], outside=outside, **options)
    assert (again[0], later.facts()["requests"], later.facts()["cached"]) == (answers[0], 0, 3)
    _, fresh = ask(server, task, ["good"], outside=Outside((server.url,), cache=tmp_path, fresh=True), **options)
    assert (fresh.facts()["requests"], len(server.calls)) == (3, 6)


def test_hundreds_of_calls_at_once_are_entered_one_by_one(server: Server, task: Task, tmp_path: Path) -> None:
    """With faults in between, the ledger is what the server saw, call for call."""
    seen: Counter[str] = Counter()
    lock = threading.Lock()

    def respond(path: str, body: Any, headers: dict[str, str]) -> Answer:
        text = body["messages"][0]["content"]
        with lock:
            seen[text] += 1
            first = seen[text] == 1
        number = int(text)
        if first and number % 7 == 0:
            return 429, {"retry-after-ms": "5"}, b"slow down"
        if first and number % 11 == 0:
            return 0, {}, b""
        return completion("positive", model="m")

    server.respond = respond
    outside = Outside((server.url,), cache=tmp_path, run="r")
    answers, connection = ask(server, task, [str(n) for n in range(200)], outside=outside, concurrency=100, timeout=30)
    assert not [answer for answer in answers if isinstance(answer.answer, Failure)]
    store = ReplyStore(tmp_path)
    assert Counter(entry.status or 0 for entry in store.calls("r")) == Counter(server.statuses)
    assert connection.facts()["requests"] == len(server.calls)
    store.close()


def test_an_interrupt_keeps_what_is_under_way(server: Server, task: Task, tmp_path: Path) -> None:
    """Whoever waits breaks off: nothing new is begun, and the replies of what was under way are kept."""

    def slow(path: str, body: Any, headers: dict[str, str]) -> Answer:
        time.sleep(0.05)
        return completion("positive")

    server.respond = slow
    options = {"url": server.url, "model": "m", "prompt": "{text}", "concurrency": 8}
    texts = [{"text": str(number)} for number in range(200)]

    def interrupt(row: int, answer: Any) -> None:
        raise KeyboardInterrupt

    with ChatAdapter().connect(Path("."), task, options, Outside((server.url,), cache=tmp_path)) as connection:
        assert connection.stream is not None
        with pytest.raises(KeyboardInterrupt):
            connection.stream(texts, interrupt)
    begun = len(server.calls)
    assert begun < 100
    _, later = ask(server, task, [text["text"] for text in texts], outside=Outside((server.url,), cache=tmp_path))
    assert later.facts()["cached"] == begun


def test_a_server_that_has_enough_is_asked_less() -> None:
    """A refusal halves the calls at once and closes the gate until the time that was named; minutes have their most."""
    moment = [0.0]
    throttle = Throttle(CallLimits(100, requests_per_minute=60, tokens_per_minute=6000), lambda: moment[0])
    assert throttle.limit == 64
    throttle.note_busy(3.0)
    throttle.note_busy(3.0)
    assert (throttle.limit, throttle._wait(10)) == (32, 3.0)
    moment[0] = 4.0
    assert throttle._wait(200) == 0
    assert throttle._wait(10) == pytest.approx(2.0)  # two hundred tokens take two seconds of a minute's 6000
    throttle.settle(200, 50)
    assert throttle._wait(10) == pytest.approx(1.0)  # now it is the number of requests
