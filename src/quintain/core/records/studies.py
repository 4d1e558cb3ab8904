"""A study of a data set, a round, a trial or models: the last report of it, and the job that makes the next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quintain.core.records.base import Record
from quintain.core.records.jobs import JobStanding
from quintain.core.records.report import Report


@dataclass(frozen=True, slots=True)
class KeptStudy(Record):
    """What is known of *source* (`data/test@2`, `rounds/1`, `trials/x`): the *report* made at *at* took *seconds*.

    *job* makes the next one, or tried to; None where nobody has asked for one. *may_start* says whether who looks may
    ask for one. *taken_back* says that there was a report, and a text in it may have been taken back since.
    """

    task: str
    source: str
    report: Report | None
    at: datetime | None
    seconds: float | None
    job: JobStanding | None
    may_start: bool = True
    taken_back: bool = False
