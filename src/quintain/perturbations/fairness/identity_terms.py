"""Words for people of one group become words for another of the same kind: "two Sikh families" → "two Hindu families".

What is said of a group is as hateful, as kind or as plain when it is said of another. An option, not in the figure.

A word for a real people or faith changes only where people are surely meant and nothing beside them is bound to them
(a church, a country, a name); that of an invented one has no such company.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar, NamedTuple

from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.fairness.nouns import article, in_thing, stem_of
from quintain.perturbations.fairness.people import ACTS
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import cased_like, lines_of, words_in

# Before and behind these, the word is more likely a language, which is no group of people.
_LANGUAGE_BEFORE = frozenset(words_in("in into from speak speaks speaking spoke spoken learn learns learning learnt"))
_LANGUAGE_BEHIND = frozenset(words_in("spoken language languages grammar accent dialect classes lessons"))
_LANGUAGES = frozenset(words_in("english french spanish german dutch portuguese latin greek"))
# With one of these before it the word is part of another one ("Latin American", "all American", "Filipino Americans").
_PARTS = frozenset(
    words_in(
        "north south latin central middle native african asian hispanic filipino indian arab chinese japanese "
        "irish polish jewish cuban first pan all ugly anti half greek german french puerto gage roman new old "
        "ancient young non un hyphenate hyphenated captain miss black white anglo orthodox free dear vietnamese"
    )
)
# Fixed terms with one of these: "the American dream", "a Mexican coke".
_TERMS = frozenset(words_in("dream tire cheese coke bustle wax accent accents speaking churrasco"))

# Nothing that exists is tied to these groups: their words stand for one another wherever they stand.
_INVENTED = frozenset({"invented"})
# Behind the word for one, or before it, these show that people are meant, and no dish, car or bank.
_PEOPLE = frozenset(
    words_in(
        "man men woman women boy boys girl girls guy guys lady ladies gentleman person people kid kids child "
        "children baby family families friend friends neighbor neighbors neighbour neighbours student students "
        "tourist tourists couple couples doctor doctors nurse nurses teacher teachers worker workers farmer "
        "farmers driver drivers citizen citizens worshipper worshippers immigrant immigrants parents father mother "
        "mom dad son daughter husband wife girlfriend boyfriend grandmother grandfather grandma grandpa uncle aunt "
        "cousin roommate colleague colleagues customers guests visitor visitors traveler travelers travellers "
        "athlete athletes actor actors actress director directors author authors writer writers reporter reporters "
        "scientist scientists engineer engineers lawyer lawyers artist artists musician musicians voters teenager "
        "teenagers teens adults audience audiences viewers fans player players lad chef waiter waitress chap dude "
        "soldier soldiers"
    )
)
_ONE_OF_THEM = frozenset(words_in("a an another one every each any"))
# Behind "an American" these show that the word is a noun: "an American who sang"; and before it, "she is an American".
_NOUN_BEFORE = frozenset(
    words_in("who who's whose can could will would should has had says said wrote living named called")
)
_BEING = frozenset(
    words_in("i'm he's she's you're is was am are be being became become as yourself myself himself herself for not")
)
# What is bound to a faith or a people stays what it was: where one of these stands, so does the word.
_BOUND = frozenset(
    words_in(
        "federal state style dining cuisine monotheistic polytheistic church churches cathedral chapel mosque "
        "mosques temple temples pagoda monastery pope popes priest priests bishop bishops nun nuns monk monks imam "
        "imams rabbi minaret mass lent rosary saint saints sacrament baptism baptized confession convent parish "
        "diocese archbishop cardinal cardinals clergy prophet prophets fatwa jihad sharia veil veils veiled "
        "headscarf headscarves turban turbans hijab burqa burka halal pork beef fasting ramadan hajj pilgrimage "
        "pilgrims caste sect sects sectarian christian christians christianity islam islamic buddhism hinduism "
        "catholicism protestantism sikhism jew jews jewish judaism muslim-hindu terrorist terrorists terrorism "
        "extremist extremists fundamentalist fundamentalists militant militants suicide bomber bombers reformation "
        "clerics cleric theology god gods religion religions religious faith faiths secular convert converts "
        "converted conversion pharaoh pharaohs pyramids mummy mafia mafioso pasta pizza tacos taco kimchi vodka "
        "tsar czar reindeer maple hockey samba soviet communist communists dollar dollars border immigration "
        "english language translated translation subtitles accent infidel infidels foreign foreigner foreigners "
        "citizenship slave slaves slavery native natives homeland colony colonies colonial empire ancient conquest "
        "presidential president congress senators governor states abroad"
    )
)


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
    languages = ("en",)
    title: ClassVar[str] = "Identity terms of another group"
    version: ClassVar[int] = 3
    rate: ClassVar[float] = 1.0

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Replace the words of examples in which each can be; two groups of an example never become one."""
        reader, draft = WordReader(batch), EditDraft()
        owners = batch.owners.tolist()
        named = [(i, term) for i, word in enumerate(reader.lower) if (term := _term(reader, i, word)) is not None]
        stay = {owners[reader.text[i]] for i, term in named if in_thing(batch, i) or _is_other(reader, i, term)}
        real = [(i, term) for i, term in named if term.kind not in _INVENTED]
        if real:
            bound = _bound(reader)
            stay |= {owners[reader.text[i]] for i, term in real if not _are_people(reader, i, term)}
            stay |= {owners[reader.text[i]] for i, _ in real} & bound
        for i, term in named:
            if owners[reader.text[i]] in stay:
                continue
            start, stem = reader.start[i], stem_of(reader.lower[i])[0]
            written = reader.word(i)[: len(stem)]
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


def _term(reader: WordReader, i: int, lower: str) -> IdentityTerm | None:
    """Return what word *i* says, where it is written like a word for people of a group."""
    term = terms().get(stem_of(lower)[0].capitalize())
    return term if term is not None and reader.capital(i) else None


def _bound(reader: WordReader) -> set[int]:
    """Return the examples that hold a word bound to a group, or a name: "Americans" beside "Bush" are no others."""
    owners = reader.batch.owners.tolist()
    return {
        owners[reader.text[i]]
        for i, word in enumerate(reader.lower)
        if word in _BOUND or (reader.capital(i) and _is_name(reader, i))
    }


def _is_name(reader: WordReader, i: int) -> bool:
    """Whether a capitalised word is a name, or in a title: inside a sentence, and no word for people of a group."""
    word, stem = reader.word(i), stem_of(reader.lower[i])[0]
    shout = word.isupper() and len(word) > 1
    return shout or not (
        reader.opens(i) or word == "I" or word.startswith(("I'", "I’")) or stem.capitalize() in terms()
    )


def _are_people(reader: WordReader, i: int, term: IdentityTerm) -> bool:
    """Whether the word surely says people: several, one of them, or in front of such a noun.

    "an Italian" may be a dish, a wine or a wax: somebody is, acts, or has something.
    """
    behind, owns = reader.next(i), reader.lower[i].endswith("'s")
    if reader.word(i).isupper():
        return False
    if term.form == 1:
        return "'" not in reader.lower[i]
    if not owns and stem_of(behind)[0] in _PEOPLE and not reader.gap(i + 1).startswith("-"):
        return True
    if reader.previous(i) not in _ONE_OF_THEM:
        return False
    is_somebody = reader.previous(i - 1) in _BEING and not behind
    return owns or is_somebody or behind in _NOUN_BEFORE | ACTS


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
