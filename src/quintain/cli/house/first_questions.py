"""What a new workspace is to be, asked of whoever starts it: who runs it, where it is reached, what it begins with.

Each question has an option of the same meaning, so that a script asks nothing; what is answered by an option is not
asked about. The answers that later starts need are written into the workspace's own file of settings.
"""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import typer

from quintain.cli import output
from quintain.core.errors import BadInput
from quintain.services.access.accounts import account_name
from quintain.settings import STORED, Settings

ADMIN = "admin"
ADDRESS_QUESTION = "Address that people use, such as https://bench.example.org (Enter: this machine alone)"
NOTHING = "nothing"
ALL_ADDRESSES = "0.0.0.0"  # noqa: S104 - chosen by whoever says that others reach this machine without a proxy


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    """What a new workspace begins with; None where nobody has said it yet."""

    admin: str | None = None
    public_url: str | None = None
    starter: str | None = None


def may_ask() -> bool:
    """Whether somebody sits at a terminal who can answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def complete(beginning: NewWorkspace, *, starters: tuple[str, ...], ask: bool) -> NewWorkspace:
    """Fill in what *beginning* leaves open, from the answers at the terminal or with what suits most.

    An option that cannot be is refused; an answer that cannot be is asked for again.
    """
    if ask and None in (beginning.admin, beginning.public_url, beginning.starter):
        output.say(
            "There is no workspace here yet. Three questions, and it is served; Enter takes what is in brackets."
        )

    def answer(option: str | None, question: str, default: str, check: Callable[[str], str]) -> str:
        if option is None and ask:
            return _asked(question, default, check)
        return check(default if option is None else option)

    known = ", ".join((*starters, NOTHING))
    return NewWorkspace(
        answer(beginning.admin, "1. Account name of the admin", ADMIN, account_name),
        answer(beginning.public_url, f"2. {ADDRESS_QUESTION}", "", checked_address),
        answer(beginning.starter, f"3. Task to begin with: {known}", NOTHING, partial(checked_starter, starters)),
    )


def _asked(question: str, default: str, check: Callable[[str], str]) -> str:
    while True:
        try:
            return check(typer.prompt(question, default=default, show_default=bool(default), err=True))
        except BadInput as error:
            output.say(str(error))


def checked_address(typed: str) -> str:
    """Return the address without a slash at its end; what is no address of a site is refused."""
    address = typed.strip().rstrip("/")
    parts = urlsplit(address)
    if address and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.path or parts.query):
        raise BadInput(
            "'{address}' is no address of a site.",
            address=address,
            remedy="It begins with https:// or http:// and has nothing after the host, such as https://bench.example.org.",
        )
    return address


def checked_starter(starters: tuple[str, ...], typed: str) -> str:
    """Return the starter task of this name; another one is refused."""
    name = typed.strip().lower()
    if name not in (*starters, NOTHING):
        known = ", ".join((*starters, NOTHING))
        raise BadInput("'{name}' is not one of {known}.", name=name, known=known, remedy="Name one of them.")
    return name


def lasting_settings(settings: Settings, beginning: NewWorkspace) -> Mapping[str, Any]:
    """Return the settings that follow from the answers: with an address without TLS, others reach this machine itself.

    Behind https:// stands a proxy, which reaches the server on this machine.
    """
    values: dict[str, Any] = {"public_url": beginning.public_url} if beginning.public_url else {}
    parts = urlsplit(beginning.public_url or "")
    if parts.scheme == "http" and not _is_this_machine(parts.hostname or "") and settings.host == Settings().host:
        values["host"] = ALL_ADDRESSES
        if settings.port == Settings().port:
            values["port"] = parts.port or 80
    return values


def store_lasting(settings: Settings, values: Mapping[str, Any]) -> None:
    """Write *values* into the workspace's file of settings, for later starts."""
    from quintain.tasks.writing import dump_toml  # it brings a writer of TOML, which other starts do without

    if values:
        (settings.workspace / STORED).write_text(dump_toml(values), encoding="utf-8")
        output.say(f"{settings.workspace / STORED} keeps {', '.join(values)} for later starts.")


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
