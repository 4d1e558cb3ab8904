"""A contrast project: which test items experts edit, and what is asked of their edits."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Literal

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import N_, option, specification, table

Pick = Literal["random", "tag", "label"]
Measure = Literal["tokens", "characters"]
Writers = Literal["experts", "workers"]
MOST_PIVOTS = 5000


class ProjectState(StrEnum):
    """Where a project stands."""

    OPEN = "open"
    CLOSED = "closed"


class PivotState(StrEnum):
    """What became of a pivot: nobody has it, it is done, skipped, or a model's answer to it was looked at."""

    FREE = "free"
    DONE = "done"
    SKIPPED = "skipped"
    SCOUTED = "scouted"


class VariantState(StrEnum):
    """Where a variant stands: to be checked, accepted, contested, rejected, or taken back by its author."""

    WRITTEN = "written"
    ACCEPTED = "accepted"
    CONTESTED = "contested"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


@specification
class Limit:
    """What still counts as minimal: the size of an edit, in changed tokens or characters."""

    measure: Measure = option(
        kinds.one_of({"tokens": N_("changed tokens"), "characters": N_("edit distance in characters")}),
        default="tokens",
        title=N_("An edit is measured in"),
    )
    most: int = option(
        kinds.whole(0, 100_000),
        default=5,
        title=N_("Largest edit that is minimal"),
        help=N_("More than this needs a reason. 0 for no limit."),
    )


@specification
class ContrastSpec:
    """What experts are given, and what is asked of their edits."""

    task: str = option(kinds.text(80, 1), help="The task", written=True)
    name: str = option(
        kinds.name(60),
        title=N_("Name"),
        help=N_("Small letters, digits and hyphens. The data set that comes of it is called so."),
        section="what",
    )
    title: str = option(kinds.text(200, 1), title=N_("Title"), section="what")
    dataset: str = option(
        kinds.text(200, 1),
        title=N_("Test set"),
        help=N_("The data set whose examples are edited. Who writes sees the answers of the examples they are given."),
        section="what",
    )
    instructions: str = option(
        kinds.text(50_000),
        default="",
        title=N_("Instructions"),
        help=N_("What experts read before they write, in Markdown."),
        section="what",
    )
    phenomena: tuple[str, ...] = option(
        kinds.texts(60),
        default=(),
        title=N_("Phenomena"),
        help=N_("What edits may be about, such as negation. With commas between them."),
        section="what",
    )
    extend: bool = option(
        kinds.flag(), default=True, title=N_("Who writes may add a phenomenon to the list"), section="what"
    )
    pivots: int | None = option(
        kinds.whole(1, MOST_PIVOTS),
        default=None,
        title=N_("How many examples are to be edited"),
        help=N_("Empty: 100, or all where there are fewer."),
        section="pick",
    )
    pick: Pick = option(
        kinds.one_of({"random": N_("at random"), "tag": N_("by tag"), "label": N_("by label")}),
        default="random",
        title=N_("Examples are drawn"),
        section="pick",
    )
    picked: tuple[str, ...] = option(
        kinds.texts(50),
        default=(),
        title=N_("Only these tags or labels"),
        help=N_("As many examples are drawn of each. With commas between them."),
        section="pick",
    )
    seed: int = option(
        kinds.whole(0, 2**31 - 1),
        default=0,
        title=N_("Seed"),
        help=N_("What is drawn by: the same seed gives the same examples."),
        section="pick",
    )
    variants: int = option(kinds.whole(1, 50), default=5, title=N_("Variants of one example, at most"), section="write")
    limit: Limit = option(table(Limit), default=Limit(), section="write", control="limit_")
    writers: Writers = option(
        kinds.one_of({"experts": N_("experts of the task"), "workers": N_("everybody with an account")}),
        default="experts",
        title=N_("Who may write"),
        section="write",
    )
    minutes: int = option(
        kinds.whole(1, 7 * 24 * 60),
        default=120,
        title=N_("Minutes that an example is kept for who took it"),
        section="write",
    )
    drafts: bool = option(
        kinds.flag(),
        default=False,
        title=N_("Offer automatic drafts"),
        help=N_("Edits made by rules, marked as such. A person confirms label and grammar before one counts."),
        section="write",
    )
    scouting: int = option(
        kinds.whole(0, 100),
        default=0,
        title=N_("Examples on which a person may look at a model's answers"),
        help=N_("Each look is logged, and what was looked at is taken out. 0: the model stays hidden."),
        section="write",
    )
    checks: int = option(
        kinds.whole(0, 9),
        default=1,
        title=N_("People who check a variant"),
        help=N_("None of them its author. 0: what is written counts at once."),
        section="check",
    )

    def check(self) -> Iterator[Fault]:
        """Compare what is drawn with how, and keep phenomena apart from the roles of members."""
        if self.pick == "random" and self.picked:
            yield Fault("is given, and examples are drawn at random; leave it out", field="picked")
        if self.pick != "random" and not self.picked:
            yield Fault("is empty; name the tags or labels to draw", field="picked")
        if any(name.startswith("role:") or len(name) > 80 for name in self.phenomena):
            yield Fault("a phenomenon has at most 80 characters and does not begin with role:", field="phenomena")
