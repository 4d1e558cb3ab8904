"""What workers ask about their pay, and what owners answer."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import Actor
from quintain.core.records.pay import PayQuestionRecord, PayQuestions
from quintain.core.rounds import Money
from quintain.core.texts import Text
from quintain.services.access.notify import notify, notify_all
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.tasks.definitions import find_row, only_task_id
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access.people import owners
from quintain.store.queries.pay import costs as queries
from quintain.store.tables import Earning, PayQuestion, TaskRow

MOST = 2000
OPEN_AT_ONCE = 20


def ask(db: Session, actor: Actor, earning: int, text: str) -> int:
    """Ask the owners about one of one's own earnings; give the number of the question."""
    user_id, question = require_user(actor), _checked_text(text)
    with transaction(db):
        earning_row = db.get(Earning, earning)
        if (
            earning_row is None
            or earning_row.user_id != user_id
            or only_task_id(db, actor) not in (None, earning_row.task_id)
        ):
            raise NotFound("You have no earning {number}.", number=earning)
        mine, _ = queries.questions(db, user_id=user_id, limit=OPEN_AT_ONCE, offset=0)
        if sum(one.question.answered_at is None for one in mine) >= OPEN_AT_ONCE:
            raise Conflict("You have asked {n} things already.", n=OPEN_AT_ONCE, remedy="Wait for the answers.")
        task = db.get_one(TaskRow, earning_row.task_id).name
        row = PayQuestion(earning_id=earning, user_id=user_id, task_id=earning_row.task_id, text=question)
        db.add(row)
        db.flush()
        money = Money(earning_row.amount, earning_row.currency)
        words = Text("{name} asks about {money}: {said}", name=actor.name, money=money, said=question)
        notify_all(db, owners(db, task), "pay.question", words, f"/tasks/{task}/pay#questions")
        return row.id


def answer(db: Session, actor: Actor, task: str, question: int, text: str) -> None:
    """Answer what a worker asked about their pay; they are told (owners)."""
    reply = _checked_text(text)
    with transaction(db):
        task_id = find_row(db, task).id
        require_owner(actor, task)
        row = db.get(PayQuestion, question)
        if row is None or row.task_id != task_id:
            raise NotFound("Task '{task}' has no question {number}.", task=task, number=question)
        row.answer, row.answered_by, row.answered_at = reply, actor.user_id, now()
        words = Text("About your pay for {task}: {said}", task=task, said=reply)
        notify(db, row.user_id, "pay.answer", words, "/work/earnings#questions")


def my_questions(db: Session, actor: Actor, *, limit: int = 25, offset: int = 0) -> PayQuestions:
    """List what the actor asked, with the answers; by a panel's link, about the task that it led to."""
    user_id, task_id = require_user(actor), only_task_id(db, actor)
    rows, total = queries.questions(db, user_id=user_id, task_id=task_id, limit=limit, offset=offset)
    return PayQuestions([_record(row) for row in rows], total)


def list_questions(db: Session, actor: Actor, task: str, *, limit: int = 25, offset: int = 0) -> PayQuestions:
    """List what workers asked about their pay for a task (owners)."""
    task_id = find_row(db, task).id
    require_owner(actor, task)
    rows, total = queries.questions(db, task_id=task_id, limit=limit, offset=offset)
    return PayQuestions([_record(row) for row in rows], total)


def _checked_text(text: str) -> str:
    stripped = text.strip()
    if not stripped or len(stripped) > MOST:
        raise BadInput(faults=[Fault("write something, of at most {most} characters", most=MOST, field="text")])
    return stripped


def _record(row: queries.QuestionRow) -> PayQuestionRecord:
    question, earning = row.question, row.earning
    return PayQuestionRecord(
        question.id,
        earning.id,
        row.worker,
        row.task,
        earning.what,
        Money(earning.amount, earning.currency),
        question.text,
        question.created_at,
        question.answer,
        question.answered_at,
    )
