"""The words of the board's page: what the browser says while the reader moves a weight."""

from __future__ import annotations

from typing import Any

from quintain.services.board.parts import BoardMatrix
from quintain.services.evaluate.results.axis_gaps import MEASURED
from quintain.web.pages.figure_words import Translate, gap_words


def presets(_: Translate, board: BoardMatrix) -> list[dict[str, Any]]:
    """List the views that the page offers; the first is the owner's."""
    return [
        {
            "name": "default",
            "title": _("Owner's default"),
            "weights": board.spec.axis_weights([axis.name for axis in board.axes]),
        },
        {
            "name": "accuracy",
            "title": _("{metric} only").format(metric=board.axes[0].title),
            "weights": {"performance": 1},
        },
        {
            "name": "small",
            "title": _("Small and fast"),
            "weights": {"performance": 4, "throughput": 3, "memory": 3},
        },
        {
            "name": "fair",
            "title": _("Fair and robust"),
            "weights": {"performance": 4, "fairness": 3, "robustness": 3},
        },
    ]


def words(_: Translate, *, fitted: bool = False) -> dict[str, str]:
    """Return the sentences that the browser fills in; {names} in braces are its.

    Where abilities are *fitted*, one figure is over all data sets that score, and not over rounds.
    """
    rows = _row_words(_) | gap_words(_)
    sentences = rows | _weight_words(_) | _certainty_words(_) | _aggregation_words(_) | _round_words(_)
    return sentences | {"all_rounds": _("All data sets that score together")} if fitted else sentences


def _row_words(_: Translate) -> dict[str, str]:
    """Return what stands in a row, and what its cells rest on."""
    return {
        "unranked": _("unranked"),
        "missing": _("{axes} missing"),
        "beyond": _("{axis} above the cap of {cap}"),
        "predictions_only": _("predictions only"),
        "predictions_only_why": _("Its answers were handed in as a file; it was not run here."),
        "anonymous": _("anonymous"),
        "private": _("private"),
        "seeds": _("{n} seeds"),
        "spread": _("± {spread} over {n} seeds"),
        "cannot": _("cannot be measured"),
        "none": _("no value yet"),
        "not_ranked": _("shown, not ranked"),
        "provisional": _("This order is provisional: {waiting} of {needed} runs are still to come."),
        "interval": _("interval {low} to {high}"),
        "examples": _("{n} examples"),
        "failed": _("failed examples: {n}; {worst} if they are all wrong, {best} if all right"),
        "outcome_refused": _("refused: {n}"),
        "outcome_cut": _("cut off before the answer: {n}"),
        "outcome_unreadable": _("replies that hold no answer: {n}"),
        "outcome_failed": _("failed calls: {n}"),
        "pairs": _("{n} pairs of answers, kinds of change: {kinds}"),
        "measured": _("measured {at}"),
        "busy": _("measured while the machine was busy: {share} of it with other work"),
        "without": _("without the sandbox's layers: {layers}"),
        "details": _("Details of {name}"),
        "dataset": _("Data set"),
        "slices": _("By tag"),
        "model_page": _("Model page"),
        "rank_between": _("Rank {rank}; {range} when the examples are drawn anew"),
        "sure_pending": _("It is being computed; look again in a few minutes."),
        "sure_outrun": _("As of {at}; the next one is being computed."),
        "sure_at": _("As of {at}."),
        "sure_large": _("This board is so large that it is computed for its owner's weights only."),
        "sure_sampled": _("From {n} of {all} examples, which were drawn; errors are those of all."),
    }


def _weight_words(_: Translate) -> dict[str, str]:
    """Return what is said of weights: their shares, what is traded for what, and why nothing is ranked."""
    return {
        "order": _("New order: {order}."),
        "place": _("{rank}. {name}"),
        "weight": _("{percent} of the weight"),
        "worth_more": _("{amount} {unit} more of {axis} is worth {points} of {base}"),
        "worth_less": _("{amount} {unit} less of {axis} is worth {points} of {base}"),
        "worth_none": _("{axis} adds nothing: {why}"),
        "no_base": _("{base} has no weight, so nothing can be said in its terms"),
        "why_same": _("all models share one value"),
        "why_half": _("by the median, half of the neighbours share one value"),
        "over": _("{axis}: over {n} of {all} data sets ({names}); no perturbation changes the examples of the others."),
        "dropped": _(
            "{axis} is dropped for all models: no perturbation changes the examples of the data sets that score."
        ),
        **_uneven_words(_),
        "dominant": _("One pair of neighbours, {first} and {second}, holds {percent} of the exchange rate of {axis}."),
        "by_median": _("By the median of the same rates: {order}."),
        "why_close": _("no two models differ enough to give an exchange rate"),
        "examples/s": _("examples/s"),  # a unit, as the figures of the board have it
        "points": _("{value} {unit}"),
        "points_percent": _("{value} points"),
        "refused": _("All weights are 0, so there is nothing to rank by. Give one metric a weight."),
        "refused_data": _("No data set has a weight. Give one of them a weight."),
        "failed": _("This could not be loaded. Reload the page."),
    }


def _uneven_words(_: Translate) -> dict[str, str]:
    """Return what is said of a measured axis in place of what is said of a share: by the names of the axes."""
    over = _("{axis}: over {n} of {all} data sets ({names}); on the others most models were measured too unevenly.")
    dropped = _(
        "{axis} is dropped for all models: most were measured too unevenly to rank. A worker measures again when the "
        "machine is idle."
    )
    return {f"over_{axis}": over for axis in MEASURED} | {f"dropped_{axis}": dropped for axis in MEASURED}


def _certainty_words(_: Translate) -> dict[str, str]:
    """Return how sure the ranking is, and what it hangs on."""
    return {
        "above": _("Probability that the row is above the column"),
        "pair": _("{first} above {second}: {percent}"),
        "none_waiting": _("No model is ranked yet: {waiting} of {needed} runs are still to come."),
        "none_lacking": _(
            "No model is ranked by these weights: each lacks a figure that counts, and its row says which. What was "
            "measured beside other work is measured again once the machine is quiet; another choice above may rank "
            "already."
        ),
        "none_ranked": _("No model is ranked yet: each lacks a figure that counts. Runs under way fill them in."),
        "more": _("about {n} more examples would settle it"),
        "settled": _("settled by the examples at hand"),
        "through_measuring": _("unsure through speed and memory alone: measuring again would settle it"),
        "equal": _("no difference to settle"),
        "unsettled": _("such examples would not settle it"),
        "leads": _("{leader} stays first as long as {ranges}"),
        "leads_range": _("{axis} has {low} to {high} of the weight"),
        "leads_epsilon": _("{leader} stays first for every ε from {low} to {high}"),
        "pool": _("Without {without}, scores move by up to {points}."),
        "pool_leader": _("Without {without}, scores move by up to {points}, and {leader} comes first."),
    }


def _aggregation_words(_: Translate) -> dict[str, str]:
    """Name the ways of adding up."""
    return {
        "dynascore": _("Dynascore"),
        "dynascore_mean": _("Dynascore, mean rates"),
        "dynascore_median": _("Dynascore, median rates"),
        "zscore": _("Mean z-score"),
        "average": _("Plain average"),
        "win_rate": _("Win rate"),
        "bradley_terry": _("Bradley–Terry"),
        "pareto": _("Pareto front"),
        "yes": _("yes"),
    }


def _round_words(_: Translate) -> dict[str, str]:
    """Return what is said of rounds."""
    return {
        "all_rounds": _("All rounds together"),
        "model": _("Model"),
        "people": _("People"),
        "newer": _("version {version}; of version {newer}, {done} of {needed} runs are over"),
        "best_here": _("lowest"),
        "round": _("Round {title}"),
        "round_counts": _("{validated} validated of {collected} collected"),
        "errors_of": _("{errors} of {n} wrong"),
        "vmer_caption": _(
            "Share of what was collected in a round on which the model was wrong, as people agreed (vMER), with its "
            "interval. Less is better."
        ),
    }
