"""Proves on the files of a bundle what a release promises. Standard library only: nothing of ours, nor the solver.

    python tests/released_files.py FOLDER [--answers]

It reads `dynasent/*.jsonl` and counts; of texts that are withheld nothing can be compared. With `--answers` the
hidden answers of test are in the folder, too; without,
what can be known of test without them is proved, and that they are not there.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]
AGREEMENT = 0.8
SIMILAR = 0.7


def read(folder: Path) -> dict[str, list[Row]]:
    """Read the splits of a bundle."""
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted((folder / "dynasent").glob("*.jsonl"))
    }


def faults(folder: Path, *, answers: bool, labels: tuple[str, ...], rated: bool, disjoint: bool) -> list[str]:
    """List every promise that is broken in the files of *folder*."""
    splits = read(folder)
    found = [*_apart(splits, disjoint=disjoint), *_near(splits)]
    for name, rows in splits.items():
        if name == "train":
            continue
        if any("gold_label" not in row for row in rows):
            found.append(f"{name}: a row has no field gold_label")
        elif name == "test" and not answers:
            found += [f"{name}: {row['text_id']} shows its label" for row in rows if _shows(row)]
        else:
            found += _held_out(name, rows, labels, rated=rated)
    return found


def _shows(row: Row) -> bool:
    return row["gold_label"] is not None or row["label_distribution"] is not None


def _held_out(name: str, rows: list[Row], labels: tuple[str, ...], *, rated: bool) -> Iterable[str]:
    """Check balance, chance, agreement, even ratings and unique prompts."""
    gold = Counter(row["gold_label"] for row in rows)
    if gold != dict.fromkeys(labels, len(rows) // len(labels)):
        yield f"{name}: classes are not balanced: {dict(gold)}"
    said = next(key for key in rows[0] if key.startswith("model_") and key.endswith("_label"))
    for label in labels:
        hits = sum(row["gold_label"] == row[said] == label for row in rows)
        either = sum(row["gold_label"] == label for row in rows) + sum(row[said] == label for row in rows)
        if either == 0 or abs(2 * hits / either - 1 / len(labels)) > 1e-9:
            yield f"{name}: F1 on {label} is {2 * hits / max(either, 1):.4f}"
    for row in rows:
        votes = {label: len(who) for label, who in row["label_distribution"].items()}
        if votes[row["gold_label"]] < AGREEMENT * sum(votes.values()) - 1e-9:
            yield f"{name}: {row['text_id']} has too little agreement: {votes}"
        if "has_prompt" in row and not row["has_prompt"]:
            yield f"{name}: {row['text_id']} has no prompt"
    if rated:
        tables = [Counter(_rating(row) for row in rows if row["gold_label"] == label) for label in labels]
        if any(table != tables[0] for table in tables):
            yield f"{name}: ratings tell the class: {tables}"


def _rating(row: Row) -> Any:
    return row["prompt_data"]["review_rating"] if row.get("prompt_data") else row.get("review_rating")


def _apart(splits: dict[str, list[Row]], *, disjoint: bool) -> Iterable[str]:
    """Check that no text, no prompt and (where asked) no writer is in two splits."""
    for what, key in (("text", "sentence"), ("id", "text_id")):
        seen = Counter(row[key] for rows in splits.values() for row in rows if row[key] is not None)
        yield from (f"the {what} {name!r} is there {count} times" for name, count in seen.items() if count > 1)
    held = [row for name, rows in splits.items() if name != "train" for row in rows if row.get("prompt_data")]
    every = Counter(
        row["prompt_data"]["prompt_sentence"] for rows in splits.values() for row in rows if row.get("prompt_data")
    )
    for row in held:
        if every[row["prompt_data"]["prompt_sentence"]] > 1:
            yield f"the prompt of {row['text_id']} is used twice"
    if disjoint:
        homes: dict[str, set[str]] = {}
        for name, rows in splits.items():
            for row in rows:
                if row.get("sentence_author"):
                    homes.setdefault(row["sentence_author"], set()).add(name)
        yield from (f"writer {who} is in {sorted(where)}" for who, where in homes.items() if len(where) > 1)


def _near(splits: dict[str, list[Row]]) -> Iterable[str]:
    """Compare every held-out text with every other one: none is nearly the same as one of another split."""
    grams = {
        name: [(row["text_id"], _grams(row["sentence"])) for row in rows if row["sentence"] is not None]
        for name, rows in splits.items()
    }
    for name, mine in grams.items():
        if name == "train":
            continue
        for other, theirs in grams.items():
            if other == name:
                continue
            for own, a in mine:
                for its, b in theirs:
                    if a and b and len(a & b) >= SIMILAR * len(a | b):
                        yield f"{own} ({name}) and {its} ({other}) are nearly the same"


def _grams(text: str) -> frozenset[str]:
    plain = " ".join("".join(one if one.isalnum() else " " for one in text.lower()).split())
    return frozenset(plain[at : at + 5] for at in range(max(len(plain) - 4, 1)))


if __name__ == "__main__":
    broken = faults(
        Path(sys.argv[1]),
        answers="--answers" in sys.argv,
        labels=("negative", "neutral", "positive"),
        rated=True,
        disjoint=True,
    )
    sys.stdout.write("\n".join(broken or ["All that was promised holds."]) + "\n")
    sys.exit(bool(broken))
