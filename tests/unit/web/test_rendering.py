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
