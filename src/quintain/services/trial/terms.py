"""What somebody is told of pay and time before they agree to take part in a trial.

It is said of all arms together, from the least to the most: who reads it does not learn of arms, or which is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintain.core.records.trial import TrialTerms
from quintain.core.rounds import Money
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import Stage


def terms_of(protocols: Sequence[Protocol]) -> TrialTerms:
    """Return what the first work of a trial pays and takes, and what all of it does for who goes on to the end."""
    currency = protocols[0].currency
    first = [_session(next(stage for stage in protocol.stages if stage.work is not None)) for protocol in protocols]
    whole = [_whole(protocol) for protocol in protocols]
    return TrialTerms(
        first_least=Money(min(pay for pay, _ in first), currency),
        first_most=Money(max(pay for pay, _ in first), currency),
        first_minutes=max(minutes for _, minutes in first),
        most=Money(max(pay for pay, _ in whole), currency),
        minutes=max(minutes for _, minutes in whole),
    )


def _session(stage: Stage) -> tuple[int, float]:
    """Return what a tutorial, or one session of a writing, pays and takes."""
    return (stage.work.pay, stage.work.minutes) if stage.work is not None else (0, 0.0)


def _whole(protocol: Protocol) -> tuple[int, float]:
    """Return what the tutorials and all sessions of a protocol pay and take: bonuses and grades come on top."""
    pay, minutes = 0, 0.0
    for stage in protocol.stages:
        times = stage.writing.sessions if stage.writing is not None else 1
        each, lasts = _session(stage)
        pay, minutes = pay + each * times, minutes + lasts * times
    return pay, minutes
