"""What every model is run under, and how an unpacked one is run; nothing here needs a workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from quintain.adapters.contract import Outside
from quintain.adapters.manifest import read_manifest
from quintain.core.errors import BadInput
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.layers import SandboxReport, probe, require_sandbox
from quintain.engine.sandbox.limits import Limits, Outcome, RunEnded
from quintain.services.models.environments import Environments, read_requirements

LEASE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Conditions:
    """The same for every model: limits, how strong the sandbox must be, what may be reached and installed.

    *probe* says which layers of the sandbox hold where cells run; None where that is not one machine. *machine* names
    the class of the machine that models are run on, where it is known before they are; *is_idle* whether it has nothing
    else to do, so that a measurement can have it to itself.
    """

    limits: Limits = field(default_factory=Limits)
    sandbox: str = "full"
    outside: Outside = field(default_factory=Outside)
    environments: Environments | None = None
    lease_seconds: float = LEASE_SECONDS
    trial_seconds: float = 300.0
    probe: Callable[[], SandboxReport | None] = probe
    machine: str = ""
    is_idle: Callable[[], bool] = lambda: True


def runnable(adapter: str, folder: Path, conditions: Conditions) -> RunnableModel:
    """Return how the unpacked model in *folder* is run, with its packages; where the sandbox lacks, RunEnded."""
    try:
        manifest = read_manifest(folder)
        if conditions.environments and read_requirements(folder):
            require_sandbox(conditions.sandbox)  # a source archive among them is built, which runs its code
        packages = conditions.environments.packages(folder) if conditions.environments else ()
    except BadInput as error:
        raise RunEnded(Outcome.CRASHED, error.message, remedy=error.remedy) from error
    return RunnableModel(
        folder=folder, adapter=adapter, options=manifest.options, packages=packages, batch_size=manifest.batch_size
    )
