"""What `quintain` alone says at a terminal: what one can do with a file in hand, and where a benchmark begins."""

from __future__ import annotations

import shutil
from pathlib import Path

GUIDE = """Quintain: dynamic benchmarks of language models.

With a file in hand (no account, no server):
  judgements of people    quintain labels aggregate judgements.csv --out labels.csv
                          quintain labels agreement judgements.csv
  answers of a model      quintain evaluate score gold.csv predictions.csv --by tag
  a table of models       quintain board rank models.csv --lower memory --cap memory=16
  texts                   quintain data perturb reviews.csv --kind typos --out perturbed.csv
  texts with labels       quintain study artefacts gold.csv --label answer
  right and wrong answers quintain study irt responses.csv
  a model of your own     quintain evaluate local my-model --data gold.csv --task task.toml

Add --example to try one on files that come with it: quintain evaluate score --example

With a benchmark in mind:
  quintain demo           a benchmark that lives, to look around in
  quintain serve          one of your own, in the folder where you are

quintain --help lists everything; quintain COMMAND --help says more."""


def how_to_call() -> str:
    """Return how the command is called here: by its name or, in a clone with nothing on the path, by its launcher."""
    launcher = Path(__file__).resolve().parents[3] / "quintain"
    return "quintain" if shutil.which("quintain") or not launcher.is_file() else f"{launcher}"
