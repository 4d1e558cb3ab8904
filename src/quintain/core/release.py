"""What becomes of a validation's items: the splits of a release, and what must hold in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import N_, option, specification

Writers = Literal["disjoint", "capped", "any"]
MAX_SIZE = 10_000_000
ATTRIBUTES = {
    "rating": N_("Rating of the review"),
    "condition": N_("Condition"),
    "length": N_("Length, in fifths"),
    "writer": N_("Writer"),
}
# What a release did before these options were there.
BEFORE: Mapping[str, Any] = {"votes": False, "apart": []}
ORIGINS = {"prompt": N_("Prompt"), "review": N_("Review")}


@specification
class ReleaseSpec:
    """How a validation's items become data sets: sizes, and what must hold in dev and test."""

    name: str = option(
        kinds.text(100),
        default="",
        title=N_("Name of the data sets"),
        help=N_(
            "The data sets are called by it, with -train, -dev and -test behind it; round-2 for round 2, and a "
            "validation's own name elsewhere."
        ),
        section="what",
    )
    dev: int | None = option(
        kinds.whole(0, MAX_SIZE),
        default=None,
        title=N_("Items in dev"),
        help=N_("Items in dev; where it is not given, as many as there can be, up to a tenth of all."),
        section="what",
    )
    test: int | None = option(
        kinds.whole(0, MAX_SIZE),
        default=None,
        title=N_("Items in test"),
        help=N_("Items in test; where it is not given, as many as there can be, up to a tenth of all."),
        section="what",
    )
    seed: int = option(
        kinds.whole(0, 2**31 - 1),
        default=0,
        title=N_("Seed"),
        help=N_("What is drawn by: the same seed gives the same splits."),
        section="what",
    )
    hidden: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Hide the labels of test"),
        help=N_("Whether the labels of test stay with the task's owners."),
        section="what",
    )
    votes: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Publish the votes"),
        help=N_(
            "Whether everybody gets, with the answers that are open, how people voted and who wrote it (both under "
            "other names), and where it is from."
        ),
        section="what",
    )
    again: bool = option(
        kinds.flag(),
        default=False,
        title=N_("Release once more"),
        help=N_("Release although there is a release: what one of them hides in test, the other may show in train."),
        section="what",
    )
    balanced: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Every class as often"),
        help=N_("Dev and test have as many items of every class."),
        section="hold",
    )
    at_chance: bool = option(
        kinds.flag(),
        default=True,
        title=N_("The model is at chance"),
        help=N_(
            "The model's F1 on every class of dev and of test is one divided by the number of classes; classes are "
            "then balanced."
        ),
        section="hold",
    )
    model: str = option(
        kinds.text(200),
        default="",
        title=N_("The model that is at chance"),
        help=N_("Which model is meant, where several have answered."),
        section="hold",
    )
    agreement: float = option(
        kinds.fraction(),
        default=0.8,
        title=N_("Share of votes for the label"),
        help=N_("At least this share of the kept votes is for the label."),
        section="hold",
    )
    even: tuple[str, ...] = option(
        kinds.some_of(ATTRIBUTES),
        default=("rating",),
        title=N_("Attributes that predict nothing"),
        help=N_("Attributes whose values occur exactly as often in every class; what no item has is left aside."),
        section="hold",
    )
    checked: tuple[str, ...] = option(
        kinds.some_of(ATTRIBUTES),
        default=("condition", "length", "writer"),
        title=N_("Attributes that predict little"),
        help=N_(
            "Attributes that may predict the class hardly better than chance; one that predicts more is made even."
        ),
        section="hold",
    )
    delta: float = option(
        kinds.fraction(),
        default=0.02,
        title=N_("Gain over chance"),
        help=N_(
            "How much better than chance a checked attribute may predict the class, by five-fold logistic regression."
        ),
        section="hold",
    )
    writers: Writers = option(
        kinds.one_of(get_args(Writers)),
        default="capped",
        title=N_("Writers"),
        help=N_(
            "Disjoint: nobody has items in two of train, dev and test, and what else those in dev and test wrote is in "
            "no data set; capped: nobody has more than so many in dev and test; any: neither."
        ),
        section="hold",
    )
    cap: int = option(
        kinds.whole(1, MAX_SIZE),
        default=100,
        title=N_("Most items of a writer"),
        help=N_("Items that a writer has in dev and test at most, where writers are capped."),
        section="hold",
    )
    prompted: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Only items with a prompt"),
        help=N_("Only what was written from a prompt is in dev and test, where some of the items were."),
        section="hold",
    )
    unique_prompts: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Every prompt once"),
        help=N_("Of all that was written from one prompt, one item at most is in dev and test; the rest is for train."),
        section="hold",
    )
    apart: tuple[str, ...] = option(
        kinds.some_of(ORIGINS),
        default=(),
        title=N_("On one side only"),
        help=N_(
            "Items of one prompt, or of one review, are never in two of train, dev and test: what is left over of "
            "those in dev or test is in no data set."
        ),
        section="hold",
    )
    similarity: float = option(
        kinds.fraction(above=True),
        default=0.7,
        title=N_("Near-duplicates"),
        help=N_(
            "Of items that are at least so similar to each other (overlap of five-letter pieces), one may be in dev or "
            "test, and the others are then in no data set; else all are in train."
        ),
        section="hold",
    )

    def check(self) -> Iterator[Fault]:
        """Compare the options with each other."""
        if self.dev == 0 and self.test == 0:
            yield Fault("is 0, as 'dev' is: nothing would be held out", field="test")


def known_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored specification with the options that were not there when it was made.

    >>> known_spec({"dev": 9})["votes"]
    False
    """
    return {**BEFORE, **spec}
