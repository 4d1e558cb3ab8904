"""`quintain contrast new|status|sets|contested|settle|…`: projects in which experts edit test items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.cli.plain.contrast import app, print_score
from quintain.cli.streams import in_file
from quintain.core.contrast import ProjectState
from quintain.core.people import OPERATOR
from quintain.core.records.base import to_json
from quintain.core.records.contrasting import (
    ContrastProject,
    ContrastProjects,
    HumanContrast,
    Phenomena,
    VariantStanding,
)
from quintain.core.toml import read_text
from quintain.services.contrast import authoring, checking, listing, people, projects, releasing, results, uploading

ProjectRef = Annotated[str, typer.Argument(metavar="PROJECT", help="The project, as task/name.")]
Offset = Annotated[int, typer.Option(min=0, help="Skip so many.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="At most so many.")]


@app.command()
def new(
    context: typer.Context,
    file: Annotated[Path, in_file("TOML file of the project.", metavar="FILE")],
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Make a contrast project: draw examples of a test set for experts to edit; or change the one of that name.

    Example: quintain contrast new near-misses.toml
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        text = read_text(file)
        saved = confirm_changes(
            lambda edit: projects.put_project(db, workspace.blobs, OPERATOR, text, file=str(file), edit=edit),
            remove,
            revision,
            yes=yes,
        )
        project = projects.get_project(db, OPERATOR, saved.ref)
    _show([project], json=json, single=True)


@app.command()
def status(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TASK", help="The task, or one project as task/name.")],
    json: JsonFlag = False,
) -> None:
    """Show the contrast projects of a task, and how far they are.

    Example: quintain contrast status sentiment
    """
    with workspace_of(context).session() as db:
        if "/" in name:
            _show([projects.get_project(db, OPERATOR, name)], json=json, single=True)
        else:
            _show(projects.list_projects(db, OPERATOR, name).projects, json=json)


@app.command()
def close(context: typer.Context, ref: ProjectRef, json: JsonFlag = False) -> None:
    """Close a project: nobody takes an example any more.

    Example: quintain contrast close sentiment/near-misses
    """
    with workspace_of(context).session() as db:
        _show([projects.set_state(db, OPERATOR, ref, ProjectState.CLOSED)], json=json, single=True)


@app.command()
def reopen(context: typer.Context, ref: ProjectRef, json: JsonFlag = False) -> None:
    """Open a project again.

    Example: quintain contrast reopen sentiment/near-misses
    """
    with workspace_of(context).session() as db:
        _show([projects.set_state(db, OPERATOR, ref, ProjectState.OPEN)], json=json, single=True)


@app.command()
def phenomenon(
    context: typer.Context,
    ref: ProjectRef,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    json: JsonFlag = False,
) -> None:
    """Add a phenomenon to the list of a project.

    Example: quintain contrast phenomenon sentiment/near-misses tense
    """
    with workspace_of(context).session() as db:
        phenomena = projects.add_phenomenon(db, OPERATOR, ref, name)
    if json:
        print_json(Phenomena(list(phenomena)))
    else:
        say(f"Phenomena of {ref}: {', '.join(phenomena)}.")


@app.command()
def sets(
    context: typer.Context,
    ref: ProjectRef,
    state: Annotated[str, typer.Option(help="Only variants that are written, accepted, contested or rejected.")] = "",
    offset: Offset = 0,
    limit: Limit = 20,
    json: JsonFlag = False,
) -> None:
    """Show the examples of a project with the variants that were written of them.

    Example: quintain contrast sets sentiment/near-misses --state contested
    """
    with workspace_of(context).session() as db:
        page = listing.list_sets(db, OPERATOR, ref, state=state, offset=offset, limit=limit)
    if json:
        print_json(page)
        return
    rows: list[tuple[Any, ...]] = []
    for pivot in page.sets:
        rows.append(("", pivot.id, "", _text(pivot.inputs), to_json(pivot.answer), "", ""))
        rows += [
            (two.id, "", two.state, _text(two.inputs), to_json(two.answer), ", ".join(two.tags), two.author or "")
            for two in pivot.variants
        ]
    print_table(["variant", "example", "state", "text", "answer", "phenomena", "author"], rows)
    say(f"{page.total} examples have a variant.")


@app.command()
def add(
    context: typer.Context,
    ref: ProjectRef,
    file: Annotated[Path, in_file("Variants: original, answer, the changed fields, tags, rationale, reason.")],
    checked: Annotated[bool, typer.Option("--checked", help="They are checked already and count at once.")] = False,
    json: JsonFlag = False,
) -> None:
    """Add variants that were written elsewhere: all of them, or none and everything that is wrong.

    Example: quintain contrast add sentiment/near-misses variants.jsonl --checked
    """
    with workspace_of(context).session() as db:
        added = uploading.add_variants_file(db, OPERATOR, ref, file, checked=checked)
    if json:
        print_json(added)
    else:
        say(f"{added.added} variants of {added.examples} examples were added to {ref}.")


@app.command()
def withdraw(
    context: typer.Context,
    ref: ProjectRef,
    variant: Annotated[int, typer.Argument(help="The variant, by its id.")],
    json: JsonFlag = False,
) -> None:
    """Take a variant back, so that it counts for nothing.

    Example: quintain contrast withdraw sentiment/near-misses 17
    """
    with workspace_of(context).session() as db:
        authoring.withdraw_variant(db, OPERATOR, ref, variant)
    _tell(VariantStanding(variant, "withdrawn"), json=json)


@app.command()
def contested(
    context: typer.Context, ref: ProjectRef, offset: Offset = 0, limit: Limit = 20, json: JsonFlag = False
) -> None:
    """Show the variants on which people disagree.

    Example: quintain contrast contested sentiment/near-misses
    """
    with workspace_of(context).session() as db:
        page = checking.list_contested(db, OPERATOR, ref, offset=offset, limit=limit)
    if json:
        print_json(page)
        return
    rows = [
        (
            variant.variant.id,
            _text(variant.original),
            _text(variant.variant.inputs),
            to_json(variant.variant.answer),
            "; ".join(_opinion(said) for said in variant.checks),
        )
        for variant in page.variants
    ]
    print_table(["variant", "original", "edited", "answer", "others say"], rows)
    say(f"{page.total} variants wait.")


@app.command()
def settle(
    context: typer.Context,
    ref: ProjectRef,
    variant: Annotated[int, typer.Argument(help="The variant, by its id.")],
    accept: Annotated[bool, typer.Option("--accept/--reject", help="Whether it counts.")],
    answer: Annotated[
        str | None, typer.Option(help="The right label, where the author's is not.", show_default=False)
    ] = None,
    note: Annotated[str, typer.Option(help="Why.")] = "",
    json: JsonFlag = False,
) -> None:
    """Decide on a variant on which people disagree.

    Example: quintain contrast settle sentiment/near-misses 17 --accept --answer neutral
    """
    with workspace_of(context).session() as db:
        state = checking.settle_variant(db, OPERATOR, ref, variant, accept=accept, answer=answer, note=note)
    _tell(VariantStanding(variant, state), json=json)


@app.command()
def release(context: typer.Context, ref: ProjectRef, json: JsonFlag = False) -> None:
    """Make a data set version of role contrast: the accepted variants and their originals.

    It is evaluated at once, and scores on the board once you let it: see `board score`.

    Example: quintain contrast release sentiment/near-misses
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        released = releasing.release_project(db, workspace.blobs, OPERATOR, ref)
    if json:
        print_json(released)
        return
    state = "is" if released.new else "was there already as"
    say(f"{released.sets} sets with {released.variants} variants: it {state} {released.version}.")


@app.command("people")
def people_(
    context: typer.Context,
    ref: ProjectRef,
    pairs: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Let people judge so many pairs.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="What the pairs are drawn by.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Show how people do on pairs of original and variant that they did not write; --pairs lets them judge some.

    Example: quintain contrast people sentiment/near-misses --pairs 100
    """
    with workspace_of(context).session() as db:
        if pairs is None:
            figures = people.people_figures(db, OPERATOR, ref)
        else:
            figures = people.open_people(db, OPERATOR, ref, pairs=pairs, seed=seed)
    if json:
        print_json(figures)
        return
    _show_people(figures)


@app.command("results")
def results_(
    context: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model, as task/name or task/name@2.")],
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The contrast set: its name, or name@2.")],
    json: JsonFlag = False,
) -> None:
    """Show what a model makes of a contrast set: overall, by phenomenon and by label transition.

    Example: quintain contrast results sentiment/tfidf near-misses
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        outcome = results.model_contrast(db, workspace.blobs, OPERATOR, model, dataset)
    if json:
        print_json(outcome)
        return
    print_score(outcome.score)
    say(f"{outcome.model} is wrong somewhere in {outcome.broken} of {outcome.score.sets} sets of {outcome.dataset}.")


@app.command("broken")
def broken_(
    context: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model, as task/name or task/name@2.")],
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The contrast set: its name, or name@2.")],
    all_: Annotated[bool, typer.Option("--all", help="Show the others, too.")] = False,
    offset: Offset = 0,
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many sets.")] = 10,
    json: JsonFlag = False,
) -> None:
    """Show which sets break a model, and where.

    Example: quintain contrast broken sentiment/tfidf near-misses
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        show = "all" if all_ else "broken"
        boundary = results.boundary(
            db, workspace.blobs, OPERATOR, model, dataset, show=show, offset=offset, limit=limit
        )
    if json:
        print_json(boundary)
        return
    rows = [
        (
            one.set if member.original else "",
            "original" if member.original else "variant",
            "right" if member.right else "WRONG",
            to_json(member.gold),
            to_json(member.answer),
            _text(member.inputs),
        )
        for one in boundary.sets
        for member in one.members
    ]
    print_table(["set", "member", "", "gold", "it says", "text"], rows)
    say(boundary.caveat)


def _tell(variant: VariantStanding, *, json: bool) -> None:
    if json:
        print_json(variant)
    else:
        say(f"Variant {variant.id} is {variant.state}.")


def _show(projects: list[ContrastProject], *, json: bool, single: bool = False) -> None:
    if json:
        print_json(projects[0] if single else ContrastProjects(projects))
        return
    rows = [
        (
            project.ref,
            project.state,
            project.dataset,
            f"{project.progress.done} of {project.progress.pivots}",
            project.progress.variants,
            project.progress.accepted,
            project.progress.contested,
        )
        for project in projects
    ]
    print_table(["project", "state", "edited", "examples done", "variants", "accepted", "contested"], rows)


def _show_people(report: HumanContrast) -> None:
    if report.figures is not None:
        names = ("original", "contrast", "difference", "consistency")
        rows: list[tuple[Any, ...]] = []
        for name in names:
            figure = getattr(report.figures, name)
            rows.append(
                (
                    name,
                    *(None if value is None else f"{value:.3f}" for value in (figure.value, figure.low, figure.high)),
                )
            )
        print_table(["people", "value", "low", "high"], rows)
    say(f"{report.judged} of {report.pairs} pairs are judged, by {report.judges} people, in {report.validation}.")
    if not report.enough:
        say("Fewer than 100 judged pairs say little.")


def _opinion(check: Any) -> str:
    words = [to_json(check.answer)]
    words += [] if check.minimal else ["not minimal"]
    words += [] if check.sound else ["not sound"]
    return ", ".join([*words, *([check.note] if check.note else [])])


def _text(inputs: Any) -> str:
    return " / ".join(str(value) for value in inputs.values())[:200]
