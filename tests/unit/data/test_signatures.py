"""Signatures of files: what they prove, and what they do not."""

from __future__ import annotations

import base64

import pytest

from quintain.core.errors import BadInput
from quintain.data import signatures

HASH = "ab" * 32
# RFC 8032, section 7.1, test 2: a key that others know, too.
SEED = base64.b64encode(bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")).decode()
PUBLIC = base64.b64encode(bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")).decode()


def test_a_published_key_pair_signs_and_is_recognised() -> None:
    """The public part follows from the secret one as the standard says, and names itself by its hash."""
    made = signatures.sign(SEED, HASH)
    assert made["public_key"] == PUBLIC
    assert made["key_id"] == signatures.key_id(PUBLIC)
    assert len(made["key_id"]) == 16
    assert signatures.is_signed(HASH, made["value"], PUBLIC)


def test_a_signature_is_of_one_hash_by_one_key() -> None:
    """Another hash, another key, a changed signature and what is no signature at all are refused without an error."""
    secret, public = signatures.make_key()
    value = signatures.sign(secret, HASH)["value"]
    assert signatures.is_signed(HASH, value, public)
    assert not signatures.is_signed("cd" * 32, value, public)
    assert not signatures.is_signed(HASH, value, PUBLIC)
    assert not signatures.is_signed(HASH, signatures.sign(SEED, HASH)["value"], public)
    for broken in ("", "no base64 é", value[:-8], "A" * 88):
        assert not signatures.is_signed(HASH, broken, public)
        assert not signatures.is_signed(HASH, value, broken)


def test_the_hash_covers_all_but_itself_and_the_signature() -> None:
    """Whatever is added to a file or changed in it changes its hash."""
    shape = {"title": "One", "figures": [1.5, None], "hash": "x"}
    assert signatures.digest(shape) == signatures.digest({**shape, "hash": "y", "signature": {"value": "z"}})
    assert signatures.digest(shape) != signatures.digest({**shape, "title": "Two"})
    assert signatures.digest(shape) != signatures.digest({**shape, "more": 1})


@pytest.mark.parametrize("text", ["", "x", "short==", "A" * 40, "é" * 44])
def test_what_is_no_public_key_is_explained(text: str) -> None:
    """A key that was copied wrongly is refused with where to find the right one."""
    with pytest.raises(BadInput, match="not a public key"):
        signatures.read_public(text)
    assert signatures.read_public(f" {PUBLIC}\n") == PUBLIC
