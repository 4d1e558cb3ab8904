"""`quintain evaluate paired`: several files of predictions on the same gold answers, without a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.plain.score import app
from quintain.cli.streams import in_file
from quintain.data.tables import parse_columns
from quintain.library.paired import PairedFound
from quintain.library.paired import paired as compare


@app.command()
def paired(
    gold: Annotated[Path, in_file("Gold answers: a table id,answer (or label), or SQuAD JSON.", metavar="GOLD")],
    predictions: Annotated[
        list[Path], in_file("Predictions of two systems or more: tables id,prediction.", metavar="PREDICTIONS...")
    ],
    metric: Annotated[str, typer.Option(help="One metric, such as macro_f1.", show_default="by the answers")] = "",
    column: Annotated[list[str] | None, typer.Option(help="Map a name: answer=gold_label.")] = None,
    type_: Annotated[
        str | None, typer.Option("--type", help="label, choice, choices, span, token or text; told from the data.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Draw and swap whole groups by this column; by default `group`, if there.")
    ] = None,
    allow_missing: Annotated[bool, typer.Option(help="Count missing predictions as wrong.")] = False,
    allow_unknown: Annotated[bool, typer.Option(help="Leave out predictions without a gold answer.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    resamples: Annotated[int, typer.Option(min=0, help="Resamples, and permutations.")] = 10_000,
    json: output.JsonFlag = False,
) -> None:
    """Compare every two of several files of predictions: difference, interval, permutation test, Holm, power.

    Example: quintain evaluate paired gold.csv small.csv large.csv --metric macro_f1 --json
    """
    compared = compare(
        gold,
        *predictions,
        metric=metric,
        columns=parse_columns(column or []),
        answer_type=type_,
        cluster=cluster,
        allow_missing=allow_missing,
        allow_unknown=allow_unknown,
        seed=seed,
        resamples=resamples,
    )
    output.warn(compared.warnings)
    for note in compared.notes:
        output.say(note)
    if json:
        output.print_json(compared.to_dict())
    else:
        _print_pairs(compared)


def _print_pairs(compared: PairedFound) -> None:
    record = compared.record
    output.print_table(["system", record.metric], [[each.name, _number(each.value)] for each in record.systems])
    output.print_table(
        ["a", "b", "a − b", "95 % interval", "p", "p (Holm)", "n", "for 80 % power"],
        [
            [
                pair.a,
                pair.b,
                _number(pair.difference.value, "+.4f"),
                f"{_number(pair.difference.low, '+.4f')} – {_number(pair.difference.high, '+.4f')}",
                _number(pair.p),
                _number(pair.p_holm),
                f"{pair.n:,}",
                "–" if power.needed is None else f"{power.needed:,}",
            ]
            for pair, power in zip(record.pairs, record.power, strict=True)
        ],
    )


def _number(value: float | None, form: str = ".4f") -> str:
    return "–" if value is None else format(value, form)
