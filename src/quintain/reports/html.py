"""A report as one HTML file that needs nothing else: styles, scripts and data are in it, and it asks no network.

`body_of` gives what is between the tags, in the markup of our pages, so that a page shows the same report.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup

from quintain.core.escaping import visible
from quintain.core.records.report import Report
from quintain.reports.words import Wording

if TYPE_CHECKING:
    from jinja2 import Environment

LIBRARIES = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js")


def to_html(report: Report, wording: Wording | None = None, *, language: str = "en") -> str:
    """Write *report* as a file of its own."""
    page = _templates().get_template("report.html")
    # An unlikely `</script` within a script would end it.
    scripts = [Markup(_asset(name).replace("</script", r"<\/script")) for name in _scripts()]  # noqa: S704 - our own files
    style = Markup(files("quintain.reports").joinpath("report.css").read_text("utf-8"))  # noqa: S704
    return page.render(
        report=report,
        body=body_of(report, wording),
        language=language,
        style=style,
        scripts=scripts if any(section.charts for section in report.sections) else [],
    )


def body_of(report: Report, wording: Wording | None = None) -> Markup:
    """Return the sections of *report* in the markup of our pages; charts are drawn by a script of the page."""
    body = _templates().get_template("body.html").render(report=report, wording=wording or Wording())
    return Markup(body)  # noqa: S704 - a template of ours, which escapes


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # not every command that can write a report does

    environment = Environment(
        loader=PackageLoader("quintain.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters["spec"] = lambda chart: json.dumps(chart, ensure_ascii=False, separators=(",", ":"))
    return environment


def _visible(value: object) -> object:
    """Mark what would turn the direction of a page in texts that people wrote; our own scripts stay as they are."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _scripts() -> tuple[str, ...]:
    return (*(f"web/static/vendor/{name}" for name in LIBRARIES), "reports/draw.js")


@cache
def _asset(path: str) -> str:
    """Read a script of ours, or one of others that lies among our pages' files."""
    return files("quintain").joinpath(path).read_text("utf-8")
