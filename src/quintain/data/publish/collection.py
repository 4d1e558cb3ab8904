"""What is published together: versions of one task, each a split, with what is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from quintain.core.task import Task
from quintain.tasks.contract import kind_of

_USUAL = {"dev": "validation"}


@dataclass(frozen=True, slots=True)
class PublishedSplit:
    """One version: its *table*, which is read when it is written, and what is said of it.

    *answers* and *inputs* are false where they are withheld; the columns are there all the same, and empty.
    *closed* is true where not everybody may read the inputs.
    """

    name: str
    table: pl.LazyFrame
    ref: str
    hash: str
    rows: int
    language: str
    description: str = ""
    license: str = ""
    citation: str = ""
    answers: bool = True
    inputs: bool = True
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Collection:
    """Splits of one *task* under one *name*; *date* is that of the newest, *version* the number where it is one.

    *images* are the files that the splits name, by their paths in the folder.
    """

    task: Task
    name: str
    splits: tuple[PublishedSplit, ...]
    date: str
    version: str = ""
    images: Mapping[str, Path] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The task's title, in English where there is one."""
        titles = self.task.title
        return titles.get("en") or next(iter(titles.values()), self.task.name)

    @property
    def description(self) -> str:
        """What its versions say of themselves, each once."""
        descriptions = distinct(split.description for split in self.splits)
        return "\n\n".join(descriptions) or f"{self.title}: examples of the task {self.task.name}."

    @property
    def licenses(self) -> list[str]:
        """The licences of its versions, each once."""
        return distinct(split.license for split in self.splits)

    @property
    def citations(self) -> list[str]:
        """How its versions are cited, each once."""
        return distinct(split.citation for split in self.splits)

    @property
    def languages(self) -> list[str]:
        """The languages of its versions, each once."""
        return distinct(split.language for split in self.splits)

    @property
    def rows(self) -> int:
        """How many examples there are."""
        return sum(split.rows for split in self.splits)

    @property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The columns, which are the same in every split."""
        return self.splits[0].table.collect_schema()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that the answers are of, where the task fixes them."""
        answers = kind_of(self.task).answers
        return self.task.label_names if answers.is_class and answers.dtype == pl.String() else ()


def distinct(values: Iterable[str]) -> list[str]:
    """Return the values that are not empty, each once, in their order."""
    return list(dict.fromkeys(value for value in values if value))


def split_names(versions: Sequence[tuple[str, str, int]]) -> list[str]:
    """Name a split for each version, given as role, data set and number: as short as they stay apart.

    >>> split_names([("train", "reviews", 1), ("dev", "reviews-dev", 2)])
    ['train', 'validation']
    >>> split_names([("test", "reviews", 1), ("test", "tweets-2.0", 1), ("test", "tweets-2.0", 3)])
    ['test_reviews', 'test_tweets_2_0_v1', 'test_tweets_2_0_v3']
    """
    short = [_USUAL.get(role, role) for role, _, _ in versions]
    longer = [re.sub(r"\W", "_", f"{name}_{dataset}") for name, (_, dataset, _) in zip(short, versions, strict=True)]
    longest = [f"{name}_v{number}" for name, (_, _, number) in zip(longer, versions, strict=True)]
    return [
        next(names[at] for names in (short, longer, longest) if names is longest or names.count(names[at]) == 1)
        for at in range(len(versions))
    ]
