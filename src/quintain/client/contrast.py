"""The client's calls about contrast sets in a form of their own: adding a variant, bringing a published set in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from quintain.client.calls.contrast import ContrastCalls
from quintain.client.refs import ref_path, task_path
from quintain.core.errors import NotFound
from quintain.core.records.contrasting import ContrastImported, ContrastPivot, ContrastVariant


class ContrastClient(ContrastCalls):
    """What `Client` can ask about contrast projects (`task/name`) and published contrast sets."""

    def add_variant(
        self,
        pivot: ContrastPivot,
        inputs: Mapping[str, Any],
        answer: Any,
        *,
        tags: Sequence[str] = (),
        rationale: str = "",
        reason: str = "",
        keeps_label: bool = False,
        draft: str = "",
        confirmed: bool = False,
    ) -> ContrastVariant:
        """Add an edited copy of an example that one has taken: what differs of its inputs, and its new answer."""
        body = {
            "inputs": dict(inputs),
            "answer": answer,
            "tags": list(tags),
            "rationale": rationale,
            "reason": reason,
            "keeps_label": keeps_label,
            "draft": draft,
            "confirmed": confirmed,
            "generation": pivot.generation,
        }
        path = f"{ref_path(pivot.project, 'contrast')}/pivots/{pivot.id}/variants"
        return self._transport.read(ContrastVariant, "POST", path, json=body)

    def import_contrast(
        self,
        task: str,
        name: str,
        paths: Sequence[Path | str],
        *,
        format: str,  # noqa: A002 - the word of the command
        originals: Path | str | None = None,
        split: str = "test",
        hidden: bool = False,
        plan: str = "",
    ) -> ContrastImported:
        """Import the published files at *paths* as a contrast set called *name*; all of it or nothing (owners)."""
        sources = [("files", Path(path)) for path in paths]
        sources += [("originals", Path(originals))] if originals else []
        for _, path in sources:
            if not path.is_file():
                raise NotFound("There is no file {source}.", source=path)
        fields = {"name": name, "format": format, "split": split, "hidden": str(hidden).lower(), "plan": plan}
        with ExitStack() as stack:
            files = [(field, (path.name, stack.enter_context(path.open("rb")))) for field, path in sources]
            return self._transport.read(
                ContrastImported, "POST", f"{task_path(task)}/contrast/import", data=fields, files=files
            )
