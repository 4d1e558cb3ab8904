"""Trials, for owners: begin one, follow its arms, close stages, edit letters, read the report."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import RoleName
from quintain.core.spec import plain
from quintain.core.trial_entry import TrialEntry
from quintain.data.trials import trial_bytes
from quintain.protocols.reading import shipped, shipped_text
from quintain.reports.html import body_of
from quintain.services.collect.rounds.start_round import prompt_sources
from quintain.services.tasks import definitions as tasks
from quintain.services.trial import letters as letters_
from quintain.services.trial import model_runs, panel_entry, reporting, stages, stored_report, trials
from quintain.services.trial.costs import trial_costs
from quintain.services.trial.offers import own_trials
from quintain.services.trial.rounds import contexts_needed
from quintain.services.trial.trials import OpenTrial
from quintain.tasks.contract import kind_of
from quintain.web.confirming import form_edit
from quintain.web.error_text import translated
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import on_disk, send_bytes
from quintain.web.form_reading import FormReading
from quintain.web.pages.evaluate.runs import state_names
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.written import context_names
from quintain.web.report_files import in_words, send_file
from quintain.web.spec_form import Sheet, SpecForm
from quintain.web.visit import Posting, Visit, Visiting


def index(visit: Visiting, task: str) -> Response:
    """List the trials of a task to its owners, who can begin one here; to everybody else what is theirs to do."""
    return _index(visit, task) if visit.actor.has(RoleName.OWNER, task) else _own_index(visit, task)


def create(post: Posting, task: str) -> Response:
    """Begin a trial with the protocols that were ticked, and any that was written."""
    visit = post.visit
    texts = [shipped_text(text) for text in post.texts("protocols")]
    own = post.text("toml").strip()
    name = post.text("name").strip()
    try:
        trial = trials.put_trial(
            visit.db, visit.actor, task, name, [*texts, *([own] if own else [])], title=post.text("title").strip()
        )
    except (BadInput, Conflict, NotFound) as error:
        return _index(visit, task, trouble_of(error), name=name, title=post.text("title"), toml=own)
    return visit.redirect(f"/tasks/{task}/trials/{trial.name}")


def open_trial(post: Posting, task: str, trial: str) -> Response:
    """Let people enter."""
    visit = post.visit
    models = tuple(one.strip() for one in post.text("models").split(",") if one.strip())
    upload, most = post.file("contexts"), post.text("most").strip()
    try:
        if most and not most.isdecimal():
            raise BadInput(faults=[Fault("'{most}' is no whole number", most=most, field="most")])
        with on_disk(upload, visit.workspace.limits_at_once) if upload else nullcontext() as file:
            options = OpenTrial(post.text("source"), models, post.text("genre"), file, int(most or 0))
            trials.open_trial(visit.db, visit.blobs, visit.actor, task, trial, options)
    except (BadInput, Conflict, NotFound) as error:
        visit.db.rollback()
        return show_to_owner(visit, task, trial, open_trouble=trouble_of(error))
    return visit.redirect(f"/tasks/{task}/trials/{trial}", visit.tongue.gettext("People can enter now."))


def close_trial(post: Posting, task: str, trial: str) -> Response:
    """End the trial."""
    visit = post.visit
    trials.close_trial(visit.db, visit.actor, task, trial)
    return visit.redirect(f"/tasks/{task}/trials/{trial}")


def open_pool(post: Posting, task: str, trial: str) -> Response:
    """Let the final items of all arms be judged."""
    visit = post.visit
    added = reporting.open_pool(visit.db, visit.actor, task, trial)
    toast = visit.tongue.ngettext("%(num)s item can be judged now.", "%(num)s items can be judged now.", added.added)
    return visit.redirect(f"/tasks/{task}/trials/{trial}", toast)


def run_models(post: Posting, task: str, trial: str) -> Response:
    """Have models run on the final items, those that are named or all."""
    visit = post.visit
    named = [one.strip() for one in post.text("models").split(",") if one.strip()]
    try:
        asked = model_runs.run_models(visit.db, visit.blobs, visit.actor, task, trial, named)
    except (BadInput, Conflict, NotFound) as error:
        visit.db.rollback()
        return show_to_owner(visit, task, trial, model_trouble=trouble_of(error), named=post.text("models"))
    toast = visit.tongue.ngettext("%(num)s model is asked.", "%(num)s models are asked.", len(asked.runs))
    return visit.redirect(f"/tasks/{task}/trials/{trial}#model-runs", toast)


def close_stage(post: Posting, task: str, trial: str) -> Response:
    """Close a stage of an arm."""
    visit = post.visit
    arm, stage = post.text("arm"), post.text("stage")
    stages.close_stage(visit.db, visit.actor, task, trial, arm, stage, force=post.text("force") == "1")
    return visit.redirect(f"/tasks/{task}/trials/{trial}", visit.tongue.gettext("%(stage)s is closed.", stage=stage))


def _doors_form(visit: Visit, task: str, trial: str) -> SpecForm:
    return SpecForm(TrialEntry, trials.currency_of(visit.db, trials.find_trial(visit.db, task, trial)))


def set_doors(post: Posting, task: str, trial: str) -> Response:
    """Set how people from panels come in and go back."""
    visit = post.visit
    form = _doors_form(visit, task, trial)
    typed = form.typed(post)
    try:
        reading = FormReading(dict(typed))
        data = form.data(reading)
        if reading.faults:
            raise BadInput(faults=reading.faults)
        panel_entry.set_doors(visit.db, visit.actor, task, trial, data, base_url=visit.base_url, edit=form_edit(post))
    except (BadInput, Conflict) as error:
        return show_to_owner(visit, task, trial, trouble_of(error), typed)
    return visit.redirect(f"/tasks/{task}/trials/{trial}#doors", visit.tongue.gettext("Saved"))


def letters(visit: Visiting, task: str, trial: str, arm: str, stage: str) -> Response:
    """Show the letters of a stage, which can be edited until they go out."""
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    return visit.render(
        "trial/letters.html",
        task=definition,
        section="trials",
        trial=trial,
        arm=arm,
        stage=stage,
        letters=letters_.letters(visit.db, visit.actor, task, trial, arm, stage),
        kind=trials.stage_kind(visit.db, task, trial, arm, stage),
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Trials"), f"/tasks/{task}/trials"),
            (trial, f"/tasks/{task}/trials/{trial}"),
            (_("Letters"), None),
        ],
    )


def edit_letter(post: Posting, task: str, trial: str, arm: str, stage: str) -> Response:
    """Change a letter; one that was saved as it stood is still put into words by its reader's language."""
    visit, person, text = post.visit, post.text("person"), post.text("text")
    shown = {letter.person: letter.text for letter in letters_.letters(visit.db, visit.actor, task, trial, arm, stage)}
    if text.split() != translated(visit.language, shown.get(person, "")).split():
        letters_.edit_letter(
            visit.db, visit.actor, task, trial, arm=arm, stage=stage, person=person, text=text, edit=post.edit
        )
    return visit.redirect(f"/tasks/{task}/trials/{trial}/letters/{arm}/{stage}", visit.tongue.gettext("Saved"))


def readmit(post: Posting, task: str, trial: str, arm: str, stage: str) -> Response:
    """Let somebody go on whom a qualification turned away."""
    visit, person = post.visit, post.text("person")
    stages.readmit(visit.db, visit.actor, task, trial, arm=arm, stage=stage, person=person)
    toast = visit.tongue.gettext("%(person)s goes on.", person=person)
    return visit.redirect(f"/tasks/{task}/trials/{trial}/letters/{arm}/{stage}", toast)


def answer_reply(post: Posting, task: str, trial: str, arm: str, stage: str) -> Response:
    """Answer what somebody replied to their letter."""
    visit = post.visit
    letters_.answer_reply(
        visit.db, visit.actor, task, trial, arm=arm, stage=stage, person=post.text("person"), text=post.text("text")
    )
    return visit.redirect(f"/tasks/{task}/trials/{trial}/letters/{arm}/{stage}", visit.tongue.gettext("Sent"))


def report(visit: Visiting, task: str, trial: str, following: str = "") -> Response:
    """Show the report of a trial; who is *following* is told to look again once the next one is there."""
    definition = tasks.get_task(visit.db, task)
    shown = stored_report.shown_report(visit.db, visit.blobs, visit.actor, task, trial)
    worded, wording = in_words(shown.report, visit.language) if shown.report else (None, None)
    _ = visit.tongue.gettext
    return visit.render(
        "trial/report.html",
        headers={"HX-Refresh": "true"} if following and shown.fresh else None,
        task=definition,
        section="trials",
        trial=trial,
        shown=shown,
        report=worded,
        body=body_of(worded, wording) if worded and wording else "",
        files=f"/tasks/{task}/trials/{trial}/report/download?format=",
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Trials"), f"/tasks/{task}/trials"),
            (trial, f"/tasks/{task}/trials/{trial}"),
            (_("Report"), None),
        ],
    )


def fetch(visit: Visiting, task: str, trial: str, *, format: str = "html") -> Response:  # noqa: A002 - the word in the address
    """Send the report as a file."""
    report_of_trial = stored_report.get_report(visit.db, visit.blobs, visit.actor, task, trial)
    return visit.finish(send_file(report_of_trial, f"{task}-trial-{trial}", format, visit.language))


def export(visit: Visiting, task: str, trial: str) -> Response:
    """Send all of a trial as one file: texts, grades, judgements, what models said; people under other names."""
    arms = reporting.arms_of(visit.db, visit.blobs, visit.actor, task, trial)
    return visit.finish(send_bytes(trial_bytes(arms), f"{task}-trial-{trial}.json", "application/json"))


def show_to_owner(
    visit: Visit,
    task: str,
    trial: str,
    trouble: Trouble | None = None,
    typed: dict[str, Any] | None = None,
    *,
    open_trouble: Trouble | None = None,
    model_trouble: Trouble | None = None,
    named: str = "",
) -> Response:
    """Show where the arms of a trial stand."""
    definition = tasks.get_task(visit.db, task)
    record = trials.get_trial(visit.db, visit.actor, task, trial)
    form = _doors_form(visit, task, trial)
    faults = form.faults_by_control(trouble.faults if trouble else (), visit.language)
    values = typed or form.show(panel_entry.doors_of(trials.find_trial(visit.db, task, trial)))
    doors = None
    if not record.simulated:
        doors = panel_entry.get_doors(visit.db, visit.actor, task, trial, base_url=visit.base_url)
    return visit.render(
        "trial/trial.html",
        status=shown.status if (shown := trouble or model_trouble or open_trouble) else 200,
        task=definition,
        section="trials",
        trial=record,
        models=model_runs.get_models(visit.db, visit.actor, task, trial) if doors and record.state != "draft" else None,
        run_states=state_names(visit),
        open_trouble=open_trouble,
        model_trouble=model_trouble,
        named=named,
        kinds=_kinds(visit),
        doors=doors,
        made_from=visit.made_from("doors", plain(panel_entry.doors_of(trials.find_trial(visit.db, task, trial)))),
        sheet=Sheet(form, visit.tongue, values, faults, {}),
        error=trouble,
        costs=None if record.state == "draft" or record.simulated else trial_costs(visit.db, visit.actor, task, trial),
        sources=prompt_sources(visit.db, visit.actor, task) if record.state == "draft" else [],
        needed=contexts_needed([arm.toml for arm in record.arms]) if record.state == "draft" else 0,
        context_names=context_names(visit, definition),
        context_columns=", ".join(kind_of(definition).context(definition)),
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (visit.tongue.gettext("Trials"), f"/tasks/{task}/trials"),
            (record.title or trial, None),
        ],
    )


def _kinds(visit: Visit) -> dict[str, str]:
    """Name the kinds of stages."""
    _ = visit.tongue.gettext
    return {
        "entry": _("entry"),
        "tutorial": _("tutorial"),
        "writing": _("writing"),
        "grading": _("grading"),
        "qualification": _("qualification"),
        "promotion": _("promotion"),
        "feedback": _("feedback"),
        "bonus": _("bonus"),
    }


def _own_index(visit: Visit, task: str) -> Response:
    definition = tasks.get_task(visit.db, task)
    return visit.render(
        "trial/own.html",
        task=definition,
        section="trials",
        trials=own_trials(visit.db, visit.actor, task),
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (visit.tongue.gettext("Your part"), None)],
    )


def _index(visit: Visit, task: str, trouble: Trouble | None = None, **typed: str) -> Response:
    definition = tasks.get_task(visit.db, task)
    return visit.render(
        "trial/trials.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="trials",
        trials=trials.list_trials(visit.db, visit.actor, task),
        protocols=[*shipped().values()],
        typed=typed,
        error=trouble,
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (visit.tongue.gettext("Trials"), None)],
    )
