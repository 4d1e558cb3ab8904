"""What points at a word of an example: read as a number or as the word, moved along with an edit, asked for in doubt.

A word is named by itself where it stands once (`with`), or by its number from 0 and itself (`3:with`), which nobody
writes by mistake. A bare number that an edit has left on another word is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from quintain.core.errors import Fault
from quintain.core.example import Inputs
from quintain.core.task import Field
from quintain.core.texts import Text
from quintain.stats.alignment import follow_word

_NAMED = re.compile(r"(\d{1,8}):(\S+)")
MOST_SHOWN = 5  # numbers of a word that a fault lists


def word_name(words: Sequence[str], number: int) -> str:
    """Name a word by itself where it stands once, else by its number and itself.

    >>> word_name(["a", "b", "a"], 1), word_name(["a", "b", "a"], 2)
    ('b', '2:a')
    """
    word = words[number]
    return word if words.count(word) == 1 and not word.isdecimal() else f"{number}:{word}"


def named_word(words: Sequence[str], raw: Any) -> int | None:
    """Return the number of the word that *raw* surely names; None where it is a bare number, unclear, or no text.

    >>> named_word(["a", "b", "a"], "b"), named_word(["a", "b", "a"], "2:a"), named_word(["a", "b", "a"], "a")
    (1, 2, None)
    """
    if not isinstance(raw, str):
        return None
    text = raw.strip()
    named = _NAMED.fullmatch(text)
    if named and int(named[1]) < len(words) and words[int(named[1])] == named[2]:
        return int(named[1])
    return words.index(text) if words.count(text) == 1 and not text.isdecimal() else None


def bare_number(raw: Any) -> int | None:
    """Read a number that was given without its word."""
    if isinstance(raw, str) and raw.strip().isdecimal() and len(raw.strip()) < 9:
        return int(raw)
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


def resolve_word(words: Sequence[str], raw: Any, field: str, of: str) -> tuple[Any, Fault | None]:
    """Return the number that *raw* means among *words*, or what has to be asked; what is no word stays as it is."""
    number = named_word(words, raw)
    if number is None:
        number = bare_number(raw)
    if number is not None or not isinstance(raw, str):
        return raw if number is None else number, None
    word = _NAMED.sub(r"\2", raw.strip())
    numbers = [at for at, one in enumerate(words) if one == word]
    if len(numbers) < 2:
        return None, Fault("'{word}' is no word of '{of}'", word=raw.strip()[:80], of=of, field=field)
    return None, Fault(
        "'{word}' stands {n} times in '{of}'; say which one you mean: {names}",
        word=word[:80],
        n=len(numbers),
        of=of,
        names=", ".join(f"{at}:{word[:80]}" for at in numbers[:MOST_SHOWN]),
        field=field,
    )


def resolve_inputs(
    fields: Iterable[Field], of: str, inputs: Inputs, before: Inputs | None
) -> tuple[dict[str, Any], list[Fault]]:
    """Return *inputs* with a number for every word that one of them points at, and what has to be asked.

    Where they are an edit of *before*, what still has its number from there moves along with its word.
    """
    words, resolved, faults = words_of(inputs.get(of)), dict(inputs), list[Fault]()
    for field in fields:
        raw = inputs.get(field.name)
        if field.type != "token" or raw is None or not words:
            continue
        number, fault = resolve_word(words, raw, field.name, of)
        old = (before or {}).get(field.name)
        if fault is None and named_word(words, raw) is None and isinstance(old, int) and isinstance(number, int):
            number, fault = _followed(words_of((before or {}).get(of)), words, old, number, field.name)
        resolved[field.name] = 0 if number is None and fault else number
        faults += [fault] if fault else []
    return resolved, faults


def _followed(
    first: Sequence[str], words: Sequence[str], old: int, number: int, field: str
) -> tuple[int | None, Fault | None]:
    """Follow the word that *old* was the number of; ask where another word would stand for it."""
    if list(first) == list(words) or not 0 <= old < len(first):
        return number, None
    if number == old:
        moved = follow_word(first, words, old)
        if moved is None:
            return None, Fault("'{word}' is gone; say which word it is now", word=first[old][:80], field=field)
        number = moved
    if not 0 <= number < len(words) or words[number] == first[old]:
        return number, None
    reason = Text(
        "was '{old}' and is '{new}' now; if that is the word you mean, say so as {name}",
        old=first[old][:80],
        new=words[number][:80],
        name=f"{number}:{words[number][:80]}",
    )
    return number, Fault(reason, field=field)


def words_of(value: Any) -> list[str]:
    """Return a list input as texts; of what is no list, nothing."""
    return [str(word) for word in value] if isinstance(value, list | tuple) else []
