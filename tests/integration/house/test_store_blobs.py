"""Blobs are whole or absent, whatever happens while they are written."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from quintain.core.errors import BadInput, NotFound, Unavailable
from quintain.store.blobs import Blobs
from quintain.store.remote_blobs import RemoteBlobs, open_blobs


def test_a_blob_is_named_by_its_content(tmp_path: Path) -> None:
    """The key is the SHA-256, the same content is kept once, and nothing is left in the scratch folder."""
    blobs = Blobs(tmp_path)
    key = blobs.put(b"hello")
    assert key == sha256(b"hello").hexdigest() == blobs.put(b"hello")
    assert blobs.path(key).read_bytes() == b"hello"
    assert blobs.keys() == [key]
    assert blobs.size() == 5
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_file_from_elsewhere_is_copied(tmp_path: Path) -> None:
    """A file outside of the scratch folder stays where it is."""
    source = tmp_path / "source"
    source.write_bytes(b"mine")
    blobs = Blobs(tmp_path / "blobs")
    assert blobs.path(blobs.put_file(source)).read_bytes() == b"mine"
    assert source.exists()


def test_missing_and_impossible_keys_are_not_found(tmp_path: Path) -> None:
    """A key that is not there, or tries to leave the folder, is an error that says so."""
    blobs = Blobs(tmp_path)
    with pytest.raises(NotFound, match="missing"):
        blobs.path("0" * 64)
    for key in ("../../etc/passwd", "", "0" * 63, "Z" * 64):
        with pytest.raises(NotFound, match="not the key"):
            blobs.path(key)


def test_threads_may_put_the_same_blob(tmp_path: Path) -> None:
    """Many who keep the same content at the same time get the same key and one file."""
    blobs = Blobs(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: blobs.put(b"x" * 100_000), range(40)))
    assert len(keys) == 1
    assert blobs.size() == 100_000


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of one megabyte; skipped where it may not be mounted."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_leaves_nothing_half_written(tiny_disk: Path) -> None:
    """Where the disk is full the blob is not there, no scratch file stays, and what was there is whole."""
    blobs = Blobs(tiny_disk)
    kept = blobs.put(b"k" * 1000)
    with pytest.raises(Unavailable, match="full"):
        blobs.put(os.urandom(2_000_000))
    assert blobs.keys() == [kept]
    assert list((tiny_disk / "scratch").iterdir()) == []
    assert blobs.path(kept).read_bytes() == b"k" * 1000


def test_a_limit_on_file_size_reads_like_a_full_disk(tmp_path: Path) -> None:
    """A process that may write no more is told so, and leaves no half file."""
    script = """
        import resource, sys
        from pathlib import Path
        from quintain.core.errors import Unavailable
        from quintain.store.blobs import Blobs
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            Blobs(Path(sys.argv[1])).put(b"x" * 50_000)
        except Unavailable as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), tmp_path], capture_output=True, text=True, check=True
    )
    assert "full; nothing was written" in done.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_error_while_writing_leaves_no_scratch_file(tmp_path: Path) -> None:
    """Whoever fails in the middle of writing leaves the store as it was."""
    blobs = Blobs(tmp_path)

    def fail() -> None:
        with blobs.scratch(".parquet") as path:
            path.write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert blobs.keys() == []
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.fixture(scope="module")
def object_store() -> Iterator[str]:
    """A real server that speaks S3 on the loopback interface, with one bucket."""
    import boto3

    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in keys.items():
            patch.setenv(name, value)
        server.start()
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket="bucket")
        yield endpoint
        server.stop()


def test_an_object_store_is_shared_and_cached(object_store: str, tmp_path: Path) -> None:
    """What one machine keeps another one finds, fetches once, and has from then on."""
    here = open_blobs("s3://bucket/one", cache=tmp_path / "here", endpoint=object_store)
    there = open_blobs("s3://bucket/one", cache=tmp_path / "there", endpoint=object_store)
    assert isinstance(here, RemoteBlobs)
    here.check_writable()
    key = here.put(b"shared" * 1000)
    assert there.has(key)
    assert there.keys() == [key]
    assert not (tmp_path / "there" / key[:2] / key).exists()
    assert there.path(key).read_bytes() == b"shared" * 1000
    assert (tmp_path / "there" / key[:2] / key).exists()


def test_a_damaged_object_is_not_used(object_store: str, tmp_path: Path) -> None:
    """Content that does not fit its key is refused, and does not enter the cache."""
    blobs = RemoteBlobs("s3://bucket/two", tmp_path / "a", endpoint_url=object_store)
    key = blobs.put(b"right")
    blobs._remote.pipe_file(blobs._object(key), b"wrong")
    other = RemoteBlobs("s3://bucket/two", tmp_path / "b", endpoint_url=object_store)
    with pytest.raises(Unavailable, match="damaged"):
        other.path(key)
    assert Blobs(tmp_path / "b").keys() == []


def test_missing_objects_and_buckets_are_explained(object_store: str, tmp_path: Path) -> None:
    """A key that nobody put is not found; a bucket that does not exist is unavailable."""
    blobs = RemoteBlobs("s3://bucket/three", tmp_path / "a", endpoint_url=object_store)
    with pytest.raises(NotFound, match="is missing"):
        blobs.path("0" * 64)
    elsewhere = RemoteBlobs("s3://no-such-bucket/x", tmp_path / "b", endpoint_url=object_store)
    with pytest.raises(Unavailable, match="no-such-bucket"):
        elsewhere.put(b"x")


def test_an_unknown_kind_of_store_is_bad_input(tmp_path: Path) -> None:
    """A URL that no library knows is refused with the form that works."""
    with pytest.raises(BadInput, match="QUINTAIN_BLOBS_URL"):
        open_blobs("carrier-pigeon://loft", cache=tmp_path)


def test_a_file_is_kept_for_a_while_for_all_machines(object_store: str, tmp_path: Path) -> None:
    """What one machine keeps in the object store another one finds; it is no blob, and is thrown away everywhere."""
    ours, theirs = (
        open_blobs("s3://bucket/passing-files", cache=tmp_path / name, endpoint=object_store)
        for name in ("ours", "theirs")
    )
    with ours.scratch(suffix=".csv") as path:
        path.write_text("item,label\n")
        name = ours.put_passing(path)
    found = theirs.passing(name)
    assert found is not None
    assert found.read_text() == "item,label\n"
    assert ours.keys() == []
    assert theirs.passing("../../etc/passwd") is None
    moment = datetime.now(UTC)
    ours.drop_passing(moment - timedelta(hours=1))
    assert ours.passing(name) is not None
    for machine in (ours, theirs):
        machine.drop_passing(moment + timedelta(hours=1))
    assert ours.passing(name) is None
