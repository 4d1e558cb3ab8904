"""Addresses that are taken can be written by the mail library, and those that broke it are not taken."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTPUTF8

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.mail_addresses import is_address, is_sender, normal_address, wire_address
from tests.properties import examples

BROKEN = [
    "[<@->>a,<",
    "a@b@c",
    "a b@c.org",
    '"a b"@c.org',
    "a..b@c.org",
    ".a@c.org",
    "a.@c.org",
    "a@",
    "@b.org",
    "a@.org",
    "a@b..org",
    "a@-b.org",
    "a@[127.0.0.1]",
    "a@127.0.0.1",
    "a,b@c.org",
    "a(b)@c.org",
    "a:b;@c.org",
    "a@b.org>",
    "<a@b.org>",
    "=?utf-8?q?a?=@b.org,x@y.org",
    "a\u202eb@c.org",
    "a\u200b@c.org",
    "a\x00@c.org",
    "a@b\r\nbcc:x@y.org",
    f"{'a' * 65}@b.org",
    f"a@{'b' * 64}.org",
    f"a@{'b.' * 130}org",
]


def _written(address: str) -> str:
    """Write a message to *address*, and give the address that stands in it."""
    message = EmailMessage(policy=SMTPUTF8)
    message["To"] = address
    assert message.as_bytes()
    (only,) = message["To"].addresses
    return str(only.addr_spec)


@pytest.mark.parametrize("address", BROKEN)
def test_what_cannot_be_written_is_no_address(address: str) -> None:
    """Quotes, comments, lists, second headers, invisible characters and numbers of machines are refused."""
    assert not is_address(normal_address(address))
    assert not is_sender(address) or address == "<a@b.org>"


@pytest.mark.parametrize(
    "address",
    ["wilma@example.org", "o'neil+news@sub.example.co.uk", "q@localhost", "jörg@example.org", "x@bücher.example"],
)
def test_usual_addresses_are_taken(address: str) -> None:
    """Also with letters of other scripts, whose domain goes over the wire in ASCII."""
    assert is_address(address)
    assert _written(address) == address
    assert wire_address(address).rpartition("@")[2].isascii()
    assert _written(wire_address(address)) == wire_address(address)


@settings(max_examples=examples(400), deadline=None)
@given(st.one_of(st.text(max_size=40), st.from_regex(r"[!-~ä¨ʼ]{1,12}@[!-~ß]{1,12}", fullmatch=True), st.emails()))
def test_whatever_is_taken_can_be_written(text: str) -> None:
    """Any text at all is either refused, or written into a message and read out of it as it was."""
    address = normal_address(text)
    if is_address(address):
        assert _written(address) == address
        assert _written(wire_address(address)) == wire_address(address)


@pytest.mark.parametrize(
    ("text", "kept", "wire"),
    [
        ("anna@straße.de", "anna@straße.de", "anna@xn--strae-oqa.de"),
        ("anna@xn--strae-oqa.de", "anna@straße.de", "anna@xn--strae-oqa.de"),
        ("x@ΒΌΛΟΣ.gr", "x@βόλοσ.gr", "x@xn--nxasmq6b.gr"),
        ("x@βόλος.gr", "x@βόλος.gr", "x@xn--nxasmm1c.gr"),
        ("a@ｅxample。com", "a@example.com", "a@example.com"),
        ("a@ex\u00adample.com", "a@example.com", "a@example.com"),
    ],
)
def test_a_domain_has_one_form_and_is_nobody_elses(text: str, kept: str, wire: str) -> None:
    """Letters that the rules of 2003 replaced stay, so mail goes to who was named; ways to write one domain are one."""
    assert normal_address(text) == kept
    assert wire_address(kept) == wire
    assert normal_address(kept) == kept == normal_address(wire)


def test_a_sender_may_have_a_name() -> None:
    """As mail programs show it; what is no address in angle brackets is refused."""
    assert is_sender("Quintain <q@example.org>")
    assert is_sender('"Quintain, Inc." <q@example.org>')
    assert not is_sender("Quintain <q>")
    assert not is_sender("a@b.org, c@d.org")
