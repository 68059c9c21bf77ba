"""missing="expected": distances of a fit are expected ones, given the observed entries of each row."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.datasets import s_curve
from sidelight.neighbours.expected import nearest_expected


def rows(n=150, share=0.2):
    X = s_curve(n, random_state=0).X
    X = np.column_stack([X, X @ np.random.default_rng(1).normal(size=(3, 4))])
    gone = np.random.default_rng(0).random(X.shape) < share
    gone[gone.all(axis=1)] = False
    return X, np.where(gone, np.nan, X)


def test_nearest_expected_equals_the_matrix_of_expected_distances():
    rng = np.random.default_rng(0)
    M, v = rng.normal(size=(60, 4)), rng.uniform(0, 4, 60) * (rng.random(60) < 0.5)
    D2 = ((M[:, None] - M) ** 2).sum(axis=2) + v[:, None] + v
    np.fill_diagonal(D2, np.inf)
    found = nearest_expected(M, v, k=7)
    np.testing.assert_allclose(found.distance, np.sqrt(np.sort(D2, axis=1)[:, :7]))
    np.testing.assert_array_equal(found.index, np.argsort(D2, axis=1)[:, :7])


@pytest.mark.parametrize("solver", ["annealed", "multilevel"])
def test_without_gaps_the_fit_is_that_of_refuse_to_the_bit(solver):
    X, _ = rows()
    how = {"solver": solver, "max_iter": 10, "tol": 1e-3}
    expected = KernelInformationEmbedding(missing="expected", **how).fit(X)
    np.testing.assert_array_equal(expected.embedding_, KernelInformationEmbedding(**how).fit(X).embedding_)


@pytest.mark.parametrize("solver", ["annealed", "multilevel"])
def test_variances_change_the_map_and_new_rows_with_gaps_are_embedded_one_by_one(solver, tmp_path):
    X, gaps = rows()
    how = {"solver": solver, "max_iter": 10, "tol": 1e-3}
    model = KernelInformationEmbedding(missing="expected", **how).fit(gaps)
    by_mean = KernelInformationEmbedding(**how).fit(model.filled_)
    assert np.abs(model.embedding_ - by_mean.embedding_).max() > 1e-3
    np.testing.assert_array_equal(model.filled_[~np.isnan(gaps)], X[~np.isnan(gaps)])
    np.testing.assert_allclose(model.transform(gaps), model.embedding_, atol=1e-9)
    alone = np.concatenate([model.transform(gaps[i : i + 1]) for i in range(9)])
    np.testing.assert_allclose(alone, model.transform(gaps[:9]), rtol=1e-9, atol=1e-9)
    sidelight.save(model, tmp_path / "model.sidelight")
    loaded = sidelight.load(tmp_path / "model.sidelight")
    np.testing.assert_array_equal(loaded.transform(gaps), model.transform(gaps))
    np.testing.assert_array_equal(loaded.impute_variance(gaps), model.impute_variance(gaps))


@pytest.mark.parametrize("how", [{"bandwidth": 1.0}, {"metric": "cosine"}, {"bandwidth": "loo"}])
def test_other_kernels_are_refused_with_the_way_out(how):
    with pytest.raises(ValueError, match="missing=expected needs bandwidth='perplexity'"):
        KernelInformationEmbedding(missing="expected", **how).fit(rows()[1])
