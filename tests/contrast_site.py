"""A workspace with contrast projects over several kinds of tasks, for tests of pages."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.data.plan import ImportPlan
from quintain.services.access.links import make_link, redeem_link
from quintain.services.contrast.checking import Opinion, check_variant, next_check
from quintain.services.contrast.projects import put_project
from quintain.services.contrast.releasing import release_project
from quintain.services.data.datasets import import_dataset
from quintain.services.tasks.definitions import put_task
from quintain.settings import Settings
from quintain.store.blobs import Blobs
from tests.boards import add_version, evaluated
from tests.contrasting import EDITS, begin, expert, project, write
from tests.people import make_person
from tests.web_support import PASSWORD

EXPERTS = ("xenia", "yann", "zoe")
PASSAGE = "Mira ordered tea, and Tom ordered a large coffee with milk."
TASKS: Mapping[str, tuple[str, Sequence[Mapping[str, Any]]]] = {
    "reading": (
        'kind = "extractive-qa"\ntitle = "Reading"\n',
        [
            {
                "passage": PASSAGE,
                "question": "What did Mira order?",
                "answer": [{"text": "tea", "start": PASSAGE.index("tea")}],
            }
        ],
    ),
    "attach": (
        'kind = "attachment"\ntitle = "Attachment"\n',
        [{"tokens": ["He", "ate", "pizza", "with", "friends", "."], "preposition": 3, "answer": 1}],
    ),
    "roles": (
        'kind = "qa-srl"\ntitle = "Roles"\n',
        [
            {
                "sentence": "The baker sold us two loaves .",
                "predicate": "sold",
                "question": "who sold something ?",
                "answer": [{"text": "The baker", "start": 0}],
            }
        ],
    ),
    "choice": (
        'kind = "multiple-choice"\ntitle = "Choice"\n',
        [
            {
                "passage": "The shop opens at nine and closes at five.",
                "question": "When does it open?",
                "options": ["At nine", "At five"],
                "answer": 0,
            }
        ],
    ),
}


def png(shade: int) -> bytes:
    """Make a grey picture of four pixels."""

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + bytes([shade, shade]) for _ in range(2))
    head = struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)
    parts = part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def add_kind(db: Session, blobs: Blobs, owner: Actor, folder: Path, name: str, toml: str, rows: Sequence[Any]) -> None:
    """Add a task with a test set and a project over all of it."""
    put_task(db, owner, f'name = "{name}"\n{toml}')
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_dataset(db, blobs, owner, name, "test", file, ImportPlan(role="test"))
    text = f'task = "{name}"\nname = "near"\ntitle = "Near {name}"\ndataset = "{name}/test"\npivots = {len(rows)}\n'
    put_project(db, blobs, owner, text + "limit = { most = 3 }\n")


def contrast_site(folder: Path) -> Workspace:
    """Make a workspace with projects over five kinds of tasks; that of `mood` has sets, a release and a model."""
    workspace = create_workspace(Settings(workspace=folder / "workspace", login_attempts=1000, model_calls=1000))
    blobs = workspace.blobs
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        builder = make_person(db, "bert", RoleName.BUILDER)
        for name in EXPERTS:
            make_person(db, name, RoleName.EXPERT)
        for name in ("olga", *EXPERTS):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
        begin(db, blobs, owner, folder)
        project(db, blobs, owner, "drafts = true\nscouting = 2\n")
        _write_and_check(db)
        release_project(db, blobs, owner, "mood/near")
        model = add_version(db, blobs, builder, folder, "simple")
        evaluated(db, blobs, model, lambda row: _simple(str(row["text"])), perturbed=(), measured=False)
        for name, (toml, rows) in TASKS.items():
            add_kind(db, blobs, owner, folder, name, toml, rows)
        pictures = [f"blob:{blobs.put(png(shade))}" for shade in (10, 200)]
        row = {"left_image": pictures[0], "right_image": pictures[1], "statement": "Both are dark.", "answer": "false"}
        add_kind(db, blobs, owner, folder, "pictures", 'kind = "image-pair"\ntitle = "Pictures"\n', [row])
    return workspace


def _simple(text: str) -> str:
    """Be a model that knows a few bad words."""
    return "negative" if any(word in text for word in ("dull", "rude", "filthy", "lost")) else "positive"


def _write_and_check(db: Session) -> None:
    xenia, yann = expert(db, "xenia"), expert(db, "yann")
    made = write(db, xenia, number=4)
    labels = dict(EDITS.values())
    for variant in made[:3]:
        asked = next_check(db, yann, "mood/near")
        assert asked is not None
        said = Opinion(labels[asked.inputs["text"]], minimal=True, sound=variant != made[2])
        check_variant(db, yann, "mood/near", asked.id, said)
