"""Words that say a gender become words that say none: "he walks" → "they walk". An option, not in the figure.

Its limits are written down in docs/perturbations.md: a second verb behind "and" is not mended, "they" may be read
as several people, and words without a neutral twin stay.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.fairness.gender_pairs import pairs
from quintain.perturbations.fairness.nouns import article, in_thing, stem_of, usable
from quintain.perturbations.fairness.people import people
from quintain.perturbations.fairness.pronouns import PRONOUNS, neutral
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.fairness.verbs import ADVERBS, IRREGULAR, after_apostrophe, plural_of
from quintain.perturbations.wordlists import cased_like, lines_of

_KEY = "gender"


@cache
def neutral_words() -> dict[str, str]:
    """Read the words with their neutral twins."""
    return {word.strip(): twin.strip() for word, twin in (line.split("=") for line in lines_of("neutral_words.txt"))}


@PERTURBATIONS.register("gender_neutral")
class GenderNeutral(Perturbation):
    """Replace gendered words by neutral ones, with the verb of "they" in agreement."""

    name: ClassVar[str] = "gender_neutral"
    family: ClassVar[Family] = "fairness"
    title: ClassVar[str] = "Gendered words made neutral"
    version: ClassVar[int] = 3
    rate: ClassVar[float] = 1.0

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Replace every gendered word whose context allows it, in examples that name nobody and leave no verb open."""
        reader, draft, table = WordReader(batch), EditDraft(), neutral_words()
        owners = batch.owners.tolist()
        stay = people(reader).keys() | _open(reader)
        done = -1
        for i, word in enumerate(reader.lower):
            stem, ending = stem_of(word)
            start = reader.start[i]
            if i <= done or owners[reader.text[i]] in stay or in_thing(batch, i):
                continue
            if stem in PRONOUNS and (last := _both(reader, i, stem)):
                done = last
                new = cased_like(reader.word(i), neutral(reader, last, reader.lower[last]))
                draft.add(start, reader.end[last], new, _KEY, ("mixed", "neutral"))
            elif stem in {"he", "she"}:
                self._subject(reader, draft, i, ending)
            elif stem in PRONOUNS:
                new = neutral(reader, i, stem)
                draft.add(start, start + len(stem), cased_like(reader.word(i)[: len(stem)], new), _KEY, _group(stem))
            elif stem in table and (last := _twins(reader, i, stem)):
                done = last
                new = cased_like(reader.word(i), _together(reader, i, stem))
                draft.add(start, reader.end[last], new, _KEY, ("mixed", "neutral"))
            elif stem in table and usable(reader, i, stem):
                new = table[stem]
                draft.add(start, start + len(stem), cased_like(reader.word(i)[: len(stem)], new), _KEY, _group(stem))
                article(reader, draft, i, new, _KEY, _group(stem))
        return draft.proposal()

    def _subject(self, reader: WordReader, draft: EditDraft, i: int, ending: str) -> None:
        """Replace a subject and mend its verb, behind it or, in a question, before it."""
        group = _group(reader.lower[i].partition("'")[0])
        old = reader.word(i)
        they = cased_like(old, "they")
        if ending:
            mended = after_apostrophe(old.lower().partition("'")[0], ending, reader.behind(i)) or ending
            draft.add(reader.start[i], reader.end[i], they + mended, _KEY, group)
            return
        draft.add(reader.start[i], reader.end[i], they, _KEY, group)
        before = reader.previous(i)
        if before in IRREGULAR:
            mended = cased_like(reader.word(i - 1), IRREGULAR[before])
            draft.add(reader.start[i - 1], reader.end[i - 1], mended, _KEY, group)
            return
        verb = i + 1
        while reader.gap(verb - 1) == " " and reader.lower[verb] in ADVERBS and verb < i + 4:
            verb += 1
        if reader.gap(verb - 1) != " ":
            return
        plural = plural_of(reader.lower[verb])
        if plural:
            draft.add(reader.start[verb], reader.end[verb], cased_like(reader.word(verb), plural), _KEY, group)


def _open(reader: WordReader) -> set[int]:
    """Return the examples in which nothing tells whether "he's" or "she's" is "is" or "has"."""
    owners = reader.batch.owners.tolist()
    subjects = [(i, *stem_of(word)) for i, word in enumerate(reader.lower) if word in {"he's", "she's"}]
    return {
        owners[reader.text[i]]
        for i, subject, ending in subjects
        if after_apostrophe(subject, ending, reader.behind(i)) is None
    }


def _twins(reader: WordReader, i: int, stem: str) -> int:
    """Find the end of "ladies and gentlemen", "mom or dad" and the like that begins at word *i*; 0 where it is none."""
    if reader.next(i) not in {"and", "or"} or not reader.next(i + 1):
        return 0
    table, other = neutral_words(), reader.lower[i + 2]
    return i + 2 if stem == reader.lower[i] and other != stem and table.get(other) == table[stem] else 0


def _together(reader: WordReader, i: int, stem: str) -> str:
    """Return the one word for both of two twins: "ladies and gentlemen" → "people", "mom and dad" → "parents"."""
    table = neutral_words()
    many = next((table[word] for word in _forms(stem) if word in table), f"{table[stem]}s")
    return many if reader.next(i) == "and" else table[stem]


def _forms(stem: str) -> list[str]:
    """List the plural of *stem* as it may be written, or *stem* itself where it is one."""
    return [f"{stem}s", stem.replace("man", "men"), stem.replace("lady", "ladies"), stem.replace("wife", "wives")]


def _both(reader: WordReader, i: int, stem: str) -> int:
    """Find the end of "he or she", "his/her" and the like that begins at word *i*; 0 where it is none."""
    last = i + 1 if reader.gap(i) == "/" else i + 2 if reader.next(i) in {"or", "and"} and reader.next(i + 1) else 0
    if not last or last >= len(reader.lower):
        return 0
    other = reader.lower[last]
    return last if other in PRONOUNS and _group(other) != _group(stem) else 0


def _group(stem: str) -> tuple[str, str]:
    if stem in PRONOUNS:
        return ("male" if stem.startswith("h") and stem not in {"her", "hers", "herself"} else "female"), "neutral"
    return pairs().get(stem, ("", "female"))[1], "neutral"
