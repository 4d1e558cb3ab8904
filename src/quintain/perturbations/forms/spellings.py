"""Other ways to write a word: misspellings, short forms, abbreviations, numbers in digits."""

from __future__ import annotations

import regex

from quintain.perturbations.batch import TextBatch
from quintain.perturbations.contract import Proposal
from quintain.perturbations.matches import edit_matches
from quintain.perturbations.wordbooks import Table, any_of, compiled, pairs_of
from quintain.perturbations.wordlists import cased_like

_BEFORE, _BEHIND = r"(?<![\p{L}\p{M}\p{N}_'’-])", r"(?![\p{L}\p{M}\p{N}_'’-])"


def misspelt(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Misspell words: those of the list, and others by the rules of the language."""
    listed, rules = pairs_of(table["words"]), [rule.rpartition("=") for rule in table.get("rules", ())]
    if not rules:  # no space parts words: what is listed is sought wherever it stands
        return edit_matches(batch, compiled(any_of([*listed])), rate, lambda match, draw: listed[match[0]])

    def replace(match: regex.Match[str], draw: int) -> str | None:
        word = match[0]
        if wrong := listed.get(word.lower()):
            return cased_like(word, wrong)
        forms = [compiled(right).sub(wrong, word, count=1) for right, _, wrong in rules]
        changed = [form for form in dict.fromkeys(forms) if form != word]
        return changed[draw % len(changed)] if changed else None

    letter = table.get("letters", r"\p{Latin}")
    pattern = rf"{_BEFORE}(?:(?i:{any_of([*listed])})|(?:{letter}\p{{M}}*+){{{table['shortest']},}}+){_BEHIND}"
    return edit_matches(batch, compiled(pattern), rate, replace)


def shortened(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Write words together as people speak, or apart again."""
    two_way = pairs_of(table["two_way"])
    either = two_way | {short: long for long, short in two_way.items()}
    return _exchanged(batch, rate, either)


def abbreviated(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Write words as in messages."""
    return _exchanged(batch, rate, pairs_of(table["words"]))


def _exchanged(batch: TextBatch, rate: float, pairs: dict[str, str]) -> Proposal:
    pattern = compiled(rf"{_BEFORE}(?i:{any_of([*pairs])}){_BEHIND}")
    return edit_matches(
        batch, pattern, rate, lambda match, draw: cased_like(match[0], pairs[match[0].lower().replace("’", "'")])
    )


def other_number(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Write numbers that count something in digits for words, and in words for digits where nothing agrees."""
    words = {word: digits for name in ("words", "others") for digits, word in table.get(name, {}).items()}
    fixed = table["one_way"]
    back = {} if fixed == ["*"] else {digits: word for digits, word in table["words"].items() if word not in fixed}
    either = f"{any_of([*words])}|{any_of([*back])}" if back else any_of([*words])

    def replace(match: regex.Match[str], draw: int) -> str | None:
        digits: str | None = words.get(match[0].lower())
        if digits:
            return digits
        opens = not match.string[: match.start()].strip() or match.string[: match.start()].rstrip()[-1] in ".!?"
        return cased_like("X" if opens else "x", back[match[0]])

    return edit_matches(batch, compiled(rf"{table['before']}(?i:{either}){table['behind']}"), rate, replace)
