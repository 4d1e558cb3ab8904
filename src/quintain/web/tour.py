"""A tour: five short steps on the pages themselves, for each role. Whoever ends it is not shown it again.

Where somebody is on it stands in a cookie: it needs no account, and nobody else is to know. It begins when somebody
asks for it, and is not shown on pages where people work.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from quintain.core.people import Actor, Grant, RoleName

TOUR_COOKIE = "quintain_tour"
ENDED = "ended"
AT_WORK = ("/write/", "/judge/", "/login", "/link/", "/register")
READER = "reader"
STEPS = 5
_PLACE = re.compile(r"(reader|worker|owner|builder|admin)\.([0-4])\.([a-z0-9_-]{1,80})")
PAGES: dict[str, tuple[str, ...]] = {
    READER: ("/", "/tasks/{task}", "/tasks/{task}/board", "/tasks/{task}/models", "/tasks/{task}/talk"),
    RoleName.WORKER: ("/", "/tasks/{task}/write", "/tasks/{task}/judge", "/work", "/work/earnings"),
    RoleName.OWNER: (
        "/",
        "/tasks/{task}/rounds",
        "/tasks/{task}/validation",
        "/tasks/{task}/data",
        "/tasks/{task}/board",
    ),
    RoleName.BUILDER: (
        "/",
        "/tasks/{task}/submit",
        "/tasks/{task}/runs",
        "/tasks/{task}/models",
        "/tasks/{task}/board",
    ),
    RoleName.ADMIN: ("/", "/admin", "/admin/health", "/admin/audit", "/help/operations"),
}


@dataclass(frozen=True, slots=True)
class TourStep:
    """Where somebody is on a tour: of which role, at which step from 0, with which task as the example."""

    role: str
    at: int
    task: str

    @property
    def page(self) -> str:
        """The page that the step is about."""
        return PAGES[self.role][self.at].format(task=self.task)

    @property
    def number(self) -> int:
        """The step, counted from 1."""
        return self.at + 1

    @property
    def last(self) -> bool:
        """Whether no step comes after it."""
        return self.at == STEPS - 1

    def cookie(self) -> str:
        """Write it as the cookie holds it."""
        return f"{self.role}.{self.at}.{self.task}"


def read_step(cookie: str) -> TourStep | None:
    """Read where somebody is; None where they are on no tour.

    >>> read_step("owner.2.sentiment"), read_step("owner.9.sentiment")
    (TourStep(role='owner', at=2, task='sentiment'), None)
    """
    match = _PLACE.fullmatch(cookie)
    return TourStep(match[1], int(match[2]), match[3]) if match else None


def role_of(actor: Actor) -> str:
    """Return for which role somebody is shown around."""
    if actor.user_id is None:
        return READER
    if Grant(RoleName.ADMIN) in actor.grants:
        return RoleName.ADMIN.value
    held = {grant.role for grant in actor.grants}
    return next((one.value for one in (RoleName.OWNER, RoleName.BUILDER, RoleName.WORKER) if one in held), READER)


def words(_: Callable[[str], str], step: TourStep) -> str:
    """Return what there is to see at a step."""
    texts = {
        READER: (
            _("Try to fool a model in this box: that is what people do here. Nothing is kept."),
            _("A task begins with its open round, then who leads. Its instructions fold out."),
            _("Which model is best depends on what counts. Move the weights, and the ranking follows."),
            _("Every model with its figures; one click leads to its card, its results and its errors."),
            _("Ask any model anything, two side by side, and see which words moved it."),
        ),
        RoleName.WORKER: (
            _("What waits for you stands here first. Each line leads to the work itself."),
            _("You write a text that people would label otherwise than the model. You are paid for trying."),
            _("You say what others' texts deserve, ten at a time, with keys. Nobody judges their own."),
            _("Everything that you wrote, what people said to it, and a way to take it back."),
            _("What you earned, and what has been approved."),
        ),
        RoleName.OWNER: (
            _("What needs you stands here first: rounds to open, contested items, releases, pay."),
            _("A round needs a title, a model and prompts. Its five stations say what comes next."),
            _("Who judges, how well they agree, what is contested: the console of each validation."),
            _("A release becomes train, dev and test here. Test sets with hidden labels score."),
            _("What everybody sees. You set its weights, freeze it, and let data sets score."),
        ),
        RoleName.BUILDER: (
            _("Runs of yours that failed stand here first."),
            _("Download the starter and send it back: it is accepted as it is. Then teach it something."),
            _("Every run with its log, while it happens."),
            _("Where your model stands on each axis, among all others."),
            _("Weights decide who leads. Point at a cell to see what it rests on."),
        ),
        RoleName.ADMIN: (
            _("The house as everybody finds it. You own every task."),
            _("Invite people and give roles, everywhere or on one task."),
            _("Workers, the queue, what is stuck, the sandbox, the disk."),
            _("Who did what, and when. It cannot be changed."),
            _("Settings, backups and upgrades are explained here."),
        ),
    }
    return texts[step.role][step.at]
