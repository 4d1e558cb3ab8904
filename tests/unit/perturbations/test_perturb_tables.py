"""Tables of examples: the right fields, spans in place, lineage kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from quintain.core.errors import BadInput
from quintain.core.example import Example
from quintain.core.task import Field, Label, Task
from quintain.perturbations.apply import perturb_texts, replay
from quintain.perturbations.contract import PERTURBATIONS, Perturbation, names_of, perturbation
from quintain.perturbations.rows import TextColumn, perturb_rows, words_touched
from quintain.perturbations.tables import edits_of, lineage, perturb_table
from quintain.tasks.contract import kind_of
from quintain.tasks.extractive_qa import ExtractiveQA
from tests.starter import starter_rows

SENTIMENT = Task("s", "text-classification", {"en": "S"}, labels=(Label("positive"), Label("negative")))
QA = Task("qa", "extractive-qa", {"en": "QA"})
PASSAGE = "Mary gave her old book to James in Boston last winter before she left with him for the theatre."
QUESTION = "Who did not get the book that Mary gave away?"
SHARED = Path(__file__).parents[4] / "shared" / "data"


def perturb_example(
    task: Task, example: Example, change: Perturbation, *, seed: int = 0, severity: float = 1.0
) -> Example | None:
    """Give *example* as *change* makes it, or None where it does not."""
    kind = kind_of(task)
    names = [item.name for item in kind.fields(task)]
    row = {name: example.inputs.get(name) for name in names}
    row |= {"answer": kind.answers.stored(example.answer), "meta": json.dumps(dict(example.meta))}
    schema = {**kind.schema(task), "meta": pl.String()}
    found = perturb_table(task, pl.DataFrame([row], schema=schema), change, seed=seed, severity=severity)
    if found.is_empty():
        return None
    new = found.row(0, named=True)
    inputs = {name: new[name] for name in names if new[name] is not None}
    moved = example.answer if isinstance(example.answer, str | int) or example.answer is None else new["answer"]
    if isinstance(example.answer, Mapping) and new["answer"]:
        moved = new["answer"][0]
    return Example(inputs, moved, example.tags, example.group, json.loads(new["meta"]))


def test_a_variant_holds_the_changed_rows_with_their_lineage() -> None:
    """Rows that stay are skipped; the others get a new id and tell parent, perturbation, version, seed and edits."""
    table = pl.DataFrame({"text": ["The colour is fine.", "Nothing here."], "answer": ["positive", "negative"]})
    made = perturb_table(SENTIMENT, table, perturbation("british_american"), seed=3)
    assert made["text"].to_list() == ["The color is fine."]
    meta = json.loads(made["meta"][0])
    parent = Example({"text": "The colour is fine."}).id
    assert (meta["parent"], meta["perturbation"], meta["version"], meta["seed"]) == (parent, "british_american", 3, 3)
    assert made["id"][0] == Example({"text": "The color is fine."}).id
    assert replay("The colour is fine.", edits_of(meta, "text")) == "The color is fine."
    assert made["answer"].to_list() == ["positive"]


def test_the_variant_of_a_row_does_not_depend_on_its_table() -> None:
    """Every model meets the same variant: alone or among others, the row comes out alike."""
    table = pl.DataFrame(
        {"text": [f"A good film about number words and {word}." for word in ("cats", "dogs", "birds")]}
    )
    whole = perturb_table(SENTIMENT, table, perturbation("typos"))["text"].to_list()
    single = [perturb_table(SENTIMENT, table[i : i + 1], perturbation("typos"))["text"][0] for i in range(3)]
    assert single == whole


@pytest.mark.parametrize("name", PERTURBATIONS.names())
@pytest.mark.parametrize("start", [26, None])
def test_gold_spans_survive_every_perturbation(name: str, start: int | None) -> None:
    """The answer is still in the passage, where its start says, and the example still passes its checks."""
    example = Example({"passage": PASSAGE, "question": QUESTION}, [{"text": "James", "start": start}])
    for seed in range(4):
        new = perturb_example(QA, example, perturbation(name), seed=seed, severity=3)
        if new is None:
            continue
        span = new.answer[0]
        assert span["text"] == "James"
        assert "James" in new.inputs["passage"]
        assert kind_of(QA).check(QA, new.inputs, new.answer) == []
        if start is not None:
            assert new.inputs["passage"][span["start"] :].startswith("James")


def test_a_name_changes_in_passage_and_question_alike() -> None:
    """Mary becomes the same other woman in both fields; James, who is the answer, stays in both."""
    example = Example({"passage": PASSAGE, "question": QUESTION}, [{"text": "James", "start": 26}])
    new = perturb_example(QA, example, perturbation("ethnicity_names"))
    assert new is not None
    name = new.inputs["passage"].split()[0]
    assert name != "Mary"
    assert new.inputs["question"] == QUESTION.replace("Mary", name)
    assert new.meta["group"]["from"] == "white"


def test_a_name_in_a_closed_field_stays_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the passage may not change, a name that it holds is not changed in the question."""
    closed = (Field("passage", "long_text", perturbable=False), Field("question", "text"))
    monkeypatch.setattr(ExtractiveQA, "fields", lambda self, task: closed)
    example = Example({"passage": PASSAGE, "question": QUESTION}, [{"text": "James", "start": 26}])
    assert perturb_example(QA, example, perturbation("ethnicity_names")) is None


def test_a_story_is_swapped_as_a_whole_or_not_at_all() -> None:
    """With a gendered word in the answer, no gendered word of the example changes."""
    example = Example({"passage": PASSAGE, "question": QUESTION}, [{"text": "her old book", "start": 10}])
    assert perturb_example(QA, example, perturbation("gender_words")) is None


@pytest.mark.parametrize("name", names_of("robustness"))
def test_tokens_keep_their_number(name: str) -> None:
    """Tokens are edited one by one: none is split, joined, added or lost."""
    tokens = ["He", "did", "not", "see", "the", "colour", "of", "three", "pizzas", "really", "quickly", "."]
    table = pl.DataFrame({"tokens": [tokens]})
    change = perturb_rows(table, [TextColumn("tokens", "tokens")], perturbation(name), contents=["x"], severity=5)[0]
    if change is not None:
        new = change.values["tokens"]
        assert len(new) == len(tokens)
        assert new != tokens
        assert all(token.strip() and not any(map(str.isspace, token)) for token in new)


@pytest.mark.parametrize("name", PERTURBATIONS.names())
def test_the_predicate_and_the_answer_stay_in_the_sentence(name: str) -> None:
    """A question on a predicate still has both: neither is edited, and the answer's start moves along."""
    task = Task("srl", "qa-srl", {"en": "Roles"})
    sentence = "Yesterday Mary did not realise that her brother really sold James three colourful loaves of bread."
    answer = {"text": "her brother", "start": sentence.index("her brother")}
    example = Example({"sentence": sentence, "predicate": "sold", "question": "who sold something ?"}, [answer])
    for seed in range(4):
        new = perturb_example(task, example, perturbation(name), seed=seed, severity=4)
        if new is None:
            continue
        assert "sold" in new.inputs["sentence"]
        assert new.inputs["sentence"][new.answer[0]["start"] :].startswith("her brother")
        assert kind_of(task).check(task, new.inputs, new.answer) == []


def test_a_sentence_with_a_predicate_is_perturbed() -> None:
    """Both kinds whose answers point into the sentence have variants."""
    srl, example = Task("srl", "qa-srl", {"en": "Roles"}), kind_of(Task("srl", "qa-srl", {"en": "Roles"})).example
    assert perturb_example(srl, example, perturbation("typos")) is not None
    attachment = Task("pp", "attachment", {"en": "Attachment"})
    tokens = ["He", "finally", "tasted", "excellent", "pizza", "with", "friends", "."]
    parsed = Example({"tokens": tokens, "preposition": 5}, 2)
    new = perturb_example(attachment, parsed, perturbation("typos"), severity=3)
    assert new is not None
    assert len(new.inputs["tokens"]) == len(tokens)
    assert (new.inputs["preposition"], new.answer) == (5, 2)
    assert sum(one != other for one, other in zip(tokens, new.inputs["tokens"], strict=True)) >= 1


def test_lists_of_texts_are_perturbed_one_by_one() -> None:
    """Each option of a choice is a text of its own, and its edits are under its number."""
    table = pl.DataFrame({"options": [["the colour", "nothing", "a theatre"]]})
    change = perturb_rows(table, [TextColumn("options", "texts")], perturbation("british_american"), contents=["x"])[0]
    assert change is not None
    assert change.values["options"] == ["the color", "nothing", "a theater"]
    assert set(change.edits) == {"options[0]", "options[2]"}


def test_lineage_reads_parents_and_groups() -> None:
    """The metric finds in one table which row comes from which, by what, and between which groups."""
    table = pl.DataFrame({"id": ["p"], "text": ["She is here."], "answer": ["positive"], "meta": ['{"a": 1}']})
    told = lineage(perturb_table(SENTIMENT, table, perturbation("gender_words"))).row(0, named=True)
    assert told == {"parent": "p", "perturbation": "gender_words", "version": 4, "seed": 0, "group": "female → male"}


def test_missing_inputs_and_wrong_severity_are_named() -> None:
    """A table without the inputs and a severity of zero are refused with a reason."""
    with pytest.raises(BadInput, match="no column 'text'"):
        perturb_table(SENTIMENT, pl.DataFrame({"other": ["x"]}), perturbation("typos"))
    with pytest.raises(BadInput, match="severity"):
        perturb_texts(["x"], perturbation("typos"), severity=0)


def test_words_are_counted_where_edits_reach_them() -> None:
    """An edit over two words counts two; several in one word count one."""
    assert words_touched("one two three", [(2, 5, "x")]) == 2
    assert words_touched("one two three", [(0, 1, "x"), (1, 2, "y")]) == 1


@pytest.mark.parametrize("name", PERTURBATIONS.names())
def test_starter_reviews_change_without_harm(name: str) -> None:
    """On the sentences that are shipped every perturbation runs, changes some, and leaves none empty."""
    check_harm(name, [row["text"] for row in starter_rows("sentiment")])


@pytest.mark.skipif(not (SHARED / "sst").exists(), reason="the shared data are not here")
@pytest.mark.parametrize("name", PERTURBATIONS.names())
def test_real_reviews_change_without_harm(name: str) -> None:
    """The same of reviews that others wrote."""
    lines = (SHARED / "sst/data/SST2/dev.tsv").read_text(encoding="utf-8").splitlines()
    check_harm(name, [line.split("\t")[0] for line in lines])


def check_harm(name: str, texts: list[str]) -> None:
    """Say that a perturbation changes some of *texts* and leaves something of each."""
    found = perturb_texts(texts, perturbation(name))
    changed = [new for new in found if new is not None]
    assert all(new.strip() for new in changed)
    if PERTURBATIONS.get(name).family == "robustness":
        assert len(changed) > 0.02 * len(texts)


TEMPLATES = (
    "The {} told the {} that {{they}} could pay by card.",
    "The {} met the {} because {{they}} had asked for it.",
    "The {} handed the {} the keys and {{their}} coat.",
    "The {} asked the {} whether somebody had called {{them}}.",
)
PEOPLE = (("technician", "customer"), ("engineer", "client"), ("baker", "guest"), ("librarian", "child"))
PRONOUNS = ({"they": "he", "their": "his", "them": "him"}, {"they": "she", "their": "her", "them": "her"})


def test_made_sentences_swap_into_each_other() -> None:
    """The male and the female form of a sentence are each other's swap, be the pronoun subject, object or owner."""
    frames = [template.format(*people) for template in TEMPLATES for people in PEOPLE]
    male, female = ([frame.format(**pronouns) for frame in frames] for pronouns in PRONOUNS)
    assert perturb_texts(male, perturbation("gender_words")) == female
    assert perturb_texts(female, perturbation("gender_words")) == male


@pytest.mark.skipif(not (SHARED / "winogender").exists(), reason="the shared data are not here")
def test_winogender_sentences_swap_into_each_other() -> None:
    """The male and the female form of a Winogender sentence are each other's swap in at least 97 of 100 cases."""
    lines = (SHARED / "winogender/data/all_sentences.tsv").read_text(encoding="utf-8").splitlines()[1:]
    sentences = dict(line.split("\t")[:2] for line in lines)
    pairs = [(text, sentences[key.replace(".male.", ".female.")]) for key, text in sentences.items() if ".male." in key]
    swapped = perturb_texts([male for male, _ in pairs], perturbation("gender_words"))
    back = perturb_texts([female for _, female in pairs], perturbation("gender_words"))
    right = [new == female for new, (_, female) in zip(swapped, pairs, strict=True)]
    right += [new == male for new, (male, _) in zip(back, pairs, strict=True)]
    assert len(pairs) == 240
    assert sum(right) / len(right) > 0.97
