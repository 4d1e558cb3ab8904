"""Ids and hashes by content."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.example import Example
from quintain.data.identity import ContentHash, example_ids

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
ROWS = st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=8)


@given(ROWS)
def test_ids_of_a_table_are_those_of_its_examples(rows: list[tuple[str, list[str], int]]) -> None:
    """Computed a table at a time or one by one, an example has the same id, whatever odd text it holds."""
    schema = {"text": pl.String(), "options": pl.List(pl.String()), "at": pl.Int64()}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    expected = [Example({"text": text, "options": options, "at": at}).id for text, options, at in rows]
    assert example_ids(table, list(schema)).to_list() == expected


def test_the_order_of_columns_makes_no_difference() -> None:
    """Fields are sorted by name before they are hashed."""
    table = pl.DataFrame({"premise": ["a"], "hypothesis": ["b"]})
    ids = {tuple(example_ids(table, order)) for order in (["premise", "hypothesis"], ["hypothesis", "premise"])}
    assert len(ids) == 1


def test_a_missing_optional_input_is_left_out() -> None:
    """A null input has the id of an example without that input."""
    table = pl.DataFrame({"text": ["a", "b", None], "hint": [None, "h", None]}, schema_overrides={"hint": pl.String()})
    expected = [Example({"text": "a"}).id, Example({"text": "b", "hint": "h"}).id, Example({}).id]
    assert example_ids(table, ["text", "hint"]).to_list() == expected


def _table(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": [f"{index:032x}" for index in range(len(texts))],
            "answer": texts,
            "tags": [["t"] if len(text) % 2 else [] for text in texts],
            "group": [text if text.startswith("a") else None for text in texts],
        },
        schema_overrides={"group": pl.String(), "tags": pl.List(pl.String())},
    )


@given(st.lists(TEXTS, min_size=2, max_size=12), st.data())
def test_a_version_hash_does_not_depend_on_the_batches(texts: list[str], data: st.DataObject) -> None:
    """However the rows are cut into tables, the hash is the same; another order is another hash."""
    table = _table(texts)
    cut = data.draw(st.integers(0, len(texts)))
    whole, parts, turned = ContentHash(), ContentHash(), ContentHash()
    whole.update(table)
    for part in (table[:cut], table[cut:]):
        parts.update(part)
    turned.update(table.reverse())
    assert whole.hexdigest() == parts.hexdigest()
    assert whole.hexdigest() != turned.hexdigest()


def test_tags_groups_and_answers_are_part_of_the_hash() -> None:
    """Changing any of them makes another version."""
    table = _table(["a", "bb"])
    changes = [
        table,
        table.with_columns(answer=pl.lit("x")),
        table.with_columns(group=pl.lit("g")),
        table.with_columns(tags=pl.lit(["u"])),
        table.with_columns(id=pl.lit("0" * 32)),
    ]
    hashes = set()
    for one in changes:
        content = ContentHash()
        content.update(one)
        hashes.add(content.hexdigest())
    assert len(hashes) == len(changes)
