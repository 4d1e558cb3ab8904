"""One accuracy per worker, fitted by EM."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior
from quintain.stats.judgements import Judgements
from quintain.stats.one_coin import fit_one_coin


@AGGREGATORS.register("one-coin")
@dataclass(frozen=True)
class OneCoinVote(Aggregator):
    """EM with one accuracy for each worker, errors spread evenly: robust where workers did little."""

    name = "one-coin"
    title = "EM with one accuracy for each worker, errors spread evenly over the other classes"

    iterations: int = 200
    tolerance: float = 1e-5

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Fit the model."""
        fit = fit_one_coin(judgements, iterations=self.iterations, tolerance=self.tolerance)
        prior = dict(zip(judgements.classes, fit.prior.round(4).tolist(), strict=True))
        details = {"iterations": fit.iterations, "converged": fit.converged, "prior": prior}
        return from_posterior(judgements, fit.posterior, seed, accuracy=fit.accuracy, details=details)
