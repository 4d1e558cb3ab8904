"""`quintain study code new|status|results|close|export`: hand coding of a sample, blind to where an item is from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.cli.plain.study import app
from quintain.cli.streams import in_file, out_option
from quintain.core.people import OPERATOR
from quintain.core.records.coding import Coding, CodingResults, Codings
from quintain.core.records.figures import Estimate
from quintain.core.toml import read_text
from quintain.services.study import coding_figures, codings

code = typer.Typer(
    help="Let people sort a sample into categories, blind to where an item is from.", no_args_is_help=True
)
app.add_typer(code, name="code")
CodingRef = Annotated[str, typer.Argument(metavar="CODING", help="The coding, as task/name.")]


@code.command()
def new(
    context: typer.Context,
    file: Annotated[Path, in_file("TOML file of the coding.", metavar="FILE")],
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Make a coding: draw a sample of data sets, rounds or trials; or change the one of that name.

    Example: quintain study code new look.toml
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        text = read_text(file)
        coding = confirm_changes(
            lambda edit: codings.put_coding(db, workspace.blobs, OPERATOR, text, file=str(file), edit=edit),
            remove,
            revision,
            yes=yes,
        )
    _show([coding], json=json, single=True)


@code.command()
def status(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TASK", help="The task, or one coding as task/name.")],
    json: JsonFlag = False,
) -> None:
    """Show the codings of a task, and how far they are.

    Example: quintain study code status sentiment
    """
    with workspace_of(context).session() as db:
        if "/" in name:
            _show([codings.get_coding(db, OPERATOR, name)], json=json, single=True)
        else:
            _show(codings.list_codings(db, OPERATOR, name).codings, json=json)


@code.command()
def results(context: typer.Context, ref: CodingRef, json: JsonFlag = False) -> None:
    """Show the shares of categories with intervals, and how far coders agree; by arm once the coding is closed.

    Example: quintain study code results sentiment/look
    """
    with workspace_of(context).session() as db:
        _tell(coding_figures.results(db, OPERATOR, ref), json=json)


@code.command()
def close(context: typer.Context, ref: CodingRef, json: JsonFlag = False) -> None:
    """End a coding for good: nobody codes any more, and results tell the arms.

    Example: quintain study code close sentiment/look
    """
    with workspace_of(context).session() as db:
        _tell(coding_figures.close_coding(db, OPERATOR, ref), json=json)


@code.command()
def export(
    context: typer.Context,
    ref: CodingRef,
    out: Annotated[Path, out_option("The CSV file to write.", "--out", "-o")],
    json: JsonFlag = False,
) -> None:
    """Write all codes as a table from which every figure can be computed.

    Example: quintain study code export sentiment/look --out codes.csv
    """
    with workspace_of(context).session() as db:
        number = coding_figures.export_codes(db, OPERATOR, ref, out)
    if json:
        print_json({"file": str(out), "codes": number})
    else:
        say(f"The codes of {ref} are in {out}.")


def _show(codings: list[Coding], *, json: bool, single: bool = False) -> None:
    if json:
        print_json(codings[0] if single else Codings(codings, len(codings)))
        return
    rows = [
        (
            coding.ref,
            coding.title,
            coding.state,
            coding.progress.items,
            f"{coding.progress.done} of {coding.progress.wanted}",
        )
        for coding in codings
    ]
    print_table(["coding", "title", "state", "items", "codes"], rows)


def _tell(results: CodingResults, *, json: bool) -> None:
    if json:
        print_json(results)
        return
    figures = results.figures
    if figures is None:
        say(f"Nothing has been coded in {results.coding.ref} yet.")
        return
    print_table(
        ["category", "share of items", "by most coders", "by any", "Krippendorff's α"],
        [
            (category.name, _share(category.share), category.most, category.any, _number(category.alpha))
            for category in figures.categories
        ],
    )
    for arm in figures.arms:
        rows = [(name, _share(share)) for name, share in arm.shares.items()]
        print_table(["category", "share of items"], rows, title=f"{arm.arm} ({arm.items} items)")
    say(
        f"{figures.codes} codes of {figures.items} items by {figures.coders} people; α of all categories at once "
        f"{_number(figures.alpha)}."
    )


def _share(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "–"
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


def _number(estimate: Estimate) -> str:
    if estimate.value is None:
        return "–"
    return f"{estimate.value:.3f}" + (
        f" ({estimate.low:.3f} to {estimate.high:.3f})" if estimate.low is not None else ""
    )
