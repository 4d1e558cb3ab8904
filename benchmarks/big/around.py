"""What gathers around the work: messages that people got, and a quiz that every writer took."""

from __future__ import annotations

from datetime import datetime, timedelta

from big.loading import Loader, packed
from big.people import People
from big.sizes import TASK, Size
from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.work.quizzes import put_quiz
from quintain.store.tables import Notification, Quiz, QuizTry, QuizVersion

QUIZ = "intro"
TRIES = 2
QUESTIONS = [
    {"text": f"Which label has text {number}?", "options": ["negative", "neutral", "positive"], "answer": number % 3}
    for number in range(8)
]


def make_quiz(workspace: Workspace) -> None:
    """Add the quiz."""
    with workspace.session() as db:
        put_quiz(db, OPERATOR, TASK, QUIZ, {"instructions": "Read, then answer.", "questions": QUESTIONS})


def add_messages(load: Loader, size: Size, people: People, begun: datetime) -> None:
    """Add messages: to the first writer and the first judge very many, to every other writer one."""
    to = [*[people.writers[0]] * size.messages, *[people.judges[0]] * size.messages, *people.writers[1:]]
    load.add(
        Notification,
        ("user_id", "at", "kind", "text", "url"),
        (
            (user, load.when(begun + timedelta(minutes=place)), "pay.earned", f"Message {place}.", "/work/earnings")
            for place, user in enumerate(to)
        ),
    )


def add_tries(load: Loader, people: People, begun: datetime) -> None:
    """Let every writer take the quiz, and pass at the second try."""
    quiz, version = load.next_id(Quiz) - 1, load.next_id(QuizVersion) - 1
    wrong, right = ({str(number): (number + off) % 3 for number in range(len(QUESTIONS))} for off in (1, 0))
    rows = (
        (quiz, version, user, packed(right if turn else wrong), len(QUESTIONS) * turn, len(QUESTIONS), bool(turn), at)
        for place, user in enumerate(people.writers)
        for turn, at in enumerate([load.when(begun + timedelta(minutes=place + turn)) for turn in range(TRIES)])
    )
    load.add(QuizTry, ("quiz_id", "version_id", "user_id", "answers", "right", "total", "passed", "created_at"), rows)
