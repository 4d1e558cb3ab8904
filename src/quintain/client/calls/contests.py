"""Calls about contests (`task/name`): teams, systems, pairs, and what came of it.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from quintain.client.refs import ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.contests import (
    Contest,
    ContestChange,
    ContestHistory,
    ContestPair,
    ContestPairs,
    ContestProposals,
    ContestResults,
    Contests,
    ContestSearch,
    ContestSearches,
    ContestSystem,
    ContestSystems,
    ContestTeam,
    ContestTeams,
    DevAnswers,
    NextToJudge,
    PairDisputes,
    PairJudged,
    PairToJudge,
    RestDecided,
)


class ContestsCalls:
    """What `Client` can ask about contests."""

    _transport: Transport

    def contests(self, task: str) -> list[Contest]:
        """List the contests of a task, the newest first."""
        return self._transport.read(Contests, "GET", f"{task_path(task)}/contests").contests

    def put_contest(self, task: str, toml: str, *, revision: str = "", remove: Iterable[str] = ()) -> Contest:
        """Add the contest that a TOML file defines, or change the one of that name (owners)."""
        return self._transport.read(
            Contest,
            "POST",
            f"{task_path(task)}/contests",
            params={"revision": revision, "remove": list(remove)},
            json={"toml": toml},
        )

    def contest(self, ref: str) -> Contest:
        """Return a contest, and the phase it is in."""
        return self._transport.read(Contest, "GET", ref_path(ref, "contests"))

    def contest_history(self, ref: str) -> list[ContestChange]:
        """List every state of a contest's file, the newest first (owners)."""
        return self._transport.read(ContestHistory, "GET", f"{ref_path(ref, 'contests')}/history").versions

    def extend_phase(self, ref: str, phase: str, until: str) -> Contest:
        """Let a phase end at another moment, while it lasts or before it (owners)."""
        return self._transport.read(
            Contest, "POST", f"{ref_path(ref, 'contests')}/extend", json={"phase": phase, "until": until}
        )

    def contest_teams(self, ref: str) -> list[ContestTeam]:
        """List the teams; who is in them is for the team and the organisers."""
        return self._transport.read(ContestTeams, "GET", f"{ref_path(ref, 'contests')}/teams").teams

    def create_contest_team(self, ref: str, name: str, role: str) -> ContestTeam:
        """Make a team, with oneself in it."""
        return self._transport.read(
            ContestTeam, "POST", f"{ref_path(ref, 'contests')}/teams", json={"name": name, "role": role}
        )

    def join_contest_team(self, ref: str, team: str, key: str = "") -> ContestTeam:
        """Join a team, with its key or, where the contest is open, without."""
        return self._transport.read(
            ContestTeam, "POST", f"{ref_path(ref, 'contests')}/teams/{quote(team, safe='')}/join", json={"key": key}
        )

    def leave_contest_team(self, ref: str) -> None:
        """Leave one's team, until building ends."""
        self._transport.ask("POST", f"{ref_path(ref, 'contests')}/leave")

    def team_pairs(self, ref: str, team: str, *, offset: int = 0, limit: int = 50) -> ContestPairs:
        """Return a page of a team's pairs, for the team and the organisers; whoever else asks is noted."""
        return self._transport.read(
            ContestPairs,
            "GET",
            f"{ref_path(ref, 'contests')}/teams/{quote(team, safe='')}/pairs",
            params={"offset": offset, "limit": limit},
        )

    def contest_systems(self, ref: str) -> list[ContestSystem]:
        """List the systems, by the names that one may know them by."""
        return self._transport.read(ContestSystems, "GET", f"{ref_path(ref, 'contests')}/systems").systems

    def submit_contest_model(self, ref: str, model: str, system: str = "") -> ContestSystem:
        """Let a model of one's own be a system of the team: the platform runs it in both phases."""
        return self._transport.read(
            ContestSystem, "POST", f"{ref_path(ref, 'contests')}/build/model", json={"model": model, "system": system}
        )

    def withdraw_contest_system(self, ref: str, system: str) -> None:
        """Take a system of one's team out again, while building lasts."""
        self._transport.ask("DELETE", f"{ref_path(ref, 'contests')}/build/systems/{quote(system, safe='')}")

    def add_contest_reference(
        self, ref: str, name: str = "", *, model: str = "", counts: bool = False
    ) -> ContestSystem:
        """Add a reference system after breaking (organisers)."""
        return self._transport.read(
            ContestSystem,
            "POST",
            f"{ref_path(ref, 'contests')}/references",
            json={"name": name, "model": model, "counts": counts},
        )

    def let_reference_count(self, ref: str, system: str, counts: bool) -> None:
        """Let a reference system enter the breakers' scores, or not (organisers)."""
        self._transport.ask(
            "PUT", f"{ref_path(ref, 'contests')}/references/{quote(system, safe='')}/counts", json={"counts": counts}
        )

    def dev_answers(self, ref: str, *, text: str = "", offset: int = 0, limit: int = 25) -> DevAnswers:
        """List what every system answered to the blind development set, once building is over (teams)."""
        return self._transport.read(
            DevAnswers,
            "GET",
            f"{ref_path(ref, 'contests')}/answers",
            params={"text": text, "offset": offset, "limit": limit},
        )

    def put_contest_pair(
        self,
        ref: str,
        original: Mapping[str, Any],
        modified: Mapping[str, Any],
        original_label: Any = None,
        *,
        modified_label: Any = None,
        name: str = "",
        rationale: str = "",
        strategy: str = "",
        tags: Iterable[str] = (),
        dispute: bool = False,
    ) -> ContestPair:
        """Add a pair to one's team's, or change the one of that name, while breaking lasts."""
        return self._transport.read(
            ContestPair,
            "POST",
            f"{ref_path(ref, 'contests')}/break/pairs",
            json={
                "original": dict(original),
                "modified": dict(modified),
                "original_label": original_label,
                "modified_label": modified_label,
                "name": name,
                "rationale": rationale,
                "strategy": strategy,
                "tags": list(tags),
                "dispute": dispute,
            },
        )

    def remove_contest_pair(self, ref: str, pair: str) -> None:
        """Take a pair of one's team out again, while breaking lasts."""
        self._transport.ask("DELETE", f"{ref_path(ref, 'contests')}/break/pairs/{quote(pair, safe='')}")

    def contest_searches(self, ref: str) -> ContestSearches:
        """List the automatic searches of one's team, and how many texts it may still ask models about."""
        return self._transport.read(ContestSearches, "GET", f"{ref_path(ref, 'contests')}/break/searches")

    def start_contest_search(
        self,
        ref: str,
        model: str,
        text: str = "",
        *,
        words: int = 2,
        beam: int = 4,
        budget: int = 500,
        sources: Iterable[str] = (),
    ) -> ContestSearch:
        """Begin a search for changes of starter sentences that turn a model, while breaking lasts."""
        return self._transport.read(
            ContestSearch,
            "POST",
            f"{ref_path(ref, 'contests')}/break/searches",
            json={
                "model": model,
                "text": text,
                "words": words,
                "beam": beam,
                "budget": budget,
                "sources": list(sources),
            },
        )

    def advance_contest_search(self, ref: str, search: int) -> ContestSearch:
        """Go on with a search for a few seconds; call it again until it is done."""
        return self._transport.read(
            ContestSearch, "POST", f"{ref_path(ref, 'contests')}/break/searches/{search}/advance"
        )

    def contest_proposals(
        self, ref: str, search: int, *, waiting: bool = False, offset: int = 0, limit: int = 25
    ) -> ContestProposals:
        """Return a page of what a search proposes, those that wait first."""
        return self._transport.read(
            ContestProposals,
            "GET",
            f"{ref_path(ref, 'contests')}/break/searches/{search}/proposals",
            params={"waiting": waiting, "offset": offset, "limit": limit},
        )

    def confirm_contest_proposal(
        self, ref: str, proposal: int, modified_label: Any, rationale: str = "", *, tags: Iterable[str] = ()
    ) -> ContestPair:
        """Make a pair of a proposal: a person says which label the changed sentence has."""
        return self._transport.read(
            ContestPair,
            "POST",
            f"{ref_path(ref, 'contests')}/break/proposals/{proposal}/confirm",
            json={"modified_label": modified_label, "rationale": rationale, "tags": list(tags)},
        )

    def reject_contest_proposal(self, ref: str, proposal: int, *, undo: bool = False) -> None:
        """Put a proposal aside, or take it up again."""
        self._transport.ask(
            "POST", f"{ref_path(ref, 'contests')}/break/proposals/{proposal}/reject", json={"undo": undo}
        )

    def next_pair_to_judge(self, ref: str) -> PairToJudge | None:
        """Hand the next pair to judge to somebody who is in no team; it is theirs for half an hour."""
        return self._transport.read(NextToJudge, "POST", f"{ref_path(ref, 'contests')}/judging/next").pair

    def judge_pair(
        self, ref: str, pair: int, original_label: Any, modified_label: Any, *, minimal: bool | None = None
    ) -> PairJudged:
        """Judge both labels of a pair that one was handed, as somebody outside the contest; it is paid."""
        return self._transport.read(
            PairJudged,
            "POST",
            f"{ref_path(ref, 'contests')}/judging",
            json={"pair": pair, "original_label": original_label, "modified_label": modified_label, "minimal": minimal},
        )

    def return_pair_to_judge(self, ref: str, pair: int) -> None:
        """Return a pair without judging it; one is not handed it again."""
        self._transport.ask("POST", f"{ref_path(ref, 'contests')}/judging/{pair}/return")

    def pair_disputes(self, ref: str) -> PairDisputes:
        """List what one's own team contests, and how many pairs it may; for the organisers all that is contested."""
        return self._transport.read(PairDisputes, "GET", f"{ref_path(ref, 'contests')}/disputes")

    def rule_rest(self, ref: str, reason: str) -> int:
        """Let every pair that waits for the organisers count as it was written (organisers)."""
        return self._transport.read(
            RestDecided, "POST", f"{ref_path(ref, 'contests')}/rest", json={"reason": reason}
        ).pairs

    def contest_results(self, ref: str) -> ContestResults:
        """Return what came of a contest: the score tables, and what lies behind them."""
        return self._transport.read(ContestResults, "GET", f"{ref_path(ref, 'contests')}/results")

    def contest_pairs(
        self,
        ref: str,
        *,
        team: str = "",
        tag: str = "",
        status: str = "",
        broke: str = "",
        offset: int = 0,
        limit: int = 50,
    ) -> ContestPairs:
        """Return a page of the pairs with every system's answers: of a *team*, with a *tag*, that *broke* a system.

        *status* is contested, undecided, settled, dropped, waiting (for the organisers) or expired (counts as it was).
        """
        return self._transport.read(
            ContestPairs,
            "GET",
            f"{ref_path(ref, 'contests')}/pairs",
            params={"team": team, "tag": tag, "status": status, "broke": broke, "offset": offset, "limit": limit},
        )

    def contest_pair(self, ref: str, pair: int) -> ContestPair:
        """Return one pair with every system's answers."""
        return self._transport.read(ContestPair, "GET", f"{ref_path(ref, 'contests')}/pairs/{pair}")

    def dispute_pair(self, ref: str, pair: int, reason: str) -> None:
        """Contest a pair of another team, while labels are settled; only so many pairs of a contest."""
        self._transport.ask("POST", f"{ref_path(ref, 'contests')}/pairs/{pair}/contest", json={"reason": reason})

    def rule_pair(
        self,
        ref: str,
        pair: int,
        decision: str,
        original_label: Any = None,
        *,
        modified_label: Any = None,
        reason: str = "",
    ) -> None:
        """Keep a pair, change its labels, or drop it; the teams concerned read the reason (organisers)."""
        self._transport.ask(
            "POST",
            f"{ref_path(ref, 'contests')}/pairs/{pair}/ruling",
            json={
                "decision": decision,
                "original_label": original_label,
                "modified_label": modified_label,
                "reason": reason,
            },
        )
