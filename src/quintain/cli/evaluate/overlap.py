"""`quintain data overlap`: whether what a model trains on is in what it is tested on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.plain.data_files import app
from quintain.core.people import OPERATOR
from quintain.core.records.evaluate import Overlap
from quintain.services.plain.files.overlap import overlap_files
from quintain.stats.near_duplicates import THRESHOLD


@app.command()
def overlap(
    context: typer.Context,
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="A file, or a version as task/name.")],
    test: Annotated[str, typer.Argument(metavar="TEST", help="A file, or a version as task/name.")],
    field: Annotated[
        list[str] | None, typer.Option("--field", help="Column with texts; repeat.", show_default="all shared ones")
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0.05, max=1.0, help="How alike near duplicates are, as a share of shared 5-grams.")
    ] = THRESHOLD,
    limit: Annotated[int, typer.Option(min=0, help="How many pairs to show.")] = 20,
    json: output.JsonFlag = False,
) -> None:
    """Find examples of TEST that are in TRAIN, exactly or nearly; on plain files it needs no workspace.

    Example: quintain data overlap train.csv test.csv --field text
    """
    if Path(train).exists() or Path(test).exists():
        report = overlap_files(Path(train), Path(test), fields=field or (), threshold=threshold, limit=limit)
    else:
        report = _overlap_versions(context, train, test, threshold)
    if json:
        output.print_json(report)
        return
    output.print_line(
        f"{report.exact} of {report.test_rows} examples of {report.test} are in {report.train} word for word, "
        f"{report.near} more nearly ({100 * report.share:.1f} % together)."
    )
    if report.pairs:
        rows = [(f"{pair.similarity:.2f}", pair.test[:100], pair.train[:100]) for pair in report.pairs]
        output.print_table(["similarity", "test", "train"], rows)


def _overlap_versions(context: typer.Context, train: str, test: str, threshold: float) -> Overlap:
    """Compare two versions of a workspace, which files do without."""
    from quintain.cli.context import workspace_of
    from quintain.services.evaluate.results.overlap import overlap_versions

    workspace = workspace_of(context)
    with workspace.session() as db:
        return overlap_versions(db, workspace.blobs, OPERATOR, train, test, threshold=threshold)
