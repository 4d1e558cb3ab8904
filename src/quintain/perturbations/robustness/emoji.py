"""Small pictures come in: ":)" ↔ "🙂", "pizza" → "pizza 🍕", and a neutral one at the end where nothing else fits."""

from __future__ import annotations

import re
from functools import cache
from typing import ClassVar

import numpy as np

from quintain.perturbations import draws
from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.wordlists import lines_of

_FACES = {
    ":)": "🙂",
    ":-)": "🙂",
    ":(": "🙁",
    ":-(": "🙁",
    ":D": "😃",
    ";)": "😉",
    ";-)": "😉",
    ":P": "😛",
    "<3": "❤️",
    ":/": "😕",
}
_EMOTICONS = {"🙂": ":)", "😊": ":)", "🙁": ":(", "😃": ":D", "😀": ":D", "😉": ";)", "😛": ":P", "❤️": "<3", "😕": ":/"}
_SIGNS = re.compile(
    "|".join(
        [rf"(?<!\S){re.escape(face)}(?!\S)" for face in _FACES]
        + [re.escape(face) for face in sorted(_EMOTICONS, key=len, reverse=True)]
    )
)
_NEUTRAL = ("📎", "📌", "🔹", "📝", "🕒", "📄")


@cache
def pictures() -> dict[str, str]:
    """Read the words for things that have a picture."""
    return dict(line.split() for line in lines_of("pictures.txt"))


@PERTURBATIONS.register("emoji")
class Emoji(Perturbation):
    """Exchange emoticons and emoji, and set pictures behind words for things."""

    name: ClassVar[str] = "emoji"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Emoji and emoticons"
    version: ClassVar[int] = 2

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Exchange every sign, then add pictures to the chosen words, or one at the end of a text that has none."""
        words, draft, table = batch.words, EditDraft(), pictures()
        for match in _SIGNS.finditer(batch.joined):
            sign = match.group()
            draft.add(*match.span(), _FACES.get(sign) or _EMOTICONS[sign])
        pictured = np.array([i for i, word in enumerate(words.lower) if word in table], dtype=np.int64)
        for i in words.choose(pictured, rate).tolist():
            end = int(words.end[i])
            draft.add(end, end, " " + table[words.lower[i]])
        edited = np.array([edit[0] for edit in draft.edits], dtype=np.int64)
        bare = np.setdiff1d(np.flatnonzero(words.per_text > 0), batch.text_at(edited))
        drawn = draws.below(draws.at(batch.seeds[bare], bare * 0, 1), len(_NEUTRAL))
        for end, pick in zip(batch.ends[bare].tolist(), drawn.tolist(), strict=True):
            draft.add(end, end, " " + _NEUTRAL[pick])
        return draft.proposal()
