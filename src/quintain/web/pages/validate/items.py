"""The items of a validation and its gold items: lists that filter and sort, files that bring more, the entry quiz."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.records.judging import GOLD_USES
from quintain.core.records.validate import STATES
from quintain.core.task import Task
from quintain.core.validation import EntryQuiz
from quintain.data.tables import parse_columns
from quintain.services.data import datasets
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import item_files
from quintain.services.validate.console import items as validation_items
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console.items import ORDERS, ItemQuery
from quintain.services.validate.labels import shows_answer
from quintain.services.validate.quality import gold, gold_list, gold_quiz, validation_figures
from quintain.services.validate.quality.gold_list import GOLD_ORDERS, GoldQuery
from quintain.services.work import quizzes
from quintain.tasks.contract import kind_of
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import on_disk
from quintain.web.listing import SIZE, Asking, ListQuery, page_of
from quintain.web.pages.stations import station_line
from quintain.web.pages.validate.console import crumbs, home_of
from quintain.web.pages.validate.judge_items import item_text
from quintain.web.visit import Post, Posting, Visit, Visiting


def show_items(visit: Visiting, task: str, name: str, asked: Asking) -> Response:
    """List the items, and offer to add more."""
    return _items(visit, task, name, asked)


def add_items(post: Posting, task: str, name: str) -> Response:
    """Add the rows of a file, or the examples of a data set; all of them or none."""
    visit = post.visit
    ref = f"{task}/{name}"
    try:
        if post.text("dataset"):
            dataset = post.text("dataset")
            taken = item_files.add_items_from_dataset(visit.db, visit.blobs, visit.actor, ref, dataset)
        else:
            with on_disk(_file(post), post.visit.workspace.limits_at_once) as path:
                taken = item_files.add_items_from_file(visit.db, visit.actor, ref, path, _columns(post))
    except (BadInput, Conflict, NotFound) as error:
        return _items(visit, task, name, ListQuery(), trouble=trouble_of(error))
    _ = visit.tongue.gettext
    toast = _("%(n)s items added; %(repeats)s were there already.", n=taken.added, repeats=taken.repeats)
    return visit.redirect(f"{home_of(task, name)}/items", toast)


def show_gold(visit: Visiting, task: str, name: str, asked: Asking) -> Response:
    """List the gold items, and offer to add more and to make the entry quiz."""
    return _gold(visit, task, name, asked)


def add_gold(post: Posting, task: str, name: str) -> Response:
    """Add the gold items of a file; all of them or none."""
    visit = post.visit
    try:
        with on_disk(_file(post), post.visit.workspace.limits_at_once) as path:
            added = item_files.add_gold_from_file(visit.db, visit.actor, f"{task}/{name}", path, _columns(post))
    except (BadInput, Conflict) as error:
        return _gold(visit, task, name, ListQuery(), trouble=trouble_of(error))
    toast = visit.tongue.gettext("Gold items added: %(n)s.", n=added)
    return visit.redirect(f"{home_of(task, name)}/gold", toast)


def gold_from_item(post: Posting, task: str, name: str) -> Response:
    """Make a gold item of one that is judged to the end."""
    visit = post.visit
    try:
        label = gold.gold_from_item(visit.db, visit.actor, f"{task}/{name}", post.number("item"))
    except Conflict as error:
        return _items(visit, task, name, ListQuery(), trouble=trouble_of(error))
    toast = visit.tongue.gettext("It is a gold item now: %(label)s. “Retire” takes it back.", label=label)
    return visit.redirect(f"{home_of(task, name)}/gold", toast)


def retire_gold(post: Posting, task: str, name: str) -> Response:
    """Show a gold item no more."""
    visit = post.visit
    gold.retire_gold(visit.db, visit.actor, f"{task}/{name}", post.number("item"))
    toast = visit.tongue.gettext("It is not shown any more. “Show again” takes it back.")
    return visit.redirect(f"{home_of(task, name)}/gold", toast)


def restore_gold(post: Posting, task: str, name: str) -> Response:
    """Show a gold item again."""
    visit = post.visit
    gold.restore_gold(visit.db, visit.actor, f"{task}/{name}", post.number("item"))
    return visit.redirect(f"{home_of(task, name)}/gold", visit.tongue.gettext("It is shown again."))


def make_quiz(post: Posting, task: str, name: str) -> Response:
    """Make the entry quiz from gold items, and ask for it."""
    visit = post.visit
    try:
        instructions = post.text("instructions").strip()
        quiz = gold_quiz.make_quiz(visit.db, visit.actor, f"{task}/{name}", instructions=instructions)
    except (BadInput, Conflict) as error:
        return _gold(visit, task, name, ListQuery(), trouble=trouble_of(error))
    toast = visit.tongue.gettext("The quiz “%(name)s” is ready; who wants to judge passes it first.", name=quiz)
    return visit.redirect(f"{home_of(task, name)}/gold#quiz", toast)


def _file(post: Post) -> Any:
    upload = post.file("file")
    if upload is None:
        raise BadInput(faults=[Fault("no file was chosen", field="file")])
    return upload


def _columns(post: Post) -> dict[str, str]:
    return parse_columns(line for line in post.text("columns").splitlines() if line.strip())


def _names(task: Task, *more: str) -> list[str]:
    """List the columns that a file must have."""
    fields = [item.name for item in kind_of(task).fields(task) if item.required]
    return [*fields, *(["answer"] if shows_answer(task) else []), *more]


def _items(visit: Visit, task: str, name: str, asked: ListQuery, *, trouble: Trouble | None = None) -> Response:
    _ = visit.tongue.gettext
    definition = tasks.get_task(visit.db, task)
    ref, home = f"{task}/{name}", home_of(task, name)
    sort = asked.sort if asked.sort in ORDERS else "item"
    state = asked.show if asked.show in STATES else ""
    query = ItemQuery(state, asked.label, asked.q, sort, asked.order == "down", max(asked.offset, 0), SIZE)
    listed = validation_items.list_items(visit.db, visit.actor, ref, query)
    rows = [(item, item_text(definition, item.inputs)) for item in listed.items]
    titles = {
        "contested": _("contested (%(n)s)", n=visit.tongue.number(listed.counts["contested"])),
        "labelled": _("with a label (%(n)s)", n=visit.tongue.number(listed.counts["labelled"])),
        "undecided": _("no majority (%(n)s)", n=visit.tongue.number(listed.counts["undecided"])),
        "waiting": _("waiting for judgements (%(n)s)", n=visit.tongue.number(listed.counts["waiting"])),
    }
    return visit.render(
        "validate/items.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="validation",
        name=name,
        wheel=station_line(visit, definition, name),
        home=home,
        found=listed,
        counted=validation_figures.figure_status(visit.db, visit.actor, ref),
        listing=page_of(rows, listed.total, asked, path=f"{home}/items", sort=sort, down=query.down),
        filters=asked,
        item_states=[("", _("all")), *titles.items()],
        item_labels=[("", _("all")), *((label, label) for label in definition.judgement_labels)],
        columns=_names(definition),
        datasets=[
            (version.ref, version.ref)
            for version in datasets.list_versions(visit.db, visit.actor, task)
            if datasets.may_see_answers(visit.actor, version)
        ],
        crumbs=crumbs(visit, definition, name, _("Items")),
        error=trouble,
    )


def _gold(visit: Visit, task: str, name: str, asked: ListQuery, *, trouble: Trouble | None = None) -> Response:
    _ = visit.tongue.gettext
    definition = tasks.get_task(visit.db, task)
    ref, home = f"{task}/{name}", home_of(task, name)
    policy = validate.find_validation(visit.db, ref).policy
    quiz = policy.quiz or EntryQuiz()
    sort = asked.sort if asked.sort in GOLD_ORDERS else "accuracy"
    use = asked.show if asked.show in GOLD_USES else ""
    query = GoldQuery(use, asked.q, sort, asked.order == "down", max(asked.offset, 0), SIZE)
    listed = gold_list.list_gold(visit.db, visit.actor, ref, query)
    rows = [(item, item_text(definition, item.inputs)) for item in listed.gold]
    return visit.render(
        "validate/gold.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="validation",
        name=name,
        wheel=station_line(visit, definition, name),
        home=home,
        policy=policy,
        quiz=quiz,
        has_quiz=quiz.name in quizzes.list_quizzes(visit.db, task),
        total=sum(listed.use.values()),
        usable=listed.use["used"],
        listing=page_of(rows, listed.total, asked, path=f"{home}/gold", sort=sort, down=query.down),
        filters=asked,
        shows=[("", _("all")), ("used", _("in use")), ("retired", _("not shown any more"))],
        columns=_names(definition, "label"),
        crumbs=crumbs(visit, definition, name, _("Gold items")),
        error=trouble,
    )
