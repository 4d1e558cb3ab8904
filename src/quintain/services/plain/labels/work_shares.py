"""How work is shared out among people, and how often they agree with what most say.

DynaSent shows both of its judges (Potts et al. 2021, appendices B.3 and B.4, figures 5 and 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quintain.core.records.report import Cell, Chart, Column, ReportSection, Table
from quintain.core.texts import Text
from quintain.reports.charts import ranked_chart
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import NONE, Judgements
from quintain.stats.workers import agreement_with_others, wilson_share

MOST_LISTED = 100
ALMOST_ALWAYS = 0.95


@dataclass(frozen=True, slots=True)
class JudgeWork:
    """What judges did: the *judgements* that count, the *label* of each item (or -1), and gold items by judge.

    *names* are the judges' in the report, in the order of their codes.
    """

    judgements: Judgements
    label: IntArray
    names: Sequence[str]
    gold_seen: IntArray
    gold_right: IntArray


def shares_section(key: str, counts: IntArray, commands: Sequence[str], *, writers: bool) -> ReportSection:
    """Return how many texts each writer wrote, or how many judgements each judge gave."""
    counts = np.sort(counts[counts > 0])[::-1]
    title = Text("How is the writing shared out?") if writers else Text("How is the judging shared out?")
    if not len(counts):
        return ReportSection(key, title, [Text("Nobody has done any of it yet.")])
    values, often = np.unique(counts, return_counts=True)
    tenth = max(1, round(len(counts) / 10))
    figures: list[tuple[Text, Cell]] = [
        (Text("People"), len(counts)),
        (Text("In all"), int(counts.sum())),
        (Text("Median"), float(np.median(counts))),
        (Text("Most frequent number"), int(values[often.argmax()])),
        (Text("Fewest"), int(counts[-1])),
        (Text("Most"), int(counts[0])),
    ]
    busiest = float(counts[:tenth].sum() / counts.sum())
    figures_said: dict[str, float] = {"n": len(counts), "total": int(counts.sum()), "median": float(np.median(counts))}
    figures_said |= {"mode": int(values[often.argmax()]), "busiest": busiest}
    return ReportSection(
        key=key,
        title=title,
        findings=[
            Text(
                "{n} people wrote {total:,} texts: half of them {median:.0f} or fewer, most often {mode}. The busiest "
                "tenth wrote {busiest:.1%}.",
                **figures_said,
            )
            if writers
            else Text(
                "{n} people gave {total:,} judgements: half of them {median:.0f} or fewer, most often {mode}. The "
                "busiest tenth gave {busiest:.1%}.",
                **figures_said,
            )
        ],
        charts=[
            Chart(
                f"{key}-chart",
                Text("How much did each writer write?") if writers else Text("How much did each judge judge?"),
                ranked_chart(
                    counts.tolist(),
                    rank=Text("People, the busiest first"),
                    value=Text("Texts") if writers else Text("Judgements"),
                ),
            )
        ],
        tables=[
            Table(
                f"{key}-table",
                Text("Texts by writer") if writers else Text("Judgements by judge"),
                [Column(Text("Figure")), Column(Text("Number"), "number")],
                [[name, value] for name, value in figures],
            )
        ],
        commands=list(commands),
    )


def agreement_section(work: JudgeWork, commands: Sequence[str]) -> ReportSection:
    """Return how often each judge chose the label that the item has, what most of the others chose, and gold."""
    judgements, people = work.judgements, len(work.names)
    labelled = work.label[judgements.item] != NONE
    judged = np.bincount(judgements.worker, minlength=people)
    compared = np.bincount(judgements.worker[labelled], minlength=people)
    right = labelled & (work.label[judgements.item] == judgements.label)
    chosen = np.bincount(judgements.worker[right], minlength=people)
    others, agreed = agreement_with_others(judgements) if len(judgements) else (judged, judged)
    rows: list[list[Cell]] = [
        [
            work.names[at],
            int(judged[at]),
            wilson_share(int(chosen[at]), int(compared[at])),
            wilson_share(int(agreed[at]), int(others[at])),
            wilson_share(int(work.gold_right[at]), int(work.gold_seen[at])),
        ]
        for at in np.argsort(-judged, kind="stable").tolist()
        if judged[at] or work.gold_seen[at]
    ]
    measured = compared > 0
    shares = chosen[measured] / compared[measured]
    return ReportSection(
        key="agreement",
        title=Text("How often do judges agree with the label?"),
        findings=_agreeing(shares, int(chosen.sum()), int(compared.sum())),
        charts=[
            Chart(
                "agreement-chart",
                Text("How often did each judge choose the label?"),
                ranked_chart(
                    shares.tolist(),
                    rank=Text("People, those who agree most first"),
                    value=Text("Share of their judgements"),
                    form=".0%",
                    top=1.0,
                ),
            )
        ]
        if measured.any()
        else [],
        tables=[
            Table(
                "agreement-table",
                Text("Agreement by judge"),
                [
                    Column(Text("Judge")),
                    Column(Text("Judgements"), "count"),
                    Column(Text("With the label"), "share"),
                    Column(Text("With most of the others"), "share"),
                    Column(Text("Right on gold items"), "share"),
                ],
                rows[:MOST_LISTED],
                Text("The {n} judges with the most judgements are listed.", n=MOST_LISTED)
                if len(rows) > MOST_LISTED
                else "",
            )
        ],
        commands=list(commands),
        note=Text(
            "The label rests on each judge's own judgement, too; the third column leaves it out. Items without a label "
            "do not count."
        ),
    )


def _agreeing(shares: np.ndarray[tuple[int], np.dtype[np.float64]], chosen: int, compared: int) -> list[str]:
    if not compared:
        return [Text("No item has a label yet.")]
    whole = wilson_share(chosen, compared)
    always, often = int((shares == 1).sum()), int((shares > ALMOST_ALWAYS).sum())
    return [
        Text(
            "{share:.1%} of the judgements are the label of their item (95 % between {low:.1%} and {high:.1%}).",
            share=whole.value or 0.0,
            low=whole.low or 0.0,
            high=whole.high or 0.0,
        ),
        Text(
            "{always} of {n} judges always chose the label, and {often} did more than {most:.0%} of the time.",
            always=always,
            n=len(shares),
            often=often,
            most=ALMOST_ALWAYS,
        ),
    ]
