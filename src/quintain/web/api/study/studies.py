"""Studies, for programs: ask for the report of a data set, a round or a trial, follow it, and fetch it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Path, Query
from starlette.responses import Response

from quintain.compose import checkpoints_of
from quintain.core.records.studies import KeptStudy
from quintain.services.study import studies as service
from quintain.web.api.call import Calling
from quintain.web.api.params import TaskName
from quintain.web.api.shapes import LongText, Shape
from quintain.web.report_files import ReportFormat, send_file

Room = Annotated[Literal["data", "rounds", "trials", "compared", "errors"], Path(description="What it is about.")]
Name = Annotated[
    str,
    Path(
        description="A data set, with @2 for a version; a round's number; a trial; several data sets with + between; "
        "of errors, a data set and one model or two, with + between.",
        max_length=200,
    ),
]
Seed = Annotated[int, Query(description="Seed of what is drawn.", ge=0, le=2**31 - 1)]


async def _source(room: Room, name: Name) -> str:
    return f"{room}/{name}"


Source = Annotated[str, Depends(_source)]


def get_study(call: Calling, task: TaskName, source: Source) -> KeptStudy:
    """Return the last report, and how far the next one is (owners; errors on open labels: everybody)."""
    return service.get_study(call.db, call.actor, task, source)


class StudyStart(Shape):
    """How to make it: `learner` and `options` of a recipe, as TOML, in the place of the linear learner."""

    recipe: LongText = ""


def start_study(
    call: Calling, task: TaskName, source: Source, seed: Seed = 0, body: StudyStart | None = None
) -> KeptStudy:
    """Have a worker make the report anew (owners; errors also a model's owner).

    A *recipe* is TOML whose `learner` and `options` take the place of the linear learner, in the report of a data set
    or a round and in a comparison.
    """
    return service.start_study(
        call.db,
        call.actor,
        task,
        source,
        seed=seed,
        recipe=body.recipe if body else "",
        checkpoints=checkpoints_of(call.workspace.settings),
    )


def download_study(
    call: Calling,
    task: TaskName,
    source: Source,
    format: Annotated[ReportFormat, Query(description="Format of the file; a ZIP has all of them.")] = "html",  # noqa: A002 - the word in the address
) -> Response:
    """Send the last report as a file: HTML that needs no network, Markdown, LaTeX tables, JSON, or a ZIP of all."""
    report = service.kept_report(call.db, call.actor, task, source)
    return send_file(report, f"{task}-{source.replace('/', '-')}", format)
