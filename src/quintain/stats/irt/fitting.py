"""The one door to item response theory: which method serves which table."""

from __future__ import annotations

from quintain.stats.irt.fit import IrtFit, IrtMethod, IrtModel, Normal, without_scale
from quintain.stats.irt.itemwise import fit_itemwise
from quintain.stats.irt.marginal import fit_marginal
from quintain.stats.irt.responses import Responses, are_told_apart
from quintain.stats.irt.variational import GUESS, fit_variational

MANY = 100  # items from which an ability is known well enough to be a parameter of its own
MOST = 3000  # respondents up to which the grid of items is fine enough


def integrates_items(respondents: float, items: int) -> bool:
    """Whether the items are to be integrated out, rather than the abilities."""
    return items >= MANY and respondents <= min(items, MOST)


def fit_responses(
    responses: Responses,
    model: IrtModel = "2pl",
    method: IrtMethod = "mml",
    *,
    seed: int = 0,
    guess: Normal | None = None,
) -> IrtFit:
    """Estimate items and abilities by marginal likelihood (*mml*) or variational inference (*vi*).

    Marginal likelihood integrates over the abilities where items are few, and over the items where they are many.
    *guess* is the prior of the logit of guessing, in place of the method's own. Where respondents differ no more than
    by chance, the fit has no difficulties, whichever method it is.
    """
    fit = _fitted(responses, model, method, seed, guess)
    return fit if are_told_apart(responses) else without_scale(fit)


def _fitted(responses: Responses, model: IrtModel, method: IrtMethod, seed: int, guess: Normal | None) -> IrtFit:
    if method == "vi":
        return fit_variational(responses, model, seed=seed, guess=guess or GUESS)
    if integrates_items(responses.total, len(responses.items)):
        return fit_itemwise(responses, model, seed=seed, guess=guess)
    return fit_marginal(responses, model, guess=guess)
