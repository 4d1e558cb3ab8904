"""`quintain validate`: from judgements to labels one can trust."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.output import UNCOUNTED, JsonFlag, bar, print_json, print_line, print_table, say
from quintain.cli.streams import in_option, out_option
from quintain.core.people import OPERATOR
from quintain.core.records.figures import Estimate
from quintain.core.records.judging import ContestedItems
from quintain.core.records.validate import STATES, Judge, Validation, ValidationProgress, Validations
from quintain.core.toml import read_text
from quintain.core.validation import ValidationState
from quintain.data.tables import parse_columns
from quintain.services.validate.console import export as judged_export
from quintain.services.validate.console import item_files
from quintain.services.validate.console import items as validation_items
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console import status as validation_status
from quintain.services.validate.console.items import ORDERS, ItemQuery
from quintain.services.validate.judging import adjudicate as adjudication
from quintain.services.validate.quality import judges
from quintain.services.validate.quality import review as reviewing

app = typer.Typer(help="Let people judge what was collected.", no_args_is_help=True)

Ref = Annotated[str, typer.Argument(metavar="ROUND", help="The round, as task/number, or a validation's own name.")]
Columns = Annotated[list[str] | None, typer.Option("--column", help="Map a name: text=sentence.", show_default=False)]


@app.command("open")
def open_(
    context: typer.Context,
    ref: Ref,
    policy: Annotated[Path | None, in_option("TOML file of the policy.")] = None,
    items: Annotated[Path | None, in_option("File of items to add.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Data set to add, as task/name.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(help="Decides the order of items, and ties.")] = 0,
    column: Columns = None,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Begin to validate a round, or open it again: attempts become items, and judges are offered them.

    Example: quintain validate open sentiment/2 --policy policy.toml
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        text = read_text(policy) if policy else None
        confirm_changes(
            lambda edit: item_files.open_with_items(
                db,
                workspace.blobs,
                OPERATOR,
                ref,
                text,
                seed=seed,
                file=str(policy) if policy else None,
                items=items,
                columns=parse_columns(column or []),
                dataset=dataset,
                edit=edit,
            ),
            remove,
            revision,
            yes=yes,
        )
        progress = validation_status.progress(db, OPERATOR, ref)
    if progress.state == ValidationState.PREPARING:
        say(f"{ref} is being prepared by a worker; `quintain jobs list` shows how far it is.")
    elif not progress.counted:
        say(f"{ref} is open. {UNCOUNTED}")
    else:
        say(f"{ref} is open: {progress.items} items, {progress.forecast.judgements} judgements to go.")
    if json:
        print_json(progress)


@app.command()
def close(
    context: typer.Context,
    ref: Ref,
    pause: Annotated[bool, typer.Option("--pause", help="Only for a while.")] = False,
    json: JsonFlag = False,
) -> None:
    """Offer no more pages; those that people hold can still be handed in.

    Example: quintain validate close sentiment/2
    """
    state = ValidationState.PAUSED if pause else ValidationState.CLOSED
    with workspace_of(context).session() as db:
        validate.set_state(db, OPERATOR, ref, state)
    say(f"{ref} is {state.value}.")
    if json:
        print_json({"validation": ref, "state": state.value})


@app.command()
def status(
    context: typer.Context,
    ref: Annotated[
        str | None, typer.Argument(metavar="ROUND", help="Only this one, in full.", show_default=False)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Show how far validation is: progress, forecast, agreement, labels, judges, error rates.

    Example: quintain validate status sentiment/2 --json
    """
    with workspace_of(context).session() as db:
        if ref is not None:
            validation = validation_status.status(db, OPERATOR, ref)
            print_json(validation) if json else _show(validation)
            return
        listed = [validation_status.progress(db, OPERATOR, validation) for validation in validate.list_validations(db)]
    if json:
        print_json(Validations(listed))
        return
    print_table(
        ["validation", "state", "items", "judgements", "to go"],
        [[one.validation, one.state, *_numbers(one)] for one in listed],
    )


def _numbers(progress: ValidationProgress) -> list[object]:
    """Return items, judgements, and judgements to go, or "pending" while nobody has counted them."""
    if not progress.counted:
        return ["pending", "pending", "pending"]
    return [progress.items, progress.judgements, progress.forecast.judgements]


def _show(validation: Validation) -> None:
    if not validation.counted:
        print_line(f"{validation.validation}: {validation.state}. {UNCOUNTED}")
        return
    progress, forecast, rates = validation.progress, validation.forecast, validation.rates
    print_line(f"{validation.validation}: {validation.state}, {progress.complete} of {progress.items} items complete")
    print_line(f"{progress.judgements} judgements, {progress.kept} kept, {progress.set_aside} set aside")
    if validation.asking.often:
        sample = (
            f"{validation.asking.sample:,} of each part"
            if validation.asking.sample
            else f"{validation.asking.share:.0%}"
        )
        parts = "; ".join(f"{part.part or 'all'}: {part.often:,} of {part.items:,}" for part in validation.asking.parts)
        most, often = validation.asking.judgements, validation.asking.often
        print_line(f"{most} judgements of most items, {often} of a seeded {sample} ({parts})")
    if validation.asking.writer:
        print_line("the writer's label is a vote, too")
    days = "unknown" if forecast.days is None else f"{forecast.days:.1f}"
    print_line(f"to go: {forecast.judgements} judgements, days: {days}, cost: {forecast.cost}")
    if validation.waiting:
        print_line(validation.waiting.advice)
    if progress.saved:
        print_line(f"saved by asking adaptively: {progress.saved} judgements ({progress.saved_share:.1%})")
    alpha = validation.agreement.krippendorff_alpha or Estimate(None, reason="there are no judgements yet")
    print_line(
        f"labels by {validation.method}, Krippendorff's alpha {_figure(alpha)}, contested items: {validation.contested}"
    )
    print_line(f"vMER {rate(rates.vmer)}, aimed success {rate(rates.aimed_success)}")
    print_table(["label", "items"], list(validation.labels.items()))
    print_table(*judge_rows(validation.judges))


def judge_rows(rows: Sequence[Judge]) -> tuple[list[str], list[list[object]]]:
    """Return judges as the columns and rows of a table."""
    columns = ["judge", "judgements", "agreement", "accuracy", "gold", "seconds", "patterns", "qualified"]
    return columns, [
        [
            row.worker,
            row.judgements,
            rate(row.agreement),
            rate(row.accuracy),
            rate(row.gold),
            "" if row.median_seconds is None else f"{row.median_seconds:.1f}",
            " ".join(row.patterns),
            "yes" if row.qualified else f"no: {row.reason}" + ("" if row.set_aside else "; counts here"),
        ]
        for row in rows
    ]


def _figure(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"undefined: {estimate.reason or ''}"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def rate(estimate: Estimate | None) -> str:
    """Write a share with its interval."""
    if estimate is None or estimate.value is None:
        return "–"
    return f"{estimate.value:.1%} [{estimate.low:.1%}, {estimate.high:.1%}]"


@app.command()
def review(
    context: typer.Context,
    ref: Ref,
    apply: Annotated[bool | None, typer.Option(help="Unqualify those who are caught; as the policy says.")] = None,
    json: JsonFlag = False,
) -> None:
    """Measure all judges by the policy's rules, as happens after every batch.

    Example: quintain validate review sentiment/2
    """
    with workspace_of(context).session() as db:
        outcome = reviewing.review(db, OPERATOR, ref, apply=apply)
    if json:
        print_json(outcome)
        return
    say(f"{outcome.judges} judges, {outcome.judgements} judgements; {outcome.opened} slots opened again.")
    print_table(["judge", "caught by"], list(outcome.caught.items()))


@app.command()
def items(
    context: typer.Context,
    ref: Ref,
    add: Annotated[Path | None, in_option("File of items that no round wrote.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Data set to add, as task/name.", show_default=False)] = None,
    state: Annotated[str, typer.Option(help=f"Only items that are {', '.join(STATES)}.", show_default=False)] = "",
    label: Annotated[str, typer.Option(help="Only items with this label.", show_default=False)] = "",
    text: Annotated[str, typer.Option(help="Only items that contain this.", show_default=False)] = "",
    sort: Annotated[str, typer.Option(help=f"By {', '.join(ORDERS)}.")] = "item",
    down: Annotated[bool, typer.Option("--down", help="The largest first.")] = False,
    limit: Annotated[int, typer.Option(help="List at most so many.", min=1)] = 50,
    column: Columns = None,
    json: JsonFlag = False,
) -> None:
    """List the items with their votes and labels, or add some from a file or a data set.

    Example: quintain validate items sentiment/2 --state contested --sort share
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        if add is not None:
            taken = item_files.add_items_from_file(db, OPERATOR, ref, add, parse_columns(column or []))
            say(f"{taken.added} items added, {taken.repeats} were there already.")
        if dataset is not None:
            taken = item_files.add_items_from_dataset(db, workspace.blobs, OPERATOR, ref, dataset)
            say(f"{taken.added} items added, {taken.repeats} were there already.")
        page = validation_items.list_items(db, OPERATOR, ref, ItemQuery(state, label, text, sort, down, 0, limit))
    if json:
        print_json(page)
        return
    if not page.counted:
        say(f"{ref}: {UNCOUNTED}")
        return
    say(f"{page.total} items; " + ", ".join(f"{name}: {count}" for name, count in page.counts.items()))
    if page.searched:
        say(f"The text was looked for in the newest {page.searched:,} items; export the labels to look in all.")
    print_table(
        ["id", "state", "label", "votes", "inputs"],
        [[item.id, item.state, item.label or "", item.votes, item.inputs] for item in page.items],
    )


@app.command("adjudicate")
def adjudicate_(
    context: typer.Context,
    ref: Ref,
    item: Annotated[int | None, typer.Option(help="Decide on this item.", show_default=False)] = None,
    label: Annotated[str, typer.Option(help="With --item: its label; empty takes the decision back.")] = "",
    reason: Annotated[str, typer.Option(help="With --item: why.")] = "",
    limit: Annotated[int, typer.Option(help="List at most so many.")] = 50,
    json: JsonFlag = False,
) -> None:
    """List the items on which judges disagree most, or decide on one of them.

    Example: quintain validate adjudicate sentiment/2 --item 17 --label neutral
    """
    with workspace_of(context).session() as db:
        if item is not None:
            adjudication.adjudicate(db, OPERATOR, ref, item, label, reason=reason)
        listed = adjudication.adjudication_queue_of(db, OPERATOR, ref, limit=limit)
    if json:
        print_json(ContestedItems(listed))
        return
    print_table(["id", "votes", "label", "inputs"], [[one.id, one.votes, one.label, one.inputs] for one in listed])


@app.command()
def history(
    context: typer.Context,
    ref: Ref,
    worker: Annotated[str, typer.Argument(help="Name of the judge.", show_default=False)],
    json: JsonFlag = False,
) -> None:
    """Show everything that happened to one judge: every review and every change of standing.

    Example: quintain validate history sentiment/2 wilma
    """
    with workspace_of(context).session() as db:
        events = judges.judge_history(db, OPERATOR, ref, worker)
    if json:
        print_json(events)
        return
    print_table(
        ["at", "judgements", "agreed", "gold right", "accuracy"],
        [
            [
                one.at,
                one.judgements,
                f"{one.agreed} of {one.compared}",
                f"{one.gold_right} of {one.gold_seen}",
                f"{one.accuracy:.1%}",
            ]
            for one in events.reviews
        ],
        title="Reviews",
    )
    print_table(
        ["at", "qualified", "rule", "reason"],
        [[one.at, one.qualified, one.rule, one.reason] for one in events.standings],
        title=f"Standing in {ref}",
    )
    print_table(
        ["at", "held", "reason"],
        [[qualification.at, qualification.held, qualification.reason] for qualification in events.qualifications],
        title="Qualification of the whole task",
    )


@app.command()
def export(
    context: typer.Context,
    ref: Ref,
    out: Annotated[Path, out_option("File to write: .csv, .jsonl or .parquet.")],
    labels: Annotated[bool, typer.Option("--labels", help="One row per item, not per judgement.")] = False,
    json: JsonFlag = False,
) -> None:
    """Write all judgements (`item,worker,label`, and whether each is kept), or the labels with their votes.

    Example: quintain validate export sentiment/2 --out judgements.csv
    """
    write = judged_export.export_labels if labels else judged_export.export_judgements
    with workspace_of(context).session() as db, bar() as show:
        rows = write(db, OPERATOR, ref, out, partial(show, "Rows"))
    _tell({"file": str(out), "rows": rows}, json, f"{rows} rows written to {out}.")


def _tell(record: dict[str, Any], json: bool, text: str) -> None:
    print_json(record) if json else print_line(text)
