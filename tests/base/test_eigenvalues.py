"""Selected eigenvalues: as many as asked for, also where an eigenvalue lies on the bound that LAPACK searches in."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

import sidelight.base.eigenvalues as eigenvalues
from sidelight.base.eigenvalues import selected_eigenvalues, selected_pairs
from sidelight.solvers.spectral import SymmetricSum, leading_pairs
from sidelight.spectral._hybrid_problem import solve_hybrid


def symmetric(n, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


def complete_graphs():
    """Laplacians of complete graphs, whose largest eigenvalue is n, n - 1 times, each rounded in its own way."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        n = int(rng.integers(3, 20))
        noise = rng.normal(size=(n, n)) * n * 1e-16
        yield n * np.eye(n) - 1 + 0.5 * (noise + noise.T)


def missing(values, vectors=None):
    """What LAPACK returns where it finds nothing inside its bound."""
    return values[:0] if vectors is None else (values[:0], vectors[:, :0])


@pytest.fixture
def lapack_finds_nothing_in_a_range(monkeypatch):
    """As on a processor that rounds an eigenvalue to the other side of its bound."""
    lapack, pairs, alone = eigenvalues.dsyevr, eigenvalues.eigh, eigenvalues.eigvalsh

    def none_found(*a, **k):
        values, vectors, _, *rest = lapack(*a, **k)
        return values, vectors, 0, *rest

    monkeypatch.setattr(eigenvalues, "dsyevr", none_found)
    monkeypatch.setattr(eigenvalues, "eigh", lambda *a, **k: missing(*pairs(*a, **k)) if _part(k) else pairs(*a, **k))
    monkeypatch.setattr(
        eigenvalues, "eigvalsh", lambda *a, **k: missing(alone(*a, **k)) if _part(k) else alone(*a, **k)
    )


def _part(options):
    return "subset_by_index" in options


@pytest.mark.parametrize(("first", "last"), [(0, 0), (6, 6), (2, 4), (0, 6)])
def test_they_are_those_of_the_whole_spectrum(first, last):
    A = symmetric(7)
    values, vectors = selected_pairs(A, first, last)
    np.testing.assert_allclose(values, eigh(A)[0][first : last + 1], atol=1e-13)
    np.testing.assert_allclose(A @ vectors, values * vectors, atol=1e-12)
    np.testing.assert_allclose(selected_eigenvalues(A, first, last), values, atol=1e-13)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(("n", "first", "last"), [(1, 0, 0), (5, 3, 4), (40, 0, 2), (70, 60, 69)])
def test_lapack_without_scipys_checks_gives_the_same_bits(n, first, last, lower):
    A = symmetric(n)
    expected = eigh(A, lower=lower, subset_by_index=(first, last))
    for found, known in zip(selected_pairs(A, first, last, lower=lower), expected, strict=True):
        assert found.tobytes() == known.tobytes()


def test_a_matrix_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="infs or NaNs"):
        selected_pairs(np.full((2, 2), np.nan), 0, 0)


def test_none_is_lost_where_the_largest_lies_on_the_bound():
    """Of these 1,000 matrices plain LAPACK loses it in 10 to 21, on each of four processors."""
    for L in complete_graphs():
        n = len(L)
        values, vectors = selected_pairs(L, n - 1, n - 1)
        np.testing.assert_allclose(values, [n])
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), [1.0])
        np.testing.assert_allclose(selected_eigenvalues(L, n - 1, n - 1), [n])


@pytest.mark.usefixtures("lapack_finds_nothing_in_a_range")
def test_what_a_range_leaves_out_comes_from_the_whole_spectrum():
    A, B = symmetric(9), np.eye(9) + 0.01 * symmetric(9, seed=1)
    values, vectors = selected_pairs(np.triu(A), 5, 8, lower=False)
    np.testing.assert_allclose(values, eigh(A)[0][5:], atol=1e-13)
    np.testing.assert_allclose(A @ vectors, values * vectors, atol=1e-12)
    np.testing.assert_allclose(selected_eigenvalues(A, 0, 1, B), eigh(A, B)[0][:2], atol=1e-12)


@pytest.mark.usefixtures("lapack_finds_nothing_in_a_range")
def test_a_hybrid_problem_of_few_rows_has_its_eigenvalues_all_the_same():
    """Rows that are all neighbours of each other: the largest eigenvalue of their Laplacian is Gershgorin's bound."""
    points = np.random.default_rng(0).normal(size=(8, 3))
    points -= points.mean(axis=0)
    found = solve_hybrid(SymmetricSum(factor=points), csr_array(8.0 * np.eye(8) - 1.0), 0.5, 2)
    assert found.norm == pytest.approx(8.0)
    assert found.pairs.converged
    assert found.pairs.values.shape == (2,)


@pytest.mark.skipif("rng" not in signature(eigsh).parameters, reason="ARPACK draws by itself before SciPy 1.17")
@pytest.mark.parametrize("matrix", [np.eye(700), np.zeros((700, 700))], ids=["identity", "zero"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_start_that_leads_nowhere_is_followed_by_the_same_ones_each_time(matrix, form):
    parts = {form: matrix if form == "dense" else csr_array(matrix)}
    one, two = (leading_pairs(SymmetricSum(**parts), 3, above=float(matrix.max())) for _ in range(2))
    np.testing.assert_allclose(one.values, np.full(3, matrix.max()), atol=1e-12)
    assert one.vectors.tobytes() == two.vectors.tobytes()


def test_a_crowd_of_equal_eigenvalues_is_given_in_full():
    n = 30
    found = leading_pairs(SymmetricSum(dense=0.5 * (np.eye(n) - 1 / n)), 5, trivial=np.full(n, n**-0.5))
    np.testing.assert_allclose(found.values, np.full(5, 0.5))
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(5), atol=1e-12)
