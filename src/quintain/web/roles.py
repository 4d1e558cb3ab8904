"""Whether a visitor may play any part: in a demo that only this machine can reach, and nowhere else.

A password is nothing there that anybody could lose: whoever can ask on loopback can read the demo's files. Everything
else is refused: a server that is no demo, an address that others reach, a proxy or tunnel that ends on this machine
(it forwards, or names another host), and a page elsewhere that had its name lead here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import ip_address

from starlette.requests import Request

from quintain.core.people import RoleName
from quintain.services.house.demo import ADMIN, PARTS
from quintain.settings import Settings

READER = "reader"
NAMES = {**{part.role.value: part.name for part in PARTS}, ADMIN: ADMIN}  # accounts by the part that they play
FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


def is_loopback(host: str) -> bool:
    """Whether *host* is this machine's own name or address for itself.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "demo.example.org", "")]
    [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_stage(settings: Settings) -> bool:
    """Whether a demo with these settings is for this machine alone."""
    return is_loopback(settings.host) and not settings.public_url and not settings.trusted_proxies


def may_play(request: Request, settings: Settings, *, demo: bool) -> bool:
    """Whether whoever asks may play any part of the demo."""
    if not demo or not is_stage(settings) or any(name in request.headers for name in FORWARDED):
        return False
    return is_loopback(request.client.host if request.client else "") and is_loopback(request.url.hostname or "")


def role_words(_: Callable[[str], str]) -> Mapping[RoleName, str]:
    """Name every role in the reader's language."""
    return {
        RoleName.ADMIN: _("admin"),
        RoleName.OWNER: _("owner"),
        RoleName.BUILDER: _("builder"),
        RoleName.WORKER: _("worker"),
        RoleName.EXPERT: _("expert"),
    }
