"""Measure how simple models fare on IMDb's contrast sets, beside the crowd's edits of the same reviews.

    python scripts/contrast_gap.py ../shared/data          prints the table
    python scripts/contrast_gap.py ../shared/data --write  puts it into docs/contrast.md

TF-IDF, n-gram and lexicon models are trained on sentences of SST-2 or on IMDb reviews, and asked about three versions
of the same 488 reviews: as they were, as experts turned them (contrast sets, Gardner et al., 2020), and as a crowd did
(counterfactually augmented data, Kaushik et al., 2020).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.records.contrast import ContrastEstimates
from quintain.core.records.figures import Estimate
from quintain.core.task import Label, Task
from quintain.data.contrast.contract import ContrastFiles, read_contrast
from quintain.models.contract import BASELINES, Baseline
from quintain.stats.contrast import Members, contrast_estimates
from quintain.tasks.contract import kind_of

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "contrast.md"
BEGIN, END = "<!-- contrast gap: begin -->\n", "<!-- contrast gap: end -->\n"
MODELS = ("tfidf", "ngram", "lexicon")
TASK = Task("films", "text-classification", {"en": "Films"}, (Label("negative"), Label("positive")))
# Original, then its neighbour: each a text with its label.
Pair = tuple[tuple[str, str], tuple[str, str]]


def rows_of(path: Path) -> Iterator[list[str]]:
    """Go through the rows of a TSV file, compressed or not."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)


def training(data: Path) -> dict[str, list[tuple[str, str]]]:
    """Give the texts to train on with their labels: sentences of SST-2, and reviews."""
    names = {"0": "negative", "1": "positive"}
    sentences = [(row[0], names[row[1]]) for row in rows_of(data / "sst" / "data" / "SST2" / "train.tsv") if row]
    folder = data / "counterfactual-cad" / "sentiment" / "orig"
    reviews = [(row[1], row[0].lower()) for row in rows_of(folder / "train.tsv.gz") if row][1:]
    return {"SST-2": sentences, "IMDb": reviews}


def expert_pairs(data: Path) -> list[Pair]:
    """Give the reviews as they were and as experts turned them."""
    members = read_contrast("imdb", ContrastFiles(data / "contrast-sets" / "IMDb")).members
    texts = [(str(one.inputs["text"]), str(one.answer)) for one in members]
    return list(zip(texts[::2], texts[1::2], strict=True))


def crowd_pairs(data: Path) -> list[Pair]:
    """Give the reviews as they were and as the crowd turned them."""
    folder = data / "counterfactual-cad" / "sentiment"
    originals = {row[1] for row in rows_of(folder / "orig" / "test.tsv") if row}
    by_batch: dict[str, list[tuple[str, str]]] = {}
    for row in list(rows_of(folder / "combined" / "paired" / "test_paired.tsv"))[1:]:
        by_batch.setdefault(row[2], []).append((row[1], row[0].lower()))
    pairs = [sorted(both, key=lambda one: one[0] not in originals) for both in by_batch.values()]
    return [(both[0], both[1]) for both in pairs if len(both) == 2]


def train(name: str, texts: Sequence[tuple[str, str]]) -> Baseline:
    """Train the baseline called *name*."""
    columns = {"text": [text for text, _ in texts], "answer": [label for _, label in texts]}
    return BASELINES.get(name).train(TASK, pl.DataFrame(columns, schema=kind_of(TASK).schema(TASK)))


def gap(model: Baseline, pairs: Sequence[Pair]) -> ContrastEstimates:
    """Score a model on pairs."""
    inputs: list[dict[str, Any]] = [{"text": text} for pair in pairs for text, _ in pair]
    golds = [label for pair in pairs for _, label in pair]
    kind = kind_of(TASK)
    said = [kind.parse_answer(TASK, one, raw).answer for one, raw in zip(inputs, model.predict(inputs), strict=True)]
    right = [one == gold for one, gold in zip(said, golds, strict=True)]
    sets = [number for number in range(len(pairs)) for _ in range(2)]
    return contrast_estimates(Members.of(right, right, sets, [True, False] * len(pairs)))


def table(data: Path) -> str:
    """Make the table."""
    edits = {"experts": expert_pairs(data), "crowd": crowd_pairs(data)}
    lines = [
        "| model | trained on | edited by | pairs | original % | edited % | difference | consistency % |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for trained_on, texts in training(data).items():
        for name in MODELS:
            model = train(name, texts)
            for who, pairs in edits.items():
                found = gap(model, pairs)
                figures = (found.original, found.contrast, found.difference, found.consistency)
                cells = [name, f"{trained_on} ({len(texts):,})", who, str(len(pairs)), *map(_percent, figures)]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _percent(figure: Estimate) -> str:
    values = (figure.value, figure.low, figure.high)
    value, low, high = (f"{100 * one:.1f}".replace("-", "−") for one in values if one is not None)
    return f"{value} ({low} to {high})"


def main() -> None:
    """Print the table, or put it into the documentation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder with contrast-sets, counterfactual-cad and sst")
    parser.add_argument("--write", action="store_true", help=f"put it into {TARGET.relative_to(ROOT)}")
    chosen = parser.parse_args()
    made = table(chosen.data)
    print(made, end="")
    if chosen.write:
        before, _, rest = TARGET.read_text(encoding="utf-8").partition(BEGIN)
        TARGET.write_text(f"{before}{BEGIN}{made}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
