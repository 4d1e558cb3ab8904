"""Model cards and artefacts."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.models.artefact import pack, unpack
from quintain.models.card import HEADINGS, check_card, write_card

FULL = write_card("A model", dict.fromkeys(HEADINGS, "Some words."))


def test_a_full_card_has_no_faults() -> None:
    """Six headings with something under each are enough."""
    assert check_card(FULL) == []


@pytest.mark.parametrize("heading", HEADINGS)
def test_each_heading_is_asked_for(heading: str) -> None:
    """A card without one of them is told which."""
    without = write_card("A model", dict.fromkeys(HEADINGS, "Words.")).replace(f"## {heading}", "## Something else")
    assert [fault.reason for fault in check_card(without)] == [f"the heading '{heading}' is missing"]


def test_an_empty_section_is_a_fault() -> None:
    """Headings with nothing below them are no card."""
    assert len(check_card(write_card("A model", dict.fromkeys(HEADINGS, " ")))) == len(HEADINGS)


def test_american_spelling_case_and_depth_do_not_matter() -> None:
    """Cards come from many hands."""
    text = FULL.replace("## Licence", "### LICENSE:").replace("## Evaluation", "# **Evaluation** #")
    assert check_card(text) == []


def test_a_heading_inside_code_does_not_count() -> None:
    """Only real headings count."""
    text = FULL.replace("## Limitations", "```\n## Limitations\n```")
    assert [fault.reason for fault in check_card(text)] == ["the heading 'Limitations' is missing"]


def test_subheadings_count_as_content() -> None:
    """A section may consist of deeper sections."""
    text = FULL.replace("## Evaluation\n\nSome words.", "## Evaluation\n\n### On dev\n\n81 %")
    assert check_card(text) == []


def test_a_card_may_not_be_endless() -> None:
    """There is a limit, and the message says which."""
    assert "100,000" in check_card(FULL + "x" * 100_001)[0].reason


@given(st.text(max_size=300))
def test_any_text_can_be_checked(text: str) -> None:
    """Whatever is given, the answer is a list of faults."""
    assert len(check_card(text)) <= len(HEADINGS)


def _folder(root: Path, order: list[str]) -> Path:
    for name in order:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")
    return root


def test_the_same_files_pack_to_the_same_bytes(tmp_path: Path) -> None:
    """Times, modes and the order of writing leave no trace."""
    one = _folder(tmp_path / "one", ["b.txt", "a/c.txt", "ä.txt"])
    two = _folder(tmp_path / "two", ["ä.txt", "a/c.txt", "b.txt"])
    os.utime(two / "b.txt", (1, 1))
    (two / "b.txt").chmod(0o600)
    pack(one, tmp_path / "1.tar")
    pack(two, tmp_path / "2.tar")
    assert (tmp_path / "1.tar").read_bytes() == (tmp_path / "2.tar").read_bytes()


def test_unpacking_gives_the_files_back(tmp_path: Path) -> None:
    """What was packed comes out."""
    pack(_folder(tmp_path / "one", ["b.txt", "a/c.txt"]), tmp_path / "1.tar")
    unpack(tmp_path / "1.tar", tmp_path / "out")
    assert (tmp_path / "out" / "a" / "c.txt").read_text() == "content of a/c.txt"


def test_links_are_not_packed(tmp_path: Path) -> None:
    """A link could point at anything."""
    folder = _folder(tmp_path / "one", ["b.txt"])
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(BadInput, match="neither a file nor a folder"):
        pack(folder, tmp_path / "1.tar")


def test_nothing_lands_outside(tmp_path: Path) -> None:
    """An artefact that tries to climb out of its folder is refused."""
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("../evil.txt"))
    with pytest.raises(BadInput, match="cannot be unpacked"):
        unpack(tmp_path / "evil.tar", tmp_path / "out")
    assert not (tmp_path / "evil.txt").exists()
