# %% [markdown]
# # Labels from a crowd
#
# Five people said of each of 300 sentences whether it is positive, negative or neutral. Who is right? We begin with the
# judgements: a table `item, worker, label`. Here they are drawn: three careful workers, one in a hurry, one who always
# presses the same key.

# %%
import numpy as np

import quintain as qt

draw = np.random.default_rng(7)
classes = np.array(["negative", "neutral", "positive"])
truth = draw.choice(classes, 300)
care = {"ann": 0.9, "bob": 0.85, "cleo": 0.88, "dan": 0.55}
votes = [
    {"item": f"s{at}", "worker": name, "label": right if draw.random() < skill else draw.choice(classes)}
    for at, right in enumerate(truth)
    for name, skill in care.items()
]
votes += [{"item": f"s{at}", "worker": "eve", "label": "positive"} for at in range(300)]
len(votes)

# %% [markdown]
# ## Do they agree?
#
# Every statistic comes with an interval over resampled items. An α of about a third says: be careful.

# %%
qt.agreement(votes)

# %% [markdown]
# ## Who stands out?
#
# Those who agree least with the others come first, and what looks like a pattern is named.

# %%
qt.workers(votes)

# %%
qt.workers(votes).plot()

# %% [markdown]
# ## Labels
#
# A majority leaves items without a label. Dawid–Skene learns whom to believe, and for what. Since these judgements were
# drawn, we can look at who is right more often.

# %%
majority = qt.aggregate(votes)
dawid_skene = qt.aggregate(votes, method="dawid-skene")
for name, labels in {"majority": majority, "Dawid–Skene": dawid_skene}.items():
    right = (labels.table["label"] == truth.tolist()).fill_null(value=False).mean()
    print(f"{name:12} {100 * right:.0f} % right, {labels.to_dict()['no_label']} without a label")

# %%
dawid_skene

# %%
dawid_skene.plot()

# %% [markdown]
# `dawid_skene.table.write_csv("labels.csv")` keeps them, and `quintain labels aggregate judgements.csv` with
# `--method dawid-skene` does the same without Python.
