"""The chart of costs: what a text cost in each round, by what it was paid for."""

from __future__ import annotations

from typing import Any

from quintain.core.records.pay import CostReport
from quintain.core.rounds import MINOR_DIGITS
from quintain.reports.charts import ROW_HEIGHT, SCHEMA
from quintain.reports.series import COLOURS
from quintain.web.visit import Visit


def cost_chart(visit: Visit, report: CostReport) -> dict[str, Any] | None:
    """Draw what a text of each round cost, as bars of base pay, bonuses and experts; None where nothing has."""
    _ = visit.tongue.gettext
    kinds = [_("base pay"), _("bonus"), _("experts")]
    digits = 10 ** MINOR_DIGITS.get(report.currency, 2)
    rows = [
        {"round": group.name, "kind": kind, "order": place, "cost": amount.amount / digits / group.texts}
        for group in report.groups
        if group.texts and group.total.amount
        for place, (kind, amount) in enumerate(zip(kinds, (group.base, group.bonus, group.expert), strict=True))
    ]
    if not rows:
        return None
    title = _("%(currency)s for a text", currency=report.currency)
    return {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": ROW_HEIGHT * len({row["round"] for row in rows}),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "mark": {"type": "bar"},
        "encoding": {
            "y": {
                "field": "round",
                "type": "nominal",
                "sort": None,
                "title": None,
                "axis": {"ticks": False, "domain": False, "labelPadding": 10},
            },
            "x": {"field": "cost", "type": "quantitative", "title": title, "axis": {"tickCount": 5}},
            "color": {
                "field": "kind",
                "type": "nominal",
                "title": None,
                "sort": kinds,
                "scale": {"domain": kinds, "range": COLOURS[: len(kinds)]},
                "legend": {"orient": "top"},
            },
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [
                {"field": "round", "type": "nominal", "title": _("Round")},
                {"field": "kind", "type": "nominal", "title": _("Kind")},
                {"field": "cost", "type": "quantitative", "title": title, "format": ".2f"},
            ],
        },
    }
