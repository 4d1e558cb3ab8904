"""Letters of feedback: made from grades, edited by the owner, sent when the stage is closed, replied to.

A letter is kept as templates and values, and put into words for whoever reads it; one that its owner has edited is kept
as it was written.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, revision_of
from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.people import Actor
from quintain.core.records.trial import Letter, LetterDraft, ReceivedLetter
from quintain.core.rounds import Money
from quintain.core.texts import Text, joined, packed, unpacked
from quintain.protocols.feedback import decision_in_words, figures_in_words, letter_of, not_going_on
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import END
from quintain.services.access import audit
from quintain.services.access.notify import notify, notify_all
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.tasks.definitions import get_task
from quintain.services.trial import quoting
from quintain.services.trial.courses import course_of
from quintain.services.trial.progress import arm_of, sync
from quintain.services.trial.trials import find_arm, find_trial
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.access.people import owners
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdLetter, CrowdTrial, TaskRow

MAX_LETTER = 20_000
MAX_REPLY = 5_000


def letters(db: Session, actor: Actor, task: str, name: str, arm_name: str, stage: str) -> list[LetterDraft]:
    """Return the letters of a stage as they would go out, or went, with the replies to them (owners)."""
    require_owner(actor, task)
    trial = find_trial(db, task, name)
    arm = find_arm(db, trial, arm_name)
    if trial.state == "open":
        sync(db, trial, arm)  # a letter quotes nothing that was taken back
    stored = queries.letters(db, arm.id, stage)
    drafts = _drafts(db, trial, arm, stage)
    people = people_names(db, [*{*stored, *drafts}])
    with course_of(db, trial, arm) as course:
        decided = course.arm.decisions.get(stage, {}) if course.protocol.stage(stage).qualification else {}
        away = {int(one) for one, decision in decided.items() if not decision.passed and not course.person(one).left}
    return [
        LetterDraft(
            people.get(one, str(one)),
            stage,
            _text_of(stored[one]) if one in stored else drafts[one],
            one in stored and stored[one].sent_at is not None,
            stored[one].reply if one in stored else "",
            stored[one].appeal if one in stored else False,
            (stored[one].answer or "") if one in stored else "",
            one in away,
            revision_of({"letter": str(_text_of(stored[one]) if one in stored else drafts[one])}),
        )
        for one in sorted({*drafts, *(one for one, row in stored.items() if row.sent_at is not None)})
    ]


def received(db: Session, arm: CrowdArm, user_id: int) -> list[ReceivedLetter]:
    """Return the letters that somebody was sent, the newest first."""
    return [
        ReceivedLetter(one.stage, _text_of(one), one.sent_at, one.reply, one.appeal, one.answer or "")
        for one in queries.letters_to(db, arm.id, user_id)
    ]


def edit_letter(
    db: Session,
    actor: Actor,
    task: str,
    name: str,
    *,
    arm: str,
    stage: str,
    person: str,
    text: str,
    edit: EditOrigin = ANYHOW,
) -> None:
    """Change a letter before it goes out; *edit* says which wording the new one was made from."""
    require_owner(actor, task)
    _check(text, MAX_LETTER)
    with transaction(db):
        trial = find_trial(db, task, name)
        row = find_arm(db, trial, arm)
        drafts = _drafts(db, trial, row, stage)
        ids = {one: user_id for user_id, one in people_names(db, [*drafts]).items()}
        if person not in ids:
            raise NotFound("There is no letter to {person} at {stage}.", person=person, stage=stage)
        letter = queries.letters(db, row.id, stage).get(ids[person])
        if letter is not None:
            db.refresh(letter)
        stored = str(drafts[ids[person]] if letter is None else _text_of(letter))
        text = str(edit.settled({"letter": stored}, {"letter": text})["letter"])
        if letter is None:
            db.add(CrowdLetter(arm_id=row.id, stage=stage, user_id=ids[person], text=text.strip()))
        elif letter.sent_at is not None:
            raise Conflict("The letter to {person} has gone out already.", person=person)
        else:
            letter.text, letter.said = text.strip(), None
        db.flush()


def send(db: Session, trial: CrowdTrial, arm: CrowdArm, stage: str, task: str) -> None:
    """Send the letters of a stage as they stand, in a transaction; by e-mail, too, to who wants messages there."""
    _send(db, trial, arm, stage, task, _drafts(db, trial, arm, stage))


def notify_turned_away(db: Session, trial: CrowdTrial, arm: CrowdArm, stage: str, task: str) -> None:
    """Send those whom a qualification has just turned away their letter, so that they read why and can appeal."""
    with course_of(db, trial, arm) as course:
        stage_spec = course.protocol.stage(stage)
        decided = course.arm.decisions.get(stage, {})
        gone = [one for one, decision in decided.items() if not decision.passed and course.person(one).at == END]
        letters = [letter_of(course, stage_spec, one) for one in gone]
        protocol = course.protocol
    drafts = {int(letter.person): _worded(db, trial, protocol, letter) for letter in letters}
    _send(db, trial, arm, stage, task, drafts)


def _send(db: Session, trial: CrowdTrial, arm: CrowdArm, stage: str, task: str, drafts: Mapping[int, Text]) -> None:
    stored = queries.letters(db, arm.id, stage)
    for user_id, text in drafts.items():
        row = stored.get(user_id)
        if row is None:
            row = CrowdLetter(arm_id=arm.id, stage=stage, user_id=user_id, text=str(text), said=packed(text))
            db.add(row)
        row.sent_at = now()
        message = Text("There is feedback on what you wrote.")
        letter = _text_of(row)
        more = letter if isinstance(letter, Text) else Text("{text}", text=letter)
        notify(db, user_id, "trial.letter", message, f"/tasks/{task}/trials/{trial.name}", more=more)
    db.flush()


def note_reply(
    db: Session,
    actor: Actor,
    task: str,
    name: str,
    *,
    arm: str,
    stage: str,
    person: str,
    text: str,
    appeal: bool = False,
) -> None:
    """Keep what somebody replied to their letter by another way, such as by mail (owners)."""
    require_owner(actor, task)
    _check(text, MAX_REPLY)
    with transaction(db):
        row = find_arm(db, find_trial(db, task, name), arm)
        letters = queries.letters(db, row.id, stage)
        ids = {one: user_id for user_id, one in people_names(db, [*letters]).items()}
        letter = letters.get(ids.get(person, 0))
        if letter is None or letter.sent_at is None:
            raise NotFound("No letter to {person} at {stage} has gone out.", person=person, stage=stage)
        letter.reply, letter.appeal, letter.replied_at = text.strip(), appeal, now()
        audit.record(db, actor, "trial.reply", f"{task}/{name}", user=letter.user_id, stage=stage)


def reply(db: Session, actor: Actor, task: str, name: str, stage: str, text: str, *, appeal: bool = False) -> None:
    """Answer a letter, or appeal against what it says; its owners are told."""
    user_id = require_user(actor)
    _check(text, MAX_REPLY)
    with transaction(db):
        trial = find_trial(db, task, name)
        arm = arm_of(db, trial, user_id)
        letter = queries.letters(db, arm.id, stage).get(user_id) if arm is not None else None
        if arm is None or letter is None or letter.sent_at is None:
            raise NotFound("There is no such letter to you.")
        letter.reply, letter.appeal, letter.replied_at = text.strip(), appeal, now()
        values = {"name": actor.name, "trial": trial.title or trial.name}
        message = (
            Text("{name} asks you to look at a decision of {trial} again.", **values)
            if appeal
            else Text("{name} replies to a letter of {trial}.", **values)
        )
        page = f"/tasks/{task}/trials/{name}/letters/{arm.name}/{stage}"
        notify_all(db, owners(db, task), "trial.reply", message, page)


def answer_reply(
    db: Session, actor: Actor, task: str, name: str, *, arm: str, stage: str, person: str, text: str
) -> None:
    """Answer what somebody replied to their letter; they are told (owners)."""
    require_owner(actor, task)
    _check(text, MAX_REPLY)
    with transaction(db):
        trial = find_trial(db, task, name)
        letters = queries.letters(db, find_arm(db, trial, arm).id, stage)
        ids = {one: user_id for user_id, one in people_names(db, [*letters]).items()}
        letter = letters.get(ids.get(person, 0))
        if letter is None or not letter.reply:
            raise NotFound("{person} has not replied to a letter at {stage}.", person=person, stage=stage)
        letter.answer = text.strip()
        audit.record(db, actor, "trial.answer", f"{task}/{name}", user=letter.user_id, stage=stage)
        message = Text("There is an answer to what you replied: {text}", text=letter.answer)
        notify(db, letter.user_id, "trial.answer", message, f"/tasks/{task}/trials/{name}")


def _check(text: str, most: int) -> None:
    if not text.strip() or len(text) > most or "\x00" in text:
        raise BadInput("Write 1 to {most:,} characters.", most=most)


def _text_of(row: CrowdLetter) -> str:
    return unpacked(row.said) if row.said is not None else row.text


def _drafts(db: Session, trial: CrowdTrial, arm: CrowdArm, stage: str) -> dict[int, Text]:
    """Make the letters of those who wait at a stage of feedback, or whom a qualification is going to turn away."""
    with course_of(db, trial, arm) as course:
        stage_spec = next((one for one in course.protocol.stages if one.name == stage), None)
        if stage_spec is None or (stage_spec.feedback is None and stage_spec.qualification is None):
            raise NotFound("There is no stage of feedback '{stage}'.", stage=stage)
        if stage_spec.qualification is not None:
            away = not_going_on(course, stage_spec)
            letters = [letter_of(course, stage_spec, person, decision) for person, decision in away.items()]
        else:
            letters = [letter_of(course, stage_spec, person) for person in course.at(stage)]
        protocol = course.protocol
    return {int(letter.person): _worded(db, trial, protocol, letter) for letter in letters}


def _worded(db: Session, trial: CrowdTrial, protocol: Protocol, letter: Letter) -> Text:
    money = str(Money(letter.bonus, letter.currency))
    parts = [
        *figures_in_words(letter),
        *_quoted(db, trial, letter),
        *decision_in_words(letter, protocol, money),
    ]
    return joined(parts, "\n")


def _quoted(db: Session, trial: CrowdTrial, letter: Letter) -> list[Text]:
    """Quote the items with the highest score, those with the lowest, and those that graders could not use."""
    quoted = [*letter.best, *letter.worst, *letter.unclear]
    attempts = queries.attempts(db, [int(each.item) for each in quoted if each.item.isdecimal()])
    task = get_task(db, db.get_one(TaskRow, trial.task_id).name)
    texts = {str(number): quoting.quoted(task, one.inputs, one.target) for number, one in attempts.items()}
    best = Text("Of your items, this one has the highest score") if letter.worst else Text("Your item has a score")
    worst = Text("Of your items, this one has the lowest score")
    opinions = {each.item: Text("Graders said {answers} of this item:", answers=each.said) for each in letter.unclear}
    rated = [*((best, each) for each in letter.best), *((worst, each) for each in letter.worst)]
    lines: list[Text] = []
    for words, each in rated:
        if each.item in texts:
            lines.append(Text("{words} ({score:.2f} of {top:g}):", words=words, score=each.score, top=letter.top))
            lines += [opinions[each.item]] if each.item in opinions else []
            lines.append(texts[each.item])
    quoted_already = {each.item for _, each in rated}
    for each in letter.unclear:
        if each.item in texts and each.item not in quoted_already:
            lines += [opinions[each.item], texts[each.item]]
    return lines
