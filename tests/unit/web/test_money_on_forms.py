"""Amounts of money on a form whose specification has no currency of its own."""

from __future__ import annotations

import pytest

from quintain.core.trial_entry import TrialEntry
from quintain.web.form_reading import FormReading
from quintain.web.spec_form import SpecForm


@pytest.mark.parametrize(("currency", "typed", "amount"), [("USD", "0.50", 50), ("JPY", "50", 50), ("USD", "", 0)])
def test_an_amount_is_in_the_currency_that_the_page_knows(currency: str, typed: str, amount: int) -> None:
    """What was typed is read in minor units of that currency, and shown as it was typed."""
    form = SpecForm(TrialEntry, currency)
    reading = FormReading({**form.show(TrialEntry()), "expert_pay": typed})
    data = form.data(reading)
    assert not reading.faults
    assert data.get("expert_pay", 0) == amount
    assert form.show(TrialEntry(expert_pay=amount))["expert_pay"] == (typed or "0")
