"""Reading answers from what chat models write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.adapters.chat import read_answer, read_completion
from quintain.adapters.remote import origin
from quintain.core.errors import BadInput

LABELS = ("negative", "neutral", "positive")


@pytest.mark.parametrize(
    ("text", "kind", "answer"),
    [
        ("positive", "label", "positive"),
        ("**Positive**.", "label", "positive"),
        ("The sentiment is clearly NEGATIVE, I think.", "label", "negative"),
        ("B", "choice", 1),
        ("The answer is 2.", "choice", 2),
        ("0, 2", "choices", [0, 2]),
        ('"in 1912"', "span", "in 1912"),
        ("Der Zug ist da.", "text", "Der Zug ist da."),
    ],
)
def test_answers_are_found_in_replies(text: str, kind: str, answer: Any) -> None:
    """Labels in any case, letters and numbers of options, bare texts."""
    assert read_answer(text, kind, LABELS) == answer


def test_what_follows_a_marker_is_read() -> None:
    """With `after`, the reasoning before it does not count."""
    text = "It begins negative, turns neutral. Answer: positive"
    with pytest.raises(BadInput, match="names 3 labels"):
        read_answer(text, "label", LABELS)
    assert read_answer(text, "label", LABELS, "Answer:") == "positive"


def test_a_longer_label_is_not_taken_for_a_shorter_one() -> None:
    """Here "not entailment" is that label, not "entailment"."""
    assert read_answer("I say: not entailment", "label", ("entailment", "not entailment")) == "not entailment"


@given(st.text(max_size=60))
def test_any_text_is_a_label_or_a_refusal(text: str) -> None:
    """No reply, however odd, breaks the reader."""
    try:
        found = read_answer(text, "label", LABELS)
    except BadInput as error:
        found = error.message
    assert found in LABELS or "label" in found


@pytest.mark.parametrize("reply", [{}, [], None, {"choices": []}, {"choices": [{"message": {"content": None}}]}])
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
