"""Hand coding, for programs: samples that people sort into categories, and what comes of it."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Depends, Path, Query
from pydantic import Field
from starlette.responses import Response

from quintain.core.records.coding import Coding, CodingProgress, CodingResults, Codings, ToCode
from quintain.services.study import coding_figures, coding_work, codings
from quintain.web.api.call import Calling
from quintain.web.api.params import Changing, Limit, Offset, TaskName
from quintain.web.api.shapes import LongText, Shape, Text
from quintain.web.files import download

CodingName = Annotated[str, Path(description="Name of the coding.", max_length=80, pattern=r"^[^\x00]+$")]
ItemId = Annotated[int, Path(description="Id of the item.", ge=1, le=2**31 - 1)]
Before = Annotated[int | None, Query(description="The item that was coded before this one.", ge=1, le=2**31 - 1)]


class CodingDefinition(Shape):
    """A coding's TOML file."""

    toml: LongText


class CodeRequest(Shape):
    """What an item is: its categories, none of which means that it is in none."""

    categories: list[Text] = Field(max_length=20)
    note: Annotated[str, Field(pattern=r"^[^\x00]*$", max_length=5_000)] = ""


async def _ref(task: TaskName, coding: CodingName) -> str:
    return f"{task}/{coding}"


CodingRef = Annotated[str, Depends(_ref)]


def list_codings(call: Calling, task: TaskName, offset: Offset = 0, limit: Limit = 100) -> Codings:
    """List the codings of a task in which one may code."""
    return codings.list_codings(call.db, call.actor, task, offset=offset, limit=limit)


def put_coding(call: Calling, task: TaskName, definition: CodingDefinition, edit: Changing) -> Coding:
    """Make the coding that a TOML file defines and draw its sample, or change the one of that name (owners)."""
    return codings.put_coding(call.db, call.blobs, call.actor, definition.toml, task=task, edit=edit)


def get_coding(call: Calling, ref: CodingRef) -> Coding:
    """Return a coding with its progress."""
    return codings.get_coding(call.db, call.actor, ref)


def close_coding(call: Calling, ref: CodingRef) -> CodingResults:
    """End a coding for good; from then on it is told which item is of which arm (owners)."""
    return coding_figures.close_coding(call.db, call.actor, ref)


def next_to_code(call: Calling, ref: CodingRef) -> ToCode:
    """Take the next item to code, or the one that one has."""
    return ToCode(coding_work.next_to_code(call.db, call.actor, ref))


def last_coded(call: Calling, ref: CodingRef, before: Before = None) -> ToCode:
    """Return the item that one coded last, or the one *before* it, to code it anew."""
    return ToCode(coding_work.look_back(call.db, call.actor, ref, before))


def code_item(call: Calling, ref: CodingRef, item: ItemId, body: CodeRequest) -> CodingProgress:
    """Put an item into categories; put anew, the newest counts."""
    return coding_work.code_item(call.db, call.actor, ref, item, body.categories, note=body.note)


def get_coding_results(call: Calling, ref: CodingRef) -> CodingResults:
    """Return shares with intervals and agreement; arms and differences once the coding is closed (owners)."""
    return coding_figures.results(call.db, call.actor, ref)


def export_codes(call: Calling, ref: CodingRef) -> Response:
    """Send all codes as CSV, from which every figure can be computed; with arms once it is closed (owners)."""
    write = partial(coding_figures.export_codes, call.db, call.actor, ref)
    return download(f"{ref.replace('/', '-')}-codes", "csv", write)
