"""What we write as TOML reads back as what it was."""

from __future__ import annotations

import tomllib
from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.services.work.quiz_files import dump_quiz, parse_quiz
from quintain.tasks.definition import parse_task
from quintain.tasks.writing import dump_task, dump_toml, toml
from tests.properties import examples

HARD = ['\n"""', '"""', "\n'''", '\\\n"', "\r\n", "a\r\nb", "\n\n", "\x7f\n", "\x00\n", '""""""\n', "\n\\", "\ttab\n "]
TEXTS = st.text(alphabet=st.sampled_from("a\"\\\n\t'\r #{}[]=.") | st.characters(codec="utf-8"), max_size=8)
VALUES = (
    TEXTS
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.datetimes(timezones=st.just(UTC))
)
NESTED = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)


@pytest.mark.parametrize("text", HARD)
def test_texts_that_look_like_toml_read_back(text: str) -> None:
    """Three quotation marks, backslashes at a line's end, carriage returns and control characters are not lost."""
    assert tomllib.loads(f"a = {toml(text)}") == {"a": text}
    assert tomllib.loads(dump_toml({"a": text, text: {"b": [text, {text: text}]}})) == {
        "a": text,
        text: {"b": [text, {text: text}]},
    }


@settings(max_examples=examples(60))
@given(NESTED)
def test_a_value_reads_back(value: object) -> None:
    """Whatever a value holds, the right side of a line gives it back."""
    assert tomllib.loads(f"a = {toml(value)}") == {"a": value}


@settings(max_examples=examples(60))
@given(st.dictionaries(TEXTS, NESTED, max_size=4))
def test_a_file_reads_back(tables: dict[str, object]) -> None:
    """Whatever tables hold, and however they are nested, the file gives them back."""
    assert tomllib.loads(dump_toml(tables)) == tables


def test_a_text_of_several_lines_stays_readable() -> None:
    """Instructions are written as lines, as their author would, and not on one line."""
    assert toml("First.\nSecond.") == '"""First.\nSecond."""'


def test_a_quiz_with_hard_texts_reads_back() -> None:
    """Questions whose texts hold quotation marks and lines are the same after writing and reading."""
    definition = {
        "instructions": 'He said:\n"""\nno\n"""',
        "questions": [{"text": '\n"""', "options": ['"', "\\"], "answer": 1}],
    }
    assert parse_quiz(dump_quiz(definition)) == definition


def test_meanings_in_several_languages_are_written_as_they_were_read() -> None:
    """A gloss by language comes back from the file that is written of the task."""
    written = 'name = "x"\nkind = "text-classification"\nlanguages = ["en", "de"]\nlabels = ['
    task = parse_task(written + '{name = "a", gloss = {en = "One.", de = "Eins."}}, {name = "b", gloss = "Two."}]')
    again = parse_task(dump_task(task))
    assert again.labels == task.labels
    assert [label.gloss_in("de") for label in again.labels] == ["Eins.", "Two."]
