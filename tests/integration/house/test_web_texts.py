"""Languages, Markdown, charts and vendored files."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.compose import Workspace
from quintain.core.rounds import Money
from quintain.reports.charts import bar_chart
from quintain.web.i18n import LOCALES, Tongue, choose_language, in_language, languages
from quintain.web.markdown import render_markdown
from quintain.web.static_files import STATIC
from tests.web_support import browser_of, post

SCRIPTS = Path(__file__).parent.parent.parent.parent / "scripts"


@cache
def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def catalogue_script() -> ModuleType:
    """Return the script that keeps the catalogues."""
    return _script("catalogue")


def test_vendored_files_are_those_of_the_manifest() -> None:
    """Every vendored file is there, with its licence, and has the hash that the manifest gives."""
    assert _script("vendor_assets").check() == []
    manifest = json.loads((STATIC / "vendor" / "manifest.json").read_text())
    for asset in manifest["assets"]:
        assert (STATIC / "vendor" / asset["licence_file"]).exists()
        assert asset["version"]
        assert asset["licence"]


def test_catalogues_are_complete_and_in_step() -> None:
    """Every text of templates and pages, and every text that is raised, is translated, and nothing else is there.

    A catalogue of workers' texts has all of those, and beside them only what is translated.
    """
    script = _script("catalogue")
    for name, wanted in script.catalogues().items():
        for folder in LOCALES.glob("*/LC_MESSAGES"):
            assert script.problems(folder / name, wanted) == []


def test_every_text_is_a_template_and_its_values() -> None:
    """Nowhere is a finished text given for a template, and each template has the values that it asks for."""
    script = _script("catalogue")
    assert [slip for path in sorted(script.SOURCE.rglob("*.py")) for slip in script.slips(path)] == []


def test_the_language_follows_account_then_cookie_then_browser() -> None:
    """The account's wish beats the cookie's, which beats the browser's; English is what remains."""
    assert choose_language("de", "en", "en") == "de"
    assert choose_language(None, "de", "en") == "de"
    assert choose_language(None, None, "it;q=0.9, de-CH;q=0.8, en;q=0.1") == "de"
    assert choose_language(None, None, "it") == "en"
    assert choose_language(None, None, "zh-TW, zh;q=0.9") == "zh"
    assert choose_language("pt-BR", None, None) == "pt"
    assert choose_language("xx", "", None) == "en"
    assert choose_language("de-AT", None, None) == "de"


def test_a_link_beats_them_all() -> None:
    """Who sends a link may know in which language it will be read; a language that we do not speak changes nothing."""
    assert choose_language("en", "en", "en", link="de") == "de"
    assert choose_language("de", None, None, link="tlh") == "de"


def test_a_link_in_a_language_is_remembered(demo: Workspace) -> None:
    """Whoever comes by `?lang=de` goes on in German, page after page, until they choose another language."""
    client = browser_of(demo)
    assert '<html lang="de" dir="ltr"' in client.get("/login?lang=de").text
    assert '<html lang="de"' in client.get("/register").text
    assert '<html lang="de"' in client.get("/?lang=tlh").text
    assert post(client, "/", "/language", language="en", next="/").status_code == 303
    assert '<html lang="en"' in client.get("/").text


@given(st.text(max_size=200))
def test_any_header_gives_a_language(header: str) -> None:
    """Whatever a browser sends, there is an answer in a language that we speak."""
    assert choose_language(None, None, header) in languages()


def test_pages_speak_german(demo: Workspace) -> None:
    """A German browser gets German pages; choosing English in the footer is remembered."""
    client = browser_of(demo)
    client.headers["accept-language"] = "de-DE,de;q=0.9"
    german = client.get("/")
    assert "Aufgaben" in german.text
    assert '<html lang="de"' in german.text
    assert "1–20 von" in client.get("/tasks/sentiment/data/train").text
    assert post(client, "/", "/language", language="en", next="/").status_code == 303
    assert '<html lang="en"' in client.get("/").text
    assert post(client, "/", "/language", language="tlh").status_code == 422


def test_a_task_is_shown_in_the_readers_language() -> None:
    """Titles and instructions come in the reader's language, else in the task's own."""
    assert in_language({"en": "Mood", "de": "Stimmung"}, "de") == "Stimmung"
    assert in_language({"fr": "Humeur"}, "de", ("fr",)) == "Humeur"
    assert in_language({}, "de") == ""


def test_numbers_and_dates_are_written_as_readers_do() -> None:
    """Separators and percentages follow the language."""
    assert Tongue("en").number(1234567) == "1,234,567"
    assert Tongue("de").number(1234567) == "1.234.567"
    assert Tongue("en").percent(0.1234) == "12.3%"
    assert Tongue("de").percent(0.1234) == "12,3\u00a0%"
    assert Tongue("de").money(Money(30, "EUR")) == "0,30\u00a0€"
    assert Tongue("de").money(Money(-120050, "EUR")) == "\u22121.200,50\u00a0€"
    assert Tongue("de").money(Money(1250, "KRW")) == "1.250\u00a0₩"
    assert Tongue("en").money(Money(120050, "EUR")) == "1,200.50 EUR"
    assert Tongue("pt").money(Money(30, "BRL")) == "R$\u00a00,30"
    assert Tongue("hi").number(1234567) == "12,34,567"
    assert Tongue("zh").money(Money(1200, "CNY")) == "¥12.00"
    assert (Tongue("ar").direction, Tongue("hi").direction) == ("rtl", "ltr")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "![x](https://elsewhere.example/x.png)",
        '<img src=x onerror="alert(1)">',
        "[x](data:text/html;base64,xxxx)",
    ],
)
def test_markdown_can_do_no_harm(text: str) -> None:
    """Raw HTML is text, pictures and dangerous links do not come through."""
    html = str(render_markdown(text))
    for forbidden in ("<script", "<img", 'href="javascript', 'href="data'):
        assert forbidden not in html


@given(st.text(max_size=300))
def test_markdown_takes_any_text(text: str) -> None:
    """Nothing that can be typed breaks the page or brings a script."""
    assert "<script" not in render_markdown(text)


def test_headings_stay_below_the_page_title() -> None:
    """A page keeps its one h1."""
    assert "<h2>Title</h2>" in render_markdown("# Title")
    assert "<h1" not in render_markdown("# Title")


def test_a_bar_chart_is_data() -> None:
    """The chart holds the counts in the order given, with their shares, and nothing from elsewhere."""
    chart = bar_chart({"positive": 3, "negative": 1}, category="Label", value="Examples")
    assert [row["name"] for row in chart["data"]["values"]] == ["positive", "negative"]
    assert chart["data"]["values"][0]["share"] == 0.75
    assert chart["encoding"]["y"]["sort"] is None
    assert "url" not in json.dumps(chart["data"])
