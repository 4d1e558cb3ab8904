"""Texts that were raised, said in the reader's language."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput, Conflict, Fault
from quintain.web.i18n import LOCALES, Tongue
from quintain.web.said import TEXTS, WORDS, Phrasebook, Template, phrasebook, say, say_fault, tell

ODD = ("<b>&amp;</b>", "ümlaut ß", "100 % sure", "%(name)s", "a\nb", "{}", "'quoted'", "")


def _catalogue() -> list[tuple[str, str]]:
    with (LOCALES / "de" / "LC_MESSAGES" / "errors.po").open("rb") as stream:
        return [(str(one.id), str(one.string)) for one in read_po(stream, locale="de") if one.id]


def _filled(text: str, values: dict[str, str]) -> str:
    return text % values if values else text.replace("%%", "%")


def _holes(text: str) -> list[str]:
    return re.findall(r"%\((\w+)\)s", text)


def test_every_template_comes_through() -> None:
    """Filled with odd values, each template of the catalogue is said in German, with every value kept."""
    lost = []
    for text, translation in _catalogue():
        assert set(_holes(translation)) == set(_holes(text)), text
        values = {name: f"⟦{number}{ODD[number % len(ODD)]}⟧" for number, name in enumerate(_holes(text))}
        said = say("de", _filled(text, values))
        if said != _filled(translation, values):
            lost.append((text, said))
    assert lost == []


def test_most_specific_template_wins() -> None:
    """A template that pins more of the text down is preferred to one that would swallow it."""
    book = Phrasebook(
        [("There is no %(what)s.", "allgemein %(what)s"), ("There is no task '%(name)s'.", "besonders %(name)s")],
        Tongue("de"),
    )
    assert book.say("There is no task 'x'.") == "besonders x"
    assert book.say("There is no bread.") == "allgemein bread"


def test_a_text_within_a_text_is_said_too() -> None:
    """Reasons, and words of ours such as a state, are translated where they stand in another text; names are not."""
    assert say("de", "Round s/1 is closed, not open.") == "Die Runde s/1 ist geschlossen, nicht offen."
    assert say("de", "is 3, not a whole number, 0 or more") == "ist 3; gebraucht wird: eine ganze Zahl ab 0"
    told = say("de", "You cannot do this work yet. The role expert is needed. The quiz “a” has not been passed.")
    assert (
        told == "Sie können diese Arbeit noch nicht tun. Die Rolle expert ist nötig. Das Quiz „a“ ist nicht bestanden."
    )
    assert say("de", "There is no account called 'is missing'.") == "Es gibt kein Konto namens „is missing“."


def test_what_nobody_translated_stays_english() -> None:
    """A text without a template, and any text for an English reader, comes back as it was."""
    assert say("de", "The moon is made of cheese.") == "The moon is made of cheese."
    assert say("en", "ada is the only admin.") == "ada is the only admin."
    assert say("de", "") == ""


def test_faults_say_their_place() -> None:
    """A fault names file, row and field in the reader's language; in English it reads as on the command line."""
    fault = Fault("is missing", file="a.csv", row=3, field="label")
    assert say_fault("de", fault) == "a.csv, Zeile 3, Feld „label“: fehlt"
    assert say_fault("en", fault) == str(fault)
    assert say_fault("en", Fault("is missing", file="a.toml", line=2)) == "a.toml, line 2: is missing"


def test_faults_are_told_once() -> None:
    """One fault is the message; several are listed below a headline; a message of its own stays above them."""
    one = tell("de", BadInput(faults=[Fault("is missing", field="name")]))
    assert (one.message, one.faults) == ("Feld „name“: fehlt", ())
    several = tell("de", BadInput(faults=[Fault("is missing", field="name"), Fault("is empty")], total=7))
    assert several.message == "Etwas daran stimmt nicht"
    assert several.faults == ("Feld „name“: fehlt", "ist leer")
    assert several.more == 5
    plain = tell("de", Conflict("ada is the only admin.", remedy="Make somebody else an admin first."))
    assert plain.remedy == "Machen Sie zuerst jemand anderen zum Admin."


@dataclass
class _Named:
    message: str
    remedy: str | None = None


@given(st.text(max_size=300))
def test_any_text_can_be_told(text: str) -> None:
    """Whatever was raised, there is something to show, and an English reader sees it unchanged."""
    assert tell("en", _Named(text)).message == text
    assert isinstance(tell("de", _Named(text)).message, str)


@given(st.lists(st.text(max_size=40), min_size=2, max_size=2))
def test_values_are_found_again(values: list[str]) -> None:
    """What was put into a template is found again, unless a value holds the very text that parts it from the next."""
    template = Template.of("Model '%(name)s' gave %(n)s answers.", "")
    found = template.match(f"Model '{values[0]}' gave {values[1]} answers.")
    assert found is not None
    if "' gave " not in values[0]:
        assert list(found.values()) == values


def test_a_hostile_text_takes_no_time() -> None:
    """A long text that nearly fits many templates is looked up in linear time."""
    book = phrasebook("de")
    began = time.process_time()
    for text in ("There is no " * 400, "'" * 4_999, "is is is " * 500, "' is not one of " * 300):
        book.say(text)
    assert time.process_time() - began < 1.0


def test_holes_that_hold_our_words_are_known() -> None:
    """The names that said.py treats as texts of ours are names that templates have."""
    names = {name for text, _ in _catalogue() for name in _holes(text)}
    assert names >= WORDS
    assert len(TEXTS & names) >= len(TEXTS) - 2


def test_pages_advise_no_commands() -> None:
    """Who sits at a page reads what can be done there; a remedy that is a command only is left out."""
    both = Conflict("It is full.", remedy="Use `quintain data prune`.", page="Remove a file below.")
    assert tell("en", both).remedy == "Remove a file below."
    assert tell("en", Conflict("It is full.", remedy="Leave it out with --skip-bad.")).remedy is None
    assert tell("en", Conflict("It is full.", remedy="Try again.")).remedy == "Try again."
