"""Questions that could be asked of any passage, by an estimate: those all of whose words are of formulas.

Nangia et al. (2021), section 6, count them by hand: "Which of the following is true?", "What is the main point of the
passage?". A question that says anything of its passage has a word that is not in such formulas. How often that is right
stands in docs/studying.md, and a test holds it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from quintain.stats.bootstrap import FloatArray


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(text.split())


# Of what a passage does, says and is: a formula has one of them.
SAYS = words_of(
    """
    true truth false correct incorrect wrong accurate inaccurate mentioned mention stated state discussed discussing
    described describes describing included listed supported implied imply implies inferred infer concluded conclude
    conclusion suggest suggests suggested suggesting argues arguing argument indicates main central primary major
    key purpose idea point topic theme message subject tone title summary summarizes summarize summarise sums sum
    premise thesis genre motivation intention critiquing represents conveys focus focuses
    """
)
# What may stand beside it.
BESIDE = words_of(
    """
    a an the of in on to by for from with as at about per is are was were be been being do does did can could would
    might may must should have has had it its this that these those there he she they his her their and or if when
    while not no none all any some one ones which what how who whose why where following below above given overall
    also most least best better more likely according accordance based regarding basic general generally mainly
    mostly primarily closely trying make makes made think presume say said says you i we part type kind up out
    overarching author authors writer writers speaker narrator reader passage passages text article paragraph piece
    story work excerpt essay opinion statement statements option options answer answers sentence sentences fact
    facts claim claims audience concern view
    """
)
_WORD = re.compile(r"[a-z]+")
_OWN = re.compile(r"['’]s\b|n['’]t\b")
_ABOUT = re.compile(r"\babout\W*$")


def generic_questions(texts: Sequence[str]) -> FloatArray:
    """Return which questions could be put to any passage: 1 for those.

    >>> generic_questions(["Which of the following is true?", "What is true of the brewery?", "Who is it?"]).tolist()
    [1.0, 0.0, 0.0]
    """
    return np.array([float(_is_generic(text.lower())) for text in texts])


def _is_generic(text: str) -> bool:
    words = set(_WORD.findall(_OWN.sub(" ", text)))
    named = words - BESIDE
    return named <= SAYS and bool(named or (words and _ABOUT.search(text)))
