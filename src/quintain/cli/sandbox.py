"""How commands say which layers of the sandbox hold here, and what would give the others."""

from __future__ import annotations

from typing import Any

from quintain.cli import output
from quintain.conditions import sandbox_of
from quintain.engine.sandbox.layers import describe
from quintain.settings import Settings

ELSEWHERE = "Sandbox: each machine of the cluster looks for itself."


def sandbox_lines(settings: Settings) -> list[str]:
    """Return it in a line, with one more for each thing that is in the way."""
    report = sandbox_of(settings)
    return [ELSEWHERE] if report is None else describe(report, settings.sandbox)


def say_sandbox(settings: Settings) -> None:
    """Print it for whoever started the command."""
    for line in sandbox_lines(settings):
        output.say(line)


def sandbox_facts(settings: Settings) -> dict[str, Any]:
    """Return the same as plain data, for JSON."""
    report = sandbox_of(settings)
    if report is None:
        return {"wanted": settings.sandbox, "layers": None, "causes": []}
    causes = [{"what": cause.text, "remedy": cause.remedy} for cause in report.causes]
    return {"wanted": settings.sandbox, "layers": dict(report.layers), "causes": causes}
