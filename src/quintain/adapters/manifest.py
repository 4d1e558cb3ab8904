"""A model's manifest, `quintain.toml`: how it is run, and how it likes to be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from quintain.adapters.contract import ADAPTERS
from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import option, read, specification
from quintain.core.texts import Text, hint
from quintain.core.toml import parse_toml, read_text

MANIFEST = "quintain.toml"
CARD = "card.md"
MAX_BATCH = 4096
MAX_NAME = 240
FILES = ("file", "vocabulary", "tokenizer")  # options that name a file of the model


@specification
class Manifest:
    """What a manifest says. *task* and *name* are where `quintain model submit` takes them from."""

    adapter: str = option(kinds.any_text(), default="handler", help="how the model is run")
    task: str | None = option(kinds.any_text(), default=None, help="the task that it is for")
    name: str | None = option(kinds.any_text(), default=None, help="what the model is called")
    batch_size: int = option(kinds.whole(1, MAX_BATCH), default=1, help="how many examples it is asked at once")
    options: Mapping[str, Any] = option(kinds.each(), default={}, help="what the adapter takes, see below")


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest in *folder*; one that is not there says that `handler.py` is asked one by one."""
    path = folder / MANIFEST
    if not path.exists():
        return Manifest()
    values = parse_toml(read_text(path, remedy=Text("`quintain model init` writes one.")), file=MANIFEST)
    return read(Manifest, values, file=MANIFEST, also=_of_the_adapter)


def _of_the_adapter(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Look the adapter up, and what it takes."""
    adapter, options = values.get("adapter", "handler"), values.get("options", {})
    if adapter not in ADAPTERS:
        known = ", ".join(ADAPTERS.names())
        yield Fault("'{name}' is not one of {known}", name=adapter, known=known, field="adapter")
    else:
        options_known = tuple(ADAPTERS.get(adapter).options)
        for key in options:
            if key not in options_known:
                yield Fault("no such key; {hint}", hint=hint(key, options_known), field=f"options.{key}")
    for key in FILES:
        if reason := _not_a_file(options.get(key, "")):
            yield Fault(reason, field=f"options.{key}")


def _not_a_file(value: Any) -> Text | None:
    """Return why *value* cannot name a file of the model, or None."""
    if not isinstance(value, str):
        return Text("is {value}, which is not a text", value=repr(value))
    if len(value.encode("utf-8", "replace")) > MAX_NAME or (value and not value.isprintable()):
        return Text("is {value}…, which cannot be the name of a file", value=repr(value[:40]))
    return None
