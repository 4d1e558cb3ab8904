"""The scripts of the write page count and cut as the server does."""

from __future__ import annotations

import base64
import random

from playwright.sync_api import Browser
from rapidfuzz.distance import Levenshtein

from quintain.stats.diff import edit_size, word_diff
from tests.conftest import ROOT

SCRIPTS = ROOT / "src" / "quintain" / "web" / "static" / "js"
RUN = """async ([source, pairs]) => {
  const {wordDiff, editDistance, tokenDistance} = await import(`data:text/javascript;base64,${source}`);
  return pairs.map(([before, after]) => [
    editDistance(before, after), tokenDistance(before, after), wordDiff(before, after),
  ]);
}"""


def as_module() -> str:
    """Write the script with what it imports as one address that a page can load."""
    rules = base64.b64encode((SCRIPTS / "words.js").read_bytes()).decode()
    source = (SCRIPTS / "worddiff.js").read_text("utf-8")
    source = source.replace("./words.js", f"data:text/javascript;base64,{rules}")
    return base64.b64encode(source.encode()).decode()


def make_pairs(number: int) -> list[tuple[str, str]]:
    """Make pairs of texts with emoji, accents, other scripts and line ends; half are small edits."""
    draw = random.Random(5)  # noqa: S311 - texts to try, not secrets
    letters = "ab c.é😀ש中हि\u0301\n"
    pairs = []
    for place in range(number):
        before = "".join(draw.choices(letters, k=draw.randrange(60)))
        after = "".join(draw.choices(letters, k=draw.randrange(60)))
        if place % 2:
            cut = draw.randrange(len(before) + 1)
            after = before[:cut] + after[: draw.randrange(4)] + before[cut + draw.randrange(4) :]
        pairs.append((before, after))
    return pairs


def test_distance_and_difference_agree_with_the_server(chromium: Browser) -> None:
    """The distance shown while typing is the one that is stored; the pieces give back both texts."""
    pairs = make_pairs(400)
    page = chromium.new_page()
    found = page.evaluate(RUN, [as_module(), pairs])
    page.close()
    for (before, after), (distance, tokens, pieces) in zip(pairs, found, strict=True):
        assert distance == Levenshtein.distance(before, after)
        assert tokens == edit_size(before, after).tokens
        assert "".join(text for kind, text in pieces if kind != "added") == before
        assert "".join(text for kind, text in pieces if kind != "removed") == after


def test_a_changed_word_is_marked_as_in_the_history(chromium: Browser) -> None:
    """On plain edits of a sentence the browser cuts as the server does."""
    pairs = [
        ("a good film", "a god film"),
        ("The soup was good.", "The soup was anything but good."),
        ("same", "same"),
        ("", "new"),
        ("gone", ""),
    ]
    page = chromium.new_page()
    found = page.evaluate(RUN, [as_module(), pairs])
    page.close()
    for (before, after), (*_, pieces) in zip(pairs, found, strict=True):
        assert [tuple(piece) for piece in pieces] == word_diff(before, after)
