"""The client's calls about reports and hand coding that carry files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from quintain.client.calls.codings import CodingsCalls
from quintain.client.calls.study import StudyCalls
from quintain.client.refs import format_of, ref_path, task_path


class StudyClient(StudyCalls, CodingsCalls):
    """What `Client` can ask about reports and hand coding."""

    def download_study(self, task: str, source: str, path: Path | str) -> Path:
        """Write the last report of *source* (`data/test@2`, `rounds/1`, `trials/x`) as a file, by its ending."""
        target = Path(path)
        room, _, name = source.partition("/")
        where = f"{task_path(task)}/studies/{quote(room, safe='')}/{quote(name, safe='')}/download"
        self._transport.fetch(where, target, params={"format": format_of(target, None)})
        return target

    def download_codes(self, ref: str, path: Path | str) -> Path:
        """Write all codes of a coding (`task/name`) as CSV; with arms once it is closed (owners)."""
        target = Path(path)
        self._transport.fetch(f"{ref_path(ref, 'codings')}/codes", target)
        return target

    def download_report(
        self,
        task: str,
        kind: str,
        path: Path | str,
        *,
        rounds: Iterable[int] = (),
        harvests: Iterable[str] = (),
        validation: str = "",
        seed: int = 0,
    ) -> Path:
        """Write a report as a file: .html needs no network, .md, .tex has the tables, .json, .zip has all of them."""
        target = Path(path)
        asked = {"rounds": list(rounds), "harvests": list(harvests), "validation": validation, "seed": seed}
        where = f"{task_path(task)}/reports/{quote(kind, safe='')}/download"
        self._transport.fetch(where, target, params={**asked, "format": format_of(target, None)})
        return target
