"""A task file to start from, with a comment wherever there is something to decide."""

from __future__ import annotations

import json

from quintain.core.task import Label, Task
from quintain.tasks.contract import KINDS, TaskKind
from quintain.tasks.writing import toml


def starter(kind_name: str, name: str = "my-task") -> str:
    """Write a commented task file of a kind; it is a good one as it stands."""
    kind = KINDS.get(kind_name)()
    blocks = [
        f"# {kind.title}. Check this file with: quintain task check FILE",
        f"name = {toml(name)}  # small letters, digits, - and _",
        f"kind = {toml(kind.name)}",
        f"title = {toml(name.replace('-', ' ').replace('_', ' ').capitalize())}",
        'languages = ["en"]  # of the examples',
        *_labels(kind),
        "# What people may answer besides in validation; a model never does.",
        '# extra_labels = ["mixed"]',
        "",
        f"metrics = {toml(kind.default_metrics)}",
        f"canonical_metric = {toml(kind.default_metrics[0])}  # the one that ranks",
        "",
        '# content_warning = "Some texts are offensive."',
        "",
        "# Markdown. For several languages write a table: [instructions], then en = …, de = …",
        'instructions = """',
        "Say here what is asked, with an example.",
        '"""',
        *_options(kind),
        "",
        *_example(kind),
    ]
    return "\n".join(blocks) + "\n"


def _labels(kind: TaskKind) -> list[str]:
    if kind.fixed_labels:
        return ["", f"# The labels of this kind are {', '.join(kind.fixed_labels)}."]
    if not kind.needs_labels:
        return [""]
    return ["", f"labels = {toml(kind.starter_labels)}", "# With a gloss: [[labels]], then name = …, gloss = …"]


def _options(kind: TaskKind) -> list[str]:
    if not kind.default_options:
        return []
    lines = [f"# {option} = {toml(value)}" for option, value in kind.default_options.items()]
    return ["", "# [options]  # with their defaults", *lines]


def _example(kind: TaskKind) -> list[str]:
    labels = tuple(Label(label) for label in kind.fixed_labels or kind.starter_labels)
    fields = kind.fields(Task("starter", kind.name, {}, labels=labels))
    row = {**{field.name: kind.example.inputs[field.name] for field in fields}, "answer": kind.example.answer}
    return ["# An example of it, as a line of a JSONL file:", f"# {json.dumps(row, ensure_ascii=False)}"]
