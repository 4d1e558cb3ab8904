"""Models that are typed into a page: some lines of Python, or the options of an endpoint."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quintain.adapters.contract import ADAPTERS, Adapter, ModelStart
from quintain.adapters.scaffold import adapters_to_start, manifest_text, start_of, wrap_file, write_manifest_and_card
from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.task import Task
from quintain.core.toml import parse_toml

CODE = "code"
PYTHON = ".py"
MOST_CODE = 200_000


def ways_to_type() -> list[tuple[str, str]]:
    """List the adapters whose models can be typed: those of one Python file, and those that call a server."""
    return [
        (name, title) for name, title in adapters_to_start() if takes_code(name) or ADAPTERS.get(name).place == "remote"
    ]


def takes_code(adapter: str) -> bool:
    """Whether a model of *adapter* is a file of Python."""
    return PYTHON in ADAPTERS.get(adapter).bare


def first_values(adapter: str, task: Task) -> dict[str, str]:
    """Return what a form for a model of *adapter* holds at first."""
    start = start_of(_known(adapter).name, task)
    if takes_code(adapter):
        return {CODE: start.files[ADAPTERS.get(adapter).bare[PYTHON]]}
    return {name: str(start.options.get(name, "")) for name in ADAPTERS.get(adapter).options}


@contextmanager
def typed_model(adapter: str, task: Task, values: Mapping[str, str], *, name: str) -> Iterator[Path]:
    """Yield the folder of the model that a form describes."""
    member = _known(adapter)
    with tempfile.TemporaryDirectory(prefix="quintain-typed-") as scratch:
        folder = Path(scratch) / "model"
        if takes_code(adapter):
            source = Path(scratch) / f"{name or 'model'}{PYTHON}"
            source.write_text(_code(values), encoding="utf-8")
            wrap_file(source, folder)
        else:
            folder.mkdir()
            start = ModelStart(options=_options(member, task, values))
            manifest = manifest_text(adapter, start, task=task.name, name=name)
            use = "Not said: it was typed into the page."
            write_manifest_and_card(folder, member, name=name, use=use, manifest=manifest)
        yield folder


def _known(adapter: str) -> type[Adapter]:
    if adapter not in dict(ways_to_type()):
        raise NotFound("A model of adapter '{name}' cannot be typed.", name=adapter, remedy="Hand it in as a file.")
    return ADAPTERS.get(adapter)


def _code(values: Mapping[str, str]) -> str:
    code = values.get(CODE, "").replace("\r\n", "\n")
    if not code.strip():
        raise BadInput(faults=[Fault("is empty", field=CODE)])
    if len(code) > MOST_CODE:
        fault = Fault("has more than {most} characters", most=MOST_CODE, field=CODE)
        raise BadInput(faults=[fault], remedy="Hand it in as a file.")
    return code


def _options(member: type[Adapter], task: Task, values: Mapping[str, str]) -> dict[str, Any]:
    """Read the options: a text stays one where the adapter begins with a text, else numbers are numbers."""
    start = start_of(member.name, task).options
    texts = {name: values.get(name, "").replace("\r\n", "\n").strip() for name in member.options}
    return {name: _value(text, start.get(name)) for name, text in texts.items() if text}


def _value(text: str, before: Any) -> Any:
    if isinstance(before, str):
        return text
    try:
        return parse_toml(f"value = {text}")["value"]
    except BadInput:
        return text
