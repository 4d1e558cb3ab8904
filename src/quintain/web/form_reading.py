"""Numbers, money and dates out of what somebody typed, with a fault beside each that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from quintain.core.errors import Fault
from quintain.core.rounds import MINOR_DIGITS, Money
from quintain.core.texts import Text


class FormReading:
    """Reads values by name out of texts and gathers what cannot be read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.faults: list[Fault] = []

    def text(self, name: str) -> str:
        """Return a text without blanks around it, with line ends as everywhere else."""
        return str(self.values[name]).replace("\r\n", "\n").strip()

    def names(self, name: str) -> list[str]:
        """Return what stands between commas."""
        return list(dict.fromkeys(part.strip() for part in self.text(name).split(",") if part.strip()))

    def numbers(self, name: str) -> list[float]:
        """Return the numbers that stand between commas; whole ones as such."""
        numbers = []
        for part in self.names(name):
            try:
                value = float(part)
            except ValueError:
                self._wrong(name, Text("a list of numbers with commas between them"))
                return []
            numbers.append(int(value) if value.is_integer() else value)
        return numbers

    def whole(self, name: str) -> int:
        """Return a whole number; notes a fault where it is none."""
        text = self.text(name)
        if text.isdecimal() and len(text) < 10:
            return int(text)
        return self._wrong(name, Text("a whole number"))

    def number(self, name: str) -> float:
        """Return a number, with a point or a comma in it; notes a fault where it is none."""
        try:
            return float(self.text(name).replace(",", "."))
        except ValueError:
            return self._wrong(name, Text("a number"))

    def percent(self, name: str) -> float:
        """Return a percentage as a rate."""
        return round(self.number(name) / 100, 12)

    def money(self, name: str, currency: str) -> int:
        """Return an amount in minor units; nothing typed is nothing paid."""
        try:
            amount = Decimal(self.text(name).replace(",", ".") or "0").scaleb(MINOR_DIGITS.get(currency, 2))
        except InvalidOperation:
            amount = Decimal("NaN")
        if amount.is_finite() and amount == amount.to_integral_value() and abs(amount) < 10**10:
            return int(amount)
        return self._wrong(name, Text("an amount of money such as 0.30"))

    def moment(self, name: str) -> datetime | None:
        """Return a date and time, in UTC."""
        try:
            return datetime.fromisoformat(self.text(name)).replace(tzinfo=UTC)
        except ValueError:
            self._wrong(name, Text("a date and time"))
            return None

    def local_moment(self, name: str) -> datetime | None:
        """Return a date and time by the clocks of some place."""
        try:
            return datetime.fromisoformat(self.text(name)).replace(tzinfo=None)
        except ValueError:
            self._wrong(name, Text("a date and time"))
            return None

    def _wrong(self, name: str, expected: str) -> int:
        self.faults.append(Fault("'{given}' is not {wanted}", given=self.values[name], wanted=expected, field=name))
        return 0


def amount_text(money: Money) -> str:
    """Write an amount without its currency, as it is typed."""
    return str(money).split(" ", maxsplit=1)[0] if money.amount else "0"


def moment_text(moment: datetime | None) -> str:
    """Write a moment as the browser's control for it holds it, with seconds only where there are some."""
    if moment is None:
        return ""
    moment = moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S" if moment.second else "%Y-%m-%dT%H:%M")


def local_moment_text(moment: datetime | None) -> str:
    """Write a moment by the clocks of its place as the browser's control holds it.

    >>> local_moment_text(datetime(2026, 12, 1, 9, 30))
    '2026-12-01T09:30'
    """
    if moment is None:
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%S" if moment.second else "%Y-%m-%dT%H:%M")


def number_text(value: float) -> str:
    """Write a number as short as it can be read back.

    >>> number_text(95.0), number_text(0.4)
    ('95', '0.4')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))
