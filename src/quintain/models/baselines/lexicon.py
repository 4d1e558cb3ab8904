"""Counting words: those that praise and blame where labels are about English sentiment, learned ones elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.languages import ENGLISH, base_language
from quintain.models import logistic
from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.fields import column, table_column, text_fields
from quintain.models.labelled import LabelBaseline, Probabilities
from quintain.models.polarity import INTENSITY, NEGATORS, POLARITY, TURNS

NEGATION_REACH = 3
NEGATED = -0.6  # "not great" blames less than "great" praises
TURNED = 1.5
LEARNED_WORDS = 2_000
LEAST_COUNT = 3
PRIOR = 2.0

Floats = npt.NDArray[np.float64]


@BASELINES.register("lexicon")
class Lexicon(LabelBaseline):
    """Add up what each word of the text speaks for."""

    name: ClassVar[str] = "lexicon"
    title: ClassVar[str] = "Lexicon"
    about: ClassVar[str] = (
        "It adds up single words. Where the labels are positive and negative, and the texts English, it uses a fixed "
        "list of words that praise or blame, turns them round after a negation and weighs them by words such as "
        "'very'; the training data only sets how sums become probabilities. Elsewhere the list is learned: the words "
        "whose share differs most between labels. It misses irony, idioms and every word that is not in its list."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn the list where it is not given, then how sums become probabilities."""
        classes = self.targets(table)
        texts = self._table_texts(table)
        if not {"positive", "negative"} <= set(self.labels) or base_language(self.task.language) != ENGLISH:
            self._learn_words(texts, classes)
        self.prepare()
        features = self._features(texts)
        fitted = logistic.fit(features, classes, len(self.labels), strength=10.0, progress=progress)
        self.arrays |= {"weights": fitted.weights, "intercepts": fitted.intercepts}

    def prepare(self) -> None:
        """Put the list at hand as a table."""
        words = self.state.get("words")
        columns = {"term": pl.Series(list(POLARITY) if words is None else words, dtype=pl.String)}
        values = np.array(list(POLARITY.values()))[:, None] if words is None else self.arrays["odds"]
        scores = {f"s{number}": values[:, number] for number in range(values.shape[1])}
        self._list = pl.DataFrame(columns | scores)

    def probabilities(self, batch: Batch) -> Probabilities:
        """Turn the sums of each text into probabilities."""
        columns = [column(batch, name) for name in text_fields(self.task)]
        features = self._features([" ".join(parts) for parts in zip(*columns, strict=True)])
        return logistic.Logistic(self.arrays["weights"], self.arrays["intercepts"]).probabilities(features)

    def _table_texts(self, table: pl.DataFrame) -> list[str]:
        columns = [table_column(table, name) for name in text_fields(self.task)]
        return [" ".join(parts) for parts in zip(*columns, strict=True)]

    def _features(self, texts: Sequence[str]) -> Floats:
        read = _polarity_features if "words" not in self.state else _sums
        return read(self.cutting.tokens(texts), len(texts), self._list)

    def _learn_words(self, texts: Sequence[str], classes: npt.NDArray[np.int64]) -> None:
        """Keep the words whose log-odds between each label and the rest are furthest from none, in deviations.

        Counts are smoothed towards the word's overall share, so that rare words need not look decisive.
        """
        count = len(self.labels)
        occurrences = self.cutting.tokens(texts).unique(["row", "term"])
        occurrences = occurrences.with_columns(pl.Series("label", classes[occurrences["row"].to_numpy()]))
        counted = occurrences.group_by("term", "label").len().pivot("label", index="term", values="len").fill_null(0)
        counted = counted.sort("term")
        names = [str(number) for number in range(count)]
        seen = np.column_stack(
            [counted[name].to_numpy() if name in counted.columns else np.zeros(len(counted)) for name in names]
        )
        frequent = seen.sum(axis=1) >= LEAST_COUNT
        terms, seen = counted.filter(pl.Series(frequent, dtype=pl.Boolean))["term"].to_list(), seen[frequent]
        documents = np.bincount(classes, minlength=count)
        odds, deviations = _log_odds(seen, documents)
        best = np.argsort(-np.abs(odds / deviations).max(axis=1, initial=0), kind="stable")[:LEARNED_WORDS]
        best = np.sort(best)
        self.state["words"] = [terms[number] for number in best.tolist()]
        self.arrays["odds"] = odds[best]


def _log_odds(seen: Floats, documents: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return each word's log-odds ratio for each label against the others, and its standard deviation."""
    share = seen.sum(axis=1, keepdims=True) / documents.sum()
    inside, outside = seen + PRIOR * share, seen.sum(axis=1, keepdims=True) - seen + PRIOR * share
    without = np.maximum(documents - seen, 0) + PRIOR * (1 - share)
    without_outside = np.maximum(documents.sum() - documents - (seen.sum(axis=1, keepdims=True) - seen), 0)
    without_outside = without_outside + PRIOR * (1 - share)
    parts = [np.maximum(part, 1e-3) for part in (inside, outside, without, without_outside)]
    odds = np.log(parts[0] / parts[2]) - np.log(parts[1] / parts[3])
    return odds, np.sqrt(sum(1 / part for part in parts))


def _sums(occurrences: pl.DataFrame, texts: int, known: pl.DataFrame) -> Floats:
    """Add up the scores of each text's different words, scaled so that long texts do not shout."""
    scored = occurrences.unique(["row", "term"]).join(known, on="term").sort("row", "term")
    rows = scored["row"].to_numpy()
    scores = [scored[name].to_numpy() for name in known.columns if name != "term"]
    totals = [np.bincount(rows, score, minlength=texts) for score in scores]
    return np.column_stack(totals) / np.sqrt(1 + np.bincount(rows, minlength=texts))[:, None]


def _polarity_features(occurrences: pl.DataFrame, texts: int, known: pl.DataFrame) -> Floats:
    """Return praise, blame, their difference, and whether there is any of either, scaled by the number of hits."""
    negating = pl.col("term").is_in(list(NEGATORS))
    turning = pl.col("term").is_in(list(TURNS))
    intensity = pl.col("term").replace_strict(dict(INTENSITY), default=1.0, return_dtype=pl.Float64)
    occurrences = occurrences.with_columns(negator=negating, turn=turning, intensity=intensity)
    row = pl.col("row")
    negated = pl.any_horizontal(
        (pl.col("negator").shift(back) & (row == row.shift(back))).fill_null(False)
        for back in range(1, NEGATION_REACH + 1)
    )
    boost = pl.when(row == row.shift(1)).then(pl.col("intensity").shift(1)).otherwise(1.0)
    after_turn = pl.col("turn").cum_sum().over("row") == pl.col("turn").sum().over("row")
    turned = after_turn & (pl.col("turn").sum().over("row") > 0)
    occurrences = occurrences.with_columns(
        factor=boost * pl.when(negated).then(NEGATED).otherwise(1.0) * pl.when(turned).then(TURNED).otherwise(1.0)
    )
    hits = occurrences.join(known, on="term", maintain_order="left")
    rows, scores = hits["row"].to_numpy(), (hits["s0"] * hits["factor"]).to_numpy()
    praise = np.bincount(rows, np.maximum(scores, 0), minlength=texts)
    blame = np.bincount(rows, np.maximum(-scores, 0), minlength=texts)
    count = np.bincount(rows, minlength=texts)
    scale = np.sqrt(np.maximum(count, 1))
    return np.column_stack([praise / scale, blame / scale, (praise - blame) / (1 + praise + blame), count > 0])
