"""Race item response theory against py-irt: 90 respondents × 6,000 items with two and three parameters.

    python benchmarks/irt_race.py                         ours alone, also 1,000 × 20,000
    python benchmarks/irt_race.py --python PATH           beside the py-irt of that environment, at its 2,000 epochs
    python benchmarks/irt_race.py --python PATH --epochs 100    fewer epochs, from which its time at 2,000 is told

py-irt's three-parameter model begins with a chance of one to guess every item right, far from where it ends; it is run
as it comes, and once more with guessing begun at a quarter, as one of its initialisers would.

Responses are drawn from known abilities and items; both sides get the same ones, and each says how well it found what
they were drawn from. Seconds are those of the clock and, beside them, of the processor, since both use several cores.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from judgement_data import measured, peak_megabytes
from rows import Row, print_rows

RESPONDENTS, ITEMS = 90, 6_000
MANY = (1_000, 20_000)
MODELS = ("2pl", "3pl")
EPOCHS = 2_000


def draw(respondents: int, items: int, model: str, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    """Draw responses, and give what they were drawn from."""
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(size=respondents), rng.normal(size=items)
    slope = np.exp(rng.normal(0, 0.4, items))
    guess = 1 / (1 + np.exp(-rng.normal(-1.4, 0.6, items))) if model == "3pl" else np.zeros(items)
    chance = guess + (1 - guess) / (1 + np.exp(-slope * (ability[:, None] - difficulty)))
    right = (rng.random(chance.shape) < chance).astype(float)
    return right, {"ability": ability, "difficulty": difficulty, "discrimination": slope}


def told(seconds: float, processor: float, truth: dict[str, Any], found: dict[str, Any]) -> None:
    """Print how long it took, and how what was found goes with the truth."""
    fits = {name: float(np.corrcoef(truth[name], found[name])[0, 1]) for name in truth}
    print(json.dumps({"seconds": seconds, "processor": processor, "megabytes": peak_megabytes(), **fits}))


def run_ours(respondents: int, items: int, model: str) -> None:
    """Time our estimation."""
    from quintain.stats.irt.fitting import fit_responses
    from quintain.stats.irt.responses import Responses

    def responses(right: Any) -> Responses:
        names = [str(at) for at in range(right.shape[0])], [str(at) for at in range(right.shape[1])]
        return Responses(*names, right, np.ones(len(right)))

    fit_responses(responses(draw(20, 150, model)[0]), model)  # type: ignore[arg-type] # loads what is loaded once
    right, truth = draw(respondents, items, model)
    table = responses(right)
    begin, processor = time.perf_counter(), time.process_time()
    found = fit_responses(table, model)  # type: ignore[arg-type]
    spent = time.perf_counter() - begin, time.process_time() - processor
    names = ("ability", "difficulty", "discrimination")
    told(*spent, truth, {name: getattr(found, name) for name in names})


def run_peer(respondents: int, items: int, model: str, epochs: int, *, begun: bool) -> None:
    """Time py-irt's training, with its defaults; guessing may be *begun* at a quarter."""
    import pandas
    from py_irt.config import IrtConfig
    from py_irt.dataset import Dataset
    from py_irt.initializers import INITIALIZERS, IrtInitializer
    from py_irt.training import IrtModelTrainer

    right, truth = draw(respondents, items, model)
    names = [f"i{at:05}" for at in range(items)]
    frame = pandas.DataFrame(right.astype(int), columns=names)
    frame["subject"] = [f"s{at:04}" for at in range(respondents)]
    data = Dataset.from_pandas(frame, subject_column="subject", item_columns=names)
    if begun:
        INITIALIZERS["guessing"] = quarter_guessed(IrtInitializer)
    config = IrtConfig(
        model_type=model,
        priors="hierarchical",
        epochs=epochs,
        log_every=epochs,
        initializers=["guessing"] if begun else None,
    )
    trainer = IrtModelTrainer(data_path=None, config=config, dataset=data, verbose=False)
    begin, processor = time.perf_counter(), time.process_time()
    trainer.train(epochs=epochs, device="cpu")
    spent = time.perf_counter() - begin, time.process_time() - processor
    best = trainer.best_params or trainer.last_params  # there are no best ones where the loss was never a number
    by_item = {name: at for at, name in best["item_ids"].items()}
    by_person = {name: at for at, name in best["subject_ids"].items()}
    order, people = [by_item[name] for name in names], [by_person[name] for name in frame["subject"]]
    found = {
        "ability": np.asarray(best["ability"])[people],
        "difficulty": np.asarray(best["diff"])[order],
        "discrimination": np.asarray(best["disc"])[order],
    }
    told(*spent, truth, found)


def quarter_guessed(base: type) -> type:
    """Make an initialiser of py-irt that lets guessing begin at a quarter."""

    class Quarter(base):  # type: ignore[misc]
        def initialize(self) -> None:
            import pyro
            import torch

            store = pyro.get_param_store()
            store["lambdas"] = torch.full_like(store["lambdas"], 0.25).detach()

    return Quarter


def described(found: dict[str, Any]) -> str:
    """Put one run into words."""
    if "error" in found:
        return f"failed: {found['error']}"
    fits = ", ".join(f"r {name} {fit_told(found[name])}" for name in ("ability", "difficulty", "discrimination"))
    spent = f"{found['seconds']:.2f} s ({found['processor']:.2f} s of processors), {found['megabytes']:,.0f} MB"
    return f"{spent}; {fits}"


def fit_told(value: float) -> str:
    """Put a correlation into words; there is none where all estimates are the same."""
    return "none (all alike)" if np.isnan(value) else f"{value:.3f}"


def race_peer(python: str, model: str, what: str, best: dict[str, Any], epochs: int) -> list[Row]:
    """Run py-irt in every way that there is for *model*, and hold its time against ours."""
    size = ["--respondents", str(RESPONDENTS), "--items", str(ITEMS), "--model", model, "--epochs", str(epochs)]
    ways = {"as it comes": [], "guessing begun at 0.25": ["--begun"]} if model == "3pl" else {"as it comes": []}
    rows = []
    for way, more in ways.items():
        peer = measured(__file__, "--run", "peer", *size, *more, python=python)
        rows.append(Row("irt", f"{what}, py-irt {way}, {epochs:,} epochs", described(peer)))
        if "error" in peer:
            continue
        longer = EPOCHS / epochs
        ratio, processor = (longer * peer[one] / best[one] for one in ("seconds", "processor"))
        told = "" if epochs == EPOCHS else f", its time at {EPOCHS:,} epochs reckoned from {epochs:,}"
        measure = f"{ratio:,.0f}× ({processor:,.0f}× of processors){told}"
        rows.append(Row("irt", f"{what}, ratio to py-irt {way}", measure, "≥ 200×"))
    return rows


def race(python: str | None = None, epochs: int = EPOCHS) -> list[Row]:
    """Run both sides, or ours alone where there is no py-irt."""
    rows = []
    for model in MODELS:
        size = ["--respondents", str(RESPONDENTS), "--items", str(ITEMS), "--model", model]
        runs = [measured(__file__, "--run", "ours", *size) for _ in range(3)]
        best = min(runs, key=lambda one: one.get("seconds", float("inf")))
        what = f"{model.upper()}, {RESPONDENTS} × {ITEMS:,}"
        rows.append(Row("irt", what, described(best)))
        if python is None:
            rows.append(Row("irt", f"{what}, py-irt", "not run: give an interpreter that has it with --python"))
        else:
            rows += race_peer(python, model, what, best, epochs)
    respondents, items = MANY
    for model in MODELS:
        size = ["--respondents", str(respondents), "--items", str(items), "--model", model]
        found = measured(__file__, "--run", "ours", *size)
        rows.append(Row("irt", f"{model.upper()}, {respondents:,} × {items:,}", described(found), "< 60 s, < 2 GB"))
    return rows


def main() -> None:
    """Print the table, or do one run of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="an interpreter that has py-irt")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of py-irt; with fewer its time is reckoned")
    parser.add_argument("--begun", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--run", choices=["ours", "peer"], help=argparse.SUPPRESS)
    parser.add_argument("--respondents", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--items", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = options.respondents, options.items, options.model
    if options.run == "ours":
        run_ours(*size)
    elif options.run == "peer":
        run_peer(*size, options.epochs, begun=options.begun)
    else:
        print_rows(race(options.python, options.epochs))


if __name__ == "__main__":
    main()
