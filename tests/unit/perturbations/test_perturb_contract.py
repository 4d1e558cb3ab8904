"""One suite that every registered perturbation must pass."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.perturbations import draws
from quintain.perturbations.apply import carry_out, drop_protected, outcomes, perturb_texts, realign, replay
from quintain.perturbations.batch import TextBatch
from quintain.perturbations.contract import PERTURBATIONS, Perturbation, perturbation
from tests.properties import examples

NAMES = PERTURBATIONS.names()
TEXTS = [
    "I do not know whether her book isn't definitely the best, but it's been said that I'd go. :)",
    "He will not see the 3 films in color; they are travelling to the theatre with Mary Smith and James.",
    "Susan told her brother that the waiter was kind to him because of his colour TV and 2 pizzas.",
    "Two Sikh families shared a house with a Hindu doctor.",
    "WHAT A GREAT MOVIE! Visit http://a.bc/de @you #tag 100%",
    "",
    " ",
    "a",
    "…",
    "好的电影，我喜欢。",
    "فيلم جيد جدا",
    "👩‍👩‍👧 family 👍🏽 she's Ok",
    "line one\nshe said\r\n\ttabs",
    "e\u0301te\u0301 nai\u0308ve cafe\u0301",
]
VOCABULARY = """she her his him he Mary James John's the a good film not do don't colour 3 twenty pizza :) 🙂 café naïve
好 שלום عربي Mr. Mrs. Smith Paris Will , . ! ? - & is was walks http://x.y/z @me ß ﬁ İ 𝒳 e\u0301"""
WORDS = st.sampled_from(VOCABULARY.split())
SENTENCES = st.lists(WORDS, max_size=14).map(" ".join)
ANY_TEXT = st.one_of(SENTENCES, st.text(max_size=40))


@pytest.fixture(params=NAMES)
def member(request: pytest.FixtureRequest) -> Perturbation:
    """Every perturbation in turn."""
    return perturbation(request.param)


def test_a_member_says_what_it_is(member: Perturbation) -> None:
    """Name, family, title, version and rate are there and make sense."""
    assert PERTURBATIONS.get(member.name) is type(member)
    assert member.family in {"robustness", "fairness"}
    assert member.title
    assert member.version >= 1
    assert 0 < member.rate <= 1
    assert type(member).__doc__


def test_the_same_seed_gives_the_same_texts(member: Perturbation) -> None:
    """Twice the same call, twice the same result."""
    assert perturb_texts(TEXTS, member, seed=7) == perturb_texts(TEXTS, member, seed=7)


def test_neither_order_nor_company_matters(member: Perturbation) -> None:
    """A text is perturbed alike alone, among others, and in another order."""
    together = perturb_texts(TEXTS, member)
    assert [perturb_texts([text], member)[0] for text in TEXTS] == together
    assert perturb_texts(TEXTS[::-1], member)[::-1] == together


def test_something_changes_and_nothing_is_emptied(member: Perturbation) -> None:
    """At least one sentence changes; None means unchanged, so a result never equals its text or is blank."""
    results = perturb_texts(TEXTS, member)
    assert any(new is not None for new in results)
    changed = [(old, new) for old, new in zip(TEXTS, results, strict=True) if new is not None]
    assert all(new != old and new.strip() for old, new in changed)


def test_addresses_and_handles_are_left_alone(member: Perturbation) -> None:
    """A link, a handle and a tag are names of things, whatever happens around them."""
    text = "She wrote to him about the good book at http://example.org/her @brother #colour today"
    new = perturb_texts([text], member, severity=5)[0] or text
    assert all(thing.lower() in new.lower() for thing in ("http://example.org/her", "@brother", "#colour"))


@settings(max_examples=examples(25), deadline=None)
@given(texts=st.lists(ANY_TEXT, min_size=1, max_size=6), seed=st.integers(0, 9), severity=st.sampled_from([0.5, 1, 4]))
@pytest.mark.parametrize("name", NAMES)
def test_edits_replay_to_the_result(name: str, texts: list[str], seed: int, severity: float) -> None:
    """The edits are in order, apart from each other, and lead from the text to the result, whatever the script."""
    member = perturbation(name)
    batch = TextBatch(texts, draws.keyed(draws.hashes_of(texts), seed))
    found = outcomes(batch, drop_protected(batch, member.propose(batch, min(1.0, member.rate * severity))))
    for text, outcome in zip(texts, found, strict=True):
        if outcome is None:
            continue
        assert replay(text, outcome.edits) == outcome.text
        assert outcome.text != text
        places = [(start, end) for start, end, _ in outcome.edits]
        assert all(0 <= start <= end <= len(text) for start, end in places)
        assert all(one[1] <= other[0] for one, other in pairwise(places))
        assert all(text[start:end] != new for start, end, new in outcome.edits)


@settings(max_examples=examples(25), deadline=None)
@given(texts=st.lists(ANY_TEXT, min_size=1, max_size=6), seed=st.integers(0, 9))
@pytest.mark.parametrize("name", NAMES)
def test_a_shortcut_gives_what_the_edits_give(name: str, texts: list[str], seed: int) -> None:
    """Whichever way a perturbation takes, the texts come out the same."""
    member = perturbation(name)
    seeds = draws.keyed(draws.hashes_of(texts), name, member.version, seed)
    assert perturb_texts(texts, member, seed=seed) == carry_out(texts, seeds, member, member.rate)


@pytest.mark.parametrize("name", NAMES)
def test_no_text_sees_those_beside_it(name: str) -> None:
    """What becomes of a text is the same alone and in company, at both ends of a batch and within it."""
    texts = ["Mary &", "& Mary", "and Mary", "Mary and", "Mary,", "Ann met him.", "her", "(he", "New", "York she", "is"]
    alone = [perturb_texts([text], perturbation(name))[0] for text in texts]
    assert perturb_texts(texts, perturbation(name)) == alone
    assert perturb_texts(texts[::-1], perturbation(name)) == alone[::-1]


@settings(max_examples=examples(20), deadline=None)
@given(text=SENTENCES.filter(lambda text: len(text) > 3), data=st.data())
@pytest.mark.parametrize("name", NAMES)
def test_protected_spans_keep_their_words(name: str, text: str, data: st.DataObject) -> None:
    """Nothing inside a protected span changes, and moved along it still covers the same characters."""
    start = data.draw(st.integers(0, len(text) - 1))
    span = (start, data.draw(st.integers(start + 1, len(text))))
    batch = TextBatch([text], draws.hashes_of([text]), protected=[[span]])
    outcome = outcomes(batch, drop_protected(batch, perturbation(name).propose(batch, 1.0)))[0]
    if outcome is not None:
        moved = realign(span, outcome.edits)
        assert moved is not None
        assert outcome.text[slice(*moved)] == text[slice(*span)]


@pytest.mark.parametrize("name", [n for n, m in PERTURBATIONS.items() if m.rate < 1])
def test_severity_edits_more_words(name: str) -> None:
    """Four times the severity means more words edited."""
    text = (
        "The good people in this little house have a great time with the film because they know that you love it " * 3
    )
    few, many = (perturb_texts([text], perturbation(name), severity=severity)[0] for severity in (1, 4))
    assert few is not None
    assert many is not None

    def kept(new: str) -> int:
        return len(set(text.split()) & set(new.split()))

    assert kept(many) <= kept(few)
