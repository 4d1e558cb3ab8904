"""How the letters of a file are written: found out from its first bytes, among what the world's programs still write.

UTF-8 is told surely, UTF-16 by its mark or its zeros. Among the old ones the letters decide: Windows-1252 sets single
bytes above 127 between plain letters, GB18030 and Shift-JIS pairs of them; what reads as common characters wins.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable
from typing import BinaryIO

import regex

from quintain.core.errors import BadInput, Fault

UTF8 = "utf-8"
HEAD = 1 << 18  # bytes that are looked at
_UTF16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WESTERN = "cp1252"
_RUNS = regex.compile(rb"[\x80-\xff]+")
_CONTROL = regex.compile(rb"[\x00-\x08\x0e-\x1f]")
_MOSTLY = 0.5
_ZEROS = 0.2  # of the bytes of UTF-16 whose letters are plain ones
_KANA = regex.compile(r"[\u3040-\u30fc]")
_HALF_KANA = regex.compile(r"[\uff61-\uff9f]")
_OTHERS = regex.compile(r"[^\x00-\x7f]")


# What they are called where one is chosen; a file without letters of its own is as good in any.
NAMES = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "cp1252": "Windows-1252",
    "gb18030": "GB18030",
    "cp932": "Shift-JIS",
    "big5": "Big5",
    "euc_kr": "EUC-KR",
    "cp1251": "Windows-1251",
    "cp1256": "Windows-1256",
}


def encoding_of(head: bytes) -> str:
    """Return the encoding of a file that begins with *head*; UTF-8 where nothing else can be told.

    >>> encoding_of("schön".encode()), encoding_of("schön und gut".encode("cp1252"))
    ('utf-8', 'cp1252')
    >>> encoding_of("花了两百元，味道很好。".encode("gb18030")), encoding_of("とても楽しい映画でした。".encode("cp932"))
    ('gb18030', 'cp932')
    """
    for mark, name in _UTF16:
        if head.startswith(mark):
            return name
    if _decodes(head, UTF8):
        return _without_mark(head)
    return _old(head)


def _decodes(head: bytes, encoding: str) -> bool:
    """Whether *head* is text in *encoding*; a letter may be cut off at its end."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _without_mark(head: bytes) -> str:
    """Tell UTF-16 without a mark from UTF-8: every other byte of plain letters is zero."""
    if head.count(0) < _ZEROS * len(head):
        return UTF8
    return "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"


def _old(head: bytes) -> str:
    lines = [line for line in head.split(b"\n") if not line.isascii()]
    # What is no text at all is none of these; and a bad line among good ones is a fault of that line.
    if _CONTROL.search(head) or 2 * sum(1 for line in lines if _decodes(line, UTF8)) >= len(lines):
        return UTF8
    runs = [len(run) for run in _RUNS.findall(head)]
    single = sum(1 for run in runs if run == 1)
    if single > _MOSTLY * len(runs) and _decodes(head, _WESTERN) and not _KANA.search(head.decode("cp932", "ignore")):
        return _WESTERN
    scores = {name: score(head) for name, score in _SCORES.items() if _decodes(head, name)}
    best = max(scores, key=lambda name: scores[name], default="")
    if best and scores[best] > _MOSTLY:
        return best
    return _WESTERN if single > _MOSTLY * len(runs) and _decodes(head, _WESTERN) else UTF8


def _common_chinese(head: bytes) -> float:
    """Return the share of characters that are among the common ones of GB 2312, or signs."""
    letters = _OTHERS.findall(codecs.getincrementaldecoder("gb18030")().decode(head))
    codes = [letter.encode("gb18030") for letter in letters]
    return sum(1 for code in codes if len(code) == 2 and 0xA1 <= code[0] <= 0xD7 and code[1] >= 0xA1) / len(codes)


def _kana(head: bytes) -> float:
    """Return how far a text is Japanese: kana make half of it and more, and hardly any is half as wide."""
    text = codecs.getincrementaldecoder("cp932")().decode(head)
    letters = len(_OTHERS.findall(text))
    return min(1.0, 2 * (len(_KANA.findall(text)) - 2 * len(_HALF_KANA.findall(text))) / letters)


_SCORES: dict[str, Callable[[bytes], float]] = {"cp932": _kana, "gb18030": _common_chinese}


def recoded(data: bytes, encoding: str, name: str) -> bytes:
    """Return the whole of a file in UTF-8, without a mark; bytes that its encoding does not know stay as they are."""
    if encoding == UTF8:
        return data
    with _Faults(name, encoding):
        return _text(data, encoding).removeprefix("\ufeff").encode(UTF8, "surrogateescape")


def _text(data: bytes, encoding: str) -> str:
    return data.decode(encoding, "strict" if encoding.startswith("utf-16") else "surrogateescape")


class _Faults:
    """Turns what a decoder says into BadInput that names the file."""

    def __init__(self, name: str, encoding: str) -> None:
        self._name, self._encoding = name, encoding

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnicodeDecodeError):
            raise BadInput(
                faults=[
                    Fault(
                        "not {encoding}: {reason} at byte {start}",
                        encoding=self._encoding.upper(),
                        reason=error.reason,
                        start=error.start + 1,
                        file=self._name,
                    )
                ],
                remedy="Save the file as UTF-8.",
            ) from error


class Recoded(io.RawIOBase):
    """A file in another encoding, read as UTF-8; *inner* is the file itself."""

    def __init__(self, inner: BinaryIO, encoding: str, name: str) -> None:
        self.inner = inner
        self._name, self._encoding = name, encoding
        errors = "strict" if encoding.startswith("utf-16") else "surrogateescape"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._begun = False
        self._left = b""

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer comes as a view
        """Fill *buffer* with the next bytes."""
        while not self._left:
            data = self.inner.read(1 << 16)
            with _Faults(self._name, self._encoding):
                text = self._decoder.decode(data, not data)
            if text and not self._begun:
                text, self._begun = text.removeprefix("\ufeff"), True
            self._left = text.encode(UTF8, "surrogateescape")
            if not data:
                break
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size

    def close(self) -> None:
        """Close the file, too."""
        self.inner.close()
        super().close()
