"""How people from panels come into a trial, and go back: one door to take part, one to grade."""

from __future__ import annotations

from quintain.core import spec_kinds as kinds
from quintain.core.rounds import Entry
from quintain.core.spec import N_, option, specification, table


@specification
class TrialEntry:
    """The doors of a trial. Both may be of the same panel: its people have one account, whatever they do."""

    entry: Entry | None = option(
        table(Entry),
        default=None,
        title=N_("Taking part"),
        help=N_("The code is given after a session, or after the tutorial."),
        section="entry",
        control="entry_",
    )
    grading: Entry | None = option(
        table(Entry),
        default=None,
        title=N_("Grading"),
        help=N_("For people who were promoted, and for experts."),
        section="grading",
        control="grading_",
    )
    experts: bool = option(
        kinds.flag(),
        default=False,
        title=N_("Who comes to grade is an expert"),
        help=N_("They then grade in this trial, without any role; not who takes part in it."),
        section="batch",
    )
    expert_pay: int = option(
        kinds.money(),
        default=0,
        title=N_("What a grade pays such an expert"),
        help=N_("In the currency of the protocols. 0 where the panel’s own reward pays them."),
        section="batch",
    )
    batch: int = option(
        kinds.whole(1, 1000),
        default=10,
        title=N_("Grades after which the code is given"),
        help=N_("Or when nothing is left to grade."),
        section="batch",
    )
