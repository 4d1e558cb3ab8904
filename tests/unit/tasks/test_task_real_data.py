"""Real data sets in the shapes of the kinds. Skipped where they are not beside the repository."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import polars as pl

from quintain.tasks.contract import RowFault, kind_of
from quintain.tasks.definition import parse_task


def check(definition: str, rows: Iterable[dict[str, Any]]) -> tuple[int, list[RowFault]]:
    """Put *rows* into a table of the task that *definition* says, and check it."""
    task = parse_task(f'name = "real"\n{definition}')
    kind = kind_of(task)
    table = pl.DataFrame(list(rows), schema=kind.schema(task))
    return table.height, kind.check_table(task, table)


def read_csv(path: Path, delimiter: str = ",", quoting: Literal[0, 3] = csv.QUOTE_MINIMAL) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter=delimiter, quoting=quoting))


def test_sst(shared_data: Path) -> None:
    """SST-2's dev sentences are good examples of text classification."""
    lines = (shared_data / "sst/data/SST2/dev.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.rsplit("\t", 1) for line in lines]
    rows = [{"text": text, "answer": ["negative", "positive"][int(label)]} for text, label in pairs]
    assert check('kind = "text-classification"\nlabels = ["negative", "positive"]', rows) == (872, [])


def test_rte(shared_data: Path) -> None:
    """RTE is pair classification with two labels."""
    rows = [
        {"premise": row["premise"], "hypothesis": row["hypothesis"], "answer": row["label"]}
        for row in read_csv(shared_data / "nli-small/nli_datasets/rte/dev.csv")
    ]
    assert check('kind = "pair-classification"\nlabels = ["entailment", "not_entailment"]', rows) == (277, [])


def test_perspectrum(shared_data: Path) -> None:
    """Stance is pair classification with its fields renamed."""
    rows = [
        {"claim": row["contrast_claim"], "perspective": row["perspective"], "answer": row["contrast_stance_label"]}
        for row in read_csv(shared_data / "contrast-sets/perspectrum/perspectrum_contrast_sets.csv")
    ]
    options = '[options]\nfirst = "claim"\nsecond = "perspective"'
    assert check(f'kind = "pair-classification"\nlabels = ["pos", "neg", "unk"]\n{options}', rows) == (494, [])


def test_matres(shared_data: Path) -> None:
    """Temporal relations keep their two events where writers moved them, in either order."""
    mark = re.compile(r"<span style='color:(red|blue);'>\s*(.*?)<strong>(.*?)\s*</strong></span>")
    names = {"red": "e1", "blue": "e2"}

    def remark(found: re.Match[str]) -> str:
        return f"<{names[found[1]]}>{found[2]}{found[3]}</{names[found[1]]}> "

    rows = []
    for row in read_csv(shared_data / "contrast-sets/MATRES/Platinum_subset_minimal_pairs.csv"):
        for text, label in ((row["bodygraph"], row["decision"]), (row["modified bodygraph"], row["new decision"])):
            if text:
                plain = re.sub(r"</?p>", " ", mark.sub(remark, text)).strip()
                rows.append({"text": plain, "answer": label.strip() or None})
    definition = (
        'kind = "pair-classification"\nlabels = ["before", "after", "simultaneous", "vague"]\n[options]\nmarked = true'
    )
    assert check(definition, rows) == (424 + 401, [])


def test_boolq(shared_data: Path) -> None:
    """BoolQ's contrast set is yes/no over a passage; its first entry is a heading, and is found out."""
    data = json.loads((shared_data / "contrast-sets/BoolQ/boolq_perturbed.json").read_text())["data"]
    rows = [
        {
            "passage": entry["paragraph"],
            "question": entry["question"],
            "answer": {"TRUE": "yes", "FALSE": "no"}.get(str(entry["answer"]).upper(), entry["answer"]),
        }
        for entry in data
    ]
    _, faults = check('kind = "yes-no"', rows)
    assert [(fault.row, fault.field) for fault in faults] == [(0, "answer")]


def test_xquad(shared_data: Path) -> None:
    """Every gold span of XQuAD starts where it says, accents and all."""
    articles = json.loads((shared_data / "xquad-en-squad-preds/xquad.en.json").read_text())["data"]
    rows = [
        {
            "passage": paragraph["context"],
            "question": question["question"],
            "answer": [{"text": one["text"], "start": one["answer_start"]} for one in question["answers"]],
        }
        for article in articles
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    assert check('kind = "extractive-qa"', rows) == (1190, [])


def test_quail(shared_data: Path) -> None:
    """QuAIL's challenge set is multiple choice with four different options."""
    with gzip.open(shared_data / "quail/quail_v1.3/json/challenge.jsonl.gz", "rt", encoding="utf-8") as stream:
        entries = [json.loads(line) for line in stream]
    rows = [
        {
            "passage": entry["context"],
            "question": entry["question"],
            "options": entry["answers"],
            "answer": int(entry["correct_answer_id"]),
        }
        for entry in entries
    ]
    assert check('kind = "multiple-choice"', rows) == (556, [])


def test_mctaco(shared_data: Path) -> None:
    """MC-TACO's candidates, gathered by question, are several answers; some questions repeat a candidate."""
    gathered: dict[str, list[tuple[str, bool]]] = {}
    for row in read_csv(shared_data / "contrast-sets/MCTACO/original.tsv", "\t", csv.QUOTE_NONE):
        gathered.setdefault(row["sentence1"], []).append((row["sentence2"], row["label"] == "yes"))
    rows = []
    for text, candidates in gathered.items():
        *before, question = re.split(r"(?<=[.!?\"]) (?=[A-Z])", text)
        plausible = [number for number, (_, right) in enumerate(candidates) if right]
        rows.append(
            {
                "passage": " ".join(before),
                "question": question,
                "candidates": [one for one, _ in candidates],
                "answer": plausible,
            }
        )
    height, faults = check('kind = "several-answers"', rows)
    assert height == len(gathered)
    assert {fault.reason for fault in faults} <= {"has the same entry twice"}
    assert len(faults) < height / 10


def test_qa_srl(shared_data: Path) -> None:
    """QA-SRL's answers are pieces of their sentences, but for a few that annotators reworded."""
    folder = shared_data / "bibi-2017/annotations/qasrl/hal_create_tsvs/tsv"
    rows = []
    for row in read_csv(folder / "wiki1.dev.tsv", "\t", csv.QUOTE_NONE):
        answers = [{"text": text, "start": None} for text in row["answer"].split(" ### ")]
        sentence = " ".join(part for part in (row["prefix"], row["predicate"], row["suffix"]) if part)
        rows.append(
            {"sentence": sentence, "predicate": row["predicate"], "question": row["question"], "answer": answers}
        )
    height, faults = check('kind = "qa-srl"', rows)
    assert height == 1719
    assert {fault.field for fault in faults} <= {"answer"}
    assert len(faults) < 0.02 * height


def test_universal_dependencies(shared_data: Path) -> None:
    """The grandparents of all prepositions in the parsing contrast sets are tokens of their sentences."""
    rows = []
    for path in sorted((shared_data / "contrast-sets/UD_English").glob("*.conllu")):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            cells = [line.split("\t") for line in block.splitlines() if line and not line.startswith("#")]
            words = [cell for cell in cells if cell[0].isdigit()]
            heads = [int(cell[6]) - 1 for cell in words]
            rows += [
                {"tokens": [cell[1] for cell in words], "preposition": number, "answer": heads[heads[number]]}
                for number, cell in enumerate(words)
                if cell[3] == "ADP" and cell[7] == "case" and heads[number] >= 0 and heads[heads[number]] >= 0
            ]
    height, faults = check('kind = "attachment"', rows)
    assert height > 500
    assert faults == []


def test_nlvr2(shared_data: Path) -> None:
    """NLVR2's contrast set is statements about two images on the web."""
    lines = (shared_data / "contrast-sets/nlvr2/contrast_set_nlvr2.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [
        {
            "left_image": entry["left_url"],
            "right_image": entry["right_url"],
            "statement": entry["sentence"],
            "answer": str(entry["label"]).lower(),
        }
        for entry in map(json.loads, lines)
    ]
    height, faults = check('kind = "image-pair"', rows)
    assert height == len(lines)
    assert faults == []
