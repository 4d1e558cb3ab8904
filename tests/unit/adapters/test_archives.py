"""Archives from strangers: what is refused, and that nothing lands outside."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.engine.archives import ArchiveLimits, model_root, packed, unpack_archive
from tests.properties import examples

SMALL = ArchiveLimits(files=20, size=1 << 20)
Entry = tuple[tarfile.TarInfo, bytes]


def entry(name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> Entry:
    """Make one entry of a tar file."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    return info, data


def tar(path: Path, *entries: Entry) -> Path:
    """Write a .tar.gz file."""
    with tarfile.open(path, "w:gz") as archive:
        for info, data in entries:
            archive.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([entry("../evil")], "leads out of the model's folder"),
        ([entry("a/../../evil")], "leads out of the model's folder"),
        ([entry("/etc/passwd")], "not a path below"),
        ([entry("C:\\evil")], "not a path below"),
        ([entry("a\nb")], "cannot be used"),
        ([entry("l", kind=tarfile.SYMTYPE, link="/etc/passwd")], "a link or a device"),
        ([entry("h", kind=tarfile.LNKTYPE, link="../x")], "a link or a device"),
        ([entry("d", kind=tarfile.CHRTYPE)], "a link or a device"),
        ([entry("f", kind=tarfile.FIFOTYPE)], "a link or a device"),
        ([entry("a"), entry("./a")], "holds 'a' twice"),
        ([entry("a"), entry("a/b")], "same name for a file and for a folder"),
        ([entry(f"f{n}") for n in range(25)], "more than 20 files"),
        ([entry("big", b"0" * (2 << 20))], "more than 1 MiB"),
    ],
)
def test_a_bad_tar_file_is_refused(entries: list[Entry], said: str, tmp_path: Path) -> None:
    """The reason is said, and nothing outside the folder is touched."""
    archive = tar(tmp_path / "m.tar.gz", *entries)
    with pytest.raises(BadInput) as caught:
        unpack_archive(archive, tmp_path / "out", SMALL)
    assert said in caught.value.message
    assert not (tmp_path / "evil").exists()


def zipped(path: Path, write: Callable[[zipfile.ZipFile], None]) -> Path:
    """Write a .zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        write(archive)
    return path


def _link(archive: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("l")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(info, "/etc/passwd")


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda archive: archive.writestr("../evil", "x"), "leads out"),
        (lambda archive: archive.writestr("/abs", "x"), "not a path below"),
        (_link, "a link or a device"),
        (lambda archive: archive.writestr("zeros", bytes(8 << 20)), "more than 1 MiB"),
        (lambda archive: [archive.writestr(f"f{n}", "") for n in range(30)], "more than 20 files"),
    ],
)
def test_a_bad_zip_file_is_refused(write: Callable[[zipfile.ZipFile], None], said: str, tmp_path: Path) -> None:
    """The same rules as for tar files."""
    with pytest.raises(BadInput) as caught:
        unpack_archive(zipped(tmp_path / "m.zip", write), tmp_path / "out", SMALL)
    assert said in caught.value.message


def test_ten_gigabytes_of_zeros_are_not_read(tmp_path: Path) -> None:
    """A header that promises 10 GB ends the reading at once; a stream of zeros ends at the limit."""
    info = tarfile.TarInfo("zeros")
    info.size = 10 << 30
    bomb = tmp_path / "bomb.tar.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as stream:
        stream.write(info.tobuf(tarfile.GNU_FORMAT))
        for _ in range(16):
            stream.write(bytes(1 << 20))
    with pytest.raises(BadInput, match="more than 1 MiB"):
        unpack_archive(bomb, tmp_path / "out", SMALL)


def test_a_huge_header_is_never_held_in_memory(tmp_path: Path) -> None:
    """An extended header may not be the bomb either."""
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 5 << 30
    bomb = tmp_path / "bomb.tar"
    bomb.write_bytes(info.tobuf(tarfile.USTAR_FORMAT) + bytes(4096))
    with pytest.raises(BadInput, match="header that is too large"):
        unpack_archive(bomb, tmp_path / "out", SMALL)


@given(
    data=st.binary(max_size=600), head=st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"\0" * 257 + b"ustar"])
)
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(60))
def test_noise_is_refused_in_words(data: bytes, head: bytes, tmp_path: Path) -> None:
    """Whatever arrives, the answer is a refusal, not a traceback."""
    noise = tmp_path / "noise"
    noise.write_bytes(head + data)
    said = "archive"
    try:
        unpack_archive(noise, tmp_path / "noise-out", SMALL)
    except BadInput as error:
        said = error.message
    assert "archive" in said


def test_a_good_archive_comes_out_as_it_went_in(tmp_path: Path) -> None:
    """Packing leaves out what tools leave behind, and is the same bytes each time."""
    folder = tmp_path / "model"
    (folder / "data").mkdir(parents=True)
    (folder / "__pycache__").mkdir()
    (folder / "handler.py").write_text("x = 1")
    (folder / "data" / "words.txt").write_text("one")
    (folder / "__pycache__" / "handler.pyc").write_text("junk")
    with packed(folder, tmp_path / "a.tar.gz") as first, packed(folder, tmp_path / "b.tar.gz") as second:
        assert first.read_bytes() == second.read_bytes()
        unpack_archive(first, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").rglob("*") if path.is_file()) == ["handler.py", "words.txt"]


def test_a_folder_packed_with_its_own_name_is_found(tmp_path: Path) -> None:
    """People pack the folder as often as what is in it."""
    (tmp_path / "my-model").mkdir()
    assert model_root(tmp_path) == tmp_path / "my-model"
    (tmp_path / "handler.py").write_text("")
    assert model_root(tmp_path) == tmp_path
