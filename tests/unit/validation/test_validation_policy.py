"""Policies are read with every fault named, and written so that they read back the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.core.validation import Adaptive, EntryQuiz, GoldPolicy, JudgeReward, UnqualifyRule, ValidationPolicy
from quintain.services.validate.policy import dump_policy, parse_policy, stored_policy


def test_an_empty_file_is_the_papers_policy() -> None:
    """Five judgements, three for a majority, ten to a page, 10 % gold, 80 % disagreement."""
    policy = parse_policy("")
    assert (policy.judgements, policy.minimum, policy.page_size, policy.gold.rate) == (5, 3, 10, 0.1)
    assert policy.unfooled_share == 1, "all that was entered is judged"
    assert policy.rules == (UnqualifyRule("disagreement", 0.8),)
    assert policy.every_rule[-1] == UnqualifyRule("gold", 0.5, 5)


policies = st.builds(
    ValidationPolicy,
    judgements=st.integers(5, 12),
    minimum=st.integers(1, 3),
    page_size=st.integers(1, 100),
    adaptive=st.none() | st.builds(Adaptive, st.floats(0.5, 0.99), st.integers(3, 5)),
    gold=st.builds(GoldPolicy, rate=st.floats(0, 0.9), bonus=st.integers(0, 500)),
    quiz=st.none() | st.just(EntryQuiz()),
    reward=st.builds(JudgeReward, st.integers(0, 1000), st.sampled_from(["USD", "JPY"])),
    rules=st.lists(st.builds(UnqualifyRule, st.sampled_from(["wilson", "posterior"]), st.floats(0, 1))).map(tuple),
)


@given(policies)
def test_what_is_written_reads_back_the_same(policy: ValidationPolicy) -> None:
    """TOML loses nothing."""
    assert parse_policy(dump_policy(policy)) == policy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("judgments = 3", "did you mean 'judgements'"),
        ("judgements = 0", "a whole number from 1 to 100"),
        ("judgements = true", "a whole number from 1 to 100"),
        ("minimum = 6", "more than the 5 votes"),
        (
            "[adaptive]\nleast = 2",
            "fewer than the 3 votes that a label needs \\('minimum'\\)",
        ),
        ("minimum = 4\n[adaptive]\nleast = 3", "set adaptive.least = 4, or minimum = 3"),
        ("[adaptive]\nleast = 6", "more than the 5 judgements of an item"),
        ("[gold]\nrate = 2", "field 'gold.rate': is 2, not a number from 0 to 0.9"),
        ("gold = 3", "is not a table"),
        ("rules = [3]", "is not a list of tables"),
        ('[[rules]]\nrule = "harsh"', "one of disagreement, wilson, posterior, gold"),
        ("[quiz]\nright = 6", "more than the 5 questions"),
        ("judgements = ", "not valid TOML"),
        ('[reward]\ncurrency = "dollars"', "a currency code"),
        ('automatic = "yes"', "true or false"),
        ("unfooled = 0", "a number above 0 and at most 1"),
        ("[often]\njudgements = 10", "either 'items'"),
        ("[often]\njudgements = 10\nitems = 5\nshare = 0.1", "either 'items'"),
        ("[often]\njudgements = 5\nitems = 5", "all items get 5 judgements"),
        ("setting = 2\nminimum = 3", "more than the 2 votes"),
        ("setting = 2\nminimum = 2\n[often]\nitems = 5\nminimum = 3", "more than the 2 votes"),
        ('items = "fooling"\nunfooled = 0.5', "leave one of the two out"),
    ],
)
def test_faults_are_named(text: str, message: str) -> None:
    """Each fault says where it is and what is wanted."""
    with pytest.raises(BadInput, match=message.replace("[", r"\[")):
        parse_policy(text, file="policy.toml")


def test_the_defaults_of_adaptive_asking_are_in_step() -> None:
    """An item is asked about until a label has the votes that it needs; the two can be set together or alone."""
    assert parse_policy("[adaptive]").adaptive == Adaptive(least=3)
    assert parse_policy("minimum = 2\n[adaptive]\nthreshold = 0.9").adaptive == Adaptive(0.9, 2)
    assert parse_policy("judgements = 9\nminimum = 5\n[adaptive]").first_slots == 5


def test_a_stored_policy_of_an_earlier_version_can_still_be_read() -> None:
    """What was let through then is mended, not refused: the validation must open."""
    kept = stored_policy("judgements = 5\nminimum = 3\n\n[adaptive]\nthreshold = 0.95\nleast = 2\naccuracy = 0.8\n")
    assert kept.adaptive == Adaptive(least=3)
    with pytest.raises(BadInput):
        parse_policy("[adaptive]\nleast = 2")
