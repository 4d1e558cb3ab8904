"""The container: what its files promise, and the image itself wherever one can be built."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent.parent
SKIPPED = 77


def test_compose_gives_submitted_models_a_sandbox() -> None:
    """The security options that bubblewrap needs are there, capabilities are not, and the setting says what holds."""
    web = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["web"]
    assert {"seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"} <= set(web["security_opt"])
    assert "no-new-privileges:true" in web["security_opt"]
    assert web["cap_drop"] == ["ALL"]
    assert web["environment"]["QUINTAIN_SANDBOX"] == "partial"
    assert {"mem_limit", "pids_limit"} <= set(web)


def test_compose_listens_on_this_machine_only() -> None:
    """No port is published to others; a proxy is."""
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:8000:8000"]


def test_the_image_is_installed_from_the_lock() -> None:
    """Every package is pinned with its hash, nothing is resolved anew, and nobody runs as root."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    pips = [line for line in lines if "pip install" in line]
    assert "ARG LOCK=requirements/runtime.lock" in lines
    assert len(pips) == 2
    assert '--require-hashes -r "$LOCK"' in pips[0]
    assert "--no-deps" in pips[1]
    assert lines.index("USER quintain") > lines.index(pips[1])


@pytest.mark.slow
def test_the_image_builds_and_works() -> None:
    """The image is built, runs as its own user, makes a demo and says how it is."""
    options = os.environ.get("QUINTAIN_BUILD_OPTIONS", "").split()
    done = subprocess.run(
        [ROOT / "scripts" / "check-image", *options], capture_output=True, text=True, timeout=1800, check=False
    )
    if done.returncode == SKIPPED:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert "\n1000\n" in f"\n{done.stdout}"
    assert "check: database" in done.stdout
