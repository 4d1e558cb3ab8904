"""`quintain round release` and `stations`: from judged items to train, dev and test, and where a round stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.collect.round import RoundName
from quintain.cli.collect.round import app as round_app
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.cli.streams import in_option
from quintain.core.people import OPERATOR
from quintain.core.records.release import Release, ReleaseReport
from quintain.core.toml import read_text
from quintain.services.release import releases as service
from quintain.services.release.stations import stations_of


@round_app.command("release")
def release_(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="ROUND", help="The round, as task/number, or a validation's own name.")],
    spec: Annotated[Path | None, in_option("TOML file of the release.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would be.")] = False,
    json: JsonFlag = False,
) -> None:
    """Make train, dev and test of what was judged, and prove what holds in them.

    Example: quintain round release sentiment/2 --spec release.toml --dry-run
    """
    wanted = service.parse_release(read_text(spec) if spec else "", file=str(spec) if spec else None)
    workspace = workspace_of(context)
    with workspace.session() as db:
        if dry_run:
            made = service.preview(db, workspace.blobs, OPERATOR, ref, wanted)
        else:
            made = service.release(db, workspace.blobs, OPERATOR, ref, wanted)
    if json:
        print_json(made)
    else:
        _show(made.report)
    _tell(made)


def _tell(made: Release) -> None:
    if made.number is None:
        say("Nothing was written. Without --dry-run, this is released.")
        return
    versions = ", ".join(made.versions.values())
    new = "is" if made.new else "was there already:"
    say(f"Release {made.number} of {made.validation} {new} {versions}.")


def _show(report: ReleaseReport) -> None:
    splits = report.splits
    labels = list(splits[0].labels)
    votes = {label: sum(one.votes[label] for one in splits) for label in labels}
    rows: list[tuple[object, ...]] = [(name, *(one.labels[name] for one in splits), votes[name]) for name in labels]
    undecided = ("no majority", *(one.undecided for one in splits), "")
    total = ("total", *(one.rows for one in splits), sum(votes.values()))
    print_table(["label", *(one.split for one in splits), "votes"], [*rows, undecided, total])
    held = [one for one in splits if one.agreement is not None]
    if report.model:
        rows = [(name, *(f"{one.f1[name]:.3f}" for one in held)) for name in held[0].f1]
        print_table([f"F1 of {report.model}", *(one.split for one in held)], rows)
    print_table(["least agreement", *(one.split for one in held)], [("", *(f"{one.agreement:.2f}" for one in held))])
    for one in held:
        for attribute, values in one.even.items():
            classes = list(next(iter(values.values())))
            table = [(value, *(counts[name] for name in classes)) for value, counts in values.items()]
            print_table([f"{attribute} in {one.split}", *classes], table)
    print_table(
        ["attribute", "right", "chance", "gain", "made even"],
        [
            (one.attribute, f"{one.accuracy:.3f}", f"{one.chance:.3f}", f"{one.gain:.3f}", "yes" if one.even else "")
            for one in report.gains
        ],
    )
    flags = [(one.split, flag, count) for one in splits for flag, count in one.flags.items()]
    print_table(["in", "flagged", "items"], flags)
    print_table(["left out", "items"], list(report.left_out.items()))
    say(f"{report.shared_writers} writers are in more than one of them.")


@round_app.command()
def stations(context: typer.Context, ref: RoundName, json: JsonFlag = False) -> None:
    """Say where a round stands: write, judge, label, release, next model; and what is to be done next.

    Example: quintain round stations sentiment/2
    """
    with workspace_of(context).session() as db:
        found = stations_of(db, OPERATOR, ref)
    if json:
        print_json(found)
        return
    marks = {True: "done", False: ""}
    rows = [
        (one.name.value, "now" if one.name is found.now else marks[one.done], one.count, one.total, ", ".join(one.refs))
        for one in found.stations
    ]
    print_table(["station", "", "count", "of", ""], rows)
    say(f"Next: {found.step.value.replace('_', ' ')}." if found.step else "It has passed all stations.")
