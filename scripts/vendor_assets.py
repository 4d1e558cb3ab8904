"""Fetch the browser libraries once and put them, with a manifest, where the pages find them.

Run it when a version below changes: `python scripts/vendor_assets.py`. It needs `npm`, which users never do: what it
writes is committed. `--check` compares the files with the manifest and fetches nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

VENDOR = Path(__file__).resolve().parent.parent / "src" / "quintain" / "web" / "static" / "vendor"


@dataclass(frozen=True)
class Asset:
    """One file of one package, and what it is called here."""

    name: str
    version: str
    member: str
    file: str


ASSETS = (
    Asset("htmx.org", "4.0.0", "package/dist/htmx.min.js", "htmx.min.js"),
    Asset("vega", "6.4.0", "package/build/vega.min.js", "vega.min.js"),
    Asset("vega-lite", "6.5.0", "package/build/vega-lite.min.js", "vega-lite.min.js"),
    Asset("vega-embed", "7.3.0", "package/build/vega-embed.min.js", "vega-embed.min.js"),
)


def sha256(data: bytes) -> str:
    """Give the SHA-256 of *data* in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def fetch(asset: Asset, folder: Path) -> dict[str, str]:
    """Download the package of *asset*, keep its file and its licence, and give its line of the manifest."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{asset.name}@{asset.version}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    with tarfile.open(folder / packed[-1]) as archive:
        code = _read(archive, asset.member)
        licence = _read(archive, "package/LICENSE")
        about = json.loads(_read(archive, "package/package.json"))
    # A source map would be asked for by developer tools and is not shipped.
    code = b"\n".join(line for line in code.splitlines() if not line.startswith(b"//# sourceMappingURL=")) + b"\n"
    (VENDOR / asset.file).write_bytes(code)
    (VENDOR / f"{asset.name}.LICENSE").write_bytes(licence)
    return {
        "name": asset.name,
        "version": asset.version,
        "licence": about["license"],
        "licence_file": f"{asset.name}.LICENSE",
        "file": asset.file,
        "sha256": sha256(code),
    }


def check() -> list[str]:
    """Say which vendored files are missing or differ from the manifest."""
    manifest = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))
    listed = {(item["name"], item["version"]) for item in manifest["assets"]}
    problems = [f"{a.name} {a.version} is not in the manifest" for a in ASSETS if (a.name, a.version) not in listed]
    for item in manifest["assets"]:
        path = VENDOR / item["file"]
        if not path.exists():
            problems.append(f"{item['file']} is missing")
        elif sha256(path.read_bytes()) != item["sha256"]:
            problems.append(f"{item['file']} differs from the manifest")
    return problems


def _read(archive: tarfile.TarFile, member: str) -> bytes:
    stream = archive.extractfile(member)
    if stream is None:
        raise SystemExit(f"{member} is not a file of the package")
    return stream.read()


def main() -> None:
    """Fetch the assets, or check those that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare the files with the manifest")
    if parser.parse_args().check:
        problems = check()
        sys.exit("\n".join(problems) if problems else 0)
    VENDOR.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        lines = [fetch(asset, Path(folder)) for asset in ASSETS]
    text = json.dumps({"assets": lines}, indent=2) + "\n"
    (VENDOR / "manifest.json").write_text(text, encoding="utf-8")
    print(f"Wrote {len(lines)} files to {VENDOR}.")


if __name__ == "__main__":
    main()
