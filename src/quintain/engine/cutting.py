"""How examples are cut into requests: alike in the run that is scored and in the one that is timed.

A model is asked in batches of the size that it declares, and now and then for one example alone, so that the latency
of a single request can be told beside the throughput of batches. Both kinds of run are cut by the same function, and
begin with the same examples in an order of their own: nothing in a request says which of them it belongs to.
"""

from __future__ import annotations

import numpy as np

WARM_UP = 8  # examples before the clock runs
REPEATS = 3
PER_REPEAT = 66
LEAST_SESSIONS = 3  # processes, without which nothing is known of how they differ
SESSION_ROWS = WARM_UP + REPEATS * PER_REPEAT  # what a process is timed on of a data set that has so many
MEASURED_ROWS = LEAST_SESSIONS * SESSION_ROWS  # what a measurement takes of it
ALONE = 0.25  # so often a batch is followed by a request for one example


def session_rows(batch_size: int) -> int:
    """Return on how many examples a process is timed: enough for some requests of *batch_size* in each repeat.

    >>> session_rows(1), session_rows(128)
    (206, 1152)
    """
    return max(SESSION_ROWS, 3 * REPEATS * batch_size)


def cut_requests(rows: int, batch_size: int, generator: np.random.Generator) -> list[range]:
    """Cut *rows* examples into requests of *batch_size*, with single ones strewn among them.

    >>> cut_requests(3, 1, np.random.default_rng(0))
    [range(0, 1), range(1, 2), range(2, 3)]
    >>> sorted({len(request) for request in cut_requests(400, 8, np.random.default_rng(0))})
    [1, 8]
    """
    if batch_size == 1:
        return [range(row, row + 1) for row in range(rows)]
    requests: list[range] = []
    start = 0
    while start < rows:
        size = 1 if requests and len(requests[-1]) > 1 and generator.random() < ALONE else batch_size
        requests.append(range(start, min(start + size, rows)))
        start = requests[-1].stop
    return requests
