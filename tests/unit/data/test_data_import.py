"""Plans, label maps, and what an import reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quintain.core.errors import BadInput, Unavailable
from quintain.data.exporting import SINKS, write_export
from quintain.data.importing import check_file, write_examples
from quintain.data.plan import Filter, ImportPlan, Range, parse_plan
from tests.properties import examples
from tests.unit.data.data_samples import task

Write = Callable[[str, str | bytes], Path]
LABELS = ["negative", "neutral", "positive"]


def _lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _imported(path: Path, name: str, plan: ImportPlan) -> pl.DataFrame:
    target = path.with_suffix(".out.parquet")
    write_examples(path, task(name), plan, target)
    return pl.read_parquet(target)


STARS = {"1": "negative", "2": "negative", "3": "neutral", "4": "positive", "5": "positive"}


def test_stars_become_labels(write: Write) -> None:
    """Stars 1–2, 3 and 4–5 map to three labels, written as 4 or as 4.0; a text that is a label already stays."""
    rows = [{"text": str(star), "label": star} for star in (1, 2.0, 3, 4.0, "5", "neutral")]
    table = _imported(write("a.jsonl", _lines(*rows)), "sentiment", ImportPlan(labels=STARS))
    assert table["answer"].to_list() == ["negative", "negative", "neutral", "positive", "positive", "neutral"]


def test_unmapped_answers_are_reported_or_dropped(write: Write) -> None:
    """A value that the map does not know is a fault, unless the plan drops it."""
    path = write("a.jsonl", _lines({"text": "a", "label": 1}, {"text": "b", "label": 9}, {"text": "c", "label": "-"}))
    report = check_file(path, task("sentiment"), ImportPlan(labels=STARS))
    assert [(fault.row, fault.field) for fault in report.faults] == [(2, "label"), (3, "label")]
    report = check_file(path, task("sentiment"), ImportPlan(labels=STARS, drop=("-",), unmapped="drop"))
    assert (report.rows, report.total) == (1, 0)
    assert report.dropped == {"dropped by their answer": 1, "not in the label map": 1, "bad": 0}


def test_a_score_becomes_two_labels_and_the_band_between_is_dropped(write: Write) -> None:
    """Ranges include their lower end and not their upper one; what is no number is a fault."""
    scores = [0.0, 0.39, 0.4, 0.5, 0.6, 1.0, "high", None]
    path = write("a.jsonl", _lines(*({"text": f"t{i}", "label": score} for i, score in enumerate(scores))))
    plan = ImportPlan(ranges=(Range("negative", high=0.4), Range(None, 0.4, 0.6), Range("positive", low=0.6)))
    report = check_file(path, task("polarity"), plan)
    assert [(fault.row, fault.reason) for fault in report.faults] == [(7, "'high' is not a number"), (8, "is missing")]
    assert report.rows == 4
    table = _imported(path, "polarity", plan.with_changes(skip_bad=True))
    assert table["answer"].to_list() == ["negative", "negative", "positive", "positive"]


def test_filters_may_hold_for_some_roles_only(write: Write) -> None:
    """Phrases train, sentences test."""
    rows = [{"text": "a", "label": "neutral", "unit": "phrase"}, {"text": "b", "label": "neutral", "unit": "sentence"}]
    path = write("a.jsonl", _lines(*rows))
    plan = ImportPlan(filters=(Filter("unit", keep=("sentence",), roles=("dev", "test")),))
    assert check_file(path, task("sentiment"), plan.with_changes(role="train")).rows == 2
    assert check_file(path, task("sentiment"), plan.with_changes(role="test")).rows == 1


def test_tags_groups_meta_and_constants(write: Write) -> None:
    """Tags come from columns, from the file's own and from the plan; what is kept becomes meta."""
    row = {"hypothesis": "h", "gold_label": "neutral", "genre": "fiction", "pair": 7, "note": {"a": [1]}, "uid": "u1"}
    path = write("a.jsonl", _lines({**row, "tags": ["zeta"]}))
    plan = ImportPlan(
        columns={"group": "pair", "id": "uid"},
        constants={"premise": "P"},
        tag_columns=("genre",),
        tags=("all",),
        keep=("note",),
    )
    example = _imported(path, "nli", plan).to_dicts()[0]
    assert (example["premise"], example["group"]) == ("P", "7")
    assert example["tags"] == ["all", "genre:fiction", "zeta"]
    assert json.loads(example["meta"]) == {"id": "u1", "note": {"a": [1]}}


def test_several_columns_make_a_list(write: Write) -> None:
    """Options in columns of their own become one list; letters map to numbers."""
    path = write("a.csv", "passage,question,A,B,right\nP,Q,one,two,B\n")
    plan = ImportPlan(columns={"options": ("A", "B"), "answer": "right"}, labels={"A": "0", "B": "1"})
    example = _imported(path, "choice", plan).to_dicts()[0]
    assert (example["options"], example["answer"]) == (["one", "two"], 1)


@pytest.mark.parametrize(
    "answer",
    ["cat", ["cat"], {"text": "cat", "start": 2}, [{"text": "cat"}], {"text": ["cat"], "answer_start": [2]}],
)
def test_spans_are_read_in_every_shape(write: Write, answer: Any) -> None:
    """A text, a span, a list of either, and SQuAD's parallel lists all become a list of spans."""
    path = write("a.jsonl", _lines({"passage": "A cat.", "question": "Q", "answer": answer}))
    assert _imported(path, "qa", ImportPlan())["answer"][0][0]["text"] == "cat"


def test_rows_of_different_shapes_are_read_together(write: Write) -> None:
    """A text in one row and a list in the next are both spans; a number is a fault."""
    rows = [{"passage": f"A cat {i}.", "question": "Q", "answer": a} for i, a in enumerate(["cat", ["cat"], 5])]
    report = check_file(write("a.jsonl", _lines(*rows)), task("qa"), ImportPlan())
    assert report.rows == 2
    assert [(fault.row, fault.field) for fault in report.faults] == [(3, "answer")]


def test_duplicate_inputs_and_ids(write: Write) -> None:
    """Equal inputs and repeated ids are faults that name the earlier row; the first may be kept instead."""
    rows = [("a", "1"), ("b", "2"), ("a", "3"), ("c", "2")]
    path = write("a.jsonl", _lines(*({"text": text, "label": "neutral", "uid": uid} for text, uid in rows)))
    plan = ImportPlan(columns={"id": "uid"})
    report = check_file(path, task("sentiment"), plan)
    assert [(fault.row, fault.field) for fault in report.faults] == [(3, "text"), (4, "id")]
    assert "row 1" in report.faults[0].reason
    assert "row 2" in report.faults[1].reason
    report = check_file(path, task("sentiment"), ImportPlan(duplicates="first"))
    assert (report.rows, report.total) == (3, 0)
    with pytest.raises(BadInput, match="--duplicates first"):
        _imported(path, "sentiment", ImportPlan())


def test_faults_are_listed_up_to_a_limit_and_all_counted(write: Write) -> None:
    """The error names as many rows as asked for, and how many there are in all."""
    path = write("a.jsonl", _lines(*({"text": f"t{i}", "label": "x"} for i in range(30))))
    with pytest.raises(BadInput) as caught:
        _imported(path, "sentiment", ImportPlan(limit=7))
    assert (len(caught.value.faults), caught.value.total) == (7, 30)
    with pytest.raises(BadInput, match="no row is left"):
        _imported(path, "sentiment", ImportPlan(skip_bad=True))


def test_wrong_columns_are_said_before_anything_is_read(write: Write) -> None:
    """Missing columns and unknown names are faults; the remedy lists the file's columns."""
    path = write("a.csv", "sentence,gold\na,neutral\n")
    with pytest.raises(BadInput) as caught:
        check_file(path, task("sentiment"), ImportPlan(columns={"txt": "sentence", "group": "nope"}))
    message = str(caught.value)
    assert "'txt' is not a field of task 'sentiment'; did you mean 'text'?" in message
    assert "there is no column for 'answer'" in message
    assert "there is no column 'nope'" in message
    assert "The file has: sentence, gold." in message


def test_a_full_disk_is_unavailable(write: Write) -> None:
    """Writing to a full device says so in words."""
    path = write("a.jsonl", _lines({"text": "a", "label": "neutral"}))
    with pytest.raises(Unavailable, match="full"):
        write_examples(path, task("sentiment"), ImportPlan(), Path("/dev/full"))


def test_a_plan_is_a_toml_file() -> None:
    """Everything that a plan holds can be written in TOML."""
    plan = parse_plan(
        'role = "test"\nhidden = true\ndrop = ["-", 7]\n[columns]\ntext = "body"\noptions = ["A", "B"]\n'
        '[labels]\n1 = "negative"\n"no no" = true\n[[filters]]\ncolumn = "x"\nkeep = [1]\n'
    )
    assert plan.columns == {"text": "body", "options": ("A", "B")}
    assert plan.labels == {"1": "negative", "no no": "true"}
    assert plan.drop == ("-", "7")
    assert plan.filters == (Filter("x", keep=("1",)),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rolle = 'test'", "'rolle': no such key; did you mean 'role'?"),
        ("role = 'tset'", "is 'tset', not one of train, dev, test, contrast"),
        ("hidden = 'yes'", "not true or false"),
        ("labels = 3", "is not a table"),
        ("columns = {text = 3}", "'columns.text': is 3, not a column or a list of columns"),
        ("filters = [{colum = 'x'}]", "'filters.colum': no such key; did you mean 'column'?"),
        ("ranges = [{low = 'x'}]", "'ranges.low': is 'x', not a number"),
        ("encoding = 'utf-9'", "not an encoding that is known"),
        ("labels = {a = 'b'}\nranges = [{label = 'b'}]", "cannot stand beside"),
        ("role = ", "not valid TOML"),
    ],
)
def test_a_wrong_plan_is_explained(text: str, message: str) -> None:
    """Each mistake is named with its key."""
    with pytest.raises(BadInput) as caught:
        parse_plan(text, file="plan.toml")
    assert message in str(caught.value)


EXAMPLES = st.lists(
    st.tuples(
        st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), min_size=1).filter(str.strip),
        st.sampled_from(LABELS),
        st.lists(st.text(alphabet='abc[]",', min_size=1, max_size=3), max_size=2),
        st.none() | st.text(alphabet="xyz", min_size=1),
    ),
    min_size=1,
    max_size=10,
    unique_by=lambda row: row[0],
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40), deadline=None)
@given(EXAMPLES, st.sampled_from(list(SINKS)))
def test_export_and_import_give_the_same_version(
    tmp_path: Path, rows: list[tuple[str, str, list[str], str | None]], form: str
) -> None:
    """What is exported in any format is the same version when it is imported again."""
    first = tmp_path / "first.jsonl"
    keys = ("text", "label", "tags", "group")
    first.write_text(_lines(*(dict(zip(keys, row, strict=True)) for row in rows)))
    target, back = tmp_path / "v.parquet", tmp_path / f"back.{form}"
    before = write_examples(first, task("sentiment"), ImportPlan(), target).hash
    write_export(pl.scan_parquet(target), form, back)
    assert check_file(back, task("sentiment"), ImportPlan()).hash == before


FAULTS = {
    "label": ({"label": "postive"}, "label"),
    "empty": ({"text": "  "}, "text"),
    "long": ({"text": "x" * 30_000}, "text"),
    "none": ({"label": None}, "label"),
    "list": ({"text": ["a"]}, "text"),
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40), deadline=None)
@given(st.integers(1, 40), st.dictionaries(st.integers(0, 39), st.sampled_from(sorted(FAULTS)), max_size=6))
def test_every_fault_is_found_where_it_is(tmp_path: Path, count: int, wrong: dict[int, str]) -> None:
    """Whatever is broken anywhere in a file is reported with its row and its field, and nothing else is."""
    rows: list[dict[str, Any]] = [{"text": f"text {i}", "label": LABELS[i % 3]} for i in range(count)]
    expected = []
    for at, kind in sorted(wrong.items()):
        if at < count:
            change, field = FAULTS[kind]
            rows[at] |= {**change, "n": at} if kind != "long" else {"text": "x" * (30_000 + at)}
            expected.append((at + 1, field))
    path = tmp_path / "a.jsonl"
    path.write_text(_lines(*rows))
    report = check_file(path, task("sentiment"), ImportPlan())
    assert [(fault.row, fault.field) for fault in report.faults] == expected
    assert report.rows == count - len(expected)


def test_options_add_to_the_lists_of_a_plan() -> None:
    """A tag column that is named beside a preset joins those of the preset; a single value replaces its own."""
    plan = ImportPlan(role="dev", tag_columns=("genre",), drop=("-",))
    changed = plan.with_changes(tag_columns=("split", "genre"), drop=(), role="test")
    assert (changed.tag_columns, changed.drop, changed.role) == (("genre", "split"), ("-",), "test")
