"""A protocol: the stages that people of one arm go through, from entry to the final round.

    name = "baseline"
    [[stages]]
    name = "writing"
    [stages.writing]
    final = true
    items = 2

A stage leads to the one after it, unless it names another.
"""

from __future__ import annotations

from collections.abc import Iterator

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import option, specification, table, tables
from quintain.protocols.paths import faults_in_paths, following
from quintain.protocols.rubric import FIGURE_2, RubricQuestion
from quintain.protocols.stages import Stage, WritingStage


@specification
class ValidationPlan:
    """How the final items of all arms are judged: in one pool, by judges who never see the arm."""

    votes: int = option(kinds.whole(1, 100), default=2, help="judgements of most items")
    many: int = option(kinds.whole(1, 100), default=10, help="judgements of a sample of each arm's items")
    sample: int = option(kinds.whole(0, 10**6), default=500, help="how many items of each arm are in that sample")
    setting: int = option(kinds.whole(1, 99), default=4, help="of many votes, those that set the label; others measure")
    writer: bool = option(kinds.flag(), default=True, help="the writer's label is a vote, too")
    pay: int = option(kinds.money(), default=75, help="what `per` judgements pay")
    per: int = option(kinds.whole(1, 100), default=2, help="judgements that are paid together")
    quiz: int = option(kinds.money(), default=250, help="what the entry quiz pays")
    gold_bonus: int = option(kinds.money(), default=50, help="for every 3 of 4 known items that were judged right")

    def check(self) -> Iterator[Fault]:
        """Compare the numbers of votes."""
        if self.many < self.votes:
            yield Fault("is less than 'votes', which every item gets", field="many")
        if self.sample and self.setting >= self.many:
            yield Fault("leaves none of 'many' votes to measure people with", field="setting")


@specification
class Protocol:
    """A protocol. Read with `quintain.protocols.reading.read_protocol`, which also follows the stages."""

    name: str = option(kinds.name(40), help="what the arm is called")
    stages: tuple[Stage, ...] = option(tables(Stage, least=1), help="in their order")
    title: str = option(kinds.text(200), default="", help="in a few words")
    about: str = option(kinds.text(5000), default="", help="where it is from, and what is special about it")
    workers: int = option(
        kinds.whole(1, 10**6), default=150, help="people expected in the arm; percentages are checked"
    )
    currency: str = option(kinds.currency(), default="USD", help="of all amounts")
    strata: tuple[str, ...] = option(
        kinds.texts(5),
        default=(),
        help="what is known of people by which arms are balanced, such as country",
    )
    question_types: tuple[str, ...] = option(
        kinds.texts(20), default=(), help="types of questions; each session's items must be of different ones"
    )
    rubric: tuple[RubricQuestion, ...] = option(
        tables(RubricQuestion), default=(), help="for graders; where there is none, by the kind of task"
    )
    validation: ValidationPlan = option(table(ValidationPlan), default=ValidationPlan())

    @property
    def questions(self) -> tuple[RubricQuestion, ...]:
        """What graders are asked; that of the paper, where neither the protocol nor a task says anything else."""
        return self.rubric or FIGURE_2

    def stage(self, name: str) -> Stage:
        """Return the stage called *name*."""
        return next(stage for stage in self.stages if stage.name == name)

    def follows(self, stage: Stage) -> str:
        """Name the stage that comes after *stage*, or the end."""
        return following(self.stages, stage)

    @property
    def final(self) -> Stage:
        """The writing whose items are the arm's data."""
        return next(stage for stage in self.stages if stage.writing is not None and stage.writing.final)

    @property
    def data(self) -> WritingStage:
        """What is asked in the final writing."""
        stage = self.final.writing
        if stage is None:
            raise ValueError("a protocol is read with its final writing")
        return stage

    def check(self) -> Iterator[Fault]:
        """Follow the stages, and compare the types with what is written in a session."""
        for stage in self.stages:
            writes = stage.writing is not None or (stage.tutorial is not None and stage.tutorial.contexts > 0)
            items = stage.work.items if stage.work is not None and writes else 0
            if self.question_types and items > len(self.question_types):
                yield Fault(
                    "'{stage}' has {items} items in a session, and there are only {types} types for them to differ in",
                    stage=stage.name,
                    items=items,
                    types=len(self.question_types),
                    field="question_types",
                )
        yield from faults_in_paths(self.stages, self.workers)
