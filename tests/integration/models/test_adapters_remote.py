"""Models on other servers: asked for real over HTTP, on loopback, with the faults that servers have."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quintain.adapters.contract import ADAPTERS, EndpointSecret, Outside
from quintain.core.errors import Forbidden
from quintain.core.example import Failure
from quintain.core.task import Task
from quintain.engine.runner import RunnableModel, open_runner
from quintain.engine.sandbox.limits import Limits, Outcome, RunEnded
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter
from tests.endpoint import Answer, Server, ok


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on loopback."""
    made = Server()
    yield made
    made.close()


@pytest.fixture
def task() -> Task:
    """A task of sentiment."""
    return check_task(starter("text-classification", "sentiment"))


INPUTS = [{"text": "good"}, {"text": "bad"}, {"text": "so-so"}]


def ask(
    server: Server, adapter: str, task: Task, *, cache: Path | None = None, inputs: Any = INPUTS, **options: Any
) -> tuple[list[Any], Any]:
    """Ask through the adapter, as a cell's run does, and give answers and facts."""
    given = {"url": server.url, "model": "m", "timeout": 1, "retries": 1, **options}
    if adapter == "chat":
        given.setdefault("prompt", "Which of {labels}? {text}")
    outside = Outside((server.url,), {"key": EndpointSecret(server.url, "s3cret")}, cache)
    model = RunnableModel(Path("."), adapter, given)
    with open_runner(model, task, limits=Limits(), outside=outside) as runner:
        return runner.predict(inputs).answers, runner.facts()


# The Open Inference Protocol.


def infer(path: str, body: Any, headers: dict[str, str]) -> Answer:
    """Answer as a server of the protocol does: scores for three labels."""
    texts = body["inputs"][0]["data"]
    scores = {"good": [0.1, 0.2, 0.7], "bad": [0.8, 0.1, 0.1]}
    data = [share for text in texts for share in scores.get(text, [0.2, 0.6, 0.2])]
    return ok({"outputs": [{"name": "p", "datatype": "FP32", "shape": [len(texts), 3], "data": data}]})


def test_a_server_of_the_protocol_answers(server: Server, task: Task) -> None:
    """One tensor per field goes out, scores come back in the order of the labels."""
    server.respond = infer
    answers, _ = ask(server, "open-inference", task, version="3")
    assert answers[0] == {"negative": 0.1, "neutral": 0.2, "positive": 0.7}
    path, body, _ = server.calls[0]
    assert path == "/v2/models/m/versions/3/infer"
    assert body["inputs"] == [
        {"name": "text", "shape": [3], "datatype": "BYTES", "data": ["good", "bad", "so-so"]},
    ]


def test_the_batch_size_is_kept_to(server: Server, task: Task) -> None:
    """A model that is asked one by one gets one input in each request."""
    server.respond = infer
    options = {"url": server.url, "model": "m"}
    model = RunnableModel(Path("."), "open-inference", options)
    with open_runner(model, task, limits=Limits(), outside=Outside((server.url,))) as runner:
        runner.predict(INPUTS, single=True)
    assert [body["inputs"][0]["shape"] for _, body, _ in server.calls] == [[1], [1], [1]]


@pytest.mark.parametrize(
    ("output", "answers"),
    [
        ({"datatype": "BYTES", "shape": [3], "data": ["positive", "negative", "neutral"]}, "labels"),
        ({"datatype": "INT64", "shape": [3, 1], "data": [[2], [0], [1]]}, "labels"),
    ],
)
def test_labels_and_class_numbers_are_read_too(server: Server, task: Task, output: Any, answers: str) -> None:
    """Strings are labels, integers are their places; nested data are flattened."""
    server.respond = lambda *_: ok({"outputs": [{"name": "o", **output}]})
    assert ask(server, "open-inference", task)[0] == ["positive", "negative", "neutral"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            (200, {"content-type": "text/html"}, b"<html><h1>Welcome</h1></html>"),
            r"sent text/html where JSON was expect",
        ),
        (ok([]), "no list 'outputs'"),
        (ok({"outputs": [{"name": "o", "datatype": "FP32", "shape": [2, 3], "data": [0] * 6}]}), "3 inputs were sent"),
        (ok({"outputs": [{"name": "o", "datatype": "FP32", "shape": [3, 3], "data": [0.5]}]}), "with 1 values"),
        (
            ok({"outputs": [{"name": "o", "datatype": "FP32", "shape": [3, 2], "data": [0.5] * 6}]}),
            "2 scores .* 3 labels",
        ),
        (ok({"outputs": [{"name": "o", "datatype": "INT64", "shape": [3], "data": [0, 1, 9]}]}), "class 9"),
        (ok({"outputs": [{"name": "o"}]}), "no shape"),
        ((404, {}, b'{"error": "unknown model"}'), "status 404: .*unknown model"),
        ((302, {"location": "http://169.254.169.254/"}, b""), "redirects to .*not followed"),
        ((401, {}, b"who?"), "refused us with status 401"),
    ],
)
def test_a_server_that_answers_nonsense_is_explained(server: Server, task: Task, reply: Answer, said: str) -> None:
    """HTML, wrong counts, wrong shapes, redirects: the run ends with what came and where from."""
    server.respond = lambda *_: reply
    with pytest.raises(RunEnded, match=said) as caught:
        ask(server, "open-inference", task)
    assert caught.value.outcome is Outcome.BAD_ANSWER
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"[" * 100_000, "nested|members"),
        (b'{"outputs": ' + b"[" * 60 + b"]" * 60 + b"}", "nested more than 32 deep"),
        (b'{"outputs": [{"shape": [1' + b"0" * 5000 + b"]}]}", "more than 100 digits"),
        (b"[" + b"[]," * 1_000_000 + b"[]]", "members of lists"),
        (b'{"outputs": [{"shape": [3,' + b"1," * 50 + b'1], "data": [1, 2, 3]}]}', "52 dimensions"),
        (b"x" * (5 << 20), "sent more than 4,194,304 bytes"),
    ],
    ids=["deep", "nested", "digits", "tiny lists", "dimensions", "long"],
)
def test_a_hostile_server_is_the_models_fault(server: Server, task: Task, body: bytes, said: str) -> None:
    """What a server sends is read within the same bounds as what a model says, and never blamed on us."""
    server.respond = lambda *_: (200, {"content-type": "application/json"}, body)
    with pytest.raises(RunEnded, match=said) as caught:
        ask(server, "open-inference", task)
    assert caught.value.outcome is Outcome.BAD_ANSWER


def test_what_a_chat_endpoint_says_can_be_kept(server: Server, task: Task, tmp_path: Path) -> None:
    """Half surrogates, NUL and absurd counts of tokens neither break the cache nor the bill."""
    body = b'{"choices": [{"message": {"content": "positive \\ud800\\u0000"}}], "usage": {"prompt_tokens": 1%s}}'
    server.respond = lambda *_: (200, {"content-type": "application/json"}, body % (b"0" * 90))
    answers, facts = ask(server, "chat", task, cache=tmp_path, read="pattern", pattern="positive", input_price=2)
    assert answers == ["positive"] * 3
    assert facts["estimated"] == 3
    assert 0 < facts["input_tokens"] < 100
    assert ask(server, "chat", task, cache=tmp_path)[1]["cached"] == 3


def test_a_server_that_hangs_is_given_up(server: Server, task: Task) -> None:
    """After the timeout and the retries the run is marked; it does not wait for ever."""
    given_up = threading.Event()

    def hang(*_: Any) -> Answer:
        given_up.wait(60)
        return ok({})

    server.respond = hang
    with pytest.raises(RunEnded, match=r"did not answer within 0.3 seconds \(1 attempts\)") as caught:
        ask(server, "open-inference", task, timeout=0.3, retries=0)
    given_up.set()
    assert caught.value.outcome is Outcome.UNREACHABLE


def test_a_server_that_is_not_there(server: Server, task: Task) -> None:
    """The message names the address."""
    server.close()
    with pytest.raises(RunEnded, match=rf"{server.url}/v2/models/m/infer cannot be reached"):
        ask(server, "open-inference", task, retries=0)


# Chat endpoints.


def talk(path: str, body: Any, headers: dict[str, str]) -> Answer:
    """Answer as a chat endpoint does."""
    prompt = body["messages"][-1]["content"]
    words = {"good": "Positive.", "bad": "Answer: negative", "so-so": "neutral"}
    content = next(reply for word, reply in words.items() if prompt.endswith(word))
    usage = {"prompt_tokens": 20, "completion_tokens": 5}
    return ok({"choices": [{"message": {"role": "assistant", "content": content}}], "usage": usage})


def test_a_chat_endpoint_answers_and_says_what_it_cost(server: Server, task: Task) -> None:
    """The prompt is filled in, the reply is read, tokens become a cost per example."""
    server.respond = talk
    answers, facts = ask(server, "chat", task, system="Be brief.", input_price=2.0, output_price=8.0)
    assert answers == ["positive", "negative", "neutral"]
    path, body, _ = server.calls[0]
    assert path == "/chat/completions"
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert body["messages"][1]["content"].startswith("Which of negative, neutral, positive?")
    assert facts["cost_per_example"] == pytest.approx((20 * 2 + 5 * 8) / 1e6)
    assert (facts["requests"], facts["cached"]) == (3, 0)


def test_a_key_goes_to_its_own_server_only(server: Server, task: Task) -> None:
    """The operator's key is sent by name; a key of another server, or an unknown one, is refused."""
    server.respond = talk
    ask(server, "chat", task, secret="key")
    assert server.calls[0][2]["authorization"] == "Bearer s3cret"
    adapter = ADAPTERS.get("chat")()
    other = Outside((server.url,), {"key": EndpointSecret("https://elsewhere.example", "s3cret")})
    with pytest.raises(Forbidden, match="no key called 'key'"):
        adapter.permit({"url": server.url, "secret": "key"}, other)
    assert "s3cret" not in repr(other)


@pytest.mark.parametrize("url", ["http://169.254.169.254", "http://localhost:9", "https://127.0.0.1"])
def test_only_allowed_servers_are_called(server: Server, url: str) -> None:
    """A submission cannot make us call what the operator did not name: neither metadata services nor neighbours."""
    with pytest.raises(Forbidden, match="is not one that this server may call"):
        ADAPTERS.get("chat")().permit({"url": url}, Outside((server.url,)))


def test_replies_are_kept_on_disk(server: Server, task: Task, tmp_path: Path) -> None:
    """The second run asks nothing, and costs what the first did."""
    server.respond = talk
    first = ask(server, "chat", task, cache=tmp_path, input_price=2.0)
    again, facts = ask(server, "chat", task, cache=tmp_path, input_price=2.0)
    assert again == first[0]
    assert len(server.calls) == 3
    assert (facts["cached"], facts["requests"]) == (3, 0)
    assert facts["cost"] == first[1]["cost"]
    ask(server, "chat", task, cache=tmp_path, temperature=1)
    assert len(server.calls) == 6


def test_several_calls_run_at_once(server: Server, task: Task) -> None:
    """Concurrency is what the manifest says, and answers stay in order."""

    def slowly(*given: Any) -> Answer:
        time.sleep(0.1)
        return talk(*given)

    server.respond = slowly
    answers, _ = ask(server, "chat", task, inputs=INPUTS * 4, concurrency=6)
    assert answers == ["positive", "negative", "neutral"] * 4
    assert 2 <= server.most_busy <= 6


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: Server, task: Task, status: int) -> None:
    """429 and 5xx are tried again, after as long as the server asks for."""
    seen: set[str] = set()

    def busy_once(path: str, body: Any, headers: dict[str, str]) -> Answer:
        prompt = body["messages"][-1]["content"]
        if prompt in seen:
            return talk(path, body, headers)
        seen.add(prompt)
        return status, {"retry-after": "0"}, b"later"

    server.respond = busy_once
    answers, facts = ask(server, "chat", task)
    assert answers == ["positive", "negative", "neutral"]
    assert facts["retries"] == 3


def test_a_server_that_stays_busy_is_given_up(server: Server, task: Task) -> None:
    """The message says how often it was asked, and what it said."""
    server.respond = lambda *_: (503, {"retry-after": "0"}, b"overloaded")
    answers, _ = ask(server, "chat", task)
    assert all("status 503: 'overloaded' (2 attempts)" in failure.reason for failure in answers)
    assert {failure.kind for failure in answers} == {"unreachable"}
    with pytest.raises(RunEnded, match="10 calls in a row have failed") as caught:
        ask(server, "chat", task, inputs=INPUTS * 8, retries=0)
    assert caught.value.outcome is Outcome.UNREACHABLE


@pytest.mark.parametrize("content", ["I would rather not say.", "not positive", None, "<think>positive"])
def test_a_reply_that_cannot_be_read_fails_its_example_or_falls_back(
    server: Server, task: Task, content: str | None
) -> None:
    """Without a fallback the example has no answer and the reason; with one it is given. Both are counted."""
    server.respond = lambda *_: ok({"choices": [{"message": {"content": content}}]})
    answers, facts = ask(server, "chat", task)
    assert all(isinstance(one, Failure) and "reply" in one.reason for one in answers)
    assert facts["unread"] == 3
    answers, facts = ask(server, "chat", task, fallback="neutral")
    assert answers == ["neutral"] * 3
    assert facts["unread"] == 3


def test_a_shape_is_asked_of_the_endpoint(server: Server, task: Task) -> None:
    """Under the rule `json` the request says what the answer has to look like."""
    server.respond = lambda *_: ok({"choices": [{"message": {"content": '{"answer": "neutral"}'}}]})
    answers, _ = ask(server, "chat", task, read="json")
    assert answers == ["neutral"] * 3
    asked = server.calls[0][1]["response_format"]["json_schema"]["schema"]
    assert asked["properties"]["answer"]["enum"] == list(task.label_names)


def test_parameters_that_an_endpoint_rejects_are_left_out(server: Server, task: Task) -> None:
    """A newer endpoint wants max_completion_tokens and no temperature: it is asked so, and the facts say it."""

    def strict(path: str, body: Any, headers: dict[str, str]) -> Answer:
        for name in ("max_tokens", "temperature"):
            if name in body:
                said = {"error": {"message": f"Unsupported parameter: '{name}'.", "param": name}}
                return 400, {"content-type": "application/json"}, json.dumps(said).encode()
        return talk(path, body, headers)

    server.respond = strict
    answers, facts = ask(server, "chat", task, concurrency=1)
    assert answers == ["positive", "negative", "neutral"]
    assert facts["omitted"] == ["max_tokens", "temperature"]
    assert len(server.calls) == 2 + 3
    assert server.calls[-1][1]["max_completion_tokens"] == 64


def test_a_request_that_is_wrong_otherwise_is_not_repeated(server: Server, task: Task) -> None:
    """A refusal that names no parameter which could be left out fails its example with the server's words."""
    server.respond = lambda *_: (400, {}, b"no such model")
    answers, _ = ask(server, "chat", task, concurrency=1)
    assert all("status 400: 'no such model'" in failure.reason for failure in answers)
    assert len(server.calls) == 3


def test_html_from_a_chat_endpoint_is_explained(server: Server, task: Task) -> None:
    """A log-in page is not an answer."""
    server.respond = lambda *_: (200, {"content-type": "text/html; charset=utf-8"}, b"<!doctype html><p>Log in")
    answers, _ = ask(server, "chat", task)
    said = "sent text/html; charset=utf-8 where JSON was expected: '<!doctype html>"
    assert all(said in failure.reason for failure in answers)
    assert len(server.calls) == 3
