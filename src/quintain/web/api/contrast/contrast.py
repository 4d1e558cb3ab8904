"""Contrast projects, for programs: what owners set, what experts write and check, and which sets break a model."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Path
from fastapi import Query as Parameter

from quintain.core.contrast import ProjectState
from quintain.core.records.contrasting import (
    Boundary,
    ContestedVariants,
    ContrastDrafts,
    ContrastLook,
    ContrastPivot,
    ContrastProject,
    ContrastProjects,
    ContrastRelease,
    ContrastSetPage,
    ContrastVariant,
    HumanContrast,
    ModelContrast,
    Phenomena,
    ToCheck,
    VariantsAdded,
    VariantStanding,
)
from quintain.services.contrast import (
    authoring,
    checking,
    drafts,
    listing,
    people,
    projects,
    releasing,
    results,
    scouting,
    uploading,
)
from quintain.services.models.ask import limit_calls
from quintain.web.api.call import Calling
from quintain.web.api.contrast.shapes import (
    ContrastDefinition,
    EditRequest,
    FinishRequest,
    ModelRequest,
    OpinionRequest,
    PairsRequest,
    PhenomenonRequest,
    SettleRequest,
    VariantsRequest,
)
from quintain.web.api.params import Changing, DatasetName, Limit, ModelName, Offset, TaskName, Version

ProjectName = Annotated[str, Path(description="Name of the project.", max_length=80, pattern=r"^[^\x00]+$")]
PivotId = Annotated[int, Path(description="Id of the example.", ge=1, le=2**31 - 1)]
VariantId = Annotated[int, Path(description="Id of the variant.", ge=1, le=2**31 - 1)]
VariantWord = Literal["", "written", "accepted", "contested", "rejected"]


async def _ref(task: TaskName, project: ProjectName) -> str:
    return f"{task}/{project}"


ProjectRef = Annotated[str, Depends(_ref)]


def list_contrast_projects(call: Calling, task: TaskName) -> ContrastProjects:
    """List the contrast projects of a task in which one may write or check."""
    return projects.list_projects(call.db, call.actor, task)


def put_contrast_project(
    call: Calling, task: TaskName, definition: ContrastDefinition, edit: Changing
) -> ContrastProject:
    """Make the project that a TOML file defines and draw its examples, or change the one of that name (owners)."""
    project = projects.put_project(call.db, call.blobs, call.actor, definition.toml, task=task, edit=edit)
    return projects.get_project(call.db, call.actor, project.ref)


def get_contrast_project(call: Calling, ref: ProjectRef) -> ContrastProject:
    """Return a contrast project with its progress."""
    return projects.get_project(call.db, call.actor, ref)


def close_contrast_project(call: Calling, ref: ProjectRef) -> ContrastProject:
    """Close a project: nobody takes an example any more (owners)."""
    return projects.set_state(call.db, call.actor, ref, ProjectState.CLOSED)


def reopen_contrast_project(call: Calling, ref: ProjectRef) -> ContrastProject:
    """Open a project again (owners)."""
    return projects.set_state(call.db, call.actor, ref, ProjectState.OPEN)


def add_phenomenon(call: Calling, ref: ProjectRef, body: PhenomenonRequest) -> Phenomena:
    """Add a phenomenon to the list of a project."""
    return Phenomena(list(projects.add_phenomenon(call.db, call.actor, ref, body.name)))


def list_contrast_sets(
    call: Calling,
    ref: ProjectRef,
    *,
    state: VariantWord = "",
    mine: Annotated[bool, Parameter(description="Only what one wrote oneself.")] = False,
    offset: Offset = 0,
    limit: Limit = 20,
) -> ContrastSetPage:
    """List examples with the variants that were written of them, and what was said of those.

    Owners see all of them, others their own, and experts also those that are not theirs to check any more.
    """
    return listing.list_sets(call.db, call.actor, ref, state=state, mine=mine, offset=offset, limit=limit)


def take_pivot(call: Calling, ref: ProjectRef) -> ContrastPivot:
    """Take the next example to edit, or the one that one has."""
    return authoring.take_pivot(call.db, call.actor, ref)


def get_pivot(call: Calling, ref: ProjectRef, pivot: PivotId) -> ContrastPivot:
    """Return an example that one has taken."""
    return authoring.get_pivot(call.db, call.actor, ref, pivot)


def add_variant(call: Calling, ref: ProjectRef, pivot: PivotId, edit: EditRequest) -> ContrastVariant:
    """Add an edited copy of an example that one has taken."""
    written = authoring.Edit(
        edit.inputs,
        edit.answer,
        edit.tags,
        edit.rationale,
        edit.reason,
        keeps_label=edit.keeps_label,
        draft=edit.draft,
        confirmed=edit.confirmed,
    )
    return authoring.add_variant(call.db, call.actor, ref, pivot, written, generation=edit.generation)


def finish_pivot(call: Calling, ref: ProjectRef, pivot: PivotId, body: FinishRequest | None = None) -> None:
    """Be done with an example; one without a variant can be skipped."""
    authoring.finish_pivot(call.db, call.actor, ref, pivot, skip=bool(body and body.skip))


def return_pivot(call: Calling, ref: ProjectRef, pivot: PivotId) -> None:
    """Return an example that one has taken, for somebody else."""
    authoring.release_pivot(call.db, call.actor, ref, pivot)


def list_contrast_drafts(call: Calling, ref: ProjectRef, pivot: PivotId) -> ContrastDrafts:
    """List the drafts that rules make of an example that one has taken, where the project offers any."""
    return drafts.list_drafts(call.db, call.actor, ref, pivot)


def search_contrast_drafts(call: Calling, ref: ProjectRef, pivot: PivotId, body: ModelRequest) -> ContrastDrafts:
    """Search for small edits of an example that turn what a named model says."""
    limit_calls(call.db, call.actor, call.address, call.workspace.settings.model_calls)
    return drafts.search_drafts(call.db, call.blobs, call.actor, ref, pivot, body.model, runners=call.workspace.runners)


def add_variants(call: Calling, ref: ProjectRef, body: VariantsRequest) -> VariantsAdded:
    """Add variants that were written elsewhere; all of them, or none and every fault (owners)."""
    return uploading.add_variants(call.db, call.actor, ref, body.rows, checked=body.checked)


def withdraw_variant(call: Calling, ref: ProjectRef, variant: VariantId) -> None:
    """Take a variant back: one's own, or as an owner any."""
    authoring.withdraw_variant(call.db, call.actor, ref, variant)


def scout_contrast(call: Calling, ref: ProjectRef, body: ModelRequest) -> ContrastLook:
    """Look at what a model says of an example, which leaves the project by that; it is logged."""
    limit_calls(call.db, call.actor, call.address, call.workspace.settings.model_calls)
    return scouting.scout(call.db, call.blobs, call.actor, ref, body.model, runners=call.workspace.runners)


def next_check(call: Calling, ref: ProjectRef) -> ToCheck:
    """Take the next variant to check: by somebody else, and without any answer."""
    return ToCheck(checking.next_check(call.db, call.actor, ref))


def check_variant(call: Calling, ref: ProjectRef, variant: VariantId, opinion: OpinionRequest) -> VariantStanding:
    """Judge a variant: what is right, and whether it is minimal and sound."""
    verdict = checking.Opinion(opinion.answer, minimal=opinion.minimal, sound=opinion.sound, note=opinion.note)
    return VariantStanding(variant, checking.check_variant(call.db, call.actor, ref, variant, verdict))


def list_contested_variants(call: Calling, ref: ProjectRef, offset: Offset = 0, limit: Limit = 20) -> ContestedVariants:
    """List variants on which people disagree, to those who neither wrote nor checked them (experts, owners)."""
    return checking.list_contested(call.db, call.actor, ref, offset=offset, limit=limit)


def settle_variant(call: Calling, ref: ProjectRef, variant: VariantId, body: SettleRequest) -> VariantStanding:
    """Decide on a contested variant (experts, owners)."""
    state = checking.settle_variant(
        call.db, call.actor, ref, variant, accept=body.accept, answer=body.answer, note=body.note
    )
    return VariantStanding(variant, state)


def release_contrast(call: Calling, ref: ProjectRef) -> ContrastRelease:
    """Make a data set version of the accepted variants and their originals (owners)."""
    return releasing.release_project(call.db, call.blobs, call.actor, ref)


def open_contrast_people(call: Calling, ref: ProjectRef, body: PairsRequest | None = None) -> HumanContrast:
    """Let people judge pairs of original and variant that they did not write (owners)."""
    settings = body or PairsRequest()
    return people.open_people(call.db, call.actor, ref, pairs=settings.pairs, seed=settings.seed)


def get_contrast_people(call: Calling, ref: ProjectRef) -> HumanContrast:
    """Return how people do on the pairs that were judged (owners)."""
    return people.people_figures(call.db, call.actor, ref)


def get_model_contrast(
    call: Calling, task: TaskName, model: ModelName, dataset: DatasetName, version: Version = None
) -> ModelContrast:
    """Return what a model makes of a contrast set: overall, by phenomenon and by label transition."""
    return results.model_contrast(call.db, call.blobs, call.actor, _model(task, model, version), dataset)


def get_contrast_boundary(
    call: Calling,
    task: TaskName,
    model: ModelName,
    dataset: DatasetName,
    *,
    version: Version = None,
    show: Annotated[Literal["broken", "all"], Parameter(description="Sets that break the model, or all.")] = "broken",
    offset: Offset = 0,
    limit: Annotated[int, Parameter(description="At most so many.", ge=1, le=100)] = 10,
) -> Boundary:
    """Return sets with what a model said of each member."""
    ref = _model(task, model, version)
    return results.boundary(call.db, call.blobs, call.actor, ref, dataset, show=show, offset=offset, limit=limit)


def _model(task: str, model: str, version: str | None) -> str:
    return f"{task}/{model}@{version}" if version else f"{task}/{model}"
