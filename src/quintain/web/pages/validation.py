"""The owner's console of a validation: what needs them, how it goes, who judges, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import RoleName
from quintain.core.rounds import Money
from quintain.core.task import Task
from quintain.core.validation import RULE_NAMES, RuleName, UnqualifyRule, ValidationState
from quintain.services import gold, judges, tasks, unqualify, validate, validation_status, validation_trail
from quintain.services import review as reviewing
from quintain.services.permissions import require_owner, require_role
from quintain.services.unqualify import Preview
from quintain.web.charts import bar_chart, heat_map
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import download
from quintain.web.judge_items import parts_of
from quintain.web.pages.tasks import title_of
from quintain.web.validation_charts import agreement_chart
from quintain.web.visit import Posting, Visit, Visiting


def index(visit: Visiting, task: str, round: str = "") -> Response:  # noqa: A002 - the address's word
    """List the validations of a task, and offer to open one; that of a *round* is gone to if there is one."""
    if round and f"{task}/{round}" in validate.list_validations(visit.db, task):
        return visit.redirect(_home(task, round))
    return _index(visit, task, typed=(round, ""))


def open_one(post: Posting, task: str) -> Response:
    """Begin the judging of a round, or of items that are added later."""
    visit = post.visit
    ref = f"{task}/{post.text('name').strip()}"
    try:
        ground = validate.open_validation(visit.db, visit.actor, ref, post.text("policy").strip() or None)
    except (BadInput, Conflict, NotFound) as error:
        return _index(visit, task, trouble_of(error), (post.text("name"), post.text("policy")))
    return visit.redirect(_home(task, ground.name), visit.tongue.gettext("People can judge now."))


def show(visit: Visiting, task: str, name: str, rule: str = "", limit: str = "", least: str = "") -> Response:
    """Show the console; with a *rule*, also whom it would catch."""
    try:
        chosen = _rule(rule, limit, least) if rule else None
    except BadInput as error:
        return _console(visit, task, name, trouble=trouble_of(error))
    return _console(visit, task, name, rule=chosen)


def set_state(post: Posting, task: str, name: str) -> Response:
    """Pause, close or open the judging."""
    visit = post.visit
    wanted = post.text("state")
    if wanted not in set(ValidationState):
        raise BadInput(faults=[Fault(f"'{wanted}' is no state", field="state")])
    validate.set_state(visit.db, visit.actor, f"{task}/{name}", ValidationState(wanted))
    return visit.redirect(_home(task, name), visit.tongue.gettext("Saved. You can change it back."))


def save_policy(post: Posting, task: str, name: str) -> Response:
    """Change the policy."""
    visit = post.visit
    try:
        validate.set_policy(visit.db, visit.actor, f"{task}/{name}", post.text("policy"))
    except BadInput as error:
        return _console(visit, task, name, trouble=trouble_of(error), policy=post.text("policy"))
    return visit.redirect(_home(task, name), visit.tongue.gettext("Saved."))


def review(post: Posting, task: str, name: str) -> Response:
    """Look at all judges by the policy's rules, now."""
    visit = post.visit
    _ = visit.tongue.gettext
    found = reviewing.review(visit.db, visit.actor, f"{task}/{name}", apply=False)
    caught = sorted(found.caught) if found else []
    toast = _("The rules would catch: %(names)s.", names=", ".join(caught)) if caught else _("The rules catch nobody.")
    return visit.redirect(f"{_home(task, name)}#judges", toast)


def end_judges(post: Posting, task: str, name: str) -> Response:
    """Unqualify judges by name, or everybody whom a rule catches."""
    visit = post.visit
    ref = f"{task}/{name}"
    try:
        if post.text("rule"):
            rule = _rule(post.text("rule"), post.text("limit"), post.text("least"))
            names, opened = unqualify.apply_rule(visit.db, visit.actor, ref, rule)
        else:
            names = post.texts("worker")
            opened = unqualify.unqualify(visit.db, visit.actor, ref, names, reason=post.text("reason"))
    except BadInput as error:
        return _console(visit, task, name, trouble=trouble_of(error))
    _ = visit.tongue.gettext
    toast = _(
        "Unqualified: %(names)s. %(n)s judgements are asked for again. “Qualify again” takes it back.",
        names=", ".join(names) or "–",
        n=opened,
    )
    return visit.redirect(f"{_home(task, name)}#judges", toast)


def qualify_again(post: Posting, task: str, name: str) -> Response:
    """Let a judge work again, and count what was set aside."""
    visit = post.visit
    restore = post.text("restore") == "1"
    reason = post.text("reason")
    unqualify.requalify(visit.db, visit.actor, f"{task}/{name}", post.text("worker"), reason=reason, restore=restore)
    return visit.redirect(f"{_home(task, name)}#judges", visit.tongue.gettext("Qualified again."))


def retire_gold(post: Posting, task: str, name: str) -> Response:
    """Show a gold item no more."""
    visit = post.visit
    gold.retire_gold(visit.db, visit.actor, f"{task}/{name}", post.number("item"))
    return visit.redirect(f"{_home(task, name)}#gold", visit.tongue.gettext("It is not shown any more."))


def judge_page(visit: Visiting, task: str, name: str, worker: str) -> Response:
    """Show everything that happened to one judge."""
    found = tasks.get_task(visit.db, task)
    return visit.render(
        "validation_judge.html",
        task=found,
        section="validation",
        name=name,
        history=judges.judge_history(visit.db, visit.actor, f"{task}/{name}", worker),
        crumbs=crumbs(visit, found, name, worker),
    )


def export(visit: Visiting, task: str, name: str, form: str = "csv") -> Response:
    """Send all judgements as a file, judges under numbers."""
    require_owner(visit.actor, task)

    def write(path: Path) -> object:
        return validation_trail.export_judgements(visit.db, visit.actor, f"{task}/{name}", path)

    return download(f"{task}-{name}-judgements", form, write)


def crumbs(visit: Visit, task: Task, name: str = "", last: str = "") -> list[tuple[str, str | None]]:
    """Lead from the task to a validation, and to what is within it."""
    _ = visit.tongue.gettext
    base = f"/tasks/{task.name}/validation"
    steps = [(title_of(visit, task), f"/tasks/{task.name}"), (_("Validation"), base)]
    steps += [(name, f"{base}/{name}")] if name else []
    steps += [(last, "")] if last else []
    return [*steps[:-1], (steps[-1][0], None)]


def _home(task: str, name: str) -> str:
    return f"/tasks/{task}/validation/{name}"


def _rule(rule: str, limit: str, least: str) -> UnqualifyRule:
    """Read a rule from a form; limits are in percent there."""
    kind: RuleName | None = next((one for one in RULE_NAMES if one == rule), None)
    try:
        share, count = float(limit) / 100, int(least)
    except ValueError:
        raise BadInput(faults=[Fault("a limit in percent and a number of judgements are needed")]) from None
    if kind is None or not 0 <= share <= 1 or count < 1:
        raise BadInput(faults=[Fault("the limit is from 0 to 100 percent, and at least one judgement is needed")])
    return UnqualifyRule(kind, share, count)


def _index(visit: Visit, task: str, trouble: Trouble | None = None, typed: tuple[str, str] = ("", "")) -> Response:
    found = tasks.get_task(visit.db, task)
    require_role(visit.actor, RoleName.OWNER, RoleName.EXPERT, task=task)
    owns = visit.owns(found)
    grounds = [validate.find(visit.db, ref) for ref in validate.list_validations(visit.db, task)]
    rows = [
        (one, validation_status.progress(visit.db, visit.actor, one.ref) if owns else None, _home(task, one.name))
        for one in grounds
    ]
    return visit.render(
        "validation_index.html",
        status=trouble.status if trouble else 200,
        task=found,
        section="validation",
        owns=owns,
        rows=rows,
        states=_states(visit),
        typed=typed,
        crumbs=crumbs(visit, found),
        error=trouble,
    )


def _states(visit: Visit) -> dict[str, str]:
    _ = visit.tongue.gettext
    return {"open": _("open"), "paused": _("paused"), "closed": _("closed")}


def _console(
    visit: Visit,
    task: str,
    name: str,
    *,
    rule: UnqualifyRule | None = None,
    trouble: Trouble | None = None,
    policy: str = "",
) -> Response:
    found = tasks.get_task(visit.db, task)
    ref = f"{task}/{name}"
    status = validation_status.status(visit.db, visit.actor, ref)
    preview: Preview | None = unqualify.preview(visit.db, visit.actor, ref, rule) if rule else None
    noted = validation_trail.notes(visit.db, visit.actor, ref)
    return visit.render(
        "validation.html",
        status=trouble.status if trouble else 200,
        task=found,
        section="validation",
        name=name,
        home=_home(task, name),
        found=status,
        states=_states(visit),
        cost=Money(**status["forecast"]["cost"]),
        suspects=[one for one in status["judges"] if one["patterns"] and one["qualified"]],
        patterns=_patterns(visit),
        rules=_rules(visit),
        preview=preview,
        chosen=preview.rule if preview else UnqualifyRule(),
        charts=_charts(visit, status),
        notes=[(one, " · ".join(part.text for part in parts_of(found, one.inputs))) for one in noted],
        flags=sum(one.kind == "flag" for one in noted),
        gold=[
            (one, " · ".join(part.text for part in parts_of(found, one.inputs)))
            for one in gold.list_gold(visit.db, visit.actor, ref)
        ],
        rates=_rates(visit, status["rates"]),
        policy=policy or status["policy"],
        trail=validation_trail.trail(visit.db, visit.actor, ref),
        crumbs=crumbs(visit, found, name),
        error=trouble,
    )


def _patterns(visit: Visit) -> dict[str, str]:
    _ = visit.tongue.gettext
    return {
        "too_fast": _("too fast"),
        "same_key": _("always the same key"),
        "keys_in_turn": _("keys in turn"),
        "copies": _("same errors as another"),
    }


def _rules(visit: Visit) -> list[tuple[str, str]]:
    _ = visit.tongue.gettext
    names = {
        "disagreement": _("disagrees with the majority of the others on more than"),
        "wilson": _("agreement with the others is surely below"),
        "posterior": _("accuracy is very probably below"),
        "gold": _("right on gold items in less than"),
    }
    return [(rule, names[rule]) for rule in RULE_NAMES]


def _charts(visit: Visit, status: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Pair each chart with the question that it answers."""
    if not status["progress"]["judgements"]:
        return []
    _ = visit.tongue.gettext
    counts = {_("no majority") if key == "no majority" else key: value for key, value in status["labels"].items()}
    confusion = status["confusion"]
    charts = [(_("Which labels come out?"), bar_chart(counts, category=_("label"), value=_("items")))]
    if any(any(row) for row in confusion["rows"]):
        chart = heat_map(confusion["labels"], confusion["rows"], row=_("consensus"), column=_("judges said"))
        charts.append((_("Which labels do judges confuse?"), chart))
    if any(one["agreement"] is not None for one in status["agreement_by_review"]):
        words = {"judgements": _("judgements"), "agreement": _("agreement with the others"), "moment": _("when")}
        charts.append((_("Does agreement hold?"), agreement_chart(status["agreement_by_review"], **words)))
    return charts


def _rates(visit: Visit, rates: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """List the rows of the table of rates: all, then models, writers and labels; none before a model has answered."""
    _ = visit.tongue.gettext
    rows: list[tuple[str, Mapping[str, Any]]] = [(_("all"), rates)]
    rows += [(_("model %(name)s", name=one["model"]), one) for one in rates["models"]]
    rows += [(_("writer %(name)s", name=one["worker"]), one) for one in rates["workers"]]
    rows += [(_("label %(name)s", name=one["label"]), one) for one in rates["labels"]]
    return rows if rates["models"] else []
