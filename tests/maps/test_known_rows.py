"""Rows of the fit that are passed again are compared without themselves, as new rows are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from sidelight import KernelInformationEmbedding, TwoWayEmbedding
from sidelight.maps.known_rows import KnownRows
from sidelight.maps.local_density import local_density
from sidelight.maps.parzen import fit_density

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 12)) @ RNG.normal(size=(12, 12))


def test_rows_are_found_again_whatever_comes_with_them():
    known = KnownRows(X)
    rows = np.array([5, 0, 119])
    assert known.find(X[rows]).tolist() == rows.tolist()
    assert [int(known.find(X[i : i + 1])[0]) for i in rows] == rows.tolist()
    assert known.find(X[rows] * (1 + 1e-14)).tolist() == rows.tolist()  # written to a file and read again
    assert known.find(X[rows] + 1e-6).tolist() == [-1, -1, -1]
    assert known.find(np.full((1, 12), 1e300)).tolist() == [-1]


def test_where_rows_repeat_new_rows_may_be_equal_by_chance_and_are_not_taken_for_them():
    twice = np.vstack([X, X[:6]])
    assert KnownRows(np.vstack([X, X[:2]])).share_repeated == pytest.approx(4 / 122)
    assert KnownRows(np.vstack([X, X[:2]])).find(X[:3]).tolist() == [0, 1, 2]
    assert KnownRows(twice).share_repeated == pytest.approx(12 / 126)
    assert KnownRows(twice).find(X[:3]).tolist() == [-1, -1, -1]


def test_false_alarms_among_rows_of_counts_are_as_rare_as_said():
    """New rows that equal a training row seen once must not be called novel for it."""
    rng = np.random.default_rng(1)
    rows, new = (rng.poisson(0.7, size=(n, 4)).astype(float) for n in (300, 3000))
    model = TwoWayEmbedding().fit(rows)
    for rate in (0.02, 0.1):
        assert model.is_novel(new, false_alarm=rate).mean() <= rate + 3 * np.sqrt(rate / 300)


@pytest.mark.parametrize("model", [TwoWayEmbedding(), KernelInformationEmbedding(max_iter=5, tol=1.0)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_densities_of_the_rows_of_the_fit_are_spread_and_find_the_odd_row(model):
    rows = np.vstack([X, [X.mean(axis=0) + 4 * X.std(axis=0) * np.resize([1, -1], 12)]])
    model.fit(rows)
    share = model.typicality(rows)
    assert kstest(share, "uniform").pvalue > 0.1  # with themselves, all of them are above 0.5
    assert share.argmin() == len(X)
    assert np.array_equal(share, model.training_typicality())
    assert np.array_equal(share[:5], np.concatenate([model.typicality(rows[i : i + 1]) for i in range(5)]))
    p = model.novelty_p_value(rows)
    assert p.min() == pytest.approx(1 / len(rows))
    assert model.is_novel(rows, false_alarm=0.05).sum() == int(0.05 * len(rows))


def test_rows_beyond_those_held_out_in_folds_are_compared_without_their_own_kernel():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(1700, 4)) @ rng.normal(size=(4, 4))
    density = fit_density(rows, np.ones(1700))
    shaped = local_density(density)
    others = np.setdiff1d(np.arange(1700), shaped.held_out)
    assert len(others) == 200
    one = int(others[3])
    logs = shaped._held_out_logs(np.array([one]))
    kept = np.delete(np.arange(1700), one)
    from dataclasses import replace

    rest = replace(shaped, points=rows[kept], member=shaped.member[kept], round=replace(
        density, points=rows[kept], bandwidths=density.bandwidths[kept]))  # fmt: skip
    assert logs == pytest.approx(rest.log_density(rows[[one]]), abs=1e-9)
