"""Logistic regression against what is known of its solution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from quintain.models.logistic import fit
from tests.properties import examples


def _data(seed: int, rows: int = 200, columns: int = 5, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, columns))
    scores = features @ rng.normal(size=(columns, classes))
    return features, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)


@given(seed=st.integers(0, 10_000), strength=st.floats(0.01, 100))
@settings(max_examples=examples(25), deadline=None)
def test_the_gradient_is_zero_at_the_solution(seed: int, strength: float) -> None:
    """At the minimum, each weight is strength times the feature's covariance with the errors."""
    features, classes = _data(seed)
    found = fit(features, classes, 3, strength=strength)
    error = np.eye(3)[classes] - found.probabilities(features)
    np.testing.assert_allclose(found.weights, strength * features.T @ error, atol=0.02 * max(1.0, strength))


def test_without_features_the_shares_come_out() -> None:
    """With nothing to go by, it answers the shares of the classes, up to half an added example."""
    classes = np.array([0] * 60 + [1] * 30 + [2] * 10)
    found = fit(np.zeros((100, 1)), classes, 3)
    np.testing.assert_allclose(found.probabilities(np.zeros((1, 1)))[0], [0.6, 0.3, 0.1], atol=0.003)


def test_a_class_without_examples_stays_finite() -> None:
    """A label that the training data lacks gets a small probability, not a fault."""
    found = fit(np.zeros((50, 1)), np.zeros(50, dtype=np.int64), 2)
    share = found.probabilities(np.zeros((1, 1)))[0, 1]
    assert 0 < share < 0.02


def test_a_stronger_penalty_shrinks_the_weights() -> None:
    """The weights get smaller as the penalty grows."""
    features, classes = _data(3)
    norms = [float(np.linalg.norm(fit(features, classes, 3, strength=s).weights)) for s in (10.0, 1.0, 0.1, 0.01)]
    assert norms == sorted(norms, reverse=True)


def test_the_order_of_the_rows_does_not_matter() -> None:
    """The same rows in another order have the same solution."""
    features, classes = _data(4)
    order = np.random.default_rng(0).permutation(len(classes))
    one, two = fit(features, classes, 3), fit(features[order], classes[order], 3)
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-2)


def test_sparse_and_dense_agree() -> None:
    """The form of the matrix does not matter."""
    features, classes = _data(5)
    dense, thin = fit(features, classes, 3), fit(sparse.csr_matrix(features), classes, 3)
    np.testing.assert_allclose(dense.weights, thin.weights, atol=1e-6)


def test_two_classes_give_the_known_solution() -> None:
    """One binary feature with counts 30:10 and 10:30, almost no penalty: the log-odds are ±log 3."""
    features = np.array([[1.0]] * 40 + [[0.0]] * 40)
    classes = np.array([1] * 30 + [0] * 10 + [1] * 10 + [0] * 30)
    found = fit(features, classes, 2, strength=1e6)
    odds = np.log(found.probabilities(np.array([[1.0], [0.0]])))
    assert odds[0, 1] - odds[0, 0] == pytest.approx(np.log(3), abs=0.02)
    assert odds[1, 1] - odds[1, 0] == pytest.approx(-np.log(3), abs=0.02)
