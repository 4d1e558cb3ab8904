"""Addresses of servers as an operator types them: a scheme that fits, a host, and a port where one is named."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit


def names_server(url: str, schemes: Collection[str]) -> bool:
    """Whether *url* has one of *schemes*, a host, and no port that cannot be.

    >>> names_server("smtp://user:secret@mail.example.org:587", ("smtp", "smtps")), names_server("mail:25", ("smtp",))
    (True, False)
    """
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is none
        return False
    return has_host and parts.scheme in schemes and not any(letter.isspace() for letter in url)


def is_bare_address(url: str) -> bool:
    """Whether *url* is the address of a site at the root of its host: nothing comes after the host but a slash.

    >>> is_bare_address("https://bench.example.org"), is_bare_address("bench.example.org")
    (True, False)
    """
    if not names_server(url, ("http", "https")):
        return False
    parts = urlsplit(url)
    return parts.path in {"", "/"} and not parts.query and not parts.fragment
