"""Dynamic benchmarks of language models.

This is the public Python API: what a notebook imports, and nothing else.

    import quintain as qt

    labels = qt.aggregate("judgements.csv", method="dawid-skene")
    client = qt.Client("http://127.0.0.1:8000", token="qt_…")

Everything is imported when it is first used, so that `import quintain` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from quintain.client import Client
    from quintain.core.errors import (
        BadInput,
        Conflict,
        Fault,
        Forbidden,
        NotFound,
        NotSignedIn,
        QuintainError,
        TooMany,
        Unavailable,
    )
    from quintain.core.example import Example, Prediction
    from quintain.core.task import Label, Task
    from quintain.library.artefacts import artefacts
    from quintain.library.comparing import compare
    from quintain.library.errors import calibration, disagreement, slices
    from quintain.library.item_response import irt
    from quintain.library.labels import aggregate, agreement, expand, human, workers
    from quintain.library.machines import estimate, machine_agreement
    from quintain.library.paired import paired
    from quintain.library.perturbed import perturb
    from quintain.library.preferences import preference
    from quintain.library.releasing import release
    from quintain.library.results import Chart, Result
    from quintain.library.scores import contest_score, contrast_score, rank, score
    from quintain.library.trials import trial
    from quintain.tasks.contract import kind_of
    from quintain.tasks.definition import parse_task, read_task

_PUBLIC = {
    "Client": "quintain.client",
    "BadInput": "quintain.core.errors",
    "Conflict": "quintain.core.errors",
    "Fault": "quintain.core.errors",
    "Forbidden": "quintain.core.errors",
    "NotFound": "quintain.core.errors",
    "NotSignedIn": "quintain.core.errors",
    "QuintainError": "quintain.core.errors",
    "TooMany": "quintain.core.errors",
    "Unavailable": "quintain.core.errors",
    "Example": "quintain.core.example",
    "Prediction": "quintain.core.example",
    "Label": "quintain.core.task",
    "Task": "quintain.core.task",
    "aggregate": "quintain.library.labels",
    "agreement": "quintain.library.labels",
    "artefacts": "quintain.library.artefacts",
    "calibration": "quintain.library.errors",
    "compare": "quintain.library.comparing",
    "disagreement": "quintain.library.errors",
    "slices": "quintain.library.errors",
    "irt": "quintain.library.item_response",
    "contest_score": "quintain.library.scores",
    "contrast_score": "quintain.library.scores",
    "estimate": "quintain.library.machines",
    "expand": "quintain.library.labels",
    "human": "quintain.library.labels",
    "paired": "quintain.library.paired",
    "machine_agreement": "quintain.library.machines",
    "perturb": "quintain.library.perturbed",
    "preference": "quintain.library.preferences",
    "rank": "quintain.library.scores",
    "release": "quintain.library.releasing",
    "score": "quintain.library.scores",
    "trial": "quintain.library.trials",
    "workers": "quintain.library.labels",
    "Chart": "quintain.library.results",
    "Result": "quintain.library.results",
    "kind_of": "quintain.tasks.contract",
    "parse_task": "quintain.tasks.definition",
    "read_task": "quintain.tasks.definition",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'quintain' has no attribute '{name}'")
    module = _PUBLIC[name]
    value = getattr(import_module(module), name)
    library = module.startswith(("quintain.library.", "quintain.tasks."))
    if library and not isinstance(value, type):  # commands call the same functions
        value = import_module("quintain.library.speaking").speaks_python(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*_PUBLIC, "__version__"])


__all__ = [
    "BadInput",
    "Chart",
    "Client",
    "Conflict",
    "Example",
    "Fault",
    "Forbidden",
    "Label",
    "NotFound",
    "NotSignedIn",
    "Prediction",
    "QuintainError",
    "Result",
    "Task",
    "TooMany",
    "Unavailable",
    "__version__",
    "aggregate",
    "agreement",
    "artefacts",
    "calibration",
    "compare",
    "contest_score",
    "contrast_score",
    "disagreement",
    "estimate",
    "expand",
    "human",
    "irt",
    "kind_of",
    "machine_agreement",
    "paired",
    "parse_task",
    "perturb",
    "preference",
    "rank",
    "read_task",
    "release",
    "score",
    "slices",
    "trial",
    "workers",
]
