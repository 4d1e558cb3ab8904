"""A sentence encoder with a linear head, as the learner `embeddings` writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.contract import ADAPTERS, Adapter, ModelStart, TaskSketch
from quintain.adapters.shaping import text_fields
from quintain.core.errors import Fault
from quintain.core.task import Task

HEAD = "head.npz"
LENGTH = 128


@ADAPTERS.register("embeddings")
class EmbeddingsAdapter(Adapter):
    """A folder of `transformers` without a classifier, and `head.npz` with weights and intercepts."""

    name = "embeddings"
    title = "Sentence embeddings with a linear head"
    libraries = ("transformers", "torch", "tokenizers", "safetensors", "numpy")
    requires = ("transformers", "torch")
    modules = ("models",)
    options: ClassVar[Mapping[str, str]] = {
        "labels": "The task's labels in the order of the head's columns.",
        "fields": "The fields to read; by default all texts of the task, two at most.",
        "max_length": f"The most tokens that are read; {LENGTH} by default.",
    }

    def check(self, folder: Path, task: Task, options: Mapping[str, Any]) -> list[Fault]:
        """Look for encoder, tokenizer and head."""
        required = ("config.json", "model.safetensors", "tokenizer.json", HEAD)
        return [Fault("is missing", file=name) for name in required if not (folder / name).is_file()]

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return a manifest alone, with which files are to come, and what writes them."""
        left = f"Save the encoder and its tokenizer here, and {HEAD} with the arrays weights and intercepts."
        learned = "A recipe whose learner is embeddings writes such a folder: quintain train RECIPE.toml --out models."
        return ModelStart(options={"labels": list(sketch.labels)} if sketch.labels else {}, left=(left, learned))


def open_model(path: str, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
    """Load encoder and head; the head is numbers, read without running anything."""
    import numpy as np
    import torch

    from quintain.models.embedding import Encoder, head_probabilities

    torch.set_num_threads(1)
    encoder = Encoder(Path(path), length=int(options.get("max_length", LENGTH)))
    with np.load(Path(path) / HEAD, allow_pickle=False) as head:
        weights, intercepts = head["weights"], head["intercepts"]
    labels = [str(label) for label in options.get("labels") or options.get("task", {}).get("labels", [])]
    if len(labels) != len(intercepts):
        raise ValueError(f"the head has {len(intercepts)} outputs and {len(labels)} labels are given")
    fields = text_fields(options)[:2]

    def predict(batch: list[Any]) -> list[Any]:
        columns = [[str(item.get(name) or "") for item in batch] for name in fields]
        shares = head_probabilities(encoder.vectors(columns), weights, intercepts)
        return [dict(zip(labels, row, strict=True)) for row in shares.tolist()]

    return predict
