"""Parts of addresses, each described once for OpenAPI and held to what can exist."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Path
from fastapi import Query as Parameter
from pydantic import Field

from quintain.core.editing import EditOrigin
from quintain.labels.views import LabelView
from quintain.services.evaluate.results.answers import AnswerFilter, Show

TaskName = Annotated[str, Path(description="Name of the task.", max_length=80, pattern=r"^[^\x00]+$")]
ModelName = Annotated[str, Path(description="Name of the model.", max_length=120, pattern=r"^[^\x00]+$")]
DatasetName = Annotated[str, Path(description="Name of the data set.", max_length=120, pattern=r"^[^\x00]+$")]
PersonName = Annotated[str, Path(description="Name of the account.", max_length=254, pattern=r"^[^\x00]+$")]
TokenId = Annotated[int, Path(description="Id of the token.", ge=1, le=2**31 - 1)]
Version = Annotated[
    str | None,
    Parameter(
        description="Number of the version, or the first characters of its hash; the newest by default.",
        max_length=64,
        pattern=r"^[0-9a-f]+$",
    ),
]
Number = Annotated[
    int | None, Parameter(description="Number of the version; the newest by default.", ge=1, le=2**31 - 1)
]
InputsRequest = Annotated[int, Path(description="Number of the request to read inputs.", ge=1, le=2**31 - 1)]
OneNumber = Annotated[int, Parameter(description="Number of a version.", ge=1, le=2**31 - 1)]
Format = Annotated[Literal["jsonl", "csv", "tsv", "parquet"], Parameter(description="Format of the file.")]
DatasetFormat = Annotated[
    Literal["jsonl", "csv", "tsv", "parquet", "dynasent", "hf", "croissant"],
    Parameter(
        description="Format of the file; dynasent is JSON lines in DynaSent's names, hf and croissant are folders, "
        "sent as a ZIP."
    ),
]
LabelsAs = Annotated[
    LabelView,
    Parameter(
        description="Labels as the majority's, or as people voted: distributional has a row for each vote, soft the "
        "share of each label (owners; files only)."
    ),
]
Revision = Annotated[
    str,
    Parameter(
        description="The `revision` of what the edit was made from: refused with 409 `stale` if something else is "
        "stored by now. Without it, whatever is stored is replaced.",
        max_length=64,
        pattern=r"^[0-9a-f]*$",
    ),
]


def _edit(
    revision: Revision = "",
    remove: Annotated[
        list[Annotated[str, Field(max_length=200, pattern=r"^[^\x00]+$")]],
        Parameter(description="Options to reset, which the text does not mention; others are refused.", max_length=200),
    ] = [],  # noqa: B006 - FastAPI reads it and never changes it
) -> EditOrigin:
    """Return what a change was made from, and what it may reset."""
    return EditOrigin(revision, remove=frozenset(remove))


Changing = Annotated[EditOrigin, Depends(_edit)]
Archived = Annotated[bool, Parameter(description="List archived tasks, too.")]
Query = Annotated[str, Parameter(description="What to look for.", min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Filter = Annotated[str, Parameter(max_length=200, pattern=r"^[^\x00]*$")]
Limit = Annotated[int, Parameter(description="At most so many.", ge=1, le=1000)]
Offset = Annotated[int, Parameter(description="Skip so many.", ge=0, le=2**31 - 1)]


def _sieve(show: Show = "all", label: Filter = "", said: Filter = "", text: Filter = "") -> AnswerFilter:
    return AnswerFilter(show, label, said, text)


Sifting = Annotated[AnswerFilter, Depends(_sieve)]
Before = Annotated[int | None, Parameter(description="Only entries with a smaller id.", ge=1, le=2**31 - 1)]
RoundNumber = Annotated[int, Path(description="Number of the round.", ge=1, le=1_000_000)]


async def _round_ref(task: TaskName, number: RoundNumber) -> str:
    return f"{task}/{number}"


RoundRef = Annotated[str, Depends(_round_ref)]
ValidationName = Annotated[
    str, Path(description="Number of the round, or name of the validation.", pattern=r"^[a-z0-9_-]{1,80}$")
]


async def _validation_ref(task: TaskName, validation: ValidationName) -> str:
    return f"{task}/{validation}"


ValidationRef = Annotated[str, Depends(_validation_ref)]
TrialName = Annotated[str, Path(description="Name of the trial.", max_length=40, pattern=r"^[a-z0-9_-]+$")]
