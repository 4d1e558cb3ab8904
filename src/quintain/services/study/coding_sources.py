"""What a coding's sample is drawn from: data sets, rounds by condition, trials by arm; and the drawing itself.

The same seed draws the same items in the same mixed order, whatever else there is.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.coding import CodingSpec
from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.collect.writing.checks import as_text
from quintain.services.collect.writing.list_attempts import owned_round
from quintain.services.data.content import scan
from quintain.services.data.datasets import get_version
from quintain.services.trial.reporting import final_rounds, stored_arms
from quintain.services.trial.trials import find_trial
from quintain.stats.near_duplicates import find_pairs
from quintain.store.blobs import Blobs
from quintain.store.queries.collect.notes import texts_of
from quintain.store.queries.study import coding as queries
from quintain.tasks.contract import kind_of

HARVESTED = "harvested"
ALIKE = 0.6  # from here on two texts are shown beside each other
MOST_COMPARED = 20_000  # texts among which nearly equal ones are looked for
MOST_ALIKE = 3
LONGEST_ALIKE = 500


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that may be drawn: *key* names it within its *arm*, *text* is a justification where those are coded.

    *attempt_id* is what somebody wrote, who may take it back; *alike_attempts* those that the texts in *alike* are of.
    """

    key: str
    arm: str
    inputs: Mapping[str, Any]
    answer: Any = None
    text: str = ""
    author_id: int | None = None
    alike: tuple[str, ...] = ()
    attempt_id: int | None = None
    alike_attempts: tuple[int | None, ...] = ()


def pinned(db: Session, actor: Actor, spec: CodingSpec) -> CodingSpec:
    """Return *spec* with the versions of its data sets, so that it means the same for ever."""
    sources = []
    for source in spec.sources:
        room, _, name = source.partition("/")
        if room == "data":
            version = get_version(db, actor, f"{spec.task}/{name}")
            sources.append(f"data/{version.dataset}@{version.number}")
        else:
            sources.append(source)
    return replace(spec, sources=tuple(dict.fromkeys(sources)))


def draw_items(db: Session, blobs: Blobs, actor: Actor, task: Task, spec: CodingSpec) -> list[Candidate]:
    """Draw the sample that *spec* asks for, mixed, each item with the texts that are nearly the same."""
    every: list[Candidate] = []
    sizes: Counter[str] = Counter()
    for source in spec.sources:
        try:
            candidates, left_out = _candidates(db, blobs, actor, task, spec, source)
        except NotFound as error:
            raise BadInput(faults=[Fault("{error}", error=error, field="sources")]) from error
        every += candidates
        sizes.update(candidate.arm for candidate in candidates)
        sizes.update(left_out)
    if not sizes.total():
        raise BadInput(faults=[Fault("there are no items to draw from", field="sources")])
    quotas = share_out(sizes, min(spec.items, sizes.total()), equal=spec.sharing == "equal")
    drawn = []
    for candidate in sorted(every, key=lambda candidate: _lot(spec.seed, candidate)):
        if quotas[candidate.arm]:
            quotas[candidate.arm] -= 1
            drawn.append(candidate)
    return _with_alike(task, drawn, every)


def share_out(sizes: Mapping[str, int], total_asked: int, *, equal: bool) -> dict[str, int]:
    """Share *total_asked* items out over arms: as many of each as long as they last, or as the arms are large.

    >>> share_out({"a": 100, "b": 100, "c": 3}, 23, equal=True)
    {'a': 10, 'b': 10, 'c': 3}
    >>> share_out({"a": 90, "b": 10}, 20, equal=False)
    {'a': 18, 'b': 2}
    """
    if not equal:
        total = sum(sizes.values())
        exact = {arm: total_asked * size / total for arm, size in sizes.items()}
        quotas = {arm: int(part) for arm, part in exact.items()}
        rest = sorted(exact, key=lambda arm: (quotas[arm] - exact[arm], arm))
        for arm in rest[: total_asked - sum(quotas.values())]:
            quotas[arm] += 1
        return quotas
    quotas = dict.fromkeys(sizes, 0)
    left, open_arms = total_asked, sorted(sizes, key=lambda arm: (sizes[arm], arm))
    while open_arms:
        arm = open_arms.pop(0)
        quotas[arm] = min(sizes[arm], left // (len(open_arms) + 1))
        left -= quotas[arm]
    return quotas


def _candidates(
    db: Session, blobs: Blobs, actor: Actor, task: Task, spec: CodingSpec, source: str
) -> tuple[list[Candidate], Mapping[str, int]]:
    """Return the items of a source; of a large one not all, and how many were left out of which arm."""
    room, _, name = source.partition("/")
    if room == "data":
        return _of_dataset(db, blobs, actor, task, spec, source)
    if room == "rounds":
        info = owned_round(db, actor, f"{task.name}/{name}")
        return _of_rounds(db, spec, [(source, info.id)], by_condition=True), {}
    trial = find_trial(db, task.name, name)
    if trial.data:
        if spec.part != "justifications":
            reason = Text(
                "the trial {name} was simulated, and its items have no text; its justifications can be coded", name=name
            )
            raise BadInput(faults=[Fault(reason, field="sources")])
        justified = [
            Candidate(item.name, _arm(spec, source, arm.name), {}, text=item.justification)
            for arm in stored_arms(blobs, trial)
            for item in arm.items
            if item.justification
        ]
        return justified, {}
    rounds = [(_arm(spec, source, arm), round_id) for arm, round_id in final_rounds(db, trial).items()]
    return _of_rounds(db, spec, rounds, by_condition=False), {}


def _arm(spec: CodingSpec, source: str, part: str) -> str:
    """Name an arm: by the part alone where all are of one source."""
    return part if len(spec.sources) == 1 else f"{source}: {part}"


def _of_dataset(
    db: Session, blobs: Blobs, actor: Actor, task: Task, spec: CodingSpec, source: str
) -> tuple[list[Candidate], Mapping[str, int]]:
    """Take examples of a data set; of a large one as many as may be drawn, by the seed, and no others."""
    table = scan(db, blobs, actor, f"{task.name}/{source.partition('/')[2]}", answers=spec.answers)
    ids = table.select("id").collect()["id"].to_list()
    every = len(ids)
    if every > MOST_COMPARED:
        ids = sorted(ids, key=lambda key: _hash(spec.seed, source, key))[: max(spec.items, MOST_COMPARED // 4)]
        table = table.filter(pl.col("id").is_in(ids))
    fields = [field.name for field in kind_of(task).fields(task)]
    candidates = [
        Candidate(
            row["id"], source, {name: row[name] for name in fields if row.get(name) is not None}, row.get("answer")
        )
        for row in table.collect().iter_rows(named=True)
    ]
    return candidates, {source: every - len(candidates)}


def _of_rounds(
    db: Session, spec: CodingSpec, rounds: Sequence[tuple[str, int]], *, by_condition: bool
) -> list[Candidate]:
    candidates = []
    for arm, round_id in rounds:
        written = queries.of_round(db, round_id)
        justifications = texts_of(db, [one.id for one in written], "justified") if spec.part == "justifications" else {}
        for attempt in written:
            if spec.part == "justifications" and not justifications.get(attempt.id):
                continue
            condition = (attempt.origin if attempt.origin == HARVESTED else attempt.condition) if by_condition else ""
            candidates.append(
                Candidate(
                    str(attempt.id),
                    _arm(spec, arm, condition) if condition else arm,
                    attempt.inputs,
                    attempt.target if spec.answers else None,
                    justifications.get(attempt.id, ""),
                    attempt.user_id,
                    attempt_id=attempt.id,
                )
            )
    return candidates


def _with_alike(task: Task, drawn: Sequence[Candidate], every: Sequence[Candidate]) -> list[Candidate]:
    """Put beside each item what is nearly the same among all, where these are not too many to compare."""
    among = list(every) if len(every) <= MOST_COMPARED else list(drawn)
    texts = [text_of(task, one.inputs, one.text) for one in among]
    at = {(one.arm, one.key): place for place, one in enumerate(among)}
    near: dict[int, list[int]] = {}
    for later, earlier in zip(*(side.tolist() for side in find_pairs(texts, threshold=ALIKE)), strict=True):
        near.setdefault(later, []).append(earlier)
        near.setdefault(earlier, []).append(later)
    completed = []
    for candidate in drawn:
        places = near.get(at[candidate.arm, candidate.key], [])[:MOST_ALIKE]
        alike = tuple(shorten(texts[place], LONGEST_ALIKE) for place in places)
        completed.append(
            replace(candidate, alike=alike, alike_attempts=tuple(among[place].attempt_id for place in places))
        )
    return completed


def shorten(text: str, most: int) -> str:
    """Cut a text that is longer than *most* characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def text_of(task: Task, inputs: Mapping[str, Any], text: str = "") -> str:
    """Return what somebody wrote, as one text: a justification, or the fields that are theirs."""
    if text:
        return text
    own = [item.name for item in kind_of(task).fields(task) if item.editable]
    return "\n".join(as_text(inputs[name]) for name in own if inputs.get(name) is not None)


def _lot(seed: int, candidate: Candidate) -> str:
    return _hash(seed, candidate.arm, candidate.key)


def _hash(seed: int, arm: str, key: str) -> str:
    return hashlib.sha256(f"{seed}/{arm}/{key}".encode()).hexdigest()
