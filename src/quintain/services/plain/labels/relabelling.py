"""Old labels against new ones: what judges made of data that had labels before, with examples.

DynaSent does so with the Stanford Sentiment Treebank (Potts et al. 2021, section 5.2, tables 11 and 12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.report import Cell, Chart, Column, Report, ReportFact, ReportSection, Table
from quintain.core.texts import Text
from quintain.reports.charts import heat_map
from quintain.services.plain.labels.judgements import JudgementReading, labels_of_items, read_judgements
from quintain.stats.bootstrap import IntArray
from quintain.stats.human import majority_gold
from quintain.stats.judgements import NONE, mix, name_hashes
from quintain.stats.workers import wilson_share

SHOWN = 5  # examples of each change
MOST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Relabelled:
    """Items with an *old* and a *new* label, as places in *labels*; -1 is none. *votes* are by label."""

    labels: tuple[str, ...]
    names: Sequence[str]
    texts: Sequence[str]
    old: IntArray
    new: IntArray
    votes: IntArray

    def table(self) -> IntArray:
        """Count old labels (rows) against new ones (columns), the last of which is no majority."""
        size = len(self.labels)
        known = self.old != NONE
        places = self.old[known] * (size + 1) + np.where(self.new[known] == NONE, size, self.new[known])
        return np.bincount(places, minlength=size * (size + 1)).reshape(size, size + 1)


def relabel_report(
    path: Path, old: str, reading: JudgementReading | None = None, *, text: str = "", seed: int = 0
) -> Report:
    """Compare the labels that *old* names (a column, or a file item,label) with what most judges of a file say."""
    reading = reading or JudgementReading()
    table, codes = labels_of_items(read_judgements(path, reading), old, "old", reading.columns)
    judgements = table.judgements
    texts = list(judgements.items)
    if text:
        if text not in table.rows.columns:
            raise BadInput(
                "{file} has no column '{column}'.", file=path.name, column=text, remedy="Name the column of the texts."
            )
        shown_texts = table.rows.select("item", pl.col(text).cast(pl.String)).unique("item", keep="first")
        text_of = dict(zip(shown_texts["item"].cast(pl.String).to_list(), shown_texts[text].to_list(), strict=True))
        texts = [text_of.get(name) or name for name in judgements.items]
    relabelled = Relabelled(
        judgements.classes, judgements.items, texts, codes, majority_gold(judgements), judgements.counts()
    )
    shown = f" --text {text}" if text else ""
    return Report(
        key="relabel",
        title=Text("Old and new labels of {name}", name=path.name),
        lead=LEAD,
        facts=[ReportFact(Text("File"), path.name), *relabel_facts(relabelled, seed)],
        sections=relabel_sections(
            relabelled, [f"quintain study relabel {path.name} --old {old}{shown} --out DIR"], seed
        ),
    )


LEAD = Text("What people say of data that had labels before.")


def relabel_facts(relabelled: Relabelled, seed: int) -> list[ReportFact]:
    """Return how much was judged, and how much of it had a label before."""
    return [
        ReportFact(Text("Items"), f"{len(relabelled.old):,}"),
        ReportFact(Text("With an old label"), f"{int((relabelled.old != NONE).sum()):,}"),
        ReportFact(Text("Judgements"), f"{int(relabelled.votes.sum()):,}"),
        ReportFact(Text("Seed"), str(seed)),
    ]


def relabel_sections(relabelled: Relabelled, commands: Sequence[str], seed: int = 0) -> list[ReportSection]:
    """Compare the labels, and show items on which they differ."""
    if not (relabelled.old != NONE).any():
        raise BadInput(
            "None of the items has an old label.",
            remedy="Import them with their answers: a column `answer`, or a data set with open labels.",
        )
    return [_matrix(relabelled, list(commands)), _examples(relabelled, list(commands), seed)]


def _matrix(relabelled: Relabelled, commands: list[str]) -> ReportSection:
    counts = relabelled.table()
    rows_there = np.flatnonzero(counts.sum(axis=1))
    names = [relabelled.labels[at] for at in rows_there.tolist()]
    across = [*relabelled.labels, Text("no majority")]
    shares: list[list[Cell]] = []
    findings: list[str] = [_kept_sentence(Text("all"), int(np.trace(counts)), int(counts.sum()))]
    for at in rows_there.tolist():
        total, unchanged = int(counts[at].sum()), int(counts[at, at])
        shares.append(
            [relabelled.labels[at], total, wilson_share(unchanged, total), wilson_share(int(counts[at, -1]), total)]
        )
        findings.append(_kept_sentence(relabelled.labels[at], unchanged, total))
    matrix: list[list[Cell]] = [
        [relabelled.labels[at], *(int(count) for count in counts[at]), int(counts[at].sum())]
        for at in rows_there.tolist()
    ]
    return ReportSection(
        key="matrix",
        title=Text("What became of the old labels?"),
        findings=findings,
        charts=[
            Chart(
                "matrix-chart",
                Text("Which old label became which new one?"),
                heat_map(
                    names,
                    counts[rows_there].tolist(),
                    row=Text("Old label"),
                    column=Text("New label"),
                    columns=across,
                ),
            )
        ],
        tables=[
            Table(
                "matrix-table",
                Text("Old labels (rows) against new ones (columns)"),
                [Column(Text("Old label")), *(Column(one, "count") for one in across), Column(Text("all"), "count")],
                matrix,
            ),
            Table(
                "matrix-shares",
                Text("How many items keep their label"),
                [
                    Column(Text("Old label")),
                    Column(Text("Items"), "count"),
                    Column(Text("Kept"), "share"),
                    Column(Text("No majority"), "share"),
                ],
                shares,
            ),
        ],
        commands=commands,
    )


def _kept_sentence(name: str, unchanged: int, total: int) -> Text:
    share = wilson_share(unchanged, total)
    return Text(
        "{name}: {kept:,} of {total:,} items keep their label, {share:.1%} (95 % between {low:.1%} and {high:.1%}).",
        name=name,
        kept=unchanged,
        total=total,
        share=share.value or 0.0,
        low=share.low or 0.0,
        high=share.high or 0.0,
    )


def _examples(relabelled: Relabelled, commands: list[str], seed: int) -> ReportSection:
    """Show a few items of every change, drawn by the hash of the item and the seed."""
    changed = np.flatnonzero((relabelled.old != NONE) & (relabelled.old != relabelled.new))
    drawn = mix(name_hashes(relabelled.names[at] for at in changed.tolist()), seed) if len(changed) else changed
    order = np.lexsort((drawn, relabelled.new[changed] % (len(relabelled.labels) + 1), relabelled.old[changed]))
    seen: dict[tuple[int, int], int] = {}
    rows: list[list[Cell]] = []
    for at in changed[order].tolist():
        change = (int(relabelled.old[at]), int(relabelled.new[at]))
        seen[change] = seen.get(change, 0) + 1
        if seen[change] <= SHOWN and len(rows) < MOST_SHOWN:
            new = relabelled.labels[change[1]] if change[1] != NONE else Text("no majority")
            rows.append([relabelled.labels[change[0]], new, _votes(relabelled, at), relabelled.texts[at]])
    return ReportSection(
        key="changes",
        title=Text("On which items do old and new labels differ?"),
        findings=[
            Text.plural(
                "{n:,} item has another label than before, or none.",
                "{n:,} items have another label than before, or none.",
                n=len(changed),
            )
        ],
        tables=[
            Table(
                "changes-table",
                Text("Items whose label changed"),
                [Column(Text("Old label")), Column(Text("New label")), Column(Text("Votes")), Column(Text("Item"))],
                rows,
                Text("Of each change, up to {n} items, drawn at random.", n=SHOWN),
            )
        ],
        commands=commands,
    )


def _votes(relabelled: Relabelled, at: int) -> str:
    counts = zip(relabelled.labels, relabelled.votes[at].tolist(), strict=True)
    return ", ".join(f"{label} {count}" for label, count in sorted(counts, key=lambda pair: -pair[1]) if count)
