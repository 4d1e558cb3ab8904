"""What the operator lets models elsewhere be reached by: servers, and keys that are shown to one of them each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from quintain.adapters.contract import ADAPTERS, EndpointSecret, Outside
from quintain.adapters.prices import PRICE_OPTIONS, is_amount
from quintain.adapters.remote import origin
from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.core.toml import parse_toml, read_text


def read_outside(endpoints: str, secrets: str, cache: Path | None) -> Outside:
    """Read the list of servers and the file of keys, as the settings give them."""
    allowed = tuple(one.strip() for one in endpoints.split(",") if one.strip())
    for one in allowed:
        origin(one)
    return Outside(allowed, _read_secrets(Path(secrets)) if secrets else {}, cache)


def share_of(outside: Outside, adapter: str, options: Mapping[str, Any]) -> Outside:
    """Give what a model of *adapter* needs of *outside*: nothing but for one on another server, and its own key only.

    A run may travel to another machine, and keys that it does not use do not travel with it.
    """
    if ADAPTERS.get(adapter).place != "remote":
        return Outside()
    own = {name: secret for name, secret in outside.secrets.items() if name == options.get("secret")}
    return replace(outside, secrets=own)


def _read_secrets(path: Path) -> dict[str, EndpointSecret]:
    text = read_text(path, remedy=Text("QUINTAIN_SECRETS names it."))
    tables, found = parse_toml(text, file=path.name), {}
    for name, table in tables.items():
        if not isinstance(table, dict) or not all(isinstance(table.get(key), str) for key in ("endpoint", "key")):
            raise BadInput(faults=[Fault("[{name}] needs `endpoint` and `key`, both texts", name=name, file=path.name)])
        origin(table["endpoint"])
        found[name] = EndpointSecret(table["endpoint"], table["key"], *_money(name, table, path.name))
    return found


def _money(name: str, table: Mapping[str, Any], file: str) -> tuple[tuple[float, float] | None, float | None]:
    """Read the prices and the budget of a key. A budget needs prices of the operator's own: a manifest's may be low."""
    wrong = [key for key in PRICE_OPTIONS if key in table and not is_amount(table[key])]
    if wrong:
        raise BadInput(faults=[Fault("[{name}] is no amount of money", name=name, file=file, field=wrong[0])])
    prices = [float(table[key]) for key in ("input_price", "output_price") if key in table]
    if len(prices) == 1 or ("budget" in table and not prices):
        raise BadInput(faults=[Fault("[{name}] needs both input_price and output_price", name=name, file=file)])
    budget = float(table["budget"]) if "budget" in table else None
    return ((prices[0], prices[1]) if prices else None), budget
