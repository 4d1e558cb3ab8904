"""Figures from few examples, drawn so that nobody reads them as settled: hollow, dashed, and with a line of text.

Every chart of estimates goes through `mark_few` with the number of examples of each of its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.texts import Text

LEAST = 30  # examples; an interval of fewer says little, and neither does the figure in it
GROUND = {"name": "ground", "value": "transparent"}  # pages give the colour of their ground
DASHES = [3, 3]


def is_few(n: int | None) -> bool:
    """Whether a figure of *n* examples is drawn as one of few; one without a number of examples is not.

    >>> is_few(29), is_few(30), is_few(None)
    (True, False, False)
    """
    return n is not None and n < LEAST


def few_text() -> Text:
    """Return the line of text that stands below a chart with such figures."""
    return Text("Hollow or dashed: fewer than {least} examples", least=LEAST)


def count_tooltip(title: str = "n") -> dict[str, Any]:
    """Return the line of a tooltip that says on how many examples a figure rests."""
    return {"field": "n", "type": "quantitative", "title": title, "format": ","}


def mark_few(chart: Mapping[str, Any]) -> dict[str, Any]:
    """Return *chart* with what rests on few examples drawn hollow, its whiskers dashed, and a line on it.

    Each row of its data has `n`, the number of examples, or None where its figure does not come of examples. A chart
    without such rows is drawn as it is.
    """
    rows = [{**row, "few": is_few(row["n"])} for row in chart["data"]["values"]]
    if not any(row["few"] for row in rows):
        return dict(chart)
    names = {name: value for name, value in chart.items() if name != "mark"}
    layers = chart["layer"] if "layer" in chart else [{"mark": chart["mark"]}]
    return {
        **names,
        "data": {"values": rows},
        "params": [*chart.get("params", []), GROUND],
        "encoding": in_order(chart["encoding"], rows),
        "layer": [part for layer in layers for part in few_layers(layer, rows)],
        "title": few_title(few_text()),
    }


def few_title(text: str) -> dict[str, Any]:
    """Return the line of text below a chart."""
    return {
        "text": text,
        "orient": "bottom",
        "anchor": "start",
        "fontSize": 12,
        "fontWeight": "normal",
        "offset": 8,
    }


def few_layers(layer: Mapping[str, Any], rows: Sequence[Mapping[str, Any]] | None = None) -> list[dict[str, Any]]:
    """Return the layers that stand for *layer*: points and bars apart by `few`, rules dashed, all else as it is.

    Where *rows* are given, no layer is made that would stay empty: a scale has nothing to learn from it.
    """
    mark = layer["mark"] if isinstance(layer["mark"], Mapping) else {"type": layer["mark"]}
    encoding = layer.get("encoding", {})
    if rows is not None and encoding:
        encoding = in_order(encoding, rows)
        layer = {**layer, "encoding": encoding}
    if mark["type"] == "rule" and "strokeDash" in mark:  # a line for comparison, no whisker
        return [dict(layer)]
    if mark["type"] == "rule":
        dash = {"condition": {"test": "datum.few", "value": DASHES}, "value": [1, 0]}
        return [{**layer, "encoding": {**encoding, "strokeDash": dash}}]
    if mark["type"] == "line" and mark.get("point"):
        line = {name: value for name, value in mark.items() if name != "point"}
        point = {"type": "point", **(mark["point"] if isinstance(mark["point"], Mapping) else {"filled": True})}
        return [{**layer, "mark": line}, *few_layers({**layer, "mark": point}, rows)]
    if mark["type"] not in ("point", "bar", "rect"):
        return [dict(layer)]
    hollow = {**mark, "filled": False, "fill": {"expr": "ground"}, "strokeWidth": 2, "opacity": 1}
    if "color" in mark:
        hollow = {**hollow, "stroke": mark["color"]}
        del hollow["color"]
    parts = (("!datum.few", mark, False), ("datum.few", hollow, True))
    return [
        {**layer, "transform": [*layer.get("transform", []), {"filter": test}], "mark": drawn}
        for test, drawn, few in parts
        if rows is None or any(row["few"] is few for row in rows)
    ]


def square_texts(text: Mapping[str, Any], dark: float, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the layers that write the *text* of squares: white above *dark*, in ink on hollow ones.

    *rows* are those of the chart, with the field of *text* and `n`.
    """
    light = {"condition": {"test": f"datum.{text['field']} > {dark}", "value": "#ffffff"}, "value": "#18202e"}
    settled = {"mark": {"type": "text"}, "encoding": {"text": dict(text), "color": light}}
    if not any(is_few(row["n"]) for row in rows):
        return [settled]
    hollow = {"mark": {"type": "text"}, "encoding": {"text": dict(text)}}
    return [
        {"transform": [{"filter": test}], **layer} for test, layer in (("!datum.few", settled), ("datum.few", hollow))
    ]


def in_order(encoding: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return *encoding* with names in the order of *rows*: a scale would take the first layer's first."""
    return {
        name: {**channel, "scale": {**channel.get("scale", {}), "domain": _names(channel["field"], rows)}}
        if isinstance(channel, Mapping) and channel.get("sort", ...) is None and channel.get("type") == "nominal"
        else channel
        for name, channel in encoding.items()
    }


def _names(field: str, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    return list(dict.fromkeys(row[field] for row in rows))
