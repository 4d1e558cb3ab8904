"""Fine-tuning a transformers checkpoint that lies in a local folder. It can be killed at any time, and goes on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from quintain.core import spec_kinds as kinds
from quintain.core.errors import BadInput
from quintain.core.spec import N_, option, specification
from quintain.core.task import Task
from quintain.models.checkpoint_folder import look_at_checkpoint
from quintain.models.contract import Handler
from quintain.models.learning import LEARNERS, Learner, Lesson, Lessons


@specification
class TransformersOptions:
    """What fine-tuning takes; the defaults are those of DynaSent's Model 0 and Model 1."""

    checkpoint: str = option(
        kinds.text(500),
        default="",
        title=N_("Checkpoint"),
        help=N_(
            "Folder of the checkpoint to begin with, relative to the recipe; on a server the name of a folder in "
            "QUINTAIN_CHECKPOINTS. Not needed where it goes on from a model."
        ),
    )
    length: int = option(
        kinds.whole(8, 4096), default=128, title=N_("Length"), help=N_("Tokens that are read of an example.")
    )
    rate: float = option(
        kinds.number(0, 1, above=True),
        default=2e-5,
        title=N_("Learning rate"),
        help=N_("Where it starts; it falls to 0 in a line."),
    )
    batch: int = option(
        kinds.whole(1, 4096), default=8, title=N_("Batch"), help=N_("Examples that it learns from at once.")
    )
    epochs: int = option(
        kinds.whole(1, 1000), default=3, title=N_("Epochs"), help=N_("How often it goes through the data.")
    )
    dropout: float = option(
        kinds.number(0, 0.9), default=0.1, title=N_("Dropout"), help=N_("Of attention weights and hidden states.")
    )
    decay: float = option(kinds.fraction(), default=0.0, title=N_("Weight decay"), help=N_("Of AdamW."))
    device: str = option(
        kinds.one_of(("auto", "cpu", "cuda")),
        default="auto",
        title=N_("Device"),
        help=N_("Where it runs: on a GPU where there is one, unless it is said."),
    )
    save_seconds: int = option(
        kinds.whole(0, 86_400),
        default=120,
        title=N_("Seconds between savings"),
        help=N_("How much work is lost at most when it is killed."),
    )


@LEARNERS.register("transformers")
class FineTuning(Learner):
    """Fine-tune all weights with AdamW."""

    name: ClassVar[str] = "transformers"
    title: ClassVar[str] = "Fine-tuned transformer"
    about: ClassVar[str] = (
        "A pretrained transformer with a classifier on top, all of it fine-tuned. Beside the training data, it has "
        "whatever its checkpoint was pretrained on; it reads a limited number of tokens and nothing after them."
    )
    adapter: ClassVar[str] = "transformers"
    options = TransformersOptions
    requires: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    extra: ClassVar[str] = "transformers"
    chosen: TransformersOptions

    def folders(self) -> Mapping[str, str]:
        """Return the checkpoint's folder."""
        return {"checkpoint": self.chosen.checkpoint} if self.chosen.checkpoint else {}

    def manifest(self, task: Task) -> Mapping[str, Any]:
        """Return the order of the labels and how much is read."""
        return {"labels": list(task.label_names), "max_length": self.chosen.length}

    def check_trainable(self, task: Task, start: Path | None) -> None:
        """Refuse a checkpoint that is not complete."""
        look_at_checkpoint(self._begin(start))

    def load(self, task: Task, folder: Path) -> Handler:
        """Load the fine-tuned model."""
        from quintain.models.fine_tuning import FineTuned  # imports torch

        return FineTuned(folder, task, self.chosen)

    def learn(self, lesson: Lesson) -> Lessons:
        """Fine-tune, or go on where it was."""
        self.permit()
        from quintain.models.fine_tuning import FineTuningRun  # imports torch

        return FineTuningRun(lesson, self.chosen, self._begin(lesson.start)).run()

    def _begin(self, start: Path | None) -> Path:
        if start is None and not self.chosen.checkpoint:
            raise BadInput(
                "The recipe names no checkpoint to begin with.",
                remedy='Write checkpoint = "FOLDER" under [options], or `continue` to go on from a model.',
            )
        return start or Path(self.chosen.checkpoint)
