"""Mappings of public data sets: on fixtures written in their formats, and on the real files where they are."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from quintain.data.importing import check_file, write_examples
from quintain.data.plan import ImportPlan
from quintain.data.presets import list_presets, preset_names, read_preset
from tests.unit.data.data_samples import task

Write = Callable[[str, str | bytes], Path]


def _lines(*rows: dict[str, object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _pair(label: str, number: int, **more: object) -> dict[str, object]:
    return {"sentence1": f"p{number}", "sentence2": f"h{number}", "gold_label": label, "pairID": str(number), **more}


def _squad(*questions: dict[str, object]) -> bytes:
    paragraph = {"context": "A cat sat on a mat.", "qas": list(questions)}
    return json.dumps({"data": [{"title": "Cats", "paragraphs": [paragraph]}]}).encode()


def _question(number: int, text: str, start: int) -> dict[str, object]:
    answers = [{"text": text, "answer_start": start}]
    return {"id": str(number), "question": f"Q{number}?", "answers": answers}


_MRQA = _lines(
    {"header": {"dataset": "X"}},
    {
        "context": "A cat sat.",
        "qas": [{"qid": "1", "question": "Who?", "detected_answers": [{"text": "A cat", "char_spans": [[0, 4]]}]}],
    },
)
_HANS = (
    "gold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpairID\theuristic\tsubcase\ttemplate\n"
    'non-entailment\t( x )\tThe "doctor saw the actor .\tThe actor saw the doctor .\tex0\tlexical_overlap\tls\ttemp1\n'
)
_TEMPLATES = (
    "occupation(0)\tother-participant(1)\tanswer\tsentence\n"
    "chef\tguest\t1\tThe $OCCUPATION told the $PARTICIPANT that $POSS_PRONOUN table was ready.\n"
)
_SENTENCE = {"sentence": "Fine.", "text_id": "r1-1", "label_distribution": {"positive": ["w1"]}}

# Preset: the task it is for, the file's name and content, and the answers that come out.
CASES: dict[str, tuple[str, str, bytes, list[object]]] = {
    "snli": (
        "nli",
        "snli.jsonl",
        _lines(
            _pair("neutral", 1, captionID="c", annotator_labels=["neutral"]),
            _pair("-", 2, captionID="c", annotator_labels=["neutral", "entailment"]),
        ),
        ["neutral"],
    ),
    "mnli": ("nli", "m.jsonl", _lines(_pair("entailment", 1, genre="fiction", promptID="9")), ["entailment"]),
    "anli": (
        "nli",
        "a.jsonl",
        _lines(*({"uid": one, "context": "c", "hypothesis": one, "label": one} for one in "enc")),
        ["entailment", "neutral", "contradiction"],
    ),
    "nli-csv": ("nli", "n.csv", b"premise,hypothesis,label\np,h,neutral\n", ["neutral"]),
    "hans": ("hans", "hans.txt", _HANS.encode(), ["non-entailment"]),
    "nli-stress": ("nli", "s.jsonl", _lines(_pair("contradiction", 1)), ["contradiction"]),
    "winogender-nli": ("nli-two", "templates.tsv", _TEMPLATES.encode(), ["not_entailment", "entailment"] * 3),
    "axg": (
        "nli-two",
        "AX-g.jsonl",
        _lines({"premise": "p", "hypothesis": "h", "label": "not_entailment", "idx": 0, "pair_id": 1}),
        ["not_entailment"],
    ),
    "squad": ("qa", "dev.json", _squad(_question(1, "A cat", 0)), [[{"text": "A cat", "start": 0}]]),
    "adversarialqa": ("qa", "dev.json", _squad(_question(1, "a mat", 13)), [[{"text": "a mat", "start": 13}]]),
    "mrqa": ("qa", "dev.jsonl.gz", gzip.compress(_MRQA), [[{"text": "A cat", "start": 0}]]),
    "sst-trees": ("sentiment", "dev.txt", b"(3 (2 It) (4 works))\n(1 (2 Not) (0 -LRB-))\n", ["positive", "negative"]),
    "sst-fasttext": ("sentiment", "dev.txt", b"__label__3\tFine .\n__label__5 Great .\n", ["neutral", "positive"]),
    "sst2": ("polarity", "dev.tsv", b'a "fine film\t1\nbad\t0\n', ["positive", "negative"]),
    "sst-scores": ("polarity", "s.csv", b"phrase,score\na,0.1\nb,0.5\nc,0.9\n", ["negative", "positive"]),
    "yelp": (
        "sentiment",
        "r.json",
        _lines(*({"review_id": f"{s}", "business_id": "b", "stars": s, "text": f"t{s}"} for s in (1.0, 3.0, 5.0))),
        ["negative", "neutral", "positive"],
    ),
    "amazon": ("sentiment", "a.json", _lines({"reviewText": "x", "overall": 4.0, "asin": "b"}), ["positive"]),
    "uci-sentences": ("polarity", "u.txt", b"Wow... Loved this place.\t1\n", ["positive"]),
    "dynasent-r1": (
        "sentiment",
        "r1.jsonl",
        _lines(
            {**_SENTENCE, "gold_label": "positive", "model_0_label": "negative"},
            {**_SENTENCE, "sentence": "Hm.", "text_id": "2", "gold_label": None, "model_0_label": "neutral"},
            {**_SENTENCE, "sentence": "So.", "text_id": "3", "gold_label": "mixed", "model_0_label": "neutral"},
        ),
        ["positive"],
    ),
    "dynasent-r2": (
        "sentiment",
        "r2.jsonl",
        _lines({**_SENTENCE, "gold_label": "positive", "model_1_label": "negative", "has_prompt": True}),
        ["positive"],
    ),
    "qa-srl": (
        "srl",
        "wiki.tsv",
        b"#id\tprefix\tpredicate\tsuffix\tquestion\tanswer\n"
        b"1\tThe baker\tSOLD\tus bread .\twho _ _ sold something _ ?\tThe baker ### baker\n"
        b"2\tThe baker\tSOLD\tus bread .\twho _ sold something _ _ ?\tbaker\n"
        b"3\t\tFOUNDED\tin 1851 .\twhen was something founded ?\tin 1851\n",
        [
            [{"text": "The baker", "start": None}, {"text": "baker", "start": None}],
            [{"text": "in 1851", "start": None}],
        ],
    ),
    "learning-from-the-worst": (
        "hate",
        "lftw.csv",
        b",acl.id,text,label,type,target\n0,acl1,I like tea,nothate,none,none\n",
        ["nothate"],
    ),
    "hatecheck": (
        "hateful",
        "hc.csv",
        b"functionality,case_id,test_case,label_gold,target_ident\nident_nh,1,We are nurses.,non-hateful,women\n",
        ["non-hateful"],
    ),
}


def test_every_preset_has_a_case_and_says_what_it_reads() -> None:
    """No mapping is shipped without a test, a note and a description."""
    assert sorted(CASES) == preset_names()
    assert all(preset.note and preset.plan.description and preset.plan.format for preset in list_presets())


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_preset_reads_its_format(write: Write, tmp_path: Path, name: str) -> None:
    """A file in the public format becomes examples of the task."""
    about, file, content, expected = CASES[name]
    plan = read_preset(name).plan.with_changes(role="test")
    write_examples(write(file, content), task(about), plan, tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet")["answer"].to_list() == expected


def test_trees_give_phrases_for_training(write: Write, tmp_path: Path) -> None:
    """Every node of a tree trains; only the sentences are evaluated on."""
    plan = read_preset("sst-trees").plan.with_changes(role="train")
    path = write("dev.txt", b"(3 (2 It) (4 (3 really) (4 works)))\n(2 oops\n")
    report = check_file(path, task("sentiment"), plan)
    assert report.rows == 5
    assert [(fault.row, fault.reason) for fault in report.faults] == [(2, "not a tree: the brackets do not match")]


def test_winogender_hypotheses_put_people_in_the_place_of_pronouns(write: Write, tmp_path: Path) -> None:
    """The person that the schema means is entailed, for each of three pronouns."""
    plan = read_preset("winogender-nli").plan.with_changes(role="test")
    write_examples(write("t.tsv", _TEMPLATES), task("nli-two"), plan, tmp_path / "o.parquet")
    rows = pl.read_parquet(tmp_path / "o.parquet").select("premise", "hypothesis", "answer").rows()
    said = "The chef told the guest that {} table was ready."
    assert rows[:2] == [
        (said.format("his"), said.format("the chef's"), "not_entailment"),
        (said.format("his"), said.format("the guest's"), "entailment"),
    ]


REAL = [
    ("sst-trees", "sentiment", "sst/data/sst/raw_data/test.txt", "test", 2210),
    ("sst-fasttext", "sentiment", "sst/data/sst/sst_test.txt", "test", 2210),
    ("sst2", "polarity", "sst/data/SST2/test.tsv", "test", 1821),
    ("snli", "nli", "nli-small/data/raw/SNLI Test Hard/snli_1.0_test_hard.jsonl.gz", "test", 3261),
    ("nli-csv", "nli", "nli-small/nli_datasets/mnli/dev.csv.gz", "dev", 19647),
    ("squad", "qa", "xquad-en-squad-preds/xquad.en.json", "test", 1190),
    ("winogender-nli", "nli-two", "winogender/data/templates.tsv", "test", 720),
    ("qa-srl", "srl", "bibi-2017/annotations/qasrl/hal_create_tsvs/tsv/wiki2.dev.tsv", "test", 630),
    (
        "uci-sentences",
        "polarity",
        "uci-sentiment-sentences/sentiment labelled sentences/imdb_labelled.txt",
        "test",
        1000,
    ),
]


@pytest.mark.parametrize(("preset", "about", "file", "role", "count"), REAL)
def test_real_files_are_read(shared_data: Path, preset: str, about: str, file: str, role: str, count: int) -> None:
    """The public files are read without a fault; rows that repeat an input are the only ones left out."""
    plan = read_preset(preset).plan.with_changes(role=role)
    report = check_file(shared_data / file, task(about), plan)
    assert report.faults == []
    repeated = report.dropped["the same input as an earlier row"]
    assert report.rows + repeated + report.dropped["filtered out"] == report.rows_read
    assert count - 25 <= report.rows <= count


def test_winogender_premises_are_the_published_sentences(shared_data: Path, tmp_path: Path) -> None:
    """Every premise that the templates give stands in the schemas' own list of sentences."""
    plan = read_preset("winogender-nli").plan.with_changes(role="test")
    target = tmp_path / "w.parquet"
    write_examples(shared_data / "winogender/data/templates.tsv", task("nli-two"), plan, target)
    listed = (shared_data / "winogender/data/all_sentences.tsv").read_text().splitlines()[1:]
    published = {line.split("\t")[1] for line in listed}
    premises = set(pl.read_parquet(target)["premise"])
    assert premises - published == set()


def test_wrong_spans_of_a_published_file_are_named(shared_data: Path) -> None:
    """Seven answers of Quoref's file do not stand where it says; each is reported, the others are read."""
    path = shared_data / "contrast-sets/quoref/quoref_original_subset_20191206_merged.json"
    report = check_file(path, task("qa"), read_preset("squad").plan.with_changes(role="contrast"))
    assert (report.total, {fault.field for fault in report.faults}) == (7, {"answers"})
    assert report.rows > 300


def test_real_tables_are_read_with_a_few_options(shared_data: Path) -> None:
    """The gold subset of DynaSent, QuAIL's challenge and a treebank need no preset."""
    plan = ImportPlan(columns={"text": "sentence"}, tag_columns=("round",), duplicates="first")
    report = check_file(shared_data / "dynasent-derived/gold_subset_r1_r2_first1000.csv", task("sentiment"), plan)
    assert report.total == 0
    assert report.rows > 1900
    plan = ImportPlan(columns={"passage": "context", "options": "answers", "answer": "correct_answer_id"})
    report = check_file(shared_data / "quail/quail_v1.3/json/challenge.jsonl.gz", task("choice"), plan)
    assert report.rows > 500
    treebank = shared_data / "contrast-sets/UD_English/en_combo-ud-test.original_only.noun-to-verb.conllu"
    report = check_file(treebank, task("attachment"), ImportPlan(duplicates="first"))
    assert report.total == 0
    assert report.rows > 50
