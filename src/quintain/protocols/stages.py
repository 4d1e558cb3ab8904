"""The stages that a protocol is made of: each is of one kind, and has that kind's table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import any_tables, option, specification, table, tables

Graders = Literal["experts", "promoted"]
END = "end"


@specification
class EntryStage:
    """Who may come in: rules of qualifications, as rounds have them."""

    qualifications: tuple[Mapping[str, Any], ...] = option(any_tables(), default=(), help="rules, as in a round's file")
    consent: str = option(kinds.text(50_000), default="", help="what people agree to first")


@specification
class Pair:
    """One step of a quiz: two candidates side by side, of which one is the better in one respect."""

    ask: str = option(kinds.text(500, 1), help="such as: Which question is less ambiguous?")
    first: str = option(kinds.text(5000, 1), help="one candidate")
    second: str = option(kinds.text(5000, 1), help="the other candidate")
    right: Literal["first", "second"] = option(kinds.one_of(("first", "second")), help="which of them is meant")
    context: str = option(kinds.text(20_000), default="", help="the passage that both are about")
    why: str = option(kinds.text(2000), default="", help="shown after the answer, where the quiz tells")


@specification
class TutorialQuiz:
    """A quiz of the tutorial; one with feedback teaches, one without measures."""

    name: str = option(kinds.name(40), help="what it is called")
    pairs: tuple[Pair, ...] = option(tables(Pair, least=1), help="its steps")
    feedback: bool = option(kinds.flag(), default=False, help="say at once whether an answer was right, and why")


@specification
class TutorialStage:
    """Quizzes and writing exercises."""

    quizzes: tuple[TutorialQuiz, ...] = option(tables(TutorialQuiz), default=(), help="in their order")
    contexts: int = option(kinds.whole(0, 20), default=0, help="contexts to write for, as an exercise")
    items: int = option(kinds.whole(1, 20), default=2, help="items to write for each of them")
    examples: str = option(kinds.text(50_000), default="", help="good and bad examples, in Markdown")
    minutes: float = option(kinds.number(0, 600, above=True), default=30.0, help="how long it takes")
    pay: int = option(kinds.money(), default=0, help="what it pays")

    def check(self) -> Iterator[Fault]:
        """Look for tutorials in which nothing is done."""
        if not self.quizzes and not self.contexts:
            yield Fault("has no quiz and no context to write for, so that there is nothing to do", field="contexts")

    @property
    def written(self) -> int:
        """How many items one person writes."""
        return self.contexts * self.items


@specification
class WritingStage:
    """A round of writing: *items* for each context, one context in a session."""

    items: int = option(kinds.whole(1, 100), default=2, help="items for one context, which are one session")
    sessions: int = option(kinds.whole(1, 10_000), default=1, help="sessions that one person may do")
    least: int = option(kinds.whole(1, 10_000), default=1, help="sessions that it takes to go on")
    wanted: int = option(kinds.whole(0, 10**7), default=0, help="items after which no session begins; 0 for no end")
    target: bool = option(
        kinds.flag(), default=False, help="a model is to be fooled; without one nothing is asked and no verdict shown"
    )
    attempts: int = option(kinds.whole(1, 100), default=10, help="tries in a session, where there is a target")
    justification: bool = option(kinds.flag(), default=False, help="1 to 3 sentences on what makes the item hard")
    final: bool = option(kinds.flag(), default=False, help="its items are the arm's data: they are judged and reported")
    minutes: float = option(kinds.number(0, 600, above=True), default=13.5, help="how long a session takes")
    pay: int = option(kinds.money(), default=0, help="what a session pays")
    fooling_bonus: int = option(kinds.money(), default=0, help="for each item that fooled the model and was confirmed")

    def check(self) -> Iterator[Fault]:
        """Compare what is asked with what is allowed."""
        if self.least > self.sessions:
            yield Fault("is more than the sessions that one person may do", field="least")
        if self.target and self.items > self.attempts:
            yield Fault("is fewer than the items of a session", field="attempts")

    @property
    def item_pay(self) -> float:
        """What one item costs, in minor units."""
        return self.pay / self.items


@specification
class GradingStage:
    """People grade the items of an earlier stage by the rubric; nobody grades their own."""

    of: str = option(kinds.name(40), help="the stage whose items are graded")
    by: Graders = option(kinds.one_of(("experts", "promoted")), default="experts", help="who grades")
    grades: int = option(kinds.whole(1, 50), default=3, help="grades for each item")
    least: int = option(kinds.whole(0, 1000), default=4, help="items of each person that are graded; 0 for all")
    minutes: float = option(kinds.number(0, 600, above=True), default=2.5, help="how long one grade takes")
    pay: int = option(kinds.money(), default=0, help="what one grade pays a promoted grader")
    bonus: int = option(kinds.money(), default=0, help="what having graded in the round adds for a promoted grader")
    checks: int = option(
        kinds.whole(0, 1000),
        default=0,
        help="one of so many items that a promoted grader gets is one that experts have graded, unseen; 0 for none",
    )
    hourly: int = option(kinds.money(), default=0, help="what an expert's hour costs; for the report")

    def check(self) -> Iterator[Fault]:
        """Compare what is asked with who grades."""
        if self.checks and self.by == "experts":
            yield Fault("is for gradings by promoted workers, who are checked against experts", field="checks")


@specification
class QualificationStage:
    """Who goes on: the best by their grades; the others go to *otherwise*."""

    by: str = option(kinds.name(40), help="the grading that decides")
    top: float | None = option(kinds.fraction(above=True), default=None, help="the share that goes on, such as 0.6")
    at_least: float | None = option(kinds.number(-1000, 1000), default=None, help="the mean score it takes to go on")
    answerable: float = option(
        kinds.fraction(), default=0.5, help="the share of a person's items that must be answerable"
    )
    otherwise: str = option(kinds.name(40), default=END, help="the stage for the others; `end` for none")

    def check(self) -> Iterator[Fault]:
        """See to it that something decides."""
        if (self.top is None) == (self.at_least is None):
            yield Fault("give either 'top', a share, or 'at_least', a score", field="top")


@specification
class PromotionStage:
    """The best become graders as well; everybody goes on."""

    by: str = option(kinds.name(40), help="the grading that decides")
    top: float = option(kinds.fraction(above=True), default=0.2, help="the share that is promoted")


@specification
class FeedbackStage:
    """A letter to everybody who gets here, made from the grades; the owner can edit it before it is sent."""

    by: str = option(kinds.name(40), help="the grading that it tells about")


@specification
class BonusStage:
    """An amount for everybody who gets here."""

    amount: int = option(kinds.money(), help="how much")
    reason: str = option(kinds.text(200), default="", help="what for")


@specification
class Stage:
    """One stage: its name, the table of its kind, and where it leads."""

    name: str = option(kinds.name(40), help="what it is called")
    next: str = option(kinds.name(40), default="", help="the stage that follows; the one below it, where none is named")
    entry: EntryStage | None = option(table(EntryStage), default=None)
    tutorial: TutorialStage | None = option(table(TutorialStage), default=None)
    writing: WritingStage | None = option(table(WritingStage), default=None)
    grading: GradingStage | None = option(table(GradingStage), default=None)
    qualification: QualificationStage | None = option(table(QualificationStage), default=None)
    promotion: PromotionStage | None = option(table(PromotionStage), default=None)
    feedback: FeedbackStage | None = option(table(FeedbackStage), default=None)
    bonus: BonusStage | None = option(table(BonusStage), default=None)

    def check(self) -> Iterator[Fault]:
        """See to it that it is of one kind."""
        tables = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(tables) != 1:
            yield Fault(
                "stage '{name}' has {count} of the tables {kinds}, and a stage is of exactly one kind",
                name=self.name,
                count=len(tables),
                kinds=", ".join(f"[stages.{kind}]" for kind in KINDS),
                field="name",
            )

    @property
    def kind(self) -> str:
        """Which kind it is of."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def work(self) -> TutorialStage | WritingStage | None:
        """What people do here, if it is work of theirs."""
        return self.tutorial or self.writing


KINDS = ("entry", "tutorial", "writing", "grading", "qualification", "promotion", "feedback", "bonus")
