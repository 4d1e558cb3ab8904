"""What may be wrong with a text that somebody wrote, said so that they can mend it. No database, no model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rapidfuzz.distance import Levenshtein

from quintain.core.errors import BadInput, Fault
from quintain.core.example import Answer, Inputs, Prediction
from quintain.core.rounds import Fooled, RoundSpec
from quintain.core.task import Task
from quintain.core.text_form import content_form
from quintain.core.texts import either
from quintain.data.images import path_faults
from quintain.services.collect.writing.writing_systems import foreign_script
from quintain.stats.text import exact_match, token_f1
from quintain.tasks.contract import TaskKind, kind_of

MAX_CHARACTERS = 100_000
# What a model reads and people do not see: soft hyphens, spaces without width, marks that turn the writing round.
# Joiners are left out, which emoji and Persian need, and so are the marks of direction that stand in mixed texts.
INVISIBLE = re.compile("[\u00ad\u180e\u200b\u202a-\u202e\u2060-\u2064\ufeff]")


@dataclass(frozen=True, slots=True)
class Written:
    """A text that may be submitted: its inputs with what a prompt fixes, its target, and how far it is from it."""

    inputs: Mapping[str, Any]
    target: Answer
    edit_distance: int | None
    edit_share: float | None


def check_writing(
    task: Task, spec: RoundSpec, prompt: Inputs | None, inputs: Inputs, target: Answer, *, assigned: Answer = None
) -> Written:
    """Return what was written as it is stored, or raise BadInput with every fault.

    *prompt* are the inputs that were given to edit; *assigned* is the target that was handed out.
    """
    kind = kind_of(task)
    size = sum(len(str(value)) for value in inputs.values())
    if size > MAX_CHARACTERS:
        raise BadInput(
            "This has {size:,} characters, and nobody will read more than {most:,}.",
            size=size,
            most=MAX_CHARACTERS,
            remedy="Shorten it.",
        )
    whole, faults = _with_fixed(kind, task, prompt or {}, inputs)
    whole, target, unclear = kind.resolved(task, whole, target, prompt)
    faults += unclear or kind.check(task, whole, target) + path_faults(task, whole, prompt)
    if not faults:
        target, faults = kind.placed(task, whole, target)
    faults += _target_faults(kind, task, spec, target, assigned)
    if not faults:
        faults += _script_faults(kind, task, spec, whole) + _invisible_faults(kind, task, prompt or {}, whole)
    distance = share = None
    if prompt is not None and _gives_text(kind, task, prompt):
        distance, share = edit_distance(task, prompt, whole)
        if not faults and (distance == 0 or _is_the_same(kind, task, prompt, whole)):
            faults.append(Fault("this is the prompt, unchanged; edit it first", field=_editable(kind, task)[0]))
    if faults:
        raise BadInput(faults=_once(faults))
    return Written(whole, target, distance, share)


def _is_the_same(kind: TaskKind, task: Task, prompt: Inputs, inputs: Inputs) -> bool:
    """Return whether a reader would see no difference between what may be edited of a prompt and what was written."""
    before, after = ({name: given.get(name) for name in _editable(kind, task)} for given in (prompt, inputs))
    return bool(content_form(before) == content_form(after))


def edit_distance(task: Task, prompt: Inputs, inputs: Inputs) -> tuple[int, float]:
    """Count the characters to change from *prompt* to *inputs* where it may be edited, and as a share of the longer.

    The share is what DynaSent (Potts et al., 2021, figure 2) calls the normalised edit distance.
    """
    kind = kind_of(task)
    names = [name for name in _editable(kind, task) if prompt.get(name) is not None]
    before = "\n".join(as_text(prompt.get(name)) for name in names)
    after = "\n".join(as_text(inputs.get(name)) for name in names)
    distance = Levenshtein.distance(before, after)
    return distance, distance / max(len(before), len(after), 1)


def fooled(task: Task, rule: Fooled, target: Answer, prediction: Prediction) -> bool | None:
    """Whether a model was fooled by the round's rule; None where the writer has to say it."""
    kind = kind_of(task)
    if rule.rule == "worker" or (rule.rule == "task" and kind.asks_worker(task)):
        return None
    if rule.rule == "task" or not kind.answers.is_text:
        return kind.fooled(task, target, prediction.answer)
    right, predicted = kind.answers.texts(target), next(iter(kind.answers.texts(prediction.answer)), "")
    if rule.rule == "differs":
        return not exact_match(predicted, right, task.language)
    return token_f1(predicted, right, task.language) < rule.threshold


def aim_of(task: Task, target: Answer) -> str:
    """Return a target as a short text to count by; empty where targets are texts of their own."""
    return kind_of(task).answers.aim(target)


def split_fields(task: Task, inputs: Inputs) -> tuple[dict[str, str], dict[str, str]]:
    """Split inputs into what writers may change and what is given, as texts."""
    kind = kind_of(task)
    own = set(_editable(kind, task))
    texts = {name: as_text(value) for name, value in inputs.items() if value is not None}
    return (
        {name: text for name, text in texts.items() if name in own},
        {name: text for name, text in texts.items() if name not in own},
    )


def as_text(value: Any) -> str:
    """Return an input as one text: lists one entry to a line."""
    if value is None:
        return ""
    return "\n".join(str(one) for one in value) if isinstance(value, list | tuple) else str(value)


def _invisible_faults(kind: TaskKind, task: Task, prompt: Inputs, inputs: Inputs) -> list[Fault]:
    """Find invisible characters that the writer brought in; what came with the prompt is not their doing."""
    faults = []
    for name in _editable(kind, task):
        new = set(INVISIBLE.findall(as_text(inputs.get(name)))) - set(as_text(prompt.get(name)))
        names = sorted(unicodedata.name(one, f"U+{ord(one):04X}").lower() for one in new)
        faults += [
            Fault("has an invisible character ({what}); people judge what they see", what=what, field=name)
            for what in names
        ]
    return faults


def _editable(kind: TaskKind, task: Task) -> list[str]:
    return [item.name for item in kind.fields(task) if item.editable]


def _gives_text(kind: TaskKind, task: Task, prompt: Inputs) -> bool:
    """Whether a prompt has something to edit; a context has nothing."""
    return any(prompt.get(name) is not None for name in _editable(kind, task))


def _with_fixed(kind: TaskKind, task: Task, prompt: Inputs, inputs: Inputs) -> tuple[dict[str, Any], list[Fault]]:
    whole = {name: value for name, value in inputs.items() if value is not None}
    faults = []
    for item in kind.fields(task):
        fixed = prompt.get(item.name)
        if fixed is None or item.editable:
            continue
        if item.name in whole and _plain(whole[item.name]) != _plain(fixed):
            faults.append(Fault("is given in this round and cannot be changed", field=item.name))
        whole[item.name] = fixed
    return whole, faults


def _plain(value: Any) -> Any:
    # Browsers send line ends as \r\n whatever they were.
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def _target_faults(kind: TaskKind, task: Task, spec: RoundSpec, target: Answer, assigned: Answer) -> list[Fault]:
    if assigned is not None and target != assigned:
        return [Fault("the label to aim at was given: {assigned}", assigned=assigned, field="answer")]
    by_worker = spec.fooled.rule == "worker" or (spec.fooled.rule == "task" and kind.asks_worker(task))
    if target is None and not by_worker:
        return [Fault("say first which answer is right", field="answer")]
    return []


def _script_faults(kind: TaskKind, task: Task, spec: RoundSpec, inputs: Inputs) -> list[Fault]:
    faults = []
    for name in _editable(kind, task):
        script = foreign_script(as_text(inputs.get(name)), spec.scripts)
        if script is not None:
            allowed = either(spec.scripts)
            faults.append(
                Fault("is written in {script}; this round asks for {wanted}", script=script, wanted=allowed, field=name)
            )
    return faults


def _once(faults: list[Fault]) -> list[Fault]:
    return list(dict.fromkeys(faults))
