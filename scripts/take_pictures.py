"""Take the pictures of the documentation from the demo, so that they stay true.

    python scripts/take_pictures.py [--workspace FOLDER]

Builds the demo in a temporary folder (or uses the one that is named), serves it on a free port of this machine, waits
until every run is done and writes docs/images/*.png; `wheel.png` is animated. Needs Chromium, as the tests do.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1120, "height": 720}
SECONDS_A_FRAME = 2
PATIENCE = 600.0
TASK = "/tasks/sentiment"
# A picture's name, the part that is played, and the page.
PICTURES = (
    ("home", "Reader", "/"),
    ("overview", "Reader", TASK),
    ("board", "Reader", f"{TASK}/board"),
    ("timeline", "Reader", f"{TASK}/timeline"),
    ("waiting", "Worker", "/"),
    ("judge", "Worker", f"{TASK}/judge/4"),
    ("round", "Owner", f"{TASK}/rounds/4"),
    ("console", "Owner", f"{TASK}/validation/4"),
    ("adjudicate", "Owner", f"{TASK}/validation/mixed/adjudicate"),
    ("release", "Owner", f"{TASK}/validation/2/release"),
    ("models", "Builder", f"{TASK}/models"),
    ("train", "Builder", f"{TASK}/train"),
    ("submit", "Builder", f"{TASK}/submit"),
    ("health", "Admin", "/admin/health"),
)
WHEEL = ("home", "write", "judge", "release", "timeline", "board")


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description="Take the pictures of the documentation from the demo.")
    parser.add_argument("--workspace", type=Path, help="folder of a demo that is there already")
    given = parser.parse_args().workspace
    IMAGES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as scratch,
        served(given or Path(scratch) / "demo") as url,
        sync_playwright() as p,
    ):
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        for name, part, path in PICTURES:
            play(page, url, part)
            take(page, url + path, name)
        play(page, url, "Worker")
        write(page, url)
        browser.close()
    animate([IMAGES / f"{name}.png" for name in WHEEL], IMAGES / "wheel.png")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the demo in *folder* until the pictures are taken; what models have to do is done before."""
    command = [
        sys.executable,
        "-m",
        "quintain",
        "demo",
        "--workspace",
        str(folder),
        "--port",
        "0",
        "--no-open",
        "--json",
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        lines = list(iter(server.stdout.readline, "}\n"))  # the object ends where a brace stands alone
        text = "".join([*lines, "}"])
        wait_for_runs(folder)
        yield json.loads(text)["url"]
    finally:
        server.terminate()
        server.wait(30)


def wait_for_runs(folder: Path) -> None:
    """Wait until no run is queued or at work."""
    status = [sys.executable, "-m", "quintain", "--workspace", str(folder), "status", "--json"]
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        states = json.loads(subprocess.run(status, capture_output=True, text=True, check=True).stdout)["queue"][
            "states"
        ]
        if not states.get("queued") and not states.get("running"):
            return
        time.sleep(3)
    raise TimeoutError("The demo's runs did not end.")


def play(page: Page, url: str, part: str) -> None:
    """Change into a part of the demo."""
    page.goto(f"{url}/help")
    with page.expect_navigation():
        page.locator(".parts").get_by_role("button", name=part).click()


def take(page: Page, url: str, name: str) -> None:
    """Take the picture of a page once everything on it is there."""
    page.goto(url)
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelectorAll('.toast').forEach((one) => one.remove())")
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")


def write(page: Page, url: str) -> None:
    """Try to fool the model, and take the picture of its verdict."""
    page.goto(f"{url}{TASK}/rounds/5/write")
    start = page.get_by_role("button", name="Start writing")
    if start.count():
        start.click()
    page.wait_for_selector("form[data-write]")
    page.get_by_label("negative", exact=True).check()
    page.locator("#in-text").fill("My grandmother would have called the garden lovely, and she never liked a garden.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".verdict-title")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=IMAGES / "write.png", animations="disabled")


def animate(frames: Sequence[Path], target: Path) -> None:
    """Write PNG files of one size as one that moves (APNG)."""
    pictures = [chunks(path.read_bytes()) for path in frames]
    header = next(data for kind, data in pictures[0] if kind == b"IHDR")
    width, height = struct.unpack(">II", header[:8])
    out = [b"\x89PNG\r\n\x1a\n", packed(b"IHDR", header), packed(b"acTL", struct.pack(">II", len(frames), 0))]
    number = 0
    for place, picture in enumerate(pictures):
        control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, SECONDS_A_FRAME, 1, 0, 0)
        out.append(packed(b"fcTL", control))
        number += 1
        for kind, data in picture:
            if kind != b"IDAT":
                continue
            if place:
                out.append(packed(b"fdAT", struct.pack(">I", number) + data))
                number += 1
            else:
                out.append(packed(b"IDAT", data))
    target.write_bytes(b"".join([*out, packed(b"IEND", b"")]))


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """Take a PNG file apart."""
    found, place = [], 8
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        found.append((data[place + 4 : place + 8], data[place + 8 : place + 8 + length]))
        place += 12 + length
    return found


def packed(kind: bytes, data: bytes) -> bytes:
    """Give a chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    main()
