"""Examples as artefacts are looked for in them: texts by field, answers, and where each came from."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quintain.stats.bootstrap import IntArray


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts by field, and the code of each example's answer among *labels*.

    Of multiple choice *options* has each example's options, and the answer is the place of the right one. *context* is
    what examples share (a passage), *writer* who wrote each, *arm* under which protocol or condition; each is empty
    where it is not known.
    """

    fields: Mapping[str, Sequence[str]]
    answer: IntArray
    labels: Sequence[str]
    options: Sequence[Sequence[str]] = ()
    context: Sequence[str] = ()
    writer: Sequence[str] = ()
    arm: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.answer)

    def digest(self) -> str:
        """Return a hash of the content."""
        hasher = hashlib.sha256(repr([list(self.fields), list(self.labels)]).encode("utf-8", "replace"))
        for texts in (*self.fields.values(), *self.options, self.context, self.writer, self.arm):
            hasher.update("\x1f".join(texts).encode("utf-8", "surrogatepass") + b"\x1e")
        hasher.update(self.answer.tobytes())
        return hasher.hexdigest()

    def arms(self, most: int) -> list[str]:
        """Name the arms, at most so many of the largest; none where all examples are of one."""
        names = [name for name, _ in Counter(self.arm).most_common(most)]
        return sorted(names) if len(names) > 1 else []

    @property
    def groups(self) -> IntArray:
        """A code for what each example shares with others; without contexts each is by itself."""
        names = self.context or range(len(self))
        return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)

    def take(self, rows: IntArray) -> Examples:
        """Return the examples at *rows*.

        >>> Examples({"text": ["a", "b"]}, np.array([0, 1]), ["no", "yes"]).take(np.array([1])).fields
        {'text': ['b']}
        """
        places = rows.tolist()

        def of(values: Sequence[Any]) -> list[Any]:
            return [values[at] for at in places] if values else []

        fields = {name: of(texts) for name, texts in self.fields.items()}
        own = {name: of(getattr(self, name)) for name in ("options", "context", "writer", "arm")}
        return replace(self, fields=fields, answer=self.answer[rows], **own)

    def recoded(self, labels: Sequence[str]) -> Examples:
        """Return the same examples with answers as positions among *labels*, which have all of theirs.

        >>> Examples({}, np.array([0, 1]), ["no", "yes"]).recoded(["maybe", "no", "yes"]).answer.tolist()
        [1, 2]
        """
        code_of = {name: at for at, name in enumerate(labels)}
        codes = np.array([code_of[name] for name in self.labels], dtype=np.int64)
        return replace(self, answer=codes[self.answer], labels=list(labels))

    @property
    def chance(self) -> float:
        """What one has by always giving the commonest answer; of options, by choosing blindly or by place."""
        counts = np.bincount(self.answer, minlength=1)
        commonest = float(counts.max() / max(len(self.answer), 1))
        if not self.options:
            return commonest
        blind = float(np.mean([1 / max(len(option), 1) for option in self.options])) if len(self.options) else 0.0
        return max(commonest, blind)
