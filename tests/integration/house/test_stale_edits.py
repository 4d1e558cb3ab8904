"""Two who change the same thing at once: the second is told, on every surface, and nothing of the first is lost."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from typer.testing import Result

import quintain.services
from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.editing import EditOrigin, parts_of, revision_of
from quintain.core.errors import Stale
from quintain.core.people import OPERATOR, RoleName
from quintain.protocols.reading import shipped_text
from quintain.services.access import accounts
from quintain.services.collect.rounds.manage import put_round
from quintain.services.contest.contests import put_contest
from quintain.services.contrast.projects import get_project, put_project
from quintain.services.study.codings import get_coding, put_coding
from quintain.services.trial.panel_entry import get_doors, put_doors
from quintain.services.trial.trials import put_trial
from quintain.services.validate.console.manage import open_validation
from quintain.services.work.quizzes import put_quiz
from quintain.store.tables import CodingRow, ContrastProject, CrowdTrial, User
from quintain.web.routes import API
from tests.forms import form_to
from tests.people import make_person
from tests.web_support import browser_of, copy_demo, running, token_for
from tests.writing_rounds import add_round

TASK = "/tasks/sentiment"
CONTEST = """
task = "sentiment"
name = "spring"
title = "Build it, break it"
dev = "sentiment/test"
starter = "sentiment/train"
zone = "UTC"
starts = 2124-05-01T09:00:00
build_ends = 2124-05-03T09:00:00
break_ends = 2124-05-05T09:00:00
score_ends = 2124-05-07T09:00:00
review_ends = 2124-05-09T09:00:00
"""
PROJECT = """
task = "sentiment"
name = "near"
title = "Near misses"
dataset = "sentiment/test"
phenomena = ["negation", "wording"]
pivots = 6
"""
CODING = """
task = "sentiment"
name = "look"
title = "A look"
sources = ["data/test"]
items = 6
coders = 2
seed = 3
"""
DRAFT = """
task = "sentiment"
title = "A draft"
[targets]
models = ["sentiment/ngram"]
[reward]
amount = 30
currency = "GBP"
"""
QUIZ = {
    "instructions": "Answer both.",
    "right": 1,
    "tries": 3,
    "questions": [{"text": "What is this?", "options": ["a", "b"], "answer": 0, "explanation": "So it is."}],
}


@dataclass(frozen=True)
class Edited:
    """One thing that two may change: how programs do, the page with its form, a control of it, and what that holds.

    *write* sends what was read with another title, or the like, and the revision that it was made from. *typed* makes
    what is typed into *control* of what it held and the word that is new.
    """

    service: str
    read: Callable[[Client], Any]
    write: Callable[[Client, Any, str, str], Any]
    page: str
    action: str
    control: str
    typed: Callable[[str, str], str] = lambda held, word: word


def titled(toml: str, word: str) -> str:
    """Give a definition another title."""
    changed = re.sub(r'(?m)^(title|en) = ".*"$', rf'\1 = "{word}"', toml, count=1)
    assert changed != toml
    return changed


def alike(held: str, typed: str) -> bool:
    """Say whether a control holds what was typed, however a number is written."""
    try:
        return float(held) == float(typed)
    except ValueError:
        return held.split() == typed.split()


def carded(card: str, word: str) -> str:
    """Give a model's card another last line."""
    return f"{card.rstrip()} {word}\n"


def instructed(text: str, word: str) -> str:
    """Give a quiz other instructions."""
    return re.sub(r"(?m)^instructions = .*$", f'instructions = "{word}"', text)


EDITS = {
    "task": Edited(
        "definitions.put_task",
        lambda client: client.task("sentiment"),
        lambda client, _, word, revision: client.change_task(
            "sentiment", titled(client.task_history("sentiment")[0].toml, word), revision=revision
        ),
        f"{TASK}/settings",
        f"{TASK}/settings",
        "toml",
        titled,
    ),
    "board": Edited(
        "board_settings.set_board",
        lambda client: client.board_settings("sentiment"),
        lambda client, _, word, revision: client.set_board(
            "sentiment", {"human": 0.5 + len(word) / 100, "revision": revision}
        ),
        f"{TASK}/board/settings",
        f"{TASK}/board/settings",
        "human",
        lambda _, word: str(50 + len(word)),
    ),
    "card": Edited(
        "registry.update_card",
        lambda client: client.model("sentiment/tfidf").versions[0],
        lambda client, _, word, revision: client.change_card(
            "sentiment/tfidf", carded(client.model("sentiment/tfidf").card, word), revision=revision
        ),
        f"{TASK}/models/tfidf",
        f"{TASK}/models/tfidf/card",
        "text",
        carded,
    ),
    "round": Edited(
        "manage.put_spec",
        lambda client: client.round("sentiment/1"),
        lambda client, read, word, revision: client.put_round("sentiment", titled(read.toml, word), revision=revision),
        f"{TASK}/rounds/1/edit",
        f"{TASK}/rounds/1/edit",
        "title",
    ),
    "pay policy": Edited(
        "policy.save_policy",
        lambda client: client.pay_policy("sentiment"),
        lambda client, _, word, revision: client.set_pay_policy(
            "sentiment", f'currency = "GBP"\nhourly = {900 + len(word)}\n', revision=revision
        ),
        f"{TASK}/pay",
        f"{TASK}/pay/policy",
        "hourly",
        lambda _, word: str(9 + len(word)),
    ),
    "datasheet": Edited(
        "datasheet_answers.save_answers",
        lambda client: client.datasheet("sentiment"),
        lambda client, _, word, revision: client.set_datasheet("sentiment", f'makers = "{word}"\n', revision=revision),
        f"{TASK}/datasheet",
        f"{TASK}/datasheet",
        "makers",
    ),
    "validation policy": Edited(
        "manage.set_policy",
        lambda client: client.validation_policies("sentiment/free")[0],
        lambda client, read, word, revision: client.set_validation_policy(
            "sentiment/free", f"page_size = {10 + len(word)}\n", revision=revision
        ),
        f"{TASK}/validation/free",
        f"{TASK}/validation/free/policy",
        "page_size",
        lambda _, word: str(10 + len(word)),
    ),
    "contest": Edited(
        "contests.put_spec",
        lambda client: client.contest("sentiment/spring"),
        lambda client, read, word, revision: client.put_contest(
            "sentiment", titled(read.toml, word), revision=revision
        ),
        f"{TASK}/contests/spring/edit",
        f"{TASK}/contests/spring/edit",
        "title",
    ),
    "contrast project": Edited(
        "projects.put_spec",
        lambda client: client.contrast_project("sentiment/near"),
        lambda client, read, word, revision: client.put_contrast_project(
            "sentiment", titled(read.toml, word), revision=revision
        ),
        f"{TASK}/contrast/near/edit",
        f"{TASK}/contrast/near/edit",
        "title",
    ),
    "coding": Edited(
        "codings.put_spec",
        lambda client: client.coding("sentiment/look"),
        lambda client, read, word, revision: client.put_coding("sentiment", titled(read.toml, word), revision=revision),
        f"{TASK}/codings/look/edit",
        f"{TASK}/codings/look/edit",
        "title",
    ),
    "quiz": Edited(
        "quizzes.put_quiz",
        lambda client: client.quiz("sentiment/entry"),
        lambda client, _, word, revision: client.put_quiz(
            "sentiment/entry", {**QUIZ, "instructions": word}, revision=revision
        ),
        f"{TASK}/quizzes/entry/edit",
        f"{TASK}/quizzes/entry/edit",
        "toml",
        instructed,
    ),
    "trial": Edited(
        "trials.put_trial",
        lambda client: client.trial("sentiment/try"),
        lambda client, _, word, revision: client.put_trial(
            "sentiment/try", [shipped_text("baseline")], title=word, revision=revision
        ),
        "",
        "",
        "",
    ),
    "trial's doors": Edited(
        "panel_entry.set_doors",
        lambda client: client.trial_doors("sentiment/try"),
        lambda client, _, word, revision: client.put_trial_doors(
            "sentiment/try", f"batch = {10 + len(word)}\n", revision=revision
        ),
        f"{TASK}/trials/try",
        f"{TASK}/trials/try/doors",
        "batch",
        lambda _, word: str(10 + len(word)),
    ),
    "profile": Edited(
        "accounts.update_profile",
        lambda client: client.me(),
        lambda client, _, word, revision: client.change_me(word, revision=revision),
        "/account",
        "/account/profile",
        "display_name",
    ),
}
# An edit that stands elsewhere: letters of a trial, in `test_letters.py`.
ELSEWHERE = {"letters.edit_letter"}
# What passes an edit on to one of those above.
PASSED_ON = {
    "manage.open_validation",
    "item_files.open_with_items",
    "policy.put_policy",
    "datasheet_answers.put_answers",
    "manage.put_round",
    "contests.put_contest",
    "projects.put_project",
}
PASSED_ON |= {"codings.put_coding", "panel_entry.put_doors", "definitions.settled_text"}
PASSED_ON |= {"manage.open_validation", "item_files.open_with_items"}
# Verbs that set one thing to a value that is named, or what one person alone does: nobody's change is lost by them.
ALONE = {
    "board_settings.let_score": "one data set",
    "standings.set_margin": "one number",
    "registry.set_visibility": "one choice",
    "inputs.set_inputs": "one choice",
    "accounts.change_password": "one's own, by the old one",
    "contests.extend": "one moment",
    "snapshots.save_fork": "one's own view, under its name",
    "payouts.put_payout": "written down once, within what plans it",
    "qualify.set_qualification": "a fact",
    "qualify.put_qualification": "a fact",
    "pairs.put_pair": "a new pair",
    "rubric.change_grade": "one's own grade",
    "manage.set_state": "one choice",
    "projects.set_state": "one choice",
    "systems.let_count": "one choice",
    "prolific.change_study": "asked of the panel",
}


@pytest.fixture(scope="module")
def site(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The demo with one of everything that an owner can change."""
    folder = tmp_path_factory.mktemp("stale")
    made = copy_demo(demo, folder / "demo")
    add_round(made, folder, "sentiment")
    with made.session() as db:
        put_round(db, OPERATOR, DRAFT)
        open_validation(db, OPERATOR, "sentiment/free", "")
        put_contest(db, OPERATOR, CONTEST)
        put_project(db, made.blobs, OPERATOR, PROJECT)
        put_coding(db, made.blobs, OPERATOR, CODING)
        put_quiz(db, OPERATOR, "sentiment", "entry", QUIZ)
        put_trial(db, OPERATOR, "sentiment", "try", [shipped_text("baseline")], title="A try")
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def programs(site: Workspace) -> Iterator[Client]:
    """A program of the admin's."""
    with running(site) as url:
        yield Client(url, token_for(site, "admin"))


@pytest.mark.parametrize("name", EDITS)
def test_a_program_s_stale_edit_is_refused(programs: Client, name: str) -> None:
    """The second of two that read the same is refused, and changes nothing; read again, it is taken."""
    edited = EDITS[name]
    before = edited.read(programs)
    assert re.fullmatch("[0-9a-f]{16}", before.revision)
    edited.write(programs, before, "one", before.revision)
    after = edited.read(programs)
    assert after.revision != before.revision
    with pytest.raises(Stale) as refused:
        edited.write(programs, before, "another", before.revision)
    assert refused.value.faults
    assert edited.read(programs) == after
    edited.write(programs, after, "another", after.revision)
    assert edited.read(programs).revision not in {before.revision, after.revision}
    edited.write(programs, after, "whatever", "")  # who says nothing replaces what is there
    assert edited.read(programs).revision not in {before.revision, after.revision}


def sent(browser: TestClient, action: str, data: dict[str, Any]) -> Any:
    """Send a form, and confirm what it changes where that is shown first."""
    reply = browser.post(action, data=data)
    if "Nothing is saved yet." not in reply.text:
        return reply
    return browser.post(action, data=form_to(reply.text, action).with_())


@pytest.mark.parametrize("name", [name for name, edited in EDITS.items() if edited.page])
def test_two_at_their_forms_are_shown_both(site: Workspace, name: str) -> None:
    """Theirs is kept and shown beside one's own; what is chosen is saved, and a fault keeps what it was made from."""
    edited, browser = EDITS[name], browser_of(site, "admin")
    form = form_to(browser.get(edited.page).text, edited.action, edited.control)
    held = form.value(edited.control)
    assert form.value("revision")
    theirs, yours = edited.typed(held, "theirs"), edited.typed(held, "of mine")
    first = sent(browser, edited.action, form.with_(**{edited.control: theirs}))
    assert first.status_code == 303, first.text[first.text.find("<main") :][:3000]
    answer = browser.post(edited.action, data=form.with_(**{edited.control: yours}))
    assert answer.status_code == 409
    assert "Somebody else has changed this" in answer.text
    again = form_to(browser.get(edited.page).text, edited.action, edited.control)
    assert alike(again.value(edited.control), theirs)
    choice = form_to(answer.text, edited.action)
    chosen = re.findall(r'name="(choose:[^"]+)"', answer.text)
    mine = choice.with_(**dict.fromkeys(chosen, "yours"))
    assert sent(browser, edited.action, choice.with_(**dict.fromkeys(chosen, "theirs"))).status_code == 303
    kept = form_to(browser.get(edited.page).text, edited.action, edited.control)
    assert alike(kept.value(edited.control), theirs)
    assert sent(browser, edited.action, mine).status_code == 303
    now = form_to(browser.get(edited.page).text, edited.action, edited.control)
    assert alike(now.value(edited.control), yours)


def test_what_two_changed_apart_is_saved_together(site: Workspace) -> None:
    """One raises the reward and the other changes the title: each is chosen from the start, and both hold."""
    browser, page = browser_of(site, "admin"), f"{TASK}/rounds/2/edit"
    form = form_to(browser.get(page).text, page, "title")
    first = browser.post(page, data=form.with_(reward="0.75"))
    assert first.status_code == 303, re.findall(r"class=.fault.*?<|<li>.*?<", first.text)
    answer = browser.post(page, data=form.with_(title="A better title"))
    choice = form_to(answer.text, page)
    assert (choice.value("choose:title"), choice.value("choose:reward.amount")) == ("yours", "theirs")
    assert browser.post(page, data=choice.with_()).status_code == 303
    saved = form_to(browser.get(page).text, page, "title")
    assert (saved.value("title"), saved.value("reward")) == ("A better title", "0.75")


def test_a_form_with_a_fault_still_stands_on_what_it_was_made_from(site: Workspace) -> None:
    """Whoever mends a fault has not seen what others saved meanwhile: it is not overwritten then, either."""
    browser, page = browser_of(site, "admin"), f"{TASK}/rounds/2/edit"
    form = form_to(browser.get(page).text, page, "title")
    assert browser.post(page, data=form.with_(minutes="7")).status_code == 303
    faulty = browser.post(page, data=form.with_(title="Mended", attempts="many"))
    assert faulty.status_code == 422
    mended = form_to(faulty.text, page, "title").with_(attempts=form.value("attempts"))
    assert browser.post(page, data=mended).status_code == 409


def test_every_verb_that_edits_takes_what_it_was_made_from() -> None:
    """A service that changes what is stored takes an edit and is tried here, or is named with its reason."""
    tried = {edited.service for edited in EDITS.values()} | ELSEWHERE | PASSED_ON
    taking, editing = set(), set()
    for module in walk_packages(quintain.services.__path__, "quintain.services."):
        if module.ispkg or ".plain." in module.name:
            continue
        loaded = import_module(module.name)
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            known = f"{module.name.rpartition('.')[2]}.{name}"
            names = list(inspect.signature(function).parameters)
            if function.__module__ != module.name or name.startswith("_"):
                continue
            if "edit" in names and getattr(loaded, "EditOrigin", None) is EditOrigin:
                taking.add(known)
            if names[:1] == ["db"] and "actor" in names and re.match("put_|set_|update_|save_|edit_|change_", name):
                editing.add(known)
    assert taking == tried
    own = {"sessions.save_draft", "drafts.save_answer"}  # what one person types, on their own page
    assert editing - taking - own == set(ALONE) & editing


def test_every_call_that_replaces_says_what_it_was_made_from() -> None:
    """Of the API's calls that replace something, each takes a revision, or sets one value that it names."""
    replacing = {one.name for one in API if one.method in {"PUT", "PATCH"} or one.name.startswith("put_")}
    taking = {one.name for one in API if {"revision", "edit"} & set(inspect.signature(one.view).parameters)}
    values = {
        "change_visibility",
        "set_inputs",
        "let_score",
        "set_margin",
        "let_reference_count",
        "state_fact",
        "change_grade",
    }
    work = {"put_part", "save_draft", "save_answer", "put_contest_pair"}
    assert replacing - taking == values | work


def test_an_edit_is_compared_by_content() -> None:
    """The same content has the same revision, in whatever order; a field can stay as the other one left it."""
    stored = {"title": "Mood", "reward": {"amount": 30, "currency": "USD"}, "tags": ("a", "b")}
    assert revision_of(stored) == revision_of({"tags": ["a", "b"], **{key: stored[key] for key in ("reward", "title")}})
    by_others = {"title": "Mood", "reward": {"amount": 75, "currency": "USD"}, "tags": ["a"]}
    wanted = {"title": "The mood", "reward": {"amount": 30, "currency": "USD"}, "tags": ["a", "b"]}
    with pytest.raises(Stale) as refused:
        EditOrigin(revision_of(stored), parts_of(stored)).settled(by_others, wanted)
    told = {one.field: (one.theirs, one.yours, one.mine, one.others) for one in refused.value.differences}
    assert told == {
        "title": ("Mood", "The mood", True, False),
        "reward.amount": (75, 30, False, True),
        "tags": (["a"], ["a", "b"], False, True),
    }
    chosen = EditOrigin(refused.value.revision, theirs=frozenset({"reward.amount"})).settled(by_others, wanted)
    assert chosen == {"title": "The mood", "reward": {"amount": 75, "currency": "USD"}, "tags": ["a", "b"]}


def test_two_who_change_the_same_alike_agree() -> None:
    """Where both want the same there is nothing to choose."""
    stored, wanted = {"title": "Mood"}, {"title": "The mood"}
    assert EditOrigin(revision_of(stored)).settled(wanted, wanted) == wanted


def test_a_command_says_what_its_file_was_made_from(
    own_demo: Workspace, cli: Callable[..., Result], tmp_path: Path
) -> None:
    """A file goes back with the revision that was shown with it; after somebody else's change it is refused."""
    at = ("-w", own_demo.settings.workspace)
    shown = json.loads(cli(*at, "task", "show", "sentiment", "--json").stdout)["task"]["revision"]
    text = cli(*at, "task", "show", "sentiment", "--toml").stdout
    (tmp_path / "one.toml").write_text(titled(text, "One"))
    (tmp_path / "two.toml").write_text(titled(text, "Two"))
    assert cli(*at, "task", "add", tmp_path / "one.toml", "--yes", "--revision", shown).exit_code == 0
    refused = cli(*at, "task", "add", tmp_path / "two.toml", "--revision", shown)
    assert refused.exit_code == 1
    assert "field 'title.en': is 'One' by now; here it is 'Two'" in refused.stderr
    assert cli(*at, "task", "add", tmp_path / "two.toml", "--yes").exit_code == 0


@pytest.mark.both_databases
def test_what_was_read_before_the_lock_is_read_again(workspace: Workspace) -> None:
    """A session that has read a row before another one changed it sees the change when it is its turn."""
    with workspace.session() as mine, workspace.session() as theirs:
        worker = make_person(mine, "wilma", RoleName.WORKER)
        read = accounts.get_person(mine, worker)
        held = mine.get_one(User, worker.user_id)
        accounts.update_profile(theirs, worker, display_name="Theirs")
        mine.rollback()
        with pytest.raises(Stale):
            accounts.update_profile(mine, worker, display_name="Mine", edit=EditOrigin(read.revision))
        assert held.display_name == "Theirs"  # a session forgets rows that nobody holds


def test_rows_that_change_in_place_are_read_again(site: Workspace) -> None:
    """A coding, a contrast project and a trial's doors are rows that change: the second of two sees the first."""
    with site.session() as mine, site.session() as theirs:
        coding = get_coding(mine, OPERATOR, "sentiment/look")
        project = get_project(mine, OPERATOR, "sentiment/near")
        doors = get_doors(mine, OPERATOR, "sentiment", "try", base_url="")
        held = [
            *mine.scalars(select(CodingRow)),
            *mine.scalars(select(ContrastProject)),
            *mine.scalars(select(CrowdTrial)),
        ]
        mine.commit()
        put_coding(theirs, site.blobs, OPERATOR, titled(coding.toml, "Theirs"))
        put_project(theirs, site.blobs, OPERATOR, titled(project.toml, "Theirs"))
        put_doors(theirs, OPERATOR, "sentiment", "try", "batch = 77\n", base_url="")
        for revision, put in (
            (coding.revision, lambda at: put_coding(mine, site.blobs, OPERATOR, titled(coding.toml, "Mine"), edit=at)),
            (
                project.revision,
                lambda at: put_project(mine, site.blobs, OPERATOR, titled(project.toml, "Mine"), edit=at),
            ),
            (
                doors.revision,
                lambda at: put_doors(mine, OPERATOR, "sentiment", "try", "batch = 78", base_url="", edit=at),
            ),
        ):
            with pytest.raises(Stale):
                put(EditOrigin(revision))
        assert len(held) >= 3  # a session forgets rows that nobody holds
