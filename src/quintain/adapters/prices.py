"""What calls to a paid server cost, and the budget that stops them.

Prices are those of the manifest, unless the operator has written some beside the key: who pays sets the price that his
cap is reckoned in.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quintain.adapters.contract import Options, Outside
from quintain.core.errors import Conflict, Fault
from quintain.core.texts import Text

BYTES_PER_TOKEN = 4  # of English text, for estimates
MILLION = 1_000_000
PRICE_OPTIONS: Mapping[str, str] = {
    "input_price": "Price of a million tokens that are sent, in any currency.",
    "output_price": "Price of a million tokens that come back.",
    "budget": "The most that all runs of this version may cost together, in the currency of the prices.",
}


class OverBudget(Conflict):
    """The next call might cost more than is left."""

    code = "over_budget"


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a million tokens."""

    sent: float = 0.0
    received: float = 0.0

    def cost(self, sent: float, received: float) -> float:
        """Give the price of so many tokens.

        >>> Prices(2.0, 8.0).cost(1_000_000, 500_000)
        6.0
        """
        return (sent * self.sent + received * self.received) / MILLION


def prices_of(options: Options, outside: Outside) -> Prices:
    """Give the prices of a model's calls: the operator's where there are some beside the key, else the manifest's."""
    secret = outside.secrets.get(str(options.get("secret", "")))
    if secret is not None and secret.prices is not None:
        return Prices(*secret.prices)
    return Prices(float(options.get("input_price", 0)), float(options.get("output_price", 0)))


def estimated_tokens(text: str) -> int:
    """Guess the tokens of *text*: one for every four bytes.

    >>> estimated_tokens("Is it good?")
    3
    """
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


class Purse:
    """What the calls of a run have cost, and how much they may; several threads pay from it.

    A call sets aside the most that it can cost before it is made, so that calls under way together stay within.
    """

    def __init__(self, prices: Prices, budget: float | None) -> None:
        self.prices = prices
        self.budget = budget
        self.spent = 0.0
        self._aside = 0.0
        self._lock = threading.Lock()

    def set_aside(self, prompt: str, most_tokens: int) -> float:
        """Set aside what a call can cost; raises OverBudget where there is not enough left."""
        most = self.prices.cost(len(prompt.encode("utf-8", "replace")), most_tokens)  # no token is less than a byte
        with self._lock:
            if self.budget is not None and self.spent + self._aside + most > self.budget:
                raise OverBudget(
                    "The budget does not cover the next call: {budget:.6g} were left for this run, of which "
                    "{spent:.6g} are spent, and the call may cost {most:.6g}.",
                    budget=self.budget,
                    spent=self.spent,
                    most=most,
                    remedy="Replies that came are kept. Raise the budget, and try the run again.",
                )
            self._aside += most
        return most

    def give_back(self, aside: float, paid: float = 0.0) -> None:
        """Put back what was set *aside*, less what was *paid*."""
        with self._lock:
            self._aside -= aside
            self.spent += paid


def check_prices(options: Options) -> list[Fault]:
    """Find what is wrong with prices and budget."""
    faults = [
        Fault(
            "is {given}; it is a number from 0",
            given=repr(options[name]),
            file="quintain.toml",
            field=f"options.{name}",
        )
        for name in PRICE_OPTIONS
        if name in options and not is_amount(options[name])
    ]
    if "budget" in options and not ({"input_price", "output_price"} & options.keys()):
        said = Text("needs input_price or output_price, in whose currency it is")
        faults.append(Fault(said, file="quintain.toml", field="options.budget"))
    return faults


def is_amount(value: Any) -> bool:
    """Say whether *value* is an amount of money."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
