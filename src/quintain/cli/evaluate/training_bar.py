"""What is shown while a model is trained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from quintain.cli.output import err
from quintain.models.contract import Progress as Report


@contextmanager
def training_bar(text: str) -> Iterator[Report]:
    """Show how far training is, where somebody is watching."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        shown = bar.add_task(text, total=1.0)
        yield lambda fraction: bar.update(shown, completed=fraction)
