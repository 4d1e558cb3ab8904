"""How hard the items of several data sets are, on one scale: the same respondents have answered all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quintain.core.errors import BadInput
from quintain.services.plain.reports.irt import IrtStudy, study_responses
from quintain.stats.bootstrap import FloatArray
from quintain.stats.comparing.compared import ComparedSet
from quintain.stats.irt.fit import IrtModel
from quintain.stats.irt.responses import Responses

LEAST_MODELS = 3
LEAST_ITEMS = 20


def responses_of_models(sets: Sequence[ComparedSet]) -> Responses | None:
    """Return which model got which item right; None where too few models have answered."""
    models = list(dict.fromkeys(model for one in sets for model in one.predictions))
    total = sum(len(one.examples) for one in sets)
    if len(models) < LEAST_MODELS or total < LEAST_ITEMS:
        return None
    correct = np.full((len(models), total), np.nan)
    items: list[str] = []
    tests: list[str] = []
    for compared in sets:
        names = list(compared.ids) or [str(at + 1) for at in range(len(compared.examples))]
        for at, model in enumerate(models):
            if model in compared.predictions:
                right = compared.predictions[model] == compared.examples.answer
                correct[at, len(items) : len(items) + len(names)] = right
        items += [f"{compared.name}:{name}" for name in names]
        tests += [compared.name] * len(names)
    answered = ~np.isnan(correct).all(axis=0)
    answered_columns = np.flatnonzero(answered).tolist()
    return Responses(
        models,
        [items[at] for at in answered_columns],
        correct[:, answered],
        np.ones(len(models)),
        [tests[at] for at in answered_columns],
    )


def responses_to(sets: Sequence[ComparedSet], responses: Responses) -> Responses:
    """Take the responses to items of the data sets, by id, and name the data set of each; others are left out."""
    owner: dict[str, str] = {}
    for compared in sets:
        for name in compared.ids:
            if owner.setdefault(name, compared.name) != compared.name:
                raise BadInput(
                    "The id '{id}' is in {first} and in {second}.",
                    id=name,
                    first=owner[name],
                    second=compared.name,
                    remedy="Responses are matched by id: give the examples of different data sets different ids.",
                )
    matching = [at for at, item in enumerate(responses.items) if item in owner]
    if not matching:
        raise BadInput(
            "None of the {n} items of the responses is an id of a data set.",
            n=len(responses.items),
            remedy="Name the column of the ids with --id, and see whether the items are called the same.",
        )
    names = [responses.items[at] for at in matching]
    return Responses(
        responses.respondents, names, responses.correct[:, matching], responses.weight, [owner[name] for name in names]
    )


def difficulty_study(responses: Responses, model: IrtModel, seed: int) -> tuple[IrtStudy, dict[str, FloatArray]]:
    """Estimate how hard items are; also give the difficulties by data set, those that are finite.

    Where models cannot be told apart there are none, and no data set in what is given.
    """
    study = study_responses(responses, model, seed=seed)
    if not study.fit.told_apart:
        return study, {}
    tests, usable = np.array(study.responses.tests), np.isfinite(study.fit.difficulty)
    return study, {
        name: study.fit.difficulty[(tests == name) & usable] for name in dict.fromkeys(study.responses.tests)
    }
