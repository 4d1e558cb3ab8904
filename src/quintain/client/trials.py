"""Trials over the API: what is not one operation, or brings a file."""

from __future__ import annotations

from pathlib import Path

from quintain.client.calls.trials import TrialsCalls
from quintain.client.refs import ref_path


class TrialClient(TrialsCalls):
    """Trials."""

    def export_trial(self, ref: str, path: Path | str) -> Path:
        """Write all of a trial as one file: texts, grades, judgements, what models said (owners).

        People have other names there. `quintain trial report` and `qt.trial` read it.
        """
        target = Path(path)
        self._transport.fetch(f"{ref_path(ref, 'trials')}/export", target)
        return target
