"""What asking adaptively saves and risks: by hand, by a model, and on real crowds."""

from __future__ import annotations

import ast
import csv
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.stats.adaptive import Stopping, foresee, replay
from quintain.stats.judgements import NONE, Judgements
from quintain.stats.one_coin import fit_one_coin

SAFE = Stopping(most=5, minimum=3, least=3, threshold=0.95)
QUICK = Stopping(most=5, minimum=2, least=2, threshold=0.95)


def votes(*patterns: str) -> Judgements:
    """Make items from strings of one-letter votes; worker n gives the n-th vote."""
    rows = [(f"{i:03}", f"w{n}", label) for i, pattern in enumerate(patterns) for n, label in enumerate(pattern)]
    return Judgements.of(*zip(*rows, strict=True))


def test_unanimous_items_stop_at_the_votes_that_a_label_needs() -> None:
    """Three of five are saved with a minimum of 2, two with one of 3, and every item has its label."""
    judgements = votes(*["aaaaa", "bbbbb", "ccccc"] * 10)
    sure = np.full(5, 0.8)
    quick, safe = replay(judgements, sure, QUICK), replay(judgements, sure, SAFE)
    assert quick is not None
    assert safe is not None
    assert (quick.saving, quick.unlabelled) == (pytest.approx(0.6), 0.0)
    assert (safe.saving, safe.unlabelled, safe.items) == (pytest.approx(0.4), 0.0, 30)


def test_a_sure_label_with_too_few_votes_is_asked_about_on() -> None:
    """However much one judge is trusted: a label needs its votes, or the item would end without one."""
    found = replay(votes(*["aabab"] * 20), np.array([0.999, 0.999, 0.5, 0.999, 0.5]), SAFE)
    assert found is not None
    assert found.unlabelled == found.unlabelled_before == 0.0


def test_items_without_all_their_votes_tell_nothing() -> None:
    """What all votes would say is not known of them."""
    assert replay(votes("aaa", "bb"), np.full(3, 0.8), SAFE) is None


@given(st.lists(st.text("abc", min_size=5, max_size=5), min_size=1, max_size=30), st.integers(0, 5))
def test_three_of_five_never_change_a_label(patterns: list[str], seed: int) -> None:
    """Once three of five agree, the other two cannot matter: in step, nothing is risked."""
    found = replay(votes(*patterns), np.full(5, 0.8), SAFE, seed=seed)
    assert found is not None
    assert found.changed == 0.0
    assert found.unlabelled == found.unlabelled_before
    assert 0 <= found.saving <= 0.4


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_model_says_what_is_saved_and_what_it_costs(classes: int) -> None:
    """Judges of 80 %: a fifth and more is saved at the same accuracy, and better judges save more."""
    found = foresee(classes, 0.8, SAFE)
    assert found.right is not None
    assert found.right_before is not None
    assert 0.2 < found.saving < 0.4
    assert found.right == pytest.approx(found.right_before, abs=0.001)
    assert foresee(classes, 0.95, SAFE).saving > found.saving


def crowd_files(folder: Path) -> tuple[Judgements, dict[str, str]]:
    """Read one of the sets with a truth of its own."""
    rows = [tuple(row.values())[:3] for row in csv.DictReader((folder / "label.csv").open())]
    truth = dict(tuple(row.values())[:2] for row in csv.DictReader((folder / "truth.csv").open()))
    return Judgements.of(*zip(*rows, strict=True)), truth


def held_out(lists: dict[str, list[str]]) -> tuple[Judgements, dict[str, str]]:
    """Take five ratings of each item; the plurality of its others is the truth."""
    chance = random.Random(1)  # noqa: S311 - not a secret
    rows, truth = [], {}
    for item, ratings in lists.items():
        order = chance.sample(range(len(ratings)), len(ratings))
        top = Counter(ratings[place] for place in order[5:]).most_common(2)
        if len(top) == 1 or top[0][1] > top[1][1]:
            truth[item] = top[0][0]
            rows += [(item, f"w{place:03}", ratings[place]) for place in order[:5]]
    return Judgements.of(*zip(*rows, strict=True)), truth


def vader(folder: Path, name: str) -> tuple[Judgements, dict[str, str]]:
    """Read ratings from -4 to 4 as negative, neutral and positive."""
    lines = (folder / f"{name}_anonDataRatings.txt").read_text(errors="replace").splitlines()
    cells = [line.split("\t") for line in lines]
    words = ("neutral", "positive", "negative")
    return held_out({one[0]: [words[int(np.sign(rating))] for rating in ast.literal_eval(one[-1])] for one in cells})


def discourse(path: Path) -> tuple[Judgements, dict[str, str]]:
    """Read the labels 0, 0.5 and 1 of sentences of SST."""
    cells = [line.split("\t")[1].split(",") for line in path.read_text().splitlines()]
    return held_out({f"{place:03}": [one.strip() for one in labels] for place, labels in enumerate(cells)})


def test_five_real_crowds_save_a_quarter_and_more_at_the_accuracy_of_five_votes(shared_data: Path) -> None:
    """With both settings at 2, a quarter to half is saved within a point of accuracy; at 3, nothing is risked."""
    crowd, ratings = shared_data / "crowd-truth-inference" / "data", shared_data / "vader-icwsm2014"
    if not crowd.exists() or not ratings.exists():
        pytest.skip("the crowd data is not here")
    sets = [
        crowd_files(crowd / "SpectralMethodsMeetEM" / "rte"),
        crowd_files(crowd / "crowd_truth_inference" / "d_sentiment"),
        discourse(shared_data / "sst-crowd-discourse" / "crowd-data" / "sst_crowd_discourse.txt"),
        vader(ratings, "tweets"),
        vader(ratings, "amazonReviewSnippets"),
    ]
    for judgements, truth in sets:
        place = {name: code for code, name in enumerate(judgements.classes)}
        known = np.array([place.get(truth.get(item, ""), NONE) for item in judgements.items])
        accuracy = fit_one_coin(judgements).accuracy
        quick = replay(judgements, accuracy, QUICK, truth=known)
        safe = replay(judgements, accuracy, SAFE, truth=known)
        assert quick is not None
        assert safe is not None
        assert 0.25 < quick.saving < 0.55
        assert quick.right is not None
        assert quick.right_before is not None
        assert quick.right > quick.right_before - 0.01
        assert quick.changed < 0.03
        assert quick.unlabelled <= quick.unlabelled_before
        assert 0.12 < safe.saving < 0.35
        assert safe.changed == 0.0
        assert safe.unlabelled == safe.unlabelled_before
