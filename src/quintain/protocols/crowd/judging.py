"""How a simulated pool judges the final items of an arm, and what models answer."""

from __future__ import annotations

import numpy as np

from quintain.protocols.crowd.people import HONEST, CrowdModel, WrittenItems, human_wrong, model_right
from quintain.protocols.crowd.running import ArmRun
from quintain.stats.arms import ArmItems
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import Judgements

OPTIONS = 4
INVALID = OPTIONS
CLASSES = ("option1", "option2", "option3", "option4", "option5")
SAYS_INVALID = 0.45  # of those who cannot answer an item that nobody can, so many say so
JUDGES = 120
MODEL = "model"


def judge(run: ArmRun, seed: int) -> ArmItems:
    """Let a pool of judges judge an arm's final items, some of them more often, as its protocol says."""
    items, plan = run.final, run.protocol.validation
    if items is None or not len(items.writer):
        items = WrittenItems(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=bool))
    rng = np.random.default_rng((seed, 0xA12))
    order = np.argsort(np.array(run.names, dtype=object), kind="stable") if run.names else np.zeros(0, dtype=np.int64)
    items = WrittenItems(items.writer[order], items.hard[order], items.flawed[order])
    count = len(order)
    votes = np.full(count, plan.votes)
    votes[rng.permutation(count)[: plan.sample]] = plan.many
    label = rng.integers(0, OPTIONS, count)
    item = np.repeat(np.arange(count), votes)
    judges = JUDGES + np.arange(len(item)) % JUDGES  # in turn, so that nobody judges an item twice
    answers = _votes(items, item, label, run.model, rng)
    predictions = {f"{MODEL}_{number}": _answers(items, label, run.model, rng) for number in (1, 2, 3)}
    return ArmItems(
        run.protocol.name,
        Judgements.from_codes(
            item, judges - JUDGES, answers, [run.names[place] for place in order.tolist()], _names(JUDGES), CLASSES
        ),
        label,
        items.writer,
        predictions,
        INVALID,
        plan.writer,
    )


def _votes(
    items: WrittenItems, item: IntArray, label: IntArray, model: CrowdModel, rng: np.random.Generator
) -> IntArray:
    """Return what each judgement is: the writer's answer, another option, or that the item is invalid."""
    chance: FloatArray = human_wrong(items, model, rng)[item]
    wrong = rng.random(len(item)) < chance
    other = (label[item] + rng.integers(1, OPTIONS, len(item))) % OPTIONS
    gives_up = wrong & (rng.random(len(item)) < np.where(items.flawed[item], SAYS_INVALID, 0.1))
    return np.where(gives_up, INVALID, np.where(wrong, other, label[item])).astype(np.int64)


def _answers(items: WrittenItems, label: IntArray, model: CrowdModel, rng: np.random.Generator) -> IntArray:
    right = model_right(items, model, rng)
    other = (label + rng.integers(1, OPTIONS, len(label))) % OPTIONS
    return np.where(right, label, other).astype(np.int64)


def _names(count: int) -> list[str]:
    return [f"judge-{number:04d}" for number in range(count)]


def justify(run: ArmRun, writers: IntArray) -> list[str | None]:
    """Write a justification for each item: cheats paste the same sentence, the careless say little."""
    rng = np.random.default_rng((len(writers), 0x1057))
    honest = run.crowd.style[writers] == HONEST
    careless = run.crowd.care[writers] < -0.5
    justifications: list[str | None] = []
    for item, (fair, idle) in enumerate(zip(honest.tolist(), careless.tolist(), strict=True)):
        if not fair:
            justifications.append(PASTED[int(run.crowd.style[writers[item]]) % len(PASTED)])
        elif idle:
            justifications.append(f"The reader must think about {_word(rng)}.")
        else:
            justifications.append(write_justification(rng))
    return justifications


def write_justification(rng: np.random.Generator) -> str:
    """Return what makes an item hard, as somebody writes who has thought about it: no two are alike."""
    words = [_word(rng) for _ in range(5)]
    return (
        f"The {words[0]} is only hinted at beside the {words[1]}; who skims takes the {words[2]} "
        f"for the {words[3]}, which the last lines about the {words[4]} rule out."
    )


def _word(rng: np.random.Generator) -> str:
    return "".join(_SYLLABLES[place] for place in rng.integers(0, len(_SYLLABLES), 3).tolist())


PASTED = (
    "Good and deep knowledge is needed to answer this question.",
    "To read the complete passage to understand the question to answer.",
)
_SYLLABLES = ("ba", "do", "fi", "ga", "ke", "lu", "mo", "ne", "pa", "ri", "so", "ta", "ve", "wi", "zu")
