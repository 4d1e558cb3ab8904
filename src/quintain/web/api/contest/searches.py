"""Automatic searches for pairs, for programs: beginning one, going on with it, and deciding on what it proposes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from fastapi import Query as Parameter

from quintain.core.records.contests import ContestPair, ContestProposals, ContestSearch, ContestSearches
from quintain.perturbations.drafts.substitutes import WORD_SOURCES
from quintain.services.contest import search_pairs
from quintain.web.api.call import Calling
from quintain.web.api.contest.contests import ContestRef, PageSize
from quintain.web.api.contest.shapes import ProposalLabel, RejectRequest, SearchRequest
from quintain.web.api.params import Offset

SearchNumber = Annotated[int, Path(description="Number of the search.", ge=1, le=2**31 - 1)]
ProposalId = Annotated[int, Path(description="Id of the proposal.", ge=1, le=2**31 - 1)]
Waiting = Annotated[bool, Parameter(description="Only those that nobody has decided about.")]


def list_contest_searches(call: Calling, ref: ContestRef) -> ContestSearches:
    """List the automatic searches of one's team, and how many texts it may still ask models about."""
    return search_pairs.list_searches(call.db, call.actor, ref)


def start_contest_search(call: Calling, ref: ContestRef, body: SearchRequest) -> ContestSearch:
    """Begin a search for changes of starter sentences that turn a model, while breaking lasts."""
    return search_pairs.start_search(
        call.db,
        call.blobs,
        call.actor,
        ref,
        body.model,
        text=body.text,
        words=body.words,
        beam=body.beam,
        budget=body.budget,
        sources=body.sources or WORD_SOURCES,
    )


def advance_contest_search(call: Calling, ref: ContestRef, search: SearchNumber) -> ContestSearch:
    """Go on with a search for a few seconds; call it again until it is done."""
    return search_pairs.advance_search(call.db, call.blobs, call.actor, ref, search, runners=call.workspace.runners)


def list_contest_proposals(
    call: Calling,
    ref: ContestRef,
    search: SearchNumber,
    *,
    waiting: Waiting = False,
    offset: Offset = 0,
    limit: PageSize = 25,
) -> ContestProposals:
    """Return a page of what a search proposes, those that wait first."""
    return search_pairs.list_proposals(call.db, call.actor, ref, search, waiting=waiting, offset=offset, limit=limit)


def confirm_contest_proposal(call: Calling, ref: ContestRef, proposal: ProposalId, body: ProposalLabel) -> ContestPair:
    """Make a pair of a proposal: a person says which label the changed sentence has."""
    return search_pairs.confirm_proposal(
        call.db,
        call.blobs,
        call.actor,
        ref,
        proposal,
        body.modified_label,
        rationale=body.rationale,
        tags=body.tags,
    )


def reject_contest_proposal(call: Calling, ref: ContestRef, proposal: ProposalId, body: RejectRequest) -> None:
    """Put a proposal aside, or take it up again."""
    search_pairs.reject_proposal(call.db, call.actor, ref, proposal, undo=body.undo)
