"""The client's calls about reports that carry files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from quintain.client.calls.study import StudyCalls
from quintain.client.refs import format_of, task_path


class StudyClient(StudyCalls):
    """What `Client` can ask about reports."""

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
