"""What is asked: the task, its fields and its labels."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

FieldType = Literal["text", "long_text", "texts", "tokens", "token", "image"]
AnswerType = str  # the name of one, such as "label": see `quintain.tasks.answer_kinds`
# The one figure a task may rank by that comes from its rounds and not from predictions on data sets.
VMER = "vmer"
# What a board may rank by that is fitted to all predictions on the data sets that score.
ABILITY = "ability"


def normalise_label(label: str) -> str:
    """Return a label in the one form of Unicode (NFC) in which labels are compared: what looks alike is alike.

    >>> normalise_label("ne\u0301gatif") == "n\u00e9gatif"
    True
    """
    return label if label.isascii() else unicodedata.normalize("NFC", label)


@dataclass(frozen=True, slots=True)
class Field:
    """One input of an example, such as the premise.

    *perturbable* says whether a robustness or fairness perturbation may touch it; *editable* whether a
    writer may change it when a prompt is given. What is *fixed* stays also where experts edit a copy of an example,
    in which everything else may change.
    """

    name: str
    type: FieldType = "text"
    title: str = ""
    help: str = ""
    required: bool = True
    max_length: int = 20_000
    perturbable: bool = True
    editable: bool = True
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """One of the answers that a classification task allows, with what it means.

    *gloss* is in the first language of the task, *glosses* in each of those that have one, as pairs of code and text.
    *mixes* are the labels that an extra label stands for, as "mixed" for positive and negative: in training data a
    vote for it counts for each of them.
    """

    name: str
    gloss: str = ""
    examples: tuple[str, ...] = ()
    mixes: tuple[str, ...] = ()
    glosses: tuple[tuple[str, str], ...] = ()

    def gloss_in(self, language: str) -> str:
        """Return what it means in *language*, else in the first language of the task."""
        return dict(self.glosses).get(language) or self.gloss


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked. Made from a TOML file by `quintain.tasks.definition.read_task`.

    Texts that people read (*title*, *instructions*, *content_warning*) map a language code to a text.
    *extra_labels* may be given by people in validation and never by a model. *counted_perturbations* make robustness
    and fairness beside those of the canonical figure. *options* belong to the kind.
    """

    name: str
    kind: str
    title: Mapping[str, str]
    labels: tuple[Label, ...] = ()
    extra_labels: tuple[Label, ...] = ()
    instructions: Mapping[str, str] = field(default_factory=dict)
    content_warning: Mapping[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ("en",)
    metrics: tuple[str, ...] = ()
    canonical_metric: str = ""
    counted_perturbations: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """The language in which answers are compared: the first of its languages."""
        return self.languages[0]

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels that score, in the order of the file."""
        return tuple(label.name for label in self.labels)

    @property
    def mixes(self) -> Mapping[str, tuple[str, ...]]:
        """The extra labels that stand for others, with those."""
        return {label.name: label.mixes for label in self.extra_labels if label.mixes}

    @property
    def judgement_labels(self) -> tuple[str, ...]:
        """The labels that a person may give: those that score, then the extra ones."""
        return self.label_names + tuple(label.name for label in self.extra_labels)
