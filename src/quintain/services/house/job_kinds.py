"""What workers do outside of requests, of every room, in one list; only those who do it, or check it, import this."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.services.access.permissions import require_admin
from quintain.services.board.materialised import BOARD, invalidate, whole_boards
from quintain.services.board.uncertainty import UNCERTAINTY, check_small
from quintain.services.collect.rounds.export import ATTEMPTS_FILE
from quintain.services.collect.rounds.round_figures import ROUND
from quintain.services.collect.rounds.round_pay import JOB as APPROVE
from quintain.services.collect.rounds.round_pay import approve_many
from quintain.services.contest import recount as contest_recount
from quintain.services.contest.figures import LISTED, SCORE
from quintain.services.contrast.results import check_contrast
from quintain.services.data import import_jobs
from quintain.services.evaluate.cells import recount
from quintain.services.evaluate.results.compare import JOB as COMPARE
from quintain.services.evaluate.results.compare import do_comparison
from quintain.services.jobs import checking, exports
from quintain.services.jobs.checks import Checked, CheckKind
from quintain.services.jobs.counts import CountKind, Numbers, counts_of
from quintain.services.jobs.figures import FigureKind, ReportProgress, check_kinds, handler_of, rebuild
from quintain.services.jobs.running import Handlers
from quintain.services.models import baselines
from quintain.services.models.ask import RUNNERS, AdapterRunner
from quintain.services.pay.recounts import pay_kinds
from quintain.services.release import release_jobs
from quintain.services.release.bundle import BUNDLE_FILE
from quintain.services.study import coding_figures, study_jobs
from quintain.services.study.abilities import ABILITIES
from quintain.services.study.stored_reports import FIGURES
from quintain.services.study.studies import KIND as STUDY
from quintain.services.trial.stored_report import REPORT
from quintain.services.validate.console import harvest_jobs
from quintain.services.validate.console.export import JUDGEMENTS_FILE, LABELS_FILE
from quintain.services.validate.console.intake import JOB as TAKE_IN
from quintain.services.validate.console.manage import PREPARE
from quintain.services.validate.console.prepare import prepare, take_in
from quintain.services.validate.quality import review
from quintain.services.validate.quality.validation_figures import VALIDATION
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.collect import attempts, flags, prompts
from quintain.store.queries.evaluate import results
from quintain.store.queries.pay import earnings, owed
from quintain.store.queries.study.coding import refs_with_figures
from quintain.store.queries.validate import item_figures


def figure_kinds() -> tuple[FigureKind, ...]:
    """Name the kinds of figures that are kept up as facts arrive."""
    return (BOARD, UNCERTAINTY, ABILITIES, ROUND, VALIDATION, REPORT, LISTED, SCORE, *FIGURES.values())


def count_kinds() -> tuple[CountKind, ...]:
    """Name the numbers that are kept beside their facts, those first that others are counted from."""
    return (
        CountKind("where flags stand", _nothing, _misplaced_flags, _place_flags),
        *pay_kinds(),
        counts_of(flags.COUNTED, flags.counted),
        counts_of(attempts.COUNTED, attempts.counted),
        counts_of(prompts.COUNTED, prompts.counted),
        counts_of(earnings.COUNTED, earnings.counted),
        counts_of(earnings.SPENT, earnings.counted_in_arms),
        counts_of(item_figures.CONTESTED, item_figures.counted),
        CountKind("owed", owed.stored_counts, owed.counted, lambda db, stored, counted: owed.replace(db, counted)),
    )


def check_others() -> tuple[CheckKind, ...]:
    """Name what else is kept: what is computed from the answers of models, and from what people said of texts."""
    return (
        CheckKind(recount.KIND, recount.scored_pairs, _check_cells),
        CheckKind(
            "figures of contrast sets", lambda db: recount.scored_pairs(db, role=Role.CONTRAST.value), check_contrast
        ),
        CheckKind("how sure a board is", lambda db: list(whole_boards(db)), check_small),
        CheckKind(contest_recount.KIND, contest_recount.contests, contest_recount.check_contest),
        CheckKind(coding_figures.KIND, refs_with_figures, coding_figures.check_coding),
    )


def _check_cells(db: Session, blobs: Blobs, subject: str) -> Checked:
    """Check the figures of runs; boards that were made of wrong ones are thrown away."""
    checked = recount.check_cells(db, blobs, subject)
    if checked.faults:
        invalidate(db, recount.cells_of(db, subject)[0].task.name, (BOARD.name, UNCERTAINTY.name))
    return checked


def everything_checked() -> list[CheckKind]:
    """Name all that is kept, what others rest on first."""
    return check_kinds(figure_kinds(), count_kinds(), check_others())


def rebuild_all(db: Session, blobs: Blobs, actor: Actor, tell: ReportProgress) -> int:
    """Throw all that is kept away and compute it again from the facts; give how many figures there are (admins).

    What was computed from answers for somebody who asked, as a comparison, is thrown away and computed when asked for.
    """
    require_admin(actor)
    pairs, began = recount.scored_pairs(db), now()
    for number, subject in enumerate(pairs):
        tell(number, len(pairs))
        recount.rebuild_cells(db, blobs, subject)
    db.rollback()
    with transaction(db):
        results.forget_before(db, began)
    return len(pairs) + rebuild(db, blobs, actor, figure_kinds(), count_kinds(), tell)


def _nothing(db: Session) -> Numbers:
    return {}


def _misplaced_flags(db: Session) -> Numbers:
    return {("flag", row["flag_id"]): 1 for row in flags.misplaced(db)}


def _place_flags(db: Session, stored: Numbers, counted: Numbers) -> None:
    flags.replace(db, flags.misplaced(db))


def job_handlers(runners: Mapping[str, AdapterRunner] = RUNNERS, checkpoints: Path | None = None) -> Handlers:
    """Return what a worker does for each kind of job.

    Models that are asked run through *runners*; recipes of studies begin with folders in *checkpoints*.
    """
    figures = {kind.job: handler_of(kind) for kind in figure_kinds()}
    files = {kind.job: exports.handler_of(kind) for kind in (ATTEMPTS_FILE, JUDGEMENTS_FILE, LABELS_FILE, BUNDLE_FILE)}
    return {
        COMPARE: do_comparison,
        baselines.JOB: baselines.do_baselines,
        harvest_jobs.JOB: harvest_jobs.handler_of(runners),
        import_jobs.JOB: import_jobs.do_import,
        STUDY: study_jobs.handler_of(checkpoints),
        release_jobs.LOOK: release_jobs.run_preview_job,
        release_jobs.MAKE: release_jobs.run_release_job,
        **figures,
        **files,
        **review.handlers(),
        PREPARE: prepare,
        TAKE_IN: take_in,
        APPROVE: approve_many,
        checking.JOB: checking.handler_of(everything_checked()),
    }
