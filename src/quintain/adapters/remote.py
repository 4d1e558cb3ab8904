"""What all models on servers elsewhere share: their options, and which servers and keys the operator allows them."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from quintain.adapters.contract import Options, Outside
from quintain.adapters.prices import PRICE_OPTIONS, check_prices
from quintain.core.errors import BadInput, Fault, Forbidden
from quintain.core.texts import Text, as_text

LONGEST_TIMEOUT = 600
MOST_RETRIES = 20

REMOTE_OPTIONS: Mapping[str, str] = {
    "url": "Address of the server, such as https://models.example.org.",
    "secret": "Name of the operator's key to send, if the server wants one.",
    "timeout": "Seconds to wait for one reply; 60 by default.",
    "retries": "How often a call that failed is tried again; 4 by default.",
    "perturbations": "counted (the default): only those that enter a figure are run; all: the others too.",
    **PRICE_OPTIONS,
}

# What remains to be done with a model to start from that is a server.
SERVER_LEFT = (
    "Put your server's address and model into quintain.toml.",
    "The operator has to allow the address: QUINTAIN_ENDPOINTS lists those that may be called.",
)


def origin(url: str) -> str:
    """Return scheme, host and port of *url*; refuse what is not a plain web address.

    >>> origin("https://Models.example.org/v1")
    'https://models.example.org:443'
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadInput("'{url}' is not an address.", url=url) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password:
        raise BadInput(
            "'{url}' is not an address.", url=url, remedy="Write https://host or http://host:port, without a password."
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port or (443 if parts.scheme == 'https' else 80)}"


def check_options(options: Options) -> list[Fault]:
    """Find what is wrong with the options that all servers share."""
    faults = []
    try:
        origin(str(options.get("url", "")))
    except BadInput as error:
        faults.append(_fault("url", error.message if "url" in options else "is missing"))
    timeout, retries = options.get("timeout", 60), options.get("retries", 4)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST_TIMEOUT:
        faults.append(
            _fault(
                "timeout",
                "is {value}; it is a number above 0, at most {most}",
                value=repr(timeout),
                most=LONGEST_TIMEOUT,
            )
        )
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= MOST_RETRIES:
        faults.append(
            _fault(
                "retries", "is {value}; it is a whole number from 0 to {most}", value=repr(retries), most=MOST_RETRIES
            )
        )
    if "secret" in options and not isinstance(options["secret"], str):
        faults.append(_fault("secret", "is {value}, which is not a text", value=repr(options["secret"])))
    if options.get("perturbations", "counted") not in ("counted", "all"):
        faults.append(
            _fault(
                "perturbations",
                "is {perturbations}; it is 'counted' or 'all'",
                perturbations=repr(options["perturbations"]),
            )
        )
    return faults + check_prices(options)


def permit(options: Options, outside: Outside) -> None:
    """Refuse a server, or a key, that the operator does not allow."""
    endpoint = origin(str(options.get("url", "")))
    allowed = [origin(endpoint) for endpoint in outside.endpoints]
    if endpoint not in allowed:
        listed = ", ".join(outside.endpoints) or Text("none")
        raise Forbidden(
            "The endpoint {wanted} is not one that this server may call.",
            wanted=endpoint,
            listed=listed,
            remedy="Allowed: {listed}. The operator adds others to QUINTAIN_ENDPOINTS.",
            page="Allowed: {listed}. The operator can add others.",
        )
    name = options.get("secret")
    if name is None:
        return
    secret = outside.secrets.get(str(name))
    if secret is None or origin(secret.endpoint) != endpoint:
        raise Forbidden(
            "There is no key called '{name}' for {wanted}.",
            name=name,
            wanted=endpoint,
            remedy="The operator adds it to the file QUINTAIN_SECRETS.",
            page="The operator can add it.",
        )


def _fault(name: str, reason: str, /, **values: object) -> Fault:
    return Fault(as_text(reason, values), file="quintain.toml", field=f"options.{name}")
