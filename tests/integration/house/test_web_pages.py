"""Pages, asked in process: what people see, what they may do, and what they are told when something is wrong."""

from __future__ import annotations

import json
import re

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.errors import Unavailable
from quintain.core.people import OPERATOR, RoleName
from quintain.core.texts import Text
from quintain.services.access import accounts, notify
from quintain.services.access.actors import find_user
from quintain.services.access.links import redeem_link
from quintain.services.data.datasets import get_version
from quintain.store.database import transaction
from quintain.store.tables import Dataset
from quintain.tasks.starter import starter
from quintain.web.app import create_app
from quintain.web.routes import PAGES
from tests.statements import counted
from tests.web_support import PASSWORD, browser_of, csrf_of, post

TASK = "/tasks/sentiment"


@pytest.fixture
def anybody(demo: Workspace) -> TestClient:
    """Somebody who has not signed in."""
    return browser_of(demo)


@pytest.fixture
def owner(demo: Workspace) -> TestClient:
    """The owner of the starter tasks."""
    return browser_of(demo, "demo-owner")


@pytest.fixture
def admin(demo: Workspace) -> TestClient:
    """The admin."""
    return browser_of(demo, "admin")


def test_public_pages_answer_anybody(anybody: TestClient) -> None:
    """What is public can be read without an account."""
    for path in ("/", TASK, f"{TASK}/data", f"{TASK}/data/train", f"{TASK}/models", f"{TASK}/talk", "/search?q=nli"):
        answer = anybody.get(path)
        assert answer.status_code == 200, path
        assert answer.text.count("<h1") == 1, path


def test_pages_for_people_send_the_rest_to_log_in(anybody: TestClient) -> None:
    """A page that needs an account leads to the log-in page, which leads back."""
    answer = anybody.get("/account")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/account")


def test_admin_pages_are_for_admins(owner: TestClient, admin: TestClient) -> None:
    """An owner gets a friendly 403 where an admin gets the page."""
    for path in ("/admin", "/admin/audit", "/admin/health"):
        assert owner.get(path).status_code == 403, path
        assert admin.get(path).status_code == 200, path


def test_the_health_page_asks_for_migrations_once(demo: Workspace, admin: TestClient) -> None:
    """What it says of migrations is read once, beside the check that load balancers ask for, too."""
    with counted(demo) as sent:
        assert admin.get("/admin/health").status_code == 200
    assert sum("FROM alembic_version" in one for one in sent) <= 2, "for its own figures, and a check that is due"


def test_task_settings_are_for_its_owner(demo: Workspace, owner: TestClient) -> None:
    """The sidebar shows settings only to those who may enter, and the page refuses the others."""
    worker = browser_of(demo, "demo-worker")
    assert "/settings" not in worker.get(TASK).text
    assert worker.get(f"{TASK}/settings").status_code == 403
    assert f"{TASK}/settings" in owner.get(TASK).text
    assert owner.get(f"{TASK}/settings").status_code == 200


def test_preview_filters_and_pages(anybody: TestClient) -> None:
    """Filters by text, label and tag narrow the table, and the next page is offered."""
    everything = anybody.get(f"{TASK}/data/train").text
    assert "1–20 of" in everything
    assert 'rel="next"' in everything
    one = anybody.get(f"{TASK}/data/train", params={"text": "lovely terrace", "label": "positive"}).text
    assert "1–1 of 1" in one
    assert "Nothing fits" in anybody.get(f"{TASK}/data/train", params={"text": "no such words here"}).text


def test_hidden_labels_stay_hidden(anybody: TestClient, owner: TestClient) -> None:
    """A hidden version shows no label, no distribution and no input to others than its owner."""
    shown = anybody.get(f"{TASK}/data/test").text
    assert '<th scope="col">Answer</th>' not in shown
    assert "data-spec" not in shown
    assert anybody.get(f"{TASK}/data/test/download?format=jsonl").status_code == 403
    lines = owner.get(f"{TASK}/data/test/download?format=jsonl").text.splitlines()
    assert "text" in json.loads(lines[0])
    by_label = [anybody.get(f"{TASK}/data/test?label={label}").text for label in ("positive", "negative")]
    assert by_label[0].replace("positive", "negative") == by_label[1].replace("positive", "negative")
    assert "data-spec" in owner.get(f"{TASK}/data/test").text


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "parquet"])
def test_downloads_in_every_format(anybody: TestClient, form: str) -> None:
    """Every format comes as a file with its name."""
    answer = anybody.get(f"{TASK}/data/train/download?format={form}")
    assert answer.status_code == 200
    assert f'filename="sentiment-train-v1.{form}"' in answer.headers["content-disposition"]


@pytest.mark.parametrize("form", ["hf", "croissant"])
def test_folders_come_as_a_zip(anybody: TestClient, form: str) -> None:
    """The page links to the folders that other tools read, and sends them packed."""
    assert f"format={form}" in anybody.get(f"{TASK}/data/train").text
    answer = anybody.get(f"{TASK}/data/train/download?format={form}")
    assert answer.status_code == 200
    assert f'filename="sentiment-train-v1-{form}.zip"' in answer.headers["content-disposition"]
    assert answer.content.startswith(b"PK")
    assert (b"README.md" in answer.content) == (form == "hf")


def test_talking_to_two_models(anybody: TestClient) -> None:
    """Two models answer side by side, with a bar for every label."""
    fields = {"in-text": "A warm and funny film.", "model": "tfidf@1", "other": "majority@1"}
    answer = post(anybody, f"{TASK}/talk", f"{TASK}/talk", **fields)
    assert answer.status_code == 200
    assert answer.text.count('class="answer"') == 2
    assert answer.text.count('class="bar"') == 6
    assert 'class="moved"' not in answer.text


def test_talk_shows_which_words_moved_a_model(anybody: TestClient) -> None:
    """Where it is asked for, every model's words are marked by how far they moved it; a constant model is not moved."""
    fields = {"in-text": "A terrible, boring film.", "model": "tfidf@1", "other": "majority@1", "moved": "on"}
    answer = post(anybody, f"{TASK}/talk", f"{TASK}/talk", **fields)
    assert answer.text.count('class="moved"') == 2
    assert re.search(r'class="for-3" title="\+0\.\d+">\w+<', answer.text)
    assert answer.text.count("No single word moved it") == 1


@pytest.mark.parametrize(
    ("task", "model", "fields"),
    [
        ("nli", "pair-overlap@1", {"in-premise": "A dog sleeps.", "in-hypothesis": "An animal sleeps."}),
        ("qa", "span-overlap@1", {"in-passage": "Ada built the mill in 1894.", "in-question": "Who built the mill?"}),
        (
            "choice",
            "option-overlap@1",
            {"in-passage": "Ada built it.", "in-question": "Who built it?", "in-options": "Ada\nBert"},
        ),
    ],
)
def test_talking_in_every_starter_kind(anybody: TestClient, task: str, model: str, fields: dict[str, str]) -> None:
    """The page asks with the controls of the task's kind, and shows what was answered, not its number."""
    answer = post(anybody, f"/tasks/{task}/talk", f"/tasks/{task}/talk", model=model, **fields)
    assert answer.status_code == 200
    assert 'class="answer"' in answer.text
    assert not re.search(r'class="answer">\d+<', answer.text)


def test_nothing_typed_yet_is_no_error(anybody: TestClient) -> None:
    """An empty field is an invitation, not a reproach."""
    answer = post(anybody, f"{TASK}/talk", f"{TASK}/talk", **{"in-text": "", "model": "tfidf@1"})
    assert answer.status_code == 200
    assert "Its answer will stand here." in answer.text


def test_a_dead_model_gives_a_message(anybody: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that does not answer is said to be unavailable, next to the other that does."""

    def dead(*args: object, **kwargs: object) -> None:
        raise Unavailable("Model 'sentiment/tfidf@1' took longer than 10 seconds.", remedy="Send a shorter text.")

    monkeypatch.setattr("quintain.web.pages.models.talk.predict", dead)
    answer = post(anybody, f"{TASK}/talk", f"{TASK}/talk", **{"in-text": "x", "model": "tfidf@1"})
    assert answer.status_code == 503
    assert "took longer than 10 seconds" in answer.text


def test_model_calls_are_limited(demo: Workspace) -> None:
    """Past the limit the answer is 429, with a message in the place of the answer."""
    from dataclasses import replace

    strict = replace(demo, settings=replace(demo.settings, model_calls=0))
    client = TestClient(create_app(strict))
    answer = post(client, f"{TASK}/talk", f"{TASK}/talk", **{"in-text": "x", "model": "tfidf@1"})
    assert answer.status_code == 429
    assert "Wait" in answer.text


def test_import_lists_every_bad_row_and_keeps_nothing(owner: TestClient) -> None:
    """Faults come with their rows; the data set is not there afterwards."""
    rows = b'{"text": "fine", "answer": "positive"}\n{"text": "bad", "answer": "postive"}\n{"answer": "neutral"}\n'
    data = {"csrf": csrf_of(owner, f"{TASK}/data/import"), "name": "broken", "role": "test", "language": "en"}
    answer = owner.post(f"{TASK}/data/import", data=data, files={"file": ("broken.jsonl", rows)})
    assert answer.status_code == 422
    assert "row 2" in answer.text
    assert "row 3" in answer.text
    assert owner.get(f"{TASK}/data/broken").status_code == 404


def test_import_with_columns_and_a_label_map(demo: Workspace, owner: TestClient) -> None:
    """Columns are renamed and values mapped to labels, and the new version is shown."""
    rows = b"sentence,stars\nGood.,5\nBad.,1\n"
    data = {
        "csrf": csrf_of(owner, f"{TASK}/data/import"),
        "name": "mapped",
        "role": "dev",
        "language": "en",
        "column-text": "sentence",
        "column-answer": "stars",
        "labels": "5 = positive\n1 = negative",
    }
    answer = owner.post(f"{TASK}/data/import", data=data, files={"file": ("mapped.csv", rows)})
    assert answer.status_code == 303, answer.text
    assert "Good." in owner.get(answer.headers["location"]).text
    with demo.session() as db, transaction(db):
        assert db.query(Dataset).filter_by(name="mapped").count() == 1


def test_a_part_of_a_file_is_imported(demo: Workspace, owner: TestClient) -> None:
    """Rows and a sample of them are fields of the form; what is wrong with them is said there."""
    rows = b"".join(b'{"text": "Text %d.", "answer": "neutral"}\n' % n for n in range(1, 31))
    data = {"csrf": csrf_of(owner, f"{TASK}/data/import"), "name": "part", "role": "dev", "language": "en"}
    for wrong, said in (({"rows": "9:3"}, "rows from A to B"), ({"sample": "many"}, "is not a whole number")):
        answer = owner.post(f"{TASK}/data/import", data={**data, **wrong}, files={"file": ("a.jsonl", rows)})
        assert answer.status_code == 422
        assert said in answer.text
    wanted = {"rows": "11:20", "sample": "4", "seed": "2"}
    answer = owner.post(f"{TASK}/data/import", data={**data, **wanted}, files={"file": ("a.jsonl", rows)})
    assert answer.status_code == 303, answer.text
    with demo.session() as db:
        found = get_version(db, OPERATOR, "sentiment/part@1")
    assert found.rows == 4
    assert {"rows": "11:20", "sample": 4, "seed": 2}.items() <= found.meta.items()


def test_a_task_is_made_by_a_form(own_demo: Workspace) -> None:
    """Name, title and labels are enough; what is wrong stands beside its field, and what was typed stays."""
    owner, new = browser_of(own_demo, "demo-owner"), "/tasks/new"
    page = owner.get(new).text
    assert 'name="label-name" value="positive"' in page
    assert "file=1" in page
    assert 'name="label-name"' not in owner.get(f"{new}?kind=extractive-qa").text
    fields: dict[str, object] = {
        "as_form": "1",
        "kind": "text-classification",
        "name": "Moods",
        "title": "Moods",
        "instructions": "Say how it *feels*.",
        "label-name": ["glad", "sad", ""],
        "label-gloss": ["feels good", "", ""],
    }
    wrong = post(owner, new, new, **fields)
    assert wrong.status_code == 422
    assert 'id="name-fault"' in wrong.text
    assert 'value="feels good"' in wrong.text
    made = post(owner, new, new, **fields | {"name": "moods"})
    assert made.headers["location"] == "/tasks/moods"
    page = owner.get("/tasks/moods").text
    assert "feels good" in page
    assert "<em>feels</em>" in page
    assert post(browser_of(own_demo, "demo-worker"), "/", new, **fields).status_code == 403


def test_a_task_is_edited_with_its_faults_shown(own_demo: Workspace) -> None:
    """A typo is named with its line and changes nothing; a good edit is kept in the history."""
    owner = browser_of(own_demo, "demo-owner")
    text = starter("text-classification", "mine")
    assert post(owner, "/tasks/new", "/tasks/new", toml=text).headers["location"] == "/tasks/mine"
    again = post(owner, "/tasks/new", "/tasks/new", toml=text + "\n# other\n")
    assert again.status_code == 409
    assert "Give this one another name." in again.text
    broken = post(owner, "/tasks/mine/settings", "/tasks/mine/settings", toml=text.replace("kind", "kynd"))
    assert broken.status_code == 422
    assert "kynd" in broken.text
    good = post(owner, "/tasks/mine/settings", "/tasks/mine/settings", toml=text + "\n# changed\n")
    assert good.status_code == 303
    assert "Version 2" in owner.get("/tasks/mine/settings").text
    other = post(owner, "/tasks/mine/settings", "/tasks/mine/settings", toml=text.replace('"mine"', '"other"'))
    assert other.status_code == 409


def test_the_first_link_opens_the_account(own_demo: Workspace) -> None:
    """A one-time link asks for a password, signs in, and works no second time."""
    with own_demo.session() as db:
        _, link = accounts.invite(db, OPERATOR, "nina", roles=[RoleName.WORKER])
    client = browser_of(own_demo)
    page = f"/link/{link.token}"
    differ = post(client, page, page, password="one two three four", repeat="another thing here")
    assert differ.status_code == 422
    assert post(client, page, page, password=PASSWORD, repeat=PASSWORD).status_code == 303
    assert "nina" in client.get("/account").text
    assert client.get(page).status_code == 404


def test_a_wrong_password_says_so_and_nothing_more(anybody: TestClient) -> None:
    """The answer is the same for a wrong password and for a name that does not exist."""
    texts = []
    for name in ("admin", "nobody-here"):
        answer = post(anybody, "/login", "/login", name=name, password="wrong")
        assert answer.status_code == 401
        texts.append("The name or the password is wrong." in answer.text)
    assert texts == [True, True]


def test_log_in_never_leads_elsewhere(demo: Workspace) -> None:
    """A crafted `next` cannot send a person to another site."""
    for target in ("//evil.example", "https://evil.example", "/\\evil.example"):
        client = browser_of(demo)
        answer = post(client, "/login", "/login", name="admin", password=PASSWORD, next=target)
        assert answer.headers["location"] == "/", target


def test_a_token_is_shown_once(admin: TestClient) -> None:
    """The secret is on the page that made it and on no other."""
    page = post(admin, "/account/tokens", "/account/tokens", name="once", days="30").text
    found = re.search(r"qt_[\w-]{20,}", page)
    assert found
    assert found[0] not in admin.get("/account/tokens").text


def test_notifications_are_counted_and_read(own_demo: Workspace) -> None:
    """The bell shows how many are unread until they are marked as read."""
    with own_demo.session() as db:
        notify.notify(db, find_user(db, "admin").id, "test", Text("Something is done."), "/tasks/sentiment")
    admin = browser_of(own_demo, "admin")
    assert "Notifications: 1 unread" in admin.get("/").text
    assert "Something is done." in admin.get("/notifications").text
    assert post(admin, "/notifications", "/notifications/read").status_code == 303
    assert "Notifications: 0 unread" in admin.get("/").text


def test_an_account_is_exported_and_deleted(own_demo: Workspace) -> None:
    """A person takes their data along, and is gone after typing their name."""
    worker = browser_of(own_demo, "demo-worker")
    assert worker.get("/account/export").content.startswith(b"PK")
    assert post(worker, "/account", "/account/delete", name="something else").status_code == 422
    assert post(worker, "/account", "/account/delete", name="demo-worker").status_code == 303
    again = browser_of(own_demo)
    assert post(again, "/login", "/login", name="demo-worker", password=PASSWORD).status_code == 401


def test_invitations_and_roles(own_demo: Workspace) -> None:
    """An admin invites somebody, gives a role on one task, and takes it back."""
    admin = browser_of(own_demo, "admin")
    page = post(admin, "/admin", "/admin/invite", name="vera", email="", display_name="Vera", roles="worker").text
    link = re.search(r"/link/([\w-]+)", page)
    assert link
    assert post(admin, "/admin", "/admin/people/vera/grant", role="owner", task="nli").status_code == 303
    with own_demo.session() as db:
        redeem_link(db, link[1], PASSWORD)
    vera = browser_of(own_demo, "vera")
    assert vera.get("/tasks/nli/settings").status_code == 200
    assert post(admin, "/admin", "/admin/people/vera/revoke", role="owner", task="nli").status_code == 303
    assert vera.get("/tasks/nli/settings").status_code == 403


def test_an_invited_person_reads_the_language_of_their_browser(own_demo: Workspace) -> None:
    """Opening an invitation in a German browser makes a German account, also seen from an English one."""
    admin = browser_of(own_demo, "admin")
    page = post(admin, "/admin", "/admin/invite", name="hanna", email="", display_name="", roles="worker").text
    link = re.search(r"/link/[\w-]+", page)
    assert link
    browser = browser_of(own_demo)
    browser.headers["accept-language"] = "de-AT"
    assert post(browser, link[0], link[0], password=PASSWORD, repeat=PASSWORD).status_code == 303
    browser.headers["accept-language"] = "en"
    assert '<html lang="de"' in browser.get("/").text


def test_every_form_needs_its_token(demo: Workspace) -> None:
    """No address that changes something takes a form without the CSRF token."""
    admin = browser_of(demo, "admin")
    for page in PAGES:
        if page.method != "GET":
            path = re.sub(r"\{\w+\}", "1", page.path)  # a name and a number
            answer = admin.post(path, data={"csrf": "made up"})
            assert answer.status_code == 403, page.path


def test_every_page_of_a_task_opens(demo: Workspace) -> None:
    """Whoever may see it gets a page, an empty form too, and whoever may not is told so: nothing falls over."""
    paths = [
        page.path for page in PAGES if page.method == "GET" and set(re.findall(r"\{(\w+)\}", page.path)) == {"task"}
    ]
    assert len(paths) > 30
    for who in ("demo-owner", None):
        client = browser_of(demo, who)
        client.follow_redirects = True
        answers = {path: client.get(path.replace("{task}", "sentiment")).status_code for path in paths}
        assert {path: code for path, code in answers.items() if code not in {200, 401, 403, 404}} == {}
        assert sum(code == 200 for code in answers.values()) > 20


def test_pages_run_on_both_databases(workspace: Workspace) -> None:
    """An empty workspace shows its empty states, on SQLite and on PostgreSQL."""
    client = TestClient(create_app(workspace))
    assert "No tasks yet" in client.get("/").text
    assert client.get("/readyz").json()["status"] == "ok"
    assert client.get("/healthz").json() == {"status": "ok"}
