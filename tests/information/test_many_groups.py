"""Many groups of few rows (donors, plates) are factored out as well as few."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from sidelight import KernelInformationEmbedding


def donors(n, groups, seed=0):
    """Rows (n, 20) of two factors, shifted by group; factors (n, 2) and groups (n,)."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, (n, 2))
    bent = np.column_stack([u, u[:, 0] ** 2, np.sin(3 * u[:, 1]), u.prod(axis=1), np.cos(2 * u[:, 0])])
    rows = bent @ rng.normal(size=(6, 20)) + 0.2 * rng.normal(size=(n, 20))
    group = rng.integers(groups, size=n)
    return rows + 3 * rng.normal(size=(groups, 20))[group], u, group


def explained(Z, u):
    """R² of factors of every other row, from ten neighbours on the map."""
    predicted = KNeighborsRegressor(10).fit(Z[::2], u[::2]).predict(Z[1::2])
    return 1 - np.square(u[1::2] - predicted).sum() / np.square(u[1::2] - u.mean(axis=0)).sum()


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "groups"), [(2500, 60), (2500, 30), (900, 60)])
def test_the_factors_of_many_groups_are_seen_as_on_residuals(n, groups):
    X, u, group = donors(n, groups)
    means = np.stack([X[group == g].mean(axis=0) for g in range(groups)])
    residuals = KernelInformationEmbedding().fit(X - means[group]).embedding_
    found = KernelInformationEmbedding().fit(X, given=group.astype(str)).embedding_
    assert explained(found, u) > explained(residuals, u) - 0.02
