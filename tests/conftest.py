"""What tests of all kinds share: databases, workspaces, people, and ways to run commands."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from argon2 import PasswordHasher
from jinja2 import FileSystemBytecodeCache
from sqlalchemy import URL, Engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.orm import Session
from sqlalchemy.util import LRUCache
from typer.testing import CliRunner, Result

from quintain.cli import lazy
from quintain.cli.app import app
from quintain.compose import Workspace, create_workspace
from quintain.core.people import Actor, RoleName
from quintain.services.access import passwords
from quintain.settings import Settings
from quintain.store import archive, migrate
from quintain.store import database as database_module
from quintain.store.blobs import Blobs
from quintain.store.database import connect
from quintain.store.migrate import upgrade, upgrade_on
from quintain.web import rendering
from tests.beginnings import Beginnings, Build
from tests.once import once
from tests.pages import pages_looked_at
from tests.people import find_or_make_person
from tests.postgres import TEMPLATE, PostgresServer
from tests.properties import examples
from tests.schemas import as_in
from tests.web_support import MANY, copy_demo, made_once, make_demo

ROOT = Path(__file__).parent.parent
# Times vary on a busy machine; what a property test shows does not depend on them.
hypothesis.settings.register_profile("quintain", deadline=None, max_examples=examples(100))
hypothesis.settings.load_profile("quintain")

DATABASES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Count a test on PostgreSQL among the slow ones, unless it says that both databases are its subject."""
    for item in items:
        if item.get_closest_marker("postgres") and not item.get_closest_marker("both_databases"):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what all tests share, and look less often: it took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords() -> Iterator[None]:
    """Keep passwords with the least work that argon2 can do: hundreds of tests sign in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let all processes of a run share what templates are compiled to."""
    folder = once(tmp_path_factory, "templates", lambda made: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "COMPILED", FileSystemBytecodeCache(str(folder)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_id_twice() -> Iterator[None]:
    """Look at every page that any test renders: no two of its elements have one id."""
    with pages_looked_at():
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_commands() -> Iterator[None]:
    """Build the options of each command once: a process calls one once, and tests call them hundreds of times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy, "load", cache(lazy.load))
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_tables(sqlite_template: Path) -> Iterator[None]:
    """Make the tables of new SQLite databases as the migrations left them in one, and not by all migrations again."""
    with pytest.MonkeyPatch.context() as patch:
        quick = as_in(sqlite_template, migrate.upgrade_on)
        patch.setattr(migrate, "upgrade_on", quick)
        patch.setattr(archive, "upgrade_on", quick)
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_statements() -> Iterator[None]:
    """Compile each statement once for all SQLite databases of a process, which differ in their files alone.

    What is compiled is looked up under the dialect and the statement, and every engine makes a dialect of its own, so
    that a shared cache alone finds nothing. A dialect cannot be handed to `create_engine`; so those of SQLite are taken
    for the same while tests run.
    """
    compiled: LRUCache[Any, Any] = LRUCache(20_000)
    create = database_module.create_engine

    def create_sharing(address: URL, **options: Any) -> Engine:
        return create(address, execution_options={"compiled_cache": compiled}, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database_module, "create_engine", create_sharing)
        patch.setattr(SQLiteDialect_pysqlite, "__eq__", lambda dialect, other: type(dialect) is type(other))
        patch.setattr(SQLiteDialect_pysqlite, "__hash__", lambda dialect: hash(type(dialect)))
        yield


@pytest.fixture
def all_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new databases be made by all migrations, for tests of just that."""
    monkeypatch.setattr(migrate, "upgrade_on", upgrade_on)
    monkeypatch.setattr(archive, "upgrade_on", upgrade_on)


@pytest.fixture
def costly_passwords(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep passwords as they are kept in earnest, for tests of just that."""
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher())
    passwords._nobodys.cache_clear()
    yield
    passwords._nobodys.cache_clear()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("QUINTAIN_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server of our own. Where it cannot be started the tests fail: they are part of the promise."""
    # A socket's path may have at most 107 characters, so pytest's own long folders will not do.
    folder = Path(tempfile.mkdtemp(prefix="quintain-pg-", dir="/tmp"))
    server = PostgresServer(folder)
    server.start()
    try:
        engine = connect(server.create(template=None))
        upgrade(engine)
        engine.dispose()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite database that tests copy."""

    def make(folder: Path) -> None:
        engine = connect(f"sqlite:///{folder}/template.db")
        upgrade(engine)
        engine.dispose()

    return once(tmp_path_factory, "sqlite", make) / "template.db"


@pytest.fixture
def new_database(request: pytest.FixtureRequest) -> Iterator[Callable[..., str]]:
    """A function that gives the address of a fresh, migrated PostgreSQL database, or "" for SQLite."""
    with ExitStack() as stack:

        def make(kind: str, template: str = TEMPLATE) -> str:
            if kind == "sqlite":
                return ""
            server: PostgresServer = request.getfixturevalue("postgres_server")
            url = server.create(template)
            stack.callback(server.give_back if template == TEMPLATE else server.drop, url)
            return url

        yield make


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    """The kind of database: every test that uses it, or `workspace`, runs on both.

    PostgreSQL's turn is among the slow tests, where a test or its file does not say `both_databases`: what it shows has
    to do with queries that differ, locks, or several at once.
    """
    return str(request.param)


@pytest.fixture(scope="session")
def beginnings(
    request: pytest.FixtureRequest, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Beginnings:
    """Workspaces that are made once, for tests that begin with a copy."""
    return Beginnings(
        lambda: tmp_path_factory.mktemp("beginning"),
        sqlite_template,
        lambda: request.getfixturevalue("postgres_server"),
    )


@pytest.fixture
def beginning() -> Build | None:
    """What the workspace begins with: nothing, unless a file of tests says otherwise."""
    return None


@pytest.fixture
def settings(
    database: str,
    new_database: Callable[..., str],
    sqlite_template: Path,
    tmp_path: Path,
    beginning: Build | None,
    beginnings: Beginnings,
) -> Settings:
    """Settings of a workspace in a temporary folder, whose database is migrated and has what it begins with."""
    folder = tmp_path / "workspace"
    if beginning:
        template = beginnings.template(database, beginning)
        shutil.copytree(template.folder, folder)
        return Settings(workspace=folder, database_url=new_database(database, template.database))
    folder.mkdir()
    if database == "sqlite":
        shutil.copyfile(sqlite_template, folder / "quintain.db")
    return Settings(workspace=folder, database_url=new_database(database))


@pytest.fixture
def workspace(settings: Settings) -> Iterator[Workspace]:
    """An empty workspace, once on SQLite and once on PostgreSQL."""
    made = create_workspace(settings)
    yield made
    made.engine.dispose()


@pytest.fixture
def db(workspace: Workspace) -> Iterator[Session]:
    """A session on the workspace's database."""
    with workspace.session() as session:
        yield session


@pytest.fixture
def blobs(workspace: Workspace) -> Blobs:
    """The workspace's blobs."""
    return workspace.blobs


@pytest.fixture
def admin(db: Session) -> Actor:
    """Somebody who may do everything."""
    return find_or_make_person(db, "ada", RoleName.ADMIN)


@pytest.fixture
def owner(db: Session) -> Actor:
    """Somebody who owns every task."""
    return find_or_make_person(db, "olga", RoleName.OWNER)


@pytest.fixture
def builder(db: Session) -> Actor:
    """Somebody who submits models."""
    return find_or_make_person(db, "bert", RoleName.BUILDER)


@pytest.fixture
def worker(db: Session) -> Actor:
    """Somebody who writes and judges."""
    return find_or_make_person(db, "wilma", RoleName.WORKER)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the repository; tests on them are skipped where it is missing."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("there is no shared/data beside the repository")
    return folder


@pytest.fixture
def cli() -> Callable[..., Result]:
    """A function that runs a command inside this process and gives its result."""

    def run(*arguments: str | Path, input: str | None = None) -> Result:  # noqa: A002 - typer's own word
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)

    return run


@pytest.fixture
def run_cli(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs `quintain` as a real process and gives its exit code and output."""

    def run(
        *arguments: str | Path, cwd: Path = tmp_path, env: dict[str, str] | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "quintain", *(str(argument) for argument in arguments)]
        surroundings = {**os.environ, **(env or {})}
        return subprocess.run(
            command, capture_output=True, text=True, cwd=cwd, env=surroundings, timeout=timeout, check=False
        )

    return run


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with the starter tasks, shared by tests that only look or that clean up after themselves."""
    made = made_once(tmp_path_factory, "demo", make_demo, **MANY)
    yield made
    made.engine.dispose()


@pytest.fixture
def own_demo(demo: Workspace, tmp_path: Path) -> Iterator[Workspace]:
    """A copy of the demo that a test may change."""
    made = copy_demo(demo, tmp_path / "demo")
    yield made
    made.engine.dispose()
