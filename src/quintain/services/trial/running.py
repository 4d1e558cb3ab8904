"""What an owner does while a trial runs: close stages, read and edit letters before they go out."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.people import Actor
from quintain.core.records.trial import CrowdTrial as TrialRecord
from quintain.core.records.trial import LetterDraft
from quintain.core.rounds import Money
from quintain.protocols.events import closed
from quintain.protocols.feedback import letter_of, sentences
from quintain.protocols.reading import parse_protocol
from quintain.services.access import audit
from quintain.services.access.notify import notify
from quintain.services.access.permissions import require_owner
from quintain.services.trial.courses import course_of, record
from quintain.services.trial.earnings import settle
from quintain.services.trial.progress import give_passes, sync
from quintain.services.trial.trials import find, get_trial
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.trial import leases
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdLetter, CrowdTrial

MAX_LETTER = 20_000


def find_arm(db: Session, trial: CrowdTrial, name: str) -> CrowdArm:
    """Find an arm of a trial."""
    found = next((one for one in queries.arms(db, trial.id) if one.name == name), None)
    if found is None:
        raise NotFound("The trial has no arm '{name}'.", name=name)
    return found


def close_stage(
    db: Session, actor: Actor, task: str, name: str, arm_name: str, stage: str, *, force: bool = False
) -> TrialRecord:
    """Close a stage of an arm: those who wait there go on; letters of a stage of feedback go out."""
    require_owner(actor, task)
    with transaction(db):
        trial = find(db, task, name)
        if trial.state != "open":
            raise Conflict("Trial {task}/{name} is not open.", task=task, name=name)
        arm = find_arm(db, trial, arm_name)
        sync(db, trial, arm)
        if any(one.name == stage and one.feedback for one in parse_protocol(arm.toml).stages):
            _send(db, trial, arm, stage, task)
        record(db, trial, arm, closed(stage, force=force), actor.user_id)
        leases.drop(db, arm.id, stage)
        give_passes(db, trial, arm)
        with course_of(db, trial, arm) as course:
            settle(db, trial, arm, course)
        audit.record(db, actor, "trial.close-stage", f"{task}/{name}", arm=arm_name, stage=stage, force=force)
    return get_trial(db, actor, task, name)


def letters(db: Session, actor: Actor, task: str, name: str, arm_name: str, stage: str) -> list[LetterDraft]:
    """Give the letters of a stage as they would go out, or went, with the replies to them."""
    require_owner(actor, task)
    trial = find(db, task, name)
    arm = find_arm(db, trial, arm_name)
    kept = queries.letters(db, arm.id, stage)
    drafts = _drafts(db, trial, arm, stage)
    people = queries.names_of(db, [*{*kept, *drafts}])
    return [
        LetterDraft(
            people.get(one, str(one)),
            stage,
            kept[one].text if one in kept else drafts[one],
            one in kept and kept[one].sent_at is not None,
            kept[one].reply if one in kept else "",
            kept[one].appeal if one in kept else False,
        )
        for one in sorted({*kept, *drafts})
    ]


def edit_letter(
    db: Session, actor: Actor, task: str, name: str, *, arm: str, stage: str, person: str, text: str
) -> None:
    """Change a letter before it goes out."""
    require_owner(actor, task)
    if not text.strip() or len(text) > MAX_LETTER or "\x00" in text:
        raise BadInput("A letter has 1 to {most:,} characters.", most=MAX_LETTER)
    with transaction(db):
        trial = find(db, task, name)
        row = find_arm(db, trial, arm)
        drafts = _drafts(db, trial, row, stage)
        ids = {one: user_id for user_id, one in queries.names_of(db, [*drafts]).items()}
        if person not in ids:
            raise NotFound("There is no letter to {person} at {stage}.", person=person, stage=stage)
        found = queries.letters(db, row.id, stage).get(ids[person])
        if found is None:
            db.add(CrowdLetter(arm_id=row.id, stage=stage, user_id=ids[person], text=text.strip()))
        elif found.sent_at is not None:
            raise Conflict("The letter to {person} has gone out already.", person=person)
        else:
            found.text = text.strip()
        db.flush()


def _drafts(db: Session, trial: CrowdTrial, arm: CrowdArm, stage: str) -> dict[int, str]:
    """Make the letters of those who wait at a stage of feedback."""
    with course_of(db, trial, arm) as course:
        found = next((one for one in course.protocol.stages if one.name == stage and one.feedback), None)
        if found is None:
            raise NotFound("There is no stage of feedback '{stage}'.", stage=stage)
        made = {}
        for person in course.at(stage):
            letter = letter_of(course, found, person)
            money = str(Money(letter.bonus, letter.currency))
            made[int(person)] = "\n".join(sentences(letter, money)) + _items(db, letter.best, letter.worst)
        return made


def _items(db: Session, best: str | None, worst: str | None) -> str:
    ids = [int(one) for one in (best, worst) if one is not None and one.isdecimal()]
    found = queries.attempts(db, ids)
    lines = []
    for title, name in (("Best", best), ("Weakest", worst)):
        if name is not None and name.isdecimal() and int(name) in found:
            lines.append(f"\n{title}: " + " · ".join(str(value) for value in found[int(name)].inputs.values()))
    return "".join(lines)


def _send(db: Session, trial: CrowdTrial, arm: CrowdArm, stage: str, task: str) -> None:
    kept = queries.letters(db, arm.id, stage)
    for user_id, text in _drafts(db, trial, arm, stage).items():
        found = kept.get(user_id)
        if found is None:
            found = CrowdLetter(arm_id=arm.id, stage=stage, user_id=user_id, text=text)
            db.add(found)
        found.sent_at = now()
        notify(
            db, user_id, "trial.letter", "There is feedback on what you wrote.", f"/tasks/{task}/trials/{trial.name}"
        )
    db.flush()
