"""The whole path of writing, over HTTP, where the kind of task sets rules of its own: semantic roles, free text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.collect.rounds.export import attempts_table
from quintain.services.collect.rounds.manage import open_round, put_round
from quintain.services.collect.rounds.prompts import import_prompts
from quintain.services.models.registry import register_version
from quintain.services.tasks.definitions import put_task
from quintain.services.validate.console import manage
from quintain.services.validate.judging import claim_page
from quintain.store.blobs import Blobs
from tests.collecting import agree
from tests.evaluation import CARD
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, post

PROMPT = {
    "sentence": "The baker sold us two loaves while the rain fell .",
    "predicate": "sold",
    "question": "who sold something ?",
}
PASSAGE = {"passage": "The Rams scored twice, the Bears once, the Lions never."}
WORDS = {"tokens": ["He", "ate", "pizza", "with", "friends", "."], "preposition": 3}


def first_word(version: object, blobs: object, batch: list[dict[str, str]]) -> list[object]:
    """Be a model that answers with the first two words, or shouts the source back."""
    return [_say(one) for one in batch]


def _say(one: dict[str, str]) -> object:
    if "tokens" in one:
        return 0
    if "passage" in one:
        return ["Rams"]
    return " ".join(one["sentence"].split()[:2]) if "sentence" in one else one["source"].upper()


@pytest.fixture
def client(workspace: Workspace, db: Session, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A worker at a browser, facing the model above."""
    monkeypatch.setattr(Workspace, "runners", {"handler": first_word})
    make_person(db, "wanda", RoleName.WORKER)
    redeem_link(db, make_link(db, OPERATOR, "wanda").token, PASSWORD)
    with browser_of(workspace, "wanda") as made:
        yield made


def add_round(
    db: Session, blobs: Blobs, owner: Actor, folder: Path, kind: str, *, prompt: bool, tables: str = ""
) -> str:
    """Open a round of a task of one kind, and give its address."""
    put_task(db, owner, f'name = "words"\nkind = "{kind}"\ntitle = "Words"')
    place = folder / "model"
    place.mkdir()
    (place / "handler.py").write_text("# run by the test\n")
    register_version(db, blobs, owner, "words", "m", adapter="handler", folder=place, card=CARD)
    condition = f'[[conditions]]\nname = "only"\nprompt = {json.dumps(prompt)}\n'
    info = put_round(db, owner, f'task = "words"\ntitle = "W"\n[targets]\nmodels = ["words/m"]\n{condition}{tables}')
    if prompt:
        file = folder / "prompts.jsonl"
        file.write_text(json.dumps({"qa-srl": PROMPT, "discrete-qa": PASSAGE}.get(kind, WORDS)) + "\n")
        import_prompts(db, owner, info.ref, file)
    open_round(db, owner, info.ref)
    return f"/tasks/words/rounds/{info.number}"


def begin(client: TestClient, place: str) -> str:
    """Begin a session and give its address."""
    return str(post(client, f"{place}/write", f"{place}/write").headers["location"])


def send(client: TestClient, address: str, **fields: str):
    """Submit an attempt."""
    token = re.search(r'name="token" value="([^"]+)"', client.get(address).text)
    assert token
    data = {key.replace("in_", "in-"): value for key, value in fields.items()}
    return post(client, address, f"{address}/try", token=token[1], **data)


def test_only_the_sentence_of_semantic_roles_may_change(
    db: Session, blobs: Blobs, owner: Actor, client: TestClient, tmp_path: Path
) -> None:
    """Predicate and question stand; the answer stays in the sentence; every breach is said and costs nothing."""
    place = add_round(db, blobs, owner, tmp_path, "qa-srl", prompt=True)
    address = begin(client, place)
    page = client.get(address).text
    assert 'name="in-sentence"' in page
    assert 'data-diff-of="in-sentence"' in page
    assert 'name="in-question"' not in page
    assert 'name="in-predicate"' not in page
    assert PROMPT["question"] in page
    changed = "Yesterday the baker sold us two loaves while the rain fell ."
    for fields, message in (
        ({"in_sentence": PROMPT["sentence"], "answer": "The baker"}, "this is the prompt, unchanged"),
        ({"in_sentence": changed, "answer": "the cook"}, "is not in &#39;sentence&#39;"),
        ({"in_sentence": changed.replace("sold", "gave"), "answer": "the baker"}, "&#39;sold&#39; is not in"),
        (
            {"in_sentence": changed, "in_question": "who ate ?", "answer": "the baker"},
            "Question: is given in this round and cannot be changed",
        ),
        (
            {"in_sentence": changed, "in_predicate": "fell", "answer": "the baker"},
            "Predicate: is given in this round and cannot be changed",
        ),
        ({"in_sentence": changed, "answer": "the"}, "stands 2 times in &#39;sentence&#39;"),
        ({"in_sentence": changed, "answer": ""}, "say first which answer is right"),
    ):
        refused = send(client, address, **fields)
        assert refused.status_code == 422, message
        assert message in refused.text
        assert "It cost you no attempt." in refused.text
    sent = send(client, address, in_sentence=changed, answer="The baker")
    assert sent.status_code == 303, sent.text
    assert "1 of 10 tries used." in client.get(address).text
    db.rollback()
    row = attempts_table(db, owner, "words/1").row(0, named=True)
    assert (row["sentence"], row["predicate"], row["question"]) == (changed, PROMPT["predicate"], PROMPT["question"])
    # Capitals aside, as the kind allows; stored as it stands in the sentence.
    assert json.loads(row["target"]) == {"text": "the baker", "start": 10}
    assert (row["edit_distance"], row["fooled"], row["confirmed"]) == (11, False, None)
    agree(db, row["attempt"])
    assert attempts_table(db, owner, "words/1")["fooled"].to_list() == [True]


@pytest.mark.parametrize("wrong", [True, False])
def test_the_writer_of_free_text_has_the_last_word(
    db: Session, blobs: Blobs, owner: Actor, client: TestClient, tmp_path: Path, wrong: bool
) -> None:
    """The model answers, the page asks whether it was wrong, and what the writer says is what counts."""
    place = add_round(db, blobs, owner, tmp_path, "free-text", prompt=False)
    address = begin(client, place)
    assert send(client, address, in_source="Is anybody there?").status_code == 303
    page = client.get(address).text
    assert "The model has answered" in page
    assert "IS ANYBODY THERE?" in page
    assert "Was the model wrong? You decide." in page
    assert "data-write" not in page
    attempt = re.search(r'name="attempt" value="(\d+)"', page)
    assert attempt
    post(client, address, f"{address}/decide", attempt=attempt[1], yes="1" if wrong else "0")
    after = client.get(address).text
    assert ("Would other people agree that the model was wrong?" in after) is wrong
    if wrong:
        post(client, address, f"{address}/confirm", attempt=attempt[1], yes="1")
        assert "Done: thank you!" in client.get(address).text
    else:
        assert "Not this time" in after
        assert "data-write" in after
    db.rollback()
    row = attempts_table(db, owner, "words/1").row(0, named=True)
    assert (row["fooled"], row["confirmed"], row["target"]) == (wrong, True if wrong else None, None)


def test_words_of_a_sentence_are_shown_as_words(
    db: Session, blobs: Blobs, owner: Actor, client: TestClient, tmp_path: Path
) -> None:
    """A position is typed as a word, in a line of its own without differences, and read back as a word everywhere."""
    helps = "[helps]\nocclusion = true\n"
    address = begin(client, add_round(db, blobs, owner, tmp_path, "attachment", prompt=True, tables=helps))
    page = client.get(address).text
    assert "up to 10 tries" in page
    assert '<input id="in-preposition" name="in-preposition" type="text" value="with"' in page
    assert 'data-diff-of="in-tokens"' in page
    assert 'data-diff-of="in-preposition"' not in page
    tried = {"in_tokens": "He ate pizza with anchovies .", "in_preposition": "with", "answer": "pizza"}
    assert send(client, address, **tried).status_code == 303
    page = client.get(address).text
    assert "He ate pizza with anchovies . · with" in page
    assert '<p class="passage" dir="auto" lang="en">with</p>' in page
    moved = re.search(r'hx-get="([^"]+/moved/\d+)"', page)
    assert moved
    assert "No single word moved it" in client.get(moved[1]).text


def test_several_spans_are_typed_and_judged(
    db: Session, blobs: Blobs, owner: Actor, client: TestClient, tmp_path: Path
) -> None:
    """One span to a line is one answer; half of it fools no model, and judges see all of it."""
    address = begin(client, add_round(db, blobs, owner, tmp_path, "discrete-qa", prompt=True))
    page = client.get(address).text
    assert PASSAGE["passage"] in page
    assert "one span to a line" in page
    assert 'name="in-passage"' not in page
    assert send(client, address, in_question="Who scored?", answer="Rams\nBears").status_code == 303
    assert send(client, address, in_question="Who never scored?", answer="Lions").status_code == 303
    db.rollback()
    table = attempts_table(db, owner, "words/1")
    assert [json.loads(target) for target in table["target"]] == [["Rams", "Bears"], ["Lions"]]
    agree(db, table["attempt"][1])
    assert attempts_table(db, owner, "words/1")["fooled"].to_list() == [False, True]
    manage.open_validation(db, owner, "words/1", "judgements = 1\nminimum = 1\n[gold]\nrate = 0")
    sheet = claim_page.claim_page(db, make_person(db, "julia", RoleName.WORKER), "words/1")
    assert sheet is not None
    assert ["Lions"] in [item.answer for item in sheet.items]
