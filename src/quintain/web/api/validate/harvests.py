"""Harvests, for programs: a sample as a round of its task."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Form, UploadFile

from quintain.core.records.collect import Round
from quintain.core.records.jobs import JobStanding
from quintain.services.validate.console import harvests
from quintain.services.validate.console.harvest_jobs import HarvestRequest, ask_harvest
from quintain.web.api.call import Calling
from quintain.web.api.params import TaskName
from quintain.web.api.shapes import LongText, Text
from quintain.web.files import on_disk


def add_harvest(
    call: Calling,
    task: TaskName,
    *,
    file: Annotated[UploadFile, File(description="The sample as `quintain harvest` writes it: JSONL, CSV or Parquet.")],
    title: Annotated[Text, Form(description="Title of the round; after the file by default.")] = "",
    model: Annotated[
        Text, Form(description="The model that it was harvested with; as the sample says by default.")
    ] = "",
    policy: Annotated[LongText, Form(description="The policy of its validation, as TOML.")] = "",
) -> Round:
    """Make a harvested sample the task's next round, and open its validation: all of it, or nothing (owners)."""
    with on_disk(file, call.workspace.limits_at_once) as path:
        added = harvests.add_harvest(
            call.db, call.actor, task, path, title=title.strip(), model=model.strip(), policy_toml=policy or None
        )
    return added.record()


def start_harvest(  # noqa: PLR0913 - a form has as many fields
    call: Calling,
    task: TaskName,
    *,
    model: Annotated[Text, Form(description="The model that is asked about every sentence.")],
    file: Annotated[
        UploadFile | None, File(description="The corpus: JSONL, CSV, TSV, Parquet or text; or name a data set.")
    ] = None,
    dataset: Annotated[Text, Form(description="The data set version that is the corpus, where no file is.")] = "",
    rules: Annotated[
        LongText, Form(description="contradictions, labels, unsure, or a rule as TOML.")
    ] = "contradictions",
    where: Annotated[Text, Form(description="A condition that every sentence must meet.")] = "",
    size: Annotated[int | None, Form(description="How many sentences; as the rule says by default.", ge=1)] = None,
    seed: Annotated[int, Form(description="Another one gives another sample.", ge=0, le=2**31 - 1)] = 0,
    text: Annotated[Text, Form(description="Column of the texts.")] = "",
    rating: Annotated[Text, Form(description="Column of the ratings.")] = "",
    id: Annotated[Text, Form(description="Column of the ids.")] = "",  # noqa: A002 - the column's word
    title: Annotated[Text, Form(description="Title of the round.")] = "",
    policy: Annotated[LongText, Form(description="The policy of its validation, as TOML.")] = "",
) -> JobStanding:
    """Have a worker read a corpus, ask a model about it, and make a sample the task's next round (owners).

    The answer is the job: it can be asked after and cancelled, and its result names the round.
    """
    columns = {name: column.strip() for name, column in (("text", text), ("rating", rating), ("id", id))}
    request = HarvestRequest(
        model.strip(),
        rules=rules,
        where=where.strip(),
        size=size,
        seed=seed,
        columns={name: column for name, column in columns.items() if column},
        dataset=dataset.strip(),
        title=title.strip(),
        policy=policy,
    )
    if file is None:
        return ask_harvest(call.db, call.blobs, call.actor, task, request, runners=call.workspace.runners)
    with on_disk(file, call.workspace.file_limits) as path:
        return ask_harvest(call.db, call.blobs, call.actor, task, request, file=path, runners=call.workspace.runners)
