"""Archives from strangers: every odd one is refused with its reason, and leaves nothing behind that was not counted."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from quintain.core.errors import BadInput
from quintain.engine.archives import ArchiveLimits, unpack_archive

BYTES = hashlib.shake_128(b"anything").digest(9000)
LIMITS = ArchiveLimits(files=50, size=1 << 20)


def tar_of(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """Write a tar file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def entry(name: str, **values: object) -> tarfile.TarInfo:
    """Make a member of a tar file."""
    member = tarfile.TarInfo(name)
    for key, value in values.items():
        setattr(member, key, value)
    return member


def zip_of(*members: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Write a ZIP file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def sparse(headers: dict[str, str], data: bytes = b"") -> bytes:
    """Write a file with a map of holes, as PAX headers describe it."""
    return tar_of((entry("model.bin", pax_headers=headers), data))


def flipped(data: bytes, place: int) -> bytes:
    """Turn one byte around."""
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def encrypted() -> bytes:
    """Mark the one file of a ZIP as encrypted, here and in the directory."""
    data = bytearray(zip_of(("handler.py", b"x = 1")))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def link_in_zip() -> bytes:
    """A ZIP that holds a symbolic link."""
    info = zipfile.ZipInfo("passwords")
    info.external_attr = 0o120777 << 16
    return zip_of((info, b"/etc/passwd"))


def wrong_size() -> bytes:
    """A ZIP whose directory says that a file is longer than it is."""
    data = bytearray(zip_of(("handler.py", b"x = 1"), compression=zipfile.ZIP_STORED))
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = struct.pack("<I", 5000)
    return bytes(data)


BAD: dict[str, Callable[[], bytes]] = {
    "a path of forty long names": lambda: tar_of((entry("/".join(["a" * 200] * 40) + "/x"), b"")),
    "a path of forty long names in a ZIP": lambda: zip_of(("/".join(["a" * 200] * 40) + "/x", b"")),
    "a path of many short names": lambda: zip_of(("a/" * 400 + "x", b"")),
    "a sparse map": lambda: sparse({"GNU.sparse.map": "0,1", "GNU.sparse.size": "1", "GNU.sparse.name": "x"}, b"a"),
    "a sparse map of words": lambda: sparse({"GNU.sparse.map": "a,b,c"}, b"a"),
    "a sparse map that is cut off": lambda: sparse({"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}, b"9\n"),
    "a sparse file of a petabyte": lambda: sparse(
        {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(1 << 50), "GNU.sparse.name": "x"}, b"a"
    ),
    "a size below nothing": lambda: tar_of((entry("x", pax_headers={"size": "-600"}), b"a")),
    "bzip2 in a ZIP": lambda: zip_of(("x", b"a" * 1000), compression=zipfile.ZIP_BZIP2),
    "damaged bzip2 in a ZIP": lambda: flipped(zip_of(("x", b"a" * 1000), compression=zipfile.ZIP_BZIP2), 45),
    "LZMA in a ZIP": lambda: zip_of(("x", b"a" * 1000), compression=zipfile.ZIP_LZMA),
    "folders beyond the limit": lambda: tar_of(*[(entry(f"f{n}", type=tarfile.DIRTYPE), b"") for n in range(60)]),
    "folders beyond the limit in a ZIP": lambda: zip_of(*[(f"f{n}/", b"") for n in range(60)]),
    "folders by way of deep paths": lambda: zip_of(*[(f"{n}/b/c/d/e/f/g/x", b"") for n in range(10)]),
    "headers beyond the limit": lambda: tar_of(
        *[(entry("x", pax_headers={"comment": str(n)}), b"") for n in range(300)]
    ),
    "a bomb": lambda: gzip.compress(tar_of((entry("x"), b"\0" * (2 << 20)))),
    "a bomb in a ZIP": lambda: zip_of(("x", b"\0" * (2 << 20))),
    "a symbolic link": lambda: tar_of((entry("x", type=tarfile.SYMTYPE, linkname="/etc/passwd"), b"")),
    "a hard link": lambda: tar_of((entry("x", type=tarfile.LNKTYPE, linkname="../../x"), b"")),
    "a device": lambda: tar_of((entry("x", type=tarfile.CHRTYPE), b"")),
    "a link in a ZIP": link_in_zip,
    "a name twice": lambda: tar_of((entry("x"), b"1"), (entry("./x"), b"2")),
    "a file that is a folder, too": lambda: tar_of((entry("x"), b"1"), (entry("x/y"), b"2")),
    "a path from the root": lambda: tar_of((entry("/etc/x"), b"1")),
    "a path that leads out": lambda: zip_of(("a/../../x", b"1")),
    "a null character": lambda: tar_of((entry("x", pax_headers={"path": "a\x00b"}), b"1")),
    "half a surrogate pair": lambda: tar_of((entry("a\udcffb"), b"1"), form=tarfile.GNU_FORMAT),
    "a line break": lambda: zip_of(("a\nb", b"1")),
    "a tar file that is cut off": lambda: tar_of((entry("x"), b"a" * 5000))[:3000],
    "a gzip file that is cut off": lambda: gzip.compress(tar_of((entry("x"), BYTES)))[:-900],
    "a ZIP that is cut off": lambda: zip_of(("x", b"a" * 5000))[:40],
    "an encrypted file": encrypted,
    "a wrong size": wrong_size,
    "another format": lambda: b"\xfd7zXZ\x00" + b"\0" * 600,
    "nothing": lambda: b"",
}


@pytest.mark.parametrize("what", BAD)
def test_an_odd_archive_is_refused(what: str, tmp_path: Path) -> None:
    """It is refused as bad input, with a message, never with an error that nobody foresaw; and nothing lies outside."""
    source = tmp_path / "model"
    source.write_bytes(BAD[what]())
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        with pytest.raises(BadInput) as caught:
            unpack_archive(source, Path(folder) / "deep" / "er", LIMITS)
        assert caught.value.message
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_garbage_after_the_end_changes_nothing(tmp_path: Path) -> None:
    """What follows the end of a tar file within gzip is not read."""
    source = tmp_path / "model.tar.gz"
    source.write_bytes(gzip.compress(tar_of((entry("handler.py"), b"x = 1")) + b"garbage" * 500))
    unpack_archive(source, tmp_path / "out", LIMITS)
    assert (tmp_path / "out" / "handler.py").read_bytes() == b"x = 1"


@pytest.mark.parametrize("rounds", [300, pytest.param(5_000, marks=pytest.mark.slow)])
def test_damage_anywhere_is_refused_or_harmless(rounds: int, tmp_path: Path) -> None:
    """Archives with bytes turned, cut and doubled are unpacked or refused as bad input; nothing else happens."""
    members = [(f"part{n}/file{n}", BYTES[n * 200 : n * 200 + 200]) for n in range(4)]
    tar = tar_of(*[(entry(name, pax_headers={"comment": "é"}), data) for name, data in members])
    sources = [tar, gzip.compress(tar), zip_of(*members), zip_of(*members, compression=zipfile.ZIP_STORED)]
    chance = random.Random(7)  # noqa: S311 - the same damage every time
    path = tmp_path / "model"
    refused = 0
    for _ in range(rounds):
        data = bytearray(chance.choice(sources))
        for _ in range(chance.choice((1, 2, 6))):
            place = chance.randrange(len(data))
            if chance.random() < 0.8:
                data[place] ^= 1 << chance.randrange(8)
            else:
                data[place : place + chance.randrange(300)] = data[: chance.randrange(100)]
        path.write_bytes(bytes(data))
        with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
            try:
                unpack_archive(path, Path(folder), LIMITS)
            except BadInput:
                refused += 1
    assert refused > rounds // 4
