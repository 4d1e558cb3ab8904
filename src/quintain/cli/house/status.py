"""`quintain status`: what is in a workspace, and whether it works."""

from __future__ import annotations

from typing import Annotated

import typer
from sqlalchemy.orm import Session

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag
from quintain.cli.sandbox import sandbox_facts, sandbox_lines
from quintain.compose import Workspace, require_engine
from quintain.core.people import OPERATOR
from quintain.core.records.access import MailQueue
from quintain.core.records.jobs import FigureCheck, FigureFault, LoopReport
from quintain.core.records.pay import BooksCheck
from quintain.core.records.queue import RunQueue
from quintain.services.evaluate.cells.queue import run_queue
from quintain.services.house import health, mailing
from quintain.services.house.backup import LastBackup
from quintain.services.pay import ledger


def status(
    context: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Also compare every kept figure with its facts.")] = False,
    json: JsonFlag = False,
) -> None:
    """Show the workspace, its database and migrations, what it holds, the room that is left and the sandbox.

    Exit with 1 when something does not work or the last backup could not be verified, or with --check when a kept
    figure did not agree with its facts: such a figure is computed again. So it does where the books of pay do not.
    Example: quintain status --check
    """
    workspace = workspace_of(context, check=False)
    require_engine(workspace.settings)
    with workspace.session() as db:
        report = health.status(db, workspace.blobs, OPERATOR)
        readiness = health.readiness(db, workspace.blobs)
        works = all(check.ok for check in readiness.checks)
        mails = mailing.mail_queue(db, OPERATOR, workspace.mail, limit=1) if works else None
        queue = run_queue(db, OPERATOR) if works else None
        figures = _checked_figures(workspace, db) if check and works else None
        books = ledger.check(db, OPERATOR) if check and works else None
    if json:
        output.print_json(
            {
                "workspace": workspace.settings.workspace.absolute(),
                "status": report,
                "checks": readiness.checks,
                "loops": readiness.loops,
                "mails": None if mails is None else _mail_counts(mails),
                "queue": queue,
                "figures": figures,
                "books": books,
                "sandbox": sandbox_facts(workspace.settings),
            }
        )
    else:
        facts = [
            ("workspace", workspace.settings.workspace.absolute()),
            ("version", report.version),
            ("database", report.database),
            ("migration", report.migration or "none"),
            ("blobs", f"{report.blobs} ({output.size(report.blob_bytes)})"),
            ("disk free", f"{output.size(report.disk_free)} of {output.size(report.disk_total)}"),
            ("links in e-mails", workspace.settings.link_address or "none: set QUINTAIN_PUBLIC_URL"),
            *((name.replace("_", " "), count) for name, count in report.rows.items() if count),
            *_queue_facts(queue),
            *_figure_facts(figures),
            *_book_facts(books),
            *_mail_facts(mails),
            *_backup_facts(report.backup),
            *((f"check: {check.name}", "ok" if check.ok else check.detail) for check in readiness.checks),
            *((f"loop: {loop.name}", _loop_words(loop)) for loop in readiness.loops),
            *(("sandbox", line.removeprefix("Sandbox: ").strip()) for line in sandbox_lines(workspace.settings)),
        ]
        output.print_table(("what", "value"), facts)
    unsafe = report.backup is not None and report.backup.failed_at is not None
    if not works or unsafe or (figures is not None and figures.faults) or (books is not None and not books.ok):
        raise typer.Exit(1)


def _checked_figures(workspace: Workspace, db: Session) -> FigureCheck:
    """Compare every kept figure with its facts."""
    from quintain.services.house import job_kinds  # all that computes, which nothing else here needs
    from quintain.services.jobs import checking
    from quintain.services.jobs.figures import check

    kinds = job_kinds.figure_kinds(), job_kinds.count_kinds(), job_kinds.check_others()
    outcome = check(db, workspace.blobs, OPERATOR, *kinds)
    checking.note(db, outcome.checked, outcome.faults)
    return outcome


def _figure_facts(outcome: FigureCheck | None) -> list[tuple[str, str]]:
    """Return how kept figures compare with their facts; nothing where nobody asked."""
    if outcome is None:
        return []
    wrong = [(_outcome(fault), f"{fault.kind} of {fault.subject}") for fault in outcome.faults]
    return [("figures", f"{outcome.checked} checked, {len(wrong)} wrong, {outcome.outrun} being computed anew"), *wrong]


def _book_facts(outcome: BooksCheck | None) -> list[tuple[str, str]]:
    """Return whether the books agree with the facts of pay; nothing where nobody asked."""
    if outcome is None:
        return []
    wrong = [
        ("books: wrong", f"{discrepancy.place}: {discrepancy.booked}, not {discrepancy.counted}")
        for discrepancy in outcome.discrepancies
    ]
    return [("books", f"{outcome.transactions} transactions, {len(wrong)} differences"), *wrong]


def _backup_facts(last: LastBackup | None) -> list[tuple[str, str]]:
    """Return when a backup was verified last, and whether a later one could not be."""
    if last is None:
        return []
    verified = f"{last.verified_at:%Y-%m-%d %H:%M} UTC, {last.file}" if last.verified_at else "none yet"
    facts = [("last verified backup", verified)]
    if last.failed_at:
        facts.append(("check: backup", f"not verified at {last.failed_at:%Y-%m-%d %H:%M} UTC: {last.reason}"))
    return facts


def _outcome(fault: FigureFault) -> str:
    return "figure: could not be counted" if "error" in fault.counted else "figure: repaired"


def _mail_counts(mails: MailQueue) -> dict[str, object]:
    return {name: mails[name] for name in ("enabled", "waiting", "failed", "oldest")}


def _mail_facts(mails: MailQueue | None) -> list[tuple[str, str]]:
    """Return how many e-mails wait or failed; nothing where there are none or nobody could be asked."""
    if mails is None or not mails.total:
        return []
    since = f", the oldest since {mails.oldest:%Y-%m-%d %H:%M}" if mails.oldest else ""
    off = "" if mails.enabled else "; none is sent: set QUINTAIN_SMTP_URL"
    return [("e-mails", f"{mails.waiting} waiting{since}, {mails.failed} failed{off}")]


def _loop_words(loop: LoopReport) -> str:
    """Return how a loop of a running server or worker fares."""
    at = "never" if loop.succeeded_at is None else f"{loop.succeeded_at:%Y-%m-%d %H:%M}"
    failed = f"; failed at {loop.failed_at:%Y-%m-%d %H:%M}: {loop.reason}" if loop.failed_at else ""
    return f"{loop.condition}, last success: {at}{failed}"


def _queue_facts(queue: RunQueue | None) -> list[tuple[str, str]]:
    """Return how evaluation goes; nothing where the store cannot be asked."""
    if queue is None:
        return []
    waiting = queue.states.get("queued", 0)
    idle = "; no worker is at them: start `quintain worker`" if queue.idle else ""
    facts = [("runs", f"{len(queue.running)} at work, {waiting} waiting, {queue.failed} failed in a day{idle}")]
    facts += [("runs: waiting for the sandbox", str(one.runs)) for one in queue.waiting if one.waits_for]
    return facts + [("run: stuck", f"{run.id}, {run.model} on {run.dataset}") for run in queue.stuck]
