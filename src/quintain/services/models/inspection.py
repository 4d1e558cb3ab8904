"""What can be seen of a model without running it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quintain.adapters.contract import ADAPTERS
from quintain.adapters.manifest import CARD, MANIFEST, Manifest, read_manifest
from quintain.adapters.scaffold import card_faults
from quintain.core.errors import BadInput, Fault
from quintain.core.task import Task
from quintain.models.card import MAX_CARD, check_card
from quintain.services.models.environments import read_requirements, vendored

MAX_CARD_BYTES = 4 * MAX_CARD


@dataclass(frozen=True, slots=True)
class Inspection:
    """What can be seen of a model without running it."""

    manifest: Manifest
    card: str
    faults: tuple[Fault, ...]


def inspect_model(folder: Path, task: Task) -> Inspection:
    """Look at the model in *folder* and find everything that is wrong with it, without running any of it."""
    faults: list[Fault] = []
    manifest = Manifest()
    try:
        manifest = read_manifest(folder)
    except BadInput as error:
        faults += error.faults
    else:
        faults += ADAPTERS.get(manifest.adapter)().check(folder, task, manifest.options)
    for reader in (read_requirements, vendored):
        try:
            reader(folder)
        except BadInput as error:
            faults += error.faults
    if manifest.task not in {None, task.name}:
        faults.append(
            Fault(
                "is '{task}', and the task is '{name}'", task=manifest.task, name=task.name, file=MANIFEST, field="task"
            )
        )
    card, problem = _read_card(folder)
    faults += [problem] if problem else [Fault(one.reason, file=CARD) for one in check_card(card)]
    faults += card_faults(card, folder, task, manifest)
    return Inspection(manifest, card, tuple(faults))


def require_runnable(folder: Path, task: Task) -> Inspection:
    """Look at the model in *folder* and refuse it where it could not be asked; a card may still be missing."""
    inspection = inspect_model(folder, task)
    faults = [fault for fault in inspection.faults if fault.file != CARD]
    if faults:
        raise BadInput(faults=faults, remedy="`quintain model check` shows the same.")
    return inspection


def _read_card(folder: Path) -> tuple[str, Fault | None]:
    try:
        if (folder / CARD).stat().st_size > MAX_CARD_BYTES:
            return "", Fault("has more than {most:,} bytes", most=MAX_CARD_BYTES, file=CARD)
        card = (folder / CARD).read_text(encoding="utf-8-sig")
        return (card, None) if "\x00" not in card else ("", Fault("holds NUL characters, which are no text", file=CARD))
    except FileNotFoundError:
        return "", Fault("is missing; `quintain model init` writes one to fill in", file=CARD)
    except (UnicodeDecodeError, OSError):
        return "", Fault("cannot be read as UTF-8", file=CARD)
