"""How varied the texts of data sets are, and which phenomena each of them covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quintain.core.records.figures import Estimate
from quintain.core.records.report import Cell, Chart, Column, ReportSection, Table
from quintain.core.texts import Text
from quintain.reports.charts import interval_chart, place_chart
from quintain.stats.comparing.compared import ComparedSet
from quintain.stats.comparing.coverage import Coverage, coverage, tag_shares
from quintain.stats.comparing.variety import DRAWS, LENGTHS, Variety, variety

MOST_TAGS = 40
CHARTED_TAGS = 15


def variety_section(texts: Mapping[str, Sequence[str]], seed: int, commands: list[str]) -> ReportSection:
    """Measure entropy of n-grams and nearness to the nearest text, on as many texts of each."""
    size = min(len(text) for text in texts.values())
    measured = {name: variety(one, size, seed=seed) for name, one in texts.items()}
    columns = [Column(Text("Texts of")), Column(Text("Texts in a draw"), "count")]
    columns += [Column(Text("Entropy of {n}-grams, bits", n=n), "parameter") for n in LENGTHS]
    columns += [Column(Text("Likeness to the nearest text"), "parameter")]
    rows: list[list[Cell]] = [
        [name, one.texts, *(one.entropy[n] for n in LENGTHS), one.nearest] for name, one in measured.items()
    ]
    chart = place_chart(
        [(name, one.nearest, one.texts) for name, one in measured.items()],
        row=Text("Data set"),
        value=Text("Likeness to the nearest text"),
    )
    return ReportSection(
        "variety",
        Text("How varied are the texts?"),
        _varied(measured),
        [Chart("variety-chart", Text("How near is a text to the one nearest to it?"), chart)],
        [Table("variety-table", Text("Entropy and likeness"), columns, rows)],
        commands,
        Text(
            "As many texts of each data set are drawn, {draws} times; ends are quantiles over the draws. Likeness is "
            "the cosine of the words: 1 is a text that is there twice.",
            draws=DRAWS,
        ),
    )


def _varied(measured: Mapping[str, Variety]) -> list[str]:
    by_bits = sorted(measured, key=lambda name: measured[name].entropy[2].value or 0.0)
    alike = sorted(measured, key=lambda name: measured[name].nearest.value or 0.0)
    return [
        Text(
            "Pairs of words are most varied in {most} ({high:.2f} bits) and least in {least} ({low:.2f}).",
            most=by_bits[-1],
            high=measured[by_bits[-1]].entropy[2].value,
            least=by_bits[0],
            low=measured[by_bits[0]].entropy[2].value,
        ),
        Text(
            "Texts of {most} are most like each other: {high:.2f} to the nearest on average, those of {least} "
            "{low:.2f}.",
            most=alike[-1],
            high=measured[alike[-1]].nearest.value,
            least=alike[0],
            low=measured[alike[0]].nearest.value,
        ),
    ]


def coverage_section(sets: Sequence[ComparedSet], commands: list[str]) -> ReportSection | None:
    """Return which phenomena each data set has; None where no example has a tag."""
    tags = {one.name: one.tags for one in sets if len(one.tags)}
    if not any(row for rows in tags.values() for row in rows):
        return None
    covered, shares = coverage(tags), tag_shares(tags)
    overview = [
        Column(Text("Data set")),
        Column(Text("Examples with tags"), "count"),
        Column(Text("Tags"), "count"),
        Column(Text("of all"), "count"),
        Column(Text("Tags in as many examples"), "number"),
        Column(Text("Evenness"), "parameter"),
    ]
    rows: list[list[Cell]] = [
        [name, one.tagged, one.tags, one.known, one.expected, one.evenness] for name, one in covered.items()
    ]
    columns = [Column(Text("Tag")), *(Column(name, "share") for name in tags), Column("p", "chance")]
    by_tag: list[list[Cell]] = [
        [share.tag, *(share.shares[name] for name in tags), share.p] for share in shares[:MOST_TAGS]
    ]
    points: list[tuple[str, str, Estimate, int]] = [
        (share.tag, name, share.shares[name], len(tags[name])) for share in shares[:CHARTED_TAGS] for name in tags
    ]
    chart = interval_chart(points, row=Text("Tag"), series=Text("Data set"), value=Text("Share of examples"))
    differing = [share.tag for share in shares if share.stands]
    return ReportSection(
        "coverage",
        Text("Which phenomena does each data set cover?"),
        [*_covered(covered), _differing(differing)],
        [Chart("coverage-chart", Text("How common is each tag?"), chart)],
        [
            Table("coverage-table", Text("How many tags, and how evenly"), overview, rows),
            Table("tags-table", Text("Tags by data set"), columns, by_tag),
        ],
        commands,
        Text(
            "Evenness is 1 where all tags of a data set are as common. p is of the test that a tag is as common in all "
            "of them; which differ is controlled for the number of tags (Benjamini and Hochberg)."
        ),
    )


def _covered(covered: Mapping[str, Coverage]) -> list[str]:
    return [
        Text(
            "{name} has {tags} of {known} tags; {expected:.1f} are expected in {size} of its examples.",
            name=name,
            tags=one.tags,
            known=one.known,
            expected=one.expected,
            size=one.size,
        )
        for name, one in covered.items()
    ]


def _differing(tags: Sequence[str]) -> Text:
    if not tags:
        return Text("No tag is commoner in one data set than in another beyond chance.")
    return Text("Beyond chance the following are not as common everywhere: {tags}.", tags=", ".join(tags[:10]))
