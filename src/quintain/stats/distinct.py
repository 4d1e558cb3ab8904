"""Lists of texts without near duplicates, for samples that people will read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from quintain.stats.near_duplicates import THRESHOLD, WIDTH, find_nearest, find_pairs


def keep_distinct(
    texts: Sequence[str], among: Sequence[str] = (), *, threshold: float = THRESHOLD, width: int = WIDTH
) -> npt.NDArray[np.bool_]:
    """Return which of *texts* to keep so that none of them nearly repeats another, or one of *among*.

    Of two that are alike the earlier one stays; what is like one that has gone may stay.

    >>> keep_distinct(["A great film!", "a great film", "What a bore."])
    array([ True, False,  True])
    """
    keep = np.ones(len(texts), dtype=np.bool_)
    if len(texts) and len(among):
        keep &= find_nearest(texts, among, threshold=threshold, width=width).index < 0
    later, earlier = find_pairs(texts, threshold=threshold, width=width)
    order = np.lexsort((earlier, later))
    for late, early in zip(later[order].tolist(), earlier[order].tolist(), strict=True):
        if keep[early]:
            keep[late] = False
    return keep
