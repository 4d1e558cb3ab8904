"""A letter of feedback, made from the grades of somebody's items (Nangia, Sugawara et al. 2021, appendix A).

It speaks in the words of the rubric: what graders were asked, and what they answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from quintain.core.records.trial import ChoiceShare, Letter, LetterFigure, LetterItem
from quintain.core.texts import Text, joined
from quintain.protocols.engine import INSTANT, Course
from quintain.protocols.ranking import is_answerable, item_score, qualify
from quintain.protocols.rubric import RubricQuestion
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import END, Stage
from quintain.protocols.state import Decision, Item

MOST_QUOTED = 3  # items that are quoted as the best or the weakest
SAME = 1e-9

Rubric = tuple[RubricQuestion, ...]


def letter_of(course: Course, stage: Stage, person: str, decision: Decision | None = None) -> Letter:
    """Make the letter that somebody gets at a stage of feedback, or when a qualification turns them away.

    It tells what was decided about them or, before that is so, the *decision* that is given.
    """
    source = stage.feedback or stage.qualification
    if source is None:
        raise ValueError(f"{stage.name} sends no letter")
    rubric, by = course.protocol.questions, source.by
    sample = course.sample(course.protocol.stage(by))
    everybody = [course.arm.items[name] for name in sorted(sample.names) if course.arm.items[name].grades]
    own = [course.arm.items[name] for name in sample.of(person) if course.arm.items[name].grades]
    quoted = [item for item in own if item.name not in course.arm.gone]  # nobody reads again what was taken back
    best, worst = _ends(rubric, quoted)
    decision = decision or _decision(course, by, person)
    after, bonus = _ahead(course.protocol, stage) if stage.feedback is not None else (END, 0)
    return Letter(
        person,
        stage.name,
        len(own),
        sum(len(item.grades) for item in own),
        [_figure(question, own, everybody) for question in rubric] if own else [],
        [_unclear(rubric, item) for item in quoted if not is_answerable(rubric, item)],
        best,
        worst,
        _top(rubric),
        decision.passed if decision else True,
        decision.reason if decision else "qualified",
        course.person(person).promoted,
        bonus,
        course.protocol.currency,
        after,
    )


def not_going_on(course: Course, stage: Stage) -> dict[str, Decision]:
    """Return whom a qualification would turn away for good if it were closed now; nobody until all is graded."""
    rule = stage.qualification
    if rule is None or stage.name in course.arm.closed or course.hindrances_before(stage.name):
        return {}
    if not _is_the_end(course.protocol, rule.otherwise):
        return {}
    decisions = qualify(stage.name, rule, course.standings(rule.by, course.at(stage.name)), course.seed)
    return {name: decision for name, decision in decisions.items() if not decision.passed}


def figures_in_words(letter: Letter) -> list[Text]:
    """Return what graders found in somebody's items: whose, by how many grades, and on which scale."""
    if not letter.items:
        return [Text("Thank you for your work. None of your items was graded in this round.")]
    return [
        Text.plural(
            "{n} grade of {items} counts here.",
            "{n} grades of {items} count here.",
            n=letter.grades,
            items=Text.plural("{n} item of yours", "{n} items of yours", n=letter.items),
        ),
        *(_on_a_scale(figure) if figure.own is not None else _in_shares(figure) for figure in letter.figures),
    ]


def decision_in_words(letter: Letter, protocol: Protocol, money: str) -> list[Text]:
    """Return what was decided, and what comes next; *money* is the letter's bonus, as it is written."""
    lines = [reason_in_words(letter.reason, protocol.questions)]
    if letter.promoted:
        lines.append(Text("Your items were among the best. From now on you also grade the items of others."))
    if letter.bonus:
        lines.append(Text("You get a bonus of {money}.", money=money))
    if letter.next != END:
        lines += _next(protocol.stage(letter.next))
    return lines


def reason_in_words(reason: str, rubric: Rubric) -> Text:
    """Return why somebody goes on or not; where answers to a question decided, in the words of that question."""
    question = next((each for each in rubric if each.part == "answerable"), None)
    if reason == "unanswerable" and question is not None:
        good = joined([Text("“{say}”", say=option.say) for option in question.options if option.good], ", ")
        return Text(
            "You do not go on, because too few of your items got {good} on the question “{ask}”",
            good=good,
            ask=question.ask,
        )
    return REASONS.get(reason, REASONS["qualified"])


REASONS = {
    "qualified": Text("You have qualified for the next round."),
    "readmitted": Text("We have looked at it again, and you go on to the next round."),
    "ungraded": Text("You go on to the next round."),
    "unanswerable": Text("You do not go on, because too few of your items could be used."),
    "gone": Text("You do not go on, because nothing that you wrote was left to be graded."),
    "score": Text("You do not go on, because your items did not reach the score that this takes."),
    "place": Text("You do not go on, because others’ items had higher scores."),
}


def _on_a_scale(figure: LetterFigure) -> Text:
    return Text(
        "“{ask}” Your items: {own:.2f}, all items of this round: {mean:.2f}, on average, on a scale from {low:g} "
        "(“{least}”) to {high:g} (“{most}”).",
        ask=figure.ask,
        own=figure.own,
        mean=figure.mean,
        low=figure.low,
        least=figure.choices[0].say,
        high=figure.high,
        most=figure.choices[-1].say,
    )


def _in_shares(figure: LetterFigure) -> Text:
    return Text(
        "“{ask}” Of the grades of your items: {shares}. Of those of all items of this round: {others}.",
        ask=figure.ask,
        shares=joined([Text("“{say}” {own:.0%}", say=each.say, own=each.own) for each in figure.choices], ", "),
        others=joined([Text("“{say}” {own:.0%}", say=each.say, own=each.all) for each in figure.choices], ", "),
    )


def _next(stage: Stage) -> list[Text]:
    """Return what is to be done next, by what it is: a stage's name is for its owner."""
    rule = stage.writing
    if rule is None:
        return []
    items = Text.plural("{n} item", "{n} items", n=rule.items)
    return [
        Text.plural(
            "What comes next: you write again, {items} in {n} session.",
            "What comes next: you write again, {items} in each of up to {n} sessions.",
            n=rule.sessions,
            items=items,
        )
    ]


def _figure(question: RubricQuestion, own: Sequence[Item], everybody: Sequence[Item]) -> LetterFigure:
    """Add up what was answered to a question: shares where some options are good and others are not, else a mean."""
    options = sorted(question.options, key=lambda option: option.value) if _is_scale(question) else question.options
    mine, others = _answers(question, own), _answers(question, everybody)
    choices = [ChoiceShare(option.say, _share(mine, option.name), _share(others, option.name)) for option in options]
    values = {option.name: option.value for option in question.options}
    scale = _is_scale(question) and bool(mine)
    return LetterFigure(
        question.ask,
        choices,
        fmean(values[name] for name in mine.elements()) if scale else None,
        fmean(values[name] for name in others.elements()) if scale else None,
        min(values.values()),
        max(values.values()),
    )


def _is_scale(question: RubricQuestion) -> bool:
    return not any(option.good for option in question.options)


def _answers(question: RubricQuestion, items: Sequence[Item]) -> Counter[str]:
    return Counter(grade[question.name] for item in items for grade in item.grades.values() if question.name in grade)


def _share(answers: Counter[str], name: str) -> float:
    total = answers.total()
    return answers[name] / total if total else 0.0


def _unclear(rubric: Rubric, item: Item) -> LetterItem:
    """Name an item that graders found wanting, with what they said, the most frequent answer first."""
    quotes = []
    for question in rubric:
        answers = _answers(question, [item])
        for option in sorted(question.options, key=lambda option: -answers[option.name]):
            if question.part == "answerable" and answers[option.name] and not option.good:
                values = {"say": option.say, "count": answers[option.name], "n": answers.total()}
                quotes.append(Text("“{say}” ({count} of {n})", **values))
    return LetterItem(item.name, item_score(rubric, item) or 0.0, joined(quotes, ", "))


def _ends(rubric: Rubric, items: Sequence[Item]) -> tuple[list[LetterItem], list[LetterItem]]:
    """Return the items with the highest score and with the lowest, if not all are equal; of a single one, that."""
    rated = sorted(
        (LetterItem(item.name, item_score(rubric, item) or 0.0) for item in items), key=lambda each: each.item
    )
    if not rated:
        return [], []
    high, low = max(each.score for each in rated), min(each.score for each in rated)
    if high - low < SAME:
        return (rated, []) if len(rated) == 1 else ([], [])
    best = [each for each in rated if high - each.score < SAME]
    worst = [each for each in rated if each.score - low < SAME]
    return best if len(best) <= MOST_QUOTED else [], worst if len(worst) <= MOST_QUOTED else []


def _top(rubric: Rubric) -> float:
    """Return which score an item can have at most."""
    return sum(question.weight * max(option.value for option in question.options) for question in rubric)


def _decision(course: Course, by: str, person: str) -> Decision | None:
    """Return what a qualification by the same grading decided about somebody."""
    for stage in course.protocol.stages:
        if stage.qualification is not None and stage.qualification.by == by:
            return course.arm.decisions.get(stage.name, {}).get(person)
    return None


def _is_the_end(protocol: Protocol, name: str) -> bool:
    """Whether nothing is done or waited for from a stage on."""
    while name != END and protocol.stage(name).kind in INSTANT:
        name = protocol.follows(protocol.stage(name))
    return name == END


def _ahead(protocol: Protocol, stage: Stage) -> tuple[str, int]:
    """Name what comes after a stage, and the bonuses on the way there."""
    total, name = 0, protocol.follows(stage)
    while name != END:
        next_stage = protocol.stage(name)
        if next_stage.bonus is None:
            break
        total += next_stage.bonus.amount
        name = protocol.follows(next_stage)
    return name, total
