"""Artefacts of libraries, run where every model is run: in the sandbox. The models are built here, tiny."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from quintain.core.errors import BadInput
from quintain.core.task import Task
from quintain.engine.runner import RunnableModel, open_runner
from quintain.engine.sandbox.limits import GIB, Limits, Outcome, RunEnded
from quintain.services.plain.files.tasks import check_task
from quintain.tasks.contract import kind_of
from quintain.tasks.starter import starter

LIMITS = Limits(memory_bytes=3 * GIB, cpu_seconds=120, wall_seconds=240, call_seconds=200)
TEXTS = ["a good day", "a bad day", "good food", "bad food"] * 3
LABELS = ["positive", "negative"] * 6
BINARY = """
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["negative", "positive"]
metrics = ["accuracy"]
canonical_metric = "accuracy"
"""


@pytest.fixture
def mood() -> Task:
    """A task with two labels."""
    return check_task(BINARY)


def ask(folder: Path, adapter: str, task: Task, inputs: list[dict[str, Any]], **options: Any) -> list[Any]:
    """Run the model in *folder* in the sandbox and give its answers, parsed by the task."""
    model = RunnableModel(folder, adapter, options, batch_size=len(inputs))
    with open_runner(model, task, limits=LIMITS) as runner:
        answers = runner.predict(inputs).answers
    kind = kind_of(task)
    return [kind.parse_answer(task, given, raw) for given, raw in zip(inputs, answers, strict=True)]


def pipeline(**options: Any) -> Any:
    """Fit a small pipeline."""
    text = pytest.importorskip("sklearn.feature_extraction.text", reason="scikit-learn is not installed")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(text.CountVectorizer(**options), LogisticRegression()).fit(TEXTS, LABELS)


@pytest.mark.parametrize("form", ["joblib", "pkl"])
def test_a_scikit_learn_pipeline_answers_with_probabilities(form: str, mood: Task, tmp_path: Path) -> None:
    """Both ways to save one are read, and only inside."""
    model = pipeline()
    import pickle

    import joblib

    if form == "joblib":
        joblib.dump(model, tmp_path / "model.joblib")
    else:
        (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    found = ask(tmp_path, "sklearn", mood, [{"text": "good day"}, {"text": "bad day"}])
    assert [one.answer for one in found] == ["positive", "negative"]
    assert found[0].probabilities["positive"] > 0.5


MARK = "/tmp/quintain-was-here"  # noqa: S108 - where the pickle below writes


class _Evil:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        import os

        return os.mkdir, (MARK,)


def test_a_pickle_that_runs_code_runs_it_inside(mood: Task, tmp_path: Path) -> None:
    """Loading is the sandbox's affair: what the pickle does happens there, and is gone afterwards."""
    import pickle

    (tmp_path / "model.pkl").write_bytes(pickle.dumps(_Evil()))
    with pytest.raises(RunEnded) as caught:
        ask(tmp_path, "sklearn", mood, [{"text": "x"}])
    assert caught.value.outcome is Outcome.CRASHED
    assert not Path(MARK).exists()


@pytest.mark.parametrize("lowercase", [False, True])
def test_an_onnx_pipeline_takes_strings(mood: Task, tmp_path: Path, *, lowercase: bool) -> None:
    """A pipeline converted with its vectoriser: a tensor of strings in, probabilities out, whatever the locale."""
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from skl2onnx.common.data_types import StringTensorType

    fitted = pipeline(lowercase=lowercase)
    graph = skl2onnx.convert_sklearn(fitted, initial_types=[("text", StringTensorType([None]))])
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())
    words = ["GOOD Day", "Bad day"] if lowercase else ["good day", "bad day"]
    found = ask(tmp_path, "onnx", mood, [{"text": text} for text in words])
    assert [one.answer for one in found] == ["positive", "negative"]
    assert found[1].probabilities["negative"] > 0.5


def counting_graph(path: Path) -> None:
    """Write a graph whose score of a label is how often its word occurs."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(np.array([[0, 5], [5, 0]], dtype=np.float32), "weights")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["counts", "weights"], ["logits"])],
        "count",
        [helper.make_tensor_value_info("counts", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [None, 2])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(path))


def test_an_onnx_graph_takes_counts_and_gives_logits(mood: Task, tmp_path: Path) -> None:
    """Words are counted by the vocabulary that came along; logits become probabilities in the task's labels."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    counting_graph(tmp_path / "model.onnx")
    (tmp_path / "vocab.txt").write_text("good\nbad\n")
    found = ask(tmp_path, "onnx", mood, [{"text": "Good!"}, {"text": "Bad, bad."}], encoding="counts")
    assert [one.answer for one in found] == ["positive", "negative"]


def test_an_onnx_graph_with_other_labels_is_explained(mood: Task, tmp_path: Path) -> None:
    """Too many labels for the scores: the message says so and what to write."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    counting_graph(tmp_path / "model.onnx")
    (tmp_path / "vocab.txt").write_text("good\nbad\n")
    with pytest.raises(RunEnded, match=r"gives 2 scores and there are 3 labels .*options.labels"):
        ask(tmp_path, "onnx", mood, [{"text": "x"}], encoding="counts", labels=["a", "b", "c"])


DYNALAB = """
import json
from ts.torch_handler.base_handler import BaseHandler

class MyHandler(BaseHandler):
    def initialize(self, context):
        self.folder = context.system_properties["model_dir"]
        self.words = json.load(open(self.folder + "/words.json"))
    def preprocess(self, data):
        return [row["body"]["statement"] for row in data]
    def inference(self, texts):
        return [self.words.get(text, "negative") for text in texts]
    def postprocess(self, labels):
        return [{"id": "7", "label": label, "prob": {label: 1.0}, "signed": "…"} for label in labels]
"""


def test_a_torchserve_handler_runs_through_the_shim(mood: Task, tmp_path: Path) -> None:
    """Its base class is stood in for, its names for fields are mapped, its book-keeping is dropped."""
    (tmp_path / "handler.py").write_text(DYNALAB)
    (tmp_path / "words.json").write_text('{"good": "positive"}')
    fields = {"text": "statement"}
    found = ask(tmp_path, "dynalab", mood, [{"text": "good"}, {"text": "bad"}], fields=fields)
    assert [one.answer for one in found] == ["positive", "negative"]
    again = ask(tmp_path, "dynalab", mood, [{"text": "good"}, {"text": "bad"}], fields=fields, batched=True)
    assert again == found


def test_a_module_with_handle_alone_is_enough(mood: Task, tmp_path: Path) -> None:
    """The plainest form those servers take: one function."""
    (tmp_path / "handler.py").write_text("def handle(data, context): return ['positive' for row in data]")
    assert ask(tmp_path, "dynalab", mood, [{"text": "x"}])[0].answer == "positive"


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "soup", "was", "cold", "he", "ate", "why", "rain", "."]


def tiny(folder: Path, head: str, **config: Any) -> None:
    """Save a random BERT with a tokenizer of a few words."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(7)
    shape = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        **config,
    )
    getattr(transformers, head)(shape).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)


def labels(*names: str) -> Mapping[str, Any]:
    """Give the part of a config that names its labels."""
    return {"id2label": dict(enumerate(names)), "label2id": {name: at for at, name in enumerate(names)}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "head", "config"),
    [
        ("text-classification", "BertForSequenceClassification", labels("NEGATIVE", "NEUTRAL", "POSITIVE")),
        ("pair-classification", "BertForSequenceClassification", labels("entailment", "neutral", "contradiction")),
        ("extractive-qa", "BertForQuestionAnswering", {}),
        ("multiple-choice", "BertForMultipleChoice", {}),
    ],
)
def test_a_transformers_folder_answers(kind: str, head: str, config: Mapping[str, Any], tmp_path: Path) -> None:
    """Classification, pairs, spans and options: every answer is one of the task's, alone as in a batch."""
    tiny(tmp_path, head, **config)
    task = check_task(starter(kind, "tiny"))
    example = dict(kind_of(task).example.inputs)
    found = ask(tmp_path, "transformers", task, [example, example])
    assert found[0].answer == found[1].answer
    if kind == "extractive-qa":
        assert found[0].answer["text"] in example["passage"]
        assert example["passage"][found[0].answer["start"] :].startswith(found[0].answer["text"])
    else:
        assert abs(sum(found[0].probabilities.values()) - 1) < 1e-6


@pytest.mark.slow
def test_a_transformers_folder_with_strange_labels_is_explained(mood: Task, tmp_path: Path) -> None:
    """LABEL_0 means nothing to the task; the message says what to write, and writing it helps."""
    tiny(tmp_path, "BertForSequenceClassification", num_labels=2)
    with pytest.raises(RunEnded, match=r"LABEL_0, LABEL_1 are not those of the task .*options.labels"):
        ask(tmp_path, "transformers", mood, [{"text": "the soup"}])
    found = ask(tmp_path, "transformers", mood, [{"text": "the soup"}], labels=["positive", "negative"])
    assert found[0].answer in {"positive", "negative"}


def test_a_wrong_answer_is_named(mood: Task, tmp_path: Path) -> None:
    """What a shim lets through, the task still judges."""
    (tmp_path / "handler.py").write_text("def handle(data, context): return [json for json in ['maybe']]")
    with pytest.raises(BadInput, match="'maybe' is not one of the labels"):
        ask(tmp_path, "dynalab", mood, [{"text": "x"}])


def test_the_models_knowledge_of_its_task_is_small(mood: Task, tmp_path: Path) -> None:
    """An adapter inside is told kind, labels and fields; nothing of data or people."""
    (tmp_path / "handler.py").write_text("def predict(batch): return ['positive'] * len(batch)")
    assert ask(tmp_path, "handler", mood, [{"text": "x"}])[0].answer == "positive"
    from quintain.engine.runner import task_facts

    assert set(task_facts(mood)) == {"name", "kind", "answer", "labels", "fields", "source", "options"}
    assert json.dumps(task_facts(mood))
