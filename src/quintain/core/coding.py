"""Hand coding: of what a sample is drawn, and by which categories people sort it without knowing where it is from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Literal

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import N_, option, specification

Part = Literal["items", "justifications"]
Sharing = Literal["equal", "proportional"]
Coders = Literal["experts", "workers"]
MOST_ITEMS = 5000
MOST_CATEGORIES = 9  # each has a key of its own
NONE = "none"  # what is written where no category was chosen

# What the categories that a form begins with mean.
GLOSSES: Mapping[str, str] = {
    N_("duplicate"): N_("It says nearly the same as another text."),
    N_("trivial"): N_("It takes no thought, or its reasoning would fit any text."),
    N_("not fluent"): N_("Its language is broken, or hard to follow."),
    N_("generic"): N_("It does not depend on what it is about: it could stand anywhere."),
}
SOURCES = ("data", "rounds", "trials")


class CodingState(StrEnum):
    """Where a coding stands. The end is the end: it shows where each item is from."""

    OPEN = "open"
    CLOSED = "closed"


@specification
class CodingSpec:
    """What people code, by which categories, and how many of them look at each item."""

    task: str = option(kinds.text(80, 1), help="The task", written=True)
    name: str = option(
        kinds.name(60), title=N_("Name"), help=N_("Small letters, digits and hyphens; for its address."), section="what"
    )
    title: str = option(kinds.text(200, 1), title=N_("Title"), section="what")
    sources: tuple[str, ...] = option(
        kinds.texts(12, offered=True),
        title=N_("Items are drawn from"),
        help=N_(
            "A data set is data/NAME, a round rounds/NUMBER, a trial trials/NAME. Each of several, each condition of a "
            "round and each arm of a trial is an arm."
        ),
        section="what",
    )
    categories: tuple[str, ...] = option(
        kinds.texts(MOST_CATEGORIES),
        default=tuple(GLOSSES),
        title=N_("Categories"),
        help=N_("What an item may be, at most nine. With commas between them."),
        section="what",
    )
    several: bool = option(
        kinds.flag(),
        default=True,
        title=N_("An item may be in several categories"),
        section="how",
    )
    instructions: str = option(
        kinds.text(50_000),
        default="",
        title=N_("Instructions"),
        help=N_("What coders read before they begin, in Markdown: what each category means, with examples."),
        section="how",
    )
    part: Part = option(
        kinds.one_of({"items": N_("the items"), "justifications": N_("the writers’ justifications")}),
        default="items",
        title=N_("What is coded"),
        help=N_("Justifications are those of rounds and trials that ask for them."),
        section="how",
    )
    answers: bool = option(
        kinds.flag(),
        default=False,
        title=N_("Show the answer that an item came with"),
        help=N_("To experts only: answers may be those of a test set."),
        section="how",
    )
    items: int = option(
        kinds.whole(1, MOST_ITEMS), default=100, title=N_("Items in the sample, at most"), section="draw"
    )
    sharing: Sharing = option(
        kinds.one_of({"equal": N_("as many of each arm"), "proportional": N_("as the arms are large")}),
        default="equal",
        title=N_("Items are shared out over arms"),
        section="draw",
    )
    seed: int = option(
        kinds.whole(0, 2**31 - 1),
        default=0,
        title=N_("Seed"),
        help=N_("What is drawn by: the same seed gives the same items."),
        section="draw",
    )
    coders: int = option(
        kinds.whole(1, 9),
        default=2,
        title=N_("People who code an item"),
        help=N_("Agreement takes two or more."),
        section="people",
    )
    people: Coders = option(
        kinds.one_of({"experts": N_("experts of the task"), "workers": N_("everybody with an account")}),
        default="experts",
        title=N_("Who may code"),
        help=N_("Nobody gets what they wrote themselves."),
        section="people",
    )
    minutes: int = option(
        kinds.whole(1, 7 * 24 * 60),
        default=30,
        title=N_("Minutes that an item is kept for who took it"),
        section="people",
    )

    def check(self) -> Iterator[Fault]:
        """Ask for sources and categories, in their form."""
        if not self.sources:
            yield Fault("is empty; name at least one", field="sources")
        for source in self.sources:
            room, _, rest = source.partition("/")
            if room not in SOURCES or not rest or "/" in rest:
                yield Fault("'{source}' is not data/NAME, rounds/NUMBER or trials/NAME", source=source, field="sources")
            elif room == "data" and self.part == "justifications":
                yield Fault("a data set has no justifications", field="part")
        if self.answers and self.people == "workers":
            yield Fault("answers are shown to experts only, and everybody may code", field="answers")
        if not self.categories:
            yield Fault("is empty; name at least one", field="categories")
        for name in self.categories:
            if len(name) > 40 or name.casefold() == NONE or any(sign in name for sign in '|,\n"'):
                yield Fault(
                    "'{name}' is not a category: it has at most 40 characters, is not 'none', and has no comma, "
                    "quotation mark or bar",
                    name=name,
                    field="categories",
                )
