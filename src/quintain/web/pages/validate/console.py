"""The owner's console of a validation: what needs them, how it goes, who judges, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import RoleName
from quintain.core.records.validate import AdaptiveForecast, ErrorRates, Rates, Validation, ValidationProgress
from quintain.core.spec import plain
from quintain.core.spec_changes import ChangesToConfirm
from quintain.core.task import Task
from quintain.core.validation import ValidationPolicy, ValidationState
from quintain.reports.charts import bar_chart, heat_map
from quintain.services.access.permissions import require_role
from quintain.services.jobs.exports import ExportRequest
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import export as judged_export
from quintain.services.validate.console import forecast as adaptive_forecast
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console import status as validation_status
from quintain.services.validate.console.overview import console
from quintain.services.validate.judging import panel_entry
from quintain.services.validate.quality import review as reviewing
from quintain.services.validate.quality.judges import JudgeQuery
from quintain.services.validate.types import ValidationInfo
from quintain.web.confirming import form_edit, page_edit, show_changes
from quintain.web.errors import Trouble, trouble_of
from quintain.web.exporting import export_page
from quintain.web.listing import ListQuery
from quintain.web.pages.stations import station_line
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.validate.charts import agreement_chart
from quintain.web.pages.validate.judge_items import item_text
from quintain.web.pages.validate.lists import judge_listing, pattern_names
from quintain.web.pages.validate.policy_form import policy_controls, policy_text, typed_policy
from quintain.web.visit import Posting, Visit, Visiting

SHOWN = 10
NOTES = 50


def index(visit: Visiting, task: str, round: str = "") -> Response:  # noqa: A002 - the address's word
    """List the validations of a task, and offer to open one; that of a *round* is gone to if there is one."""
    if round and f"{task}/{round}" in validate.list_validations(visit.db, task):
        return visit.redirect(home_of(task, round))
    return _index(visit, task, typed=(round, ""))


def open_one(post: Posting, task: str) -> Response:
    """Begin the judging of a round, or of items that are added later."""
    visit = post.visit
    ref = f"{task}/{post.text('name').strip()}"
    try:
        text = post.text("policy").strip() or None
        validation = validate.open_validation(visit.db, visit.actor, ref, text, edit=page_edit(post))
    except ChangesToConfirm as error:
        return show_changes(post, error.changes, f"/tasks/{task}/validation")
    except (BadInput, Conflict, NotFound) as error:
        return _index(visit, task, trouble_of(error), (post.text("name"), post.text("policy")))
    _ = visit.tongue.gettext
    prepared = validation.state is not ValidationState.PREPARING
    toast = _("People can judge now.") if prepared else _("The attempts are being taken in; then people can judge.")
    return visit.redirect(home_of(task, validation.name), toast)


def show(visit: Visiting, task: str, name: str) -> Response:
    """Show the console."""
    return _console(visit, task, name)


def live(visit: Visiting, task: str, name: str) -> Response:
    """Show progress and forecast alone, for a console that is left open."""
    return visit.render("validate/live.html", **_live(visit, task, name))


def set_state(post: Posting, task: str, name: str) -> Response:
    """Pause, close or open the judging."""
    visit = post.visit
    state = post.text("state")
    if state not in set(ValidationState):
        raise BadInput(faults=[Fault("'{wanted}' is no state", wanted=state, field="state")])
    validate.set_state(visit.db, visit.actor, f"{task}/{name}", ValidationState(state))
    return visit.redirect(home_of(task, name), visit.tongue.gettext("Saved. You can change it back."))


def save_policy(post: Posting, task: str, name: str) -> Response:
    """Change the policy, by the form or as a file."""
    visit, ref = post.visit, f"{task}/{name}"
    typed = typed_policy(post) if post.flag("as_form") else None
    try:
        text = (
            post.text("policy") if typed is None else policy_text(typed, validate.find_validation(visit.db, ref).policy)
        )
        edit = page_edit(post) if typed is None else form_edit(post)
        validate.set_policy(visit.db, visit.actor, ref, text, edit=edit)
    except ChangesToConfirm as error:
        return show_changes(post, error.changes, home_of(task, name), ValidationPolicy)
    except BadInput as error:
        return _console(visit, task, name, trouble=trouble_of(error), policy=post.text("policy"), typed=typed)
    return visit.redirect(home_of(task, name), visit.tongue.gettext("Saved."))


def try_adaptive(post: Posting, task: str, name: str) -> Response:
    """Show what asking adaptively would save and risk by the policy that was typed, which is not saved."""
    visit, typed = post.visit, post.text("policy")
    try:
        foreseen = adaptive_forecast.foresee_adaptive(visit.db, visit.actor, f"{task}/{name}", typed)
    except BadInput as error:
        return _console(visit, task, name, trouble=trouble_of(error), policy=typed)
    return _console(visit, task, name, policy=typed, foreseen=foreseen)


def review(post: Posting, task: str, name: str) -> Response:
    """Look at all judges by the policy's rules, now."""
    visit = post.visit
    _ = visit.tongue.gettext
    reviewed = reviewing.ask_review(visit.db, visit.actor, f"{task}/{name}", apply=False)
    if reviewed.job is not None:
        toast = _("A worker looks at all judges now; what it finds is in the audit trail.")
        return visit.redirect(f"{home_of(task, name)}/judges", toast)
    caught = sorted(reviewed.caught)
    toast = _("The rules would catch: %(names)s.", names=", ".join(caught)) if caught else _("The rules catch nobody.")
    return visit.redirect(f"{home_of(task, name)}/judges", toast)


def export(visit: Visiting, task: str, name: str, form: str = "csv", what: str = "judgements") -> Response:
    """Send all judgements as a file, judges under numbers; or the items with their labels."""
    kind = judged_export.LABELS_FILE if what == "labels" else judged_export.JUDGEMENTS_FILE
    return export_page(visit, ExportRequest(kind, f"{task}/{name}", form))


def crumbs(visit: Visit, task: Task, name: str = "", last: str = "") -> list[tuple[str, str | None]]:
    """Lead from the task to a validation, and to what is within it."""
    _ = visit.tongue.gettext
    base = f"/tasks/{task.name}/validation"
    steps = [(title_of(visit, task), f"/tasks/{task.name}"), (_("Validation"), base)]
    steps += [(name, f"{base}/{name}")] if name else []
    steps += [(last, "")] if last else []
    return [*steps[:-1], (steps[-1][0], None)]


def home_of(task: str, name: str) -> str:
    """Return the address of a validation's console."""
    return f"/tasks/{task}/validation/{name}"


def _index(visit: Visit, task: str, trouble: Trouble | None = None, typed: tuple[str, str] = ("", "")) -> Response:
    definition = tasks.get_task(visit.db, task)
    require_role(visit.actor, RoleName.OWNER, RoleName.EXPERT, task=task)
    owns = visit.owns(definition)
    validations = [validate.find_validation(visit.db, ref) for ref in validate.list_validations(visit.db, task)]
    rows = [
        (
            validation,
            validation_status.progress(visit.db, visit.actor, validation.ref) if owns else None,
            home_of(task, validation.name),
        )
        for validation in validations
    ]
    return visit.render(
        "validate/index.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="validation",
        owns=owns,
        rows=rows,
        states=_states(visit),
        typed=typed,
        crumbs=crumbs(visit, definition),
        error=trouble,
    )


def _states(visit: Visit) -> dict[str, str]:
    _ = visit.tongue.gettext
    return {
        "preparing": _("being prepared"),
        "open": _("open"),
        "paused": _("paused"),
        "closed": _("closed"),
    }


def _live(visit: Visit, task: str, name: str) -> dict[str, Any]:
    return _live_parts(validation_status.progress(visit.db, visit.actor, f"{task}/{name}"), task, name)


def _live_parts(progress: ValidationProgress, task: str, name: str) -> dict[str, Any]:
    forecast = progress.forecast
    money = {"cost": forecast.cost, "reward": forecast.reward, "hourly": forecast.hourly}
    return {"live": progress, **money, "home": home_of(task, name)}


def _console(
    visit: Visit,
    task: str,
    name: str,
    *,
    trouble: Trouble | None = None,
    policy: str = "",
    typed: Mapping[str, Any] | None = None,
    foreseen: AdaptiveForecast | None = None,
) -> Response:
    definition = tasks.get_task(visit.db, task)
    seen = console(visit.db, visit.actor, f"{task}/{name}", glance=SHOWN + 1)
    status, noted = seen.status, seen.notes
    suspects, standing_out = seen.judges.page(JudgeQuery("look", order="look", limit=SHOWN))
    rates, more = _rates(visit, status.rates)
    return visit.render(
        "validate/console.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="validation",
        name=name,
        wheel=station_line(visit, definition, name, judging=(seen.validation, seen.known)),
        found=status,
        contested=0 if seen.released else status.contested,
        counted=seen.counted,
        preparing=seen.preparing,
        states=_states(visit),
        suspects=suspects,
        standing_out=standing_out,
        patterns=pattern_names(visit),
        listing=judge_listing(seen.judges, ListQuery(), path=f"{home_of(task, name)}/judges", size=SHOWN),
        charts=_charts(visit, status),
        notes=[(note, item_text(definition, note.inputs)) for note in noted[:NOTES]],
        flags=sum(note.kind == "flag" for note in noted),
        gold_used=not status.progress.items or not status.gold.rate or status.gold.items,
        rates=rates,
        more_rates=more,
        policy=policy or status.policy,
        entry_url=_entry_url(visit, seen.validation),
        policy_form=policy_controls(visit, seen.validation.policy, typed, trouble),
        as_file=bool(policy) or foreseen is not None,
        made_from=visit.made_from("policy", plain(seen.validation.policy)),
        foreseen=foreseen,
        trail=seen.trail,
        crumbs=crumbs(visit, definition, name),
        error=trouble,
        **_live_parts(seen.live, task, name),
    )


def _charts(visit: Visit, status: Validation) -> list[tuple[str, dict[str, Any]]]:
    """Pair each chart with the question that it answers."""
    if not status.progress.judgements:
        return []
    _ = visit.tongue.gettext
    counts = {_("no majority") if key == "no majority" else key: value for key, value in status.labels.items()}
    confusion = status.confusion
    charts = []
    if any(counts.values()):
        charts.append((_("Which labels come out?"), bar_chart(counts, category=_("label"), value=_("items"))))
    if any(any(row) for row in confusion.rows):
        chart = heat_map(confusion.labels, confusion.rows, row=_("consensus"), column=_("judges said"))
        charts.append((_("Which labels do judges confuse?"), chart))
    if any(one.agreement is not None for one in status.agreement_by_review):
        words = {"judgements": _("judgements"), "agreement": _("agreement with the others"), "moment": _("when")}
        charts.append((_("Does agreement hold?"), agreement_chart(status.agreement_by_review, **words)))
    return charts


def _rates(visit: Visit, rates: ErrorRates) -> tuple[list[tuple[str, Rates]], int]:
    """List the rows of the table of rates: all, models, labels, the writers with most items; and how many.

    There are none before a model has answered.
    """
    _ = visit.tongue.gettext
    writers = sorted(rates.workers, key=lambda rates_of: (-rates_of.collected, rates_of.worker))
    rows: list[tuple[str, Rates]] = [(_("all"), rates)]
    rows += [(_("model %(name)s", name=rates_of.model), rates_of) for rates_of in rates.models]
    rows += [(_("label %(name)s", name=rates_of.label), rates_of) for rates_of in rates.labels]
    rows += [(_("writer %(name)s", name=rates_of.worker), rates_of) for rates_of in writers[:SHOWN]]
    return (rows, SHOWN if len(writers) > SHOWN else 0) if rates.models else ([], 0)


def _entry_url(visit: Visit, validation: ValidationInfo) -> str:
    """Return the address for judges from a panel, where the policy has one (owners); empty for others."""
    if validation.policy.entry is None or not visit.owns(validation.task):
        return ""
    return panel_entry.judging_entry(visit.db, visit.actor, validation.ref, visit.base_url).url
