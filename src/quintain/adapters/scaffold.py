"""A model to start from, of any adapter: what the adapter begins with, a manifest, and a card to fill in."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from quintain.adapters.contract import ADAPTERS, Adapter, ModelStart, TaskSketch
from quintain.adapters.manifest import CARD, MANIFEST, Manifest
from quintain.core.errors import Conflict, Fault, OutOfOrder
from quintain.core.task import Task
from quintain.models.card import HEADINGS, sections_of, write_card
from quintain.tasks.contract import kind_of
from quintain.tasks.writing import toml

TEXTUAL = ("text", "long_text")
# True of what answers as it is, so that the folder can be submitted at once; whoever teaches it says something better.
STARTER_CARD: Mapping[str, str] = {
    "Intended use": "A model to start from: it answers every example alike. Teach it something, then say for what.",
    "Training data": "None: it has learned nothing yet.",
    "Evaluation": "None but that of the platform it is submitted to.",
    "Limitations": "It does not look at what it is asked.",
    "Ethical considerations": "None beyond those of the task.",
    "Licence": "Not chosen yet.",
}
UNSAID = "Not said."  # on the card of a model that came without one
# Of these no model but the untouched one may say so.
UNTRUE_OF_OTHERS = ("Intended use", "Training data", "Limitations")
QUESTIONS: Mapping[str, str] = {
    "Intended use": "_What is it for, and what is it not for?_",
    "Training data": "_What has it learned from?_",
    "Evaluation": "_What was it tried on before, and how well did it do?_",
    "Limitations": "_What does it get wrong?_",
    "Ethical considerations": "_Whom may its mistakes harm?_",
    "Licence": "_Under which licence is it?_",
}


def sketch_of(task: Task) -> TaskSketch:
    """Return what a model to start from has to know of *task*."""
    kind = kind_of(task)
    fields = kind.fields(task)
    return TaskSketch(
        fields=tuple(item.name for item in fields),
        texts=tuple(item.name for item in fields if item.type in TEXTUAL),
        labels=task.label_names if kind.needs_labels else (),
        answer=kind.answers.in_python(kind.source or fields[0].name),
        example={item.name: kind.example.inputs.get(item.name, "An example.") for item in fields},
    )


def start_of(adapter: str, task: Task) -> ModelStart:
    """Return a model of *adapter* for *task* to start from; what only the platform makes is refused."""
    member = ADAPTERS.get(adapter)
    if member.ours:
        raise Conflict(
            "A model of adapter '{name}' is trained here, not written.",
            name=adapter,
            remedy="`quintain train BASELINE --task … --data …` makes one.",
            page="Train one on the page Train the next model.",
        )
    return member().start(sketch_of(task))


def adapters_to_start() -> list[tuple[str, str]]:
    """List the adapters that somebody can begin a model of, with their titles; the default comes first."""
    chosen = [(name, member.title) for name, member in ADAPTERS.items() if not member.ours]
    return sorted(chosen, key=lambda pair: pair[0] != Manifest().adapter)


def write_model(
    folder: Path, task: Task, *, name: str, named: bool = True, adapter: str = ""
) -> tuple[list[str], ModelStart]:
    """Write a model of *adapter* for *task* into the new folder *folder*; give the names of its files, and its start.

    *named* says that *task* is a task somewhere; else it is only an example of its kind, and the manifest names none.
    """
    adapter = adapter or Manifest().adapter
    start = start_of(adapter, task)
    files = {
        **start.files,
        MANIFEST: manifest_text(adapter, start, task=task.name if named else None, name=name),
        CARD: write_card(name, dict(STARTER_CARD if start.works else QUESTIONS)),
    }
    present = [file for file in files if (folder / file).exists()]
    if present:
        raise Conflict("{path} is there already.", path=folder / present[0], remedy="Name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutOfOrder(
            "{path} cannot be written: {strerror}.",
            path=folder,
            strerror=error.strerror,
            remedy="Name another folder.",
        ) from error
    return list(files), start


def manifest_text(adapter: str, start: ModelStart, *, task: str | None, name: str) -> str:
    """Write a manifest: the options that are set, and each of the others as a comment with its meaning."""
    lines = [
        "# How the model is run. `quintain model check .` says whether it can be.",
        f"adapter = {toml(adapter)}",
        f"task = {toml(task)}" if task else '# task = "…"  # what it is for; or name it with --task',
        f"name = {toml(name)}",
        "batch_size = 1  # how many examples it likes to get at once",
    ]
    known = ADAPTERS.get(adapter).options
    if known:
        lines += ["", "[options]"]
        lines += [f"{key} = {toml(value)}" for key, value in start.options.items()]
        lines += [f"# {key} = …  # {meaning}" for key, meaning in known.items() if key not in start.options]
    return "\n".join(lines) + "\n"


def card_faults(card: str, folder: Path, task: Task, manifest: Manifest) -> list[Fault]:
    """Find what a card still says of the model that somebody started from, and what it only asks."""
    sections = {heading: sections_of(card).get(heading.lower(), "").strip() for heading in HEADINGS}
    faults = [
        Fault("under '{heading}' there is still only the question", heading=heading, file=CARD, field="card")
        for heading, text in sections.items()
        if text == QUESTIONS[heading]
    ]
    untrue = [heading for heading in UNTRUE_OF_OTHERS if sections[heading] == STARTER_CARD[heading]]
    if untrue and not is_untouched(folder, task, manifest):
        faults += [
            Fault(
                "under '{heading}' it still says of the model to start from: “{text}” Say what is true of this one",
                heading=heading,
                text=sections[heading],
                file=CARD,
                field="card",
            )
            for heading in untrue
        ]
    return faults


def is_untouched(folder: Path, task: Task, manifest: Manifest) -> bool:
    """Whether the model in *folder* is the one that its adapter begins with, which answers all examples alike."""
    member = ADAPTERS.get(manifest.adapter)
    start = ModelStart() if member.ours else member().start(sketch_of(task))
    return start.works and all(
        (folder / name).is_file() and (folder / name).read_text(encoding="utf-8", errors="replace") == text
        for name, text in start.files.items()
        if name.endswith(".py") and not name.startswith("test_")
    )


def bare_endings() -> dict[str, type[Adapter]]:
    """Map the endings of files that are a whole model by themselves to the adapters that run them."""
    return {ending: member for _, member in ADAPTERS.items() for ending in member.bare}


def is_bare(filename: str) -> bool:
    """Whether a file of this name is taken for a whole model.

    >>> is_bare("Mood 2.joblib"), is_bare("model.tar.gz")
    (True, False)
    """
    return Path(filename).suffix.lower() in bare_endings()


def wrap_file(file: Path, folder: Path, filename: str = "") -> None:
    """Make the new *folder* a model that is the one *file*, with a manifest, and a card that says so."""
    shown = Path(filename or file.name)
    ending = shown.suffix.lower()
    member = bare_endings()[ending]
    folder.mkdir(parents=True)
    shutil.copyfile(file, folder / member.bare[ending])
    use = f"Not said: the model was handed in as one file, {shown.name[:80]}, without a card."
    write_manifest_and_card(folder, member, name=model_name(shown.stem), use=use)


def adapter_of_folder(folder: Path) -> type[Adapter] | None:
    """Find the adapter that a folder without a manifest is a model of, by the files in it; None where none is known."""
    if (folder / MANIFEST).exists():
        return None
    return next(
        (
            member
            for _, member in ADAPTERS.items()
            if member.marks and all(any(folder.glob(pattern)) for pattern in member.marks)
        ),
        None,
    )


def write_manifest_and_card(
    folder: Path, member: type[Adapter], *, name: str, use: str, manifest: str | None = None
) -> None:
    """Add what a model lacks that was handed in without them: a manifest, and a card on which little is said."""
    lines = [f"adapter = {toml(member.name)}", *([f"name = {toml(name)}"] if name else [])]
    (folder / MANIFEST).write_text(manifest or "\n".join(lines) + "\n", encoding="utf-8")
    if not (folder / CARD).exists():
        sections = dict.fromkeys(HEADINGS, UNSAID) | {"Intended use": use}
        (folder / CARD).write_text(write_card(name or member.title, sections), encoding="utf-8")


def model_name(stem: str) -> str:
    """Make the name of a model from that of a file; "" where nothing of it can be used.

    >>> model_name("Mood 2 (final)")
    'mood-2-final'
    """
    return re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("._-")[:80]


def is_card_unsaid(card: str) -> bool:
    """Whether *card* is one that was written for a model that came without one."""
    return sections_of(card).get("training data", "").strip() == UNSAID
