"""A task as a TOML file: reading it, saying everything that is wrong with it, and writing it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.look_alikes import skeleton
from quintain.core.task import VMER, AnswerType, Label, Task, normalise_label
from quintain.core.texts import Text, as_text, hint
from quintain.core.toml import parse_toml, read_text
from quintain.perturbations.contract import PERTURBATIONS
from quintain.tasks.contract import KINDS, TaskKind
from quintain.tasks.writing import dump_task

KEYS = (
    "name",
    "kind",
    "title",
    "languages",
    "labels",
    "extra_labels",
    "content_warning",
    "metrics",
    "canonical_metric",
    "counted_perturbations",
    "instructions",
    "options",
)
LABEL_KEYS = ("name", "gloss", "examples")
NAME = re.compile(r"[a-z0-9]([a-z0-9_-]{0,78}[a-z0-9])?")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
MAX_LABEL = 80


def read_task(path: str | Path, *, metrics: Mapping[str, Collection[AnswerType]] | None = None) -> Task:
    """Read the task file at *path*; *metrics* as for `parse_task`."""
    return parse_task(read_task_text(Path(path)), file=str(path), metrics=metrics)


def read_task_text(path: Path) -> str:
    """Read the text of the task file at *path*, or say why that cannot be."""
    return read_text(path, remedy=Text("Start one with `quintain task new --kind …`."))


def parse_task(
    text: str, *, file: str | None = None, metrics: Mapping[str, Collection[AnswerType]] | None = None
) -> Task:
    r"""Make a task of the TOML *text*, or raise BadInput with every fault in it; *file* is named in them.

    *metrics* are those there are, with the types of answer they are for; without it their names are not checked.

    >>> parse_task('name = "nli"\nkind = "pair-classification"\nlabels = ["yes", "no"]').label_names
    ('yes', 'no')
    """
    reading = _Reading(parse_toml(text, file=file), text, file, metrics)
    task = reading.task()
    if reading.faults or task is None:
        raise BadInput(faults=reading.faults)
    return task


class _Reading:
    """One pass over a parsed file, which gathers faults instead of stopping at the first."""

    def __init__(
        self,
        data: Mapping[str, Any],
        text: str,
        file: str | None,
        metrics: Mapping[str, Collection[AnswerType]] | None,
    ) -> None:
        self.data = data
        self.known_metrics = metrics
        self.lines = text.splitlines()
        self.file = file
        self.faults: list[Fault] = []

    def task(self) -> Task | None:
        for key in self.data:
            if key not in KEYS:
                self._unknown(key)
        name = self._name()
        kind = self._kind()
        languages = self._languages()
        labels, extra = self._labels("labels", languages), self._labels("extra_labels", languages)
        self._check_labels(kind, labels, extra)
        metrics, canonical = self._metrics(kind)
        counted = self._perturbations()
        texts = {key: self._texts(key, languages) for key in ("title", "instructions", "content_warning")}
        options = self._options(kind)
        if self.faults or kind is None:
            return None
        if kind.fixed_labels and not labels:
            labels = tuple(Label(label) for label in kind.fixed_labels)
        return Task(
            name=name,
            kind=kind.name,
            title=texts["title"] or {languages[0]: _titled(name)},
            labels=labels,
            extra_labels=extra,
            instructions=texts["instructions"],
            content_warning=texts["content_warning"],
            languages=languages,
            metrics=metrics,
            canonical_metric=canonical,
            counted_perturbations=counted,
            options=options,
        )

    def fault(self, key: str, reason: str, /, **values: object) -> None:
        """Note what is wrong with the top-level *key*, and on which line it stands."""
        self.faults.append(Fault(as_text(reason, values), file=self.file, field=key, line=self._line(key)))

    def _line(self, key: str) -> int | None:
        quoted = re.escape(key)
        pattern = re.compile(rf"""\s*(["']?{quoted}["']?\s*(=|\.)|\[\[?\s*["']?{quoted}["']?\s*[\].])""")
        return next((number for number, line in enumerate(self.lines, 1) if pattern.match(line)), None)

    def _unknown(self, key: str) -> None:
        self.fault(key, "no such key; {hint}", hint=hint(key, KEYS))

    def _name(self) -> str:
        name = self.data.get("name")
        if name is None:
            self.fault("name", 'is missing; add a line such as name = "sentiment"')
        elif not isinstance(name, str) or not NAME.fullmatch(name):
            self.fault("name", "{name} is not a name: use up to 80 small letters, digits, - and _", name=repr(name))
        return str(name)

    def _kind(self) -> TaskKind | None:
        name = self.data.get("kind")
        if isinstance(name, str) and name in KINDS:
            return KINDS.get(name)()
        known = ", ".join(KINDS.names())
        if name is None:
            self.fault("kind", "is missing; it is one of {known}", known=known)
        else:
            close = get_close_matches(str(name), KINDS.names(), n=1)
            self.fault(
                "kind",
                "there is no kind {name}; did you mean '{close}'? It is one of {known}"
                if close
                else "there is no kind {name}; It is one of {known}",
                name=repr(name),
                close=close[0] if close else "",
                known=known,
            )
        return None

    def _languages(self) -> tuple[str, ...]:
        codes = self.data.get("languages", ["en"])
        if not _is_texts(codes) or not codes:
            self.fault("languages", 'is not a list of language codes such as ["en", "de"]')
            return ("en",)
        for code in codes:
            if not LANGUAGE.fullmatch(code):
                self.fault("languages", "'{code}' is not a language code such as en, de or pt-BR", code=code)
        if len(set(codes)) < len(codes):
            self.fault("languages", "names a language twice")
        return tuple(codes)

    def _labels(self, key: str, languages: Sequence[str]) -> tuple[Label, ...]:
        entries = self.data.get(key, [])
        if not isinstance(entries, list):
            self.fault(key, 'is not a list such as ["negative", "positive"]')
            return ()
        labels = []
        for position, entry in enumerate(entries, 1):
            label = self._label(key, position, entry, languages)
            labels += [label] if label else []
        self._look_alike(key, [label.name for label in labels])
        return tuple(labels)

    def _look_alike(self, key: str, names: Sequence[str]) -> None:
        """Find labels with the same letters in two scripts: nobody could choose between them."""
        seen: dict[str, str] = {}
        for name in names:
            other = seen.setdefault(skeleton(name), name)
            if other != name:
                self.fault(
                    key,
                    "'{name}' ({names}) looks like '{other}' ({others}): their letters are of two scripts",
                    name=name,
                    names=unicodedata.name(next(a for a, b in zip(name, other, strict=True) if a != b), ""),
                    other=other,
                    others=unicodedata.name(next(b for a, b in zip(name, other, strict=True) if a != b), ""),
                )

    def _label(self, key: str, position: int, entry: Any, languages: Sequence[str]) -> Label | None:
        table = {"name": entry} if isinstance(entry, str) else entry
        if not isinstance(table, dict):
            self.fault(
                key,
                "entry {position} is {entry}, neither a text nor a table with a name",
                position=position,
                entry=repr(entry),
            )
            return None
        for other in table:
            known = LABEL_KEYS if key == "labels" else (*LABEL_KEYS, "mixes")
            if other not in known:
                self.fault(
                    key,
                    "entry {position} has the unknown key '{other}'; there are {known}",
                    position=position,
                    other=other,
                    known=", ".join(known),
                )
        name, gloss, examples = table.get("name"), table.get("gloss", ""), table.get("examples", [])
        if not isinstance(name, str) or not name.strip() or name != name.strip() or CONTROL.search(name):
            self.fault(
                key,
                "entry {position} has the name {name}; give it one without spaces around it",
                position=position,
                name=repr(name),
            )
            return None
        name = normalise_label(name)
        if len(name) > MAX_LABEL:
            self.fault(
                key,
                "'{name}…' has more than {most} characters; put the rest into its gloss",
                name=name[:20],
                most=MAX_LABEL,
            )
        glosses = gloss if isinstance(gloss, dict) else {}
        if not self._is_gloss(gloss) or not _is_texts(examples):
            self.fault(
                key,
                "'{name}': the gloss is a text, or a table of texts by language, and the examples are a list of texts",
                name=name,
            )
            return None
        mixes = table.get("mixes", [])
        if not _is_texts(mixes):
            self.fault(key, "'{name}': 'mixes' is not a list of labels", name=name)
            return None
        first = next((glosses[code] for code in languages if code in glosses), next(iter(glosses.values()), ""))
        normal = tuple(normalise_label(mix) for mix in mixes)
        return Label(name, first if glosses else gloss, tuple(examples), normal, tuple(glosses.items()))

    @staticmethod
    def _is_gloss(gloss: object) -> bool:
        """Whether it is a text, or texts by language, none of them empty."""
        if not isinstance(gloss, dict):
            return isinstance(gloss, str)
        return all(LANGUAGE.fullmatch(code) and isinstance(text, str) and text.strip() for code, text in gloss.items())

    def _check_labels(self, kind: TaskKind | None, labels: Sequence[Label], extra: Sequence[Label]) -> None:
        names = [label.name for label in labels]
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            self.fault("labels", "'{name}' is given twice", name=name)
        others = [label.name for label in extra]
        for name in dict.fromkeys(name for name in others if name in names or others.count(name) > 1):
            self.fault(
                "extra_labels",
                "'{name}' is given twice, also in labels" if name in names else "'{name}' is given twice",
                name=name,
            )
        for label in extra:
            for name in label.mixes:
                if name not in names and not (kind and name in kind.fixed_labels):
                    self.fault(
                        "extra_labels",
                        "'{label}' mixes '{name}', which is not one of the labels",
                        label=label.name,
                        name=name,
                    )
        if kind is None:
            return
        if kind.fixed_labels:
            if names and names != list(kind.fixed_labels):
                self.fault(
                    "labels",
                    "kind '{name}' has the labels {labels}, in this order",
                    name=kind.name,
                    labels=", ".join(kind.fixed_labels),
                )
        elif kind.needs_labels and "labels" not in self.data:
            self.fault("labels", 'is missing, and kind \'{name}\' needs it; add labels = ["…", "…"]', name=kind.name)
        elif kind.needs_labels and len(names) < 2:
            self.fault("labels", "needs at least two labels")
        elif names and not kind.needs_labels:
            self.fault("labels", "kind '{name}' has no labels; leave them out", name=kind.name)

    def _metrics(self, kind: TaskKind | None) -> tuple[tuple[str, ...], str]:
        names = self.data.get("metrics", list(kind.default_metrics) if kind else ["accuracy"])
        if not _is_texts(names) or not names:
            self.fault("metrics", 'is not a list of names such as ["macro_f1", "accuracy"]')
            return (), ""
        if len(set(names)) < len(names):
            self.fault("metrics", "names a metric twice")
        for name in names:
            self._check_metric(kind, name)
        if set(names) == {VMER}:
            self.fault("metrics", "'{vmer}' comes from rounds; add a metric for data sets, such as accuracy", vmer=VMER)
        canonical = self.data.get("canonical_metric", names[0])
        if canonical not in names:
            self.fault(
                "canonical_metric",
                "{canonical} is not among the metrics: {given}",
                canonical=repr(canonical),
                given=", ".join(names),
            )
        return tuple(names), str(canonical)

    def _perturbations(self) -> tuple[str, ...]:
        key = "counted_perturbations"
        listed = self.data.get(key, [])
        if not _is_texts(listed):
            self.fault(key, 'is not a list of names such as ["identity_terms"]')
            return ()
        if len(set(listed)) < len(listed):
            self.fault(key, "names a perturbation twice")
        for name in listed:
            if name not in PERTURBATIONS:
                self.fault(
                    key, "there is no perturbation '{name}'; {hint}", name=name, hint=hint(name, PERTURBATIONS.names())
                )
        return tuple(listed)

    def _check_metric(self, kind: TaskKind | None, name: str) -> None:
        if self.known_metrics is None:
            return
        if name not in self.known_metrics:
            known = list(self.known_metrics)
            self.fault("metrics", "there is no metric '{name}'; {hint}", name=name, hint=hint(name, known))
        elif kind is not None and kind.answer_type not in self.known_metrics[name]:
            fitting = [other for other, types in self.known_metrics.items() if kind.answer_type in types]
            self.fault(
                "metrics",
                "'{name}' is not for kind '{kind}', which has {fitting}",
                name=name,
                kind=kind.name,
                fitting=", ".join(fitting),
            )

    def _texts(self, key: str, languages: Sequence[str]) -> dict[str, str]:
        texts = self.data.get(key, {})
        if isinstance(texts, str):
            texts = {languages[0]: texts}
        if not isinstance(texts, dict):
            self.fault(key, "is neither a text nor a table of texts by language")
            return {}
        for language, text in texts.items():
            if not LANGUAGE.fullmatch(language):
                self.fault(key, "'{code}' is not a language code such as en, de or pt-BR", code=language)
            if not isinstance(text, str) or not text.strip():
                self.fault(key, "the text for '{code}' is empty or not a text", code=language)
            elif CONTROL.search(text):
                self.fault(key, "the text for '{code}' has a control character", code=language)
        return texts

    def _options(self, kind: TaskKind | None) -> dict[str, Any]:
        options = self.data.get("options", {})
        if not isinstance(options, dict):
            self.fault("options", "is not a table; write [options] and the options below it")
            return {}
        for reason in kind.check_options(options) if kind else ():
            self.fault("options", reason)
        return options


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) and entry.strip() for entry in value)


def _titled(name: str) -> str:
    return re.sub(r"[-_]+", " ", name).strip().capitalize()


__all__ = ["KEYS", "dump_task", "parse_task", "read_task", "read_text"]
