"""The report of a trial: which arm gives the harder, cleaner data for the money, and how sure that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from quintain.core.errors import BadInput
from quintain.core.records.report import Cell, Chart, Column, Report, ReportFact, ReportSection, Table
from quintain.core.records.trial import JudgingCosts
from quintain.core.texts import Text
from quintain.data.trials import TrialArm
from quintain.protocols.justifications import quality
from quintain.reports.charts import interval_chart
from quintain.services.plain.reports.gap_findings import gap_finding
from quintain.services.plain.reports.trial_costs import attrition_section, cost_section
from quintain.services.plain.reports.trial_differences import differences_section
from quintain.services.plain.reports.trial_difficulty import arms_difficulty
from quintain.services.plain.reports.trial_measures import MeasuredArm, ReportOptions, measure, slice_words, votes_of
from quintain.stats.arms import EVERYTHING, NAMES
from quintain.stats.workers import wilson_share

MOST_ARMS = 20


def make_report(
    title: str,
    arms: Sequence[TrialArm],
    options: ReportOptions | None = None,
    *,
    commands: Sequence[str] = (),
    judging: JudgingCosts | None = None,
    missing: Sequence[Text] = (),
) -> Report:
    """Make the report of a trial; *missing* says which models have no figure in it, and why."""
    options = options or ReportOptions()
    judged = [arm for arm in arms if arm.judged]
    if not judged:
        raise BadInput("Nothing of this trial was judged.", remedy="Collect judgements first.")
    if len(judged) > MOST_ARMS:
        raise BadInput("There are {n} arms, and {most} can be compared.", n=len(judged), most=MOST_ARMS)
    measured = [measure(one, options) for one in judged]
    others = [arm for arm in arms if not arm.judged]
    sections = [
        _results(measured, options, commands, missing),
        differences_section(measured, options),
        arms_difficulty(judged, options.seed, commands),
        _agreement(measured),
        cost_section(arms, {one.arm.name: one.slices[EVERYTHING].items for one in measured}, judging),
        attrition_section(arms),
        _justifications(judged),
        _make_up(arms),
    ]
    return Report(
        key="trial",
        title=Text("Trial: {title}", title=title),
        lead=Text("Which way of writing gives harder and cleaner data, and what it costs."),
        facts=[
            ReportFact(Text("Arms"), ", ".join(one.arm.name for one in measured)),
            ReportFact(Text("Items judged"), f"{sum(one.collected for one in measured):,}"),
            *(
                [ReportFact(Text("Not judged"), ", ".join(f"{other.name} ({len(other.items):,})" for other in others))]
                if others
                else []
            ),
            ReportFact(Text("Seed"), str(options.seed)),
        ],
        sections=[section for section in sections if section is not None],
    )


def _results(
    measured: Sequence[MeasuredArm], options: ReportOptions, commands: Sequence[str], missing: Sequence[Text]
) -> ReportSection:
    models = list(dict.fromkeys(model for one in measured for model in one.slices[EVERYTHING].models))
    rows: list[list[Cell]] = []
    for name in NAMES:
        rows += [_row(one, name, models, options) for one in measured if one.slices[name].items > 0]
    columns = [
        Column(Text("Arm")),
        Column(Text("Items where")),
        Column(Text("N"), "number"),
        Column(Text("± over draws"), "number"),
    ]
    columns += [Column(Text("People"), "share")]
    for model in models:
        columns += [
            Column(model, "share"),
            Column(Text("deviation of runs"), "share"),
            Column(Text("gap to {model}", model=model), "share"),
        ]
    shown = [
        (one.arm.name, series, figure, round(one.slices["at_least_4_of_5"].items))
        for one in measured
        for series, figure in (
            (Text("People"), one.slices["at_least_4_of_5"].human),
            *one.slices["at_least_4_of_5"].models.items(),
        )
    ]
    chart = Chart(
        "people-and-models",
        Text(
            "How far are models behind people, where {which}?",
            which=slice_words("at_least_4_of_5", votes_of([one.arm for one in measured], options)),
        ),
        interval_chart(shown, row=Text("Arm"), series=Text("who"), value=Text("right answers")),
    )
    return ReportSection(
        "results",
        Text("How hard is what each arm gave?"),
        [*_findings(measured, models, options), *missing],
        [chart] if any(figure.value is not None for _, _, figure, _ in shown) else [],
        [
            Table(
                "results",
                Text("People, models and the gap between them"),
                columns,
                rows,
                _labels_note([one.arm for one in measured], options),
            )
        ],
        list(commands),
    )


def _labels_note(arms: Sequence[TrialArm], options: ReportOptions) -> Text:
    """Return whose votes set the labels; the writer's is one of them where the trial says so."""
    drawn = {"sample": options.sample, "draws": options.draws}
    with_writer = [arm.name for arm in arms if arm.writer_votes]
    if len(with_writer) == len(arms):
        return Text(
            "Labels are the majority of {sample} drawn votes and the writer’s; people are measured by the "
            "votes that are left. {draws} draws; intervals over resampled writers.",
            **drawn,
        )
    if with_writer:
        return Text(
            "Labels are the majority of {sample} drawn votes, on {arms} also of the writer’s; people are measured by "
            "the votes that are left. {draws} draws; intervals over resampled writers.",
            arms=", ".join(with_writer),
            **drawn,
        )
    return Text(
        "Labels are the majority of {sample} drawn votes, without the writer’s; people are measured by the votes that "
        "are left. {draws} draws; intervals over resampled writers.",
        **drawn,
    )


def _row(measured: MeasuredArm, name: str, models: Sequence[str], options: ReportOptions) -> list[Cell]:
    figure = measured.slices[name]
    row: list[Cell] = [
        measured.arm.name,
        slice_words(name, votes_of([measured.arm], options)),
        figure.items,
        figure.items_spread,
        figure.human,
    ]
    for model in models:
        row += [figure.models.get(model), figure.runs.get(model), figure.gaps.get(model)]
    return row


def _findings(measured: Sequence[MeasuredArm], models: Sequence[str], options: ReportOptions) -> list[Text]:
    findings = []
    for arm in measured:
        figure = arm.slices["all"]
        if figure.human.value is not None:
            findings.append(
                Text(
                    "{arm}: people are right on {human:.1%} of {n:.0f} items that were judged often.",
                    arm=arm.arm.name,
                    human=figure.human.value,
                    n=figure.items,
                )
            )
    agreed = slice_words("at_least_4_of_5", votes_of([one.arm for one in measured], options))
    for model in models:
        gaps = [
            (one.sums, gap) for one in measured if (gap := one.slices["at_least_4_of_5"].gaps.get(model)) is not None
        ]
        finding = gap_finding(model, gaps, "at_least_4_of_5", agreed, seed=options.seed)
        findings += [] if finding is None else [finding]
    return findings


def _agreement(measured: Sequence[MeasuredArm]) -> ReportSection:
    rows: list[list[Cell]] = [
        [
            one.arm.name,
            one.collected,
            one.slices[EVERYTHING].items,
            wilson_share(one.slices[EVERYTHING].items, one.collected),
            one.alpha,
            one.alpha_many,
        ]
        for one in measured
    ]
    columns = [
        Column(Text("Arm")),
        Column(Text("Items judged"), "count"),
        Column(Text("kept"), "number"),
        Column(Text("share kept"), "share"),
        Column(Text("α of all"), "parameter"),
        Column(Text("α of those judged often"), "parameter"),
    ]
    return ReportSection(
        "agreement",
        Text("How clean is it?"),
        tables=[
            Table(
                "agreement",
                Text("Items that were kept, and how far people agree"),
                columns,
                rows,
                Text("Krippendorff’s α with the writer as one rater more, and “invalid” as an answer of its own.")
                if all(one.arm.writer_votes for one in measured)
                else Text(
                    "Krippendorff’s α with “invalid” as an answer of its own; the writer is a rater where their vote "
                    "counts."
                ),
            )
        ],
    )


def _justifications(arms: Sequence[TrialArm]) -> ReportSection | None:
    rows: list[list[Cell]] = []
    for arm in arms:
        texts = [item.justification for item in arm.items if item.justification]
        if texts:
            rated = quality(texts)
            rows.append([arm.name, rated.texts, rated.duplicates, rated.trivial])
    if not rows:
        return None
    columns = [
        Column(Text("Arm")),
        Column(Text("Justifications"), "count"),
        Column(Text("near duplicates of others"), "share"),
        Column(Text("trivial"), "share"),
    ]
    return ReportSection(
        "justifications",
        Text("How good are the justifications?"),
        tables=[Table("justifications", Text("Justifications that repeat others or say nothing"), columns, rows)],
    )


def _make_up(arms: Sequence[TrialArm]) -> ReportSection | None:
    """Count the genres of contexts and the types of items, where any are known: arms should be alike in genres."""
    rows: list[list[Cell]] = []
    for what, name in ((Text("genre of the context"), "genre"), (Text("type of the item"), "type")):
        for arm in arms:
            counts = Counter(getattr(item, name) for item in arm.items)
            known = sorted(value for value in counts if value)
            rows += [[what, value, arm.name, counts[value], counts[value] / len(arm.items)] for value in known]
    if not rows:
        return None
    columns = [
        Column(Text("What")),
        Column(Text("value")),
        Column(Text("Arm")),
        Column(Text("Items"), "count"),
        Column(Text("share"), "share"),
    ]
    return ReportSection(
        "make-up",
        Text("What are the items made of?"),
        tables=[Table("make-up", Text("Genres of contexts and types of items"), columns, rows)],
    )
