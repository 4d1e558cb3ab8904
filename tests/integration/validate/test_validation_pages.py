"""The lists of a validation over HTTP: filters, order and pages by address, files with faults, gold in one click."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.validate.console import items as validation_items
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console.items import ItemQuery
from quintain.services.validate.quality import gold_list
from quintain.services.work import quizzes
from tests.beginnings import Build
from tests.people import make_person
from tests.validation_support import REF, judge_all, make_ground, make_judges, truth
from tests.web_support import PASSWORD, browser_of, csrf_of, post

HOME = "/tasks/mood/validation/check"
WORKER = re.compile(rf'<th scope="row"><a href="{HOME}/judges/([a-z0-9]+)">')


def judged(workspace: Workspace, _: Path) -> None:
    """Begin with forty texts judged by 28 people, one of whom says neutral and another the wrong thing; an owner."""
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        make_ground(db, owner, 40, "automatic = false\npage_size = 6\n[gold]\nrate = 0")
        rules = [truth] * 26 + [lambda inputs: "neutral", lambda inputs: "mixed"]
        judge_all(db, make_judges(db, 28), rules)
        redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)


@pytest.fixture
def beginning() -> Build:
    """Made once, and copied for each test."""
    return judged


@pytest.fixture
def web(workspace: Workspace) -> Workspace:
    """The workspace with what was judged."""
    return workspace


def workers(client: TestClient, query: str) -> list[str]:
    """List the judges that a page shows, in its order."""
    return WORKER.findall(client.get(f"{HOME}/judges{query}").text)


def send(client: TestClient, part: str, name: str, text: str, **fields: str):
    """Send a file by the form of a page."""
    form = {"csrf": csrf_of(client, f"{HOME}/{part}"), **fields}
    return client.post(f"{HOME}/{part}", data=form, files={"file": (name, text.encode())})


def test_judges_filter_sort_and_page_by_the_address(web: Workspace) -> None:
    """Twenty-five a page; the head of a column says how it is sorted; a wrong address shows something sensible."""
    client = browser_of(web, "olga")
    with web.session() as db:
        judged = len(validation_items.list_items(db, OPERATOR, REF).items)
    assert judged == 25
    everybody = workers(client, "?sort=worker")
    assert everybody == sorted(everybody)
    assert len(everybody) == 25
    page = client.get(f"{HOME}/judges?sort=worker").text
    assert page.count('aria-sort="ascending"') == 1
    assert page.count('aria-sort="none"') == 6
    down = workers(client, "?sort=worker&order=down")
    assert down == sorted(down, reverse=True)
    assert 'aria-sort="descending"' in client.get(f"{HOME}/judges?sort=worker&order=down").text
    rest = workers(client, "?sort=worker&offset=25")
    assert rest
    assert not set(rest) & set(everybody)
    assert workers(client, "?sort=worker&offset=9000") == rest
    assert workers(client, "?q=JUDGE27") == ["judge27"]
    assert workers(client, "?sort=agreement")[0] == "judge27"
    assert "No judge is like that" in client.get(f"{HOME}/judges?q=nobody").text
    assert len(workers(client, "?sort=nothing&order=sideways&show=what")) == 25
    post(client, HOME, f"{HOME}/unqualify", worker="judge27", reason="answers at random")
    assert workers(client, "?show=unqualified") == ["judge27"]
    assert "judge27" not in workers(client, "?show=qualified&sort=worker&order=down")


def test_a_weak_rule_says_so_and_names_a_better_one(web: Workspace) -> None:
    """The paper's rule with four labels lets random clickers through: the preview says it, and what would do."""
    client = browser_of(web, "olga")
    weak = client.get(f"{HOME}/judges?rule=disagreement&limit=80&least=10").text
    assert "lets most random clickers through" in weak
    better = re.search(r"rule=wilson&amp;limit=(\d+)&amp;least=10", weak)
    assert better is not None
    strong = client.get(f"{HOME}/judges?rule=wilson&limit={better[1]}&least=10").text
    assert "lets most random clickers through" not in strong


def test_items_filter_by_state_label_and_text(web: Workspace) -> None:
    """Every item is listed once; votes and label are beside it; a text finds it whatever its case or script."""
    client = browser_of(web, "olga")
    with web.session() as db:
        validate.add_items(db, OPERATOR, REF, [{"inputs": {"text": "Überaus grün ist das"}}])
        listed = validation_items.list_items(db, OPERATOR, REF, ItemQuery(limit=100))
        assert listed.total == len({item.id for item in listed.items}) == 41
        assert sum(listed.counts[state] for state in ("labelled", "undecided", "waiting")) == 41
        down = validation_items.list_items(db, OPERATOR, REF, ItemQuery(order="share", down=True, limit=100)).items
        shares = [item.share for item in down if item.share is not None]
        assert shares == sorted(shares, reverse=True)
        assert down[-1].share is None
    assert "überaus" in client.get(f"{HOME}/items?q=überaus").text.lower()
    one = client.get(f"{HOME}/items?q=ITEM+7+feels").text
    assert one.count("item 7 feels") == 1
    assert "1–1 of 1" in one
    only = client.get(f"{HOME}/items?show=labelled&label=negative&sort=share").text
    assert "feels negative" in only
    assert "feels positive" not in only
    assert "No item is like that" in client.get(f"{HOME}/items?label=postive").text
    assert client.get(f"{HOME}/items?show=gone&sort=size&offset=-3").status_code == 200


def test_a_table_of_items_comes_in_by_a_file_and_faults_are_named_by_row(web: Workspace) -> None:
    """Good rows come in once; a bad file brings nothing and says what is wrong where; other names are mapped."""
    client = browser_of(web, "olga")
    good = send(client, "items", "new.csv", "\ufefftext\na new one\nanother one\n")
    assert good.headers["location"] == f"{HOME}/items"
    assert "26–42 of 42" in client.get(f"{HOME}/items?offset=25&sort=item").text
    again = send(client, "items", "new.csv", "text\na new one\n")
    assert again.status_code == 303
    bad = send(client, "items", "bad.csv", "text,more\nfine,x\n,y\n")
    assert bad.status_code == 422
    assert "bad.csv, row 3" in bad.text
    mapped = send(client, "items", "mapped.jsonl", '{"sentence": "mapped"}\n', columns="text = sentence")
    assert mapped.status_code == 303
    wrong = send(client, "items", "other.csv", "sentence\nfine\n")
    assert "there is no column &#39;text&#39;" in wrong.text
    none = post(client, f"{HOME}/items", f"{HOME}/items")
    assert "no file was chosen" in none.text
    strange = send(client, "items", "page.html", "<p>")
    assert strange.status_code == 422
    with web.session() as db:
        assert validation_items.list_items(db, OPERATOR, REF).total == 43


def test_gold_comes_by_file_or_one_click_and_makes_the_quiz(web: Workspace) -> None:
    """A file with faults brings nothing; a finished item is gold at once; five make the quiz that is then asked for."""
    client = browser_of(web, "olga")
    assert "No gold items yet" in client.get(f"{HOME}/gold").text
    bad = send(client, "gold", "gold.csv", "text,label\nso good,positive\nso bad,sad\n")
    assert bad.status_code == 422
    assert "gold.csv, row 3, field &#39;label&#39;: label &#39;sad&#39; is not one of" in bad.text
    rows = "".join(f"gold {number},positive,because\n" for number in range(5))
    assert send(client, "gold", "gold.csv", f"text,label,note\n{rows}").status_code == 303
    assert post(client, f"{HOME}/gold", f"{HOME}/gold/from-item", item="1").status_code == 303
    page = client.get(f"{HOME}/gold?sort=text&order=down").text
    assert page.count(f'action="{HOME}/gold/retire"') == 6
    assert page.index("item 0 feels") < page.index("gold 4") < page.index("gold 0")
    twice = post(client, f"{HOME}/gold", f"{HOME}/gold/from-item", item="1")
    assert twice.status_code == 409
    assert "gold item already" in twice.text
    assert '<span class="chip accent">gold</span>' in client.get(f"{HOME}/items?q=item+0+feels").text
    made = post(client, f"{HOME}/gold", f"{HOME}/gold/quiz", instructions="Read *well*.")
    assert made.headers["location"] == f"{HOME}/gold#quiz"
    with web.session() as db:
        assert quizzes.list_quizzes(db, "mood") == ["judge"]
        policy = validate.find_validation(db, REF).policy
        assert policy.quiz is not None
        assert (policy.quiz.questions, policy.quiz.right) == (5, 3)
        assert sum(not one.retired for one in gold_list.list_gold(db, OPERATOR, REF).gold) == 1
    page = client.get(f"{HOME}/gold").text
    assert "answers the quiz “judge” first" in page
    assert post(client, f"{HOME}/gold", f"{HOME}/gold/quiz").status_code == 409


def test_the_open_console_asks_for_little(web: Workspace) -> None:
    """What is asked for every half minute is the panel alone, and it is not asked for once the judging is closed."""
    client = browser_of(web, "olga")
    page = client.get(HOME).text
    assert f'hx-get="{HOME}/live"' in page
    live = client.get(f"{HOME}/live").text
    assert "<html" not in live
    assert live.count('id="live"') == 1
    assert "100" in live
    post(client, HOME, f"{HOME}/state", state="closed")
    assert "hx-get" not in client.get(f"{HOME}/live").text
