"""Train, dev and test of judged texts, under declared constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from quintain.core.release import ReleaseSpec
from quintain.core.spec import read
from quintain.data.in_memory import InMemoryTable, Source, source_of
from quintain.library.labels import JUDGEMENTS
from quintain.library.results import Result
from quintain.reports.charts import heat_map
from quintain.services.plain.files.splits import Plan, plan_splits
from quintain.services.plain.labels.judged_rows import KNOWN, MODEL, JudgedRows, read_judged_rows
from quintain.services.plain.labels.judgements import JudgementReading
from quintain.stats.by_class import class_f1

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True, repr=False)
class DividedItems(Result):
    """Items in train, dev and test."""

    title = "Splits"
    plan: Plan[JudgedRows]
    others: pl.DataFrame

    @property
    def table(self) -> pl.DataFrame:
        """The items as they came, with `split` (none for what is left out of all)."""
        split = pl.Series("split", self.plan.split, dtype=pl.String())
        return self.plan.candidates.frame.with_columns(*self.others, split)

    def content(self) -> Mapping[str, Any]:
        """Return a number for every property that was asked for."""
        plan = self.plan
        return {
            "items": len(plan.candidates),
            "splits": {name: self._split(name) for name in SPLITS},
            "gains": {
                name: {"accuracy": gain.accuracy, "chance": gain.chance, "gain": gain.gain, "even": name in plan.even}
                for name, gain in plan.gains.items()
            },
            "shared_writers": self._shared_writers(),
            "left_out": dict(plan.left_out),
            "is_proved": plan.is_proved,
        }

    def _split(self, name: str) -> dict[str, Any]:
        rows, places = self.plan.candidates, self.plan.of(name)
        label = rows.label[places]
        counts = np.bincount(label[label >= 0], minlength=len(rows.labels))
        figures: dict[str, Any] = {
            "rows": len(places),
            "labels": dict(zip(rows.labels, counts.tolist(), strict=True)),
            "undecided": int((label < 0).sum()),
        }
        if name != "train" and len(places):
            figures["agreement"] = float(rows.share[places].min())
        if self.plan.model and len(places):
            figures["model_f1"] = class_f1(rows.classes, label, self.plan.said[places])
        return figures

    def _shared_writers(self) -> int:
        homes: dict[int, set[str]] = {}
        for code, split in zip(self.plan.candidates.writer.tolist(), self.plan.split, strict=True):
            if code >= 0 and split is not None:
                homes.setdefault(code, set()).add(split)
        return sum(len(splits) > 1 for splits in homes.values())

    def chart(self) -> Mapping[str, Any]:
        """Draw how many items of each label are in each split."""
        splits = self.content()["splits"]
        counts = [list(splits[name]["labels"].values()) for name in SPLITS]
        return heat_map(SPLITS, counts, row="split", column="label", columns=self.plan.candidates.labels)

    def facts(self) -> Iterator[str]:
        """Return how many items are where."""
        for name in SPLITS:
            yield f"{len(self.plan.of(name)):,} {name}"


def release(
    items: Any,
    *,
    judgements: Any = None,
    classes: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    everything: bool = False,
    **options: Any,
) -> DividedItems:
    """Divide judged texts into train, dev and test: balanced, the model at chance, prompts and near-copies once.

    *items* is a table with `text` and `label`, and where they are known `id`, `share` (of the votes for the label),
    `writer`, `prompt`, `review`, `condition`, `rating` and `predicted` (the model's answers); without labels,
    *judgements* give them. *classes* are the labels that score; others stay in train. *options* are those of a
    release, such as `dev=100, test=100, agreement=0.8, seed=1`; without answers of a model it is not held at chance.

    >>> texts = [{"text": f"Day {at * 7919}.", "label": "no" if at % 3 else "yes"} for at in range(60)]
    >>> found = release(texts, dev=6, test=6, similarity=1.0)
    >>> found.to_dict()["splits"]["test"]["labels"]
    {'no': 3, 'yes': 3}
    """
    source = source_of(items, ("text", "label"), name="the items")
    rows = read_judged_rows(
        source,
        judgements=None if judgements is None else source_of(judgements, JUDGEMENTS, name="the judgements"),
        reading=JudgementReading(everything=everything),
        classes=classes,
        columns=columns,
    )
    if MODEL not in rows.frame.columns:
        options = {"at_chance": False, **options}
    return DividedItems(plan_splits(rows, read(ReleaseSpec, options)), _untouched(source, rows))


def _untouched(source: Source, rows: JudgedRows) -> pl.DataFrame:
    """Return the columns that dividing does not read as they came: reading makes texts of all of them."""
    if not isinstance(source, InMemoryTable):
        return pl.DataFrame()
    return source.frame.select(
        name for name in source.frame.columns if name in rows.frame.columns and name not in ("text", *KNOWN)
    )
