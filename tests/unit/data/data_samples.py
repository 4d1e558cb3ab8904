"""Tasks for the tests of data sets."""

from __future__ import annotations

from quintain.core.task import Task
from quintain.tasks.definition import parse_task

TASKS = {
    "sentiment": 'kind = "text-classification"\nlabels = ["negative", "neutral", "positive"]',
    "polarity": 'kind = "text-classification"\nlabels = ["negative", "positive"]',
    "hate": 'kind = "text-classification"\nlabels = ["hate", "nothate"]',
    "hateful": 'kind = "text-classification"\nlabels = ["hateful", "non-hateful"]',
    "nli": 'kind = "pair-classification"\nlabels = ["entailment", "neutral", "contradiction"]',
    "nli-two": 'kind = "pair-classification"\nlabels = ["entailment", "not_entailment"]',
    "hans": 'kind = "pair-classification"\nlabels = ["entailment", "non-entailment"]',
    "qa": 'kind = "extractive-qa"',
    "choice": 'kind = "multiple-choice"',
    "srl": 'kind = "qa-srl"',
    "several": 'kind = "several-answers"',
    "attachment": 'kind = "attachment"',
    "boolq": 'kind = "yes-no"',
    "text": 'kind = "free-text"',
}


def task(name: str) -> Task:
    """Give one of a few tasks by its name."""
    return parse_task(f'name = "{name}"\n{TASKS[name]}')
