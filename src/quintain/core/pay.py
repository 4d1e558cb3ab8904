"""What the owner of a task promises to people, and how much may be spent."""

from __future__ import annotations

from collections.abc import Iterator

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.rounds import Money
from quintain.core.spec import N_, option, specification, table, tables, twice


@specification
class StepBonus:
    """A bonus for whoever reaches a *qualification*, paid once."""

    qualification: str = option(kinds.label(), help="the qualification")
    amount: int = option(kinds.money(), help="what reaching it pays, in minor units")


@specification
class ProlificSpec:
    """How this task works with Prolific. The key itself is the operator's, and is not written here."""

    secret: str = option(
        kinds.text(80, 1),
        title=N_("Name of the operator’s key"),
        help=N_("In the file that QUINTAIN_SECRETS names; its endpoint is that of the API."),
    )
    project: str = option(kinds.text(80), default="", title=N_("Project on Prolific"))
    hooks: str = option(
        kinds.text(80),
        default="",
        title=N_("Name of the key that signs messages"),
        help=N_("The secret of Prolific’s webhooks; empty where there are none."),
    )


@specification
class PaySpec:
    """What is promised and allowed. Amounts are in minor units of *currency*; a cap of 0 is none.

    A cap that is reached pauses new work. What was begun is finished and paid.
    """

    currency: str = option(kinds.currency(), default="USD", title=N_("Currency"), section="pay", written=True)
    hourly: int = option(
        kinds.money(),
        default=0,
        title=N_("Promised wage for an hour"),
        help=N_("You are told when measured times pay less; 0 promises nothing."),
        section="pay",
    )
    expert_hourly: int = option(
        kinds.money(),
        default=0,
        title=N_("Price of an expert’s hour"),
        help=N_("Counted in what a text costs; experts are not paid here."),
        section="pay",
    )
    worker_day_cap: int = option(kinds.money(), default=0, title=N_("Most for one worker in a day"), section="caps")
    worker_cap: int = option(kinds.money(), default=0, title=N_("Most for one worker in all"), section="caps")
    day_cap: int = option(kinds.money(), default=0, title=N_("Most for all in a day (UTC)"), section="caps")
    trial_cap: int = option(
        kinds.money(),
        default=0,
        title=N_("Most for all in one trial"),
        help=N_("Its rounds, tutorials, grades and bonuses; judging is the task’s."),
        section="caps",
    )
    project_cap: int = option(kinds.money(), default=0, title=N_("Most for all in all"), section="caps")
    training: tuple[int, ...] = option(
        kinds.numbers(kinds.whole(1, 10**6), 1000),
        default=(),
        title=N_("Training rounds"),
        help=N_("Numbers of rounds whose texts are not kept; costs are shown with and without them."),
        section="pay",
    )
    steps: tuple[StepBonus, ...] = option(tables(StepBonus), default=(), help="bonuses for qualifications, see below")
    prolific: ProlificSpec | None = option(
        table(ProlificSpec), default=None, title="Prolific", section="panel", control="prolific_"
    )

    def check(self) -> Iterator[Fault]:
        """Compare the caps: one that can never be reached is a slip."""
        for small, large in (
            ("worker_day_cap", "worker_cap"),
            ("worker_cap", "project_cap"),
            ("day_cap", "project_cap"),
            ("trial_cap", "project_cap"),
        ):
            if getattr(self, large) and getattr(self, small) > getattr(self, large):
                yield Fault("is more than '{large}'", large=large, field=small)
        for name in twice([step.qualification for step in self.steps]):
            yield Fault("'{name}' is given twice", name=name, field="steps")

    @property
    def promised(self) -> Money:
        """What an hour is to pay."""
        return Money(self.hourly, self.currency)
