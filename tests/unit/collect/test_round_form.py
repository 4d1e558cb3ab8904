"""The form of a round: every option of the file has a control, and what a form brings is read or explained."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from quintain.core.errors import BadInput
from quintain.core.rounds import Asks, Caps, Condition, Entry, Fooled, Reward, RoundSpec, Targets, WritingAids
from quintain.services.collect.rounds.definition import round_of
from quintain.web.pages.collect.round_form import FORM, data_of, values_of

PLAIN = RoundSpec("mood", "Fool it", targets=Targets("one", ("mood/a@1",)))
# One value other than the default for every option of a round's file; `task` is in the address, `number` is given.
OTHERS: dict[str, Any] = {
    "title": "Another",
    "instructions": "Write *well*.",
    "targets": Targets("ensemble", ("mood/a@1", "mood/b@2")),
    "fooled": Fooled("token_f1", 0.35),
    "conditions": (Condition("short", True, 3), Condition("free", False, 1)),
    "aiming": "assign",
    "attempts": 7,
    "sessions": 4,
    "wanted": 250,
    "keep_nonfooling": False,
    "minutes": 2.5,
    "reward": Reward(30, 20, "EUR"),
    "caps": Caps(5, 100),
    "starts": datetime(2026, 12, 1, 9, 30, 15, tzinfo=UTC),
    "ends": datetime(2026, 12, 24, 18, 0, tzinfo=UTC),
    "content_warning": "Rude words.",
    "consent": "I agree.\n\nReally.",
    "scripts": ("Latin", "Greek"),
    "flags": ("personal",),
    "helps": WritingAids(occlusion=True, inspiration=True),
    "asks": Asks(confirm=False, reason=True, tags=("irony", "negation")),
    "quizzes": ("intro",),
    "listed": False,
    "qualifications": (
        {"rule": "account_age", "days": 3},
        {"rule": "completed", "at_least": 0},
        {"rule": "approval_rate", "at_least": 0.955},
        {"rule": "validated_fooling", "at_least": 0.2, "of": 10, "rest_days": 3},
        {"rule": "country", "one_of": ["DE", "AT"]},
        {"rule": "language", "one_of": ["de"]},
        {"rule": "holds", "name": "a"},
        {"rule": "holds", "name": "b"},
        {"rule": "lacks", "name": "resting"},
        {"rule": "role", "role": "expert"},
    ),
    "entry": Entry("panel", "s1", "pid", "C1", "https://panel.example/done?who={id}", signed=True),
}


def through_the_form(spec: RoundSpec, before: RoundSpec | None = None) -> RoundSpec:
    """Fill the form with a round, and read it back."""
    return round_of(data_of("mood", values_of(spec), before))


def test_every_option_has_another_value_here() -> None:
    """A new option of a round must be put to the test, and so on the form."""
    assert {item.name for item in fields(RoundSpec)} == {*OTHERS, "task", "number"}
    assert all(getattr(PLAIN, name) != value for name, value in OTHERS.items())


@pytest.mark.parametrize("name", OTHERS)
def test_every_option_goes_through_the_form(name: str) -> None:
    """Each alone, into a new round and over an old one; nothing else changes."""
    spec = replace(PLAIN, **{name: OTHERS[name]})
    assert through_the_form(spec) == spec
    assert through_the_form(spec, PLAIN) == spec
    assert through_the_form(PLAIN, spec) == PLAIN


def test_all_options_go_through_the_form_together() -> None:
    """Saving without a change changes nothing."""
    spec = replace(PLAIN, **OTHERS)
    assert through_the_form(spec, spec) == spec


@pytest.mark.parametrize("writing", [("prompt",), ("blank",), ("prompt", "blank"), ("blank", "prompt")], ids="-".join)
def test_plain_conditions_keep_their_order(writing: tuple[str, ...]) -> None:
    """Prompt, blank and both are chosen with one click and stay as they were."""
    spec = replace(PLAIN, conditions=tuple(Condition(name, name == "prompt") for name in writing))
    assert values_of(spec)["writing"] == (writing[0] if len(writing) == 1 else "both")
    assert through_the_form(spec, spec) == spec


def test_what_the_form_cannot_hold_stays() -> None:
    """A quiz as a rule, a second rule of a kind and a name with a comma are kept in their places."""
    rules = (
        {"rule": "quiz", "name": "intro"},
        {"rule": "account_age", "days": 3},
        {"rule": "account_age", "days": 9},
        {"rule": "holds", "name": "a, b"},
    )
    spec = replace(PLAIN, qualifications=rules, consent="  With blanks around it.\n")
    assert through_the_form(spec, spec) == spec


@pytest.mark.parametrize(
    ("changes", "control", "reason"),
    [
        ({"attempts": "five"}, "attempts", "'five' is not a whole number"),
        ({"reward": "0.305"}, "reward", "is not an amount of money"),
        ({"starts": "soon"}, "starts", "is not a date and time"),
        ({"threshold": "low"}, "threshold", "'low' is not a number"),
        ({"rule_account_age": "old"}, "rule_account_age", "'old' is not a whole number"),
        ({"rule_approval_rate": "120"}, "rule_approval_rate", "not a rate between 0 and 1"),
        ({"rule_approval_rate_of": "9"}, "rule_approval_rate", "say which rate is needed"),
        ({"rule_role": "king"}, "rule_role", "not worker, expert, builder or owner"),
        ({"rule_country": " , "}, "rule_country", "not a list of names"),
        ({"writing": "own", "conditions": [("a", True, "x")]}, "conditions", "the weight 'x' of 'a'"),
        ({"writing": "own", "conditions": [("A!", True, "1")]}, "conditions", "a name of up to 40"),
        ({"writing": "own", "conditions": []}, "conditions", "is not a list of tables"),
        ({"mode": "ensemble"}, "models", "takes at least two"),
        ({"mode": "several"}, "mode", "not one of one, random"),
        ({"cap_worker": "0"}, "cap_worker", "a whole number from 1"),
        ({"currency": "euro"}, "currency", "a currency code"),
        ({"entry_provider": "panel", "entry_completion_url": "panel.example"}, "entry_completion_url", "an http(s)"),
        ({"starts": "2026-12-02T00:00", "ends": "2026-12-01T00:00"}, "ends", "is not after 'starts'"),
        ({"scripts": ["Klingon"]}, "scripts", "there is no script 'Klingon'"),
        ({"title": "  "}, "title", "a text of 1 to 200"),
    ],
)
def test_what_is_wrong_is_said_beside_its_control(changes: dict[str, Any], control: str, reason: str) -> None:
    """Every fault, of reading or of the round itself, finds its control."""
    with pytest.raises(BadInput) as caught:
        round_of(data_of("mood", values_of(PLAIN) | changes, None))
    assert reason in FORM.faults_by_control(caught.value.faults)[control]
