"""Words for persons of one gender, and first names, exchanged where nothing else in the text has to follow.

Languages with gender agree in articles, adjectives, verbs and pronouns. So a word changes only in a phrase that shows
all of its agreement (*mit meinem Vater*, *avec ma mère*, behind a preposition; in Hindi before a postposition), and a
text with any other word that may point at the person stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import regex

from quintain.core.languages import base_language
from quintain.perturbations import draws
from quintain.perturbations.batch import TextBatch
from quintain.perturbations.contract import EditDraft, Proposal
from quintain.perturbations.matches import chance
from quintain.perturbations.wordbooks import Table, any_of, compiled, pairs_of, table_of

_NOT_IN_WORD = (r"(?<![\p{L}\p{M}\p{N}_-])", r"(?![\p{L}\p{M}\p{N}_-])")
_SPACELESS = "zh"
_TIED = "person"


@dataclass(frozen=True, slots=True)
class PersonWords:
    """The words for persons of a language: phrases that may change, all words, and what forbids any change.

    *phrases* tell what each becomes, and the gender that it has. *decoys* are words that hold one by chance (其他).
    """

    phrases: Mapping[str, tuple[str, str]]
    changes: regex.Pattern[str]
    nouns: regex.Pattern[str]
    leave: regex.Pattern[str]
    decoys: frozenset[str]

    def in_phrases(self, text: str) -> list[regex.Match[str]]:
        """List the phrases of a text that may change."""
        return [match for match in self.changes.finditer(text) if match[0] not in self.decoys]

    def anywhere(self, text: str) -> list[regex.Match[str]]:
        """List the words for persons of a text."""
        return [match for match in self.nouns.finditer(text) if match[0] not in self.decoys]


@cache
def person_words(language: str) -> PersonWords:
    """Compile the words for persons of a language."""
    table = table_of(language, "gender") or {}
    left, right = _borders(language)
    phrases, opening = _phrases(table)
    decoys = list(table.get("decoys", ()))
    anywhere = [phrase for phrase in phrases if phrase not in opening]
    parts = [any_of(decoys)] if decoys else []
    parts += [f"{left}(?:{any_of(anywhere)}){table['behind']}"]
    parts += [f"(?:^|(?<=[.!?…] ))(?:{any_of(opening)}){table['behind']}"] if opening else []
    nouns = [noun for pair in pairs_of(table["nouns"]).items() for noun in pair]
    return PersonWords(
        phrases,
        compiled("|".join(parts)),
        compiled("|".join([*([any_of(decoys)] if decoys else []), f"{left}(?:{any_of(nouns)}){right}"])),
        compiled(table["leave"]),
        frozenset(decoys),
    )


def _phrases(table: Table) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """List the phrases with what each becomes and its gender, and which of them only begin a sentence."""
    weak = pairs_of(table["weak"])
    phrases: dict[str, tuple[str, str]] = {}
    opening: list[str] = []
    for template in table["phrases"]:
        his, _, hers = template.partition("=")
        for male, female in pairs_of(table["nouns"]).items():
            first, second = his.format(male), hers.format(female)
            for strong, oblique in weak.items():
                first = first.removesuffix(strong) + oblique if first.endswith(" " + strong) else first
            for phrase, other, gender in ((first, second, "male"), (second, first, "female")):
                if not phrase.startswith("^"):
                    phrases.setdefault(phrase, (other, gender))
                begun, become = phrase.removeprefix("^"), other.removeprefix("^")
                capital = begun[:1].upper() + begun[1:]
                if capital != begun or phrase.startswith("^"):
                    phrases.setdefault(capital, (become[:1].upper() + become[1:], gender))
                    opening.append(capital)
    return phrases, list(dict.fromkeys(opening))


def _borders(language: str) -> tuple[str, str]:
    return ("", "") if base_language(language) == _SPACELESS else _NOT_IN_WORD


def other_gender(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Exchange the words for persons of an example where all of them can be."""
    draft = EditDraft()
    language = base_language(batch.language)
    known = person_words(language)
    swaps: dict[int, list[tuple[int, int, str, str]]] = {}
    halves: set[int] = set()
    for text, begin, owner in zip(batch.texts, batch.begins.tolist(), batch.owners.tolist(), strict=True):
        matches = known.in_phrases(text)
        inside = [any(a.start() <= b.start() and b.end() <= a.end() for a in matches) for b in known.anywhere(text)]
        if not all(inside) or known.leave.search(text) or names_in(text, language):
            halves.add(owner)
        for match in matches:
            new, gender = known.phrases[match[0]]
            swaps.setdefault(owner, []).append((begin + match.start(), begin + match.end(), new, gender))
    for owner, edits in swaps.items():
        for start, end, new, gender in [] if owner in halves else edits:
            draft.add(start, end, new, _TIED, (gender, "female" if gender == "male" else "male"))
    return draft.proposal()


def names_in(text: str, language: str) -> list[str]:
    """List the first names of the lists that occur in a text, wherever they stand."""
    table = table_of(language, "names")
    if table is None:
        return []
    left, right = _borders(language)
    return [match[0] for match in compiled(f"{left}(?:{any_of(_every_name(table))}){right}").finditer(text)]


def _every_name(table: Table) -> list[str]:
    return [name for key in ("female", "male", "other_female", "other_male") for name in table.get(key, ())]


def names_of_other_gender(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Exchange first names for ones of the other gender, where nothing agrees with the name."""
    return _renamed(batch, table, table.get("agree", ""), _OTHER_GENDER, leave=True)


def names_of_other_group(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Exchange first names for ones that predict another group, with the gender kept; *table* names the two groups."""
    first, second = table["names"]
    names = dict(table_of(batch.language, "names") or {}) | {"groups": (first, second)}
    return _renamed(batch, names, "", _OTHER_GROUP, leave=False)


_OTHER_GENDER = {"female": "male", "male": "female", "other_female": "other_male", "other_male": "other_female"}
_OTHER_GROUP = {"female": "other_female", "male": "other_male", "other_female": "female", "other_male": "male"}


def _renamed(batch: TextBatch, table: Table, agree: str, target: dict[str, str], *, leave: bool) -> Proposal:
    """Exchange every name of an example, or none where one of them stands where it must stay."""
    draft = EditDraft()
    language = base_language(batch.language)
    lists = {name: key for key in target for name in table.get(key, ())}
    known = person_words(language)
    agreed = f"(?<={agree})" if agree else ""
    pattern = compiled(f"{table['before']}{agreed}(?:{any_of([*lists])}){table['behind']}")
    behind = compiled((table_of(language, "gender") or {})["behind"]) if agree else None
    edits: dict[int, list[tuple[int, int, str]]] = {}
    stay: set[int] = set()
    for text, begin, owner in zip(batch.texts, batch.begins.tolist(), batch.owners.tolist(), strict=True):
        matches = list(pattern.finditer(text))
        if behind is not None:
            matches = [match for match in matches if behind.match(text, match.end())]
        pointed_at = leave and (known.leave.search(text) or known.anywhere(text))
        if len(matches) < len(names_in(text, language)) or pointed_at:
            stay.add(owner)
        edits.setdefault(owner, []).extend((begin + m.start(), begin + m.end(), m[0]) for m in matches)
    for owner, places in edits.items():
        others = _drawn([name for _, _, name in places], lists, target, table, batch.owner_seeds, owner)
        for start, end, name in [] if owner in stay else places:
            draft.add(start, end, others[name], _TIED, _ways(lists[name], target, table))
    return draft.proposal()


def _drawn(
    names: Sequence[str],
    lists: dict[str, str],
    target: dict[str, str],
    table: Table,
    seeds: draws.Hashes,
    owner: int,
) -> dict[str, str]:
    """Draw another name for each name of an example: the same for the same one, and no two alike."""
    drawn: dict[str, str] = {}
    for name, draw in zip(dict.fromkeys(names), chance(seeds[owner], len(names), 2), strict=False):
        pool = [other for other in table[target[lists[name]]] if other not in drawn.values()]
        drawn[name] = pool[draw % len(pool)]
    return drawn


def _ways(key: str, target: dict[str, str], table: Table) -> tuple[str, str]:
    if target is _OTHER_GENDER:
        return key.removeprefix("other_"), target[key].removeprefix("other_")
    first, second = table["groups"]
    return (second, first) if key.startswith("other_") else (first, second)
