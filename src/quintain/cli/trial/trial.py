"""`quintain trial put|open|status|doors|judge|costs|…`: trials of a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, link_base, workspace_of
from quintain.cli.output import JsonFlag, print_json, print_line, print_table, say
from quintain.cli.plain.trial import app
from quintain.cli.reporting import FolderOption, give_report
from quintain.cli.streams import in_option, out_file
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.trial import CrowdTrial, TrialModels
from quintain.data.text import read_bytes
from quintain.data.trials import write_trial
from quintain.protocols.reading import shipped, shipped_text
from quintain.services.trial import costs as costs_
from quintain.services.trial import model_runs, panel_entry, reporting, stages, trials
from quintain.services.trial.contexts import DEFAULT_GENRE
from quintain.services.trial.trials import OpenTrial

TrialArgument = Annotated[str, typer.Argument(metavar="TRIAL", help="The trial, as task/name.")]


def split_ref(ref: str) -> tuple[str, str]:
    """Split `task/name`."""
    task, _, name = ref.partition("/")
    if not task or not name:
        raise BadInput("'{given}' names no trial.", given=ref, remedy="Name it as task/name, such as mood/first.")
    return task, name


@app.command()
def put(
    context: typer.Context,
    ref: TrialArgument,
    protocols: Annotated[
        list[str], typer.Argument(metavar="PROTOCOL…", help="Names of protocols that ship, or TOML files.")
    ],
    title: Annotated[str, typer.Option(help="What workers see.")] = "",
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Add a trial with an arm for each protocol, as a draft.

    Example: quintain trial put sentiment/first baseline crowd --title "Write about moods"
    """
    task, name = split_ref(ref)
    texts = [
        shipped_text(protocol.lower()) if protocol.lower() in shipped() else read_bytes(Path(protocol)).decode()
        for protocol in protocols
    ]
    with workspace_of(context).session() as db:
        trial = confirm_changes(
            lambda edit: trials.put_trial(db, OPERATOR, task, name, texts, title=title, edit=edit),
            remove,
            revision,
            yes=yes,
        )
    print_trial(trial, json=json)


@app.command(name="open")
def open_(
    context: typer.Context,
    ref: TrialArgument,
    source: Annotated[str, typer.Option(help="Data set with the contexts.", show_default=False)] = "",
    contexts: Annotated[Path | None, in_option("File of contexts, such as passages, in place of a data set.")] = None,
    most: Annotated[int, typer.Option(help="Take at most so many; 0 for what the protocols need.", min=0)] = 0,
    model: Annotated[list[str] | None, typer.Option(help="A model to fool, where an arm has one.")] = None,
    genre: Annotated[str, typer.Option(help="Tag of texts that arms get equally much of.")] = DEFAULT_GENRE,
    json: JsonFlag = False,
) -> None:
    """Let people enter; from then on the protocols never change.

    Example: quintain trial open sentiment/first --source sentiment/reviews

    Example: quintain trial open quiz/first --contexts passages.jsonl
    """
    task, name = split_ref(ref)
    workspace = workspace_of(context)
    options = OpenTrial(source, tuple(model or ()), genre, contexts, most)
    with workspace.session() as db:
        trial = trials.open_trial(db, workspace.blobs, OPERATOR, task, name, options)
    print_trial(trial, json=json)


@app.command()
def status(context: typer.Context, ref: TrialArgument, json: JsonFlag = False) -> None:
    """Show where the people of each arm are, and which stages can be closed.

    Example: quintain trial status sentiment/first
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        trial = trials.get_trial(db, OPERATOR, task, name)
    print_trial(trial, json=json)


@app.command(name="list")
def list_(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="The task; all of them by default.")] = "",
    offset: Annotated[int, typer.Option(help="Skip so many.", min=0)] = 0,
    json: JsonFlag = False,
) -> None:
    """List trials, the newest first.

    Example: quintain trial list sentiment
    """
    with workspace_of(context).session() as db:
        listed = trials.list_trials(db, OPERATOR, task or None, offset=offset)
    if json:
        print_json(listed)
        return
    print_table(["trial", "title", "state"], [(f"{one.task}/{one.name}", one.title, one.state) for one in listed])


@app.command(name="close-stage")
def close_stage(
    context: typer.Context,
    ref: TrialArgument,
    arm: Annotated[str, typer.Argument(help="The arm.")],
    stage: Annotated[str, typer.Argument(help="The stage.")],
    force: Annotated[bool, typer.Option("--force", help="Although grades are missing.")] = False,
    json: JsonFlag = False,
) -> None:
    """Close a stage of an arm: those who wait there go on, and letters go out.

    Example: quintain trial close-stage sentiment/first crowd tutorial
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        trial = stages.close_stage(db, OPERATOR, task, name, arm, stage, force=force)
    print_trial(trial, json=json)


@app.command()
def judge(context: typer.Context, ref: TrialArgument, json: JsonFlag = False) -> None:
    """Let the final items of all arms be judged in one pool, shuffled.

    Example: quintain trial judge sentiment/first
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        pool = reporting.open_pool(db, OPERATOR, task, name)
    if json:
        print_json(pool)
        return
    say(f"{pool.added:,} items can be judged now.")


@app.command()
def close(context: typer.Context, ref: TrialArgument, json: JsonFlag = False) -> None:
    """End a trial; its rounds close.

    Example: quintain trial close sentiment/first
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        trial = trials.close_trial(db, OPERATOR, task, name)
    print_trial(trial, json=json)


@app.command()
def costs(context: typer.Context, ref: TrialArgument, json: JsonFlag = False) -> None:
    """Show what a question has cost in each arm, by the ledger: with training and without, experts' time priced in.

    Example: quintain trial costs sentiment/first
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        spent = costs_.trial_costs(db, OPERATOR, task, name)
    if json:
        print_json(spent)
        return
    rows = [
        (
            arm.arm,
            arm.costs.texts,
            arm.costs.each_without_training or "–",
            arm.costs.each or "–",
            arm.costs.total,
            f"{arm.expert_hours:.1f}",
        )
        for arm in spent.arms
    ]
    print_table(["arm", "questions", "each", "each with training", "in all", "expert hours"], rows)
    judging = spent.judging
    print_line(
        f"judging: {judging.total} ({judging.pages} pages, {judging.bonuses} known items, {judging.quizzes} quizzes)"
    )


@app.command()
def doors(
    context: typer.Context,
    ref: TrialArgument,
    file: Annotated[Path | None, typer.Argument(help="A TOML file that says how people come and go back.")] = None,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Print the addresses that panels send people to, to take part and to grade; with a file, set them up first.

    Example: quintain trial doors sentiment/first doors.toml
    """
    task, name = split_ref(ref)
    workspace = workspace_of(context)
    base = link_base(workspace)
    with workspace.session() as db:
        if file is not None:
            text = read_bytes(file).decode()
            about = {"base_url": base, "file": file.name}
            confirm_changes(
                lambda edit: panel_entry.put_doors(db, OPERATOR, task, name, text, **about, edit=edit),
                remove,
                revision,
                yes=yes,
            )
        entries = panel_entry.get_doors(db, OPERATOR, task, name, base_url=base)
    if json:
        print_json(entries)
        return
    print_line(f"to take part: {entries.entry or 'no door'}")
    print_line(f"to grade: {entries.grading or 'no door'}")


@app.command(name="run-models")
def run_models(
    context: typer.Context,
    ref: TrialArgument,
    model: Annotated[
        list[str] | None, typer.Option(help="A model; by default the newest version of each.", show_default=False)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Have models run on the final items of a trial once they are judged; a worker does it, and the report reads it.

    Example: quintain trial run-models sentiment/first --model sentiment/ngram
    """
    task, name = split_ref(ref)
    workspace = workspace_of(context)
    with workspace.session() as db:
        runs = model_runs.run_models(db, workspace.blobs, OPERATOR, task, name, model or ())
    _print_models(runs, json=json)


@app.command()
def models(context: typer.Context, ref: TrialArgument, json: JsonFlag = False) -> None:
    """Show which models are run on the final items of a trial, and how far each is.

    Example: quintain trial models sentiment/first
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        runs = model_runs.get_models(db, OPERATOR, task, name)
    _print_models(runs, json=json)


@app.command()
def export(
    context: typer.Context,
    ref: TrialArgument,
    file: Annotated[Path, out_file("The file to write; .gz at its end compresses.")],
    json: JsonFlag = False,
) -> None:
    """Write the final items of a trial with their judgements and what models said, for `quintain trial report`.

    Example: quintain trial export sentiment/first first.json
    """
    task, name = split_ref(ref)
    workspace = workspace_of(context)
    with workspace.session() as db:
        arms = reporting.arms_of(db, workspace.blobs, OPERATOR, task, name)
    write_trial(arms, file)
    if json:
        print_json({"file": str(file), "items": {arm.name: len(arm.items) for arm in arms}})
        return
    say(f"{file} has the trial: quintain trial report {file}")


@app.command(name="report-of")
def report_of(context: typer.Context, ref: TrialArgument, out: FolderOption = None, json: JsonFlag = False) -> None:
    """Report on a trial of the workspace.

    Example: quintain trial report-of sentiment/first --out report
    """
    task, name = split_ref(ref)
    workspace = workspace_of(context)
    with workspace.session() as db:
        report = reporting.report(db, workspace.blobs, OPERATOR, task, name)
    give_report(report, out, json=json)


def _print_models(asked: TrialModels, *, json: bool) -> None:
    if json:
        print_json(asked)
        return
    if asked.dataset is None:
        waiting = f"; {asked.waiting:,} still wait for judgements" if asked.waiting else ""
        print_line(f"No model has been asked. {asked.items:,} items are in the pool{waiting}.")
        return
    rows = [(run.model, run.state, f"{run.done:,} of {run.total:,}") for run in asked.runs]
    print_table(["model", "state", "items"], rows, title=f"{asked.dataset}")
    if asked.later:
        print_line(f"{asked.later:,} items came later: `quintain trial run-models` again.")


def print_trial(trial: CrowdTrial, *, json: bool) -> None:
    """Print where a trial stands."""
    if json:
        print_json(trial)
        return
    print_line(f"{trial.task}/{trial.name}: {trial.state}")
    for arm in trial.arms:
        rows = [
            (
                stage.name,
                stage.kind,
                stage.came,
                stage.here,
                "closed" if stage.closed else "; ".join(stage.hindrances) or "can close",
            )
            for stage in arm.stages
        ]
        print_table(["stage", "kind", "came", "here", ""], rows, title=f"{arm.name}: {arm.people} people")
    if trial.judging is not None:
        pool = trial.judging
        often = (
            f" of most items, {pool.many} of a seeded {pool.sample:,} of each arm" if pool.sample else " of each item"
        )
        print_line(f"{pool.votes} judgements{often}; {pool.items:,} items: {pool.judgements:,} judgements, {pool.cost}")
