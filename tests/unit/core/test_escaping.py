"""Stored texts in what something else interprets: Markdown, LaTeX, pages, and JSON from outside."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.escaping import OVERRIDES, latex, markdown, markdown_block, markdown_code, visible
from quintain.web.markdown import render_markdown
from quintain.web.rendering import mark_overrides
from tests.conftest import ROOT
from tests.properties import examples

SOURCE = ROOT / "src" / "quintain"
# Where JSON is read that we wrote ourselves a moment or a day before, or that a sandbox sends over its own pipe.
OUR_OWN = {
    "services/access/concealing.py",
    "services/collect/rounds/prompts.py",
    "store/migrations/versions/0052_provenance.py",
    "adapters/reply_store.py",
    "core/jsontext.py",
    "core/untrusted.py",
    "core/records/base.py",
    "engine/guest/main.py",
    "engine/sandbox/layers.py",
    "library/results.py",
    "reports/plain.py",
    "services/access/signing.py",
    "services/board/materialised.py",
    "services/board/snapshots.py",
    "services/contest/figures.py",
    "services/contrast/results.py",
    "services/evaluate/cells/recount.py",
    "services/evaluate/training/trainings.py",
    "services/house/backup_file.py",
    "services/house/demo.py",
    "services/jobs/checking.py",
    "services/jobs/figures.py",
    "services/plain/files/checkpoints.py",
    "services/release/release_jobs.py",
    "services/release/releases.py",
    "services/release/already_public.py",
    "services/study/coding_figures.py",
    "services/study/study_jobs.py",
    "services/validate/quality/validation_figures.py",
    "simulate/contest.py",
    "simulate/handwritten.py",
    "store/migrations/versions/0010_what_scores.py",
}


@settings(max_examples=examples(200), deadline=None)
@given(st.text(alphabet=st.sampled_from("ab<>&;lt#/*_`[]()|\\~\u202e\n\"'= 1"), max_size=40))
def test_markdown_shows_a_text_and_runs_none(text: str) -> None:
    """Rendered, an escaped text is one line without tags, links, code or overrides of direction."""
    page = render_markdown(f"# {markdown(text)}")
    assert not re.search(r"<(?!/?(h[1-6]|p)\b)", str(page))
    assert not set(OVERRIDES) & set(markdown(text))
    assert "\n" not in markdown(text)


def test_each_format_has_its_escapes() -> None:
    """Entities stay what they were, a quotation stays one, a block of code ends where it should, LaTeX runs nothing."""
    assert markdown("&lt; <b>") == "&amp;lt; &lt;b&gt;"
    assert markdown_block("> said\n<script>") == "> said\n&lt;script&gt;"
    assert markdown_code("a\n```\n<b>") == "````\na\n```\n<b>\n````"
    assert latex(r"\input{x} <a>") == r"\textbackslash{}input\{x\} $<$a$>$"
    assert visible("".join(OVERRIDES)) == "�" * len(OVERRIDES)


def test_pages_mark_overrides_but_not_in_forms() -> None:
    """On a page an override of direction is seen; what is to be changed in a form stays as it was stored."""
    page = "<p title='\u202ea'>\u202eb</p><textarea>\u202ec</textarea><input value='\u202ed'>\u2066"
    assert mark_overrides(page) == "<p title='�a'>�b</p><textarea>\u202ec</textarea><input value='\u202ed'>�"


def test_json_from_outside_is_read_within_bounds() -> None:
    """`json.loads` stands only where we wrote the text ourselves; all else goes through a reader with bounds."""
    readers = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_reading = isinstance(node, ast.Attribute) and node.attr in {"loads", "load"}
            if is_reading and getattr(node.value, "id", "") == "json":
                readers.add(path.relative_to(SOURCE).as_posix())
    assert readers - OUR_OWN == set()


@pytest.mark.parametrize("path", ["services/release", "data/publish", "reports"])
def test_markdown_files_begin_no_html(path: str) -> None:
    """No module that writes Markdown for others writes a tag of its own: there is nothing to let through."""
    texts = [one.read_text(encoding="utf-8") for one in (SOURCE / path).glob("*m*rk*d*wn*.py")]
    texts += [one.read_text(encoding="utf-8") for one in (SOURCE / path).glob("card.py")]
    assert texts
    assert not [text for text in texts if re.search(r"\"<[a-z]+>", text)]
