"""A new task from a file: its kind is guessed from the columns, its labels from the data, and both may be changed.

Task and data are made together: where a row is wrong, there is no task either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict
from quintain.core.people import RoleName
from quintain.core.task import Label, Task
from quintain.data.encodings import NAMES
from quintain.data.first_look import FileLook, look_at_file
from quintain.data.guessing import guess_columns, guess_task, propose_labels
from quintain.data.readers.contract import Options
from quintain.services.access.permissions import require_role
from quintain.services.data import import_jobs
from quintain.services.data.bundles import data_file
from quintain.services.data.import_parts import import_parts, sizes_of_parts
from quintain.services.tasks import definitions as tasks
from quintain.stats.fitness import LEAST_EXAMPLES
from quintain.tasks.contract import KINDS
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.data.import_form import LEAVE_OUT, ImportPreview, label_fields, plan_of, preview
from quintain.web.pages.data.imports import SentFile, content_names, name_from_file, sent_file
from quintain.web.pages.tasks.task_form import TaskForm
from quintain.web.visit import Post, Posting, Visit, Visiting

IN_ORDER = ("negative", "neutral", "positive")


@dataclass(frozen=True, slots=True)
class NewTask:
    """What is known of the task so far, and what its file holds."""

    form: TaskForm
    labels: Mapping[str, str]
    values: Mapping[str, str] = field(default_factory=dict)
    seen: ImportPreview | None = None

    @property
    def task(self) -> Task:
        """The task as far as reading the file needs it."""
        kind = KINDS.get(self.form.kind)
        names = kind.fixed_labels or [name for name, _ in self.form.labels]
        return Task(self.form.name or "task", self.form.kind, {}, labels=tuple(Label(name) for name in names))


def page(visit: Visiting) -> Response:
    """Ask for the file."""
    return _page(visit, None)


def make(post: Posting) -> Response:
    """Look at the file and propose a task, or make the task with its data."""
    visit = post.visit
    tasks.may_make_tasks(visit.actor)
    new: NewTask | None = None
    try:
        with sent_file(post) as sent:
            new = _propose(post, sent)
            first = post.text("step") == "look"
            plan = plan_of(new.task, post).with_changes(duplicates="first" if first else "")
            new = replace(new, seen=preview(sent.path, new.task, plan, _with_left_out(new.labels), guess=first))
            if post.flag("step"):
                return _page(visit, new)
            return _make(post, new, sent)
    except (BadInput, Conflict) as error:
        return _page(visit, new, trouble_of(error))


def _propose(post: Post, sent: SentFile) -> NewTask:
    """Take what was typed, and guess what was not."""
    first = post.text("step") == "look"
    name = name_from_file(sent.name)
    with data_file(sent.path) as path:
        first_look = look_at_file(path, Options(encoding=post.text("encoding")))
    kind = post.text("kind") or guess_task(first_look).kind
    draft = Task("task", kind, {})
    columns = guess_columns(first_look, draft) if first else {"answer": post.text("column-answer")}
    answer = first_look.column(columns.get("answer", ""))
    typed = label_fields(post)
    proposed = propose_labels([value for value, _ in answer.values]) if answer else {}
    labels = {value: typed.get(value, label).strip() for value, label in proposed.items()}
    if not KINDS.get(kind).needs_labels or KINDS.get(kind).fixed_labels:
        labels = {}
    form = TaskForm(
        kind,
        name=post.text("name").strip() or name,
        title=post.text("title").strip() or name.replace("-", " ").capitalize(),
        instructions=post.text("instructions").replace("\r\n", "\n").strip(),
        labels=[(label, "") for label in _ordered(labels)],
    )
    values = {key: value for key, value in post.form.items() if isinstance(value, str)}
    values |= {"keep_first": "on"} if first else {}
    values |= {"kept": sent.kept, "kept_name": sent.name, "language": values.get("language") or _language(first_look)}
    return NewTask(form, labels, values)


def _language(file: FileLook) -> str:
    """Return the language of the longest texts; English where that cannot be told."""
    texts = [column for column in file.columns if column.language]
    return max(texts, key=lambda column: column.length).language if texts else "en"


def _ordered(labels: Mapping[str, str]) -> list[str]:
    """List the labels once each: from bad to good where that is what they say, else as their values come."""
    names = dict.fromkeys(label for _, label in sorted(labels.items()) if label)
    return [name for name in IN_ORDER if name in names] if names.keys() <= set(IN_ORDER) else list(names)


def _with_left_out(labels: Mapping[str, str]) -> dict[str, str]:
    return {value: label or LEAVE_OUT for value, label in labels.items()}


def _make(post: Post, new: NewTask, sent: SentFile) -> Response:
    visit, form, report = post.visit, new.form, new.seen.report if new.seen else None
    plan = replace(plan_of(new.task, post), labels={}, drop=()).with_changes(
        labels={value: label for value, label in new.labels.items() if label},
        drop=tuple(value for value, label in new.labels.items() if not label),
    )
    if report is not None and report.total and not plan.skip_bad:
        raise report.error()
    toml = form.toml(languages=[plan.language])
    task = tasks.put_task(visit.db, visit.actor, toml, new=True)
    where = (visit.db, visit.blobs, visit.actor, task.name, name_from_file(sent.name), sent.path, plan)
    _ = visit.tongue.gettext
    job = import_jobs.ask_import(*where, score=True, parts=True)
    if job is not None:
        return visit.redirect(f"/tasks/{task.name}", _("The task is made. A worker imports its data."))
    rows = sum(version.rows for version in import_parts(*where, score=True))
    toast = _("The task is made, with %(n)s examples.", n=visit.tongue.number(rows))
    return visit.redirect(f"/tasks/{task.name}", toast)


def _page(visit: Visit, new: NewTask | None, trouble: Trouble | None = None) -> Response:
    require_role(visit.actor, RoleName.OWNER)
    _ = visit.tongue.gettext
    return visit.render(
        "data/task_from_file.html",
        status=trouble.status if trouble else 200,
        new=new,
        seen=new.seen if new else None,
        values=new.values if new else {},
        kinds=[(name, _(member.title)) for name, member in KINDS.items()],
        content_names=content_names(visit),
        encodings=NAMES,
        parts_of=sizes_of_parts(new.seen.report.rows) if new and new.seen and new.seen.report else None,
        least=LEAST_EXAMPLES,
        leave_out=LEAVE_OUT,
        crumbs=[(_("New task"), "/tasks/new"), (_("From a file"), None)],
        error=trouble,
    )
