"""What calls to a paid server cost.

Prices are those of the manifest, unless the operator has written some beside the key: who pays sets the price that his
cap is reckoned in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quintain.adapters.contract import Options, Outside
from quintain.core.errors import Fault
from quintain.core.texts import Text

BYTES_PER_TOKEN = 4  # of English text, for estimates
MILLION = 1_000_000
PRICE_OPTIONS: Mapping[str, str] = {
    "input_price": "Price of a million tokens that are sent, in any currency.",
    "output_price": "Price of a million tokens that come back.",
    "budget": "The most that all runs of this version may cost together, in the currency of the prices.",
}


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a million tokens."""

    sent: float = 0.0
    received: float = 0.0

    def cost(self, sent: float, received: float) -> float:
        """Return the price of so many tokens.

        >>> Prices(2.0, 8.0).cost(1_000_000, 500_000)
        6.0
        """
        return (sent * self.sent + received * self.received) / MILLION


def prices_of(options: Options, outside: Outside) -> Prices:
    """Return the prices of a model's calls: the operator's where some stand beside the key, else the manifest's."""
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
        reason = Text("needs input_price or output_price, in whose currency it is")
        faults.append(Fault(reason, file="quintain.toml", field="options.budget"))
    return faults


def is_amount(value: Any) -> bool:
    """Whether *value* is an amount of money."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
