"""What every page costs in a workspace of years: build it, at a tenth and at full size, and measure.

    python benchmarks/big_workspace.py                                  # both sizes on SQLite, and the table
    python benchmarks/big_workspace.py --size 0.1 --keep /tmp/tenth     # one size, kept and taken again the next time
    python benchmarks/big_workspace.py --size 0.1 --keep /tmp/tenth --only board
    python benchmarks/big_workspace.py --database postgresql            # a server of its own, or an address of yours
    python benchmarks/big_workspace.py --size 0.1 --judgements 10000000 # much judging, the rest a tenth

At full size there are 1,000 models on five data sets of 200,000 rows, 210,000 attempts of 5,000 writers, 200,000 judged
items with 1.1 million judgements by 2,000 judges, 20,000 accounts, a quiz that every writer took, people with 20,000
messages, and a contest of 20,000 pairs. Rows are loaded in bulk as the services would
have written them; what services compute as facts come in is computed afterwards, in two processes. A build that was
ended goes on where it was, if it is kept.

Every page is opened once (cold), then twenty times more (p50, p99); with `--restart` each on a server that was just
started, so that nothing is known from another page. The time is the server's own on the processor; what PostgreSQL and
the client use is not in it. Memory is the most that the server held until then.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from big.building import prepare
from big.measuring import Cost, measure
from big.pages import LIMITS_MS, PAGES
from big.sizes import JUDGEMENTS, Size
from quintain.settings import Settings
from tests.postgres import TEMPLATE, PostgresServer

OK = {200, 202}  # 202: a worker writes the file
HEAD = f"{'page or call':24} {'cold':>9} {'p50':>9} {'p99':>9} {'size':>9} {'memory':>8}"


@contextmanager
def database(given: str, folder: Path) -> Iterator[str]:
    """Give the address of the database: SQLite in the workspace, a PostgreSQL server of our own, or what was given."""
    if given != "postgresql":
        yield "" if given == "sqlite" else given
        return
    place = folder / "postgres"
    place.mkdir(parents=True, exist_ok=True)
    for above in (folder, place):
        above.chmod(0o755)
    server = PostgresServer(place)
    if (place / "data").exists():
        server.resume()
        url = server.url(TEMPLATE)
    else:
        server.start()
        url = server.create(template=None)
    try:
        yield url
    finally:
        server.stop()


def run(size: Size, folder: Path, options: argparse.Namespace) -> dict[str, Cost]:
    """Build one size, measure it, and print what each page costs."""
    with database(options.database, folder) as url:
        settings = Settings(workspace=folder / "workspace", database_url=url)
        print(f"size {size.share:g} in {folder}", file=sys.stderr, flush=True)
        place = prepare(settings, size, judged=not options.opening, figures=not options.no_figures)
        if options.build_only:
            return {}
        print(f"\nsize {size.share:g}, {options.database}\n{HEAD}", flush=True)
        found, pages = {}, [page for page in PAGES if re.search(options.only, page.name)]
        costs = measure(place, pages, warm=options.requests, restart=options.restart)
        for page, cost in zip(pages, costs, strict=True):
            found[page.name] = cost
            print(line(page.name, cost), flush=True)
        return found


def name_of(size: Size, database: str) -> str:
    """Name the folder of a size."""
    return f"{database[:10]}-{size.share:g}" + (f"-{size.judging:g}" if size.judging != 1 else "")


def line(name: str, cost: Cost) -> str:
    """Say what a page costs; what is over the limits is marked."""
    warm, cold = LIMITS_MS
    marks = "" if cost.status in OK else f"  answered {cost.status}"
    marks += "  slow" if cost.p50 > warm or cost.cold > cold else ""
    size = f"{cost.size / 1e6:.2f} MB"
    return f"{name:24} {cost.cold:9.1f} {cost.p50:9.1f} {cost.p99:9.1f} {size:>9} {cost.memory:5} MB{marks}"


def compare(tenth: dict[str, Cost], full: dict[str, Cost]) -> None:
    """Print what growing ten times costs."""
    print(f"\n{'page or call':24} {'a tenth':>9} {'full':>9} {'ratio':>7}   (p50, ms)")
    for name, small in tenth.items():
        if name in full:
            ratio = full[name].p50 / max(small.p50, 0.1)
            print(f"{name:24} {small.p50:9.1f} {full[name].p50:9.1f} {ratio:6.2f}×")


def main() -> None:
    """Build and measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, nargs="+", default=[0.1, 1.0], help="shares of the full size")
    parser.add_argument("--database", default="sqlite", help="sqlite, postgresql, or the address of a database")
    parser.add_argument("--keep", type=Path, help="folder in which workspaces stay, one for each size")
    parser.add_argument("--only", default="", help="measure pages whose names match this pattern")
    parser.add_argument("--requests", type=int, default=20, help="requests after the first")
    parser.add_argument("--restart", action="store_true", help="a server of its own for every page")
    parser.add_argument("--build-only", action="store_true", help="build, and measure nothing")
    parser.add_argument("--opening", action="store_true", help="leave the judging out, so that opening it is measured")
    parser.add_argument("--judgements", type=int, help="about so many judgements, whatever the size of all else")
    parser.add_argument("--no-figures", action="store_true", help="leave the figures of cells to whoever asks first")
    parser.add_argument("--out", type=Path, help="write what was measured to this file, as JSON")
    options = parser.parse_args()
    more = options.judgements / JUDGEMENTS if options.judgements else 0.0
    sizes = [Size(share, more / share or 1.0) for share in options.size]
    folder = options.keep or Path(tempfile.mkdtemp(prefix="quintain-big-"))
    try:
        found = {size.share: run(size, folder / name_of(size, options.database), options) for size in sizes}
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    if options.out:
        plain = {str(share): {name: asdict(cost) for name, cost in costs.items()} for share, costs in found.items()}
        options.out.write_text(json.dumps(plain, indent=1))
    if len(found) > 1:
        compare(found[min(found)], found[max(found)])


if __name__ == "__main__":
    main()
