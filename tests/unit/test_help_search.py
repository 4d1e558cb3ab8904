"""The search in the help: what is found, how it is ranked and shown."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from quintain.web.help_pages import help_page
from quintain.web.help_search import MOST_SECTIONS, search_help


@pytest.mark.parametrize("theirs", ["leaderboard", "overlap", "ground truth", "annotator", "annotation"])
def test_words_of_other_tools_lead_to_ours(theirs: str) -> None:
    """What Dynabench, Label Studio and Inspect call by other names is found by those names."""
    assert "/help/concepts#the-same-by-other-names" in [hit.url for hit in search_help(theirs)]


def test_a_heading_comes_before_a_mention() -> None:
    """A section whose heading has the words comes first, and its address is that of the heading on its page."""
    first = search_help("agreement")[0]
    page, _, anchor = first.url.partition("#")
    assert "<mark>" in first.title
    assert f'id="{anchor}"' in help_page(page.removeprefix("/help/")).html


def test_forms_of_a_word_are_one_word() -> None:
    """Plural and singular, and words in capitals, give the same sections."""
    assert [hit.url for hit in search_help("Payouts")] == [hit.url for hit in search_help("payout")]


def test_every_word_has_to_stand_there_and_lists_end() -> None:
    """A word that is nowhere finds nothing, a common one no more than a page of sections, and no word nothing."""
    assert search_help("board zzyzx") == []
    assert len(search_help("board")) == MOST_SECTIONS
    assert search_help("  …") == []


def test_excerpts_are_text() -> None:
    """What stands in the help as an example of markup is shown, and not run."""
    for hit in search_help("html"):
        assert isinstance(hit.excerpt, Markup)
        assert "<" not in hit.excerpt.replace("<mark>", "").replace("</mark>", "")
