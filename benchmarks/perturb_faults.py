"""Draw the outputs of a perturbation that were read for faults, or count the marks in `perturb_faults.json`.

    python benchmarks/perturb_faults.py --data FOLDER --kind contraction     the sample, one output to a line
    python benchmarks/perturb_faults.py                                      the table of docs/perturbations.md

The sample is drawn from the texts of public collections in FOLDER, in an order that the hash of each text gives, so
that the same data give the same sample. The collections do not all allow their texts to be passed on: the marks name an
output by the first twelve digits of the SHA-256 of its text. The file of marks holds those, the draw that the sample is
from, the version and the commit that made it, and why an output is a fault.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import itertools
import json
import random
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from quintain.perturbations import draws
from quintain.perturbations.apply import CHUNK, PerturbedText, drop_protected, outcomes
from quintain.perturbations.batch import TextBatch
from quintain.perturbations.contract import perturbation
from quintain.stats.workers import wilson_share

MARKS = Path(__file__).with_name("perturb_faults.json")
SNIPPETS = ("amazonReviewSnippets", "movieReviewSnippets", "nytEditorialSnippets", "tweets")
WINDOW = 60


def lines(path: Path) -> list[str]:
    """Read the lines of a file, packed or not."""
    packed = path.with_name(path.name + ".gz")
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return content.decode("utf-8", "replace").split("\n")


def texts(folder: Path, draw: int) -> list[str]:
    """Read reviews, editorials, tweets, captions and premises, each once, in the order of their hashes in a *draw*."""
    snippets = [folder / f"vader-icwsm2014/{name}_GroundTruth.txt" for name in SNIPPETS]
    found = [line.split("\t")[-1] for path in snippets for line in lines(path)]
    for name in ("imdb", "yelp", "amazon_cells"):
        path = folder / f"uci-sentiment-sentences/sentiment labelled sentences/{name}_labelled.txt"
        found += [line.split("\t")[0] for line in lines(path)]
    for name in ("dev", "test", "train"):
        path = folder / f"counterfactual-cad/NLI/original/{name}.tsv"
        found += [cell for line in lines(path)[1:] for cell in line.split("\t")[:2]]
    for path in ("rte/train.csv", "mnli/dev.csv"):
        found += [cell for row in csv.reader(lines(folder / "nli-small/nli_datasets" / path)) for cell in row]
    found += [line.split("\t")[0] for line in lines(folder / "sst/data/SST2/train.tsv")]
    found += [row[1] for row in csv.reader(lines(folder / "dynasent-derived/round1_sentences_topvote.csv")) if row]
    long = {text.strip() for text in found if text.strip().count(" ") > 1}
    return sorted(long, key=name_of if draw == 1 else lambda text: name_of(f"{draw} {text}"))


def stories(folder: Path) -> list[str]:
    """Read the sentences of passages and questions, in which people act, each once, in the order of their hashes."""
    paths = [*folder.glob("contrast-sets/ropes/data/*.json"), *folder.glob("contrast-sets/quoref/*.json")]
    paths += [*folder.glob("contrast-sets/DROP/*.json"), *folder.glob("crowdsourcing-protocols/**/*.json*")]
    passages = [line.split("\t")[0] for line in lines(folder / "contrast-sets/MCTACO/original.tsv")]
    for path in paths:
        packed = path.suffix == ".gz"
        content = (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()).decode("utf-8", "replace")
        several = ".jsonl" in path.suffixes
        passages += strings([json.loads(line) for line in content.splitlines()] if several else json.loads(content))
    sentences = {part.strip() for passage in passages for part in re.split(r"(?<=[.!?])\s+", passage)}
    return sorted((text for text in sentences if text.count(" ") > 2), key=name_of)


def reviews(folder: Path) -> list[str]:
    """Read the sentences of film reviews, questions and their passages, each once, in the order of their hashes."""
    found = []
    for name in ("combined/paired/train_paired", "new/train", "new/dev", "new/test", "orig/train"):
        path = folder / f"counterfactual-cad/sentiment/{name}.tsv"
        found += [row[1] for line in lines(path) if len(row := line.split("\t")) > 1]
    for name in ("qnli/dev", "scitail/dev", "add_one_rte/train"):
        path = folder / f"nli-small/nli_datasets/{name}.csv"
        found += [cell for row in csv.reader(lines(path)) for cell in row]
    sentences = {part.strip() for text in found for part in re.split(r"(?<=[.!?])\s+", text)}
    return sorted((text for text in sentences if text.count(" ") > 2), key=name_of)


def starter(task: str, draw: int) -> list[str]:
    """Read the sentences of a task that comes with Quintain, each once, in the order of their hashes in a *draw*."""
    folder = files("quintain.demo_data") / task
    rows = [
        row for name in ("train", "dev", "test") for row in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    return sorted({json.loads(row)["text"] for row in rows}, key=lambda text: name_of(f"{draw} {text}"))


def strings(value: object) -> Iterator[str]:
    """Give all strings of what was read from JSON, wherever they stand."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def name_of(text: str) -> str:
    """Name a text by its content."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def changed(kind: str, source: list[str], seed: int = 0) -> Iterator[tuple[str, PerturbedText]]:
    """Give the texts that a perturbation changes with what becomes of them."""
    member = perturbation(kind)
    for begin in range(0, len(source), CHUNK):
        chunk = source[begin : begin + CHUNK]
        batch = TextBatch(chunk, draws.keyed(draws.hashes_of(chunk), member.name, member.version, seed))
        proposal = drop_protected(batch, member.propose(batch, member.rate))
        yield from ((text, new) for text, new in zip(chunk, outcomes(batch, proposal), strict=True) if new is not None)


def shown(text: str, new: PerturbedText) -> str:
    """Write the edits of a text with what stands around them."""
    line, place = "", 0
    for start, end, replacement in new.edits:
        between = text[place:start]
        if len(between) > 2 * WINDOW or (not place and len(between) > WINDOW):
            between = (between[:WINDOW] + " … " if place else "…") + between[-WINDOW:]
        line += f"{between}{{{text[start:end]}→{replacement}}}"
        place = end
    return line + text[place : place + WINDOW]


def table() -> None:
    """Print the counts of the marks with their rates and intervals."""
    marks = json.loads(MARKS.read_text(encoding="utf-8"))
    print("| kind | version | draw | outputs | first | second | agreement | faults | rate | 95 % |")
    print("| --- " * 10 + "|")
    for kind, mark in marks.items():
        first, second, final = (set(mark[name]) for name in ("first", "second", "final"))
        count = mark["outputs"]
        agreed, share = 1 - len(first ^ second) / count, wilson_share(len(final), count)
        print(
            f"| {kind} | {mark['version']} | {mark['draw']} | {count} | {len(first)} | {len(second)} | "
            f"{agreed:.1%} | {len(final)} | {share.value:.1%} | {share.low:.1%}–{share.high:.1%} |".replace("%", " %")
        )


def main() -> None:
    """Print the sample of a kind, or the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--kind")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument(
        "--draw", type=int, help="which order: by default that of the marks; one that nobody mended against is new"
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help="print what came out, without the edits, in the order of the second reading",
    )
    parser.add_argument("--stories", action="store_true", help="draw from passages and questions instead")
    parser.add_argument("--all", action="store_true", help="draw from passages and questions, and from reviews, too")
    parser.add_argument("--task", help="draw from the sentences of this starter task instead")
    parser.add_argument("--seeds", type=int, default=1, help="read each output for so many seeds")
    options = parser.parse_args()
    if not options.kind:
        table()
        return
    draw = options.draw or json.loads(MARKS.read_text(encoding="utf-8")).get(options.kind, {}).get("draw", 1)
    if options.task:
        source = starter(options.task, draw)
    else:
        source = stories(options.data) if options.stories else texts(options.data, draw)
        if options.all:
            known = set(source)
            more = dict.fromkeys(stories(options.data) + reviews(options.data))
            source += [text for text in more if text not in known]
    drawn = (output for seed in range(options.seeds) for output in changed(options.kind, source, seed))
    outputs = list(itertools.islice(drawn, options.count))
    if options.plain:
        random.Random(f"{options.kind}second").shuffle(outputs)
    for text, new in outputs:
        print(name_of(text), (new.text if options.plain else shown(text, new)).replace("\n", " / "))


if __name__ == "__main__":
    main()
