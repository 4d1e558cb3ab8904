"""The only reader of the environment.

Every variable begins with QUINTAIN_. `describe` lists them for the documentation. What is to hold for a workspace
whoever starts it stands in its own file, `settings.toml`, by the same names in small letters; a variable wins over it.
A secret may be in a file of its own, which `QUINTAIN_NAME_FILE` names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.mail_addresses import is_sender
from quintain.core.server_addresses import is_bare_address, names_server
from quintain.core.texts import hint
from quintain.core.toml import parse_toml

STORED = "settings.toml"
PREFIX = "QUINTAIN_"
FILE = "_FILE"  # what the variable ends with that names a file with a secret in it
# What our own scripts, the image and `compose.yaml` read, which somebody may have exported.
OF_SCRIPTS = frozenset({"BUILD_OPTIONS", "CONTAINER_MEMORY", "DOCS_VENV", "IMAGE_BASE", "INSTALL", "PYTHON", "VENV"})
HIGHEST_PORT = 65_535
EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - looked for: no address to go to


def _setting(default: Any, help: str, *, secret: bool = False) -> Any:  # noqa: A002 - as the documentation shows it
    return field(default=default, metadata={"help": help, "secret": secret})


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set from outside, with defaults that work on a laptop."""

    workspace: Path = _setting(Path("quintain-workspace"), "Folder of the workspace: database, blobs, backups.")
    database_url: str = _setting("", "Database; empty for SQLite in the workspace, or postgresql://….", secret=True)
    blobs_url: str = _setting("", "Blob store; empty for a folder in the workspace, or s3://bucket/prefix.")
    blobs_endpoint: str = _setting("", "Address of an S3-compatible server; empty for the one of the cloud itself.")
    host: str = _setting("127.0.0.1", "Address that `serve` listens on.")
    port: int = _setting(8000, "Port that `serve` listens on.")
    processes: int = _setting(1, "Processes of `serve` that answer requests, on one port.")
    public_url: str = _setting("", "Address that people use, for links in messages; empty for http://host:port.")
    trusted_proxies: str = _setting(
        "", "Proxies whose X-Forwarded-For and -Proto are believed: addresses or networks, by commas."
    )
    log_level: str = _setting("info", "debug, info, warning or error.")
    log_format: str = _setting(
        "text", "text for people, brief for a terminal (no tracebacks, no repeats), json for machines."
    )
    smtp_url: str = _setting("", "Mail server as smtp://user:password@host:port; empty sends no e-mail.", secret=True)
    mail_from: str = _setting("quintain@localhost", "Sender of e-mails: an address, or `Name <address>`.")
    open_registration: bool = _setting(False, "Whether anybody may make an account; the default is by invitation.")
    login_attempts: int = _setting(10, "Log-ins that may fail per name and address in five minutes.")
    model_calls: int = _setting(120, "Model calls allowed per person (or address) and minute.")
    engine: str = _setting("local", "Where cells run: local, or ray://host:port of a Ray cluster.")
    workers: int = _setting(1, "Workers that `serve` starts beside the pages; 0 leaves evaluation to `worker`.")
    machine_class: str = _setting("", "Class of the machine that cells run on; empty for its processor and how many.")
    lease_seconds: int = _setting(60, "Seconds without a sign of life after which another worker takes a cell over.")
    sandbox: str = _setting("full", "Sandbox that submitted code needs: full, partial (no control group) or off.")
    model_memory: int = _setting(4, "Memory that a model may use, in GiB.")
    model_seconds: int = _setting(3600, "Seconds that one run of a model may take.")
    trial_seconds: int = _setting(300, "Seconds in which a submitted model must load and answer a few examples.")
    endpoints: str = _setting("", "Servers that models elsewhere may be called at, as https://host[:port], by commas.")
    secrets: str = _setting("", "TOML file of keys for those servers: a table each, with `endpoint` and `key`.")
    package_index: str = _setting(
        "", "Where wheels for handlers are fetched: empty for pip's own index, a URL, or none for nowhere."
    )
    environments_gib: int = _setting(20, "Disk that the packages of handlers may take together, in GiB; 0 for any.")
    token: str = _setting("", "API token that commands send to a server, where none is given to them.", secret=True)
    checkpoints: str = _setting(
        "", "Folder of checkpoints that recipes on pages may begin with, a folder each; empty for none."
    )
    import_mib: int = _setting(2048, "Most that a file of data may unpack to on pages and the API, in MiB.")
    import_rows: int = _setting(2_000_000, "Most rows that such a file may hold.")
    submissions_per_day: int = _setting(10, "Models that a builder may submit to one task in a day.")

    @property
    def database(self) -> str:
        """The URL of the database, with the default filled in."""
        return self.database_url or f"sqlite:///{self.workspace / 'quintain.db'}"

    @property
    def blobs(self) -> str:
        """The place of the blobs, with the default filled in."""
        return self.blobs_url or str(self.workspace / "blobs")

    @property
    def address(self) -> str:
        """The address that people use, with the default filled in."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def link_address(self) -> str | None:
        """The address for links that are sent to somebody, or None where it is not known: a request never says it."""
        return None if not self.public_url and self.host in EVERYWHERE else self.address


def read_settings(environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Read the settings from *environment* (the process's own by default) and the workspace's file.

    *overrides* that are not None win over both, and the environment wins over the file. A variable that is no setting
    is refused, and so is an address that is none.
    """
    source = os.environ if environment is None else environment
    _refuse(_unknown(source))
    folder = overrides.get("workspace") or source.get("QUINTAIN_WORKSPACE") or Settings().workspace
    values = stored_settings(Path(folder))
    for item in fields(Settings):
        raw = _raw(source, item.name, secret=item.metadata["secret"])
        if overrides.get(item.name) is not None:
            values[item.name] = overrides[item.name]
        elif raw is not None:
            values[item.name] = _parse(item.name, raw, item.default)
    settings = Settings(**values)
    if not is_sender(settings.mail_from):
        raise BadInput(
            "QUINTAIN_MAIL_FROM is '{sender}', which is not an e-mail address.",
            sender=settings.mail_from,
            remedy="Use an address such as quintain@example.org, or `Name <address>`.",
        )
    _refuse(_malformed(settings))
    return settings


def _refuse(faults: Iterator[Fault]) -> None:
    listed = list(faults)
    if listed:
        raise BadInput(faults=listed, remedy="The page on operations lists the settings.")


def _unknown(source: Mapping[str, str]) -> Iterator[Fault]:
    """Find variables that are meant for us and are none of ours."""
    names = [item.name.upper() for item in fields(Settings)]
    files = [f"{item.name.upper()}{FILE}" for item in fields(Settings) if item.metadata["secret"]]
    for variable in sorted(source):
        name = variable.removeprefix(PREFIX)
        if variable.startswith(PREFIX) and name not in OF_SCRIPTS.union(names, files):
            close = get_close_matches(name, [*names, *files], n=1)
            if close:
                yield Fault("no such setting; did you mean {close}?", close=close[0], field=variable)
            else:
                yield Fault("no such setting", field=variable)


def _raw(source: Mapping[str, str], name: str, *, secret: bool) -> str | None:
    """Return what a variable holds or, of a secret, the file that is named in its place."""
    variable = f"{PREFIX}{name.upper()}"
    path = source.get(f"{variable}{FILE}") if secret else None
    if path is None:
        return source.get(variable)
    if source.get(variable):
        raise BadInput(
            "{variable} and {variable}_FILE are both set.", variable=variable, remedy="Leave one of them out."
        )
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            "{variable}_FILE names {path}, which cannot be read: {error}.", variable=variable, path=path, error=error
        ) from error


def _malformed(settings: Settings) -> Iterator[Fault]:
    """Find addresses that are none. A message never shows one that may hold a password."""
    if settings.public_url and not is_bare_address(settings.public_url):
        yield Fault(
            "'{url}' is not http:// or https:// and a host, without a path",
            url=settings.public_url,
            field="QUINTAIN_PUBLIC_URL",
        )
    if settings.blobs_endpoint and not names_server(settings.blobs_endpoint, ("http", "https")):
        yield Fault(
            "'{url}' is not http:// or https:// and a host",
            url=settings.blobs_endpoint,
            field="QUINTAIN_BLOBS_ENDPOINT",
        )
    if settings.smtp_url and not names_server(settings.smtp_url, ("smtp", "smtps")):
        yield Fault("is not smtp:// or smtps:// and a host, such as smtp://mail:587", field="QUINTAIN_SMTP_URL")
    if settings.engine != "local" and not names_server(settings.engine, ("ray",)):
        yield Fault("'{engine}' is neither local nor ray://host:port", engine=settings.engine, field="QUINTAIN_ENGINE")
    if settings.port > HIGHEST_PORT:
        yield Fault("{port} is no port: they end at 65535", port=settings.port, field="QUINTAIN_PORT")


def unless_set(settings: Settings, environment: Mapping[str, str] | None = None, **values: Any) -> Settings:
    """Put *values* in place of those that neither *environment* (the process's own by default) nor the file names."""
    source = os.environ if environment is None else environment
    stored = stored_settings(settings.workspace)
    variables = {name: f"{PREFIX}{name.upper()}" for name in values}
    named = {name for name in values if name in stored or {variables[name], f"{variables[name]}{FILE}"} & set(source)}
    return replace(settings, **{name: value for name, value in values.items() if name not in named})


def stored_settings(workspace: Path) -> dict[str, Any]:
    """Return what the file of a workspace says, by name; what is no setting or of another type is refused."""
    path = workspace / STORED
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from error
    values = parse_toml(text, file=str(path))
    defaults = {item.name: item.default for item in fields(Settings) if item.name != "workspace"}
    faults = [
        Fault("no such setting; {hint}", hint=hint(name, tuple(defaults)), file=str(path), field=name)
        if name not in defaults
        else Fault("is {value}, which is of another type", value=repr(value), file=str(path), field=name)
        for name, value in values.items()
        if name not in defaults or type(value) is not type(defaults[name])
    ]
    if faults:
        raise BadInput(faults=faults, remedy="`quintain serve --help` and the page on operations list the settings.")
    return values


def spare_threads() -> None:
    """Let one thread multiply matrices, unless somebody has set how many; to be called before NumPy is imported.

    Ours are small. With a thread for each core they take many times as long where other processes want the cores too:
    each step waits until all of its threads have had their turn.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def settings_environment(settings: Settings) -> dict[str, str]:
    """Return an environment, like this process's own, in which another one reads these same *settings*."""
    values = {item.name: getattr(settings, item.name) for item in fields(Settings)}
    named = {f"QUINTAIN_{name.upper()}": str(int(v) if isinstance(v, bool) else v) for name, v in values.items()}
    files = {f"{name}{FILE}" for name in named}  # what they hold is among the values
    return {**{name: value for name, value in os.environ.items() if name not in files}, **named}


def describe() -> list[tuple[str, str, str]]:
    """List every variable with its default and what it does."""
    return [(f"QUINTAIN_{i.name.upper()}", str(i.default), i.metadata["help"]) for i in fields(Settings)]


def _parse(name: str, raw: str, default: object) -> object:
    variable = f"QUINTAIN_{name.upper()}"
    if isinstance(default, bool):
        if raw.lower() in {"1", "true", "yes", "on"}:
            return True
        if raw.lower() in {"0", "false", "no", "off", ""}:
            return False
        raise BadInput(
            "{variable} is '{raw}', which is neither yes nor no.", variable=variable, raw=raw, remedy="Use 1 or 0."
        )
    if isinstance(default, int):
        if not raw.isdecimal():
            raise BadInput(
                "{variable} is '{raw}', which is not a whole number.",
                variable=variable,
                raw=raw,
                remedy="Use digits only.",
            )
        return int(raw)
    return Path(raw) if isinstance(default, Path) else raw
