"""What workers do outside of requests, of every room, in one list; only those who do it, or check it, import this."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.services.board.kept import BOARD
from quintain.services.board.uncertainty import UNCERTAINTY
from quintain.services.collect.export import ATTEMPTS_FILE
from quintain.services.collect.round_figures import ROUND
from quintain.services.evaluate.compare import JOB as COMPARE
from quintain.services.evaluate.compare import do_comparison
from quintain.services.jobs import exports
from quintain.services.jobs.counts import CountKind, Numbers, counts_of
from quintain.services.jobs.figures import FigureKind, handler_of
from quintain.services.jobs.running import Handlers
from quintain.services.study.abilities import ABILITIES
from quintain.services.study.making import make_study
from quintain.services.study.studies import KIND as STUDY
from quintain.services.trial.kept_report import REPORT
from quintain.services.validate import review
from quintain.services.validate.export import JUDGEMENTS_FILE, LABELS_FILE
from quintain.services.validate.kept import VALIDATION
from quintain.services.validate.preparing import prepare, take_in
from quintain.services.validate.taking_in import JOB as TAKE_IN
from quintain.services.validate.validations import PREPARE
from quintain.store.queries.collect import attempts, flags, prompts
from quintain.store.queries.pay import earnings, owed
from quintain.store.queries.validate import item_figures


def figure_kinds() -> tuple[FigureKind, ...]:
    """Name the kinds of figures that are kept up as facts arrive."""
    return (BOARD, UNCERTAINTY, ABILITIES, ROUND, VALIDATION, REPORT)


def count_kinds() -> tuple[CountKind, ...]:
    """Name the numbers that are kept beside their facts, those first that others are counted from."""
    return (
        CountKind("where flags stand", _nothing, _misplaced_flags, _place_flags),
        counts_of(flags.COUNTED, flags.counted),
        counts_of(attempts.COUNTED, attempts.counted),
        counts_of(prompts.COUNTED, prompts.counted),
        counts_of(earnings.COUNTED, earnings.counted),
        counts_of(item_figures.CONTESTED, item_figures.counted),
        CountKind("owed", owed.kept, owed.counted, lambda db, kept, counted: owed.replace(db, counted)),
    )


def _nothing(db: Session) -> Numbers:
    return {}


def _misplaced_flags(db: Session) -> Numbers:
    return {("flag", row["flag_id"]): 1 for row in flags.misplaced(db)}


def _place_flags(db: Session, kept: Numbers, counted: Numbers) -> None:
    flags.replace(db, flags.misplaced(db))


def job_handlers() -> Handlers:
    """Say what a worker does for each kind of job."""
    figures = {kind.job: handler_of(kind) for kind in figure_kinds()}
    files = {kind.job: exports.handler_of(kind) for kind in (ATTEMPTS_FILE, JUDGEMENTS_FILE, LABELS_FILE)}
    return {
        COMPARE: do_comparison,
        STUDY: make_study,
        **figures,
        **files,
        **review.handlers(),
        PREPARE: prepare,
        TAKE_IN: take_in,
    }
