"""Errors of the models that were run on a data set of the workspace."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.report import ReportSection
from quintain.data.label_view import votes_of
from quintain.services.plain.reports.errors.reading import LEAST_EXAMPLES, AnsweredSet
from quintain.services.plain.reports.errors.report import calibration_section, disagreement_section, slices_section
from quintain.services.study.stored import StoredSet
from quintain.tasks.contract import kind_of


def answered_set(stored: StoredSet) -> AnsweredSet | None:
    """Take a version whose answers are labels, with what models said of it; None for others and for small ones."""
    table = stored.table
    if table.schema["answer"] != pl.String() or not stored.task.label_names or table.height < LEAST_EXAMPLES:
        return None
    fields = [field.name for field in kind_of(stored.task).fields(stored.task) if field.name in table.columns]
    texts = {name: table[name].fill_null("").to_list() for name in fields if table.schema[name] == pl.String()}
    tags = [list(tag or ()) for tag in table["tags"].to_list()] if "tags" in table.columns else []
    votes: list[Mapping[str, int]] = (
        [{name: round(number) for name, number in votes_of(one).items()} for one in table["meta"].to_list()]
        if "meta" in table.columns
        else []
    )
    return AnsweredSet(
        table["id"].to_list(),
        table["answer"].to_list(),
        texts,
        {"tags": tags} if any(tags) else {},
        {model: one["prediction"].cast(pl.String).to_list() for model, one in stored.said.items()},
        votes if any(votes) else (),
        {
            model: [_numbers(value) for value in one["probabilities"].to_list()]
            for model, one in stored.said.items()
            if "probabilities" in one.columns and one.schema["probabilities"].is_nested()
        },
    )


def error_sections(stored: StoredSet, seed: int, commands: list[str]) -> list[ReportSection]:
    """Return where the best model is weak, what the two best disagree on, and whether it is as unsure as people."""
    answered = answered_set(stored)
    if answered is None or not answered.said:
        return []
    best = sorted(answered.said, key=lambda model: (-float(answered.right(model).mean()), model))
    sections = [slices_section(answered, best[0], commands)[0]]
    if len(best) > 1:
        sections.append(disagreement_section(_only(answered, best[:2]), commands)[0])
    for model in best:
        if model in answered.believed and len(answered.votes):
            try:
                sections.append(calibration_section(answered, model, seed, commands)[0])
            except BadInput:  # too few examples have both: there is nothing to tell
                continue
            break
    return sections


def _only(answered: AnsweredSet, models: list[str]) -> AnsweredSet:
    answers = {model: answered.said[model] for model in models}
    return AnsweredSet(answered.ids, answered.gold, answered.texts, answered.values, answers)


def _numbers(value: Mapping[str, float | None] | None) -> Mapping[str, float]:
    """Return probabilities by label; those that are not there are none."""
    return {name: float(one) for name, one in (value or {}).items() if one is not None and np.isfinite(one)}
