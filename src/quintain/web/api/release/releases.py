"""Releases of validations, for programs: look at one, make it, list those there are."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Response

from quintain.core.records.release import Release, Releases
from quintain.core.records.stations import Stations
from quintain.services.release import bundle
from quintain.services.release import releases as service
from quintain.services.release.stations import stations_of
from quintain.web.api.call import Calling
from quintain.web.api.params import RoundRef
from quintain.web.api.shapes import LongText, Shape
from quintain.web.api.validate.validation import ValidationRef
from quintain.web.files import download_archive

ReleaseNumber = Annotated[int, Path(description="Number of the release.", ge=1, le=2**31 - 1)]
ReleaseText = Annotated[Literal["report.md", "datasheet.md", "changelog.md"], Path(description="Which text.")]


class ReleaseRequest(Shape):
    """The specification as TOML; an empty one is the default."""

    spec: LongText = ""


def list_releases(call: Calling, ref: ValidationRef) -> Releases:
    """List the releases of a validation, the newest first (owners)."""
    return service.list_releases(call.db, call.actor, ref)


def preview_release(call: Calling, ref: ValidationRef, wanted: ReleaseRequest) -> Release:
    """Say what a release would be, with a number for every property; nothing is written (owners)."""
    return service.preview(call.db, call.blobs, call.actor, ref, service.parse_release(wanted.spec))


def release_text(call: Calling, ref: ValidationRef, number: ReleaseNumber, name: ReleaseText) -> Response:
    """Send the report, the datasheet or the changelog of a release, as Markdown (owners)."""
    text = bundle.text_of(call.db, call.blobs, call.actor, ref, number, name)
    return Response(text, media_type="text/markdown; charset=utf-8")


def release_bundle(call: Calling, ref: ValidationRef, number: ReleaseNumber) -> Response:
    """Send everything about a release as a ZIP: all formats, datasheet, report, changelog (owners).

    Hidden answers are left out.
    """
    return download_archive(
        f"{ref.replace('/', '-')}-release-{number}",
        lambda path: bundle.write_bundle(call.db, call.blobs, call.actor, ref, number, path, archive=True),
    )


def make_release(call: Calling, ref: ValidationRef, wanted: ReleaseRequest) -> Release:
    """Make train, dev and test of what was judged, as data set versions: all of them, or nothing (owners)."""
    return service.release(call.db, call.blobs, call.actor, ref, service.parse_release(wanted.spec))


def get_stations(call: Calling, ref: RoundRef) -> Stations:
    """Say which of write, judge, label, release and next model a round is past, and what is to be done next."""
    return stations_of(call.db, call.actor, ref)
