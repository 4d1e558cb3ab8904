"""What somebody typed into the editor of a specification, into its form or as its file, and what was wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from quintain.core.errors import Conflict, QuintainError
from quintain.core.spec import plain
from quintain.web.errors import Trouble, trouble_of
from quintain.web.i18n import Tongue
from quintain.web.spec_form import Choice, Sheet, SpecForm
from quintain.web.visit import Post, Visit


@dataclass(frozen=True, slots=True)
class SpecDraft:
    """A specification that is being written: *values* of the form's controls and the *text* of its file."""

    form: SpecForm
    values: Mapping[str, Any]
    text: str
    as_file: bool = False
    trouble: Trouble | None = None
    stored: Any = None  # the specification that is edited, as it is stored; none where one is new

    def typed(self, post: Post) -> SpecDraft:
        """Return the draft with what was sent: the file, or the form."""
        if post.flag("as_file"):
            return replace(self, text=post.text("toml").replace("\r\n", "\n"), as_file=True)
        return replace(self, values=self.form.typed(post), as_file=False)

    def refused(self, error: QuintainError) -> SpecDraft:
        """Return the draft with what is wrong with it, to be shown beside it."""
        return replace(self, trouble=trouble_of(error))

    def faults(self, language: str) -> dict[str, str]:
        """Return what is wrong, under the control that it stands beside."""
        return self.form.faults_by_control(self.trouble.faults, language) if self.trouble else {}

    def shown(self, visit: Visit, choices: Mapping[str, list[Choice]] | None = None) -> dict[str, Any]:
        """Return what every editor's template needs of it; *choices* are those that only the page knows."""
        faults = self.faults(visit.language)
        edits = type(self.stored).__name__
        return {
            "made_from": visit.made_from(edits, plain(self.stored)) if self.stored is not None else None,
            "status": self.trouble.status if self.trouble else 200,
            "as_file": self.as_file,
            "toml": self.text,
            "values": self.values,
            "faults": faults,
            "sheet": Sheet(self.form, visit.tongue, self.values, faults, choices or {}),
            "error": self._trouble_on_form(visit.tongue),
        }

    def _trouble_on_form(self, tongue: Tongue) -> Trouble | None:
        """Name places as the form calls them, unless it is the file that was sent."""
        if self.trouble is None or self.as_file or not self.trouble.faults:
            return self.trouble
        return self.form.shown(self.trouble, tongue)


class Named(Protocol):
    """A specification of something that a task has, by name."""

    @property
    def task(self) -> str:
        """The task that it belongs to."""

    @property
    def name(self) -> str:
        """What it is called."""


def refuse_other(spec: Named, task: str, name: str | None) -> None:
    """Refuse to save a specification of another *task*, or of another *name* than the one that was opened to change."""
    if spec.task != task:
        raise Conflict("This belongs to the task '{other}', not to '{task}'.", other=spec.task, task=task)
    if name is not None and spec.name != name:
        raise Conflict(
            "This is called '{other}', and it is '{name}' that is being changed.",
            other=spec.name,
            name=name,
            remedy="Keep the name, or make a new one.",
        )
