"""Data sets beside each other as a report: gap, transfer, difficulty, lengths, vocabulary, variety, coverage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from quintain.core.errors import BadInput
from quintain.core.records.report import Report, ReportFact, ReportSection
from quintain.core.records.study import MOST_SETS, TransferCell
from quintain.core.texts import Text
from quintain.services.plain.files.checkpoints import Checkpoints
from quintain.services.plain.reports.comparing.differences import differences_section, measures_of
from quintain.services.plain.reports.comparing.difficulty import difficulty_study, responses_of_models, responses_to
from quintain.services.plain.reports.comparing.gap import gap_section
from quintain.services.plain.reports.comparing.reading import same_shape
from quintain.services.plain.reports.comparing.transfer import transfer_cells, transfer_section
from quintain.services.plain.reports.comparing.variety import coverage_section, variety_section
from quintain.services.plain.reports.irt_report import difficulty_section
from quintain.services.plain.reports.texts import TextGroup, compare_texts
from quintain.stats.artefacts.learner import OPTIONS, LinearLearner, Teachable
from quintain.stats.comparing.compared import ComparedSet
from quintain.stats.comparing.transfer import Transfer, shared_fields
from quintain.stats.irt.fit import IrtModel
from quintain.stats.irt.responses import Responses

Done = Callable[[float], None]


def quiet(_share: float) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What else is learned from (*outside*), by whom and with how many seeds; responses to the items; how hard is told.

    *checkpoints* is where parts of the work are kept until the whole is done.
    """

    outside: Sequence[ComparedSet] = ()
    learner: Teachable = field(default_factory=LinearLearner)
    seeds: int = 3
    seed: int = 0
    responses: Responses | None = None
    model: IrtModel = "2pl"
    commands: Sequence[str] = ()
    checkpoints: Checkpoints = field(default_factory=Checkpoints)


@dataclass(frozen=True, slots=True)
class DataComparison:
    """The report, the matrix of what carries over as data, and where parts were kept."""

    report: Report
    transfer: list[TransferCell]
    checkpoints: Checkpoints


def compare_datasets(
    sets: Sequence[ComparedSet], options: CompareOptions | None = None, done: Done = quiet
) -> DataComparison:
    """Hold data sets beside each other; *done* is told what share of the work is done."""
    options = options or CompareOptions()
    same_shape([*sets, *options.outside] if len(sets) > 1 else sets)
    if len(sets) > MOST_SETS:
        raise BadInput("There are {n} data sets, and {most} can be compared.", n=len(sets), most=MOST_SETS)
    fields = shared_fields({one.name: one.examples for one in sets})
    commands = list(options.commands)
    sections: list[ReportSection | None] = [gap_section(sets, options.seed, commands)]
    done(0.1)
    transfer = Transfer(
        {one.name: one.examples for one in sets},
        {one.name: one.examples for one in options.outside},
        options.learner,
        options.seeds,
        options.seed,
    )
    cells = transfer_cells(transfer, options.checkpoints, lambda share: done(0.1 + 0.6 * share))
    sections.append(transfer_section(cells, transfer.parts, options.learner.name, commands))
    measures = measures_of(sets, fields)
    responses = responses_of_models(sets) if options.responses is None else responses_to(sets, options.responses)
    if responses is not None:
        study, harder = difficulty_study(responses, options.model, options.seed)
        sections.append(difficulty_section(study, commands))
        if harder:
            measures[Text("Difficulty")] = harder
    done(0.85)
    texts = {one.name: written(one, fields) for one in sets}
    sections += compare_texts(
        [TextGroup(name, rows) for name, rows in texts.items()], seed=options.seed, commands=commands
    )
    sections.append(variety_section(texts, options.seed, commands))
    sections.append(coverage_section(sets, commands))
    sections.append(differences_section(measures, commands))
    done(1.0)
    return DataComparison(
        _report(sets, options, [section for section in sections if section is not None]), cells, options.checkpoints
    )


def written(compared: ComparedSet, fields: Sequence[str]) -> list[str]:
    """Return what was written of each example: the last field, and of options alone their texts."""
    names = [name for name in fields if name != OPTIONS]
    if names:
        return list(compared.examples.fields[names[-1]])
    return [" ".join(options) for options in compared.examples.options]


def _report(sets: Sequence[ComparedSet], options: CompareOptions, sections: list[ReportSection]) -> Report:
    names = ", ".join(one.name for one in sets)
    return Report(
        key="datasets",
        title=Text("Data sets beside each other: {names}", names=names),
        lead=Text("How hard they are for people and models, what carries over, and how varied they are."),
        facts=[
            *(ReportFact(one.name, f"{len(one.examples):,}") for one in sets),
            *(
                [ReportFact(Text("Learned from, too"), ", ".join(one.name for one in options.outside))]
                if options.outside
                else []
            ),
            ReportFact(Text("Learner"), options.learner.name),
            ReportFact(Text("Seeds"), str(options.seeds)),
            ReportFact(Text("Seed"), str(options.seed)),
        ],
        sections=sections,
    )
