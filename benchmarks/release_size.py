"""A release of DynaSent's size: 121,634 sentences with 608,170 responses, split, released and written in all formats.

    python benchmarks/release_size.py [--items 121634] [--writers 1000]

The round is made in a workspace of its own (that is not timed): texts of made-up words by so many writers, from prompts
with ratings, five votes each by 250 judges. Dev and test have 720 items each, as in the paper's second round. Wanted:
the split in under 30 s, everything in under 60 s and 2 GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from judgement_data import peak_megabytes
from rows import Row, print_rows

ITEMS, WRITERS, JUDGES, VOTES = 121_634, 1_000, 250, 5
LABELS = ("negative", "neutral", "positive")
TASK = """
name = "mood"
kind = "text-classification"
labels = ["negative", "neutral", "positive"]
extra_labels = [{name = "mixed", mixes = ["positive", "negative"]}]
"""
ROUND = 'task = "mood"\ntitle = "Fool it"\nnumber = 2\n[targets]\nmodels = ["mood/m"]\n'
MODEL = "mood/m@1"
CHUNK = 20_000
WORDS = 30_000


def texts(count: int, rng: np.random.Generator) -> list[str]:
    """Make sentences of twelve words, drawn as words are: few often, many seldom."""
    letters = rng.integers(ord("a"), ord("z") + 1, size=(WORDS, 7))
    words = np.array(["".join(map(chr, row[: 2 + at % 6])) for at, row in enumerate(letters)])
    often = 1 / (np.arange(WORDS) + 2.7)
    drawn = words[rng.choice(WORDS, size=(count, 12), p=often / often.sum())]
    return [" ".join(row) + f" {at:x}." for at, row in enumerate(drawn.tolist())]


def make(folder: Path, items: int, writers: int) -> None:
    """Make the workspace with the judged round."""
    from sqlalchemy import insert
    from sqlalchemy.orm import Session

    from quintain.compose import create_workspace
    from quintain.core.example import Example
    from quintain.core.people import OPERATOR
    from quintain.services.tasks.definitions import put_task
    from quintain.services.validate.console.manage import open_validation
    from quintain.settings import Settings
    from quintain.store.database import transaction
    from quintain.store.tables import Attempt, Judgement, Prompt, Round, RoundVersion, User, Validation, ValidationItem

    rng = np.random.default_rng(1)
    truth, said = rng.integers(0, 3, items), rng.integers(0, 3, items)
    sure = rng.random(items) < 0.8
    vote = np.where(rng.random((items, VOTES)) < np.where(sure, 0.98, 0.6)[:, None], truth[:, None], -1)
    vote = np.where(vote < 0, rng.integers(0, 4, vote.shape), vote)
    judge = (rng.integers(0, JUDGES, items)[:, None] + np.arange(VOTES) * (JUDGES // VOTES)) % JUDGES
    names = (*LABELS, "mixed")

    def add(db: Session, table: Any, rows: list[dict[str, Any]]) -> None:
        for start in range(0, len(rows), CHUNK):
            db.execute(insert(table), rows[start : start + CHUNK])

    workspace = create_workspace(Settings(workspace=folder))
    with workspace.session() as db:
        put_task(db, OPERATOR, TASK)
        with transaction(db):
            people = [{"id": at, "name": f"p{at}", "display_name": f"P{at}"} for at in range(1, writers + JUDGES + 1)]
            add(db, User, people)
            row = Round(task_id=1, number=2, state="closed", entry_key="k")
            db.add(row)
            db.flush()
            db.add(RoundVersion(round_id=row.id, number=1, toml=ROUND))
        open_validation(db, OPERATOR, "mood/2")
        said_texts = texts(items, rng)
        prompts = [
            {"id": at + 1, "round_id": 1, "hash": f"{at:032x}", "inputs": {"text": f"prompt {at}"}, "draw": at}
            for at in range(items)
        ]
        attempts, judged, votes = [], [], []
        for at, text in enumerate(said_texts):
            shares = {name: round(0.1 + 0.7 * (code == said[at]), 3) for code, name in enumerate(LABELS)}
            own = {
                "hash": Example({"text": text}).id,
                "inputs": {"text": text},
                "aim": LABELS[truth[at]],
                "predictions": [{"model": MODEL, "answer": LABELS[said[at]], "probabilities": shares}],
                "source": {"rating": int(rng.integers(1, 6))},
            }
            writer = 1 + at % writers
            attempts.append(
                {**own, "id": at + 1, "round_id": 1, "user_id": writer, "prompt_id": at + 1, "text_key": own["hash"]}
                | {"condition": "prompt", "target": own["aim"], "fooled": bool(said[at] != truth[at])}
            )
            judged.append(
                {
                    **own,
                    "id": at + 1,
                    "validation_id": 1,
                    "attempt_id": at + 1,
                    "author_id": writer,
                    "answer": own["aim"],
                }
            )
            votes += [
                {"validation_id": 1, "item_id": at + 1, "user_id": writers + 1 + int(who), "label": names[code]}
                for who, code in zip(judge[at], vote[at], strict=True)
            ]
        with transaction(db):
            for table, rows in ((Prompt, prompts), (Attempt, attempts), (ValidationItem, judged), (Judgement, votes)):
                add(db, table, rows)
            db.get_one(Validation, 1).state = "closed"


def measure(folder: Path) -> dict[str, float]:
    """Split, release and write; give the seconds of each and the greatest memory in MiB."""
    from quintain.compose import open_workspace
    from quintain.core.people import OPERATOR
    from quintain.core.release import ReleaseSpec
    from quintain.services.plain.files.splits import plan_splits
    from quintain.services.release.bundle import write_bundle
    from quintain.services.release.candidates import gather
    from quintain.services.release.releases import release
    from quintain.services.validate.console.manage import find_validation
    from quintain.settings import Settings

    workspace = open_workspace(Settings(workspace=folder))
    spec = ReleaseSpec(dev=720, test=720)
    found: dict[str, float] = {}
    with workspace.session() as db:
        clock = time.perf_counter()
        candidates = gather(db, workspace.blobs, find_validation(db, "mood/2"), spec)
        found["gather"] = time.perf_counter() - clock
        clock = time.perf_counter()
        plan_splits(candidates, spec)
        found["split"] = time.perf_counter() - clock
        del candidates
        clock = time.perf_counter()
        made = release(db, workspace.blobs, OPERATOR, "mood/2", spec)
        found["release"] = time.perf_counter() - clock
        clock = time.perf_counter()
        write_bundle(db, workspace.blobs, OPERATOR, "mood/2", made.number or 1, folder.parent / "bundle")
        found["formats"] = time.perf_counter() - clock
    found["memory"] = peak_megabytes()
    return found


def main() -> None:
    """Make the round, measure in a process of its own, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--writers", type=int, default=WRITERS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure)))
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "workspace"
        make(place, given.items, given.writers)
        command = [sys.executable, __file__, "--measure", str(place)]
        done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    print_rows(
        [
            Row("release_size", f"split of {given.items:,} items", f"{done['split']:.1f} s", "30 s"),
            Row("release_size", "release: read, split, kept", f"{done['release']:.1f} s"),
            Row("release_size", "all formats", f"{done['formats']:.1f} s"),
            Row("release_size", "release and formats", f"{done['release'] + done['formats']:.1f} s", "60 s"),
            Row("release_size", "greatest memory", f"{done['memory']:,.0f} MiB", "2 GB"),
        ]
    )


if __name__ == "__main__":
    main()
