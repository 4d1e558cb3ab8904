"""Templates are compiled once, and speak every language."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from jinja2 import DictLoader

from quintain.web import rendering


def test_only_the_first_language_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a template was compiled to serves the second language, with the words of that one."""
    monkeypatch.setattr(rendering, "COMPILED", rendering.Compiled())
    english, german = (rendering.environment.__wrapped__(language) for language in ("en", "de"))
    english.loader = german.loader = DictLoader({"next.html": "{{ _('Next') }}"})
    compiling = Mock(wraps=german.compile)
    monkeypatch.setattr(german, "compile", compiling)
    assert english.get_template("next.html").render() == "Next"
    assert german.get_template("next.html").render() == "Weiter"
    assert not compiling.called


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        (0.0113, "0.011", "0,011"),
        (0.00042, "0.00042", "0,00042"),
        (0.0, "0", "0"),
        (0.517, "0.52", "0,52"),
        (87.68, "87.7", "87,7"),
        (1719.15, "1,719", "1.719"),
    ],
)
def test_a_figure_that_is_not_nothing_is_not_shown_as_0(value: float, english: str, german: str) -> None:
    """The board, also without a script, and the list of models show small memory with two digits that count."""
    assert (rendering.Tongue("en").short_figure(value), rendering.Tongue("de").short_figure(value)) == (english, german)
