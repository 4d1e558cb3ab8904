"""Calling a model's server: only where the operator allows, with patience that ends, and without trusting a reply."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from quintain.adapters.contract import Options, Outside
from quintain.adapters.wire import Unanswered, Wire
from quintain.core.errors import BadInput, Fault, Forbidden, Unavailable
from quintain.core.hashing import canonical_json
from quintain.core.texts import Text, as_text
from quintain.core.untrusted import Bounds, read_json

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
REPLY = Bounds(size=4 << 20, text=1 << 20, elements=100_000)  # one reply of a server
MAX_WAIT = 60.0
SHOWN = 160
LONGEST_SAID = 4_000

REMOTE_OPTIONS: Mapping[str, str] = {
    "url": "Address of the server, such as https://models.example.org.",
    "secret": "Name of the operator's key to send, if the server wants one.",
    "timeout": "Seconds to wait for one reply; 60 by default.",
    "retries": "How often a call that failed is tried again; 4 by default.",
    "perturbations": "counted (the default): only those that enter a figure are run; all: the others too.",
}


class Refused(BadInput):
    """The server says that what was sent is wrong; *said* are its own words."""

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said

    def names(self, parameter: str) -> bool:
        """Say whether the server's words name *parameter*."""
        return re.search(rf"(?<![A-Za-z_]){re.escape(parameter)}(?![A-Za-z_])", self.said) is not None


def origin(url: str) -> str:
    """Give scheme, host and port of *url*, or refuse what is not a plain web address.

    >>> origin("https://Models.example.org/v1")
    'https://models.example.org:443'
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadInput("'{url}' is not an address.", url=url) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password:
        raise BadInput(
            "'{url}' is not an address.", url=url, remedy="Write https://host or http://host:port, without a password."
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port or (443 if parts.scheme == 'https' else 80)}"


def check_options(options: Options) -> list[Fault]:
    """Find what is wrong with the options that all servers share."""
    faults = []
    try:
        origin(str(options.get("url", "")))
    except BadInput as error:
        faults.append(_fault("url", error.message if "url" in options else "is missing"))
    for name, most in (("timeout", 600), ("retries", 20)):
        value = options.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            faults.append(_fault(name, "is {value}; it is a number from 0 to {most}", value=repr(value), most=most))
    if options.get("perturbations", "counted") not in {"counted", "all"}:
        faults.append(
            _fault(
                "perturbations",
                "is {perturbations}; it is 'counted' or 'all'",
                perturbations=repr(options["perturbations"]),
            )
        )
    return faults


def permit(options: Options, outside: Outside) -> None:
    """Refuse a server, or a key, that the operator does not allow."""
    wanted = origin(str(options.get("url", "")))
    allowed = [origin(one) for one in outside.endpoints]
    if wanted not in allowed:
        listed = ", ".join(outside.endpoints) or Text("none")
        raise Forbidden(
            "The endpoint {wanted} is not one that this server may call.",
            wanted=wanted,
            listed=listed,
            remedy="Allowed: {listed}. The operator adds others to QUINTAIN_ENDPOINTS.",
            page="Allowed: {listed}. The operator can add others.",
        )
    name = options.get("secret")
    if name is None:
        return
    secret = outside.secrets.get(str(name))
    if secret is None or origin(secret.endpoint) != wanted:
        raise Forbidden(
            "There is no key called '{name}' for {wanted}.",
            name=name,
            wanted=wanted,
            remedy="The operator adds it to the file QUINTAIN_SECRETS.",
            page="The operator can add it.",
        )


class Caller:
    """Calls one server, from several threads at once. Use it as a context manager."""

    def __init__(self, options: Options, outside: Outside, *, sleep: Callable[[float], None] = time.sleep) -> None:
        permit(options, outside)
        self.url = str(options["url"]).rstrip("/")
        self.retries = int(options.get("retries", 4))
        self.retried = 0
        self._sleep = sleep
        self._lock = threading.Lock()
        headers = {"accept": "application/json", "content-type": "application/json", "user-agent": "quintain"}
        if "secret" in options:
            headers["authorization"] = f"Bearer {outside.secrets[str(options['secret'])].key}"
        self._wire = Wire(self.url, headers, timeout=float(options.get("timeout", 60)), most=REPLY.size)

    def __enter__(self) -> Caller:
        """Give the caller itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the connections."""
        self._wire.close()

    def post(self, path: str, body: Any) -> Any:
        """Send *body*, JSON or a value to be written so, and give the JSON that comes back; again where that may help.

        *path* goes below the server's address.
        """
        data = body if isinstance(body, bytes) else canonical_json(body)
        said = ""
        for attempt in range(self.retries + 1):
            after = ""
            try:
                reply = self._wire.post(path, data)
            except Unanswered as error:
                said = str(error)
            except BadInput as error:
                raise BadInput(
                    "The endpoint {url}{path} {message}", url=self.url, path=path, message=error.message
                ) from None
            else:
                if reply.status not in RETRIED:
                    return self._read(path, reply.status, reply.headers, reply.content)
                said = Text(
                    "answered with status {status}: {content}", status=reply.status, content=_shown(reply.content)
                )
                after = reply.headers.get("retry-after", "")
            if attempt < self.retries:
                with self._lock:
                    self.retried += 1
                self._sleep(_pause(attempt, after))
        raise Unavailable(
            "The endpoint {url}{path} {said} ({retries} attempts).",
            url=self.url,
            path=path,
            said=said,
            retries=self.retries + 1,
        )

    def _read(self, path: str, status: int, headers: Mapping[str, str], content: bytes) -> Any:
        where = Text("The endpoint {url}{path}", url=self.url, path=path)
        if status in {401, 403}:
            raise Forbidden(
                "{where} refused us with status {status}: {content}",
                where=where,
                status=status,
                content=_shown(content),
                remedy="Check options.secret.",
            )
        if 300 <= status < 400:
            raise BadInput(
                "{where} redirects to {location}, which is not followed.",
                where=where,
                location=repr(headers.get("location", "?")),
            )
        if status in {400, 422}:
            said = content[:LONGEST_SAID].decode("utf-8", "replace")
            raise Refused(
                Text(
                    "{where} answered with status {status}: {content}",
                    where=where,
                    status=status,
                    content=_shown(content),
                ),
                said,
            )
        if status >= 400:
            raise BadInput(
                "{where} answered with status {status}: {content}", where=where, status=status, content=_shown(content)
            )
        try:
            return read_json(content, REPLY)
        except BadInput as error:
            kind = headers.get("content-type") or Text("no content type")
            raise BadInput(
                "{where} sent {kind} where JSON was expected: {content} {message}",
                where=where,
                kind=kind,
                content=_shown(content),
                message=error.message,
            ) from None


def _pause(attempt: int, retry_after: str) -> float:
    """Say how long to wait: what the server asks for, else twice as long each time, spread a little."""
    if retry_after.strip().isdigit():
        return min(float(retry_after), MAX_WAIT)
    return float(min(0.5 * 2**attempt, MAX_WAIT) * (0.75 + random.random() / 2))  # noqa: S311 - to spread, not to hide


def _shown(content: bytes) -> str:
    text = " ".join(content[: 4 * SHOWN].decode("utf-8", "replace").split())
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")


def _fault(name: str, reason: str, /, **values: object) -> Fault:
    return Fault(as_text(reason, values), file="quintain.toml", field=f"options.{name}")
