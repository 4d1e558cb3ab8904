"""A recipe: the data, labels and learner that a model is trained with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import N_, option, specification, table, tables

Labels = Literal["majority", "distributional", "soft"]
MAX_ROWS = 100_000_000
VIEWS = {
    "majority": (N_("Majority"), N_("Every example once, with its answer.")),
    "distributional": (N_("Distributional"), N_("Every example once for each vote.")),
    "soft": (N_("Soft"), N_("Every example once, with the shares of its votes as target.")),
}


@specification
class SourceSpec:
    """One source of training examples, and how much of it is taken."""

    data: str = option(
        kinds.text(200),
        default="",
        title=N_("Data set version"),
        help=N_("As task/name@version; the newest version where none is said."),
    )
    file: str = option(
        kinds.text(500),
        default="",
        title=N_("File"),
        help=N_("A file of examples instead, relative to the recipe; for commands only."),
    )
    preset: str = option(
        kinds.text(80), default="", title=N_("Preset"), help=N_("How the file is read, as for `data import`.")
    )
    copies: int = option(
        kinds.whole(1, 1000), default=1, title=N_("Copies"), help=N_("How often each of its examples is taken.")
    )
    weight: float = option(
        kinds.number(0, 1000, above=True),
        default=1.0,
        title=N_("Weight"),
        help=N_("How much each of its examples counts in the loss."),
    )
    only: Mapping[str, Any] = option(
        kinds.each(),
        default={},
        title=N_("Only rows with"),
        help=N_("Values to keep by field, tag or what is kept beside an example: `only = { rating = [1, 3, 5] }`."),
    )
    sample: int | None = option(
        kinds.whole(1, MAX_ROWS),
        default=None,
        title=N_("Sample"),
        help=N_("At most so many of the rows that are left, drawn by `seed`."),
    )
    share: float | None = option(
        kinds.fraction(above=True),
        default=None,
        title=N_("Share"),
        help=N_("This share of the rows that are left, drawn by `seed`."),
    )
    seed: int = option(
        kinds.whole(0, 2**31 - 1), default=0, title=N_("Seed"), help=N_("What sample and share are drawn by.")
    )
    labels: str = option(
        kinds.one_of(tuple(VIEWS), empty=True),
        default="",
        title=N_("Labels"),
        help=N_("As the recipe's `labels`, for this source; its examples must have votes where it asks for them."),
    )

    @property
    def name(self) -> str:
        """What the source is called where it is reported on."""
        return self.data or self.file

    def check(self) -> Iterator[Fault]:
        """Compare the options with each other."""
        if not self.data and not self.file:
            yield Fault("is missing; a source has either `data` or `file`", field="data")
        elif self.data and self.file:
            yield Fault("is given beside `data`; a source has one of them", field="file")
        if self.preset and not self.file:
            yield Fault("is given without a file", field="preset")
        if self.sample is not None and self.share is not None:
            yield Fault("is given beside `sample`; a source has one of them", field="share")


@specification
class InoculationSpec:
    """Fine-tuning by inoculation: subsets of growing size, stopped by the data that the model was good at."""

    original: tuple[str, ...] = option(
        kinds.texts(20),
        title=N_("Original dev sets"),
        help=N_("Data set versions (or files) on which training must not lose: it stops by them."),
    )
    sizes: tuple[int, ...] = option(
        kinds.numbers(kinds.whole(1, MAX_ROWS), 50, least=1),
        default=(10, 50, 100, 500, 1000),
        title=N_("Sizes"),
        help=N_("Rows of the subsets; each holds the ones before it."),
    )
    patience: int = option(
        kinds.whole(1, 1000),
        default=5,
        title=N_("Patience"),
        help=N_("Epochs without gain on the original dev sets after which it stops."),
    )

    def check(self) -> Iterator[Fault]:
        """Look for what nothing could be measured on."""
        if not self.original:
            yield Fault("is empty; name the dev sets that the model was good at", field="original")


@specification
class RecipeSpec:
    """What a model is trained from, how, and what is kept of it."""

    task: str = option(
        kinds.text(200, 1),
        title=N_("Task"),
        help=N_("The task, or with --out its file, relative to the recipe."),
        written=True,
    )
    name: str = option(
        kinds.name(100), title=N_("Name of the model"), help=N_("The model that gets a new version."), section="what"
    )
    mix: tuple[SourceSpec, ...] = option(
        tables(SourceSpec, least=1), title=N_("Data"), help=N_("What it is trained on.")
    )
    learner: str = option(
        kinds.text(80, 1),
        default="linear",
        title=N_("Learner"),
        help=N_("What learns: `quintain model learners` lists them with their options."),
        section="what",
        written=True,
    )
    continue_: str = option(
        kinds.text(200),
        default="",
        title=N_("Go on from"),
        help=N_("A model version to go on from, as task/name@version; from scratch where it is empty."),
        section="what",
    )
    labels: Labels = option(
        kinds.one_of(VIEWS),
        default="majority",
        title=N_("Labels"),
        help=N_("How people's votes become training examples; examples without votes are taken with their answer."),
        section="what",
    )
    mixes: Mapping[str, Any] = option(
        kinds.each(kinds.texts(20)),
        default={"mixed": ("positive", "negative")},
        title=N_("Votes that count for several labels"),
        help=N_("Which labels a vote counts for, where it is for none of the task's."),
    )
    dev: tuple[str, ...] = option(
        kinds.texts(50),
        default=(),
        title=N_("Dev sets"),
        help=N_("Data set versions (or files) that it is measured on, and stopped by."),
        section="what",
    )
    seeds: tuple[int, ...] = option(
        kinds.numbers(kinds.whole(0, 2**31 - 1), 50, least=1),
        default=(0,),
        title=N_("Seeds"),
        help=N_("A model is trained for each."),
        section="how",
    )
    patience: int | None = option(
        kinds.whole(1, 1000),
        default=None,
        title=N_("Patience"),
        help=N_("Epochs without gain on the dev sets after which training stops; the best epoch is kept."),
        section="how",
    )
    checkpoints: tuple[float, ...] = option(
        kinds.numbers(kinds.number(0, 0.99, above=True), 20),
        default=(),
        title=N_("Checkpoints"),
        help=N_("Shares of training after which a version is kept as well, such as 0.01 and 0.5; the best comes last."),
        section="how",
    )
    visibility: str = option(
        kinds.one_of(("public", "private", "anonymous")),
        default="public",
        title=N_("Visibility"),
        help=N_("Who sees the model, where it is new."),
        section="how",
    )
    force: bool = option(
        kinds.flag(),
        default=False,
        title=N_("Also on evaluation data"),
        help=N_("Train on contrast sets and what they were made of as well; the card says so."),
        section="how",
    )
    options: Mapping[str, Any] = option(
        kinds.each(), default={}, title=N_("Options of the learner"), help=N_("What the learner takes.")
    )
    inoculation: InoculationSpec | None = option(
        table(InoculationSpec),
        default=None,
        help=N_("Measures what some of the data does to a model, instead of making a new one."),
    )

    def check(self) -> Iterator[Fault]:
        """Compare the options with each other."""
        stops = self.patience is not None or self.checkpoints
        if stops and not self.dev and self.inoculation is None:
            yield Fault("is empty; stopping and keeping the best need a dev set", field="dev")
        if self.inoculation is not None:
            yield from self._check_inoculation()

    def _check_inoculation(self) -> Iterator[Fault]:
        if not self.continue_:
            yield Fault("is missing; inoculation goes on from a model", field="continue")
        if self.labels != "majority" or any(one.labels not in {"", "majority"} for one in self.mix):
            yield Fault("is not majority, which inoculation is for", field="labels")
        if self.checkpoints:
            yield Fault("is given; inoculation keeps no models", field="checkpoints")
