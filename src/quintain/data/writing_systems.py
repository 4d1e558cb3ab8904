"""In which scripts a language is written, and whether texts are in them: a light check, not a detector of languages.

Which script a language has is told by Unicode's likely subtags (CLDR), which Babel brings. Texts in another script are
told surely; among languages in the Latin script, those that `data.languages` knows by their small words are told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl
from babel.core import get_global

from quintain.core.languages import base_language
from quintain.core.texts import Text
from quintain.data.languages import LANGUAGES, languages_of

# ISO 15924 codes of the scripts that are checked, and what Unicode calls the letters of each.
_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "Arab": ("Arabic",), "Armn": ("Armenian",), "Beng": ("Bengali",), "Cyrl": ("Cyrillic",), "Deva": ("Devanagari",),
    "Ethi": ("Ethiopic",), "Geor": ("Georgian",), "Grek": ("Greek",), "Gujr": ("Gujarati",), "Guru": ("Gurmukhi",),
    "Hans": ("Han", "Bopomofo"), "Hant": ("Han", "Bopomofo"), "Hebr": ("Hebrew",),
    "Jpan": ("Han", "Hiragana", "Katakana"), "Khmr": ("Khmer",), "Knda": ("Kannada",), "Kore": ("Hangul", "Han"),
    "Laoo": ("Lao",), "Latn": ("Latin",), "Mlym": ("Malayalam",), "Mymr": ("Myanmar",), "Orya": ("Oriya",),
    "Sinh": ("Sinhala",), "Taml": ("Tamil",), "Telu": ("Telugu",), "Thai": ("Thai",), "Tibt": ("Tibetan",),
}  # fmt: skip
_LEAST_TOLD = 20  # texts whose language is told by small words, below which nothing is said of it
_MOSTLY = 0.5
_SAMPLE = 1_000


def scripts_of(language: str) -> tuple[str, ...]:
    """Return the scripts that a language is written in, by their Unicode names; none where that is not known.

    >>> scripts_of("ja"), scripts_of("sr-Latn"), scripts_of("en-GB"), scripts_of("tlh")
    (('Han', 'Hiragana', 'Katakana'), ('Latin',), ('Latin',), ())
    """
    base, *others = language.replace("_", "-").split("-")
    named = [part.title() for part in others if len(part) == 4]
    likely = [part for part in str(get_global("likely_subtags").get(base.lower(), "")).split("_") if len(part) == 4]
    return _SCRIPTS.get(next(iter(named + likely), ""), ())


def guess_language(texts: pl.Series) -> str:
    """Return the language that most *texts* are probably in, by script and small words; nothing where it is not clear.

    Of the languages of a script that is not Latin it is the likeliest by CLDR.

    >>> guess_language(pl.Series(["Die Suppe war kalt.", "Das Essen ist gut und nicht teuer."]))
    'de'
    >>> guess_language(pl.Series(["Суп был холодный."])), guess_language(pl.Series(["スープは冷たかった。"]))
    ('ru', 'ja')
    """
    letters = int(texts.str.count_matches(r"\p{L}").sum())
    counts = {code: int(texts.str.count_matches(_any_of(names)).sum()) for code, names in _SCRIPTS.items()}
    script = max(counts, key=lambda code: (counts[code], -len(_SCRIPTS[code])))
    if not letters or counts[script] <= _MOSTLY * letters:
        return ""
    if script != "Latn":
        return str(get_global("likely_subtags").get(f"und_{script}", "")).partition("_")[0]
    counted = Counter(languages_of(texts, pl.Series(range(len(texts)))).drop_nulls().to_list())
    language, number = next(iter(counted.most_common(1)), ("", 0))
    return language if number > _MOSTLY * counted.total() else ""


@dataclass(slots=True)
class LanguageCheck:
    """Counts texts that are not in *language*, part after part; `hint` says what came of it."""

    language: str
    texts: int = 0
    foreign: int = 0
    scripts: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)

    def add(self, texts: pl.Series) -> None:
        """Count the letters of *texts* by script, and look for small words in the first ones."""
        expected = scripts_of(self.language)
        texts = texts.drop_nulls()
        if not expected or not len(texts):
            return
        if base_language(self.language) in LANGUAGES and self.texts < _SAMPLE:
            sample = texts.head(_SAMPLE - self.texts)
            self.told.update(languages_of(sample, pl.Series(range(len(sample)))).drop_nulls().to_list())
        self.texts += len(texts)
        letters = texts.str.count_matches(r"\p{L}")
        elsewhere = texts.filter((texts.str.count_matches(_any_of(expected)) < _MOSTLY * letters) & (letters > 0))
        self.foreign += len(elsewhere)
        for script in {name for names in _SCRIPTS.values() for name in names}.difference(expected):
            if number := int(elsewhere.str.count_matches(_any_of((script,))).sum()):
                self.scripts[script] += number

    def hint(self) -> Text | None:
        """Return what an importer should know, or nothing."""
        if self.foreign:
            return Text.plural(
                "{n} of {texts} texts is not in the script of its language, '{language}': most such letters are "
                "{script}. Check the language of the data and of the task.",
                "{n} of {texts} texts are not in the script of their language, '{language}': most such letters are "
                "{script}. Check the language of the data and of the task.",
                n=self.foreign,
                texts=self.texts,
                language=self.language,
                script=max(self.scripts, key=lambda name: self.scripts[name], default=Text("of another script")),
            )
        others = {name: number for name, number in self.told.items() if name != base_language(self.language)}
        if self.told.total() >= _LEAST_TOLD and sum(others.values()) > _MOSTLY * self.told.total():
            return Text(
                "By their small words most texts are in '{other}', and the language is said to be '{language}'. Check "
                "the language of the data and of the task.",
                other=max(others, key=lambda name: others[name]),
                language=self.language,
            )
        return None


def _any_of(scripts: tuple[str, ...]) -> str:
    return "[" + "".join(rf"\p{{Script={script}}}" for script in scripts) + "]"
