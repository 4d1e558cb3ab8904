"""A scikit-learn artefact: a fitted estimator or pipeline, saved by joblib or pickle.

Loading such a file runs whatever it says, so it is loaded inside the sandbox and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.contract import ADAPTERS, Adapter, ModelStart, TaskSketch
from quintain.adapters.shaping import label_names, named, text_fields, texts
from quintain.core.errors import Fault
from quintain.core.task import Task

FILES = ("model.joblib", "model.pkl")


@ADAPTERS.register("sklearn")
class SklearnAdapter(Adapter):
    """A folder with `model.joblib` or `model.pkl`: a fitted scikit-learn pipeline."""

    name = "sklearn"
    title = "scikit-learn artefact"
    libraries = ("sklearn", "joblib", "numpy", "scipy")
    requires = ("sklearn",)
    options: ClassVar[Mapping[str, str]] = {
        "file": "The artefact; model.joblib or model.pkl by default.",
        "input": "What the pipeline takes: `text` (strings) or `dict` (one dictionary per example).",
        "fields": "The fields to read; all texts of the task by default.",
        "separator": "What joins several fields into one text; a line break by default.",
        "labels": "The labels in the order of the classes, where those are numbers.",
    }
    bare: ClassVar[Mapping[str, str]] = {".joblib": "model.joblib", ".pkl": "model.pkl", ".pickle": "model.pkl"}

    def check(self, folder: Path, task: Task, options: Mapping[str, Any]) -> list[Fault]:
        """Look for the artefact; it is not opened."""
        names = (str(options["file"]),) if "file" in options else FILES
        if not any((folder / name).is_file() for name in names):
            return [Fault("is missing; it is the fitted pipeline", file=" or ".join(names))]
        if options.get("input", "text") not in {"text", "dict"}:
            return [
                Fault(
                    "option 'input' is {input}; it is `text` or `dict`",
                    input=repr(options["input"]),
                    file="quintain.toml",
                )
            ]
        return []

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return a script that fits a small pipeline and saves it."""
        if not sketch.labels:
            return ModelStart(left=(f"Save the fitted pipeline as {FILES[0]}: joblib.dump(pipeline, {FILES[0]!r}).",))
        files = {"make_model.py": SCRIPT.format(labels=list(sketch.labels), file=FILES[0])}
        return ModelStart(files, left=("Put your data into make_model.py and run it: it saves model.joblib.",))


# Kept short: it is there to be changed.
SCRIPT = '''"""Fits a pipeline and saves it as {file}: python make_model.py"""

import joblib
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

LABELS = {labels!r}
texts = [f"an example of {{label}}" for label in LABELS]  # your training data

pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, LABELS)
joblib.dump(pipeline, "{file}")
'''


def open_model(path: str, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
    """Load the artefact and ask it for probabilities where it has them."""
    model = _load(path, options)
    whole = options.get("input", "text") == "dict"
    fields = text_fields(options)
    labels = label_names(options)

    def predict(batch: list[Any]) -> list[Any]:
        rows: list[Any] = (
            [{name: item.get(name) for name in fields} for item in batch] if whole else texts(batch, options)
        )
        if hasattr(model, "predict_proba"):
            classes = [str(named(one, labels)) for one in model.classes_]
            return [dict(zip(classes, map(float, row), strict=True)) for row in model.predict_proba(rows)]
        return [named(one, labels) for one in model.predict(rows)]

    return predict


def _load(path: str, options: Mapping[str, Any]) -> Any:
    import joblib

    names = [str(options["file"])] if "file" in options else FILES
    for name in names:
        if Path(path, name).is_file():
            return joblib.load(Path(path, name))  # joblib reads plain pickles, too
    raise FileNotFoundError(f"there is no {' or '.join(names)}")
