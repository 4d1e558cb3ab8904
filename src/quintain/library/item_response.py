"""Item response theory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.report import Report
from quintain.data.in_memory import Source, source_of
from quintain.library.results import Result
from quintain.services.plain.reports.irt import IrtStudy, item_responses
from quintain.services.plain.reports.irt_report import irt_report
from quintain.services.plain.reports.responses import LONG, ResponseReading
from quintain.stats.irt.fit import IrtMethod, IrtModel


@dataclass(frozen=True, slots=True, repr=False)
class IrtFound(Result):
    """How hard items are and how able respondents."""

    title = "Item response theory"
    study: IrtStudy

    @property
    def table(self) -> pl.DataFrame:
        """Discrimination, difficulty and guessing of each item."""
        return self.study.items()

    @property
    def abilities(self) -> pl.DataFrame:
        """The ability of each respondent, with its error."""
        return self.study.abilities()

    @property
    def suspicious(self) -> pl.DataFrame:
        """Items that the strong get wrong and the weak right: their labels want a second look."""
        return self.study.suspicious()

    def content(self) -> Mapping[str, Any]:
        """Return all estimates with their errors."""
        return self.study.as_dict()

    def report(self, name: str = "responses", commands: Sequence[str] = ()) -> Report:
        """Return it as a report with charts."""
        return irt_report(self.study, commands, name=name)

    def chart(self) -> Mapping[str, Any]:
        """Draw how hard the items are; refused where respondents cannot be told apart."""
        charts = self.report().sections[0].charts
        if not charts:
            raise BadInput(
                "There is no difficulty to draw: respondents differ in their scores no more than by chance.",
                remedy="Take responses of more respondents, or of ones that are less alike.",
            )
        return charts[0].spec

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        fit = self.study.fit
        yield f"{fit.model} by {fit.method}"
        yield f"{len(self.study.responses.items):,} items, {fit.respondents:,.0f} respondents"
        yield f"log-likelihood {fit.loglik:,.3f}"


def irt(
    responses: Any,
    model: IrtModel = "2pl",
    *,
    method: IrtMethod = "mml",
    subset: int = 0,
    named: bool = True,
    frequency: str = "",
    columns: Mapping[str, str] | None = None,
    guessing_prior: Sequence[float] = (),
    seed: int = 0,
) -> IrtFound:
    """Estimate discrimination, difficulty and guessing of items, and the ability of respondents.

    *responses* is a table `respondent, item, correct`, or one with a column per item; the first names the respondents
    unless *named* is false, and *frequency* may name one that counts rows. A list of paths or frames has a test in
    each. *model* is 1pl, 2pl or 3pl; *method* mml (marginal likelihood) or vi (variational). *subset* chooses so many
    items that together tell most. *guessing_prior* is the chance in the middle of the prior of guessing, and the
    spread of its logit, such as `(0.25, 1)` for four options; without it each method has its own.

    Where respondents differ in their scores no more than by chance there is no scale, and every difficulty is None.

    >>> said = [(f"r{able}", f"i{hard}", int(able >= hard)) for able in range(9) for hard in range(1, 9)]
    >>> irt(said, "1pl").table["difficulty"].is_sorted()
    True
    """
    several = isinstance(responses, list | tuple) and bool(responses)
    several = several and not any(isinstance(response, Mapping | list | tuple) for response in responses)
    sources: list[Source] = (
        [source_of(one, LONG, name=f"test {at}") for at, one in enumerate(responses, 1)]
        if several
        else [source_of(responses, LONG, name="the responses")]
    )
    reading = ResponseReading(columns or {}, named, frequency)
    return IrtFound(
        item_responses(sources, model, reading, method=method, subset=subset, seed=seed, guessing_prior=guessing_prior)
    )
