"""Snapshots are signed: a copy that was changed, ranked anew and hashed anew is found out."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.core.records.board import BoardView
from quintain.data import signatures
from quintain.services.access import signing
from quintain.services.board import snapshots
from quintain.services.board import snapshots as board_keep
from quintain.services.board import verify as verifying
from quintain.services.board.ranking import rank
from quintain.services.board.verify import verify_snapshot
from quintain.services.house.backup import create_backup, restore_backup
from quintain.services.plain.files.signed import KeySource
from quintain.store.blobs import Blobs
from quintain.store.tables import BoardSnapshot, DatasetVersion, SigningKey
from quintain.web.app import create_app
from tests.beginnings import Build, with_small_board
from tests.web_support import running

Cli = Callable[..., Result]


@pytest.fixture
def beginning() -> Build:
    """A board of three models on two data sets."""
    return with_small_board


def take(db: Session, blobs: Blobs, actor: Actor = OPERATOR, **more: Any) -> bytes:
    """Take a snapshot and give its file."""
    made = board_keep.take_snapshot(db, blobs, actor, "mood", part=None, **more)
    return board_keep.read_snapshot(db, blobs, ANONYMOUS, "mood", made.hash)[1]


def own(db: Session) -> KeySource:
    """Give the workspace's keys as what is believed."""
    keys = {one.public_key: one.replaced_at for one in signing.published_keys(db)}
    return KeySource("the workspace's", keys, required=True)


def forged(data: bytes, secret: str | None = None) -> bytes:
    """Change a figure, rank anew, hash anew and, with a key of one's own, sign anew."""
    shape = json.loads(data)
    model = next(one for one in shape["board"]["models"] if one["name"] == "small")
    for figure in model["values"]["performance"]:
        figure["value"] = 99.9
    board = verifying._board_of(shape["board"])
    shape["ranking"] = rank(board, BoardView(**shape["view"])).as_dict()
    shape["hash"] = signatures.digest(shape)
    if secret:
        shape["signature"] = signatures.sign(secret, shape["hash"])
    return json.dumps(shape).encode()


def test_a_forged_copy_is_found_out(db: Session, blobs: Blobs) -> None:
    """It fits together, but its signature is another's or does not fit; without the signature it is not signed."""
    data = take(db, blobs)
    assert verify_snapshot(data, sources=[own(db)]).origin
    kept = verify_snapshot(forged(data), sources=[own(db)])
    assert [check.what for check in kept.checks if check.state == "passed"] == ["hash", "ranking"]
    assert kept.problems == ("its signature does not fit its content: it was changed, or is forged",)
    stranger = verify_snapshot(forged(data, signatures.make_key()[0]), sources=[own(db)])
    assert "somebody else signed it" in stranger.problems[0]
    bare = {name: value for name, value in json.loads(forged(data)).items() if name != "signature"}
    assert verify_snapshot(json.dumps(bare).encode(), sources=[own(db)]).problems == ("it is not signed",)
    unsure = verify_snapshot(json.dumps(bare).encode())
    assert unsure.problems == ()
    assert not unsure.origin


@pytest.mark.parametrize("signature", [3, [], {}, {"algorithm": "Ed25519", "public_key": 1, "value": None}, "x"])
def test_an_odd_signature_is_a_wrong_one(db: Session, blobs: Blobs, signature: object) -> None:
    """Whatever stands where the signature should be, it is refused and nothing breaks."""
    shape = {**json.loads(take(db, blobs)), "signature": signature}
    assert "does not fit" in verify_snapshot(json.dumps(shape).encode()).problems[0]


@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b'{"format": ' + b"9" * 5000 + b"}", b'{"format": "quintain-board/9"}']
)
def test_hostile_files_are_explained(data: bytes) -> None:
    """Depth, digits and formats that nobody knows are bad input, not a crash."""
    with pytest.raises(BadInput):
        verify_snapshot(data)


def test_the_key_is_made_once_and_never_shown(workspace: Workspace, db: Session, blobs: Blobs) -> None:
    """Several that sign at once use one key; its secret part is in no answer, and in the backup."""

    def sign(_: int) -> str:
        with workspace.session() as mine:
            return signing.sign(mine, "ab" * 32)["key_id"]

    with ThreadPoolExecutor(4) as pool:
        made = set(pool.map(sign, range(8)))
    secret = db.scalars(select(SigningKey.secret)).one()
    anybody = TestClient(create_app(workspace))
    answer = anybody.get("/api/v1/keys")
    assert {one["key_id"] for one in answer.json()["keys"]} == made
    assert secret not in answer.text
    assert secret not in take(db, blobs).decode()


def test_a_replaced_key_stays_published(db: Session, blobs: Blobs, builder: Actor) -> None:
    """What it signed is still known, with the day on which it was replaced; only admins replace it."""
    old = take(db, blobs)
    with pytest.raises(Forbidden):
        signing.replace_key(db, builder)
    new = signing.replace_key(db, OPERATOR)
    assert json.loads(take(db, blobs, title="Two"))["signature"]["key_id"] == new.key_id
    found = verify_snapshot(old, sources=[own(db)])
    assert found.origin
    assert "was replaced on" in found.checks[-1].text


def test_a_restored_workspace_signs_with_its_key(
    db: Session, blobs: Blobs, workspace: Workspace, tmp_path: Path
) -> None:
    """The key is in the backup, so what was signed before is known after."""
    data = take(db, blobs)
    create_backup(db, blobs, OPERATOR, tmp_path / "backup.zip")
    assert stat.S_IMODE((tmp_path / "backup.zip").stat().st_mode) == 0o600
    database = workspace.settings.workspace / "quintain.db"
    assert not database.exists() or stat.S_IMODE(database.stat().st_mode) & 0o007 == 0
    restore_backup(db, blobs, OPERATOR, tmp_path / "backup.zip", force=True)
    with workspace.session() as fresh:
        assert verify_snapshot(data, sources=[own(fresh)]).origin


def test_snapshots_from_before_are_signed_and_lose_bare_hashes(db: Session, blobs: Blobs, workspace: Workspace) -> None:
    """One that holds the bare hash of a hidden set is renamed, so that neither it nor its name tells the answers."""
    data = take(db, blobs)
    shape = json.loads(data)
    hidden = db.scalars(select(DatasetVersion).where(DatasetVersion.hidden)).first()
    assert hidden is not None
    before = json.loads(data.replace(hidden.hash.encode(), b"f" * 64))
    del before["signature"]
    before["hash"] = signatures.digest(before)
    key = blobs.put(json.dumps(before).encode())
    db.execute(update(BoardSnapshot).values(hash=before["hash"], blob=key, key_id=None))
    db.commit()
    db.expire_all()
    assert snapshots.sign_kept(db, blobs) == 1
    assert snapshots.sign_kept(db, blobs) == 0
    (info,) = board_keep.list_snapshots(db, ANONYMOUS, "mood")
    again = board_keep.read_snapshot(db, blobs, ANONYMOUS, "mood", info.hash)[1]
    assert b"f" * 64 not in again
    assert info.hash == shape["hash"] != before["hash"]
    assert verify_snapshot(again, sources=[own(db)]).origin


@pytest.fixture
def server(workspace: Workspace) -> Iterator[str]:
    """The address of a real server on the workspace."""
    with running(workspace) as url:
        yield url


@pytest.fixture
def verify(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A function that runs `quintain board verify` where there is no workspace."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return partial(cli, "board", "verify")


def test_the_command_says_what_was_verified(
    verify: Cli, server: str, db: Session, blobs: Blobs, tmp_path: Path
) -> None:
    """Alone it proves that the file fits together; with a key or a server, who made it; a forged copy ends with 1."""
    data = take(db, blobs, title="Signed")
    good, bad, stranger = (tmp_path / f"{name}.json" for name in ("good", "bad", "stranger"))
    good.write_bytes(data)
    bad.write_bytes(forged(data))
    stranger.write_bytes(forged(data, signatures.make_key()[0]))
    (key,) = httpx2.get(f"{server}/api/v1/keys").json()["keys"]

    alone = verify(good)
    assert alone.exit_code == 0
    assert f"? key {key['key_id']} is not known here" in alone.stdout
    assert "Only that it fits together is proven" in alone.stdout

    asked = verify(good, "--server", server, "--json")
    found = json.loads(asked.stdout)
    assert (asked.exit_code, found["origin"], found["key_id"]) == (0, True, key["key_id"])
    assert [(one["what"], one["state"]) for one in found["checks"]] == [
        (what, "passed") for what in ("hash", "ranking", "signature", "key", "server")
    ]
    given = verify(good, "--key", key["public_key"])
    assert (given.exit_code, "It is what it claims to be." in given.stdout) == (0, True)

    for file, options in ((bad, ()), (stranger, ("--server", server)), (stranger, ("--key", key["public_key"]))):
        refused = verify(file, *options)
        assert refused.exit_code == 1, refused.stdout
        assert "is not to be trusted" in refused.stderr
    assert verify(stranger).exit_code == 0  # consistent, and it says that this is all

    away = verify(good, "--server", "http://127.0.0.1:9")
    assert away.exit_code == 1
    assert "cannot be asked" in away.stderr
    wrong = verify(good, "--key", "nonsense")
    assert (wrong.exit_code, "not a public key" in wrong.stderr) == (1, True)


def test_a_snapshot_names_its_server(verify: Cli, server: str, db: Session, blobs: Blobs, tmp_path: Path) -> None:
    """The server it names is asked without being told to; one that is away leaves the question open."""
    file = tmp_path / "named.json"
    file.write_bytes(take(db, blobs, server=server))
    found = json.loads(verify(file, "--json").stdout)
    assert (found["origin"], found["server"]) == (True, server)
    assert json.loads(verify(file, "--json", "--offline").stdout)["origin"] is False
    file.write_bytes(take(db, blobs, server="http://127.0.0.1:9"))
    done = verify(file, "--json")
    assert done.exit_code == 0
    assert [one["state"] for one in json.loads(done.stdout)["checks"] if one["what"] == "server"] == ["unknown"]


def test_the_client_checks_a_file_against_its_server(server: str, db: Session, blobs: Blobs, tmp_path: Path) -> None:
    """Python code learns the same: the server's key, its own copy, and that a forged file is neither."""
    data = take(db, blobs)
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(data)
    bad.write_bytes(forged(data, signatures.make_key()[0]))
    with Client(server) as client:
        checked = client.check_snapshot(good)
        assert checked.ok
        assert checked.key_id == client.signing_keys()[0].key_id
        found = client.check_snapshot(bad)
        assert (found.intact, found.signed, found.published, found.kept, found.ok) == (True, True, False, False, False)
        bad.write_text("{}")
        with pytest.raises(BadInput, match="not a snapshot"):
            client.check_snapshot(bad)


def test_inside_a_workspace_its_own_key_is_known(
    cli: Cli, workspace: Workspace, db: Session, blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operator needs no option; `board keys` lists the keys and makes a new one."""
    if workspace.settings.database_url:
        monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    folder = workspace.settings.workspace
    file = tmp_path / "board.json"
    taken = cli("-w", folder, "board", "snapshot", "mood", "-o", file, "--json")
    assert taken.exit_code == 0, taken.output
    done = cli("-w", folder, "board", "verify", file, "--json")
    assert json.loads(done.stdout)["origin"] is True
    shown = json.loads(cli("-w", folder, "board", "keys", "--new", "--json").stdout)["keys"]
    assert [one["replaced_at"] is None for one in shown] == [True, False]
    assert shown[1]["key_id"] == json.loads(taken.stdout)["key_id"]
