"""Words that say a gender become words that say none: "he walks" → "they walk". An option, not in the figure.

Its limits are written down in docs/perturbations.md: a second verb behind "and" is not mended, "they" may be read
as several people, and words without a neutral twin stay.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.fairness.gender_pairs import pairs
from quintain.perturbations.fairness.gender_words import WITHOUT_TWIN
from quintain.perturbations.fairness.nouns import TITLES, article, in_thing, is_call, stem_of, usable
from quintain.perturbations.fairness.people import people
from quintain.perturbations.fairness.pronouns import PRONOUNS, neutral
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.fairness.verbs import ADVERBS, IRREGULAR, after_apostrophe, plural_of
from quintain.perturbations.wordlists import cased_like, lines_of, words_in

_KEY = "gender"
_THEY = frozenset({"they", "them", "their", "theirs", "themselves"})


@cache
def _neutral_nouns() -> frozenset[str]:
    return frozenset(neutral_words().values())


@cache
def neutral_words() -> dict[str, str]:
    """Read the words with their neutral twins."""
    return {word.strip(): twin.strip() for word, twin in (line.split("=") for line in lines_of("neutral_words.txt"))}


# Of these many are spoken of in general: "what women want". Only so many of them are people whom the text counts.
_MANY = frozenset(words_in("men women gentlemen ladies guys males females"))
_COUNTED = frozenset(words_in("two three four five six seven eight nine ten eleven twelve several these those both"))
_GROUPS = frozenset(words_in("group couple pair team party table crowd bunch row four three five"))
# One of these nouns needs a word that picks somebody out; "is a woman" says what somebody is.
_TELLS = frozenset(words_in("tell tells told telling ask asks asked asking show shows showed"))
_ADULT = frozenset(words_in("man woman lady gentleman guy gal"))
_DETERMINED = frozenset(words_in("a an the this that these his her our their one another some which first"))
_BEING = frozenset(
    words_in("is was be being been are were it's he's she's that's i'm isn't not become becomes became as bar")
)
_AFTER_MANY = frozenset(
    ("", *words_in("and or are were have had who to in at with from can will love loved went both"))
)
_GENERAL = frozenset(words_in("every any no each real as like only"))
# A grown woman is a girl to some, and a man one of the boys: only with one of these is a child meant.
_CHILD = frozenset(words_in("boy girl boys girls"))
_LITTLE = frozenset(words_in("little young small baby toddler newborn year-old"))
_JOINING = frozenset(words_in("and or but then who that"))


@PERTURBATIONS.register("gender_neutral")
class GenderNeutral(Perturbation):
    """Replace gendered words by neutral ones, with the verb of "they" in agreement."""

    name: ClassVar[str] = "gender_neutral"
    family: ClassVar[Family] = "fairness"
    languages = ("en",)
    title: ClassVar[str] = "Gendered words made neutral"
    version: ClassVar[int] = 4
    rate: ClassVar[float] = 1.0

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Replace all gendered words of examples in which each can be, and that tell no two people apart by them."""
        reader, drafts = WordReader(batch), defaultdict[int, EditDraft](EditDraft)
        owners = batch.owners.tolist()
        stay = people(reader).keys() | _open(reader) | _with_they(reader)
        done = -1
        for i, word in enumerate(reader.lower):
            stem, ending = stem_of(word)
            owner = owners[reader.text[i]]
            gendered = stem in PRONOUNS or stem in neutral_words() or stem in pairs() or stem in WITHOUT_TWIN
            if i <= done or owner in stay or not gendered or in_thing(batch, i):
                continue
            done = max(done, self._replace(reader, drafts[owner], i, stem, ending))
            if done < i:
                stay.add(owner)
        drafted = [draft for owner, draft in drafts.items() if owner not in stay and not _several(draft)]
        return EditDraft([edit for draft in drafted for edit in draft.edits]).proposal()

    def _replace(self, reader: WordReader, draft: EditDraft, i: int, stem: str, ending: str) -> int:
        """Draft the edit of the gendered word *i*; return the last word that goes with it, or -1 where it must stay."""
        if stem in PRONOUNS:
            return self._pronoun(reader, draft, i, stem, ending)
        start, table = reader.start[i], neutral_words()
        if stem in table and (last := _twins(reader, i, stem)):
            around = {reader.previous(i), reader.previous(i - 1)}
            counted = reader.next(i) == "and" and not around.isdisjoint({"a", "an", "every", "each"})
            if counted or "both" in around or reader.next(last) == "alike":
                return -1
            new = cased_like(reader.word(i), _together(reader, i, stem))
            draft.add(start, reader.end[last], new, _KEY, ("mixed", "neutral"))
            return last
        if stem not in table or not usable(reader, i, stem) or _in_general(reader, i, stem, ending):
            return i if stem in TITLES or is_call(reader, i, stem) else -1
        if reader.previous(i) in {"a", "an", "another"} and any(edit[2].lower() in _THEY for edit in draft.edits):
            return -1  # "when he closed, a man came": two people
        new = cased_like(reader.word(i)[: len(stem)], table[stem])
        draft.add(start, start + len(stem), new, _KEY, _group(stem))
        article(reader, draft, i, new, _KEY, _group(stem))
        return i

    def _pronoun(self, reader: WordReader, draft: EditDraft, i: int, stem: str, ending: str) -> int:
        """Draft the edit of the pronoun *i*; return as `_replace` does."""
        start = reader.start[i]
        if last := _both(reader, i, stem):
            new = cased_like(reader.word(i), neutral(reader, last, reader.lower[last]))
            draft.add(start, reader.end[last], new, _KEY, ("mixed", "neutral"))
            return last
        if stem in {"he", "she"}:
            return i if self._subject(reader, draft, i, ending) else -1
        pronoun = neutral(reader, i, stem)
        if stem == "her" and pronoun == "their" and reader.previous(i) in _TELLS:
            return -1  # "told her yes", "told her story"
        draft.add(start, start + len(stem), cased_like(reader.word(i)[: len(stem)], pronoun), _KEY, _group(stem))
        return i

    def _subject(self, reader: WordReader, draft: EditDraft, i: int, ending: str) -> bool:
        """Replace a subject and mend its verb, behind it or, in a question, before it; False where that is open."""
        group = _group(reader.lower[i].partition("'")[0])
        old = reader.word(i)
        they = cased_like(old, "they")
        if ending:
            mended = after_apostrophe(old.lower().partition("'")[0], ending, reader.behind(i)) or ending
            draft.add(reader.start[i], reader.end[i], they + mended, _KEY, group)
            return not _second_verb(reader, i)
        draft.add(reader.start[i], reader.end[i], they, _KEY, group)
        verb, before = i + 1, reader.previous(i)
        while reader.gap(verb - 1) == " " and (reader.lower[verb] in ADVERBS or reader.lower[verb].endswith("ly")):
            verb += 1
        plural = plural_of(reader.lower[verb]) if reader.gap(verb - 1) == " " else None
        if before in IRREGULAR and not plural:
            mended = cased_like(reader.word(i - 1), IRREGULAR[before])
            draft.add(reader.start[i - 1], reader.end[i - 1], mended, _KEY, group)
        elif plural:
            draft.add(reader.start[verb], reader.end[verb], cased_like(reader.word(verb), plural), _KEY, group)
        elif reader.gap(verb - 1).strip(" ")[:1] in set(",-–—("):
            return False
        return not _second_verb(reader, verb)


def _second_verb(reader: WordReader, i: int) -> bool:
    """Whether another verb may belong to the subject before word *i*: "he walks and talks"."""
    words = reader.lower[i : i + 25]
    same = (
        [word for j, word in enumerate(words) if reader.text[i + j] == reader.text[i]] if i < len(reader.text) else []
    )
    return any(
        (word in _JOINING or reader.gap(i + j).strip(" ")[:1] == ",") and plural_of(next_word) is not None
        for j, (word, next_word) in enumerate(pairwise(same))
    )


def _in_general(reader: WordReader, i: int, stem: str, ending: str) -> bool:
    """Whether the noun at word *i* speaks of a gender as such, calls somebody, or says "girl" of a grown person."""
    before, behind = reader.previous(i), reader.next(i)
    called = reader.lead(i).startswith(",") and reader.gap(i).strip(" ")[:1] in set(",.!?\n")  # "what rains, brother?"
    titled = reader.capital(i) and bool(before) and reader.capital(i - 1) and bool(behind) and _titled(reader, i)
    if (called and stem not in _MANY) or titled:
        return True
    if stem in _CHILD:
        return before not in _LITTLE
    if stem in _MANY:
        return bool(ending) or reader.gap(i).startswith(("'", "’")) or not _is_counted(reader, i)
    if stem in _ADULT:
        near = [reader.previous(i - far) for far in range(5)]
        determined = near[: near.index("")] if "" in near else near
        before_article = reader.previous(i - 1) if before in {"a", "an"} else ""
        calls = not _DETERMINED.intersection(determined) and not (
            len(determined) < 4 and reader.opens(i - len(determined))
        )
        return calls or before_article in _BEING or bool(_GENERAL.intersection(determined[:2]))
    cut = stem in {"sons", "daughters"} and behind not in _AFTER_MANY  # "my sons birthday"
    return cut or (stem in {"mom", "dad", "mum"} and behind in {"pop", "pops"}) or before in _GENERAL


def _titled(reader: WordReader, i: int) -> bool:
    """Whether a capital stands up to two words behind word *i*: "My Mother the Car"."""
    return reader.capital(i + 1) or (bool(reader.next(i + 1)) and reader.capital(i + 2))


def _is_counted(reader: WordReader, i: int) -> bool:
    """Whether a number or the like stands up to two words before word *i*."""
    before, further = reader.previous(i), reader.previous(i - 1)
    return before in _COUNTED or (bool(before) and (further in _COUNTED or (before == "of" and further in _GROUPS)))


def _several(draft: EditDraft) -> bool:
    """Whether two genders, or so many people that "they" may be any of them, would be told apart no more."""
    genders = {group for _, _, new, _, group in draft.edits if group != ("mixed", "neutral")}
    nouns = [new for _, _, new, _, _ in draft.edits if new.lower() in _neutral_nouns()]
    themselves = [new for _, _, new, _, _ in draft.edits if new.lower().partition("'")[0] in _THEY]
    return len(genders) > 1 or (len(nouns) > 1 and bool(themselves))


def _with_they(reader: WordReader) -> set[int]:
    """Return the examples in which somebody is "they" already and somebody "he" or "she": both would be one."""
    owners = reader.batch.owners.tolist()
    stems = [stem_of(word)[0] for word in reader.lower]
    plain = {owners[reader.text[i]] for i, stem in enumerate(stems) if stem in _THEY}
    return plain & {owners[reader.text[i]] for i, stem in enumerate(stems) if stem in PRONOUNS}


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
