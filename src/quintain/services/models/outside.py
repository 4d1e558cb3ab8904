"""What the operator lets models elsewhere be reached by: servers, and keys that are shown to one of them each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from quintain.adapters.contract import ADAPTERS, EndpointSecret, Outside
from quintain.adapters.prices import is_amount
from quintain.adapters.remote import origin
from quintain.core.errors import BadInput, Fault
from quintain.core.spec import Reading, option, specification
from quintain.core.spec_kinds import Kind
from quintain.core.texts import Text
from quintain.core.toml import parse_toml, read_text

WORDS = Kind(
    lambda value: isinstance(value, str),
    Text("a text"),
    why=lambda value: Text("is not a text"),  # a message must not show a key
)
HEADERS = Kind(
    lambda value: isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values()),
    Text("a table of headers, each a text"),
    why=lambda value: Text("is not a table of headers, each a text"),
)
AMOUNT = Kind(is_amount, Text("an amount of money"), "number", kept=float)


@specification
class SecretSpec:
    """A key of the operator's: the server that it is shown to, and what calls with it may cost."""

    endpoint: str = option(WORDS, help="The server that the key is shown to")
    key: str = option(WORDS, default="", help="The key, sent as `Authorization: Bearer`")
    input_price: float | None = option(AMOUNT, default=None, help="Price of a million tokens that are sent")
    output_price: float | None = option(AMOUNT, default=None, help="Price of a million tokens that come back")
    budget: float | None = option(AMOUNT, default=None, help="The most that all runs with the key may cost")

    headers: Mapping[str, str] = option(
        HEADERS, default={}, help="Headers that go with every request, such as `api-key`, beside the key or without one"
    )

    @property
    def prices(self) -> tuple[float, float] | None:
        """Both prices, where there are any."""
        if self.input_price is None or self.output_price is None:
            return None
        return self.input_price, self.output_price

    def check(self) -> Iterator[Fault]:
        """See that prices are whole. A budget needs prices of the operator's own: a manifest's may be low."""
        if not self.key and not self.headers:
            yield Fault("is missing: a key, or headers in its place", field="key")
        prices_by_name = {"input_price": self.input_price, "output_price": self.output_price}
        if self.budget is not None or set(prices_by_name.values()) != {None}:
            for name, value in prices_by_name.items():
                if value is None:
                    yield Fault("is missing: a price needs the other one, and a budget needs both", field=name)


def read_outside(endpoints: str, secrets: str, cache: Path | None) -> Outside:
    """Read the list of servers and the file of keys, as the settings give them."""
    allowed = tuple(endpoint.strip() for endpoint in endpoints.split(",") if endpoint.strip())
    for server in allowed:
        origin(server)
    return Outside(allowed, _read_secrets(Path(secrets)) if secrets else {}, cache)


def share_of(outside: Outside, adapter: str, options: Mapping[str, Any]) -> Outside:
    """Return what a model of *adapter* needs of *outside*: nothing but for one on another server, and its own key only.

    A run may travel to another machine, and keys that it does not use do not travel with it.
    """
    if ADAPTERS.get(adapter).place != "remote":
        return Outside()
    own = {name: secret for name, secret in outside.secrets.items() if name == options.get("secret")}
    return replace(outside, secrets=own)


def _read_secrets(path: Path) -> dict[str, EndpointSecret]:
    text = read_text(path, remedy=Text("QUINTAIN_SECRETS names it."))
    reading, secrets = Reading(), {}
    for name, table in parse_toml(text, file=path.name).items():
        if not isinstance(table, Mapping):
            reading.fault(name, "is not a table; write [{name}] and its keys below it", name=name)
        elif (secret := reading.table(SecretSpec, table, f"{name}.")) is not None:
            origin(secret.endpoint)
            secrets[name] = EndpointSecret(
                secret.endpoint, secret.key, secret.prices, secret.budget, dict(secret.headers)
            )
    if reading.faults:
        raise BadInput(faults=[fault.at(file=path.name) for fault in reading.faults])
    return secrets
