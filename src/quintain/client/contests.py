"""The client's calls about contests that carry files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quintain.client.calls.contests import ContestsCalls
from quintain.client.refs import format_of, ref_path
from quintain.core.errors import NotFound
from quintain.core.records.contests import ContestSystem, PairsAdded


class ContestClient(ContestsCalls):
    """What `Client` can ask about contests (`task/name`)."""

    def hand_in_answers(self, ref: str, path: Path | str, *, system: str = "") -> ContestSystem:
        """Hand in a table `id,prediction`: to the development set while building, and to the pairs while scoring.

        *system* says of which of the team's systems it is, where there are several; while building, a new name adds
        one. Organisers name the reference system that it is of.
        """
        source = _existing_file(path)
        with source.open("rb") as stream:
            return self._transport.read(
                ContestSystem,
                "POST",
                f"{ref_path(ref, 'contests')}/build/answers",
                data={"system": system},
                files={"file": (source.name, stream)},
            )

    def upload_pairs(
        self,
        ref: str,
        path: Path | str,
        *,
        columns: Mapping[str, str] | None = None,
        preset: str = "",
        dispute: bool = False,
    ) -> PairsAdded:
        """Add the pairs of a table to one's team's; all of them, or nothing and every fault by its row.

        *preset* is `bibi-2017` for a file of that event as it was released. With *dispute*, originals with another
        label than the starter set's dispute that one.
        """
        source = _existing_file(path)
        mapped = "\n".join(f"{ours}={theirs}" for ours, theirs in (columns or {}).items())
        with source.open("rb") as stream:
            return self._transport.read(
                PairsAdded,
                "POST",
                f"{ref_path(ref, 'contests')}/break/upload",
                data={"columns": mapped, "preset": preset, "dispute": "true" if dispute else "false"},
                files={"file": (source.name, stream)},
            )

    def download_contest_part(self, ref: str, part: str, path: Path | str) -> Path:
        """Write what is to be answered, `dev` or `pairs`: ids and inputs, without labels."""
        target = Path(path)
        where = f"{ref_path(ref, 'contests')}/download/{part}"
        self._transport.fetch(where, target, params={"format": format_of(target, None)})
        return target

    def export_contest(self, ref: str, path: Path | str) -> Path:
        """Write the table that `quintain contest score` reads: every pair with every system's answers."""
        target = Path(path)
        self._transport.fetch(f"{ref_path(ref, 'contests')}/export", target, params={"format": format_of(target, None)})
        return target


def _existing_file(path: Path | str) -> Path:
    source = Path(path)
    if not source.is_file():
        raise NotFound("There is no file {source}.", source=source)
    return source
