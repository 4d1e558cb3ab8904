"""What is different from the release before: of the same validation, or else the task's last one."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.datasheet import question
from quintain.core.escaping import markdown
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.records.release import Release
from quintain.services.data.content import scan_for_scoring
from quintain.services.data.datasets import get_version
from quintain.services.release.markdown import table
from quintain.store.blobs import Blobs

NOWHERE = "in none"


@dataclass(frozen=True, slots=True)
class Moves:
    """How the texts of a release stand to those of another: rows by where they were and are, and changed labels."""

    moved: dict[tuple[str, str], int]
    labels: int


def changelog(db: Session, blobs: Blobs, actor: Actor, release: Release, before: Release | None) -> str:
    """Write what changed since *before* as Markdown."""
    head = f"# Changelog: release {release.number} of {markdown(release.validation)}"
    if before is None:
        return f"{head}\n\nThe first release of this task.\n"
    changes = moves(db, blobs, actor, release, before)
    sizes = {split.split: split.rows for split in before.report.splits}
    rows = [(split.split, sizes.get(split.split, 0), split.rows) for split in release.report.splits]
    parts = [
        head,
        f"Against release {before.number} of {markdown(before.validation)}.",
        table(["split", "before", "now"], rows),
    ]
    if any(NOWHERE not in pair for pair in changes.moved):
        moved = [(was, now, count) for (was, now), count in sorted(changes.moved.items())]
        parts += ["Texts, by where they were and where they are:", table(["before", "now", "texts"], moved)]
        parts.append(f"{changes.labels:,} texts whose labels are open in both have another label now.")
    else:
        parts.append("No text is in both.")
    if release.report.model != before.report.model:
        parts.append(
            f"The model is {markdown(release.report.model or 'none')},"
            f" and was {markdown(before.report.model or 'none')}."
        )
    changed = {
        name: (before.spec.get(name), value) for name, value in release.spec.items() if before.spec.get(name) != value
    }
    if changed:
        parts += ["Options:", table(["option", "before", "now"], [(name, *pair) for name, pair in changed.items()])]
    answers, known = release.report.answers, before.report.answers
    others = [question(name) for name in {**known, **answers} if answers.get(name) != known.get(name)]
    if others:
        parts += ["The datasheet answers otherwise:", "\n".join(f"- {name}" for name in others)]
    return "\n\n".join(parts) + "\n"


def moves(db: Session, blobs: Blobs, actor: Actor, release: Release, before: Release) -> Moves:
    """Compare the texts of two releases; labels are compared where both show them."""
    both = _texts(db, blobs, actor, before).join(
        _texts(db, blobs, actor, release), on="id", how="full", coalesce=True, suffix="_now"
    )
    counts = both.select(pl.col("split", "split_now").fill_null(NOWHERE)).group_by("split", "split_now").len()
    shown = both.filter(~pl.col("hidden") & ~pl.col("hidden_now"))
    changed = shown.filter(pl.col("answer").ne_missing(pl.col("answer_now"))).height
    return Moves({(was, now): count for was, now, count in counts.iter_rows()}, changed)


def _texts(db: Session, blobs: Blobs, actor: Actor, release: Release) -> pl.DataFrame:
    tables = []
    for split in (Role.TRAIN.value, Role.DEV.value, Role.TEST.value):
        if split in release.versions:
            version = get_version(db, actor, release.versions[split])
            rows = scan_for_scoring(blobs, version).select("id", "answer")
            tables.append(rows.with_columns(split=pl.lit(split), hidden=pl.lit(version.hidden)))
    return pl.concat(tables).collect()
