"""Open rounds on the demo's tasks, for tests of the pages where people write."""

from __future__ import annotations

import json
from pathlib import Path

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.collect.rounds.manage import RoundInfo, open_round, put_round
from quintain.services.collect.rounds.prompts import import_prompts
from quintain.services.work.quizzes import put_quiz

PASSAGE = (
    "The mill at Korda was built in 1894 by the engineer Ada Lund. In 1911 a fire burnt the roof, "
    "and her brother Per rebuilt it in slate. Since then it has ground rye for the whole valley."
)
PROMPTS: dict[str, list[dict[str, object]]] = {
    "sentiment": [
        {"text": f"The {thing} was good and the {other} came on time."}
        for thing, other in (
            ("soup", "waiter"),
            ("concert", "last tram"),
            ("blender", "parcel"),
            ("ferry", "crew"),
            ("hotel", "breakfast"),
            ("lecture", "speaker"),
            ("tent", "refund"),
            ("museum", "guide"),
        )
    ],
    "nli": [
        {"premise": "Two girls row a red boat across the lake at dawn."},
        {"premise": "An old man sells roasted chestnuts beside the station."},
        {"premise": "The choir sings while rain falls on the tin roof."},
    ],
    "qa": [{"passage": PASSAGE}, {"passage": PASSAGE.replace("Korda", "Lomsa")}],
    "choice": [{"passage": PASSAGE}, {"passage": PASSAGE.replace("Korda", "Lomsa")}],
}
MODELS = {"sentiment": "ngram", "nli": "pair-overlap", "qa": "span-overlap", "choice": "option-overlap"}
ROUND = """
task = "{task}"
title = "{title}"
{more}

[targets]
models = ["{task}/{model}"]

[reward]
amount = 30
currency = "USD"
{tables}
"""
QUIZ = {
    "instructions": "Label what the *writer* thinks.",
    "tries": 2,
    "practice": [
        {
            "text": "“Splendid idea to close all the toilets.”",
            "options": ["positive", "negative"],
            "answer": 1,
            "explanation": "Irony counts as what is meant.",
        }
    ],
    "questions": [
        {"text": "“Best soup of my life.” is", "options": ["positive", "negative"], "answer": 0},
        {"text": "“The door is blue.” is", "options": ["positive", "neutral"], "answer": 1},
    ],
}


def add_round(
    workspace: Workspace,
    folder: Path,
    task: str,
    *,
    title: str = "Fool the model",
    more: str = "",
    tables: str = "",
    prompts: bool = True,
    opened: bool = True,
) -> RoundInfo:
    """Add a round of one of the demo's tasks with its prompts."""
    with workspace.session() as db:
        toml = ROUND.format(task=task, title=title, model=MODELS[task], more=more, tables=tables)
        info = put_round(db, OPERATOR, toml)
        if prompts:
            path = folder / f"{task}-{info.number}.jsonl"
            # A prompt that an earlier round gave out is left out, so that each round gets its own.
            rows = [{name: _own(value, info.number) for name, value in row.items()} for row in PROMPTS[task]]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            import_prompts(db, OPERATOR, info.ref, path)
        return open_round(db, OPERATOR, info.ref) if opened else info


def add_quiz(workspace: Workspace, task: str, name: str = "basics") -> None:
    """Add a quiz of two questions."""
    with workspace.session() as db:
        put_quiz(db, OPERATOR, task, name, QUIZ)


def _own(value: object, number: int) -> object:
    return value if number == 1 or not isinstance(value, str) else f"{value} It was day {number}."
