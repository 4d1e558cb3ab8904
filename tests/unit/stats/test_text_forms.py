"""Texts that are the same to a reader are the same wherever two of them are compared."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import polars as pl
import pytest

import quintain
from quintain.core.example import Example
from quintain.core.look_alikes import in_latin
from quintain.core.text_form import IGNORABLE, form_id, spelling_ids, text_form
from quintain.data.identity import example_ids, form_ids
from quintain.data.identity import spelling_ids as columns_of_spellings
from quintain.services.collect.writing.duplicates import nearest, text_key
from quintain.services.harvest.sample import normal_forms
from quintain.services.plain.files.overlap import overlap_files
from quintain.stats.near_duplicates import find_pairs, squeeze

TEXT = "Das Café über dem Fluß serviert guten Kaffee und große Kuchen."
LOOK_ALIKE = str.maketrans("aeopc", "аеорс")
SAME = {
    "accents apart": unicodedata.normalize("NFD", TEXT),
    "zero width": TEXT.replace("e", "e\u200b"),
    "soft hyphens": TEXT.replace("ff", "f\u00adf"),
    "byte order mark": "\ufeff" + TEXT,
    "blanks": TEXT.replace(" ", " \u00a0 "),
    "look-alikes": TEXT.replace("Kaffee", "Kаffeе").replace("große", "grоßе"),
}


@pytest.mark.parametrize("name", SAME)
def test_what_cannot_be_seen_makes_no_other_text(name: str, tmp_path: Path) -> None:
    """Near-duplicates, overlap, harvest, prompts and writers' texts meet; the ids of what is stored differ."""
    other = SAME[name]
    assert text_form(other) == text_form(TEXT)
    assert squeeze(other) == squeeze(TEXT)
    assert find_pairs([TEXT, "Something else.", other])[0].tolist() == [2]
    assert normal_forms(pl.Series([TEXT, other])).n_unique() == 1
    assert text_key("t", {"text": TEXT}) == text_key("t", {"text": other})
    assert nearest(other, ["nothing", TEXT]) == 1
    assert form_id({"text": TEXT, "more": [TEXT]}) == form_id({"text": other, "more": [other]})
    assert Example({"text": TEXT}).id != Example({"text": other}).id
    for file, text in (("a.jsonl", TEXT), ("b.jsonl", other)):
        pl.DataFrame({"text": [text]}).write_ndjson(tmp_path / file)
    assert overlap_files(tmp_path / "a.jsonl", tmp_path / "b.jsonl").exact == 1


def test_columns_have_the_same_forms_as_single_texts() -> None:
    """Ids of forms are those of the examples that the forms would be, a table at a time."""
    table = pl.DataFrame({"text": [TEXT, *SAME.values(), ""], "words": [["a\u200b", "b"]] * (len(SAME) + 2)})
    single = [form_id(row) for row in table.iter_rows(named=True)]
    assert form_ids(table, ["text", "words"]).to_list() == single
    assert example_ids(table, ["text", "words"]).n_unique() == table.height


def test_look_alikes_are_the_same_wherever_texts_are_compared() -> None:
    """Cyrillic and Greek letters that pass for Latin ones are taken for them; Russian and Greek stay what they are."""
    text = "People cope, space opera and peace are nice"
    assert squeeze(text.translate(LOOK_ALIKE)) == squeeze(text)
    assert text_form(text.translate(LOOK_ALIKE)) == text
    assert form_ids(pl.DataFrame({"text": [text, text.translate(LOOK_ALIKE)]}), ["text"]).n_unique() == 1
    assert normal_forms(pl.Series([text, text.translate(LOOK_ALIKE), None])).n_unique() == 2
    for own in ("Это хорошее кино, оно нам нравится", "Η ταινία είναι καλή", "Он сказал «peace»"):
        assert in_latin(own) == own
        assert text_form(own) == own


def test_a_letter_with_its_accent_apart_is_composed_after_it_became_latin() -> None:
    """A Cyrillic а with an accent has no form of its own, and is the á that it looks like in a Latin word."""
    assert text_form("clаse mаgnifica hаbl\u0430\u0301") == "clase magnifica hablá"


@pytest.mark.parametrize("name", SAME)
def test_what_is_stored_is_found_by_one_of_its_spellings(name: str) -> None:
    """Its id is that of the characters that it came with; a table and a single text ask for the same ids."""
    other = SAME[name]
    table = pl.DataFrame({"text": [other], "words": [[other]]})
    ids = spelling_ids({"text": other, "words": [other]})
    assert {column[0] for column in columns_of_spellings(table, ["text", "words"])} == set(ids)
    assert Example({"text": other, "words": [other]}).id in ids
    assert Example({"text": TEXT, "words": [TEXT]}).id in ids
    apart = unicodedata.normalize("NFD", TEXT)
    assert Example({"text": apart}).id in spelling_ids({"text": other})


def test_what_is_ignorable_is_what_unicode_says() -> None:
    """None of these characters is a letter, a number, a mark of punctuation or a blank."""
    kinds = {unicodedata.category(sign) for sign in IGNORABLE if sign != "-"}
    assert kinds <= {"Cf", "Mn", "Lo", "Cn"}


def test_twins_never_part_in_a_split() -> None:
    """Of texts in two forms of Unicode both go the same way, at the default likeness and at 1."""
    texts = [f"Le café numéro {at * 7919} était très éloigné de l’hôtel {at * 104729}." for at in range(60)]
    rows = [{"text": text, "label": "yes" if at % 2 else "no"} for at, text in enumerate(texts)]
    rows += [{**row, "text": unicodedata.normalize("NFD", row["text"])} for row in rows]
    for similarity in (0.9, 1.0):
        split = quintain.release(rows, dev=12, test=12, similarity=similarity).table["split"].to_list()
        homes = [{one, other} - {None} for one, other in zip(split[:60], split[60:], strict=True)]
        assert all(len(home) <= 1 for home in homes)
        assert {"train", "dev", "test"} <= {name for home in homes for name in home}
