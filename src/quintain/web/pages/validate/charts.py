"""Charts of a validation: how agreement went over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quintain.core.records.validate import ReviewedAgreement
from quintain.reports.charts import SCHEMA
from quintain.reports.few import mark_few


def agreement_chart(
    reviews: Sequence[ReviewedAgreement], *, judgements: str, agreement: str, moment: str
) -> dict[str, Any]:
    """Draw the agreement with the others that each review found, over the judgements that there were by then."""
    rows = [
        {
            "judgements": review.judgements,
            "agreement": review.agreement,
            "at": review.at.isoformat(),
            "n": review.judgements,
        }
        for review in reviews
        if review.agreement is not None
    ]
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 180,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "mark": {"type": "line", "point": {"filled": True, "size": 60}},
        "encoding": {
            "x": {
                "field": "judgements",
                "type": "quantitative",
                "title": judgements,
                "axis": {"format": ",", "tickMinStep": 1},
            },
            "y": {
                "field": "agreement",
                "type": "quantitative",
                "title": agreement,
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".0%", "tickCount": 5},
            },
            "tooltip": [
                {"field": "judgements", "type": "quantitative", "title": judgements, "format": ","},
                {"field": "agreement", "type": "quantitative", "title": agreement, "format": ".1%"},
                {"field": "at", "type": "temporal", "title": moment, "format": "%Y-%m-%d %H:%M"},
            ],
        },
    }
    return mark_few(chart)
