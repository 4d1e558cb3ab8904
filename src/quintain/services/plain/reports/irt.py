"""Item response theory on plain files: what was found of the responses, as tables and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import numpy as np
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.texts import Text, hint
from quintain.data.in_memory import Source
from quintain.data.tables import write_table
from quintain.services.plain.reports.responses import ResponseReading, read_responses
from quintain.stats.irt.choosing import RankingKept, rankings_kept
from quintain.stats.irt.fit import IrtFit, IrtMethod, IrtModel, Normal
from quintain.stats.irt.fitting import fit_responses
from quintain.stats.irt.information import most_informative
from quintain.stats.irt.responses import Responses
from quintain.stats.irt.suspects import Suspects, suspicious

Known = TypeVar("Known", bound=str)
MODELS: Sequence[IrtModel] = get_args(IrtModel)
METHODS: Sequence[IrtMethod] = get_args(IrtMethod)
FEW_FOR_PRIORS = (
    1000  # respondents below which the bound prefers narrow priors of discrimination, see stats.irt.variational
)
WIDEST = 5  # that a prior of the logit of guessing may be


@dataclass(frozen=True, slots=True)
class IrtStudy:
    """What was found of responses; *subset* has the most informative items, where some were asked for.

    Where respondents cannot be told apart (`fit.told_apart`) there are no difficulties, and nothing rests on them.
    """

    responses: Responses
    fit: IrtFit
    suspects: Suspects
    subset: list[int]
    notes: list[str]
    seed: int = 0

    def items(self) -> pl.DataFrame:
        """Return the items as a table."""
        fit = self.fit
        return pl.DataFrame(
            {
                "item": list(self.responses.items),
                "discrimination": fit.discrimination,
                "difficulty": fit.difficulty,
                "guessing": fit.guess,
            }
        ).fill_nan(None)

    def abilities(self) -> pl.DataFrame:
        """Return the respondents as a table."""
        names = list(self.responses.respondents)
        return pl.DataFrame({"respondent": names, "ability": self.fit.ability, "error": self.fit.ability_error})

    def suspicious(self) -> pl.DataFrame:
        """Return the items for review as a table, the most suspicious first."""
        suspects = self.suspects
        return pl.DataFrame(
            {
                "item": [self.responses.items[at] for at in suspects.items],
                "z": suspects.z,
                "strong_wrong": suspects.strong_wrong,
                "weak_right": suspects.weak_right,
            },
            schema_overrides={"item": pl.String()},
        )

    def kept(self) -> RankingKept:
        """Return how few items give the same ranking."""
        return rankings_kept(self.responses, self.fit, seed=self.seed)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        fit = self.fit
        more = {
            "intercept": fit.intercept,
            "discrimination_error": fit.discrimination_error,
            "difficulty_error": fit.difficulty_error,
            "intercept_error": fit.intercept_error,
            "guessing_error": fit.guess_error,
            "infit": fit.infit,
            "outfit": fit.outfit,
        }
        items = self.items().with_columns(**{name: pl.Series(values) for name, values in more.items()})
        if self.responses.tests:
            items = items.with_columns(test=pl.Series(list(self.responses.tests)))
        data = {
            "model": fit.model,
            "method": fit.method,
            "integrated": fit.integrated,
            "respondents": fit.respondents,
            "loglik": fit.loglik,
            "aic": fit.aic,
            "bic": fit.bic,
            "parameters": fit.parameters,
            "iterations": fit.turns,
            "converged": fit.converged,
            "priors": fit.priors,
            "told_apart": fit.told_apart,
            "prior": dict(fit.prior),
            "items": items.fill_nan(None).to_dicts(),
            "abilities": self.abilities().fill_nan(None).to_dicts(),
            "suspicious": self.suspicious().to_dicts(),
            "subset": [self.responses.items[at] for at in self.subset],
            "notes": self.notes,
        }
        if fit.elbo is not None:
            tried = [{"spread": spread, "elbo": bound} for spread, bound in fit.search.items()]
            data |= {"elbo": fit.elbo, "priors_tried": tried}
        return data


def item_responses(
    paths: Sequence[Source],
    model: IrtModel = "2pl",
    reading: ResponseReading | None = None,
    *,
    method: IrtMethod = "mml",
    subset: int = 0,
    seed: int = 0,
    guessing_prior: Sequence[float] = (),
) -> IrtStudy:
    """Estimate items and abilities from the responses in files."""
    model, method = _one_of(model, MODELS, Text("model")), _one_of(method, METHODS, Text("method"))
    guess = _guessing(guessing_prior, model)
    responses = read_responses(paths, reading or ResponseReading())
    return study_responses(responses, model, method=method, subset=subset, seed=seed, guess=guess)


def _one_of(name: Known, known: Sequence[Known], what: Text) -> Known:
    """Take a name in whatever case; one that is not known is refused."""
    match = next((one for one in known if one == str(name).lower()), None)
    if match is None:
        raise BadInput(
            "'{given}' is no {what} of item response theory; {hint}", given=name, what=what, hint=hint(name, known)
        )
    return match


def _guessing(prior: Sequence[float], model: IrtModel) -> Normal | None:
    """Read the prior of guessing: the chance in its middle, and the spread of its logit."""
    if not prior:
        return None
    if model != "3pl":
        raise BadInput(
            "The model {model} knows no guessing.", model=model, remedy="Choose 3pl, or leave the prior out."
        )
    if len(prior) != 2 or not (0 < prior[0] < 1 and 0 < prior[1] <= WIDEST):
        raise BadInput(
            "A prior of guessing is a chance (0 to 1) and the spread of its logit (up to {most}); {given} is not.",
            most=WIDEST,
            given=",".join(f"{one:g}" for one in prior),
            remedy="Four options give 0.25,1.",
        )
    return float(np.log(prior[0] / (1 - prior[0]))), float(prior[1])


def study_responses(
    responses: Responses,
    model: IrtModel = "2pl",
    *,
    method: IrtMethod = "mml",
    subset: int = 0,
    seed: int = 0,
    guess: Normal | None = None,
) -> IrtStudy:
    """Estimate items and abilities, and say what is to be known of the estimates."""
    if subset > len(responses.items):
        raise BadInput(
            "{k} items cannot be chosen from {n}.", k=subset, n=len(responses.items), remedy="Ask for fewer."
        )
    fit = fit_responses(responses, model, method, seed=seed, guess=guess)
    chosen = most_informative(fit, subset).tolist() if subset else []
    return IrtStudy(responses, fit, suspicious(responses, fit), chosen, _notes(responses, fit), seed)


def _notes(responses: Responses, fit: IrtFit) -> list[str]:
    notes = []
    if not fit.converged:
        notes.append(f"The estimates had not settled after {fit.turns} iterations: do not rely on them.")
    if not fit.told_apart:
        notes.append(
            "Respondents differ in their scores no more than by chance: there is no scale of ability, and no "
            "difficulty on it."
        )
    if fit.integrated == "items":
        notes.append(
            "Items are many: they are integrated out, their priors estimated, and what is given of an item is the mean "
            "and deviation of its posterior."
        )
    elif fit.integrated == "both":
        spread = fit.prior["discrimination_spread"]
        notes.append(f"Variational: of the priors of discrimination, the spread {spread:g} has the highest bound.")
        if fit.respondents < FEW_FOR_PRIORS and spread == min(fit.search) < max(fit.search):
            notes.append(
                "With few respondents the narrowest prior has the highest bound whatever the items are like: "
                "marginal likelihood (mml) tells more of their discrimination."
            )
    elif fit.priors:
        notes.append("Weak priors were used: for guessing, few respondents, or items that all get right or wrong.")
    if len(set(responses.tests)) > 1 and fit.method == "vi":
        notes.append("Items are weighted by the inverse size of their test.")
    empty = int(np.isnan(responses.correct).all(axis=1).sum())
    if empty:
        notes.append(f"{empty} respondents have no response: their ability is only what the prior says.")
    share = np.nanmean(responses.correct, axis=0)
    same = int(((share == 0) | (share == 1)).sum())
    if same:
        notes.append(f"{same} items are right, or wrong, for all: only the prior tells how hard they are.")
    negative = int((fit.discrimination < 0).sum())
    if negative:
        notes.append(f"{negative} items are right more often for the weaker: their labels may be wrong.")
    return notes


def write_items(study: IrtStudy, items: Path | None, abilities: Path | None) -> None:
    """Write the tables that are wanted."""
    if items is not None:
        write_table(study.items(), items)
    if abilities is not None:
        write_table(study.abilities(), abilities)
