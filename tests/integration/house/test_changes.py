"""What a file leaves out: every verb that replaces everything shows it, and refuses to reset it in silence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.core.editing import EditOrigin
from quintain.core.errors import BadInput, QuintainError
from quintain.core.people import Actor
from quintain.core.spec_changes import ChangesToConfirm, compare
from quintain.services.house.changes import PUTS, preview
from quintain.services.pay.policy import get_policy
from quintain.services.validate.console.manage import open_validation
from quintain.store.base import Base
from quintain.store.blobs import Blobs
from tests.collecting import ROUND, TASK, add_models
from tests.contests import CONTEST, add_contest_task, during
from tests.contrasting import PROJECT, begin
from tests.integration.trial.life import PLAIN, TRAINED

POLICY = "hourly = 1500\nproject_cap = 5000\n[[steps]]\nqualification = 'second'\namount = 500\n"
QUIZ = """
tries = 2
[[questions]]
text = "2 + 2?"
options = ["3", "4"]
answer = 1
[[questions]]
text = "2 + 3?"
options = ["5", "4"]
answer = 0
"""
JUDGING = "page_size = 5\nminimum = 3\n[reward]\namount = 75\ncurrency = 'USD'\n"
DOORS = 'batch = 4\n[entry]\nprovider = "panel"\nid_parameter = "pid"\ncompletion_code = "C"\n'
CODING = (
    'task = "mood"\nname = "look"\ntitle = "A look"\nsources = ["data/test"]\nitems = 4\ninstructions = "Look twice."\n'
)
TASK_TEXT = TASK.strip() + '\ninstructions = "Read it twice."\n'
LONGER = ROUND.format(more='number = 1\ninstructions = "Be kind."', targets='mode = "none"', tables="")
# What it is: the place, the text that holds, and an option that it sets and that a shorter one does not mention.
VERBS: Mapping[str, tuple[str, str, str]] = {
    "task": ("mood", TASK_TEXT, "instructions"),
    "board": ("mood", "human = 0.9\nmetric = 'macro_f1'\n", "metric"),
    "pay policy": ("mood", POLICY, "project_cap"),
    "quiz": ("mood/intro", QUIZ, "tries"),
    "round": ("mood", LONGER, "instructions"),
    "judging": ("mood/items", JUDGING, "reward"),
    "contest": ("mood", CONTEST.format(more='description = "Be fair."'), "description"),
    "contrast project": ("mood", PROJECT, "limit"),
    "coding": ("mood", CODING, "instructions"),
    "trial": ("mood/first", TRAINED, "arms.trained.stages.bonus"),
    "doors": ("mood/first", DOORS, "batch"),
}


def shorter(what: str) -> str:
    """Give the text of a verb without the option that it is to keep."""
    text, option = VERBS[what][1], VERBS[what][2]
    if what == "trial":
        return text.replace('[[stages]]\nname = "bonus"\nbonus = {amount = 150}\n', "")
    if f"[{option}]" in text:
        return text[: text.index(f"[{option}]")]
    return "".join(f"{line}\n" for line in text.splitlines() if not line.startswith(f"{option} ="))


@pytest.fixture
def place(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A task with a test set, a model, a judging and a trial; and nothing else yet."""
    begin(db, blobs, owner, tmp_path)


def prepare(db: Session, blobs: Blobs, owner: Actor, folder: Path, what: str) -> None:
    """Make what a verb needs, and let its text hold."""
    if what == "contest":
        add_contest_task(db, blobs, owner, folder)
    elif what in {"contrast project", "coding"}:
        begin(db, blobs, owner, folder)
    else:
        PUTS["task"](db, blobs, owner, "mood", [TASK_TEXT], EditOrigin())
    if what == "round":
        add_models(db, blobs, owner, folder)
    if what == "judging":
        open_validation(db, owner, "mood/items")
    if what == "doors":
        PUTS["trial"](db, blobs, owner, "mood/first", [PLAIN], EditOrigin())


def rows(db: Session) -> dict[str, int]:
    """Count the rows of every table."""
    return {
        name: db.scalar(select(func.count()).select_from(table)) or 0 for name, table in Base.metadata.tables.items()
    }


def test_every_verb_has_an_example() -> None:
    """A verb that is added to the list is walked over below."""
    assert set(VERBS) == set(PUTS)


@pytest.mark.parametrize("what", VERBS)
def test_a_truncated_file_resets_nothing_in_silence(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, what: str
) -> None:
    """Empty: refused. Shorter: refused by the option's name, seen in a preview, and made once it is removed by name."""
    ref, text, option = VERBS[what]
    with during("coming"):
        prepare(db, blobs, owner, tmp_path, what)
        before = rows(db)
        preview(db, blobs, owner, what, ref, [text])
        assert rows(db) == before  # looking changes nothing, also where it would be new
        PUTS[what](db, blobs, owner, ref, [text], EditOrigin())
        kept = rows(db)
        for empty in ("", "# nothing\n"):
            with pytest.raises(BadInput):
                PUTS[what](db, blobs, owner, ref, [empty], EditOrigin())
        with pytest.raises(BadInput) as refused:
            PUTS[what](db, blobs, owner, ref, [shorter(what)], EditOrigin())
        assert (refused.value.code, [one.field for one in refused.value.faults]) == ("silent_removal", [option])
        assert f"--remove {option}" in str(refused.value)
        seen = preview(db, blobs, owner, what, ref, [shorter(what)])
        assert [(one.option, one.removed) for one in seen.changes] == [(option, True)]
        assert seen.changes[0].before
        assert preview(db, blobs, owner, what, ref, [text]).changes == []
        with pytest.raises(BadInput, match="is to be removed"):
            PUTS[what](db, blobs, owner, ref, [text], EditOrigin(remove=frozenset({option})))
        assert rows(db) == kept
        PUTS[what](db, blobs, owner, ref, [shorter(what)], EditOrigin(remove=frozenset({option})))
        (again,) = preview(db, blobs, owner, what, ref, [text]).changes
        assert (again.option.startswith(option), again.removed) == (True, False)


@pytest.mark.parametrize("what", VERBS)
def test_who_may_not_change_it_may_not_look(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path, what: str
) -> None:
    """What holds is not told to others by way of what would change."""
    ref, text, _ = VERBS[what]
    with during("coming"):
        prepare(db, blobs, owner, tmp_path, what)
        PUTS[what](db, blobs, owner, ref, [text], EditOrigin())
        with pytest.raises(QuintainError) as refused:
            preview(db, blobs, worker, what, ref, [shorter(what)])
    assert refused.value.code in {"forbidden", "not_found"}


def test_pages_show_first_and_save_what_was_seen(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A digest confirms these changes and no others: where somebody else saved meanwhile, they are shown anew."""
    prepare(db, blobs, owner, tmp_path, "pay policy")
    put = PUTS["pay policy"]
    put(db, blobs, owner, "mood", [POLICY], EditOrigin())
    wanted = POLICY.replace("1500", "1200")
    with pytest.raises(ChangesToConfirm) as first:
        put(db, blobs, owner, "mood", [wanted], EditOrigin(ask="always", by_name=False))
    assert [(one.option, one.before, one.after) for one in first.value.changes.changes] == [("hourly", "1500", "1200")]
    put(db, blobs, owner, "mood", [POLICY.replace("5000", "9000")], EditOrigin())
    seen = EditOrigin(ask="always", by_name=False, confirmed=first.value.changes.digest)
    with pytest.raises(ChangesToConfirm):
        put(db, blobs, owner, "mood", [wanted], seen)
    assert get_policy(db, owner, "mood").hourly == 1500


def test_entries_of_lists_are_told_apart_by_their_names() -> None:
    """A list that lost its end names what is missing; one whose entries have no names counts them."""
    before = {
        "steps": [{"qualification": "a", "amount": 1}, {"qualification": "b", "amount": 2}],
        "pairs": [{"x": 1}] * 2,
    }
    after = {"steps": before["steps"][:1], "pairs": [{"x": 1}]}
    found = [(one.option, one.removed) for one in compare(before, after, after).changes]
    assert found == [("steps.b", True), ("pairs.2", True)]
    assert not any(one.removed for one in compare(before, after).changes)
