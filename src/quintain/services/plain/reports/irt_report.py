"""Item response theory as a report: how hard the items are, what they tell, and whose labels want a look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.core.records.report import Cell, Chart, Column, Report, ReportFact, ReportSection, Table
from quintain.core.texts import Text
from quintain.reports.charts import place_chart
from quintain.reports.line_charts import curve_chart, distribution_chart
from quintain.services.plain.reports.irt import IrtStudy
from quintain.stats.bootstrap import FloatArray
from quintain.stats.diversity import binned
from quintain.stats.irt.information import item_information, scale_points, total_information
from quintain.stats.two_samples import median_interval, superiority

SHOWN = 20
MOST_PEOPLE = 100
MOST_PAIRS = 15


def irt_report(study: IrtStudy, commands: Sequence[str] = (), *, name: str = "") -> Report:
    """Tell of *study* with charts."""
    fit = study.fit
    return Report(
        key="irt",
        title=Text("How hard the items of {name} are, and how able respondents", name=name),
        lead=Text("Item response theory: difficulty, discrimination, ability, and what they are worth."),
        facts=[
            ReportFact(Text("Items"), f"{len(fit.difficulty):,}"),
            ReportFact(Text("Respondents"), f"{fit.respondents:,.0f}"),
            ReportFact(Text("Model"), f"{fit.model.upper()}, {fit.method}"),
            ReportFact(Text("Log-likelihood"), f"{fit.loglik:,.3f}"),
            ReportFact(Text("Settled"), Text("yes") if fit.converged else Text("no: do not rely on the estimates")),
            ReportFact(Text("Seed"), str(study.seed)),
        ],
        sections=irt_sections(study, list(commands)),
    )


def irt_sections(study: IrtStudy, commands: list[str]) -> list[ReportSection]:
    """Return the questions that an estimation answers; without a scale of ability, why there are no answers."""
    if not study.fit.told_apart:
        return [difficulty_section(study, commands)]
    return [
        difficulty_section(study, commands),
        _abilities(study, commands),
        _information(study, commands),
        _ranking(study, commands),
        _review(study, commands),
    ]


def _groups(study: IrtStudy) -> dict[str, FloatArray]:
    """Return the difficulties by test, those that are finite."""
    tests = np.array(study.responses.tests or [""] * len(study.fit.difficulty))
    usable = np.isfinite(study.fit.difficulty)
    return {str(one): study.fit.difficulty[(tests == one) & usable] for one in dict.fromkeys(tests.tolist())}


def difficulty_section(study: IrtStudy, commands: list[str]) -> ReportSection:
    """Return how hard the items are, by test; where respondents cannot be told apart, only that."""
    if not study.fit.told_apart:
        return _no_difficulty(study, commands)
    groups = {name or Text("all items"): values for name, values in _groups(study).items()}
    reach = [float(end) for end in np.quantile(np.concatenate(list(groups.values())), [0.005, 0.995])]
    spread = binned(groups, bounds=(reach[0], max(reach[1], reach[0] + 0.1)))
    chart = distribution_chart(
        spread.edges.tolist(),
        {name: values.tolist() for name, values in spread.shares.items()},
        value=Text("Difficulty"),
        share=Text("Share of items"),
        form=".1f",
    )
    rows: list[list[Cell]] = [
        [name, len(values), _rounded(median_interval(values)), *np.quantile(values, [0.25, 0.75]).tolist()]
        for name, values in groups.items()
    ]
    columns = [
        Column(Text("Items of")),
        Column(Text("Items"), "count"),
        Column(Text("Difficulty, median"), "parameter"),
        Column(Text("Lower quartile"), "parameter"),
        Column(Text("Upper quartile"), "parameter"),
    ]
    return ReportSection(
        key="difficulty",
        title=Text("How hard are the items?"),
        findings=[*_doubts(study), *_harder(groups)],
        charts=[Chart("difficulty-chart", Text("How is difficulty spread?"), chart)],
        tables=[Table("difficulty-table", Text("Difficulty of items"), columns, rows)],
        commands=commands,
        note=Text("Difficulty is on the scale of abilities, whose mean is 0 and deviation 1."),
    )


def _doubts(study: IrtStudy) -> list[str]:
    findings: list[str] = []
    if not study.fit.converged:
        n = study.fit.turns
        findings.append(Text("The estimates had not settled after {n} iterations: do not rely on them.", n=n))
    return findings


def _no_difficulty(study: IrtStudy, commands: list[str]) -> ReportSection:
    """Return why there are no difficulties: what all get right equally often gives no scale."""
    finding = Text(
        "{n} models, runs of one, or people answered these items and are right equally often, as far as chance lets "
        "one say. How hard items are can be told once respondents of different ability have answered them.",
        n=len(study.responses.respondents),
    )
    return ReportSection("difficulty", Text("How hard are the items?"), [finding, *_doubts(study)], commands=commands)


def _harder(groups: Mapping[str, FloatArray]) -> list[str]:
    names = list(groups)
    findings: list[str] = []
    for at, name in enumerate(names):
        for other in names[at + 1 :]:
            share = superiority(groups[name], groups[other])
            if share.value is None or share.low is None or share.high is None:
                continue
            finding = Text(
                "An item of {one} is harder than one of {other} in {share:.1%} of pairs (95 % between {low:.1%} and "
                "{high:.1%}).",
                one=name,
                other=other,
                share=share.value,
                low=share.low,
                high=share.high,
            )
            findings.append(finding)
    return findings[:MOST_PAIRS]


def _abilities(study: IrtStudy, commands: list[str]) -> ReportSection:
    fit = study.fit
    order = np.argsort(-fit.ability, kind="stable")[:MOST_PEOPLE]
    half = 1.96 * fit.ability_error
    answered = np.isfinite(study.responses.correct).sum(axis=1)
    figures = [
        (
            study.responses.respondents[at],
            Estimate(float(fit.ability[at]), float(fit.ability[at] - half[at]), float(fit.ability[at] + half[at])),
            int(answered[at]),
        )
        for at in order.tolist()
    ]
    columns = [Column(Text("Respondent")), Column(Text("Ability"), "parameter")]
    rows: list[list[Cell]] = [[name, _rounded(ability)] for name, ability, _ in figures]
    chart = place_chart(figures[:30], row=Text("Respondent"), value=Text("Ability"))
    apart = _apart(fit.ability, fit.ability_error)
    return ReportSection(
        key="abilities",
        title=Text("How able are the respondents?"),
        findings=[
            Text(
                "Of neighbours in the ranking, {share:.0%} can be told apart: their abilities differ by more than the "
                "errors of both leave open.",
                share=apart,
            )
        ],
        charts=[Chart("abilities-chart", Text("Who is able, and how sure is that?"), chart)],
        tables=[Table("abilities-table", Text("Abilities, with 95 % intervals"), columns, rows)],
        commands=commands,
    )


def _apart(ability: FloatArray, error: FloatArray) -> float:
    order = np.argsort(-ability, kind="stable")
    gap = ability[order][:-1] - ability[order][1:]
    both = np.sqrt(error[order][:-1] ** 2 + error[order][1:] ** 2)
    return float((gap > 1.96 * both).mean()) if len(gap) else 0.0


def _information(study: IrtStudy, commands: list[str]) -> ReportSection:
    fit = study.fit
    points = scale_points(fit)
    information = total_information(fit, points)
    best = float(points[int(information.argmax())])
    shown = study.subset[:6] or np.argsort(-np.nan_to_num(fit.discrimination), kind="stable")[:6].tolist()
    curves = {study.responses.items[at]: fit.chances(points, slice(at, at + 1))[:, 0].tolist() for at in shown}
    titles = (Text("Ability"), Text("Information"), Text("Chance of a right response"))
    charts = [
        Chart(
            "information-chart",
            Text("Where on the scale of ability does the whole tell most?"),
            curve_chart(points.tolist(), {str(Text("all items")): information.tolist()}, x=titles[0], y=titles[1]),
        ),
        Chart(
            "curves-chart",
            Text("How does the chance of a right response rise with ability?"),
            curve_chart(points.tolist(), curves, x=titles[0], y=titles[2], top=1.0),
        ),
    ]
    error = 1 / np.sqrt(float(information.max()) or 1.0)
    findings: list[str] = [
        Text(
            "The items tell most of respondents with an ability of {best:.1f}: there the error is {error:.3f}.",
            best=best,
            error=error,
        )
    ]
    tables = []
    if study.subset:
        at_best = item_information(fit, np.array([best]))[0]
        columns = [
            Column(Text("Item")),
            Column(Text("Discrimination"), "parameter"),
            Column(Text("Difficulty"), "parameter"),
            Column(Text("Information where most is told"), "parameter"),
        ]
        rows: list[list[Cell]] = [
            [study.responses.items[at], *(float(one[at]) for one in (fit.discrimination, fit.difficulty, at_best))]
            for at in study.subset
        ]
        tables.append(Table("subset-table", Text("The items that together tell most"), columns, rows))
    return ReportSection(
        "information", Text("Whom do the items tell apart?"), findings, charts, tables, commands=commands
    )


def _ranking(study: IrtStudy, commands: list[str]) -> ReportSection:
    replay = study.kept()
    words = {
        "adaptive": Text("chosen for each respondent"),
        "fixed": Text("the most informative"),
        "random": Text("at random"),
    }
    findings: list[str] = []
    for way, word in words.items():
        enough = replay.enough[way]
        if enough is None:
            finding = Text("{n} items {way} do not give the ranking of all.", n=replay.asked[-1], way=word)
        else:
            finding = Text("{n} items {way} give nearly the ranking of all (τ at least 0.95).", n=enough, way=word)
        findings.append(finding)
    columns = [Column(Text("Items asked"), "count"), *(Column(word, "parameter") for word in words.values())]
    rows: list[list[Cell]] = [[n, *(replay.tau[way][at] for way in words)] for at, n in enumerate(replay.asked)]
    curves = {str(word): replay.tau[way] for way, word in words.items()}
    chart = curve_chart(replay.asked, curves, x=Text("Items asked"), y=Text("Kendall's τ with all items"), top=1.0)
    return ReportSection(
        key="ranking",
        title=Text("How few items give the same ranking?"),
        findings=findings,
        charts=[Chart("ranking-chart", Text("How soon does the ranking stand?"), chart)],
        tables=[Table("ranking-table", Text("Agreement with the ranking by all items"), columns, rows)],
        commands=commands,
        note=Text(
            "Responses are replayed with items that were estimated from the same respondents; new respondents need "
            "somewhat more."
        ),
    )


def _review(study: IrtStudy, commands: list[str]) -> ReportSection:
    suspects = study.suspicious()
    findings: list[str] = [
        Text.plural(
            "{n} item is right less often the more able the respondent: its label may be wrong.",
            "{n} items are right less often the more able the respondent: their labels may be wrong.",
            n=suspects.height,
        )
        if suspects.height
        else Text("No item is right less often for the able than for the weak beyond what chance does.")
    ]
    columns = [
        Column(Text("Item")),
        Column(Text("z"), "number"),
        Column(Text("Wrong among the strongest third"), "share"),
        Column(Text("Right among the weakest third"), "share"),
    ]
    rows: list[list[Cell]] = [list(row) for row in suspects.head(SHOWN).iter_rows()]
    tables = [Table("review-table", Text("Items to look at"), columns, rows)] if rows else []
    note = Text("Of the items listed, one in twenty is there by chance on average (Benjamini and Hochberg).")
    return ReportSection("review", Text("Which labels want a second look?"), findings, [], tables, commands, note)


def _rounded(figure: Estimate) -> Estimate:
    """Take an estimate without the reason why it has no interval, which tables do not show."""
    return Estimate(figure.value, figure.low, figure.high)
