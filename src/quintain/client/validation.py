"""The client's calls about validation in a form of their own: the newest policy, judges by name, files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from quintain.client.calls.validation import ValidationCalls
from quintain.client.refs import format_of, ref_path
from quintain.core.records.judging import Unqualified


class ValidationClient(ValidationCalls):
    """What `Client` can ask about validations: `task/number` for that of a round, or `task/name`."""

    def validation_policy(self, ref: str) -> str:
        """Return the policy as TOML (owners)."""
        return self.validation_policies(ref)[0].policy

    def unqualify(self, ref: str, names: Sequence[str], reason: str) -> int:
        """Unqualify judges by name with the *reason* that they will read; give how many slots opened again (owners)."""
        body = {"workers": list(names), "reason": reason}
        return self._transport.read(Unqualified, "POST", f"{ref_path(ref, 'validations')}/unqualify", json=body).opened

    def download_judgements(self, ref: str, path: Path | str, *, format: str | None = None) -> Path:  # noqa: A002 - the API's word
        """Write all judgements, judges under numbers; the file's ending chooses the format (owners)."""
        return self._validation_file(ref, "judgements", Path(path), format)

    def download_labels(self, ref: str, path: Path | str, *, format: str | None = None) -> Path:  # noqa: A002 - the API's word
        """Write the judged items with their labels and votes; the file's ending chooses the format (owners)."""
        return self._validation_file(ref, "labels", Path(path), format)

    def release_text(self, ref: str, number: int, name: str = "datasheet.md") -> str:
        """Return the `report.md`, `datasheet.md` or `changelog.md` of a release (owners)."""
        return self._transport.text("GET", f"{ref_path(ref, 'validations')}/releases/{number}/{quote(name, safe='')}")

    def download_release(self, ref: str, number: int, path: Path | str) -> Path:
        """Write everything about a release to a ZIP: all formats, datasheet, report, changelog (owners)."""
        target = Path(path)
        self._transport.fetch(f"{ref_path(ref, 'validations')}/releases/{number}/bundle", target)
        return target

    def _validation_file(self, ref: str, what: str, target: Path, chosen: str | None) -> Path:
        params = {"format": format_of(target, chosen)}
        self._transport.fetch(f"{ref_path(ref, 'validations')}/{what}", target, params=params)
        return target
