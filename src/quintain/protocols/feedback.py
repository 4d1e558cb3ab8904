"""A letter of feedback, made from the grades of somebody's items (Nangia, Sugawara et al. 2021, appendix A)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from quintain.core.records.trial import Letter
from quintain.core.texts import Text
from quintain.protocols.engine import INSTANT, Course
from quintain.protocols.ranking import is_answerable, item_score, qualify
from quintain.protocols.rubric import Part, RubricQuestion, is_good, value
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import END, Stage
from quintain.protocols.state import Decision, Item


def letter_of(course: Course, stage: Stage, person: str, decision: Decision | None = None) -> Letter:
    """Make the letter that somebody gets at a stage of feedback, or when a qualification turns them away.

    It tells what was decided about them or, before that is so, the *decision* that is given.
    """
    told = stage.feedback or stage.qualification
    if told is None:
        raise ValueError(f"{stage.name} sends no letter")
    rubric, by = course.protocol.rubric, told.by
    sample = course.sample(course.protocol.stage(by))
    everybody = [course.arm.items[name] for name in sorted(sample.names) if course.arm.items[name].grades]
    own = [course.arm.items[name] for name in sample.of(person) if course.arm.items[name].grades]
    quoted = [one for one in own if one.name not in course.arm.gone]  # nobody reads again what was taken back
    ranked = sorted(quoted, key=lambda one: (-(item_score(rubric, one) or 0.0), one.name))
    unclear = [one.name for one in quoted if not is_answerable(rubric, one)]
    decision = decision or _decision(course, by, person)
    after, bonus = _ahead(course.protocol, stage) if stage.feedback is not None else (END, 0)
    return Letter(
        person,
        stage.name,
        len(own),
        _mean(rubric, own, "difficulty"),
        _mean(rubric, everybody, "difficulty"),
        _mean(rubric, own, "creativity"),
        _mean(rubric, everybody, "creativity"),
        _share(rubric, own, "distractors"),
        sum(not is_answerable(rubric, one) for one in own) / len(own) if own else None,
        unclear,
        ranked[0].name if ranked else None,
        ranked[-1].name if len(ranked) > 1 else None,
        decision.passed if decision else True,
        decision.reason if decision else "qualified",
        course.person(person).promoted,
        bonus,
        course.protocol.currency,
        after,
    )


def not_going_on(course: Course, stage: Stage) -> dict[str, Decision]:
    """Say whom a qualification would turn away for good if it were closed now; nobody until all is graded."""
    rule = stage.qualification
    if rule is None or stage.name in course.arm.closed or course.hindrances_before(stage.name):
        return {}
    if not _is_the_end(course.protocol, rule.otherwise):
        return {}
    found = qualify(stage.name, rule, course.standings(rule.by, course.at(stage.name)), course.seed)
    return {name: one for name, one in found.items() if not one.passed}


def sentences(letter: Letter, money: str) -> list[Text]:
    """Say a letter in sentences; *money* is its bonus, as it is written."""
    found = []
    if not letter.items:
        found.append(Text("Thank you for your work. None of your items was graded in this round."))
    for name, own, mean in (
        (Text("Difficulty"), letter.difficulty, letter.mean_difficulty),
        (Text("Creativity"), letter.creativity, letter.mean_creativity),
    ):
        if own is not None and mean is not None:
            found.append(
                Text("{name}: {own:.2f}; the mean of this round is {mean:.2f}.", name=name, own=own, mean=mean)
            )
    if letter.distracting is not None:
        found.append(
            Text("{share:.0%} of your items were found to have distracting answers.", share=letter.distracting)
        )
    if letter.ambiguous_share is not None:
        found.append(Text("{share:.0%} were found ambiguous.", share=letter.ambiguous_share))
    found.append(REASONS.get(letter.reason, REASONS["qualified"]))
    if letter.promoted:
        found.append(Text("Your items were among the best. From now on you also grade the items of others."))
    if letter.bonus:
        found.append(Text("You get a bonus of {money}.", money=money))
    if letter.next != END:
        found.append(Text("What comes next: {stage}.", stage=letter.next))
    return found


REASONS = {
    "qualified": Text("You have qualified for the next round."),
    "readmitted": Text("We have looked at it again, and you go on to the next round."),
    "ungraded": Text("You go on to the next round."),
    "unanswerable": Text("You do not go on, because too many of your items could not be answered."),
    "gone": Text("You do not go on, because nothing that you wrote was left to be graded."),
    "score": Text("You do not go on, because your items did not reach the score that this takes."),
    "place": Text("You do not go on, because others’ items had higher scores."),
}


def _decision(course: Course, by: str, person: str) -> Decision | None:
    """Give what a qualification by the same grading decided about somebody."""
    for stage in course.protocol.stages:
        if stage.qualification is not None and stage.qualification.by == by:
            return course.arm.decisions.get(stage.name, {}).get(person)
    return None


def _is_the_end(protocol: Protocol, name: str) -> bool:
    """Say whether nothing is done or waited for from a stage on."""
    while name != END and protocol.stage(name).kind in INSTANT:
        name = protocol.follows(protocol.stage(name))
    return name == END


def _ahead(protocol: Protocol, stage: Stage) -> tuple[str, int]:
    """Name what comes after a stage, and the bonuses on the way there."""
    total, name = 0, protocol.follows(stage)
    while name != END:
        found = protocol.stage(name)
        if found.bonus is None:
            break
        total += found.bonus.amount
        name = protocol.follows(found)
    return name, total


def _mean(rubric: tuple[RubricQuestion, ...], items: Sequence[Item], part: Part) -> float | None:
    values = [value(rubric, one, part) for item in items for one in item.grades.values()]
    known = [one for one in values if one is not None]
    return fmean(known) if known else None


def _share(rubric: tuple[RubricQuestion, ...], items: Sequence[Item], part: Part) -> float | None:
    """Give the share of items that at least half of their graders found good in a part."""
    found = []
    for item in items:
        told = [one for one in (is_good(rubric, grade, part) for grade in item.grades.values()) if one is not None]
        if told:
            found.append(2 * sum(told) >= len(told))
    return fmean(found) if found else None
