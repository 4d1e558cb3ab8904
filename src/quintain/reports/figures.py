"""Charts as files for papers: SVG, PNG and PDF, drawn without a browser by what the extra `figures` installs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from quintain.core.errors import Unavailable

ENDINGS = (".svg", ".png", ".pdf")
WIDTH = 480  # points; what fills a page has no page to fill
SCALE = 3  # pixels of a PNG to a point, for print


def draw_figure(spec: Mapping[str, Any], ending: str) -> bytes:
    """Return a Vega-Lite chart as a file that has the *ending*; Unavailable where nothing is there that draws it."""
    try:
        converter: Any = import_module("vl_convert")
    except ImportError as error:
        raise Unavailable(
            "vl-convert-python is not installed, which draws charts as {ending}.",
            ending=ending,
            remedy='Install it with: pip install "quintain[figures]"; or save the chart as .html or .json.',
        ) from error
    sized = {**spec, "width": WIDTH} if spec.get("width") == "container" else dict(spec)
    ways: Mapping[str, Callable[[], bytes]] = {
        ".svg": lambda: str(converter.vegalite_to_svg(sized)).encode("utf-8"),
        ".png": lambda: bytes(converter.vegalite_to_png(sized, scale=SCALE)),
        ".pdf": lambda: bytes(converter.vegalite_to_pdf(sized)),
    }
    return ways[ending]()
