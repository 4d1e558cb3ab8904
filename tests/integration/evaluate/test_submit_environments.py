"""Requirements of submitted models: wheels only, offline where they came along, and nothing of theirs runs outside."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from quintain.core.errors import BadInput
from quintain.core.task import Task
from quintain.engine.runner import open_runner
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.services.evaluate.cells.conditions import Conditions, runnable
from quintain.services.models.environments import Environments, read_requirements
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter


def wheel(folder: Path, name: str = "tinywords", version: str = "1.0", code: str = "WORD = 'positive'") -> None:
    """Write a wheel with one module."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},{len(text)}"
        for path, text in files.items()
    ]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "\n".join([*lines, f"{info}/RECORD,,"]) + "\n")


SETUP = """
import os
from setuptools import setup
os.makedirs({mark!r}, exist_ok=True)
setup(name="built", version="2.0", py_modules=["built"])
"""


def source_archive(folder: Path, mark: str) -> None:
    """Write a source archive whose set-up leaves a mark wherever it runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / "built-2.0.tar.gz", "w:gz") as archive:
        files = {
            "setup.py": SETUP.format(mark=mark),
            "built.py": "WORD = 'neutral'",
            "PKG-INFO": "Metadata-Version: 2.1\nName: built\nVersion: 2.0\n",
        }
        for name, text in files.items():
            info = tarfile.TarInfo(f"built-2.0/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model whose handler imports a package that is not there."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "handler.py").write_text("import tinywords\ndef predict(batch): return [tinywords.WORD] * len(batch)")
    (folder / "requirements.txt").write_text("tinywords==1.0  # vendored\n")
    return folder


@pytest.fixture
def task() -> Task:
    """A task of sentiment."""
    return check_task(starter("text-classification", "sentiment"))


def answer(model: Path, task: Task, environments: Environments) -> object:
    """Run the model with its packages."""
    conditions = Conditions(Limits(memory_bytes=512 * MIB, call_seconds=20), environments=environments)
    with open_runner(runnable("handler", model, conditions), task, limits=conditions.limits) as runner:
        return runner.predict([{"text": "x"}]).answers[0]


def test_a_wheel_that_came_along_is_installed_once(model: Path, task: Task, tmp_path: Path) -> None:
    """No index is asked; the environment is kept by the hash of what decides it, and found again."""
    wheel(model / "wheels")
    environments = Environments(tmp_path / "environments", "none")
    assert answer(model, task, environments) == "positive"
    (place,) = environments.packages(model)
    before = place.stat().st_ino
    assert environments.packages(model) == (place,)
    assert place.stat().st_ino == before
    assert [one.name for one in environments.folder.iterdir()] == [place.name]
    (model / "wheels" / "tinywords-1.0-py3-none-any.whl").unlink()
    wheel(model / "wheels", code="WORD = 'negative'")
    assert environments.key(model, read_requirements(model)) != place.name


def test_a_source_archive_is_built_inside_the_sandbox(model: Path, task: Task, tmp_path: Path) -> None:
    """Its set-up script runs, and what it leaves behind is not on this machine."""
    mark = tmp_path / "set-up-ran-outside"
    source_archive(model / "wheels", str(mark))
    (model / "requirements.txt").write_text("built==2.0\n")
    (model / "handler.py").write_text("import built\ndef predict(batch): return [built.WORD] * len(batch)")
    (model / "wheels" / "built-2.0.tar.gz").chmod(0o644)
    assert answer(model, task, Environments(tmp_path / "environments", "none")) == "neutral"
    assert not mark.exists()


def test_a_package_that_is_not_there_is_named(model: Path, tmp_path: Path) -> None:
    """What pip says reaches the builder, and nothing half-made is kept."""
    wheel(model / "wheels", name="otherwords")
    environments = Environments(tmp_path / "environments", "none")
    with pytest.raises(BadInput, match=r"requirements.txt cannot be installed: .*tinywords"):
        environments.packages(model)
    assert list(environments.folder.iterdir()) == []


def test_without_an_index_everything_must_come_along(model: Path, tmp_path: Path) -> None:
    """The operator can switch fetching off; the message says what to do."""
    with pytest.raises(BadInput, match="Put wheels into a folder"):
        Environments(tmp_path / "environments", "none").packages(model)


def test_an_environment_that_is_too_large_is_refused(model: Path, tmp_path: Path) -> None:
    """The limit holds for what is unpacked, not for what was sent."""
    wheel(model / "wheels", code=f"WORD = 'positive'  # {'0' * (9 * MIB)}")
    with pytest.raises(BadInput, match=r"cannot be installed|more than 8 MiB"):
        Environments(tmp_path / "environments", "none", limit=8 * MIB).packages(model)


@pytest.mark.parametrize(
    "line",
    [
        "--index-url http://evil.example/",
        "-e .",
        "-r other.txt",
        "git+https://evil.example/x.git",
        "name @ https://evil.example/x.whl",
        "./local.whl",
        "/etc/passwd",
        "--find-links=/",
        "a b",
    ],
)
def test_requirements_are_names_and_versions(line: str, tmp_path: Path) -> None:
    """Options, addresses and paths are refused with their line."""
    (tmp_path / "requirements.txt").write_text(f"numpy>=2\n{line}\n")
    with pytest.raises(BadInput) as caught:
        read_requirements(tmp_path)
    assert [fault.line for fault in caught.value.faults] == [2]


def test_good_requirements_are_read(tmp_path: Path) -> None:
    """Extras, several bounds, markers and comments are fine."""
    text = "# ours\nnumpy>=2,<3\nfastapi[standard]==0.128\nx; python_version < '3.12'\n\nscipy  # numbers\n"
    (tmp_path / "requirements.txt").write_text(text)
    found = read_requirements(tmp_path)
    assert found == ["numpy>=2,<3", "fastapi[standard]==0.128", "x; python_version < '3.12'", "scipy"]


def test_a_strange_file_among_the_wheels_is_refused(model: Path, tmp_path: Path) -> None:
    """Only wheels and source archives belong there."""
    wheel(model / "wheels")
    (model / "wheels" / "run.sh").write_text("echo")
    with pytest.raises(BadInput, match="neither a wheel nor a source archive"):
        Environments(tmp_path / "environments", "none").packages(model)


class Index:
    """A package index on loopback: a page of links for each project, as any index has."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        index = self

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                index.asked.append(self.path)
                super().do_GET()

            def log_message(self, *_: object) -> None:
                """Stay silent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple/"

    def add(self, project: str, *files: Path, wrong_hash: bool = False) -> None:
        """Offer *files* of a project, each with its hash, or with another one."""
        page = self.folder / "simple" / project
        page.mkdir(parents=True)
        links = []
        for file in files:
            data = file.read_bytes()
            (page / file.name).write_bytes(data)
            told = hashlib.sha256(data + (b"!" if wrong_hash else b"")).hexdigest()
            links.append(f'<a href="{file.name}#sha256={told}">{file.name}</a>')
        (page / "index.html").write_text(f"<!DOCTYPE html><html><body>{' '.join(links)}</body></html>")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index that is served while the test runs."""
    made = Index(tmp_path / "index")
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def test_wheels_are_fetched_from_the_index(model: Path, task: Task, index: Index, tmp_path: Path) -> None:
    """The index is asked once for a set of requirements; the package is there when the model runs."""
    wheel(tmp_path / "made")
    index.add("tinywords", tmp_path / "made" / "tinywords-1.0-py3-none-any.whl")
    environments = Environments(tmp_path / "environments", index.url)
    assert answer(model, task, environments) == "positive"
    assert "/simple/tinywords/tinywords-1.0-py3-none-any.whl" in index.asked
    asked = len(index.asked)
    assert environments.packages(model)
    assert len(index.asked) == asked


def test_a_source_archive_at_the_index_is_refused(model: Path, index: Index, tmp_path: Path) -> None:
    """It would run code of its own while it is fetched: it is neither run nor taken, and the remedy is named."""
    mark = tmp_path / "set-up-ran-outside"
    source_archive(tmp_path / "made", str(mark))
    index.add("built", tmp_path / "made" / "built-2.0.tar.gz")
    (model / "requirements.txt").write_text("built==2.0\n")
    environments = Environments(tmp_path / "environments", index.url)
    with pytest.raises(BadInput, match=r"cannot be fetched as wheels: .*built==2\.0") as caught:
        environments.packages(model)
    assert "Only wheels are taken" in str(caught.value.remedy)
    assert not mark.exists()
    assert list(environments.folder.iterdir()) == []


def test_a_requirement_that_the_index_does_not_have_is_named(model: Path, index: Index, tmp_path: Path) -> None:
    """What is missing is said, whether the project is unknown or only the version."""
    with pytest.raises(BadInput, match=r"cannot be fetched as wheels: .*tinywords==1\.0"):
        Environments(tmp_path / "environments", index.url).packages(model)
    wheel(tmp_path / "made", version="0.9")
    index.add("tinywords", tmp_path / "made" / "tinywords-0.9-py3-none-any.whl")
    with pytest.raises(BadInput, match=r"cannot be fetched as wheels: .*tinywords==1\.0"):
        Environments(tmp_path / "environments", index.url).packages(model)


def test_a_wheel_that_is_not_what_the_index_says_is_refused(model: Path, index: Index, tmp_path: Path) -> None:
    """A file whose hash differs from the one on its page was changed on the way."""
    wheel(tmp_path / "made")
    index.add("tinywords", tmp_path / "made" / "tinywords-1.0-py3-none-any.whl", wrong_hash=True)
    environments = Environments(tmp_path / "environments", index.url)
    with pytest.raises(BadInput, match="DO NOT MATCH THE HASHES"):
        environments.packages(model)
    assert list(environments.folder.iterdir()) == []


def with_packages(tmp_path: Path, number: int) -> Path:
    """Make a model with an environment of its own of about a mebibyte."""
    folder = tmp_path / f"model-{number}"
    folder.mkdir()
    (folder / "handler.py").write_text("import tinywords\ndef predict(batch): return [tinywords.WORD] * len(batch)")
    (folder / "requirements.txt").write_text("tinywords==1.0\n")
    wheel(folder / "wheels", code=f"WORD = 'positive'  # {number}{'0' * MIB}")
    return folder


def test_what_was_not_used_for_longest_makes_room(task: Task, tmp_path: Path) -> None:
    """A model's environment survives while it is used or running; the others go in the order of their last use."""
    models = [with_packages(tmp_path, number) for number in range(3)]
    environments = Environments(tmp_path / "environments", "none", room=int(2.5 * MIB), grace=0.0)
    first, second = (environments.packages(one)[0] for one in models[:2])
    environments.packages(models[0])
    (third,) = environments.packages(models[2])
    assert (first.is_dir(), second.is_dir(), third.is_dir()) == (True, False, True)
    conditions = Conditions(Limits(memory_bytes=512 * MIB, call_seconds=20), environments=environments)
    with open_runner(runnable("handler", models[0], conditions), task, limits=conditions.limits) as runner:
        environments.packages(models[2])
        (second,) = environments.packages(models[1])
        assert first.is_dir(), "it is the oldest, but a model runs with it"
        assert not third.exists()
        assert runner.predict([{"text": "x"}]).answers == ["positive"]
    environments.packages(models[1])
    (third,) = environments.packages(models[2])
    assert not first.exists(), "nobody holds it any longer"
    assert sorted(one.name for one in environments.folder.iterdir()) == sorted([second.name, third.name])


def test_an_environment_just_asked_for_is_not_taken(tmp_path: Path) -> None:
    """Between asking and running, nothing holds it but the time of its last use."""
    models = [with_packages(tmp_path, number) for number in range(2)]
    environments = Environments(tmp_path / "environments", "none", room=MIB)
    places = [environments.packages(one)[0] for one in models]
    assert all(place.is_dir() for place in places)
    assert environments.make_room() == []
