"""Who may do which work: quizzes, and qualifications that are decided by rules.

Collecting, validation and trials all ask here. `eligibility` gives a reason for every rule, in words that an owner and
the worker can read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, Forbidden
from quintain.core.hashing import content_id
from quintain.core.people import Actor, RoleName
from quintain.core.records import work as records
from quintain.core.records.work import KnownFact, Reason
from quintain.core.stage_qualifications import is_stage_qualification
from quintain.core.texts import Text, Word, either, joined
from quintain.services.access import audit
from quintain.services.access.actors import actor_of, find_for, find_user
from quintain.services.access.permissions import require_admin, require_owner, require_user
from quintain.services.pay.policy import reach_step
from quintain.services.tasks.definitions import find_row
from quintain.services.work.rules import rule_faults
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.pay import earnings as pay
from quintain.store.queries.work import qualify
from quintain.store.queries.work import qualify as queries
from quintain.store.queries.work.qualify import finished_pages
from quintain.store.tables import Qualification, User, WorkerFact

Rule = Mapping[str, Any]
REST_DAYS = 7  # how long a rate that is too low keeps somebody out, where the rule does not say
LONGEST_FACT = 40  # what the column of a fact's name holds
SELF = "self"  # who says it, where workers say it of themselves
STATED = ("country", "language")  # what workers may say of themselves
RECORDED = (*STATED, "approval_rate", "completed")  # what an admin may take over from a panel


@dataclass(frozen=True, slots=True)
class _Asked:
    db: Session
    user_id: int
    task: str
    task_id: int

    @property
    def user(self) -> User:
        """The person, of whom most rules ask nothing but what is known under their number."""
        return self.db.get_one(User, self.user_id)


def eligibility(
    db: Session, user_id: int, rules: Sequence[Rule], *, task: str, task_id: int | None = None
) -> list[Reason]:
    """Decide on each of *rules* for a person on *task*; they are eligible where every reason is ok."""
    asked = _Asked(db, user_id, task, find_row(db, task).id if task_id is None else task_id)
    reasons = []
    for rule in rules:
        faults = rule_faults(rule)
        if faults:
            raise BadInput(faults=[Fault(reason, field="qualifications") for reason in faults])
        ok, text = _RULES[rule["rule"]](asked, rule)
        reasons.append(Reason(rule["rule"], ok, text))
    return reasons


def why(db: Session, actor: Actor, task: str, rules: Sequence[Rule], name: str | None = None) -> list[Reason]:
    """Return why the actor, or for the task's owner the person called *name*, is or is not eligible."""
    if name is None:
        return eligibility(db, require_user(actor), rules, task=task)
    user = find_for(db, actor, name, lambda: require_owner(actor, task))
    return eligibility(db, user.id, rules, task=task)


def require_eligible(db: Session, user_id: int, rules: Sequence[Rule], *, task: str) -> None:
    """Refuse a person who does not meet every rule, and say which."""
    missing = [reason.text for reason in eligibility(db, user_id, rules, task=task) if not reason.ok]
    if missing:
        raise Forbidden("You cannot do this work yet. {missing}", missing=joined(missing), code="not_qualified")


def set_qualification(
    db: Session, actor: Actor, task: str, name: str, qualification: str, *, held: bool, reason: str = ""
) -> None:
    """Grant a person a qualification on a task, or end it (owners); what they did so far stays, and stays paid."""
    if not qualification.strip() or len(qualification) > 40:
        raise BadInput(faults=[Fault("a qualification has a name of 1 to 40 characters", field="qualification")])
    with transaction(db):
        task_id = find_row(db, task).id
        require_owner(actor, task)
        if is_stage_qualification(qualification):
            raise Conflict(
                "A trial gives and ends “{name}” itself: by hand, people of one arm could write in another.",
                name=qualification,
                remedy="Give the qualification another name.",
            )
        user = find_user(db, name)
        put_qualification(db, task_id, user.id, qualification, held=held, reason=reason, by=actor.user_id)
        action = "qualification.give" if held else "qualification.end"
        audit.record(db, actor, action, f"user:{user.id}", task=task, qualification=qualification, reason=reason)


def put_qualification(
    db: Session, task_id: int, user_id: int, name: str, *, held: bool, reason: str, by: int | None = None
) -> bool:
    """Add a fact on a qualification unless it says what is so already; for other services, in their transaction."""
    newest = queries.newest_qualification(db, task_id, user_id, name)
    if newest is not None and newest.held == held:
        return False
    add_qualification(db, task_id, user_id, name, held=held, reason=reason, by=by)
    return True


def add_qualification(
    db: Session, task_id: int, user_id: int, name: str, *, held: bool, reason: str, by: int | None = None
) -> None:
    """Add a fact on a qualification that is known to be new; for other services, in their transaction."""
    db.add(Qualification(task_id=task_id, user_id=user_id, name=name, held=held, reason=reason, by=by))
    db.flush()
    if held:
        reach_step(db, task_id, user_id, name)


def qualification_history(db: Session, actor: Actor, task: str, name: str | None = None) -> list[records.Qualification]:
    """List every change of one's own qualifications on a task or, for its owner, of those of *name*."""
    task_id = find_row(db, task).id
    user_id = require_user(actor) if name is None else find_for(db, actor, name, lambda: require_owner(actor, task)).id
    rows = queries.qualification_history(db, task_id, user_id)
    if not actor.has(RoleName.OWNER, task):
        rows = [row for row in rows if not is_stage_qualification(row.name)]
    return [records.Qualification(row.name, row.held, row.reason, row.created_at) for row in rows]


def state_fact(db: Session, actor: Actor, name: str, value: str) -> None:
    """Let workers say something of themselves that rules ask for: their country, or a language they speak."""
    user_id = require_user(actor)
    if name not in STATED:
        raise BadInput(
            faults=[
                Fault(
                    "there is no '{name}' to state; there are {stated}",
                    name=name,
                    stated=", ".join(STATED),
                    field="name",
                )
            ]
        )
    if not value.strip() or len(value) > 200 or "\x00" in value:
        raise BadInput(faults=[Fault("is empty or longer than 200 characters", field=name)])
    with transaction(db):
        add_fact(db, user_id, name, value.strip(), source=SELF)


def record_fact(db: Session, actor: Actor, person: str, name: str, value: str, *, source: str) -> None:
    """Take over what somebody else, such as a panel, says of a worker (admins)."""
    require_admin(actor)
    faults = []
    if name not in RECORDED:
        faults.append(
            Fault(
                "there is no '{name}' to record; there are {recorded}",
                name=name,
                recorded=", ".join(RECORDED),
                field="name",
            )
        )
    if not value.strip() or len(value) > 200 or "\x00" in value:
        faults.append(Fault("is empty or longer than 200 characters", field="value"))
    elif name == "approval_rate" and not _is_rate(value):
        faults.append(Fault("'{value}' is not a rate between 0 and 1", value=value, field="value"))
    elif name == "completed" and not (value.strip().isascii() and value.strip().isdecimal() and len(value) < 10):
        faults.append(Fault("'{value}' is not a whole number, 0 or more", value=value, field="value"))
    if not source.strip() or len(source) > 40 or source == SELF:
        faults.append(Fault("is not the name of who says it, of 1 to 40 characters", field="source"))
    if faults:
        raise BadInput(faults=faults)
    with transaction(db):
        user = find_user(db, person)
        add_fact(db, user.id, name, value.strip(), source=source.strip())
        audit.record(db, actor, "person.fact", f"user:{user.id}", name=name, source=source)


def facts(db: Session, actor: Actor, person: str | None = None) -> list[KnownFact]:
    """List what is known of the actor or, for an admin, of *person*: the newest under each name, and who says so."""
    user_id = require_user(actor) if person is None else find_for(db, actor, person, lambda: require_admin(actor)).id
    return [KnownFact(row.name, row.value, row.source) for row in queries.worker_facts(db, user_id)]


def _is_rate(value: str) -> bool:
    try:
        return 0 <= float(value) <= 1
    except ValueError:
        return False


def add_fact(db: Session, user_id: int, name: str, value: str, *, source: str) -> None:
    """Add what is known of a worker, and who says so; for other services, inside their transaction."""
    known = queries.worker_fact(db, user_id, name)
    if known is None or (known.value, known.source) != (value, source):
        db.add(WorkerFact(user_id=user_id, name=name, value=value, source=source))
        db.flush()


def _account_age(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    days = (now() - asked.user.created_at).days
    return days >= rule["days"], Text(
        "The account is {days} days old; {needed} are needed.", days=days, needed=rule["days"]
    )


def _quiz(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    quiz_and_version = queries.quiz(asked.db, asked.task, rule["name"])
    ok = quiz_and_version is not None and queries.passed(asked.db, quiz_and_version[0].id, asked.user_id)
    if ok:
        return True, Text("The quiz “{name}” has been passed.", name=rule["name"])
    return False, Text("The quiz “{name}” has not been passed.", name=rule["name"])


def _approval_rate(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    approved, total = pay.decided(asked.db, asked.user_id)
    known = queries.worker_fact(asked.db, asked.user_id, "approval_rate")
    if total < max(rule.get("of", 1), 1) and known is not None:
        rate = float(known.value)
        return rate >= rule["at_least"], Text(
            "The approval rate is {rate:.0%} (said by {source}); {needed:.0%} is needed.",
            rate=rate,
            source=known.source,
            needed=rule["at_least"],
        )
    return _rated(Text("approval rate"), approved, total, rule)


def fooling_fact(task: str) -> str:
    """Name the fact that holds a worker's validated fooling rate on *task*; a long name is hashed, never cut.

    >>> fooling_fact("sentiment")
    'validated_fooling:sentiment'
    """
    name = f"validated_fooling:{task}"
    return name if len(name) <= LONGEST_FACT else f"validated_fooling:{content_id(task)[:20]}"


def _validated_fooling(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    """Let those in of whom little is known; who is below the rate rests for some days from when it was found."""
    what = Text("rate of examples that fooled the model and were confirmed")
    known = queries.worker_fact(asked.db, asked.user_id, fooling_fact(str(asked.task)))
    good, total = map(int, (known.value if known else "0/0").split("/"))
    least = max(rule.get("of", 1), 1)
    if known is None or total < least:
        return True, Text(
            "The {what} counts from {wanted} decided examples on; there are {total}.",
            what=what,
            wanted=least,
            total=total,
        )
    ok, text = _rated(what, good, total, rule)
    until = known.created_at + timedelta(days=rule.get("rest_days", REST_DAYS))
    if ok:
        return True, text
    if until <= now():
        return True, Text("{text} The rest for that is over since {day}.", text=text, day=f"{until:%Y-%m-%d}")
    return False, Text("{text} You can write again from {time} UTC on.", text=text, time=f"{until:%Y-%m-%d %H:%M}")


def _rated(what: str, good: int, total: int, rule: Rule) -> tuple[bool, str]:
    least = max(rule.get("of", 1), 1)
    if total < least:
        return False, Text(
            "The {what} is not known yet: {total} of {wanted} pieces of work have been decided on.",
            what=what,
            total=total,
            wanted=least,
        )
    return good / total >= rule["at_least"], Text(
        "The {what} is {share:.0%} ({good} of {total}); {needed:.0%} is needed.",
        what=what,
        share=good / total,
        good=good,
        total=total,
        needed=rule["at_least"],
    )


def _completed(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    done = qualify.finished_sessions(asked.db, asked.user_id) + finished_pages(asked.db, asked.user_id)
    known = queries.worker_fact(asked.db, asked.user_id, "completed")
    if known is not None and int(known.value) > done:
        reason = Text(
            "{n} tasks have been completed (said by {source}); {needed} are needed.",
            n=int(known.value),
            source=known.source,
            needed=rule["at_least"],
        )
        return int(known.value) >= rule["at_least"], reason
    return done >= rule["at_least"], Text(
        "{n} tasks have been completed; {needed} are needed.", n=done, needed=rule["at_least"]
    )


def _country(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    return _stated(asked, "country", rule["one_of"])


def _language(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    known = queries.worker_fact(asked.db, asked.user_id, "language")
    spoken = known.value if known else asked.user.language
    if not spoken:  # invited, and not here yet
        return False, Text("The language is not known; {wanted} is needed.", wanted=either(rule["one_of"]))
    ok = spoken.lower() in {wanted.lower() for wanted in rule["one_of"]}
    return ok, Text(
        "The language is {spoken}; {wanted} is needed.", spoken=spoken.lower(), wanted=either(rule["one_of"])
    )


def _stated(asked: _Asked, name: str, values: Sequence[str]) -> tuple[bool, str]:
    known = queries.worker_fact(asked.db, asked.user_id, name)
    if known is None:
        return False, Text("The {name} is not known; {wanted} is needed.", name=name, wanted=either(values))
    ok = known.value.lower() in {value.lower() for value in values}
    return ok, Text("The {name} is {known}; {wanted} is needed.", name=name, known=known.value, wanted=either(values))


def _role(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    ok = actor_of(asked.db, asked.user).has(RoleName(rule["role"]), asked.task)
    if ok:
        return True, Text("The role {role} is held.", role=Word(rule["role"]))
    return False, Text("The role {role} is needed.", role=Word(rule["role"]))


def _holds(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    known = queries.newest_qualification(asked.db, asked.task_id, asked.user_id, rule["name"])
    ok = known is not None and known.held
    if is_stage_qualification(rule["name"]):
        return ok, _pass_text(ok)
    if ok:
        return True, Text("The qualification “{name}” is held.", name=rule["name"])
    if known is not None and known.reason:
        return False, Text(
            "The qualification “{name}” is needed. It ended: {reason}", name=rule["name"], reason=known.reason
        )
    return False, Text("The qualification “{name}” is needed.", name=rule["name"])


def _pass_text(ok: bool) -> Text:
    """Return the words by which a trial lets somebody in or not, without naming what lets them."""
    if ok:
        return Text("This work is yours now.")
    return Text("There is nothing to write for you here now. The page of the trial says what comes next.")


def _lacks(asked: _Asked, rule: Rule) -> tuple[bool, str]:
    known = queries.newest_qualification(asked.db, asked.task_id, asked.user_id, rule["name"])
    ok = known is None or not known.held
    return ok, Text(
        "This work is for people who do not hold “{name}”, and it is not held."
        if ok
        else "This work is for people who do not hold “{name}”, and it is held.",
        name=rule["name"],
    )


_RULES: Mapping[str, Callable[[_Asked, Rule], tuple[bool, str]]] = {
    "account_age": _account_age,
    "quiz": _quiz,
    "validated_fooling": _validated_fooling,
    "approval_rate": _approval_rate,
    "completed": _completed,
    "country": _country,
    "language": _language,
    "role": _role,
    "holds": _holds,
    "lacks": _lacks,
}
