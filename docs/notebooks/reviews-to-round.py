# %% [markdown]
# # From a CSV of reviews to a round
#
# A table of reviews with stars is where a benchmark can begin: a first model reads them, the sentences where it
# contradicts the stars are the interesting ones, and people judge those. The reviews here are made up, from a seed.

# %%
import json
import subprocess
from pathlib import Path

import numpy as np
import polars as pl

import quintain as qt
from quintain.simulate.language import make_reviews

reviews = pl.DataFrame(
    [
        {"text": " ".join(sentence.text for sentence in review.sentences), "stars": review.stars}
        for review in make_reviews(np.random.default_rng(3), 400)
    ]
)
reviews.write_csv("reviews.csv")
reviews["text"][0]

# %% [markdown]
# A workspace holds tasks, data, models and rounds. The task and a little training data come with Quintain;
# `quintain task new` writes a file to start from.


# %%
def quintain(*words: object) -> dict:
    command = ["quintain", "--workspace", "bench", *map(str, words), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


starter = Path(qt.__file__).parent / "demo_data" / "sentiment"
quintain("init")
quintain("task", "add", starter / "task.toml")
quintain("data", "import", starter / "train.jsonl", "--task", "sentiment", "--name", "starter", "--role", "train")
quintain("train", "tfidf", "--task", "sentiment", "--data", "sentiment/starter")["ref"]

# %% [markdown]
# Harvest: half of the sample contradicts the stars. With `--round` it is the task's first round at once, and its
# sentences wait to be judged.

# %%
done = quintain(
    *("harvest", "reviews.csv", "--model", "sentiment/tfidf", "--column", "rating=stars"),
    *("--size", 60, "--out", "sample.jsonl", "--round", "--title", "What the first model misreads"),
)
done["round"]["ref"], done["round"]["state"]

# %%
sample = [json.loads(line) for line in Path("sample.jsonl").read_text().splitlines()]
for one in sample[:4]:
    print(one["text"])

# %% [markdown]
# `quintain --workspace bench serve` opens the pages where people judge them. When they have, `quintain validate export`
# writes the judgements, and [Labels from a crowd](crowd-labels.md) goes on from there; `quintain round release` makes
# train, dev and test of what was judged.

# %%
status = quintain("validate", "status", done["round"]["ref"])
{name: status["progress"][name] for name in ("items", "judgements", "slots")}
