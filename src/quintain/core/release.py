"""What becomes of a validation's items: the splits of a release, and what must hold in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import N_, option, specification

Writers = Literal["disjoint", "capped", "any"]
MAX_SIZE = 10_000_000


@specification
class ReleaseSpec:
    """How a validation's items become data sets: sizes, and what must hold in dev and test."""

    name: str = option(
        kinds.text(100),
        default="",
        title=N_("Name of the data sets"),
        help="the data sets are called by it, with `-train`, `-dev` and `-test` behind it; `round-2` for round 2 and a "
        "validation's own name elsewhere",
        section="what",
    )
    dev: int | None = option(
        kinds.whole(0, MAX_SIZE),
        default=None,
        title=N_("Items in dev"),
        help="items in dev; where it is not given, as many as there can be, up to a tenth of all",
        section="what",
    )
    test: int | None = option(
        kinds.whole(0, MAX_SIZE),
        default=None,
        title=N_("Items in test"),
        help="items in test; where it is not given, as many as there can be, up to a tenth of all",
        section="what",
    )
    seed: int = option(
        kinds.whole(0, 2**31 - 1),
        default=0,
        title=N_("Seed"),
        help="what is drawn by: the same seed gives the same splits",
        section="what",
    )
    hidden: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Hide the labels of test"),
        help="whether the labels of test stay with the task's owners",
        section="what",
    )
    balanced: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Every class as often"),
        help="dev and test have as many items of every class",
        section="hold",
    )
    at_chance: bool = option(
        kinds.flag(),
        default=True,
        title=N_("The model is at chance"),
        help="the model's F1 on every class of dev and of test is one divided by the number of classes; classes are "
        "then balanced",
        section="hold",
    )
    model: str = option(
        kinds.text(200),
        default="",
        title=N_("The model that is at chance"),
        help="which model is meant, where several have answered",
        section="hold",
    )
    agreement: float = option(
        kinds.fraction(),
        default=0.8,
        title=N_("Share of votes for the label"),
        help="at least this share of the kept votes is for the label",
        section="hold",
    )
    even: tuple[str, ...] = option(
        kinds.texts(20),
        default=("rating",),
        title=N_("Attributes that predict nothing"),
        help="attributes whose values occur exactly as often in every class: `rating`, `condition`, `length` (in "
        "fifths), `writer`; what no item has is left aside",
        section="hold",
    )
    checked: tuple[str, ...] = option(
        kinds.texts(20),
        default=("condition", "length", "writer"),
        title=N_("Attributes that predict little"),
        help="attributes that may predict the class at most `delta` better than chance; one that predicts more is "
        "made even",
        section="hold",
    )
    delta: float = option(
        kinds.fraction(),
        default=0.02,
        title=N_("Gain over chance"),
        help="how much better than chance a checked attribute may predict the class, by five-fold logistic regression",
        section="hold",
    )
    writers: Writers = option(
        kinds.one_of(get_args(Writers)),
        default="disjoint",
        title=N_("Writers"),
        help="`disjoint`: nobody has items in two of train, dev and test; `capped`: nobody has more than `cap` items "
        "in dev and test; `any`: neither",
        section="hold",
    )
    cap: int = option(
        kinds.whole(1, MAX_SIZE),
        default=100,
        title=N_("Most items of a writer"),
        help="items that a writer has in dev and test at most, where writers are `capped`",
        section="hold",
    )
    prompted: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Only items with a prompt"),
        help="only what was written from a prompt is in dev and test, where some of the items were",
        section="hold",
    )
    unique_prompts: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Every prompt once"),
        help="items whose prompt was used for others, too, are in train only",
        section="hold",
    )
    similarity: float = option(
        kinds.fraction(above=True),
        default=0.7,
        title=N_("Near-duplicates"),
        help="items that are at least so similar to another one (overlap of five-letter pieces) are in train only",
        section="hold",
    )

    def check(self) -> Iterator[Fault]:
        """Compare the options with each other."""
        if self.dev == 0 and self.test == 0:
            yield Fault("is 0, as 'dev' is: nothing would be held out", field="test")
        for name in sorted({*self.even, *self.checked} - set(ATTRIBUTES)):
            field = "even" if name in self.even else "checked"
            yield Fault("'{name}' is not one of {known}", name=name, known=", ".join(ATTRIBUTES), field=field)


ATTRIBUTES = ("rating", "condition", "length", "writer")
