"""Where a prepositional phrase attaches, by where the words stand and what the preposition usually does."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.task import AnswerType, Task
from quintain.models.contract import BASELINES, Baseline, Batch, Progress
from quintain.models.fields import clean, of_type

Floats = npt.NDArray[np.float64]

REACH = 12
PRIOR = 5.0


class AttachmentBaseline(Baseline):
    """A baseline for tasks whose answer is a token that a marked token attaches to."""

    answer_types: ClassVar[tuple[AnswerType, ...]] = ("token",)

    @classmethod
    def finds_fields(cls, task: Task) -> bool:
        """Ask for tokens, and for one of them."""
        return len(of_type(task, "tokens")) == 1 and len(of_type(task, "token")) == 1

    def parts(self, example: dict[str, Any]) -> tuple[list[str], int]:
        """Return the tokens in lower case and the number of the marked one."""
        lowered = [clean(token).lower() for token in example.get(of_type(self.task, "tokens")[0]) or ()]
        return lowered, int(example.get(of_type(self.task, "token")[0]) or 0)

    @abstractmethod
    def weights(self, tokens: list[str], at: int) -> Floats:
        """Return a weight above 0 for each token that the marked one may attach to, and 0 for others."""

    def predict(self, batch: Batch) -> list[Any]:
        """Return probabilities by the number of the token."""
        return [self._spread(*self.parts(example)) for example in batch]

    def _spread(self, tokens: list[str], at: int) -> dict[str, float]:
        weights = self.weights(tokens, at)
        if len(tokens) > 1 and 0 <= at < len(tokens):
            weights[at] = 0.0
        if not weights.sum():
            weights = np.ones(len(tokens))
        return {str(number): share for number, share in enumerate((weights / weights.sum()).tolist())}


@BASELINES.register("right-branching")
class RightBranching(AttachmentBaseline):
    """Attach to the word just before."""

    name: ClassVar[str] = "right-branching"
    title: ClassVar[str] = "Attach to the word before"
    about: ClassVar[str] = (
        "It attaches each phrase to a word before it, and takes the distance that was most frequent in the training "
        "data, whatever the words are; most often that is the very next one."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Count the distances."""
        counts = np.full(REACH + 1, 1e-3)
        counts[1] += 1
        for row in table.iter_rows(named=True):
            _, at = self.parts(row)
            distance = at - int(row["answer"])
            if 1 <= distance <= REACH:
                counts[distance] += 1
        counts[0] = 0.0
        self.arrays["distances"] = counts

    def weights(self, tokens: list[str], at: int) -> Floats:
        """Weigh tokens by their distance."""
        return _by_distance(self.arrays["distances"], tokens, at)


@BASELINES.register("preposition-prior")
class PrepositionPrior(AttachmentBaseline):
    """Attach to the nearest verb or noun, whichever the preposition prefers."""

    name: ClassVar[str] = "preposition-prior"
    title: ClassVar[str] = "Habits of the preposition"
    about: ClassVar[str] = (
        "It weighs each word by how often the training data attached something to it, and by the distance that the "
        "preposition prefers ('of' clings to the word before, 'during' reaches back to the verb). It knows words, not "
        "word classes, so a sentence of unknown words is decided by distance alone."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Count heads among words that stand before prepositions, and distances by preposition."""
        seen: dict[str, list[int]] = {}
        distances: dict[str, list[int]] = {"": [1]}
        for row in table.iter_rows(named=True):
            tokens, at = self.parts(row)
            head = int(row["answer"])
            for number in range(max(0, at - REACH), at):
                counts = seen.setdefault(tokens[number], [0, 0])
                counts[int(number == head)] += 1
            if 1 <= at - head <= REACH and at < len(tokens):
                distances.setdefault(tokens[at], []).append(at - head)
                distances[""].append(at - head)
        overall = np.bincount(distances[""], minlength=REACH + 1) + 0.1
        overall[0] = 0.0
        overall /= overall.sum()
        self.state["distances"] = {
            word: (np.bincount(found, minlength=REACH + 1) + PRIOR * overall).tolist()
            for word, found in sorted(distances.items())
        }
        rate = (1 + sum(counts[1] for counts in seen.values())) / (2 + sum(map(sum, seen.values())))
        self.state["rate"] = rate
        self.state["heads"] = {
            word: (counts[1] + PRIOR * rate) / (sum(counts) + PRIOR)
            for word, counts in sorted(seen.items())
            if sum(counts) > 1
        }

    def weights(self, tokens: list[str], at: int) -> Floats:
        """Weigh tokens by their own habit and by their distance."""
        distances = self.state["distances"]
        preposition = tokens[at] if 0 <= at < len(tokens) else ""
        base = _by_distance(np.array(distances.get(preposition, distances[""])), tokens, at)
        habits = np.array([self.state["heads"].get(token, self.state["rate"]) for token in tokens], dtype=np.float64)
        return np.asarray(base * habits)


def _by_distance(distances: Floats, tokens: list[str], at: int) -> Floats:
    weights = np.zeros(len(tokens))
    for number in range(max(0, at - REACH), min(at, len(tokens))):
        weights[number] = distances[at - number]
    return weights
