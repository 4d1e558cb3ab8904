"""What the operator lets models elsewhere be reached by: servers, and keys that are shown to one of them each."""

from __future__ import annotations

from pathlib import Path

from quintain.adapters.contract import Outside, Secret
from quintain.adapters.remote import origin
from quintain.core.errors import BadInput, Fault
from quintain.core.toml import parse_toml, read_text


def read_outside(endpoints: str, secrets: str, cache: Path | None) -> Outside:
    """Read the list of servers and the file of keys, as the settings give them."""
    allowed = tuple(one.strip() for one in endpoints.split(",") if one.strip())
    for one in allowed:
        origin(one)
    return Outside(allowed, _read_secrets(Path(secrets)) if secrets else {}, cache)


def _read_secrets(path: Path) -> dict[str, Secret]:
    text = read_text(path, remedy="QUINTAIN_SECRETS names it.")
    tables, found = parse_toml(text, file=path.name), {}
    for name, table in tables.items():
        if not isinstance(table, dict) or not all(isinstance(table.get(key), str) for key in ("endpoint", "key")):
            raise BadInput(faults=[Fault(f"[{name}] needs `endpoint` and `key`, both texts", file=path.name)])
        origin(table["endpoint"])
        found[name] = Secret(table["endpoint"], table["key"])
    return found
