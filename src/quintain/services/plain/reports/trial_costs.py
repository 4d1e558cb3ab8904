"""What an arm costs for each question that it gives, and where people leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quintain.core.records.report import Cell, Column, ReportSection, Table
from quintain.core.records.trial import JudgingCosts
from quintain.core.rounds import MINOR_DIGITS
from quintain.core.texts import Text
from quintain.data.trials import ArmFacts, TrialArm
from quintain.protocols.reading import shipped


def cost_section(
    arms: Sequence[TrialArm], kept_items: Mapping[str, float], judging: JudgingCosts | None = None
) -> ReportSection | None:
    """Return what a question costs in each arm: in the final round alone, with training, with experts' time.

    Experts' time is left out where it does not count. Where no amounts are known, and the arm is called like a protocol
    that ships, it is what that protocol pays.
    """
    rows: list[list[Cell]] = []
    findings: list[str] = []
    for arm in arms:
        row = _paid(arm, kept_items.get(arm.name, 0.0)) if arm.facts is not None and arm.facts.paid else _nominal(arm)
        if row is not None:
            rows.append(row)
            findings.append(
                Text("{arm}: {cost} for a question of the final round.", arm=arm.name, cost=f"{row[2]:.2f} {row[1]}")
            )
    if not rows:
        return None
    columns = [
        Column(Text("Arm")),
        Column(Text("Currency")),
        Column(Text("a question of the final round"), "parameter"),
        Column(Text("with training"), "parameter"),
        Column(Text("with experts’ time"), "parameter"),
        Column(Text("for a question that was kept"), "parameter"),
        Column(Text("hours of experts"), "number"),
        Column(Text("paid in all"), "number"),
    ]
    return ReportSection(
        "costs",
        Text("What does a question cost?"),
        findings,
        tables=[
            Table(
                "costs",
                Text("Cost of a question"),
                columns,
                rows,
                Text("Without fees of a panel, and without the judging, which is the same for all arms."),
            ),
            *([_judging(judging)] if judging is not None and judging.total.amount else []),
        ],
    )


def _judging(costs: JudgingCosts) -> Table:
    rows: list[list[Cell]] = [
        [Text("pages of judgements"), str(costs.pages)],
        [Text("known items that were judged right"), str(costs.bonuses)],
        [Text("the entry quiz"), str(costs.quizzes)],
        [Text("in all"), str(costs.total)],
    ]
    columns = [Column(Text("What")), Column(Text("paid"))]
    return Table("judging", Text("Cost of the judging, of all arms together"), columns, rows)


def attrition_section(arms: Sequence[TrialArm]) -> ReportSection | None:
    """Return how many people came to each stage."""
    rows: list[list[Cell]] = []
    for arm in arms:
        came = arm.facts.came if arm.facts is not None else {}
        first = next(iter(came.values()), 0)
        rows += [[arm.name, stage, count, count / first if first else None] for stage, count in came.items()]
    if not rows:
        return None
    columns = [
        Column(Text("Arm")),
        Column(Text("Stage")),
        Column(Text("People"), "count"),
        Column(Text("of those who began"), "share"),
    ]
    return ReportSection(
        "attrition",
        Text("Where do people leave?"),
        tables=[Table("attrition", Text("People at each stage"), columns, rows)],
    )


def _paid(arm: TrialArm, kept_items: float) -> list[Cell] | None:
    facts = arm.facts or ArmFacts()
    items = len(arm.items)
    if not items:
        return None
    unit = 10 ** MINOR_DIGITS.get(facts.currency, 2)
    paid = sum(facts.paid.values())
    return [
        arm.name,
        facts.currency,
        facts.paid.get(facts.final, 0) / items / unit,
        paid / items / unit,
        (paid + facts.expert_cost) / items / unit,
        (paid + facts.expert_cost) / kept_items / unit if kept_items else None,
        facts.expert_hours,
        paid / unit,
    ]


def _nominal(arm: TrialArm) -> list[Cell] | None:
    protocol = shipped().get(arm.name)
    if protocol is None:
        return None
    unit = 10 ** MINOR_DIGITS.get(protocol.currency, 2)
    each = protocol.data.item_pay / unit
    alone = all(stage.kind in {"entry", "writing"} for stage in protocol.stages)
    return [arm.name, protocol.currency, each, each if alone else None, each if alone else None, None, None, None]
