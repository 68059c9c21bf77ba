"""The mixture of Bernoullis against products written out, and its EM against its promise."""

from __future__ import annotations

import numpy as np

from sidelight.objectives.bernoulli import BernoulliParameters, Bernoullis, joint_log_density


def mixture(seed=0, k=3, d=5):
    rng = np.random.default_rng(seed)
    return BernoulliParameters(rng.dirichlet(np.ones(k)), rng.uniform(0.1, 0.9, (k, d)))


def rows(n=60, d=5, seed=1, share=0.2):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < rng.random((n, 1))).astype(float)
    return np.where(rng.random((n, d)) < share, np.nan, X)


def test_missing_values_drop_out_of_the_product():
    X, model = rows(), mixture()
    for i, row in enumerate(X):
        for s in range(3):
            p = [m if x == 1 else 1 - m for x, m in zip(row, model.means[s], strict=True) if not np.isnan(x)]
            expected = np.log(model.weights[s]) + np.log(p).sum()
            np.testing.assert_allclose(joint_log_density(model, X)[i, s], expected, rtol=1e-12)


def test_a_step_never_lowers_the_objective():
    X, model = rows(300), mixture()
    family, values = Bernoullis(np.full(5, 0.4), 2.0), []
    for _ in range(60):
        sums = family.sums(model, X)
        values.append(family.value(sums, model))
        model = family.maximised(sums, model)
    assert (np.diff(values) > -1e-12).all()
    assert values[-1] > values[0] + 0.01


def test_smoothing_keeps_a_chart_from_being_certain():
    X = np.ones((10, 2))
    family, model = Bernoullis(np.array([0.9, 0.5]), 1.0), mixture(k=1, d=2)
    means = family.maximised(family.sums(model, X), model).means
    np.testing.assert_allclose(means, [[(10 + 0.9) / 11, (10 + 0.5) / 11]])


def test_one_chart_is_the_mean_of_what_is_seen():
    X = rows(200)
    family, model = Bernoullis(np.full(5, 0.5), 1e-9), mixture(k=1)
    means = family.maximised(family.sums(model, X), model).means
    np.testing.assert_allclose(means[0], np.nanmean(X, axis=0), rtol=1e-8)


def test_a_chart_begun_anew_stands_near_its_row():
    family, row = Bernoullis(np.full(5, 0.5), 1.0), np.array([[1.0, 0.0, np.nan, 1.0, 1.0]])
    new = family.reseeded(mixture(), np.array([2]), row)
    np.testing.assert_allclose(new.means[2], [0.75, 0.25, 0.5, 0.75, 0.75])
    np.testing.assert_allclose(new.weights.sum(), 1.0)
