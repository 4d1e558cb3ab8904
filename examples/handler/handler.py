"""Counts words of praise and of blame, and turns them round after a "not"."""

import re

PRAISE = {
    "good",
    "great",
    "best",
    "lovely",
    "love",
    "loved",
    "perfect",
    "kind",
    "wonderful",
    "delicious",
    "clean",
    "warm",
}
BLAME = {"bad", "worst", "awful", "rude", "dirty", "cold", "broke", "broken", "slow", "stale", "dull", "hate", "hated"}
NEGATORS = {"not", "never", "no", "nobody", "nothing", "isn't", "wasn't", "didn't", "don't", "couldn't"}


def predict(batch):
    """Answer each example of a batch."""
    return [answer(item["text"]) for item in batch]


def answer(text):
    """Weigh praise against blame."""
    words = re.findall(r"[\w']+", text.lower())
    balance = 0
    for place, word in enumerate(words):
        weight = (word in PRAISE) - (word in BLAME)
        balance += -weight if NEGATORS & set(words[max(place - 3, 0) : place]) else weight
    return "positive" if balance > 0 else "negative" if balance < 0 else "neutral"
