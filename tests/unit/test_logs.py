"""Log lines say when, how bad, what, and for which request."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from quintain.core.errors import BadInput
from quintain.logs import BriefFormatter, Repeats, mask, request_id, set_up_logs
from quintain.web.routes import API, PAGES


@pytest.fixture(autouse=True)
def _put_handlers_back() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_json_lines_carry_the_request_and_extras() -> None:
    """A machine finds the time, the level, the request and what was given as extra."""
    stream = io.StringIO()
    set_up_logs("info", "json", stream)
    token = request_id.set("r-1")
    logging.getLogger("quintain.test").info("served %s", "page", extra={"status": 200})
    request_id.reset(token)
    logging.getLogger("quintain.test").debug("not shown")
    line = json.loads(stream.getvalue())
    assert line["time"].endswith("+00:00")
    del line["time"]
    assert line == {
        "level": "info",
        "logger": "quintain.test",
        "message": "served page",
        "request": "r-1",
        "status": 200,
    }


def test_marks_of_libraries_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a library's record factory writes on every record does not fill our lines."""
    plain = logging.getLogRecordFactory()

    def stamped(*args: object, **options: object) -> logging.LogRecord:
        record = plain(*args, **options)
        record.__dict__["_library_stamp"] = 7
        return record

    monkeypatch.setattr(logging, "_logRecordFactory", stamped)
    stream = io.StringIO()
    set_up_logs("info", "text", stream)
    logging.getLogger("quintain.test").info("served", extra={"status": 200, "color_message": "served"})
    assert stream.getvalue().endswith("quintain.test served status=200\n")


def test_text_lines_can_be_read() -> None:
    """A person sees one line with the extras at its end, and the traceback below it."""
    stream = io.StringIO()
    set_up_logs("warning", "text", stream)
    try:
        raise ValueError("inside")
    except ValueError:
        logging.getLogger("quintain.test").exception("failed", extra={"task": "nli"})
    first, *rest = stream.getvalue().splitlines()
    assert first.endswith("error   quintain.test failed task=nli")
    assert rest[-1] == "ValueError: inside"


@pytest.mark.parametrize(("level", "style"), [("loud", "text"), ("info", "xml")])
def test_wrong_settings_are_refused(level: str, style: str) -> None:
    """An unknown level or format is named with those that there are."""
    with pytest.raises(BadInput, match="is not a log"):
        set_up_logs(level, style)


def test_brief_lines_have_no_traceback_and_are_not_repeated() -> None:
    """At a terminal, one line says what failed; more of the same kind are counted, and told with the next one."""
    stream = io.StringIO()
    now = [0.0]
    logger = logging.Logger("quintain.worker")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(BriefFormatter())
    handler.addFilter(Repeats(60, clock=lambda: now[0]))
    logger.addHandler(handler)

    def fail(cell: int) -> None:
        try:
            raise TypeError("no filter\nhere")
        except TypeError:
            logger.exception("cell %s", cell)

    for cell in range(1000):
        fail(cell)
    logger.warning("another")
    now[0] = 61.0
    fail(1000)
    lines = stream.getvalue().splitlines()
    assert [line.partition("quintain.worker ")[2] for line in lines] == [
        "cell 0: TypeError: no filter",
        "another",
        "cell 1000 (and 999 more like it): TypeError: no filter",
    ]


def test_lines_go_to_what_standard_error_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """A standard error that was closed since the start costs no line, and no traceback of the logger's own."""
    first, second = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stderr", first)
    set_up_logs("info", "brief")
    first.close()
    monkeypatch.setattr("sys.stderr", second)
    logging.getLogger("quintain.test").warning("still here")
    assert "still here" in second.getvalue()


SECRET = "Zm9vYmFyLW9uZS10aW1lLXNlY3JldC0xMjM0NTY3ODkw"
# Parameters of addresses that are nobody's secret: a picture is named by its content.
NO_SECRETS = {"/images/{key}"}


def test_addresses_that_open_something_are_masked() -> None:
    """The part of an address that opens something by itself stands in no line, whatever route it is of."""
    secret = {"token", "key", "code", "upload_id", "link"}
    checked = 0
    for route in (*PAGES, *API):
        names = set(re.findall(r"{(\w+)", route.path))
        if not names & secret or route.path in NO_SECRETS:
            continue
        path = re.sub(r"{(\w+)[^}]*}", lambda found: SECRET if found[1] in secret else "1", route.path)
        for base in ("", "/api/v1", "https://bench.example.org"):
            assert SECRET not in mask(f"GET {base}{path}"), path
        checked += 1
    assert checked > 20


@pytest.mark.parametrize("style", ["text", "brief", "json"])
def test_every_line_is_masked(style: str) -> None:
    """Messages, extras and exceptions say nothing of links, panel ids, tokens, codes and passwords in addresses."""
    stream = io.StringIO()
    set_up_logs("info", style, stream)
    told = [
        f"/link/{SECRET}?next=/work",
        f"/LINK/{SECRET} and /Enter/{SECRET}",  # mistyped, and no less a secret
        f"/enter/{SECRET}?PROLIFIC_PID={SECRET}&SESSION_ID={SECRET}",
        f"https://api.example.org/x?api_key={SECRET}&code={SECRET}",
        f"postgresql://someone:{SECRET}@db.example.org/quintain",
        f"Authorization: Bearer {SECRET}",
        f"qt_{SECRET}",
        "/api/v1/submissions/5f0c1d2e3f4a5b6c7d8e9f00/transition/ 5f0c1d2e3f4a5b6c7d8e9f00",
    ]
    log = logging.getLogger("quintain.test")
    for number, text in enumerate(told):
        log.info("told %s", text, extra={"path": text})
        try:
            raise OSError(text)
        except OSError:
            logging.getLogger(f"quintain.test.{number}").exception("failed: %s", text)
    assert SECRET not in stream.getvalue()
    assert "5f0c1d2e" not in stream.getvalue()
    assert "/link/…?next=…" in stream.getvalue()


def test_files_in_tracebacks_are_still_named() -> None:
    """What names no secret stays readable: paths of source files, hashes, numbers of requests."""
    line = 'File "/srv/quintain/web/pages/contest/results.py", line 3; request a1b2c3; /tasks/nli/rounds/3/write'
    assert mask(line) == line
