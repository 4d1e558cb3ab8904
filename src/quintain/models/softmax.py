"""Scores as probabilities. `scipy.special` has it too, and takes a third of a second to import in each new process."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Scores = TypeVar("Scores", bound=npt.NDArray[np.floating[Any]])


def softmax(scores: Scores) -> Scores:
    """Turn each row of *scores*, or the one that they are, into probabilities; a new array of the same kind.

    >>> softmax(np.array([[0.0, 0.0], [0.0, np.log(3)]])).round(6).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)  # type: ignore[no-any-return] # of the kind of *scores*
