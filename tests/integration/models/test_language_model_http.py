"""A real language model behind llama.cpp's own server: answers as in the sandbox, and its own log-probabilities."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quintain.adapters.chat import ChatAdapter
from quintain.adapters.contract import Connection, Outside
from quintain.engine.runner import RunnableModel, open_runner
from quintain.engine.sandbox.limits import GIB, Limits
from quintain.services.house.language_model import PARTS
from quintain.services.plain.files.tasks import check_task
from tests.conftest import ROOT
from tests.gguf_files import folder_with, real_model

LIMITS = Limits(memory_bytes=3 * GIB, cpu_seconds=300, wall_seconds=900, call_seconds=600)
DATA = ROOT / "src" / "quintain" / "demo_data"
TEXTS = ["The soup was cold and the waiter was rude.", "A lovely evening; we will be back!"]
QUESTIONS = ["What is the capital of France?", "How many days are there in a week?"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Any, str]]:
    """The model in llama.cpp's server on loopback, and its address."""
    import xllamacpp

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(real_model())
    parameters.n_ctx = 1024
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    yield server, server.listening_address if hasattr(server, "listening_address") else f"http://127.0.0.1:{port}"
    del server


def ask(url: str, task: str, inputs: list[dict[str, Any]], **options: Any) -> tuple[list[Any], Connection]:
    """Ask over HTTP about *inputs* of a task of the demo."""
    definition = check_task((DATA / task / "task.toml").read_text(encoding="utf-8"))
    manifest = {"server": "llama.cpp", "url": f"{url}/v1", "model": "smol", "timeout": 300, "concurrency": 1, **options}
    assert ChatAdapter().check(Path("."), definition, manifest) == []
    with ChatAdapter().connect(Path("."), definition, manifest, Outside((url,))) as connection:
        return connection.predict(inputs), connection


def test_words_are_the_same_over_http_and_in_the_sandbox(served: tuple[Any, str], tmp_path: Path) -> None:
    """At temperature 0 the same file says the same, whichever way it is asked."""
    options = dict(next(part.options for part in PARTS if part.task == "questions"))
    task = check_task((DATA / "questions" / "task.toml").read_text(encoding="utf-8"))
    inputs = [{"source": question} for question in QUESTIONS]
    folder = folder_with(real_model(), tmp_path / "model")
    with open_runner(RunnableModel(folder, "gguf", options), task, limits=LIMITS) as runner:
        inside = runner.predict(inputs).answers
    asked = {name: options[name] for name in ("prompt", "system", "max_tokens") if name in options}
    answers, connection = ask(served[1], "questions", inputs, **asked)
    assert [answer.exchange.reply.strip() for answer in answers] == inside
    facts = connection.facts()
    assert (facts["requests"], facts["estimated"], sum(facts["outcomes"].values())) == (2, 0, 2)


def test_options_are_weighed_as_its_own_logits_have_it(served: tuple[Any, str]) -> None:
    """The shares of the letters are those of the server's first-token log-probabilities, asked directly."""
    prompt = "How does the writer feel? {text}\n{options}\nAnswer with one letter."
    answers, connection = ask(served[1], "sentiment", [{"text": text} for text in TEXTS], prompt=prompt, read="options")
    assert connection.facts()["method"] == "options: log-probability of the letter as first token"
    for text, answer in zip(TEXTS, answers, strict=True):
        content = answer.exchange.prompt
        assert text in content
        messages = [{"role": "user", "content": content}]
        request = {"messages": messages, "max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 200}
        reply = served[0].handle_chat_completions(request)
        top = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        own = {
            letter: sum(math.exp(one["logprob"]) for one in top if one["token"].strip() == letter) for letter in "ABC"
        }
        shares = dict(zip("ABC", answer.answer.values(), strict=True))
        told = [letter for letter in "ABC" if own[letter] > 0]
        assert len(told) > 1
        ratio = [shares[letter] / shares[told[0]] for letter in told]
        assert ratio == pytest.approx([own[letter] / own[told[0]] for letter in told], rel=0.05, abs=0.02)
