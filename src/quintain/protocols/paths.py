"""Where stages lead: whether everybody can get through, and what cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quintain.core.errors import Fault
from quintain.core.spec import twice
from quintain.protocols.stages import END, Stage


def following(stages: Sequence[Stage], stage: Stage) -> str:
    """Name the stage that comes after *stage*, or the end."""
    if stage.next:
        return stage.next
    position = stages.index(stage)
    return stages[position + 1].name if position + 1 < len(stages) else END


def exits(stages: Sequence[Stage], stage: Stage) -> list[str]:
    """Name every stage that *stage* can lead to."""
    names = [following(stages, stage)]
    if stage.qualification is not None:
        names.append(stage.qualification.otherwise)
    return [name for name in dict.fromkeys(names) if name != END]


def reached(stages: Sequence[Stage], start: str, without: str = "") -> set[str]:
    """Name the stages that somebody at *start* can come to, itself included, who may not pass *without*."""
    places = {stage.name: stage for stage in stages}
    names: set[str] = set()
    ahead = [start]
    while ahead:
        name = ahead.pop()
        if name in places and name not in names and name != without:
            names.add(name)
            ahead += exits(stages, places[name])
    return names


def comes_before(stages: Sequence[Stage], first: str, second: str) -> bool:
    """Whether everybody who comes to *second* has been at *first*."""
    return first != second and second not in reached(stages, stages[0].name, without=first)


def leads_to(stages: Sequence[Stage], name: str) -> list[str]:
    """Name the stages from which somebody can still come to *name*."""
    return [stage.name for stage in stages if stage.name != name and name in reached(stages, stage.name)]


def expected(stages: Sequence[Stage], workers: int) -> dict[str, float]:
    """Return how many of so many *workers* come to each stage, if nobody leaves."""
    people = dict.fromkeys((stage.name for stage in stages), 0.0)
    people[stages[0].name] = float(workers)
    for stage in in_order(stages):
        here = people[stage.name]
        share = 1.0
        if stage.qualification is not None:
            share = 1.0 if stage.qualification.top is None else stage.qualification.top
            if stage.qualification.otherwise != END:
                people[stage.qualification.otherwise] += here * (1 - share)
        after = following(stages, stage)
        if after != END:
            people[after] += here * share
    return people


def in_order(stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages so that each comes after all that lead to it; there must be no cycle."""
    before = {stage.name: set(leads_to(stages, stage.name)) for stage in stages}
    return sorted(stages, key=lambda stage: (len(before[stage.name]), stages.index(stage)))


def faults_in_paths(stages: Sequence[Stage], workers: int) -> Iterator[Fault]:
    """Find what keeps people from getting through."""
    names = [stage.name for stage in stages]
    wrong = [*_names(stages, names)]
    if wrong:
        yield from wrong
        return
    round_ = [name for name in names if name in _beyond(stages, name)]
    if round_:
        yield Fault(
            "goes in a circle: {names}; somebody would never come to an end", names=" → ".join(round_), field="stages"
        )
        return
    reachable = reached(stages, names[0])
    lost = [name for name in names if name not in reachable]
    if lost:
        yield Fault("no way leads to {names} from the first stage", names=", ".join(lost), field="stages")
        return
    yield from _kinds(stages)
    yield from _references(stages)
    yield from _numbers(stages, workers)


def _beyond(stages: Sequence[Stage], name: str) -> set[str]:
    start = next(stage for stage in stages if stage.name == name)
    return {found for exit_ in exits(stages, start) for found in reached(stages, exit_)}


def _names(stages: Sequence[Stage], names: list[str]) -> Iterator[Fault]:
    for name in twice(names):
        yield Fault("'{name}' is given twice", name=name, field="stages")
    if END in names:
        yield Fault("'{name}' is what the end is called; choose another name", name=END, field="stages")
    for stage in stages:
        for name in exits(stages, stage):
            if name not in names:
                yield Fault(
                    "'{stage}' leads to '{name}', and there is no such stage",
                    stage=stage.name,
                    name=name,
                    field="stages",
                )


def _kinds(stages: Sequence[Stage]) -> Iterator[Fault]:
    for stage in stages[1:]:
        if stage.entry is not None:
            yield Fault("'{name}' is an entry, and only the first stage can be one", name=stage.name, field="stages")
    final = [stage.name for stage in stages if stage.writing is not None and stage.writing.final]
    if len(final) != 1:
        yield Fault(
            "{count} stages are 'final = true', and exactly one writing gives the arm's data",
            count=len(final),
            field="stages",
        )


def _references(stages: Sequence[Stage]) -> Iterator[Fault]:
    places = {stage.name: stage for stage in stages}
    for name in twice([stage.grading.of for stage in stages if stage.grading is not None]):
        yield Fault("the items of '{name}' are graded at two stages", name=name, field="stages")
    for stage in stages:
        grading = stage.grading
        if grading is not None:
            work = places.get(grading.of)
            written = work is not None and (
                work.writing is not None or (work.tutorial is not None and work.tutorial.written > 0)
            )
            if not written:
                yield Fault(
                    "'{name}' grades '{of}', which is no stage where something is written",
                    name=stage.name,
                    of=grading.of,
                    field="stages",
                )
            elif not comes_before(stages, grading.of, stage.name):
                yield _not_before(stage.name, grading.of)
        decided = stage.qualification or stage.promotion or stage.feedback
        if decided is not None:
            by = places.get(decided.by)
            if by is None or by.grading is None:
                yield Fault(
                    "'{name}' goes by '{by}', which is no grading", name=stage.name, by=decided.by, field="stages"
                )
            elif not comes_before(stages, decided.by, stage.name):
                yield _not_before(stage.name, decided.by)


def _not_before(name: str, earlier: str) -> Fault:
    return Fault(
        "'{name}' needs '{earlier}' before it, and one can come to it without",
        name=name,
        earlier=earlier,
        field="stages",
    )


def _numbers(stages: Sequence[Stage], workers: int) -> Iterator[Fault]:
    """Look for percentages that leave nobody, and for gradings that lack graders."""
    people = expected(stages, workers)
    promoted = 0.0
    for stage in in_order(stages):
        here = people[stage.name]
        top = stage.qualification.top if stage.qualification is not None else None
        if stage.promotion is not None:
            top = stage.promotion.top
            promoted += here * stage.promotion.top
        if top is not None and here * top < 1:
            yield Fault(
                "'{name}' takes {top:.0%} of the {here:.1f} who come to it out of {workers}, which leaves nobody",
                name=stage.name,
                top=top,
                here=here,
                workers=workers,
                field="stages",
            )
        if stage.grading is not None and stage.grading.by == "promoted" and promoted < stage.grading.grades + 1:
            yield Fault(
                "'{name}' wants {grades} grades of each item by promoted workers, of whom there will be "
                "{promoted:.0f}; nobody grades their own",
                name=stage.name,
                grades=stage.grading.grades,
                promoted=promoted,
                field="stages",
            )
