"""What carries over: a learner trained on each data set, and on others from outside, tried on all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from quintain.core.records.report import Cell, Chart, Column, ReportSection, Table
from quintain.core.records.study import TransferCell
from quintain.core.texts import Text
from quintain.reports.maps import share_map
from quintain.services.plain.files.checkpoints import Checkpoints
from quintain.stats.artefacts.examples import Examples
from quintain.stats.comparing.transfer import Transfer, TransferRows


def transfer_cells(transfer: Transfer, checkpoints: Checkpoints, done: Callable[[float], None]) -> list[TransferCell]:
    """Return the matrix row by row; rows that are kept from an earlier run are not computed again."""
    rows, names = TransferRows(transfer), transfer.rows
    cells: list[TransferCell] = []
    for at, name in enumerate(names):

        def row(train: str = name, at: int = at) -> list[TransferCell]:
            return rows.row(train, lambda share: done((at + share) / len(names)))

        cells += checkpoints.part(f"transfer/{name}", list[TransferCell], row)
        done((at + 1) / len(names))
    return cells


def transfer_section(
    cells: Sequence[TransferCell], parts: Mapping[str, Examples], learner: str, commands: list[str]
) -> ReportSection:
    """Show the matrix: a row for each data set that was learned from, a column for each it was tried on."""
    trains = list(dict.fromkeys(cell.train for cell in cells))
    by_pair = {(cell.train, cell.test): cell for cell in cells}
    columns = [Column(Text("Learned from"))]
    for name in parts:
        columns += [Column(name, "share"), Column(Text("± over seeds"), "share")]
    rows: list[list[Cell]] = []
    for train in trains:
        row: list[Cell] = [train]
        for test in parts:
            cell_there = by_pair[train, test]
            row += [cell_there.accuracy, cell_there.deviation]
        rows.append(row)
    chart = share_map(
        [(cell.train, cell.test, cell.accuracy, len(parts[cell.test])) for cell in cells],
        row=Text("Learned from"),
        column=Text("Tried on"),
        value=Text("Accuracy"),
    )
    chance: list[Cell] = [Text("chance")]
    for part in parts.values():
        chance += [part.chance, None]
    return ReportSection(
        "transfer",
        Text("What carries over from one data set to another?"),
        [*_transfer_findings(by_pair, parts), *_strangers(parts)],
        [Chart("transfer-chart", Text("Learned from one, tried on another"), chart)],
        [Table("transfer-table", Text("Accuracy of a learner trained on each data set"), columns, [*rows, chance])],
        commands,
        Text(
            "The learner is {learner}. On the diagonal it is tried over five folds in which no context is on both "
            "sides; elsewhere it sees four fifths of the contexts, drawn anew by each seed. Intervals resample "
            "contexts.",
            learner=learner,
        ),
    )


def _transfer_findings(by_pair: Mapping[tuple[str, str], TransferCell], parts: Mapping[str, Examples]) -> list[str]:
    findings: list[str] = []
    for test in parts:
        own = by_pair[test, test].accuracy
        others = [
            (one.accuracy.value, one)
            for (_, name), one in by_pair.items()
            if name == test and not one.own and one.accuracy.value is not None
        ]
        if own.value is None or not others:
            continue
        _, best = max(others, key=lambda entry: entry[0])
        findings.append(
            Text(
                "{test}: learned from itself {own:.1%}, from {best} {other:.1%} (95 % between {low:.1%} and "
                "{high:.1%}); chance is {chance:.1%}.",
                test=test,
                own=own.value,
                best=best.train,
                other=best.accuracy.value,
                low=best.accuracy.low if best.accuracy.low is not None else best.accuracy.value,
                high=best.accuracy.high if best.accuracy.high is not None else best.accuracy.value,
                chance=parts[test].chance,
            )
        )
    return findings


def _strangers(parts: Mapping[str, Examples]) -> list[str]:
    """Name data sets that have no answer in common: what is learned from one says nothing of the other."""
    return [
        Text(
            "{one} and {other} have no answer in common, so that nothing can carry over: see whether their labels are "
            "only named differently.",
            one=one,
            other=other,
        )
        for one, other in combinations(parts, 2)
        if not set(parts[one].labels) & set(parts[other].labels)
    ]
