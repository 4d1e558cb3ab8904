"""Language models in GGUF files, as far as that can be seen without running one: the file's beginning, the options."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from quintain.adapters import gguf
from quintain.adapters.contract import ADAPTERS
from quintain.adapters.gguf import Conversation
from quintain.adapters.gguf_file import GgufHeader, NotGguf, read_header
from quintain.adapters.llama import MARK
from quintain.core.task import Task
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter
from tests.gguf_files import TEMPLATE, gguf_header


@pytest.fixture
def task() -> Task:
    """A task of sentiment."""
    return check_task(starter("text-classification", "sentiment"))


def written(folder: Path, data: bytes, name: str = "model.gguf") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)
    return folder / name


def test_a_file_says_what_it_is(tmp_path: Path) -> None:
    """Name, context and template are read, and parameters are counted from the shapes of the tensors."""
    data = gguf_header(shape=(4, 3, 2))
    header = read_header(written(tmp_path, data))
    assert header == GgufHeader("Tiny", parameters=24, context=256, template=TEMPLATE, size=len(data))


def test_a_file_that_breaks_off_is_no_model_wherever_it_does(tmp_path: Path) -> None:
    """Each length is held against what is left: nothing but NotGguf comes of a damaged file."""
    data = gguf_header()
    for end in range(len(data)):
        with pytest.raises(NotGguf):
            read_header(written(tmp_path, data[:end]))


@pytest.mark.parametrize(
    ("place", "code", "value", "said"),
    [
        (0, "<I", 0, "does not begin as"),
        (4, "<I", 1, "of version 1"),
        (8, "<Q", 2**63, "ends before"),
        (16, "<Q", 2**63, "ends before"),
        (24, "<Q", 2**63, "ends before"),
    ],
)
def test_a_hostile_length_is_refused_at_once(tmp_path: Path, place: int, code: str, value: int, said: str) -> None:
    """A count or a length beyond the file neither reads nor reserves anything."""
    data = bytearray(gguf_header())
    struct.pack_into(code, data, place, value)
    with pytest.raises(NotGguf, match=said):
        read_header(written(tmp_path, bytes(data)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"file": "other.gguf"}, "other.gguf: is missing"),
        ({"prompt": "What is it?"}, "would ask the same of every example"),
        ({"prompt": "{txt}"}, "names {txt}"),
        ({"lead": 3}, "is 3, which is not a text"),
        ({"context": 10}, "lies between 64 and"),
        ({"max_tokens": True}, "lies between 1 and"),
        ({"temperature": 2.5}, "lies between 0 and 2"),
        ({"against": "N/A"}, "is not a list of texts"),
        ({"words": {"positive": "good"}}, "the labels are"),
        ({"words": {"positive": " "}}, "is not a table of words"),
        ({"perturbations": "none"}, "it is 'counted' or 'all'"),
    ],
)
def test_bad_options_are_named_before_anything_runs(
    task: Task, tmp_path: Path, options: Mapping[str, Any], said: str
) -> None:
    """Each fault says which option it is about and what it takes."""
    written(tmp_path, gguf_header())
    assert ADAPTERS.get("gguf")().check(tmp_path, task, {}) == []
    assert said in "\n".join(map(str, ADAPTERS.get("gguf")().check(tmp_path, task, options)))


def test_files_that_cannot_be_talked_to_are_refused(task: Task, tmp_path: Path) -> None:
    """No template, no model at all, two of them, and a task whose answers it does not give."""
    check = ADAPTERS.get("gguf")().check
    written(tmp_path / "mute", gguf_header({"tokenizer.chat_template": ""}))
    assert "no chat template" in str(check(tmp_path / "mute", task, {}))
    written(tmp_path / "text", b"weights, really")
    assert "does not begin as a GGUF file does" in str(check(tmp_path / "text", task, {}))
    for name in ("a.gguf", "b.gguf"):
        written(tmp_path / "two", gguf_header(), name)
    assert "several files end in .gguf" in str(check(tmp_path / "two", task, {}))
    assert check(tmp_path / "two", task, {"file": "b.gguf"}) == []
    several = check_task(starter("several-answers", "several"))
    assert "not with a choices" in str(check(tmp_path / "two", several, {"file": "b.gguf"}))


def test_a_model_says_how_large_it_is_and_how_it_answers(task: Task, tmp_path: Path) -> None:
    """What pages show beside the card follows from the file and from the task."""
    written(tmp_path, gguf_header())
    about = ADAPTERS.get("gguf")().about(tmp_path, task, {})
    assert about == {"parameters": 12, "method": "log-probability of labels"}
    words = check_task(starter("free-text", "words"))
    assert ADAPTERS.get("gguf")().about(tmp_path, words, {})["method"] == "generated"


class FakeLlama:
    """Stands for a model: a token is a letter, and *likely* says how likely each continuation of a prompt is."""

    def __init__(self, likely: Callable[[str, str], float]) -> None:
        self.likely = likely
        self.prompts: list[str] = []
        self.beginning = ""

    def conversation(self, content: str, system: str) -> tuple[str, str]:
        """Put what was asked for before what is said, and a bar behind it."""
        assert content == MARK
        return f"<{system}>", "|"

    def begin_with(self, beginning: str) -> None:
        """Keep the beginning."""
        self.beginning = beginning

    def tokens(self, text: str) -> list[int]:
        """Take every letter for a token."""
        return [ord(letter) for letter in text]

    def log_probabilities(self, prompt: str, continuations: Sequence[Sequence[int]]) -> list[float]:
        """Ask *likely*, and keep the prompt."""
        self.prompts.append(prompt)
        return [self.likely(prompt, "".join(map(chr, tokens))) for tokens in continuations]

    def write(self, prompt: str, most: int) -> str:
        """Repeat the prompt, with spaces around it."""
        self.prompts.append(prompt)
        return f" {prompt[:most]} "


def options_of(task: Task, **options: Any) -> dict[str, Any]:
    from quintain.engine.runner import task_facts

    return {**options, "task": task_facts(task)}


def test_labels_are_weighed_by_what_the_model_would_say(task: Task) -> None:
    """The words stand for the labels, after the lead and a space, and probabilities are those of the words."""
    likely = {" good": math.log(0.3), " bad": math.log(0.1), " so so": math.log(0.1)}
    model = FakeLlama(lambda prompt, words: likely[words])
    words = {"positive": "good", "negative": "bad", "neutral": "so so"}
    options = options_of(task, prompt="Of {text}: {labels}?", lead="It is", words=words, system="s")
    answer = gguf._by_label(Conversation(model, options))({"text": "this"})  # type: ignore[arg-type]
    assert answer == pytest.approx({"positive": 0.6, "negative": 0.2, "neutral": 0.2})
    assert model.prompts == [f"<s>Of this: {', '.join(task.label_names)}?|It is"]
    assert model.beginning == "<s>Of "


def test_what_is_said_of_anything_is_taken_off(task: Task) -> None:
    """A label that is ten times as likely whatever is asked about is no likelier for it."""

    def likely(prompt: str, words: str) -> float:
        bias = 10.0 if words == "negative" else 1.0
        meant = 4.0 if words == "positive" and "lovely" in prompt else 1.0
        return math.log(bias * meant)

    biased = gguf._by_label(Conversation(FakeLlama(likely), options_of(task)))  # type: ignore[arg-type]
    answer = biased({"text": "lovely"})
    assert max(answer, key=answer.__getitem__) == "negative"
    fair = gguf._by_label(Conversation(FakeLlama(likely), options_of(task, against=["N/A", "–"])))  # type: ignore[arg-type]
    assert fair({"text": "lovely"}) == pytest.approx({"positive": 4 / 6, "negative": 1 / 6, "neutral": 1 / 6})


def test_options_of_any_length_are_compared_by_their_mean() -> None:
    """A long option loses nothing by having more tokens."""
    task = check_task(starter("multiple-choice", "choices"))
    model = FakeLlama(lambda prompt, words: -1.0 * len(words) if words == "no" else -0.5 * len(words))
    ask = gguf._by_option(Conversation(model, options_of(task)))  # type: ignore[arg-type]
    answer = ask({"passage": "p", "question": "q", "options": ["no", "a much longer option"]})
    assert answer == pytest.approx([1 / (1 + math.exp(0.5)), 1 / (1 + math.exp(-0.5))])


def test_a_model_to_start_from_names_every_field() -> None:
    """The prompt that nobody has written asks about all of an example."""
    task = check_task(starter("pair-classification", "pairs"))
    model = FakeLlama(lambda prompt, words: 0.0)
    gguf._by_label(Conversation(model, options_of(task)))({"premise": "P.", "hypothesis": "H."})  # type: ignore[arg-type]
    assert "premise: P.\nhypothesis: H.\n\nAnswer with one of these words: " in model.prompts[0]
