"""Slopes and contributions of single rows: exact sums, known answers, units, pipelines."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap
from sklearn.preprocessing import StandardScaler

from sidelight import (
    BernoulliMixture,
    Conditioning,
    CoordinatedMixture,
    CountEncoder,
    HybridEmbedding,
    KernelInformationEmbedding,
    PPCAMixture,
    ProbabilisticPCA,
    TableEncoder,
    TwoWayEmbedding,
    explain,
)
from sidelight.base.warnings import DesignWarning
from sidelight.explain._paths import mean_slopes
from sidelight.pipeline import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def bend(n: int = 80, d: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 3, n)
    X = rng.normal(scale=0.3, size=(n, d))
    X[:, :3] += np.stack([3 * np.cos(t), 3 * np.sin(t), np.floor(t)], axis=1)
    return X


def sums(table, by="row") -> np.ndarray:
    axes = list(dict.fromkeys(table.axis))
    return table.pivot_table(index=by, columns="axis", values="contribution", aggfunc="sum")[axes].to_numpy()


MODELS = {
    "kie": lambda: KernelInformationEmbedding(max_iter=20),
    "fixed": lambda: KernelInformationEmbedding(bandwidth=4.0, max_iter=20),
    "two-way": lambda: TwoWayEmbedding(maps="kernel"),
    "charts": lambda: CoordinatedMixture(n_charts=2),
    "mixture": lambda: PPCAMixture(2, 2, n_init=1),
    "jumps": lambda: HybridEmbedding(),
    "paths": lambda: TwoWayEmbedding(Isomap(n_neighbors=8, eigen_solver="dense")),
}


@pytest.mark.parametrize("name", MODELS)
def test_contributions_sum_to_the_difference_in_the_map(name):
    X = bend()
    model = MODELS[name]().fit(X)
    Z = np.asarray(model.transform(X[:4]))
    found = explain.rows(model, X[:4], baseline=0, tolerance=1e-3)
    assert np.abs(sums(found) - (Z - Z[0])).max() <= 1e-10 * np.abs(Z).max()


@pytest.mark.parametrize("name", ["kie", "fixed", "charts", "mixture"])
def test_the_integrals_alone_reach_the_tolerance_where_the_map_is_continuous(name):
    X = bend()
    smooth = MODELS[name]().fit(X)._smooth_map(None, 2)
    C = np.asarray(smooth.coordinates(X[:2]), dtype=np.float64)
    found = mean_slopes(smooth, C[:1], C[1:], np.zeros(1, dtype=int), tolerance=1e-10)
    moved = np.abs(found.end - found.start).max()
    assert np.abs(found.missed).max() <= 1e-10 * moved


def test_what_the_integrals_miss_does_not_change_contributions_much():
    X = bend()
    model = MODELS["kie"]().fit(X)
    coarse, fine = (explain.rows(model, X[:2], baseline=0, tolerance=t).contribution for t in (1e-3, 1e-8))
    assert np.abs(coarse - fine).max() <= 1e-3 * np.abs(fine).max()


def test_contributions_of_a_linear_map_are_slope_times_difference():
    X = bend()
    model = ProbabilisticPCA(2).fit(X)
    found = explain.rows(model, X)
    J = model.jacobian(X[:1])[0]
    expected = J[None] * (X - X.mean(axis=0))[:, None]
    assert np.allclose(found.contribution, expected.ravel(), rtol=1e-9, atol=1e-12)


def test_local_slopes_are_the_jacobian_and_are_standardised_by_the_spread_of_the_feature():
    X = pd.DataFrame(bend(), columns=list("abcde"))
    model = MODELS["kie"]().fit(X)
    found = explain.local(model, X[:6])
    assert np.allclose(found.slope, model.jacobian(X[:6]).ravel())
    assert list(found.feature[:5]) == list("abcde")
    assert np.allclose(
        found.standardised[found.feature == "b"], found.slope[found.feature == "b"] * X.b[:6].std(ddof=0)
    )


def test_contributions_with_given_are_of_rows_after_its_effect():
    group = np.arange(60) % 2
    X = bend(60) + 5.0 * np.outer(group, [0, 0, 0, 1.0, 0])
    model = KernelInformationEmbedding(max_iter=20).fit(X, given=group)
    found = explain.rows(model, X[:6], given=group[:6], tolerance=1e-3)
    Z = model.transform(X[:6], given=group[:6])
    assert np.allclose(sums(found)[1:] - sums(found)[:-1], np.diff(Z, axis=0), atol=1e-10)
    values = found[found.feature == "3"].groupby("row").value.first()
    assert abs(values[::2].mean() - values[1::2].mean()) < 1.5  # of 5


def test_a_model_with_given_says_when_it_is_explained_without():
    group = np.arange(60) % 2
    X = bend(60)
    model = KernelInformationEmbedding(max_iter=5).fit(X, given=pd.DataFrame({"batch": group}))
    sentence = "given=None leaves out 'batch', which the model was given: the map that averages over it is explained"
    for ask in (explain.rows, explain.axes):
        with pytest.warns(DesignWarning, match=sentence):
            ask(model, X)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DesignWarning)
            ask(model, X, given=group)


@pytest.mark.parametrize("ask", [explain.axes, explain.rows, explain.reliability])
def test_a_model_that_is_not_fitted_is_named(ask):
    with pytest.raises(NotFittedError, match="KernelInformationEmbedding instance is not fitted"):
        ask(make_pipeline(StandardScaler(), KernelInformationEmbedding()), bend(20))


def test_with_a_product_of_kernels_the_value_of_the_row_is_held():
    group = np.arange(60) % 2
    X = bend(60)
    model = KernelInformationEmbedding(max_iter=10, conditioning=Conditioning("product")).fit(X, given=group)
    found = explain.difference(model, X, 0, 1, given=group)
    Z = model.transform(X[:2], given=group[:2])
    assert np.allclose(sums(found.assign(all=0), "all")[0], Z[0] - Z[1], atol=1e-10)
    assert (found.feature == "(given)").sum() == 2
    with pytest.raises(ValueError, match="product"):
        explain.difference(model, X, [0, 1], [2, 3], given=group)


def test_scaling_and_rotating_steps_are_explained_in_the_columns_of_the_data():
    X = pd.DataFrame(bend() * [1.0, 10.0, 100.0, 1.0, 0.1], columns=list("abcde"))
    model = make_pipeline(StandardScaler(), PCA(4), TwoWayEmbedding(maps="kernel")).fit(X)
    found = explain.rows(model, X[:4], baseline=0, tolerance=1e-3)
    Z = np.asarray(model.transform(X[:4]))
    assert np.abs(sums(found) - (Z - Z[0])).max() <= 1e-10
    assert list(found.feature[:5]) == list("abcde")
    assert np.allclose(found[(found.feature == "c") & (found.axis == "1")].value, X.c[:4])
    step, shown = 1e-5, explain.local(model, X[:1])
    slope = shown[(shown.feature == "b") & (shown.axis == "1")].slope.iloc[0]
    moved = X[:1] + [0, step, 0, 0, 0]
    assert slope == pytest.approx((np.asarray(model.transform(moved)) - Z[:1])[0, 0] / step, rel=1e-3)


def test_counts_are_explained_gene_by_gene_in_residuals():
    rng = np.random.default_rng(0)
    counts = sparse.csr_array(rng.poisson(1.0 + 6.0 * (np.arange(60) % 2)[:, None] * (np.arange(12) < 3)).astype(float))
    model = make_pipeline(CountEncoder(5), TwoWayEmbedding(maps="kernel")).fit(counts)
    found = explain.rows(model, counts[:4], baseline=0, tolerance=1e-3)
    Z = np.asarray(model.transform(counts[:4]))
    assert np.abs(sums(found) - (Z - Z[0])).max() <= 1e-10
    shown = explain.selection(model, counts, np.arange(60) % 2 == 1, tolerance=1e-3)
    shown = shown[shown.axis == "1"]
    assert set(shown.nlargest(3, "difference").feature) == {"0", "1", "2"}


def test_other_steps_are_applied_and_their_columns_explained():
    table = pd.DataFrame({"size": bend()[:, 0], "kind": np.where(bend()[:, 2] > 1, "p", "q"), "age": bend()[:, 1]})
    model = make_pipeline(TableEncoder(), TwoWayEmbedding(maps="kernel")).fit(table)
    found = explain.rows(model, table[:3], baseline=0, tolerance=1e-3)
    Z = np.asarray(model.transform(table[:3]))
    assert np.abs(sums(found) - (Z - Z[0])).max() <= 1e-10
    assert set(found.feature) == set(model[0].get_feature_names_out())


def test_sparse_rows_are_explained_in_the_columns_of_the_data():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.5 + 3.0 * (np.arange(70) % 2)[:, None] * (np.arange(20) < 4)).astype(float))
    model = TwoWayEmbedding(maps="kernel").fit(X)
    found = explain.rows(model, X[:3], baseline=0, tolerance=1e-3)
    Z = np.asarray(model.transform(X[:3]))
    assert np.abs(sums(found) - (Z - Z[0])).max() <= 1e-10


def test_tables_of_polars_where_asked_for():
    pl = pytest.importorskip("polars")
    X = bend()
    assert isinstance(explain.local(ProbabilisticPCA(1).fit(X), X[:3], output="polars"), pl.DataFrame)
    with pytest.raises(ValueError, match="output"):
        explain.local(ProbabilisticPCA(1).fit(X), X[:3], output="excel")


def test_a_model_without_derivatives_is_refused_with_the_reason():
    X = bend()
    with pytest.raises(ValueError, match="BernoulliMixture"):
        explain.rows(BernoulliMixture(2, n_init=1).fit((X > 0).astype(float)), (X[:2] > 0).astype(float))
    with pytest.raises(ValueError, match="has no jacobian"):
        explain.rows(PCA(2).fit(X), X[:2])
    with pytest.raises(ValueError, match="takes none"):
        explain.local(ProbabilisticPCA(1).fit(X), X[:2], given=[0, 1])
    with pytest.raises(ValueError, match="baseline"):
        explain.rows(ProbabilisticPCA(1).fit(X), X[:2], baseline=7)


def test_a_line_whose_ends_differ_by_rounding_is_not_cut():
    X = bend()
    smooth = MODELS["kie"]().fit(X)._smooth_map(None, 2)
    C = np.asarray(smooth.coordinates(X[:1] * 0.7), dtype=np.float64)
    found = mean_slopes(smooth, C, C * (1.0 + 4e-15), np.zeros(1, dtype=int))
    assert found.n_evaluations == 16  # four nodes of four panels; thousands, where rounding was integrated
