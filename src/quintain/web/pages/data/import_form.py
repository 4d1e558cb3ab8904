"""The form of an import: the plan that it describes, and what it shows of a file before anything is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.example import Role
from quintain.core.task import Task
from quintain.data.first_look import Content, FileLook, look_at_file
from quintain.data.guessing import guess_columns, guess_labels
from quintain.data.importing import ImportReport, check_file
from quintain.data.plan import ImportPlan, parse_plan
from quintain.services.data.bundles import data_file
from quintain.services.data.import_jobs import is_large
from quintain.tasks.contract import kind_of
from quintain.web.visit import Post

COLUMN = "column-"
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
LEAVE_OUT = "-"  # what is chosen for a value whose rows are not wanted
PARTS = "parts"  # chosen as what the data is for: divided into train, dev and test
FAULTS = 20  # that are listed before the import


@dataclass(frozen=True, slots=True)
class ColumnMenu:
    """Which column of the file holds an input; *answer* and *tags* stand beside the inputs."""

    name: str
    title: str
    chosen: str
    required: bool


@dataclass(frozen=True, slots=True)
class ValueRow:
    """A value in the column of answers: how often it occurs, and the label that it becomes."""

    value: str
    count: int
    label: str


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """A file before it is imported; *report* is None where not all of it was read, or a column is missing.

    *tag_columns* are those whose values can become tags, each with whether they do.
    """

    look: FileLook
    menus: list[ColumnMenu]
    values: list[ValueRow]
    tag_columns: list[tuple[str, bool]]
    report: ImportReport | None
    large: bool

    @property
    def ready(self) -> bool:
        """Whether each input that is needed has a column."""
        return all(menu.chosen for menu in self.menus if menu.required)


def plan_of(task: Task, post: Post) -> ImportPlan:
    """Make the plan that the form describes: the advanced TOML first, the controls on top of it."""
    columns = {name: post.text(COLUMN + name).strip() for name in _columns(task) if post.text(COLUMN + name).strip()}
    chosen = chosen_labels(post)
    role = post.text("role")
    changes: dict[str, Any] = {
        "role": Role.TRAIN.value if role == PARTS else role,
        "hidden": post.flag("hidden"),
        "language": post.text("language").strip(),
        "description": post.text("description").strip(),
        "columns": columns,
        "labels": {**label_map(post.text("labels")), **_changed(chosen)},
        "drop": tuple(value for value, label in chosen.items() if label == LEAVE_OUT),
        "license": post.text("license").strip(),
        "citation": post.text("citation").strip(),
        "rows": post.text("rows").strip(),
        **{name: post.number(name) for name in ("sample", "seed") if post.text(name).strip()},
        "skip_bad": post.flag("skip_bad"),
        "encoding": post.text("encoding"),
        "separator": SEPARATORS.get(post.text("separator"), ""),
        "duplicates": "first" if post.flag("keep_first") else "",
        "tag_columns": tuple(post.texts("tag_column")),
    }
    return parse_plan(post.text("plan")).with_changes(**changes)


def chosen_labels(post: Post) -> dict[str, str]:
    """Return the label that was chosen for each value that the form listed; values without one are left out."""
    return {value: label for value, label in label_fields(post).items() if label}


def label_fields(post: Post) -> dict[str, str]:
    """Return what stands beside each value that the form listed, also where that is nothing."""
    values, labels = (
        [text.strip() for text in post.form.getlist(name) if isinstance(text, str)] for name in ("value", "label")
    )
    return dict(zip(values, labels, strict=False))


def preview(
    path: Path, task: Task, plan: ImportPlan, chosen: Mapping[str, str], *, guess: bool = False
) -> ImportPreview:
    """Look at a file as *plan* would read it, with the label *chosen* for each value; the rest may be guessed."""
    with data_file(path) as file:
        first_look = look_at_file(file, plan.reading, form=plan.format)
        large = is_large(file)
        guessed = guess_columns(first_look, task) if guess else {}
        columns = {**guessed, **{ours: theirs for ours, theirs in plan.columns.items() if isinstance(theirs, str)}}
        tagging = _tag_columns(first_look, columns, plan.tag_columns, guess=guess)
        tags = tuple(name for name, chosen_too in tagging if chosen_too)
        plan = plan.with_changes(columns=columns, tag_columns=tags)
        values = _values(task, first_look, columns.get("answer", ""), plan, chosen)
        shown = ImportPreview(first_look, _menus(task, columns), values, tagging, None, large)
        if large or not shown.ready:
            return shown
        labels = {row.value: row.label for row in values if row.label}
        drop = tuple(value for value, label in labels.items() if label == LEAVE_OUT)
        whole = plan.with_changes(role=plan.role or Role.TEST.value, labels=_changed(labels), drop=drop)
        return replace(shown, report=check_file(file, task, whole.with_changes(limit=FAULTS)))


def _tag_columns(
    file: FileLook, columns: Mapping[str, str], chosen: Sequence[str], *, guess: bool
) -> list[tuple[str, bool]]:
    """List the columns of a few values that nothing else is read from, and whether they become tags."""
    names = [
        column.name
        for column in file.columns
        if column.content is Content.VALUE and column.distinct > 1 and column.name not in columns.values()
    ]
    return [(name, guess or name in chosen) for name in names]


def _columns(task: Task) -> list[str]:
    return [*(field.name for field in kind_of(task).fields(task)), "answer", "tags"]


def _menus(task: Task, columns: Mapping[str, str]) -> list[ColumnMenu]:
    menus = [
        ColumnMenu(field.name, field.title or field.name, columns.get(field.name, ""), field.required)
        for field in kind_of(task).fields(task)
    ]
    return [
        *menus,
        ColumnMenu("answer", "answer", columns.get("answer", ""), True),
        ColumnMenu("tags", "tags", columns.get("tags", ""), False),
    ]


def _values(task: Task, file: FileLook, column: str, plan: ImportPlan, chosen: Mapping[str, str]) -> list[ValueRow]:
    """List the values of the answer column with the label of each, where the task's answers are labels."""
    answers = file.column(column)
    if answers is None or not task.label_names:
        return []
    values = [value for value, _ in answers.values]
    labels = {**guess_labels(values, task.label_names), **plan.labels, **chosen}
    rows = [ValueRow(value, count, labels.get(value, "")) for value, count in answers.values]
    return sorted(rows, key=lambda row: float(row.value)) if all(map(_is_number, values)) else rows


def _is_number(value: str) -> bool:
    return value.strip().removeprefix("-").replace(".", "", 1).isdecimal()


def _changed(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that a value does not have in the file already; none where no value changes."""
    mapped = {value: label for value, label in labels.items() if label != LEAVE_OUT}
    return mapped if any(value != label for value, label in mapped.items()) else {}


def label_map(text: str) -> dict[str, str]:
    r"""Read lines such as `4 = positive` into a map from values of the file to labels.

    >>> label_map("0 = negative\n1=positive")
    {'0': 'negative', '1': 'positive'}
    """
    labels: dict[str, str] = {}
    faults = []
    for number, line in enumerate(text.splitlines(), start=1):
        value, equals, label = line.partition("=")
        if equals and label.strip():
            labels[value.strip()] = label.strip()
        elif line.strip():
            faults.append(
                Fault(
                    "line {number}, '{text}', is not of the form value = label",
                    number=number,
                    text=line.strip()[:60],
                    field="labels",
                )
            )
    if faults:
        raise BadInput(faults=faults)
    return labels
