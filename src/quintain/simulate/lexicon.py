"""The words that simulated people write with, by the slot of a sentence that they fill."""

from __future__ import annotations

from collections.abc import Mapping

THINGS = (
    "soup", "curry", "lamp", "screen", "hinge", "battery", "waiter", "ending", "plot", "soundtrack", "mattress",
    "shower", "ticket desk", "tour", "ferry", "keyboard", "charger", "kettle", "garden", "breakfast", "pillow",
    "backpack", "zip", "manual", "app", "playlist", "balcony", "museum", "cast", "cake", "coffee", "terrace", "tent",
    "bicycle", "lift", "receptionist", "heating", "camera", "speaker", "salad",
)  # fmt: skip
PRAISE = (
    "good", "great", "lovely", "excellent", "wonderful", "superb", "charming", "perfect", "brilliant", "pleasant",
    "delightful", "fantastic", "impressive", "reliable",
)  # fmt: skip
BLAME = (
    "bad", "awful", "terrible", "dreadful", "horrible", "poor", "disappointing", "shoddy", "useless", "unpleasant",
    "dismal", "lousy", "annoying", "nasty",
)  # fmt: skip
RARE_PRAISE = (
    "sublime", "peerless", "faultless", "masterly", "exquisite", "unbeatable", "top-notch", "stellar", "ravishing",
    "splendiferous",
)  # fmt: skip
RARE_BLAME = (
    "abysmal", "execrable", "slipshod", "insipid", "ghastly", "wretched", "substandard", "lamentable", "woeful",
    "irksome",
)  # fmt: skip
OCCASIONS = (
    "on a wet Tuesday", "last weekend", "after a long drive", "on our third visit", "in the middle of March",
    "before the concert", "during the heatwave", "at my aunt's birthday", "on the way to Leeds", "two days later",
    "while the children slept", "in the new branch", "around noon", "on the first evening", "over the holidays",
    "despite the queue", "in the off season", "with the whole office", "right after opening", "at the station",
    "under the old owners", "when my parents came", "on a borrowed voucher", "in the smaller hall", "this autumn",
    "at the summer fair", "by the harbour", "on the night train", "for the price of a sandwich", "in row twelve",
)  # fmt: skip
WHO = (
    "my sister", "the neighbour", "our guide", "a colleague", "the leaflet", "somebody in the queue", "my landlord",
    "the man on the radio", "an old friend", "the other family", "a critic", "my dentist",
)  # fmt: skip
MISHAPS = (
    "it broke on the second day", "we waited an hour for bread", "my jacket is still wet", "the lights went out twice",
    "we slept in the car", "nobody knew who was in charge", "I had to pay for it twice", "the handle came off",
    "we missed the last bus", "the cat refused it too", "it smelled of paint", "my phone has not charged since",
    "three of us fell ill", "the music never stopped",
)  # fmt: skip
FACTS = (
    "opens at nine", "comes in three sizes", "stands next to the till", "is made in Porto", "has two parts",
    "was moved upstairs", "weighs four pounds", "belongs to the same company", "closes for lunch", "runs every hour",
    "has a blue label", "seats forty", "was the last of its kind", "needs a password", "is on the second floor",
    "takes four minutes", "is listed in the catalogue", "was delivered",
)  # fmt: skip

SLOTS: Mapping[str, tuple[str, ...]] = {
    "thing": THINGS,
    "other": THINGS,
    "praise": PRAISE,
    "blame": BLAME,
    "rare_praise": RARE_PRAISE,
    "rare_blame": RARE_BLAME,
    "either": (*PRAISE, *BLAME),
    "when": OCCASIONS,
    "who": WHO,
    "mishap": MISHAPS,
    "fact": FACTS,
}
