# %% [markdown]
# # A board of your own table
#
# You have a table of models and what was measured of each. Which is best depends on what you care about: the Dynascore
# turns all metrics into the units of one of them, by the rate at which models trade one for the other.

# %%
import polars as pl

import quintain as qt

models = pl.DataFrame(
    {
        "model": ["large", "medium", "small", "tiny", "old"],
        "accuracy": [91.2, 89.9, 87.1, 80.4, 84.0],
        "throughput": [4.0, 11.0, 28.0, 95.0, 9.0],
        "memory": [14.2, 6.1, 2.4, 0.6, 5.0],
        "robustness": [88.0, 87.5, 83.0, 70.2, 78.0],
    }
)
qt.rank(models, {"accuracy": 4, "throughput": 1, "memory": 1, "robustness": 1}, lower=["memory"], caps={"memory": 16})

# %% [markdown]
# Somebody who runs models on a phone weighs otherwise:

# %%
phone = qt.rank(
    models, {"accuracy": 1, "throughput": 1, "memory": 4, "robustness": 1}, lower=["memory"], caps={"memory": 16}
)
phone.table.select("rank", "model", "dynascore")

# %%
phone.plot()

# %% [markdown]
# What is a unit of each metric worth, in points of accuracy? The rates come from the models themselves.

# %%
for name, worth in phone.to_dict()["worth"].items():
    print(f"one more of {name:10} is worth {worth:6.3f} points of accuracy")

# %% [markdown]
# A model that is worse than another in everything is on no Pareto front, whatever the weights:

# %%
phone.table.filter(~pl.col("pareto"))["model"].to_list()
