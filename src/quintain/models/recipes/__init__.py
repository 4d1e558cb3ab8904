"""Recipes that come with the program, one TOML file each; their comments say what they are and what to change."""

from __future__ import annotations

from importlib.resources import files

from quintain.core.errors import NotFound
from quintain.core.records.training import Recipe


def recipe_names() -> list[str]:
    """List the names of all recipes."""
    return sorted(entry.name.removesuffix(".toml") for entry in files(__name__).iterdir() if entry.name[-5:] == ".toml")


def read_shipped(name: str) -> Recipe:
    """Return the recipe called *name*; refuse another, with those there are."""
    if name not in recipe_names():
        raise NotFound(
            "There is no recipe called '{name}'.",
            name=name,
            names=", ".join(recipe_names()),
            remedy="Known: {names}.",
        )
    text = (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
    first = text.split("\n\n", maxsplit=1)[0]
    return Recipe(name, " ".join(line[1:].strip() for line in first.splitlines() if line.startswith("#")), text)


def shipped_recipes() -> list[Recipe]:
    """List all recipes."""
    return [read_shipped(name) for name in recipe_names()]
