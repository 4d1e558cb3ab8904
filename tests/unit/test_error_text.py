"""Texts that were raised, said in the reader's language."""

from __future__ import annotations

import re

from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.rounds import Money
from quintain.core.texts import Text, Word, either, joined, packed, unpacked
from quintain.web.error_text import error_text, fault_text, translated
from quintain.web.i18n import LOCALES


def test_values_come_through_in_german() -> None:
    """The template is translated, and the values, with whatever is in them, are put in as they are."""
    assert (
        translated("de", Text("{name} is the only admin.", name="<b>{ada}%s</b>"))
        == "<b>{ada}%s</b> ist der einzige Admin."
    )
    assert translated("de", Text("It has {n:,} bytes; {size:,} are allowed.", n=1200, size=10)).count("1.200") == 1


def test_money_and_numbers_are_written_as_readers_do() -> None:
    """An amount in a text is written in the reader's language, also after it was kept, and so are shares."""
    paid = unpacked(packed(Text("{money} for your work on {task}: paid.", money=Money(30, "EUR"), task="nli")))
    assert paid == "0.30 EUR for your work on nli: paid."
    assert "0,30\u00a0€" in translated("de", paid)
    assert translated("de", Text("{share:.1%} of {n:,} ({n})", share=0.125, n=1200)) == "12,5\u00a0% of 1.200 (1200)"
    assert translated("de", Text("{code:02x}", code=255)) == "ff"
    assert translated("en", Text("{share:.1%} of {n:,}", share=0.125, n=1200)) == "12.5% of 1,200"


def test_alternatives_are_said_in_the_language_of_the_rest() -> None:
    """Between several of them stands the reader's word for "or"; words of ours are translated, codes are not."""
    roles = either([Word("owner"), Word("expert")])
    assert roles == "owner or expert"
    assert translated("de", roles) == "Leitung oder Fachkundige"
    assert translated(
        "de", Text("The language is not known; {wanted} is needed.", wanted=either(["de", "en", "fr"]))
    ).count("de, en oder fr")


def test_a_text_within_a_text_is_said_too() -> None:
    """Reasons, and words of ours such as a state, are translated where they stand in another text; names are not."""
    closed = Text("Round {ref} is {state}, not open.", ref="s/1", state=Word("closed"))
    assert translated("de", closed) == "Die Runde s/1 ist geschlossen, nicht offen."
    wanted = Text("is {value}, not {wanted}", value=3, wanted=Text("a whole number, 0 or more"))
    assert translated("de", wanted) == "ist 3; gebraucht wird: eine ganze Zahl ab 0"
    missing = joined(
        [Text("The role {role} is needed.", role="expert"), Text("The quiz “{name}” has not been passed.", name="a")]
    )
    told = translated("de", Text("You cannot do this work yet. {missing}", missing=missing))
    assert (
        told == "Sie können diese Arbeit noch nicht tun. Die Rolle expert ist nötig. Das Quiz „a“ ist nicht bestanden."
    )
    called = Text("There is no account called '{name}'.", name="is missing")
    assert translated("de", called) == "Es gibt kein Konto namens „is missing“."


def test_plurals_are_the_languages_own() -> None:
    """German says a number of columns in its own way."""
    said = [
        translated(
            "de",
            Text.plural(
                "{n} column where there should be {width}", "{n} columns where there should be {width}", n=n, width=3
            ),
        )
        for n in (1, 2)
    ]
    assert said == ["1 Spalte, wo 3 sein sollten", "2 Spalten, wo 3 sein sollten"]


def test_what_nobody_translated_stays_english() -> None:
    """A text that no catalogue has, and any text for an English reader, comes back as it was."""
    assert translated("de", Text("The moon is made of {what}.", what="cheese")) == "The moon is made of cheese."
    assert translated("en", Text("{name} is the only admin.", name="ada")) == "ada is the only admin."
    assert translated("de", "") == ""


def test_faults_say_their_place() -> None:
    """A fault names file, row and field in the reader's language; in English it reads as on the command line."""
    fault = Fault("is missing", file="a.csv", row=3, field="label")
    assert fault_text("de", fault) == "a.csv, Zeile 3, Feld „label“: fehlt"
    assert fault_text("en", fault) == str(fault)
    assert fault_text("en", Fault("is missing", file="a.toml", line=2)) == "a.toml, line 2: is missing"


def test_faults_are_told_once() -> None:
    """One fault is the message; several are listed below a headline; a message of its own stays above them."""
    one = error_text("de", BadInput(faults=[Fault("is missing", field="name")]))
    assert (one.message, one.faults) == ("Feld „name“: fehlt", ())
    several = error_text("de", BadInput(faults=[Fault("is missing", field="name"), Fault("is empty")], total=7))
    assert several.message == "Etwas daran stimmt nicht"
    assert several.faults == ("Feld „name“: fehlt", "ist leer")
    assert several.more == 5
    plain = error_text(
        "de", Conflict("{name} is the only admin.", name="ada", remedy="Make somebody else an admin first.")
    )
    assert plain.remedy == "Machen Sie zuerst jemand anderen zum Admin."


@given(st.text(max_size=300))
def test_any_text_can_be_told(text: str) -> None:
    """Whatever was raised, there is something to show, and an English reader sees it unchanged."""
    assert error_text("en", Conflict(text)).message == text
    assert isinstance(error_text("de", Conflict(text)).message, str)


def test_pages_advise_no_commands() -> None:
    """Who sits at a page reads what can be done there; a remedy that is a command only is left out."""
    both = Conflict("It is full.", remedy="Use `quintain data prune`.", page="Remove a file below.")
    assert error_text("en", both).remedy == "Remove a file below."
    assert error_text("en", Conflict("It is full.", remedy="Leave it out with --skip-bad.")).remedy is None
    assert error_text("en", Conflict("It is full.", remedy="Try again.")).remedy == "Try again."


def test_translations_are_formal_and_whole() -> None:
    """Every German text keeps the line breaks of its original, and nobody is addressed as a friend."""
    with (LOCALES / "de" / "LC_MESSAGES" / "errors.po").open("rb") as stream:
        pairs = [(str(one.id), str(one.string)) for one in read_po(stream, locale="de") if one.id]
    assert len(pairs) > 1_000
    assert [text for text, said in pairs if text.count("\n") != said.count("\n")] == []
    assert [said for _, said in pairs if {"du", "dein", "deine", "dir", "dich"} & set(said.lower().split())] == []


def test_pages_are_formal() -> None:
    """On German pages, too, nobody is addressed as a friend: there is one voice from the first page to the last."""
    with (LOCALES / "de" / "LC_MESSAGES" / "messages.po").open("rb") as stream:
        entries = [one.string for one in read_po(stream, locale="de") if one.id]
    texts = [text for entry in entries for text in ((entry,) if isinstance(entry, str) else entry)]
    assert len(texts) > 1_000
    friend = re.compile(r"\b(du|dir|dich|deine?[nmrs]?)\b", re.IGNORECASE)
    assert [text for text in texts if friend.search(text)] == []
