"""What shows or takes a text of a task says which language it is in: voices, fonts and spelling follow it."""

from __future__ import annotations

from dataclasses import replace

from quintain.core.task import Task
from quintain.web.rendering import environment
from tests.languages import opinion_task


def _shown(task: Task | None) -> str:
    return environment("de").from_string('<p dir="auto"{{ content_lang() }}>').render(task=task)


def test_a_text_has_the_language_of_its_task() -> None:
    """The page may be read in German while its texts are Chinese."""
    assert _shown(opinion_task("zh")) == '<p dir="auto" lang="zh">'


def test_nothing_is_said_of_what_nobody_knows() -> None:
    """Of a task in two languages no text is known to be in either, and pages of no task have none."""
    assert _shown(replace(opinion_task("zh"), languages=("zh", "en"))) == '<p dir="auto">'
    assert _shown(None) == '<p dir="auto">'
