from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sidelight import KernelInformationEmbedding
from sidelight.datasets import noisy_s
from sidelight.maps.interpolation import smooth_part


def digits():
    X = load_digits().data[np.random.default_rng(0).permutation(1797)]
    return X[:400], X[400:]


def bent():
    return (noisy_s(n, noise=0.12, random_state=seed).X for n, seed in ((250, 0), (800, 1)))


@pytest.fixture(scope="module", params=[(digits, 2), (bent, 1)], ids=["digits", "noisy S"])
def held_out(request):
    make, q = request.param
    train, test = make()
    return KernelInformationEmbedding(q).fit(train), test


def test_held_out_rows_lie_within_two_standard_deviations_and_these_are_not_idle(held_out):
    model, X = held_out
    # Where the regression puts them: ``transform`` follows a row's own noise, which the spread at a place includes.
    Z = smooth_part(model.backward_)(model.frame_.points(X))
    residual, variance = X - model.inverse_transform(Z), model.predictive_variance(Z)
    assert 0.95 < (np.abs(residual) <= 2 * np.sqrt(variance)).mean() <= 1.0
    assert 0.25 < (residual**2).mean() / variance.mean() < 1.0
    assert variance.mean() < 0.8 * X.var(axis=0).mean()


def test_the_leave_one_out_error_of_the_forward_map_has_the_size_of_its_variance(held_out):
    model, _ = held_out
    rows = model.forward_.outputs
    residual = rows - model.forward_.weights.leave_one_out(rows)
    variance = model.predictive_variance(model.embedding_) / model.frame_.scale**2
    assert 0.2 < (residual**2).mean() / variance.mean() < 1.5
    assert 0.9 < (np.abs(residual) <= 2 * np.sqrt(variance)).mean() <= 1.0
