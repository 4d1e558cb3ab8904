"""A private model's name, and its builder's, are nowhere to be read for those who may not see it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import polars as pl
import pytest
from sqlalchemy import JSON, Text, cast, func, type_coerce, update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName
from quintain.services.access.concealing import PRIVATE, Conceal
from quintain.services.board.snapshots import take_snapshot
from quintain.services.board.standings import known_standings
from quintain.services.models.registry import set_visibility
from quintain.services.release.releases import parse_release, release
from quintain.store.database import transaction
from quintain.store.tables import Attempt, Model, RoundVersion, ValidationItem
from quintain.web.app import create_app
from quintain.web.routes import API, PAGES
from tests.boards import wait_for_standings
from tests.judged_rounds import REF, ROUND
from tests.people import make_person
from tests.released import judged_round, mood_items
from tests.web_support import token_for
from tests.wheel_support import SPEC, answered, disputed, half, perfect

SECRET, BUILDER = "nightjar-zq", "falconer-zq"


@pytest.fixture
def builder(db: Session) -> Actor:
    """Whose model it is."""
    return make_person(db, BUILDER, RoleName.BUILDER)


@pytest.fixture
def house(workspace: Workspace, db: Session, owner: Actor, builder: Actor, tmp_path: Path) -> Workspace:
    """A round that was written at a builder's model, judged and released; the model is ranked on what was released."""
    judged_round(db, owner, disputed(mood_items(15)))
    with transaction(db):
        call_everywhere(db, "mood/m0", f"mood/{SECRET}@1")
        db.execute(update(RoundVersion).values(toml=ROUND.replace("mood/m", f"mood/{SECRET}")))
    release(db, workspace.blobs, owner, REF, parse_release(SPEC.format(test=108, hidden="false")))
    answered(db, workspace, owner, tmp_path, "open", half)
    answered(db, workspace, owner, tmp_path, SECRET, perfect)
    with transaction(db):
        db.execute(update(Model).where(Model.name == SECRET).values(owner_id=builder.user_id))
    return workspace


def call_everywhere(db: Session, name: str, other: str) -> None:
    """Call a model by another name in all that is stored of what models said."""
    for table in (Attempt.__table__, ValidationItem.__table__):
        for column in table.columns:
            if isinstance(column.type, JSON):
                renamed = func.replace(cast(column, Text), name, other)
                db.execute(
                    update(table).values(
                        {column: cast(renamed, JSON) if is_postgres(db) else type_coerce(renamed, Text)}
                    )
                )


def is_postgres(db: Session) -> bool:
    """Say which database it is: there JSON is a type of its own."""
    return db.get_bind().dialect.name == "postgresql"


def visitors(workspace: Workspace) -> Iterator[tuple[str, dict[str, str]]]:
    """Give who looks around, and what they show: nobody, a worker, and another builder."""
    yield "anonymous", {}
    with workspace.session() as db:
        for name, role in (("wim", RoleName.WORKER), ("bea", RoleName.BUILDER)):
            make_person(db, name, role)
    for name in ("wim", "bea"):
        yield name, {"authorization": f"Bearer {token_for(workspace, name)}"}


def addresses() -> list[str]:
    """Give every page and call that only reads, with what there is in place of its parameters."""
    names = {
        "task": "mood",
        "dataset": "round-1-test",
        "model": "open",
        "room": "rounds",
        "first": "open",
        "kind": "csv",
    }
    found = []
    for route in (*PAGES, *API):
        base = "" if route in PAGES else "/api/v1"
        if route.method == "GET" and "stream" not in route.path and "events" not in route.path:
            found.append(base + re.sub(r"{(\w+)(?::\w+)?}", lambda part: names.get(part[1], "1"), route.path))
    found += [path.replace("round-1-test", "round-1-train") for path in found if "round-1-test" in path]
    return list(dict.fromkeys(found))


def where_it_is_read(workspace: Workspace, *secrets: str, also: Sequence[str] = ()) -> list[tuple[str, str, str]]:
    """Crawl every page and call as those who may not see the model, and give where one of the names stands."""
    client = TestClient(create_app(workspace), follow_redirects=False, raise_server_exceptions=False)
    wrong = []
    for who, shown in visitors(workspace):
        for path in (*addresses(), *also):
            answer = client.get(path, headers=shown)
            text = readable(answer.content) + str(answer.headers)
            wrong += [(who, path, secret) for secret in secrets if secret in text]
    return wrong


def readable(content: bytes) -> str:
    """Return an answer as text: an archive and each file in it unpacked, a Parquet file with its values."""
    if content.startswith(b"PK\x03\x04"):
        with ZipFile(BytesIO(content)) as archive:
            return "".join(name + readable(archive.read(name)) for name in archive.namelist())
    if content.startswith(b"\x1f\x8b"):
        return readable(gzip.decompress(content))
    if content.startswith(b"PAR1"):
        return str(pl.read_parquet(BytesIO(content)).to_dicts())
    return content.decode("utf-8", "replace")


def test_a_private_model_is_named_nowhere(house: Workspace, db: Session, builder: Actor) -> None:
    """Everything was looked at while the model was public; from the moment it is private, no page or call names it."""
    client = TestClient(create_app(house), follow_redirects=False)
    taken = take_snapshot(db, house.blobs, builder, "mood", title=f"{SECRET} leads", part=None)
    for path in addresses():
        client.get(path)
    assert SECRET in client.get("/api/v1/tasks/mood/board").text
    assert SECRET in client.get(f"/api/v1/tasks/mood/board/snapshots/{taken.hash}").text
    assert SECRET in client.get("/api/v1/tasks/mood/datasets").text
    set_visibility(db, builder, f"mood/{SECRET}", "private")
    wrong = where_it_is_read(house, SECRET, BUILDER, also=[f"/api/v1/tasks/mood/board/snapshots/{taken.hash}"])
    assert not wrong, "\n".join(map(str, wrong))


def test_an_anonymous_models_builder_is_named_nowhere(house: Workspace, db: Session, builder: Actor) -> None:
    """A model without its builder's name is listed, and nothing says whose it is."""
    set_visibility(db, builder, f"mood/{SECRET}", "anonymous")
    wrong = where_it_is_read(house, BUILDER)
    assert not wrong, "\n".join(map(str, wrong))


def test_kept_standings_ask_what_may_be_seen(house: Workspace, db: Session, builder: Actor) -> None:
    """The first page after a model was made private leaves it out of a standing that was made before."""
    known_standings(db, house.blobs, ["mood"])
    wait_for_standings(db)
    standing = known_standings(db, house.blobs, ["mood"])["mood"]
    assert SECRET in {place.name for place in standing.places} | set(standing.rounds)
    set_visibility(db, builder, f"mood/{SECRET}", "private")
    standing = known_standings(db, house.blobs, ["mood"])["mood"]
    assert SECRET not in {place.name for place in standing.places} | set(standing.rounds)


def test_the_filter_knows_references_and_keys(house: Workspace, db: Session, owner: Actor, builder: Actor) -> None:
    """References are taken out of texts and bare names where a key says model; owner and builder read all."""
    set_visibility(db, builder, f"mood/{SECRET}", "private")
    stored = {"model": SECRET, "note": f"beat mood/{SECRET}@1, not mood/{SECRET}-2", "label": SECRET, "n": [1, None]}
    clean = {"model": PRIVATE, "note": f"beat {PRIVATE}, not mood/{SECRET}-2", "label": SECRET, "n": [1, None]}
    assert Conceal(db, ANONYMOUS, "mood")(stored) == clean
    for sees in (owner, builder, OPERATOR):
        assert Conceal(db, sees, "mood")(stored) == stored
