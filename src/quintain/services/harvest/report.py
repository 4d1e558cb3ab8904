"""What a harvest leaves behind: the table of sentences, and the report of how they were chosen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import OutOfOrder
from quintain.data.harvest_rules import Rules
from quintain.data.where_columns import COLUMN_PREFIX, LABEL_PREFIX
from quintain.services.harvest.choice import Choice, StratumCell, wanted_by_stratum
from quintain.services.harvest.corpus import CorpusFile, CorpusTally
from quintain.services.harvest.model import HarvestTarget


@dataclass(frozen=True, slots=True)
class SeenSentences:
    """How many sentences there were: by cell, how many different ones, and by predicted label and rating."""

    counts: Counter[str]
    distinct: Mapping[str, tuple[int, bool]]
    crossed: Counter[tuple[str, float | None]]


@dataclass(frozen=True, slots=True)
class HarvestReport:
    """How a sample came about: enough to make it again, and to see what is wrong with it."""

    corpus: tuple[Mapping[str, Any], ...]
    model: Mapping[str, str]
    rules: Rules
    where: str
    seed: int
    size: int
    tally: CorpusTally
    seen: SeenSentences
    choice: Choice
    repeats: int
    seconds: float
    cpu_seconds: float

    @property
    def taken(self) -> int:
        """How many sentences the sample has."""
        return len(self.choice.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        tally = self.tally
        return {
            "corpus": list(self.corpus),
            "model": dict(self.model),
            "rules": {"hash": self.rules.hash, "where": self.where},
            "seed": self.seed,
            "size": self.size,
            "taken": self.taken,
            "rows": {
                "read": tally.rows,
                "bad": tally.faulty,
                "without_text": tally.without_text,
                "without_rating": tally.without_rating,
            },
            "faults": [fault.as_dict() for fault in tally.faults],
            "sentences": {"read": tally.sentences, "left_out": dict(tally.left_out.most_common())},
            "strata": self.strata(),
            "shortfalls": self.shortfalls(),
            "duplicates": {"repeats": self.repeats, **dict(self.choice.passed)},
            "predicted_by_rating": [
                {"predicted": label, "rating": rating, "sentences": count}
                for (label, rating), count in sorted(
                    self.seen.crossed.items(), key=lambda item: (item[0][0], item[0][1] is None, item[0][1] or 0)
                )
            ],
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "sentences_per_second": round(tally.sentences / self.seconds) if self.seconds else None,
            "sentences_per_cpu_second": round(tally.sentences / self.cpu_seconds) if self.cpu_seconds else None,
        }

    def strata(self) -> list[dict[str, Any]]:
        """Return of each stratum, and of each of its cells, what was seen, wanted and taken."""
        due = wanted_by_stratum(self.rules.strata, self.size)
        descriptions = []
        for number, stratum in enumerate(self.rules.strata):
            cells = [cell for cell in self.choice.cells if cell.stratum == number]
            counts = [self._cell(cell) for cell in cells]
            description = {"name": stratum.name, "group": stratum.group, "wanted": due[number]}
            for key in ("taken", "seen", "distinct"):
                description[key] = sum(count[key] for count in counts)
            description["estimated"] = any(count["estimated"] for count in counts)
            if stratum.across:
                named = [dict(zip(stratum.across, cell.values, strict=True)) for cell in cells]
                description["cells"] = [{**values, **count} for values, count in zip(named, counts, strict=True)]
            descriptions.append(description)
        return descriptions

    def shortfalls(self) -> list[dict[str, Any]]:
        """Return which strata could not give what was wanted, and what stands in for it."""
        due = wanted_by_stratum(self.rules.strata, self.size)
        short_strata = []
        for number, stratum in enumerate(self.rules.strata):
            own = sum(cell.own for cell in self.choice.cells if cell.stratum == number)
            fills = Counter[str]()
            for fill in self.choice.fills:
                if fill.stratum == number:
                    fills[self._called(fill.cell)] += fill.count
            if own < due[number]:
                filled = [{"from": name, "count": count} for name, count in fills.items()]
                short = due[number] - own - fills.total()
                short_strata.append(
                    {"name": stratum.name, "wanted": due[number], "found": own, "filled": filled, "short": short}
                )
        return short_strata

    def _cell(self, cell: StratumCell) -> dict[str, Any]:
        distinct, counted = self.seen.distinct.get(cell.key, (0, True))
        return {
            "wanted": cell.wanted,
            "taken": cell.taken,
            "seen": self.seen.counts[cell.key],
            "distinct": min(distinct, self.seen.counts[cell.key]),
            "estimated": not counted,
        }

    def _called(self, cell: StratumCell) -> str:
        stratum = self.rules.strata[cell.stratum]
        values = ", ".join(f"{name} {value}" for name, value in zip(stratum.across, cell.values, strict=True))
        return f"{stratum.name} ({values})" if values else stratum.name


def sample_table(
    rows: pl.DataFrame,
    target: HarvestTarget,
    files: Sequence[CorpusFile],
    extra_columns: Sequence[str],
    strata: Mapping[str, str],
) -> pl.DataFrame:
    """Make the table that is written: ready to be imported as prompts, or as items to validate."""
    names = pl.Series([file.path.name for file in files], dtype=pl.String())[rows["file"].cast(pl.UInt32())]
    origin = [f"{name}:{row}" for name, row in zip(names.to_list(), rows["row"].to_list(), strict=True)]
    groups = [own or made for own, made in zip(rows["id"].to_list(), origin, strict=True)]
    stratum = rows["cell"].replace_strict(strata, return_dtype=pl.String())
    rating = rows["rating"].cast(pl.String()).str.replace(r"\.0$", "")
    tags = pl.DataFrame([stratum.alias("stratum"), rating, rows["predicted"]]).select(
        pl.concat_list(
            pl.format("stratum:{}", "stratum"), pl.format("rating:{}", "rating"), pl.format("predicted:{}", "predicted")
        ).list.drop_nulls()
    )
    metas = _metas(rows, target, extra_columns, stratum.to_list())
    return pl.DataFrame(
        [
            rows["text"].alias(target.field),
            pl.Series("source", [f"{at}#{n}" for at, n in zip(origin, rows["sentence"].to_list(), strict=True)]),
            pl.Series("group", groups, dtype=pl.String()),
            rows["row"],
            rows["sentence"],
            rows["start"],
            (rows["start"] + rows["text"].str.len_chars()).alias("end"),
            rows["rating"],
            rows["predicted"],
            pl.Series("model", [target.name], dtype=pl.String()).new_from_index(0, rows.height),
            rows["probability"].round(6),
            stratum.alias("stratum"),
            rows["occurrences"],
            tags.to_series().alias("tags"),
            pl.Series("meta", metas, dtype=pl.String()),
        ]
    )


def _metas(rows: pl.DataFrame, target: HarvestTarget, extra_columns: Sequence[str], strata: Sequence[str]) -> list[str]:
    shares = rows.select(pl.col(LABEL_PREFIX + label).round(6).alias(label) for label in target.labels).to_dicts()
    extra = (
        rows.select(pl.col(COLUMN_PREFIX + name).alias(name) for name in extra_columns).to_dicts()
        if extra_columns
        else []
    )
    metas = []
    for row, (rating, predicted) in enumerate(rows.select("rating", "predicted").iter_rows()):
        meta: dict[str, Any] = {
            "model": target.hash,
            "predicted": predicted,
            "probabilities": shares[row],
            "rating": rating,
            "stratum": strata[row],
        }
        if extra_columns:
            meta["corpus"] = extra[row]
        metas.append(json.dumps(meta, ensure_ascii=False))
    return metas


def write_report(report: HarvestReport, path: Path) -> None:
    """Write the report as JSON."""
    try:
        path.write_text(json.dumps(report.as_dict(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutOfOrder(
            "{path} cannot be written: {strerror}.", path=path, strerror=error.strerror, remedy="Name another file."
        ) from error
