"""What a sandboxed process may use, and how its run can end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from quintain.core.errors import QuintainError
from quintain.core.texts import Text, as_text
from quintain.core.untrusted import MESSAGE, storable

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one run may use. *output_bytes* counts what it prints, *answer_bytes* one message to us."""

    memory_bytes: int = 4 * GIB
    cpu_seconds: float = 3600.0
    wall_seconds: float = 3600.0
    call_seconds: float = 120.0
    processes: int = 64
    file_bytes: int = 256 * MIB
    scratch_bytes: int = 512 * MIB
    output_bytes: int = 4 * MIB
    answer_bytes: int = 64 * MIB


class Outcome(StrEnum):
    """How a run ended. All but *done* and the last four are the model's own doing."""

    DONE = "done"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out of memory"
    CPU_TIME = "used too much CPU time"
    WALL_TIME = "took too long"
    OUTPUT = "printed too much"
    BAD_ANSWER = "gave an answer that cannot be used"
    MANIFEST = "has options that cannot be used"
    UNREACHABLE = "could not be reached"
    OVER_BUDGET = "would cost more than its budget"
    CANCELLED = "cancelled"
    NO_SANDBOX = "waits for a machine with a sandbox"
    PLATFORM = "failed through no fault of the model"


# What says nothing of a model: it counts neither for it nor against it.
OURS = (Outcome.PLATFORM, Outcome.OVER_BUDGET, Outcome.CANCELLED, Outcome.NO_SANDBOX)


class RunEnded(QuintainError):
    """The sandboxed process is gone; *outcome* says how, *log* what it printed last.

    *facts* are what asking had taken, and *spent* what it had cost.
    """

    spent = 0.0
    facts: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        outcome: Outcome,
        message: str,
        /,
        *,
        log: str = "",
        remedy: str | None = None,
        page: str | None = None,
        code: str | None = None,
        **values: object,
    ) -> None:
        # Much of it is the model's own words, and all of it is stored.
        whole = as_text(message, values)
        stored = storable(whole, MESSAGE)
        super().__init__(
            whole if stored == whole else Text("{kept}", kept=stored), remedy=remedy, page=page, code=code, **values
        )
        self.outcome = outcome
        self.log = storable(log)


class AnswersLost(RunEnded):
    """The model raised, or its reply cannot be used; its process still runs and can be asked again."""
