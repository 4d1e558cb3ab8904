"""The pages of rounds over HTTP: what owners make, watch and pay, and how people come from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sqlalchemy import update

from quintain.core.people import OPERATOR
from quintain.core.rounds import RoundSpec
from quintain.services.collect.rounds.definition import parse_round
from quintain.services.collect.rounds.manage import get_round
from quintain.services.collect.rounds.prompts import import_prompts, prompt_counts
from quintain.store.database import transaction
from quintain.store.tables import Prompt
from quintain.web.pages.collect import round as round_pages
from quintain.web.pages.collect.round_form import FORM, values_of
from quintain.web.pages.collect.rule_form import NAMES as RULE_NAMES
from tests.web_support import browser_of, csrf_of, on_one_line, post
from tests.write_site import Site, begin, ref_of, send
from tests.writing_rounds import add_round


def test_an_owner_makes_opens_and_clones_a_round(site: Site) -> None:
    """Form and file say what is wrong and keep what was typed; a draft is opened, closed and cloned."""
    client = site.owner
    new = "/tasks/sentiment/rounds/new"
    fields: dict[str, object] = {
        "title": "By form",
        "writing": "blank",
        "aiming": "assign",
        "attempts": "five",
        "minutes": "2",
        "mode": "one",
        "models": ["sentiment/ngram@1"],
        "fooled": "task",
        "threshold": "0.4",
        "reward": "0.305",
        "currency": "usd",
        "confirm": "on",
    }
    wrong = post(client, new, new, **fields)
    assert wrong.status_code == 422
    assert "&#39;five&#39; is not a whole number" in wrong.text
    assert "&#39;0.305&#39; is not an amount of money" in wrong.text
    assert "field &#39;Attempts in a session&#39;" in wrong.text  # as the form calls it, not as the file does
    assert 'value="By form"' in wrong.text
    assert re.search(r'id="attempts-fault">&#39;five&#39; is not a whole number<', wrong.text)
    assert 'id="who" open' not in wrong.text
    rules = {"rule_account_age": "young", "entry_provider": "panel", "entry_completion_url": "ftp://x"}
    beside = post(client, new, new, **fields | {"attempts": "5", "reward": "0.30"} | rules)
    assert 'id="rule_account_age-fault"' in beside.text
    assert re.search(r'<details class="panel" id="who" open>', beside.text)
    right = post(client, new, new, **fields | {"attempts": "5", "reward": "0.30"})
    place = str(right.headers["location"])
    assert place.startswith("/tasks/sentiment/rounds/")
    assert "9.00 USD" in client.get(place).text
    rare = {"rule_account_age": "3", "rule_country": "DE, AT", "scripts": ["Latin"], "flags": ["personal"]}
    pilot = {"writing": "own", "condition-name": ["a", "b", ""], "condition-prompt": ["prompt", "blank", "prompt"]}
    saved = fields | {"attempts": "5", "reward": "0.30"} | rare | pilot | {"condition-weight": ["3", "1", "1"]}
    assert post(client, f"{place}/edit", f"{place}/edit", **saved).status_code == 303
    file = client.get(f"{place}/file")
    assert file.headers["content-disposition"].endswith('.toml"')
    spec = parse_round(file.text)
    assert [(one.name, one.prompt, one.weight) for one in spec.conditions] == [("a", True, 3), ("b", False, 1)]
    assert (len(spec.qualifications), spec.scripts, spec.flags) == (2, ("Latin",), ("personal",))
    again = client.get(f"{place}/edit").text
    assert 'value="DE, AT"' in again
    assert site.client.get(f"{place}/file").status_code == 403
    assert (
        post(client, f"{place}/edit", f"{place}/edit", **fields | {"attempts": "5", "reward": "0.30"}).status_code
        == 303
    )
    wrong_file = {"as_file": "1", "toml": 'task = "sentiment"\nnumbr = 1'}
    faulty = post(client, f"{place}/edit?file=1", f"{place}/edit", **wrong_file)
    assert faulty.status_code == 422
    assert "did you mean" in faulty.text
    assert "numbr = 1" in faulty.text
    post(client, place, f"{place}/open")
    assert "open" in client.get(place).text
    post(client, place, f"{place}/close")
    copy = post(client, place, f"{place}/clone").headers["location"].removesuffix("/edit")
    assert copy != place
    assert site.client.get(new).status_code == 403
    assert site.client.get(copy).status_code == 404
    assert post(site.client, "/account", f"{place}/clone").status_code == 403


def test_the_form_has_a_control_for_every_option(site: Site) -> None:
    """Wherever the page places it, or does not; quizzes are ticked where the task has some."""
    page = site.owner.get("/tasks/sentiment/rounds/new").text
    names = [*FORM.fields, *RULE_NAMES]
    assert [name for name in names if page.count(f'name="{name}"') == 0] in ([], ["quizzes"])
    assert [name for name in names if page.count(f'id="{name}"') > 1] == []


def test_a_new_round_is_aimed_at_the_newest_model_while_none_leads(site: Site) -> None:
    """Nothing has been run: the model that came last is ticked, and only that."""
    page = site.owner.get("/tasks/sentiment/rounds/new").text
    assert re.findall(r'value="(sentiment/[^"]+)"[^>]* checked', page) == ["sentiment/ngram@1"]


def test_three_fields_open_a_round(site: Site) -> None:
    """Title, model and prompts are enough; what is folded away holds its defaults; a fault leaves nothing behind."""
    new = "/tasks/sentiment/rounds/new"
    page = site.owner.get(new).text
    assert '<details class="more" id="more">' in page
    assert "10 tries a session" in page
    assert "train (390 texts)" in page
    assert "sentiment/test@1" not in page  # whoever edits a text of a test set would know it
    fields = {
        name: value
        for name, value in values_of(RoundSpec("sentiment", "Three fields")).items()
        if isinstance(value, str) and value
    }
    fields |= {"title": "Three fields", "models": "sentiment/ngram@1", "mode": "one", "writing": "chosen"}
    before = site.owner.get("/tasks/sentiment/rounds").text.count("<tr>")
    refused = post(site.owner, new, new, **fields, prompts="sentiment/test@1", open="1")
    assert refused.status_code == 422
    assert "is not a data set to take prompts from" in refused.text
    assert site.owner.get("/tasks/sentiment/rounds").text.count("<tr>") == before
    made = post(site.owner, new, new, **fields, prompts="sentiment/dev@1", open="1")
    assert made.status_code == 303, made.text
    with site.workspace.session() as db:
        info = get_round(db, OPERATOR, ref_of(str(made.headers["location"])))
        assert info.state == "open"
        assert prompt_counts(db, OPERATOR, info.ref)["prompts"] > 50
        assert [one.prompt for one in info.spec.conditions] == [True]
    blank = post(site.owner, new, new, **fields, prompts="")
    with site.workspace.session() as db:
        info = get_round(db, OPERATOR, ref_of(str(blank.headers["location"])))
    assert info.state == "draft"
    assert [one.prompt for one in info.spec.conditions] == [False]


def test_flags_are_listed_page_by_page(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many flags the page shows some, says how many there are, and leads to the others."""
    monkeypatch.setattr(round_pages, "SIZE", 1)
    place = site.open()
    client, address = site.client, begin(site.client, place)
    for name in ("ada", "bea"):
        send(client, address, in_text=f"Write to {name}@example.org, it was fine.", answer="neutral", headers=None)
    first = site.owner.get(f"{place}/flags").text
    assert "ada@example.org" in first
    assert "bea@example.org" not in first
    assert "1–1 of 2" in first
    assert "bea@example.org" in site.owner.get(f"{place}/flags?offset=1").text


def test_an_owner_watches_flags_and_pays(site: Site) -> None:
    """Counters and tables fill, a flagged text waits, the export leaves names out, pay is approved."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    send(client, address, in_text="Write to me at ada@example.org, it was fine.", answer="neutral", headers=None)
    post(client, address, f"{address}/give-up")
    owner = site.owner
    console = owner.get(place).text
    assert "1 text waits for you to look at it" in console
    assert "By worker" in console
    assert "ada@example.org" in owner.get(f"{place}/flags").text
    flag = re.search(r'name="flag" value="(\d+)"', owner.get(f"{place}/flags").text)
    assert flag
    assert "demo-worker" not in owner.get(f"{place}/export?form=csv").text
    post(owner, f"{place}/flags", f"{place}/flags", flag=flag[1], decision="withhold")
    assert "ada@example.org" not in owner.get(f"{place}/export").text
    earning = re.search(r'name="earning" value="(\d+)"', owner.get(f"{place}/pay").text)
    assert earning
    refused = post(owner, f"{place}/pay", f"{place}/pay", earning=earning[1], decision="decline")
    assert "say why" in refused.text
    post(owner, f"{place}/pay", f"{place}/pay", earning=earning[1], decision="approve")
    assert "approved" in client.get("/work/earnings").text


def test_somebody_comes_from_prolific_and_goes_back(site: Site) -> None:
    """The entry address makes a nameless account; after the work there is a code and the way back."""
    tables = '\n[entry]\nprovider = "prolific"\ncompletion_code = "C0FFEE"\n'
    info = add_round(site.workspace, site.folder, "sentiment", tables=tables)
    place = f"/tasks/sentiment/rounds/{info.number}"
    door = f"/enter/{info.entry_key}?PROLIFIC_PID=5f0e8c1a2b3c4d5e6f70abc1&STUDY_ID=s1&SESSION_ID=x9"
    with browser_of(site.workspace) as client:
        assert client.get(f"/enter/{info.entry_key}").status_code == 422
        assert client.get("/enter/nowhere?PROLIFIC_PID=abc").status_code == 404
        assert client.get(door).headers["location"] == f"{place}/write"
        address = begin(client, place)
        assert "5f0e8c1a2b3c4d5e6f70abc1" not in client.get(address).text
        send(client, address, in_text="The lake lay still this morning.", answer="neutral", headers=None)
        post(client, address, f"{address}/give-up")
        assert "C0FFEE" in client.get(address).text
        done = client.get(f"{place}/complete").text
        assert "https://app.prolific.com/submissions/complete?cc=C0FFEE" in done
    assert "Go on as a participant" in site.owner.get(door).text
    assert "5f0e8c1a2b3c4d5e6f70abc1" not in site.owner.get(f"{place}/export").text


def test_a_framed_entry_opens_a_window_and_posts_back(site: Site) -> None:
    """An ExternalQuestion is shown in a frame: it may be framed by the panel, and the code is posted to it."""
    info = add_round(site.workspace, site.folder, "sentiment", tables='\n[entry]\nprovider = "mturk"\n')
    place = f"/tasks/sentiment/rounds/{info.number}"
    ids = "workerId=w1&hitId=h1&assignmentId=a1&turkSubmitTo=https://www.mturk.com"
    with browser_of(site.workspace) as client:
        preview = client.get(f"/enter/{info.entry_key}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
        assert "This is a preview." in preview.text
        framed = client.get(f"/enter/{info.entry_key}?{ids}", headers={"sec-fetch-dest": "iframe"})
        assert "frame-ancestors https://www.mturk.com" in framed.headers["content-security-policy"]
        assert 'target="_blank"' in framed.text
        client.get(f"/enter/{info.entry_key}?{ids}")
        address = begin(client, place)
        post(client, address, f"{address}/give-up")
        done = client.get(f"{place}/complete")
    assert "form-action 'self' https://www.mturk.com" in done.headers["content-security-policy"]
    assert 'action="https://www.mturk.com/mturk/externalSubmit"' in done.text
    assert 'name="assignmentId" value="a1"' in done.text


def test_the_reasons_are_shown_to_worker_and_owner(site: Site) -> None:
    """Both read, rule by rule, why somebody may not write; a worker cannot look others up."""
    rules = '\n[[qualifications]]\nrule = "account_age"\ndays = 30\n'
    place = f"{site.open(tables=rules)}/eligibility"
    for page in (site.client.get(place), site.owner.get(f"{place}?name=demo-worker")):
        assert "The account is 0 days old; 30 are needed." in page.text
        assert "Not all rules are met yet." in page.text
    assert site.owner.get(f"{place}?name=nobody-such").status_code == 404
    assert "admin" not in site.client.get(f"{place}?name=admin").text.split("<main")[1].split("</main")[0]


def test_a_round_that_cannot_be_opened_says_so_on_its_page(site: Site) -> None:
    """The reason and what to do stand on the round's page, above the form that does it; no command is advised."""
    info = add_round(site.workspace, site.folder, "sentiment", prompts=False, opened=False)
    place = f"/tasks/sentiment/rounds/{info.number}"
    assert "Writers get a prompt to edit, and there are none yet" in site.owner.get(place).text
    refused = post(site.owner, place, f"{place}/open")
    assert refused.status_code == 409
    assert "it has no prompts" in refused.text
    assert "Add some below" in refused.text
    assert f'action="{place}/prompts"' in refused.text
    assert "quintain round prompts" not in refused.text


def test_an_owner_reads_every_text_of_a_round(site: Site) -> None:
    """What did not fool the model is there as well as what did; others may not look."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    send(client, address, in_text="A wonderful, lovely, brilliant and moving film.", answer="positive", headers=None)
    post(client, address, f"{address}/give-up")
    every = site.owner.get(f"{place}/texts").text
    assert "A wonderful, lovely, brilliant and moving film." in every
    assert "not fooled" in every
    assert "A wonderful" in site.owner.get(f"{place}/texts?show=right").text
    assert "A wonderful" not in site.owner.get(f"{place}/texts?show=fooled").text
    assert f'href="{place}/texts"' in site.owner.get(place).text
    assert client.get(f"{place}/texts").status_code == 403


def test_old_texts_are_on_further_pages(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newest first, and each text on one page only."""
    monkeypatch.setattr(round_pages, "PAGE_ROWS", 2)
    place = site.open()
    texts = ["A fine day at the sea.", "The engine of a ship hums.", "My aunt grows tall roses."]
    address = begin(site.client, place)
    for text in texts:
        send(site.client, address, in_text=text, answer="neutral", headers=None)
        if "data-ended" in site.client.get(address).text:
            address = begin(site.client, place)
    first = site.owner.get(f"{place}/texts").text
    older = re.search(rf'href="({place}/texts\?before=\d+)"', first)
    assert older
    second = site.owner.get(older[1]).text
    assert [text in first for text in texts] == [False, True, True]
    assert [text in second for text in texts] == [True, False, False]


def test_the_page_says_why_prompts_were_left_out(site: Site) -> None:
    """A text that was shown, a review of which another sentence was, and a part of a corpus are told apart."""
    with site.workspace.session() as db:
        earlier = add_round(site.workspace, site.folder, "sentiment")
        rows = [{"text": "The lamp was never lit.", "part": "a"}, {"text": "Nobody rowed out.", "review": "17"}]
        prompts_file(site.folder, rows)
        import_prompts(db, OPERATOR, earlier.ref, site.folder / "prompts.jsonl", corpus="lake")
        with transaction(db):
            db.execute(update(Prompt).where(Prompt.round_id == earlier.id).values(generation=1))
        place = site.open()
    more = [
        {"text": "Nobody rowed out.", "review": "18"},
        {"text": "The oars were dry.", "review": "17"},
        {"text": "A gull watched.", "part": "a"},
        {"text": "The pier was empty."},
    ]
    file = prompts_file(site.folder, more)
    data = {"csrf": csrf_of(site.owner, place), "corpus": "lake"}
    sent = site.owner.post(f"{place}/prompts", data=data, files={"file": (file.name, file.read_bytes())})
    assert sent.status_code == 303, sent.text
    page = on_one_line(site.owner.get(place))
    assert "1 prompts added; 0 were there already, 1 were shown or harvested elsewhere." in page
    assert "1 are from parts of the corpus of which something was shown or harvested." in page
    assert "1 are from reviews of which another sentence was shown or harvested" in page


def prompts_file(folder: Path, rows: list[dict[str, str]]) -> Path:
    """Write rows as a file of prompts."""
    file = folder / "prompts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file
