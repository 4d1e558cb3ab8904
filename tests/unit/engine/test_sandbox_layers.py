"""What is said of a sandbox that is not complete: which layers hold, why not the others, and the remedy that fits."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from quintain.engine.sandbox import bare, causes, command, layers
from quintain.engine.sandbox.causes import Cause, CauseKind
from quintain.engine.sandbox.command import Mount
from quintain.engine.sandbox.layers import LAYERS, NoSandbox, SandboxReport, describe
from quintain.engine.sandbox.limits import Limits
from quintain.engine.sandbox.proctree import tree_cpu

ALL = dict.fromkeys(LAYERS, True)
NOTHING = dict.fromkeys(LAYERS, False)
NO_BWRAP = Cause(CauseKind.NO_PROGRAM, "the program bwrap is missing", "Install the package bubblewrap")
NO_GROUP = Cause(CauseKind.NO_GROUP, "no control group is delegated", "Start it as: systemd-run --user --scope COMMAND")
WITHOUT_GROUP = SandboxReport({**ALL, "memory": False}, (NO_GROUP,))
WITHOUT_ANY = SandboxReport(NOTHING, (NO_BWRAP, NO_GROUP))


def test_a_complete_sandbox_is_one_line() -> None:
    """Nobody has to read more than that all is well."""
    assert describe(SandboxReport(ALL), "full") == ["Sandbox: complete."]


def test_each_cause_has_its_own_remedy() -> None:
    """Without bubblewrap and without a control group both are named, each with what helps against it."""
    first, *rest = describe(WITHOUT_ANY, "full")
    assert "Submitted models wait" in first
    assert [("bubblewrap" in line, "systemd-run" in line) for line in rest] == [(True, False), (False, True)]


@pytest.mark.parametrize("policy", ["partial", "off"])
def test_what_is_set_already_is_not_advised(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the workspace does without a control group, nobody is told to set that, or to get one."""
    assert len(describe(WITHOUT_GROUP, policy)) == 1
    text = "\n".join(describe(WITHOUT_ANY, policy))
    assert "QUINTAIN_SANDBOX=partial to" not in text
    assert "systemd-run" not in text
    assert ("Install the package bubblewrap" in text) is (policy == "partial")
    monkeypatch.setattr(layers, "probe", lambda: WITHOUT_ANY)
    if policy == "partial":
        with pytest.raises(NoSandbox) as refused:
            layers.require_sandbox(policy)
        assert "QUINTAIN_SANDBOX" not in (refused.value.remedy or "")


def test_doing_without_a_control_group_is_offered_where_it_helps() -> None:
    """A user without a delegated group hears of both ways out."""
    (_, line) = describe(WITHOUT_GROUP, "full")
    assert "systemd-run --user --scope" in line
    assert "QUINTAIN_SANDBOX=partial" in line


def test_a_control_group_is_had_in_different_ways(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A user asks systemd for one; root, and whoever is in a container, needs a place where one can be made."""
    monkeypatch.setattr(causes, "CONTAINER_MARKS", ())
    assert "systemd-run --user --scope -p Delegate=yes" in causes.no_group(as_root=False).remedy
    assert "systemd" not in causes.no_group(as_root=True).remedy
    monkeypatch.setattr(causes, "CONTAINER_MARKS", (str(tmp_path),))
    assert "systemd" not in causes.no_group(as_root=False).remedy


def test_a_missing_program_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bwrap on the path the probe says so, and finds the control group all the same."""
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "bwrap" else f"/usr/bin/{name}")
    report = layers._run_probe()
    assert not report.starts
    assert report.causes[0].kind is CauseKind.NO_PROGRAM
    assert "apt-get install bubblewrap" in report.causes[0].remedy
    assert report.layers["memory"] is (CauseKind.NO_GROUP not in {cause.kind for cause in report.causes})


def test_setpriv_is_asked_of_root_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary user becomes nobody else, so that nothing is missing without it."""
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "setpriv" else f"/usr/bin/{name}")
    assert causes.missing_program(as_root=False) is None
    missing = causes.missing_program(as_root=True)
    assert missing is not None
    assert "util-linux" in missing.remedy


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("kernel/unprivileged_userns_clone", "1"),
        ("user/max_user_namespaces", "15000"),
        ("kernel/apparmor_restrict_unprivileged_userns", "0"),
    ],
)
def test_the_switch_that_is_off_is_named(switch: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel lets no user make namespaces, the remedy is the one setting that forbids it."""
    monkeypatch.setattr(causes, "CONTAINER_MARKS", ())
    monkeypatch.setattr(causes, "_knows", lambda option: True)
    monkeypatch.setattr(causes.os, "geteuid", lambda: 1000)
    closed = causes.SWITCHES[switch]
    monkeypatch.setattr(causes, "_read", lambda path: closed if str(path).endswith(switch) else "")
    found = causes.no_start("bwrap: No permissions to create new namespace", None)
    assert found.kind is CauseKind.NO_NAMESPACES
    assert found.remedy.endswith(f"sysctl -w {switch.replace('/', '.')}={value}")


def test_other_reasons_not_to_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Files that nobody may read, an old bubblewrap, a container and what nobody foresaw each say what they are."""
    monkeypatch.setattr(causes, "CONTAINER_MARKS", ())
    assert f"chmod -R o+rX {tmp_path}" in causes.no_start("", tmp_path).remedy
    monkeypatch.setattr(causes, "_knows", lambda option: False)
    assert causes.no_start("Unknown option --disable-userns", None).kind is CauseKind.OLD_BUBBLEWRAP
    monkeypatch.setattr(causes, "_knows", lambda option: True)
    monkeypatch.setattr(causes, "_read", lambda path: "")
    assert "Creating new namespace failed" in causes.no_start("Creating new namespace failed", None).text
    monkeypatch.setattr(causes, "CONTAINER_MARKS", (str(tmp_path),))
    assert causes.no_start("Operation not permitted", None).kind is CauseKind.CONTAINER


def test_an_incomplete_sandbox_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was missing is looked for anew after a while, without a restart; what holds is not tried again."""
    reports = [WITHOUT_ANY, SandboxReport(ALL)]
    monkeypatch.setattr(layers, "_run_probe", lambda: reports.pop(0))
    seen = layers._Seen()
    assert not seen.current().complete
    assert not seen.current().complete
    monkeypatch.setattr(layers, "LOOK_AGAIN_SECONDS", -1.0)
    assert seen.current().complete
    assert seen.current().complete
    assert reports == []


def test_processes_are_counted_in_their_own_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of processes is limited inside bubblewrap, and by a large number where the kernel counts all."""
    made = {"mounts": [], "limits": Limits(processes=64), "filter_fd": None, "environment": {}}
    for kernel, wanted in (((6, 1), "--nproc=64"), ((4, 18), f"--nproc={command.MANY_PROCESSES}")):
        monkeypatch.setattr(command, "_kernel", lambda kernel=kernel: kernel)
        line = command.sandbox_command(["program"], group_files=(), **made)  # type: ignore[arg-type]
        assert line.index(wanted) > len(line) - 1 - line[::-1].index("bwrap")
        assert sum(part.startswith("--nproc") for part in line) == 1
    line = command.sandbox_command(["program"], group_files=(Path("/group"),), **made)  # type: ignore[arg-type]
    assert not any(part.startswith("--nproc") for part in line)


def test_files_are_laid_out_as_inside(tmp_path: Path) -> None:
    """Without bubblewrap a program finds what it is shown at the same paths below a folder, which goes afterwards."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "main.py").write_text("print('here')")
    mounts = [Mount(tmp_path / "code", "/quintain/library/quintain/code"), Mount(Path("/usr"), "/usr")]
    with bare.laid_out(mounts) as layout:
        shown = layout.find("/quintain/library/quintain/code/main.py")
        assert subprocess.run(["cat", shown], capture_output=True, text=True, check=True).stdout == "print('here')"
        assert layout.find("/quintain/library") == f"{layout.root}/quintain/library"
        assert layout.find("/usr/bin/python3") == "/usr/bin/python3"
    assert not Path(layout.root).exists()
    assert (tmp_path / "code" / "main.py").exists()


def test_cpu_time_of_a_tree_counts_children() -> None:
    """Without a control group, the CPU time of a process includes that of its children, those that have ended too."""
    spin = "import time\nwhile time.process_time() < 0.3: pass\n"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {spin!r}])\nprint(1, flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        assert 0.25 < tree_cpu(process.pid) < 5
        process.kill()
