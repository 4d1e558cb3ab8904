"""How a run ended, as a template and its values: pages can say it in another language, and databases can keep it."""

from __future__ import annotations

from quintain.core.errors import Conflict
from quintain.core.texts import Text
from quintain.core.untrusted import MESSAGE
from quintain.engine.sandbox.limits import AnswersLost, Outcome, RunEnded


def test_it_remembers_its_template_and_its_values():
    """The message is a text of ours, and the remedy is filled with the same values."""
    error = RunEnded(Outcome.WALL_TIME, "It took {most:g} seconds.", most=5.0, remedy="Give it {most:g} more.", log="x")

    assert isinstance(error.message, Text)
    assert (error.message.template, error.message.values) == ("It took {most:g} seconds.", {"most": 5.0})
    assert (str(error), error.log) == ("It took 5 seconds. Give it 5 more.", "x")


def test_what_a_model_says_is_no_template():
    """Braces in a model's own words stay, and what no database can hold is replaced; a text too long is cut."""
    assert str(AnswersLost(Outcome.CRASHED, "The model raised {error}.", error="{x}")) == "The model raised {x}."
    assert str(RunEnded(Outcome.CRASHED, "{x} is unset")) == "{x} is unset"
    assert str(RunEnded(Outcome.CRASHED, "It said {word}.", word="a\x00b")) == "It said a�b."
    assert len(RunEnded(Outcome.CRASHED, "It said {word}.", word="a" * 2 * MESSAGE).message) == MESSAGE


def test_an_error_is_one_text_with_its_remedy():
    """Where an error becomes a reason within another, neither its template nor that of the remedy is lost."""
    error = Conflict("{name} was withdrawn", name="m", remedy="Ask another one.")

    assert error.text == str(error) == "m was withdrawn. Ask another one."
    assert [value.template for value in error.text.values.values()] == ["{name} was withdrawn", "Ask another one."]
    assert Conflict("no").text.template == "no"
