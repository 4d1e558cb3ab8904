"""Slots and cells have the states that their enums name, in the store's own SQL too."""

from __future__ import annotations

import re
from pathlib import Path

from quintain.core.cells import CellState
from quintain.core.validation import SlotState
from quintain.store.tables import Cell, Slot

SOURCE = Path(__file__).parents[2] / "src" / "quintain"
WRITTEN_OUT = re.compile(r"\bstate (?:=|<>|IN) \(?'(\w+)'(?:, '(\w+)')?")
BARE = re.compile(r"(?:cell|slot|Cell|Slot)\.state (?:=|==|!=|in|not in) [{(\[]?\"")
PAIRS = re.compile(r"\.(?:status|why|state) (?:==|!=|in|not in) [{(\[]?\"|(?:PairStanding|HandedIn)\(\"")


def test_states_written_out_in_sql_are_those_of_slots():
    """SQL that is written as a text names only states that the enum has, so that renaming one is found."""
    found = set()
    for path in (SOURCE / "store" / "queries").rglob("*.py"):
        found |= {state for match in WRITTEN_OUT.findall(path.read_text()) for state in match if state}
    assert {"open", "leased", "filled", "dropped"} <= found
    assert found <= {state.value for state in SlotState}


def test_no_state_is_a_bare_string():
    """Outside of SQL, code names a state by its enum."""
    paths = [path for folder in ("services", "store", "web", "cli") for path in (SOURCE / folder).rglob("*.py")]
    found = [path.name for path in paths if "migrations" not in path.parts and BARE.search(path.read_text())]
    assert len(paths) > 100
    assert found == []


def test_no_standing_of_a_pair_is_a_bare_string():
    """In contests, where a pair stands, why, and how far answers are is named by an enum, too."""
    folders = [SOURCE / room / "contest" for room in ("services", "web/pages", "web/api", "cli", "store/queries")]
    paths = [path for folder in folders for path in folder.glob("*.py")]
    assert len(paths) > 20
    assert [path.name for path in paths if PAIRS.search(path.read_text())] == []


def test_every_state_fits_its_column_and_rows_begin_in_the_first():
    """A column keeps the state's word; a new row is open or queued."""
    for table, states in ((Slot, SlotState), (Cell, CellState)):
        column = table.__table__.c.state
        assert max(len(state) for state in states) <= column.type.length
        assert column.default.arg == next(iter(states)).value


def test_a_state_says_whether_anything_is_to_come():
    """Open and leased slots may be filled yet; queued and running cells have not ended."""
    assert [state for state in SlotState if state.is_pending] == [SlotState.OPEN, SlotState.LEASED]
    assert [state for state in CellState if state.ended] == [CellState.DONE, CellState.FAILED, CellState.CANCELLED]
