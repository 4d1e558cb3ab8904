"""All that is kept about somebody, and its end, for programs."""

from __future__ import annotations

from functools import partial

from fastapi import Response

from quintain.core.errors import BadInput
from quintain.services.access.actors import normal_name
from quintain.services.house import personal_data
from quintain.web.api.call import Calling
from quintain.web.api.params import PersonName
from quintain.web.api.shapes import (
    Deletion,
    PersonDeletion,
)
from quintain.web.files import download_archive


def export_me(call: Calling) -> Response:
    """Return all that is kept about oneself, as a ZIP file of JSON files."""
    return download_archive("quintain-my-data", partial(personal_data.export_person, call.db, call.actor))


def delete_me(call: Calling, deletion: Deletion) -> None:
    """Delete one's own account for good; what one contributed stays in the counts, under no name."""
    if normal_name(deletion.name) != call.actor.name:
        raise BadInput("That is not the name of your account; nothing was deleted.")
    personal_data.delete_person(call.db, call.actor, give_up_pay=deletion.give_up_pay)


def delete_user(call: Calling, name: PersonName, deletion: PersonDeletion) -> None:
    """Delete somebody's account for good, as they asked (admins)."""
    personal_data.delete_person(call.db, call.actor, name, give_up_pay=deletion.give_up_pay)
