"""A round as a TOML file: reading it with every fault named, and writing it. What there is to say: `RoundSpec`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.rounds import RoundSpec
from quintain.core.spec import plain, read
from quintain.core.toml import parse_toml
from quintain.services.collect.writing.writing_systems import SCRIPTS
from quintain.services.work.rules import rule_faults
from quintain.tasks.writing import dump_toml


def parse_round(text: str, *, file: str | None = None) -> RoundSpec:
    r"""Make a round of the TOML *text*, or raise BadInput with every fault in it; *file* is named in them.

    >>> parse_round('task = "mood"\ntitle = "Fool it"\n[targets]\nmodels = ["mood/ngram"]').attempts
    10
    """
    if len(text) > 1_000_000:
        raise BadInput("This is larger than 1 MB, which no round is.")
    return round_of(parse_toml(text, file=file), file=file)


def round_of(data: Mapping[str, Any], *, file: str | None = None) -> RoundSpec:
    """Make a round of plain data, as TOML or a page gives it."""
    return read(RoundSpec, data, file=file, also=_unknown_names)


def dump_round(spec: RoundSpec) -> str:
    """Write *spec* as TOML; reading it again gives the same round."""
    return dump_toml(plain(spec))


def _unknown_names(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Look scripts and rules up."""
    for script in values.get("scripts", ()):
        if script not in SCRIPTS:
            known = ", ".join(SCRIPTS)
            yield Fault("there is no script '{script}'; there are {known}", script=script, known=known, field="scripts")
    for number, rule in enumerate(values.get("qualifications", ()), 1):
        for reason in rule_faults(rule):
            yield Fault("entry {number}: {reason}", number=number, reason=reason, field="qualifications")
