"""How long a simulated crowd takes through a protocol, in memory and through the real state machine.

Usage: python benchmarks/trial_simulation.py [--workers 10000] [--protocol expert]

Prints seconds, events a second and how many people came to the final round.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from quintain.protocols.crowd.people import CrowdModel, draw_crowd
from quintain.protocols.crowd.running import finalists, run_arm
from quintain.protocols.reading import shipped


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=10_000)
    parser.add_argument("--protocol", default="expert", choices=sorted(shipped()))
    asked = parser.parse_args()
    model = CrowdModel()
    started = time.perf_counter()
    run = run_arm(shipped()[asked.protocol], draw_crowd(asked.workers, model, np.random.default_rng(1)), model, 1)
    seconds = time.perf_counter() - started
    arm = run.course.arm
    steps = len(arm.people) + sum(len(units) for one in arm.people.values() for units in one.units.values())
    steps += sum(len(item.grades) for item in arm.items.values())
    print(
        f"{asked.workers:,} workers through {asked.protocol}: {seconds:.1f} s, {steps:,} events "
        f"({steps / seconds:,.0f} a second), {finalists(run):,} in the final round"
    )


if __name__ == "__main__":
    main()
