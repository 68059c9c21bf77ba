"""The mixture of probabilistic PCA against dense Gaussians, and its EM against its promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sidelight.objectives import linear_gaussian
from sidelight.objectives.linear_gaussian import LinearGaussian
from sidelight.objectives.mixtures import MixtureParameters, Planes, joint_log_density, kept_dimensions, normalised


def mixture(k=3, d=6, numbers=(2, 0, 4), seed=0):
    rng = np.random.default_rng(seed)
    charts = [LinearGaussian(2 * rng.normal(size=d), rng.normal(size=(d, q)), 0.1 + rng.random()) for q in numbers]
    return MixtureParameters(rng.dirichlet(np.full(k, 5.0)), tuple(charts))


def rows(n=80, d=6, seed=1):
    return 2 * np.random.default_rng(seed).normal(size=(n, d))


def broken(X, share=0.3, seed=2):
    holes = np.random.default_rng(seed).random(X.shape) < share
    return np.where(holes, np.nan, X)


def dense(model, X):
    """Slow and obvious: one d x d Gaussian a chart, one row at a time, of what is seen."""
    out = np.zeros((len(X), len(model.charts)))
    for s, chart in enumerate(model.charts):
        C = chart.W @ chart.W.T + chart.noise * np.eye(len(chart.mean))
        for i, row in enumerate(X):
            o = ~np.isnan(row)
            own = multivariate_normal(chart.mean[o], C[np.ix_(o, o)]).logpdf(row[o]) if o.any() else 0.0
            out[i, s] = np.log(model.weights[s]) + own
    return out


@pytest.mark.parametrize("make", [rows, lambda: broken(rows())], ids=["whole", "missing"])
def test_joint_log_density_equals_dense_gaussians(make):
    X = make()
    np.testing.assert_allclose(joint_log_density(mixture(), X), dense(mixture(), X), rtol=1e-11)


def test_responsibilities_of_far_rows_do_not_underflow():
    R, log_density = normalised(np.array([[-1e5, -1e5 + np.log(3.0)], [0.0, -1e9]]))
    np.testing.assert_allclose(R, [[0.25, 0.75], [1.0, 0.0]])
    np.testing.assert_allclose(log_density, [-1e5 + np.log(4.0), 0.0])


def test_the_closed_form_is_the_weighted_principal_axes():
    X, model = rows(500), mixture()
    R = normalised(dense(model, X))[0]
    new = Planes(1e-9).maximised(Planes(1e-9).sums(model, X), model)
    for s, chart in enumerate(new.charts):
        mean = R[:, s] @ X / R[:, s].sum()
        values, V = np.linalg.eigh(np.cov(X.T, aweights=R[:, s], ddof=0))
        q = model.charts[s].n_components
        noise = values[: 6 - q].mean()
        W = V[:, 6 - q :] * np.sqrt(values[6 - q :] - noise)
        np.testing.assert_allclose(chart.mean, mean, atol=1e-12)
        np.testing.assert_allclose(chart.noise, noise, rtol=1e-10)
        np.testing.assert_allclose(chart.W @ chart.W.T, W @ W.T, atol=1e-10)


def test_sums_of_many_columns_equal_those_of_few():
    """Forty columns take another way to their products than thirty."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    model = MixtureParameters(np.ones(1), (LinearGaussian(np.zeros(40), rng.normal(size=(40, 2)), 1.0),))
    sums = Planes(1e-9).sums(model, X)
    np.testing.assert_allclose(sums["xx"][0], (X.T @ X)[np.triu_indices(40)], rtol=1e-12, atol=1e-12)
    small = Planes(1e-9).sums(mixture(), rows())
    R = normalised(dense(mixture(), rows()))[0]
    expected = np.einsum("ns,ni,nj->sij", R, rows(), rows())
    np.testing.assert_allclose(small["xx"], expected[:, *np.triu_indices(6)], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("X", "family"),
    [(rows(300), Planes(1e-6)), (broken(rows(300)), Planes(1e-6, True)), (rows(300), Planes(5.0))],
    ids=["whole", "missing", "at the floor"],
)
def test_a_step_never_lowers_the_likelihood(X, family):
    model, values = mixture(), []
    for _ in range(30):
        sums = family.sums(model, X)
        values.append(family.value(sums, model))
        model = family.maximised(sums, model)
    assert (np.diff(values) > -1e-10).all()
    assert values[-1] > values[0] + 0.1
    assert all(chart.noise >= family.floor for chart in model.charts)


def test_where_the_closed_form_rests_the_sums_chart_by_chart_rest_too():
    X, model = (
        rows(400) * [3, 2, 1, 1, 1, 1] + 30 * np.repeat([[0.0], [1.0], [2.0], [3.0]], 100, axis=0),
        mixture(seed=3),
    )
    for _ in range(200):
        model = Planes(1e-6).maximised(Planes(1e-6).sums(model, X), model)
    other = Planes(1e-6, missing=True)
    moved = other.maximised(other.sums(model, X), model)
    for chart, still in zip(moved.charts, model.charts, strict=True):
        np.testing.assert_allclose(chart.mean, still.mean, atol=1e-5)
        np.testing.assert_allclose(chart.W @ chart.W.T, still.W @ still.W.T, atol=1e-5)
        np.testing.assert_allclose(chart.noise, still.noise, rtol=1e-5)


@pytest.mark.parametrize("numbers", [3_000_000, 1], ids=["one tile", "small tiles"])
@pytest.mark.parametrize("kind", ["whole", "few patterns", "many patterns"])
def test_one_pass_for_all_charts_gives_the_sums_of_a_pass_for_each(kind, numbers, monkeypatch):
    monkeypatch.setattr(linear_gaussian, "_NUMBERS", numbers)
    X, model = rows(200), mixture()
    if kind != "whole":
        X = np.where(np.isnan(broken(X)[np.arange(200) % (3 if kind == "few patterns" else 200)]), np.nan, X)
    joint = np.stack([linear_gaussian.log_density(chart, X) for chart in model.charts], axis=1) + np.log(model.weights)
    R, log_density = normalised(joint)
    found = Planes(1e-6, missing=True).sums(model, X)
    np.testing.assert_allclose(found["log"], log_density.sum(), rtol=1e-12)
    np.testing.assert_allclose(found["n"], R.sum(axis=0), rtol=1e-10)
    for s, chart in enumerate(model.charts):
        for name, value in linear_gaussian.statistics(chart, X, R[:, s]).items():
            if name != "log_likelihood":
                np.testing.assert_allclose(found[f"{s}:{name}"], value, rtol=1e-10, atol=1e-10)


def test_sums_carried_to_another_mixture_are_those_about_its_means():
    X, family, model = broken(rows(120)), Planes(1e-6, True, expand=False), mixture()
    after = MixtureParameters(
        model.weights, tuple(LinearGaussian(chart.mean + 0.5, chart.W, chart.noise) for chart in model.charts)
    )
    carried = family.carried(family.sums(model, X), model, after)
    new = family.maximised(carried, after)
    for chart, expected in zip(new.charts, family.maximised(family.sums(model, X), model).charts, strict=True):
        np.testing.assert_allclose(chart.mean, expected.mean, atol=1e-9)
        np.testing.assert_allclose(chart.W, expected.W, atol=1e-9)
        np.testing.assert_allclose(chart.noise, expected.noise, rtol=1e-9)


def test_a_chart_without_rows_keeps_its_place():
    model = mixture()
    far = LinearGaussian(np.full(6, 1e6), model.charts[1].W, 0.1)
    lonely = MixtureParameters(model.weights, (model.charts[0], far, model.charts[2]))
    new = Planes(1e-6).maximised(Planes(1e-6).sums(lonely, rows()), lonely)
    np.testing.assert_array_equal(new.charts[1].mean, far.mean)
    assert new.weights[1] < 1e-12
    assert np.isfinite(joint_log_density(new, rows())).all()


def test_each_chart_keeps_the_dimensions_that_its_rows_speak_for():
    lengths = np.array([3.0, 2.0, 0.05, 0.02])
    W = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 4)))[0] * lengths
    chart = LinearGaussian(np.zeros(8), W, 0.25)
    kept = kept_dimensions(MixtureParameters(np.array([0.5, 0.5]), (chart, chart)), np.array([1000.0, 1.0]))
    assert kept.charts[0].n_components == 2
    assert kept.charts[1].n_components < 2
    np.testing.assert_allclose(
        np.trace(kept.charts[0].W @ kept.charts[0].W.T) + 8 * kept.charts[0].noise, (W**2).sum() + 8 * 0.25
    )
