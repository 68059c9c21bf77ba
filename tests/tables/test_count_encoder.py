"""``CountEncoder`` beside the residuals written out in full, and its way back."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

import sidelight
from sidelight import CountEncoder, load, save
from sidelight.tables.count_encoder import _expected, _residuals

RNG = np.random.default_rng(0)
RATES = np.exp(0.8 * RNG.normal(size=(200, 3)) @ RNG.normal(size=(3, 60)) - 1.0)
COUNTS = RNG.poisson(RATES).astype(np.float64)
X = sparse.csr_matrix(COUNTS)


def slow_residuals(Y, shares):
    """The formula, entry by entry."""
    R = np.zeros(Y.shape)
    for i, j in np.ndindex(*Y.shape):
        y, mean = Y[i, j], Y[i].sum() * shares[j]
        if mean > 0:
            log = y * np.log(y / mean) if y > 0 else 0.0
            R[i, j] = np.sign(y - mean) * np.sqrt(max(2 * (log - y + mean), 0.0))
    return R


def shares_of(Y):
    return Y.sum(axis=0) / Y.sum()


def test_sparse_residuals_are_the_formula_entry_by_entry():
    S, left, right = _residuals(sparse.csr_array(X), COUNTS.sum(axis=1), shares_of(COUNTS))
    assert S.nnz == X.nnz
    np.testing.assert_allclose(
        S.toarray() - np.outer(left, right), slow_residuals(COUNTS, shares_of(COUNTS)), atol=1e-9
    )


def test_coordinates_are_the_principal_ones_of_the_residuals():
    R = slow_residuals(COUNTS, shares_of(COUNTS))
    C = R - R.mean(axis=0)
    exact = np.linalg.svd(C, compute_uv=False)[:3]
    T = CountEncoder(3).fit_transform(X)
    np.testing.assert_allclose(np.linalg.norm(T, axis=0), exact, rtol=1e-5)
    whole = CountEncoder(60).fit_transform(X)  # a rotation
    np.testing.assert_allclose(whole @ whole.T, C @ C.T, atol=1e-7)


def test_counts_come_back_from_their_residuals():
    mean = np.outer(COUNTS.sum(axis=1), shares_of(COUNTS))
    np.testing.assert_allclose(_expected(slow_residuals(COUNTS, shares_of(COUNTS)), mean), COUNTS, atol=1e-5)


def test_all_coordinates_give_the_counts_back_and_few_give_their_rates():
    encoder = CountEncoder(60).fit(X)
    back = encoder.inverse_transform(encoder.transform(X), totals=COUNTS.sum(axis=1))
    np.testing.assert_allclose(back, COUNTS, atol=1e-4)
    few = CountEncoder(4).fit(X)
    rates = few.inverse_transform(few.transform(X), totals=COUNTS.sum(axis=1))
    flat = np.outer(COUNTS.sum(axis=1), shares_of(COUNTS))
    assert rates.min() >= 0
    assert np.square(np.sqrt(rates) - np.sqrt(RATES)).mean() < 0.5 * np.square(np.sqrt(flat) - np.sqrt(RATES)).mean()


def test_without_totals_the_way_back_has_the_median_total():
    encoder = CountEncoder(4).fit(X)
    T = encoder.transform(X)
    assert encoder.total_ == np.median(COUNTS.sum(axis=1))
    np.testing.assert_array_equal(encoder.inverse_transform(T), encoder.inverse_transform(T, totals=encoder.total_))
    with pytest.raises(ValueError, match=r"totals=array of 3 rows does not match the 200 rows"):
        encoder.inverse_transform(T, totals=[1.0, 2.0, 3.0])


def test_rows_are_encoded_one_by_one_dense_or_sparse():
    encoder = CountEncoder(4).fit(X)
    T = encoder.transform(X)
    np.testing.assert_allclose(encoder.transform(COUNTS), T, atol=1e-12)
    np.testing.assert_allclose(encoder.transform(X.tocsc()), T, atol=1e-12)
    np.testing.assert_allclose(np.vstack([encoder.transform(X[i]) for i in range(10)]), T[:10], atol=1e-12)


def test_empty_rows_and_columns_that_were_never_counted_have_residuals_of_zero():
    rows = np.vstack([COUNTS, np.zeros(60)])
    rows[:, 7] = 0
    encoder = CountEncoder(60).fit(rows)
    new = np.zeros((2, 60))
    new[1, 7] = 5.0
    residuals = encoder.reduction_.rows(encoder.transform(new))
    np.testing.assert_allclose(residuals[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(residuals[1, 7], 0.0, atol=1e-9)


def test_a_column_of_constant_share_has_no_weight():
    """Depth alone is nothing to see: rows of one composition have residuals near 0, whatever their totals."""
    rows = np.outer([1.0, 2.0, 10.0, 40.0], [4.0, 8.0, 16.0])
    np.testing.assert_allclose(CountEncoder(2).fit_transform(rows), 0.0, atol=1e-6)


def test_counts_below_zero_are_refused():
    with pytest.raises(ValueError, match=r"CountEncoder: X=-1 Negative values in data: is below 0.*Give raw counts"):
        CountEncoder().fit(np.array([[1.0, -1.0], [2.0, 3.0]]))


def test_bytes_do_not_depend_on_threads_and_survive_a_file(tmp_path):
    """Bytes may be compared: all sums run over fixed tiles in fixed order, and a file holds the arrays themselves."""
    first, second = (CountEncoder(4, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert first.transform(X).tobytes() == second.transform(X).tobytes()
    save(first, tmp_path / "model")
    back = load(tmp_path / "model")
    assert back.transform(X).tobytes() == first.transform(X).tobytes()
    T = first.transform(X)
    assert back.inverse_transform(T).tobytes() == first.inverse_transform(T).tobytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_checks_pass():
    check_estimator(CountEncoder(2))


def test_single_precision_and_names():
    encoder = CountEncoder(3).fit(X.astype(np.float32))
    assert encoder.transform(X.astype(np.float32)).dtype == np.float32
    assert encoder.get_feature_names_out().tolist() == [f"countencoder{i}" for i in range(3)]
    assert sidelight.CountEncoder is CountEncoder
