"""`quintain labels` on plain tables, with no workspace."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

from quintain.labels.contract import AGGREGATORS

Cli = Callable[..., Result]
VOTES = {"s1": "aaaab", "s2": "bbbbb", "s3": "aabbc", "s4": "ccccc", "s5": "abbbb"}
HEAD = "item,worker,label,round,gold,seconds"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a file."""

    def write(text: str, name: str = "votes.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding=encoding)
        return path

    return write


def rows() -> list[str]:
    """Give the rows of the table above: the gold label is the first vote of the second round, the round is by item."""
    return [
        f"{item},w{n},{label},{1 + int(item[1]) % 2},{votes[1]},{n + 1}"
        for item, votes in VOTES.items()
        for n, label in enumerate(votes)
    ]


@pytest.fixture
def table(write: Callable[..., Path]) -> Path:
    """A table of five items with five judgements each."""
    return write("\n".join([HEAD, *rows()]) + "\n")


def ask(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    """Run a command with --json and give what it prints."""
    result = cli(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def read(path: Path) -> list[dict[str, str]]:
    """Read a CSV."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_aggregate(cli: Cli, table: Path, tmp_path: Path) -> None:
    """The output has item, label, confidence and a column per class, in the order of the file."""
    out = tmp_path / "labels.csv"
    found = ask(cli, "labels", "aggregate", table, "--method", "majority", "--out", out)
    written = read(out)
    assert list(written[0]) == ["item", "label", "confidence", "a", "b", "c"]
    assert [(row["item"], row["label"]) for row in written] == [
        ("s1", "a"),
        ("s2", "b"),
        ("s3", ""),
        ("s4", "c"),
        ("s5", "b"),
    ]
    assert float(written[0]["confidence"]) == float(written[0]["a"]) == 0.8
    assert found["labels"] == {"a": 1, "b": 2, "c": 1}
    assert (found["items"], found["workers"], found["judgements"], found["no_label"]) == (5, 5, 25, 1)
    told = cli("labels", "aggregate", table, "--out", out, "--force")
    assert "Items without a majority: 1" in told.stderr


def test_a_file_without_comparisons_is_named(cli: Cli, tmp_path: Path) -> None:
    """One judgement per item: Dawid–Skene keeps the votes, and the command says what it cannot know."""
    path, out = tmp_path / "single.csv", tmp_path / "labels.csv"
    path.write_text("item,worker,label\n1,a,x\n2,b,y\n3,c,x\n", encoding="utf-8")
    found = ask(cli, "labels", "aggregate", path, "--method", "dawid-skene", "--out", out)
    assert [row["label"] for row in read(out)] == ["x", "y", "x"]
    assert any("No item has two judgements" in note for note in found["notes"])


@pytest.mark.parametrize("method", AGGREGATORS.names())
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_every_method_in_every_format(cli: Cli, table: Path, tmp_path: Path, method: str, suffix: str) -> None:
    """The three formats give the same labels by every method, and any of them can be written."""
    frame = pl.read_csv(table, infer_schema=False)
    source, out = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[suffix](source)
    options = ["--gold", "gold", "--writer", "gold"]
    if method == "mixed-as-two":
        options += ["--mixed", "c", "--into", "a,b"]
    found = ask(cli, "labels", "aggregate", source, "--method", method, "--out", out, *options)
    assert found["method"] == method
    read_back = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}[suffix](out)
    labels = dict(zip(read_back["item"], read_back["label"], strict=True))
    assert (labels["s2"], labels["s5"]) == ("b", "b")


def test_agreement(cli: Cli, table: Path) -> None:
    """The keys are those that are documented; slices and pairs come with them."""
    found = ask(cli, "labels", "agreement", table, "--by", "round", "--pairs", "3")
    for name in ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "percent_agreement", "unanimous", "four_fifths"):
        assert found[name]["low"] <= found[name]["value"] <= found[name]["high"]
    assert found["percent_agreement"]["value"] == pytest.approx((0.6 + 1 + 0.2 + 1 + 0.6) / 5)
    assert (found["unanimous"]["value"], found["four_fifths"]["value"]) == (0.4, 0.8)
    assert (found["items"], found["workers"], found["judgements"]) == (5, 5, 25)
    assert [(one["by"], one["value"], one["items"]) for one in found["slices"]] == [
        ("round", "1", 2),
        ("round", "2", 3),
    ]
    assert [pair["items"] for pair in found["pairs"]] == [5, 5, 5]
    assert set(found["pairs"][0]) == {"workers", "items", "cohen_kappa"}
    assert "krippendorff alpha" in cli("labels", "agreement", table, "--by", "round").stdout


def test_levels(cli: Cli, write: Callable[..., Path], table: Path) -> None:
    """Ordinal labels need an order unless they are numbers; interval ones must be numbers."""
    numbers = write("item,worker,label\n1,a,1\n1,b,2\n2,a,10\n2,b,9\n3,a,4\n3,b,4\n", "numbers.csv")
    found = [
        ask(cli, "labels", "agreement", numbers, "--level", level)["krippendorff_alpha"]["value"]
        for level in ("nominal", "ordinal", "interval")
    ]
    assert found[0] < found[1] < found[2] < 1
    named = ask(cli, "labels", "agreement", table, "--level", "ordinal", "--order", "a,b,c")
    assert named["level"] == "ordinal"
    for options, complaint in [
        (("--level", "ordinal"), "--order"),
        (("--level", "interval"), "'a' is not a number"),
        (("--level", "ordinal", "--order", "a,b"), "'c' is not in the order"),
        (("--level", "cosmic"), "no level 'cosmic'"),
        (("--by", "phase"), "no column 'phase'"),
    ]:
        result = cli("labels", "agreement", table, *options)
        assert result.exit_code == 1
        assert complaint in result.stderr


def test_undefined_is_said(cli: Cli, write: Callable[..., Path]) -> None:
    """All-equal labels leave α undefined, with a reason and without NaN; so do items with one rater."""
    same = ask(cli, "labels", "agreement", write("item,worker,label\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n"))
    assert same["krippendorff_alpha"]["value"] is None
    assert "all labels are equal" in same["krippendorff_alpha"]["reason"]
    assert same["percent_agreement"]["value"] == 1
    alone = ask(cli, "labels", "agreement", write("item,worker,label\n1,a,x\n2,b,y\n"))
    assert alone["fleiss_kappa"]["reason"] == "no item has two judgements"
    assert alone["items_with_one_judgement"] == 2


def test_workers(cli: Cli, table: Path) -> None:
    """Each worker has agreement with the others and its interval, accuracy, and median time."""
    found = ask(cli, "labels", "workers", table)
    by_name = {one["worker"]: one for one in found["workers"]}
    assert len(by_name) == 5
    # Of w0's five items four have a majority of the others: s3's is tied.
    assert by_name["w0"]["compared"] == 4
    assert by_name["w0"]["agreement"]["value"] == 0.75
    assert by_name["w0"]["agreement"]["low"] == pytest.approx(0.301, abs=0.001)
    assert by_name["w4"]["median_seconds"] == 5
    assert 0 < by_name["w1"]["accuracy"]["low"] < by_name["w1"]["accuracy"]["value"] < 1
    assert found["workers"][0]["agreement"]["value"] == min(one["agreement"]["value"] for one in found["workers"])
    assert "median seconds" in cli("labels", "workers", table).stdout


def test_expand(cli: Cli, table: Path, tmp_path: Path) -> None:
    """One training row per judgement; a mixed one becomes two, and all may be repeated."""
    out = tmp_path / "train.csv"
    plain = ask(cli, "labels", "expand", table, "--out", out)
    assert plain["rows"] == len(read(out)) == 25
    options = ("--mixed", "c", "--into", "a,b", "--times", "2")
    split = ask(cli, "labels", "expand", table, "--out", out, *options, "--force")
    assert split["labels"] == {"a": 2 * (plain["labels"]["a"] + 6), "b": 2 * (plain["labels"]["b"] + 6)}
    assert split["rows"] == len(read(out))
    assert cli("labels", "expand", table, "--out", out, "--mixed", "m").exit_code == 1


def test_methods(cli: Cli) -> None:
    """The list has every method."""
    assert [one["method"] for one in ask(cli, "labels", "methods")["methods"]] == AGGREGATORS.names()
    assert "dawid-skene" in cli("labels", "methods").stdout


def test_a_list_of_labels(cli: Cli, write: Callable[..., Path], tmp_path: Path) -> None:
    """Labels in one list, as SNLI has them, are judgements by places; lists of workers name them."""
    lines = ['{"pairID": "p", "labels": ["x", "x", "y"]}', '{"pairID": "q", "labels": ["y", "", "y"]}']
    mapped = ("--column", "item=pairID", "--column", "label=labels")
    found = ask(cli, "labels", "agreement", write("\n".join(lines), "snli.jsonl"), *mapped)
    assert (found["items"], found["workers"], found["judgements"]) == (2, 3, 5)
    named = write('{"item": "p", "label": ["x", "y"], "worker": ["ann", "bob"]}\n', "named.jsonl")
    assert [one["worker"] for one in ask(cli, "labels", "workers", named)["workers"]] == ["ann", "bob"]
    for text, complaint in [
        ('{"item": "p", "label": ["x", "y"], "worker": ["ann"]}', "not as many workers"),
        ('{"item": "p", "label": ["x", "y"], "worker": "ann"}', "one worker"),
        ('{"item": "p", "label": "x", "worker": ["ann"]}', "workers are lists"),
        ('{"item": ["p"], "label": "x", "worker": "ann"}', "no name"),
        ('{"item": "p", "label": [["x"]]}', "no label"),
        ('{"item": "p", "label": {"a": 1}, "worker": "w"}', "no name"),
    ]:
        result = cli("labels", "aggregate", write(text + "\n", "bad.jsonl"), "--out", tmp_path / "o.csv")
        assert result.exit_code == 1
        assert complaint in result.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("item,worker,label\n1,a,x\n1,a,y\n", "row 3: 'a' judged '1' before"),
        ("item,worker,label\n1,,x\n", "row 2, field 'worker': there is no worker"),
        ("item,worker,label\n1,a,\n", "no row has a label"),
        ("item,worker,label\n", "no rows"),
        ("example,worker,label\n1,a,x\n", "no column 'item'"),
        ("item,label\n1,x\n", "no column 'worker'"),
        ("item,worker,label,seconds\n1,a,x,soon\n", "'soon' is not a number"),
        ("", "votes.csv"),
    ],
)
@pytest.mark.parametrize("verb", [("agreement",), ("workers",), ("aggregate", "--out", "out.csv")])
def test_bad_input_is_named(
    cli: Cli, write: Callable[..., Path], text: str, complaint: str, verb: tuple[str, ...], tmp_path: Path
) -> None:
    """What is wrong is named with its place, and nothing is written."""
    arguments = [str(tmp_path / word) if word == "out.csv" else word for word in verb[1:]]
    result = cli("labels", verb[0], write(text), *arguments)
    assert result.exit_code == 1
    assert complaint in result.stderr
    assert not (tmp_path / "out.csv").exists()


def test_what_is_handled(cli: Cli, write: Callable[..., Path], tmp_path: Path) -> None:
    """Repeated rows, blank labels, a byte-order mark, mixed types and an empty class are taken as they are meant."""
    out = tmp_path / "out.csv"
    text = "item,worker,label\n1,a,x\n1,a,x\n1,b,x\n1,c,\n2,a,y\n"
    path = write(text, encoding="utf-8-sig")
    found = ask(cli, "labels", "aggregate", path, "--out", out, "--labels", "x,y,z")
    assert found["judgements"] == 3
    assert found["notes"] == ["Rows left out because they have no label: 1.", "Repeated rows, counted once: 1."]
    assert list(read(out)[0]) == ["item", "label", "confidence", "x", "y", "z"]
    mixed = write('{"item": 1, "worker": "a", "label": 1}\n{"item": "1", "worker": 2, "label": "1"}\n', "mixed.jsonl")
    found = ask(cli, "labels", "aggregate", mixed, "--out", out, "--force")
    assert (found["items"], found["labels"]) == (1, {"1": 2 - 1})
    clash = write("item,worker,label\n1,a,label\n1,b,item\n", "clash.csv")
    ask(cli, "labels", "aggregate", clash, "--out", out, "--force")
    assert list(read(out)[0]) == ["item", "label", "confidence", "class_item", "class_label"]


LINES = [f"{item},{worker},{'xy'[item % 2 if worker == 'a' else 0]}\n" for item in range(4) for worker in "abc"]
SMALL = "item,worker,label\n" + "".join(LINES)


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace(",", ";"),
        SMALL.replace(",", "\t"),
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("\n", "\r"),
        SMALL.replace("item,worker,label", "item , worker, label"),
        "\ufeff" + SMALL,
        SMALL.replace("item,worker,label", "more,item,worker,label").replace("\n", "\n?,").removesuffix("?,"),
    ],
    ids=["semicolons", "tabs", "crlf", "cr", "spaces", "mark", "more columns"],
)
def test_ways_of_writing_a_csv(cli: Cli, write: Callable[..., Path], text: str) -> None:
    """However a program writes its CSV, the same is read."""
    path = write("", "hostile.csv")
    path.write_bytes(text.encode())
    found = ask(cli, "labels", "agreement", path, "--resamples", "0")
    assert (found["items"], found["workers"], found["judgements"]) == (4, 3, 12)


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("votes.csv", SMALL.replace("a", "\x81").encode("latin-1"), "not UTF-8: byte 0x81"),
        ("votes.csv", bytes(range(256)), "not UTF-8"),
        ("votes.csv", b"item,worker,label\n1,a\n2,b,x\n", "row 2: 2 columns where the header has 3"),
        ("votes.csv", b'item,worker,label\n1,"a,x\n', "broken quoting"),
        ("votes.csv", b"item,worker,label,label\n1,a,x,y\n", "the column 'label' is there twice"),
        ("votes.jsonl", b"item,worker,label\n", "row 1: not JSON"),
        ("votes.parquet", b"\x89PNG", "not a readable Parquet file"),
        ("votes.csv.gz", b"votes", "not a complete gzip file"),
        ("votes.xlsx", b"PK", "cannot be told from its name"),
    ],
)
@pytest.mark.parametrize("verb", [("labels", "agreement"), ("labels", "workers"), ("study", "human")])
def test_what_is_no_table_is_named(
    cli: Cli, tmp_path: Path, name: str, data: bytes, complaint: str, verb: tuple[str, str]
) -> None:
    """A file that cannot be read says why, and where; there is no traceback."""
    path = tmp_path / name
    path.write_bytes(data)
    result = cli(*verb, path)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert complaint in result.stderr
    assert name in result.stderr


def test_labels_outside_the_set_are_named_briefly(cli: Cli, write: Callable[..., Path], tmp_path: Path) -> None:
    """A label as long as a book is not printed; the remedy is."""
    path = write(f"item,worker,label\n1,a,{'x' * 5000}\n")
    result = cli("labels", "aggregate", path, "--out", tmp_path / "out.csv", "--labels", "y,z")
    assert result.exit_code == 1
    assert "row 2: label 'xxx" in result.stderr
    assert "add the label to --labels" in result.stderr
    assert len(result.stderr) < 400


@pytest.mark.parametrize(("repeats", "label"), [("first", "x"), ("last", "z")])
def test_two_labels_by_one_worker(
    cli: Cli, write: Callable[..., Path], tmp_path: Path, repeats: str, label: str
) -> None:
    """The first or the last of several labels counts, as asked."""
    path = write("item,worker,label\n1,a,x\n1,a,y\n1,a,z\n")
    found = ask(cli, "labels", "aggregate", path, "--out", tmp_path / "out.csv", "--repeats", repeats)
    assert found["labels"][label] == 1
    assert found["notes"] == [f"Kept the {repeats} of several labels in 2 cases."]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--method", "oracle"), "no label method called 'oracle'"),
        (("--labels", "a,b"), "label 'c' is not one of a, b"),
        (("--method", "gold-weighted"), "--gold"),
        (("--method", "gold-weighted", "--gold", "nowhere.csv"), "neither a file nor a column"),
        (("--method", "gold-weighted", "--gold", "worker"), "item 's1' has the gold labels"),
        (("--method", "majority", "--restarts", "3"), "no option 'restarts'"),
        (("--repeats", "sometimes"), "not a way to treat repeats"),
        (("--column", "thing=item"), "no column called 'thing'"),
    ],
)
def test_wrong_options_are_named(
    cli: Cli, table: Path, tmp_path: Path, options: tuple[str, ...], complaint: str
) -> None:
    """An option that cannot be meant says why."""
    result = cli("labels", "aggregate", table, "--out", tmp_path / "out.csv", *options)
    assert result.exit_code == 1
    assert complaint in result.stderr
    bad = cli("labels", "aggregate", table, "--out", tmp_path / "out.xyz")
    assert bad.exit_code == 1


def test_gold_from_a_file(cli: Cli, table: Path, write: Callable[..., Path], tmp_path: Path) -> None:
    """Gold labels come from a file whose column has one of the usual names, or is mapped; new labels become classes."""
    gold = write("item,truth\ns1,a\ns2,b\ns9,a\n", "gold.csv")
    out = tmp_path / "out.csv"
    arguments = ("labels", "aggregate", table, "--method", "gold-weighted", "--out", out)
    found = ask(cli, *arguments, "--gold", gold)
    assert found["details"]["gold_judgements"] == 10
    assert found["details"]["gold_accuracy"] == pytest.approx(0.9)
    other = write("id,what\ns1,d\ns2,b\n", "other.csv")
    ask(cli, *arguments, "--force", "--gold", other, "--column", "gold.item=id", "--column", "gold.label=what")
    assert list(read(out)[0])[3:] == ["a", "b", "c", "d"]
    assert "gold.label" in cli(*arguments, "--force", "--gold", other, "--column", "gold.item=id").stderr


def test_bluebird(cli: Cli, shared_data: Path, tmp_path: Path) -> None:
    """The command on the real file gives the accuracies that are known for it."""
    folder = shared_data / "crowd-truth-inference" / "data" / "SpectralMethodsMeetEM" / "bluebird"
    truth = {row["item"]: row["truth"] for row in read(folder / "truth.csv")}
    for method, expected in (("majority", 0.759), ("dawid-skene", 0.898)):
        out = tmp_path / f"{method}.csv"
        ask(cli, "labels", "aggregate", folder / "label.csv", "--method", method, "--out", out)
        right = [row["label"] == truth[row["item"]] for row in read(out)]
        assert sum(right) / len(right) == pytest.approx(expected, abs=0.0005)


def test_five_labels_in_one_column_are_read(cli: Cli, tmp_path: Path) -> None:
    """A list of labels in each row, as SNLI's files have it, is five judges by their place; gaps are no judgement."""
    path = tmp_path / "pairs.jsonl.gz"
    given = [["e", "e", "e", "n", "e"], ["n", "n", "c", "n", ""], ["c", "c", "c", "c", "c"]]
    lines = [json.dumps({"pairID": f"p{n}", "annotator_labels": labels}) for n, labels in enumerate(given)]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    mapped = ("--column", "item=pairID", "--column", "label=annotator_labels")
    found = ask(cli, "labels", "agreement", path, *mapped)
    assert (found["items"], found["workers"], found["judgements"]) == (3, 5, 14)
    assert found["krippendorff_alpha"]["value"] > 0.5


def test_snli_hard(cli: Cli, shared_data: Path) -> None:
    """SNLI-hard's five labels are read as they are in its file."""
    path = shared_data / "nli-small" / "data" / "raw" / "SNLI Test Hard" / "snli_1.0_test_hard.jsonl.gz"
    mapped = ("--column", "item=pairID", "--column", "label=annotator_labels")
    found = ask(cli, "labels", "agreement", path, *mapped)
    assert (found["items"], found["workers"]) == (3261, 5)
    assert 0.5 < found["krippendorff_alpha"]["low"] < found["krippendorff_alpha"]["high"] < 0.8
