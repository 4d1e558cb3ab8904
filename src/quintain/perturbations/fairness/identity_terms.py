"""Words for people of one group become words for another of the same kind: "two Sikh families" → "two Hindu families".

What is said of a group is as hateful, as kind or as plain when it is said of another. An option, not in the figure.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar, NamedTuple

from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.fairness.nouns import article, in_thing, stem_of
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import cased_like, lines_of, words_in

# Before and behind these, the word is more likely a language, which is no group of people.
_LANGUAGE_BEFORE = frozenset(words_in("in into from speak speaks speaking spoke spoken learn learns learning learnt"))
_LANGUAGE_BEHIND = frozenset(words_in("spoken language languages grammar accent dialect classes lessons"))
_LANGUAGES = frozenset(words_in("english french spanish german dutch portuguese latin greek"))
# With one of these before it the word is part of another one ("Latin American", "all American", "Filipino Americans").
_PARTS = frozenset(
    words_in(
        "north south latin central middle native african asian hispanic filipino indian arab chinese japanese irish "
        "polish jewish cuban first pan all ugly anti half greek german french puerto gage"
    )
)
# Fixed terms with one of these: "the American dream", "a Mexican coke".
_TERMS = frozenset(words_in("dream tire cheese coke bustle wax accent accents speaking churrasco"))


class IdentityTerm(NamedTuple):
    """A word for people of a group: what the groups have in common, which of them, and one or several people."""

    kind: str
    group: int
    form: int


@cache
def groups() -> dict[str, list[tuple[str, ...]]]:
    """Read, by what they have in common, the words of each group: for one of its people, and for several."""
    rows = (line.split(" = ") for line in lines_of("identity_terms.txt"))
    return {kind: [words_in(words) for words in listed.split(",")] for kind, listed in rows}


@cache
def terms() -> dict[str, IdentityTerm]:
    """Map each word, as it is written, to what it says."""
    return {
        word: IdentityTerm(kind, group, form)
        for kind, listed in groups().items()
        for group, words in enumerate(listed)
        for form, word in enumerate(words)
    }


@PERTURBATIONS.register("identity_terms")
class IdentityTerms(Perturbation):
    """Replace words for people of a group by those for another group of the same kind, throughout an example."""

    name: ClassVar[str] = "identity_terms"
    family: ClassVar[Family] = "fairness"
    title: ClassVar[str] = "Identity terms of another group"
    version: ClassVar[int] = 2
    rate: ClassVar[float] = 1.0

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Replace every such word; two groups of an example never become one."""
        reader, draft = WordReader(batch), EditDraft()
        owners = batch.owners.tolist()
        # Protestants and Catholics are Christians: beside those they are no other group.
        christian = {owners[reader.text[i]] for i, word in enumerate(reader.lower) if word.startswith("christian")}
        for i, lower in enumerate(reader.lower):
            stem, _ = stem_of(lower)
            start = reader.start[i]
            written = reader.word(i)[: len(stem)]
            term = terms().get(stem.capitalize())
            if term is None or not written[:1].isupper() or in_thing(batch, i) or _is_other(reader, i, term):
                continue
            if term.kind == "faith" and owners[reader.text[i]] in christian:
                continue
            listed = groups()[term.kind]
            # All groups move on by as much, which is drawn for the example: so they stay apart.
            shift = 1 + int(batch.owner_seeds[owners[reader.text[i]]]) % (len(listed) - 1)
            target = (term.group + shift) % len(listed)
            new = cased_like(written, listed[target][term.form])
            way = (listed[term.group][0], listed[target][0])
            draft.add(start, start + len(stem), new, term.kind, way)
            if term.form == 0:
                article(reader, draft, i, new, term.kind, way)
        return draft.proposal()


def _is_other(reader: WordReader, i: int, term: IdentityTerm) -> bool:
    """Whether the word is part of a name ("Korean Air", "American 11"), of a term, or more likely a language."""
    after = reader.gap(i)
    named = after == " " and reader.capital(i + 1) and reader.word(i + 1).capitalize() not in terms()
    if named or after.startswith("-") or reader.lead(i).endswith("-"):
        return True
    before, behind = reader.previous(i), reader.next(i)
    if behind[:1].isdigit() or before in _PARTS or behind in _TERMS:
        return True
    compound = {before.capitalize(), behind.capitalize()} & terms().keys()
    if term.form == 0 and (compound or _listed_language(reader, i)):
        return True
    language = reader.previous(i) in _LANGUAGE_BEFORE or reader.next(i) in _LANGUAGE_BEHIND
    return term.form == 0 and language


def _listed_language(reader: WordReader, i: int) -> bool:
    """Return whether a language stands beside the word, with a comma or a small word between: "French, Italian"."""
    near = [j for j in (i - 2, i - 1, i + 1, i + 2) if 0 <= j < len(reader.lower) and reader.text[j] == reader.text[i]]
    return any(reader.lower[j] in _LANGUAGES for j in near)
