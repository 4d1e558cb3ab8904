"""What an analysis found, and how a terminal, a notebook and a program see it."""

from __future__ import annotations

import html
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from quintain.core.errors import BadInput, Unavailable
from quintain.core.records.base import plain
from quintain.core.records.figures import Estimate

WIDTH, ROWS = 88, 10


class Chart:
    """A Vega-Lite chart: *spec* is the specification. JupyterLab and its like draw it; `save` makes a file of it."""

    def __init__(self, spec: Mapping[str, Any], title: str = "") -> None:
        self.spec = dict(spec)
        self.title = title

    def save(self, path: str | Path) -> Path:
        """Write the chart to *path*: `.svg`, `.png` and `.pdf` are figures, `.html` a page, `.json` the specification.

        Figures need what `pip install "quintain[figures]"` installs; Unavailable without it.
        """
        from quintain.reports.figures import ENDINGS, draw_figure

        file = Path(path)
        ending = file.suffix.lower()
        if ending in ENDINGS:
            file.write_bytes(draw_figure(self.spec, ending))
            return file
        written = {".json": lambda: json.dumps(self.spec, ensure_ascii=False), ".html": self.to_html}
        if ending not in written:
            raise BadInput(
                "A chart cannot be saved as {name}.",
                name=file.name,
                remedy="Name a file that ends in .svg, .png or .pdf (a figure), .html (a page that needs nothing else) "
                "or .json (its Vega-Lite specification).",
            )
        file.write_text(written[ending](), "utf-8")
        return file

    def to_html(self) -> str:
        """Return the chart as a page of its own."""
        from quintain.core.records import report
        from quintain.reports.html import to_html

        drawn = report.Chart("chart", self.title, self.spec)
        section = report.ReportSection("chart", self.title, charts=[drawn])
        return to_html(report.Report("chart", self.title, "", [], [section]))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        # A notebook draws what it knows; the width that suits a page has no container there.
        spec = {**self.spec, "width": 480} if self.spec.get("width") == "container" else self.spec
        return {
            "application/vnd.vegalite.v6+json": spec,
            "application/vnd.vegalite.v5+json": {name: value for name, value in spec.items() if name != "$schema"},
            "text/plain": repr(self),
        }

    def __repr__(self) -> str:
        return f"<Chart {self.title!r}; .save('chart.html') writes it to a file>"


class Result(ABC):
    """What an analysis found.

    `table` is its main table, `to_dict()` all of it as plain data (what the command prints with `--json`), and `plot()`
    its chart. In a terminal and in a notebook it shows itself.
    """

    title: ClassVar[str]

    @property
    @abstractmethod
    def table(self) -> pl.DataFrame:
        """The main table, a polars frame."""

    @abstractmethod
    def content(self) -> Mapping[str, Any]:
        """Return all of it, with records and numbers as they are."""

    @abstractmethod
    def chart(self) -> Mapping[str, Any]:
        """Return the specification of its chart."""

    def facts(self) -> Iterator[str]:
        """Return in a few words each what it rests on."""
        yield from ()

    @property
    def notes(self) -> Sequence[str]:
        """What one should know before using it."""
        return tuple(self.content().get("notes", ()))

    @property
    def warnings(self) -> Sequence[str]:
        """What may be a slip in what was given, and would make the figures wrong."""
        return tuple(self.content().get("warnings") or ())

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        data: dict[str, Any] = json.loads(json.dumps(self.content(), default=plain))
        return data

    def to_pandas(self) -> Any:
        """Return the main table as a pandas frame; Unavailable where pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise Unavailable("pandas is not installed.", remedy="Install it with: pip install pandas") from error
        return pandas.DataFrame(self.table.to_dict(as_series=False))

    def plot(self) -> Chart:
        """Return its chart."""
        return Chart(self.chart(), self.title)

    def __repr__(self) -> str:
        with _shown():
            shown = str(self.table)
        more = [f"… {self.table.height:,} rows in .table"] if self.table.height > ROWS else []
        return "\n".join([self._heading(), shown, *more, *self.warnings, *self.notes])

    def _heading(self) -> str:
        facts = ", ".join(self.facts())
        return f"{self.title}: {facts}" if facts else self.title

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in (*self.warnings, *self.notes))
        with _shown():
            table = self.table._repr_html_()
        return f"<p><strong>{html.escape(self._heading())}</strong></p>{table}{notes}"


def _shown() -> pl.Config:
    """Return how tables are shown: narrow enough for a terminal, and nothing that only programs need."""
    return pl.Config(
        tbl_rows=ROWS,
        tbl_width_chars=WIDTH,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_formatting="UTF8_FULL_CONDENSED",
        float_precision=3,
    )


def spread(name: str, estimate: Estimate) -> dict[str, Any]:
    """Return a figure with its interval as the cells of a row."""
    return {"figure": name, "value": estimate.value, "low": estimate.low, "high": estimate.high}
