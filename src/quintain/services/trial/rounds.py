"""The rounds of a trial: one for each arm and stage in which something is written, found by nobody else."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault
from quintain.core.people import Actor
from quintain.core.rounds import Asks, Condition, Reward, RoundSpec, Targets
from quintain.core.stage_qualifications import stage_qualification
from quintain.protocols.contexts import needed
from quintain.protocols.reading import parse_protocol
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import Stage
from quintain.services.collect.rounds.manage import open_round, put_spec
from quintain.services.collect.rounds.prompts import import_prompts
from quintain.services.trial.contexts import ContextSource, deal_contexts
from quintain.store.tables import CrowdArm, CrowdRound, CrowdTrial


def make_rounds(
    db: Session,
    actor: Actor,
    trial: CrowdTrial,
    arms: Sequence[CrowdArm],
    contexts: ContextSource,
    models: Sequence[str],
) -> None:
    """Add and open the rounds of all arms; the contexts that they need are dealt out among them."""
    places = [
        (arm, protocol, stage)
        for arm in arms
        for protocol in [parse_protocol(arm.toml)]
        for stage in protocol.stages
        if stage.writing is not None or (stage.tutorial is not None and stage.tutorial.contexts)
    ]
    needs = [needed(protocol, stage) for _, protocol, stage in places]
    dealt = deal_contexts(db, actor, contexts, needs) if contexts.is_given else []
    for index, (arm, protocol, stage) in enumerate(places):
        spec = replace(_spec(trial, arm, protocol, stage, models, prompted=contexts.is_given), task=contexts.task)
        new_round = put_spec(db, actor, spec)
        if contexts.is_given:
            _give_contexts(db, actor, new_round.ref, dealt[index], contexts.name)
        open_round(db, actor, new_round.ref)
        db.add(CrowdRound(arm_id=arm.id, stage=stage.name, round_id=new_round.id))
    db.flush()


def _spec(
    trial: CrowdTrial,
    arm: CrowdArm,
    protocol: Protocol,
    stage: Stage,
    models: Sequence[str],
    *,
    prompted: bool,
) -> RoundSpec:
    """Return what a round of the trial asks; all arms' rounds have the same title, so that it tells nothing."""
    writing, tutorial = stage.writing, stage.tutorial
    targets = Targets("none")
    if writing is not None and writing.target:
        if not models:
            raise BadInput(
                faults=[Fault("arm '{arm}' has a model to fool, and none is named", arm=arm.name, field="models")]
            )
        targets = Targets("one" if len(models) == 1 else "random", tuple(models))
    items = writing.items if writing is not None else tutorial.items if tutorial is not None else 1
    return RoundSpec(
        task="",
        title=trial.title or trial.name,
        targets=targets,
        conditions=(Condition("given" if prompted else "free", prompt=prompted),),
        attempts=writing.attempts if writing is not None and writing.target else items,
        keep_nonfooling=True,
        minutes=writing.minutes if writing is not None else 10.0,
        reward=Reward(
            writing.pay if writing is not None else 0,
            writing.fooling_bonus if writing is not None else 0,
            protocol.currency,
        ),
        asks=Asks(
            confirm=targets.has_model,
            justification=writing is not None and writing.justification,
            types=protocol.question_types,
        ),
        instructions=tutorial.examples if tutorial is not None else "",
        sessions=writing.sessions if writing is not None else None,
        wanted=(writing.wanted or None) if writing is not None else None,
        qualifications=({"rule": "holds", "name": stage_qualification(arm.id, stage.name)},),
        listed=False,
    )


def contexts_needed(tomls: Sequence[str]) -> int:
    """Return how many contexts the arms of these protocols need in all."""
    return sum(needed(protocol, stage) for protocol in map(parse_protocol, tomls) for stage in protocol.stages)


def _give_contexts(db: Session, actor: Actor, ref: str, rows: Sequence[dict[str, object]], source: str) -> None:
    with tempfile.TemporaryDirectory(prefix="quintain-contexts-") as folder:
        path = Path(folder) / "contexts.jsonl"
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), encoding="utf-8")
        import_prompts(db, actor, ref, path, corpus=source, in_order=True)
