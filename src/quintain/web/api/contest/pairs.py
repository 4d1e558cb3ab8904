"""Pairs of contests, for programs: writing them, settling their labels, and what came of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Form, Path, Response, UploadFile

from quintain.core.errors import NotFound
from quintain.core.records.contests import (
    ContestPair,
    ContestPairs,
    ContestResults,
    NextToJudge,
    PairDisputes,
    PairJudged,
    PairsAdded,
    RestDecided,
)
from quintain.data.tables import parse_columns
from quintain.services.contest import judging, pairs, rulings, scores
from quintain.services.contest.pair_checks import PairDraft
from quintain.web.api.call import Calling
from quintain.web.api.contest.contests import ContestRef, PageSize, TeamName
from quintain.web.api.contest.shapes import DisputeRequest, PairJudgement, PairRequest, RestRequest, RulingRequest
from quintain.web.api.params import Filter, Format, Offset
from quintain.web.api.shapes import Text
from quintain.web.files import download, on_disk

PairName = Annotated[str, Path(description="Name of the pair.", max_length=80, pattern=r"^[^\x00]+$")]
PairId = Annotated[int, Path(description="Id of the pair.", ge=1, le=2**31 - 1)]


def put_contest_pair(call: Calling, ref: ContestRef, body: PairRequest) -> ContestPair:
    """Add a pair to one's team's, or change the one of that name, while breaking lasts."""
    draft = PairDraft(
        body.name.strip(),
        body.original,
        body.modified,
        body.original_label,
        body.modified_label,
        body.rationale,
        body.strategy,
        body.tags,
        body.dispute,
    )
    return pairs.put_pair(call.db, call.blobs, call.actor, ref, draft)


def upload_pairs(
    call: Calling,
    ref: ContestRef,
    *,
    file: Annotated[UploadFile, File(description="Two rows for each pair: pair_id, side, inputs, label.")],
    columns: Annotated[Text, Form(description="Other names of columns, as text=sentence, one a line.")] = "",
    preset: Annotated[Text, Form(description="bibi-2017 for a file of that event as it was released.")] = "",
    dispute: Annotated[bool, Form(description="Other labels of originals dispute the starter set's.")] = False,
) -> PairsAdded:
    """Add the pairs of a table; all of them, or nothing and every fault by its row."""
    mapped = parse_columns([line for line in columns.splitlines() if line.strip()])
    with on_disk(file, call.workspace.limits_at_once) as path:
        return pairs.upload_pairs(
            call.db, call.blobs, call.actor, ref, path, columns=mapped, preset=preset, dispute=dispute
        )


def remove_contest_pair(call: Calling, ref: ContestRef, pair: PairName) -> None:
    """Take a pair of one's team out again, while breaking lasts."""
    pairs.remove_pair(call.db, call.actor, ref, pair)


def list_team_pairs(
    call: Calling, ref: ContestRef, team: TeamName, offset: Offset = 0, limit: PageSize = 50
) -> ContestPairs:
    """Return a page of a team's pairs, for the team and the organisers; whoever else asks is noted."""
    return pairs.list_drafts(call.db, call.actor, ref, team, offset=offset, limit=limit)


def get_contest_results(call: Calling, ref: ContestRef) -> ContestResults:
    """Return what came of a contest: the score tables, and what lies behind them."""
    return scores.results(call.db, call.blobs, call.actor, ref)


def list_contest_pairs(
    call: Calling,
    ref: ContestRef,
    *,
    team: Filter = "",
    tag: Filter = "",
    status: Filter = "",
    broke: Filter = "",
    offset: Offset = 0,
    limit: PageSize = 50,
) -> ContestPairs:
    """Return a page of the pairs with every system's answers: of a *team*, with a *tag*, that *broke* a system.

    *status* is contested, undecided, settled, dropped, waiting (for the organisers) or expired (counts as it was).
    """
    return scores.list_pairs(
        call.db, call.blobs, call.actor, ref, team=team, tag=tag, status=status, broke=broke, offset=offset, limit=limit
    )


def get_contest_pair(call: Calling, ref: ContestRef, pair: PairId) -> ContestPair:
    """Return one pair with every system's answers."""
    scored = scores.get_pair(call.db, call.blobs, call.actor, ref, pair)
    if scored is None:
        raise NotFound("There is no pair {pair} in {ref}.", pair=pair, ref=ref)
    return scored


def dispute_pair(call: Calling, ref: ContestRef, pair: PairId, body: DisputeRequest) -> None:
    """Contest a pair of another team, while labels are settled; only so many pairs of a contest."""
    rulings.contest_pair(call.db, call.actor, ref, pair, body.reason)


def list_pair_disputes(call: Calling, ref: ContestRef) -> PairDisputes:
    """List what one's own team contests, and how many pairs it may; for the organisers all that is contested."""
    return rulings.list_disputes(call.db, call.actor, ref)


def next_pair_to_judge(call: Calling, ref: ContestRef) -> NextToJudge:
    """Hand the next pair to judge to somebody who is in no team; it is theirs for half an hour."""
    return NextToJudge(judging.next_to_judge(call.db, call.actor, ref))


def return_pair_to_judge(call: Calling, ref: ContestRef, pair: PairId) -> None:
    """Return a pair without judging it; one is not handed it again."""
    judging.return_pair(call.db, call.actor, ref, pair)


def judge_pair(call: Calling, ref: ContestRef, body: PairJudgement) -> PairJudged:
    """Judge both labels of a pair that one was handed, as somebody outside the contest; it is paid."""
    return judging.judge_pair(
        call.db, call.actor, ref, body.pair, body.original_label, body.modified_label, minimal=body.minimal
    )


def rule_pair(call: Calling, ref: ContestRef, pair: PairId, body: RulingRequest) -> None:
    """Keep a pair, change its labels, or drop it; the teams concerned read the reason (organisers)."""
    rulings.rule_pair(
        call.db,
        call.actor,
        ref,
        pair,
        body.decision,
        original=body.original_label,
        modified=body.modified_label,
        reason=body.reason,
    )


def rule_rest(call: Calling, ref: ContestRef, body: RestRequest) -> RestDecided:
    """Let every pair that waits for the organisers count as it was written (organisers)."""
    return rulings.rule_rest(call.db, call.actor, ref, body.reason)


def export_contest(call: Calling, ref: ContestRef, format: Format = "csv") -> Response:  # noqa: A002
    """Send the table that `quintain contest score` reads: every pair with every system's answers."""
    return download(
        ref.replace("/", "-"), format, lambda path: scores.export(call.db, call.blobs, call.actor, ref, path)
    )
