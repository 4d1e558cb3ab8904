"""Logs: one line per event, for people or for machines, with the id of the request that it belongs to."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from copy import copy
from datetime import UTC, datetime
from typing import TextIO

from quintain.core.errors import BadInput

REPEAT_SECONDS = 60.0
request_id: ContextVar[str] = ContextVar("request_id", default="")

# What every record has; anything else was given with `extra=` and belongs into the line. uvicorn adds its message once
# more, in colours.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "request_id",
    "taskName",
    "color_message",
}


# What opens something by itself, and names of people at panels, wherever a line quotes an address: the part of the path
# that is a one-time link, a page or an entrance, all that a query holds, passwords, our tokens, and Prolific's ids.
_SECRETS = (
    (re.compile(r"(?i)(/(?:link|enter)/)[^/\s?#\"'\\,)]+"), r"\1…"),
    (re.compile(r"(?i)(/(?:judge|write|sessions|pages|uploads)/)[A-Za-z0-9_\-]{16,}(?![\w.])"), r"\1…"),
    (re.compile(r"([?&](?:[\w.\-\[\]]|%[0-9A-Fa-f]{2}){1,60}=)[^&\s#\"'\\<>)]+"), r"\1…"),
    (re.compile(r"(://[^/\s:@]*:)[^/\s@]+@"), r"\1…@"),
    (re.compile(r"\bqt_[A-Za-z0-9_\-]{8,}"), "qt_…"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9_\-.=+/]{8,}"), r"\1 …"),
    (re.compile(r"\b[0-9a-f]{24}\b"), "…"),
)


def mask(line: str) -> str:
    """Leave out of a *line* for the log what opens something for whoever reads it, or names somebody at a panel.

    >>> mask("GET /link/Zm9vYmFy?next=/work and /enter/k3y?PROLIFIC_PID=5f0c&x=1")
    'GET /link/…?next=… and /enter/…?PROLIFIC_PID=…&x=…'
    """
    for pattern, replacement in _SECRETS:
        line = pattern.sub(replacement, line)
    return line


def _extras(record: logging.LogRecord) -> dict[str, object]:
    # A leading underscore is a library's own mark on every record (Ray stamps its time so), not something to tell.
    return {name: value for name, value in vars(record).items() if name not in _STANDARD and not name.startswith("_")}


class JsonFormatter(logging.Formatter):
    """Write a record as one JSON object: time, level, logger, message, request, and whatever was given as extra."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id.get():
            line["request"] = request_id.get()
        line.update(_extras(record))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return mask(json.dumps(line, ensure_ascii=False, default=str))


class TextFormatter(logging.Formatter):
    """Write a record as a line to read, the extras as name=value at its end."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of text, with secrets masked."""
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%d %H:%M:%S")
        extras = [f"{name}={value}" for name, value in _extras(record).items()]
        if request_id.get():
            extras.append(f"request={request_id.get()}")
        line = " ".join([moment, f"{record.levelname.lower():<7}", record.name, record.getMessage(), *extras])
        return mask(f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line)


class BriefFormatter(TextFormatter):
    """Write a record as one short line: no traceback, only what went wrong."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line, without the trace of its error."""
        shown = copy(record)
        shown.exc_info = None
        line = super().format(shown)
        if not record.exc_info or record.exc_info[1] is None:
            return line
        error = record.exc_info[1]
        return mask(f"{line}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": "))


class Repeats(logging.Filter):
    """Let a kind of event through once in a while, and the next time say how many there were meanwhile.

    Events are of one kind that come from the same place with the same words and the same kind of exception, whatever
    numbers and names they are about.
    """

    def __init__(self, seconds: float = REPEAT_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds = seconds
        self._clock = clock
        self._last: dict[object, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        error = record.exc_info[0] if record.exc_info else None
        kind = (record.name, record.levelno, str(record.msg), error)
        now = self._clock()
        last, withheld = self._last.get(kind, (-self._seconds, 0))
        if now - last < self._seconds:
            self._last[kind] = (last, withheld + 1)
            return False
        self._last[kind] = (now, 0)
        if withheld:
            record.msg, record.args = f"{record.getMessage()} (and {withheld} more like it)", ()
        return True


class StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to what standard error is when a line comes, not to what it was at the start and may be closed by now."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        self.stream = sys.stderr
        super().emit(record)


def set_up_logs(level: str, style: str, stream: TextIO | None = None) -> None:
    """Send all logs to *stream* (stderr by default) in *style*, `text`, `brief` or `json`."""
    numbers = logging.getLevelNamesMapping()
    if level.upper() not in numbers:
        raise BadInput("'{level}' is not a log level.", level=level, remedy="Use debug, info, warning or error.")
    formatters = {"text": TextFormatter, "brief": BriefFormatter, "json": JsonFormatter}
    if style not in formatters:
        raise BadInput("'{style}' is not a log format.", style=style, remedy="Use text, brief or json.")
    handler = StderrHandler() if stream is None else logging.StreamHandler(stream)
    handler.setFormatter(formatters[style]())
    if style == "brief":
        handler.addFilter(Repeats())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(numbers[level.upper()])
    # The server brings handlers of its own; its lines go through ours.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # Migrations say which dialect they assume at every start; only what goes wrong is news.
    logging.getLogger("alembic").setLevel(logging.WARNING)


__all__ = ["BriefFormatter", "JsonFormatter", "Repeats", "TextFormatter", "request_id", "set_up_logs"]
