"""The pages of an import: the file is looked at, menus match its columns and labels, and nothing is typed twice."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.data.content import scan
from quintain.services.data.datasets import list_versions
from quintain.services.tasks.board_settings import let_score
from tests.web_support import browser_of, csrf_of, on_one_line

IMPORT = "/tasks/sentiment/data/import"
WORDS = [
    *("soup", "waiter", "table", "river", "garden", "music", "train", "window"),
    *("paper", "coffee", "market", "winter", "story", "candle", "bridge"),
]


def reviews(rows: int = 60, *, stars: bool = True) -> bytes:
    """Write a CSV of reviews that are not like each other, with stars or with words for what they say."""
    lines = ["Id,Review,Stars,City"]
    for n in range(rows):
        text = " ".join(WORDS[(n * step + step) % len(WORDS)] + str(n * step % 97) for step in (1, 2, 3, 5, 7, 11))
        lines.append(f"{n},About {text} there,{n % 5 + 1 if stars else ('bad', 'good')[n % 2]},{'ab'[n % 2]}")
    return ("\n".join(lines) + "\n").encode()


def hidden(page: str, name: str) -> str:
    """Return the value of a hidden field."""
    match = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert match, name
    return match[1]


def look(owner: TestClient, address: str, content: bytes, called: str = "My reviews.csv", **fields: str):
    """Send a file to be looked at."""
    data = {"csrf": csrf_of(owner, address), "step": "look", **fields}
    return owner.post(address, data=data, files={"file": (called, content)})


@pytest.fixture
def owner(own_demo: Workspace) -> TestClient:
    """The owner of the starter tasks."""
    return browser_of(own_demo, "demo-owner")


def test_a_file_is_shown_before_it_is_imported(own_demo: Workspace, owner: TestClient) -> None:
    """Columns, what they hold, first rows; columns and stars are guessed; nothing is in the workspace yet."""
    with own_demo.session() as db:
        before = len(list_versions(db, OPERATOR, "sentiment"))
    answer = look(owner, IMPORT, reviews())
    page = on_one_line(answer)
    assert answer.status_code == 200, page
    assert "About soup" in page or "About waiter" in page
    assert '<option value="Review" selected>' in page
    assert '<option value="Stars" selected>' in page
    assert page.count('<option value="positive" selected>') == 2
    assert page.count('<option value="negative" selected>') == 2
    assert 'value="my-reviews"' in page
    assert "60 of 60 rows" in page
    with own_demo.session() as db:
        assert len(list_versions(db, OPERATOR, "sentiment")) == before


def test_what_the_file_is_written_in_is_found_out_and_may_be_chosen(owner: TestClient) -> None:
    """A semicolon file in GB18030 shows its letters; another encoding is one choice away, and is shown at once."""
    lines = ["text;label", *(f"这家餐厅第{n}次来，味道很好，服务也热情。;good" for n in range(6))]
    answer = look(owner, IMPORT, "\n".join(lines).encode("gb18030"), "reviews.csv")
    page = on_one_line(answer)
    assert answer.status_code == 200, page
    assert "这家餐厅第0次来" in page
    assert "Read as GB18030." in page
    kept = {name: hidden(answer.text, name) for name in ("csrf", "kept", "kept_name")}
    again = on_one_line(
        owner.post(IMPORT, data={**kept, "step": "check", "encoding": "cp1252", "separator": "semicolon"})
    )
    assert "Read as Windows-1252." in again
    assert "这家餐厅" not in again
    assert '<option value="cp1252" selected>' in again


def test_scoring_is_offered_where_nothing_scores(own_demo: Workspace, owner: TestClient) -> None:
    """A board that ranks waits for its owner's word; one that has nothing to rank by is offered the set."""
    ticked = '<input type="checkbox" name="score" aria-describedby="score-hint" checked>'
    assert ticked not in on_one_line(look(owner, IMPORT, reviews()))
    with own_demo.session() as db:
        for version in list_versions(db, OPERATOR, "sentiment"):
            if version.scores:
                let_score(db, OPERATOR, version.ref, scores=False)
    assert ticked in on_one_line(look(owner, IMPORT, reviews()))


def test_what_was_chosen_is_imported_without_sending_the_file_again(own_demo: Workspace, owner: TestClient) -> None:
    """Rows of a value may be left out; the file is the one that was kept."""
    page = look(owner, IMPORT, reviews()).text
    data = {
        "csrf": csrf_of(owner, IMPORT),
        "kept": hidden(page, "kept"),
        "kept_name": hidden(page, "kept_name"),
        "column-text": "Review",
        "column-answer": "Stars",
        "value": ["1", "2", "3", "4", "5"],
        "label": ["negative", "negative", "-", "positive", "positive"],
        "name": "starred",
        "language": "en",
        "role": "dev",
    }
    answer = owner.post(IMPORT, data=data)
    assert answer.status_code == 303, answer.text
    with own_demo.session() as db:
        counts = (
            scan(db, own_demo.blobs, OPERATOR, "sentiment/starred", answers=True).collect()["answer"].value_counts()
        )
    assert dict(counts.iter_rows()) == {"negative": 24, "positive": 24}


def test_bad_rows_are_listed_and_everything_chosen_stays(owner: TestClient) -> None:
    """A row without a text and a value without a label are named; menus and fields keep what they had."""
    content = reviews(30, stars=False) + b"31,,good,a\n"
    page = look(owner, IMPORT, content)
    assert "leave these rows out" in page.text
    data = {
        "csrf": csrf_of(owner, IMPORT),
        "kept": hidden(page.text, "kept"),
        "kept_name": hidden(page.text, "kept_name"),
        "column-text": "Review",
        "column-answer": "Stars",
        "value": ["good", "bad"],
        "label": ["positive", "negative"],
        "name": "worded",
        "language": "en",
        "role": "test",
        "description": "What I heard.",
    }
    checked = owner.post(IMPORT, data={**data, "step": "check"})
    assert checked.status_code == 200
    assert "Row 32" in checked.text
    assert 'value="What I heard."' in checked.text
    refused = owner.post(IMPORT, data=data)
    assert refused.status_code == 422
    assert 'value="What I heard."' in refused.text
    assert '<option value="positive" selected>' in refused.text
    taken = owner.post(IMPORT, data={**data, "skip_bad": "on"})
    assert taken.status_code == 303, taken.text


def test_a_kept_file_is_found_by_its_name_alone(owner: TestClient) -> None:
    """Neither a path nor a guess leads to a file of this machine, and one that was thrown away is asked for again."""
    for kept in ("../../quintain.db", "0" * 32 + ".data", "/etc/passwd"):
        data = {"csrf": csrf_of(owner, IMPORT), "step": "check", "kept": kept, "kept_name": "a.csv"}
        answer = owner.post(IMPORT, data=data)
        assert answer.status_code == 422
        assert "Choose it again" in answer.text


def test_one_file_becomes_three_sets(own_demo: Workspace, owner: TestClient) -> None:
    """Divided, texts that are nearly alike stay on one side, and only the test set hides its labels."""
    twins = b"".join(b'900,"A very fine evening with friends and wine, number %d.",5,a\n' % n for n in range(6))
    page = look(owner, IMPORT, reviews(100) + twins).text
    data = {
        "csrf": csrf_of(owner, IMPORT),
        "kept": hidden(page, "kept"),
        "kept_name": hidden(page, "kept_name"),
        "column-text": "Review",
        "column-answer": "Stars",
        "value": ["1", "2", "3", "4", "5"],
        "label": ["negative", "negative", "neutral", "positive", "positive"],
        "name": "starred",
        "language": "en",
        "role": "parts",
        "hidden": "on",
        "score": "on",
    }
    answer = owner.post(IMPORT, data=data)
    assert answer.status_code == 303, answer.text
    with own_demo.session() as db:
        versions = {
            version.dataset: version
            for version in list_versions(db, OPERATOR, "sentiment")
            if version.dataset.startswith("starred-")
        }
        assert {name: version.hidden for name, version in versions.items()} == {
            "starred-train": False,
            "starred-dev": False,
            "starred-test": True,
        }
        assert sum(version.rows for version in versions.values()) == 106
        assert versions["starred-train"].rows in range(38, 48)  # half of so few scores models, and a tenth chooses
        assert [name for name, version in versions.items() if version.scores] == ["starred-test"]
        texts = {
            name: scan(db, own_demo.blobs, OPERATOR, version.ref, answers=False).collect()["text"]
            for name, version in versions.items()
        }
    sides = [name for name, column in texts.items() if column.str.contains("fine evening").any()]
    assert len(sides) == 1


def test_a_task_is_made_from_a_file(own_demo: Workspace, owner: TestClient) -> None:
    """Kind, columns and labels are proposed; one more click makes the task with its three data sets."""
    address = "/tasks/new/file"
    assert address in owner.get("/tasks/new").text
    page = look(owner, address, reviews(80), "Hotel reviews.csv")
    shown = on_one_line(page)
    assert page.status_code == 200, shown
    assert 'value="hotel-reviews"' in shown
    assert '<option value="text-classification" selected>' in shown
    assert '<option value="Review" selected>' in shown
    data = {
        "csrf": csrf_of(owner, address),
        "kept": hidden(page.text, "kept"),
        "kept_name": hidden(page.text, "kept_name"),
        "kind": "text-classification",
        "name": "hotels",
        "title": "Hotels",
        "language": "en",
        "column-text": "Review",
        "column-answer": "Stars",
        "value": ["1", "2", "3", "4", "5"],
        "label": ["bad", "bad", "", "good", "good"],
    }
    answer = owner.post(address, data=data)
    assert answer.headers.get("location") == "/tasks/hotels", answer.text
    with own_demo.session() as db:
        versions = {version.dataset: version.rows for version in list_versions(db, OPERATOR, "hotels")}
    assert versions.keys() == {"hotel-reviews-train", "hotel-reviews-dev", "hotel-reviews-test"}
    assert sum(versions.values()) == 64
    assert "bad" in owner.get("/tasks/hotels").text


def test_no_task_is_made_where_a_row_is_wrong(owner: TestClient) -> None:
    """The row is named, and what was typed stays."""
    address = "/tasks/new/file"
    page = look(owner, address, reviews(40) + b"41,,5,a\n", "hotels.csv").text
    data = {
        "csrf": csrf_of(owner, address),
        "kept": hidden(page, "kept"),
        "kept_name": hidden(page, "kept_name"),
        "kind": "text-classification",
        "name": "hotels",
        "title": "My hotels",
        "language": "en",
        "column-text": "Review",
        "column-answer": "Stars",
        "value": ["1", "2", "3", "4", "5"],
        "label": ["bad", "bad", "bad", "good", "good"],
    }
    answer = owner.post(address, data=data)
    assert answer.status_code == 422
    assert "row 42" in answer.text.lower()
    assert 'value="My hotels"' in answer.text
    assert owner.get("/tasks/hotels").status_code == 404


def test_only_owners_look_at_files(own_demo: Workspace) -> None:
    """Who may not import is told so before a file is read."""
    worker = browser_of(own_demo, "demo-worker")
    data = {"csrf": csrf_of(worker, "/account"), "step": "look"}
    for address in (IMPORT, "/tasks/new/file"):
        answer = worker.post(address, data=data, files={"file": ("a.csv", b"text,answer\nGood.,positive\n")})
        assert answer.status_code == 403


def test_a_file_of_a_german_spreadsheet_becomes_a_task(own_demo: Workspace, owner: TestClient) -> None:
    """Semicolons and Windows' letters are seen, its language is proposed, and spellings of one label become one."""
    rows = [f"{n};Ich möchte Größe {WORDS[n % 15]}{n} für {n} Euro und nicht die andere;Tausch" for n in range(40)]
    rows += [
        f"{n};Das Lob für {WORDS[n % 15]}{n} ist schön und sehr verdient gewesen;{'Lob' if n else 'lob'}"
        for n in range(40)
    ]
    content = "\n".join(["Nr;Nachricht;Art", *rows]).encode("cp1252")
    address = "/tasks/new/file"
    answer = look(owner, address, content, "Anfragen.csv")
    page = on_one_line(answer)
    assert "Ich möchte Größe soup0" in page
    assert "Read as Windows-1252." in page
    assert 'name="language" type="text" value="de"' in page
    assert "80 of 80 rows" in page
    assert page.count('name="label" value="Lob"') == 2
    data = {
        "csrf": csrf_of(owner, address),
        **{name: hidden(answer.text, name) for name in ("kept", "kept_name")},
        "column-text": "Nachricht",
        "column-answer": "Art",
        "kind": "text-classification",
        "name": "anfragen",
        "title": "Anfragen",
        "language": "de",
        "value": ["Tausch", "Lob", "lob"],
        "label": ["Tausch", "Lob", "Lob"],
    }
    assert owner.post(address, data=data).status_code == 303
    with own_demo.session() as db:
        versions = list_versions(db, OPERATOR, "anfragen")
        assert {version.dataset: version.rows for version in versions}["anfragen-test"] in range(36, 45)
        texts = scan(db, own_demo.blobs, OPERATOR, versions[0].ref, answers=False).collect()["text"]
    assert texts.str.contains("möchte Größe|schön").all()


def test_a_spreadsheet_says_how_it_becomes_a_file(owner: TestClient) -> None:
    """What spreadsheet programs keep for themselves is refused with what to do, not with a list of formats."""
    answer = look(owner, "/tasks/new/file", b"PK", "Anfragen.xlsx")
    assert answer.status_code == 422
    assert "as CSV" in on_one_line(answer)
