"""Passes: qualifications by which a trial lets people of one arm write at one stage, while they are there.

A trial gives and ends them itself. Whoever read their names would know that there are arms.
"""

from __future__ import annotations

import re

from quintain.core.hashing import content_id

LONGEST = 40  # what the column of a qualification's name holds
_PASS = re.compile(r"trial-\d+-")


def stage_qualification(arm_id: int, stage: str) -> str:
    """Name the qualification that lets people of an arm write at a stage; a long name is hashed, never cut.

    >>> pass_of(3, "final")
    'trial-3-final'
    """
    name = f"trial-{arm_id}-{stage}"
    return name if len(name) <= LONGEST else f"trial-{arm_id}-{content_id(stage)[:16]}"


def is_stage_qualification(qualification: str) -> bool:
    """Whether a qualification is one that trials give.

    >>> is_pass("trial-3-final"), is_pass("trial-run")
    (True, False)
    """
    return _PASS.match(qualification) is not None
