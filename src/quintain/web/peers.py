"""Where a request comes from, for limits: the other end of the connection, or what a trusted proxy says of it."""

from __future__ import annotations

import logging
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.requests import Request

from quintain.core.errors import BadInput

HOME_BITS = 64  # of an IPv6 address: what one customer is given, and may choose all further bits of
log = logging.getLogger("quintain.web")


def trusted_proxies(setting: str) -> list[str]:
    """Read the addresses and networks in *setting*, by commas. Whoever speaks from there may say whom it speaks for."""
    proxies = [part.strip() for part in setting.split(",") if part.strip()]
    for part in proxies:
        try:
            ip_network(part)
        except ValueError as error:
            raise BadInput(
                "QUINTAIN_TRUSTED_PROXIES: '{part}' is no address and no network ({error}).",
                part=part,
                error=error,
                remedy="Name them like 10.0.0.5 or 10.0.0.0/24, by commas.",
            ) from None
    return proxies


def peer_of(request: Request, proxies: str) -> str:
    """Return the address that limits count by. The server has put there what a trusted proxy said; others say nothing.

    An IPv6 address counts by its network: a single customer has billions of them.
    """
    if not proxies and "x-forwarded-for" in request.headers:
        _tell_of_proxy()
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network(f"{address}/{HOME_BITS}", strict=False))
    return host


@cache
def _tell_of_proxy() -> None:
    """Log it once for each process: whoever set up a proxy wants to know, and anybody can send such a header."""
    log.warning(
        "A request came with X-Forwarded-For, which is not believed: QUINTAIN_TRUSTED_PROXIES is empty. "
        "Behind a proxy, set it to the proxy's address; otherwise all people share one limit on log-ins."
    )
