"""One simulated person of a trial's crowd: what they write by skill and style, how they justify, learn and grade."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quintain.core.people import ANONYMOUS
from quintain.core.records.trial import GradingTask
from quintain.core.spec import plain
from quintain.protocols.crowd.people import STYLES, CrowdModel, draw_crowd
from quintain.protocols.justifications import is_trivial, repeats
from quintain.protocols.reading import shipped
from quintain.simulate.crowd import CrowdWorker, grade_item
from quintain.simulate.sentences import PLAIN
from quintain.simulate.understanding import gist, understand

LABELS = ("negative", "neutral", "positive")


def worker(style: str = "honest", *, skill: float = 0.0, care: float = 3.0, seed: int = 1) -> CrowdWorker:
    """Make somebody with these traits."""
    crowd = draw_crowd(1, CrowdModel(), np.random.default_rng(seed))
    made = replace(
        crowd,
        style=np.array([STYLES.index(style)]),
        care=np.array([care]),
        learns=np.array([0.4]),
        drive=np.array([2.0]),
    )
    return CrowdWorker(ANONYMOUS, 0, made, CrowdModel(), np.array([skill]), np.random.default_rng(seed))


def share_hard(one: CrowdWorker) -> float:
    """Say how much of what somebody writes is not plain."""
    texts = [one.compose("positive", LABELS, None).text for _ in range(200)]
    built = [found.construction for text in texts if (found := understand(text)) is not None]
    return sum(name != PLAIN for name in built) / len(built)


def test_skill_makes_texts_hard_and_letters_add_to_it() -> None:
    """Who has more skill writes more that misleads; a letter is learned from once, whoever looks again."""
    assert share_hard(worker(skill=1.5)) > share_hard(worker(skill=-1.0)) + 0.3
    one = worker()
    one.read_letters({"feedback-1": 1.0})
    one.read_letters({"feedback-1": 1.0, "feedback-2": 0.5})
    assert one.skill[0] == pytest.approx(0.6)


def test_careless_people_write_what_means_something_else() -> None:
    """Care keeps texts sound; a cheat who claims labels at random is wrong most of the time."""

    def sound(one: CrowdWorker) -> float:
        made = [one.compose("negative", LABELS, None) for _ in range(300)]
        assert {one.label for one in made} == {"negative"}
        return sum(gist(one.text) == one.label for one in made) / len(made)

    assert sound(worker(care=3.0)) > 0.95
    assert sound(worker(care=-4.0)) < sound(worker(care=3.0)) - 0.1
    assert sound(worker("random")) < 0.5


def test_cheats_have_their_ways() -> None:
    """One writes its last text again, one always claims the same label, one pastes a justification; all in vain."""
    twin = worker("duplicate")
    first = twin.compose("positive", LABELS, None).text
    assert twin.compose("positive", LABELS, None).text == f"{first} Really."
    assert not twin.compose("positive", LABELS, None, again=True).text.endswith("Really.")
    same = worker("same")
    assert {same.compose(None, LABELS, None).label for _ in range(10)} == {"negative"}
    assert share_hard(same) == 0
    copy = worker("copy")
    assert is_trivial(copy.justify())
    assert not is_trivial(copy.justify(again=True))
    honest = worker()
    texts = [honest.justify() for _ in range(20)]
    assert not any(repeats(text, texts[:place]) for place, text in enumerate(texts))


def test_graders_see_what_is_sound() -> None:
    """A plain text under the label that it means can be answered; under another one it mostly cannot, they say."""
    protocol = shipped()["crowd"]
    rubric = [plain(one, whole=True) for one in protocol.questions]
    question = next(one for one in protocol.questions if one.part == "answerable")
    good = {one.name for one in question.options if one.good}
    rng = np.random.default_rng(3)

    def answered(label: str) -> int:
        item = GradingTask("grades", "1", {}, label, rubric, 1)
        given = [grade_item(item, "The soup was wonderful today.", 0.0, rng) for _ in range(50)]
        return sum(one[question.name] in good for one in given)

    assert answered("positive") > 35
    assert answered("negative") < 15
