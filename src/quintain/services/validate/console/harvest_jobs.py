"""Harvests that a worker does: a corpus is read, a model asked, and the sample is the task's next round.

    job = ask_harvest(db, blobs, owner, "sentiment", WantedHarvest("sentiment/ngram", rules="labels"), file=path)

What a worker has done is kept every half a minute: one that takes it over asks the model about the rest alone.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.jobs import JobStanding
from quintain.data.harvest_rules import NAMED_RULES, parse_rules
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.data.content import scan
from quintain.services.data.datasets import get_version
from quintain.services.harvest.model import HarvestTarget
from quintain.services.harvest.report import HarvestReport
from quintain.services.harvest.run import Harvesting, check_harvest, harvest
from quintain.services.harvest.state import HarvestState
from quintain.services.harvest.stored_model import target_from_workspace
from quintain.services.jobs import queue
from quintain.services.jobs.exports import drop_old
from quintain.services.jobs.running import Handler, JobEnded, JobRun
from quintain.services.models.ask import RUNNERS, AdapterRunner
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.console.harvests import add_harvest
from quintain.services.validate.policy import parse_policy
from quintain.store.blobs import Blobs
from quintain.store.database import transaction

JOB = "harvest"
EVERY_S = 30.0  # between two times that what was done is kept
ROWS = 20  # of a data set that are looked at before a worker reads all of it
RATING = "rating:"  # before the number, in a tag


@dataclass(frozen=True, slots=True)
class HarvestRequest:
    """What is harvested, and how: sentences of an uploaded file or of a *dataset*, by a *model* of the task.

    *rules* is the name of a rule (`contradictions`, `labels`, `unsure`), or rules as TOML. *columns* says what `text`,
    `rating` and `id` are called in a file.
    """

    model: str
    rules: str = "contradictions"
    where: str = ""
    size: int | None = None
    seed: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    dataset: str = ""
    title: str = ""
    policy: str = ""

    def settings(self) -> Harvesting:
        """Return the settings that harvesting takes; refuse rules that are wrong."""
        rules = parse_rules(NAMED_RULES.get(self.rules.strip(), self.rules))
        return Harvesting(rules=rules, where=self.where, size=self.size, seed=self.seed, columns=self.columns)


def ask_harvest(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    request: HarvestRequest,
    *,
    file: Path | None = None,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
) -> JobStanding:
    """Have a worker harvest from *file* or from the wanted data set; what is wrong is said at once. For owners.

    The file is kept for a day, and so is what a worker has done. Models that are not ours run through *runners*.
    """
    definition = get_task(db, task)
    require_owner(actor, task)
    if (file is None) == (not request.dataset):
        raise BadInput("The corpus is a file or a data set.", remedy="Choose one of them.")
    target = target_from_workspace(db, blobs, actor, request.model, task=task, runners=runners)
    request = replace(request, model=target.name)
    if request.policy.strip():
        parse_policy(request.policy)
    if request.dataset:
        version = get_version(db, actor, request.dataset)
        if version.hidden:
            raise Conflict(
                "The labels of {ref} are hidden, and a round of its texts would show them.",
                ref=version.ref,
                remedy="Harvest from another data set.",
            )
        request = replace(request, dataset=version.ref)
    with tempfile.TemporaryDirectory(prefix="quintain-harvest-") as folder:
        source = file or _from_dataset(db, blobs, actor, request.dataset, target, Path(folder), rows=ROWS)
        check_harvest([source], target, request.settings())
    params: dict[str, Any] = {"wanted": asdict(request), "task": definition.name}
    if file is not None:
        with file.open("rb") as stream:
            params |= {"file": file.name, "hash": file_digest(stream, "sha256").hexdigest()}
    subject = f"{task} {content_id(params)[:16]}"
    known = queue.newest(db, JOB, subject)
    if known is not None and known.going:
        return known
    if file is not None:
        params["kept"] = _keep_upload(blobs, file)
    with transaction(db):
        audit.record(db, actor, "harvest.start", task, model=request.model, dataset=request.dataset)
        return queue.enqueue(db, JOB, subject, task=task, by=actor, params=params)


def find_harvest(db: Session, actor: Actor, task: str, number: int) -> JobStanding:
    """Return how far a harvest of *task* is, and what came of it (owners)."""
    require_owner(actor, task)
    job = queue.get_job(db, actor, number)
    if job.kind != JOB or job.task != task:
        raise Conflict("Job {number} is no harvest of task '{task}'.", number=number, task=task)
    return job


def handler_of(runners: Mapping[str, AdapterRunner]) -> Handler:
    """Return what does a harvest whose model runs through *runners*."""
    return partial(do_harvest, runners=runners)


def do_harvest(run: JobRun, *, runners: Mapping[str, AdapterRunner] = RUNNERS) -> Mapping[str, Any]:
    """Harvest, as a job, and make the sample a round; what is cancelled leaves none."""
    task, request = run.params["task"], HarvestRequest(**run.params["wanted"])
    work = _Work(run)
    with run.sessions() as db, tempfile.TemporaryDirectory(prefix="quintain-harvest-") as name:
        folder, actor = Path(name), run.asker(db)
        target = target_from_workspace(db, run.blobs, actor, request.model, task=task, runners=runners)
        with _corpus(db, run, actor, request, target, folder) as source:
            sample, size = folder / "sample.jsonl", source.stat().st_size
            db.rollback()  # the reading is over: it may take hours
            report = harvest(
                [source],
                target,
                sample,
                request.settings(),
                progress=lambda done, _: run.report_progress(min(done, size), size),
                begin_at=work.begin_at(),
                keep=work.keep,
            )
        with transaction(db):
            info = add_harvest(
                db,
                actor,
                task,
                sample,
                title=request.title,
                model=request.model,
                policy_toml=request.policy or None,
                seed=request.seed,
            )
            run.save_within(db, {})  # nobody else is at it, and nobody has cancelled it
    work.forget()
    return _result(report, info.ref)


class _Work:
    """What a worker has done of a harvest, kept now and then for whoever takes it over."""

    def __init__(self, run: JobRun) -> None:
        self.run, self.at, self.name = run, time.monotonic(), str(run.checkpoint.get("kept", ""))

    def begin_at(self) -> HarvestState | None:
        """Return what was kept; None where nothing was, or it was thrown away."""
        path = self.run.blobs.passing(self.name) if self.name else None
        return HarvestState.read(path, self.run.checkpoint["state"]) if path is not None else None

    def keep(self, state: Callable[[], HarvestState]) -> None:
        """Keep what was done, where that is due or the worker is to end."""
        if time.monotonic() - self.at < EVERY_S and not self.run.stop.is_set():
            return
        before = self.name
        with self.run.blobs.scratch(suffix=".parquet") as path:
            data = state().write(path)
            self.name = self.run.blobs.put_passing(path)
        try:
            self.run.save({"kept": self.name, "state": data})
        except JobEnded:
            self.forget()
            raise
        self.at = time.monotonic()
        self._drop(before)

    def forget(self) -> None:
        """Throw away what was kept."""
        self._drop(self.name)

    def _drop(self, name: str) -> None:
        path = self.run.blobs.passing(name) if name else None
        if path is not None:
            path.unlink(missing_ok=True)


def _keep_upload(blobs: Blobs, file: Path) -> str:
    drop_old(blobs)
    with blobs.scratch(suffix=".data") as path:
        shutil.copyfile(file, path)
        return blobs.put_passing(path)


@contextmanager
def _corpus(
    db: Session, run: JobRun, actor: Actor, request: HarvestRequest, target: HarvestTarget, folder: Path
) -> Iterator[Path]:
    """Yield the file to read: the one that was sent, or one that is written from a data set."""
    if request.dataset:
        yield _from_dataset(db, run.blobs, actor, request.dataset, target, folder)
        return
    uploaded = run.blobs.passing(run.params["kept"])
    if uploaded is None:
        raise Conflict("The file was thrown away.", remedy="Send it again.")
    source = folder / run.params["file"]
    source.symlink_to(uploaded)
    yield source


def _from_dataset(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    target: HarvestTarget,
    folder: Path,
    *,
    rows: int | None = None,
) -> Path:
    """Write the texts of a data set version as a corpus, with the ratings that its tags or its rows' facts name.

    Only the first *rows*, where that many are enough.
    """
    table = scan(db, blobs, actor, ref, answers=False)
    columns = table.collect_schema()
    if target.field not in columns:
        raise BadInput("{ref} has no field '{field}'.", ref=ref, field=target.field)
    tagged = pl.col("tags").list.eval(pl.element().filter(pl.element().str.starts_with(RATING))).list.first()
    ratings = [tagged.str.strip_prefix(RATING)] if "tags" in columns else []
    if "meta" in columns:
        ratings += [pl.col("meta").str.json_path_match(path) for path in ("$.source.rating", "$.rating")]
    rating = pl.coalesce(ratings).cast(pl.Float64(), strict=False).alias("rating") if ratings else None
    rated = rating is not None and table.select(rating.is_not_null().any()).collect().item()
    picked = table.select("id", pl.col(target.field).alias("text"), *([rating] if rating is not None and rated else []))
    path = folder / "corpus.parquet"
    (picked if rows is None else picked.head(rows)).collect().write_parquet(path)
    return path


def _result(report: HarvestReport, ref: str) -> dict[str, Any]:
    """Return what came of it, without the counts of every cell."""
    figures = report.as_dict()
    names = ("name", "wanted", "taken", "seen", "distinct", "estimated")
    return {
        "round": ref,
        "size": figures["size"],
        "taken": figures["taken"],
        "rows": figures["rows"],
        "faults": [str(fault) for fault in report.tally.faults],
        "sentences": figures["sentences"],
        "strata": [{name: stratum[name] for name in names} for stratum in figures["strata"]],
        "short": sum(shortfall["short"] for shortfall in figures["shortfalls"]),
        "seconds": figures["seconds"],
    }
