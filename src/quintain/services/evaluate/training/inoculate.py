"""Fine-tuning by inoculation (Liu et al., 2019): what growing parts of new data do to a model that was trained before.

The model goes on with random parts of the data, each of which holds the ones before it, and stops where the data that
it was good at gains nothing for some epochs. If the new data gains and the old does not lose, the model only lacked
examples; if both stay, it cannot learn them; if the old loses, the data sets disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.escaping import markdown
from quintain.core.recipe import InoculationSpec
from quintain.core.records.training import DevFigures, Inoculation, InoculationPoint
from quintain.data.mixing import Mix
from quintain.models.contract import Handler, Progress
from quintain.models.learning import Lesson, class_f1, macro_f1, predicted
from quintain.services.evaluate.training.recipe_card import figure, markdown_table
from quintain.services.evaluate.training.recipe_inputs import DevSet, RecipeInputs


def figures_of(handler: Handler, dev: DevSet, labels: Sequence[str]) -> DevFigures:
    """Measure a model on a dev set."""
    gold, answers = dev.table["answer"].to_list(), predicted(handler, dev.table, labels)
    names = np.array(labels)[answers]
    return DevFigures(
        dev.name,
        dev.table.height,
        dict(zip(labels, class_f1(gold, answers, labels), strict=True)),
        macro_f1(gold, answers, labels),
        float(np.mean(names == np.array(gold))) if gold else 0.0,
    )


def inoculate(
    inputs: RecipeInputs, before: Handler, start: Path, folder: Path, seed: int, progress: Progress
) -> Inoculation:
    """Go on from the model in *start*, which answers through *before*, with each part; measure it on every dev set."""
    spec = inputs.recipe.inoculation
    if spec is None or inputs.start is None:
        raise BadInput("The recipe has no inoculation.", remedy="Add a table [inoculation].")
    sizes = _sizes(spec, inputs.mix)
    points = list(_points(inputs, before, 0, 0))
    order = np.random.default_rng(seed).permutation(inputs.mix.table.height)  # a part holds the smaller ones
    dev = pl.concat([one.table for one in inputs.original], how="vertical_relaxed")
    for number, size in enumerate(sizes):
        lesson = Lesson(
            inputs.task,
            inputs.mix.subset(np.sort(order[:size])),
            folder / f"size-{size}",
            dev=dev,
            start=start,
            seed=seed,
            patience=spec.patience,
            progress=_part(progress, number, len(sizes)),
        )
        lessons = inputs.learner.learn(lesson)
        points += _points(inputs, lessons.handler, size, lessons.epochs)
    return Inoculation(inputs.start.ref, spec.patience, list(inputs.task.label_names), points)


def _sizes(spec: InoculationSpec, mix: Mix) -> list[int]:
    """Return the sizes that the mix has rows for, and all of it where a larger one was asked for."""
    rows = mix.table.height
    return sorted({min(size, rows) for size in spec.sizes})


def _points(inputs: RecipeInputs, handler: Handler, size: int, epochs: int) -> Iterator[InoculationPoint]:
    original = {dev_set.name for dev_set in inputs.original}
    for dev_set in (*inputs.original, *(dev for dev in inputs.dev if dev.name not in original)):
        figures = figures_of(handler, dev_set, inputs.task.label_names)
        yield InoculationPoint(
            size, dev_set.name, dev_set.name in original, epochs, figures.f1, figures.macro_f1, figures.rows
        )


def _part(progress: Progress, number: int, of: int) -> Callable[[float], None]:
    return lambda done: progress((number + done) / of)


def inoculation_markdown(inoculation: Inoculation) -> str:
    """Write the curves as a table, with what is needed to read it."""
    head = ["examples", "data set", "epochs", *(f"F1 {label}" for label in inoculation.labels), "macro F1"]
    rows = [
        [
            f"{point.size:,}",
            f"`{point.dataset}`{' (original)' if point.original else ''}",
            str(point.epochs),
            *(figure(point.f1[label]) for label in inoculation.labels),
            figure(point.macro_f1),
        ]
        for point in inoculation.points
    ]
    return (
        f"# Inoculation of {markdown(inoculation.model)}\n\n"
        "The model went on with random parts of the data, majority labels, and stopped after "
        f"{inoculation.patience} epochs without gain on its original dev sets. 0 examples is the model as it was.\n\n"
        f"{markdown_table(head, rows)}\n"
    )
