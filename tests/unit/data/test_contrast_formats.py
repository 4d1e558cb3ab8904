"""The ten published contrast sets in their own formats: made-up files of each, and the real ones where they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quintain.core.errors import BadInput, NotFound
from quintain.data.contrast.contract import (
    CONTRAST_FORMATS,
    ContrastFiles,
    plain_members,
    read_contrast,
    repeated_inputs,
    stored_members,
    whole_sets,
)
from quintain.services.plain.files.contrast import score_contrast_files
from quintain.services.plain.files.contrast_import import write_contrast_examples
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import parse_task

SPAN = "<span style='color:{colour};'><strong>{word} </strong></span>"


def _event(colour: str, word: str) -> str:
    return SPAN.format(colour=colour, word=word)


def _squad(*questions: dict[str, Any]) -> str:
    paragraphs = [{**one["paragraph"], "qas": [one["asked"]]} for one in questions]
    return json.dumps({"data": [{"title": "", "paragraphs": paragraphs}]})


def _quoref(name: str, *texts: str, origin: str | None = None) -> dict[str, Any]:
    more = {} if origin is None else {"original_id": origin}
    answers = [{"text": text, "answer_start": 0} for text in texts]
    asked = {"id": name, "question": f"Who {name}?", "answers": answers, **more}
    return {"paragraph": {"context": "Ada met Bea."}, "asked": asked}


def _ropes(answer: str, situation: str) -> dict[str, Any]:
    asked = {"id": "1", "question": "Who freezes?", "answers": [{"text": answer}]}
    return {"paragraph": {"background": "Salt melts ice.", "situation": situation}, "asked": asked}


def _drop(name: str, question: str, **answer: Any) -> dict[str, Any]:
    empty = {"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": []}
    return {"question": question, "query_id": name, "original_question": "?", "answer": {**empty, **answer}}


def _word(number: int, word: str, tag: str, head: int, relation: str) -> str:
    return "\t".join([str(number), word, word, tag, "_", "_", str(head), relation, "_", "_"])


def _ate_with(noun: str, head: int, *, altered: bool) -> str:
    mark = "***" if altered else ""
    words = [
        _word(1, "We", "PRON", 2, "nsubj"),
        _word(2, "ate", "VERB", 0, "root"),
        _word(3, "pasta", "NOUN", 2, "obj"),
        _word(4, "with", "ADP", 5, "case"),
        _word(5, noun, "NOUN", head, "obl" if head == 2 else "nmod"),
    ]
    return "\n".join([f"# sent_id = s1{mark}", *words]) + "\n\n"


MATRES = "".join(
    [
        ",_unit_id,bodygraph,docid,decision,modified bodygraph,new decision,reason\n",
        f"1,7,<p>He {_event('red', 'left')} when it {_event('blue', 'rained')} . </p>,d,after,"
        f"<p>It {_event('blue', 'rained')} when he {_event('red', 'left')} . </p>,before ,"
        '"appearance order, indicator"\n',
        f"1,7,<p>He {_event('red', 'left')} when it {_event('blue', 'rained')} . </p>,d,after,,,\n",
    ]
)
PERSPECTRUM = (
    "original_claim,contrast_claim,perspective,original_relevance_label,original_stance_label,"
    "contrast_relevance_label,contrast_stance_label\n"
    "Ban cars.,Allow cars.,They stink.,1,pos,1,neg\nBan cars.,Allow cars.,Roads.,0,unk,0,unk\n"
)
MCTACO = "index\tsentence1\tsentence2\tlabel\n0\tHe {did} bread. How long did it take?\tan hour\t{first}\n"
NLVR2 = {"sentence": "Two dogs.", "left_url": "http://x/a b.png", "right_url": "http://x/c.png", "label": True}
BOOLQ = {
    "data": [
        {
            "paragraph": "Ferries run in May.",
            "question": "is there a ferry in may",
            "answer": "TRUE",
            "perturbed_questions": [
                {"perturbed_q": "is there a ferry in june", "answer": "FALSE"},
                {"perturbed_q": "", "answer": ""},
            ],
        }
    ]
}
# Of each format: its files, how many neighbours, and the answers in their order.
MADE: dict[str, tuple[dict[str, str], int, list[Any]]] = {
    "imdb": (
        {
            "test_original.tsv": 'Sentiment\tText\nNegative\tBad "film\n',
            "test_contrast.tsv": "Sentiment\tText\nPositive\tGood\n",
        },
        1,
        ["negative", "positive"],
    ),
    "boolq": ({"boolq.json": json.dumps(BOOLQ)}, 1, ["yes", "no"]),
    "drop": (
        {"drop_contrast.json": json.dumps({"p": {"passage": "P", "qa_pairs": [
            _drop("q_1", "a?", number="3"), _drop("q_2", "b?", spans=["x", "y"]), _drop("r_1", "c?", date={"year": "9"})
        ]}})},
        3,
        [[["3"]], [["x", "y"]], [["9"]]],
    ),
    "quoref": (
        {"original.json": _squad(_quoref("a", "Ada")),
         "perturbations.json": _squad(_quoref("b", "Ada", "Bea", origin="a"))},
        1,
        [[["Ada"]], [["Ada", "Bea"]]],
    ),
    "ropes": (
        {"contrast_set_original_1.json": _squad(_ropes("Ada", "Ada salts.")),
         "contrast_set_1.json": _squad(_ropes("Bea ", "Bea salts."))},
        1,
        [[["Ada"]], [["Bea"]]],
    ),
    "mctaco": (
        {"original.tsv": MCTACO.format(did="baked", first="yes"),
         "changed.tsv": MCTACO.format(did="bought", first="no ")},
        1,
        [[0], []],
    ),
    "matres": ({"minimal_pairs.csv": MATRES}, 1, ["after", "before"]),
    "perspectrum": ({"sets.csv": PERSPECTRUM}, 1, ["pos", "neg"]),
    "ud": (
        {
            "original_only.noun-to-verb.conllu": _ate_with("cheese", 3, altered=False),
            "altered_only.noun-to-verb.conllu": _ate_with("forks", 2, altered=True),
            "original_only.verb-to-noun.conllu": _ate_with("forks", 2, altered=False),
            "altered_only.verb-to-noun.conllu": _ate_with("sauce", 3, altered=True),
        },
        2,
        [2, 1, 1, 2],
    ),
    "nlvr2": (
        {"contrast_set.jsonl": json.dumps({**NLVR2, "identifier": "t-1-0-1"}) + "\n"
         + json.dumps({**NLVR2, "sentence": "Three dogs.", "identifier": "t-1-0-2", "label": False}) + "\n"},
        2,
        ["true", "false"],
    ),
}  # fmt: skip
every_format = pytest.mark.parametrize("name", MADE)


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str], ContrastFiles]:
    """A function that writes the files of a format."""

    def write(name: str) -> ContrastFiles:
        for file, text in MADE[name][0].items():
            (tmp_path / file).write_text(text, encoding="utf-8")
        return ContrastFiles(tmp_path)

    return write


def test_every_format_is_made_here() -> None:
    """No format goes untested."""
    assert sorted(MADE) == CONTRAST_FORMATS.names()


@every_format
def test_members_are_good_examples_of_their_task(name: str, made: Callable[[str], ContrastFiles]) -> None:
    """What is read has the published counts and answers, and fits the task that the format names."""
    found = read_contrast(name, made(name))
    task = parse_task(f'name = "t"\n{CONTRAST_FORMATS.get(name).task}')

    assert found.contrasts == MADE[name][1]
    assert [one.answer for one in found.members] == MADE[name][2]
    for one in found.members:
        assert kind_of(task).check(task, one.inputs, one.answer) == []
    assert len({row["id"] for row in plain_members(found.members)}) == len(found.members)
    assert {row["tags"][0] for row in stored_members(found.members)} <= {"role:original", "role:contrast"}


@pytest.mark.parametrize(("name", "suffix"), [("drop", "json"), ("nlvr2", "jsonl")])
def test_originals_are_brought_besides(
    name: str, suffix: str, made: Callable[[str], ContrastFiles], tmp_path: Path
) -> None:
    """Where the published file has no answers to the originals that is said, and the data set itself brings them."""
    given = made(name)
    assert "have no original here" in read_contrast(name, given).notes[0]
    other = tmp_path / f"whole.{suffix}"
    questions = [_drop(one, "first?", number="1") for one in ("q", "r", "unused")]
    whole = {
        "drop": json.dumps({"p": {"passage": "P", "qa_pairs": questions}}),
        "nlvr2": json.dumps({**NLVR2, "sentence": "A dog.", "identifier": "t-1-0", "label": "True"}) + "\n",
    }
    other.write_text(whole[name])
    found = read_contrast(name, ContrastFiles(given.path, other))
    assert found.notes == []
    assert {one.set for one in found.members if one.original} == {one.set for one in found.members}


def test_tags_and_marks(made: Callable[[str], ContrastFiles]) -> None:
    """MATRES: the first event in the text is e1, an indicator is a conjunction, a row without a decision is dropped."""
    found = read_contrast("matres", made("matres"))

    assert [one.inputs["text"] for one in found.members] == [
        "He <e1>left</e1> when it <e2>rained</e2> .",
        "It <e1>rained</e1> when he <e2>left</e2> .",
    ]
    assert found.members[1].tags == ("appearance order", "conjunction")
    assert found.left_out == {"without a new decision": 1}


def test_a_version_holds_whole_sets(made: Callable[[str], ContrastFiles]) -> None:
    """A neighbour that nobody changed stays, and an input in a second set; a set that has no neighbour does not."""
    members = read_contrast("imdb", made("imdb")).members
    copy = members[1].__class__(9, "x", "x", False, members[0].inputs, "positive", "positive")
    other = members[1].__class__(8, "x", "x", True, {"text": "Fine."}, "positive", "positive")
    alone = members[1].__class__(7, "y", "y", True, {"text": "Alone."}, "positive", "positive")
    kept, left_out = whole_sets([*members, other, copy, alone])

    assert kept == [*members, other, copy]
    assert repeated_inputs(kept) == 1
    assert left_out == {"of a set that is not whole without them": 1}


@pytest.mark.parametrize(
    ("name", "file", "text", "complaint"),
    [
        ("imdb", "test_contrast.tsv", "Sentiment\tText\nGood\tx\n", "row 2: 'Good' is neither Negative nor Positive"),
        ("imdb", "test_contrast.tsv", "Text\nx\n", "the columns are not Sentiment and Text"),
        ("imdb", "test_contrast.tsv", "Sentiment\tText\n", "0 reviews, where test_original.tsv has 1"),
        ("boolq", "boolq.json", "[]", "has no list 'data'"),
        ("boolq", "boolq.json", "{", "not JSON"),
        ("drop", "drop_contrast.json", '{"p": {"qa_pairs": [{"query_id": "q_1"}]}}', "row 1: a question needs"),
        ("quoref", "perturbations.json", _squad(_quoref("b", "x", origin="z")), "its original 'z' is not in"),
        ("matres", "minimal_pairs.csv", MATRES.replace("before ", "sooner"), "'sooner' is not one of before"),
        ("matres", "minimal_pairs.csv", MATRES.replace("blue", "green"), "does not mark two events"),
        ("matres", "minimal_pairs.csv", "a\n1\n", "there is no column '_unit_id'"),
        ("perspectrum", "sets.csv", PERSPECTRUM.replace("1,neg", "1,no"), "'no' is neither pos nor neg"),
        ("mctaco", "changed.tsv", MCTACO.format(did="x", first="maybe"), "neither yes nor no"),
        ("nlvr2", "contrast_set.jsonl", '{"label": true}\n', "row 1: a line needs a sentence"),
        ("ud", "altered_only.noun-to-verb.conllu", "1\ta\n\n", "a word has 2 columns"),
    ],
)
def test_what_is_wrong_is_named(
    name: str, file: str, text: str, complaint: str, made: Callable[[str], ContrastFiles], tmp_path: Path
) -> None:
    """A file that is not what it should be is refused, with the row."""
    given = made(name)
    (tmp_path / file).write_text(text)
    with pytest.raises(BadInput) as refused:
        read_contrast(name, given)
    assert complaint in str(refused.value)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """A folder without the files, a file without its originals, a format that nobody knows: each says what to do."""
    with pytest.raises(NotFound, match="has 0 files"):
        read_contrast("boolq", ContrastFiles(tmp_path))
    (tmp_path / "a.tsv").write_text("x")
    with pytest.raises(BadInput, match="--originals"):
        read_contrast("imdb", ContrastFiles(tmp_path / "a.tsv"))
    with pytest.raises(NotFound, match="Known: boolq"):
        read_contrast("imbd", ContrastFiles(tmp_path))


# Neighbours and sets in the published files, then those that can be used.
REAL: dict[str, tuple[str, tuple[int, int], tuple[int, int]]] = {
    "imdb": ("IMDb", (488, 488), (488, 488)),
    "boolq": ("BoolQ", (341, 70), (335, 69)),
    "drop": ("DROP", (947, 623), (947, 623)),
    "quoref": ("quoref", (700, 415), (700, 415)),
    "ropes": ("ropes/data", (974, 974), (974, 974)),
    "mctaco": ("MCTACO", (100, 100), (100, 100)),
    "matres": ("MATRES", (401, 239), (401, 239)),
    "perspectrum": ("perspectrum", (494, 494), (217, 217)),
    "ud": ("UD_English", (150, 150), (150, 150)),
    "nlvr2": ("nlvr2", (994, 479), (994, 479)),
}


@pytest.mark.parametrize("name", REAL)
def test_the_published_files(name: str, shared_data: Path) -> None:
    """The real files have the published counts, every member fits its task, and every set is whole."""
    folder, listed, usable = REAL[name]
    found = read_contrast(name, ContrastFiles(shared_data / "contrast-sets" / folder))
    task = parse_task(f'name = "t"\n{CONTRAST_FORMATS.get(name).task}')

    assert (found.in_file or (found.contrasts, found.sets)) == listed
    assert (found.contrasts, found.sets) == usable
    assert [one for one in found.members[:200] if kind_of(task).check(task, one.inputs, one.answer)] == []
    originals = [one.set for one in found.members if one.original]
    assert len(originals) == len(set(originals)) == (0 if name in {"drop", "nlvr2"} else found.sets)


def test_what_the_attachments_turned_to(shared_data: Path) -> None:
    """UD: the direction of the file is the tag, and almost every attachment turned that way."""
    found = read_contrast("ud", ContrastFiles(shared_data / "contrast-sets" / "UD_English"))
    pairs = list(zip(found.members[::2], found.members[1::2], strict=True))
    same = [one for one, other in pairs if one.inputs["tokens"][one.answer] == other.inputs["tokens"][other.answer]]

    assert [one.tags[0] for _, one in pairs].count("noun-to-verb") == 75
    assert len(same) == 1  # "Send the revised report by the agency" was not annotated again


def test_what_is_written_can_be_scored(tmp_path: Path) -> None:
    """A set whose neighbours all have to be left out is left out with them, and that is counted."""
    document = {
        "data": [*BOOLQ["data"], {**BOOLQ["data"][0], "perturbed_questions": [{"perturbed_q": "", "answer": ""}]}]
    }
    (tmp_path / "boolq.json").write_text(json.dumps(document))
    target = tmp_path / "examples.jsonl"
    report = write_contrast_examples("boolq", ContrastFiles(tmp_path / "boolq.json"), target)
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert report.examples == len(rows) == 2
    assert report.left_out["of a set that is not whole without them"] == 1
    predictions = tmp_path / "predictions.json"
    predictions.write_text(json.dumps({row["id"]: row["gold"] for row in rows}))
    assert score_contrast_files(target, predictions).consistency == 1.0
