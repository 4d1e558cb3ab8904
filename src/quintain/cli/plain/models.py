"""`quintain model baselines|recipes|learners`: what models can be trained from, without a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.output import JsonFlag, print_document, print_json, print_table, say
from quintain.cli.streams import in_option, out_option
from quintain.core.records.training import LearnerInfo
from quintain.models.contract import BASELINES, baselines_for
from quintain.models.learning import LEARNERS, option_rows
from quintain.models.recipes import read_shipped, shipped_recipes
from quintain.tasks.definition import read_task

app = typer.Typer(help="Look at models, look after them, ask them.", no_args_is_help=True)


@app.command()
def baselines(
    task: Annotated[Path | None, in_option("Only those that suit this task file.", "--task", "-t")] = None,
    json: JsonFlag = False,
) -> None:
    """List the baselines that `quintain train` knows; needs no workspace.

    Example: quintain model baselines --task task.toml
    """
    suited = BASELINES.names() if task is None else baselines_for(read_task(task))
    suitable = [(name, BASELINES.get(name)) for name in suited]
    if json:
        print_json({"baselines": [{"name": name, "title": one.title, "about": one.about} for name, one in suitable]})
    else:
        print_table(("baseline", "title"), [(name, one.title) for name, one in suitable])


@app.command()
def recipes(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Print this one.", show_default=False)] = None,
    write: Annotated[Path | None, out_option("Write it to this file, to change it.", "--write", "-w")] = None,
    json: JsonFlag = False,
) -> None:
    """List the recipes that come with the program, or give one to start from; needs no workspace.

    Example: quintain model recipes model-1 --write model-1.toml
    """
    if name is None:
        if write is not None:
            raise typer.BadParameter("Name the recipe that is to be written.")
        listed = shipped_recipes()
        if json:
            print_json({"recipes": listed})
        else:
            print_table(("recipe", "what it is"), [(one.name, one.about) for one in listed])
        return
    recipe = read_shipped(name)
    if write is not None:
        write.write_text(recipe.text, encoding="utf-8")
        say(f"Wrote {write}. Change what is yours in it, then: quintain train {write}")
    elif not json:
        print_document(recipe.text, nl=False)
    if json:
        print_json(recipe)


@app.command()
def learners(json: JsonFlag = False) -> None:
    """List the learners of recipes and their options; needs no workspace.

    Example: quintain model learners
    """
    known = [LearnerInfo(name, one.title, one.about, option_rows(one)) for name, one in LEARNERS.items()]
    if json:
        print_json({"learners": known})
        return
    for learner in known:
        say(f"{learner.name}: {learner.title}. {learner.about}")
        rows = [tuple(str(row[key]) for key in ("name", "default", "takes", "meaning")) for row in learner.options]
        print_table(("option", "default", "takes", "meaning"), rows)
