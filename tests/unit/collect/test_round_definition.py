"""A round's TOML file: read, refused with every fault, written again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.core.rounds import Asks, Caps, Condition, Fooled, Money, Reward, RoundSpec, Targets, WritingAids
from quintain.services.collect.rounds.definition import dump_round, parse_round
from quintain.services.collect.rounds.manage import split_ref

FULL = """
task = "sentiment"
number = 2
title = "Fool Model 1"
instructions = "Write *well*."
aiming = "assign"
attempts = 5
keep_nonfooling = false
minutes = 2.5
starts = 2026-12-01T09:00:00Z
ends = 2026-12-24T18:00:00Z
content_warning = "Rude."
consent = "I agree."
scripts = ["Latin"]
flags = ["personal"]
quizzes = ["intro"]

[targets]
mode = "ensemble"
models = ["sentiment/a", "sentiment/b@2"]

[fooled]
rule = "differs"

[[conditions]]
name = "prompt"
weight = 3
[[conditions]]
name = "blank"
prompt = false

[reward]
amount = 30
bonus = 10
currency = "EUR"

[caps]
worker = 20

[helps]
occlusion = true

[asks]
reason = true
tags = ["negation", "irony"]

[[qualifications]]
rule = "account_age"
days = 3

[entry]
provider = "prolific"
completion_code = "C123"
"""


def test_a_full_file_says_everything() -> None:
    """Every key arrives where it belongs."""
    spec = parse_round(FULL)
    assert (spec.task, spec.number, spec.attempts, spec.aiming) == ("sentiment", 2, 5, "assign")
    assert spec.conditions == (Condition("prompt", True, 3), Condition("blank", False, 1))
    assert spec.reward == Reward(30, 10, "EUR")
    assert spec.asks == Asks(True, True, ("negation", "irony"))
    assert spec.qualifications == ({"rule": "account_age", "days": 3},)
    assert spec.entry is not None
    assert spec.entry.completion_code == "C123"


def test_what_is_written_reads_the_same() -> None:
    """Cloning loses nothing."""
    assert parse_round(dump_round(parse_round(FULL))) == parse_round(FULL)


def test_defaults_are_those_of_the_paper() -> None:
    """Ten attempts, failures kept, a prompt to edit, and the writer chooses the label."""
    spec = parse_round('task = "t"\ntitle = "x"\n[targets]\nmodels = ["t/m"]')
    assert (spec.attempts, spec.keep_nonfooling, spec.aiming) == (10, True, "choose")
    assert (spec.conditions, spec.fooled) == ((Condition("prompt"),), Fooled())


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("title =", None, "not valid TOML"),
        ("", "task", "is missing"),
        ('titel = "x"', "titel", "did you mean 'title'"),
        ("attempts = 0", "attempts", "a whole number from 1 to 100"),
        ("attempts = true", "attempts", "a whole number from 1 to 100"),
        ("minutes = 0", "minutes", "a number above 0"),
        ('starts = "soon"', "starts", "a date and time"),
        ("starts = 2026-12-02T00:00:00Z\nends = 2026-12-01T00:00:00Z", "ends", "not after 'starts'"),
        ('scripts = ["Klingon"]', "scripts", "there is no script 'Klingon'"),
        ('flags = ["rude"]', "flags", "any of offensive, personal"),
        ('targets = "m"', "targets", "is not a table"),
        ('[targets]\nmode = "all"', "targets.mode", "one of one, random, ensemble, best"),
        ('[targets]\nmode = "random"\nmodels = ["t/m"]', "targets.models", "at least two"),
        ('[targets]\nmode = "best"\nmodels = ["t/m"]', "targets.models", "leave it out"),
        ("[reward]\namount = 0.3", "reward.amount", "a whole number"),
        ('[reward]\ncurrency = "dollars"', "reward.currency", "a currency code"),
        ("[caps]\nworker = 0", "caps.worker", "a whole number from 1"),
        ('[fooled]\nrule = "f1"', "fooled.rule", "one of task, differs, token_f1, worker"),
        ("[[conditions]]\nprompt = true", "conditions.name", "is missing"),
        ('[[conditions]]\nname = "a"\n[[conditions]]\nname = "a"', "conditions", "'a' is given twice"),
        ('[[qualifications]]\nrule = "age"', "qualifications", "there is no rule 'age'"),
        ('[[qualifications]]\nrule = "country"', "qualifications", "needs 'one_of'"),
        ('[entry]\nstudy = "s"', "entry.provider", "is missing"),
        ('[entry]\nprovider = "panel"\ncompletion_url = "javascript:alert(1)"', "entry.completion_url", "http(s)"),
    ],
)
def test_every_fault_is_named(text: str, field: str | None, reason: str) -> None:
    """What is wrong, and in which key."""
    base = "" if not text or "title =" in text else 'task = "t"\ntitle = "x"\n'
    if "targets" not in text and base:
        text += '\n[targets]\nmodels = ["t/m"]'
    with pytest.raises(BadInput) as caught:
        parse_round(base + text, file="r.toml")
    assert (field, True) in [(fault.field, reason in fault.reason) for fault in caught.value.faults]
    assert all(fault.file == "r.toml" for fault in caught.value.faults)


def test_all_faults_come_at_once() -> None:
    """A file with three mistakes is refused once."""
    with pytest.raises(BadInput) as caught:
        parse_round('task = ""\ntitle = "x"\nattempts = -1\nwhat = 1')
    assert {fault.field for fault in caught.value.faults} == {"task", "attempts", "what"}


@given(
    st.builds(
        RoundSpec,
        task=st.just("mood"),
        title=st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=50).filter(
            str.strip
        ),
        attempts=st.integers(1, 100),
        keep_nonfooling=st.booleans(),
        minutes=st.floats(0.1, 600),
        targets=st.just(Targets("one", ("mood/m",))),
        caps=st.builds(Caps, worker=st.none() | st.integers(1, 99), round=st.none() | st.integers(1, 99)),
        helps=st.builds(WritingAids, st.booleans(), st.booleans()),
        reward=st.builds(Reward, st.integers(0, 999), st.integers(0, 999), st.sampled_from(["USD", "JPY"])),
    )
)
def test_any_round_survives_writing(spec: RoundSpec) -> None:
    """Reading what was written gives the same round."""
    assert parse_round(dump_round(spec)) == spec


@pytest.mark.parametrize("ref", ["", "mood", "mood/", "/1", "mood/x", "mood/-1", "mood/99999999"])
def test_strange_references_are_refused(ref: str) -> None:
    """A round is called task/number."""
    with pytest.raises(BadInput, match="is not a round"):
        split_ref(ref)


@pytest.mark.parametrize(
    ("money", "text"),
    [(Money(5, "USD"), "0.05 USD"), (Money(123456, "EUR"), "1234.56 EUR"), (Money(7, "JPY"), "7 JPY"),
     (Money(1234, "KWD"), "1.234 KWD"), (Money(-5, "USD"), "-0.05 USD")],
)  # fmt: skip
def test_money_is_written_as_its_currency_does(money: Money, text: str) -> None:
    """Minor units are exact, whatever their number."""
    assert str(money) == text
