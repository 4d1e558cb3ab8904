"""Asking a server, and turning what it refuses into the errors that the platform itself raises."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from quintain.core.errors import (
    BadInput,
    Conflict,
    Fault,
    Forbidden,
    NotFound,
    NotSignedIn,
    QuintainError,
    Stale,
    TooMany,
    Unavailable,
)
from quintain.core.records.base import Misread, decode
from quintain.core.records.jobs import JobStanding

T = TypeVar("T")
API = "/api/v1"
ACCEPTED = 202
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
ERRORS: Mapping[int, type[QuintainError]] = {
    401: NotSignedIn,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    503: Unavailable,
}


@dataclass(frozen=True, slots=True)
class _OnTheWay:
    """What a job makes: a file that is fetched from the job, or else what was asked for, at the same address."""

    number: int
    location: str

    @property
    def is_file(self) -> bool:
        """Whether the job itself gives it."""
        return self.location.endswith(f"/jobs/{self.number}/file")


def _pauses() -> Iterator[float]:
    """Yield how long to wait before asking again: longer and longer."""
    pause = FIRST_PAUSE_S
    while True:
        yield pause
        pause = min(pause * 1.5, LONGEST_PAUSE_S)


class Transport:
    """A connection to the API of one server."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self.url = url.rstrip("/")
        self._http = httpx2.Client(base_url=f"{self.url}{API}", headers=headers, timeout=timeout)

    def ask(self, method: str, path: str, **request: Any) -> Any:
        """Send a request and give the JSON that comes back; None where the answer has no body."""
        response = self._send(method, path, **request)
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError:
            raise Unavailable(
                "{url} did not answer with JSON.",
                url=self.url,
                remedy="Check that the address is that of a Quintain server.",
            ) from None

    def read(self, kind: type[T], method: str, path: str, *, params: Mapping[str, Any] | None = None, **body: Any) -> T:
        """Send a request and give the record that comes back; parameters that are None or empty are left out."""
        asked = {name: value for name, value in (params or {}).items() if value is not None and value != ""}
        try:
            return decode(kind, self.ask(method, path, params=asked, **body))
        except Misread as error:
            raise Unavailable(
                "What {url} answers is not understood: {error}.",
                url=self.url,
                error=error,
                remedy="Use a client of the server's version.",
            ) from error

    def text(self, method: str, path: str, **request: Any) -> str:
        """Send a request and give the text that comes back."""
        return self._send(method, path, **request).text

    def fetch(self, path: str, target: Path, **request: Any) -> None:
        """Write what a path gives to *target*, piece by piece; whole, or not at all.

        Where the server has a worker write the file first, that is waited for.
        """
        pauses = _pauses()
        while (job := self._fetch(path, target, **request)) is not None:
            if job.is_file:
                self._wait_for(job.number)
                path, request = f"/jobs/{job.number}/file", {}
            else:
                time.sleep(next(pauses))

    def _fetch(self, path: str, target: Path, **request: Any) -> _OnTheWay | None:
        """Write what a path gives to *target*; give the job that makes it first, where there is one."""
        part = target.with_name(f".{target.name}.part")
        try:
            with self._http.stream("GET", path, **request) as response:
                if response.is_error:
                    response.read()
                    raise error_of(response)
                if response.status_code == ACCEPTED:
                    response.read()
                    return _OnTheWay(int(response.json()["id"]), response.headers.get("location", ""))
                with part.open("wb") as stream:
                    for piece in response.iter_bytes():
                        stream.write(piece)
            part.replace(target)
            return None
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        finally:
            part.unlink(missing_ok=True)

    def _wait_for(self, number: int) -> None:
        """Wait until a job is over; it is asked about less and less often."""
        pauses = _pauses()
        while (job := self.read(JobStanding, "GET", f"/jobs/{number}")).going:
            time.sleep(next(pauses))
        if job.state != "done":
            reason = job.reason or f"The job is {job.state}."
            raise Unavailable("The file was not written: {reason}", reason=reason, remedy="Ask for it again.")

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def _send(self, method: str, path: str, **request: Any) -> httpx2.Response:
        """Send a request; where a worker is to do it first, it is asked for where it will be until it is there."""
        pauses = _pauses()
        while True:
            response = self._send_once(method, path, **request)
            if response.status_code != ACCEPTED:
                return response
            time.sleep(next(pauses))
            method, path, request = "GET", response.headers["location"].removeprefix(API), {}

    def _send_once(self, method: str, path: str, **request: Any) -> httpx2.Response:
        try:
            response = self._http.request(method, path, **request)
        except UnicodeEncodeError as error:
            raise BadInput(
                "A text cannot be sent: {reason}.",
                reason=error.reason,
                remedy="Take halves of surrogate pairs out.",
            ) from error
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        if response.is_error:
            raise error_of(response)
        return response

    def _unreachable(self, error: Exception) -> Unavailable:
        return Unavailable(
            "{url} cannot be reached: {error}.",
            url=self.url,
            error=error or type(error).__name__,
            remedy="Check the address, and that the server runs.",
        )


def error_of(response: httpx2.Response) -> QuintainError:
    """Return the error that a refusal stands for."""
    try:
        body = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        body = {}
    message = body.get("message") or f"The server answered {response.status_code}."
    remedy, code = body.get("remedy"), body.get("code")
    status = response.status_code
    if status == 429:
        wait = int(response.headers.get("retry-after", "1"))
        return TooMany(message, retry_after=wait, remedy=remedy, code=code)
    if status in {400, 413, 422}:
        return BadInput(message, faults=[_fault(item) for item in body.get("faults", [])], remedy=remedy, code=code)
    if code == Stale.code:
        return Stale(faults=[_fault(item) for item in body.get("faults", [])])
    return ERRORS.get(status, Unavailable)(message, remedy=remedy, code=code)


def _fault(item: Mapping[str, Any]) -> Fault:
    places = {name: item.get(name) for name in ("file", "row", "line", "field")}
    return Fault(item["reason"], **places)
