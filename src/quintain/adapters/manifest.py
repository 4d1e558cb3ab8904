"""A model's manifest, `quintain.toml`: how it is run, and how it likes to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from quintain.adapters.contract import ADAPTERS
from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text, as_text
from quintain.core.toml import parse_toml, read_text

MANIFEST = "quintain.toml"
CARD = "card.md"
MAX_BATCH = 4096
MAX_NAME = 240
FILES = ("file", "vocabulary", "tokenizer")  # options that name a file of the model
KEYS = ("adapter", "task", "name", "batch_size", "options")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest says. *task* and *name* are where `quintain model submit` takes them from."""

    adapter: str = "handler"
    task: str | None = None
    name: str | None = None
    batch_size: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest in *folder*; one that is not there says that `handler.py` is asked one by one."""
    path = folder / MANIFEST
    if not path.exists():
        return Manifest()
    values = parse_toml(read_text(path, remedy=Text("`quintain model init` writes one.")), file=MANIFEST)
    faults = _faults(values)
    if faults:
        raise BadInput(faults=faults)
    return Manifest(**values)


def _faults(values: Mapping[str, Any]) -> list[Fault]:
    faults = _unknown(values, KEYS, "")
    for key in ("adapter", "task", "name"):
        if key in values and not isinstance(values[key], str):
            faults.append(_fault(key, "is {value}, which is not a text", value=repr(values[key])))
    size = values.get("batch_size", 1)
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_BATCH:
        faults.append(
            _fault("batch_size", "is {size}; it is a whole number from 1 to {most}", size=repr(size), most=MAX_BATCH)
        )
    options = values.get("options", {})
    if not isinstance(options, dict):
        return [*faults, _fault("options", "is not a table; write [options]")]
    adapter = values.get("adapter", "handler")
    if isinstance(adapter, str) and adapter not in ADAPTERS:
        faults.append(
            _fault("adapter", "'{name}' is not one of {known}", name=adapter, known=", ".join(ADAPTERS.names()))
        )
    elif isinstance(adapter, str):
        faults += _unknown(options, tuple(ADAPTERS.get(adapter).options), "options.")
    return faults + [_fault(f"options.{key}", reason) for key in FILES if (reason := _not_a_file(options.get(key, "")))]


def _not_a_file(value: Any) -> str:
    """Say why *value* cannot name a file of the model, or nothing."""
    if not isinstance(value, str):
        return Text("is {value}, which is not a text", value=repr(value))
    if len(value.encode("utf-8", "replace")) > MAX_NAME or (value and not value.isprintable()):
        return Text("is {value}…, which cannot be the name of a file", value=repr(value[:40]))
    return ""


def _unknown(values: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> list[Fault]:
    faults = []
    for key in values:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = (
                Text("did you mean '{close}'?", close=close[0])
                if close
                else Text("there are: {known}", known=", ".join(known) or Text("none"))
            )
            faults.append(_fault(f"{prefix}{key}", "is not known; {hint}", hint=hint))
    return faults


def _fault(field_name: str, reason: str, /, **values: object) -> Fault:
    return Fault(as_text(reason, values), file=MANIFEST, field=field_name)
