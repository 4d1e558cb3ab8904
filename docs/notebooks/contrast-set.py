# %% [markdown]
# # A contrast set
#
# A sentence and its nearest neighbours across the decision boundary: a model that has understood gets all of them
# right. We write five sets, and ask a model that counts words.

# %%
import quintain as qt

sets = {
    "price": [
        ("The camera is worth every cent.", "positive", ""),
        ("The camera is not worth a cent.", "negative", "negation"),
    ],
    "staff": [
        ("A friendly crew and good food.", "positive", ""),
        ("A friendly crew, but awful food.", "negative", "contrast"),
        ("A hardly friendly crew, and no good food.", "negative", "negation"),
    ],
    "plot": [
        ("The plot is dull and the jokes are bad.", "negative", ""),
        ("The plot is never dull and the jokes are never bad.", "positive", "negation"),
    ],
    "sound": [
        ("Great sound at last.", "positive", ""),
        ("Great sound was promised; we got none.", "negative", "hope"),
    ],
    "hotel": [
        ("Awful beds, bad breakfast.", "negative", ""),
        ("I had expected awful beds and a bad breakfast, and was wrong.", "positive", "hope"),
    ],
}
examples = [
    {
        "id": f"{name}-{at}",
        "set": name,
        "role": "contrast" if at else "original",
        "gold": gold,
        "tags": [tag] if tag else [],
        "text": text,
    }
    for name, members in sets.items()
    for at, (text, gold, tag) in enumerate(members)
]
good, bad = {"worth", "friendly", "good", "great"}, {"awful", "dull", "bad"}


def count_words(text: str) -> str:
    words = {word.strip(".,;").lower() for word in text.split()}
    return "positive" if len(words & good) >= len(words & bad) else "negative"


said = {one["id"]: count_words(one["text"]) for one in examples}
found = qt.contrast_score(examples, said)
found

# %% [markdown]
# It is right on every original and on none of their neighbours: it counts, it does not read. With five sets the
# intervals are wide; they are drawn over sets, not over sentences.

# %%
found.plot()

# %% [markdown]
# A contrast set can disprove that a model has learned something, and never prove it. Which neighbours did it miss?

# %%
for one in examples:
    if one["role"] == "contrast" and said[one["id"]] != one["gold"]:
        print(f"{one['gold']:9} {one['text']}")
