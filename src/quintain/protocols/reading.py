"""Protocols from files: those that ship, and those that somebody wrote."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

from quintain.core.errors import NotFound
from quintain.core.spec import read
from quintain.core.texts import hint
from quintain.core.toml import parse_toml
from quintain.protocols.spec import Protocol


@lru_cache(maxsize=256)
def parse_protocol(text: str, file: str | None = None) -> Protocol:
    """Read a protocol from TOML, or raise BadInput with every fault in it; one that was read is kept."""
    return read(Protocol, parse_toml(text, file=file), file=file)


@cache
def shipped() -> dict[str, Protocol]:
    """Return the protocols that ship, by name.

    >>> sorted(shipped())
    ['baseline', 'crowd', 'expert', 'fooling', 'justification']
    """
    folder = files("quintain.protocols.shipped")
    protocols = [
        parse_protocol(one.read_text("utf-8"), one.name)
        for one in sorted(folder.iterdir(), key=lambda file: file.name)
        if one.name.endswith(".toml")
    ]
    return {protocol.name: protocol for protocol in protocols}


def shipped_text(name: str) -> str:
    """Return the file of a protocol that ships, to start one's own from; NotFound suggests a similar name."""
    if name not in shipped():
        raise NotFound("There is no protocol '{name}'; {hint}", name=name, hint=hint(name, sorted(shipped())))
    return files("quintain.protocols.shipped").joinpath(f"{name}.toml").read_text("utf-8")
