# %% [markdown]
# # Item response theory of a leaderboard
#
# Ninety models answered 200 examples. Accuracy counts every example alike; item response theory asks how hard each is
# and how well it tells strong models from weak ones. The answers here are drawn, and six labels were made wrong on
# purpose: strong models then get them "wrong" more often than weak ones.

# %%
import numpy as np
import polars as pl

import quintain as qt

draw = np.random.default_rng(11)
models = [f"model-{at:02d}" for at in range(90)]
ability = np.sort(draw.normal(0, 1, len(models)))
difficulty, discrimination = draw.normal(0, 1.2, 200), draw.lognormal(0, 0.4, 200)
chance = 1 / (1 + np.exp(-discrimination * (ability[:, None] - difficulty)))
right = draw.random(chance.shape) < chance
wrong_labels = draw.choice(200, 6, replace=False)
right[:, wrong_labels] = ~right[:, wrong_labels]
answers = pl.DataFrame({"model": models, **{f"e{item}": right[:, item].astype(int) for item in range(200)}})
answers[:, :6].head(3)

# %% [markdown]
# A table with a column for each example is read as it is; so is one of rows `respondent, item, correct`.

# %%
found = qt.irt(answers, "2pl", subset=40)
found

# %%
found.plot()

# %% [markdown]
# Abilities come with their errors, so that one sees which models cannot be told apart:

# %%
found.abilities.sort("ability", descending=True).head(5).with_columns(pl.col("ability", "error").round(2))

# %% [markdown]
# **Labels to look at again.** Where the strong are wrong and the weak are right, the label is the first suspect. Of the
# six that were made wrong, these are found:

# %%
named = {f"e{item}" for item in wrong_labels}
listed = found.suspicious["item"].to_list()
print(f"{len(named & set(listed))} of the 6 wrong labels are among the {len(listed)} listed")

# %% [markdown]
# **Fewer examples.** The forty that together tell most rank the models nearly as all two hundred do:

# %%
chosen = found.to_dict()["subset"]
all_of_them = answers.drop("model").mean_horizontal()
few = answers.select(chosen).mean_horizontal()
both = pl.DataFrame({"all": all_of_them, "few": few})
alike = both.select(pl.corr("all", "few", method="spearman")).item()
print(f"rank correlation with all examples: {alike:.2f}")
