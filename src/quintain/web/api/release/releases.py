"""Releases of validations, for programs: look at one, make it, list those there are."""

from __future__ import annotations

from quintain.core.records.release import Release, Releases
from quintain.core.records.stations import Stations
from quintain.services.release import releases as service
from quintain.services.release.stations import stations_of
from quintain.web.api.call import Calling
from quintain.web.api.collect.rounds import RoundRef
from quintain.web.api.shapes import LongText, Shape
from quintain.web.api.validate.validation import ValidationRef


class ReleaseRequest(Shape):
    """The specification as TOML; an empty one is the default."""

    spec: LongText = ""


def list_releases(call: Calling, ref: ValidationRef) -> Releases:
    """List the releases of a validation, the newest first (owners)."""
    return service.list_releases(call.db, call.actor, ref)


def preview_release(call: Calling, ref: ValidationRef, wanted: ReleaseRequest) -> Release:
    """Say what a release would be, with a number for every property; nothing is written (owners)."""
    return service.preview(call.db, call.blobs, call.actor, ref, service.parse_release(wanted.spec))


def make_release(call: Calling, ref: ValidationRef, wanted: ReleaseRequest) -> Release:
    """Make train, dev and test of what was judged, as data set versions: all of them, or nothing (owners)."""
    return service.release(call.db, call.blobs, call.actor, ref, service.parse_release(wanted.spec))


def get_stations(call: Calling, ref: RoundRef) -> Stations:
    """Say which of write, judge, label, release and next model a round is past, and what is to be done next."""
    return stations_of(call.db, call.actor, ref)
