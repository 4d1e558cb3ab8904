"""An ONNX classifier, run by onnxruntime.

What a graph takes differs, so the manifest says how a text becomes its input:

- `text`: the graph takes strings (a pipeline converted with its vectoriser);
- `words`: numbers of words in `vocab.txt`, cut and filled to `max_length`;
- `counts`: how often each word of `vocab.txt` occurs;
- `tokenizer`: a `tokenizer.json` of the tokenizers library, with mask and type ids where the graph wants them.
"""

from __future__ import annotations

import locale
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.contract import ADAPTERS, Adapter, ModelStart, TaskSketch
from quintain.adapters.shaping import by_label, label_names, named, text_fields, texts
from quintain.core.errors import Fault
from quintain.core.task import Task

LOCALE = "en_US.UTF-8"
EVERYWHERE = Path("/usr/lib/locale/C.utf8")
ENCODINGS = ("text", "words", "counts", "tokenizer")
WORD = re.compile(r"\w+|[^\w\s]")
Encode = Callable[[list[Any]], dict[str, Any]]


@ADAPTERS.register("onnx")
class OnnxAdapter(Adapter):
    """A folder with `model.onnx`: a classifier, run by onnxruntime."""

    name = "onnx"
    title = "ONNX classifier"
    libraries = ("onnxruntime", "numpy", "tokenizers")
    requires = ("onnxruntime",)
    options: ClassVar[Mapping[str, str]] = {
        "file": "The graph; model.onnx by default.",
        "encoding": "How a text becomes input: text, words, counts or tokenizer; text by default.",
        "vocabulary": "The words, one to a line, for `words` and `counts`; vocab.txt by default.",
        "tokenizer": "The tokenizer's file, for `tokenizer`; tokenizer.json by default.",
        "lowercase": "Whether words are looked up in lower case; true by default.",
        "padding": "The word that fills up, for `words`; [PAD] by default.",
        "unknown": "The word that stands for all others, for `words`; [UNK] by default.",
        "max_length": "The most tokens that are read; 256 by default.",
        "input": "Name of the graph's input; its first one by default.",
        "output": "Name of the output to read; the scores by default.",
        "labels": "The labels in the order of the scores; those of the task by default.",
        "fields": "The fields to read; all texts of the task by default.",
        "separator": "What joins several fields into one text; a line break by default.",
    }
    bare: ClassVar[Mapping[str, str]] = {".onnx": "model.onnx"}

    def check(self, folder: Path, task: Task, options: Mapping[str, Any]) -> list[Fault]:
        """Look for the files that the encoding needs."""
        encoding = options.get("encoding", "text")
        if encoding not in ENCODINGS:
            return [
                Fault(
                    "option 'encoding' is {encoding}; it is one of {known}",
                    encoding=repr(encoding),
                    known=", ".join(ENCODINGS),
                    file="quintain.toml",
                )
            ]
        required = [str(options.get("file", "model.onnx"))]
        if encoding in {"words", "counts"}:
            required.append(str(options.get("vocabulary", "vocab.txt")))
        if encoding == "tokenizer":
            required.append(str(options.get("tokenizer", "tokenizer.json")))
        return [Fault("is missing", file=name) for name in required if not (folder / name).is_file()]

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return a script that converts a small pipeline, which takes strings."""
        if not sketch.labels:
            return ModelStart(
                left=("Save the graph as model.onnx, and say in quintain.toml how a text becomes input.",)
            )
        files = {"make_model.py": SCRIPT.format(labels=list(sketch.labels))}
        return ModelStart(files, left=("Put your data into make_model.py and run it: it saves model.onnx.",))


SCRIPT = '''"""Fits a pipeline and saves it as model.onnx (pip install scikit-learn skl2onnx): python make_model.py"""

from pathlib import Path

from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

LABELS = {labels!r}
texts = [f"an example of {{label}}" for label in LABELS]  # your training data

pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, LABELS)
graph = to_onnx(pipeline, initial_types=[("text", StringTensorType([None]))])
Path("model.onnx").write_bytes(graph.SerializeToString())
'''


def _lend_locale() -> None:
    """Let graphs that lower-case strings find the locale that onnxruntime asks for, on machines without it.

    Every locale in UTF-8 changes the case of letters alike; the one that all machines have stands in.
    """
    try:
        locale.setlocale(locale.LC_CTYPE, LOCALE)
    except locale.Error:
        if EVERYWHERE.is_dir():
            folder = tempfile.mkdtemp()
            for name in (LOCALE, "C.UTF-8"):
                os.symlink(EVERYWHERE, f"{folder}/{name}")
            os.environ["LOCPATH"] = folder
    else:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")


def open_model(path: str, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
    """Load the graph on one CPU thread, as every model is run."""
    import onnxruntime

    _lend_locale()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(Path(path, str(options.get("file", "model.onnx")))), settings, providers=["CPUExecutionProvider"]
    )
    encode = _encoder(session, path, options)
    labels = label_names(options)
    outputs = [str(options["output"])] if "output" in options else [output.name for output in session.get_outputs()]

    def predict(batch: list[Any]) -> list[Any]:
        return _answers(session.run(outputs, encode(batch)), labels)

    return predict


def _answers(results: Sequence[Any], labels: Sequence[str]) -> list[Any]:
    """Read scores from whichever output has them; classes alone where none does."""
    for result in results:
        if isinstance(result, list) and result and isinstance(result[0], dict):  # scores by class, as skl2onnx writes
            return [{str(named(name, labels)): float(share) for name, share in row.items()} for row in result]
        if getattr(result, "ndim", 0) == 2 and result.dtype.kind == "f" and result.shape[1] > 1:
            return [by_label(row, labels) for row in result.tolist()]
    return [named(one, labels) for one in results[0].reshape(-1).tolist()]


def _encoder(session: Any, path: str, options: Mapping[str, Any]) -> Encode:
    encoding = options.get("encoding", "text")
    if encoding == "tokenizer":
        return _subwords(session, path, options)
    first = session.get_inputs()[0]
    name = str(options.get("input", first.name))
    shape = next((one.shape for one in session.get_inputs() if one.name == name), first.shape)
    if encoding == "text":
        _refuse_numbers(session, name)
        return _strings(name, options, column=len(shape) == 2)
    words = Path(path, str(options.get("vocabulary", "vocab.txt"))).read_text(encoding="utf-8").splitlines()
    numbers = {word: number for number, word in enumerate(words)}
    return (_word_numbers if encoding == "words" else _word_counts)(name, numbers, options)


def _refuse_numbers(session: Any, name: str) -> None:
    """Refuse a graph whose input takes numbers where nothing says how a text becomes them."""
    taken = next((one.type for one in session.get_inputs() if one.name == name), "")
    if taken and taken != "tensor(string)":
        raise ValueError(
            f"the graph's input '{name}' takes {taken}, not strings: hand in a folder whose quintain.toml says in "
            "options.encoding how a text becomes numbers (words, counts or tokenizer)"
        )


def _strings(name: str, options: Mapping[str, Any], *, column: bool) -> Encode:
    import numpy as np

    def encode(batch: list[Any]) -> dict[str, Any]:
        column_of = np.array(texts(batch, options), dtype=object)
        return {name: column_of.reshape(-1, 1) if column else column_of}

    return encode


def _split(text: str, options: Mapping[str, Any]) -> list[str]:
    return WORD.findall(text.lower() if options.get("lowercase", True) else text)


def _word_numbers(name: str, numbers: Mapping[str, int], options: Mapping[str, Any]) -> Encode:
    import numpy as np

    length = int(options.get("max_length", 256))
    fill = numbers.get(str(options.get("padding", "[PAD]")), 0)
    unknown = numbers.get(str(options.get("unknown", "[UNK]")), fill)

    def encode(batch: list[Any]) -> dict[str, Any]:
        rows = np.full((len(batch), length), fill, dtype=np.int64)
        for row, text in zip(rows, texts(batch, options), strict=True):
            codes = [numbers.get(word, unknown) for word in _split(text, options)[:length]]
            row[: len(codes)] = codes
        return {name: rows}

    return encode


def _word_counts(name: str, numbers: Mapping[str, int], options: Mapping[str, Any]) -> Encode:
    import numpy as np

    def encode(batch: list[Any]) -> dict[str, Any]:
        rows = np.zeros((len(batch), len(numbers)), dtype=np.float32)
        for row, text in zip(rows, texts(batch, options), strict=True):
            for word in _split(text, options):
                if word in numbers:
                    row[numbers[word]] += 1
        return {name: rows}

    return encode


def _subwords(session: Any, path: str, options: Mapping[str, Any]) -> Encode:
    import numpy as np
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(path, str(options.get("tokenizer", "tokenizer.json")))))
    tokenizer.enable_truncation(int(options.get("max_length", 256)))
    tokenizer.enable_padding()
    input_names = {one.name for one in session.get_inputs()}
    fields = text_fields(options)

    def encode(batch: list[Any]) -> dict[str, Any]:
        pairs = [tuple(str(item[name]) for name in fields[:2]) for item in batch]
        encodings = tokenizer.encode_batch([pair if len(pair) == 2 else pair[0] for pair in pairs])
        columns = {
            "input_ids": [encoding.ids for encoding in encodings],
            "attention_mask": [encoding.attention_mask for encoding in encodings],
            "token_type_ids": [encoding.type_ids for encoding in encodings],
        }
        return {name: np.array(rows, dtype=np.int64) for name, rows in columns.items() if name in input_names}

    return encode
