"""Where a round stands between people and models."""

from __future__ import annotations

from enum import StrEnum

MARGIN = 0.02  # how much lower than that of people a model's macro F1 may be, where a task does not say otherwise


class ParityState(StrEnum):
    """What the figures say of a model and people, or why they say nothing."""

    SOLVED = "solved"  # not inferior to people within the margin
    OPEN = "open"  # surely inferior
    UNDECIDED = "undecided"
    TOO_FEW = "too_few"
    SHOWN = "shown"  # the labels can be read, so that a model may have learned them
    WAITING = "waiting"  # nothing has been run on the test set yet
    UNRELEASED = "unreleased"
