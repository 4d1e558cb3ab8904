"""Who leads a board, and how sure that is: the one answer that every page, the API and commands give.

A board has no leader where nothing ranks, where every data set that scores is too small to rank on, or where the first
cannot be told apart from the next.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.ranking import BoardClaim, Uncertainty
from quintain.core.texts import Text
from quintain.services.board.cache import warm_board
from quintain.services.board.ranking import Ranked
from quintain.services.board.uncertainty import known_uncertainty
from quintain.store.blobs import Blobs

FIGURE = "Dynascore"
FEW = "few"  # the kind of weakness that makes a data set too small to rank on
NAMING = ("settled", "alone", "too_close")  # what names models
NO_CLAIM = BoardClaim(None, [], FIGURE, "", None, None, "unranked")


def board_claim(db: Session, blobs: Blobs, actor: Actor, task: str) -> BoardClaim:
    """Return who leads the board of *task* by its owner's view, as *actor* may see it."""
    warm = warm_board(db, blobs, actor, task)
    if warm.ranked is None:
        return NO_CLAIM
    return claim_of(warm.ranked, known_uncertainty(db, blobs, actor, task))


def claim_of(ranked: Ranked, sure: Uncertainty | None) -> BoardClaim:
    """Return who leads a ranking; without knowing how *sure* it is, nobody does."""
    first = [row for row in ranked.order() if ranked.ranking.rank[row] is not None][:2]
    if not first:
        return replace(NO_CLAIM, waiting=ranked.runs.waiting, needed=ranked.runs.needed)
    models = [ranked.board.models[row] for row in first]
    base = next((axis for axis in ranked.board.axes if axis.name == ranked.ranking.base), ranked.board.axes[0])
    ahead = _ahead(sure, [model.ref for model in models])
    certainty = _certainty(ranked, sure, [model.ref for model in models])
    return BoardClaim(
        leader=models[0].ref if certainty in ("settled", "alone") else None,
        first=[model.name for model in models],
        figure=FIGURE,
        unit=base.unit,
        score=ranked.ranking.dynascore[first[0]],
        ahead=ahead,
        certainty=certainty,
        unranked=sum(place is None for place in ranked.ranking.rank),
    )


def _certainty(ranked: Ranked, sure: Uncertainty | None, first: list[str]) -> str:
    scoring = [one for one, weight in zip(ranked.board.datasets, ranked.weights, strict=True) if weight > 0]
    if scoring and all(any(why.kind == FEW for why in one.warnings) for one in scoring):
        return "too_small"
    if len(first) == 1:
        return "alone"
    groups = {model.model: model.group for model in sure.models} if sure else {}
    if not groups.keys() >= set(first):
        return "unknown"
    return "settled" if groups[first[0]] != groups[first[1]] else "too_close"


def _ahead(sure: Uncertainty | None, first: list[str]) -> float | None:
    pairs = sure.pairs if sure else []
    return next((pair.probability for pair in pairs if [pair.first, pair.second] == first), None)


def claim_text(claim: BoardClaim) -> Text:
    """Return who leads and how sure that is, with the name and the unit of the figure, and how many have no rank.

    >>> claim_text(BoardClaim("mood/a@1", ["a", "b"], "Dynascore", "%", 71.31, 0.991, "settled"))
    'a leads with a Dynascore of 71.3 points, ahead 99 %.'
    >>> claim_text(BoardClaim(None, ["a", "b"], "Dynascore", "%", 71.31, 0.514, "too_close"))
    'Too close to call: a is above b in 51 % of the draws, by Dynascore.'
    >>> claim_text(BoardClaim("mood/a@1", ["a"], "Dynascore", "%", 71.31, None, "alone", unranked=2))
    'a alone is ranked, with a Dynascore of 71.3 points. 2 other models are not ranked.'
    >>> claim_text(BoardClaim(None, [], "Dynascore", "", None, None, "unranked", waiting=193, needed=252))
    'No model is ranked yet: 59 of 252 runs are done.'
    """
    sentence = _among_ranked(claim)
    if not claim.unranked or claim.certainty not in NAMING:
        return sentence
    others = Text.plural("{n} other model is not ranked.", "{n} other models are not ranked.", n=claim.unranked)
    return Text("{claim} {others}", claim=sentence, others=others)


def _among_ranked(claim: BoardClaim) -> Text:
    first, second = [*claim.first, "", ""][:2]
    figure = {"figure": claim.figure, "score": claim.score or 0.0, "unit": _unit(claim)}
    if claim.certainty == "settled":
        return Text(
            "{model} leads with a {figure} of {score:.1f} {unit}, ahead {sure}.",
            model=first,
            sure=_share(claim.ahead),
            **figure,
        )
    if claim.certainty == "alone":
        return Text("{model} alone is ranked, with a {figure} of {score:.1f} {unit}.", model=first, **figure)
    if claim.certainty == "too_close" and claim.ahead is not None:
        return Text(
            "Too close to call: {first} is above {second} in {sure} of the draws, by {figure}.",
            first=first,
            second=second,
            sure=_share(claim.ahead),
            figure=claim.figure,
        )
    if claim.certainty == "too_small":
        return Text("Nobody leads: what scores is too small to rank on.")
    if claim.certainty == "unranked":
        return _unranked(claim)
    return Text("Nobody leads yet: how sure the order is has still to be computed.")


def _unranked(claim: BoardClaim) -> Text:
    if claim.waiting:
        done = claim.needed - claim.waiting
        return Text("No model is ranked yet: {done} of {needed} runs are done.", done=done, needed=claim.needed)
    if claim.needed:
        return Text("No model is ranked: each lacks a figure that counts, and the board says which.")
    return Text("No model is ranked yet.")


def _unit(claim: BoardClaim) -> str:
    return Text("points") if claim.unit in ("%", "") else claim.unit


def _share(ahead: float | None) -> str:
    """Write a probability in whole percent, as the board does; one that is not certain never reads 100 %."""
    if ahead is None:
        return "–"
    return f"{round(100 * ahead)} %" if ahead <= 0.995 or ahead == 1.0 else "> 99 %"
