"""The report of a release as Markdown, for people who read it elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quintain.core.escaping import markdown
from quintain.core.example import Role
from quintain.core.records.figures import Estimate
from quintain.core.records.release import Release, ReleaseReport, ReleaseSplit

NO_MAJORITY = "no majority"
HUMAN_NOTE = (
    "F1 of people, with 95 % intervals: the judgements of each item are shuffled and dealt to synthetic annotators, "
    "who are compared with its label. It is a conservative estimate: whoever disagreed is always one of them. The last "
    "column counts the people who never disagreed with a label."
)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Write a table; what is in a cell cannot break out of it.

    >>> print(table(["a"], [["x | y"]]))
    | a |
    | --- |
    | x \| y |
    """
    lines = [map(markdown, heads), ["---"] * len(heads), *(map(markdown, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def label_rows(report: ReleaseReport) -> tuple[list[str], list[list[object]]]:
    """Count items by label and split, beside the votes in train: heads and rows, the last two no majority and all."""
    splits = report.splits
    train = next((split for split in splits if split.split == Role.TRAIN.value), None)
    heads = ["label", *(["votes in train"] if train else []), *(split.split for split in splits)]

    def votes(label: str) -> list[object]:
        return [train.votes.get(label, 0)] if train else []

    rows: list[list[object]] = [
        [label, *votes(label), *(split.labels[label] for split in splits)] for label in splits[0].labels
    ]
    none: list[object] = ["–"] if train else []
    whole: list[object] = [sum(train.votes.values())] if train else []
    rows.append([NO_MAJORITY, *none, *(split.undecided for split in splits)])
    rows.append(["all", *whole, *(split.rows for split in splits)])
    return heads, rows


def human_rows(report: ReleaseReport) -> tuple[list[str], list[list[object]]]:
    """Return how well people do on each split, and how far they agree: heads and rows, the last over all splits."""
    labels = list(dict.fromkeys(label for row in report.human for label in row.f1))
    heads = ["", *labels, "average", "Fleiss' κ", "never disagreed"]
    rows: list[list[object]] = [
        [
            row.split or "all",
            *(_figure(row.f1.get(label)) for label in labels),
            _figure(row.average),
            _figure(row.fleiss_kappa),
            f"{row.never_disagreed:,} of {row.workers:,}",
        ]
        for row in report.human
    ]
    return heads, rows


def _figure(figure: Estimate | None) -> str:
    if figure is None or figure.value is None:
        return "–"
    return f"{figure.value:.3f}" + (f" ({figure.low:.3f}–{figure.high:.3f})" if figure.low is not None else "")


def report_text(release: Release) -> str:
    """Write the report of a release."""
    report = release.report
    held = [split for split in report.splits if split.split != Role.TRAIN.value]
    parts = [
        f"# Release {release.number or ''} of {markdown(release.validation)}".replace("  ", " "),
        _summary_lines(release),
    ]
    parts += ["## Items by label", table(*label_rows(report))]
    if report.model:
        parts += [f"## F1 of {markdown(report.model)}", _f1(held)]
    if report.human:
        parts += ["## How well people do", HUMAN_NOTE, table(*human_rows(report))]
    parts += ["## Agreement", table(["split", "least share of votes"], [(one.split, _share(one)) for one in held])]
    for split in held:
        for attribute, values in split.even.items():
            classes = list(next(iter(values.values())))
            rows = [[value, *(counts[name] for name in classes)] for value, counts in values.items()]
            parts += [f"## {markdown(attribute.capitalize())} in {split.split}", table([attribute, *classes], rows)]
    if report.gains:
        parts += ["## What attributes predict", _gains(report)]
    parts += ["## Flagged and left out", _left(report)]
    if report.examples:
        parts += ["## Examples", examples_table(report)]
    return "\n\n".join(parts) + "\n"


def examples_table(report: ReleaseReport) -> str:
    """Write the examples, by what the model said and by label."""
    rows = [
        (
            example.predicted,
            example.label or NO_MAJORITY,
            example.text,
            ", ".join(f"{k} {n}" for k, n in example.votes.items() if n),
        )
        for example in report.examples
    ]
    return table(["model said", "label", "text", "votes"], rows)


def _summary_lines(release: Release) -> str:
    lines = [f"- {markdown(split)}: {markdown(ref)}" for split, ref in release.versions.items()]
    if release.created_at:
        lines.append(f"- made on {release.created_at:%Y-%m-%d}")
    return "\n".join(lines) or "Nothing is written yet."


def _f1(held: Sequence[ReleaseSplit]) -> str:
    return table(["split", *held[0].f1], [[one.split, *(f"{value:.3f}" for value in one.f1.values())] for one in held])


def _share(split: ReleaseSplit) -> str:
    return "–" if split.agreement is None else f"{split.agreement:.2f}"


def _gains(report: ReleaseReport) -> str:
    rows = [
        (gain.attribute, f"{gain.accuracy:.3f}", f"{gain.chance:.3f}", f"{gain.gain:.3f}", "yes" if gain.even else "no")
        for gain in report.gains
    ]
    return table(["attribute", "right", "chance", "gain", "made even"], rows)


def _left(report: ReleaseReport) -> str:
    rows = [(f"flagged in {split.split}: {flag}", n) for split in report.splits for flag, n in split.flags.items()]
    rows += [(f"left out: {reason}", count) for reason, count in report.left_out.items()]
    rows.append(("writers in more than one data set", report.shared_writers))
    return table(["what", "items"], rows)
