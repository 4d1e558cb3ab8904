"""Plans for public data sets, one TOML file each: what the columns are called there and what the labels mean."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files

from quintain.core.errors import NotFound
from quintain.core.texts import Text
from quintain.data.plan import ImportPlan, parse_plan


@dataclass(frozen=True, slots=True)
class Preset:
    """A plan that comes with the program: its name, its plan, and what its comment says."""

    name: str
    plan: ImportPlan
    note: str


def preset_names() -> list[str]:
    """List the names of all presets."""
    return sorted(entry.name.removesuffix(".toml") for entry in files(__name__).iterdir() if entry.name[-5:] == ".toml")


def read_preset(name: str) -> Preset:
    """Read the preset called *name*, or say which there are."""
    names = preset_names()
    if name not in names:
        close = get_close_matches(name, names, n=1)
        hint = (
            Text("Did you mean {close}?", close=close[0]) if close else Text("Known: {names}.", names=", ".join(names))
        )
        raise NotFound("There is no preset called '{name}'.", name=name, remedy=hint)
    text = (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
    note = " ".join(line[1:].strip() for line in text.splitlines() if line.startswith("#"))
    return Preset(name, parse_plan(text, file=f"{name}.toml"), note)


def list_presets() -> list[Preset]:
    """List all presets."""
    return [read_preset(name) for name in preset_names()]
