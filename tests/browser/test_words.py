"""Pages cut texts into words as the server does."""

from __future__ import annotations

import base64
import json

from playwright.sync_api import Browser

from quintain.core.words import PIECE
from tests.conftest import ROOT

SCRIPT = ROOT / "src" / "quintain" / "web" / "static" / "js" / "words.js"
CASES = json.loads((ROOT / "tests" / "data" / "words.json").read_text("utf-8"))
RUN = """async ([source, texts]) => {
  const {PIECE, isWord, piecesOf} = await import(`data:text/javascript;base64,${source}`);
  return [PIECE.source, texts.map((text) => piecesOf(text)), texts.map((text) => piecesOf(text).filter(isWord))];
}"""


def test_pages_have_the_rules_of_the_server(chromium: Browser) -> None:
    """The rule is the same, letter by letter, and gives the same pieces of every script."""
    page = chromium.new_page()
    texts = [case["text"] for case in CASES]
    rule, pieces, own_words = page.evaluate(RUN, [base64.b64encode(SCRIPT.read_bytes()).decode(), texts])
    page.close()
    assert rule == PIECE
    assert pieces == [case["pieces"] for case in CASES]
    by_text = dict(zip(texts, own_words, strict=True))
    assert by_text["यह फ़िल्म अच्छी है।"] == ["यह", "फ़िल्म", "अच्छी", "है"]
    assert by_text["花了200元。"] == ["花", "了", "200", "元"]
