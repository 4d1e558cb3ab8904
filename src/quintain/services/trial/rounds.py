"""The rounds of a trial: one for each arm and stage in which something is written, found by nobody else."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault
from quintain.core.passes import pass_of
from quintain.core.people import Actor
from quintain.core.rounds import Asks, Condition, Reward, RoundSpec, Targets
from quintain.protocols.contexts import deal
from quintain.protocols.reading import parse_protocol
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import Stage
from quintain.services.collect.prompts import import_prompts
from quintain.services.collect.rounds import open_round, put_spec
from quintain.services.data.content import scan
from quintain.services.data.datasets import get_version
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.tables import CrowdArm, CrowdRound, CrowdTrial
from quintain.tasks.contract import kind_of

MOST_CONTEXTS = 20_000
DEFAULT_GENRE = "genre"


@dataclass(frozen=True, slots=True)
class Contexts:
    """Where contexts come from: the texts of the data set *source* of a task, if one is named; dealt by *seed*.

    The stratum of a text is what its tags say of *genre*, such as `genre:fiction`.
    """

    blobs: Blobs
    task: str
    source: str
    seed: int
    genre: str = DEFAULT_GENRE


def make_rounds(
    db: Session,
    actor: Actor,
    trial: CrowdTrial,
    arms: Sequence[CrowdArm],
    contexts: Contexts,
    models: Sequence[str],
) -> None:
    """Add and open the rounds of all arms; contexts are dealt out among them."""
    source = contexts.source
    places = [
        (arm, protocol, stage)
        for arm in arms
        for protocol in [parse_protocol(arm.toml)]
        for stage in protocol.stages
        if stage.writing is not None or (stage.tutorial is not None and stage.tutorial.contexts)
    ]
    dealt = _deal(db, actor, contexts, len(places)) if source else []
    for place, (arm, protocol, stage) in enumerate(places):
        spec = replace(_spec(trial, arm, protocol, stage, models, prompted=bool(source)), task=contexts.task)
        made = put_spec(db, actor, spec)
        if source:
            _give_prompts(db, actor, made.ref, dealt[place], source)
        open_round(db, actor, made.ref)
        db.add(CrowdRound(arm_id=arm.id, stage=stage.name, round_id=made.id))
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
    """Say what a round of the trial asks; all arms' rounds have the same title, so that it tells nothing."""
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
            confirm=targets.there,
            justification=writing is not None and writing.justification,
            types=protocol.question_types,
        ),
        instructions=tutorial.examples if tutorial is not None else "",
        sessions=writing.sessions if writing is not None else None,
        wanted=(writing.wanted or None) if writing is not None else None,
        qualifications=({"rule": "holds", "name": pass_of(arm.id, stage.name)},),
        listed=False,
    )


def genre_of(tags: Sequence[str], genre: str) -> str:
    """Give what *tags* say of a *genre*; nothing where they do not.

    >>> genre_of(["source:web", "genre:fiction"], "genre")
    'fiction'
    """
    return next((one.partition(":")[2] for one in tags if one.startswith(f"{genre}:")), "")


def _deal(db: Session, actor: Actor, contexts: Contexts, hands: int) -> list[list[dict[str, object]]]:
    """Deal the texts of a data set out among rounds, in balance by genre: no text is given out in two of them."""
    version = get_version(db, actor, contexts.source)
    task = contexts.task
    if version.task != task or version.hidden:
        raise BadInput(faults=[Fault("{ref} is not a data set to take contexts from", ref=version.ref, field="source")])
    kind = kind_of(get_task(db, task))
    fields = [field.name for field in kind.fields(get_task(db, task))]
    table = scan(db, contexts.blobs, actor, version.ref, answers=False)
    there = table.collect_schema().names()
    known = [name for name in fields if name in there]
    chosen = table.select(*known, *(["tags"] if "tags" in there else [])).head(MOST_CONTEXTS)
    rows = chosen.unique(subset=known, maintain_order=True).collect().to_dicts()
    if len(rows) < hands:
        raise BadInput(
            faults=[
                Fault(
                    "{ref} has {rows} different texts, and {hands} rounds need contexts",
                    ref=version.ref,
                    rows=len(rows),
                    hands=hands,
                    field="source",
                )
            ]
        )
    texts, strata = {}, {}
    for row in rows:
        genre = genre_of(row.pop("tags", None) or (), contexts.genre)
        name = json.dumps(row, sort_keys=True, default=str)
        texts[name] = {**row, "tags": [f"{contexts.genre}:{genre}"]} if genre else row
        strata[name] = genre
    if contexts.genre != DEFAULT_GENRE and not any(strata.values()):
        raise BadInput(
            faults=[
                Fault(
                    "no text of {ref} has a tag '{genre}:…' that says its genre",
                    ref=version.ref,
                    genre=contexts.genre,
                    field="genre",
                )
            ]
        )
    return [[texts[name] for name in hand] for hand in deal(strata, hands, contexts.seed)]


def _give_prompts(db: Session, actor: Actor, ref: str, rows: Sequence[dict[str, object]], source: str) -> None:
    with tempfile.TemporaryDirectory(prefix="quintain-contexts-") as folder:
        path = Path(folder) / "contexts.jsonl"
        path.write_text("".join(json.dumps(one, default=str) + "\n" for one in rows), encoding="utf-8")
        import_prompts(db, actor, ref, path, corpus=source, in_order=True)
