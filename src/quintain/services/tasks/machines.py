"""Classes of machines: speed and memory are compared only between models that were measured on one class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quintain.core.records.board import BoardMachine

LONGEST = 120
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Measurement:
    """Of which model a measurement is, on what class of machine it was made, and when."""

    model: str
    machine: str
    at: str


def class_of_machine(machine: object) -> str:
    """Derive the class of a machine from what `engine.measuring.machine` says of it.

    >>> class_of_machine({"cpu": "Ryzen 7", "cpus": 8, "system": "Linux 6.1"})
    'Ryzen 7, 8 CPUs'
    """
    if isinstance(machine, Mapping) and machine.get("cpu"):
        cpus = machine.get("cpus")
        count = "" if cpus is None else f", {cpus} CPU{'s' if cpus != 1 else ''}"
        return f"{str(machine['cpu'])[: LONGEST - len(count)]}{count}"
    return machine[:LONGEST] if isinstance(machine, str) and machine else UNKNOWN


def class_of(measurements: Mapping[str, Any]) -> str:
    """Return the class of machine of a measurement: the worker's name for it or, without one, what it is made of."""
    return str(measurements.get("machine_class") or class_of_machine(measurements.get("machine")))


def is_class_name(name: str) -> bool:
    """Whether *name* can name a class of machines."""
    return bool(name.strip()) and name == name.strip() and len(name) <= LONGEST and name.isprintable()


def ranked_machine(named: str | None, measured: Iterable[Measurement]) -> BoardMachine:
    """Choose the class of machine that ranks: the one that the owner *named*, or the most usual one."""
    measurements: Sequence[Measurement] = list(measured)
    counts = Counter(
        sorted(machine for _, machine in {(measurement.model, measurement.machine) for measurement in measurements})
    )
    if named is not None or not counts:
        return BoardMachine(named, named is not None, counts)
    latest = {one.machine: one.at for one in sorted(measurements, key=lambda measurement: measurement.at)}
    return BoardMachine(max(counts, key=lambda name: (counts[name], latest[name], name)), named=False, models=counts)
