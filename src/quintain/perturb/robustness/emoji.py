"""Small pictures come in: ":)" ↔ "🙂", "pizza" → "pizza 🍕", and a neutral one at the end where nothing else fits."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np

from quintain.perturb import draws
from quintain.perturb.contract import PERTURBATIONS, Batch, Draft, Family, Perturbation, Proposal

_FACES = {":)": "🙂", ":-)": "🙂", ":(": "🙁", ":-(": "🙁", ":D": "😃", ";)": "😉", ";-)": "😉", ":P": "😛", "<3": "❤️", ":/": "😕"}
_EMOTICONS = {"🙂": ":)", "😊": ":)", "🙁": ":(", "😃": ":D", "😀": ":D", "😉": ";)", "😛": ":P", "❤️": "<3", "😕": ":/"}
_SIGNS = re.compile(
    "|".join(
        [rf"(?<!\S){re.escape(face)}(?!\S)" for face in _FACES]
        + [re.escape(face) for face in sorted(_EMOTICONS, key=len, reverse=True)]
    )
)
# Things with a picture that says no more than the word does.
_PICTURES = dict(
    pair.split("=")
    for pair in (
        "pizza=🍕 coffee=☕ tea=🍵 beer=🍺 wine=🍷 cake=🎂 bread=🍞 cheese=🧀 rice=🍚 sushi=🍣 burger=🍔 salad=🥗 soup=🍲 "
        "egg=🥚 apple=🍎 banana=🍌 dog=🐶 cat=🐱 horse=🐴 cow=🐮 pig=🐷 fish=🐟 bird=🐦 mouse=🐭 bear=🐻 lion=🦁 tiger=🐯 "
        "elephant=🐘 monkey=🐵 snake=🐍 spider=🕷 tree=🌳 flower=🌸 sun=☀️ moon=🌙 rain=🌧 snow=❄️ fire=🔥 water=💧 ocean=🌊 "
        "mountain=⛰ car=🚗 bus=🚌 train=🚆 plane=✈️ ship=🚢 bike=🚲 bicycle=🚲 truck=🚚 house=🏠 school=🏫 hospital=🏥 "
        "hotel=🏨 church=⛪ bank=🏦 phone=📱 computer=💻 camera=📷 television=📺 tv=📺 book=📖 letter=✉️ key=🔑 clock=🕒 "
        "guitar=🎸 piano=🎹 music=🎵 movie=🎬 film=🎬 movies=🎬 films=🎬 theater=🎭 theatre=🎭 football=🏈 soccer=⚽ "
        "basketball=🏀 tennis=🎾 baseball=⚾ doctor=🩺 money=💵 map=🗺 bed=🛏 door=🚪 window=🪟 shoe=👟 hat=🎩 umbrella=☂️"
    ).split()
)
_NEUTRAL = ("📎", "📌", "🔹", "📝", "🕒", "📄")


@PERTURBATIONS.register("emoji")
class Emoji(Perturbation):
    """Exchange emoticons and emoji, and set pictures behind words for things."""

    name: ClassVar[str] = "emoji"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Emoji and emoticons"

    def propose(self, batch: Batch, rate: float) -> Proposal:
        """Exchange every sign, then add pictures to the chosen words, or one at the end of a text that has none."""
        words, draft = batch.words, Draft()
        for match in _SIGNS.finditer(batch.joined):
            sign = match.group()
            draft.add(*match.span(), _FACES.get(sign) or _EMOTICONS[sign])
        found = np.array([i for i, word in enumerate(words.lower) if word in _PICTURES], dtype=np.int64)
        for i in words.choose(found, rate).tolist():
            end = int(words.end[i])
            draft.add(end, end, " " + _PICTURES[words.lower[i]])
        edited = np.array([edit[0] for edit in draft.edits], dtype=np.int64)
        bare = np.setdiff1d(np.flatnonzero(words.per_text > 0), batch.text_at(edited))
        drawn = draws.below(draws.at(batch.seeds[bare], bare * 0, 1), len(_NEUTRAL))
        for end, pick in zip(batch.ends[bare].tolist(), drawn.tolist(), strict=True):
            draft.add(end, end, " " + _NEUTRAL[pick])
        return draft.proposal()
