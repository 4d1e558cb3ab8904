"""Options weighed by what a server tells of them, questions that go up in a batch, and examples that are shown."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quintain.adapters.chat import ChatAdapter
from quintain.adapters.chat_prompt import read_shots, write_shots
from quintain.adapters.contract import Connection, Outside
from quintain.adapters.ledger import OverBudget
from quintain.adapters.reply_store import ReplyStore
from quintain.core.errors import BadInput
from quintain.core.example import Example, Failure
from quintain.core.task import Task
from quintain.services.evaluate.submissions.few_shot_draw import draw, refuse_shown
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter
from tests.endpoint import Answer, Server, completion, ok, refusal

LETTERED = "{text}\n{options}"
TOP = [("B", -0.1), (" B", -3.0), ("A", -2.5), ("The", -4.0), ("x", -6.0)]


@pytest.fixture
def server() -> Iterator[Server]:
    """An endpoint."""
    endpoint = Server()
    yield endpoint
    endpoint.close()


@pytest.fixture(scope="module")
def task() -> Task:
    """A task of sentiment."""
    return check_task(starter("text-classification", "sentiment"))


def ask(
    endpoint: Server, task: Task, texts: list[str], *, outside: Outside | None = None, **options: Any
) -> tuple[list[Any], Connection]:
    """Ask about *texts* and give the answers, and the connection that they came by."""
    manifest = {"url": endpoint.url, "model": "m", "prompt": LETTERED, "timeout": 5, "retries": 1, **options}
    assert ChatAdapter().check(Path("."), task, manifest) == []
    with ChatAdapter().connect(Path("."), task, manifest, outside or Outside((endpoint.url,))) as connection:
        worded = connection.predict([{"text": text} for text in texts])
        return [answer.answer for answer in worded], connection


def tells(path: str, body: Any, headers: dict[str, str]) -> Answer:
    """Answer with the likeliest first tokens, as far as they are asked for."""
    top = [{"token": token, "logprob": value} for token, value in TOP[: body.get("top_logprobs", 0)]]
    return completion("B", logprobs={"content": [{"token": "B", "logprob": -0.1, "top_logprobs": top}]})


def test_letters_are_weighed_by_the_first_token(server: Server, task: Task) -> None:
    """One token is asked for; the same letter counts with and without a space, one that is missing as the least."""
    server.respond = tells
    answers, connection = ask(server, task, ["good"], read="options")
    weights = [math.exp(-2.5), math.exp(-0.1) + math.exp(-3.0), math.exp(-6.0)]
    assert answers == [pytest.approx(dict(zip(task.label_names, [w / sum(weights) for w in weights], strict=True)))]
    assert connection.facts()["method"] == "options: log-probability of the letter as first token"
    assert {call[1]["max_tokens"] for call in server.calls} == {1}


def echo(path: str, body: Any, headers: dict[str, str]) -> Answer:
    """Echo a prompt by its words, those of `positive` the likeliest; of chats, tell nothing."""
    if path != "/completions":
        return completion("positive")
    tokens, offsets, at = [], [], 0
    for word in body["prompt"].split(" "):
        token = word if at == 0 else f" {word}"
        tokens.append(token)
        offsets.append(at)
        at += len(token)
    values = [None, *(-1.0 if token == " positive" else -2.0 for token in tokens[1:])]
    logprobs = {"tokens": [*tokens, "!"], "text_offset": [*offsets, at], "token_logprobs": [*values, -9.0]}
    return ok({"choices": [{"text": body["prompt"] + "!", "logprobs": logprobs}]})


def test_options_are_weighed_behind_an_echoed_prompt(server: Server, task: Task, tmp_path: Path) -> None:
    """Each option is put behind the prompt, and what is written after it does not count; asked again, nothing is."""
    server.respond = echo
    outside = Outside((server.url,), cache=tmp_path)
    options = {"read": "options", "server": "vllm", "prompt": "{text} is"}
    answers, connection = ask(server, task, ["good"], outside=outside, **options)
    share = math.exp(-1) / (math.exp(-1) + 2 * math.exp(-2))
    assert answers[0]["positive"] == pytest.approx(share)
    assert [call[1]["prompt"] for call in server.calls] == [f"good is {label}" for label in task.label_names]
    assert connection.facts()["method"] == "options: sum of the echoed tokens' log-probabilities"
    again, later = ask(server, task, ["good"], outside=outside, **options)
    assert (again, later.facts()["requests"]) == (answers, 0)


def test_a_server_that_tells_nothing_is_asked_for_json(server: Server, task: Task, tmp_path: Path) -> None:
    """The first example finds that out for all, and later runs know it: one figure has one method."""

    def respond(path: str, body: Any, headers: dict[str, str]) -> Answer:
        if "top_logprobs" in body:
            return refusal(400, "top_logprobs is not supported")
        return completion('{"answer": "neutral"}' if "response_format" in body else "neutral")

    server.respond = respond
    outside = Outside((server.url,), cache=tmp_path)
    answers, connection = ask(server, task, ["good", "bad"], outside=outside, read="options")
    assert (answers, connection.facts()["method"]) == (["neutral"] * 2, "options: json")
    before = len(server.calls)
    ask(server, task, ["new"], outside=outside, read="options")
    assert ["response_format" in call[1] for call in server.calls[before:]] == [True]


def test_a_reply_without_its_letters_is_no_other_method(server: Server, task: Task) -> None:
    """Where one reply tells none of the options, that example has no answer."""

    def respond(path: str, body: Any, headers: dict[str, str]) -> Answer:
        return completion("?") if "odd" in body["messages"][0]["content"] else tells(path, body, headers)

    server.respond = respond
    answers, connection = ask(server, task, ["good", "odd"], read="options", concurrency=1)
    assert isinstance(answers[1], Failure)
    outcomes = connection.facts()["outcomes"]
    assert (outcomes["answered"], outcomes["unreadable"]) == (1, 1)


class Batches:
    """A server's batch interface: a file goes up, a batch begins, and is done after some looks."""

    def __init__(self) -> None:
        self.files: list[bytes] = []
        self.looks = 0
        self.lost: set[int] = set()

    def __call__(self, path: str, body: Any, headers: dict[str, str]) -> Answer:
        """Answer a request."""
        if path == "/files":
            self.files.append(body)
            return ok({"id": f"file-{len(self.files)}"})
        if path == "/batches":
            return ok({"id": "batch-1", "status": "validating"})
        if path == "/batches/batch-1":
            self.looks += 1
            return ok(
                {"id": "batch-1", "status": "completed" if self.looks > 2 else "in_progress", "output_file_id": "o"}
            )
        if path == "/files/o/content":
            return 200, {}, b"\n".join(self.replies())
        return completion("negative", (10, 1))

    def replies(self) -> Iterator[bytes]:
        """Give a line for each question that was not lost."""
        questions = [json.loads(line) for line in self.files[0].splitlines() if line.startswith(b'{"custom_id"')]
        for number, question in enumerate(questions):
            if number not in self.lost:
                body = {
                    "choices": [{"message": {"content": "positive"}}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 1},
                }
                line = {"custom_id": question["custom_id"], "response": {"status_code": 200, "body": body}}
                yield json.dumps(line).encode()


MANY = [f"text {number}" for number in range(30)]
BATCH = {"batch": True, "batch_poll": 0, "batch_price": 0.5, "prompt": "{text}"}


def test_a_batch_goes_up_once_and_is_paid_once(server: Server, task: Task, tmp_path: Path) -> None:
    """Its replies are entered at their share of the price; what it left out is asked by a call."""
    batches = Batches()
    batches.lost = {3}
    server.respond = batches
    outside = Outside((server.url,), cache=tmp_path, run="r")
    answers, connection = ask(server, task, MANY, outside=outside, input_price=1000.0, **BATCH)
    assert Counter(answers) == {"positive": 29, "negative": 1}
    facts = connection.facts()
    assert facts["spent"] == facts["cost"] == pytest.approx(29 * 0.05 + 0.01)
    assert (facts["answered"], facts["cached"], len(batches.files)) == (30, 0, 1)
    with_store = ReplyStore(tmp_path)
    assert Counter(entry.outcome for entry in with_store.calls("r")) == {"answered": 30, "failed": 1}
    with_store.close()
    again, later = ask(server, task, MANY, outside=outside, **BATCH)
    assert (Counter(again), later.facts()["requests"], len(batches.files)) == (Counter(answers), 0, 1)


def test_a_run_that_broke_off_waits_for_the_same_batch(server: Server, task: Task, tmp_path: Path) -> None:
    """The batch is known by its questions; nothing goes up twice."""
    batches = Batches()

    def breaks(path: str, body: Any, headers: dict[str, str]) -> Answer:
        return refusal(403, "no") if path == "/batches/batch-1" else batches(path, body, headers)

    server.respond = breaks
    outside = Outside((server.url,), cache=tmp_path)
    with pytest.raises(Exception, match="refused a batch"):
        ask(server, task, MANY, outside=outside, **BATCH)
    server.respond = batches
    answers, _ = ask(server, task, MANY, outside=outside, **BATCH)
    assert (set(answers), len(batches.files)) == ({"positive"}, 1)


def test_a_batch_beyond_the_budget_does_not_go_up(server: Server, task: Task, tmp_path: Path) -> None:
    """Its most is reserved before; a few examples are asked by calls."""
    batches = Batches()
    server.respond = batches
    outside = Outside((server.url,), cache=tmp_path, budget=0.01)
    with pytest.raises(OverBudget):
        ask(server, task, MANY, outside=outside, input_price=1000.0, **BATCH)
    assert batches.files == []
    assert ask(server, task, MANY[:5], outside=Outside((server.url,), cache=tmp_path), **BATCH)[0] == ["negative"] * 5


def table(texts: list[str], labels: list[str]) -> pl.DataFrame:
    """Put texts and labels into a table as data sets are kept."""
    ids = [Example({"text": text}).id for text in texts]
    return pl.DataFrame({"id": ids, "text": texts, "answer": labels})


def test_examples_are_drawn_from_nothing_that_is_evaluated(task: Task, tmp_path: Path) -> None:
    """The same seed draws the same; labels are balanced; what is evaluated, or nearly, is not drawn."""
    texts = [f"The number {number} is what this review of dish {number * 7} is all about" for number in range(40)]
    train = table(texts, ["positive"] * 30 + ["negative"] * 5 + ["neutral"] * 5)
    few = {"data": "train", "examples": 6, "seed": 1, "balanced": True}
    near = [f"{text}!" for text in texts[30:34]]
    shots = draw(task, train, few, near)
    assert shots == draw(task, train.sample(40, shuffle=True, seed=3), few, near)
    assert Counter(shot.answer for shot in shots)["negative"] <= 1
    assert not {shot.inputs["text"] for shot in shots} & set(texts[30:34])
    assert [shot.id for shot in shots] != [shot.id for shot in draw(task, train, {**few, "seed": 2}, near)]
    with pytest.raises(BadInput, match="examples that may be shown"):
        draw(task, train, {**few, "examples": 60}, near)
    write_shots(tmp_path, shots)
    assert list(read_shots(tmp_path)) == shots
    refuse_shown(task, tmp_path, {"few_shot": few}, table(["Something else altogether"], ["neutral"]))
    with pytest.raises(BadInput, match="nearly the same"):
        refuse_shown(task, tmp_path, {"few_shot": few}, table([f"{shots[2].inputs['text']} "], ["neutral"]))
