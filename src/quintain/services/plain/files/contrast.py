"""Score a model on contrast sets, from two plain files: no workspace, no account, no server.

Examples are `{"id", "set", "role": "original" | "contrast", "gold": …, "tags": […]}`, predictions
`{"id", "prediction": …}`. Every set has one original and at least one neighbour, and every member an answer: a set that
lost a member would look more consistent than it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.label_form import LabelNames, label_form
from quintain.core.records.contrast import ContrastIntervals, ContrastScore
from quintain.core.texts import Text
from quintain.data.contrast.contract import read_json
from quintain.data.in_memory import Source
from quintain.data.rows import PlainRow, read_rows, refuse
from quintain.data.text import suffix_of
from quintain.stats.contrast import Members, contrast_by, contrast_estimates
from quintain.stats.grading import Grading, is_plain, written
from quintain.stats.label_hints import label_warnings

ORIGINAL, CONTRAST = "original", "contrast"
_EXAMPLE = ("id", "set", "role", "gold")


@dataclass(frozen=True, slots=True)
class ContrastOptions:
    """How to grade, which labels there are (where they are to be checked), and what columns are called."""

    grading: Grading = field(default_factory=Grading)
    labels: Sequence[str] = ()
    columns: Mapping[str, str] | None = None
    seed: int = 0
    resamples: int = 1000


@dataclass(frozen=True, slots=True)
class ContrastExample:
    """A member of a set as its file has it; *source* is what published predictions call it, where they do otherwise."""

    row: int
    id: str
    set: str
    original: bool
    gold: Any
    tags: tuple[str, ...] = ()
    source: str = ""


def score_contrast_files(
    examples_path: Source,
    predictions_path: Source,
    options: ContrastOptions | None = None,
    *,
    originals_path: Source | None = None,
) -> ContrastScore:
    """Score the predictions in one file on the contrast sets in another, matched by id.

    Where those on originals are in a file of their own, *originals_path*, both are matched by the examples' `source`,
    which may then be the same for an original and its neighbour.
    """
    options = options or ContrastOptions()
    examples = read_examples(examples_path, options)
    if originals_path is None:
        predictions = _read_predictions(predictions_path, {example.id: example for example in examples}, options)
    else:
        predictions = {}
        for path, original in ((originals_path, True), (predictions_path, False)):
            named = {example.source or example.id: example for example in examples if example.original is original}
            predictions |= _read_predictions(path, named, options)
    return contrast_score(examples, predictions, options)


def contrast_score(
    examples: Sequence[ContrastExample], predictions: Mapping[str, Any], options: ContrastOptions | None = None
) -> ContrastScore:
    """Score *predictions* by id on whole contrast sets that were checked already."""
    options = options or ContrastOptions()
    if options.grading.of_labels:
        called = LabelNames(sorted({label for example in examples for label in _as_labels(example.gold)}))
        predictions = {name: called.find(said) or said for name, said in predictions.items()}
    grades = [options.grading(predictions[example.id], example.gold) for example in examples]
    members = Members.of(
        [grade.score for grade in grades],
        [grade.right for grade in grades],
        [example.set for example in examples],
        [example.original for example in examples],
    )
    drawn = {"seed": options.seed, "resamples": options.resamples}
    overall = contrast_estimates(members, **drawn)
    tags, tag_intervals = contrast_by(members, [example.tags for example in examples], **drawn)
    moves, move_intervals = contrast_by(members, _transitions(examples, options.grading), **drawn)
    by_f1 = options.grading.metric == "f1"
    return ContrastScore(
        original=overall.original.value or 0.0,
        contrast=overall.contrast.value or 0.0,
        difference=overall.difference.value or 0.0,
        consistency=overall.consistency.value or 0.0,
        sets=len(set(members.sets.tolist())),
        examples=len(examples),
        by_tag=tags,
        by_transition=moves,
        intervals=ContrastIntervals(overall, tag_intervals, move_intervals),
        metric=options.grading.metric,
        threshold=options.grading.threshold if by_f1 else None,
        normalise=options.grading.normalise if options.grading.by_form else None,
        unanswered=sum(predictions[example.id] is None for example in examples),
        notes=tuple(_notes(examples, predictions, options)),
        warnings=_warnings(examples, predictions, options),
    )


def read_examples(path: Source, options: ContrastOptions) -> list[ContrastExample]:
    """Read contrast sets, or say everything that is wrong with them."""
    columns = {name: theirs for name, theirs in (options.columns or {}).items() if name != "prediction"}
    rows = read_rows(path, required=_EXAMPLE, optional=("tags", "source"), columns=columns)
    refuse(fault.at(file=path.name) for row in rows for fault in _row_faults(row, options))
    examples = [_example(row) for row in rows]
    refuse(
        (fault.at(file=path.name) for fault in set_faults(examples)),
        Text("Mend the file: a set that is not whole cannot be scored."),
    )
    return examples


def set_faults(examples: Sequence[ContrastExample]) -> Iterator[Fault]:
    """Yield what is wrong with the sets: an id twice, no original, two of them, or nothing beside it."""
    first: dict[str, int] = {}
    sets: dict[str, list[ContrastExample]] = {}
    for example in examples:
        if example.id in first:
            yield Fault("id '{id}' is in row {first} already", id=example.id, first=first[example.id], row=example.row)
        first.setdefault(example.id, example.row)
        sets.setdefault(example.set, []).append(example)
    for name, members in sets.items():
        originals = [member.row for member in members if member.original]
        if not originals:
            yield Fault("set '{name}' has no original", name=name, row=members[0].row)
        for again in originals[1:]:
            yield Fault(
                "set '{name}' has its original in row {first} already", name=name, first=originals[0], row=again
            )
        if len(originals) == len(members):
            yield Fault("set '{name}' has nothing but its original", name=name, row=originals[0])


def _row_faults(row: PlainRow, options: ContrastOptions) -> Iterator[Fault]:
    values = row.values
    for name in ("id", "set"):
        if not is_plain(values[name]) or written(values[name]) == "":
            yield Fault("is empty, or neither a text nor a number", row=row.number, field=name)
    if values["role"] not in (ORIGINAL, CONTRAST):
        yield Fault("'{role}' is neither original nor contrast", role=values["role"], row=row.number, field="role")
    gold = values["gold"]
    several = options.grading.of_sets
    whole = isinstance(gold, list) and all(_is_answer(one, options) for one in gold) and (gold or several)
    if not whole and (several or not is_plain(gold) or written(gold) == ""):
        expected = Text("a list of answers") if several else Text("an answer, or a list of accepted ones")
        yield Fault("is not {wanted}", wanted=expected, row=row.number, field="gold")
    else:
        yield from _strange(gold, row, "gold", options)
    tags = values.get("tags")
    if tags is not None and not isinstance(tags, str) and not _texts(tags):
        yield Fault("is not a list of texts", row=row.number, field="tags")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _strange(answer: Any, row: PlainRow, name: str, options: ContrastOptions) -> Iterator[Fault]:
    """Name answers that are none of the labels, where those are known."""
    if options.labels and answer is not None:
        for label in answer if isinstance(answer, list) else [answer]:
            if isinstance(label, list) or LabelNames(options.labels).find(label) is None:
                known = ", ".join(options.labels)
                yield Fault("'{label}' is not one of {known}", label=label, known=known, row=row.number, field=name)


def _example(row: PlainRow) -> ContrastExample:
    values = row.values
    tags = values.get("tags") or ()
    if isinstance(tags, str):  # in a CSV
        tags = tags.replace("|", ";").split(";")
    return ContrastExample(
        row.number,
        written(values["id"]),
        written(values["set"]),
        values["role"] == ORIGINAL,
        values["gold"],
        tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip())),
        written(values["source"]) if is_plain(values.get("source")) else "",
    )


def _read_predictions(path: Source, known: Mapping[str, ContrastExample], options: ContrastOptions) -> dict[str, Any]:
    """Read one prediction for every example by its id; null is a model that gave none, and counts as wrong.

    *known* has the examples by what the file calls them.
    """
    rows = _prediction_rows(path, options)
    predictions: dict[str, Any] = {}
    first: dict[str, int] = {}
    faults: list[Fault] = []
    for row in rows:
        name, prediction = written(row.values["id"]), row.values["prediction"]
        if name in predictions:
            faults.append(Fault("id '{id}' is in row {first} already", id=name, first=first[name], row=row.number))
        elif name not in known:
            faults.append(Fault("id '{id}' is not among the examples", id=name, row=row.number))
        elif not _fits(prediction, options):
            several = options.grading.of_sets
            expected = Text("a list of answers") if several else Text("a single answer")
            faults.append(Fault("is not {wanted}", wanted=expected, row=row.number, field="prediction"))
        else:
            faults += _strange(prediction, row, "prediction", options)
        predictions.setdefault(name, prediction)
        first.setdefault(name, row.number)
    faults += [
        Fault("no prediction for id '{id}' (row {row_there} of the examples)", id=one.id, row_there=one.row)
        for name, one in known.items()
        if name not in predictions
    ]
    refuse(
        (fault.at(file=path.name) for fault in faults),
        Text("Give one prediction for every example; null where the model gave none, which counts as wrong."),
    )
    return {known[name].id: said for name, said in predictions.items()}


def _prediction_rows(path: Source, options: ContrastOptions) -> list[PlainRow]:
    """Read a table of predictions, or one JSON object from ids to answers."""
    if not isinstance(path, Path) or suffix_of(path) != ".json":
        columns = {name: theirs for name, theirs in (options.columns or {}).items() if name in ("id", "prediction")}
        return read_rows(path, required=("id", "prediction"), columns=columns)
    document = read_json(path)
    if not isinstance(document, dict) or not document:
        raise BadInput(faults=[Fault("not an object from ids to answers", file=path.name)])
    pairs = enumerate(document.items(), 1)
    return [PlainRow(number, {"id": name, "prediction": said}) for number, (name, said) in pairs]


def _fits(prediction: Any, options: ContrastOptions) -> bool:
    if options.grading.of_sets:
        return prediction is None or (isinstance(prediction, list) and all(is_plain(one) for one in prediction))
    return prediction is None or _is_answer(prediction, options)


def _is_answer(value: Any, options: ContrastOptions) -> bool:
    """Whether *value* is a single answer; for texts that may be a list of several spans."""
    spans = options.grading.of_texts and isinstance(value, list) and bool(value)
    return is_plain(value) or (spans and all(is_plain(one) for one in value))


def _transitions(examples: Sequence[ContrastExample], grading: Grading) -> list[list[str]]:
    """Name what the edit of each neighbour did to the answer; an original has no name."""
    golds = {example.set: _as_labels(example.gold) for example in examples if example.original}
    transitions: list[list[str]] = []
    for example in examples:
        before, after = golds[example.set], _as_labels(example.gold)
        if example.original:
            transitions.append([])
        elif grading.of_labels and len(before) == len(after) == 1:
            transitions.append([f"{label_form(min(before))} → {label_form(min(after))}"])
        else:
            transitions.append(["same" if before == after else "changed"])
    return transitions


def _as_labels(gold: Any) -> frozenset[str]:
    several = gold if isinstance(gold, list) else [gold]
    return frozenset(" · ".join(map(written, one)) if isinstance(one, list) else written(one) for one in several)


def _warnings(
    examples: Sequence[ContrastExample], predictions: Mapping[str, Any], options: ContrastOptions
) -> tuple[str, ...] | None:
    """Return where predicted labels are hardly the gold ones."""
    if not options.grading.of_labels:
        return None
    golds = [label for example in examples for label in _as_labels(example.gold)]
    predicted = [None if answer is None else written(answer) for answer in predictions.values()]
    return tuple(label_warnings(golds, predicted)) or None


def _notes(
    examples: Sequence[ContrastExample], predictions: Mapping[str, Any], options: ContrastOptions
) -> Iterator[str]:
    """Yield what may be a slip: labels that no gold answer has."""
    if not options.grading.of_labels or options.labels:
        return
    golds = LabelNames(sorted({label for example in examples for label in _as_labels(example.gold)}))
    strange = [written(said) for said in predictions.values() if said is not None and golds.find(said) is None]
    if strange:
        yield (
            f"{len(strange)} predictions are no gold label of the file, and count as wrong, such as '{strange[0]}'; "
            "with --labels they are refused."
        )
