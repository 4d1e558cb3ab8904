"""Artefacts as a report: whether the answer can be told without solving the task, and from what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.records.figures import Estimate
from quintain.core.records.report import Cell, Chart, Column, Report, ReportFact, ReportSection, Table
from quintain.core.texts import Text
from quintain.core.words import shortened
from quintain.reports.charts import bar_chart, interval_chart
from quintain.services.plain.files.checkpoints import Checkpoints
from quintain.services.plain.reports.artefact_lengths import lengths_by_label, lengths_of_options
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.generic import generic_questions
from quintain.stats.artefacts.learner import OPTIONS, Teachable
from quintain.stats.artefacts.partial import MOST_ARMS, PartialInput, partial_input, subsets_of
from quintain.stats.artefacts.people import held_out_writers, identity_labels, order_effect, repeats, writer_effect
from quintain.stats.artefacts.surface import first_words, wh_words
from quintain.stats.artefacts.words_by_label import WordLabels, words_by_label
from quintain.stats.bootstrap import FloatArray
from quintain.stats.workers import wilson_share

PART = 100_000
MOST_WORDS = 30
MOST_SHOWN = 10
MOST_REPEATS = 20_000  # texts that are held against each other
SNIPPET = 120
LEAST_EXAMPLES = 20
Done = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class ArtefactOptions:
    """What to look for: *subsets* of fields (all that make sense by default), the *seed*, commands to do it again.

    *learner* tries the subsets; the linear one by default. *checkpoints* keeps parts until the whole is done.
    """

    subsets: Sequence[Sequence[str]] = ()
    seed: int = 0
    commands: Sequence[str] = ()
    learner: Teachable | None = None
    checkpoints: Checkpoints = field(default_factory=Checkpoints)


def _quiet(_share: float) -> None:
    """Report progress to nobody."""


def artefact_report(examples: Examples, name: str, options: ArtefactOptions, done: Done = _quiet) -> Report:
    """Look for artefacts in *examples*; *done* is told what share of the work is done."""
    return Report(
        key="artefacts",
        title=Text("What gives the answers of {name} away?", name=name),
        lead=Text("What can be told of an answer without solving the task."),
        facts=[
            ReportFact(Text("Examples"), f"{len(examples):,}"),
            ReportFact(Text("Fields"), ", ".join([*examples.fields, *([OPTIONS] if examples.options else [])])),
            ReportFact(Text("Contexts"), f"{len(set(examples.context)):,}" if examples.context else "–"),
            *([ReportFact(Text("Arms"), f"{len(set(examples.arm)):,}")] if examples.arm else []),
            ReportFact(Text("Seed"), str(options.seed)),
        ],
        sections=artefact_sections(examples, options, done),
    )


def artefact_sections(examples: Examples, options: ArtefactOptions, done: Done = _quiet) -> list[ReportSection]:
    """Return the questions one by one; each is a section."""
    if len(examples) < LEAST_EXAMPLES:
        raise BadInput(
            "{n} examples are too few to look for artefacts.",
            n=len(examples),
            remedy="Give at least {least}, and better a thousand.",
            least=LEAST_EXAMPLES,
        )
    commands = list(options.commands)
    sections = [_partial(examples, options, commands, done)]
    if examples.options:
        sections.append(lengths_of_options(examples, commands))
    else:
        sections.append(_words(examples, commands))
        sections.append(lengths_by_label(examples, commands))
    sections += _beginnings(examples, commands)
    done(0.85)
    sections += _people(examples, options.seed, commands)
    if not examples.options:
        sections.append(_identity(examples, commands))
    done(1.0)
    return sections


def _partial(examples: Examples, options: ArtefactOptions, commands: list[str], done: Done) -> ReportSection:
    subsets = [tuple(subset) for subset in options.subsets] or subsets_of(examples)
    for name in {name for subset in subsets for name in subset} - {*examples.fields, OPTIONS}:
        raise BadInput("There is no field '{name}'.", name=name, remedy="Name fields of the examples.")
    tries = [(subset, False) for subset in subsets]
    if not examples.options and not options.subsets:
        tries.append((tuple(examples.fields), True))
    results: list[PartialInput] = []
    for at, (fields, masked) in enumerate(tries):
        make = partial(partial_input, examples, fields, seed=options.seed, masked=masked, learner=options.learner)
        results.append(options.checkpoints.part(f"partial/{fields}/{masked}", PartialInput, make))
        done(0.6 * (at + 1) / len(tries))
    names = [_name(result) for result in results]
    rows: list[list[Cell]] = [
        [name, Estimate(one.accuracy.value, one.accuracy.low, one.accuracy.high), one.deviation, one.chance]
        for name, one in zip(names, results, strict=True)
    ]
    columns = [
        Column(Text("Input")),
        Column(Text("Accuracy"), "share"),
        Column(Text("Deviation over folds"), "share"),
        Column(Text("Chance"), "share"),
    ]
    figures = [
        (str(name), str(Text("found")), one.accuracy, one.examples)
        for name, one in zip(names, results, strict=True)
        if one.accuracy.value is not None
    ]
    chart = interval_chart(figures, row=Text("Input"), series=Text("Figure"), value=Text("Accuracy"))
    return ReportSection(
        key="partial",
        title=Text("Can the answer be told from a part of the input?"),
        findings=[_accuracy_sentence(name, one) for name, one in zip(names, results, strict=True)],
        charts=[Chart("partial-chart", Text("How far does each part of the input go?"), chart)] if figures else [],
        tables=[Table("partial-table", Text("Partial inputs, five folds"), columns, rows), *_by_arm(names, results)],
        commands=commands,
        note=Text(
            "A linear learner on words and pairs of words sees only this part; it is tried on examples of contexts "
            "that it has not seen. Chance is the commonest answer. A stronger learner may find more."
        )
        if options.learner is None
        else Text(
            "The learner of the recipe {name} sees only this part; it is tried on examples of contexts that it has not "
            "seen. Chance is the commonest answer.",
            name=options.learner.name,
        ),
    )


def _by_arm(names: Sequence[str], results: Sequence[PartialInput]) -> list[Table]:
    """Return how far each part of the input goes on the examples of each arm; nothing of a single arm."""
    rows: list[list[Cell]] = [
        [name, arm, Estimate(figure.value, figure.low, figure.high), one.chance_by_arm[arm]]
        for name, one in zip(names, results, strict=True)
        for arm, figure in one.arms.items()
    ]
    columns = [
        Column(Text("Input")),
        Column(Text("Arm")),
        Column(Text("Accuracy"), "share"),
        Column(Text("Chance"), "share"),
    ]
    return [Table("partial-arms", Text("Partial inputs, by arm"), columns, rows)] if rows else []


def _name(result: PartialInput) -> str:
    named = " + ".join(result.fields)
    return Text("{fields}, content words hidden", fields=named) if result.masked else named


def _accuracy_sentence(name: str, result: PartialInput) -> Text:
    figure = result.accuracy
    if figure.value is None or figure.low is None or figure.high is None:
        return Text("{name}: nothing can be said, since all examples have one answer or one context.", name=name)
    figures = {"name": name, "value": figure.value, "low": figure.low, "high": figure.high, "chance": result.chance}
    if result.above_chance:
        return Text(
            "{name} alone gives the answer in {value:.1%} (95 % between {low:.1%} and {high:.1%}), where chance gives "
            "{chance:.1%}: something in it tells the answer.",
            **figures,
        )
    return Text(
        "{name} alone gives the answer in {value:.1%} (95 % between {low:.1%} and {high:.1%}), no more than chance "
        "({chance:.1%}).",
        **figures,
    )


def _text(examples: Examples) -> list[str]:
    """Return all fields of each example as one text."""
    parts = list(examples.fields.values())
    return list(parts[0]) if len(parts) == 1 else [" \n ".join(row) for row in zip(*parts, strict=True)]


def _parts(texts: Sequence[str], labels: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    for start in range(0, len(texts), PART):
        yield texts[start : start + PART], labels[start : start + PART]


def _words(examples: Examples, commands: list[str]) -> ReportSection:
    last = list(examples.fields)[-1]  # of a premise and a hypothesis, the one that was written
    texts, labels = examples.fields[last], [examples.labels[code] for code in examples.answer.tolist()]
    associations = words_by_label(_parts(texts, labels))
    columns = [
        Column(Text("Word")),
        Column(Text("Label")),
        Column(Text("Texts with it"), "count"),
        Column(Text("Of them with the label"), "share"),
        Column(Text("Of all texts"), "share"),
        Column(Text("PMI in bits"), "number"),
        Column(Text("z"), "number"),
        Column(Text("For instance")),
    ]
    rows: list[list[Cell]] = [
        [
            associations.word[at],
            associations.label[at],
            int(associations.texts_with[at]),
            float(associations.share[at]),
            float(associations.expected[at]),
            float(associations.pmi[at]),
            float(associations.z[at]),
            _snippet(texts[int(associations.example[at])]),
        ]
        for at in range(min(MOST_WORDS, len(associations.word)))
    ]
    return ReportSection(
        key="words",
        title=Text("Which words go with which label?"),
        findings=[_words_said(associations, last)],
        tables=[Table("words-table", Text("Words that give a label away"), columns, rows)] if rows else [],
        commands=commands,
        note=Text(
            "z is how far the share of the label among texts with the word is from its share among all, in standard "
            "errors. Of the words that stand, one in a hundred is there by chance on average."
        ),
    )


def _words_said(associations: WordLabels, field: str) -> Text:
    if not associations.word:
        return Text("No word of {field} goes with a label beyond chance.", field=field)
    return Text(
        "{n} words of {field} go with a label beyond chance; the surest is '{word}' with {label}: {share:.0%} of the "
        "texts that have it, {expected:.0%} of all.",
        n=len(set(associations.word)),
        field=field,
        word=associations.word[0],
        label=associations.label[0],
        share=float(associations.share[0]),
        expected=float(associations.expected[0]),
    )


def _snippet(text: str) -> str:
    line = " ".join(text.split())
    return shortened(line, SNIPPET)


def _beginnings(examples: Examples, commands: list[str]) -> list[ReportSection]:
    if not examples.fields:
        return []
    name = list(examples.fields)[-1]
    texts = examples.fields[name]
    asked = wh_words(texts)
    findings: list[str] = []
    tables: list[Table] = []
    note = Text("")
    charts = [
        Chart(
            "first-chart",
            Text("How do texts begin?"),
            bar_chart(dict(first_words(texts)), category=Text("First word"), value=Text("Texts")),
        )
    ]
    if sum(count for word, count in asked.items() if word != "other") > len(texts) / 4:
        charts.append(
            Chart(
                "wh-chart",
                Text("Which question words are there?"),
                bar_chart(asked, category=Text("Question word"), value=Text("Texts")),
            )
        )
        generic = generic_questions(texts)
        share = wilson_share(float(generic.sum()), len(texts))
        findings.append(
            Text(
                "An estimate: {value:.1%} of {name} (95 % between {low:.1%} and {high:.1%}) could be asked of any "
                "passage.",
                name=name,
                value=share.value or 0.0,
                low=share.low or 0.0,
                high=share.high or 0.0,
            )
        )
        tables += _generic_by_arm(examples, generic)
        note = Text(
            "What could be asked of any passage is estimated from words alone: all of them are of formulas such as "
            "“Which of the following is true?”. Of 600 questions that were read by hand, 35 are so; the rule finds 33 "
            "of them, and no other. The interval is of the sample, not of the rule’s own errors."
        )
    return [ReportSection("beginnings", Text("How do texts begin?"), findings, charts, tables, commands, note)]


def _generic_by_arm(examples: Examples, generic: FloatArray) -> list[Table]:
    """Return how many texts of each arm could be asked of any passage; nothing of a single arm."""
    arms = examples.arms(MOST_ARMS)
    of = np.asarray(examples.arm)
    rows: list[list[Cell]] = [
        [arm, int((of == arm).sum()), wilson_share(float(generic[of == arm].sum()), int((of == arm).sum()))]
        for arm in arms
    ]
    columns = [Column(Text("Arm")), Column(Text("Texts"), "count"), Column(Text("Estimated share"), "share")]
    return (
        [Table("generic-table", Text("What could be asked of any passage, estimated"), columns, rows)] if rows else []
    )


def _people(examples: Examples, seed: int, commands: list[str]) -> list[ReportSection]:
    if not examples.fields:
        return []
    texts = list(examples.fields.values())[-1][:MOST_REPEATS]
    repeated = repeats(texts, examples.writer[: len(texts)])
    findings: list[str] = [
        Text(
            "{across} of {n} texts are nearly the same as another; {within} as another of the same writer.",
            across=repeated.alike,
            within=repeated.within,
            n=repeated.texts,
        )
        if examples.writer
        else Text("{across} of {n} texts are nearly the same as another.", across=repeated.alike, n=repeated.texts)
    ]
    if examples.writer and len(set(examples.writer)) > 1 and not examples.options:
        gain = writer_effect(examples, seed)
        findings.append(
            Text(
                "Who wrote a text tells its label in {accuracy:.1%}; the commonest label has {chance:.1%}.",
                accuracy=gain.accuracy,
                chance=gain.chance,
            )
        )
    findings += _writing(examples, seed)
    columns = [Column(Text("Text")), Column(Text("Nearly the same as"))]
    rows: list[list[Cell]] = [
        list(pair)
        for pair in list(
            dict.fromkeys((_snippet(texts[later]), _snippet(texts[earlier])) for later, earlier in repeated.pairs)
        )[:MOST_SHOWN]
    ]
    tables = [Table("repeats-table", Text("Texts that repeat others"), columns, rows)] if rows else []
    return [ReportSection("people", Text("Do texts repeat, and do writers show?"), findings, [], tables, commands)]


def _writing(examples: Examples, seed: int) -> list[str]:
    """Return whether a learner knows writers, and whether later examples of a context differ from earlier ones."""
    findings: list[str] = []
    fields = [*examples.fields, *([OPTIONS] if examples.options else [])]
    apart = held_out_writers(examples, fields, seed=seed) if examples.writer else None
    if apart is not None and apart.difference.low is not None and apart.difference.high is not None:
        findings.append(
            Text(
                "On writers whom it has read before a learner is right in {known:.1%}, on others in {new:.1%}: "
                "{points:+.1f} points (95 % between {low:+.1f} and {high:+.1f}).",
                known=apart.known.value,
                new=apart.new.value,
                points=100 * (apart.difference.value or 0.0),
                low=100 * apart.difference.low,
                high=100 * apart.difference.high,
            )
        )
    order = order_effect(examples, list(examples.fields.values())[-1], seed)
    if order is not None and order.length.value is not None and order.length.low is not None:
        findings.append(
            Text(
                "Within {n} contexts, place and length correlate at {value:+.2f} (95 % between {low:+.2f} and "
                "{high:+.2f}); the place alone tells the answer in {accuracy:.1%}, the commonest answer has "
                "{chance:.1%}.",
                n=order.contexts,
                value=order.length.value,
                low=order.length.low,
                high=order.length.high,
                accuracy=order.label.accuracy,
                chance=order.label.chance,
            )
        )
    return findings


def _identity(examples: Examples, commands: list[str]) -> ReportSection:
    pairs = identity_labels(_text(examples), examples.answer, examples.labels)
    columns = [
        Column(Text("About")),
        Column(Text("Label")),
        Column(Text("Texts"), "count"),
        Column(Text("With the label"), "share"),
        Column(Text("Of all texts"), "share"),
        Column(Text("z"), "number"),
    ]
    rows: list[list[Cell]] = [
        [pair.group, pair.label, pair.texts, pair.share, pair.expected, pair.z] for pair in pairs if pair.stands
    ]
    findings: list[str] = [
        Text("No group of people goes with a label beyond chance, of {n} looks.", n=len(pairs))
        if not rows
        else Text("{n} of {looks} pairs of a group and a label stand out beyond chance.", n=len(rows), looks=len(pairs))
    ]
    tables = [Table("identity-table", Text("Groups of people and labels"), columns, rows)] if rows else []
    note = Text("Groups are told by English words that name them; multiplicity is controlled (Benjamini and Hochberg).")
    return ReportSection(
        "identity", Text("Who are the texts about, and how are they labelled?"), findings, [], tables, commands, note
    )
