"""The migrations make exactly the tables that the code knows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.store.database import connect
from quintain.store.migrate import FOLDER, current, differences, newest, pending, upgrade, upgrade_on

pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("all_migrations")]


def test_migrations_make_the_tables_of_the_code(workspace: Workspace) -> None:
    """After all migrations nothing differs from the tables in the code, on either database."""
    assert differences(workspace.engine) == []
    assert current(workspace.engine) == newest()
    assert pending(workspace.engine) == []


def test_names_of_files_are_what_alembic_reads() -> None:
    """What is listed without Alembic is the chain of revisions that it would run, in its order."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_current_head() == newest()
    chain = [script.revision for script in scripts.walk_revisions()]
    assert chain == sorted(chain, reverse=True)
    assert len(chain) == len(list((FOLDER / "versions").glob("*.py")))


def test_starting_imports_nothing_that_is_slow() -> None:
    """The server is up without Alembic, scipy.stats and scipy.optimize, which cost seconds."""
    slow = ("alembic", "scipy.stats", "scipy.optimize")
    code = f"import sys, quintain.web.app; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_upgrading_twice_does_nothing(workspace: Workspace) -> None:
    """A database that is up to date is left alone."""
    assert upgrade(workspace.engine) == []


def test_servers_that_start_together_migrate_once(
    database: str, new_database: Callable[..., str], tmp_path: Path
) -> None:
    """Of several processes that start on an empty database, one runs the migrations and the others wait."""
    url = new_database(database, template="template0") or f"sqlite:///{tmp_path / 'new.db'}"
    engines = [connect(url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        ran = list(pool.map(upgrade, engines))
    assert sum(bool(names) for names in ran) == 1
    assert differences(engines[0]) == []
    for engine in engines:
        engine.dispose()


def test_a_newer_database_is_refused(workspace: Workspace) -> None:
    """A database that a later version wrote is left alone, with a message that says so."""
    with workspace.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'from-the-future'"))
    with pytest.raises(Conflict, match="from-the-future"):
        upgrade(workspace.engine)


def test_addresses_that_nobody_can_write_to_are_set_aside(
    database: str, new_database: Callable[..., str], tmp_path: Path
) -> None:
    """The person keeps the account and is told, and so are the admins; what is still to be mailed is queued."""
    engine = connect(new_database(database, template="template0") or f"sqlite:///{tmp_path / 'old.db'}")
    with engine.begin() as connection:
        upgrade_on(connection, "0044")
        for number, (name, email) in enumerate(
            {"ada": "ada@example.org", "eve": "[<@->>a,<", "bea": "bé@bücher.example"}.items(), 1
        ):
            connection.execute(
                text(
                    "INSERT INTO users (id, name, display_name, email, language, email_notifications, created_at)"
                    " VALUES (:id, :name, '', :email, 'en', :yes, :now)"
                ),
                {"id": number, "name": name, "email": email, "yes": True, "now": datetime.now(UTC)},
            )
            connection.execute(
                text("INSERT INTO notifications (user_id, at, kind, text, url) VALUES (:id, :now, 'x', 'y', '')"),
                {"id": number, "now": datetime.now(UTC)},
            )
        connection.execute(
            text("INSERT INTO role_grants (id, user_id, role, granted_at) VALUES (1, 1, 'admin', :now)"),
            {"now": datetime.now(UTC)},
        )
        upgrade_on(connection)
    with engine.connect() as connection:
        emails = connection.execute(text("SELECT email FROM users ORDER BY id")).scalars().all()
        told = connection.execute(
            text("SELECT user_id, text FROM notifications WHERE kind = 'account.email' ORDER BY user_id")
        ).all()
        queued = connection.execute(text("SELECT user_id FROM outgoing_mails ORDER BY user_id")).scalars().all()
    engine.dispose()
    assert emails == ["ada@example.org", None, "bé@bücher.example"]
    assert [user for user, _ in told] == [1, 2]
    assert all("'[<@->>a,<'" in words for _, words in told)
    assert queued == [1, 3]


def test_one_mailbox_has_one_account(database: str, new_database: Callable[..., str], tmp_path: Path) -> None:
    """Domains are brought into one form; who wrote another's address in another way is told, and loses it."""
    emails = ["a@ｅxample.org", "a@example.org", "b@xn--strae-oqa.de", "c@ex\u0378ample.org", "d@straße.de"]
    engine = connect(new_database(database, template="template0") or f"sqlite:///{tmp_path / 'old.db'}")
    with engine.begin() as connection:
        upgrade_on(connection, "0053")
        for number, email in enumerate(emails, 1):
            connection.execute(
                text(
                    "INSERT INTO users (id, name, display_name, email, language, email_notifications, created_at)"
                    " VALUES (:id, :name, '', :email, 'en', :yes, :now)"
                ),
                {"id": number, "name": f"user{number}", "email": email, "yes": True, "now": datetime.now(UTC)},
            )
        upgrade_on(connection)
    with engine.connect() as connection:
        stored = connection.execute(text("SELECT email FROM users ORDER BY id")).scalars().all()
        warned = connection.execute(text("SELECT user_id FROM notifications ORDER BY user_id")).scalars().all()
    engine.dispose()
    assert stored == [None, "a@example.org", "b@straße.de", None, "d@straße.de"]
    assert warned == [1, 4]
