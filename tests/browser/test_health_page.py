"""The page Health with e-mails that fail and a loop that fails: readable in every look, and its buttons work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.core.texts import Text
from quintain.engine.loops import Loop
from quintain.services.access import accounts, notify
from quintain.services.access.links import make_link, redeem_link
from quintain.services.house import mailing
from quintain.settings import Settings
from quintain.store.tables import OutgoingMail
from tests.browser.visitor import Visitor
from tests.integration.access.mail_server import mail_server
from tests.people import make_person
from tests.web_support import PASSWORD, running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A house with e-mails that wait and failed, and something that keeps failing."""
    with mail_server() as server:
        house = create_workspace(Settings(workspace=tmp_path_factory.mktemp("house"), smtp_url=server.url))
        with house.session() as db:
            make_person(db, "ada", RoleName.ADMIN)
            redeem_link(db, make_link(db, OPERATOR, "ada").token, PASSWORD)
            for name in ("refused", "spam", "later"):
                _write_to(house, name)
            mailing.deliver(db, house.mail, "http://q")
            db.execute(update(OutgoingMail).where(OutgoingMail.id == 1).values(state="failed"))
            db.commit()
        house.loops.add(Loop("breaking", _fall, every=1.0)).once()
        with running(house) as url:
            yield url


def _write_to(house: Workspace, name: str) -> None:
    with house.session() as db:
        reader = make_person(db, name, RoleName.WORKER)
        assert reader.user_id
        accounts.update_profile(db, reader, email=f"{name}@example.org", email_notifications=True)
        notify.notify(db, reader.user_id, "test", Text("hello"))


def _fall(each: object) -> None:
    raise OSError("no room on the disk")


def test_an_admin_sees_what_fails_and_decides(visitor: Visitor) -> None:
    """Each e-mail with its reason and two buttons; each loop with its last success and failure."""
    visitor.sign_in("ada")
    page = visitor.go_in_looks("/admin/health")
    expect(page.get_by_role("region", name="Table: E-mails")).to_contain_text("550 5.1.1 refused")
    expect(page.get_by_role("region", name="Table: What goes on beside pages")).to_contain_text("no room on the disk")
    row = page.get_by_role("row").filter(has_text="spam@example.org")
    row.get_by_role("button", name="Give up").click()
    expect(page.get_by_text("1 e-mail is given up.")).to_be_visible()
    expect(page.get_by_role("region", name="Table: E-mails")).not_to_contain_text("spam@example.org")
