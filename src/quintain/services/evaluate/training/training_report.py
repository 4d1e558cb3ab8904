"""What came of a recipe, as Markdown."""

from __future__ import annotations

from quintain.core.escaping import markdown
from quintain.core.records.training import TrainingResult
from quintain.services.evaluate.training.inoculate import inoculation_markdown
from quintain.services.evaluate.training.recipe_card import figure, markdown_table


def result_markdown(result: TrainingResult) -> str:
    """Write what came of a recipe: the mix, the models with their figures, or the curves of inoculation."""
    head = ["source", "rows", "copies", "weight", "labels", "examples"]
    mix = [
        [
            f"`{one.name}`",
            f"{one.rows:,} of {one.has:,}",
            str(one.copies),
            f"{one.weight:g}",
            one.labels,
            f"{one.examples:,}",
        ]
        for one in result.mix
    ]
    parts = [
        f"# Training {markdown(result.name)}",
        markdown_table(head, mix),
        *(f"**Note:** {markdown(note)}" for note in result.notes),
    ]
    if result.inoculation is not None:
        parts.append(inoculation_markdown(result.inoculation))
    rows = [
        [
            f"`{model.ref or model.folder}`",
            str(model.seed),
            f"`{dev.name}`",
            *map(figure, (dev.macro_f1, *dev.f1.values())),
        ]
        for model in result.models
        for dev in model.dev
    ]
    if rows:
        labels = next(dev.f1 for model in result.models for dev in model.dev)
        parts.append(
            markdown_table(["model", "seed", "dev set", "macro F1", *(f"F1 {label}" for label in labels)], rows)
        )
    return "\n\n".join(parts).rstrip() + "\n"
