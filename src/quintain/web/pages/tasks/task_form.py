"""A new task as a form: what it is called, its labels with what they mean, its instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from quintain.core.task import Label, Task
from quintain.tasks.contract import KINDS
from quintain.tasks.writing import dump_toml
from quintain.web.visit import Post

ROWS = 6  # of labels; more where more were typed


@dataclass(frozen=True, slots=True)
class TaskForm:
    """What the form holds; *takes_labels* says whether the kind leaves a choice of labels."""

    kind: str
    name: str = ""
    title: str = ""
    instructions: str = ""
    labels: list[tuple[str, str]] = field(default_factory=list)

    @property
    def takes_labels(self) -> bool:
        """Whether the owner names the labels."""
        kind = KINDS.get(self.kind)
        return kind.needs_labels and not kind.fixed_labels

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The labels, and empty rows for more."""
        return self.labels + [("", "")] * max(1, ROWS - len(self.labels))

    def toml(self, languages: Sequence[str] = ()) -> str:
        """Write the task as the file that defines it; what is left out is the kind's default."""
        tables: dict[str, object] = {"name": self.name, "kind": self.kind, "title": self.title}
        if languages:
            tables["languages"] = list(languages)
        if self.instructions:
            tables["instructions"] = self.instructions
        if self.takes_labels:
            tables["labels"] = [{"name": name, **({"gloss": gloss} if gloss else {})} for name, gloss in self.labels]
        return dump_toml(tables)


def first_form(kind: str) -> TaskForm:
    """Offer a form for a *kind*, with its usual labels."""
    return TaskForm(kind, labels=[(name, "") for name in KINDS.get(kind).starter_labels])


def read_form(post: Post) -> TaskForm:
    """Read what was typed; rows without a name are no labels."""
    names, glosses = (
        [str(value).strip() for value in post.form.getlist(name) if isinstance(value, str)]
        for name in ("label-name", "label-gloss")
    )
    return TaskForm(
        kind=post.text("kind"),
        name=post.text("name").strip(),
        title=post.text("title").strip(),
        instructions=post.text("instructions").replace("\r\n", "\n").strip(),
        labels=[(name, gloss) for name, gloss in zip(names, glosses, strict=False) if name],
    )


def form_of(task: Task) -> TaskForm:
    """Return the form of a task that is there, in the first of its languages."""
    return TaskForm(
        kind=task.kind,
        name=task.name,
        title=_text_in(task, task.title),
        instructions=_text_in(task, task.instructions),
        labels=[(label.name, label.gloss) for label in task.labels],
    )


def with_form(task: Task, form: TaskForm) -> Task:
    """Return *task* with what the form says; what is in other languages, and all else, stays as it is."""
    instructions = _with_text(task, task.instructions, form.instructions)
    changed = replace(task, title=_with_text(task, task.title, form.title), instructions=instructions)
    if not form.takes_labels:
        return changed
    before = {label.name: label for label in task.labels}
    labels = tuple(_with_gloss(task, before.get(name, Label(name)), gloss) for name, gloss in form.labels)
    return replace(changed, labels=labels)


def _text_in(task: Task, texts: Mapping[str, str]) -> str:
    return texts.get(task.language) or next(iter(texts.values()), "")


def _with_text(task: Task, texts: Mapping[str, str], text: str) -> dict[str, str]:
    if text == _text_in(task, texts).strip():
        return dict(texts)
    return {**texts, task.language: text} if text else {}


def _with_gloss(task: Task, label: Label, gloss: str) -> Label:
    if gloss == label.gloss:
        return label
    glosses = tuple({**dict(label.glosses), task.language: gloss}.items()) if label.glosses else ()
    return replace(label, gloss=gloss, glosses=glosses)


def beside(faults: Mapping[str, str], name: str) -> str:
    """Return what is wrong with one field, or with one of its rows."""
    return "; ".join(text for field, text in faults.items() if field.partition(".")[0].partition("[")[0] == name)
