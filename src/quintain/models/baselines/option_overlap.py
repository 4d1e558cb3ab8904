"""Which option shares most with the passage, most of all where the passage speaks of the question."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import polars as pl

from quintain.data.sentences import sentences
from quintain.models import logistic
from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.fields import clean, of_type, table_column
from quintain.models.options import Floats, OptionBaseline, inputs_of, margin
from quintain.models.words import Rarity, Vocabulary

STRENGTH = 10.0


@BASELINES.register("option-overlap")
class OptionOverlap(OptionBaseline):
    """Score an option by the tf-idf weight of the words that it shares with the passage and the question."""

    name: ClassVar[str] = "option-overlap"
    title: ClassVar[str] = "TF-IDF overlap of options"
    about: ClassVar[str] = (
        "It scores an option by how much of it, by the rarity of its words, stands in the passage, in the passage's "
        "sentences that are nearest to the question, and in the question. It cannot infer anything that the passage "
        "does not say in the same words, and prefers distractors that quote the passage."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn how rare words are in the passages, then how much each kind of overlap speaks for an option."""
        fields = of_type(self.task, "long_text", "text")
        documents = [text for name in fields for text in sorted(set(table_column(table, name)))]
        vocabulary = Vocabulary.learn(self.cutting.tokens(documents), len(documents), least=1)
        self.state |= {"terms": list(vocabulary.terms), "unseen": float(np.log(1 + len(documents)) + 1)}
        self.arrays["idf"] = vocabulary.idf
        self.prepare()
        features = self._features(inputs_of(table))
        fitted = logistic.fit(features, self.right(table), 2, strength=STRENGTH, progress=progress)
        self.arrays |= {"weights": fitted.weights, "intercepts": fitted.intercepts}

    def prepare(self) -> None:
        """Put the rarity of words at hand."""
        self._rarity = Rarity(self.state["terms"], self.arrays["idf"], self.state["unseen"])

    def scores(self, batch: Batch) -> Floats:
        """Return the log-odds of each option."""
        fitted = logistic.Logistic(self.arrays["weights"], self.arrays["intercepts"])
        return margin(fitted, self._features(batch))

    def _features(self, batch: Batch) -> Floats:
        rows = [row for example in batch for row in self._compare(example)]
        return np.array(rows, dtype=np.float64).reshape(-1, 4)

    def _compare(self, example: dict[str, Any]) -> list[list[float]]:
        weigh = self._rarity.total
        passage = " ".join(clean(example.get(name)) for name in of_type(self.task, "long_text"))
        question = set(self.cutting.words(" ".join(clean(example.get(name)) for name in of_type(self.task, "text"))))
        pieces = [set(self.cutting.words(passage[start:end])) for start, end in sentences(passage)]
        whole = set().union(*pieces) if pieces else set()
        near = [(weigh(piece & question), piece) for piece in pieces]
        rows = []
        for option in self.options(example):
            own = set(self.cutting.words(option))
            total = max(weigh(own), 1e-9)
            nearest = max((weigh(piece & own) / total * weight for weight, piece in near), default=0.0)
            rows.append(
                [
                    weigh(own & whole) / total,
                    nearest / max(weigh(question), 1e-9),
                    weigh(own & question) / total,
                    float(np.log1p(len(own))),
                ]
            )
        return rows
