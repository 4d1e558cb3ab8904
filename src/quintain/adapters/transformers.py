"""A local folder of Hugging Face `transformers`: classification, pairs of texts, questions on passages, options.

No code of the folder runs but what its weights need, and all of it inside the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.contract import ADAPTERS, Adapter, ModelStart, TaskSketch
from quintain.adapters.shaping import softmax, text_fields
from quintain.core.errors import Fault
from quintain.core.jsontext import parse_json
from quintain.core.task import Task

WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
MAX_LENGTH = 384
MAX_SPAN = 30


@ADAPTERS.register("transformers")
class TransformersAdapter(Adapter):
    """A folder as `save_pretrained` writes it: `config.json`, weights and a tokenizer."""

    name = "transformers"
    title = "transformers folder"
    libraries = ("transformers", "torch", "tokenizers", "safetensors", "numpy")
    requires = ("transformers", "torch")
    marks = ("config.json", "*.safetensors")
    options: ClassVar[Mapping[str, str]] = {
        "labels": "The task's labels in the order of the model's outputs; by default those of its config.",
        "fields": "The fields to read; by default all texts of the task.",
        "max_length": f"The most tokens that are read; {MAX_LENGTH} by default.",
    }

    def check(self, folder: Path, task: Task, options: Mapping[str, Any]) -> list[Fault]:
        """Look for config, weights and tokenizer, and that the config can be read."""
        faults = []
        if not any(path for pattern in WEIGHTS for path in folder.glob(pattern)):
            faults.append(Fault("is missing; it holds the weights", file="model.safetensors"))
        if not any((folder / name).is_file() for name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json")):
            faults.append(Fault("is missing; the model cannot read texts without it", file="tokenizer.json"))
        try:
            config = parse_json((folder / "config.json").read_bytes())
        except FileNotFoundError:
            return [Fault("is missing", file="config.json"), *faults]
        except (OSError, ValueError) as error:
            return [Fault("is not JSON: {error}", error=error, file="config.json"), *faults]
        if isinstance(config, dict) and "auto_map" in config:
            faults.append(Fault("names code of its own (auto_map), which is not run", file="config.json"))
        return faults

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return a manifest that lists the labels in their order, with how the folder is filled."""
        options = {"labels": list(sketch.labels)} if sketch.labels else {}
        left = ["Save model and tokenizer here: model.save_pretrained(folder); tokenizer.save_pretrained(folder)."]
        left += ["Put options.labels in the order of the model's outputs."] if options else []
        return ModelStart(options=options, left=tuple(left))


def open_model(path: str, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
    """Load the folder for the kind of answer that the task asks for."""
    import torch
    import transformers

    torch.set_num_threads(1)
    answer = options.get("task", {}).get("answer", "label")
    heads = {
        "label": ("AutoModelForSequenceClassification", _classify),
        "choice": ("AutoModelForMultipleChoice", _choose),
        "span": ("AutoModelForQuestionAnswering", _extract),
    }
    if answer not in heads:
        raise ValueError(f"the transformers adapter answers with labels, choices and spans, not with a {answer}")
    head, make = heads[answer]
    tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
    model = getattr(transformers, head).from_pretrained(path, local_files_only=True).eval()
    inner = make(tokenizer, model, options)

    def predict(batch: list[Any]) -> list[Any]:
        with torch.inference_mode():
            return inner(batch)

    return predict


def _length(tokenizer: Any, options: Mapping[str, Any]) -> int:
    return min(int(options.get("max_length", MAX_LENGTH)), int(tokenizer.model_max_length))


def _classify(tokenizer: Any, model: Any, options: Mapping[str, Any]) -> Callable[[list[Any]], list[Any]]:
    fields = text_fields(options)
    labels = _labels(model.config.id2label, options)

    def predict(batch: list[Any]) -> list[Any]:
        columns = [[str(item.get(name) or "") for item in batch] for name in fields[:2]]
        encoded = tokenizer(
            *columns, truncation=True, max_length=_length(tokenizer, options), padding=True, return_tensors="pt"
        )
        return [dict(zip(labels, softmax(row), strict=True)) for row in model(**encoded).logits.tolist()]

    return predict


def _labels(own: Mapping[Any, str], options: Mapping[str, Any]) -> list[str]:
    """Return the task's labels in the order of the outputs, whatever the letters' case in the model's config."""
    names = [own[number] for number in sorted(own, key=int)]
    known = [str(label) for label in options.get("task", {}).get("labels", [])]
    if options.get("labels"):
        chosen = [str(label) for label in options["labels"]]
    else:
        spelt = {label.lower(): label for label in known}
        chosen = [spelt.get(str(name).lower(), "") for name in names] if spelt else [str(name) for name in names]
        if not all(chosen):
            raise ValueError(
                f"the model's labels {', '.join(names)} are not those of the task ({', '.join(known)}); "
                "list the task's labels in options.labels, in the order of the outputs"
            )
    if len(chosen) != len(names):
        raise ValueError(f"the model has {len(names)} outputs and {len(chosen)} labels are given")
    return chosen


def _choose(tokenizer: Any, model: Any, options: Mapping[str, Any]) -> Callable[[list[Any]], list[Any]]:
    def one(item: Mapping[str, Any]) -> list[float]:
        entries = [str(entry) for entry in item["options"]]
        passage = str(item.get("passage") or "")
        pairs = [f"{item.get('question') or ''} {entry}".strip() for entry in entries]
        encoded = tokenizer(
            [passage] * len(pairs),
            pairs,
            truncation="only_first",
            max_length=_length(tokenizer, options),
            padding=True,
            return_tensors="pt",
        )
        return softmax(model(**{name: rows.unsqueeze(0) for name, rows in encoded.items()}).logits[0].tolist())

    return lambda batch: [one(item) for item in batch]


def _extract(tokenizer: Any, model: Any, options: Mapping[str, Any]) -> Callable[[list[Any]], list[Any]]:
    source = options.get("task", {}).get("source", "passage")
    length = _length(tokenizer, options)
    unanswerable = bool(options.get("task", {}).get("options", {}).get("unanswerable", False))

    def one(item: Mapping[str, Any]) -> dict[str, Any]:
        text = str(item[source])
        encoded = tokenizer(
            str(item["question"]),
            text,
            truncation="only_second",
            max_length=length,
            stride=min(64, length // 4),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            padding=True,
            return_tensors="pt",
        )
        offsets = encoded.pop("offset_mapping").tolist()
        encoded.pop("overflow_to_sample_mapping")
        output = model(**encoded)
        best, none = (float("-inf"), 0, 0), float("-inf")
        for window, places in enumerate(offsets):
            starts, ends = output.start_logits[window].tolist(), output.end_logits[window].tolist()
            none = max(none, starts[0] + ends[0])
            inside = [at for at, part in enumerate(encoded.sequence_ids(window)) if part == 1]
            best = max([best, *_spans(starts, ends, inside, places)])
        score, start, end = best
        return {"text": ""} if unanswerable and none > score else {"start": start, "end": end}

    return lambda batch: [one(item) for item in batch]


def _spans(
    starts: list[float], ends: list[float], inside: list[int], places: list[list[int]]
) -> list[tuple[float, int, int]]:
    return [
        (starts[first] + ends[last], places[first][0], places[last][1])
        for position, first in enumerate(inside)
        for last in inside[position : position + MAX_SPAN]
    ]
