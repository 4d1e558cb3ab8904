"""Languages of the interface: what is not translated says so, what nobody has read is listed, some are partial."""

from __future__ import annotations

from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from quintain.compose import Workspace
from quintain.web import catalogues
from quintain.web.catalogues import languages, read_catalogue, reading
from quintain.web.i18n import Tongue
from quintain.web.untranslated import BEGIN, END, Untranslated, mark_english
from tests.integration.house.test_web_texts import catalogue_script
from tests.web_support import browser_of

PARTIAL = "# covers: workers\n# translated by: machine"


def test_what_is_not_translated_says_that_it_is_english() -> None:
    """In running text it stands in an element with its language; within tags and options it is just itself."""
    texts = Untranslated(Tongue("de"))
    english = texts.gettext("Nobody translated <b>%(name)s</b>.", name="<i>")
    html = f'<p title="{english}">{english}</p><option>{english}</option><script>{english}</script>'
    shown = "Nobody translated <b>&lt;i&gt;</b>."
    assert mark_english(html) == (
        f'<p title="{shown}"><span lang="en" dir="ltr">{BEGIN}</span></p>'.replace(BEGIN, shown)
        + f"<option>{shown}</option><script>{shown}</script>"
    )
    assert BEGIN not in texts.gettext("Search")
    assert END not in Untranslated(Tongue("en")).gettext("Nobody translated this.")
    assert texts.ngettext("%(num)s thing", "%(num)s things", 1200) == f"{BEGIN}1.200 things{END}"


def test_marks_that_do_not_pair_are_taken_away() -> None:
    """Nothing that somebody typed can leave a mark on a page."""
    assert mark_english(f"<p>a{END}b{BEGIN}</p>") == "<p>ab</p>"
    assert mark_english(f"{END}{BEGIN}c{END}") == '<span lang="en" dir="ltr">c</span>'


def test_every_language_says_who_made_it() -> None:
    """Each catalogue tells how it was made; what is read and unread adds up, whatever has been read by now."""
    for code in languages()[1:]:
        state = reading(code)
        assert 0 < state.translated == state.read + len(state.unread)
        assert all(all(entry.texts) for entry in state.unread)


@pytest.mark.parametrize("code", ["ar", "es", "fr", "hi", "pt", "zh"])
def test_workers_pages_speak_the_language(demo: Workspace, code: str) -> None:
    """The page to sign in and the first page have no English text of ours left, in six languages."""
    client = browser_of(demo)
    for address in (f"/login?lang={code}", "/register", "/forgotten", "/", "/search?q=nothing-like-it"):
        page = client.get(address).text
        assert f'<html lang="{code}" dir="{"rtl" if code == "ar" else "ltr"}"' in page
        assert '<span lang="en"' not in page, address
        assert BEGIN not in page


def test_admins_see_what_nobody_has_read(demo: Workspace) -> None:
    """The page counts the unread translations of each language and lists them; nobody else may see it."""
    assert browser_of(demo, "demo-owner").get("/admin/translations").status_code == 403
    page = browser_of(demo, "admin").get("/admin/translations?show=de&q=Skip+to+the+content").text
    assert "Skip to the content" in page
    assert "Zum Inhalt" in page
    assert f"{len(reading('de').unread):,}" in page


def test_a_partial_catalogue_has_the_texts_of_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It must have what stands in their files, may keep what it has beside, and drops what is untranslated or gone."""
    script = catalogue_script()
    every = Catalog()
    every.add("Write", locations=[("web/templates/collect/write.html", 1)])
    every.add("Rank", locations=[("web/templates/board/board.html", 1)])
    every.add("Weigh", locations=[("web/templates/board/board.html", 2)])
    path = tmp_path / "pt" / "LC_MESSAGES" / "messages.po"
    monkeypatch.setattr(script, "LOCALES", tmp_path)
    monkeypatch.setattr(script, "patterns", lambda: ("web/templates/collect/write*.html",))
    monkeypatch.setattr(script, "catalogues", lambda: {"messages.po": every})
    script.begin("pt")
    assert script.problems(path, every) == []  # it may lag behind, but not by much
    monkeypatch.setattr(script, "MAY_WAIT", 0)
    assert script.problems(path, every) == ["not translated: Write"]
    catalogue = read_catalogue(path)
    assert catalogue.header_comment.endswith(PARTIAL)
    catalogue.get("Write").string = "Escrever"  # type: ignore[union-attr] # it is there
    catalogue.add("Rank", "Classificar")
    catalogue.add("Gone", "Foi-se")
    script.write(path, catalogue)
    assert script.problems(path, every) == ["no longer used: Gone"]
    script.update(path, every)
    assert script.problems(path, every) == []
    assert {message.id for message in read_catalogue(path) if message.id} == {"Write", "Rank"}


def test_what_somebody_has_read_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--read` marks what is translated; what is translated later counts as unread again."""
    script = catalogue_script()
    monkeypatch.setattr(script, "LOCALES", tmp_path)
    path = tmp_path / "pt" / "LC_MESSAGES" / "messages.po"
    catalogue = Catalog(locale="pt", header_comment=PARTIAL)
    catalogue.add("Write", "Escrever")
    catalogue.add("Judge", "")
    script.write(path, catalogue)
    script.mark_read("pt")
    catalogue = read_catalogue(path)
    judge, write = catalogue.get("Judge"), catalogue.get("Write")
    assert judge is not None
    assert write is not None
    judge.string = "Julgar"
    assert catalogues.is_unread(catalogue, judge)
    assert not catalogues.is_unread(catalogue, write)


def test_a_number_may_be_said_in_words() -> None:
    """A language with a word for two of a thing need not write the number; all other values must be there."""
    script = catalogue_script()
    one = Catalog(locale="ar")
    message = one.add(("{n} row of {name}", "{n} rows of {name}"), ("",) * 6)
    assert script.fits(message, "صفان من {name}")
    assert not script.fits(message, "صفان")
    assert not script.fits(one.add("{n} of {name}", ""), "{name}")
