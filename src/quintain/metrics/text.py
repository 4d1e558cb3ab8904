"""Metrics of free text: BLEU and chrF as sacrebleu counts them, ROUGE-L as rouge-score does.

BLEU and chrF are of the whole corpus: each example adds its n-gram counts, so that a bootstrap needs no second pass
over the texts. All three are between 0 and 1 here; the papers' figures are these times 100.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, MeanMetric, Metric
from quintain.stats.bootstrap import FloatArray, Tally
from quintain.stats.text import bleu_tokeniser, rouge_l

_ORDER = 4
_CHRF_ORDER = 6
_CHRF_BETA = 2


def _texts(data: Aligned) -> tuple[list[str], list[list[str]]]:
    """Return hypotheses and their references; an unanswered example has an empty hypothesis."""
    return data.predictions.fill_null("").to_list(), data.gold.to_list()


def _streams(references: list[list[str]]) -> Any:
    """Turn references by example into one list per position, as sacrebleu wants them; None where one has fewer."""
    width = max((len(row) for row in references), default=0)
    return [[row[place] if place < len(row) else None for row in references] for place in range(width)]


# The libraries are imported where they are used: together they take seconds to load, which other metrics need not wait.
def _bleu_counts(data: Aligned) -> FloatArray:
    """Return each example's two lengths, n-gram matches and n-gram totals."""
    from sacrebleu.metrics.bleu import BLEU

    hypotheses, references = _texts(data)
    tokeniser = bleu_tokeniser(reference for row in references for reference in row)
    counter = BLEU(force=True, tokenize=tokeniser)
    return np.asarray(counter._extract_corpus_statistics(hypotheses, _streams(references)), dtype=np.float64)


def _chrf_counts(data: Aligned) -> FloatArray:
    """Return each example's n-gram counts by order: of the text, of the nearest reference, of both."""
    from sacrebleu.metrics.chrf import CHRF

    hypotheses, references = _texts(data)
    return np.asarray(CHRF()._extract_corpus_statistics(hypotheses, _streams(references)), dtype=np.float64)


@METRICS.register("bleu")
class Bleu(Metric):
    """Corpus BLEU with sacrebleu's defaults (exponential smoothing; 13a tokens where the references' script allows)."""

    name = "bleu"
    title = "BLEU"
    answer_types = ("text",)

    def tally(self, data: Aligned) -> Tally:
        """Add up lengths, matches and totals."""
        return data.once("bleu", lambda: Tally.of_rows(_bleu_counts(data)))

    def value(self, totals: FloatArray) -> FloatArray:
        """Multiply the geometric mean of the precisions by the brevity penalty."""
        length, reference_length = totals[..., 0], totals[..., 1]
        matches, possible = totals[..., 2 : 2 + _ORDER], totals[..., 2 + _ORDER :]
        # The k-th order without a match counts as 1 / 2^k of a match.
        halvings = np.cumsum((matches == 0) & (possible > 0), axis=-1)
        smoothed = np.where(matches == 0, 1 / np.exp2(halvings), matches)
        with np.errstate(invalid="ignore", divide="ignore"):
            precision = np.where(possible > 0, smoothed / possible, 0.0)
            score = np.exp(np.log(precision).mean(axis=-1)) * np.minimum(1.0, np.exp(1 - reference_length / length))
        score = np.where((length > 0) & (matches.sum(axis=-1) > 0), score, 0.0)
        return np.asarray(np.clip(score, 0.0, 1.0), dtype=np.float64)


@METRICS.register("chrf")
class Chrf(Metric):
    """Corpus chrF2 with sacrebleu's defaults (character 6-grams, no words)."""

    name = "chrf"
    title = "chrF"
    answer_types = ("text",)

    def tally(self, data: Aligned) -> Tally:
        """Add up the n-gram counts."""
        return data.once("chrf", lambda: Tally.of_rows(_chrf_counts(data)))

    def value(self, totals: FloatArray) -> FloatArray:
        """Average precision and recall over the orders that occur, then combine them."""
        counts = totals.reshape(*totals.shape[:-1], _CHRF_ORDER, 3)
        in_text, in_reference, shared = counts[..., 0], counts[..., 1], counts[..., 2]
        occurs = (in_text > 0) & (in_reference > 0)
        number = np.maximum(occurs.sum(axis=-1), 1)
        precision = np.where(occurs, shared / np.maximum(in_text, 1), 0.0).sum(axis=-1) / number
        recall = np.where(occurs, shared / np.maximum(in_reference, 1), 0.0).sum(axis=-1) / number
        weight = _CHRF_BETA**2
        bottom = weight * precision + recall
        score = (1 + weight) * precision * recall / np.where(bottom > 0, bottom, 1.0)
        return np.asarray(np.clip(score, 0.0, 1.0), dtype=np.float64)


@METRICS.register("rouge_l")
class RougeL(MeanMetric):
    """The mean ROUGE-L F1 against the best reference, without stemming."""

    name = "rouge_l"
    title = "ROUGE-L"
    answer_types = ("text",)

    def scores(self, data: Aligned) -> FloatArray:
        """Score each text against the reference that it is nearest to."""
        return np.asarray(
            [rouge_l(said, golds, data.language) for said, golds in zip(*_texts(data), strict=True)], dtype=np.float64
        )
