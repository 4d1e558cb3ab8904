"""`quintain validate entry|policy|adaptive|judges|notes|trail`: what the console shows and sets besides figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, link_base, workspace_of
from quintain.cli.output import JsonFlag, print_json, print_line, print_table, say
from quintain.cli.streams import in_option
from quintain.cli.validate.validate import Ref, app, judge_rows
from quintain.core.people import OPERATOR
from quintain.core.records.validate import Judges, JudgingNotes, ValidationTrail
from quintain.core.toml import read_text
from quintain.services.validate.console import audit_trail as validation_trail
from quintain.services.validate.console import forecast as adaptive_forecast
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import panel_entry
from quintain.services.validate.quality import judges as judge_service

SHOWN = 200


@app.command()
def entry(context: typer.Context, ref: Ref, json: JsonFlag = False) -> None:
    """Print the address that a panel sends judges to; the policy says which panel, under [entry].

    Example: quintain validate entry sentiment/2
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        judging_entry = panel_entry.judging_entry(db, OPERATOR, ref, link_base(workspace))
    if json:
        print_json(judging_entry)
    else:
        print_line(judging_entry.url)


@app.command()
def policy(
    context: typer.Context,
    ref: Ref,
    new: Annotated[Path | None, in_option("TOML file of the new policy.", "--set")] = None,
    every: Annotated[bool, typer.Option("--all", help="List every state that it had.")] = False,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Print the policy as a TOML file, or change it; slots that are there stay, and the validation is not opened.

    Example: quintain validate policy sentiment/2 > policy.toml

    Example: quintain validate policy sentiment/2 --set policy.toml
    """
    with workspace_of(context).session() as db:
        if new is not None:
            text = read_text(new)
            confirm_changes(
                lambda edit: validate.set_policy(db, OPERATOR, ref, text, file=str(new), edit=edit),
                remove,
                revision,
                yes=yes,
            )
        policies = validation_trail.policies(db, OPERATOR, ref)
    if new is not None:
        say(f"The policy of {ref} is version {policies.version}.")
    if json:
        print_json(policies if every else replace(policies, versions=policies.versions[:1]))
    elif every:
        rows = [
            (version.version, f"{version.at:%Y-%m-%d %H:%M}", version.by, version.policy.strip())
            for version in policies.versions
        ]
        print_table(["version", "when", "who", "policy"], rows)
    else:
        print_line(policies.policy.rstrip("\n"))


@app.command()
def adaptive(
    context: typer.Context,
    ref: Ref,
    policy: Annotated[
        Path | None,
        typer.Option(help="TOML file of a policy to try, not the one that stands.", show_default=False),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Forecast what asking adaptively would save and what it would risk, before it is switched on.

    Example: quintain validate adaptive sentiment/2 --policy policy.toml
    """
    with workspace_of(context).session() as db:
        text = None if policy is None else read_text(policy)
        forecast = adaptive_forecast.foresee_adaptive(db, OPERATOR, ref, text, file=str(policy) if policy else None)
    if json:
        print_json(forecast)
        return
    source = f"{forecast.items} items {'drawn from' if forecast.drawn else 'of'} this validation, played again"
    if forecast.accuracy is not None:
        source = f"a model: judges who are right on {forecast.accuracy:.0%}, and err evenly"
    say(f"From {source}. Adaptive asking is {'on' if forecast.switched_on else 'off'} in this policy.")
    rows = [
        [
            f"minimum = {setting.minimum}, adaptive.least = {setting.least}"
            + (" (as it stands)" if setting.chosen else ""),
            f"{setting.saving:.1%}",
            f"{setting.changed:.1%}",
            f"{setting.unlabelled:.1%} ({setting.unlabelled_before:.1%})",
        ]
        for setting in forecast.settings
    ]
    print_table(["setting", "judgements saved", "another label", "no label (without adapting)"], rows)


@app.command()
def judges(
    context: typer.Context,
    ref: Ref,
    suspicious: Annotated[bool, typer.Option("--suspicious", help="Only those who stand out.")] = False,
    unqualified: Annotated[bool, typer.Option("--unqualified", help="Only those who may not judge.")] = False,
    json: JsonFlag = False,
) -> None:
    """List the judges with agreement, accuracy, gold items, times and patterns, the lowest accuracy first.

    Example: quintain validate judges sentiment/2 --suspicious
    """
    with workspace_of(context).session() as db:
        rows = judge_service.judge_table(db, OPERATOR, ref)
    rows = [row for row in rows if (row.patterns or not suspicious) and (not row.qualified or not unqualified)]
    if json:
        print_json(Judges(rows, len(rows), 0))
        return
    print_table(*judge_rows(rows))


@app.command()
def notes(context: typer.Context, ref: Ref, json: JsonFlag = False) -> None:
    """List what judges flagged and skipped, with their reasons.

    Example: quintain validate notes sentiment/2
    """
    with workspace_of(context).session() as db:
        listed = validation_trail.notes(db, OPERATOR, ref)
    if json:
        print_json(JudgingNotes(listed))
        return
    rows = [(one.kind, one.worker, f"{one.at:%Y-%m-%d %H:%M}", one.item, one.text, one.inputs) for one in listed]
    print_table(["kind", "judge", "when", "item", "reason", "inputs"], rows)


@app.command()
def trail(
    context: typer.Context,
    ref: Ref,
    limit: Annotated[int, typer.Option(help="List at most so many.", min=1)] = SHOWN,
    json: JsonFlag = False,
) -> None:
    """List what was done to a validation and its judges, by whom and when, the newest first.

    Example: quintain validate trail sentiment/2
    """
    with workspace_of(context).session() as db:
        entries = validation_trail.trail(db, OPERATOR, ref, limit=limit)
    if json:
        print_json(ValidationTrail(entries))
        return
    print_table(
        ["when", "who", "what", "of", "details"],
        [(one.at, one.actor, one.action, one.subject, one.details) for one in entries],
    )
