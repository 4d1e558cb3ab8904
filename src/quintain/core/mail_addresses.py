"""E-mail addresses: which are taken, and how one is written to.

What is taken is narrower than what the standards allow, and all of it can be written by the mail library: no quotes, no
comments, no addresses of machines. A test writes many of them. Letters of any script may stand on both sides of the @.

A domain has one form here: as its holder writes it, by the rules of 2008 (IDNA), under which `straße.de` and
`strasse.de` belong to two people. Python's own codec knows those of 2003, and would write to the other.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 254  # bytes, as mail servers count
LONGEST_LOCAL = 64
LONGEST_LABEL = 63
_ATOM = r"[\w!#$%&'*+/=?^`{|}~-]+"
_LOCAL = re.compile(rf"{_ATOM}(\.{_ATOM})*")
_NAMED = re.compile(r'(?:[\w .-]*|"[\w .,&()-]*" ?)<([^<>]*)>')
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


def normal_address(text: str) -> str:
    """Return an address as it is kept and compared: no spaces around, small letters, composed, one form of its domain.

    >>> normal_address(" Wilma@Example.ORG "), normal_address("a@xn--strae-oqa.de"), normal_address("a@ｅxample.org")
    ('wilma@example.org', 'a@straße.de', 'a@example.org')
    """
    composed = unicodedata.normalize("NFC", text.strip().lower())
    local, at, domain = composed.rpartition("@")
    return f"{local}@{_readable_domain(domain)}" if at else composed


def is_address(text: str) -> bool:
    """Whether *text* is an address that is taken.

    >>> is_address("wilma@example.org"), is_address("[<@->>a,<"), is_address("a@b@c"), is_address("a..b@c.org")
    (True, False, False, False)
    """
    local, at, domain = text.rpartition("@")
    if not at or len(text.encode("utf-8", "replace")) > LONGEST or not text.isprintable():
        return False
    if len(local.encode()) > LONGEST_LOCAL or not _LOCAL.fullmatch(local):
        return False
    labels = (_wire_domain(domain) or "").split(".")
    return all(len(label) <= LONGEST_LABEL and _LABEL.fullmatch(label) for label in labels) and not labels[-1].isdigit()


def is_sender(text: str) -> bool:
    """Whether mail can be sent from *text*: an address, or a name and an address in angle brackets."""
    named = _NAMED.fullmatch(text.strip())
    return is_address(normal_address(named[1] if named else text))


def wire_address(address: str) -> str:
    """Return *address* as it is handed to a mail server: its domain in ASCII.

    >>> wire_address("wilma@bücher.example")
    'wilma@xn--bcher-kva.example'
    """
    local, _, domain = address.rpartition("@")
    return f"{local}@{_wire_domain(domain) or domain}"


def _wire_domain(domain: str) -> str | None:
    """Return *domain* in ASCII; None where it has an empty part, one too long, or letters that no domain has."""
    if not _is_foreign(domain):
        return domain
    import idna

    try:
        return idna.encode(domain, uts46=True).decode("ascii") if len(domain) <= LONGEST else None
    except idna.IDNAError:
        return None


def _readable_domain(domain: str) -> str:
    wire = _wire_domain(domain)
    if wire is None or not _is_foreign(wire):
        return wire or domain
    import idna

    return idna.decode(wire)


def _is_foreign(domain: str) -> bool:
    """Whether there is more to it than ASCII letters: the rules about the others take time to import."""
    return not domain.isascii() or "xn--" in domain
