"""Contrast projects through the API and its client, the commands, and plain pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pytest
from click.testing import Result
from sqlalchemy import select

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.store.tables import ContrastPivot
from tests.contrast_site import contrast_site, png
from tests.contrasting import EDITS, PROJECT
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, on_one_line, post, running, token_for

LABELS = dict(EDITS.values())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Projects over several kinds of tasks."""
    workspace = contrast_site(tmp_path_factory.mktemp("contrast"))
    yield workspace
    workspace.close()


@pytest.fixture(scope="module")
def server(made: Workspace) -> Iterator[str]:
    """Its address."""
    with running(made) as url:
        yield url


@pytest.fixture(scope="module")
def clients(made: Workspace, server: str) -> Iterator[Callable[[str], Client]]:
    """A function that gives a client which acts for somebody."""
    opened: dict[str, Client] = {}

    def client(name: str) -> Client:
        return opened.setdefault(name, Client(server, token_for(made, name)))

    yield client
    for one in opened.values():
        one.close()


def test_a_whole_project_with_the_client(clients: Callable[[str], Client]) -> None:
    """Make, take, write, check, settle, release: every step is one call, and every record is read back."""
    owner, writer, second = clients("olga"), clients("xenia"), clients("yann")
    text = PROJECT.replace('"near"', '"whole"').replace("pivots = 6", "pivots = 2\nextend = true")
    assert owner.put_contrast_project("mood", text).ref == "mood/whole"
    assert "mood/whole" in {one.ref for one in writer.contrast_projects("mood")}
    assert owner.add_phenomenon("mood/whole", "tense") == ["negation", "wording", "tense"]
    pivot = writer.take_pivot("mood/whole")
    assert writer.pivot("mood/whole", pivot.id) == pivot
    after, label = EDITS[pivot.inputs["text"]]
    variant = writer.add_variant(pivot, {"text": after}, label, tags=["wording"], rationale="So.")
    assert (variant.state, variant.tokens) == ("written", 1)
    with pytest.raises(BadInput, match="already"):
        writer.add_variant(pivot, {"text": after}, label, tags=["wording"])
    writer.finish_pivot("mood/whole", pivot.id)
    other = writer.take_pivot("mood/whole")
    writer.return_pivot("mood/whole", other.id)
    assert writer.next_check("mood/whole") is None
    asked = second.next_check("mood/whole")
    assert asked is not None
    wrong = {"positive": "negative", "negative": "positive"}[label]
    assert second.check_variant("mood/whole", asked.id, wrong, minimal=True, sound=True).state == "contested"
    (found,) = owner.contested_variants("mood/whole").variants
    assert found.checks[0].answer == wrong
    assert owner.settle_variant("mood/whole", found.variant.id, accept=True).state == "accepted"
    assert owner.contrast_sets("mood/whole", state="accepted").total == 1
    released = owner.release_contrast("mood/whole")
    assert (released.sets, released.new) == (1, True)
    assert owner.open_contrast_people("mood/whole", 1).pairs == 1
    assert owner.contrast_people("mood/whole").judged == 0
    assert owner.close_contrast_project("mood/whole").state == "closed"
    with pytest.raises(Conflict, match="closed"):
        writer.take_pivot("mood/whole")
    assert owner.reopen_contrast_project("mood/whole").state == "open"
    owner.withdraw_variant("mood/whole", found.variant.id)
    assert owner.contrast_project("mood/whole").progress.variants == 0


def test_results_and_drafts_with_the_client(clients: Callable[[str], Client]) -> None:
    """What a model makes of a set, and which sets break it; drafts of an example in hand."""
    owner, writer = clients("olga"), clients("xenia")
    told = owner.model_contrast("mood/simple", "near")
    assert told.score.sets == 2
    assert owner.contrast_boundary("mood/simple", "near", show="all").total == 2
    pivot = writer.take_pivot("mood/near")
    assert isinstance(writer.contrast_drafts("mood/near", pivot.id), list)
    with pytest.raises(NotFound):
        writer.search_contrast_drafts("mood/near", pivot.id, "mood/nobody")
    with pytest.raises(NotFound):
        writer.scout_contrast("mood/near", "mood/nobody")
    writer.finish_pivot("mood/near", pivot.id, skip=True)
    with pytest.raises(Forbidden):
        writer.release_contrast("mood/near")
    rows = [{"original": "Nobody wrote this.", "text": "x", "answer": "positive"}]
    with pytest.raises(BadInput, match="no example of this project"):
        owner.add_variants("mood/near", rows)


def test_a_published_set_comes_in_by_client_and_page(
    made: Workspace, clients: Callable[[str], Client], tmp_path: Path
) -> None:
    """IMDb's two files as they are published; labels are mapped, a second time it is there already."""
    head = "Sentiment\tText\n"
    originals, contrasts = tmp_path / "test_original.tsv", tmp_path / "test_contrast.tsv"
    originals.write_text(f"{head}Positive\tA fine film.\nNegative\tA bore.\n")
    contrasts.write_text(f"{head}Negative\tA poor film.\nPositive\tNo bore.\n")
    owner = clients("olga")
    assert "imdb" in {one.name for one in owner.contrast_formats()}
    found = owner.import_contrast("mood", "imdb", [originals, contrasts], format="imdb")
    assert (found.version.role, found.version.rows, found.report.usable.sets) == ("contrast", 4, 2)
    with pytest.raises(NotFound):
        owner.import_contrast("mood", "imdb", [tmp_path / "none.tsv"], format="imdb")
    browser = browser_of(made, "olga")
    page = "/tasks/mood/contrast/import"
    token = browser.get(page).text.split('name="csrf" value="')[1].split('"')[0]
    fields = {"csrf": token, "name": "imdb-2", "format": "imdb", "split": "test"}
    files = [("files", (one.name, one.read_bytes())) for one in (originals, contrasts)]
    assert browser.post(page, data=fields, files=files).headers["location"].startswith("/tasks/mood/data/imdb-2")
    missing = browser.post(page, data={**fields, "name": "half"}, files=files[:1])
    assert missing.status_code == 422


def test_the_commands(made: Workspace, cli: Callable[..., Result], tmp_path: Path) -> None:
    """Owners do with commands what they do on pages; --json has the records."""
    at = ("--workspace", made.settings.workspace)
    file = tmp_path / "project.toml"
    file.write_text(PROJECT.replace('"near"', '"by-command"').replace("pivots = 6", "pivots = 8\nchecks = 2"))
    new = json.loads(cli(*at, "contrast", "new", file, "--json").stdout)
    assert (new["ref"], new["progress"]["free"]) == ("mood/by-command", 8)
    variants = tmp_path / "variants.jsonl"
    before = "It works well."
    row = {"original": before, "text": EDITS[before][0], "answer": EDITS[before][1], "tags": ["wording"]}
    variants.write_text(json.dumps(row) + "\n")
    assert cli(*at, "contrast", "add", "mood/by-command", variants, "--checked").exit_code == 0
    shown = json.loads(cli(*at, "contrast", "sets", "mood/by-command", "--json").stdout)
    assert shown["sets"][0]["variants"][0]["state"] == "accepted"
    assert "works" in cli(*at, "contrast", "sets", "mood/by-command").stdout
    released = json.loads(cli(*at, "contrast", "release", "mood/by-command", "--json").stdout)
    assert released["version"] == "mood/by-command@1"
    assert "by-comm" in cli(*at, "contrast", "status", "mood").stdout
    assert cli(*at, "contrast", "phenomenon", "mood/by-command", "tense").exit_code == 0
    assert "0 variants wait" in cli(*at, "contrast", "contested", "mood/by-command").stderr
    people = json.loads(cli(*at, "contrast", "people", "mood/by-command", "--pairs", "1", "--json").stdout)
    assert people["pairs"] == 1
    told = cli(*at, "contrast", "results", "mood/simple", "near")
    assert "never prove" in told.stdout
    assert "WRONG" in cli(*at, "contrast", "broken", "mood/simple", "near").stdout
    variant = str(shown["sets"][0]["variants"][0]["id"])
    assert cli(*at, "contrast", "settle", "mood/by-command", variant, "--reject").exit_code == 1
    assert cli(*at, "contrast", "withdraw", "mood/by-command", variant).exit_code == 0
    for verb in ("close", "reopen"):
        assert cli(*at, "contrast", verb, "mood/by-command").exit_code == 0
    assert cli(*at, "contrast", "status", "mood/nothing").exit_code == 1


def test_a_form_with_a_fault_says_it_at_its_field(made: Workspace) -> None:
    """The form of a project stays with what was typed; a stranger sees none of it."""
    browser = browser_of(made, "olga")
    page = "/tasks/mood/contrast/new"
    fields = {"name": "by-page", "title": "By page", "dataset": "mood/test@1", "pivots": "999", "pick": "random"}
    refused = post(browser, page, page, **fields)
    assert refused.status_code == 422
    assert "there are 8 such examples, not 999" in on_one_line(refused)
    made_now = post(browser, page, page, **{**fields, "pivots": "2"})
    assert made_now.headers["location"] == "/tasks/mood/contrast/by-page"
    again = post(browser, page, page, **{**fields, "pivots": "2", "title": "Another"})
    assert again.status_code == 409
    assert "has a contrast project" in on_one_line(again)
    edit = "/tasks/mood/contrast/by-page/edit"
    toml = 'task = "mood"\nname = "by-hand"\ntitle = "By hand"\ndataset = "mood/test@1"\npivots = 2'
    renamed = post(browser, edit, edit, as_file="1", toml=toml)
    assert renamed.status_code == 409
    assert "it is 'by-page' that is being changed" in unescape(on_one_line(renamed))
    assert "By page" in browser.get("/tasks/mood/contrast/by-page").text
    assert browser.get("/tasks/mood/contrast/by-hand").status_code == 404
    stranger = browser_of(made)
    assert stranger.get("/tasks/mood/contrast/by-page").status_code in {303, 401}
    assert "By page" not in stranger.get("/tasks/mood/contrast").text


def test_the_desk_keeps_what_was_typed_and_shows_words(made: Workspace) -> None:
    """Drafts, another phenomenon and a variant taken back lose nothing; an untouched preposition follows its word."""
    browser = browser_of(made, "zoe")
    begin = "/tasks/attach/contrast/near/write"
    desk = post(browser, begin, begin).headers["location"]
    page = browser.get(desk).text
    assert 'name="in-preposition" type="text" value="with"' in page
    generation = page.split('name="generation" value="')[1].split('"')[0]
    fields = {"in-tokens": "He ate very cold pizza with olives .", "in-preposition": "with", "answer": "pizza"}
    fields["generation"] = generation
    said = {"rationale": "Olives are no friends.", "reason": "Two words were needed."}
    added = post(browser, desk, f"{desk}/phenomenon", **fields, **said, phenomenon="objects")
    assert added.status_code == 200
    for kept in ("very cold pizza", "Olives are no friends.", "Two words were needed.", 'value="objects" checked'):
        assert kept in added.text
    refused = post(browser, desk, desk, **{**fields, "in-tokens": "He ate pizza without olives ."}, tags="objects")
    assert refused.status_code == 422
    assert "was 'with' and is 'without' now" in unescape(on_one_line(refused))
    twice = {**fields, "in-tokens": "He ate pizza with pizza ."}
    asked = post(browser, desk, desk, **twice, tags="objects")
    assert 'name="place-answer" value="4:pizza"' in asked.text
    long = {**fields, "in-tokens": "He ate very very cold pizza with olives ."}
    assert post(browser, desk, desk, **long, **said, tags="objects").status_code == 303
    assert "to be checked" in browser.get(desk).text
    checker = browser_of(made, "yann")
    asked = checker.get("/tasks/attach/contrast/near/check")
    assert "Two words were needed." in asked.text
    assert re.search(r'<p class="passage" dir="auto"[^>]*>with</p>', asked.text)


def test_experts_see_their_variants_and_what_was_said(made: Workspace, clients: Callable[[str], Client]) -> None:
    """Their own with every objection, others' once those are not theirs to check, and nobody's name."""
    own = clients("xenia").contrast_sets("mood/near", mine=True)
    assert own.total == 4
    variants = [variant for one in own.sets for variant in one.variants]
    assert all(variant.mine and variant.author is None for variant in variants)
    objections = [check for variant in variants for check in variant.checks if not check.sound]
    assert len(objections) == 1
    page = browser_of(made, "xenia").get("/tasks/mood/contrast/near").text
    assert "not sound" in page
    assert "yours" in page
    others = clients("zoe").contrast_sets("mood/near")
    assert "written" not in {variant.state for one in others.sets for variant in one.variants if not variant.mine}
    assert clients("olga").contrast_sets("mood/near").sets[0].variants[0].author == "xenia"


def test_owners_name_experts_on_the_settings_page(
    made: Workspace, clients: Callable[[str], Client], cli: Callable[..., Result]
) -> None:
    """A role given on the page opens the project to its person, taken back it is closed; bad input stays there."""
    with made.session() as db:
        make_person(db, "erik", RoleName.WORKER)
        redeem_link(db, make_link(db, OPERATOR, "erik").token, PASSWORD)
    assert clients("erik").contrast_projects("mood") == []
    browser, page = browser_of(made, "olga"), "/tasks/mood/settings"
    assert post(browser, page, "/tasks/mood/roles/grant", person="erik", role="expert").status_code == 303
    assert "erik" in browser.get(page).text
    listed = clients("olga").task_roles("mood", search="erik")
    assert [(one.name, one.role) for one in listed.roles] == [("erik", "expert")]
    assert clients("erik").contrast_projects("mood")
    with pytest.raises(Forbidden):
        clients("erik").task_roles("mood")
    shown = cli("--workspace", made.settings.workspace, "task", "roles", "mood", "--role", "expert", "--json")
    assert [one["name"] for one in json.loads(shown.stdout)["roles"]] == ["erik"]
    assert "erik" in cli("--workspace", made.settings.workspace, "task", "roles", "mood").stdout
    for person, role, status in (("nobody", "expert", 404), ("erik", "builder", 422), ("erik", "owner", 404)):
        where = "revoke" if role == "owner" else "grant"
        refused = post(browser, page, f"/tasks/mood/roles/{where}", person=person, role=role)
        assert refused.status_code == status
        assert "Who may do what here" in refused.text
    assert post(browser, page, "/tasks/mood/roles/revoke", person="erik", role="expert").status_code == 303
    assert clients("erik").contrast_projects("mood") == []


def test_images_are_chosen_together_with_their_file(made: Workspace) -> None:
    """On the import page: the file alone is refused by row, with its image it comes in and the image is shown."""
    browser = browser_of(made, "olga")
    page = "/tasks/pictures/data/import"
    text = browser.get(page).text
    assert "choose them together with it" in text
    fields = {
        "csrf": text.split('name="csrf" value="')[1].split('"')[0],
        "name": "more",
        "role": "test",
        "language": "en",
    }
    row = {"left_image": "images/a.png", "right_image": "images/a.png", "statement": "One.", "answer": "true"}
    files = [("file", ("pairs.jsonl", json.dumps(row).encode())), ("file", ("a.png", png(33)))]
    refused = browser.post(page, data=fields, files=files[:1])
    assert refused.status_code == 422
    assert "is not beside the file" in on_one_line(refused)
    assert browser.post(page, data=fields, files=files).headers["location"].startswith("/tasks/pictures/data/more")


def test_images_are_images(made: Workspace) -> None:
    """What is uploaded and no image is refused, and no other blob is sent as one."""
    browser = browser_of(made, "zoe")
    desk = post(browser, "/tasks/pictures/contrast/near/write", "/tasks/pictures/contrast/near/write").headers[
        "location"
    ]
    page = browser.get(desk).text
    token = page.split('name="csrf" value="')[1].split('"')[0]
    generation = page.split('name="generation" value="')[1].split('"')[0]
    fields = {"csrf": token, "generation": generation, "in-statement": "Both are dark.", "answer": "true"}
    bad = browser.post(desk, data=fields, files={"upload-right_image": ("x.png", b"not a picture")})
    assert bad.status_code == 422
    assert "is neither a PNG" in on_one_line(bad)
    key = made.blobs.put(png(77))
    assert browser.get(f"/images/{key}").headers["content-type"] == "image/png"
    other = made.blobs.put(b"secret table")
    assert browser.get(f"/images/{other}").status_code == 404
    assert browser_of(made).get(f"/images/{key}").status_code in {303, 401}


def test_a_look_at_the_page_takes_no_example(made: Workspace) -> None:
    """Opening the page of writing leases nothing; the button takes an example, and the page then leads to it."""

    def held() -> int:
        with made.session() as db:
            return len(db.scalars(select(ContrastPivot).where(ContrastPivot.holder_id.is_not(None))).all())

    browser = browser_of(made, "zoe")
    path, before = "/tasks/mood/contrast/near/write", held()
    assert "Take an example" in browser.get(path).text
    assert held() == before
    desk = post(browser, path, path).headers["location"]
    assert held() == before + 1
    assert browser.get(path).headers["location"] == desk
