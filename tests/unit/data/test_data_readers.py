"""Readers of example files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from quintain.core.errors import BadInput, NotFound
from quintain.data.frontmatter import read_configs
from quintain.data.importing import check_file, write_examples
from quintain.data.plan import ImportPlan
from quintain.data.readers import squad
from quintain.data.readers.contract import BATCH_BYTES, READERS, Options, guess_format
from quintain.data.readers.lines import read_blocks
from quintain.data.readers.parquet import SLICE_BYTES
from tests.unit.data.data_samples import task

Write = Callable[[str, str | bytes], Path]
ROWS = [("fine, really", "positive"), ('she said "no"', "negative"), ("ünïcödé 🎈\nnew line", "neutral")]


def _jsonl(rows: list[tuple[str, str]]) -> str:
    return "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)


def _frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS, schema=["text", "label"], orient="row")


def test_every_format_gives_the_same_version(tmp_path: Path, write: Write) -> None:
    """The same examples have the same hash whatever file they come in."""
    paths = [write("a.jsonl", _jsonl(ROWS)), write("a.jsonl.gz", gzip.compress(_jsonl(ROWS).encode()))]
    paths += [tmp_path / "a.csv", tmp_path / "a.tsv", tmp_path / "a.parquet"]
    _frame().write_csv(paths[2])
    _frame().write_csv(paths[3], separator="\t")
    _frame().write_parquet(paths[4])
    paths += [write("marked.csv", b"\xef\xbb\xbf" + paths[2].read_bytes())]
    hashes = {check_file(path, task("sentiment"), ImportPlan()).hash for path in paths}
    assert len(hashes) == 1


def test_jsonl_counts_blank_lines(write: Write) -> None:
    """A blank line is no example, and rows after it keep their line numbers."""
    path = write("a.jsonl", '{"text": "a", "label": "neutral"}\n\n   \n{"text": "b", "label": "bad"}\n')
    report = check_file(path, task("sentiment"), ImportPlan())
    assert [fault.row for fault in report.faults] == [4]


def test_objects_with_different_keys_lose_none_of_them(tmp_path: Path, write: Write) -> None:
    """Votes for a label that nobody gave in the first row are kept beside the example, all the same."""
    votes = [{"positive": 5}, {"negative": 3, "mixed": 2}, {"neutral": [{"by": "w1"}, {"by": "w2", "at": 3}]}]
    rows = [{"text": f"text {n}", "answer": "positive", "votes": one} for n, one in enumerate(votes)]
    path = write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    write_examples(path, task("sentiment"), ImportPlan(keep=("votes",)), tmp_path / "out.parquet")
    found = [json.loads(one)["votes"] for one in pl.read_parquet(tmp_path / "out.parquet")["meta"]]
    assert [json.loads(one) if isinstance(one, str) else one for one in found] == votes


@pytest.mark.parametrize(
    ("line", "field", "reason"),
    [
        ('{"text": "b", "label": ', None, "not JSON"),
        ("[1, 2]", None, "not a JSON object"),
        ('{"text": ["b"], "label": "neutral"}', "text", "is a list, not a single value"),
        ('{"text": {"b": 1}, "label": "neutral"}', "text", "is an object, not a single value"),
        ('{"text": "\\ud800", "label": "neutral"}', "text", "not valid Unicode"),
        ('{"text": "", "label": "neutral"}', "text", "is empty"),
        ('{"label": "neutral"}', "text", "is empty"),
        ('{"text": "b"}', "label", "is missing"),
        ('{"text": "b", "label": null}', "label", "is missing"),
        ('{"text": "b", "label": "postive"}', "label", "postive"),
        ('{"text": "a\\u0000b", "label": "neutral"}', "text", "control character"),
        ('{"text": "good a", "label": "neutral"}', "text", "is the same input as row 1"),
        ('{"text": "b", "label": "neutral"} {"text": "c"}', None, "not JSON"),
    ],
)
def test_a_bad_line_is_named(write: Write, line: str, field: str | None, reason: str) -> None:
    """Row, field and reason are those of the bad line, and the lines around it are read."""
    good = ['{"text": "good a", "label": "neutral"}', '{"text": "[bracketed] good", "label": "positive"}']
    path = write("a.jsonl", "\n".join([good[0], line, good[1]]) + "\n")
    report = check_file(path, task("sentiment"), ImportPlan())
    assert report.total == 1
    fault = report.faults[0]
    assert (fault.file, fault.row, fault.field) == ("a.jsonl", 2, field)
    assert reason in fault.reason
    assert report.rows == 2


def test_wrong_bytes_are_named_with_their_row(write: Write) -> None:
    """A line that is not UTF-8 is a fault; the others are read."""
    good = "für ".encode()
    line = b'{"text": "' + good + b'", "label": "neutral"}\n'
    path = write("a.jsonl", line + b'{"text": "caf\xe9", "label": "neutral"}\n')
    report = check_file(path, task("sentiment"), ImportPlan())
    assert [(fault.row, fault.reason) for fault in report.faults] == [(2, "not UTF-8: byte 0xe9 at position 14")]
    assert check_file(path, task("sentiment"), ImportPlan(encoding="latin-1")).total == 0
    path = write("a.csv", b"text,label\n" + good + b",neutral\ncaf\xe9,neutral\n")
    report = check_file(path, task("sentiment"), ImportPlan())
    assert [(fault.row, fault.reason) for fault in report.faults] == [(3, "not UTF-8: byte 0xe9")]
    assert check_file(path, task("sentiment"), ImportPlan(encoding="latin-1")).total == 0


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_header_that_is_no_text_is_refused(write: Write, suffix: str) -> None:
    """Bytes that are none of the encoding's get into no message: neither names of columns nor an answer hold them."""
    for content in (gzip.compress(b"text,label\na,neutral\n"), b"te\x81xt,label\na,neutral\n"):
        with pytest.raises(BadInput, match="row 1: not UTF-8: byte 0x") as refused:
            check_file(write(f"a.{suffix}", content), task("sentiment"), ImportPlan())
        assert str(refused.value).encode()


def test_a_huge_line_is_a_fault_and_not_kept(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line over the limit is reported with its row, and what follows is read."""
    monkeypatch.setattr("quintain.data.readers.lines.MAX_LINE", 1 << 20)
    huge = json.dumps({"text": "x" * (12 << 20), "label": "neutral"})
    path = write("a.jsonl", f'{{"text": "a", "label": "neutral"}}\n{huge}\n{{"text": "b", "label": "neutral"}}\n')
    report = check_file(path, task("sentiment"), ImportPlan())
    assert [(fault.row, fault.reason) for fault in report.faults] == [(2, "the line has more than 1 MB")]
    assert report.rows == 2
    assert max(len(block.data) for block in read_blocks(path)) < 6 << 20


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.parquet", "a.json", "a.conllu"])
def test_an_empty_file_is_said_to_be_empty(write: Write, name: str) -> None:
    """Every format says so, with the file's name."""
    with pytest.raises(BadInput, match=f"{name}: the file is empty"):
        check_file(write(name, b""), task("qa" if name == "a.json" else "sentiment"), ImportPlan())


def test_files_without_rows_or_of_no_format_are_refused(write: Write, tmp_path: Path) -> None:
    """A header alone, a missing file and an unknown suffix are told apart."""
    with pytest.raises(BadInput, match="the file has no rows"):
        check_file(write("a.csv", "text,label\n"), task("sentiment"), ImportPlan())
    with pytest.raises(NotFound, match="no file"):
        check_file(tmp_path / "none.csv", task("sentiment"), ImportPlan())
    with pytest.raises(BadInput, match="cannot be told"):
        guess_format(tmp_path / "a.docx")


def test_ragged_and_broken_rows_of_a_csv_are_named(write: Write) -> None:
    """Rows are counted as a spreadsheet does, over cells of several lines."""
    path = write("a.csv", 'text,label\n"two\nlines",neutral\nb\nc,neutral,x\n\n"d",positive\n')
    report = check_file(path, task("sentiment"), ImportPlan())
    assert [(fault.row, fault.reason) for fault in report.faults] == [
        (3, "1 column where there should be 2"),
        (4, "3 columns where there should be 2"),
    ]
    assert report.rows == 2
    report = check_file(write("b.csv", 'text,label\na,neutral\n"b,neutral\n'), task("sentiment"), ImportPlan())
    assert "broken quoting" in report.faults[0].reason


def test_quotes_may_be_just_characters(write: Write) -> None:
    """A TSV without quoting keeps its quotation marks."""
    path = write("a.tsv", 'He said "no\t0\n"Yes" it is\t1\n')
    plan = ImportPlan(names=("text", "label"), quotes=False, labels={"0": "negative", "1": "positive"})
    report = check_file(path, task("polarity"), plan)
    assert (report.rows, report.total) == (2, 0)


SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Cats",
            "paragraphs": [
                {
                    "context": "A cat sat on a mat.",
                    "qas": [
                        {
                            "id": "1",
                            "question": "Who sat?",
                            "answers": [{"text": "A cat", "answer_start": 0}, {"text": "A cat", "answer_start": 0}],
                        },
                        {"id": "2", "question": "Who slept?", "answers": [], "is_impossible": True},
                        {"id": "3", "question": "Where?", "answers": [{"text": "on a hat", "answer_start": 10}]},
                    ],
                }
            ],
        }
    ],
}


def test_squad_rows_are_questions(write: Write) -> None:
    """Questions are numbered through the file; a span that is not in its passage is named."""
    path = write("dev.json", json.dumps(SQUAD))
    source = READERS.get("squad")(path, Options())
    frame = next(iter(source.batches({"answers": True, "impossible": False}))).frame
    assert frame["answers"].to_list() == [[{"text": "A cat", "start": 0}], [], [{"text": "on a hat", "start": 10}]]
    report = check_file(path, task("qa"), ImportPlan())
    assert [(fault.row, fault.field) for fault in report.faults] == [(2, "answers"), (3, "answers")]
    assert "on a hat" in report.faults[1].reason


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not JSON"), ("[]", "no list 'data'"), ('{"a": 1}\n{"a": 2}', "--format jsonl")],
)
def test_json_that_is_not_squad_is_refused(write: Write, content: str, message: str) -> None:
    """The message says what the file lacks."""
    with pytest.raises(BadInput) as caught:
        check_file(write("a.json", content), task("qa"), ImportPlan())
    assert message in str(caught.value)


CONLLU = """# sent_id = 1
# text = He ate pizza with friends
1\tHe\the\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tate\teat\tVERB\t_\t_\t0\troot\t_\t_
3\tpizza\tpizza\tNOUN\t_\t_\t2\tobj\t_\t_
4\twith\twith\tADP\t_\t_\t5\tcase\t_\t_
5\tfriends\tfriend\tNOUN\t_\t_\t2\tobl\t_\t_

"""


def test_conllu_gives_attachments(write: Write) -> None:
    """The answer is the preposition's grandparent; a broken line is named by its number."""
    path = write("a.conllu", CONLLU)
    source = READERS.get("conllu")(path, Options())
    batch = next(iter(source.batches({"tokens": True, "preposition": False, "answer": False})))
    assert batch.frame.row(0) == (["He", "ate", "pizza", "with", "friends"], 3, 1)
    assert batch.rows.to_list() == [6]
    assert check_file(path, task("attachment"), ImportPlan()).rows == 1
    broken = CONLLU.replace("4\twith\twith\tADP\t_\t_\t5", "4\twith\twith\tADP\t_\t_\t_")
    report = check_file(write("b.conllu", CONLLU + broken), task("attachment"), ImportPlan())
    assert [(fault.row, fault.field) for fault in report.faults] == [(14, "head")]


README = """---
license: mit
dataset_info:
  features: {odd: [yaml, here]}
configs:
- config_name: other
  data_files: "other.csv"
- config_name: default  # the usual one
  data_files:
  - split: train
    path: "data/train-*.csv"
  - split: test
    path:
    - data/test.jsonl
tags:
- nli
---
# Title
"""


def test_a_folder_is_read_by_its_readme(write: Write, tmp_path: Path) -> None:
    """The default configuration's split is read, its files one after the other."""
    write("set/README.md", README)
    write("set/data/train-1.csv", "text,label\na,neutral\n")
    write("set/data/train-2.csv", "text,label\nb,neutral\nc,bad\n")
    write("set/data/test.jsonl", '{"text": "d", "label": "neutral"}\n')
    report = check_file(tmp_path / "set", task("sentiment"), ImportPlan(role="train"))
    assert (report.rows, [(fault.file, fault.row) for fault in report.faults]) == (2, [("train-2.csv", 3)])
    assert check_file(tmp_path / "set", task("sentiment"), ImportPlan(role="test")).rows == 1
    with pytest.raises(NotFound, match="no split 'dev'"):
        check_file(tmp_path / "set", task("sentiment"), ImportPlan(role="dev"))


def test_a_folder_without_front_matter_is_read_by_its_names(write: Write, tmp_path: Path) -> None:
    """Splits are told from file names; dev is also called validation."""
    write("set/README.md", "# No front matter\n")
    write("set/validation.csv", "text,label\na,neutral\n")
    assert check_file(tmp_path / "set", task("sentiment"), ImportPlan(role="dev")).rows == 1


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("configs:\n- config_name: {a: b\n", "line 4: front matter: not valid YAML"),
        ("configs:\n- config_name\n  x y\n", "'configs' is not a list of mappings"),
        ("configs:\n\t- a: b\n", "line 3: front matter: not valid YAML: found character '\\t'"),
        ("- configs\n", "line 2: front matter: is not a mapping"),
        ("a: &x [1]\nconfigs:\n- data_files: *x\n", "line 4: front matter: not valid YAML: references"),
        ("configs: " + "[" * 5000 + "\n", "nested too deeply"),
        ("configs: \x07\n", "not valid YAML"),
    ],
)
def test_strange_front_matter_is_explained(block: str, message: str) -> None:
    """YAML that cannot be read, or would not end, is refused with what is wrong and where it can be told."""
    with pytest.raises(BadInput) as caught:
        read_configs(f"---\n{block}---\n", file="README.md")
    assert message in str(caught.value)
    assert str(caught.value).startswith("README.md")


def test_all_of_yaml_is_read() -> None:
    """Texts over several lines, flow mappings and escapes mean what they do in YAML; names stay as written."""
    block = """configs:
- {config_name: 1.10, default: true, data_files: [{split: train, path: "caf\\u00e9, 1.csv"}]}
- config_name: >-
    two
    words
"""
    first, second = read_configs(f"---\n{block}---\n# Title\n", file="README.md")
    assert (first["config_name"], first["default"]) == ("1.10", "true")
    assert first["data_files"] == [{"split": "train", "path": "café, 1.csv"}]
    assert second == {"config_name": "two words"}
    assert read_configs("---\n---\n", file="README.md") == read_configs("# Title\n", file="README.md") == []


@pytest.mark.parametrize("where", ["data_files: ../secret.csv", "data_files: '*.csv'\n  data_dir: ../other"])
def test_a_readme_cannot_reach_outside_its_folder(write: Write, tmp_path: Path, where: str) -> None:
    """Paths with '..' are refused, be it in a file's name or in that of its folder."""
    write("other/secret.csv", "text,label\na,neutral\n")
    write("set/README.md", f"---\nconfigs:\n- {where}\n---\n")
    with pytest.raises(BadInput, match="not a file in the folder"):
        check_file(tmp_path / "set", task("sentiment"), ImportPlan(role="train"))


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "squad"])
def test_a_batch_is_bounded_by_its_size_too(tmp_path: Path, form: str) -> None:
    """Rows of a megabyte come some at a time, however many there are: a batch takes no gigabytes of memory."""
    cell, rows = "a " * 500_000, 60
    path = tmp_path / "wide"
    if form == "parquet":
        pl.DataFrame({"context": [cell] * rows}).write_parquet(path)
    elif form == "squad":
        asked = [{"id": str(n), "question": f"What is {n}?", "answers": []} for n in range(rows)]
        path.write_text(json.dumps({"data": [{"paragraphs": [{"context": cell, "qas": asked}]}]}), encoding="utf-8")
    else:
        lines = ["context", *[cell] * rows] if form == "csv" else [json.dumps({"context": cell})] * rows
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    batches = READERS.get(form)(path, Options()).batches({"context": False})
    heights = []
    for batch in batches:
        heights.append(batch.frame.height)
        assert batch.frame.height * len(cell) <= 2 * (BATCH_BYTES if form != "parquet" else SLICE_BYTES)
        assert batch.rows.to_list() == list(range(batch.rows[0], batch.rows[0] + batch.frame.height))
    assert sum(heights) == rows


def test_questions_do_not_multiply_their_passage_beyond_all_bounds(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A passage is a part of each of its questions: what that comes to is held to a limit in both formats."""
    monkeypatch.setattr(squad, "MOST_PASSAGES", 10_000)
    asked = [{"id": str(n), "qid": str(n), "question": f"What is {n}?", "answers": []} for n in range(20)]
    paragraph = {"context": "a " * 500, "qas": asked}
    for name, content, form in (
        ("a.json", json.dumps({"data": [{"paragraphs": [paragraph]}]}), "squad"),
        ("a.jsonl", json.dumps({**paragraph, "qas": [{**one, "detected_answers": []} for one in asked]}), "mrqa"),
    ):
        with pytest.raises(BadInput, match="each question holds its passage"):
            list(READERS.get(form)(write(name, content), Options()).batches({"context": False}))
