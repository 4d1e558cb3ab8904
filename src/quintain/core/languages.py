"""What follows from a language alone: its articles, which do not count where answers are compared as texts."""

from __future__ import annotations

from collections.abc import Mapping

ENGLISH = "en"
# English as SQuAD has it (Rajpurkar et al., 2016), German and Spanish as MLQA (Lewis et al., 2020) has them; French,
# Italian and Portuguese are the closed class of the grammars, without forms that an apostrophe ties to the next word.
# A language that is not named here has no articles, or none that stand as words of their own.
ARTICLES: Mapping[str, frozenset[str]] = {
    "en": frozenset({"a", "an", "the"}),
    "de": frozenset(
        {"ein", "eine", "einen", "einem", "eines", "einer", "der", "die", "das", "den", "dem", "des"},
    ),
    "es": frozenset({"un", "una", "unos", "unas", "el", "la", "los", "las"}),
    "fr": frozenset({"un", "une", "des", "le", "la", "les"}),
    "it": frozenset({"un", "uno", "una", "il", "lo", "la", "i", "gli", "le"}),
    "pt": frozenset({"um", "uma", "uns", "umas", "o", "a", "os", "as"}),
}


def base_language(code: str) -> str:
    """Return a language without its script and country.

    >>> base_language("pt-BR"), base_language("zh_Hant_TW")
    ('pt', 'zh')
    """
    return code.replace("_", "-").partition("-")[0].lower()


def articles_of(code: str) -> frozenset[str]:
    """Return the articles of a language, in lower case.

    >>> sorted(articles_of("en-GB")), articles_of("zh")
    (['a', 'an', 'the'], frozenset())
    """
    return ARTICLES.get(base_language(code), frozenset())
