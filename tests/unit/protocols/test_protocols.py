"""Protocols as files: those that ship have the papers' numbers, and those that cannot work are refused."""

from __future__ import annotations

import pytest

from quintain.core.errors import BadInput, NotFound
from quintain.core.spec import plain, read
from quintain.protocols.paths import expected
from quintain.protocols.reading import parse_protocol, shipped, shipped_text
from quintain.protocols.spec import Protocol
from quintain.services.work.rules import rule_faults
from tests.unit.protocols.courses import CROWD, small


def test_the_protocols_of_the_papers_ship() -> None:
    """The four of Nangia, Sugawara et al. (2021) and DynaSent's, with their numbers."""
    found = shipped()
    assert sorted(found) == ["baseline", "crowd", "expert", "fooling", "justification"]
    assert found["baseline"].data.item_pay == 175
    assert found["justification"].data.item_pay == 200
    assert found["justification"].data.justification
    assert found["fooling"].data.target
    assert (found["fooling"].data.pay, found["fooling"].data.fooling_bonus) == (30, 30)
    for name in ("crowd", "expert"):
        one = found[name]
        assert one.stage("tutorial").tutorial.pay == 350
        assert [stage.bonus.amount for stage in one.stages if stage.bonus] == [150, 500, 700, 1000]
        assert [stage.qualification.top for stage in one.stages if stage.qualification] == [0.6, 0.8, 0.8, 0.8]
        assert [quiz.feedback for quiz in one.stage("tutorial").tutorial.quizzes] == [True, False]
        assert [len(quiz.pairs) for quiz in one.stage("tutorial").tutorial.quizzes] == [4, 4]
    graders = [(stage.grading.by, stage.grading.grades) for stage in found["crowd"].stages if stage.grading]
    assert graders == [("experts", 3), ("experts", 3), ("promoted", 5), ("promoted", 5)]
    assert {(one.validation.votes, one.validation.many, one.validation.sample) for one in found.values()} == {
        (2, 10, 500)
    }


def test_rules_of_entry_are_rules_that_there_are() -> None:
    """Who may come in is decided by the same rules as in a round."""
    rules = [
        rule for one in shipped().values() for stage in one.stages if stage.entry for rule in stage.entry.qualifications
    ]
    assert rules
    assert not [fault for rule in rules for fault in rule_faults(rule)]


def test_of_150_who_finish_the_tutorial_three_in_ten_come_to_the_final_round() -> None:
    """60 % and three times 80 %, if nobody leaves."""
    one = shipped()["expert"]
    assert expected(one.stages, 150)["final"] == pytest.approx(150 * 0.6 * 0.8**3)


def test_a_protocol_is_the_same_after_writing_and_reading() -> None:
    """What is kept gives the same protocol again."""
    for one in [*shipped().values(), small()]:
        assert read(Protocol, plain(one, whole=True)) == one
    with pytest.raises(NotFound, match="did you mean 'expert'"):
        shipped_text("exprt")


WRITING = '[[stages]]\nname = "w"\nwriting = {final = true}\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (CROWD.replace("workers = 12", "workers = 1"), "which leaves nobody"),
        (CROWD.replace('next = "end"\n', 'next = "round-1"\n'), "goes in a circle"),
        (CROWD.replace('otherwise = "consolation"', 'otherwise = "end"'), "no way leads to consolation"),
        (CROWD.replace('of = "tutorial"', 'of = "round-2"'), "needs 'round-2' before it"),
        (CROWD.replace('by = "grades-2", at_least', 'by = "round-2", at_least'), "which is no grading"),
        (CROWD.replace("top = 0.5}", "top = 0.1}"), "nobody grades their own"),
        (CROWD.replace('name = "round-2"', 'name = "round-1"', 1), "'round-1' is given twice"),
        (CROWD.replace('next = "end"', 'next = "nowhere"'), "there is no such stage"),
        (CROWD.replace("final = true, ", ""), "0 stages are 'final = true'"),
        (CROWD.replace("top = 0.8, ", ""), "give either 'top'"),
        (CROWD.replace("contexts = 1, ", ""), "nothing to do"),
        (CROWD.replace("top = 0.8", "top = 0"), "above 0"),
        (f'name = "x"\n{WRITING}grading = {{of = "w"}}\n', "exactly one kind"),
        (f'name = "x"\n{WRITING}[[stages]]\nname = "e"\nentry = {{}}\n', "only the first stage"),
        (f'name = "x"\n{WRITING}[validation]\nvotes = 4\nmany = 3\n', "less than 'votes'"),
        (f'name = "x"\n{WRITING}[validation]\nsetting = 10\n', "leaves none"),
        (
            f'name = "x"\n{WRITING}[[rubric]]\nname = "q"\nask = "Good?"\noptions = [{{name = "yes", say = "Yes", '
            "value = 1}]\n",
            "fewer than two options",
        ),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(text: str, reason: str) -> None:
    """Percentages that leave nobody, circles, stages without a way in, a rubric with one option, and the like."""
    with pytest.raises(BadInput) as raised:
        parse_protocol(text, "p.toml")
    assert reason in str(raised.value)
    assert all(fault.file == "p.toml" for fault in raised.value.faults)
