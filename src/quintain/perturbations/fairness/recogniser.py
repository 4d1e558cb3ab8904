"""spaCy's recogniser of named entities, where spaCy and an English model are installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

_MODELS = ("en_core_web_lg", "en_core_web_md", "en_core_web_sm")


@cache
def installed() -> str | None:
    """Name the model that would be used, or None."""
    if importlib.util.find_spec("spacy") is None:
        return None
    return next((name for name in _MODELS if importlib.util.find_spec(name) is not None), None)


@cache
def _pipeline(name: str) -> Any:
    spacy = importlib.import_module("spacy")
    return spacy.load(name, exclude=["parser", "lemmatizer", "textcat"])


@lru_cache(maxsize=4096)
def _entities(name: str, text: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((entity.start_char, entity.end_char, entity.label_) for entity in _pipeline(name)(text).ents)


def recognise(text: str) -> Sequence[tuple[int, int, str]]:
    """List the entities that the installed model finds in *text*; none where there is no model."""
    name = installed()
    return _entities(name, text) if name else ()
