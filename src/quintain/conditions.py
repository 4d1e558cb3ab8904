"""What models are run under here, put together from the settings.

It is apart from `compose` because a model at home needs no store, which takes longer to import than all of this.
"""

from __future__ import annotations

from quintain.core.errors import BadInput
from quintain.engine import machine_load
from quintain.engine.machine_hold import is_machine_free
from quintain.engine.presence import running_server
from quintain.engine.sandbox.layers import NEEDED, SandboxReport, probe
from quintain.engine.sandbox.limits import GIB, Limits
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.models.environments import Environments
from quintain.services.models.outside import read_outside
from quintain.services.tasks.machines import class_of_machine, is_class_name
from quintain.settings import Settings, unless_set

SERVING = "serving"  # folder of the workspace in which servers say where they listen, and under what they run models
AS_SERVED = ("sandbox", "model_memory", "model_seconds")  # what a model is run under, which a server may be told itself
LOCKS = "locks"  # folder of the workspace with which workers on one machine keep out of each other's way


def conditions_here(settings: Settings) -> Conditions:
    """Return the conditions that every model is run under; who computes cells also says who hears of them."""
    _check_sandbox(settings)
    limits = Limits(
        memory_bytes=settings.model_memory * GIB,
        wall_seconds=settings.model_seconds,
        cpu_seconds=settings.model_seconds,
    )
    outside = read_outside(settings.endpoints, settings.secrets, settings.workspace / "cache")
    environments = Environments(
        settings.workspace / "environments", settings.package_index, room=settings.environments_gib * GIB
    )
    return Conditions(
        limits,
        settings.sandbox,
        outside,
        environments,
        settings.lease_seconds,
        settings.trial_seconds,
        probe=lambda: sandbox_of(settings),
        machine=_machine(settings),
        is_idle=lambda: settings.engine != "local" or is_machine_free(settings.workspace / LOCKS),
    )


def as_served(settings: Settings) -> Settings:
    """Return *settings* with what the running server of this workspace runs models under, where it was set otherwise.

    What the environment of the caller says goes before: somebody may want to try something stricter.
    """
    server = running_server(settings.workspace / SERVING)
    served = {name: value for name, value in server.settings.items() if name in AS_SERVED} if server else {}
    return unless_set(settings, **served)


def sandbox_of(settings: Settings) -> SandboxReport | None:
    """Return which layers of the sandbox hold here; None where models run on the machines of a cluster."""
    _check_sandbox(settings)
    return probe() if settings.engine == "local" else None


def _check_sandbox(settings: Settings) -> None:
    if settings.sandbox not in NEEDED:
        raise BadInput(
            "QUINTAIN_SANDBOX is '{sandbox}'.", sandbox=settings.sandbox, remedy="It is `full`, `partial` or `off`."
        )


def _machine(settings: Settings) -> str:
    """Name the class of the machine that cells run on; of a cluster's nodes nothing is known before they have run."""
    name = settings.machine_class.strip()
    if name and not is_class_name(name):
        raise BadInput("QUINTAIN_MACHINE_CLASS cannot be the name of a class.", remedy="Use 1 to 120 characters.")
    return name or (class_of_machine(machine_load.machine()) if settings.engine == "local" else "")
