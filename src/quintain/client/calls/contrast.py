"""Calls about contrast projects (`task/name`): edits of test items, checks, and which sets break a model.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from quintain.client.refs import address, ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.contrasting import (
    Boundary,
    ContestedVariants,
    ContrastDraft,
    ContrastDrafts,
    ContrastFormats,
    ContrastLook,
    ContrastPivot,
    ContrastProject,
    ContrastProjects,
    ContrastRelease,
    ContrastSetPage,
    HumanContrast,
    ModelContrast,
    Phenomena,
    PublishedFormat,
    ToCheck,
    VariantsAdded,
    VariantStanding,
    VariantToCheck,
)


class ContrastCalls:
    """What `Client` can ask about contrast."""

    _transport: Transport

    def contrast_formats(self) -> list[PublishedFormat]:
        """List the published contrast sets that can be brought in."""
        return self._transport.read(ContrastFormats, "GET", "/contrast/formats").formats

    def contrast_projects(self, task: str) -> list[ContrastProject]:
        """List the contrast projects of a task in which one may write or check."""
        return self._transport.read(ContrastProjects, "GET", f"{task_path(task)}/contrast").projects

    def put_contrast_project(
        self, task: str, toml: str, *, revision: str = "", remove: Iterable[str] = ()
    ) -> ContrastProject:
        """Make the project that a TOML file defines and draw its examples, or change the one of that name (owners)."""
        return self._transport.read(
            ContrastProject,
            "PUT",
            f"{task_path(task)}/contrast",
            params={"revision": revision, "remove": list(remove)},
            json={"toml": toml},
        )

    def contrast_project(self, ref: str) -> ContrastProject:
        """Return a contrast project with its progress."""
        return self._transport.read(ContrastProject, "GET", ref_path(ref, "contrast"))

    def close_contrast_project(self, ref: str) -> ContrastProject:
        """Close a project: nobody takes an example any more (owners)."""
        return self._transport.read(ContrastProject, "POST", f"{ref_path(ref, 'contrast')}/close")

    def reopen_contrast_project(self, ref: str) -> ContrastProject:
        """Open a project again (owners)."""
        return self._transport.read(ContrastProject, "POST", f"{ref_path(ref, 'contrast')}/open")

    def add_phenomenon(self, ref: str, name: str) -> list[str]:
        """Add a phenomenon to the list of a project."""
        return self._transport.read(
            Phenomena, "POST", f"{ref_path(ref, 'contrast')}/phenomena", json={"name": name}
        ).phenomena

    def contrast_sets(
        self, ref: str, *, state: str = "", mine: bool = False, offset: int = 0, limit: int = 20
    ) -> ContrastSetPage:
        """List examples with the variants that were written of them, and what was said of those.

        Owners see all of them, others their own, and experts also those that are not theirs to check any more.
        """
        return self._transport.read(
            ContrastSetPage,
            "GET",
            f"{ref_path(ref, 'contrast')}/sets",
            params={"state": state, "mine": mine, "offset": offset, "limit": limit},
        )

    def take_pivot(self, ref: str) -> ContrastPivot:
        """Take the next example to edit, or the one that one has."""
        return self._transport.read(ContrastPivot, "POST", f"{ref_path(ref, 'contrast')}/pivots")

    def pivot(self, ref: str, pivot: int) -> ContrastPivot:
        """Return an example that one has taken."""
        return self._transport.read(ContrastPivot, "GET", f"{ref_path(ref, 'contrast')}/pivots/{pivot}")

    def finish_pivot(self, ref: str, pivot: int, *, skip: bool = False) -> None:
        """Be done with an example; one without a variant can be skipped."""
        self._transport.ask("POST", f"{ref_path(ref, 'contrast')}/pivots/{pivot}/finish", json={"skip": skip})

    def return_pivot(self, ref: str, pivot: int) -> None:
        """Return an example that one has taken, for somebody else."""
        self._transport.ask("POST", f"{ref_path(ref, 'contrast')}/pivots/{pivot}/return")

    def contrast_drafts(self, ref: str, pivot: int) -> list[ContrastDraft]:
        """List the drafts that rules make of an example that one has taken, where the project offers any."""
        return self._transport.read(ContrastDrafts, "GET", f"{ref_path(ref, 'contrast')}/pivots/{pivot}/drafts").drafts

    def search_contrast_drafts(self, ref: str, pivot: int, model: str) -> list[ContrastDraft]:
        """Search for small edits of an example that turn what a named model says."""
        return self._transport.read(
            ContrastDrafts, "POST", f"{ref_path(ref, 'contrast')}/pivots/{pivot}/search", json={"model": model}
        ).drafts

    def add_variants(self, ref: str, rows: Iterable[Mapping[str, Any]], *, checked: bool = False) -> VariantsAdded:
        """Add variants that were written elsewhere; all of them, or none and every fault (owners)."""
        return self._transport.read(
            VariantsAdded,
            "POST",
            f"{ref_path(ref, 'contrast')}/variants",
            json={"rows": [dict(row) for row in rows], "checked": checked},
        )

    def withdraw_variant(self, ref: str, variant: int) -> None:
        """Take a variant back: one's own, or as an owner any."""
        self._transport.ask("DELETE", f"{ref_path(ref, 'contrast')}/variants/{variant}")

    def scout_contrast(self, ref: str, model: str) -> ContrastLook:
        """Look at what a model says of an example, which leaves the project by that; it is logged."""
        return self._transport.read(ContrastLook, "POST", f"{ref_path(ref, 'contrast')}/scout", json={"model": model})

    def next_check(self, ref: str) -> VariantToCheck | None:
        """Take the next variant to check: by somebody else, and without any answer."""
        return self._transport.read(ToCheck, "POST", f"{ref_path(ref, 'contrast')}/checks").variant

    def check_variant(
        self, ref: str, variant: int, answer: Any, minimal: bool, sound: bool, note: str = ""
    ) -> VariantStanding:
        """Judge a variant: what is right, and whether it is minimal and sound."""
        return self._transport.read(
            VariantStanding,
            "POST",
            f"{ref_path(ref, 'contrast')}/variants/{variant}/check",
            json={"answer": answer, "minimal": minimal, "sound": sound, "note": note},
        )

    def contested_variants(self, ref: str, *, offset: int = 0, limit: int = 20) -> ContestedVariants:
        """List variants on which people disagree, to those who neither wrote nor checked them (experts, owners)."""
        return self._transport.read(
            ContestedVariants,
            "GET",
            f"{ref_path(ref, 'contrast')}/contested",
            params={"offset": offset, "limit": limit},
        )

    def settle_variant(
        self, ref: str, variant: int, accept: bool, answer: Any = None, *, note: str = ""
    ) -> VariantStanding:
        """Decide on a contested variant (experts, owners)."""
        return self._transport.read(
            VariantStanding,
            "POST",
            f"{ref_path(ref, 'contrast')}/variants/{variant}/decision",
            json={"accept": accept, "answer": answer, "note": note},
        )

    def release_contrast(self, ref: str) -> ContrastRelease:
        """Make a data set version of the accepted variants and their originals (owners)."""
        return self._transport.read(ContrastRelease, "POST", f"{ref_path(ref, 'contrast')}/release")

    def open_contrast_people(self, ref: str, pairs: int = 100, *, seed: int = 0) -> HumanContrast:
        """Let people judge pairs of original and variant that they did not write (owners)."""
        return self._transport.read(
            HumanContrast, "POST", f"{ref_path(ref, 'contrast')}/people", json={"pairs": pairs, "seed": seed}
        )

    def contrast_people(self, ref: str) -> HumanContrast:
        """Return how people do on the pairs that were judged (owners)."""
        return self._transport.read(HumanContrast, "GET", f"{ref_path(ref, 'contrast')}/people")

    def model_contrast(self, ref: str, dataset: str) -> ModelContrast:
        """Return what a model makes of a contrast set: overall, by phenomenon and by label transition."""
        where, version = address(ref, "models")
        return self._transport.read(ModelContrast, "GET", f"{where}/contrast/{quote(dataset, safe='')}", params=version)

    def contrast_boundary(
        self, ref: str, dataset: str, *, show: str = "broken", offset: int = 0, limit: int = 10
    ) -> Boundary:
        """Return sets with what a model said of each member."""
        where, version = address(ref, "models")
        return self._transport.read(
            Boundary,
            "GET",
            f"{where}/contrast/{quote(dataset, safe='')}/sets",
            params={**version, "show": show, "offset": offset, "limit": limit},
        )
