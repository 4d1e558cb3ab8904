"""Compare several files of predictions on the same gold answers: every pair of them, by any metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.records.figures import Estimate, KeptEstimate
from quintain.core.records.paired import PairedSystems, PairedTest, PairPower, SystemValue
from quintain.core.texts import Text
from quintain.data.in_memory import Source
from quintain.metrics.aligned import Aligned, align
from quintain.metrics.evaluate import check_needs, default_metrics, metric_named
from quintain.metrics.paired_systems import PairOfSystems, compare_systems
from quintain.services.plain.files.scored_answers import (
    MatchedAnswers,
    Scoring,
    check_columns,
    match_answers,
    read_gold,
)
from quintain.stats.arms import holm
from quintain.stats.label_hints import label_warnings
from quintain.tasks.answer_kinds.contract import answers_of

FEWEST = 100  # draws below which neither an interval nor a p says much


def compare_files(gold_path: Source, systems: Mapping[str, Source], scoring: Scoring) -> PairedSystems:
    """Test every pair of *systems* (predictions by name) on the same gold answers by the one metric of *scoring*."""
    _check(systems, scoring)
    check_columns(scoring.columns or {})
    gold = read_gold(gold_path, scoring.columns or {})
    matched = {name: match_answers(gold, gold_path, path, scoring) for name, path in systems.items()}
    answer_type = next(iter(matched.values())).answer_type
    named = (scoring.metrics or default_metrics(answer_type))[0]
    metric = metric_named(named, answer_type)
    aligned = [_aligned(answers) for answers in matched.values()]
    if not len(aligned[0]):
        raise BadInput("There are no examples to score.")
    for system in aligned:
        check_needs(system, {named: metric})
    values, pairs = compare_systems(metric, aligned, seed=scoring.seed, draws=scoring.resamples)
    names, examples = list(systems), len(aligned[0])
    groups = aligned[0].groups
    return PairedSystems(
        _tests(pairs, names, examples),
        [PairPower(names[pair.first], names[pair.second], *_needed(pair)) for pair in pairs],
        [SystemValue(name, value) for name, value in zip(names, values, strict=True)],
        metric.name,
        None if groups is None else len(np.unique(groups)),
        scoring.resamples,
        scoring.seed,
        [warning for name, answers in matched.items() for warning in _warnings(name, answers)],
        [note for name, answers in matched.items() for note in _left_out(name, answers)],
    )


def names_of(paths: Sequence[Path]) -> dict[str, Path]:
    """Name each file by the least that tells it from the others: its stem, its name, or its whole path.

    >>> list(names_of([Path("old/a.csv"), Path("new/a.csv")]))
    ['old/a.csv', 'new/a.csv']
    """
    kinds = ([path.stem for path in paths], [path.name for path in paths], [str(path) for path in paths])
    for names in kinds:
        if len(set(names)) == len(names):
            return dict(zip(names, paths, strict=True))
    twice = next(path for position, path in enumerate(paths) if path in paths[:position])
    raise _twice(str(twice))


def _twice(name: str) -> BadInput:
    return BadInput(
        "'{name}' is there twice.", name=name, remedy="A system is compared with others: name each file of them once."
    )


def _check(systems: Mapping[str, Source], scoring: Scoring) -> None:
    if len(systems) < 2:
        raise BadInput(
            "There are predictions of one system only.",
            remedy="Name two or more files of predictions; `quintain evaluate score` is for a single one.",
        )
    files = [path.resolve() for path in systems.values() if isinstance(path, Path)]
    again = [path for position, path in enumerate(files) if path in files[:position]]
    if again:
        raise _twice(again[0].name)
    if len(scoring.metrics) > 1:
        raise BadInput(
            "Systems are compared by one metric, and {n} are named.",
            n=len(scoring.metrics),
            remedy="Run it once for each: p is raised for the pairs of one metric.",
        )
    if scoring.resamples < FEWEST:
        raise BadInput(
            "{draws} draws are too few for a test.",
            draws=scoring.resamples,
            least=FEWEST,
            remedy="Take {least} or more; 10000 let p go down to 0.0001.",
        )


def _aligned(answers: MatchedAnswers) -> Aligned:
    return align(answers.answer_type, answers.answers, answers.predictions, **answers.beside)


def _tests(pairs: Sequence[PairOfSystems], names: Sequence[str], examples: int) -> list[PairedTest]:
    raised = holm([pair.p for pair in pairs])
    return [
        PairedTest(names[pair.first], names[pair.second], _as_kept(pair.difference), pair.p, p_holm, examples)
        for pair, p_holm in zip(pairs, raised, strict=True)
    ]


def _as_kept(estimate: Estimate) -> KeptEstimate:
    return KeptEstimate(estimate.value, estimate.low, estimate.high, estimate.reason)


def _needed(pair: PairOfSystems) -> tuple[int | None, int | None]:
    return pair.separation.needed, pair.separation.more


def _warnings(name: str, answers: MatchedAnswers) -> list[str]:
    if not answers_of(answers.answer_type).named:
        return []
    warnings = label_warnings(answers.answers.to_list(), answers.predictions.to_list())
    return [Text("{name}: {warning}", name=name, warning=warning) for warning in warnings]


def _left_out(name: str, answers: MatchedAnswers) -> list[str]:
    notes: list[str] = []
    if answers.missing:
        notes.append(Text("{name}: {n} missing predictions were counted as wrong.", name=name, n=answers.missing))
    if answers.unknown:
        notes.append(
            Text("{name}: {n} predictions were left out for want of a gold answer.", name=name, n=answers.unknown)
        )
    return notes
