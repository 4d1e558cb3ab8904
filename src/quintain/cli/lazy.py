"""Commands that are imported when they are called, so that a small one starts fast."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from quintain.cli.examples import offer_examples
from quintain.cli.streams import let_overwrite


class Listed(NamedTuple):
    """What is known of a command before it is imported: the sentence in the list, and the places it is made of.

    The first place is the module and attribute of a Typer application or of one function; the others add to it.
    """

    help: str
    places: tuple[str, ...]


# In the order in which a newcomer would want to read them. A test compares the sentences with the commands' own.
COMMANDS: Mapping[str, Listed] = {
    "demo": Listed(
        "Make a workspace with starter tasks, data and trained baselines, and serve it until Ctrl-C.",
        ("quintain.cli.house.demo:demo",),
    ),
    "init": Listed(
        "Make a workspace and print the link with which its admin chooses a password.",
        ("quintain.cli.house.init:init",),
    ),
    "serve": Listed(
        "Serve the pages and the API of the workspace until Ctrl-C.",
        ("quintain.cli.house.serve:serve",),
    ),
    "worker": Listed(
        "Compute the cells that are missing, one after another, until Ctrl-C; start as many workers as you like.",
        ("quintain.cli.house.worker:worker",),
    ),
    "status": Listed(
        "Show the workspace, its database and migrations, what it holds, the room that is left and the sandbox.",
        ("quintain.cli.house.status:status",),
    ),
    "mail": Listed("Look after e-mails that wait or could not be sent.", ("quintain.cli.house.mail:app",)),
    "jobs": Listed(
        "Follow what workers do outside of requests, and rebuild figures.",
        ("quintain.cli.jobs.jobs:app", "quintain.cli.house.run_jobs"),
    ),
    "task": Listed(
        "Define what is asked.",
        (
            "quintain.cli.plain.task:app",
            "quintain.cli.tasks.task",
            "quintain.cli.work.quiz",
            "quintain.cli.validate.quiz",
            "quintain.cli.wheel.timeline",
            "quintain.cli.release.datasheet",
        ),
    ),
    "data": Listed(
        "Bring data sets in, look at them, take them out.",
        (
            "quintain.cli.plain.data_files:app",
            "quintain.cli.data.data",
            "quintain.cli.data.inputs",
            "quintain.cli.plain.perturb",
            "quintain.cli.plain.split",
            "quintain.cli.evaluate.overlap",
        ),
    ),
    "model": Listed(
        "Look at models, look after them, ask them.",
        (
            "quintain.cli.plain.models:app",
            "quintain.cli.models.model",
            "quintain.cli.models.predict",
            "quintain.cli.evaluate.check",
            "quintain.cli.evaluate.submit",
        ),
    ),
    "train": Listed(
        "Train a baseline or a recipe on data of the workspace, or with --out on plain files and without a workspace.",
        ("quintain.cli.evaluate.train:train",),
    ),
    "evaluate": Listed(
        "Score predictions and run models.",
        (
            "quintain.cli.plain.score:app",
            "quintain.cli.plain.paired",
            "quintain.cli.evaluate.cells",
            "quintain.cli.board.remeasure",
            "quintain.cli.evaluate.results",
            "quintain.cli.evaluate.answers",
            "quintain.cli.evaluate.local",
        ),
    ),
    "board": Listed(
        "Rank models by what matters to you.",
        (
            "quintain.cli.plain.rank:app",
            "quintain.cli.board.board",
            "quintain.cli.board.snapshots",
            "quintain.cli.board.verify",
        ),
    ),
    "harvest": Listed(
        "Sample sentences of a corpus by what a model predicts and by what their reviews' ratings say.",
        ("quintain.cli.harvest.harvest:harvest",),
    ),
    "validate": Listed(
        "Let people judge what was collected.",
        (
            "quintain.cli.validate.validate:app",
            "quintain.cli.validate.console",
            "quintain.cli.validate.gold",
            "quintain.cli.validate.judges",
        ),
    ),
    "labels": Listed(
        "Turn judgements into labels one can trust.",
        ("quintain.cli.plain.labels:app", "quintain.cli.plain.mturk", "quintain.cli.plain.labels_machine"),
    ),
    "study": Listed(
        "Study data and the people behind it.",
        (
            "quintain.cli.plain.study:app",
            "quintain.cli.plain.study_texts",
            "quintain.cli.plain.study_irt",
            "quintain.cli.plain.study_artefacts",
            "quintain.cli.plain.study_errors",
            "quintain.cli.plain.study_preference",
            "quintain.cli.study.compare",
            "quintain.cli.study.study",
            "quintain.cli.study.stored",
            "quintain.cli.study.code",
        ),
    ),
    "contrast": Listed(
        "Probe models near their decision boundary.",
        ("quintain.cli.plain.contrast:app", "quintain.cli.contrast.published", "quintain.cli.contrast.project"),
    ),
    "contest": Listed(
        "Let builders build and breakers break.",
        (
            "quintain.cli.plain.contest:app",
            "quintain.cli.contest.contests",
            "quintain.cli.contest.results",
            "quintain.cli.contest.teams",
            "quintain.cli.contest.searches",
        ),
    ),
    "trial": Listed(
        "Compare ways of writing in a randomised trial.",
        ("quintain.cli.plain.trial:app", "quintain.cli.trial.trial", "quintain.cli.trial.letters"),
    ),
    "round": Listed(
        "Collect examples in rounds.",
        (
            "quintain.cli.collect.round:app",
            "quintain.cli.collect.console",
            "quintain.cli.collect.round_pay",
            "quintain.cli.collect.eligible",
            "quintain.cli.validate.flags",
            "quintain.cli.validate.harvests",
            "quintain.cli.release.release",
            "quintain.cli.wheel.solved",
        ),
    ),
    "pay": Listed(
        "Pay people, and keep the books.",
        (
            "quintain.cli.pay.pay:app",
            "quintain.cli.pay.payouts",
            "quintain.cli.trial.prolific",
            "quintain.cli.collect.panel",
        ),
    ),
    "simulate": Listed("Let simulated people work in a workspace.", ("quintain.cli.house.simulate:app",)),
    "user": Listed(
        "Accounts and what they may do.",
        ("quintain.cli.access.user:app", "quintain.cli.house.personal_data", "quintain.cli.work.qualification"),
    ),
    "backup": Listed(
        "Write all rows and blobs to one file, also while the server runs, and restore it on trial.",
        ("quintain.cli.house.backup:backup",),
    ),
    "restore": Listed(
        "Put what a backup holds into the workspace, made where there is none; a refusal leaves nothing behind.",
        ("quintain.cli.house.backup:restore",),
    ),
    "upgrade": Listed(
        "Bring the database to what this version needs, after a copy of all rows; blobs stay as they are.",
        ("quintain.cli.house.backup:upgrade",),
    ),
}
# Subcommands that people wait for, with the parts of their group that suffice: the others import the whole platform.
ALONE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("board", "rank"): ("quintain.cli.plain.rank:app",),
    ("board", "verify"): ("quintain.cli.plain.rank:app", "quintain.cli.board.verify"),
    ("contest", "convert"): ("quintain.cli.plain.contest:app",),
    ("contest", "score"): ("quintain.cli.plain.contest:app",),
    ("contrast", "formats"): ("quintain.cli.plain.contrast:app",),
    ("contrast", "import"): ("quintain.cli.plain.contrast:app", "quintain.cli.contrast.published"),
    ("contrast", "score"): ("quintain.cli.plain.contrast:app",),
    ("data", "check"): ("quintain.cli.plain.data_files:app",),
    ("data", "overlap"): ("quintain.cli.plain.data_files:app", "quintain.cli.evaluate.overlap"),
    ("data", "perturb"): ("quintain.cli.plain.data_files:app", "quintain.cli.plain.perturb"),
    ("data", "perturbations"): ("quintain.cli.plain.data_files:app", "quintain.cli.plain.perturb"),
    ("data", "presets"): ("quintain.cli.plain.data_files:app",),
    ("data", "split"): ("quintain.cli.plain.data_files:app", "quintain.cli.plain.split"),
    ("evaluate", "local"): ("quintain.cli.plain.score:app", "quintain.cli.evaluate.local"),
    ("evaluate", "paired"): ("quintain.cli.plain.score:app", "quintain.cli.plain.paired"),
    ("evaluate", "score"): ("quintain.cli.plain.score:app",),
    **{("model", name): ("quintain.cli.plain.models:app",) for name in ("baselines", "learners", "recipes")},
    **{("model", name): ("quintain.cli.plain.models:app", "quintain.cli.evaluate.check") for name in ("init", "check")},
    ("model", "predict"): ("quintain.cli.plain.models:app", "quintain.cli.models.predict"),
    ("study", "compare"): ("quintain.cli.plain.study:app", "quintain.cli.study.compare"),
    ("study", "preference"): ("quintain.cli.plain.study:app", "quintain.cli.plain.study_preference"),
    ("study", "irt"): ("quintain.cli.plain.study:app", "quintain.cli.plain.study_irt"),
    ("study", "artefacts"): ("quintain.cli.plain.study:app", "quintain.cli.plain.study_artefacts"),
    **{
        ("study", name): ("quintain.cli.plain.study:app", "quintain.cli.plain.study_errors")
        for name in ("slices", "disagree", "calibration")
    },
    ("study", "human"): ("quintain.cli.plain.study:app",),
    ("study", "texts"): ("quintain.cli.plain.study:app", "quintain.cli.plain.study_texts"),
    ("trial", "check"): ("quintain.cli.plain.trial:app",),
    ("trial", "protocols"): ("quintain.cli.plain.trial:app",),
    ("trial", "report"): ("quintain.cli.plain.trial:app",),
    ("trial", "simulate"): ("quintain.cli.plain.trial:app",),
    **{("task", name): ("quintain.cli.plain.task:app",) for name in ("check", "kinds", "new")},
}


class LazyGroup(TyperGroup):
    """The commands of `COMMANDS`: listed by their sentences, imported when one of them is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: TyperCommand(name, help=one.help) for name, one in COMMANDS.items()}

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names, in the order in which a newcomer would want to read them."""
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that *args* begin with, importing no more than a subcommand in `ALONE` needs."""
        name, listed, rest = super().resolve_command(ctx, args)
        if name is None:  # a shell that completes asks about half a word
            return name, listed, rest
        return name, load(name, rest[0] if rest else ""), rest


def load(name: str, subcommand: str = "") -> Any:
    """Import the command called *name*, or as much of it as *subcommand* needs."""
    places = ALONE.get((name, subcommand), COMMANDS[name].places)
    module, _, attribute = places[0].partition(":")
    target = getattr(importlib.import_module(module), attribute)
    for addition in places[1:]:
        importlib.import_module(addition)
    if isinstance(target, typer.Typer):
        _put_in_order(target, COMMANDS[name].places)
        command: Any = get_group(target)
    else:
        alone = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
        alone.command(name)(target)
        command = get_command(alone)
    command.name = name
    return offer_examples(let_overwrite(command), name)


def _put_in_order(app: typer.Typer, places: Sequence[str]) -> None:
    """List the commands of *app* by their places, however much of it was imported before the rest."""
    modules = [place.partition(":")[0] for place in places]
    app.registered_commands.sort(key=lambda entry: modules.index(entry.callback.__module__) if entry.callback else 0)
