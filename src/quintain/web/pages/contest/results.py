"""What came of a contest: scores, charts, every pair with every answer, contesting, deciding, and the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from quintain.core.contests import PairReason, PairStatus, Phase
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.records.contests import ContestPair, ContestPairs
from quintain.services.contest import rulings, scores, teams
from quintain.services.contest.contests import find_contest
from quintain.services.contest.pair_files import STRATEGY
from quintain.stats.grading import Grading
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import download
from quintain.web.listing import SIZE, Asking, page_of
from quintain.web.pages.contest.charts import breaking_chart, together_chart
from quintain.web.pages.contest.common import Room, room_of
from quintain.web.pages.contest.sides import answer_field, differences, label_name
from quintain.web.visit import Posting, Visit, Visiting


def results_page(visit: Visiting, task: str, name: str, following: str = "") -> Response:
    """Show the score tables and what lies behind them; who is *following* looks again once the next are there."""
    room = room_of(visit, task, name)
    _ = visit.tongue.gettext
    try:
        outcome, shown = scores.shown_results(visit.db, visit.blobs, visit.actor, room.info.ref)
    except Conflict as error:
        if room.sees_results() or error.code == "undecided":
            return room.render("results", "results", found=None, why=trouble_of(error))
        raise
    if outcome is None:
        return room.render("results", "results", found=None, why=None, shown=shown)
    words = {
        "system": _("System"),
        "breaker": _("Breaker"),
        "rate": _("Share of pairs that broke it"),
        "and": _("and"),
        "overlap": _("Both broken, of either"),
        "pairs": _("Pairs"),
        "either": _("Pairs that broke either"),
    }
    tags = {tag: scores_of_tag for tag, scores_of_tag in outcome.score.by_tag.items() if not tag.startswith(STRATEGY)}
    strategies = {
        tag.removeprefix(STRATEGY): scores_of_tag
        for tag, scores_of_tag in outcome.score.by_tag.items()
        if tag.startswith(STRATEGY)
    }
    charts = []
    if outcome.score.breakers and outcome.score.systems:
        charts.append((_("Whose pairs broke which system?"), breaking_chart(outcome.score, words)))
    if outcome.score.together:
        charts.append((_("Which systems break together?"), together_chart(outcome.score, words)))
    return room.render(
        "results",
        "results",
        headers={"HX-Refresh": "true"} if following and shown.fresh else None,
        found=outcome,
        shown=shown,
        score=outcome.score,
        builders=sorted(outcome.score.systems.items(), key=lambda item: (item[1].broken, -(item[1].average_f1 or 0))),
        breakers=sorted(outcome.score.breakers.items(), key=lambda item: -(item[1].score or 0)),
        marks={system.name: system for system in outcome.systems},
        tables=[(_("By phenomenon"), "", tags), (_("By strategy"), STRATEGY, strategies)],
        charts=charts,
        is_text=not Grading(outcome.score.metric).of_labels,
    )


def pairs_page(
    visit: Visiting, task: str, name: str, asked: Asking, *, team: str = "", broke: str = "", status: str = ""
) -> Response:
    """Show every pair with every system's answers, or that what they are found by is being counted."""
    room = room_of(visit, task, name)
    _ = visit.tongue.gettext
    ref = room.info.ref
    listed, shown = scores.shown_pairs(
        visit.db,
        visit.blobs,
        visit.actor,
        ref,
        team=team,
        tag=asked.label,
        status=status,
        broke=broke,
        offset=asked.offset,
        limit=SIZE,
    )
    page = listed or ContestPairs([], 0, 0)
    query = {"team": team, "broke": broke, "status": status}
    listing = page_of(page.pairs, page.total, asked, path=f"{room.base}/pairs", sort="", down=False)
    listing = replace(listing, paging=replace(listing.paging, query={**listing.paging.query, **query}))
    names = list(page.pairs[0].answers or {}) if page.pairs else [broke] if broke else []
    everyone = _("all")
    known = teams.list_teams(visit.db, visit.actor, ref)
    return room.render(
        "pairs",
        "pairs",
        listing=listing,
        counted=listed is not None,
        shown=shown,
        names=names,
        filters={**query, "label": asked.label},
        differences=differences,
        states=state_names(visit),
        team_choices=[("", everyone), *((one.name, one.name) for one in known if one.role != "builder")],
        state_choices=[
            ("", everyone),
            *((key, word) for key, word in state_names(visit).items() if key),
            ("waiting", _("waiting for the organisers")),
            ("expired", _("not settled in time")),
        ],
        broke_choices=[("", everyone), *((name, name) for name in names)],
        right=_rightness,
    )


def pair_page(visit: Visiting, task: str, name: str, pair: int) -> Response:
    """Show one pair, with what was said against it."""
    return _pair(visit, room_of(visit, task, name), pair)


def contest_pair(post: Posting, task: str, name: str, pair: int) -> Response:
    """Contest a pair."""
    visit = post.visit
    room = room_of(visit, task, name)
    try:
        rulings.contest_pair(visit.db, visit.actor, room.info.ref, pair, post.text("reason"))
    except (BadInput, Conflict, Forbidden) as error:
        return _pair(visit, room, pair, trouble_of(error), post.text("reason"))
    toast = visit.tongue.gettext("The pair is contested, and left out of the score until it is settled.")
    return visit.redirect(f"{room.base}/pairs/{pair}", toast)


def rule(post: Posting, task: str, name: str, pair: int) -> Response:
    """Decide about a pair."""
    visit = post.visit
    room = room_of(visit, task, name)
    try:
        rulings.rule_pair(
            visit.db,
            visit.actor,
            room.info.ref,
            pair,
            post.text("decision"),
            original=post.text("original_label"),
            modified=post.text("modified_label"),
            reason=post.text("reason"),
        )
    except (BadInput, Conflict) as error:
        return _pair(visit, room, pair, trouble_of(error), post.text("reason"))
    return visit.redirect(f"{room.base}/pairs/{pair}", visit.tongue.gettext("Decided."))


def export(visit: Visiting, task: str, name: str, format: str = "csv") -> Response:  # noqa: A002 - the address's word
    """Send the table that `quintain contest score` reads."""
    info = find_contest(visit.db, f"{task}/{name}")
    return download(
        f"{task}-{name}", format, lambda path: scores.export(visit.db, visit.blobs, visit.actor, info.ref, path)
    )


def state_names(visit: Visit) -> dict[str, str]:
    """Return in the reader's language where a pair may stand."""
    _ = visit.tongue.gettext
    return {
        PairStatus.WRITTEN: "",
        PairStatus.CONTESTED: _("contested"),
        PairStatus.UNDECIDED: _("to be judged"),
        PairStatus.SETTLED: _("settled"),
        PairStatus.DROPPED: _("dropped"),
    }


def reason_names(visit: Visit) -> dict[str, str]:
    """Return in the reader's language why a pair may stand where it stands."""
    _ = visit.tongue.gettext
    return {
        PairReason.NONE: "",
        PairReason.RULED: _("by the organisers"),
        PairReason.ORGANISERS: _("waiting for the organisers"),
        PairReason.JUDGES: _("by judges outside the contest"),
        PairReason.NO_MAJORITY: _("the judges do not agree; the organisers decide"),
        PairReason.NOT_MINIMAL: _("judges found that it is no minimal pair"),
        PairReason.EXPIRED: _("nobody settled it in time; it counts as it was written"),
    }


def outcome_names(visit: Visit) -> dict[str, str]:
    """Return in the reader's language what organisers may decide."""
    _ = visit.tongue.gettext
    return {"keep": _("Keep it as it is"), "relabel": _("Change its labels"), "drop": _("Drop it from the score")}


def _pair(visit: Visit, room: Room, pair: int, trouble: Trouble | None = None, typed: str = "") -> Response:
    _ = visit.tongue.gettext
    scored = scores.get_pair(visit.db, visit.blobs, visit.actor, room.info.ref, pair)
    if scored is None:
        raise NotFound("There is no pair {pair} in {ref}.", pair=pair, ref=room.info.ref)
    waiting = PairStatus(scored.status).left_out and scored.why == PairReason.JUDGES
    claims = rulings.list_disputes(visit.db, visit.actor, room.info.ref) if room.team else None
    answer = answer_field(room.task)
    return room.render(
        "pair",
        "pairs",
        trouble=trouble,
        pair=scored,
        pieces=differences(room.task, scored.original, scored.modified),
        claims=claims,
        ours=claims is not None and any(dispute.pair == pair for dispute in claims.disputes),
        settled=scored.status in {PairStatus.SETTLED, PairStatus.DROPPED},
        outcomes=outcome_names(visit),
        typed=typed,
        state=state_names(visit)[scored.status],
        why=_("waiting for judges outside the contest") if waiting else reason_names(visit)[scored.why],
        may_contest=bool(room.team) and room.team != scored.team and room.info.phase is Phase.REVIEW,
        may_rule=room.organiser,
        answer=answer,
        answer_choices=[(key, key) for key, _gloss in answer.choices],
        label_name=lambda inputs, label: label_name(room.task, inputs, label),
        decisions=[(key, word, "") for key, word in outcome_names(visit).items()],
        right=_rightness,
    )


def _rightness(pair: ContestPair, system: str) -> tuple[Any, Any, bool]:
    """Return a system's two answers, and whether the pair broke it."""
    answers: Mapping[str, tuple[Any, Any]] = pair.answers or {}
    first, second = answers.get(system, (None, None))
    return first, second, system in pair.broken
