"""What the operator lets models elsewhere be reached by: servers, and keys that are shown to one of them each."""

from __future__ import annotations

import tomllib
from pathlib import Path

from quintain.adapters.contract import Outside, Secret
from quintain.adapters.remote import origin
from quintain.core.errors import BadInput, Fault, NotFound


def read_outside(endpoints: str, secrets: str, cache: Path | None) -> Outside:
    """Read the list of servers and the file of keys, as the settings give them."""
    allowed = tuple(one.strip() for one in endpoints.split(",") if one.strip())
    for one in allowed:
        origin(one)
    return Outside(allowed, _read_secrets(Path(secrets)) if secrets else {}, cache)


def _read_secrets(path: Path) -> dict[str, Secret]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", remedy="QUINTAIN_SECRETS names it.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(faults=[Fault(str(error), file=path.name)]) from error
    found = {}
    for name, table in tables.items():
        if not isinstance(table, dict) or not all(isinstance(table.get(key), str) for key in ("endpoint", "key")):
            raise BadInput(faults=[Fault(f"[{name}] needs `endpoint` and `key`, both texts", file=path.name)])
        origin(table["endpoint"])
        found[name] = Secret(table["endpoint"], table["key"])
    return found
