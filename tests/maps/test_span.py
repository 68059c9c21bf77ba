"""Coordinates in the span of the data keep inner products; by a kernel they are kernel PCA's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from sidelight.maps.span import kernel_span, linear_span


def rows(n, d, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X - X.mean(axis=0)


@pytest.mark.parametrize(("n", "d", "p"), [(30, 6, 6), (8, 40, 7), (6, 6, 5)])
def test_coordinates_keep_inner_products_and_are_uncorrelated(n, d, p):
    X = rows(n, d)
    span, T = linear_span(X, np.zeros(d), 1.0)
    assert (T.shape, span.width) == ((n, p), p)
    np.testing.assert_allclose(T @ T.T, X @ X.T, atol=1e-10)
    scatter = T.T @ T
    np.testing.assert_allclose(scatter, np.diag(np.diag(scatter)), atol=1e-9)
    assert (np.diff(np.diag(scatter)) <= 1e-9).all()
    np.testing.assert_allclose(span(X), T, atol=1e-10)


def test_only_directions_in_which_the_data_varies_are_kept():
    X = np.column_stack([rows(20, 2), np.zeros((20, 3))]) @ np.linalg.qr(rows(5, 5, 1))[0]
    assert linear_span(X, np.zeros(5), 1.0)[0].width == 2
    assert linear_span(np.zeros((4, 3)), np.zeros(3), 1.0)[0].width == 0


@pytest.mark.parametrize(
    ("kernel", "sklearns"),
    [
        ("rbf", lambda A, B: rbf_kernel(A, B, gamma=0.2)),
        ("poly", lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.2, coef0=1)),
        (linear_kernel, linear_kernel),
    ],
)
def test_kernel_coordinates_are_those_of_kernel_pca(kernel, sklearns):
    X, new = rows(25, 4), rows(7, 4, 5)
    span, T = kernel_span(X, np.zeros(4), 1.0, kernel=kernel, gamma=0.2, degree=2)
    rival = KernelPCA(3, kernel="precomputed").fit(sklearns(X, X))
    np.testing.assert_allclose(np.abs(T[:, :3]), np.abs(rival.transform(sklearns(X, X))), atol=1e-9)
    np.testing.assert_allclose(np.abs(span(new)[:, :3]), np.abs(rival.transform(sklearns(new, X))), atol=1e-9)
    np.testing.assert_allclose(span(X), T, atol=1e-8)


def test_a_function_as_a_kernel_sees_rows_in_their_own_units():
    X, seen = rows(10, 3) * 7 + 5, []

    def kernel(A, B):
        seen.append(A)
        return A @ B.T

    kernel_span(X, X.mean(axis=0), 3.0, kernel=kernel, gamma=1.0, degree=1)
    np.testing.assert_allclose(seen[0], X, atol=1e-12)
