"""Writing at a model in a real browser: the whole path for four kinds of task, by keyboard, small and in the dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.collect.rounds.manage import RoundInfo, close_round
from quintain.services.collect.rounds.round_figures import counters
from tests.browser.visitor import Visitor
from tests.web_support import copy_demo, running
from tests.writing_rounds import add_quiz, add_round

ASKS = """
[helps]
occlusion = true
inspiration = true

[asks]
reason = true
tags = ["negation", "irony"]
"""


Start = Callable[[str], tuple[Page, RoundInfo]]
PLACE = """(text) => {
  const walker = document.createTreeWalker(document.querySelector("[data-span]"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const start = node.data.indexOf(text);
    if (start < 0) continue;
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, start + text.length);
    const box = range.getBoundingClientRect();
    return [box.left, box.right, box.top + box.height / 2];
  }
}"""


@pytest.fixture(scope="module")
def written(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the demo with a quiz and a round; tests that write open rounds of their own."""
    folder = tmp_path_factory.mktemp("written")
    workspace = copy_demo(demo, folder / "demo")
    add_quiz(workspace, "sentiment")
    add_round(workspace, folder, "sentiment", tables=ASKS)
    return workspace


@pytest.fixture(scope="module")
def site(written: Workspace) -> Iterator[str]:
    """The copy, served."""
    with running(written) as url:
        yield url


@pytest.fixture
def start(visitor: Visitor, written: Workspace, tmp_path: Path) -> Start:
    """A function that opens a round, and begins a session in it as a worker."""

    def begin(task: str) -> tuple[Page, RoundInfo]:
        info = add_round(written, tmp_path, task, tables=ASKS if task == "sentiment" else "")
        visitor.sign_in("demo-worker")
        page = visitor.go(f"/tasks/{task}/rounds/{info.number}/write")
        page.get_by_role("button", name="Start writing").click()
        visitor.arrive("form[data-write]")
        visitor.check()
        return page, info

    return begin


def try_it(page: Page) -> None:
    """Send what is typed with the keyboard, and wait for the verdict."""
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".verdict-panel")


def made(workspace: Workspace, info: RoundInfo) -> int:
    """Count the attempts of a round."""
    with workspace.session() as db:
        return counters(db, OPERATOR, info.ref).attempts


def test_sentiment_from_the_prompt_to_the_thanks(visitor: Visitor, start: Start, written: Workspace) -> None:
    """Edit the prompt, see the difference grow, fool the model, confirm, say why; every step is spoken."""
    page, info = start("sentiment")
    field = page.locator("#in-text")
    expect(page.locator(".aim-pick input").first).to_be_focused()
    expect(field).to_have_value("")
    expect(page.locator(".write-diff")).to_be_hidden()
    page.get_by_role("link", name="Put it into the box").click()
    prompt = field.input_value()
    expect(field).to_be_focused()
    expect(page.locator("[data-diff-distance]")).to_have_text("0")
    page.get_by_label("negative", exact=True).check()
    field.fill(prompt.replace("good", "anything but good"))
    expect(page.locator(".write-diff ins")).to_have_text("anything but ")
    expect(page.locator("[data-diff-distance]")).to_have_text("13")
    expect(page.locator("#saved")).to_have_text("Saved")
    field.focus()
    try_it(page)
    expect(page.locator(".verdict-title")).to_have_text("You fooled it")
    expect(page.locator("#say")).to_have_text("You fooled it. ngram says: positive. Would other people agree with you?")
    expect(page.locator(".verdict-panel .bar-list li")).to_have_count(3)
    expect(page.locator(".moved").first).to_contain_text("anything")
    visitor.check()
    page.get_by_role("button", name="Yes", exact=True).click()
    expect(page.get_by_role("heading", name="Done: thank you!")).to_be_focused()
    page.fill("#reason", "It does not read the negation.")
    page.get_by_label("negation").check()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status").filter(has_text="Thank you.")).to_be_visible()
    visitor.check()
    assert made(written, info) == 1


def test_a_retry_keeps_the_text_and_the_focus(visitor: Visitor, start: Start) -> None:
    """Not fooled: the text and the cursor stay, the try joins the history and can be taken up again."""
    page, _ = start("sentiment")
    page.get_by_label("positive", exact=True).check()
    page.locator("#in-text").fill("This is the best and most wonderful day, I love it.")
    try_it(page)
    expect(page.locator(".verdict-title")).to_have_text("Not this time")
    expect(page.locator("#in-text")).to_be_focused()
    expect(page.locator("#in-text")).to_have_value("This is the best and most wonderful day, I love it.")
    expect(page.locator("#history li")).to_have_count(1)
    visitor.check()
    page.locator("#in-text").fill("Something else")
    page.get_by_role("button", name="Use try 1 again").click()
    expect(page.locator("#in-text")).to_have_value("This is the best and most wonderful day, I love it.")
    visitor.check()


def test_faults_are_said_and_cost_nothing(visitor: Visitor, start: Start) -> None:
    """An empty text and the very same text get their message, aloud too; the tries stay as they were."""
    visitor.expected = ("422", "409")
    page, _ = start("sentiment")
    page.locator("#in-text").fill("")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#verdict .notice")).to_contain_text("Text: is empty")
    expect(page.locator("#verdict .notice")).to_contain_text("say first which answer is right")
    expect(page.locator("#say")).to_contain_text("It cost you no attempt.")
    visitor.check()
    page.get_by_label("neutral", exact=True).check()
    page.locator("#in-text").fill("The ticket office opens at nine in the morning.")
    try_it(page)
    if page.get_by_role("button", name="No", exact=True).count():
        visitor.press("No")
    page.locator("#in-text").focus()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#verdict .notice")).to_contain_text("You have submitted this very text before.")
    visitor.check()


def test_a_double_click_and_the_back_button_are_harmless(visitor: Visitor, start: Start, written: Workspace) -> None:
    """Two clicks make one attempt; going back and forth shows the text and makes none."""
    page, info = start("sentiment")
    page.get_by_label("neutral", exact=True).check()
    page.locator("#in-text").fill("The museum closes at six on Sundays and at eight otherwise.")
    page.get_by_role("button", name="Try it").dblclick(delay=300)  # the answer is here before the second click
    page.wait_for_selector(".verdict-panel")
    address = page.url
    page.goto(f"{visitor.base}/work")
    page.go_back()
    page.wait_for_selector(".verdict-panel")
    assert page.url == address
    assert made(written, info) == 1
    visitor.check()


def test_what_is_typed_survives(visitor: Visitor, start: Start) -> None:
    """With the server out of reach the text is kept here and said to be; after a reload it is back."""
    visitor.expected = ("Failed to load resource", "net::ERR", "fetch")
    page, _ = start("sentiment")
    page.route("**/write/*/draft", lambda route: route.abort())
    page.route("**/write/*/try", lambda route: route.abort())
    page.get_by_label("neutral", exact=True).check()
    page.locator("#in-text").fill("Half a thought about the weather")
    expect(page.locator("#saved")).to_contain_text("Kept in this browser")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#trouble")).to_contain_text("The server cannot be reached. Your text is still here")
    page.unroute("**/write/*/draft")
    page.unroute("**/write/*/try")
    page.reload()
    expect(page.locator("#in-text")).to_have_value("Half a thought about the weather")
    expect(page.get_by_label("neutral", exact=True)).to_be_checked()
    expect(page.locator("#say")).to_have_text("What you typed last time is back.")
    visitor.check()


def test_nli_writes_a_hypothesis_to_a_given_premise(visitor: Visitor, start: Start) -> None:
    """The premise is there to read, only the hypothesis can be typed."""
    page, _ = start("nli")
    expect(page.locator("[name=in-premise]")).to_have_count(0)
    expect(page.locator(".given .passage")).not_to_be_empty()
    page.get_by_label("contradiction", exact=True).check()
    page.locator("#in-hypothesis").fill("Nobody is anywhere near.")
    try_it(page)
    expect(page.locator(".verdict-panel .bar-list li")).to_have_count(3)
    visitor.check()


def test_qa_selects_the_answer_with_mouse_and_keys(visitor: Visitor, start: Start) -> None:
    """A span is taken by dragging, by arrows with Shift, or by typing; the model's own is marked in the passage."""
    page, _ = start("qa")
    passage = page.locator("[data-span]")
    passage.focus()
    for key in ["End", "Shift+ArrowLeft", "Shift+ArrowLeft"]:
        page.keyboard.press(key)
    expect(page.locator("#answer")).to_have_value("the whole valley")
    expect(page.locator("#span-status")).to_have_text("Selected: the whole valley")
    page.keyboard.press("Escape")
    expect(page.locator("#answer")).to_have_value("")
    left, right, middle = page.evaluate(PLACE, "Ada Lund")
    page.mouse.move(left + 1, middle)
    page.mouse.down()
    page.mouse.move(right, middle, steps=5)
    page.mouse.up()
    expect(page.locator("#answer")).to_have_value("Ada Lund")
    left, right, middle = page.evaluate(PLACE, "Per")
    page.mouse.dblclick(left + 4, middle)
    expect(page.locator("#answer")).to_have_value("Per")
    start_at = int(page.locator("#answer-start").input_value())
    assert passage.inner_text()[start_at : start_at + 3] == "Per"
    expect(passage.locator("mark")).to_have_text("Per")
    page.locator("#in-question").fill("Whom does the slate roof owe its existence to?")
    try_it(page)
    expect(page.locator(".verdict-panel .passage mark")).to_be_visible()
    visitor.check()


def test_multiple_choice_writes_question_and_options(visitor: Visitor, start: Start) -> None:
    """Question and options are written, the right one is marked, the model's choice comes with bars."""
    page, _ = start("choice")
    page.locator("#in-question").fill("What happened in 1911?")
    for number, text in enumerate(["The mill was sold.", "", "A fire burnt the roof.", "Ada left."], 1):
        page.get_by_label(f"Option {number}", exact=True).fill(text)
    page.get_by_label("Option 3 is right").check()
    try_it(page)
    expect(page.locator(".verdict-panel .bar-list li")).to_have_count(3)
    expect(page.locator(".said")).to_contain_text("You aimed at: A fire burnt the roof.")
    visitor.check()


def test_a_round_closed_while_typing(visitor: Visitor, start: Start, written: Workspace) -> None:
    """The writer is told, and the text is still there to copy."""
    visitor.expected = ("409",)
    page, info = start("sentiment")
    page.get_by_label("neutral", exact=True).check()
    page.locator("#in-text").fill("The last train leaves at ten.")
    with written.session() as db:
        close_round(db, OPERATOR, info.ref)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#verdict .notice")).to_contain_text("It ended while you were writing.")
    expect(page.locator("#in-text")).to_have_value("The last train leaves at ten.")
    page.reload()
    expect(page.get_by_role("heading", name="The round has closed")).to_be_visible()
    expect(page.get_by_label("Text")).to_have_value("The last train leaves at ten.")


def test_an_owner_makes_a_round_in_the_browser(visitor: Visitor, tmp_path: Path) -> None:
    """Form, prompts from a file, opening, and the console with its charts."""
    visitor.sign_in("demo-owner")
    page = visitor.go("/tasks/sentiment/rounds/new")
    page.fill("#title", "Made by hand")
    page.get_by_label("ngram @ 1").check()
    page.get_by_label("lexicon @ 1").uncheck()
    page.locator("#more > summary").click()
    page.fill("#reward", "0.40")
    page.get_by_role("button", name="Save as a draft").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Made by hand")
    visitor.check()
    prompts = tmp_path / "prompts.csv"
    prompts.write_text("text\nA pear lay on the sill.\nThe tap dripped all night.\n", encoding="utf-8")
    page.set_input_files("#file", prompts)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="2 prompts added")).to_be_visible()
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_role("link", name="Write", exact=True).last).to_be_visible()
    visitor.check()


PAGES = [
    "/work",
    "/work/earnings",
    "/tasks/sentiment/write",
    "/tasks/sentiment/rounds",
    "/tasks/sentiment/rounds/1",
    "/tasks/sentiment/rounds/1/edit",
    "/tasks/sentiment/rounds/1/edit?file=1",
    "/tasks/sentiment/rounds/1/write",
    "/tasks/sentiment/rounds/1/practice",
    "/tasks/sentiment/rounds/1/eligibility",
    "/tasks/sentiment/rounds/1/flags",
    "/tasks/sentiment/rounds/1/pay",
    "/tasks/sentiment/pay",
    "/tasks/sentiment/quizzes/basics",
    "/tasks/sentiment/quizzes/new",
]


def test_every_page_of_writing_is_sound(visitor: Visitor) -> None:
    """Every page, in light and on a dark phone, has one heading, no axe finding, no error, no sideways scrolling."""
    visitor.sign_in("demo-owner")
    for path in PAGES:
        page = visitor.go_in_looks(path, "light", "dark phone")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)


def test_pages_of_writing_are_sound_in_german(visitor: Visitor) -> None:
    """Every third page, with longer words, has no fault either."""
    visitor.sign_in("demo-owner")
    page = visitor.go("/work")
    visitor.press("Deutsch")
    for path in PAGES[::3]:
        visitor.go(path)
        expect(page.locator("html")).to_have_attribute("lang", "de")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
    visitor.press("English")
