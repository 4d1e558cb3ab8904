"""Texts, perturbed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quintain.data.in_memory import InMemoryTable, source_of
from quintain.library.results import Result
from quintain.reports.charts import bar_chart
from quintain.services.plain.files.perturb import Perturbing, PerturbReport, perturb_source


@dataclass(frozen=True, slots=True, repr=False)
class Perturbed(Result):
    """Rows that changed."""

    title = "Perturbed"
    report: PerturbReport

    @property
    def table(self) -> pl.DataFrame:
        """The rows that changed, with `parent`, `perturbation` and, for fairness, `change`."""
        return self.report.rows

    def content(self) -> Mapping[str, Any]:
        """Return what each perturbation did."""
        return self.report.as_dict()

    def chart(self) -> Mapping[str, Any]:
        """Draw how many rows each perturbation changed."""
        return bar_chart(
            {tally.name: tally.changed for tally in self.report.tallies}, category="perturbation", value="rows"
        )

    def facts(self) -> Iterator[str]:
        """Return what was done."""
        yield f"{self.report.rows.height:,} changed rows by {', '.join(tally.name for tally in self.report.tallies)}"


def perturb(
    texts: Any,
    kinds: Sequence[str] | str,
    *,
    seed: int = 0,
    severity: float = 1.0,
    fields: Sequence[str] = (),
    task: str | Path | None = None,
    language: str | None = None,
) -> Perturbed:
    """Perturb *texts* and give the rows that change, with where they come from.

    *texts* is a list of texts, or a table; *fields* are its columns with texts. *kinds* are perturbations, or
    `robustness` or `fairness` for all of them; *severity* multiplies the share of edited words. With a *task* file its
    fields are perturbed and gold spans are kept in place. *language* is that of the texts: the task's, or English.

    >>> perturb(["She likes her book."], "fairness").table.height > 0
    True
    """
    if isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts):
        texts = InMemoryTable(pl.DataFrame({"text": texts}, schema={"text": pl.String()}), "the texts")
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    settings = Perturbing(names, seed, severity, fields, None if task is None else Path(task), language)
    return Perturbed(perturb_source(source_of(texts, name="the texts"), settings))
