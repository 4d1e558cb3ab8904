"""One round: for everybody what it asks; for its owners how it goes, its texts, prompts, flags and pay; its states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, Unavailable
from quintain.core.records.collect import Counters, PromptReport, RoundCount
from quintain.core.rounds import RoundKind
from quintain.core.task import Task
from quintain.services.collect.panels import entry
from quintain.services.collect.panels.panel_ids import LINK
from quintain.services.collect.rounds import export as attempt_export
from quintain.services.collect.rounds import manage, prompts, round_figures
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.rounds.target_names import spec_for
from quintain.services.collect.writing import list_attempts
from quintain.services.jobs.exports import ExportRequest
from quintain.services.pay import earnings
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.exporting import export_page
from quintain.web.files import on_disk
from quintain.web.listing import SIZE
from quintain.web.pages.begun import begun_session
from quintain.web.pages.collect.round_charts import rate_chart, time_chart
from quintain.web.pages.collect.rounds import state_names
from quintain.web.pages.round_crumbs import round_crumbs
from quintain.web.pages.stations import parity_of_round, station_line
from quintain.web.pages.written import context_names, own_text
from quintain.web.paging import Paging
from quintain.web.visit import Posting, Visit, Visiting

PAGE_ROWS = 50
MOST_ROWS = 50  # of workers and prompts; the export has all


def show(visit: Visiting, task: str, number: int) -> Response:
    """Show a round: the console to its owners, what it asks to everybody else."""
    return _show(visit, task, number)


def open_round(post: Posting, task: str, number: int) -> Response:
    """Let people write."""
    visit = post.visit
    try:
        manage.open_round(visit.db, visit.actor, f"{task}/{number}")
    except (BadInput, Conflict, Unavailable) as error:
        return _show(visit, task, number, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/rounds/{number}", visit.tongue.gettext("The round is open."))


def close_round(post: Posting, task: str, number: int) -> Response:
    """End the round."""
    visit = post.visit
    try:
        manage.close_round(visit.db, visit.actor, f"{task}/{number}")
    except Conflict as error:
        return _show(visit, task, number, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/rounds/{number}", visit.tongue.gettext("The round is closed."))


def invite(post: Posting, task: str, number: int) -> Response:
    """Let whoever has the link take part, or nobody any more."""
    visit, on = post.visit, post.text("on") != ""
    entry.invite_by_link(visit.db, visit.actor, f"{task}/{number}", on=on)
    _ = visit.tongue.gettext
    toast = _("Whoever has the link can take part.") if on else _("The link leads nowhere any more.")
    return visit.redirect(f"/tasks/{task}/rounds/{number}#invite", toast)


def clone(post: Posting, task: str, number: int) -> Response:
    """Make a draft that asks the same."""
    visit = post.visit
    info = manage.clone_round(visit.db, visit.actor, f"{task}/{number}")
    return visit.redirect(f"/tasks/{task}/rounds/{info.number}/edit", visit.tongue.gettext("Cloned, without prompts."))


def texts_page(visit: Visiting, task: str, number: int, show: str = "", before: str = "") -> Response:
    """List what was written in a round, whether it fooled the model or not."""
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    last = int(before) if before.isdecimal() and len(before) < 10 else None
    fooled = {"fooled": True, "right": False}.get(show)
    ref = f"{task}/{number}"
    rows = list_attempts.round_texts(visit.db, visit.actor, ref, fooled=fooled, before=last, limit=PAGE_ROWS + 1)
    return visit.render(
        "collect/round_texts.html",
        task=definition,
        section="rounds",
        number=number,
        wheel=station_line(visit, definition, number),
        texts=[(text, own_text(definition, text.inputs)) for text in rows[:PAGE_ROWS]],
        show=show if fooled is not None else "",
        shows=[("", _("all")), ("fooled", _("the model was wrong")), ("right", _("the model was right"))],
        more=rows[PAGE_ROWS - 1].id if len(rows) > PAGE_ROWS else None,
        first=last is None,
        crumbs=round_crumbs(visit, definition, number, _("Texts")),
    )


def import_prompts(post: Posting, task: str, number: int) -> Response:
    """Add the prompts of a file."""
    visit = post.visit
    upload = post.file("file")
    try:
        if upload is None:
            raise BadInput(faults=[Fault("no file was chosen", field="file")])
        with on_disk(upload, visit.workspace.limits_at_once) as path:
            report = prompts.import_prompts(
                visit.db,
                visit.actor,
                f"{task}/{number}",
                path,
                corpus=post.text("corpus").strip() or None,
                part=post.text("part").strip() or None,
                tags=[tag.strip() for tag in post.text("tags").split(",") if tag.strip()],
                contexts=post.flag("contexts"),
            )
    except (BadInput, Conflict) as error:
        return _show(visit, task, number, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/rounds/{number}", _added(visit, report))


def _added(visit: Visit, report: PromptReport) -> str:
    """Return how many prompts were added, and why others were not, in words."""
    _ = visit.tongue.gettext
    sentences = [
        _(
            "%(added)s prompts added; %(repeated)s were there already, %(used)s were shown or harvested elsewhere.",
            added=report.added,
            repeated=report.repeated,
            used=report.used,
        )
    ]
    if report.used_parts:
        sentences.append(
            _(
                "%(n)s are from parts of the corpus of which something was shown or harvested.",
                n=report.used_parts,
            )
        )
    if report.used_reviews:
        sentences.append(
            _(
                "%(n)s are from reviews of which another sentence was shown or harvested; reviews that are named alike "
                "count as one.",
                n=report.used_reviews,
            )
        )
    return " ".join(sentences)


def export(visit: Visiting, task: str, number: int, form: str = "jsonl", only: str = "") -> Response:
    """Send the attempts as a file, writers under other names."""
    return export_page(
        visit, ExportRequest(attempt_export.ATTEMPTS_FILE, f"{task}/{number}", form, {"fooling": only == "fooling"})
    )


def flags_page(
    visit: Visiting,
    task: str,
    number: int,
    all: str = "",  # noqa: A002 - the address's word
    offset: int = 0,
) -> Response:
    """List what the owner should look at."""
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    ref, decided, first = f"{task}/{number}", None if all else False, max(offset, 0)
    queue = list_attempts.flag_queue(visit.db, visit.actor, ref, decided=decided, offset=first, limit=SIZE)
    kinds = {"offensive": _("may hurt"), "personal": _("personal data"), "reported": _("reported")}
    return visit.render(
        "collect/round_flags.html",
        task=definition,
        section="rounds",
        round_number=number,
        wheel=station_line(visit, definition, number),
        flags=[(flag, own_text(definition, flag.inputs), kinds.get(flag.kind, flag.kind)) for flag in queue.flags],
        paging=Paging(f"/tasks/{task}/rounds/{number}/flags", {"all": all}, first, len(queue.flags), queue.total, SIZE),
        every=bool(all),
        crumbs=round_crumbs(visit, definition, number, _("Flags")),
    )


def _show(visit: Visit, task: str, number: int, trouble: Trouble | None = None) -> Response:
    definition = tasks.get_task(visit.db, task)
    info = manage.get_round(visit.db, visit.actor, f"{task}/{number}")
    if info.kind is RoundKind.HARVEST:
        spec = spec_for(visit.db, visit.actor, info)
        about: dict[str, Any] = {"task": definition, "section": "rounds", "round": info, "spec": spec, "error": trouble}
        wheel = station_line(visit, definition, number)
        return visit.render(
            "collect/round_harvest.html", wheel=wheel, crumbs=round_crumbs(visit, definition, number), **about
        )
    values: dict[str, Any] = {
        "task": definition,
        "section": "rounds",
        "round": info,
        "spec": info.spec,
        "states": state_names(visit),
        "wage": earnings.wage(visit.db, info.id, info.spec),
        "begun": begun_session(visit, info),
        "counters": None,
        "figure": None,
        "wheel": station_line(visit, definition, number),
        "parity": None,
        "crumbs": round_crumbs(visit, definition, number),
        "error": trouble,
    }
    if visit.owns(definition):
        values |= _console(visit, definition, info)
    return visit.render("collect/round.html", status=trouble.status if trouble else 200, **values)


def _console(visit: Visit, task: Task, info: RoundInfo) -> dict[str, Any]:
    figure = round_figures.shown_figures(visit.db, info)
    counters = round_figures.counters(visit.db, visit.actor, info.ref, figure, most=MOST_ROWS)
    return {
        "counters": counters,
        "figure": figure,
        "needs_prompts": any(condition.prompt for condition in info.spec.conditions)
        and not counters.prompts["prompts"],
        "context_names": context_names(visit, task),
        "outcomes": _outcomes(visit),
        "charts": _charts(visit, counters),
        "tables": _tables(visit, task, info, counters),
        "totals": earnings.round_totals(visit.db, visit.actor, info.task, info.id),
        "entry_url": entry.entry_url(info, visit.base_url) if info.spec.entry else "",
        "by_link": info.spec.entry is not None and info.spec.entry.provider == LINK,
        "parity": parity_of_round(visit, task, info.ref),
        "history": manage.round_history(visit.db, visit.actor, info.ref),
    }


def _outcomes(visit: Visit) -> dict[str, str]:
    _ = visit.tongue.gettext
    return {
        "open": _("under way"),
        "fooled": _("fooled"),
        "exhausted": _("tries used up"),
        "given_up": _("ended early"),
        "lapsed": _("lapsed"),
        "closed": _("closed with the round"),
    }


def _charts(visit: Visit, counters: Counters) -> list[tuple[str, dict[str, Any]]]:
    """Pair each chart with the question that it answers."""
    if not counters.attempts:
        return []
    _ = visit.tongue.gettext
    words = {"attempts": _("attempts"), "rate": _("fooling rate")}
    charts = [
        (
            _("When do people write, and when do they fool it?"),
            time_chart(counters, moment=_("time"), attempts=_("attempts"), fooled=_("fooled"), other=_("not fooled")),
        )
    ]
    if len([count for count in counters.by_label if count.name]) > 1:
        charts.append((_("Which label fools it most?"), rate_chart(counters.by_label, category=_("label"), **words)))
    if len(counters.by_condition) > 1:
        chart = rate_chart(counters.by_condition, category=_("condition"), **words)
        charts.append((_("Which condition fools it more?"), chart))
    if len(counters.by_number) > 1:
        charts.append((_("Which try fools it?"), rate_chart(counters.by_number, category=_("try"), **words)))
    return charts


def _tables(
    visit: Visit, task: Task, info: RoundInfo, counters: Counters
) -> list[tuple[str, str, Sequence[tuple[str, RoundCount]]]]:
    """Make the tables of the console: title, heading of the first column, rows."""
    _ = visit.tongue.gettext
    by_size = sorted(counters.by_worker, key=lambda count: -count.attempts)
    used = sorted(counters.by_prompt, key=lambda count: -(count.rate or 0))
    named = prompts.prompts_by_hash(visit.db, visit.actor, info.ref, [prompt.name for prompt in used])
    texts = {prompt.hash: own_text(task, prompt.inputs) or prompt.row for prompt in named}
    tables = [(_("By worker"), _("Worker"), [(count.name, count) for count in by_size])]
    if used:
        tables.append(
            (_("By prompt"), _("Prompt"), [(texts.get(count.name) or count.name[:12], count) for count in used])
        )
    return [(title, heading, rows) for title, heading, rows in tables if rows]
