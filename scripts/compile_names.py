"""Compile the list of first names by gender and ethnicity that the fairness perturbations use.

    python scripts/compile_names.py SOURCES src/quintain/perturbations/data/first_names.csv

SOURCES is a folder with `tzioumis2018_firstnames.csv` (shares of six groups per first name) and
`ssa_names_aggregated.csv.gz` (births by name and sex). Only facts are taken: names, counts and shares. The sources
themselves are not part of the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

GROUPS = {"white": "pctwhite", "black": "pctblack", "hispanic": "pcthispanic", "api": "pctapi"}
# Applicants for mortgages are not the population: shares are weighted by the 2010 census before a name is judged,
# so that a group which applies less often is not left without names.
CENSUS_2010 = {"white": 0.637, "black": 0.122, "hispanic": 0.163, "api": 0.049}
SURE = {"white": 0.70, "black": 0.60, "hispanic": 0.75, "api": 0.60}
SURE_OF_GENDER = 0.90
PER_CELL = 150
FEWEST_SEEN = 25
FEWEST_BIRTHS = 50
HEADER = """\
# First names that are statistically predictive of a gender and of an ethnic group in the United States.
# gender_share: share of births with this sex. group_share: share of the group among bearers of this name, weighted
# from mortgage applicants to the population of the 2010 census.
# seen: applicants with this name. births: births with this name. Nothing about a person follows from a name.
# Sources (facts only):
#   K. Tzioumis, "Demographic aspects of first names", Scientific Data 5:180025 (2018); Harvard Dataverse,
#     doi:10.7910/DVN/TYJKEZ. Names in US mortgage applications with shares of six groups.
#   US Census Bureau, 2010 census: shares of the four groups in the population. Public domain.
#   US Social Security Administration, baby names, 1880-2019. Public domain. Births by name and sex.
# Made by scripts/compile_names.py; the thresholds are at its head.
"""


def genders(path: Path) -> pl.DataFrame:
    """Give, for each name, its likelier sex, how sure that is, and its births."""
    births = pl.read_csv(path).with_columns(pl.col("name").str.to_lowercase())
    totals = (
        births.group_by("name", "sex")
        .agg(pl.col("births_total").sum())
        .pivot("sex", index="name", values="births_total")
        .fill_null(0)
    )
    both = totals.with_columns(births=pl.col("F") + pl.col("M"))
    return both.select(
        "name",
        "births",
        gender=pl.when(pl.col("F") > pl.col("M")).then(pl.lit("female")).otherwise(pl.lit("male")),
        gender_share=pl.max_horizontal("F", "M") / pl.col("births"),
    )


def groups(path: Path) -> pl.DataFrame:
    """Give, for each name, its likeliest group and how sure that is."""
    shares = pl.read_csv(path).filter(pl.col("firstname") != "ALL OTHER FIRST NAMES")
    named = shares.select(
        name=pl.col("firstname").str.to_lowercase(),
        seen=pl.col("obs"),
        **{group: pl.col(column) / 100 for group, column in GROUPS.items()},
    )
    applicants = {group: (named[group] * named["seen"]).sum() / named["seen"].sum() for group in GROUPS}
    weighted = {group: pl.col(group) * CENSUS_2010[group] / applicants[group] for group in GROUPS}
    named = named.with_columns(
        **{group: share / pl.sum_horizontal(weighted.values()) for group, share in weighted.items()}
    )
    best = pl.max_horizontal(*GROUPS)
    likeliest = pl.coalesce(pl.when(pl.col(group) == best).then(pl.lit(group)) for group in GROUPS)
    return named.select("name", "seen", group=likeliest, group_share=best)


def compile_names(sources: Path) -> pl.DataFrame:
    """Choose the most frequent names of each cell that are sure of both."""
    joined = groups(sources / "tzioumis2018_firstnames.csv").join(
        genders(sources / "ssa_names_aggregated.csv.gz"), on="name"
    )
    sure = pl.col("group_share") >= pl.col("group").replace_strict(SURE, return_dtype=pl.Float64)
    chosen = joined.filter(
        sure
        & (pl.col("gender_share") >= SURE_OF_GENDER)
        & (pl.col("seen") >= FEWEST_SEEN)
        & (pl.col("births") >= FEWEST_BIRTHS)
        & (pl.col("name").str.len_chars() >= 3)
    )
    ranked = chosen.sort("seen", "name", descending=[True, False]).group_by("gender", "group", maintain_order=True)
    return (
        ranked.head(PER_CELL)
        .select(
            pl.col("name").str.to_titlecase(),
            "gender",
            "group",
            pl.col("gender_share").round(4),
            pl.col("group_share").round(4),
            "seen",
            "births",
        )
        .sort("group", "gender", "name")
    )


def main() -> None:
    """Write the file and print the size of each cell."""
    if len(sys.argv) != 3:
        sys.exit("usage: compile_names.py SOURCES OUT.csv")
    names = compile_names(Path(sys.argv[1]))
    Path(sys.argv[2]).write_text(HEADER + names.write_csv(), encoding="utf-8")
    print(names.group_by("group", "gender").len().sort("group", "gender"))


if __name__ == "__main__":
    main()
