"""The judges of a validation: a list that filters and sorts, whom a rule would catch, and what can be done about it."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Fault
from quintain.core.records.judging import RuleEffect, Unqualified
from quintain.core.validation import RULE_NAMES, RuleName, UnqualifyRule
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.quality import judges, unqualify, validation_figures
from quintain.web.errors import Trouble, trouble_of
from quintain.web.listing import Asking, ListQuery
from quintain.web.pages.stations import station_line
from quintain.web.pages.validate.console import crumbs, home_of
from quintain.web.pages.validate.lists import judge_listing, pattern_names
from quintain.web.visit import Posting, Visit, Visiting


def index(
    visit: Visiting, task: str, name: str, asked: Asking, *, rule: str = "", limit: str = "", least: str = ""
) -> Response:
    """List the judges; with a *rule*, also say whom it would catch."""
    try:
        chosen = _rule(rule, limit, least) if rule else None
    except BadInput as error:
        return _index(visit, task, name, asked, trouble=trouble_of(error))
    return _index(visit, task, name, asked, rule=chosen)


def end_judges(post: Posting, task: str, name: str) -> Response:
    """Unqualify judges by name, or everybody whom a rule catches."""
    visit = post.visit
    ref = f"{task}/{name}"
    try:
        if post.text("rule"):
            rule = _rule(post.text("rule"), post.text("limit"), post.text("least"))
            done: Unqualified | RuleEffect = unqualify.apply_rule(visit.db, visit.actor, ref, rule)
        else:
            done = unqualify.unqualify(visit.db, visit.actor, ref, post.texts("worker"), reason=post.text("reason"))
    except BadInput as error:
        return _index(visit, task, name, ListQuery(), trouble=trouble_of(error))
    _ = visit.tongue.gettext
    toast = _(
        "Unqualified: %(names)s. %(n)s judgements are asked for again. “Qualify again” takes it back.",
        names=", ".join(done.unqualified) or "–",
        n=done.opened,
    )
    return visit.redirect(f"{home_of(task, name)}/judges?sort=look", toast)


def qualify_again(post: Posting, task: str, name: str) -> Response:
    """Let a judge work again, and count what was set aside."""
    visit = post.visit
    restore = post.text("restore") == "1"
    reason = post.text("reason")
    unqualify.requalify(visit.db, visit.actor, f"{task}/{name}", post.text("worker"), reason=reason, restore=restore)
    return visit.redirect(f"{home_of(task, name)}/judges?sort=look", visit.tongue.gettext("Qualified again."))


def show_judge(visit: Visiting, task: str, name: str, worker: str) -> Response:
    """Show everything that happened to one judge."""
    definition = tasks.get_task(visit.db, task)
    return visit.render(
        "validate/judge_of.html",
        task=definition,
        section="validation",
        name=name,
        wheel=station_line(visit, definition, name),
        history=judges.judge_history(visit.db, visit.actor, f"{task}/{name}", worker),
        crumbs=crumbs(visit, definition, name, worker),
    )


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


def _index(
    visit: Visit,
    task: str,
    name: str,
    asked: ListQuery,
    *,
    rule: UnqualifyRule | None = None,
    trouble: Trouble | None = None,
) -> Response:
    _ = visit.tongue.gettext
    definition = tasks.get_task(visit.db, task)
    ref, home = f"{task}/{name}", home_of(task, name)
    found_judges = judges.judge_list(visit.db, visit.actor, ref)
    preview = unqualify.try_rule(visit.db, visit.actor, ref, rule) if rule else None
    return visit.render(
        "validate/judges.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="validation",
        name=name,
        wheel=station_line(visit, definition, name),
        home=home,
        counted=validation_figures.figure_status(visit.db, visit.actor, ref),
        listing=judge_listing(found_judges, asked, path=f"{home}/judges"),
        filters=asked,
        shows=[
            ("", _("all")),
            ("look", _("worth a look")),
            ("qualified", _("qualified")),
            ("unqualified", _("unqualified")),
        ],
        patterns=pattern_names(visit),
        rules=_rules(visit),
        preview=preview,
        chosen=preview.rule if preview else UnqualifyRule(),
        crumbs=crumbs(visit, definition, name, _("Judges")),
        error=trouble,
    )


def _rules(visit: Visit) -> list[tuple[str, str]]:
    _ = visit.tongue.gettext
    names = {
        "disagreement": _("disagreement with the others above"),
        "wilson": _("agreement with the others surely below"),
        "posterior": _("accuracy very probably below"),
        "gold": _("right gold items below"),
    }
    return [(rule, names[rule]) for rule in RULE_NAMES]
