"""Rubrics: what graders are asked of an item, and the number that their answers add up to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import option, specification, tables, twice

Part = Literal["answerable", "difficulty", "creativity", "distractors", "other"]


@specification
class RubricOption:
    """One answer to a question of a rubric, and what it is worth."""

    name: str = option(kinds.name(40), help="what the option is called in files")
    say: str = option(kinds.text(200, 1), help="what graders read")
    value: float = option(kinds.number(-100, 100), help="its number; the sum over all questions ranks workers")
    good: bool = option(kinds.flag(), default=False, help="it says that the item has what is asked about")


@specification
class RubricQuestion:
    """One question of a rubric."""

    name: str = option(kinds.name(40), help="what the question is called in files")
    ask: str = option(kinds.text(500, 1), help="what graders read")
    options: tuple[RubricOption, ...] = option(tables(RubricOption), help="the answers to choose from")
    part: Part = option(
        kinds.one_of(("answerable", "difficulty", "creativity", "distractors", "other")),
        default="other",
        help="what a letter of feedback uses it for; `answerable` decides who can qualify",
    )
    weight: float = option(kinds.number(0, 100), default=1.0, help="what its numbers are multiplied with")

    def check(self) -> Iterator[Fault]:
        """Look for questions that ask nothing."""
        if len(self.options) < 2:
            yield Fault("has fewer than two options, so that every grade would be the same", field="options")
        for name in twice([one.name for one in self.options]):
            yield Fault("'{name}' is given twice", name=name, field="options")
        good = sum(one.good for one in self.options)
        if self.part in {"answerable", "distractors"} and not 0 < good < len(self.options):
            yield Fault("some options must be 'good = true', and not all of them", field="options")

    def option(self, name: str) -> RubricOption | None:
        """Return the option called *name*, if there is one."""
        return next((option for option in self.options if option.name == name), None)


def _question(name: str, ask: str, part: Part, *options: RubricOption) -> RubricQuestion:
    return RubricQuestion(name, ask, options, part)


# Figure 2 of Nangia, Sugawara et al. (2021). The paper gives no numbers: each question counts from 0 to 1.
FIGURE_2 = (
    _question(
        "answerable",
        "Is the question answerable and unambiguous?",
        "answerable",
        RubricOption("yes", "Yes", 1.0, good=True),
        RubricOption("no", "No", 0.0),
        RubricOption("wrong-label", "Yes, but the label is wrong", 0.0),
    ),
    _question(
        "reading",
        "How closely do you think someone would need to read the passage to correctly answer the question?",
        "difficulty",
        RubricOption("none", "Wouldn’t need to read it", 0.0),
        RubricOption("sentence", "Quickly skim a few words or one sentence", 0.25),
        RubricOption("sentences", "Quickly skim a few sentences", 0.5),
        RubricOption("whole", "Read the whole passage", 0.75),
        RubricOption("twice", "May need to read the passage more than once", 1.0),
    ),
    _question(
        "creative",
        "How creative do you think the question is?",
        "creativity",
        RubricOption("not", "Not creative", 0.0),
        RubricOption("little", "A little creative", 0.33),
        RubricOption("fairly", "Fairly creative", 0.67),
        RubricOption("very", "Very creative", 1.0),
    ),
    _question(
        "distractors",
        "Does the example have distracting answer choices?",
        "distractors",
        RubricOption("yes", "Yes", 1.0, good=True),
        RubricOption("no", "No", 0.0),
    ),
)

Answers = Mapping[str, str]


def faults_in(rubric: tuple[RubricQuestion, ...], answers: Answers) -> Iterator[Fault]:
    """Find what is wrong with one grade: every question has one of its options."""
    for question in rubric:
        answer = answers.get(question.name)
        if answer is None:
            yield Fault("is not answered", field=question.name)
        elif question.option(answer) is None:
            known = ", ".join(one.name for one in question.options)
            yield Fault("'{said}' is none of its options: {known}", said=answer, known=known, field=question.name)
    for name in answers:
        if all(name != question.name for question in rubric):
            yield Fault("the rubric has no such question", field=name)


def score(rubric: tuple[RubricQuestion, ...], answers: Answers) -> float:
    """Add up the numbers of one grade.

    >>> score(FIGURE_2, {"answerable": "yes", "reading": "whole", "creative": "not", "distractors": "no"})
    1.75
    """
    total = 0.0
    for question in rubric:
        chosen = question.option(answers[question.name])
        total += question.weight * chosen.value if chosen else 0.0
    return total


def value(rubric: tuple[RubricQuestion, ...], answers: Answers, part: Part) -> float | None:
    """Return the mean number of the questions of one *part*; nothing where the rubric has none."""
    options = [one.option(answers[one.name]) for one in rubric if one.part == part]
    values = [one.value for one in options if one is not None]
    return sum(values) / len(values) if values else None


def is_good(rubric: tuple[RubricQuestion, ...], answers: Answers, part: Part) -> bool | None:
    """Whether all questions of a *part* were answered well; nothing where the rubric has none."""
    options = [one.option(answers[one.name]) for one in rubric if one.part == part]
    return all(one.good for one in options if one is not None) if options else None
