"""Harvesting: read a corpus through, ask a model about each sentence, and sample by rule.

    target = target_from_folder(Path("model"))
    report = harvest([Path("reviews.jsonl")], target, Path("sample.jsonl"), Harvesting(size=1000))

Memory does not grow with the corpus, and the sample depends on the corpus, the model, the rules and the seed alone.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import polars as pl

from quintain.core.errors import BadInput
from quintain.data.harvest_rules import DEFAULT_RULES, DEFAULT_SIZE, MAX_SIZE, Rules, Where, parse_rules
from quintain.data.readers.contract import Options
from quintain.data.tables import table_format, write_table
from quintain.data.where import Condition, conjuncts, parse_where
from quintain.data.where_columns import (
    COLUMN_PREFIX,
    LABEL_PREFIX,
    WhereScope,
    check_where,
    file_columns,
    mentions,
    to_expression,
)
from quintain.services.harvest.choice import choose
from quintain.services.harvest.corpus import CorpusFile, CorpusTally, Piece, ahead, leave_out, open_corpus, pieces
from quintain.services.harvest.model import HarvestTarget
from quintain.services.harvest.report import HarvestReport, SeenSentences, sample_table, write_report
from quintain.services.harvest.sample import Reservoir, normal_forms, priorities
from quintain.services.harvest.state import HarvestState

MAX_CELLS = 500
NUMBERS = ("rating", "length", "characters", "sentence", "sentences", "probability")
TEXTS = ("predicted", "text", "id")
_PREDICTED = ("predicted", "probability")
_NEEDED = ("rating", "id")
_LOOKED_AT = ("document", "length", "characters", "sentences")
SEPARATOR = "\x1f"

Progress = Callable[[int, int], None]  # called with the bytes and the sentences that are done
Keep = Callable[[Callable[[], HarvestState]], None]


@dataclass(frozen=True, slots=True)
class Harvesting:
    """How to harvest. *columns* maps `text`, `rating` and `id` to columns; *keep* are columns to keep as meta."""

    rules: Rules | None = None
    where: str = ""
    size: int | None = None
    seed: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    keep: Sequence[str] = ()
    format: str = ""
    options: Options = field(default_factory=Options)


def harvest(
    corpus: Sequence[Path],
    target: HarvestTarget,
    out: Path,
    settings: Harvesting,
    *,
    report: Path | None = None,
    progress: Progress | None = None,
    begin_at: HarvestState | None = None,
    keep: Keep | None = None,
) -> HarvestReport:
    """Write a sample of the sentences in the files *corpus* to *out*, and say how it came about.

    *keep* is called after every piece of the corpus with how to get its state; with that as *begin_at* the same harvest
    goes on there, and reads what comes before once more without asking the model.
    """
    table_format(out)
    clock, processor = time.perf_counter(), time.process_time()
    stream = _opened(corpus, target, settings)
    if begin_at is not None:
        stream.take_up(begin_at)
    for done in stream.read():
        if keep is not None:
            keep(stream.state)
        if progress is not None:
            progress(done, stream.tally.sentences)
    files, rules, size = stream.files, stream.rules, stream.size
    candidates = stream.candidates()
    choice = choose(candidates, stream.cells, rules, size)
    table = sample_table(candidates[choice.rows], target, files, stream.kept, stream.strata_names())
    write_table(table, out)
    described = HarvestReport(
        corpus=tuple({"file": file.path.name, "hash": file.digest(), "bytes": file.source.size} for file in files),
        model={"name": target.name, "hash": target.hash, "task": target.task},
        rules=rules,
        where=settings.where,
        seed=settings.seed,
        size=size,
        tally=stream.tally,
        seen=SeenSentences(stream.counts, stream.reservoir.distinct(), stream.crossed),
        choice=choice,
        repeats=int(table["occurrences"].sum()) - table.height,
        seconds=time.perf_counter() - clock,
        cpu_seconds=time.process_time() - processor,
    )
    if report is not None:
        write_report(described, report)
    return described


def check_harvest(corpus: Sequence[Path], target: HarvestTarget, settings: Harvesting) -> None:
    """Refuse a harvest for what can be told before the corpus is read."""
    _opened(corpus, target, settings)


def _opened(corpus: Sequence[Path], target: HarvestTarget, settings: Harvesting) -> _Stream:
    rules = settings.rules or parse_rules(DEFAULT_RULES, file="the default rules")
    files = open_corpus(corpus, settings.columns, form=settings.format, options=settings.options)
    return _Stream(files, target, rules, settings, sample_size(rules, settings.size))


def sample_size(rules: Rules, size: int | None) -> int:
    """Return how large the sample is to be: as asked, else as the rules say."""
    if rules.counted:
        total = sum(one.count or 0 for one in rules.strata)
        if size is not None and size != total:
            raise BadInput(
                "The rules count {all} sentences, and {size} were asked for.",
                all=total,
                size=size,
                remedy="Leave --size out, or give the strata shares.",
            )
        return total
    asked = size if size is not None else rules.size or DEFAULT_SIZE
    if not 1 <= asked <= MAX_SIZE:
        raise BadInput(
            "The size is {asked}.", asked=asked, max_size=MAX_SIZE, remedy="Give a whole number from 1 to {max_size:,}."
        )
    return asked


class _Stream:
    """Reads the corpus once: counts what is there, and keeps candidates for each cell."""

    def __init__(
        self, files: Sequence[CorpusFile], target: HarvestTarget, rules: Rules, settings: Harvesting, size: int
    ) -> None:
        self.files, self.target, self.rules, self.seed = files, target, rules, settings.seed
        shared = [name for name in files[0].source.columns if all(name in file.source.columns for file in files)]
        rated = all("rating" in file.columns for file in files)
        self.scope = WhereScope([name for name in NUMBERS if rated or name != "rating"], TEXTS, target.labels, shared)
        extra = parse_where(settings.where) if settings.where.strip() else None
        general_wheres = [Where(settings.where, extra, "--where")] if extra is not None else []
        wheres = [*general_wheres, *rules.conditions]
        for where in wheres:
            self._check(where)
        general = [
            part for where in [*general_wheres, rules.where] if where is not None for part in conjuncts(where.condition)
        ]
        self.before = [one for one in general if not mentions(one, self.scope, *_PREDICTED)]
        self.after = [one for one in general if mentions(one, self.scope, *_PREDICTED)]
        self.across = list(dict.fromkeys(name for one in rules.strata for name in one.across))
        self._check_across()
        self.kept = self._kept_columns(settings.keep)
        looked_at = [name for where in wheres for name in file_columns(where.condition, self.scope)]
        looked_at += [name for name in self.across if name not in {"predicted", *self.scope.numbers}]
        self.columns = list(dict.fromkeys([*looked_at, *self.kept]))
        self.needed = [*_NEEDED, *(COLUMN_PREFIX + name for name in dict.fromkeys(looked_at))]
        self.rated = "rating" in self.across or any(mentions(where.condition, self.scope, "rating") for where in wheres)
        self.size = size
        self.reservoir = Reservoir(size)
        self.tally = CorpusTally()  # of what is read; another thread reads ahead
        self.chosen = CorpusTally()  # of what was read and then left out
        self.taken = self.known = 0  # pieces that were taken, and those that were before it began
        self.counts: Counter[str] = Counter()
        self.crossed: Counter[tuple[str, float | None]] = Counter()

    @property
    def cells(self) -> dict[str, tuple[int, tuple[str, ...]]]:
        """The cells that were seen, with their stratum and their values."""
        return {key: (int((parts := key.split(SEPARATOR))[0]), tuple(parts[1:])) for key in self.counts}

    def strata_names(self) -> dict[str, str]:
        """Return the name of each cell's stratum."""
        return {key: self.rules.strata[stratum].name for key, (stratum, _) in self.cells.items()}

    def read(self) -> Iterator[int]:
        """Read all files; give the bytes that are done after each piece."""
        finished = 0
        for file in self.files:
            stream = pieces(file, self.columns, self.rules.limits, self.tally, rated=self.rated)
            for piece in ahead(stream):
                if self.taken >= self.known:
                    self.take(piece)
                self.taken += 1
                yield finished + piece.done
            finished += file.source.size
        self.tally.left_out.update(self.chosen.left_out)

    def state(self) -> HarvestState:
        """Return how far it is."""
        candidates = self.reservoir.rows()
        counted = Counter(self.counts), Counter(self.crossed), Counter(self.chosen.left_out)
        return HarvestState(max(self.taken, self.known), candidates, *counted)

    def take_up(self, state: HarvestState) -> None:
        """Go on where the same harvest was."""
        self.known = state.pieces
        self.reservoir.restore(state.candidates)
        self.counts, self.crossed = Counter(state.counts), Counter(state.crossed)
        self.chosen.left_out.update(state.left_out)

    def take(self, piece: Piece) -> None:
        """Ask the model about the sentences of one piece, count them, and keep candidates."""
        table = piece.sentences
        if self.needed:
            table = table.hstack(piece.documents.select(self.needed)[table["document"]])
        for condition in self.before:
            table = leave_out(table, ~self._expression(condition), "not wanted by a condition", self.chosen)
        if table.is_empty():
            return
        table = self.predicted(table)
        for condition in self.after:
            table = leave_out(table, ~self._expression(condition), "not wanted by a condition", self.chosen)
        table = leave_out(self.with_cells(table), pl.col("cell").is_null(), "in no stratum", self.chosen)
        forms = normal_forms(table["text"])
        table = table.with_columns(pl.Series("priority", priorities(forms.to_list(), self.seed)))
        table = leave_out(table, pl.lit(forms == ""), "without a word", self.chosen)
        self.count(table)
        candidates = self.reservoir.possible(table)
        columns = ["file", "row", *(COLUMN_PREFIX + name for name in self.kept)]
        where = piece.documents.select(name for name in columns if name not in candidates.columns)
        # What only the conditions look at is not kept.
        gone = [*_LOOKED_AT, *(name for name in self.needed if name not in {*columns, *_NEEDED})]
        self.reservoir.add(candidates.hstack(where[candidates["document"]]).drop(gone))

    def predicted(self, table: pl.DataFrame) -> pl.DataFrame:
        """Add what the model says."""
        shares = self.target.ask(table["text"].to_list())
        best = shares.argmax(axis=1)
        labels = pl.Series(list(self.target.labels), dtype=pl.String())
        return table.with_columns(
            labels[best.astype(np.uint32)].alias("predicted"),
            pl.Series("probability", shares[np.arange(len(best)), best]),
            *(pl.Series(LABEL_PREFIX + name, shares[:, place]) for place, name in enumerate(self.target.labels)),
        )

    def with_cells(self, table: pl.DataFrame) -> pl.DataFrame:
        """Add the cell of each sentence: the first stratum that it fits, and the values that it is spread across."""
        cell = pl.lit(None, dtype=pl.String())
        for number, stratum in reversed(list(enumerate(self.rules.strata))):
            parts = [pl.lit(str(number)), *(self._value(name) for name in stratum.across)]
            key = pl.concat_str(parts, separator=SEPARATOR)
            fits = self._expression(stratum.where.condition) if stratum.where else pl.lit(True)
            cell = pl.when(fits).then(key).otherwise(cell)
        return table.with_columns(cell.alias("cell"))

    def count(self, table: pl.DataFrame) -> None:
        """Count sentences by cell, and by predicted label and rating."""
        for cell, count in table.group_by("cell").len().iter_rows():
            self.counts[cell] += count
        for label, rating, count in table.group_by("predicted", "rating").len().iter_rows():
            self.crossed[label, rating] += count
        if len(self.counts) > MAX_CELLS:
            raise BadInput(
                "The strata fall into more than {max_cells} cells, such as {counts}.",
                max_cells=MAX_CELLS,
                counts=_shown(next(iter(self.counts))),
                across=", ".join(self.across),
                remedy="Spread them across fewer values than {across} have.",
            )

    def candidates(self) -> pl.DataFrame:
        """Return what was kept; refuse with the reason where there is nothing."""
        table = self.reservoir.rows()
        if not table.is_empty():
            return table
        tally = self.tally
        if not tally.sentences:
            raise BadInput(
                "There are no sentences in {name}.",
                name=", ".join(file.path.name for file in self.files),
                faults=tally.faults[:5],
                remedy="Look at the column of texts, or map another one with --column text=COLUMN.",
                page="Look at the column of texts, or name another one.",
            )
        if self.rated and tally.without_rating + tally.faulty + tally.without_text >= tally.rows:
            raise BadInput(
                "None of the {rows:,} rows has a rating that is a number.",
                rows=tally.rows,
                remedy="Map the column with --column rating=COLUMN, or write rules without ratings.",
                page="Name the column of ratings, or choose a rule without ratings.",
                faults=tally.faults[:5],
            )
        why = ", ".join(f"{count:,} {reason}" for reason, count in tally.left_out.most_common())
        raise BadInput(
            "None of the {sentences:,} sentences is wanted: {why}.",
            sentences=tally.sentences,
            why=why,
            remedy="Loosen the rules, or --where.",
            page="Loosen the rule, or the condition.",
        )

    def _expression(self, condition: Condition) -> pl.Expr:
        return to_expression(condition, self.scope)

    def _value(self, name: str) -> pl.Expr:
        known = name == "predicted" or name in self.scope.numbers
        column = pl.col(name if known else COLUMN_PREFIX + name)
        text = column.cast(pl.String()).fill_null("")
        return text.str.replace(r"\.0$", "") if name in self.scope.numbers else text

    def _check(self, where: Where) -> None:
        if "rating" not in self.scope.numbers and "rating" in self._names(where):
            raise self._no_ratings(where.source)
        check_where(where.condition, self.scope, text=where.text, source=where.source)

    def _names(self, where: Where) -> list[str]:
        return file_columns(where.condition, self.scope)

    def _no_ratings(self, source: str) -> BadInput:
        without = next((file for file in self.files if "rating" not in file.columns), self.files[0])
        return BadInput(
            "{source} looks at ratings, and {name} has no column for 'rating'.",
            source=source,
            name=without.path.name,
            known=", ".join(without.source.columns),
            remedy="Map it with --column rating=COLUMN (there are: {known}), or write rules without ratings.",
            page="Name its column below (there are: {known}), or choose a rule without ratings.",
        )

    def _check_across(self) -> None:
        known = ["predicted", *self.scope.numbers, *self.scope.columns]
        for name in self.across:
            if name == "rating" and name not in known:
                raise self._no_ratings("across")
            if name not in known:
                close = get_close_matches(name, known, n=1)
                raise BadInput(
                    "A stratum is spread across '{name}', which is not known. Did you mean '{close}'?"
                    if close
                    else "A stratum is spread across '{name}', which is not known.",
                    name=name,
                    close=" ".join(close),
                    known=", ".join(known),
                    remedy="Known are {known}.",
                )

    def _kept_columns(self, keep: Sequence[str]) -> list[str]:
        missing = [name for name in keep if name not in self.scope.columns]
        if missing:
            raise BadInput(
                "There is no column '{missing}' to keep.",
                missing=missing[0],
                known=", ".join(self.scope.columns),
                remedy="There are: {known}.",
            )
        return list(dict.fromkeys(keep))


def _shown(key: str) -> str:
    return " × ".join(key.split(SEPARATOR)[1:])
