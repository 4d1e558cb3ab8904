"""A real language model, small, in the sandbox: labels by log-probability, words at temperature 0, what fails alone.

The few that run always load it once; what takes longer is marked slow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quintain.core.task import Task
from quintain.engine.runner import ModelRunner, RunnableModel, open_runner
from quintain.engine.sandbox.limits import GIB, AnswersLost, Limits
from quintain.services.house.language_model import PARTS
from quintain.services.plain.files.tasks import check_task
from quintain.tasks.contract import kind_of
from tests.conftest import ROOT
from tests.gguf_files import folder_with, real_model

LIMITS = Limits(memory_bytes=3 * GIB, cpu_seconds=300, wall_seconds=900, call_seconds=600)
DATA = ROOT / "src" / "quintain" / "demo_data"
TEXTS = ["The soup was cold and the waiter was rude.", "A lovely evening; we will be back!", "It opens at nine."]


def demo_task(name: str) -> Task:
    return check_task((DATA / name / "task.toml").read_text(encoding="utf-8"))


def part(name: str) -> dict[str, Any]:
    return dict(next(part.options for part in PARTS if part.task == name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small model."""
    return folder_with(real_model(), tmp_path_factory.mktemp("language") / "model")


@pytest.fixture(scope="module")
def sentiment(folder: Path) -> Iterator[ModelRunner]:
    """The model in the sandbox, as the demo puts it on the task of sentiment."""
    with open_runner(RunnableModel(folder, "gguf", part("sentiment")), demo_task("sentiment"), limits=LIMITS) as runner:
        yield runner


def test_it_weighs_labels_and_says_the_same_again(sentiment: ModelRunner) -> None:
    """Probabilities of all labels; to the last digit the same whatever was asked before, alone and among others."""
    task = demo_task("sentiment")
    inputs = [{"text": text} for text in TEXTS[:2]]
    together = sentiment.predict(inputs).answers
    answers = [kind_of(task).parse_answer(task, item, raw) for item, raw in zip(inputs, together, strict=True)]
    assert [answer.answer for answer in answers] == ["negative", "positive"]
    assert sum(together[0].values()) == pytest.approx(1.0)
    assert sentiment.predict(inputs[::-1], single=True).answers == together[::-1]
    assert sentiment.usage is not None
    sentiment.observe()
    assert 100 << 20 < sentiment.usage.peak_memory < 1 << 30  # its 94 MiB of weights count as its own
    assert sentiment.printed().strip() == ""


def test_what_is_too_long_fails_alone(sentiment: ModelRunner) -> None:
    """An example beyond the context is told as such, and the model goes on."""
    with pytest.raises(AnswersLost, match="exceeds the available context size"):
        sentiment.predict([{"text": "word " * 2000}])
    assert sentiment.predict([{"text": TEXTS[2]}]).answers


@pytest.mark.slow
def test_its_log_probabilities_are_those_of_its_own_logits(folder: Path) -> None:
    """What is told of a token that is forced is what stands among the likeliest; of two tokens, the sum."""
    from quintain.adapters.llama import LlamaModel

    model = LlamaModel(folder / "model.gguf", context=256)
    prompt = "The capital of France is"
    drawn = model._complete({"prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": 49152})
    listed = {entry["id"]: entry["logprob"] for entry in drawn["logprobs"]["content"][0]["top_logprobs"]}
    assert math.fsum(map(math.exp, listed.values())) == pytest.approx(1.0, abs=1e-3)
    words = [model.tokens(word) for word in (" Paris", " London", " the", " contradiction")]
    logs = model.log_probabilities(prompt, words)
    assert [len(tokens) for tokens in words[:3]] == [1, 1, 1]
    assert logs[:3] == pytest.approx([listed[tokens[0]] for tokens in words[:3]], abs=1e-4)
    first, rest = words[3][:1], words[3][1:]
    *parts, last = (model.log_probabilities(prompt, [[*first, *rest[:count]]])[0] for count in range(len(rest) + 1))
    assert logs[3] == pytest.approx(last)
    assert all(earlier >= later for earlier, later in zip([*parts, last], [*parts, last][1:], strict=False))


@pytest.mark.slow
def test_it_writes_words_alike_inside_and_outside(folder: Path) -> None:
    """At temperature 0 the sandbox changes nothing: llama.cpp, asked directly with the same file, says the same."""
    import xllamacpp

    task, options = demo_task("questions"), part("questions")
    questions = ["What is the capital of France?", "Who wrote Hamlet?", "How many days are there in a week?"]
    with open_runner(RunnableModel(folder, "gguf", options), task, limits=LIMITS) as runner:
        inside = runner.predict([{"source": question} for question in questions]).answers
        assert runner.predict([{"source": questions[0]}]).answers == inside[:1]
    assert "Paris" in inside[0]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(folder / "model.gguf")
    parameters.n_ctx = options["context"]
    parameters.n_parallel = parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    for question, said in zip(questions, inside, strict=True):
        messages = [{"role": "system", "content": options["system"]}, {"role": "user", "content": question}]
        reply = server.handle_chat_completions({"messages": messages, "max_tokens": 32, "temperature": 0})
        assert reply["choices"][0]["message"]["content"].strip() == said


@pytest.mark.slow
def test_it_chooses_among_options_and_answers_on_passages(folder: Path) -> None:
    """The other kinds of answers that it gives are read by their tasks."""
    for kind, name in (("multiple-choice", "choices"), ("extractive-qa", "passages"), ("pair-classification", "pairs")):
        from quintain.tasks.starter import starter

        task = check_task(starter(kind, name))
        item = dict(kind_of(task).example.inputs)
        with open_runner(RunnableModel(folder, "gguf", {"context": 512}), task, limits=LIMITS) as runner:
            raw = runner.predict([item]).answers[0]
        assert kind_of(task).parse_answer(task, item, raw).answer is not None
