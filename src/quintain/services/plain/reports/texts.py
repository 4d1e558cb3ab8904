"""Groups of texts beside each other: how far from their prompts, how long, how many different words.

These are the comparisons of DynaSent (Potts et al. 2021, section 5.1, figure 2), for any number of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.records.figures import Estimate
from quintain.core.records.report import Cell, Chart, Column, Report, ReportFact, ReportSection, Table
from quintain.core.texts import Text
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.reports.line_charts import distribution_chart
from quintain.stats.bootstrap import FloatArray
from quintain.stats.diversity import SAMPLES, TEXTS, WORDS, binned, count_words, edit_shares, vocabulary_sizes, words_of
from quintain.stats.two_samples import median_interval, superiority

MOST_GROUPS = 20
MOST_PAIRS = 15


@dataclass(frozen=True, slots=True)
class TextGroup:
    """Texts under one name; *prompts* has what each was made of, or None."""

    name: str
    texts: Sequence[str]
    prompts: Sequence[str | None] = ()

    def edited(self) -> tuple[list[str], list[str]]:
        """Return the prompts that there are, and what was made of each."""
        pairs = [(before, after) for before, after in zip(self.prompts, self.texts, strict=False) if before is not None]
        return [before for before, _ in pairs], [after for _, after in pairs]


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Which columns of a file have the text, the name of its group and, if there is one, its prompt."""

    text: str = "text"
    group: str = ""
    prompt: str = ""


def text_report(path: Path, columns: TextColumns, *, seed: int = 0) -> Report:
    """Compare the texts of a file by group."""
    groups = read_groups(path, columns)
    flags = "".join(f" --{name} {getattr(columns, name)}" for name in ("group", "prompt") if getattr(columns, name))
    command = f"quintain study texts {path.name} --text {columns.text}{flags} --seed {seed} --out DIR"
    return Report(
        key="texts",
        title=Text("Texts of {name}", name=path.name),
        lead=Text("How texts differ from group to group."),
        facts=[
            ReportFact(Text("File"), path.name),
            ReportFact(Text("Texts"), f"{sum(len(group.texts) for group in groups):,}"),
            ReportFact(Text("Seed"), str(seed)),
        ],
        sections=compare_texts(groups, seed=seed, commands=[command]),
    )


def read_groups(path: Path, columns: TextColumns) -> list[TextGroup]:
    """Read the texts of a file, in the groups that one of its columns names; without one, all are one group."""
    named = {"text": columns.text, "group": columns.group, "prompt": columns.prompt}
    columns_read = {ours: theirs for ours, theirs in named.items() if theirs}
    table = read_table(path, required=list(columns_read), columns=columns_read)
    faults = [
        Fault("has no text", file=path.name, row=row_number(path, row), field=columns.text)
        for row in (table["text"].fill_null("") == "").arg_true().to_list()
    ]
    if faults:
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    if "group" not in table.columns:
        table = table.with_columns(group=pl.lit(path.stem))
    if "prompt" not in table.columns:
        table = table.with_columns(prompt=pl.lit(None, dtype=pl.String))
    table = table.with_columns(pl.col("group").fill_null("–"), pl.col("prompt").replace("", None))
    if table["group"].n_unique() > MOST_GROUPS:
        raise BadInput(
            "The column '{column}' names {n} groups, and {most} can be compared.",
            column=columns.group,
            n=table["group"].n_unique(),
            most=MOST_GROUPS,
            remedy="Choose a column with fewer values.",
        )
    return [
        TextGroup(str(name), part["text"].to_list(), part["prompt"].to_list())
        for (name,), part in table.group_by("group", maintain_order=True)
    ]


def compare_texts(groups: Sequence[TextGroup], *, seed: int = 0, commands: Sequence[str] = ()) -> list[ReportSection]:
    """Compare *groups* as DynaSent compares its conditions; groups without a text are left out."""
    groups = [group for group in groups if len(group.texts)]
    if not groups:
        raise BadInput("There are no texts to compare.", remedy="Name a round or a file that has some.")
    again = list(commands)
    sections = [_lengths(groups, again), _vocabulary(groups, seed, again)]
    edits = _edits(groups, again)
    return [edits, *sections] if edits else sections


def _edits(groups: Sequence[TextGroup], commands: list[str]) -> ReportSection | None:
    shares = {group.name: edit_shares(*group.edited()) for group in groups}
    shares = {name: values for name, values in shares.items() if len(values)}
    if not shares:
        return None
    spread = binned(shares, bounds=(0.0, 1.0))
    rows: list[list[Cell]] = [
        [
            name,
            len(values),
            median_interval(values),
            float(np.quantile(values, 0.25)),
            float(np.quantile(values, 0.75)),
            float((values == 0).mean()),
            float((values > 0.9).mean()),
        ]
        for name, values in shares.items()
    ]
    findings: list[str] = [
        Text(
            "{name}: half of the texts differ from their prompts by {median:.0%} or more (95 % between {low:.0%} and "
            "{high:.0%}); {same:.1%} are the prompt as it was, and {new:.1%} keep next to nothing of it.",
            name=name,
            **_ends(median_interval(values)),
            same=float((values == 0).mean()),
            new=float((values > 0.9).mean()),
        )
        for name, values in shares.items()
    ]
    columns = [
        Column(Text("Texts of")),
        Column(Text("With a prompt"), "count"),
        Column(Text("Median"), "share"),
        Column(Text("Lower quartile"), "share"),
        Column(Text("Upper quartile"), "share"),
        Column(Text("Unchanged"), "share"),
        Column(Text("More than 90 % changed"), "share"),
    ]
    chart = distribution_chart(
        spread.edges.tolist(),
        {name: values.tolist() for name, values in spread.shares.items()},
        value=Text("Edit distance as a share of the longer text"),
        share=Text("Share of texts"),
        form=".0%",
    )
    return ReportSection(
        key="edits",
        title=Text("Do writers make use of their prompts?"),
        findings=findings,
        charts=[Chart("edits-chart", Text("How far are texts from their prompts?"), chart)],
        tables=[Table("edits-table", Text("Edit distance from the prompt"), columns, rows)],
        commands=commands,
        note=Text(
            "The edit distance counts the characters to change, divided by the length of the prompt or of the text, "
            "whichever is longer: 0 % is the prompt itself."
        ),
    )


def _lengths(groups: Sequence[TextGroup], commands: list[str]) -> ReportSection:
    characters = {group.name: np.array([len(text) for text in group.texts], dtype=np.float64) for group in groups}
    words = {group.name: count_words(group.texts).astype(np.float64) for group in groups}
    columns = [
        Column(Text("Texts of")),
        Column(Text("Texts"), "count"),
        Column(Text("Characters, median"), "number"),
        Column(Text("Characters, mean"), "number"),
        Column(Text("Words, median"), "number"),
        Column(Text("Words, mean"), "number"),
    ]
    rows: list[list[Cell]] = [
        [
            name,
            len(values),
            median_interval(values),
            float(values.mean()),
            median_interval(words[name]),
            float(words[name].mean()),
        ]
        for name, values in characters.items()
    ]
    return ReportSection(
        key="lengths",
        title=Text("How long are the texts?"),
        findings=_pairs(characters, _longer),
        charts=[
            _length_chart("characters", Text("How many characters have the texts?"), characters, Text("Characters")),
            _length_chart("words", Text("How many words have the texts?"), words, Text("Words")),
        ],
        tables=[Table("lengths-table", Text("Lengths of texts"), columns, rows)],
        commands=commands,
        note=Text("Intervals take texts as independent of each other; those of one writer are not quite."),
    )


def _length_chart(key: str, title: Text, series: Mapping[str, FloatArray], value: Text) -> Chart:
    spread = binned(series, whole=True)
    spec = distribution_chart(
        spread.edges.tolist(),
        {name: values.tolist() for name, values in spread.shares.items()},
        value=value,
        share=Text("Share of texts"),
    )
    note = Text("The last step has all longer ones, too.") if spread.beyond else ""
    return Chart(f"lengths-{key}", title, spec, note)


def _longer(first: str, second: str, share: Estimate) -> Text:
    if share.low is not None and share.high is not None and share.low <= 0.5 <= share.high:
        return Text(
            "No difference in length between {first} and {second} can be told: a text of {first} is the longer one in "
            "{share:.1%} of pairs (95 % between {low:.1%} and {high:.1%}).",
            first=first,
            second=second,
            **_ends(share, "share"),
        )
    return Text(
        "A text of {first} is longer than one of {second} in {share:.1%} of pairs (95 % between {low:.1%} and "
        "{high:.1%}).",
        first=first,
        second=second,
        **_ends(share, "share"),
    )


def _pairs(series: Mapping[str, FloatArray], say: Callable[[str, str, Estimate], Text]) -> list[str]:
    """Return of every two groups how often one is above the other: the one that is more often comes first."""
    findings: list[str] = []
    for name, other in list(combinations(series, 2))[:MOST_PAIRS]:
        share = superiority(series[name], series[other])
        if share.value is None:
            continue
        first, second = (name, other) if share.value >= 0.5 else (other, name)
        findings.append(say(first, second, share if first == name else superiority(series[other], series[name])))
    return findings


def _vocabulary(groups: Sequence[TextGroup], seed: int, commands: list[str]) -> ReportSection:
    words = {group.name: words_of(group.texts) for group in groups}
    sizes = {name: vocabulary_sizes(one, seed=seed).astype(np.float64) for name, one in words.items()}
    sizes = {name: values for name, values in sizes.items() if len(values)}
    short = {name: float((words[name].counts < WORDS).mean()) for name in sizes}
    columns = [
        Column(Text("Texts of")),
        Column(Text("Different words in a draw, mean"), "number"),
        Column(Text("Words in all"), "count"),
        Column(Text("Different words in all"), "count"),
        Column(Text("Texts with fewer than five words"), "share"),
    ]
    rows: list[list[Cell]] = [
        [
            name,
            Estimate(float(values.mean()), float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))),
            len(words[name].codes),
            len(np.unique(words[name].codes)),
            short[name],
        ]
        for name, values in sizes.items()
    ]
    spread = binned(sizes, whole=True)
    chart = distribution_chart(
        spread.edges.tolist(),
        {name: values.tolist() for name, values in spread.shares.items()},
        value=Text("Different words in a draw"),
        share=Text("Share of draws"),
    )
    return ReportSection(
        key="vocabulary",
        title=Text("How many different words do they use?"),
        findings=_richer(sizes),
        charts=[Chart("vocabulary-chart", Text("How large is the vocabulary of a draw?"), chart)] if sizes else [],
        tables=[Table("vocabulary-table", Text("Vocabulary"), columns, rows)],
        commands=commands,
        note=Text(
            "A draw is {texts} texts with replacement and {words} words of each; there are {samples} draws of every "
            "group. So many words from so many texts can be compared, which whole vocabularies of unlike sizes cannot. "
            "The range is that of 95 % of the draws.",
            texts=TEXTS,
            words=WORDS,
            samples=SAMPLES,
        ),
    )


def _richer(sizes: Mapping[str, FloatArray]) -> list[str]:
    findings: list[str] = []
    for name, other in list(combinations(sizes, 2))[:MOST_PAIRS]:
        first, second = (name, other) if sizes[name].mean() >= sizes[other].mean() else (other, name)
        findings.append(
            Text(
                "Draws of {first} have {more:.1f} different words more than those of {second}: {larger:.1f} against "
                "{smaller:.1f} on average; of a draw of each, that of {first} has more in {share:.1%}.",
                first=first,
                second=second,
                more=float(sizes[first].mean() - sizes[second].mean()),
                larger=float(sizes[first].mean()),
                smaller=float(sizes[second].mean()),
                share=superiority(sizes[first], sizes[second]).value or 0.0,
            )
        )
    return findings


def _ends(figure: Estimate, name: str = "median") -> dict[str, float]:
    """Return value and ends of an interval by their names in a text; one without ends is all of it."""
    value = 0.0 if figure.value is None else figure.value
    return {
        name: value,
        "low": value if figure.low is None else figure.low,
        "high": value if figure.high is None else figure.high,
    }
