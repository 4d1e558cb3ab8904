"""From candidates to the sample: quotas, near duplicates, and what makes up for strata that are short."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from quintain.data.harvest_rules import Rules, Stratum
from quintain.stats.distinct import keep_distinct
from quintain.stats.quotas import apportion


@dataclass(slots=True, eq=False)
class StratumCell:
    """One combination of values within a stratum: what is wanted of it and what was taken."""

    key: str
    stratum: int
    values: tuple[str, ...] = ()
    wanted: int = 0
    own: int = 0
    lent: int = 0
    rows: list[int] = field(default_factory=list)
    place: int = 0

    @property
    def taken(self) -> int:
        """How many sentences of it are in the sample."""
        return self.own + self.lent

    @property
    def left(self) -> int:
        """How many candidates were not looked at yet."""
        return len(self.rows) - self.place


@dataclass(frozen=True, slots=True)
class Fill:
    """Sentences of one cell that stand in for a stratum that was short."""

    stratum: int
    cell: StratumCell
    count: int


@dataclass(slots=True)
class Choice:
    """The chosen rows of the table of candidates, by cell, and what was passed over."""

    cells: list[StratumCell]
    rows: list[int] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)
    passed: Counter[str] = field(default_factory=Counter)


def wanted_by_stratum(strata: Sequence[Stratum], size: int) -> list[int]:
    """Return how many sentences each stratum is to give."""
    if any(one.count is not None for one in strata):
        return [one.count or 0 for one in strata]
    return apportion(size, [one.share or 0.0 for one in strata])


def choose(
    candidates: pl.DataFrame, cells: Mapping[str, tuple[int, tuple[str, ...]]], rules: Rules, size: int
) -> Choice:
    """Choose *size* of *candidates*, which are sorted by cell and priority.

    *cells* tells the stratum and the values of each cell that was seen. Where a stratum is short, its own other cells
    are asked first, then the strata of its group, then all others.
    """
    choosing = _Choosing(candidates, cells, rules)
    counts = wanted_by_stratum(rules.strata, size)
    choosing.own_quotas(counts)
    for stratum, count in enumerate(counts):
        choosing.make_up(stratum, count)
    choosing.choice.rows.sort(key=candidates["priority"].to_list().__getitem__)
    return choosing.choice


class _Choosing:
    def __init__(
        self, candidates: pl.DataFrame, cells: Mapping[str, tuple[int, tuple[str, ...]]], rules: Rules
    ) -> None:
        self.rules = rules
        self.texts = candidates["text"].to_list()
        self.priorities = candidates["priority"].to_list()
        self.sources = (
            candidates.select(pl.struct("file", "row")).to_series().to_list() if rules.limits.per_text else []
        )
        self.of_stratum: dict[int, list[StratumCell]] = defaultdict(list)
        ordered = sorted(cells.items(), key=lambda item: (item[1][0], [_sortable(value) for value in item[1][1]]))
        by_key = {key: StratumCell(key, stratum, values) for key, (stratum, values) in ordered}
        for cell in by_key.values():
            self.of_stratum[cell.stratum].append(cell)
        for row, key in enumerate(candidates["cell"].to_list()):
            by_key[key].rows.append(row)
        self.choice = Choice(list(by_key.values()))
        self.used: set[int] = set()
        self.per_source: Counter[tuple[int, int]] = Counter()

    def own_quotas(self, counts: Sequence[int]) -> None:
        """Take from each cell what it is to give; all at once, so that near duplicates are looked for once."""
        requests: list[tuple[StratumCell, int]] = []
        for stratum, count in enumerate(counts):
            cells = self.of_stratum[stratum]
            for cell, quota in zip(cells, apportion(count, [1.0] * len(cells)), strict=True):
                cell.wanted = quota
                requests.append((cell, quota))
        for cell, count in self.take(requests).items():
            cell.own += count

    def make_up(self, stratum: int, count_due: int) -> None:
        """Fill what *stratum* is short of from others."""
        short = count_due - sum(cell.own for cell in self.of_stratum[stratum])
        group = self.rules.strata[stratum].group
        others = [number for number in range(len(self.rules.strata)) if number != stratum]
        near = [number for number in others if group and self.rules.strata[number].group == group]
        for circle in ([stratum], near, [number for number in others if number not in near]):
            cells = [cell for number in circle for cell in self.of_stratum[number]]
            while short > 0 and (open_cells := [cell for cell in cells if cell.left]):
                parts = apportion(short, [1.0] * len(open_cells))
                for cell, count in self.take(list(zip(open_cells, parts, strict=True))).items():
                    cell.lent += count
                    short -= count
                    self.choice.fills.append(Fill(stratum, cell, count))

    def take(self, requests: Sequence[tuple[StratumCell, int]]) -> Counter[StratumCell]:
        """Take up to so many from each cell, in order of priority; pass over repeats and near duplicates."""
        taken: Counter[StratumCell] = Counter()
        needs = dict(requests)
        while True:
            drawn = [(cell, row) for cell, _ in requests for row in self.draw(cell, needs[cell])]
            if not drawn:
                return taken
            for cell, row in self.distinct(drawn):
                if self.accept(row):
                    taken[cell] += 1
                    needs[cell] -= 1

    def draw(self, cell: StratumCell, count: int) -> list[int]:
        rows: list[int] = []
        while len(rows) < count and cell.left:
            row = cell.rows[cell.place]
            cell.place += 1
            if self.priorities[row] in self.used:
                self.choice.passed["in another stratum too"] += 1
                continue
            self.used.add(self.priorities[row])
            rows.append(row)
        return rows

    def distinct(self, drawn: Sequence[tuple[StratumCell, int]]) -> list[tuple[StratumCell, int]]:
        threshold = self.rules.limits.near_duplicates
        if threshold >= 1:
            return list(drawn)
        chosen = [self.texts[row] for row in self.choice.rows]
        keep = keep_distinct([self.texts[row] for _, row in drawn], chosen, threshold=threshold)
        self.choice.passed["near duplicates"] += int((~keep).sum())
        return [one for one, kept in zip(drawn, keep.tolist(), strict=True) if kept]

    def accept(self, row: int) -> bool:
        if self.sources:
            source = (self.sources[row]["file"], self.sources[row]["row"])
            if self.per_source[source] >= self.rules.limits.per_text:
                self.choice.passed["enough from the same text"] += 1
                return False
            self.per_source[source] += 1
        self.choice.rows.append(row)
        return True


def _sortable(value: str) -> tuple[int, float, str]:
    try:
        return (0, float(value), "")
    except ValueError:
        return (1, 0.0, value)
