"""Answers compared as texts: exact match and token F1 as SQuAD defines them, and ROUGE-L (Lin, 2004).

For SQuAD (Rajpurkar et al., 2016) case, punctuation, English articles and white space do not count. In other languages
their own articles do not, nor does any punctuation, and a character of a script without spaces is a word, as MLQA
(Lewis et al., 2020) counts. Where there are several right answers, the one nearest to the prediction does. An answer
without a word in it ("no answer") is right only against another such.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from rapidfuzz.distance import LCSseq

from quintain.core.languages import ENGLISH, articles_of, base_language
from quintain.core.words import ALONE, CHARACTER, composed, find_all, replace_all, words

_WORD = re.compile(r"[a-z0-9]+")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CHUNK = rf"{CHARACTER}|[\P{{White_Space}}--{ALONE}]+"
# SQuAD leaves typographic signs in English, such as dashes and curly quotation marks; those of other scripts go.
_MARKS = r"\p{P}"
_FOREIGN_MARKS = r"[\p{P}--[\u0000-\u00ff\u2000-\u206f]]"
_LATIN, _OTHER = r"[\p{L}&&\p{Script=Latin}]", r"[\p{L}--\p{Script=Latin}]"


def normalise(text: str, language: str = ENGLISH) -> str:
    """Leave of *text*, which is in *language*, what counts in a comparison.

    >>> normalise("The  Eiffel-Tower, Paris."), normalise("an der Spree.", "de"), normalise("200元。", "zh")
    ('eiffeltower paris', 'an spree', '200 元')
    """
    return " ".join(_counted(text, language))


def exact_match(prediction: str, references: Iterable[str], language: str = ENGLISH) -> bool:
    """Whether *prediction* is one of *references* after normalisation; no references mean "no answer"."""
    predicted = _counted(prediction, language)
    return any(predicted == _counted(reference, language) for reference in _or_none(references))


def token_f1(prediction: str, references: Iterable[str], language: str = ENGLISH) -> float:
    """Return the best token F1 of *prediction* against *references*; no references mean "no answer".

    >>> token_f1("the tower in Paris", ["Eiffel Tower", "a tower of Paris"])
    0.6666666666666666
    """
    predicted = _counted(prediction, language)
    return max(_f1(predicted, _counted(reference, language)) for reference in _or_none(references))


def rouge_l(prediction: str, references: Iterable[str], language: str = ENGLISH) -> float:
    """Return the best ROUGE-L F1 of *prediction* against *references*, without stemming, as rouge-score does.

    It is the longest common subsequence of words as a share of both texts. rouge-score knows the letters a to z and
    digits only: that is right for English, and elsewhere, or where a reference is in another script, all words count.

    >>> rouge_l("the cat sat", ["the cat was sitting", "the dog"])
    0.5714285714285714
    """
    scores = []
    for reference in references:
        cut = _ascii_words if base_language(language) == ENGLISH and _is_latin(reference) else _all_words
        scores.append(_share(cut(prediction), cut(reference)))
    return max(scores, default=0.0)


def bleu_tokeniser(references: Iterable[str]) -> str:
    """Name sacrebleu's tokeniser for *references*: its default, 13a, where their script has the signs of English.

    Chinese is cut as sacrebleu has it (`zh`), other scripts without spaces by `char`; where signs are others, such as
    `؟` and `।`, `intl` tells them by their Unicode category. The script that most letters are in decides.

    >>> bleu_tokeniser(["It is late."]), bleu_tokeniser(["他迟到了。"]), bleu_tokeniser(["वह देर से आया।"])
    ('13a', 'zh', 'intl')
    """
    sample = "".join(references)
    if sample.isascii():
        return "13a"
    letters = len(find_all(r"\p{L}", sample))
    if 2 * len(find_all(r"[\p{L}&&[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]]", sample)) >= letters:
        return "13a"
    alone = len(find_all(CHARACTER, sample))
    if 2 * alone < letters:
        return "intl"
    return "zh" if len(find_all(r"\p{Script=Han}", sample)) > 0.9 * alone else "char"


def without_signs(text: str, language: str) -> str:
    """Leave out punctuation: in English that of ASCII, as SQuAD does, and of other scripts; elsewhere all there is."""
    bare = text.translate(_NO_PUNCTUATION)
    if bare.isascii():
        return bare
    return replace_all(_FOREIGN_MARKS if base_language(language) == ENGLISH else _MARKS, "", bare)


def counted_words(text: str, language: str) -> list[str]:
    """List the chunks of *text* between spaces; characters of scripts without spaces and no articles of *language*."""
    rule = _article_rule(base_language(language))
    left = text if rule is None else rule.sub(" ", text)
    # A Chinese name in an English answer is one word to SQuAD; a text that is mostly Chinese is cut by characters.
    as_squad = left.isascii() or (base_language(language) == ENGLISH and _is_latin(left))
    return left.split() if as_squad else find_all(_CHUNK, left)


@cache
def _article_rule(language: str) -> re.Pattern[str] | None:
    articles = articles_of(language)
    return re.compile(rf"\b(?:{'|'.join(sorted(articles))})\b") if articles else None


def _counted(text: str, language: str) -> list[str]:
    return counted_words(without_signs(composed(text).lower(), language), language)


def _ascii_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _all_words(text: str) -> list[str]:
    return words(composed(text.lower()))


def _is_latin(text: str) -> bool:
    return text.isascii() or len(find_all(_LATIN, text)) >= len(find_all(_OTHER, text))


def _share(predicted: Sequence[str], right: Sequence[str]) -> float:
    if not predicted or not right:
        return 0.0
    return 2 * LCSseq.similarity(predicted, right) / (len(predicted) + len(right))


def _or_none(references: Iterable[str]) -> list[str]:
    return list(references) or [""]


def _f1(predicted: Sequence[str], right: Sequence[str]) -> float:
    if not predicted or not right:
        return float(predicted == right)
    common = sum((Counter(predicted) & Counter(right)).values())
    return 2 * common / (len(predicted) + len(right))
