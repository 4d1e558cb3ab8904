"""What the set-up scripts do on machines of other people: offer a package, show progress, keep quiet, go on."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
OFFER = f"source {ROOT}/scripts/lib.sh; offer_package no-such-program bubblewrap 'it makes the sandbox'; echo went on"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs before all others: we are root, and apt-get writes down what it was asked for."""
    folder = tmp_path / "tools"
    folder.mkdir()
    write(folder / "id", "echo 0")
    write(folder / "apt-get", f'echo "$@" >> {tmp_path}/asked; exit "${{APT_CODE:-0}}"')
    return folder


def write(path: Path, code: str) -> None:
    """Write a program."""
    path.write_text(f"#!/bin/sh\n{code}\n")
    path.chmod(0o755)


def asked(tools: Path) -> str:
    """Give what apt-get was asked to install."""
    file = tools.parent / "asked"
    return file.read_text() if file.exists() else ""


def offer(tools: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the offer where nobody can answer."""
    surroundings = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", **environment}
    return subprocess.run(
        ["bash", "-c", OFFER], env=surroundings, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )


def test_nothing_is_installed_unasked(tools: Path) -> None:
    """Where nobody can answer, and nothing was said beforehand, the package is left alone."""
    assert offer(tools).stdout == "went on\n"
    assert asked(tools) == ""


def test_a_yes_beforehand_installs(tools: Path) -> None:
    """With QUINTAIN_INSTALL=yes, which `--yes` sets, nobody is asked."""
    assert "went on" in offer(tools, QUINTAIN_INSTALL="yes").stdout
    assert "install -y -qq --no-install-recommends bubblewrap" in asked(tools)


def test_a_failure_to_install_is_no_failure(tools: Path) -> None:
    """The demo goes on without what could not be installed, and says so."""
    done = offer(tools, QUINTAIN_INSTALL="yes", APT_CODE="100")
    assert "went on" in done.stdout
    assert "could not install bubblewrap; going on without it" in done.stderr


@pytest.mark.parametrize(("answer", "installs"), [("\n", True), ("y\n", True), ("n\n", False), ("what?\n", False)])
def test_somebody_at_a_terminal_is_asked(tools: Path, answer: str, installs: bool) -> None:
    """Return and yes install, everything else does not."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    with subprocess.Popen(
        ["bash", "-c", OFFER], env=environment, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True
    ) as process:
        os.write(ours, answer.encode())
        said, _ = process.communicate(timeout=30)
    os.close(theirs)
    os.close(ours)
    assert "went on" in said
    assert ("install" in asked(tools)) is installs


@pytest.mark.parametrize("code", [0, 1])
def test_pip_is_heard_only_when_it_fails(tmp_path: Path, code: int) -> None:
    """Progress is shown; warnings never are, and errors are when they end the installation."""
    (tmp_path / "bin").mkdir()
    said = "echo Collecting one; echo WARNING: noise >&2; echo ERROR: no such thing >&2"
    write(tmp_path / "bin" / "python", f"{said}; sleep 1; exit {code}")
    script = f"source {ROOT}/scripts/lib.sh; watch_pip 3 install things; echo went on"
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "QUINTAIN_VENV": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ("went on" in done.stdout) is (code == 0)
    assert "noise" not in done.stderr
    assert ("ERROR: no such thing" in done.stderr) is (code == 1)


def test_progress_counts_packages(tmp_path: Path) -> None:
    """What pip has collected is counted, and unpacking is named."""
    log = tmp_path / "log"
    log.write_text("Collecting numpy==2.1\n  Using cached numpy\nCollecting polars\n")
    script = f"source {ROOT}/scripts/lib.sh; pip_progress {log} 60"
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == "fetching 2 of about 60 packages"
    log.write_text("Installing collected packages: numpy, polars\n")
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == "unpacking 60 packages"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with one test that passes at its second try and one that never does."""
    (tmp_path / "test_once.py").write_text(
        "from pathlib import Path\n\n"
        "def test_late():\n    seen = Path(__file__).with_name('seen')\n    was = seen.exists()\n"
        "    seen.touch()\n    assert was\n"
    )
    (tmp_path / "test_never.py").write_text("def test_broken():\n    assert False\n")
    return tmp_path


def tried_again(suite: Path, tests: str, most: int) -> subprocess.CompletedProcess[str]:
    """Run *tests* in *suite*, then those that failed again as the test command does."""
    run = f"pytest -q -p no:randomly -o cache_dir=kept --rootdir . {tests} >/dev/null || true"
    script = f"source {ROOT}/scripts/lib.sh; {run}; again_alone {suite}/kept {most}"
    search = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    surroundings = {
        **os.environ,
        "PYTEST_ADDOPTS": "-c /dev/null",
        "PATH": search,
    }
    return subprocess.run(
        ["bash", "-c", script], env=surroundings, cwd=suite, capture_output=True, text=True, check=False
    )


def test_a_test_that_passes_alone_is_named_and_forgiven(suite: Path) -> None:
    """What failed once and passes alone does not end the run in failure, and is named."""
    done = tried_again(suite, "test_once.py", 5)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_once.py::test_late" in done.stdout


def test_a_test_that_fails_alone_too_is_broken(suite: Path) -> None:
    """Trying again forgives nothing that fails again."""
    done = tried_again(suite, "test_once.py test_never.py", 5)
    assert done.returncode == 1
    assert "test_never.py::test_broken" in done.stdout


def test_where_many_failed_none_is_tried_again(suite: Path) -> None:
    """With more failures than a busy machine makes, something is broken."""
    done = tried_again(suite, "test_once.py test_never.py", 1)
    assert done.returncode == 1
    assert "tried again" not in done.stdout


# Notebooks are run to be compared, and vendored files change with their manifest alone: tests do both.
@pytest.mark.parametrize("script", ["catalogue", "make_cli_reference", "make_client", "make_library_reference"])
def test_what_is_written_from_the_source_is_checked_before_a_commit(script: str) -> None:
    """Whoever forgets to run a script hears it at the commit, and not when all tests have run."""
    checked = [one for one in HOOKS if f"scripts/{script}.py --check" in one["entry"]]
    assert len(checked) == 1
    assert not checked[0]["pass_filenames"]


def test_a_check_before_a_commit_names_a_script_that_is_there() -> None:
    """Every script that a hook runs exists, and the tables of options are among them."""
    named = [word for one in HOOKS for word in one["entry"].split() if word.startswith("scripts/")]
    assert "scripts/make_option_tables.py" in named
    assert all((ROOT / one).is_file() for one in named)
