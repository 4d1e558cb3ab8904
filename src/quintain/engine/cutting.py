"""How examples are shared out over a model's processes and cut into requests: alike in every run.

A model is asked in batches of the size that it declares, and now and then for one example alone, so that the latency
of a single request can be told beside the throughput of batches. A run on the plain examples is shared out over up to
three processes, so that what it shows of the model's speed has an error; a further one answers as many as each of them.
"""

from __future__ import annotations

import numpy as np

REPEATS = 3  # parts of a process's requests, whose rates say how they vary within it
LEAST_SESSIONS = 3  # processes, without which nothing is known of how they differ
SESSION_ROWS = 206  # examples, of which a process is timed on at least so many where there are
LEAST_REQUESTS = 9  # of the declared size
TIMED_ROWS = 1_700  # examples after which a process that is scored need not have the machine to itself any more
MEASURED_ROWS = LEAST_SESSIONS * TIMED_ROWS  # what a measurement draws from
ALONE = 0.25  # so often, at most, a batch is followed by a request for one example
ALONE_SHARE = 0.01  # of all examples that are asked for alone: they are no part of the throughput of batches


def session_rows(batch_size: int) -> int:
    """Return how many examples a process answers at least, where there are: some requests of the declared size.

    >>> session_rows(1), session_rows(128)
    (206, 1152)
    """
    return max(SESSION_ROWS, LEAST_REQUESTS * batch_size)


def timed_rows(batch_size: int) -> int:
    """Return how many examples of a process are timed at most while nothing else runs.

    >>> timed_rows(1), timed_rows(512)
    (1700, 4608)
    """
    return max(TIMED_ROWS, session_rows(batch_size))


def process_count(rows: int, batch_size: int) -> int:
    """Return over how many processes a run on so many plain examples is shared out.

    >>> [process_count(rows, 1) for rows in (0, 300, 500, 618, 100_000)]
    [1, 1, 2, 3, 3]
    """
    return min(max(rows // session_rows(batch_size), 1), LEAST_SESSIONS)


def process_rows(rows: int, batch_size: int) -> int:
    """Return how many examples a further process answers: as many as one that is scored is timed on.

    >>> [process_rows(rows, 1) for rows in (40, 500, 3000, 100_000)]
    [40, 250, 1000, 1700]
    """
    return min(-(-rows // process_count(rows, batch_size)), timed_rows(batch_size))


def cut_requests(rows: int, batch_size: int, generator: np.random.Generator) -> list[range]:
    """Cut *rows* examples into requests of *batch_size*, with single ones strewn among them; the first is single.

    >>> cut_requests(3, 1, np.random.default_rng(0))
    [range(0, 1), range(1, 2), range(2, 3)]
    >>> [len(request) for request in cut_requests(40, 16, np.random.default_rng(0))]
    [1, 16, 16, 7]
    """
    if batch_size == 1:
        return [range(row, row + 1) for row in range(rows)]
    often = min(ALONE, ALONE_SHARE * batch_size)
    requests: list[range] = []
    start = 0
    while start < rows:
        alone = not requests or (len(requests[-1]) > 1 and generator.random() < often)
        requests.append(range(start, min(start + (1 if alone else batch_size), rows)))
        start = requests[-1].stop
    return requests
