"""Requirements of submitted models: wheels only, offline where they came along, and nothing of theirs runs outside."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from quintain.core.errors import BadInput
from quintain.core.task import Task
from quintain.engine.runner import open_runner
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.services.environments import Environments, read_requirements
from quintain.services.run_cell import Conditions, runnable
from quintain.services.tasks import check_task
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
    before = place.stat().st_mtime_ns
    assert environments.packages(model) == (place,)
    assert place.stat().st_mtime_ns == before
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
