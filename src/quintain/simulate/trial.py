"""A small trial for the demo: BASELINE beside CROWD, with people who are simulated."""

from __future__ import annotations

from dataclasses import replace

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.core.spec import plain
from quintain.protocols.crowd.forecast import run_trial
from quintain.protocols.reading import shipped
from quintain.protocols.spec import Protocol
from quintain.services.plain.reports.trials import arms_of
from quintain.services.trial.trials import keep_simulated, list_trials
from quintain.tasks.writing import dump_toml

NAME = "baseline-or-crowd"
TITLE = "Simulated trial: BASELINE beside CROWD"
WORKERS = 60
ITEMS = 240
OFTEN = 120
SEED = 11


def add_trial(workspace: Workspace, task: str) -> None:
    """Run the trial and keep it, unless it is there already."""
    with workspace.session() as db:
        if any(one.name == NAME for one in list_trials(db, OPERATOR, task)):
            return
        protocols = [_small(shipped()[name]) for name in ("baseline", "crowd")]
        arms = arms_of(run_trial(protocols, WORKERS, SEED))
        texts = [dump_toml(plain(one)) for one in protocols]
        keep_simulated(db, workspace.blobs, OPERATOR, (task, NAME), [*zip(texts, arms, strict=True)], title=TITLE)


def _small(protocol: Protocol) -> Protocol:
    """Ask for fewer items in the final round, and judge fewer of them often."""
    stages = tuple(
        replace(one, writing=replace(one.writing, wanted=ITEMS))
        if one.writing is not None and one.writing.final
        else one
        for one in protocol.stages
    )
    return replace(protocol, stages=stages, validation=replace(protocol.validation, sample=OFTEN))
