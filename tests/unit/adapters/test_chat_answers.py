"""Reading answers from what chat models write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.adapters.answer_reader import RULES, ReplyReader, check_reading
from quintain.adapters.chat_reply import read_completion
from quintain.adapters.remote import origin
from quintain.core.errors import BadInput

LABELS = ("negative", "neutral", "positive")


@pytest.mark.parametrize(
    ("text", "kind", "answer"),
    [
        ("positive", "label", "positive"),
        ("**Positive**.", "label", "positive"),
        ("Answer:NEGATIVE", "label", "negative"),
        ("<think>Is it negative? No.</think>\npositive", "label", "positive"),
        ("B", "choice", 1),
        ("b", "choice", 1),
        ("(c)", "choice", 2),
        ("B) Paris, of course", "choice", 1),
        ("The answer is 2.", "choice", 2),
        ("0, 2", "choices", [0, 2]),
        ("A and C", "choices", [0, 2]),
        ("[1]", "choices", [1]),
        ('"in 1912"', "span", "in 1912"),
        ("Der Zug ist da.", "text", "Der Zug ist da."),
    ],
)
def test_replies_that_are_an_answer_are_read(text: str, kind: Any, answer: Any) -> None:
    """Labels in any case, templates and numbers of options, bare texts; what stands around them is taken off."""
    assert ReplyReader("exact", kind, LABELS).read(text) == answer


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Not hateful", "label"),
        ("Hateful? No.", "label"),
        ("It is hateful or it is not", "label"),
        ("<think>hateful", "label"),
        ("", "label"),
        ("A careful reading suggests C", "choice"),
        ("I think the answer is B", "choice"),
        ("A and C", "choice"),
        ("none", "choices"),
    ],
)
def test_replies_that_only_mention_an_answer_are_refused(text: str, kind: Any) -> None:
    """What names an option or a label in passing, denies it or names two is unreadable, never guessed at."""
    with pytest.raises(BadInput, match="reply"):
        ReplyReader("exact", kind, ("hateful", "harmless")).read(text)


def test_the_last_line_is_read_alone() -> None:
    """Under `last_line`, what was argued before does not count; what stands on that line still must be an answer."""
    reader = ReplyReader("last_line", "label", LABELS)
    assert reader.read("It begins negative.\nBut then:\nPositive.\n") == "positive"
    with pytest.raises(BadInput, match="is not one of"):
        reader.read("positive\nor maybe not")


def test_what_follows_a_marker_is_read() -> None:
    """With `after`, the reasoning before it does not count, and a reply without the marker has no answer."""
    reader = ReplyReader("exact", "label", LABELS, after="####")
    assert reader.read("It begins negative, turns neutral. #### positive") == "positive"
    with pytest.raises(BadInput, match="does not contain '####'"):
        reader.read("positive")


def test_a_pattern_finds_the_answer() -> None:
    """The group of the pattern is the answer; where it finds two different ones, neither is."""
    reader = ReplyReader("pattern", "choice", pattern=r"answer is \(?([A-D])")
    assert reader.read("I think the answer is B. Yes, the answer is (B).") == 1
    with pytest.raises(BadInput, match="finds 2 different answers"):
        reader.read("The answer is B, or the answer is C.")
    with pytest.raises(BadInput, match="finds nothing"):
        reader.read("B")


def test_a_pattern_that_never_ends_is_stopped() -> None:
    """A builder's pattern runs on our side; one that backtracks for ever holds nobody up."""
    with pytest.raises(BadInput, match="takes too long"):
        ReplyReader("pattern", "text", pattern=r"(?:a|a|aa)+$").read("a" * 5000 + "b")


def test_an_object_is_read_as_it_was_asked_for() -> None:
    """Under `json` the endpoint is asked for one shape, and what has another is refused."""
    reader = ReplyReader("json", "label", LABELS)
    assert reader.schema()["properties"]["answer"] == {"type": "string", "enum": list(LABELS)}
    assert reader.read('{"answer": "Positive"}') == "positive"
    assert reader.read('```json\n{"answer": "neutral"}\n```') == "neutral"
    assert ReplyReader("json", "choices").read('{"answer": [0, 2]}') == [0, 2]
    for text in ("positive", '{"label": "positive"}', "[" * 5000):
        with pytest.raises(BadInput, match="reply"):
            reader.read(text)


def test_a_longer_label_is_not_taken_for_a_shorter_one() -> None:
    """Here "not entailment" is that label, not "entailment"."""
    assert ReplyReader("exact", "label", ("entailment", "not entailment")).read("Not entailment.") == "not entailment"


@given(st.text(max_size=60), st.sampled_from(["label", "choice", "choices", "text"]), st.sampled_from(RULES))
def test_any_text_is_an_answer_or_a_refusal(text: str, kind: Any, rule: str) -> None:
    """No reply, however odd, breaks the reader."""
    said, found = "", None
    try:
        found = ReplyReader(rule, kind, LABELS, pattern=r"\w+").read(text)
    except BadInput as error:
        said = error.message
    assert "reply" in said if said else kind != "label" or found in LABELS


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"read": "guess"}, "options.read"),
        ({"read": "pattern"}, "options.pattern"),
        ({"pattern": "x"}, "options.pattern"),
        ({"read": "pattern", "pattern": "("}, "options.pattern"),
        ({"read": "pattern", "pattern": "(a)(b)"}, "options.pattern"),
    ],
)
def test_a_rule_that_cannot_work_is_refused_beforehand(options: dict[str, str], field: str) -> None:
    """The fault names the option in the manifest."""
    assert [fault.field for fault in check_reading(options)] == [field]


@pytest.mark.parametrize("reply", [{}, [], None, {"choices": []}, {"choices": [{"message": {"content": 3}}]}])
def test_a_reply_that_is_no_completion_is_refused(reply: Any) -> None:
    """The message shows what came."""
    with pytest.raises(BadInput, match="The endpoint's reply"):
        read_completion(reply)


@pytest.mark.parametrize("url", ["", "x", "ftp://a", "http://", "https://a:b@c", "http://[::1", "javascript:alert(1)"])
def test_what_is_not_a_web_address_is_refused(url: str) -> None:
    """Only plain http and https origins pass."""
    with pytest.raises(BadInput):
        origin(url)


def test_origins_are_compared_with_their_ports() -> None:
    """The default port is the same as none; case does not matter."""
    assert origin("https://A.example/v1") == origin("https://a.example:443")
    assert origin("http://a.example") != origin("https://a.example")
