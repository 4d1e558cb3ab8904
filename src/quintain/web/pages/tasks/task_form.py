"""A new task as a form: what it is called, its labels with what they mean, its instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from quintain.tasks.contract import KINDS
from quintain.tasks.writing import dump_toml
from quintain.web.visit import Post

ROWS = 6  # of labels; more where more were typed


@dataclass(frozen=True, slots=True)
class TaskForm:
    """What the form holds; *takes_labels* says whether the kind leaves a choice of labels."""

    kind: str
    name: str = ""
    title: str = ""
    instructions: str = ""
    labels: list[tuple[str, str]] = field(default_factory=list)

    @property
    def takes_labels(self) -> bool:
        """Whether the owner names the labels."""
        kind = KINDS.get(self.kind)
        return kind.needs_labels and not kind.fixed_labels

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The labels, and empty rows for more."""
        return self.labels + [("", "")] * max(1, ROWS - len(self.labels))

    def toml(self, languages: Sequence[str] = ()) -> str:
        """Write the task as the file that defines it; what is left out is the kind's default."""
        tables: dict[str, object] = {"name": self.name, "kind": self.kind, "title": self.title}
        if languages:
            tables["languages"] = list(languages)
        if self.instructions:
            tables["instructions"] = self.instructions
        if self.takes_labels:
            tables["labels"] = [{"name": name, **({"gloss": gloss} if gloss else {})} for name, gloss in self.labels]
        return dump_toml(tables)


def first_form(kind: str) -> TaskForm:
    """Offer a form for a *kind*, with its usual labels."""
    return TaskForm(kind, labels=[(name, "") for name in KINDS.get(kind).starter_labels])


def read_form(post: Post) -> TaskForm:
    """Read what was typed; rows without a name are no labels."""
    names, glosses = (
        [str(value).strip() for value in post.form.getlist(name) if isinstance(value, str)]
        for name in ("label-name", "label-gloss")
    )
    return TaskForm(
        kind=post.text("kind"),
        name=post.text("name").strip(),
        title=post.text("title").strip(),
        instructions=post.text("instructions").replace("\r\n", "\n").strip(),
        labels=[(name, gloss) for name, gloss in zip(names, glosses, strict=False) if name],
    )


def beside(faults: Mapping[str, str], name: str) -> str:
    """Return what is wrong with one field, or with one of its rows."""
    return "; ".join(text for field, text in faults.items() if field.partition(".")[0].partition("[")[0] == name)
