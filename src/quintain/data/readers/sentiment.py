"""The Stanford Sentiment Treebank as trees, and fastText's labelled lines. A row is a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import polars as pl

from quintain.core.errors import Fault
from quintain.data.readers.contract import READERS, Options, RequestedColumns, RowBatch, Source
from quintain.data.readers.lines import read_blocks
from quintain.data.readers.rows import Row, batched

TREE_SCHEMA: Mapping[str, pl.DataType] = {
    "text": pl.String(),
    "label": pl.String(),
    "unit": pl.String(),
    "sentence": pl.String(),
}
LINE_SCHEMA: Mapping[str, pl.DataType] = {"text": pl.String(), "label": pl.String()}
_PART = re.compile(r"\(|\)|[^\s()]+")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}


@READERS.register("sst-trees")
def open_trees(path: Path, options: Options) -> Source:
    """Open a file of trees; every node is a row, whose `unit` is sentence (the root) or phrase."""

    def rows() -> Iterator[Row]:
        for block in read_blocks(path, encoding=options.encoding):
            yield from block.faults
            for number, line in block.texts():
                yield from _nodes(path.name, number, line)

    return _source(path, TREE_SCHEMA, rows)


def _nodes(file: str, number: int, line: str) -> Iterator[Row]:
    """Read `(3 (2 It) (4 works))`: a label, then a word or two nodes."""
    nodes: list[tuple[str, str]] = []
    open_nodes: list[tuple[str, list[str]]] = []
    expecting_label = False
    for part in _PART.findall(line):
        if part == "(":
            expecting_label = True
        elif part == ")":
            if not open_nodes or expecting_label:
                break
            label, words = open_nodes.pop()
            nodes.append((label, " ".join(words)))
            if open_nodes:
                open_nodes[-1][1].extend(words)
        elif expecting_label:
            open_nodes.append((part, []))
            expecting_label = False
        elif open_nodes:
            open_nodes[-1][1].append(_BRACKETS.get(part, part))
        else:
            break
    else:
        if nodes and not open_nodes and not expecting_label:
            yield from _units(number, nodes)
            return
    yield Fault("not a tree: the brackets do not match", file=file, row=number)


def _units(number: int, nodes: list[tuple[str, str]]) -> Iterator[Row]:
    sentence = nodes[-1][1]
    for label, text in nodes[:-1]:
        yield number, {"text": text, "label": label, "unit": "phrase", "sentence": sentence}
    yield number, {"text": sentence, "label": nodes[-1][0], "unit": "sentence", "sentence": sentence}


@READERS.register("fasttext")
def open_fasttext(path: Path, options: Options) -> Source:
    """Open a file of fastText: `__label__` and the label, then the text."""

    def rows() -> Iterator[Row]:
        for block in read_blocks(path, encoding=options.encoding):
            yield from block.faults
            for number, line in block.texts():
                label, _, text = line.strip().partition("\t" if "\t" in line else " ")
                if label.startswith("__label__") and text:
                    yield number, {"label": label.removeprefix("__label__"), "text": text.strip()}
                else:
                    yield Fault("the line is not `__label__…` and a text", file=path.name, row=number)

    return _source(path, LINE_SCHEMA, rows)


def _source(path: Path, schema: Mapping[str, pl.DataType], rows: Callable[[], Iterator[Row]]) -> Source:
    size = path.stat().st_size if path.is_file() else 0

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        return batched(path.name, rows(), schema, requested, size=size)

    return Source(path.name, tuple(schema), size, batches)
