"""Calls of endpoints that somebody pays for: never without a cap, each entered once, failing for themselves only."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from quintain.adapters.chat import ChatAdapter
from quintain.adapters.contract import Connection, Outside
from quintain.adapters.ledger import CallSize, Ledger, OverBudget, TokenUse
from quintain.adapters.prices import Prices
from quintain.adapters.reply_store import ReplyStore
from quintain.adapters.retries import MAX_WAIT, wait_seconds
from quintain.core.example import Failure
from quintain.core.task import Task
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter
from tests.endpoint import Answer, Server, completion, ok, refusal

CAPS = ("max_tokens", "max_completion_tokens")
RENAMED = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
TOO_LARGE = (
    "'max_tokens' or 'max_completion_tokens' is too large: 64. This model's maximum context length is 4096 tokens and "
    "your request has 4090 input tokens (64 > 4096 - 4090)."
)
TEXTS = [{"text": f"text {number}"} for number in range(60)]


@pytest.fixture
def server() -> Iterator[Server]:
    """An endpoint that always says the same."""
    endpoint = Server()
    endpoint.respond = lambda *_: completion("positive")
    yield endpoint
    endpoint.close()


@pytest.fixture
def task() -> Task:
    """A task of sentiment."""
    return check_task(starter("text-classification", "sentiment"))


def ask(
    server: Server, task: Task, inputs: list[dict[str, str]], outside: Outside | None = None, **options: Any
) -> tuple[list[Any], Connection]:
    """Ask about *inputs*, four calls at once, and give the answers and the connection that they came by."""
    manifest = {"url": server.url, "model": "m", "prompt": "{text}", "timeout": 2, "retries": 2, **options}
    with ChatAdapter().connect(Path("."), task, manifest, outside or Outside((server.url,))) as connection:
        return [worded.answer for worded in connection.predict(list(inputs))], connection


def caps_of(server: Server) -> Counter[tuple[str, ...]]:
    """Count by which caps the calls of a server had."""
    return Counter(tuple(name for name in CAPS if name in body) for _, body, _ in server.calls)


def text_of(body: Any) -> str:
    """Give the prompt of a request."""
    return str(body["messages"][-1]["content"])


# The cap on tokens.


def renames(path: str, body: Any, headers: dict[str, str]) -> Answer:
    """Refuse the older name of the cap in OpenAI's words, which name both; slowly, so that calls are under way."""
    time.sleep(0.01)
    if "max_tokens" in body:
        return refusal(400, RENAMED, param="max_tokens", code="unsupported_parameter")
    return completion("positive")


@pytest.mark.parametrize("structured", [True, False])
def test_a_cap_that_is_refused_is_renamed_once_and_no_call_is_without(
    server: Server, task: Task, structured: bool
) -> None:
    """However many calls are under way when the first refusal comes, each of them has a cap before and after."""

    def refuse(path: str, body: Any, headers: dict[str, str]) -> Answer:
        status, given, content = renames(path, body, headers)
        return (status, given, RENAMED.encode()) if status == 400 and not structured else (status, given, content)

    server.respond = refuse
    answers, connection = ask(server, task, TEXTS, concurrency=8)
    assert answers == ["positive"] * 60
    caps = caps_of(server)
    assert set(caps) == {("max_tokens",), ("max_completion_tokens",)}
    assert caps["max_completion_tokens",] == 60
    assert 1 <= caps["max_tokens",] <= 8
    assert connection.facts()["omitted"] == ["max_tokens"]


def test_what_an_endpoint_takes_is_remembered(server: Server, task: Task, tmp_path: Path) -> None:
    """The next run of the model begins with what the first has settled on; another model is asked anew."""
    server.respond = renames
    outside = Outside((server.url,), cache=tmp_path)
    ask(server, task, TEXTS[:4], outside)
    server.calls.clear()
    ask(server, task, TEXTS[4:8], outside)
    assert set(caps_of(server)) == {("max_completion_tokens",)}
    ask(server, task, TEXTS[:4], outside, model="other")
    assert ("max_tokens",) in caps_of(server)


def test_a_refusal_about_one_long_example_concerns_that_one(server: Server, task: Task) -> None:
    """An endpoint's words about one prompt's length name the cap, which stays for all others."""
    server.respond = lambda path, body, headers: (
        refusal(400, TOO_LARGE, type="BadRequestError", param=None, code=400)
        if text_of(body) == "text 7"
        else completion("positive")
    )
    answers, connection = ask(server, task, TEXTS)
    assert [row for row, answer in enumerate(answers) if isinstance(answer, Failure)] == [7]
    assert caps_of(server) == {("max_tokens",): 60}
    assert connection.facts()["omitted"] == []


def test_an_endpoint_that_takes_neither_name_is_not_asked_without_a_cap(server: Server, task: Task) -> None:
    """Nothing would say what such calls cost: every example fails with the endpoint's words."""
    server.respond = lambda path, body, headers: (
        refusal(400, f"Unknown parameter: '{next(name for name in CAPS if name in body)}'.")
        if set(CAPS) & set(body)
        else completion("positive")
    )
    answers, _ = ask(server, task, TEXTS[:8])
    assert all(isinstance(answer, Failure) and "Unknown parameter" in answer.reason for answer in answers)
    assert () not in caps_of(server)


def test_a_prompt_that_is_quoted_in_a_refusal_drops_nothing(server: Server, task: Task) -> None:
    """Texts about temperatures do not change how the endpoint is asked."""
    prompt = "The temperature of max_tokens is a response_format"
    server.respond = lambda path, body, headers: refusal(400, f"Cannot answer: {text_of(body)}")
    _, connection = ask(server, task, [{"text": prompt}])
    assert connection.facts()["omitted"] == []
    assert len(server.calls) == 1


# The ledger.


def unsteady(server: Server) -> None:
    """Let a server fail in every way, each of some examples once, and of some for ever."""
    seen: Counter[str] = Counter()
    lock = threading.Lock()
    once: dict[int, Answer] = {
        0: (429, {"retry-after": "0"}, b"later"),
        1: (500, {"retry-after": "0"}, b"oops"),
        2: (529, {"retry-after-ms": "1"}, b"overloaded"),
        3: (200, {"content-type": "application/json", "retry-after": "0"}, b'{"choices": [{"message": {"cont'),
        4: (200, {"retry-after": "0"}, b'{"error": {"message": "busy", "code": 502}}'),
        5: (409, {"retry-after": "0"}, b"conflict"),
        6: (425, {"retry-after": "Thu, 01 Jan 2015 00:00:00 GMT"}, b"early"),
        7: (200, {"retry-after": "0"}, b'{"error": {"message": "busy"}}'),
    }

    def respond(path: str, body: Any, headers: dict[str, str]) -> Answer:
        text = text_of(body)
        number = int(text.split()[1])
        with lock:
            seen[text] += 1
            first = seen[text] == 1
        if number == 13:
            return 500, {"retry-after": "0"}, b"always"
        if number == 17:
            return refusal(400, "The response was filtered.", code="content_filter")
        if first and number % 10 in once:
            return once[number % 10]
        return completion("positive", None if number % 2 else (10, 1))

    server.respond = respond


def test_the_ledger_is_what_the_server_saw(server: Server, task: Task, tmp_path: Path) -> None:
    """Each request is entered once under its status, whatever becomes of it; what came from the cache stands apart."""
    unsteady(server)
    outside = Outside((server.url,), cache=tmp_path, run="first")
    answers, connection = ask(server, task, TEXTS, outside, input_price=1000.0, output_price=1000.0)
    failed = {row: answer.kind for row, answer in enumerate(answers) if isinstance(answer, Failure)}
    assert failed == {13: "unreachable", 17: "refused"}
    store = ReplyStore(tmp_path)
    entries = store.calls("first")
    assert Counter(entry.status for entry in entries) == Counter(server.statuses)
    facts = connection.facts()
    assert (facts["requests"], facts["cached"], facts["answered"]) == (len(server.calls), 0, 58)
    assert facts["retries"] == len(server.calls) - 60
    assert facts["spent"] == facts["cost"] == pytest.approx(sum(entry.cost for entry in entries))
    assert facts["lost"] == 5  # replies that were cut off may be charged
    assert facts["estimated"] == 5 + sum(number % 2 for number in range(60) if number not in (13, 17))
    again, later = ask(server, task, TEXTS, Outside((server.url,), cache=tmp_path, run="second"), retries=0)
    facts = later.facts()
    assert [answer for answer in again if not isinstance(answer, Failure)] == ["positive"] * 58
    assert (facts["requests"], facts["cached"], facts["spent"]) == (2, 58, 0)
    store.close()


def test_what_a_server_does_not_say_is_estimated_and_not_free(server: Server, task: Task, tmp_path: Path) -> None:
    """Without `usage` a cost is reckoned from the texts, and marked; so it is for what comes from the cache."""
    server.respond = lambda *_: completion("positive", None)
    outside = Outside((server.url,), cache=tmp_path)
    prices = {"input_price": 1000.0, "output_price": 1000.0}
    facts = ask(server, task, TEXTS[:10], outside, **prices)[1].facts()
    assert facts["estimated"] == 10
    assert facts["cost"] == facts["spent"] == pytest.approx(10 * 0.004)  # two tokens sent and two received
    facts = ask(server, task, TEXTS[:10], outside, **prices)[1].facts()
    assert (facts["cached"], facts["estimated"], facts["spent"]) == (10, 10, 0)
    assert facts["cost"] == pytest.approx(10 * 0.004)


def test_a_connection_that_breaks_off_is_entered_as_lost(server: Server, task: Task) -> None:
    """The request went out and may be charged: it is estimated at the most, and sent again."""
    answered = iter([(0, {}, b""), completion("positive")])
    server.respond = lambda *_: next(answered)
    answers, connection = ask(server, task, TEXTS[:1], retries=1, output_price=1000.0)
    assert answers == ["positive"]
    facts = connection.facts()
    assert (facts["requests"], facts["lost"], len(server.calls)) == (2, 1, 2)
    assert facts["spent"] == pytest.approx(0.064 + 0.001)


@pytest.mark.parametrize("content", [b"[" * 50_000 + b"]" * 50_000, b"{1: 2}", b" " * (5 << 20)])
def test_a_reply_that_cannot_be_read_is_not_free(server: Server, task: Task, content: bytes) -> None:
    """What a server sends under status 200 it may charge, readable or not; a refusal takes nothing."""
    server.respond = lambda *_: (200, {"content-type": "application/json"}, content)
    answers, connection = ask(server, task, TEXTS[:1], retries=0, output_price=1000.0)
    assert isinstance(answers[0], Failure)
    facts = connection.facts()
    assert (facts["requests"], facts["lost"], facts["estimated"]) == (1, 1, 1)
    assert facts["spent"] == pytest.approx(0.064)
    server.respond = lambda *_: refusal(400, "no")
    assert ask(server, task, TEXTS[:1], output_price=1000.0)[1].facts()["spent"] == 0


def test_a_budget_waits_for_calls_that_are_under_way(server: Server, task: Task) -> None:
    """Four calls may cost more than there is, and do not: the fourth waits for what the others leave."""
    answers, connection = ask(
        server, task, TEXTS, Outside((server.url,), budget=1.0), output_price=1000.0, max_tokens=900
    )
    assert answers == ["positive"] * 60
    assert connection.facts()["spent"] == pytest.approx(0.06)


def test_a_budget_that_no_call_fits_into_is_over_at_once(server: Server, task: Task) -> None:
    """Where nothing that is under way could leave enough, nobody waits."""
    with pytest.raises(OverBudget, match=r"0 are spent, and the call may cost 0\.9"):
        ask(server, task, TEXTS, Outside((server.url,), budget=0.5), output_price=1000.0, max_tokens=900)
    assert server.calls == []


def test_reservations_never_exceed_the_budget() -> None:
    """From many threads: what is spent and reserved together stays within, and all that fits is spent."""
    ledger = Ledger(Prices(0.0, 1_000_000.0), 10.0)
    done = []

    def call() -> None:
        try:
            while (reserved := ledger.reserve(CallSize(0, 3))) is None:
                time.sleep(0.001)
        except OverBudget:
            return
        ledger.record_call(reserved, "answered", 200, TokenUse(0, 1))
        done.append(1)

    threads = [threading.Thread(target=call) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == ledger.spent == 8  # the ninth might have cost three, where two were left


# Retries, and what a reply may look like.


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:05 GMT"}, 5.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:05 GMT", "date": "Wed, 21 Oct 2026 07:28:03 GMT"}, 2.0),
        ({"retry-after": "86400"}, MAX_WAIT),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}, MAX_WAIT),
    ],
)
def test_a_server_says_when_to_come_back(headers: dict[str, str], seconds: float) -> None:
    """In seconds, in milliseconds or by a date; never longer than a minute, and a moment that is past is now."""
    assert wait_seconds(0, headers, datetime(2026, 10, 21, 7, 28, tzinfo=UTC)) == seconds


@pytest.mark.parametrize("after", ["", "soon", "inf", "nan"])
def test_without_a_time_waits_grow(after: str) -> None:
    """Twice as long each time, spread a little, up to a minute."""
    waits = [wait_seconds(attempt, {"retry-after": after}) for attempt in (0, 3, 20)]
    assert 0.3 < waits[0] < 0.7
    assert 2.9 < waits[1] < 5.1
    assert waits[2] <= MAX_WAIT * 1.25


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "posi"}, {"type": "text", "text": "tive"}],
        [{"type": "thinking", "thinking": "negative?"}, {"type": "text", "text": "positive"}],
        ["positive"],
    ],
)
def test_content_may_come_in_parts(server: Server, task: Task, content: Any) -> None:
    """The texts among them are the reply, and thoughts are not."""
    server.respond = lambda *_: completion(content)
    assert ask(server, task, TEXTS[:1])[0] == ["positive"]


def test_a_reply_that_a_filter_keeps_back_is_refused(server: Server, task: Task) -> None:
    """Also where the endpoint says so under status 200; it is an answer that is kept, and no failure of the server."""
    server.respond = lambda *_: completion("", finish_reason="content_filter")
    answers, connection = ask(server, task, TEXTS[:2])
    assert {answer.kind for answer in answers} == {"refused"}
    assert connection.facts()["refused"] == 2


def test_a_cut_reply_is_asked_for_again(server: Server, task: Task) -> None:
    """Less came than the server had announced."""
    whole = completion("positive")
    answered = iter([(200, {**whole[1], "content-length": "4000"}, whole[2]), whole])
    server.respond = lambda *_: next(answered)
    assert ask(server, task, TEXTS[:1], timeout=0.4)[0] == ["positive"]


def test_an_error_for_good_under_status_200_is_not_asked_for_again(server: Server, task: Task) -> None:
    """The status stands in the reply."""
    server.respond = lambda *_: ok({"error": {"message": "no such model", "code": 400}})
    assert "no such model" in ask(server, task, TEXTS[:1])[0][0].reason
    assert len(server.calls) == 1
