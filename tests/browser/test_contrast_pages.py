"""Contrast sets in a real browser: writing for every kind of task, checking, deciding, and which sets break a model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from quintain.compose import Workspace
from tests.browser.visitor import Visitor
from tests.contrast_site import contrast_site, png
from tests.contrasting import EDITS
from tests.web_support import running


@pytest.fixture(scope="module")
def contrast_workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Projects over several kinds of tasks."""
    made = contrast_site(tmp_path_factory.mktemp("contrast"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def site(contrast_workspace: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(contrast_workspace) as url:
        yield url


def desk(visitor: Visitor, task: str, who: str = "zoe") -> Page:
    """Take an example of a task's project."""
    visitor.sign_in(who)
    return take(visitor, task)


def take(visitor: Visitor, task: str) -> Page:
    """Take the next example, or go on with the one in hand; a look at the page takes none."""
    page = visitor.go(f"/tasks/{task}/contrast/near/write")
    if page.url.endswith("/write"):
        visitor.press("Take an example")
    return visitor.page


def keep(visitor: Visitor) -> None:
    """Keep the variant and see that it is kept."""
    visitor.press("Keep the variant")
    expect(visitor.page.locator("main")).to_contain_text("to be checked")


@pytest.mark.parametrize(
    "path",
    [
        "/tasks/mood/contrast",
        "/tasks/mood/contrast/new",
        "/tasks/mood/contrast/near",
        "/tasks/mood/contrast/near/contested",
        "/tasks/mood/contrast/import",
        "/tasks/mood/models/simple/contrast/near?show=all",
    ],
)
def test_the_owners_pages_are_sound(visitor: Visitor, path: str) -> None:
    """Each fits in light, dark and on a phone, and axe finds nothing."""
    visitor.sign_in("olga")
    expect(visitor.go_in_looks(path).locator("h1")).to_be_visible()


@pytest.mark.parametrize(
    "task", ["mood", *(pytest.param(task, marks=pytest.mark.slow) for task in ("reading", "attach", "pictures"))]
)
def test_the_desk_is_sound_for_every_kind(visitor: Visitor, task: str) -> None:
    """The desk fits everywhere, shows the gold answer, and says why no model is shown."""
    desk(visitor, task)
    page = visitor.go_in_looks(f"/tasks/{task}/contrast/near/write")
    expect(page.locator("main")).to_contain_text("No model is shown here.")
    expect(page.locator(".contrast-gold")).to_contain_text("Right answer:")


def test_a_text_is_edited_measured_and_kept(visitor: Visitor) -> None:
    """The meter counts as the server does; over the limit a reason is asked for; what was wrong stays on the page."""
    visitor.expected = ("422",)
    page = desk(visitor, "mood")
    field = page.get_by_label("Text", exact=True)
    before = field.input_value()
    after, label = EDITS[before]
    reason = page.get_by_label("Why it has to be larger")
    field.fill("Nothing of what stood here before is left in it.")
    expect(reason).to_be_visible()
    field.fill(after)
    expect(reason).to_be_hidden()
    expect(page.locator("[data-tokens]")).to_have_text("1")
    expect(page.locator("[data-edit-of] ins")).to_have_count(1)
    visitor.press("Keep the variant")
    expect(page.get_by_role("alert")).to_contain_text("This cannot be kept yet.")
    expect(field).to_have_value(after)
    page.get_by_label(label).check()
    page.get_by_label("wording").check()
    keep(visitor)
    expect(page.locator(".contrast-variants li").first).to_contain_text("1 changed token")
    visitor.press("Take back variant 1")
    expect(page.locator(".contrast-variants")).to_contain_text("None yet.")


def test_a_draft_counts_only_once_it_is_confirmed(visitor: Visitor) -> None:
    """A draft by a rule fills the copy, is marked, and is refused until answer and grammar were looked at."""
    visitor.expected = ("422",)
    page = desk(visitor, "mood")
    label = {"positive": "negative", "negative": "positive"}[page.locator(".contrast-gold b").inner_text()]
    visitor.press("Drafts by rules")
    page.get_by_label("Start from draft 1").click()
    confirm = page.get_by_label("I have checked that the answer is right and the text is sound")
    expect(confirm).to_be_visible()
    page.get_by_label(label).check()
    page.get_by_label("negation").check()
    visitor.press("Keep the variant")
    expect(page.get_by_role("alert")).to_contain_text("label and grammar")
    confirm.check()
    keep(visitor)
    expect(page.locator(".contrast-variants").first).to_contain_text("draft:")
    visitor.press("Take back variant 1")


def test_the_new_answer_is_marked_in_the_edited_passage(visitor: Visitor) -> None:
    """Text that is selected in the copy becomes the answer, with its place."""
    page = desk(visitor, "reading")
    passage = page.get_by_label("Passage", exact=True)
    passage.fill(passage.input_value().replace("tea", "hot cocoa"))
    passage.evaluate("(one) => one.setSelectionRange(one.value.indexOf('cocoa') - 4, one.value.indexOf('cocoa') + 5)")
    page.get_by_role("button", name="Take the selected text as the answer").click()
    expect(page.get_by_label("Right answer", exact=True)).to_have_value("hot cocoa")
    expect(page.locator("#answer-start")).to_have_value("13")
    keep(visitor)
    expect(page.locator(".contrast-variants b").first).to_have_text("hot cocoa")


def test_the_word_it_attaches_to_is_clicked(visitor: Visitor) -> None:
    """Words of the edited sentence are buttons; the one that was clicked is the answer."""
    page = desk(visitor, "attach")
    page.get_by_label("Sentence", exact=True).fill("He ate pizza with olives .")
    words = page.get_by_role("group", name="Click the word that is right now")
    words.get_by_role("button", name="pizza").click()
    expect(page.get_by_label("Attaches to")).to_have_value("pizza")
    expect(words.get_by_role("button", name="pizza")).to_have_attribute("aria-pressed", "true")
    keep(visitor)
    expect(page.locator(".contrast-variants b").first).to_have_text("pizza")


def test_words_follow_the_edit_and_are_asked_for(visitor: Visitor) -> None:
    """A word put in before moves preposition and answer; an exchanged one asks; what stays the same is filled in."""
    page = desk(visitor, "attach")
    sentence = page.get_by_label("Sentence", exact=True)
    preposition = page.get_by_role("textbox", name="Preposition")
    answer = page.get_by_role("textbox", name="Attaches to")
    keeps = page.get_by_label("The right answer is meant to stay the same")
    pressed = page.get_by_role("group", name="Preposition").locator("[aria-pressed=true]")
    keeps.check()
    expect(answer).to_have_value("ate")
    sentence.fill("Then he ate pizza with friends with glee .")
    expect(preposition).to_have_value("4:with")
    expect(pressed).to_have_attribute("data-place", "4")
    expect(answer).to_have_value("ate")
    sentence.fill("Then he ate pizza without friends .")
    expect(page.get_by_text("“with” is “without” now.")).to_be_visible()
    expect(preposition).to_have_value("with")
    page.get_by_role("group", name="Preposition").get_by_role("button", name="without").click()
    expect(preposition).to_have_value("without")
    keeps.uncheck()
    expect(answer).to_have_value("")
    page.get_by_role("group", name="Click the word").get_by_role("button", name="pizza").click()
    sentence.fill("Then he ate warm pizza without friends .")
    expect(answer).to_have_value("pizza")
    expect(preposition).to_have_value("without")


def test_options_roles_and_pictures_can_be_edited(visitor: Visitor) -> None:
    """Another option is right; a role's sentence changes while its question stands; a picture is swapped."""
    page = desk(visitor, "choice")
    page.get_by_label("Passage", exact=True).fill("The shop opens at five and closes at nine.")
    page.get_by_label("Option 2 is right").check()
    keep(visitor)
    page = take(visitor, "roles")
    expect(page.get_by_label("Question", exact=True)).to_have_count(0)
    page.get_by_label("Sentence", exact=True).fill("The butcher sold us two loaves .")
    page.get_by_label("Right answer", exact=True).fill("The butcher")
    keep(visitor)
    page = take(visitor, "pictures")
    upload = page.get_by_label("Or upload one").nth(1)
    upload.set_input_files({"name": "dark.png", "mimeType": "image/png", "buffer": png(11)})
    page.get_by_label("true", exact=True).check()
    keep(visitor)


def test_somebody_else_checks_and_a_third_decides(visitor: Visitor) -> None:
    """Who checks sees what was changed and no answer; what is contested is decided on a page."""
    visitor.sign_in("zoe")
    page = visitor.go_in_looks("/tasks/mood/contrast/near/check")
    expect(page.get_by_role("heading", name="The changed text")).to_be_visible()
    page.get_by_label("negative", exact=True).check()
    page.get_by_label("No, it is larger").check()
    page.get_by_label("Yes, it reads well").check()
    visitor.press("Send")
    visitor.sign_in("olga")
    page = visitor.go("/tasks/mood/contrast/near/contested")
    first = page.locator("article").first
    expect(first).to_contain_text("The author says:")
    first.get_by_role("button", name="Reject it").click()
    expect(page.locator("main")).to_contain_text("Decide")


def test_the_boundary_tells_right_and_wrong_without_colour(visitor: Visitor) -> None:
    """A wrong neighbour is a square with a cross and has a word; the page says what a contrast set cannot prove."""
    visitor.sign_in("olga")
    page = visitor.go("/tasks/mood/models/simple/contrast/near")
    expect(page.locator("main")).to_contain_text("and never prove it")
    wrong = page.locator("article.boundary").first
    expect(wrong.locator("svg .wrong rect")).to_have_count(1)
    expect(wrong).to_contain_text("wrong")
