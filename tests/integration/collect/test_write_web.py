"""The pages where people write, over HTTP: every bad input has its message, and nothing that counts is trusted."""

from __future__ import annotations

import re

import pytest
from starlette.responses import Response

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.links import make_link, redeem_link
from quintain.services.collect.rounds.export import attempts_table
from quintain.services.collect.rounds.manage import close_round
from quintain.services.collect.rounds.round_figures import counters
from quintain.services.collect.writing import sessions
from quintain.services.collect.writing import submit_attempt as collect
from quintain.services.models import ask
from tests.web_support import PASSWORD, browser_of, csrf_of, on_one_line, post
from tests.write_site import HTMX, Site, begin, made, ref_of, send, token_of
from tests.writing_rounds import PASSAGE, add_quiz


def test_a_verdict_comes_with_bars_and_is_said_plainly(site: Site) -> None:
    """The answer names the model's label, its probabilities, what was aimed at, and the tries used."""
    answer = send(
        site.client, begin(site.client, site.open()), in_text="It was a wonderful, warm evening.", answer="positive"
    )
    assert answer.status_code == 200
    assert answer.headers["hx-retarget"] in {"#verdict", "#writing"}
    assert "1 of 10 tries used." in answer.text
    assert answer.text.count("<li") >= 3
    assert re.search(r"data-say=\"(You fooled it|Not this time)\. ngram says: ", answer.text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Text: is empty"),
        ("   \n ", "Text: is empty"),
        ("x" * 100_000, "Text: has 100000 characters; at most 20000 are allowed"),
        ("x" * 100_001, "nobody will read more than 100,000"),
        ("bad\x07char", "Text: has a control character"),
        ("mixed \u202eabc\u202c fine", "Text: has an invisible character (right-to-left override)"),
    ],
)
def test_a_text_that_cannot_be_taken_says_why(site: Site, text: str, message: str) -> None:
    """Empty, too long or with control characters: a message beside the text, no attempt used."""
    place = site.open()
    answer = send(site.client, begin(site.client, place), in_text=text, answer="positive")
    assert answer.status_code == 422
    assert message in answer.text
    assert made(site, place) == 0


@pytest.mark.parametrize(
    "text",
    [
        "😀 what a treat 🎉",
        "היה נחמד מאוד",
        "<script>alert(1)</script> nice",
        "mixed \u200fשלום\u200f fine",
        "a" * 20_000,
    ],
)
def test_unusual_texts_are_taken_and_shown_as_text(site: Site, text: str) -> None:
    """Emoji, right-to-left writing and markup are texts like any other; markup is never markup."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    answer = send(client, address, in_text=text, answer="positive")
    assert answer.status_code == 200, answer.text
    assert made(site, place) == 1
    assert "<script>alert" not in answer.text + client.get(address).text + client.get("/work").text


def test_a_label_must_be_chosen_and_must_exist(site: Site) -> None:
    """No target, or one that the task does not have, is refused with words."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    assert "say first which answer is right" in send(client, address, in_text="Fine weather today.").text
    assert "label &#39;splendid&#39;" in send(client, address, in_text="Fine weather.", answer="splendid").text
    assert made(site, place) == 0


def test_the_prompt_unchanged_is_refused(site: Site) -> None:
    """Returning the prompt as it was costs no attempt."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    prompt = re.search(r'data-before="([^"]+)"', client.get(address).text)
    assert prompt
    answer = send(client, address, in_text=prompt[1], answer="positive")
    assert answer.status_code == 422
    assert "this is the prompt, unchanged" in answer.text
    assert made(site, place) == 0


def test_a_session_under_way_is_gone_on_with(site: Site) -> None:
    """Every page that leads to writing leads back to what was begun, until it has ended."""
    place = site.open()
    client = site.client
    assert "Start writing" in client.get(f"{place}/write").text
    address = begin(client, place)
    pages = (f"{place}/write", "/work", "/tasks/sentiment/write", "/tasks/sentiment", "/tasks/sentiment/rounds", place)
    for page in pages:
        shown = client.get(page, follow_redirects=True).text
        assert re.search(rf'href="{address}"[^>]*>\s*(<svg.*?</svg>)?\s*Go on writing', shown, re.DOTALL), page
    post(client, address, f"{address}/give-up")
    for page in pages[1:]:
        assert address not in client.get(page, follow_redirects=True).text, page


def test_a_replayed_form_counts_once(site: Site) -> None:
    """A double click or the back button sends the same token: the first verdict is given again."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    token = token_of(client.get(address).text)
    first, second = (send(client, address, token=token, in_text="Quite a day.", answer="neutral") for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert made(site, place) == 1
    assert "1 of 10 tries used." in second.text


def test_the_same_text_twice_is_refused(site: Site) -> None:
    """With a new token the same text is a duplicate, and said to be one."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    send(client, address, in_text="The soup was warm and the bread was fresh.", answer="neutral", headers=None)
    decline(site.workspace, address)
    again = send(client, address, in_text="The soup was warm, and the bread was fresh!", answer="neutral")
    assert again.status_code == 409
    assert "submitted this very text before" in again.text
    assert made(site, place) == 1


def decline(workspace: Workspace, address: str) -> None:
    """Say of whatever fooled the model that others would disagree, so that the session goes on."""
    with workspace.session() as db:
        actor = actor_of(db, find_user(db, "demo-worker"))
        pending = sessions.get_session(db, actor, address.rpartition("/")[2]).pending
        if pending:
            collect.confirm(db, actor, pending, False)


def test_forged_answers_are_ignored(site: Site) -> None:
    """Whatever a form says of prediction, fooled or worker, the server asks the model and knows the worker."""
    place = site.open()
    forged = {
        "prediction": "negative",
        "probabilities": '{"negative": 1}',
        "fooled": "true",
        "user_id": "1",
        "worker": "admin",
    }
    text = "It was a splendid and happy evening, thank you."
    send(site.client, begin(site.client, place), in_text=text, answer="positive", **forged)
    with site.workspace.session() as db:
        found = counters(db, OPERATOR, ref_of(place))
        table = attempts_table(db, OPERATOR, ref_of(place))
    assert [one.name for one in found.by_worker] == ["demo-worker"]
    row = table.row(0, named=True)
    assert row["model"] == "sentiment/ngram@1"
    assert row["fooled"] == (row["prediction"] != "positive")


def test_what_a_prompt_gives_cannot_be_changed(site: Site) -> None:
    """A forged premise is refused; without one the prompt's own is stored."""
    place = site.open("nli")
    address = begin(site.client, place)
    forged = {"in_premise": "Nothing.", "in_hypothesis": "Somebody is outside at work."}
    refused = send(site.client, address, **forged, answer="neutral")
    assert refused.status_code == 422
    assert "Premise: is given in this round and cannot be changed" in refused.text
    assert made(site, place) == 0
    answer = send(site.client, address, in_hypothesis="Somebody is outside at work.", answer="neutral")
    assert answer.status_code == 200, answer.text
    with site.workspace.session() as db:
        actor = actor_of(db, find_user(db, "demo-worker"))
        inputs = collect.desk(db, actor, address.rpartition("/")[2]).verdicts[0].inputs
    assert inputs["premise"] not in {"", "Nothing."}


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ({"answer": "a castle"}, "is not in &#39;passage&#39;"),
        ({"answer": "1894", "answer_start": "3"}, "does not start at character 3"),
        ({"answer": "1894", "answer_start": "999999"}, "does not start at character 999999"),
        ({"answer": "1894", "answer_start": "-1"}, "does not start at character -1"),
        ({"answer": ""}, "say first which answer is right"),
    ],
)
def test_a_span_outside_its_passage_says_so(site: Site, span: dict[str, str], message: str) -> None:
    """A span that is not where it says, or nowhere, is refused; the question is kept as a draft."""
    address = begin(site.client, site.open("qa"))
    answer = send(site.client, address, in_question="When was it built?", **span)
    assert answer.status_code == 422
    assert message in answer.text
    assert "When was it built?" in site.client.get(address).text


def stored_target(site: Site, address: str) -> object:
    """Give the answer that the last attempt of a session aimed at, as it is stored."""
    with site.workspace.session() as db:
        actor = actor_of(db, find_user(db, "demo-worker"))
        return collect.desk(db, actor, address.rpartition("/")[2]).verdicts[-1].target


def test_a_typed_span_is_found_where_it_stands_alone(site: Site) -> None:
    """Typed, not selected: the server finds where it begins."""
    address = begin(site.client, site.open("qa"))
    answer = send(site.client, address, in_question="Who built the mill, by trade?", answer="Ada Lund")
    assert answer.status_code == 200, answer.text
    found = stored_target(site, address)
    assert isinstance(found, dict)
    assert (found["text"], PASSAGE.replace("Korda", "Lomsa").find("Ada Lund")) == ("Ada Lund", found["start"])


def test_a_typed_span_that_stands_twice_is_asked_about(site: Site) -> None:
    """Which one is meant is asked, with the text around each; the choice counts as long as the text stays."""
    address = begin(site.client, site.open("qa"))
    asked = send(site.client, address, in_question="What did she do to it, then?", answer="it")
    assert asked.status_code == 422
    assert "say which one you mean" in asked.text
    places = re.findall(r'name="answer-place" value="(\d+):it"', asked.text)
    assert len(places) > 1
    stale = {"answer-place": f"{places[1]}:something else"}
    assert send(site.client, address, in_question="What did she do?", answer="it", **stale).status_code == 422
    sent = send(
        site.client, address, in_question="What did she do?", answer="it", **{"answer-place": f"{places[1]}:it"}
    )
    assert sent.status_code == 200, sent.text
    assert stored_target(site, address) == {"text": "it", "start": int(places[1])}


def test_a_round_that_closes_while_typing_keeps_the_text(site: Site) -> None:
    """It is said that the round closed, and the text is there afterwards."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    page = client.get(address).text
    data = {"csrf": csrf_of(client, address), "token": token_of(page), "in-text": "My last words.", "answer": "neutral"}
    with site.workspace.session() as db:
        close_round(db, OPERATOR, ref_of(place))
    answer = client.post(f"{address}/try", data=data, headers=HTMX)
    assert answer.status_code == 409
    assert "It ended while you were writing." in answer.text
    after = client.get(address).text
    assert "The round has closed" in after
    assert "My last words." in after


def test_a_dead_model_costs_no_attempt(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the model does not answer it is said, and the text is kept."""
    place = site.open()
    client, address = site.client, begin(site.client, place)

    def die(*_: object) -> list[object]:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(ask.InProcess, "__call__", die)
    answer = send(client, address, in_text="A text worth keeping.", answer="neutral")
    assert answer.status_code == 503
    assert "This cost you no attempt" in answer.text
    assert "A text worth keeping." in client.get(address).text
    assert made(site, place) == 0


def test_it_works_without_scripts(site: Site) -> None:
    """A plain form leads back to the page, which shows the verdict; a refused one keeps what was typed."""
    client, address = site.client, begin(site.client, site.open())
    refused = send(client, address, headers=None, in_text="Only a text", answer="")
    assert refused.status_code == 422
    assert "Only a text" in refused.text
    taken = send(client, address, headers=None, in_text="Only a text with a label", answer="neutral")
    assert (taken.status_code, taken.headers["location"]) == (303, address)
    assert "1 of 10 tries used." in client.get(address).text


def test_sessions_are_private(site: Site) -> None:
    """Nobody else can open, answer or end somebody's session; nobody at all is sent to the log-in page."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    other = site.owner
    assert other.get(address).status_code == 404
    assert post(other, "/account", f"{address}/try", token="t").status_code == 404
    assert post(other, "/account", f"{address}/give-up").status_code == 404
    assert client.get(address).status_code == 200
    with browser_of(site.workspace) as nobody:
        assert nobody.get(address).headers["location"] == f"/login?next={address}"


def test_the_warning_comes_before_anything(site: Site) -> None:
    """Warning, then consent, then the quiz; opting out is one click at each step, and can be taken back."""
    add_quiz(site.workspace, "sentiment")
    more = 'content_warning = "Rude words."\nconsent = "We keep your texts."\nquizzes = ["basics"]\n'
    client, place = site.client, site.open(more=more + 'instructions = "Secret instructions."')
    first = client.get(f"{place}/write").text
    assert "Rude words." in first
    assert "Secret instructions." not in first
    assert "for a session, fooled or not" in first
    assert client.get(f"{place}/practice").headers["location"] == f"{place}/write"
    assert post(client, f"{place}/write", f"{place}/write").status_code == 403
    for choice, shown in (
        ("opt_out", "You have opted out"),
        ("opt_in", "Rude words."),
        ("warning", "We keep your texts."),
        ("consent", "Secret instructions."),
    ):
        post(client, f"{place}/write", f"{place}/choice", choice=choice)
        page = client.get(f"{place}/write").text
        assert shown in page
        assert ("for a session, fooled or not" in page) == (choice != "opt_out")
    assert "has not been passed" in client.get(f"{place}/write").text
    quiz = "/tasks/sentiment/quizzes/basics"
    wrong = post(client, quiz, quiz, **{"answer-0": "1", "answer-1": "1"})
    assert "1 of 2 are right; 2 are needed." in wrong.text
    feedback = post(client, quiz, f"{quiz}/practice", question="0", answer="0").text
    assert "Irony counts as what is meant." in feedback
    assert "Passed: 2 of 2" in post(client, quiz, quiz, **{"answer-0": "0", "answer-1": "1"}).text
    assert begin(client, place).startswith("/write/")


def test_the_sandbox_stores_nothing(site: Site) -> None:
    """It answers like the real page, and no attempt, session or draft comes of it."""
    place = site.open()
    sandbox = f"{place}/practice"
    answer = post(site.client, sandbox, sandbox, **{"in-text": "What a lovely place to be.", "answer": "positive"})
    assert answer.status_code == 200
    assert "Sandbox: nothing is stored" in answer.text
    assert "says ngram" in answer.text
    assert made(site, place) == 0


def test_a_worker_sees_takes_back_and_exports_their_work(site: Site) -> None:
    """Attempts are listed with a button to retract each, and leave as JSON; earnings stand beside them."""
    place = site.open()
    client, address = site.client, begin(site.client, place)
    send(client, address, in_text="A text that I shall regret.", answer="neutral", headers=None)
    post(client, address, f"{address}/give-up")
    page = client.get("/work").text
    assert "A text that I shall regret." in page
    number = re.search(r'name="attempt" value="(\d+)"', page)
    assert number
    post(client, "/work", "/work/retract", attempt=number[1])
    assert client.get("/work/export").json()["attempts"][0]["retracted"] is True
    earned = client.get("/work/earnings/export").json()["earnings"]
    assert (earned[0]["amount"], earned[0]["status"]) == (3, "pending")
    assert "0.03 USD" in client.get("/work/earnings").text
    assert made(site, place) == 0


def responses_are_private(answer: Response) -> bool:
    """Say whether an answer may not be kept by anybody."""
    return answer.headers["cache-control"] == "no-store"


def test_drafts_are_kept(site: Site) -> None:
    """What autosave sends is there when the page is opened again, in whatever state it was."""
    client, address = site.client, begin(site.client, site.open())
    answer = post(client, address, f"{address}/draft", **{"in-text": "half a sent", "answer": "negative"})
    assert answer.status_code == 204
    page = client.get(address)
    assert responses_are_private(page)
    assert "half a sent" in page.text
    assert 'value="negative" checked' in on_one_line(page)


def test_who_may_not_write_reads_why_before_trying(site: Site) -> None:
    """A builder is told on the first page which role is missing, who gives it, and what can be done without it."""
    with site.workspace.session() as db:
        redeem_link(db, make_link(db, OPERATOR, "demo-builder").token, PASSWORD)
    page = on_one_line(browser_of(site.workspace, "demo-builder").get(f"{site.open()}/write"))
    assert "This needs the role worker, expert or owner of task &#39;sentiment&#39;" in page
    assert "An admin can grant it." in page
    assert 'href="/tasks/sentiment/talk"' in page.partition("Ready?")[2]
    assert "Start writing" not in page
    assert "/practice" not in page
