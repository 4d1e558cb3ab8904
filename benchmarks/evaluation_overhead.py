"""What evaluation adds to each example: our sandboxed run with stored predictions against a bare loop, and peers.

    python benchmarks/evaluation_overhead.py            # ours
    python benchmarks/evaluation_overhead.py --peers    # and lm-evaluation-harness and Inspect, each in its own venv
    python benchmarks/evaluation_overhead.py --peers --lm-eval BIN/python --inspect BIN/python    # installed before

Everybody answers the same constant to the same texts and stores what was answered. Starting up is left out: every
runner is timed on two sizes, and the difference is divided by the difference in examples. A peer's figure is in seconds
of the processor, which other work on the machine leaves alone, and ours is in seconds of the clock, which it does not:
on a busy machine the ratio is less than it should be, never more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import threading
import time
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.task import Label, Task
from quintain.engine.jobs import CellJob, run_job
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import Limits
from rows import Row, print_rows

RACE = "evaluation overhead"
HANDLER = 'def predict(batch): return ["positive"] * len(batch)\n'
TASK = Task("race", "text-classification", {"en": "Race"}, labels=(Label("negative"), Label("positive")))
SMALL, LARGE = 2_000, 20_000
# Nothing is looked up: the data is made here, and so is the model.
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TQDM_DISABLE": "1"}
PEER_SMALL, PEER_LARGE = 200, 1_200

LM_EVAL = """
import json, sys, time
from pathlib import Path
from lm_eval.api.model import LM
from lm_eval.api.task import ConfigurableTask
from lm_eval.evaluator import evaluate
import datasets

class Constant(LM):
    def loglikelihood(self, requests): return [(0.0, True)] * len(requests)
    def loglikelihood_rolling(self, requests): return [0.0] * len(requests)
    def generate_until(self, requests): return ["positive"] * len(requests)

def run(number):
    texts = [f"sentence {i}" for i in range(number)]
    rows = datasets.Dataset.from_dict({"text": texts, "answer": ["positive"] * number})
    config = {
        "task": "race", "custom_dataset": lambda **_: {"test": rows}, "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{text}}", "doc_to_target": "{{answer}}", "generation_kwargs": {"until": ["\\n"]},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }
    task = ConfigurableTask(config=config)
    start = time.process_time()
    found = evaluate(lm=Constant(), task_dict={"race": task}, bootstrap_iters=0, log_samples=True)
    Path("samples.json").write_text(json.dumps(found["samples"], default=str))
    seconds = time.process_time() - start
    assert len(found["samples"]["race"]) == number
    return seconds

run(20)  # what is made once is not what is timed
print(json.dumps([min(run(int(n)) for _ in range(2)) for n in sys.argv[1:]]))
"""
INSPECT = """
import json, sys, tempfile, time
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import exact
from inspect_ai.solver import generate
from inspect_ai.model import get_model, ModelOutput, ModelUsage

def run(number):
    samples = [Sample(input=f"sentence {i}", target="positive") for i in range(number)]
    output = ModelOutput.from_content("mockllm/model", "positive")
    output.usage = ModelUsage(input_tokens=2, output_tokens=1, total_tokens=3)  # else it fetches a tokeniser to count
    def forever():
        while True:
            yield output
    model = get_model("mockllm/model", custom_outputs=forever())
    task = Task(dataset=MemoryDataset(samples), solver=[generate()], scorer=exact())
    with tempfile.TemporaryDirectory() as logs:
        start = time.process_time()
        found = eval(task, model=model, log_dir=logs, display="none")
        seconds = time.process_time() - start
        assert found[0].status == "success" and len(found[0].samples) == number
    return seconds

run(20)  # what is made once is not what is timed
print(json.dumps([min(run(int(n)) for _ in range(2)) for n in sys.argv[1:]]))
"""
# Peer: what to install (no GPU build of torch is ever fetched), and the program.
PEERS = {
    "lm-evaluation-harness": (["lm_eval", "datasets"], LM_EVAL),
    "Inspect": (["inspect_ai"], INSPECT),
}


def inputs_file(folder: Path, number: int) -> Path:
    """Write *number* short texts as a cell's inputs."""
    path = folder / f"inputs-{number}.parquet"
    texts = [f"sentence {place}" for place in range(number)]
    pl.DataFrame({"id": [f"{place:032x}" for place in range(number)], "text": texts}).write_parquet(path)
    return path


def ours(folder: Path, number: int, batch_size: int) -> float:
    """Time a sandboxed run over *number* examples, its predictions stored; starting the sandbox is in it."""
    model = folder / "model"
    model.mkdir(exist_ok=True)
    (model / "handler.py").write_text(HANDLER)
    job = CellJob(
        task=TASK,
        model=RunnableModel(model, "handler", batch_size=batch_size),
        inputs=inputs_file(folder, number),
        out=folder / "predictions.parquet",
        measured=False,
        seed=0,
        limits=Limits(),
    )
    start = time.perf_counter()
    rows = run_job(job, lambda done: None, threading.Event()).rows
    seconds = time.perf_counter() - start
    if rows != number or pl.read_parquet(job.out).height != number:
        raise SystemExit("the run is not complete")
    return seconds


def bare(number: int) -> float:
    """Time a loop that calls the same model on the same texts and keeps the answers."""
    space: dict[str, Any] = {}
    exec(HANDLER, space)  # noqa: S102 - the constant of this file
    inputs = [{"text": f"sentence {place}"} for place in range(number)]
    start = time.perf_counter()
    answers = [space["predict"]([one])[0] for one in inputs]
    seconds = time.perf_counter() - start
    if len(answers) != number:
        raise SystemExit("the loop is not complete")
    return seconds


def per_example(times: tuple[float, float], sizes: tuple[int, int]) -> float:
    """Give the seconds that one more example takes."""
    return (times[1] - times[0]) / (sizes[1] - sizes[0])


def gpu_packages(install: list[str]) -> str:
    """Name what an installation would bring for graphics cards, without installing anything; empty for nothing."""
    tried = subprocess.run([*install, "--dry-run", "--report", "-"], capture_output=True, text=True, check=False)
    if tried.returncode:
        return ""
    wanted = [one["metadata"]["name"].lower() for one in json.loads(tried.stdout)["install"]]
    return ", ".join(sorted(name for name in wanted if name.startswith(("nvidia-", "triton")))[:3])


def peer(name: str, python: Path | None = None) -> float | str:
    """Time a peer in a venv of its own, made now unless *python* is in one; a text says why it could not run."""
    packages, program = PEERS[name]
    with tempfile.TemporaryDirectory(prefix="quintain-peer-") as folder:
        if python is None:
            venv.create(folder, with_pip=True)
            python = Path(folder) / "bin" / "python"
            install = [str(python), "-m", "pip", "install", "--quiet", "--prefer-binary", *packages]
            heavy = gpu_packages(install)
            if heavy:
                return f"left out: it would install {heavy}"
            made = subprocess.run(install, capture_output=True, text=True, check=False, timeout=900)
            if made.returncode:
                return f"could not be installed: {made.stderr.strip().splitlines()[-1][:100]}"
        command = [str(python.absolute()), "-c", program, str(PEER_SMALL), str(PEER_LARGE)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=900, cwd=folder, env={**os.environ, **OFFLINE}
        )
        if done.returncode:
            return f"could not run: {done.stderr.strip().splitlines()[-1][:100]}"
        first, second = json.loads(done.stdout.strip().splitlines()[-1])
    return per_example((first, second), (PEER_SMALL, PEER_LARGE))


def race(*, peers: bool = False, runs: int = 3, installed: Mapping[str, Path | None] | None = None) -> list[Row]:
    """Measure everybody, the best of *runs*; *installed* names the Python of peers that need no venv."""
    loop = min(bare(LARGE) for _ in range(runs)) / LARGE
    rows, ours_us = [], 0.0
    with tempfile.TemporaryDirectory() as name:
        for batch_size in (1, 64):
            times = [[ours(Path(name), size, batch_size) for size in (SMALL, LARGE)] for _ in range(runs)]
            small, large = (min(column) for column in zip(*times, strict=True))
            overhead = per_example((small, large), (SMALL, LARGE)) - loop
            ours_us = max(ours_us, overhead * 1e6)
            what = f"per example over a bare loop, sandboxed, predictions stored, batch size {batch_size}"
            rows.append(Row(RACE, what, f"{overhead * 1e6:.1f} µs", "≤ 50 µs"))
    for one in PEERS if peers else ():
        found = peer(one, (installed or {}).get(one))
        if isinstance(found, str):
            rows.append(Row(RACE, one, found, "10×"))
        else:
            rows.append(
                Row(RACE, f"{one}, per example", f"{found * 1e6:,.0f} µs: {found * 1e6 / ours_us:.0f}× ours", "≥ 10×")
            )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true", help="install and time the peers, too")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--lm-eval", type=Path, help="Python of an environment that has lm_eval and datasets")
    parser.add_argument("--inspect", type=Path, help="Python of an environment that has inspect_ai")
    options = parser.parse_args()
    given = {"lm-evaluation-harness": options.lm_eval, "Inspect": options.inspect}
    print_rows(race(peers=options.peers, runs=options.runs, installed=given))
