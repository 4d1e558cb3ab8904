"""Rounds for their owners: the list, and what a round asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.rounds import RoundSpec, RoundState, Targets
from quintain.core.spec_changes import ChangesToConfirm
from quintain.core.task import Task
from quintain.services.access.permissions import require_owner
from quintain.services.board.standings import known_standings
from quintain.services.collect.rounds import manage
from quintain.services.collect.rounds.definition import dump_round, round_of
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.rounds.start_round import prompt_sources, start_round
from quintain.services.collect.writing.writing_systems import SCRIPTS
from quintain.services.models import registry as models
from quintain.services.pay import earnings
from quintain.services.tasks import definitions as tasks
from quintain.services.work import quiz_results, quizzes
from quintain.tasks.contract import kind_of
from quintain.tasks.writing import toml
from quintain.web.confirming import page_edit, show_changes
from quintain.web.drafts import SpecDraft
from quintain.web.pages.begun import begun_session
from quintain.web.pages.collect.round_form import FORM, data_of, values_in, values_of
from quintain.web.pages.collect.rule_form import NAMES as RULE_NAMES
from quintain.web.pages.collect.rule_form import other_rules, rule_controls
from quintain.web.pages.models.choices import how_to_name_others
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.written import context_names
from quintain.web.spec_form import Choice
from quintain.web.visit import Post, Posting, Visit, Visiting

LEADING = 20  # of a board, among which the model that a new round aims at is sought
CONTEXTS = "contexts of "  # before the name of a data set of which writers get the passages, say, and nothing else
AS_CHOSEN = "chosen"  # writers start from prompts if the form names some
PLAIN_RULES = ("task", "differs")  # of fooling, for answers that are no texts


def index(visit: Visiting, task: str) -> Response:
    """List the rounds of a task."""
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    listed = manage.list_rounds(visit.db, visit.actor, task)
    return visit.render(
        "collect/rounds.html",
        task=definition,
        section="rounds",
        rounds=listed,
        begun={info.number: begun_session(visit, info) for info in listed if info.state is RoundState.OPEN},
        states=state_names(visit),
        quizzes=quiz_results.quiz_list(visit.db, visit.actor, task) if visit.owns(definition) else [],
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Rounds"), None)],
    )


def new_page(visit: Visiting, task: str, file: str = "") -> Response:
    """Offer a form, or a file, to start from."""
    definition = tasks.get_task(visit.db, task)
    spec = _starter(visit, definition)
    sources = prompt_sources(visit.db, visit.actor, task)
    first = f"{CONTEXTS if context_names(visit, definition) else ''}{sources[0].ref}" if sources else ""
    values = {**values_of(spec), "prompts": first, "writing": AS_CHOSEN}
    return _editor(visit, definition, None, SpecDraft(FORM, values, dump_round(spec), bool(file)))


def create(post: Posting, task: str) -> Response:
    """Add a round as a draft."""
    return _save(post, tasks.get_task(post.visit.db, task), None)


def edit_page(visit: Visiting, task: str, number: int, file: str = "") -> Response:
    """Show what a round asks, to change it."""
    definition = tasks.get_task(visit.db, task)
    info = manage.get_round(visit.db, visit.actor, f"{task}/{number}")
    return _editor(
        visit,
        definition,
        info,
        SpecDraft(FORM, values_of(info.spec), dump_round(info.spec), bool(file), stored=info.spec),
    )


def save(post: Posting, task: str, number: int) -> Response:
    """Change a round."""
    definition = tasks.get_task(post.visit.db, task)
    return _save(post, definition, manage.get_round(post.visit.db, post.visit.actor, f"{task}/{number}"))


def download_file(visit: Visiting, task: str, number: int) -> Response:
    """Send the TOML file that defines a round."""
    require_owner(visit.actor, task)
    info = manage.get_round(visit.db, visit.actor, f"{task}/{number}")
    headers = {"content-disposition": f'attachment; filename="{task}-round-{number}.toml"'}
    return Response(dump_round(info.spec), media_type="application/toml", headers=headers)


def state_names(visit: Visit) -> dict[str, str]:
    """Return in the reader's language where a round may stand."""
    _ = visit.tongue.gettext
    return {"draft": _("draft"), "open": _("open"), "closed": _("closed")}


def _starter(visit: Visit, task: Task) -> RoundSpec:
    """Aim a new round at the model that leads, as far as that is known, or else at the newest."""
    ranking = known_standings(visit.db, visit.blobs, [task.name]).get(task.name)
    first = ranking.places[:LEADING] if ranking else ()
    infos = models.list_models(visit.db, visit.actor, task.name, [model.name for model in first]) if first else []
    usable = {model.version.ref for model in infos if model.version.withdrawn_at is None}
    leading = [model.ref for model in first if model.ref in usable]
    newest = models.models_to_choose(visit.db, visit.actor, task.name, limit=1).models
    targets = Targets("one", tuple([*leading, *(choice.ref for choice in newest)][:1]))
    return RoundSpec(task.name, visit.tongue.gettext("Fool the model"), targets=targets)


def _save(post: Post, task: Task, info: RoundInfo | None) -> Response:
    visit = post.visit
    draft = SpecDraft(FORM, values_of(_starter(visit, task)), "", stored=info.spec if info else None).typed(post)
    values = {**(draft.values if draft.as_file else values_in(post)), "prompts": post.text("prompts")}
    draft = replace(draft, values=values)
    try:
        if draft.as_file:
            saved = _save_file(post, task, info, draft.text)
        else:
            chosen = values if values["writing"] != AS_CHOSEN else {**values, "writing": _as_chosen(values)}
            data = data_of(task.name, chosen, info.spec if info else None)
            if info:
                data["number"] = info.number
                saved = manage.put_spec(visit.db, visit.actor, round_of(data), edit=post.edit)
            else:
                saved = start_round(
                    visit.db,
                    visit.blobs,
                    visit.actor,
                    round_of(data),
                    source=values["prompts"].removeprefix(CONTEXTS),
                    contexts=values["prompts"].startswith(CONTEXTS),
                    open_now=post.flag("open"),
                )
    except ChangesToConfirm as error:
        return show_changes(post, error.changes, f"/tasks/{task.name}/rounds/{info.number if info else ''}", RoundSpec)
    except (BadInput, Conflict, NotFound) as error:
        return _editor(visit, task, info, draft.refused(error))
    _ = visit.tongue.gettext
    is_open = not info and saved.state is RoundState.OPEN
    toast = _("The round is open.") if is_open else _("Saved.")
    return visit.redirect(f"/tasks/{task.name}/rounds/{saved.number}", toast)


def _save_file(post: Post, task: Task, info: RoundInfo | None, text: str) -> RoundInfo:
    spec = manage.check_round(text)
    if spec.task != task.name:
        raise Conflict("This is a round of '{task}', not of '{name}'.", task=spec.task, name=task.name)
    if info and spec.number != info.number:
        raise Conflict(
            "This is round {number}, not {right}.",
            number=spec.number,
            right=info.number,
            remedy="A round keeps its number.",
        )
    if not info and spec.number:
        raise Conflict(
            "It gives itself the number {number}.", number=spec.number, remedy="Leave `number` out of a new round."
        )
    return manage.put_round(post.visit.db, post.visit.actor, text, edit=page_edit(post))


def _editor(visit: Visit, task: Task, info: RoundInfo | None, draft: SpecDraft) -> Response:
    require_owner(visit.actor, task.name)
    _ = visit.tongue.gettext
    base, values = f"/tasks/{task.name}/rounds", draft.values
    title = _("Edit round %(n)s", n=info.number) if info else _("New round")
    offered = models.models_to_choose(visit.db, visit.actor, task.name)
    return visit.render(
        "collect/round_edit.html",
        task=task,
        section="rounds",
        round=info,
        title=title,
        action=f"{base}/{info.number}/edit" if info else f"{base}/new",
        back=f"{base}/{info.number}" if info else base,
        rules=rule_controls(visit.tongue, values, draft.faults(visit.language)),
        rules_used=any(values[name] for name in ("quizzes", *RULE_NAMES)),
        other_rules=[_one_line(rule) for rule in other_rules(info.spec.qualifications)] if info else [],
        wage=str(earnings.hourly(info.spec.reward.base, info.spec.minutes)) if info and info.spec.reward.amount else "",
        crumbs=[(title_of(visit, task), f"/tasks/{task.name}"), (_("Rounds"), base), (title, None)],
        writings=_writings(visit, new=info is None),
        sources=[] if info else _sources(visit, task),
        others=how_to_name_others(visit, task.name, offered),
        **draft.shown(visit, _choices(visit, task, values, offered)),
    )


def _one_line(rule: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {toml(value)}" for name, value in rule.items())


def _choices(
    visit: Visit, task: Task, values: Mapping[str, Any], offered: models.ModelChoices
) -> dict[str, list[Choice]]:
    """Return the choices that depend on the task: of models and quizzes those there are, and those that are chosen."""
    _ = visit.tongue.gettext
    listed = [(model.ref, f"{model.name} @ {model.number}") for model in offered.models]
    gone = [(ref, ref) for ref in values["models"] if ref not in [known for known, _name in listed]]
    taken = sorted({*quizzes.list_quizzes(visit.db, task.name), *values["quizzes"]})
    rules = FORM.fields["fooled"].option.kind.choices
    fits = kind_of(task).answers.is_text
    return {
        "models": [(ref, name, "") for ref, name in gone + listed],
        "quizzes": [(name, name, "") for name in taken],
        "scripts": [(name, name, "") for name in SCRIPTS],
        "fooled": [(rule, _(words), "") for rule, (words, _gloss) in rules.items() if fits or rule in PLAIN_RULES],
    }


def _sources(visit: Visit, task: Task) -> list[tuple[str, str]]:
    """List where prompts may come from, and that there may be none."""
    _ = visit.tongue.gettext
    offered = prompt_sources(visit.db, visit.actor, task.name)
    named = [
        (source.ref, _("%(dataset)s (%(n)s texts)", dataset=source.dataset, n=visit.tongue.number(source.rows)))
        for source in offered
    ]
    names = context_names(visit, task)
    alone = [
        (
            f"{CONTEXTS}{source.ref}",
            _("%(dataset)s: %(names)s alone, nothing else", dataset=source.dataset, names=names),
        )
        for source in (offered if names else [])
    ]
    return [*alone, *named, ("", _("none: writers start from a blank page"))]


def _as_chosen(values: Mapping[str, Any]) -> str:
    """Return what writers start from where only prompts were chosen, or none."""
    return "prompt" if values["prompts"] else "blank"


def _writings(visit: Visit, *, new: bool) -> list[Choice]:
    _ = visit.tongue.gettext
    first = [(AS_CHOSEN, _("what was chosen above"), _("A prompt where there are some, else a blank page."))]
    return [
        *(first if new else []),
        ("prompt", _("a prompt to edit"), _("Each prompt is used once before any is used again.")),
        ("blank", _("a blank page"), ""),
        ("both", _("both, side by side"), _("A pilot: each writer is drawn for one of the two.")),
        ("own", _("conditions of your own"), _("With names and weights, below.")),
    ]
