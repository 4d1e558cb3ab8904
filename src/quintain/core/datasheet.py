"""What only the owner of a task can say in the datasheets of its releases: the questions of Gebru et al. (2021)."""

from __future__ import annotations

from dataclasses import fields

from quintain.core import spec_kinds as kinds
from quintain.core.spec import N_, option, option_at, specification

LONGEST = 4000


@specification
class DatasheetSpec:
    """Answers to the open questions of a datasheet, as Markdown; an empty one leaves its question open.

    They are kept with the task. A release takes them as they are when it is made.
    """

    makers: str = option(
        kinds.text(LONGEST), default="", title=N_("Who made it, for whom, and who paid for it?"), section="what"
    )
    distress: str = option(
        kinds.text(LONGEST),
        default="",
        title=N_("May it offend or distress?"),
        help=N_("The content warning of the task stands there, too."),
        section="what",
    )
    personal: str = option(
        kinds.text(LONGEST), default="", title=N_("Does it hold personal or confidential data?"), section="what"
    )
    consent: str = option(
        kinds.text(LONGEST),
        default="",
        title=N_("Did they consent?"),
        help=N_("Of a round with a consent text the datasheet says so by itself."),
        section="what",
    )
    review: str = option(kinds.text(LONGEST), default="", title=N_("Was there an ethical review?"), section="what")
    misuse: str = option(kinds.text(LONGEST), default="", title=N_("What should it not be used for?"), section="what")
    licence: str = option(
        kinds.text(LONGEST),
        default="",
        title=N_("Under which licence?"),
        help=N_("The licences that data sets name stand there, too."),
        section="what",
    )
    maintainer: str = option(
        kinds.text(LONGEST), default="", title=N_("Who maintains it, and how can they be reached?"), section="what"
    )


def question(name: str) -> str:
    """Return the question that an answer is to, in English.

    >>> question("misuse")
    'What should it not be used for?'
    """
    option = option_at(DatasheetSpec, name)
    return str(option.title) if option else name


def open_questions(spec: DatasheetSpec) -> list[str]:
    """Name the questions without an answer, in their order."""
    return [item.name for item in fields(spec) if not getattr(spec, item.name).strip()]
