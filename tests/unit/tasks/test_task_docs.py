"""The examples in docs/tasks.md are true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from quintain.core.task import Label, Task
from quintain.tasks.contract import KINDS, kind_of
from quintain.tasks.definition import parse_task

DOCS = (Path(__file__).parents[3] / "docs" / "tasks.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##)", DOCS, re.MULTILINE | re.DOTALL))


def test_every_kind_is_documented() -> None:
    """There is a section for each kind that is built in, and for no other."""
    assert sorted(SECTIONS) == KINDS.names()


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_examples_are_good(name: str) -> None:
    """The examples of a kind pass its check, under the task file shown before them or the plainest one."""
    kind = KINDS.get(name)()
    labels = tuple(Label(label) for label in kind.fixed_labels or kind.starter_labels)
    task = Task("t", name, {"en": "T"}, labels)
    found = re.findall(r"```(toml|json)\n(.*?)```", SECTIONS[name], re.DOTALL)
    assert any(language == "json" for language, _ in found)
    for language, text in found:
        if language == "toml":
            task = parse_task(f'name = "t"\n{text}')
        else:
            row = json.loads(text)
            answer = row.pop("answer")
            assert kind_of(task).check(task, row, answer) == []


def test_first_file_is_good() -> None:
    """The file at the top of the page is a good one, also with the translations and the glossed label."""
    first, label, translations = re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL)[:3]
    assert parse_task(first).name == "sentiment"
    plain = 'name = "t"\nkind = "text-classification"\n'
    other = '[[labels]]\nname = "positive"\n'
    assert parse_task(plain + label + other + translations).title["de"] == "Stimmung"
