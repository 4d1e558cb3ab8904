"""Words are cut by one rule (`core/words.py`): what stands between spaces is no word in half of the world's writing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "quintain"
# Rules of its own for what a word is; `\w` knows no combining mark in `re`, and no word without spaces anywhere.
OWN_RULE = re.compile(r"\\w[+*]|\[\^\\W|\\S\+")
OWN_RULE_OF_PAGES = re.compile(r"\\p\{L\}|\\w\+|split\(/\\s|split\(\" \"\)")

# Files that part something else than a text into words, or words of one language, and why.
ALLOWED = {
    "adapters/answer_reader.py": "the fence of a block of code",
    "adapters/prompts.py": "names in braces",
    "adapters/onnx.py": "the tokens of a model from elsewhere, as its format says",
    "core/look_alikes.py": "words of Latin, Greek and Cyrillic letters",
    "core/words.py": "the rule itself",
    "data/languages.py": "a list of small words",
    "data/publish/card.py": "a list of licences",
    "data/publish/croissant.py": "a list of names",
    "data/readers/qa_srl.py": "the blanks of a pattern",
    "data/sentences.py": "abbreviations, a list of words",
    "data/shared_task.py": "the header of a file",
    "data/where.py": "words of a condition",
    "engine/machine_load.py": "numbers of the system",
    "engine/process_names.py": "numbers of the system",
    "engine/sandbox/cgroups.py": "numbers of the system",
    "engine/sandbox/proctree.py": "numbers of the system",
    "engine/scratch.py": "names of folders",
    "library/speaking.py": "options of a command",
    "models/baselines/span_overlap.py": "the tokens of models of format 1",
    "models/polarity.py": "a list of English words",
    "models/words.py": "a list of words, and the words of models of format 1",
    "perturbations/batch.py": "addresses, handles and marks; words of its own batch, where blanks stand for the rest",
    "perturbations/drafts/antonyms.py": "a list of English words",
    "perturbations/drafts/contract.py": "drafts are of English",
    "perturbations/drafts/entities.py": "drafts are of English",
    "perturbations/drafts/reordering.py": "drafts are of English",
    "perturbations/drafts/substitutes.py": "a list of English words",
    "perturbations/fairness/gender_pairs.py": "a list of English words",
    "perturbations/fairness/mentions.py": "a list of English phrases",
    "perturbations/fairness/nouns.py": "a list of English words",
    "perturbations/fairness/people.py": "a list of names",
    "perturbations/robustness/british_american.py": "a list of English words",
    "perturbations/robustness/contraction.py": "contractions are of English",
    "perturbations/robustness/emoji.py": "a list of English words",
    "perturbations/robustness/number_form.py": "numbers in English words",
    "perturbations/robustness/spelling_error.py": "a list of English words",
    "perturbations/wordlists.py": "a list of English words",
    "protocols/justifications.py": "a list of stock words",
    "services/access/scopes.py": "a list of scopes",
    "services/collect/writing/content_flags.py": "a list of English phrases",
    "services/collect/writing/writing_systems.py": "names of characters",
    "services/evaluate/cells/recount.py": "two numbers",
    "services/evaluate/cells/redact_logs.py": "names of errors",
    "simulate/language.py": "names in braces",
    "stats/artefacts/generic.py": "a list of English words",
    "stats/artefacts/learner.py": "a list of English words",
    "stats/text.py": "texts in ASCII",
    "tasks/positions.py": "a token's number and name",
    "web/forms.py": "tokens, which whoever writes parts by blanks",
    "web/help_pages.py": "names of keys",
    "web/pages/collect/write_form.py": "tokens, which whoever writes parts by blanks",
    "web/pages/trial/owner.py": "whether two letters differ",
    "web/scopes.py": "a list of names",
}
ALLOWED_OF_PAGES = {
    "words.js": "the rule itself",
    "board_dom.js": "names in braces",
    "judge.js": "names in braces",
    "contrast.js": "tokens, which whoever writes parts by blanks",
}


def own_rules(tree: ast.Module) -> Iterator[int]:
    """Find where a module parts texts by blanks, unless to join them again, or has a rule of its own."""
    joined = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"
        for argument in node.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            bare = node.func.attr == "split" and not node.args and not node.keywords
            if bare and id(node) not in joined:
                yield node.lineno
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and OWN_RULE.search(node.value):
            yield node.lineno


def test_the_search_finds_what_counts_words() -> None:
    """Blanks that are made one, and parts by a comma, are no words."""
    source = '" ".join(a.split())\nlen(a.split())\na.split(",")\nre.compile(r"\\w+")\n'
    assert list(own_rules(ast.parse(source))) == [2, 4]


def test_nobody_else_has_a_rule_of_what_a_word_is() -> None:
    """Whatever counts, compares or shows words takes them from the one rule."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if lines := list(own_rules(ast.parse(path.read_text("utf-8")))):
            found[name] = lines
    strange = {name: lines for name, lines in found.items() if name not in ALLOWED}
    assert strange == {}, "take the words from core/words.py, or say in ALLOWED what is parted"
    assert sorted(ALLOWED.keys() - found.keys()) == [], "these part nothing any more"


def test_no_script_of_pages_has_one() -> None:
    """Pages take words from words.js."""
    scripts = sorted((SOURCE / "web" / "static" / "js").glob("*.js"))
    found = {path.name for path in scripts if OWN_RULE_OF_PAGES.search(path.read_text("utf-8"))}
    assert found - ALLOWED_OF_PAGES.keys() == set()
    assert ALLOWED_OF_PAGES.keys() - found <= {"words.js"}
