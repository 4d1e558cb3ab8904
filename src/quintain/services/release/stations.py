"""Where a round stands on its way: written, judged, labelled, released, and the next model trained.

A round is at the first station that it is not past. Judging may go on while people still write; the round is at
writing until it is closed, or its judging is: what comes later is not judged.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.stations import Station, StationName, Stations, StationStep
from quintain.core.rounds import RoundKind, RoundState
from quintain.core.validation import SlotState, ValidationState
from quintain.services.collect.rounds import manage, round_figures
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.models.registry import list_names
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.quality.validation_figures import ValidationFigures, validation_figures
from quintain.services.validate.types import ValidationInfo
from quintain.store.queries.release import releases, stations
from quintain.store.queries.validate import slots
from quintain.store.queries.validate import validation as validations

KnownJudging = tuple[ValidationInfo, ValidationFigures]


def stations_of(db: Session, actor: Actor, ref: str, *, judging: KnownJudging | None = None) -> Stations:
    """Return where round *ref* stands and what is to be done next; drafts to the task's owners only.

    *judging* is what the caller knows of its judging already.
    """
    info = manage.get_round(db, actor, ref)
    if judging is None and validations.find(db, info.task, str(info.number)):
        validation = find_validation(db, ref)
        judging = validation, validation_figures(db, validation)
    write, to_write = _write(db, info, judging)
    judge, to_judge = _judge(db, judging, written=write.done)
    release, trained = _release(db, actor, info, judging)
    label, to_label = _label(judging, judged=judge.done, released=release.done)
    model, to_train = _model(db, actor, info, trained)
    stations = [write, judge, label, release, model]
    steps = [to_write, to_judge, to_label, StationStep.RELEASE, to_train]
    waiting = zip(stations, steps, strict=True)
    now, step = next(((station.name, step) for station, step in waiting if not station.done), (None, None))
    also = StationStep.RELEASE if step is StationStep.ADJUDICATE else None
    return Stations(info.ref, info.kind.value, stations, now, step, also)


def _write(db: Session, info: RoundInfo, judging: KnownJudging | None) -> tuple[Station, StationStep]:
    counted = True
    if info.kind is RoundKind.HARVEST and judging is not None:
        count, counted = judging[1].progress.items, judging[1].counted
    else:
        count = round_figures.written(db, info)
    step = StationStep.OPEN if info.state is RoundState.DRAFT else StationStep.WRITE
    ended = judging is not None and judging[0].state is ValidationState.CLOSED
    return Station(StationName.WRITE, ended or info.state is RoundState.CLOSED, count, None, [], counted), step


def _judge(db: Session, judging: KnownJudging | None, *, written: bool) -> tuple[Station, StationStep]:
    if judging is None:
        return Station(StationName.JUDGE, False, 0, None, []), StationStep.VALIDATE
    validation, state = judging
    counts = state.slots
    needed = sum(counts.values()) - counts.get(SlotState.DROPPED, 0)
    waits = slots.anything_wanted(db, validation.id)
    done = validation.state is ValidationState.CLOSED or (written and needed > 0 and not waits)
    return Station(
        StationName.JUDGE, done, counts.get(SlotState.FILLED, 0), needed, [], state.counted
    ), StationStep.JUDGE


def _label(judging: KnownJudging | None, *, judged: bool, released: bool) -> tuple[Station, StationStep]:
    """Labels are looked at once the judging is done: before, each new judgement may change them."""
    step = StationStep.ADJUDICATE
    if judging is None or not judged:
        return Station(StationName.LABEL, False, 0, None, []), step
    state = judging[1]
    done = released or (state.counted and not state.contested)
    return Station(StationName.LABEL, done, state.progress.labelled, state.progress.complete, [], state.counted), step


def _release(db: Session, actor: Actor, info: RoundInfo, judging: KnownJudging | None) -> tuple[Station, list[str]]:
    """Return the station, and the models trained on any release of the round, as far as *actor* may see them."""
    released = releases.of_validation(db, judging[0].id) if judging else []
    versions = [releases.version_refs(db, one.id) for one in released]
    trained = stations.trained_on(db, info.task, [version["train"] for version in versions if "train" in version])
    seen = {f"{task}/{name}" for task, name in list_names(db, actor, info.task)} if trained else set()
    trained = [ref for ref in trained if ref.partition("@")[0] in seen]
    refs = list(versions[0].values()) if versions else []
    return Station(StationName.RELEASE, bool(released), len(released), None, refs), trained


def _model(db: Session, actor: Actor, info: RoundInfo, trained: list[str]) -> tuple[Station, StationStep]:
    later = [one for one in manage.list_rounds(db, actor, info.task) if one.number > info.number] if trained else []
    aimed = any(model in trained for one in later for model in one.spec.targets.models)
    step = StationStep.NEXT_ROUND if trained else StationStep.TRAIN
    return Station(StationName.MODEL, aimed, len(trained), None, trained[:3]), step
