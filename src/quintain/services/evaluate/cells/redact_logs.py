"""What a builder is told of a run: a model can print what it is asked, so its words are no more open than the inputs.

Where the inputs of a data set are closed to a builder, they read how a run ended, in our words, and where the owners
allow it, at which lines: the last few numbers and the kind of error of a traceback, without names or values, which a
model could choose.
"""

from __future__ import annotations

import builtins
import re

from quintain.store.queries.evaluate.cells import CellRow
from quintain.store.tables import CellEvent

FRAMES = 3
OURS = frozenset({"queued", "leased", "cancelled"})  # events that no word of a model enters
_FRAME = re.compile(r'^[ \t]{0,40}File "[^"\n]*", line (\d{1,4})\b', re.MULTILINE)
_ERROR = re.compile(r"^([A-Z]\w*)(?::|$)", re.MULTILINE)
_KNOWN = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)


def own_reason(reason: str) -> str:
    """Return of why a run ended what is ours: how, without what the model said.

    >>> own_words("crashed: ValueError: the film was dull")
    'crashed'
    """
    return reason.partition("\n")[0].partition(":")[0]


def redacted_event(row: CellRow, event: CellEvent) -> str:
    """Return of an event what a builder may read to whom the inputs are closed."""
    if event.kind in OURS:
        return event.text
    first = own_reason(event.text)
    where = bare_trace(event.text) if row.dataset.traces and event.kind != "done" else ""
    return f"{first}\n{where}".strip()


def bare_trace(log: str) -> str:
    r"""Return the numbers of the last lines in a traceback, and the kind of error, where there is one.

    >>> bare_trace('File "/model/handler.py", line 12, in answer\nValueError: the film was dull')
    'ValueError at line 12'
    """
    lines = _FRAME.findall(log)[-FRAMES:]
    if not lines:
        return ""
    errors = [name for name in _ERROR.findall(log) if name in _KNOWN]
    return f"{errors[-1] if errors else 'Error'} at line {', '.join(lines)}"
