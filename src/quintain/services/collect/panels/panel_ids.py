"""The ids that a panel puts into its links: read, bounded, and sent to no address that nobody named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from quintain.core.errors import BadInput, Fault, Forbidden
from quintain.core.rounds import Entry

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
TURK_HOSTS = ("www.mturk.com", "workersandbox.mturk.com", "requester.mturk.com", "requestersandbox.mturk.com")
MAX_ID = 200
LINK: Literal["link"] = "link"  # no panel: whoever has the address takes part


@dataclass(frozen=True, slots=True)
class PanelIds:
    """What a panel calls somebody, the study and the session that they come from."""

    person: str
    study: str
    session: str
    submit_to: str = ""


def panel_ids(entry: Entry, parameters: Mapping[str, str], device: str = "") -> PanelIds:
    """Read the panel's ids of whoever comes, or say which are missing.

    Who comes by a link that anybody may have is known by their browser alone, of which *device* is the fingerprint.
    """
    if entry.provider == LINK:
        return PanelIds(device, "", "")
    names = {
        "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
        "mturk": ("workerId", "hitId", "assignmentId"),
        "panel": (entry.id_parameter, "", ""),
    }[entry.provider]
    needed = [name for name in names if name]
    faults = [
        Fault("is missing or is no id", field=name)
        for name in needed
        if not 0 < len(parameters.get(name, "")) <= MAX_ID or not parameters[name].isprintable()
    ]
    if faults:
        raise BadInput(faults=faults, remedy="Check the link in the panel's study.")
    person, study, session = (parameters.get(name, "") if name else "" for name in names)
    if entry.study and study and study != entry.study:
        raise Forbidden(
            "This address is not for study '{study}'.", study=study, remedy="Check the link in the panel's study."
        )
    submit_to = _checked(entry, parameters.get("turkSubmitTo", "")) if entry.provider == "mturk" else ""
    return PanelIds(person, study, session, submit_to)


def _checked(entry: Entry, address: str) -> str:
    """Refuse to send people, and what they did, to a place that nobody named."""
    parts = urlsplit(address)
    allowed = {*TURK_HOSTS, urlsplit(entry.completion_url).netloc}
    if parts.scheme != "https" or parts.netloc not in allowed or len(address) > 400:
        raise BadInput(
            faults=[Fault("'{address}' is not an address of the panel", address=address[:80], field="turkSubmitTo")],
            remedy="Name its server in completion_url, if it is another one.",
        )
    return address
