"""What a request says of where it goes and where it comes from: believed only as far as the settings say."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import update
from starlette.requests import Request
from starlette.testclient import TestClient

from quintain.compose import Workspace, create_workspace
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, RoleName
from quintain.core.texts import Text
from quintain.services.access import notify
from quintain.services.access.accounts import update_profile
from quintain.services.access.links import make_link, redeem_link
from quintain.settings import Settings
from quintain.store.tables import User
from quintain.web import peers
from quintain.web.app import create_app
from quintain.web.peers import peer_of, trusted_proxies
from tests.integration.access.mail_server import MailServer, mail_server
from tests.people import make_person
from tests.web_support import CSRF, PASSWORD, keep_house_once, running


@pytest.fixture
def mailbox() -> Iterator[MailServer]:
    """A mail server."""
    with mail_server() as server:
        yield server


@pytest.fixture
def house(mailbox: MailServer, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace that sends e-mail, and knows of no public address; wilma has an account."""
    made = create_workspace(Settings(workspace=tmp_path / "house", smtp_url=mailbox.url, login_attempts=5))
    with made.session() as db:
        make_person(db, "wilma", RoleName.WORKER)
        redeem_link(db, make_link(db, OPERATOR, "wilma").token, PASSWORD)
    yield made
    made.close()


def forget(client: httpx2.Client, who: str) -> httpx2.Response:
    """Ask for a new password."""
    token = CSRF.search(client.get("/forgotten").text)
    assert token
    return client.post("/forgotten", data={"csrf": token[1], "name": who})


def asking(workspace: Workspace, host: str = "evil.example", *, scheme: str = "http") -> TestClient:
    """Give a browser whose requests name *host*."""
    return TestClient(create_app(workspace), base_url=f"{scheme}://{host}", follow_redirects=False)


def test_a_mailed_link_never_names_the_host_of_the_request(house: Workspace, mailbox: MailServer) -> None:
    """Somebody asks under another name of the server: the link leads to the address that is listened on."""
    assert forget(asking(house), "wilma").status_code == 200
    keep_house_once(house, tidy=False)
    (message,) = mailbox.messages
    assert "evil.example" not in message.as_string()
    assert "http://127.0.0.1:8000/link/" in message.get_content()


def test_a_mailed_link_leads_to_the_public_address(house: Workspace, mailbox: MailServer) -> None:
    """Where the setting names an address, that is the one."""
    public = replace(house, settings=replace(house.settings, public_url="https://q.example"))
    assert forget(asking(public, scheme="https"), "wilma").status_code == 200
    keep_house_once(public, tidy=False)
    assert "https://q.example/link/" in mailbox.messages[0].get_content()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 - nothing is bound
def test_without_any_address_no_link_is_sent_and_only_the_operator_hears(
    house: Workspace, mailbox: MailServer, caplog: pytest.LogCaptureFixture, host: str
) -> None:
    """A server on all addresses knows none to go to: the page says what it always says, the log what to do."""
    everywhere = replace(house, settings=replace(house.settings, host=host))
    client = asking(everywhere)
    with caplog.at_level(logging.WARNING):
        known, unknown = forget(client, "wilma"), forget(client, "nobody")
    assert mailbox.messages == []
    assert known.status_code == unknown.status_code == 200
    assert known.text.replace(known.headers["x-request-id"], "") == unknown.text.replace(
        unknown.headers["x-request-id"], ""
    )
    assert "QUINTAIN_PUBLIC_URL" in caplog.text


def test_messages_without_an_address_are_sent_without_a_link(house: Workspace, mailbox: MailServer) -> None:
    """What happened is told all the same."""
    everywhere = replace(house, settings=replace(house.settings, host="0.0.0.0"))  # noqa: S104 - nothing is bound
    with house.session() as db:
        olga = make_person(db, "olga", RoleName.OWNER)
        assert olga.user_id
        update_profile(db, olga, email_notifications=True)
        notify.notify(db, olga.user_id, "run-failed", Text("A run failed."), "/runs/7")
    keep_house_once(everywhere, tidy=False)
    assert mailbox.messages[0].get_content().strip() == "A run failed."


def test_nobody_learns_who_has_an_account_and_whether_mail_reaches_it(house: Workspace) -> None:
    """The page for a known name is the page for an unknown one, and for an account whose address broke the library."""
    closed = replace(house, settings=replace(house.settings, smtp_url="smtp://127.0.0.1:1"))
    with house.session() as db:
        make_person(db, "eve", RoleName.WORKER)
        db.execute(update(User).where(User.name == "eve").values(email="[<@->>a,<"))
        db.commit()
    client, pages = asking(closed), set()
    for name in ("wilma", "nobody", "eve", "[<@->>a,<"):
        answer = forget(client, name)
        assert answer.status_code == 200
        pages.add(answer.text.replace(answer.headers["x-request-id"], ""))
    assert len(pages) == 1


def test_redirects_stay_on_whatever_host_the_browser_uses(house: Workspace) -> None:
    """No way on names a host: neither after a missing slash nor to the log-in page."""
    client = asking(house)
    for path in ("/login/", "/account", "/api/v1/tasks/", "//evil.example/"):
        place = client.get(path).headers.get("location", "/")
        assert place.startswith("/"), path
        assert not place.startswith(("//", "/\\")), path


def request_from(host: str, *, forwarded: str = "") -> Request:
    """Make a request that comes from *host*."""
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    return Request({"type": "http", "client": (host, 1), "headers": headers, "path": "/"})


def test_addresses_count_by_what_one_customer_has() -> None:
    """A customer has a /64 of IPv6; IPv4 in the dress of IPv6 is IPv4."""
    assert peer_of(request_from("10.1.2.3"), "") == "10.1.2.3"
    assert peer_of(request_from("2001:db8:1:2:3::4"), "") == peer_of(request_from("2001:db8:1:2::9"), "")
    assert peer_of(request_from("2001:db8:1:3::9"), "") != peer_of(request_from("2001:db8:1:2::9"), "")
    assert peer_of(request_from("::ffff:10.1.2.3"), "") == "10.1.2.3"
    assert peer_of(request_from("testclient"), "") == "testclient"


@pytest.mark.parametrize("setting", ["*", "proxy.example", "10.0.0.1/24", "10.0.0"])
def test_what_is_no_address_is_no_proxy(setting: str) -> None:
    """A name or a star would let anybody speak for everybody; the message says what to write."""
    with pytest.raises(BadInput, match="QUINTAIN_TRUSTED_PROXIES"):
        trusted_proxies(setting)
    assert trusted_proxies(" 10.0.0.5, 10.1.0.0/16,::1 ") == ["10.0.0.5", "10.1.0.0/16", "::1"]


def tries(url: str, count: int, *, name: str = "nobody") -> list[int]:
    """Try to log in *count* times, each time from what is said to be another address."""
    with httpx2.Client(base_url=url) as client:
        token = CSRF.search(client.get("/login").text)
        assert token
        form = {"csrf": token[1], "name": name, "password": "wrong"}
        return [
            client.post("/login", data=form, headers={"x-forwarded-for": f"203.0.113.{number}"}).status_code
            for number in range(count)
        ]


def test_rotating_the_forwarded_address_evades_nothing(
    house: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a trusted proxy the header is ignored, whatever uvicorn's own variable says, and the log tells of it."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    peers._tell_of_proxy.cache_clear()
    with caplog.at_level(logging.WARNING), running(house) as url:
        assert tries(url, 7) == [401] * 5 + [429] * 2
    assert caplog.text.count("QUINTAIN_TRUSTED_PROXIES is empty") == 1


def test_behind_a_trusted_proxy_everybody_has_an_own_limit(house: Workspace) -> None:
    """What the proxy says counts: people on other addresses do not share one limit."""
    behind = replace(house, settings=replace(house.settings, trusted_proxies="127.0.0.0/8"))
    with running(behind) as url:
        assert tries(url, 7) == [401] * 7


def test_ten_wrong_tries_do_not_lock_the_owner_out(house: Workspace) -> None:
    """Somebody else uses the limit up, from everywhere: the owner's browser still gets in, and a stranger does not."""
    owner = asking(house, "testserver")

    def log_in(client: TestClient, password: str) -> int:
        token = CSRF.search(client.get("/login").text)
        assert token
        return client.post("/login", data={"csrf": token[1], "name": "wilma", "password": password}).status_code

    assert log_in(owner, PASSWORD) == 303
    assert owner.cookies.get("quintain_device")
    owner.cookies.delete("quintain_session")
    stranger = asking(house, "testserver")
    assert [log_in(stranger, "wrong") for _ in range(6)] == [401] * 5 + [429]
    assert log_in(stranger, PASSWORD) == 429
    assert log_in(owner, PASSWORD) == 303
