"""How the series of a chart are told apart: one colour and one mark each, and their names at the lines themselves.

Colours are seen on light and on dark ground (at least 3:1 on both), and the first nine marks differ in shape, too, so
that nine series can be told apart in print. People have a colour of their own, which no series has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PEOPLE = "#d98a1f"
GREY = "#7d8797"
COLOURS = ("#4a76d4", "#2f9e77", "#b0558f", "#c04a3f", "#1f93ab", "#8a63d2", "#7f7a2f", GREY)
# Marks as paths in a square from -1 to 1, for pages; charts know most of them by name.
PATHS = {
    "circle": "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
    "diamond": "M0,-1.2L0.95,0L0,1.2L-0.95,0Z",
    "triangle-up": "M0,-1L1.1,0.9L-1.1,0.9Z",
    "cross": "M-1,-0.36H-0.36V-1H0.36V-0.36H1V0.36H0.36V1H-0.36V0.36H-1Z",
    "triangle-down": "M0,1L1.1,-0.9L-1.1,-0.9Z",
    "hourglass": "M-1,-1H1L0.28,0L1,1H-1L-0.28,0Z",
    "triangle-right": "M1,0L-0.9,1.1L-0.9,-1.1Z",
    "star": "M0,-1.2L0.33,-0.38L1.14,-0.37L0.53,0.17L0.71,0.97L0,0.54L-0.71,0.97L-0.53,0.17L-1.14,-0.37L-0.33,-0.38Z",
    "triangle-left": "M-1,0L0.9,-1.1L0.9,1.1Z",
}
OWN = ("hourglass", "star")  # those that charts are told as paths
SHAPES = tuple(PATHS[name] if name in OWN else name for name in PATHS)  # nine: 72 pairs with the eight colours
DASHES = ([1, 0], [6, 3], [2, 3], [8, 3, 2, 3])
LABEL_ROW = 18  # pixels between two names
LONGEST_LABEL = 118  # pixels: a phone has 360
RANGES = {"color": list(COLOURS), "shape": list(SHAPES), "strokeDash": [list(dash) for dash in DASHES]}


@dataclass(frozen=True, slots=True)
class Style:
    """How a model is drawn, on every page of its task."""

    colour: str
    shape: str

    @property
    def path(self) -> str:
        """Return its mark as a path in a square from -1 to 1."""
        return PATHS.get(self.shape, self.shape)


def styles_of(names: Sequence[str]) -> dict[str, Style]:
    """Return the colour and the shape of each model; *names* are all that a reader sees.

    >>> styles_of(["b", "a"])["a"] == styles_of(["a", "b"])["a"]
    True
    """
    return {
        name: Style(COLOURS[place % len(COLOURS)], SHAPES[place % len(SHAPES)])
        for place, name in enumerate(sorted(names))
    }


def by_series(field: str, names: Sequence[str], *channels: str) -> dict[str, Any]:
    """Return the *channels* that tell the series of these *names*, in *field*, apart; without a legend."""
    return {
        channel: {
            "field": field,
            "type": "nominal",
            "scale": {"domain": list(names), "range": RANGES[channel]},
            "legend": None,
        }
        for channel in channels
    }


def label_places(ends: Mapping[str, float], height: float, row: float = LABEL_ROW) -> dict[str, float]:
    """Place names at the ends of lines, each as near to its own end as the others leave it, and at least *row* apart.

    *ends* are in pixels from the top. More names than fit below each other in *height* go on below it.

    >>> label_places({"a": 50, "b": 50, "c": 52}, 300, 18)
    {'a': 32.67, 'b': 50.67, 'c': 68.67}
    """
    blocks: list[tuple[float, list[str]]] = []  # the top of each, and its names from above
    half, bottom = row / 2, max(height, row * len(ends))
    for name, end in sorted(ends.items(), key=lambda item: (item[1], item[0])):
        blocks.append((end - half, [name]))
        while len(blocks) > 1 and blocks[-2][0] + row * len(blocks[-2][1]) > blocks[-1][0]:
            names = blocks[-2][1] + blocks[-1][1]
            del blocks[-2:]
            ideal = sum(ends[one] - half - row * place for place, one in enumerate(names)) / len(names)
            blocks.append((min(max(ideal, 0.0), bottom - row * len(names)), names))
    placed: dict[str, float] = {}
    free = 0.0
    for number, (top, names) in enumerate(blocks):
        below = sum(len(later) for _, later in blocks[number:])
        start = min(max(top, free), bottom - row * below)
        placed |= {name: round(start + half + row * place, 2) for place, name in enumerate(names)}
        free = start + row * len(names)
    return placed


def labels_at_ends(ends: Mapping[str, float], domain: tuple[float, float], height: float) -> dict[str, float]:
    """Place names beside the *ends* of lines, in units of a scale over *domain* that is *height* pixels high."""
    low, high = domain
    span = (high - low) or 1.0
    places = label_places({name: height * (high - value) / span for name, value in ends.items()}, height)
    return {name: round(high - pixel * span / height, 5) for name, pixel in places.items()}


def end_layers(
    ends: Mapping[str, tuple[float, float]], domain: tuple[float, float], height: float, axes: tuple[Any, Any]
) -> list[dict[str, Any]]:
    """Return the layers that write the name of each line in a column at the right, led to from its end.

    *ends* are where lines end, *domain* is what the scale of *y* spans; *axes* are the channels x and y of the lines,
    so that scales are shared. A line that is alone needs no name.
    """
    if len(ends) < 2:
        return []
    places = labels_at_ends({name: end for name, (_, end) in ends.items()}, domain, height)
    rows = [{"name": name, "from": x, "end": y, "label": places[name]} for name, (x, y) in ends.items()]
    across, up = axes
    return [
        {
            "data": {"values": rows},
            "mark": {"type": "rule", "strokeWidth": 1, "strokeDash": [1, 3], "opacity": 0.8},
            "encoding": {
                "x": {**across, "field": "from"},
                "x2": {"value": "width"},
                "y": {**up, "field": "end"},
                "y2": {"field": "label"},
                **by_series("name", list(ends), "color"),
            },
        },
        {
            "data": {"values": rows},
            "mark": {
                "type": "text",
                "align": "left",
                "dx": 5,
                "baseline": "middle",
                "limit": LONGEST_LABEL,
                "clip": False,
            },
            "encoding": {
                "x": {"value": "width"},
                "y": {**up, "field": "label"},
                "text": {"field": "name"},
            },
        },
    ]
