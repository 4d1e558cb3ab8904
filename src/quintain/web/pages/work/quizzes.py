"""What comes before the work: quizzes with practice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.records.work import Question, QuizTry
from quintain.core.spec_changes import ChangesToConfirm
from quintain.core.task import Task
from quintain.services.access.permissions import require_owner, require_signed_in
from quintain.services.tasks import definitions as tasks
from quintain.services.work import quiz_results, quizzes
from quintain.services.work.quiz_files import dump_quiz, parse_quiz
from quintain.web.confirming import page_edit, show_changes
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.visit import MadeFrom, Post, Posting, Visit, Visiting, local_path

PAGE_SIZE = 50
FARTHEST = 1_000_000
STARTER = """\
instructions = \"\"\"
Read what is asked, then answer the questions below.
\"\"\"
tries = 5
rest_hours = 24

[[practice]]
text = "A first question, which is explained at once?"
options = ["Yes", "No"]
answer = 0
explanation = "Because …"

[[questions]]
text = "A question that must be right?"
options = ["Yes", "No"]
answer = 0
explanation = "Because …"
"""


def quiz_page(visit: Visiting, task: str, quiz: str, next: str = "") -> Response:  # noqa: A002 - the address's word
    """Show a quiz to somebody who is to take it."""
    require_signed_in(visit.actor)
    return _quiz(visit, tasks.get_task(visit.db, task), quiz, next)


def take_quiz(post: Posting, task: str, quiz: str) -> Response:
    """Count the answers, and say how it went; what was chosen stays chosen."""
    visit = post.visit
    definition = tasks.get_task(visit.db, task)
    questions = quizzes.get_quiz(visit.db, visit.actor, task, quiz).questions
    chosen = {number: post.text(f"answer-{number}") for number in range(len(questions))}
    back = post.text("next")
    try:
        answers = [_whole(text) for text in chosen.values()]
        result = quizzes.take_quiz(visit.db, visit.actor, task, quiz, answers)
    except BadInput as error:
        return _quiz(visit, definition, quiz, back, chosen=chosen, trouble=trouble_of(error))
    return _quiz(visit, definition, quiz, back, chosen=chosen, result=result)


def practise(post: Posting, task: str, quiz: str) -> Response:
    """Explain an answer that does not count."""
    visit = post.visit
    definition = tasks.get_task(visit.db, task)
    question, chosen = post.number("question"), post.text("answer")
    answer = _whole(chosen)
    if answer is None:
        trouble = trouble_of(BadInput(faults=[Fault("choose an answer first")]))
        return _quiz(visit, definition, quiz, "", trouble=trouble)
    feedback = quizzes.practise(visit.db, visit.actor, task, quiz, question, answer)
    return _quiz(visit, definition, quiz, "", practised={question: {"answer": chosen, "feedback": feedback}})


def new_quiz_page(visit: Visiting, task: str) -> Response:
    """Offer a definition to start from."""
    definition = tasks.get_task(visit.db, task)
    return _editor(visit, definition, "", STARTER)


def create_quiz(post: Posting, task: str) -> Response:
    """Add a quiz."""
    definition = tasks.get_task(post.visit.db, task)
    return _save(post, definition, "", post.text("name").strip())


def edit_quiz_page(visit: Visiting, task: str, quiz: str) -> Response:
    """Show a quiz's definition to its owner."""
    definition = tasks.get_task(visit.db, task)
    return _editor(visit, definition, quiz, dump_quiz(quizzes.quiz_definition(visit.db, visit.actor, task, quiz)))


def save_quiz(post: Posting, task: str, quiz: str) -> Response:
    """Change a quiz."""
    definition = tasks.get_task(post.visit.db, task)
    return _save(post, definition, quiz, quiz)


def results_page(visit: Visiting, task: str, quiz: str, offset: int = 0) -> Response:
    """Show who passed a quiz, and which questions are missed."""
    return show_results(visit, task, quiz, offset=min(max(offset, 0), FARTHEST))


def show_results(visit: Visit, task: str, quiz: str, trouble: Trouble | None = None, offset: int = 0) -> Response:
    """Show who took a quiz and what the questions were answered, with what was refused."""
    _ = visit.tongue.gettext
    definition = tasks.get_task(visit.db, task)
    results = quiz_results.quiz_results(visit.db, visit.actor, task, quiz, limit=PAGE_SIZE, offset=offset)
    path = f"/tasks/{task}/quizzes/{quiz}/results"
    return visit.render(
        "work/quiz_results.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="rounds",
        quiz=quizzes.get_quiz(visit.db, visit.actor, task, quiz),
        results=results,
        paging=Paging(path, {}, offset, len(results.by_person), results.people, PAGE_SIZE),
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Rounds"), f"/tasks/{task}/rounds"),
            (quiz, f"/tasks/{task}/quizzes/{quiz}"),
            (_("Results"), None),
        ],
        error=trouble,
    )


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 6 else None


def _choices(question: Question) -> list[tuple[str, str, str]]:
    return [(str(number), option, "") for number, option in enumerate(question.options)]


def _quiz(
    visit: Visit,
    task: Task,
    name: str,
    back: str,
    *,
    chosen: Mapping[int, str] | None = None,
    result: QuizTry | None = None,
    practised: Mapping[int, Mapping[str, Any]] | None = None,
    trouble: Trouble | None = None,
) -> Response:
    _ = visit.tongue.gettext
    return visit.render(
        "work/quiz.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="write",
        quiz=quizzes.get_quiz(visit.db, visit.actor, task.name, name),
        back=local_path(back) if back else f"/tasks/{task.name}/write",
        choices_of=_choices,
        given=chosen or {},
        result=result,
        practised=practised or {},
        crumbs=[
            (title_of(visit, task), f"/tasks/{task.name}"),
            (_("Write"), f"/tasks/{task.name}/write"),
            (name, None),
        ],
        error=trouble,
    )


def _save(post: Post, task: Task, quiz: str, name: str) -> Response:
    visit = post.visit
    text = post.text("toml").replace("\r\n", "\n")
    try:
        edit = page_edit(post)
        quizzes.put_quiz(visit.db, visit.actor, task.name, name, parse_quiz(text), new=not quiz, edit=edit)
    except ChangesToConfirm as error:
        return show_changes(post, error.changes, f"/tasks/{task.name}/quizzes/{name}")
    except (BadInput, Conflict) as error:
        return _editor(visit, task, quiz, text, trouble_of(error), name=name)
    return visit.redirect(f"/tasks/{task.name}/quizzes/{name}", visit.tongue.gettext("Saved."))


def _editor(
    visit: Visit, task: Task, quiz: str, text: str, trouble: Trouble | None = None, *, name: str = ""
) -> Response:
    require_owner(visit.actor, task.name)
    _ = visit.tongue.gettext
    title = _("Edit the quiz %(name)s", name=quiz) if quiz else _("New quiz")
    base = f"/tasks/{task.name}/quizzes"
    return visit.render(
        "work/quiz_edit.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="rounds",
        title=title,
        new=not quiz,
        name=name,
        action=f"{base}/{quiz}/edit" if quiz else f"{base}/new",
        toml=text,
        made_from=_stored(visit, task.name, quiz) if quiz else None,
        crumbs=[
            (title_of(visit, task), f"/tasks/{task.name}"),
            (_("Rounds"), f"/tasks/{task.name}/rounds"),
            (title, None),
        ],
        error=trouble,
    )


def _stored(visit: Visit, task: str, quiz: str) -> MadeFrom:
    return visit.made_from("quiz", quizzes.quiz_definition(visit.db, visit.actor, task, quiz))
