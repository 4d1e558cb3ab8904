"""The card of a model that was trained by a recipe: what is known of it, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from quintain.core.escaping import markdown_block
from quintain.core.recipe import RecipeSpec
from quintain.core.records.training import DevFigures
from quintain.data.mixing import Mix
from quintain.models.card import write_card
from quintain.models.learning import Lessons
from quintain.services.evaluate.training.recipe_inputs import RecipeInputs
from quintain.services.plain.files.training import warned

VIEWS = {
    "majority": "each with its answer",
    "distributional": "each once for every vote",
    "soft": "each with the shares of its votes",
}


def recipe_card(
    inputs: RecipeInputs, lessons: Lessons, figures: Sequence[DevFigures], seed: int, share: float | None
) -> str:
    """Write the card of one model; *share* is how much of training it has seen, None for the end."""
    task, learner, recipe = inputs.task, inputs.learner, inputs.recipe
    stage = "" if share is None else f", after {share:.0%} of training"
    return write_card(
        f"{recipe.name} for {task.name}{stage}",
        {
            "Intended use": f"{_purpose(share)} for the task `{task.name}` ({task.kind}): to be compared with other "
            "models, and an opponent for people who write examples. It is not meant for decisions about anybody.",
            "Training data": f"{_data(inputs.mix)}\n\n{_how(inputs, lessons, seed)}{warned(inputs.notes)}",
            "Evaluation": _evaluation(figures, share),
            "Limitations": lessons.about or learner.about,
            "Ethical considerations": "Whatever regularities the training data has, prejudices included, it may have "
            "learned. Nobody has looked for them, beyond what the figures above show.",
            "Licence": "The program is under the Apache License 2.0. What was learned comes from the training data "
            "and, where there was one, the checkpoint, whose own licences say how it may be used.",
        },
    )


def _purpose(share: float | None) -> str:
    return "A model" if share is None else "A respondent of lower ability, kept on the way to a model,"


def _data(mix: Mix) -> str:
    head = ["source", "rows", "copies", "weight", "labels", "examples", *mix.labels]
    rows = [
        [
            f"`{part.name}`",
            f"{part.rows:,} of {part.has:,}",
            str(part.copies),
            f"{part.weight:g}",
            part.labels,
            f"{part.examples:,}",
            *(f"{part.by_label[label]:,.0f}" for label in mix.labels),
        ]
        for part in mix.parts
    ]
    total = ["all", "", "", "", "", f"{mix.examples:,}"]
    total += [f"{sum(part.by_label[label] for part in mix.parts):,.0f}" for label in mix.labels]
    return f"{mix.examples:,} training examples:\n\n{markdown_table(head, [*rows, total])}"


def _how(inputs: RecipeInputs, lessons: Lessons, seed: int) -> str:
    recipe, learner = inputs.recipe, inputs.learner
    sentences = [f"Learner `{learner.name}` ({learner.title}), seed {seed}, {_labels(recipe)}."]
    begin = f"It went on from `{inputs.start.ref}`." if inputs.start else "It was trained from scratch."
    sentences.append(begin)
    if lessons.best is not None:
        sentences.append(f"Of {lessons.epochs} epochs, epoch {lessons.best} was the best on the dev sets and was kept.")
    sentences += [f"{name}: {value}." for name, value in lessons.facts.items()]
    chosen = ", ".join(f"{name} = {value}" for name, value in recipe.options.items() if name not in learner.folders())
    return " ".join([*sentences, f"Options: {chosen}." if chosen else ""]).strip()


def _labels(recipe: RecipeSpec) -> str:
    return f"{recipe.labels} labels ({VIEWS[recipe.labels]}, where it has votes)"


def _evaluation(figures: Sequence[DevFigures], share: float | None) -> str:
    if share is not None:
        return "It was not evaluated when it was kept; the board shows what was measured since."
    if not figures:
        return "It was not evaluated when it was trained; the board shows what was measured since."
    labels = list(figures[0].f1)
    head = ["dev set", "examples", "macro F1", "accuracy", *(f"F1 {label}" for label in labels)]
    rows = [
        [
            f"`{one.name}`",
            f"{one.rows:,}",
            f"{one.macro_f1:.4f}",
            f"{one.accuracy:.4f}",
            *(figure(one.f1[label]) for label in labels),
        ]
        for one in figures
    ]
    return markdown_table(head, rows)


def figure(value: float | None) -> str:
    """Write a figure; one that is not defined as a dash.

    >>> figure(0.5), figure(None)
    ('0.5000', '–')
    """
    return "–" if value is None else f"{value:.4f}"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table in Markdown.

    >>> print(markdown_table(["a", "b"], [["1", "2"]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [map(_cell, head), ["---"] * len(head), *(map(_cell, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Write a cell, which may hold marks of Markdown that the caller put there, such as those of code."""
    return " ".join(markdown_block(text).split()).replace("|", r"\|")
