"""What pages say of a language model wherever it can be talked to: that it is one, how large it is, where it runs."""

from __future__ import annotations

from quintain.adapters.contract import ADAPTERS
from quintain.services.models.registry import ModelVersionInfo
from quintain.web.visit import Visit

MILLION = 1_000_000
SMALL = 1_000 * MILLION  # parameters, below which people would call a language model small


def language_note(visit: Visit, version: ModelVersionInfo) -> str:
    """Return a sentence or two on a language model that runs here; nothing for other models."""
    adapter = ADAPTERS.get(version.adapter) if version.adapter in ADAPTERS else None
    parameters = version.meta.get("parameters")
    if adapter is None or not adapter.language_model or not isinstance(parameters, int):
        return ""
    _ = visit.tongue.gettext
    millions = max(1, round(parameters / MILLION))
    if parameters < SMALL:
        return _(
            "A real language model, but a small one: %(n)s million parameters. It runs on this server without a "
            "network, takes a moment and errs often.",
            n=millions,
        )
    return _("A language model of %(n)s million parameters. It runs on this server without a network.", n=millions)
