"""The demo's contest: played once, through the real services, with figures for everybody to see."""

from __future__ import annotations

from quintain.compose import Workspace
from quintain.core.contests import Phase
from quintain.core.people import ANONYMOUS, OPERATOR
from quintain.services.contest import contests, scores
from quintain.simulate.contest import TEAMS, play_contest, written_pairs


def test_the_contest_of_the_demo_is_over_and_has_results(own_demo: Workspace) -> None:
    """Three teams built and three broke, every pair is there, a contested one is settled, and it is played once."""
    play_contest(own_demo)
    play_contest(own_demo)
    with own_demo.session() as db:
        info = contests.find_contest(db, "sentiment/spring")
        assert info.phase is Phase.OVER
        found = scores.results(db, own_demo.blobs, ANONYMOUS, info.ref)
        assert set(found.score.systems) == {team for team, (_, model) in TEAMS.items() if model}
        assert set(found.score.breakers) == {row["team"] for row in written_pairs()}
        assert (found.pairs, found.score.contested, found.provisional) == (len(written_pairs()), 0, False)
        assert all(one.score is not None and 0 < one.score < 1 for one in found.score.breakers.values())
        assert [one.name for one in found.systems if one.reference] == ["majority"]
        settled = scores.list_pairs(db, own_demo.blobs, OPERATOR, info.ref, status="settled")
        assert settled.total == 1
