"""`quintain round release` and `stations`: from judged items to train, dev and test, and where a round stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.collect.round import RoundName
from quintain.cli.collect.round import app as round_app
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.cli.streams import in_option, named, out_option
from quintain.core.people import OPERATOR
from quintain.core.records.release import Release, ReleaseCosts, ReleaseReport
from quintain.core.toml import read_text
from quintain.services.release import releases as service
from quintain.services.release.bundle import write_bundle
from quintain.services.release.markdown import NO_MAJORITY, human_rows, label_rows, report_text
from quintain.services.release.stations import stations_of


@round_app.command("release")
def release_(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="ROUND", help="The round, as task/number, or a validation's own name.")],
    spec: Annotated[Path | None, in_option("TOML file of the release.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would be.")] = False,
    number: Annotated[
        int | None, typer.Option("--number", min=1, help="Show this release; nothing new is released.")
    ] = None,
    out: Annotated[Path | None, out_option("Write all of it to a new folder, or to a .zip.", "--out", "-o")] = None,
    hidden_answers: Annotated[
        bool, typer.Option("--hidden-answers", help="Put hidden answers into the folder, too.")
    ] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Make a folder to pass on: without inputs that are not open to all.")
    ] = False,
    report: Annotated[Path | None, out_option("Write the report, as Markdown.", "--report")] = None,
    json: JsonFlag = False,
) -> None:
    """Make train, dev and test of what was judged, and prove what holds in them.

    --dry-run also says what each constraint costs, and what the next weaker one would keep.

    --out writes all formats (Hugging Face with Croissant, DynaSent), datasheet, report and changelog.

    Example: quintain round release sentiment/2 --spec release.toml --dry-run

    Example: quintain round release sentiment/2 --number 1 --out round-2
    """
    if dry_run and out is not None:
        raise typer.BadParameter("--dry-run writes nothing, and --out all of it: leave one of them out.")
    settings = service.parse_release(read_text(spec) if spec else "", file=str(spec) if spec else None)
    workspace = workspace_of(context)
    with workspace.session() as db:
        if number is not None:
            outcome = service.find_release(db, OPERATOR, ref, number)
        elif dry_run:
            outcome = service.preview(db, workspace.blobs, OPERATOR, ref, settings)
        else:
            outcome = service.release(db, workspace.blobs, OPERATOR, ref, settings)
        if out is not None:
            archive = out.suffix.lower() == ".zip"
            write_bundle(
                db,
                workspace.blobs,
                OPERATOR,
                ref,
                outcome.number,
                out,
                archive=archive,
                hidden_answers=hidden_answers,
                public=public,
            )
    if report is not None:
        report.write_text(report_text(outcome), encoding="utf-8")
    if json:
        print_json(outcome)
    else:
        _show(outcome.report)
        if outcome.costs is not None:
            _show_costs(outcome.costs)
    _tell(outcome)
    if out is not None:
        say(f"Wrote all of it to {named(out)}.")


def _tell(release: Release) -> None:
    if release.number is None:
        say("Nothing was written. Without --dry-run, this is released.")
        return
    versions = ", ".join(release.versions.values())
    new = "is" if release.new else "was there already:"
    say(f"Release {release.number} of {release.validation} {new} {versions}.")


def _show(report: ReleaseReport) -> None:
    splits = report.splits
    print_table(*label_rows(report))
    held = [split for split in splits if split.agreement is not None]
    if report.model:
        rows = [(name, *(f"{one.f1[name]:.3f}" for one in held)) for name in held[0].f1]
        print_table([f"F1 of {report.model}", *(one.split for one in held)], rows)
    if report.human:
        say("People, as synthetic annotators: F1 with 95 % intervals, and who never disagreed with a label.")
        print_table(*human_rows(report))
    print_table(["least agreement", *(one.split for one in held)], [("", *(f"{one.agreement:.2f}" for one in held))])
    for split in held:
        for attribute, values in split.even.items():
            classes = list(next(iter(values.values())))
            table = [(value, *(counts[name] for name in classes)) for value, counts in values.items()]
            print_table([f"{attribute} in {split.split}", *classes], table)
    print_table(
        ["attribute", "right", "chance", "gain", "made even"],
        [
            (
                gain.attribute,
                f"{gain.accuracy:.3f}",
                f"{gain.chance:.3f}",
                f"{gain.gain:.3f}",
                "yes" if gain.even else "",
            )
            for gain in report.gains
        ],
    )
    if report.examples:
        print_table(
            ["model said", "label", "text"],
            [(example.predicted, example.label or NO_MAJORITY, example.text) for example in report.examples],
        )
    flags = [(split.split, flag, count) for split in splits for flag, count in split.flags.items()]
    print_table(["in", "flagged", "items"], flags)
    print_table(["left out", "items"], list(report.left_out.items()))
    say(f"{report.shared_writers} writers are in more than one of them.")


def _show_costs(costs: ReleaseCosts) -> None:
    print_table(
        ["constraint", "now", "next weaker", "dev and test lose", "at most without", "lost to all", "kept without"],
        [
            (
                constraint.constraint,
                constraint.value,
                constraint.weaker,
                constraint.costs_held_out,
                constraint.held_out,
                constraint.costs_kept,
                constraint.kept,
            )
            for constraint in costs.constraints
        ],
    )
    say(f"Dev and test could have {costs.held_out} items at most; {costs.kept} are in one of the data sets.")


@round_app.command()
def stations(context: typer.Context, ref: RoundName, json: JsonFlag = False) -> None:
    """Show where a round stands: write, judge, label, release, next model; and what is to be done next.

    Example: quintain round stations sentiment/2
    """
    with workspace_of(context).session() as db:
        progress = stations_of(db, OPERATOR, ref)
    if json:
        print_json(progress)
        return
    marks = {True: "done", False: ""}
    rows = [
        (
            station.name.value,
            "now" if station.name is progress.now else marks[station.done],
            *((station.count, station.total) if station.counted else ("pending", "pending")),
            ", ".join(station.refs),
        )
        for station in progress.stations
    ]
    print_table(["station", "", "count", "of", ""], rows)
    steps = " or ".join(one.value.replace("_", " ") for one in (progress.step, progress.also) if one)
    say(f"Next: {steps}." if steps else "It has passed all stations.")
